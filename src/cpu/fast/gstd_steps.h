// SPDX-License-Identifier: MIT OR Apache-2.0
// The steps in which the lanes of a Gstd part read: the values of symbols, and the steps with AVX2.
#pragma once

#include "formulas/gstd.h"
#include "cpu/fast/gstd_lanes.h"

namespace sluice::cpu::fast {

// Rows for the symbols of lengths and offsets: the least value and, in the bits below it, how many
// extra bits follow.
constexpr u32 kBaseShift = 5, kBitsMask = 31;

struct LengthRows {
    constexpr LengthRows(u32 count, u32 directLog, u32 add)
    {
        for (u32 i = 0; i < count; ++i) {
            const u32 bits = gstdExtraBits(i, directLog);
            rows[i] = (gstdBase(i, directLog, bits) + add) << kBaseShift | bits;
        }
    }
    u32 rows[SLUICE_GS_MATCH_LENGTHS] = {};
};
constexpr LengthRows kLiteralLengths(SLUICE_GS_LITERAL_LENGTHS, SLUICE_GS_LITERAL_DIRECT_LOG, 0);
constexpr LengthRows kMatchLengths(SLUICE_GS_MATCH_LENGTHS, SLUICE_GS_MATCH_DIRECT_LOG,
                                   SLUICE_GS_MIN_MATCH);
// For an offset's symbol the value is the quotient. A repeat's row has no meaning and no extra
// bits.
struct OffsetRows {
    constexpr OffsetRows()
    {
        for (u32 i = SLUICE_GS_REPEATS; i < SLUICE_GS_OFFSETS; ++i) {
            const u32 bits = gstdOffsetBits(i - SLUICE_GS_REPEATS);
            rows[i] = (gstdOffsetBase(i - SLUICE_GS_REPEATS, bits) - 1) << kBaseShift | bits;
        }
    }
    u32 rows[SLUICE_GS_OFFSETS] = {};
};
constexpr OffsetRows kOffsets;

// Steps of all lanes with AVX2. There are enough words for them, and kWordsLoaded more.
constexpr u32 kWordsLoaded = 8;

// Reads 32 symbols of an rANS table.
void readSymbolsAvx2(Lanes& lanes, const u32* slots, u32 log, u32* symbols);
// Sets values[lane] to what the row of symbols[lane] and its extra bits give.
void readExtraBitsAvx2(Lanes& lanes, const u32* rows, const u32* symbols, u32* values);
// Read whole groups of 128 literals as long as words are certain to suffice. Return how many
// literals were read.
u32 readRansLiteralsAvx2(Lanes& lanes, u32 count, const u32* slots, u32 log, u8* literals);
// An entry of `codes` is a symbol with the length of its code above it, as a word.
u32 readCodedLiteralsAvx2(Lanes& lanes, u32 count, const u16* codes, u8* literals);

} // namespace sluice::cpu::fast
