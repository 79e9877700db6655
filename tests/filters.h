// SPDX-License-Identifier: MIT OR Apache-2.0
// Filter descriptions and filtered tiles for tests.
#pragma once

#include "devices.h"

#include "formats/filter.h"

#include <sluice/sluice_filter_encode.h>

namespace sluice::test {

// A section in words: what the description says, so that broken ones can be written too.
struct SectionWords {
    uint32_t size = kFilterRest;
    bool rows = false, packets = false;
    uint32_t width = 0, first = 0;
    Words runs;
};
// repeat, log2 of bytes, flags (FilterColumnFlags), predictor, base
uint32_t columnRun(uint32_t repeat, uint32_t log2Bytes, uint32_t flags, FilterPredictor predictor,
                   uint32_t base = 0);
Words describe(const std::vector<SectionWords>& sections);

// A good description for tiles of `size` bytes at most, with sections of any kind but packets.
Words randomDescription(std::mt19937& random, uint32_t size);
Bytes randomBytes(std::mt19937& random, size_t size);
// Like data: small steps from byte to byte.
Bytes smoothBytes(std::mt19937& random, size_t size);
// Packets of a Targa image, whole ones, of about `size` bytes.
Bytes randomPackets(std::mt19937& random, size_t size, uint32_t pixelBytes);

Bytes applied(const Words& description, const Bytes& tile);

} // namespace sluice::test
