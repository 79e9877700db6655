// SPDX-License-Identifier: MIT OR Apache-2.0
// The slowest legal tiles that are known of each codec, and typical ones to compare them with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/input.h"

namespace sluice {

struct WorstTile {
    const char* kernel; // the row's kernel: "worst gdeflate" ...
    std::string name;
    uint32_t codec; // SluiceCodec
    Bytes stored, decoded;
    Words filter = {}; // filter description; empty: no filter
    bool isTypical = false;
};

// These return a codec's typical tiles, then its slow ones.
std::vector<WorstTile> worstGdeflateTiles();
std::vector<WorstTile> worstGstdTiles();
std::vector<WorstTile> worstFloatTiles(); // the codecs float and huff
std::vector<WorstTile> worstFilterTiles();

} // namespace sluice
