// SPDX-License-Identifier: MIT OR Apache-2.0
// Packets of run-length coded Targa images: a header byte with a count, then one pixel that is
// repeated (bit 7 is set) or that many pixels.
#pragma once

#include "formats/integers.h"

namespace sluice {

// tgaPixels returns how many pixels a packet decodes to, tgaStored how many it contains.
inline uint32_t tgaPixels(uint8_t header) { return (header & 127u) + 1; }
inline uint32_t tgaStored(uint8_t header) { return (header & 128) != 0 ? 1 : tgaPixels(header); }

// Counts packets whose headers are stored apart from their pixels. Returns false if no number of
// packets takes exactly `size` bytes, headers and pixels together.
inline bool countTgaPackets(const uint8_t* headers, uint32_t size, uint32_t pixelBytes,
                            uint32_t& count)
{
    uint32_t bytes = 0;
    for (count = 0; bytes < size; ++count)
        bytes += 1 + tgaStored(headers[count]) * pixelBytes; // count <= bytes < size
    return bytes == size;
}

} // namespace sluice
