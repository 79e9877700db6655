// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice pack`: packs files and folders into an archive, or one file into a bare tile stream.
#include <algorithm>
#include <cstdio>

#include "tools/sluice/pack/asset_packer.h"
#include "tools/sluice/pack/block_encoder.h"
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

// Returns the size of all files, for the progress line. Files that cannot be read are reported
// later.
uint64_t sizeOf(const std::vector<ArchiveSource>& sources)
{
    uint64_t total = 0;
    for (const ArchiveSource& source : sources) {
        FileFacts facts;
        if (factsOf(source.path, true, facts)) total += facts.size;
    }
    return total;
}

// pack --dry-run: lists the names that the archive would have.
int printPlan(const std::vector<ArchiveSource>& sources, const CommonOptions& common)
{
    for (const ArchiveSource& source : sources)
        std::printf("%s\n", printable(source.name).c_str());
    if (!common.quiet)
        printMessage("sluice: would pack %zu files, %s\n", sources.size(),
                     sizeText(sizeOf(sources)).c_str());
    return exitOk;
}

// The files that this run packs: all of them, or those of a shard.
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
    part.head.equalTilesOnce = options.share;
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

// pack --explain: says how a file would be packed, and why.
int explain(const std::vector<ArchiveSource>& files, const PackRules& rules,
            const PackOptions& options, const OldTiles* against)
{
    const auto source = std::find_if(files.begin(), files.end(), [&](const ArchiveSource& one) {
        return one.name == options.explain;
    });
    if (source == files.end())
        throw Failure{exitUsage, "--explain: no file would be packed as '" +
                                     printable(options.explain) + "'; --dry-run lists the names"};
    const InputFile file(source->path, kindOf(*source));
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
    if (!options.directory.empty() || !options.list.empty())
        scope += options.directory + '\n' + options.list + '\n';
    for (const std::string& input : options.inputs)
        scope += input + '\n';
    return std::make_unique<PackCache>(options.cache, scope, common.quiet);
}

// Says which options would suit the files better, and what they cost.
void advise(const AssetPacker& packer)
{
    const auto say = [](uint32_t count, const char* noun, const char* what, const char* advice) {
        if (count != 0)
            printMessage("sluice: %u %s%s %s: %s\n", count, noun, count == 1 ? " is" : "s are",
                         what, advice);
    };
    say(packer.packedImages, "KTX2 file", "supercompressed",
        "--images undoes that, which lets filters work and GPUs decode all of it");
    say(packer.pictures, "file", "TGA, PNG or JPEG",
        hasBlockEncoder()
            ? "--images --bc auto makes textures with mip levels of such, which GPUs can sample; "
              "without --bc auto they are RGBA8, and larger than the pictures"
            : "--images makes textures with mip levels of such, which GPUs can sample; they are "
              "RGBA8, and larger than the pictures, as this build has no libsquish for --bc auto");
    say(packer.models, "file", "model weights (.safetensors)",
        "-c float makes such smaller, and packs them many times as fast");
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
    input.checkUnchanged();
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
    const std::vector<PackInput> inputs = packInputs(options);
    std::vector<std::string> named = {options.list, options.order, options.rules, options.against};
    if (std::count(named.begin(), named.end(), "-") > 1)
        throw Failure{exitUsage, "only one of -T, --order, --rules and --against can be stdin"};
    for (const PackInput& input : inputs)
        named.push_back(input.path);
    refuseOwnInput(options.emitNinja, named);
    refuseOwnInput(options.output, named); // the build by Ninja also replaces the output
    refuseSameOutputs({options.emitNinja, options.output});
    if (!options.writesNothing()) checkOutput(options.output, common.force, named);
    PackSources sources = collectSources(inputs, options, common);
    if (!options.order.empty()) orderFiles(sources.files, options.order);
    if (!options.emitNinja.empty()) return emitNinja(options, sources, common);
    PackRules rules = options.rules.empty() ? PackRules() : PackRules::fromFile(options.rules);
    rules.setKinds(options.kinds);
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
    AssetPacker packer(write, options, cache.get(), against.get(), progress, common);
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
    if (!common.quiet) advise(packer);
    printResult(stats.bytesIn, stats.bytesOut, common,
                formatText("tiles      %llu, %llu of them stored\n", wide(stats.tileCount),
                           wide(stats.storedTiles)) +
                    (stats.equalTiles == 0
                         ? ""
                         : formatText("equal      %llu tiles of %s, stored once\n",
                                      wide(stats.equalTiles), sizeText(stats.equalBytes).c_str())) +
                    (cache != nullptr ? cache->summary() : ""));
    summary.print(stats.assetCount, stats.bytesIn, stats.bytesOut);
    return exitOk;
}

} // namespace sluice
