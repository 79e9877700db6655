// SPDX-License-Identifier: MIT OR Apache-2.0
// Byte orders for every set of lanes, in the form that shuffles take.
#pragma once

#include "formats/integers.h"

namespace sluice::cpu::fast {

// row[n] says where the n-th chosen lane of the set `row` of 8 lanes stands; the rest is 0.
struct ChosenOf8 {
    constexpr ChosenOf8()
    {
        for (uint32_t set = 0; set < 256; ++set)
            for (uint32_t i = 0, n = 0; i < 8; ++i)
                if ((set >> i & 1) != 0) rows[set][n++] = uint8_t(i);
    }
    alignas(8) uint8_t rows[256][8] = {};
};
// For each of 8 lanes, how many chosen ones stand before it; 0 for lanes that are not chosen.
struct RankOf8 {
    constexpr RankOf8()
    {
        for (uint32_t set = 0; set < 256; ++set)
            for (uint32_t i = 0, n = 0; i < 8; ++i)
                if ((set >> i & 1) != 0) rows[set][i] = uint8_t(n++);
    }
    alignas(8) uint8_t rows[256][8] = {};
};
// The bytes of 4 words: each chosen word takes the next word of the source, the others get 0.
struct WordsOf4 {
    constexpr WordsOf4()
    {
        for (uint32_t set = 0; set < 16; ++set)
            for (uint32_t i = 0, n = 0; i < 4; ++i) {
                const bool isChosen = (set >> i & 1) != 0;
                for (uint32_t b = 0; b < 4; ++b)
                    rows[set][4 * i + b] = isChosen ? uint8_t(4 * n + b) : uint8_t(0x80);
                n += isChosen ? 1 : 0;
            }
    }
    alignas(16) uint8_t rows[16][16] = {};
};

} // namespace sluice::cpu::fast
