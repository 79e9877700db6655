// SPDX-License-Identifier: MIT OR Apache-2.0
// The decoding tables of a Gstd part (docs/format.md, 7.3): reads the number of slots, or the code
// length, of each symbol, and builds the tables. A *slot* of a table is one of the 2^log values by
// which it is looked up.
#ifndef SLUICE_GSTD_TABLES_GLSL
#define SLUICE_GSTD_TABLES_GLSL

#include "loops.glsl"
#include "gstd_tile.glsl"

// A lane group has kRansWords words of shared memory for tables. They hold either the table of
// literals or the four tables of sequences. A table consists of marks, which say at which slots the
// symbols begin, and of entries, a word for each symbol (rans.glsl).
// - Literals: words 0 .. 127 are the marks of 2^11 slots, words 128 .. 383 are the entries of 256
//   symbols, and 16 words from kLengthsAt on are used while a prefix code is built.
// - Sequences: table t has its marks, for 2^10 slots, from word kSequenceMarks * t on. The entries
//   of the four tables follow in words 256 .. 451, one for each symbol of their alphabets.
const uint kRansWords = 452u;
const uint kLiteralEntries = 128u, kLengthsAt = 384u, kSequenceMarks = 64u;
const uint kLengthEntries = 256u, kMatchEntries = kLengthEntries + SLUICE_GS_LITERAL_LENGTHS;
const uint kOffsetEntries = kMatchEntries + SLUICE_GS_MATCH_LENGTHS,
           kRemainderEntries = kOffsetEntries + SLUICE_GS_OFFSETS;
#include "rans.glsl"

// Holds what was read for each symbol of the tables, 16 bits each: its number of slots, or the
// length of its code. A row is 32 symbols, one per lane: row r gives lane i symbol 32 r + i. v[p]
// holds row 2 p in its low half and row 2 p + 1 in its upper half. Most loops over rows are not
// unrolled, because drivers take long to compile these kernels anyway.
struct Rows {
    uint v[4];
};
// Returns v[pair] (rows 2 pair and 2 pair + 1), without indexing an array by a variable.
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
// These number the four tables of sequences, in the order in which a part describes them. Table t
// takes rows 2 t and 2 t + 1 of gSequences, since an alphabet has at most 64 symbols.
const uint kLiteralLengths = 0u, kMatchLengths = 1u, kOffsets = 2u, kRemainders = 3u;

Rows gLiterals, gSequences;
uint gLiteralMode, gLiteralLog, gSequenceLog, gModulus;
bool gTablesGood;

// Returns how many symbols a table of sequences has. The table of remainders exists only if the
// modulus of offsets is above 1.
uint alphabet(uint table) {
    return table == kLiteralLengths ? SLUICE_GS_LITERAL_LENGTHS
           : table == kMatchLengths ? SLUICE_GS_MATCH_LENGTHS
           : table == kOffsets      ? SLUICE_GS_OFFSETS
           : gModulus > 1u          ? gModulus
                                    : 0u;
}

// Returns whether this lane has a symbol in row `row`: of gSequences, where an alphabet may end
// inside a row, or of gLiterals, whose rows have all 256 symbols.
bool hasSymbol(bool sequences, uint row) {
    return !sequences || (row & 1u) * 32u + lgLane() < alphabet(row >> 1);
}

// Reads the number of slots of a symbol of class `symbolClass`. For the classes 0 and 1 it is the
// class itself. For a class c above, it is 2^(c - 1) plus the number in the next c - 1 bits.
uint ransSlots(bool on, uint symbolClass) {
    uint extra = ransBits(on && symbolClass > 1u, max(symbolClass, 1u) - 1u);
    return mix(1u << (max(symbolClass, 1u) - 1u) | extra, symbolClass, symbolClass < 2u);
}

// Reads the description of the literals' table or of the sequences' tables. It consists of a table
// for decoding classes, a class for each symbol, and the extra bits of the classes (ransSlots). If
// `lengths` is set, there are no extra bits, and the classes are code lengths. Sets gTablesGood to
// false if the table for classes is not valid.
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

// Begins to read part `part`, and reads the descriptions of all of its tables, since they follow
// each other in the list of words. Only the wanted ones are kept, in gLiterals and gSequences. A
// part may lack the literals' table or those of sequences.
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
                // The part may be an earlier one, whose header this lane group has not checked. So
                // the number of slots is limited here.
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

// Builds the table of a canonical prefix code for the literals. The table has a slot for each
// string of kLongest bits. A slot's number has the first bit of its string highest, whereas the
// stream has it lowest. An entry holds a symbol in bits 0 .. 7 and the length of its code in bits 8
// .. 11. Returns false if the code is not complete.
bool buildCode(bool on) {
    const uint kLongest = SLUICE_GS_MAX_CODE_LENGTH;
    uint own = lgLane();
    Rows rows = gLiterals;
    lgBarrierShared();
    // First, word kLengthsAt + n counts the symbols with codes of length n.
    if (on && own < 16u) sRans[ransAt(kLengthsAt + own)] = 0u;
    ransTable(on, 0u, kLongest);
    // This loop finds each symbol's index among the symbols with codes of its length. It stores the
    // index above the length in the symbol's half word of `rows`.
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
    // Now lane n works on length n: `shorter` is the number of symbols with shorter codes, and
    // `space` the number of slots that these codes take up. The code is complete if the codes of
    // all lengths take up all 2^kLongest slots.
    uint count = sRans[ransAt(kLengthsAt + (own & 15u))];
    bool isLength = own >= 1u && own <= kLongest;
    uint shorter, symbols, space, spaces;
    bool isLonger = own > kLongest && own < 16u && count != 0u;
    uint tooLong = lgBallot3Scan(false, isLonger, false, isLength ? count : 0u, shorter, symbols).y;
    lgScan(isLength ? count << (kLongest - own) : 0u, space, spaces);
    bool goOn = lgLoopsGoOn(), good = tooLong == 0u && spaces == 1u << kLongest && goOn;
    if (on && own < 16u) sRans[ransAt(kLengthsAt + own)] = shorter | space << 16;
    lgBarrierShared();
    // Each symbol writes its entry, in canonical order, and marks the first slot of its code.
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

// Builds the table of literals from gLiterals. Returns false if it is not valid. Only lane groups
// that are `on` build; the others take part in the barriers.
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

// Returns the word at which the entries of a sequences' table begin.
uint entriesOf(uint table) {
    return mix(mix(kLengthEntries, kMatchEntries, table == kMatchLengths),
               mix(kOffsetEntries, kRemainderEntries, table == kRemainders), table >= kOffsets);
}

// Builds the four tables of sequences from gSequences. Returns false if one is not valid. Lane
// groups that are not `on` only take part in the barriers.
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
