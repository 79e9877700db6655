// SPDX-License-Identifier: MIT OR Apache-2.0
// Edges of DF11 units that no other test stands on.
#include "df11_units.h"

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
        // The first code's. Taken for a row of symbols, that of the lengths has whole runs of
        // symbol 0, whose length, 10, is what such a row is for.
        unit.luts[unit.encoded[0]] = uint8_t(256 - (unit.luts.size() / 256 - 1));
        unit.luts[unit.luts.size() - 256] = 10;
        units.push_back(unit);
    }
    for (const DecodedDf11& decoded : decodeDf11(device(), units))
        CHECK((decoded.statuses == Words{SLUICE_TILE_BAD_CODE}));
}

TEST_SUITE_END();
