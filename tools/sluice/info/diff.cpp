// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice diff` lists what differs between two archives and makes a patch; `sluice patch` makes the
// new archive from the old one and the patch.
#include <algorithm>

#include "tools/common/container.h"
#include "tools/sluice/info/diff_list.h"
#include "encode/archive/patch.h"
#include "formats/archive_layout.h"
#include "tools/common/progress.h"
#include "tools/common/summary.h"

namespace sluice {
namespace {

constexpr int kLevel = 19; // zstd level for the bytes that a patch carries

struct Range {
    uint64_t offset = 0, size = 0;
};

// Cuts an archive into the parts that a patch looks for in the old archive, in order: header, tile
// records, tiles, index entries, parameter blocks, names.
class PartLister {
public:
    explicit PartLister(const Container& archive) : m_archive(archive)
    {
        if (!archive.isArchive())
            throw Failure{exitFormat, archive.file().name() + ": is no .sluice archive"};
    }

    // Returns the parts of the archive. `old` is the older archive, or null. `like` has, for each
    // asset, the number of the asset with the same name in `old`, or kNone; it is empty without
    // `old`.
    std::vector<PatchPart> list(const Container* old, const std::vector<uint32_t>& like);

    static constexpr uint32_t kNone = 0xffffffff;

private:
    void cutTo(uint64_t end, Range like = {}, bool isTable = false);
    void listExtents(const Container* old, const std::vector<uint32_t>& like);
    void listIndex(const Container* old, const std::vector<uint32_t>& like);

    const Container& m_archive;
    std::vector<PatchPart> m_parts;
    uint64_t m_end = 0; // where the last part ends
};

// Ends the current part at `end`, and splits it if it is too long. `like` is the range of the old
// archive that has similar bytes. With isTable, the part is a table, which the patch stores as
// bytewise differences from the beginning of `like`.
void PartLister::cutTo(uint64_t end, Range like, bool isTable)
{
    while (m_end < end) {
        const uint32_t size = uint32_t(std::min<uint64_t>(end - m_end, kPatchPieceBytes));
        m_parts.push_back({m_end, size, isTable, like.offset, isTable ? size : like.size});
        m_end += size;
        if (isTable) like.offset += size;
    }
}

void PartLister::listExtents(const Container* old, const std::vector<uint32_t>& like)
{
    cutTo(SLUICE_ARCHIVE_HEADER_SIZE);
    std::vector<std::pair<uint64_t, uint32_t>> order; // tile offsets and asset numbers
    for (uint32_t number = 0; number < m_archive.assetCount(); ++number)
        if (m_archive.ownsTiles(number))
            order.emplace_back(m_archive.archiveAsset(number).offset, number);
    std::sort(order.begin(), order.end());
    for (const auto& [offset, number] : order) {
        const SluiceArchiveAsset asset = m_archive.archiveAsset(number);
        Range before;
        if (!like.empty() && like[number] != kNone) {
            const SluiceArchiveAsset same = old->archiveAsset(like[number]);
            before = {same.offset, same.extentSize};
        }
        cutTo(offset);
        m_archive.forEachTile(
            number, [&](uint32_t, const ContainerTile& tile) { cutTo(tile.offset, before); });
        cutTo(asset.offset + asset.extentSize, before);
    }
}

void PartLister::listIndex(const Container* old, const std::vector<uint32_t>& like)
{
    const SluiceArchive& archive = m_archive.archive();
    Range before;
    if (old != nullptr) before = {old->archive().indexOffset, old->archive().storedIndexSize};
    cutTo(archive.indexOffset);
    // If an archive shares tiles, its index is stored in compressed pieces. They end at places that
    // depend on the lengths of the names, so the patch's parts end where the pieces end.
    if (archive.codedIndexSize != 0) {
        uint8_t stored[4];
        for (uint64_t at = archive.indexOffset; at < archive.fileSize; cutTo(at, before)) {
            m_archive.file().read(at, stored, sizeof stored);
            at += kIndexPieceHead + uint64_t(loadLe32(stored));
        }
        return;
    }
    if (old != nullptr && old->archive().codedIndexSize != 0) {
        cutTo(archive.fileSize, before);
        return;
    }
    // Index entries that follow each other in the old archive too become one part, likewise
    // consecutive entries of assets that it lacks.
    for (uint32_t first = 0, next = 0; first < like.size(); first = next) {
        next = first + 1;
        const bool isKnown = like[first] != kNone;
        while (next < like.size() && (like[next] != kNone) == isKnown &&
               (!isKnown || like[next] == like[next - 1] + 1))
            ++next;
        const uint64_t end = archive.indexOffset + uint64_t(next) * assetBytes;
        if (isKnown)
            cutTo(end, {before.offset + uint64_t(like[first]) * assetBytes, 0}, true);
        else
            cutTo(end, before);
    }
    cutTo(archive.indexOffset + uint64_t(archive.assetCount) * assetBytes, before);
    Range rest;
    if (old != nullptr) {
        const uint64_t entries = uint64_t(old->archive().assetCount) * assetBytes;
        rest = {before.offset + entries, before.size - entries};
    }
    cutTo(archive.fileSize, rest);
}

std::vector<PatchPart> PartLister::list(const Container* old, const std::vector<uint32_t>& like)
{
    listExtents(old, like);
    listIndex(old, like);
    return std::move(m_parts);
}

// Returns for each asset of `now` the number of the asset with the same name in `old`, or kNone.
// Both archives are sorted by name, so one pass finds all.
std::vector<uint32_t> sameNames(const Container& old, const Container& now)
{
    std::vector<uint32_t> same(now.assetCount(), PartLister::kNone);
    uint32_t at = 0;
    for (uint32_t i = 0; i < now.assetCount(); ++i) {
        const std::string name = now.asset(i).name;
        while (at < old.assetCount() && old.asset(at).name < name)
            ++at;
        if (at < old.assetCount() && old.asset(at).name == name) same[i] = at;
    }
    return same;
}

PatchFile patchFile(const InputFile& file)
{
    return {file.size(),
            [&file](uint64_t offset, void* bytes, size_t size) { file.read(offset, bytes, size); }};
}

void printStats(const PatchStats& stats, const CommonOptions& common)
{
    if (common.verbosity == 0 || common.quiet) return;
    printMessage("copied     %llu\ncarried    %llu\noperations %u\nbytes out  %llu\n",
                 wide(stats.copied), wide(stats.carried), stats.operations, wide(stats.patchSize));
}

void writePatch(const Container& old, const Container& now, const std::vector<uint32_t>& like,
                const std::string& output, const CommonOptions& common)
{
    const Summary summary(common);
    const std::vector<PatchPart> oldParts = PartLister(old).list(nullptr, {}),
                                 newParts = PartLister(now).list(&old, like);
    OutputFile file(output, common.force);
    Progress progress("comparing", now.file().size(), common.quiet);
    PatchStats stats;
    const SluiceStatus status = makePatch(
        patchFile(old.file()), oldParts, patchFile(now.file()), newParts, kLevel, file.writer(),
        [&](uint64_t bytes) { progress.advance(bytes); }, stats);
    if (status == SLUICE_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
    if (status != SLUICE_OK)
        throw Failure{exitUnsupported, output + ": more operations than a patch may hold"};
    progress.clear();
    file.commit();
    printStats(stats, common);
    summary.print(now.assetCount(), now.file().size(), stats.patchSize);
}

} // namespace

int runDiff(const DiffOptions& options, const CommonOptions& common)
{
    const bool toStdout = options.output == "-";
    if (options.json && toStdout)
        throw Failure{exitUsage, "--json and -o - would be mixed on stdout"};
    if (!options.output.empty())
        checkOutput(options.output, common.force, {options.old, options.now});
    const Container old(options.old), now(options.now);
    for (const Container* archive : {&old, &now})
        if (!archive->isArchive())
            throw Failure{exitFormat, archive->file().name() + ": is no .sluice archive"};
    const std::vector<uint32_t> like = sameNames(old, now);
    if (!options.output.empty()) writePatch(old, now, like, options.output, common);
    const bool isListed = options.json || !common.quiet;
    if (!isListed || (toStdout && common.verbosity == 0)) return exitOk;
    const ArchiveChanges changes = compareArchives(old, now, like, PartLister::kNone, common);
    if (changes.unread != 0)
        printMessage("sluice: %llu files of one size with other tiles were not compared byte by "
                     "byte, and are listed as changed\n",
                     wide(changes.unread));
    if (options.json)
        printChangesJson(changes, options.old, options.now);
    else
        printChanges(changes, toStdout ? stderr : stdout);
    return exitOk;
}

int runPatch(const ApplyOptions& options, const CommonOptions& common)
{
    const Summary summary(common);
    // The output may replace OLD, so OLD is not checked as an input.
    checkOutput(options.output, common.force, {options.patch});
    const InputFile old(options.old), patch(options.patch);
    PatchHeader header = {};
    std::string reason;
    const auto check = [&](SluiceStatus status) {
        if (status == SLUICE_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
        if (status == SLUICE_OK) return;
        if (status == SLUICE_ERROR_ARGUMENT) reason += " than " + old.name();
        throw Failure{status == SLUICE_ERROR_VERSION ? exitUnsupported : exitFormat,
                      patch.name() + ": " + reason};
    };
    check(readPatchHeader(patchFile(patch), header, reason));
    // A patch takes bytes from both files, so the limit is computed from the sum of both sizes.
    checkOutputSize(patch.name(), old.size() + patch.size(), header.newSize, options.maxOutput);
    OutputFile output(options.output, common.force);
    Progress progress("patching", header.newSize, common.quiet);
    PatchStats stats;
    check(applyPatch(
        patchFile(old), patchFile(patch), output.writer(),
        [&](uint64_t bytes) { progress.advance(bytes); }, stats, reason));
    progress.clear();
    if (FileFacts facts; factsOf(options.output, true, facts))
        output.sync(); // data must be on the disk before commit() removes the old file
    output.commit();
    printStats(stats, common);
    summary.print(1, header.newSize, stats.patchSize);
    return exitOk;
}

} // namespace sluice
