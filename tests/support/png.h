// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes PNG files: not filtered, not interlaced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::test {

// type: 0 grey, 2 colour, 3 palette, 4 grey and alpha, 6 colour and alpha; rows: packed as PNG has
// them, without their filter bytes; palette and transparency: the contents of PLTE and tRNS.
std::vector<uint8_t> makePng(uint32_t width, uint32_t height, uint8_t bits, uint8_t type,
                             const std::vector<uint8_t>& rows,
                             const std::vector<uint8_t>& palette = {},
                             const std::vector<uint8_t>& transparency = {});

} // namespace sluice::test
