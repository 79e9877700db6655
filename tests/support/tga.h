// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes Targa files of every kind, and the pictures that they must show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::test {

struct TgaKind {
    uint8_t type;      // 1: colour map, 2: colour, 3: grey; + 8: the file has runs
    uint8_t bits;      // bits of a pixel
    uint8_t mapBits;   // bits of an entry of the colour map; 0: there is no map
    uint8_t alphaBits; // the number of bits of alpha in the descriptor

    std::string text() const;
    uint32_t channels() const;
};

std::vector<TgaKind> allTgaKinds();

// Where pixels start in a file without a colour map: after the header and the identification.
constexpr size_t kTgaStart = 21;

// Makes a picture of noise with runs. The origin is 0, 16 (right), 32 (top) or 48.
struct TestTga {
    TestTga(const TgaKind& kind, uint32_t width, uint32_t height, uint8_t origin);

    std::vector<uint8_t> file;
    std::vector<uint8_t> rgba; // rows from top to bottom, each from left to right
};

} // namespace sluice::test
