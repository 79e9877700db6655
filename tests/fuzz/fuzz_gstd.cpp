// SPDX-License-Identifier: MIT OR Apache-2.0
// The Gstd reference decoder: four bytes of decoded size, then the tile. It reads and writes what
// it is given and nothing else.
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
    // of its own, so that its ends are watched
    const std::vector<uint8_t> source(data + 4, data + size);
    std::vector<uint8_t> destination(decodedSize);
    const uint32_t status = sluice::cpu::decodeGstdTile(source.data(), source.size(),
                                                        destination.data(), destination.size());
    if (status == SLUICE_TILE_PENDING || status > SLUICE_TILE_LIMIT) std::abort();
    return 0;
}
