// SPDX-License-Identifier: MIT OR Apache-2.0
// A matrix of generated weights in bf16, and the same matrix encoded by the float codec.
#pragma once

#include <cstdint>
#include <vector>

#include <sluice/sluice_float.h>

struct Matrix {
    uint32_t rows = 0, columns = 0;
    std::vector<uint16_t> weights; // row after row

    std::vector<uint8_t> encoded;
    SluiceFloatTensor tensor = {}; // its addresses are still offsets in `encoded`
    uint64_t tiles = 0;
    uint64_t encodedSize = 0; // bytes of all parts
};

// Weights are normally distributed, N(0, 0.02).
Matrix makeMatrix(uint32_t rows, uint32_t columns);

double toDouble(uint16_t bf16);
