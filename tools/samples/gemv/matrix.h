// SPDX-License-Identifier: MIT OR Apache-2.0
// A matrix of made-up weights in bf16, and the same matrix encoded by the float codec.
#pragma once

#include <cstdint>
#include <vector>

#include <sluice/sluice_float.h>

struct Matrix {
    uint32_t rows = 0, columns = 0;
    std::vector<uint16_t> weights; // row by row

    std::vector<uint8_t> encoded;
    SluiceFloatTensor tensor = {}; // has offsets in `encoded` in place of addresses
    uint64_t tiles = 0;
    uint64_t encodedSize = 0; // bytes of `encoded` without the padding between its parts
};

// Makes normally distributed weights of mean 0 and standard deviation 0.02.
Matrix makeMatrix(uint32_t rows, uint32_t columns);

double toDouble(uint16_t bf16);
