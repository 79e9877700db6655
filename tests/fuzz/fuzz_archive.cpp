// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes the archive parser: whatever it accepts must lie inside the file.
#include <sluice/sluice_formats.h>

#include "tests/fuzz/archive_checksums.h"
#include "tests/fuzz/fuzzing.h"

using namespace sluice;
using namespace sluice::fuzz;

namespace {

void readAsset(const std::vector<uint8_t>& file, const SluiceArchive& archive,
               const std::vector<uint8_t>& index, uint32_t number)
{
    SluiceArchiveAsset asset;
    require(sluiceGetArchiveAsset(&archive, index.data(), index.size(), number, &asset) ==
            SLUICE_OK);
    require(sluiceIsArchiveName(asset.name, asset.nameLength) == 1);
    require(asset.offset <= archive.indexOffset &&
            asset.extentSize <= archive.indexOffset - asset.offset);
    uint32_t found = 0;
    require(sluiceFindArchiveAsset(&archive, index.data(), index.size(), asset.name,
                                   asset.nameLength, &found) == SLUICE_OK);
    require(found == number);

    const std::vector<uint8_t> extent(file.begin() + ptrdiff_t(asset.offset),
                                      file.begin() + ptrdiff_t(asset.offset + asset.extentSize));
    require(uint64_t(asset.tileCount) * recordBytes <= extent.size());
    std::vector<SluiceArchiveTile> tiles(asset.tileCount);
    SluiceArchiveTileReader reader;
    require(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
    require(sluiceTakeEqualArchiveTiles(&reader) == SLUICE_OK);
    const uint32_t half = asset.tileCount / 2;
    SluiceStatus status =
        sluiceParseArchiveTiles(&reader, extent.data(), extent.size(), half, tiles.data());
    if (status == SLUICE_OK) {
        status = sluiceParseArchiveTiles(&reader, extent.data() + size_t(half) * recordBytes,
                                         extent.size() - size_t(half) * recordBytes,
                                         asset.tileCount - half, tiles.data() + half);
    }
    if (status != SLUICE_OK) {
        return;
    }
    uint64_t decoded = 0, end = uint64_t(asset.tileCount) * recordBytes;
    for (const SluiceArchiveTile& tile : tiles) {
        require(tile.outputOffset == decoded && decoded % 4 == 0 && tile.offset % 16 == 0);
        const uint64_t place = asset.offset + tile.offset; // in the file
        const bool isOwn = place >= asset.offset + end;
        require(isOwn || (archive.versionMajor >= kArchiveVersionEqual && place >= headerBytes));
        const uint64_t limit = asset.offset + (isOwn ? extent.size() : end);
        require(place <= limit && tile.storedSize <= limit - place);
        require(tile.size <= 1u << asset.tileSizeLog2 &&
                (tile.codec == 0) == (tile.storedSize == tile.size));
        if (isOwn) end = tile.offset + tile.storedSize;
        decoded += tile.size;
    }
    require(decoded == asset.tilesSize && asset.tilesOffset <= decoded &&
            asset.size <= decoded - asset.tilesOffset);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const CostLimit cost(size);
    std::vector<uint8_t> file(data, data + size);
    repairChecksums(file);
    SluiceArchive archive;
    if (sluiceParseArchiveHeader(file.data(), size, size, &archive) != SLUICE_OK) {
        return 0;
    }
    // A file as small as a fuzzer's input must ask for little memory (docs/format.md, 4.11).
    require(archive.indexSize <= 13 * 64 * uint64_t(size) + (64u << 20) + (1u << 18));
    std::vector<uint8_t> index(size_t(archive.indexSize));
    if (sluiceUnpackArchiveIndex(&archive, file.data() + archive.indexOffset,
                                 size_t(archive.storedIndexSize), index.data(),
                                 index.size()) != SLUICE_OK) {
        return 0;
    }
    uint32_t badAsset = 0;
    if (sluiceCheckArchiveIndex(&archive, index.data(), index.size(), &badAsset) != SLUICE_OK) {
        return 0;
    }
    for (uint32_t i = 0; i < archive.assetCount; ++i) {
        readAsset(file, archive, index, i);
    }
    return 0;
}
