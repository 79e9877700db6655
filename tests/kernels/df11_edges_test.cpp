// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests edges of DFloat11 and ECF8 units that no other test reaches.
#include "tests/support/df11_units.h"

using namespace sluice::test;

TEST_SUITE_BEGIN("device");

TEST_CASE("df11: a pointer to the row of the lengths leads nowhere, whatever stands there")
{
    std::mt19937 random = makeRandom(79);
    std::vector<Df11Tensors> units;
    for (uint32_t i = 0; i < 64; ++i) {
        Bytes exponents(60);
        for (uint8_t& exponent : exponents)
            exponent = uint8_t(random() % 16);
        Df11Tensors unit =
            packDf11("pointer", SLUICE_DF11_FP8_E4M3, exponents, huffmanLengths(exponents), random);
        // The first code's entry becomes a pointer to the row of lengths. Read as symbols, that row
        // has whole runs of symbol 0, whose length, 10, would fit a code of two rows.
        unit.luts[unit.encoded[0]] = uint8_t(256 - (unit.luts.size() / 256 - 1));
        unit.luts[unit.luts.size() - 256] = 10;
        units.push_back(unit);
    }
    for (const DecodedDf11& decoded : decodeDf11(device(), units))
        CHECK((decoded.statuses == Words{SLUICE_TILE_BAD_CODE}));
}

// Codes of four bits fill a block. The last window's gap says that it starts at its second code;
// everything else is as if that were right.
TEST_CASE("df11: the window before the last ends where the last one starts")
{
    std::mt19937 random = makeRandom(80);
    constexpr uint32_t kElements = 8192;
    CodeLengths lengths(kDf11End + 1);
    lengths[kDf11End] = 4;
    for (uint32_t exponent = 0; exponent < 15; ++exponent)
        lengths[exponent] = 4;
    Bytes exponents(kElements);
    for (uint8_t& exponent : exponents)
        exponent = uint8_t(random() % 15);
    const Df11Tensors good = packDf11("full", SLUICE_DF11_BF16, exponents, lengths, random);
    REQUIRE(good.encoded.size() == 4096);
    REQUIRE(good.gaps.size() == 320);
    Df11Tensors bad = good;
    bad.gaps.back() |= 4;
    bad.elementCount = kElements - 1;
    for (uint32_t i = 0; i < 4; ++i)
        bad.outputPositions[4 + i] = uint8_t((kElements - 1) >> 8 * i);
    bad.signMantissa.pop_back();
    bad.expected.resize(2 * (kElements - 1));
    const std::vector<DecodedDf11> decoded = decodeDf11(device(), {good, bad});
    CHECK((decoded[0].statuses == Words{SLUICE_TILE_OK}));
    CHECK((decoded[1].statuses == Words{SLUICE_TILE_BAD_INDEX}));
}

TEST_SUITE_END();
