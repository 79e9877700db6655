// SPDX-License-Identifier: MIT OR Apache-2.0
// Packets of run-length coded Targa images: a header byte, then one pixel that repeats (bit 7 set)
// or as many as there are.
#pragma once

#include <cstdint>

namespace sluice {

// Pixels of the image that a packet makes, and pixels that stand in it.
inline uint32_t tgaPixels(uint8_t header) { return (header & 127u) + 1; }
inline uint32_t tgaStored(uint8_t header) { return (header & 128) != 0 ? 1 : tgaPixels(header); }

// Counts packets from their headers, which stand alone, until they take exactly `size` bytes with
// their pixels. False: they never do.
inline bool countTgaPackets(const uint8_t* headers, uint32_t size, uint32_t pixelBytes,
                            uint32_t& count)
{
    uint32_t bytes = 0;
    for (count = 0; bytes < size; ++count)
        bytes += 1 + tgaStored(headers[count]) * pixelBytes; // count <= bytes < size
    return bytes == size;
}

} // namespace sluice
