// SPDX-License-Identifier: MIT OR Apache-2.0
// Tables of indices for shuffle instructions. Some lanes of a vector are *chosen*, for example
// those that take a word. A table has a row for each set of chosen lanes; bit i of `set` says that
// lane i is chosen.
#pragma once

#include "formats/integers.h"

namespace sluice::cpu::fast {

// Bit i of `set` says that lane i is chosen. rows[set][n] is the index of the n-th chosen lane; the
// rest of a row is 0. A shuffle by a row moves the values of the chosen lanes to the front.
struct ChosenOf8 {
    constexpr ChosenOf8()
    {
        for (uint32_t set = 0; set < 256; ++set)
            for (uint32_t i = 0, n = 0; i < 8; ++i)
                if ((set >> i & 1) != 0) rows[set][n++] = uint8_t(i);
    }
    alignas(8) uint8_t rows[256][8] = {};
};
// Bit i of `set` says that lane i is chosen; rows[set][i] is then the number of chosen lanes before
// lane i, otherwise 0. A shuffle by a row gives the first words to the chosen lanes, in order.
struct RankOf8 {
    constexpr RankOf8()
    {
        for (uint32_t set = 0; set < 256; ++set)
            for (uint32_t i = 0, n = 0; i < 8; ++i)
                if ((set >> i & 1) != 0) rows[set][i] = uint8_t(n++);
    }
    alignas(8) uint8_t rows[256][8] = {};
};
// For four lanes, chosen by the bits of `set`: rows[set] are the indices of a byte shuffle that
// gives the first words of four bytes to the chosen lanes, in order. For lanes that are not chosen
// the index is 0x80, with which the shuffle writes 0.
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
