// SPDX-License-Identifier: MIT OR Apache-2.0
// The symbols of Gstd tiles (docs/format.md, section 7). A lane group decodes a part, as many as a
// tile may have share it: its literals go to the end of the part's output, where gstd_expand.comp
// takes them from before it comes there, and its sequences to scratch.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout/gstd.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/units.glsl"

// Tables of literals, 2^11 slots and 256 symbols: marks, then entries; or of sequences, four of
// 2^10 slots, each with as many entries as it has symbols. Where tables of literals are built there
// is room behind them.
const uint kRansWords = 452u;
const uint kLiteralEntries = 128u, kLengthsAt = 384u, kSequenceMarks = 64u;
const uint kLengthEntries = 256u, kMatchEntries = kLengthEntries + SLUICE_GS_LITERAL_LENGTHS;
const uint kOffsetEntries = kMatchEntries + SLUICE_GS_MATCH_LENGTHS,
           kRemainderEntries = kOffsetEntries + SLUICE_GS_OFFSETS;
#include "lib/rans.glsl"

layout(push_constant, std430) uniform Push { GstdParams p; };
#include "lib/region.glsl"

const uint kGroupsPerTile = SLUICE_GS_LANE_GROUPS; // as many as parts
const uint kNone = 0xffffffffu;

uvec2 gSource, gDestination, gSlot;
uint gSourceBytes, gSize, gParts;
uvec4 gPart; // lane i, of part i: first byte and bytes of output; first word and words
uint gLiteralOwners, gSequenceOwners; // parts that have tables of their own

uint sourceWord(uint index) {
    return WordsIn(gSource).w[index >> 1] >> (index & 1u) * 16u & 0xffffu;
}
uint sourceWord32(uint index) { return WordsIn(gSource).w[index]; }

// -----------------------------------------------------------------------------------------------
// Tile

// Reads a region. Returns OK, or what is wrong with it; kNone: it holds plain bytes.
uint openRegion(uint index) {
    Region region = loadRegion(index);
    gSource = region.source;
    gDestination = region.destination;
    if (!sourceAllowed(region, SLUICE_GS_MAX_COMPRESSED) ||
        !destinationAllowed(region, SLUICE_GS_TILE_BYTES))
        return SLUICE_ST_BAD_REGION;
    gSourceBytes = region.sourceSize.x;
    gSize = region.size.x;
    return (p.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0u && gSourceBytes == gSize ? kNone
                                                                                  : SLUICE_ST_OK;
}

// Reads the tile's header and the list of its parts.
uint loadParts(bool on) {
    uint status = SLUICE_ST_OK, lane = lgLane();
    gParts = 0u;
    if (on && gSourceBytes < 8u) {
        status = SLUICE_ST_TRUNCATED;
    } else if (on) {
        uint header = sourceWord32(0u);
        gParts = (header & 15u) + 1u;
        status = header >> 7 != 0u                 ? SLUICE_ST_BAD_CODE
                 : gSourceBytes < 4u + 4u * gParts ? SLUICE_ST_TRUNCATED
                                                   : SLUICE_ST_OK;
    }
    bool mine = on && status == SLUICE_ST_OK && lane < gParts;
    uint entry = mine ? sourceWord32(1u + lane) : 0u, size, words;
    uvec4 part = uvec4(0u);
    part.yw = mine ? uvec2(entry & 0xffffu, entry >> 16) + 1u : uvec2(0u);
    lgScan(part.y, part.x, size);
    uint odd = lgBallot3Scan(false, mine && lane + 1u < gParts && part.y % SLUICE_GS_GROUP != 0u,
                             false, part.w, part.z, words)
                   .y;
    part.z += 2u + 2u * gParts;
    gPart = part;
    if (on && status == SLUICE_ST_OK) {
        words += 2u + 2u * gParts;
        status = odd != 0u                   ? SLUICE_ST_BAD_CODE
                 : size > gSize              ? SLUICE_ST_TOO_LONG
                 : size < gSize              ? SLUICE_ST_TOO_SHORT
                 : 2u * words > gSourceBytes ? SLUICE_ST_TRUNCATED
                                             : SLUICE_ST_OK;
    }
    bool good = mine && status == SLUICE_ST_OK && part.w >= SLUICE_GS_PART_HEADER;
    uint w0 = good ? sourceWord(part.z) : 0u;
    bool coded = good && (w0 & 3u) == SLUICE_GS_CODED;
    uvec3 owners =
        lgBallot3(coded && (w0 >> 4 & 1u) == 0u && (w0 >> 2 & 3u) <= SLUICE_GS_LITERALS_HUFFMAN,
                  coded && (w0 >> 5 & 1u) == 0u && sourceWord(part.z + 2u) != 0u, false);
    gLiteralOwners = owners.x;
    gSequenceOwners = owners.y;
    return status;
}

// What lane `part` has of gPart.
uint ofPart(uint value, uint part) {
    lgShare(value);
    return lgShared(part);
}

// The highest part of `owners` before part `part`, or kNone.
uint ownerBefore(uint owners, uint part) {
    owners &= (1u << part) - 1u;
    return owners == 0u ? kNone : uint(findMSB(owners));
}

// -----------------------------------------------------------------------------------------------
// Tables. Lane l has what they say of symbols l, l + 32 and so on: slots, or code lengths.

struct Rows {
    uint v[4]; // two rows each, 16 bits of a row
};
// Loops over rows are not unrolled, which keeps the code small: it takes drivers long enough to
// compile.
uint pairOf(Rows rows, uint pair) {
    uint value = 0u;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) value = mix(value, rows.v[i], i == pair);
    return value;
}
void setPair(inout Rows rows, uint pair, uint value) {
    [[unroll]] for (uint i = 0u; i < 4u; ++i) rows.v[i] = mix(rows.v[i], value, i == pair);
}
// Sequences: a pair of rows each
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

// Is there a symbol in this lane's place of the row?
bool hasSymbol(bool sequences, uint row) {
    return !sequences || (row & 1u) * 32u + lgLane() < alphabet(row >> 1);
}

// What makes slots of a class.
uint ransSlots(bool on, uint class_) {
    uint rest = ransBits(on && class_ > 1u, max(class_, 1u) - 1u);
    return mix(1u << max(class_, 1u) - 1u | rest, class_, class_ < 2u);
}

// Eight rows; slots unless they are code lengths.
Rows readRows(bool on, bool sequences, bool lengths) {
    bool mine = on && lgLane() < SLUICE_GS_CLASSES;
    uint ahead = wordsAhead(), class_ = ransBits(mine, 3u), count = ransSlots(mine, class_);
    wordsMove(ahead);
    ransTable(on, 0u, SLUICE_GS_CLASS_LOG);
    ransRow(on, 0u, kLiteralEntries, SLUICE_GS_CLASS_LOG, lgLane(), mine ? count : 0u);
    bool good = ransFill(on, 0u, SLUICE_GS_CLASS_LOG);
    if (on && !good) gTablesGood = false;
    on = on && good;
    Rows rows;
    [[dont_unroll]] for (uint p = 0u; p < 4u; ++p) {
        bool low = on && hasSymbol(sequences, 2u * p),
             high = on && hasSymbol(sequences, 2u * p + 1u);
        ahead = wordsAhead();
        uint first = ransSymbol(low, 0u, kLiteralEntries, SLUICE_GS_CLASS_LOG);
        uint second_ = ransSymbol(high, 0u, kLiteralEntries, SLUICE_GS_CLASS_LOG);
        setPair(rows, p, mix(0u, first, low) | mix(0u, second_ << 16, high));
        wordsMove(ahead);
    }
    [[dont_unroll]] for (uint p = 0u; p < 4u; ++p) {
        ahead = wordsAhead();
        uint classes = pairOf(rows, p), low = classes & 0xffffu, high = classes >> 16;
        uint slots = ransSlots(on && !lengths && hasSymbol(sequences, 2u * p), low);
        slots |= ransSlots(on && !lengths && hasSymbol(sequences, 2u * p + 1u), high) << 16;
        setPair(rows, p, mix(slots, classes, lengths));
        wordsMove(ahead);
    }
    return rows;
}

// Begins with part `part`, and reads the tables that it has; they replace those wanted.
void readTables(bool on, uint part, bool wantLiterals, bool wantSequences) {
    uint first = ofPart(gPart.z, on ? part : 0u), words = ofPart(gPart.w, on ? part : 0u);
    ransBegin(on, gSource, first + SLUICE_GS_PART_HEADER, first + words, p.regions);
    uint w0 = on ? sourceWord(first) : 0u, w3 = on ? sourceWord(first + 3u) : 0u;
    bool literals = on && (gLiteralOwners >> part & 1u) != 0u,
         sequences = on && (gSequenceOwners >> part & 1u) != 0u;
    uint mode = w0 >> 2 & 3u, before = gModulus;
    [[dont_unroll]] for (uint turn = 0u; turn < 2u; ++turn) {
        bool ofSequences = turn == 1u, here = ofSequences ? sequences : literals;
        if (wgAny(here)) {
            gModulus = here && ofSequences ? (w3 & 63u) + 1u : gModulus;
            Rows rows =
                readRows(here, ofSequences, !ofSequences && mode == SLUICE_GS_LITERALS_HUFFMAN);
            if (here && !ofSequences && wantLiterals) {
                gLiterals = rows;
                gLiteralMode = mode;
                // maybe of another, bad part
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

// A prefix code: slots are the 2^11 strings of the longest code's length, read from the first bit
// of a code on, and entries have a symbol and in bits 8 .. 11 the length of its code. A canonical
// code whose bits are used from the lowest on.
bool buildCode(bool on) {
    const uint kLongest = SLUICE_GS_MAX_CODE_LENGTH;
    uint own = lgLane();
    Rows rows = gLiterals;
    lgBarrierShared();
    if (on && own < 16u) sRans[ransAt(kLengthsAt + own)] = 0u; // symbols with that length
    ransTable(on, 0u, kLongest);
    // Which one of its length a symbol is goes beside the length.
    [[dont_unroll]] for (uint r = 0u; r < 8u; ++r) {
        uint shift = 16u * (r & 1u), pair = pairOf(rows, r >> 1), length_ = pair >> shift & 15u;
        uvec3 bits = uvec3(length_) >> uvec3(0u, 1u, 2u) & 1u;
        uvec3 agree = lgBallot3(bits.x != 0u, bits.y != 0u, bits.z != 0u) ^ (bits - 1u);
        uint same = agree.x & agree.y & agree.z & (lgBallot(length_ >= 8u) ^ ((length_ >> 3) - 1u));
        uint before = sRans[ransAt(kLengthsAt + length_)];
        lgBarrierShared();
        if (on && same >> own == 1u)
            sRans[ransAt(kLengthsAt + length_)] = before + uint(bitCount(same));
        setPair(rows, r >> 1, pair | before + uint(bitCount(same & lgLanesBelow())) << shift + 4u);
        lgBarrierShared();
    }
    uint count = sRans[ransAt(kLengthsAt + (own & 15u))];
    bool isLength = own >= 1u && own <= kLongest;
    uint shorter, symbols, space, spaces;
    bool isLonger = own > kLongest && own < 16u && count != 0u;
    uint tooLong = lgBallot3Scan(false, isLonger, false, isLength ? count : 0u, shorter, symbols).y;
    lgScan(isLength ? count << kLongest - own : 0u, space, spaces);
    bool good = tooLong == 0u && spaces == 1u << kLongest;
    if (on && own < 16u) sRans[ransAt(kLengthsAt + own)] = shorter | space << 16;
    lgBarrierShared();
    [[dont_unroll]] for (uint r = 0u; r < 8u; ++r) {
        uint value = pairOf(rows, r >> 1) >> 16u * (r & 1u) & 0xffffu, length_ = value & 15u,
             index = value >> 4;
        uint begins = sRans[ransAt(kLengthsAt + length_)], place = (begins & 0xffffu) + index;
        if (on && good && length_ != 0u) {
            uint slot = (begins >> 16) + (index << kLongest - length_);
            sRans[ransAt(kLiteralEntries + place)] = 32u * r + own | length_ << 8;
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
        [[dont_unroll]] for (uint r = 0u; r < 8u; ++r)
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
    [[dont_unroll]] for (uint t = 0u; t < 4u; ++t) {
        uint marks = kSequenceMarks * t, entries = entriesOf(t), pair = pairOf(gSequences, t);
        bool built = on && alphabet(t) != 0u;
        ransTable(built, marks, log);
        [[dont_unroll]] for (uint r = 0u; r < 2u; ++r) {
            bool here = hasSymbol(true, 2u * t + r);
            ransRow(built, marks, entries, log, 32u * r + lgLane(),
                    mix(0u, pair >> 16u * r & 0xffffu, here));
        }
        bool complete = ransFill(built, marks, log);
        good = good && (complete || !built);
    }
    return good;
}

// -----------------------------------------------------------------------------------------------
// Literals, 128 at a time: four a lane, a word.

// One of each lane, by all lanes of the group.
uint takeLiteral(bool on, uint mode, uint one) {
    ransRefill(on && mode != SLUICE_GS_LITERALS_ONE);
    uint literal = one;
    if (mode == SLUICE_GS_LITERALS_RANS) {
        literal = ransTake(on, 0u, kLiteralEntries, gLiteralLog);
    } else if (mode == SLUICE_GS_LITERALS_HUFFMAN) {
        uint entry = ransEntry(0u, kLiteralEntries,
                               bitfieldReverse(gState) >> 32u - SLUICE_GS_MAX_CODE_LENGTH);
        literal = entry & 255u;
        gState = mix(gState, gState >> (entry >> 8 & 15u), on);
    } else if (mode == SLUICE_GS_LITERALS_PLAIN) {
        literal = gState & 255u;
        gState = mix(gState, gState >> 8, on);
    }
    return literal;
}
uint takeLiterals(uint first, uint count, uint mode, uint one) {
    uint own = first + 4u * lgLane();
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
    uint word = 0u;
    [[dont_unroll]] for (uint k = 0u; k < 4u; ++k) word |= takeLiteral(own + k < count, mode, one)
                                                           << 8u * k;
    return word;
#else
    // Written out: NVIDIA's compiler (580) unrolls no loops with ballots.
    uint a = takeLiteral(own < count, mode, one), b = takeLiteral(own + 1u < count, mode, one);
    uint c = takeLiteral(own + 2u < count, mode, one), d = takeLiteral(own + 3u < count, mode, one);
    return a | b << 8 | c << 16 | d << 24;
#endif
}

// They end where the part ends, so that nothing is written over them before it is needed.
void decodeLiterals(bool on, uint mode, uint one, uint count, uint end) {
    uint start = end - count, skew = start & 3u, carried = 0u; // what is left of the word before
    uint wanted = on ? count : 0u;
    for (uint first = 0u; wgAny(on && first < count + skew); first += 128u) {
        uint word, ahead = wordsAhead();
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
        word = takeLiterals(first, wanted, mode, one);
#else
        // With the mode known there are no branches between the literals. Groups in lockstep may
        // differ in it.
        if (kLockstep)
            word = takeLiterals(first, wanted, mode, one);
        else if (sgUniform(mode == SLUICE_GS_LITERALS_RANS))
            word = takeLiterals(first, wanted, SLUICE_GS_LITERALS_RANS, one);
        else if (sgUniform(mode == SLUICE_GS_LITERALS_HUFFMAN))
            word = takeLiterals(first, wanted, SLUICE_GS_LITERALS_HUFFMAN, one);
        else if (sgUniform(mode == SLUICE_GS_LITERALS_PLAIN))
            word = takeLiterals(first, wanted, SLUICE_GS_LITERALS_PLAIN, one);
        else
            word = one * 0x01010101u;
#endif
        wordsMove(ahead);
        lgShare(word);
        uint below = lgShared(max(lgLane(), 1u) - 1u);
        below = mix(below, carried, lgLane() == 0u);
        carried = lgShared(31u);
        word = mix(word << 8u * skew | below >> (32u - 8u * skew & 31u), word, skew == 0u);
        uint at = first + 4u * lgLane(), to = start - skew + at;
        if (on && at < count + skew) {
            if (to + 4u <= end)
                WordsPlain(gDestination).w[to >> 2] = word;
            else
                storeWord(add64(gDestination, to), word, 0u, end - to);
        }
    }
}

// -----------------------------------------------------------------------------------------------
// Sequences, 32 at a time

// Two symbols for each power of 2 from `direct`, a power of 2, on: how many bits follow, and what
// they are added to.
uint extraBits(uint symbol, uint direct, uint log) {
    return mix(log - 1u + (symbol - direct >> 1), 0u, symbol < direct);
}
uint baseOf(uint symbol, uint direct, uint bits) {
    return mix((2u + (symbol & 1u)) << bits, symbol, symbol < direct);
}

// Places of the last three offsets, as lanes that changed them, the highest one last, or 32 + which
// of those before.
uint highest(uint lanes) { return uint(findMSB(lanes)); } // ~0 if there is none
uint latest(uint changes) { return min(highest(changes), 32u); }
uint second(uint changes) {
    uint rest = changes & ~(1u << (latest(changes) & 31u));
    return min(highest(rest), changes != 0u ? 32u : 33u);
}
uint third(uint changes, uint swaps) {
    uint others = changes & ~swaps;
    return mix(34u, second(changes & (1u << (highest(others) & 31u)) - 1u), others != 0u);
}

// The offset of a place; value: that of the lane, if it is one.
uint offsetOf(uint field, uint value, uvec3 repeats) {
    return mix(mix(repeats.z, mix(repeats.y, repeats.x, field == 32u), field < 34u), value,
               field < 32u);
}

// The ends of chains of lanes; an end is its own lane, or 32 and more.
uint step_(uint origin) {
    lgShare(origin);
    uint next = lgShared(origin & 31u);
    return mix(next, origin, origin >= 32u);
}
uint followed(uint origin) {
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
    [[dont_unroll]] for (uint i = 0u; i < 5u; ++i) origin = step_(origin);
    return origin;
#else
    return step_(step_(step_(step_(step_(origin)))));
#endif
}

void decodeSequences(bool on, uint count, uint firstRecord, out uint literalSum,
                     out uint matchSum) {
    uvec3 repeats = uvec3(SLUICE_GS_FIRST_REPEATS, SLUICE_GS_FIRST_REPEATS >> 8,
                          SLUICE_GS_FIRST_REPEATS >> 16) &
                    255u;
    uint log = on ? gSequenceLog : 0u;
    literalSum = matchSum = 0u;
    for (uint first = 0u; wgAny(on && first < count); first += 32u) {
        bool here = on && first + lgLane() < count;
        uint ahead = wordsAhead();
        uint symbol = ransSymbol(here, kSequenceMarks * kOffsets, kOffsetEntries, log),
             place = symbol - SLUICE_GS_REPEATS;
        bool fresh = here && symbol >= SLUICE_GS_REPEATS;
        uint bits = mix(place - 1u >> 1, 0u, place == 0u) & 31u;
        uint offset = ransBits(fresh, bits);
        offset += mix((2u + (place - 1u & 1u)) << bits, 1u, place == 0u);
        offset = (offset - 1u) * gModulus;
        if (wgAny(on && gModulus > 1u)) {
            uint rest = ransSymbol(fresh && gModulus > 1u, kSequenceMarks * kRemainders,
                                   kRemainderEntries, log);
            offset += gModulus > 1u ? rest : 0u;
        }
        wordsMove(ahead);
        ahead = wordsAhead();
        uint literalSymbol =
            ransSymbol(here, kSequenceMarks * kLiteralLengths, kLengthEntries, log);
        uint matchSymbol = ransSymbol(here, kSequenceMarks * kMatchLengths, kMatchEntries, log);
        uint literalBits = extraBits(literalSymbol, 16u, 4u),
             matchBits = extraBits(matchSymbol, 32u, 5u);
        uint literals = baseOf(literalSymbol, 16u, literalBits),
             length_ = baseOf(matchSymbol, 32u, matchBits);
        literals += ransBits(here, literalBits);
        length_ += ransBits(here, matchBits) + SLUICE_GS_MIN_MATCH;
        literals = here ? literals : 0u;
        length_ = here ? length_ : 0u;

        wordsMove(ahead);

        // Where the offset comes from. Sequences that take the latest offset change nothing. Of the
        // others, the one before the latest is the second of the three; the third is the second
        // that the latest one met which did not only swap two.
        uint used = symbol + uint(literals == 0u); // old: 0 .. 3, which is 0
        used = mix(used, 0u, used == SLUICE_GS_REPEATS);
        bool old = here && !fresh;
        uvec3 masks = lgBallot3(fresh, fresh || (old && used != 0u), old && used == 1u);
        uint below = masks.y & lgLanesBelow(), origin = latest(below);
        origin = mix(origin, second(below), used == 1u);
        origin = mix(origin, third(below, masks.z), used == 2u);
        origin = mix(lgLane(), origin, old);
        if (wgAnyLane(origin < 32u && origin != lgLane() && (masks.x >> (origin & 31u) & 1u) == 0u))
            origin = followed(origin);
        lgShare(offset);
        uint actual = lgShared(origin & 31u);
        actual = offsetOf(origin, actual, repeats);
        lgShare(actual);
        uvec3 places = uvec3(latest(masks.y), second(masks.y), third(masks.y, masks.z));
        uvec3 next =
            uvec3(lgShared(places.x & 31u), lgShared(places.y & 31u), lgShared(places.z & 31u));
        repeats = uvec3(offsetOf(places.x, next.x, repeats), offsetOf(places.y, next.y, repeats),
                        offsetOf(places.z, next.z, repeats));

        // Both sums in a word, unless they could be too large.
        uint literalsBefore, literalTotal, lengthBefore, lengthTotal, before, total;
        lgScan(literals + (length_ << 16), before, total);
        literalsBefore = before & 0xffffu;
        literalTotal = total & 0xffffu;
        lengthBefore = before >> 16;
        lengthTotal = total >> 16;
        if (wgAnyLane(literals + length_ >= 2048u)) {
            lgScan(literals, literalsBefore, literalTotal);
            lgScan(length_, lengthBefore, lengthTotal);
        }
        if (here) {
            uint begin = literalSum + literalsBefore + matchSum + lengthBefore;
            PairsOut(gSlot).v[SLUICE_GS_SEQUENCES_AT / 2u + firstRecord + first + lgLane()] =
                uvec2(begin & 0xffffu | literalSum + literalsBefore << 16, actual);
        }
        literalSum += literalTotal;
        matchSum += lengthTotal;
    }
    if (on && lgLane() == 0u) {
        PairsOut(gSlot).v[SLUICE_GS_SEQUENCES_AT / 2u + firstRecord + count] =
            uvec2(literalSum + matchSum & 0xffffu | literalSum << 16, 0u);
    }
}

// -----------------------------------------------------------------------------------------------

// A coded part whose header is good.
uint decodeCoded(bool on, uint part, uint first, uint begin, uint size, uint literalOwner,
                 uint sequenceOwner) {
    uint w0 = 0u, w3 = 0u, literalCount = 0u, sequenceCount = 0u;
    if (on) {
        w0 = sourceWord(first);
        literalCount = sourceWord(first + 1u) | (w0 >> 12 & 1u) << 16;
        sequenceCount = sourceWord(first + 2u);
        w3 = sourceWord(first + 3u);
    }
    gTablesGood = true;
    gLiteralMode = w0 >> 2 & 3u;
    gLiteralLog = gSequenceLog = SLUICE_GS_MIN_LOG;
    gModulus = 1u;
    // The tables of earlier parts, then this one's, which goes on with its symbols.
    bool oldLiterals = literalOwner != part, oldSequences = sequenceOwner != part;
    [[dont_unroll]] for (uint turn = 0u; turn < 3u; ++turn) {
        bool wanted = on && (turn == 2u || (turn == 0u ? oldLiterals : oldSequences));
        if (wgAny(wanted))
            readTables(wanted,
                       turn == 0u   ? literalOwner
                       : turn == 1u ? sequenceOwner
                                    : part,
                       turn == 0u || (turn == 2u && !oldLiterals),
                       turn == 1u || (turn == 2u && !oldSequences));
    }
    bool literalsGood = buildLiterals(on && gTablesGood), good = on && gTablesGood && literalsGood;
    decodeLiterals(good, gLiteralMode, w3 >> 8, literalCount, begin + size);
    bool sequences = good && sequenceCount != 0u, sequencesGood = true;
    if (wgAny(sequences)) sequencesGood = buildSequences(sequences);
    good = good && (!sequences || sequencesGood);
    uint literalSum, matchSum;
    decodeSequences(good, sequenceCount, begin / SLUICE_GS_BYTES_PER_SEQUENCE + part, literalSum,
                    matchSum);
    uint total = literalCount + matchSum;
    return !good                                            ? SLUICE_ST_BAD_CODE
           : total > size                                   ? SLUICE_ST_TOO_LONG
           : total < size                                   ? SLUICE_ST_TOO_SHORT
           : literalSum > literalCount || gNext < gWordsEnd ? SLUICE_ST_BAD_CODE
                                                            : SLUICE_ST_OK;
}

// One part; `part` is below gParts where the group is on. Returns its status.
uint decodePart(bool on, uint part) {
    uint from = on ? part : 0u;
    uint begin = ofPart(gPart.x, from), size = ofPart(gPart.y, from);
    uint first = ofPart(gPart.z, from), words = ofPart(gPart.w, from);
    uint w0 = on ? sourceWord(first) : 0u, kind = w0 & 3u, status = SLUICE_ST_OK;
    if (on && kind == SLUICE_GS_PLAIN) {
        status = w0 == SLUICE_GS_PLAIN && words == 1u + (size + 1u >> 1) ? SLUICE_ST_OK
                                                                         : SLUICE_ST_BAD_CODE;
    } else if (on && kind == SLUICE_GS_RUN) {
        status = (w0 & 0xfcu) == 0u && words == 1u ? SLUICE_ST_OK : SLUICE_ST_BAD_CODE;
    } else if (on) {
        status = SLUICE_ST_BAD_CODE;
        if (kind == SLUICE_GS_CODED && words >= SLUICE_GS_PART_HEADER) {
            uint literalCount = sourceWord(first + 1u) | (w0 >> 12 & 1u) << 16;
            uint sequenceCount = sourceWord(first + 2u), w3 = sourceWord(first + 3u);
            bool bad = w0 >> 13 != 0u || (w3 >> 6 & 3u) != 0u ||
                       SLUICE_GS_MIN_LOG + (w0 >> 6 & 7u) > SLUICE_GS_MAX_LITERAL_LOG ||
                       SLUICE_GS_MIN_LOG + (w0 >> 9 & 7u) > SLUICE_GS_MAX_SEQUENCE_LOG;
            status = bad                                                   ? SLUICE_ST_BAD_CODE
                     : sequenceCount * SLUICE_GS_BYTES_PER_SEQUENCE > size ? SLUICE_ST_LIMIT
                     : literalCount > size                                 ? SLUICE_ST_TOO_LONG
                                                                           : SLUICE_ST_OK;
        }
    }
    bool oldLiterals = (w0 >> 4 & 1u) != 0u, oldSequences = (w0 >> 5 & 1u) != 0u;
    uint literalOwner = oldLiterals ? ownerBefore(gLiteralOwners, from) : from;
    uint sequenceOwner = oldSequences ? ownerBefore(gSequenceOwners, from) : from;
    bool coded = on && kind == SLUICE_GS_CODED && status == SLUICE_ST_OK;
    if (coded && (literalOwner == kNone || sequenceOwner == kNone)) {
        status = SLUICE_ST_BAD_CODE;
        coded = false;
    }
    if (wgAny(coded)) {
        uint result = decodeCoded(coded, from, first, begin, size, literalOwner, sequenceOwner);
        status = coded ? result : status;
    }
    return status;
}

void main() {
    uint group = (gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x) * kGroupsPerWorkgroup + lgIndex();
    uint slot = group / kGroupsPerTile, share = group % kGroupsPerTile, index = p.firstTile + slot;
    bool enabled = slot < p.tileCount && index < regionCount();
    uint status = enabled ? openRegion(index) : SLUICE_ST_BAD_REGION;
    gSlot = add64(p.scratch, mul64(enabled ? slot : 0u, SLUICE_GS_SLOT_WORDS * 4u));
    bool good = enabled && status == SLUICE_ST_OK;
    uint parts = loadParts(good);
    if (good) status = parts;
    good = good && status == SLUICE_ST_OK;
    if (enabled && share == 0u && lgLane() == 0u)
        WordsOut(gSlot).w[0] = status == kNone ? SLUICE_ST_OK : status;
    bool on = good && share < gParts;
    if (wgAny(on)) {
        uint result = decodePart(on, share);
        if (on && lgLane() == 0u) WordsOut(gSlot).w[SLUICE_GS_PARTS_AT + share] = result;
    }
}
