// SPDX-License-Identifier: MIT OR Apache-2.0
// Holds what tests of archives share: they open archives, take them apart and put them together
// again, make bytes for them, and decode a tile.
#pragma once

#include <sluice/sluice_formats.h>

#include <cstdint>
#include <vector>

#include "formats/archive_layout.h"

namespace sluice::test {

using Bytes = std::vector<uint8_t>;

// Checks all that a reader checks before it decodes, and returns the status.
SluiceStatus check(const Bytes& file);

// Holds an archive's header and its index.
struct OpenedArchive {
    SluiceArchive archive = {};
    Bytes index;

    SluiceStatus open(const Bytes& file); // does not check the index
    SluiceArchiveAsset asset(uint32_t number) const;
};

// Holds an archive whose parts a test changes. `seal` then makes all checksums right again.
struct Editable {
    Bytes file;
    size_t index = 0, indexSize = 0;

    explicit Editable(Bytes bytes) : file(std::move(bytes))
    {
        index = size_t(loadLe64(&file[headerIndexOffset]));
        indexSize = file.size() - index;
    }
    uint8_t* header() { return file.data(); }
    uint8_t* entry(uint32_t asset) { return file.data() + index + size_t(asset) * assetBytes; }
    uint8_t* record(uint32_t asset, uint32_t tile)
    {
        return file.data() + loadLe64(entry(asset) + assetOffset) + size_t(tile) * recordBytes;
    }
    char* names()
    {
        return reinterpret_cast<char*>(file.data()) + file.size() -
               loadLe32(&file[headerNameBytes]);
    }
    void seal()
    {
        for (uint32_t i = 0; i < loadLe32(&file[headerAssetCount]); ++i) {
            const uint64_t offset = loadLe64(entry(i) + assetOffset);
            const uint64_t size = uint64_t(loadLe32(entry(i) + assetTileCount)) * recordBytes;
            if (offset <= file.size() && size <= file.size() - offset) {
                storeLe32(entry(i) + assetTileChecksum,
                          xxh32(file.data() + offset, size_t(size), 0));
            }
        }
        storeLe32(&file[headerIndexChecksum], xxh32(file.data() + index, file.size() - index, 0));
        sealHeader();
    }
    void sealHeader() { storeLe32(&file[headerChecksum], xxh32(file.data(), headerChecksum, 0)); }
};

Bytes soft(size_t size); // returns bytes that compress well
Bytes hard(size_t size); // returns bytes that do not compress

Bytes decodeGdeflate(SluiceContext context, const uint8_t* stored, const SluiceArchiveTile& tile);

} // namespace sluice::test
