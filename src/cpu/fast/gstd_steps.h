// SPDX-License-Identifier: MIT OR Apache-2.0
// The steps in which the lanes of a Gstd part read lengths and offsets: tables with the values of
// the symbols, and declarations of the steps that gstd_avx2.cpp does with AVX2.
#pragma once

#include "formulas/gstd.h"
#include "cpu/fast/gstd_lanes.h"

namespace sluice::cpu::fast {

// A symbol of a length or an offset stands for a smallest value, to which extra bits of the stream
// are added. Tables have a row for each symbol: the smallest value from bit kBaseShift on, and
// below it the number of extra bits.
constexpr uint32_t kBaseShift = 5, kBitsMask = 31;

// The rows for one kind of length, which has `count` symbols. The first 2^directLog symbols have no
// extra bits. add: a number that is added to each smallest value.
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
// The rows for offsets. Their values are offsets divided by the part's modulus. The first three
// symbols stand for one of the last three offsets; their rows are 0.
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

// The functions below work on all 32 lanes. They load kWordsLoaded words at a time, so the part
// must have that many words more than the lanes can take.
constexpr uint32_t kWordsLoaded = 8;

// Reads a symbol of each lane. slots: a table with 2^log slots.
void readSymbolsAvx2(Lanes& lanes, const uint32_t* slots, uint32_t log, uint32_t* symbols);
// Reads the extra bits of each lane's symbol. Sets values[lane] to the smallest value of
// symbols[lane] plus these bits.
void readExtraBitsAvx2(Lanes& lanes, const uint32_t* rows, const uint32_t* symbols,
                       uint32_t* values);
// Reads groups of 128 literals, as long as the words are certain to suffice for a whole group.
// Returns the number of literals that were read, at most `count`.
uint32_t readRansLiteralsAvx2(Lanes& lanes, uint32_t count, const uint32_t* slots, uint32_t log,
                              uint8_t* literals);
// Reads groups of 128 literals that have a prefix code. Returns the number of literals that were
// read, at most `count`. codes: an entry for each value of the next SLUICE_GS_MAX_CODE_LENGTH bits,
// with the symbol in bits 0 to 7 and the length of its code above.
uint32_t readCodedLiteralsAvx2(Lanes& lanes, uint32_t count, const uint16_t* codes,
                               uint8_t* literals);

} // namespace sluice::cpu::fast
