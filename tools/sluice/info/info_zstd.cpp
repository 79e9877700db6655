// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice info` for Zstandard files.
#include <cstdio>

#include "tools/common/summary.h"
#include "tools/common/zstd/zstd_file.h"
#include "tools/sluice/unpack/unpack_zstd.h"

namespace sluice {
namespace {

struct Totals {
    uint64_t size = 0, blocks = 0;
    bool isKnown = true; // all frames so far give their size
};

std::string sizeOrNot(uint64_t size) { return size == kZstdUnknown ? "-" : std::to_string(size); }

std::string ratioOf(const ZstdFrame& frame)
{
    return frame.size == kZstdUnknown ? "-" : ratioText(frame.storedSize, frame.size);
}

void printFrame(const ZstdFrame& frame)
{
    if (frame.isSkippable) {
        std::printf("%7llu %14llu %14s %14llu %8s  skippable, 0x%08X\n", wide(frame.number),
                    wide(frame.offset), "-", wide(frame.storedSize), "-", frame.magic);
        return;
    }
    std::printf("%7llu %14llu %14s %14llu %8s %8llu %8llu %8llu %14llu  %-5s %10u\n",
                wide(frame.number), wide(frame.offset), sizeOrNot(frame.size).c_str(),
                wide(frame.storedSize), ratioOf(frame).c_str(), wide(frame.blocks[SLUICE_ZS_RAW]),
                wide(frame.blocks[SLUICE_ZS_RLE]), wide(frame.blocks[SLUICE_ZS_COMPRESSED]),
                wide(frame.header.window), frame.header.hasChecksum ? "yes" : "no",
                frame.header.dictionaryId);
}

std::string frameJson(const ZstdFrame& frame)
{
    std::string json = formatText("{\"offset\": %llu, \"storedSize\": %llu, ", wide(frame.offset),
                                  wide(frame.storedSize));
    if (frame.isSkippable) return json + formatText("\"skippable\": %u}", frame.magic);
    if (frame.size != kZstdUnknown) json += formatText("\"size\": %llu, ", wide(frame.size));
    return json + formatText("\"rawBlocks\": %llu, \"rleBlocks\": %llu, "
                             "\"compressedBlocks\": %llu, \"window\": %llu, \"checksum\": %s, "
                             "\"dictionary\": %u}",
                             wide(frame.blocks[SLUICE_ZS_RAW]), wide(frame.blocks[SLUICE_ZS_RLE]),
                             wide(frame.blocks[SLUICE_ZS_COMPRESSED]), wide(frame.header.window),
                             frame.header.hasChecksum ? "true" : "false",
                             frame.header.dictionaryId);
}

} // namespace

int runZstdInfo(std::unique_ptr<InputFile> input, bool json)
{
    ZstdFile file(std::move(input), nullptr);
    // All frames are read before the first is printed, so that a damaged file gives an error and
    // not half a table.
    Totals totals;
    const auto add = [&](const ZstdFrame& frame) {
        if (frame.isSkippable) return;
        totals.isKnown = totals.isKnown && frame.size != kZstdUnknown;
        if (totals.isKnown) totals.size += frame.size;
        for (const uint64_t count : frame.blocks)
            totals.blocks += count;
    };
    file.scan(UINT64_MAX, add, nullptr);
    const ZstdSeekTable& table = file.seekTable();
    const uint64_t stored = file.file().size();
    const std::string size = totals.isKnown ? sizeText(totals.size) : "unknown size";
    if (!json) {
        std::printf("%s: Zstandard, %llu frames, %llu blocks, %s decoded, %s here, %s\n",
                    printable(file.file().name()).c_str(), wide(file.frames()), wide(totals.blocks),
                    size.c_str(), sizeText(stored).c_str(),
                    totals.isKnown ? ratioText(stored, totals.size).c_str() : "-");
        if (table.exists())
            std::printf("seekable: a table of %llu entries%s%s\n", wide(table.entries),
                        table.entrySize == 12 ? " with checksums" : "",
                        table.fits ? "" : ", which contradicts the frames");
        std::printf("%7s %14s %14s %14s %8s %8s %8s %8s %14s  %-5s %10s\n", "frame", "offset",
                    "size", "stored", "ratio", "raw", "rle", "blocks", "window", "check",
                    "dictionary");
        file.scan(UINT64_MAX, printFrame, nullptr);
        return exitOk;
    }
    std::printf("{\"schemaVersion\": 1, \"file\": %s, \"kind\": \"zstandard\", "
                "\"fileSize\": %llu,",
                jsonText(file.file().name()).c_str(), wide(stored));
    if (totals.isKnown) std::printf(" \"decodedSize\": %llu,", wide(totals.size));
    if (table.exists())
        std::printf(" \"seekTable\": {\"entries\": %llu, \"checksums\": %s, \"fits\": %s},",
                    wide(table.entries), table.entrySize == 12 ? "true" : "false",
                    table.fits ? "true" : "false");
    std::printf("\n \"frames\": [");
    const char* separator = "";
    file.scan(
        UINT64_MAX,
        [&](const ZstdFrame& frame) {
            std::printf("%s\n  %s", separator, frameJson(frame).c_str());
            separator = ",";
        },
        nullptr);
    std::printf("\n ]}\n");
    return exitOk;
}

} // namespace sluice
