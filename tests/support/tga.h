// SPDX-License-Identifier: MIT OR Apache-2.0
// Made-up Targa files of every kind, with what they show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::test {

struct TgaKind {
    uint8_t type;      // 1, 2 or 3; with 8: packets of runs
    uint8_t bits;      // of a pixel
    uint8_t mapBits;   // of a colour map's entry; 0: there is no map
    uint8_t alphaBits; // in the descriptor

    std::string text() const;
    uint32_t channels() const;
};

std::vector<TgaKind> allTgaKinds();

constexpr size_t kTgaStart = 21; // of a file without a colour map: header and identification

// Noise with runs. The origin is 0, 16 (right), 32 (top) or 48.
struct TestTga {
    TestTga(const TgaKind& kind, uint32_t width, uint32_t height, uint8_t origin);

    std::vector<uint8_t> file;
    std::vector<uint8_t> rgba; // rows from the top, each from the left
};

} // namespace sluice::test
