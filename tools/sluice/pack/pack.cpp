// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice pack: files and folders into an archive, or one file into a bare tile stream.
#include <algorithm>
#include <cstdio>

#include "tools/sluice/pack/asset_packer.h"
#include "tools/common/codecs.h"
#include "tools/common/files.h"
#include "tools/common/input_reader.h"
#include "formats/archive_layout.h"
#include "tools/sluice/pack/pack_ninja.h"
#include "tools/sluice/pack/pack_order.h"
#include "tools/sluice/pack/pack_rules.h"
#include "tools/sluice/pack/pack_shares.h"
#include "tools/sluice/pack/pack_sources.h"
#include "tools/common/progress.h"
#include "tools/common/shard.h"
#include "tools/common/summary.h"

namespace sluice {
namespace {

void printResult(uint64_t bytesIn, uint64_t bytesOut, const CommonOptions& common,
                 const std::string& more)
{
    if (common.verbosity > 0 && !common.quiet) {
        printMessage("bytes in   %llu\nbytes out  %llu\nratio      %s\n%s", wide(bytesIn),
                     wide(bytesOut), ratioText(bytesOut, bytesIn).c_str(), more.c_str());
    }
}

// Serves the progress line only. Packing itself reports files that cannot be read.
uint64_t sizeOf(const std::vector<ArchiveSource>& sources)
{
    uint64_t total = 0;
    for (const ArchiveSource& source : sources) {
        FileFacts facts;
        if (factsOf(source.path, true, facts)) total += facts.size;
    }
    return total;
}

// Does pack --dry-run: lists the names that the archive would have.
int printPlan(const std::vector<ArchiveSource>& sources, const CommonOptions& common)
{
    for (const ArchiveSource& source : sources)
        std::printf("%s\n", printable(source.name).c_str());
    if (!common.quiet)
        printMessage("sluice: would pack %zu files, %s\n", sources.size(),
                     sizeText(sizeOf(sources)).c_str());
    return exitOk;
}

// The part of the files that this run packs: all of them, or a shard.
struct Part {
    std::vector<ArchiveSource> files;
    ShardHead head; // shard.count is 0 if the run packs everything
};

Part partOf(const std::vector<ArchiveSource>& files, const PackRules& rules,
            const PackOptions& options, const OldTiles* against)
{
    if (options.shard.empty()) return {files, {}};
    Part part;
    part.head.shard = shardFromText(options.shard);
    const auto [first, last] = shardRange(files, part.head.shard);
    part.files.assign(files.begin() + ptrdiff_t(first), files.begin() + ptrdiff_t(last));
    part.head.allAssets = uint32_t(files.size());
    part.head.firstAsset = uint32_t(first);
    part.head.assetCount = uint32_t(last - first);
    const auto encodingOf = [&](const ArchiveSource& source) {
        const AssetOptions how = rules.optionsFor(source.name, options);
        return encodingText(how) + (against != nullptr && source.share == kNoShare
                                        ? against->textFor(source.name, how)
                                        : "");
    };
    part.head.plan = shardPlan(files, part.head.shard.count, encodingOf);
    return part;
}

int emitNinja(const PackOptions& options, const PackSources& sources, const CommonOptions& common)
{
    const std::string text = ninjaText(options, sources);
    OutputFile file(options.emitNinja, common.force);
    file.write(0, text.data(), text.size());
    file.commit();
    return exitOk;
}

// Does pack --explain: says how a file would be packed, and why.
int explain(const std::vector<ArchiveSource>& files, const PackRules& rules,
            const PackOptions& options, const OldTiles* against)
{
    const auto source = std::find_if(files.begin(), files.end(), [&](const ArchiveSource& one) {
        return one.name == options.explain;
    });
    if (source == files.end())
        throw Failure{exitUsage, "--explain: no file would be packed as '" +
                                     printable(options.explain) + "'; --dry-run lists the names"};
    const InputFile file(source->path);
    std::vector<PackNote> notes;
    if (source->share != kNoShare) {
        const auto count =
            std::count_if(files.begin(), files.end(),
                          [&](const ArchiveSource& other) { return other.share == source->share; });
        std::printf("%s: %s\n%sshares tiles with %lld other small files of its kind\n",
                    printable(source->name).c_str(), sizeText(file.size()).c_str(),
                    rules.explain(source->name, options).c_str(),
                    static_cast<long long>(count - 1));
        return exitOk;
    }
    const PackPlan plan =
        planAsset(file, source->name, rules.optionsFor(source->name, options), against, notes);
    std::printf("%s: %s\n%s", printable(source->name).c_str(), sizeText(file.size()).c_str(),
                rules.explain(source->name, options).c_str());
    for (const PackNote& note : notes)
        std::printf("%s\n", note.text.c_str());
    const Bytes items = plan.items();
    uint64_t begin = 0;
    for (const SluiceArchiveSegment& segment : plan.segments) {
        std::printf("bytes %llu to %llu: %s, tiles of %u bytes", wide(begin),
                    wide(begin + segment.size - 1), codecOfTiles(segment.codec).name,
                    segment.tileSize);
        begin += segment.size;
        char text[4096] = "none";
        if (segment.filterOffset != 0) {
            const uint8_t* item = &items[segment.filterOffset - 4];
            sluiceGetFilterText(item + kItemHead, itemSize(item), text, sizeof text);
        }
        std::printf(", filter: %s%s\n", text,
                    segment.filterTrial != 0 ? " (tile by tile, where it makes it smaller)" : "");
    }
    return exitOk;
}

std::unique_ptr<PackCache> openCache(const PackOptions& options, const CommonOptions& common)
{
    if (options.cache.empty()) return nullptr;
    std::string scope = options.shard + '\n';
    for (const std::string& input : options.inputs)
        scope += input + '\n';
    return std::make_unique<PackCache>(options.cache, scope, common.quiet);
}

void adviseImages(const AssetPacker& packer)
{
    const uint32_t packed = packer.packedImages, pictures = packer.pictures;
    if (packed != 0)
        printMessage("sluice: %u KTX2 file%s supercompressed: --images undoes that, which lets "
                     "filters work and GPUs decode all of it\n",
                     packed, packed == 1 ? " is" : "s are");
    if (pictures != 0)
        printMessage("sluice: %u file%s TGA, PNG or JPEG: --images makes textures with mip "
                     "levels of such, which GPUs can sample\n",
                     pictures, pictures == 1 ? " is" : "s are");
}

} // namespace

int packTileStream(const PackOptions& options, const CommonOptions& common)
{
    FileFacts facts;
    if (options.inputs.size() != 1 ||
        (factsOf(options.inputs[0], true, facts) && facts.kind == FileFacts::Kind::folder)) {
        throw Failure{exitUsage, "--raw packs one file"};
    }
    const InputFile input(options.inputs[0]);
    constexpr uint64_t maxSize = uint64_t(SLUICE_TILE_STREAM_MAX_TILES) * 65536;
    if (input.size() > maxSize) {
        throw Failure{exitUsage, input.name() + ": a bare stream holds at most 65,535 tiles, " +
                                     sizeText(maxSize)};
    }
    const Summary summary(common);
    checkOutput(options.output, common.force, options.inputs);
    OutputFile output(options.output, common.force);
    Progress progress("packing", input.size(), common.quiet);
    Transfer transfer = {InputReader(input, input.size(), progress), output.writer(), {}};
    SluiceTileStreamWriteInfo info = {};
    info.size = input.size();
    info.level = options.level;
    info.decodeSpeed = options.decodeSpeed;
    info.threadCount = threadCount(options.threads);
    info.read = Transfer::read;
    info.write = Transfer::write;
    info.readUser = info.writeUser = &transfer;
    uint64_t streamSize = 0;
    checkPacking(transfer, sluiceWriteTileStream(&info, &streamSize), input.name());
    progress.clear();
    output.commit();
    printResult(input.size(), streamSize, common, "");
    summary.print(1, input.size(), streamSize);
    return exitOk;
}

int runPack(const PackOptions& options, const CommonOptions& common)
{
    if (options.raw) return codecNamed(options.codec).packRaw(options, common);
    const Summary summary(common);
    std::vector<std::string> named = options.inputs;
    named.insert(named.end(), {options.order, options.rules, options.against});
    refuseOwnInput(options.emitNinja, named);
    if (!options.writesNothing()) checkOutput(options.output, common.force, named);
    PackSources sources = collectSources(options, common);
    if (!options.order.empty()) orderFiles(sources.files, options.order);
    if (!options.emitNinja.empty()) return emitNinja(options, sources, common);
    const PackRules rules =
        options.rules.empty() ? PackRules() : PackRules::fromFile(options.rules);
    rules.checkGlobs(sources.files);
    shareTiles(sources.files,
               [&](const ArchiveSource& source) { return rules.optionsFor(source.name, options); });
    const std::unique_ptr<OldTiles> against =
        options.against.empty()
            ? nullptr
            : std::make_unique<OldTiles>(options.against, threadCount(options.threads), common);
    if (!options.explain.empty()) return explain(sources.files, rules, options, against.get());
    const Part part = partOf(sources.files, rules, options, against.get());
    if (options.dryRun) return printPlan(part.files, common);
    const std::unique_ptr<PackCache> cache = openCache(options, common);
    OutputFile output(options.output, common.force);
    Progress progress("packing", sizeOf(part.files), common.quiet);
    const uint64_t head = part.head.shard.count != 0 ? kShardHeadBytes : 0;
    const auto write = [&](uint64_t offset, const void* bytes, size_t size) {
        output.write(head + offset, bytes, size);
    };
    AssetPacker packer(write, threadCount(options.threads), cache.get(), against.get(), progress,
                       common);
    for (size_t i = 0, next = 0; i < part.files.size(); i = next) {
        const ArchiveSource& source = part.files[i];
        const AssetOptions how = rules.optionsFor(source.name, options);
        next = i + 1;
        if (source.share == kNoShare) {
            packer.add(source, how);
            continue;
        }
        while (next < part.files.size() && part.files[next].share == source.share)
            ++next;
        packer.addShare(&source, next - i, how);
    }
    const SluiceArchiveStats stats = packer.finish(options.output);
    if (head != 0) finishShard(output, part.head, stats.bytesOut);
    progress.clear();
    output.commit();
    if (cache != nullptr) cache->finish(options.cacheSize);
    if (!common.quiet) adviseImages(packer);
    printResult(stats.bytesIn, stats.bytesOut, common,
                formatText("tiles      %llu, %llu of them stored\n", wide(stats.tileCount),
                           wide(stats.storedTiles)) +
                    (cache != nullptr ? cache->summary() : ""));
    summary.print(stats.assetCount, stats.bytesIn, stats.bytesOut);
    return exitOk;
}

} // namespace sluice
