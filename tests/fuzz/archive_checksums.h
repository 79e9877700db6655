// SPDX-License-Identifier: MIT OR Apache-2.0
// Repairs the checksums of an archive, since nearly all mutated archives would be rejected by them.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/archive_layout.h"

namespace sluice::fuzz {

// `file` may have any bytes. If it is shorter than a header it is left as it is.
inline void repairChecksums(std::vector<uint8_t>& file)
{
    if (file.size() < headerBytes) return;
    const uint64_t index = loadLe64(&file[headerIndexOffset]);
    // If the index is packed, the checksums of tile records are left as they are.
    const bool isPacked = file[headerVersionMajor] >= kArchiveVersionShared;
    const uint64_t assets = isPacked ? 0 : loadLe32(&file[headerAssetCount]);
    if (index >= headerBytes && index <= file.size()) {
        for (uint64_t i = 0; i < assets && (i + 1) * assetBytes <= file.size() - index; ++i) {
            uint8_t* entry = file.data() + index + i * assetBytes;
            const uint64_t offset = loadLe64(entry + assetOffset);
            const uint64_t size = uint64_t(loadLe32(entry + assetTileCount)) * recordBytes;
            if (offset <= file.size() && size <= file.size() - offset)
                storeLe32(entry + assetTileChecksum, xxh32(file.data() + offset, size_t(size), 0));
        }
        storeLe32(&file[headerIndexChecksum],
                  xxh32(file.data() + index, file.size() - size_t(index), 0));
    }
    storeLe32(&file[headerChecksum], xxh32(file.data(), headerChecksum, 0));
}

} // namespace sluice::fuzz
