// SPDX-License-Identifier: MIT OR Apache-2.0
// The steps in which the lanes of a Gstd part read: the values of symbols, and the steps with AVX2.
#pragma once

#include "formulas/gstd.h"
#include "cpu/fast/gstd_lanes.h"

namespace sluice::cpu::fast {

// Rows for the symbols of lengths and offsets: the least value and, in the bits below it, how many
// extra bits follow.
constexpr uint32_t kBaseShift = 5, kBitsMask = 31;

struct LengthRows {
    constexpr LengthRows(uint32_t count, uint32_t directLog, uint32_t add)
    {
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t bits = gstdExtraBits(i, directLog);
            rows[i] = (gstdBase(i, directLog, bits) + add) << kBaseShift | bits;
        }
    }
    uint32_t rows[SLUICE_GS_MATCH_LENGTHS] = {};
};
constexpr LengthRows kLiteralLengths(SLUICE_GS_LITERAL_LENGTHS, SLUICE_GS_LITERAL_DIRECT_LOG, 0);
constexpr LengthRows kMatchLengths(SLUICE_GS_MATCH_LENGTHS, SLUICE_GS_MATCH_DIRECT_LOG,
                                   SLUICE_GS_MIN_MATCH);
// For an offset's symbol the value is the quotient. A repeat's row has no meaning and no extra
// bits.
struct OffsetRows {
    constexpr OffsetRows()
    {
        for (uint32_t i = SLUICE_GS_REPEATS; i < SLUICE_GS_OFFSETS; ++i) {
            const uint32_t bits = gstdOffsetBits(i - SLUICE_GS_REPEATS);
            rows[i] = (gstdOffsetBase(i - SLUICE_GS_REPEATS, bits) - 1) << kBaseShift | bits;
        }
    }
    uint32_t rows[SLUICE_GS_OFFSETS] = {};
};
constexpr OffsetRows kOffsets;

// Steps of all lanes with AVX2. There are enough words for them, and kWordsLoaded more.
constexpr uint32_t kWordsLoaded = 8;

// Reads 32 symbols of an rANS table.
void readSymbolsAvx2(Lanes& lanes, const uint32_t* slots, uint32_t log, uint32_t* symbols);
// Sets values[lane] to what the row of symbols[lane] and its extra bits give.
void readExtraBitsAvx2(Lanes& lanes, const uint32_t* rows, const uint32_t* symbols,
                       uint32_t* values);
// Read whole groups of 128 literals as long as words are certain to suffice. Return how many
// literals were read.
uint32_t readRansLiteralsAvx2(Lanes& lanes, uint32_t count, const uint32_t* slots, uint32_t log,
                              uint8_t* literals);
// An entry of `codes` is a symbol with the length of its code above it, as a word.
uint32_t readCodedLiteralsAvx2(Lanes& lanes, uint32_t count, const uint16_t* codes,
                               uint8_t* literals);

} // namespace sluice::cpu::fast
