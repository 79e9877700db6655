// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes PNG files that are neither filtered nor interlaced.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sluice::test {

// Returns a PNG file. type: 0 is grey, 2 colour, 3 palette, 4 grey and alpha, 6 colour and alpha.
// rows: packed as PNG has them, but without filter bytes. palette and transparency: the contents of
// PLTE and tRNS. more: chunks before the pixels, each with its name.
std::vector<uint8_t>
makePng(uint32_t width, uint32_t height, uint8_t bits, uint8_t type,
        const std::vector<uint8_t>& rows, const std::vector<uint8_t>& palette = {},
        const std::vector<uint8_t>& transparency = {},
        const std::vector<std::pair<std::string, std::vector<uint8_t>>>& more = {});

} // namespace sluice::test
