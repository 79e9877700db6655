// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes the CPU's Gstd decoders: four bytes of decoded size, then the tile. They must read and
// write nothing but their buffers, and the fast decoder must give what the reference gives.
#include "cpu/fast/gstd.h"
#include "cpu/gstd.h"

#include <sluice/sluice.h>

#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 5) return 0;
    uint32_t decodedSize = 0;
    std::memcpy(&decodedSize, data, 4);
    decodedSize = decodedSize % 262144 + 1;
    // A buffer of its own, so that sanitizers notice accesses before and after it.
    const std::vector<uint8_t> source(data + 4, data + size);
    std::vector<uint8_t> destination(decodedSize), fast(decodedSize);
    const uint32_t status = sluice::cpu::decodeGstdTile(source.data(), source.size(),
                                                        destination.data(), destination.size());
    if (status == SLUICE_TILE_PENDING || status > SLUICE_TILE_LIMIT) std::abort();
    std::vector<uint64_t> scratch(sluice::cpu::fast::kGstdScratchSize / 8 + 1);
    for (const auto decode :
         {sluice::cpu::fast::decodeGstdTile, sluice::cpu::fast::decodeGstdTilePortably}) {
        fast.assign(decodedSize, 0x5a);
        if (decode(source.data(), source.size(), fast.data(), fast.size(), scratch.data()) !=
                status ||
            (status == SLUICE_TILE_OK && fast != destination))
            std::abort();
    }
    return 0;
}
