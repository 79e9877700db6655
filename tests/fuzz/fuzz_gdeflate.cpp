// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes the CPU's GDeflate decoders: two bytes of decompressed size, then the tile. The fast
// decoder must give what the reference gives.
#include "cpu/fast/gdeflate.h"
#include "cpu/gdeflate.h"

#include <sluice/sluice.h>

#include <cstdlib>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 3) return 0;
    const size_t outputSize = 1 + (data[0] | size_t(data[1]) << 8);
    // Buffers of exactly these sizes, so that the sanitizer notices each byte read or written
    // outside.
    const std::vector<uint8_t> source(data + 2, data + size);
    std::vector<uint8_t> output(outputSize), fast(outputSize);
    const uint32_t status =
        sluice::cpu::decodeGdeflateTile(source.data(), source.size(), output.data(), outputSize);
    if (status < SLUICE_TILE_OK || status > SLUICE_TILE_LIMIT) std::abort();
    for (const auto decode :
         {sluice::cpu::fast::decodeGdeflateTile, sluice::cpu::fast::decodeGdeflateTilePortably}) {
        fast.assign(outputSize, 0x5a);
        if (decode(source.data(), source.size(), fast.data(), outputSize) != status ||
            (status == SLUICE_TILE_OK && fast != output))
            std::abort();
    }
    return 0;
}
