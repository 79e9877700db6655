// SPDX-License-Identifier: MIT OR Apache-2.0
// The tiles of the self-test: for each codec one without a filter and one with a filter.
// tests/api/self_test_test.cpp generates this file (SLUICE_PRINT_SELF_TEST) and checks that the
// tiles decode to the original bytes.
#pragma once

#include <cstdint>

#include "texts/self_test_bytes.h" // kSelfTestBytes, which are those of self_test_tiles.bin

namespace sluice {

struct SelfTestTile {
    uint32_t offset; // bytes into kSelfTestBytes, a multiple of 16
    uint32_t storedSize, size;
    uint32_t codec;    // SluiceCodec
    uint32_t checksum; // of the decoded bytes
    uint32_t filterSize;
};
// clang-format off
constexpr SelfTestTile kSelfTestTiles[] = {
    {0, 3128, 7008, 1, 0x2f96fefbu, 0},
    {3136, 1944, 4000, 1, 0x1f69e819u, 20},
    {5088, 3464, 7200, 3, 0xb8534419u, 0},
    {8560, 1584, 4080, 3, 0x16236be0u, 20},
    {10144, 4680, 6000, 2, 0x0cec9df6u, 0},
    {14832, 1640, 4005, 2, 0xa63f64a8u, 20},
};

// The filter of all tiles that have one (docs/format.md, 8): each byte is stored as its difference
// from the byte before.
constexpr uint32_t kSelfTestFilter[] = {
    0x00010001, 0x203fffff, 0x00000100, 0x00000000, 0x00010001,
};
// clang-format on

} // namespace sluice
