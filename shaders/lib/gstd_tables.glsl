// SPDX-License-Identifier: MIT OR Apache-2.0
// The tables of a Gstd part. This file reads the frequencies or code lengths of the symbols and
// builds the decoding tables from them.
#ifndef SLUICE_GSTD_TABLES_GLSL
#define SLUICE_GSTD_TABLES_GLSL

#include "loops.glsl"
#include "gstd_tile.glsl"

// Shared memory holds either a table of literals or four tables of sequences. A table of literals
// has 2^11 slots and 256 symbols: marks, then entries (see rans.glsl), then space for building a
// prefix code. A table of sequences has 2^10 slots and an entry for each of its symbols.
const uint kRansWords = 452u;
const uint kLiteralEntries = 128u, kLengthsAt = 384u, kSequenceMarks = 64u;
const uint kLengthEntries = 256u, kMatchEntries = kLengthEntries + SLUICE_GS_LITERAL_LENGTHS;
const uint kOffsetEntries = kMatchEntries + SLUICE_GS_MATCH_LENGTHS,
           kRemainderEntries = kOffsetEntries + SLUICE_GS_OFFSETS;
#include "rans.glsl"

// The numbers of slots, or the code lengths, of eight rows of 32 symbols: a lane holds those of the
// symbols lane, lane + 32, ... Two rows share a word. Loops over rows are not unrolled, because
// drivers take long enough to compile the code as it is.
struct Rows {
    uint v[4];
};
uint pairOf(Rows rows, uint pair) {
    uint value = 0u;
    SLUICE_UNROLL
    for (uint i = 0u; i < 4u; ++i)
        value = mix(value, rows.v[i], i == pair);
    return value;
}
void setPair(inout Rows rows, uint pair, uint value) {
    SLUICE_UNROLL
    for (uint i = 0u; i < 4u; ++i)
        rows.v[i] = mix(rows.v[i], value, i == pair);
}
// The tables of sequences have a pair of rows each.
const uint kLiteralLengths = 0u, kMatchLengths = 1u, kOffsets = 2u, kRemainders = 3u;

Rows gLiterals, gSequences;
uint gLiteralMode, gLiteralLog, gSequenceLog, gModulus;
bool gTablesGood;

uint alphabet(uint table) {
    return table == kLiteralLengths ? SLUICE_GS_LITERAL_LENGTHS
           : table == kMatchLengths ? SLUICE_GS_MATCH_LENGTHS
           : table == kOffsets      ? SLUICE_GS_OFFSETS
           : gModulus > 1u          ? gModulus
                                    : 0u;
}

// Returns whether the lane has a symbol in the row.
bool hasSymbol(bool sequences, uint row) {
    return !sequences || (row & 1u) * 32u + lgLane() < alphabet(row >> 1);
}

// Reads the number of slots of a symbol, given its class.
uint ransSlots(bool on, uint symbolClass) {
    uint extra = ransBits(on && symbolClass > 1u, max(symbolClass, 1u) - 1u);
    return mix(1u << (max(symbolClass, 1u) - 1u) | extra, symbolClass, symbolClass < 2u);
}

// Reads eight rows of classes and turns them into numbers of slots, unless they are code lengths.
Rows readRows(bool on, bool sequences, bool lengths) {
    bool mine = on && lgLane() < SLUICE_GS_CLASSES;
    uint ahead = wordsAhead(), symbolClass = ransBits(mine, 3u),
         count = ransSlots(mine, symbolClass);
    wordsMove(ahead);
    ransTable(on, 0u, SLUICE_GS_CLASS_LOG);
    ransRow(on, 0u, kLiteralEntries, SLUICE_GS_CLASS_LOG, lgLane(), mine ? count : 0u);
    bool good = ransFill(on, 0u, SLUICE_GS_CLASS_LOG);
    if (on && !good) gTablesGood = false;
    on = on && good;
    Rows rows;
    SLUICE_DONT_UNROLL
    for (uint pair = 0u; pair < 4u; ++pair) {
        bool low = on && hasSymbol(sequences, 2u * pair),
             high = on && hasSymbol(sequences, 2u * pair + 1u);
        ahead = wordsAhead();
        uint first = ransSymbol(low, 0u, kLiteralEntries, SLUICE_GS_CLASS_LOG);
        uint second = ransSymbol(high, 0u, kLiteralEntries, SLUICE_GS_CLASS_LOG);
        setPair(rows, pair, mix(0u, first, low) | mix(0u, second << 16, high));
        wordsMove(ahead);
    }
    SLUICE_DONT_UNROLL
    for (uint pair = 0u; pair < 4u; ++pair) {
        ahead = wordsAhead();
        uint classes = pairOf(rows, pair), low = classes & 0xffffu, high = classes >> 16;
        uint slots = ransSlots(on && !lengths && hasSymbol(sequences, 2u * pair), low);
        slots |= ransSlots(on && !lengths && hasSymbol(sequences, 2u * pair + 1u), high) << 16;
        setPair(rows, pair, mix(slots, classes, lengths));
        wordsMove(ahead);
    }
    return rows;
}

// Opens part `part` and reads all of its tables, but keeps only those that are wanted.
void readTables(bool on, uint part, bool wantLiterals, bool wantSequences) {
    uint first = ofPart(gPart.z, on ? part : 0u), words = ofPart(gPart.w, on ? part : 0u);
    ransBegin(on, gSource, first + SLUICE_GS_PART_HEADER, first + words, p.regions);
    uint w0 = on ? sourceWord(first) : 0u, w3 = on ? sourceWord(first + 3u) : 0u;
    bool literals = on && (gLiteralOwners >> part & 1u) != 0u,
         sequences = on && (gSequenceOwners >> part & 1u) != 0u;
    uint mode = w0 >> 2 & 3u, before = gModulus;
    SLUICE_DONT_UNROLL
    for (uint turn = 0u; turn < 2u; ++turn) {
        bool ofSequences = turn == 1u, here = ofSequences ? sequences : literals;
        if (wgAny(here)) {
            gModulus = here && ofSequences ? (w3 & 63u) + 1u : gModulus;
            Rows rows =
                readRows(here, ofSequences, !ofSequences && mode == SLUICE_GS_LITERALS_HUFFMAN);
            if (here && !ofSequences && wantLiterals) {
                gLiterals = rows;
                gLiteralMode = mode;
                // The part may be an earlier one, whose header has not been checked.
                gLiteralLog = min(SLUICE_GS_MIN_LOG + (w0 >> 6 & 7u), SLUICE_GS_MAX_LITERAL_LOG);
            }
            if (here && ofSequences && wantSequences) {
                gSequences = rows;
                gSequenceLog = min(SLUICE_GS_MIN_LOG + (w0 >> 9 & 7u), SLUICE_GS_MAX_SEQUENCE_LOG);
            }
        }
    }
    gModulus = sequences && wantSequences ? gModulus : before;
}

// Builds the table of a canonical prefix code. The stream has a code's first bit lowest. Slots are
// the 2^11 bit strings of the longest code's length, with a code's first bit highest. An entry
// holds a symbol and, in bits 8 .. 11, the length of its code. Returns false if the code is not
// complete.
bool buildCode(bool on) {
    const uint kLongest = SLUICE_GS_MAX_CODE_LENGTH;
    uint own = lgLane();
    Rows rows = gLiterals;
    lgBarrierShared();
    if (on && own < 16u) sRans[ransAt(kLengthsAt + own)] = 0u; // counts the symbols of a length
    ransTable(on, 0u, kLongest);
    // A symbol's index among the symbols of its length is stored above the length.
    SLUICE_DONT_UNROLL
    for (uint r = 0u; r < 8u; ++r) {
        uint shift = 16u * (r & 1u), pair = pairOf(rows, r >> 1), codeLength = pair >> shift & 15u;
        uvec3 bits = uvec3(codeLength) >> uvec3(0u, 1u, 2u) & 1u;
        uvec3 agree = lgBallot3(bits.x != 0u, bits.y != 0u, bits.z != 0u) ^ (bits - 1u);
        uint same =
            agree.x & agree.y & agree.z & (lgBallot(codeLength >= 8u) ^ ((codeLength >> 3) - 1u));
        uint before = sRans[ransAt(kLengthsAt + codeLength)];
        lgBarrierShared();
        if (on && same >> own == 1u)
            sRans[ransAt(kLengthsAt + codeLength)] = before + uint(bitCount(same));
        setPair(rows, r >> 1,
                pair | (before + uint(bitCount(same & lgLanesBelow()))) << (shift + 4u));
        lgBarrierShared();
    }
    uint count = sRans[ransAt(kLengthsAt + (own & 15u))];
    bool isLength = own >= 1u && own <= kLongest;
    uint shorter, symbols, space, spaces;
    bool isLonger = own > kLongest && own < 16u && count != 0u;
    uint tooLong = lgBallot3Scan(false, isLonger, false, isLength ? count : 0u, shorter, symbols).y;
    lgScan(isLength ? count << (kLongest - own) : 0u, space, spaces);
    bool goOn = lgLoopsGoOn(), good = tooLong == 0u && spaces == 1u << kLongest && goOn;
    if (on && own < 16u) sRans[ransAt(kLengthsAt + own)] = shorter | space << 16;
    lgBarrierShared();
    SLUICE_DONT_UNROLL
    for (uint r = 0u; r < 8u; ++r) {
        uint value = pairOf(rows, r >> 1) >> 16u * (r & 1u) & 0xffffu, codeLength = value & 15u,
             index = value >> 4;
        uint begins = sRans[ransAt(kLengthsAt + codeLength)], place = (begins & 0xffffu) + index;
        if (on && good && codeLength != 0u) {
            uint slot = (begins >> 16) + (index << (kLongest - codeLength));
            sRans[ransAt(kLiteralEntries + place)] = (32u * r + own) | codeLength << 8;
            atomicOr(sRans[ransAt(2u * (slot >> 5))], 1u << (slot & 31u));
        }
    }
    ransFill(on, 0u, kLongest);
    return good;
}

bool buildLiterals(bool on) {
    bool huffman = on && gLiteralMode == SLUICE_GS_LITERALS_HUFFMAN,
         rans = on && gLiteralMode == SLUICE_GS_LITERALS_RANS;
    bool good = true;
    if (wgAny(huffman)) {
        bool complete = buildCode(huffman);
        good = !huffman || complete;
    }
    if (wgAny(rans)) {
        uint log = min(gLiteralLog, SLUICE_GS_MAX_LITERAL_LOG);
        ransTable(rans, 0u, log);
        SLUICE_DONT_UNROLL
        for (uint r = 0u; r < 8u; ++r)
            ransRow(rans, 0u, kLiteralEntries, log, 32u * r + lgLane(),
                    pairOf(gLiterals, r >> 1) >> 16u * (r & 1u) & 0xffffu);
        bool complete = ransFill(rans, 0u, log);
        good = good && (!rans || complete);
    }
    return good;
}

uint entriesOf(uint table) {
    return mix(mix(kLengthEntries, kMatchEntries, table == kMatchLengths),
               mix(kOffsetEntries, kRemainderEntries, table == kRemainders), table >= kOffsets);
}

bool buildSequences(bool on) {
    uint log = min(gSequenceLog, SLUICE_GS_MAX_SEQUENCE_LOG);
    bool good = true;
    SLUICE_DONT_UNROLL
    for (uint t = 0u; t < 4u; ++t) {
        uint marks = kSequenceMarks * t, entries = entriesOf(t), pair = pairOf(gSequences, t);
        bool built = on && alphabet(t) != 0u;
        ransTable(built, marks, log);
        SLUICE_DONT_UNROLL
        for (uint r = 0u; r < 2u; ++r) {
            bool here = hasSymbol(true, 2u * t + r);
            ransRow(built, marks, entries, log, 32u * r + lgLane(),
                    mix(0u, pair >> 16u * r & 0xffffu, here));
        }
        bool complete = ransFill(built, marks, log);
        good = good && (complete || !built);
    }
    return good;
}

#endif // SLUICE_GSTD_TABLES_GLSL
