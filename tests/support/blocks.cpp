// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/blocks.h"

#include <doctest/doctest.h>

#include <array>

#include "formats/little_endian.h"

namespace sluice::test {
namespace {

using Block = std::array<std::array<double, 4>, 16>;

// Decodes the colours of a block. hasAlpha: if a block has three colours, the fourth index means
// transparent. always4: blocks always have four colours, as in BC3.
void decodeColours(const uint8_t* from, bool hasAlpha, bool always4, Block& block)
{
    double ends[2][3];
    const uint32_t raw[2] = {loadLe16(from), loadLe16(from + 2)};
    for (int i = 0; i < 2; ++i) {
        ends[i][0] = (raw[i] >> 11) * 255.0 / 31;
        ends[i][1] = (raw[i] >> 5 & 63) * 255.0 / 63;
        ends[i][2] = (raw[i] & 31) * 255.0 / 31;
    }
    const bool four = always4 || raw[0] > raw[1];
    const uint32_t indices = loadLe32(from + 4);
    for (uint32_t i = 0; i < 16; ++i) {
        const uint32_t index = indices >> 2 * i & 3;
        const bool isClear = !four && index == 3;
        const double second = index == 0 ? 0 : index == 1 ? 1 : !four ? 0.5 : (index - 1) / 3.0;
        for (int c = 0; c < 3; ++c)
            block[i][c] = isClear ? 0 : ends[0][c] * (1 - second) + ends[1][c] * second;
        if (isClear && hasAlpha) block[i][3] = 0;
    }
}

void decodeValues(const uint8_t* from, size_t channel, Block& block)
{
    const double first = from[0], last = from[1];
    const uint64_t indices = loadLe64(from) >> 16;
    for (uint32_t i = 0; i < 16; ++i) {
        const uint32_t index = uint32_t(indices >> 3 * i & 7);
        double value = index == 0 ? first : last;
        if (index > 1 && first > last)
            value = ((8 - index) * first + (index - 1) * last) / 7;
        else if (index > 1)
            value = index == 6   ? 0
                    : index == 7 ? 255
                                 : ((6 - index) * first + (index - 1) * last) / 5;
        block[i][channel] = value;
    }
}

} // namespace

std::vector<double> decodeBlocks(const std::vector<uint8_t>& blocks, uint32_t width,
                                 uint32_t height, uint32_t format)
{
    const bool isBc1 = format >= 131 && format <= 134, isBc3 = format == 137 || format == 138,
               isBc4 = format == 139;
    REQUIRE((isBc1 || isBc3 || isBc4 || format == 141));
    const uint32_t columns = (width + 3) / 4, rows = (height + 3) / 4,
                   bytes = isBc1 || isBc4 ? 8 : 16;
    REQUIRE(blocks.size() == size_t(columns) * rows * bytes);
    std::vector<double> rgba(size_t(width) * height * 4);
    for (uint32_t number = 0; number < columns * rows; ++number) {
        const uint8_t* const from = &blocks[size_t(number) * bytes];
        Block block;
        block.fill({0, 0, 0, 255});
        if (isBc1 || isBc3)
            decodeColours(from + (isBc3 ? 8 : 0), format >= 133, isBc3, block);
        else
            decodeValues(from, 0, block);
        if (isBc3) decodeValues(from, 3, block);
        if (format == 141) decodeValues(from + 8, 1, block);
        for (uint32_t i = 0; i < 16; ++i) {
            const uint32_t x = number % columns * 4 + i % 4, y = number / columns * 4 + i / 4;
            for (uint32_t c = 0; x < width && y < height && c < 4; ++c)
                rgba[(size_t(y) * width + x) * 4 + c] = block[i][c];
        }
    }
    return rgba;
}

} // namespace sluice::test
