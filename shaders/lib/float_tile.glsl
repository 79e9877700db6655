// SPDX-License-Identifier: MIT OR Apache-2.0
// One tile of the float codec (docs/format.md, section 6) decoded into registers by a lane group of
// 32 lanes: for float_decode.comp, and for shaders of your own that use weights where they decode
// them.
//
// Include it before anything else; GL_GOOGLE_include_directive must be on. It brings memory.glsl
// and lanes.glsl, which says what forms a lane group has, where its calls may stand, and that the
// pipeline sets two specialization constants (0: workgroup size, 1: subgroup size). Compile a
// variant for each form that you want, as SluiceContextInfo tells: SLUICE_EMU defined for the tiers
// emu4 .. emu128, else SLUICE_NARROW for subgroups smaller than 32, else neither; SLUICE_INT64
// where the device has shaderInt64 enabled and shifts 64 bits fast (NVIDIA's do). Pipelines but the
// emulated ones require full subgroups of that size. Workgroups: a multiple of 32 and of the
// subgroup size, up to 1,024, the larger the fewer tables; 32 in the narrow form, max(32, subgroup
// size) in the emulated one.
//
// Shared memory: 17,808 bytes; then 768 for each 32 invocations in the native and wide forms
// (42,384 at 1,024), 8 * workgroup size + 1,024 / subgroup size in the narrow one, 24 * workgroup
// size in the emulated one.
//
// In this order:
//   floatTensor(list, index, source, sourceSize)
//                    the whole workgroup, with what is the same for it: reads SluiceFloatTensor
//                    `index` of the list and sets gFloatGood, gFloatCount, gFloatType,
//                    gFloatOutput, gFloatFirstTile
//   floatTable()     the whole workgroup, if gFloatGood: builds the table of the tensor's code.
//                    Then gFloatGood stays as it is; a shader that wants one type, say, clears it
//                    before
//   floatTile(on, tile)
//                    all lane groups in lockstep, each with a tile of the tensor, counted from 0,
//                    or `on` false: sets gFloatElements and gFloatRows, 0 if there is nothing to
//                    decode, and gFloatStatus. `tile` is any number; one past the end is BAD_REGION
//   floatRow(type, row)
//                    the same, row 0, 1, .. up to the largest gFloatRows (wgAny): returns the
//                    symbols of 8 elements, number 256 row + 8 lgLane() .. + 7 of the tile; from
//                    gFloatElements on they mean nothing
//   floatTileEnd()   after the last row: sets gFloatStatus, an SLUICE_ST_ value of layout/base.h,
//                    to OK or TRUNCATED
// For each row, by every lane alone whose first element is below gFloatElements; `eight` is 32 row
// + lgLane():
//   floatBf16(symbols, floatRawBytes(eight)) 8 numbers of a bf16 tensor, two a word, the first in
//   the low half
//   floatJoin(type, symbols, floatRaw(type, eight)) 8 numbers of any type, as they lie in memory,
//   floatSize(type) bytes each
// What is not coded may be loaded before the row is decoded, so that it comes meanwhile.
//
// type: gFloatType, or better a constant that it is known to be: then there are no branches in the
// code of a row.
//
// Hostile input: nothing outside [source, source + sourceSize) is read but the list's entry,
// whatever the tensor, its index, lengths and words say. A tile has at most 32 rows, and a row's
// work is bounded. Numbers of a tile whose status is not OK are unspecified. floatTensor does not
// ask whether the output lies in a buffer.
#ifndef SLUICE_FLOAT_TILE_GLSL
#define SLUICE_FLOAT_TILE_GLSL

#ifdef SLUICE_INT64
#extension GL_ARB_gpu_shader_int64 : require
#endif
#include "layout/float.h"
#include "lanes.glsl"
#include "memory.glsl"
#include "units.glsl"

const uint kFloatTile = 8192u, kFloatRow = 256u;    // elements
const uint kFloatMaxBits = 12u, kFloatLookUps = 4u; // of a lane in a row, each of a symbol or two
const uint kFloatTailRows = 2u;
const uint kFloatTypes = 7u; // SluiceFloatType
const uint kFloatBf16 = 0u, kFloatF16 = 1u, kFloatF32 = 2u, kFloatE4m3 = 3u, kFloatE5m2 = 4u;
const uint kFloatBytes = 5u, kFloatE4m3Dense = 6u;

// An entry: bits 0 .. 3 how many bits it takes, 6: only one symbol, for the second one did not fit.
// The symbols stand where the numbers have them, so that few instructions join them with the other
// bits, and the length of the first one's code where neither is: numbers of 16 and 32 bits have a
// symbol in each half, the length at 16; those of 8 bits have them in bytes 2 and 3, the length at
// 8. An entry has two wherever both codes fit into 12 bits, so that the lanes of a group stay in
// step. Bits 4 and 5 are 0: entries are used as counts of bits modulo 32 and 64.
const uint kFloatShort = 64u;
const uint kFloatEntries = (1u << kFloatMaxBits) - 1u; // the last one
shared uint sFloatTable[1u << kFloatMaxBits];
shared uint sFloatLimits[16]; // the end of the codes of each length, left-aligned to 12 bits
shared uint sFloatPlaces[16]; // what to add to a code of a length for its symbol's place in
                              // sFloatSorted
shared uint sFloatSorted[256];
shared uint sFloatCounts[16];
shared uint sFloatLengths[32]; // of the codes, 4 bits each

// The tensor, the same in the whole workgroup.
uvec2 gFloatOutput, gFloatCount;
uint gFloatType, gFloatFirstTile;
bool gFloatGood;
bool gFloatComplete; // its code

// What only the begin of a tile needs of it, in shared memory because registers are scarce:
// addresses and the size of the words in units of 8 bytes.
struct FloatParts {
    uvec2 words, index, raw, lengths, count, output_;
    uint wordsSize8, firstTile;
    uint mask; // which bits of a word of numbers are their symbols
};
shared FloatParts sFloatParts;

// The tile, the same in the lane group.
uint gFloatElements, gFloatRows, gFloatStatus;
uint gFloatMask; // of sFloatParts: as a constant it would cost NVIDIA's compiler (580) two
                 // instructions for each selection
uvec2 gFloatBytesAt, gFloatOtherAt; // its first element in planes: of bytes, or the only one, and
                                    // another one

// -----------------------------------------------------------------------------------------------
// Tensor

uvec2 floatShiftRight64(uvec2 value, uint bits) {
    return uvec2(value.x >> bits | value.y << (32u - bits), value.y >> bits);
}

// By type: bytes of an element, and bits of it in the last plane.
uint floatSize(uint type) { return type <= kFloatF16 ? 2u : type == kFloatF32 ? 4u : 1u; }
uint floatWidth(uint type) {
    const uint widths[kFloatTypes] = uint[kFloatTypes](0u, 3u, 0u, 4u, 3u, 0u, 2u);
    return widths[min(type, kFloatTypes - 1u)];
}

// Bits of an element that are not coded.
uint floatRawBits(uint type) {
    return (type == kFloatF32 ? 24u : type < kFloatF32 ? 8u : 0u) + floatWidth(type);
}
uint floatAligned16(uint size) { return (size + 15u) & ~15u; }
// Where the planes of a tile of so many elements begin, that of 2 bytes an element at 0: of bytes,
// of bits, and their end.
uvec3 floatPlanes(uint type, uint elements) {
    uint bytesAt = type == kFloatF32 ? floatAligned16(2u * elements) : 0u;
    uint bitsAt = bytesAt + (type <= kFloatF32 ? floatAligned16(elements) : 0u);
    return uvec3(bytesAt, bitsAt, bitsAt + floatAligned16((elements + 7u) / 8u * floatWidth(type)));
}

void floatTensor(uvec2 tensors, uint index, uvec2 source, uvec2 sourceSize) {
    WordsIn list = WordsIn(add64(tensors, mul64(index, SLUICE_FLOAT_TENSOR_WORDS * 4u)));
    FloatParts parts;
    parts.words = uvec2(list.w[0], list.w[1]);
    uvec2 wordsSize = uvec2(list.w[2], list.w[3]);
    parts.index = uvec2(list.w[4], list.w[5]);
    parts.lengths = uvec2(list.w[6], list.w[7]);
    parts.raw = uvec2(list.w[8], list.w[9]);
    gFloatOutput = uvec2(list.w[10], list.w[11]);
    gFloatCount = uvec2(list.w[12], list.w[13]);
    gFloatType = list.w[14];
    gFloatFirstTile = list.w[15];
    parts.count = gFloatCount;
    parts.output_ = gFloatOutput;
    parts.firstTile = gFloatFirstTile;
    const uint masks[kFloatTypes] = uint[kFloatTypes](
        0x7f807f80u, 0x7c007c00u, 0x7f807f80u, 0x78787878u, 0x7c7c7c7cu, 0xffffffffu, 0x7e7e7e7eu);
    parts.mask = masks[min(gFloatType, kFloatTypes - 1u)];
    parts.wordsSize8 = wordsSize.x >> 3 | wordsSize.y << 29;
    gFloatGood =
        gFloatType < kFloatTypes && !less64(uvec2(0u, 256u), gFloatCount) && wordsSize.y < 8u;
    uvec2 whole = floatShiftRight64(gFloatCount, 13u); // tiles; at most 2^27
    uvec2 rawSize = add64(mul64(whole.x, kFloatTile / 8u * floatRawBits(gFloatType)),
                          floatPlanes(gFloatType, gFloatCount.x % kFloatTile).z);
    uvec2 tiles = floatShiftRight64(add64(gFloatCount, kFloatTile - 1u), 13u);
    uvec2 indexSize = uvec2((tiles.x << 2) + 4u, tiles.y << 2 | tiles.x >> 30);
    uint places = parts.words.x | parts.lengths.x | parts.raw.x | gFloatOutput.x;
    gFloatGood = gFloatGood && (places & 15u) == 0u && (parts.index.x & 3u) == 0u &&
                 (wordsSize.x & 7u) == 0u && inside64(parts.words, wordsSize, source, sourceSize) &&
                 inside64(parts.index, indexSize, source, sourceSize) &&
                 inside64(parts.lengths, uvec2(128u, 0u), source, sourceSize) &&
                 inside64(parts.raw, rawSize, source, sourceSize);
    wgBarrierShared(); // the tensor before has been used
    if (wgInvocation() == 0u) sFloatParts = parts;
    wgBarrierShared();
}

// -----------------------------------------------------------------------------------------------
// Two words of a lane, of which it has used so many bits, and the words of the group's list that it
// takes behind them: one when it has used one up. Past the list's end words are 0.

uint gFloatFirst, gFloatSecond;
uint gFloatUsed;  // modulo 64; bits above those mean nothing
uint gFloatAsked; // gFloatUsed when the lane last could take a word: it takes one if bit 5 has
                  // turned since
uint gFloatNext;  // where the next word is
uint gFloatHalf;  // in the tail: 1 if the first half of that word has been taken
uint gFloatBelow; // multiplied by it, a ballot has the bits of the lanes below this one only

uvec2 gFloatListAt; // if it is empty, any 8 bytes of the source
uint gFloatListEnd; // in pairs of words

uvec2 floatWords(uint pair) {
    return pair < gFloatListEnd ? PairsIn(gFloatListAt).v[pair] : uvec2(0u);
}

// Where lane groups are joined through shared memory a ring would cost more than it saves, and its
// barriers would stand in every step: SwiftShader takes more memory than there is to compile that.
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)

const uint gFloatAheadAt = 0u;
uint floatWord(uint at) {
    uvec2 words = floatWords(at >> 1);
    return (at & 1u) == 0u ? words.x : words.y;
}
uvec2 floatAhead() { return uvec2(0u); }
void floatMove(uvec2 ahead, uint aheadOf) {}
void floatRing(bool whole) { gFloatNext = whole ? 64u : 0u; }
uint floatTaken() { return gFloatNext; }

#else

// Three chunks, the third one a copy of the first, so that a chunk may be taken from any place in
// the first two.
const uint kFloatChunk = 64u, kFloatRing = 3u * kFloatChunk; // words
shared uint sFloatRing[kGroupsPerWorkgroup * kFloatRing];
uint gFloatAheadAt; // the pair of words that comes into the ring next
uint gFloatMoveAt;  // and when

uint floatWord(uint at) { return sFloatRing[at]; }

void floatStore(uint chunk, uvec2 words) {
    uint at = lgIndex() * kFloatRing + chunk * kFloatChunk + 2u * lgLane();
    sFloatRing[at] = words.x;
    sFloatRing[at + 1u] = words.y;
}

// The lane's words of the chunk that the ring takes next, as they are loaded long before that and
// without a branch: what is loaded inside one is waited for there. Past the list they are any.
uvec2 floatAhead() {
    uint at = gFloatAheadAt + lgLane();
    return kLockstep ? floatWords(at)
                     : PairsIn(gFloatListAt).v[min(at, max(gFloatListEnd, 1u) - 1u)];
}

// Between two calls of it the group may take kFloatChunk words. ahead: floatAhead() when
// gFloatAheadAt was `aheadOf`.
void floatMove(uvec2 ahead, uint aheadOf) {
    bool moves = gFloatNext >= gFloatMoveAt;
    if (wgAny(moves)) {
        uint at = gFloatAheadAt + lgLane();
        uvec2 words = ahead;
        if (wgAny(moves && gFloatAheadAt != aheadOf)) // the second time in a row
            words = floatWords(at);
        words = at < gFloatListEnd ? words : uvec2(0u);
        lgBarrierShared();
        if (!kLockstep || moves) {
            bool back = (gFloatAheadAt & kFloatChunk / 2u) != 0u; // to the first chunk
            floatStore(back ? 1u : 0u, words);
            floatStore(back ? 1u : 2u, words);
            gFloatNext -= back ? 2u * kFloatChunk : 0u;
            gFloatMoveAt += back ? -kFloatChunk : kFloatChunk;
            gFloatAheadAt += kFloatChunk / 2u;
        }
        lgBarrierShared();
    }
}

// If lanes have taken the list's first chunk it begins as if they had done so from the ring.
void floatRing(bool whole) {
    uint chunk = whole ? 1u : 0u, pair = chunk * kFloatChunk / 2u + lgLane();
    uvec2 first = floatWords(pair), second = floatWords(pair + kFloatChunk / 2u);
    lgBarrierShared(); // the list before has been read
    floatStore(chunk, first);
    floatStore(1u - chunk, second);
    floatStore(1u + chunk, second);
    gFloatNext = kFloatRing * lgIndex() + chunk * kFloatChunk;
    gFloatMoveAt = gFloatNext + kFloatChunk;
    gFloatAheadAt = (2u + chunk) * kFloatChunk / 2u;
    lgBarrierShared();
}

// How many words have been taken.
uint floatTaken() {
    return gFloatNext - kFloatRing * lgIndex() +
           (gFloatAheadAt / kFloatChunk - 1u) * 2u * kFloatChunk;
}

#endif

// whole: whether the tile has rows but those of the tail, for which each lane begins with two
// words.
void floatStreamBegin(uvec2 words, uint pairs, bool whole) {
    gFloatListAt = words;
    gFloatListEnd = pairs;
    gFloatUsed = 0u;
    gFloatAsked = 0u;
    gFloatBelow = lgLane() == 0u ? 0u : 1u << (32u - lgLane());
    uvec2 first = whole ? floatWords(lgLane()) : uvec2(0u);
    gFloatFirst = first.x;
    gFloatSecond = first.y;
    gFloatHalf = 0u;
    floatRing(whole);
}

// Lanes of a group that is `on` take another word if they have used one up since they were asked
// last. For the others nothing changes.
void floatTake(bool on) {
    bool takes = on && ((gFloatUsed ^ gFloatAsked) & 32u) != 0u;
    uint takers = lgBallot(takes),
         word = floatWord(gFloatNext + uint(bitCount(takers * gFloatBelow)));
    gFloatFirst = mix(gFloatFirst, gFloatSecond, takes);
    gFloatSecond = mix(gFloatSecond, word, takes);
    gFloatNext += uint(bitCount(takers));
    gFloatAsked = on ? gFloatUsed : gFloatAsked;
}

// first, second: 64 bits. Those that begin at `at`, which counts modulo 32.
uint floatFunnel(uint first, uint second, uint at) {
#ifdef SLUICE_INT64
    // one instruction of NVIDIA's
    return unpackUint2x32(packUint2x32(uvec2(second, first)) << (at & 31u)).y;
#else
    return first << (at & 31u) | (second >> 1) >> (~at & 31u);
#endif
}
// A lane's next bits, at least 32 less those that it has used since it was asked.
uint floatNext() { return floatFunnel(gFloatFirst, gFloatSecond, gFloatUsed); }

// The entry of the bits at the upper end of a word.
uint floatEntry(uint bits) { return sFloatTable[bits >> (32u - kFloatMaxBits)]; }

// -----------------------------------------------------------------------------------------------
// Table

uint floatCodeLength(uint symbol) { return sFloatLengths[symbol >> 3] >> (symbol & 7u) * 4u & 15u; }

// The length of the code at the upper end of 12 bits.
uint floatLengthAt(uint bits) {
    uint length_ = 1u;
    [[unroll]] for (uint i = 1u; i < kFloatMaxBits; ++i) length_ +=
        bits >= sFloatLimits[i] ? 1u : 0u;
    return length_;
}

// Where an entry has the first symbol, and the length of its code; which bits of a symbol count.
uint floatFirstAt(uint type) {
    const uint places[kFloatTypes] = uint[kFloatTypes](7u, 10u, 7u, 19u, 18u, 16u, 17u);
    return places[min(type, kFloatTypes - 1u)];
}
uint floatMask(uint type) {
    const uint masks[kFloatTypes] = uint[kFloatTypes](255u, 31u, 255u, 15u, 31u, 255u, 63u);
    return masks[min(type, kFloatTypes - 1u)];
}
uint floatLengthShift(uint type) { return type > kFloatF32 ? 8u : 16u; }

// An entry with one symbol: (symbol & mask) at firstAt.
uint floatEntryOf(uint bits, uint length_, uint mask, uint firstAt, uint lengthAt) {
    uint symbol = sFloatSorted[(bits >> (kFloatMaxBits - length_)) + sFloatPlaces[length_] & 255u];
    return (symbol & mask) << firstAt | length_ << lengthAt;
}

void floatTable() {
    wgBarrierShared(); // the table before has been used
    if (wgInvocation() < 32u) {
        sFloatCounts[wgInvocation() & 15u] = 0u;
        sFloatLengths[wgInvocation()] = WordsIn(sFloatParts.lengths).w[wgInvocation()];
    }
    wgBarrierShared();
    for (uint symbol = wgInvocation(); symbol < 256u; symbol += gl_WorkGroupSize.x)
        atomicAdd(sFloatCounts[floatCodeLength(symbol)], 1u);
    wgBarrierShared();
    uint code = 0u, rank = 0u, tooLong = sFloatCounts[13] + sFloatCounts[14] + sFloatCounts[15];
    uint ranks[kFloatMaxBits + 1u];
    bool single = sFloatCounts[1] == 1u;
    [[unroll]] for (uint i = 2u; i <= kFloatMaxBits; ++i) single = single && sFloatCounts[i] == 0u;
    [[unroll]] for (uint i = 1u; i <= kFloatMaxBits; ++i) {
        ranks[i] = rank;
        if (wgInvocation() == 0u) {
            sFloatPlaces[i] = rank - code;
            sFloatLimits[i] =
                single ? 1u << kFloatMaxBits : code + sFloatCounts[i] << (kFloatMaxBits - i);
        }
        code += sFloatCounts[i];
        rank += sFloatCounts[i];
        if (i < kFloatMaxBits) code <<= 1;
    }
    gFloatComplete = tooLong == 0u && (single || code == 1u << kFloatMaxBits);
    // The place of a symbol: those with shorter codes, and those before it with a code as long.
    for (uint symbol = wgInvocation(); symbol < 256u; symbol += gl_WorkGroupSize.x) {
        uint length_ = floatCodeLength(symbol), place = 0u;
        if (length_ != 0u && length_ <= kFloatMaxBits) {
            [[unroll]] for (uint i = 1u; i <= kFloatMaxBits; ++i) place =
                i == length_ ? ranks[i] : place;
            for (uint word = 0u; word < symbol >> 3; word++) {
                uint differ = sFloatLengths[word] ^ length_ * 0x11111111u;
                differ |= differ >> 2;
                differ |= differ >> 1;
                place += 8u - uint(bitCount(differ & 0x11111111u));
            }
            for (uint other = symbol & ~7u; other < symbol; other++)
                place += floatCodeLength(other) == length_ ? 1u : 0u;
            sFloatSorted[place & 255u] = symbol;
            if (single) sFloatSorted[1] = symbol;
        }
    }
    wgBarrierShared();
    // First one symbol an entry. 8 of them at a time: codes of up to 9 bits are the same in all.
    uint firstAt = floatFirstAt(gFloatType), mask = floatMask(gFloatType),
         lengthAt = floatLengthShift(gFloatType);
    for (uint i = 8u * wgInvocation(); i < 1u << kFloatMaxBits; i += 8u * gl_WorkGroupSize.x) {
        uint length_ = floatLengthAt(i), entry = floatEntryOf(i, length_, mask, firstAt, lengthAt);
        [[dont_unroll]] for (uint k = i; k < i + 8u; ++k) {
            if (length_ > 9u) entry = floatEntryOf(k, floatLengthAt(k), mask, firstAt, lengthAt);
            sFloatTable[k] = entry;
        }
    }
    // Then the second ones, which are the first of other entries: those are as they were, but for
    // second symbols.
    const uint each = 4u;
    uint secondAt = firstAt + (gFloatType > kFloatF32 ? 8u : 16u);
    [[dont_unroll]] for (uint begin = 0u; begin < 1u << kFloatMaxBits;
                         begin += each * gl_WorkGroupSize.x) {
        uint entries[each];
        wgBarrierShared();
        [[unroll]] for (uint k = 0u; k < each; ++k) {
            uint i = begin + k * gl_WorkGroupSize.x + wgInvocation();
            uint first = sFloatTable[i & kFloatEntries], length1 = first >> lengthAt & 15u;
            uint second = sFloatTable[i << length1 & kFloatEntries],
                 both = length1 + (second >> lengthAt & 15u);
            uint symbol = (second >> firstAt & mask) << secondAt;
            entries[k] = first | mix(length1 | kFloatShort, both | symbol, both <= kFloatMaxBits);
        }
        wgBarrierShared();
        [[unroll]] for (uint k = 0u; k < each; ++k) {
            uint i = begin + k * gl_WorkGroupSize.x + wgInvocation();
            if (i <= kFloatEntries) sFloatTable[i] = entries[k];
        }
    }
    wgBarrierShared();
}

// -----------------------------------------------------------------------------------------------
// Rows

// The first symbols of two entries as those of one.
uint floatPairOf(uint type, uint first, uint second) {
    return type <= kFloatF32 ? (first & 0xffffu) | second << 16
                             : (first & 0xffffffu) | (second & 0xff0000u) << 8;
}

uint floatFirstLength(uint type, uint entry) { return entry >> floatLengthShift(type) & 15u; }

// Bit i: word i of the row is of an entry with one symbol.
uint floatMissing(uvec4 row) {
    uvec4 bits = row & kFloatShort;
    return bits.x >> 6 | bits.y >> 5 | bits.z >> 4 | bits.w >> 3;
}

// The row with another symbol, the first of `entry`: it goes to the end, and those behind the last
// word with one symbol only move up by one, so that this word is complete. missing: not 0; its
// uppermost bit is used up.
uvec4 floatInsert(uint type, uvec4 row, uint entry, inout uint missing) {
    uint last = uint(findMSB(missing)), up = type <= kFloatF32 ? 16u : 8u;
    missing &= ~(1u << last);
    uvec4 result;
    result.x = last == 0u ? floatPairOf(type, row.x, row.y) : row.x;
    result.y = last <= 1u ? floatPairOf(type, row.y >> (last < 1u ? up : 0u), row.z) : row.y;
    result.z = last <= 2u ? floatPairOf(type, row.z >> (last < 2u ? up : 0u), row.w) : row.z;
    result.w = floatPairOf(type, row.w >> (last < 3u ? up : 0u), entry);
    return result;
}

// A symbol for each lane that misses any.
void floatSingle(uint type, inout uvec4 row, inout uint missing) {
    bool some = true;
    if (kLockstep) // or it is another group's turn
        some = lgBallot(missing != 0u) != 0u;
    floatTake(some);
    uint entry = floatEntry(floatNext());
    if (missing != 0u) {
        gFloatUsed += floatFirstLength(type, entry);
        row = floatInsert(type, row, entry, missing);
    }
}

// The symbols that look-ups had no room for, up to four turns of one for each lane. Two turns take
// no more words than the ring has between two moves.
uvec4 floatSingles(uint type, bool on, uvec4 row, uvec2 ahead, uint aheadOf) {
    uint missing = on ? floatMissing(row) : 0u;
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU) // other compilers take long enough as it is
    [[dont_unroll]] for (uint turn = 0u; turn < kFloatLookUps; ++turn) {
        if (!wgAnyLane(missing != 0u)) break;
        floatSingle(type, row, missing);
    }
#else // a loop in the loop of rows would cost NVIDIA's compiler (580) four registers
    floatMove(ahead, aheadOf);
    if (wgAnyLane(missing != 0u)) {
        floatSingle(type, row, missing);
        if (wgAnyLane(missing != 0u)) {
            floatSingle(type, row, missing);
            floatMove(ahead, aheadOf);
            if (wgAnyLane(missing != 0u)) {
                floatSingle(type, row, missing);
                if (wgAnyLane(missing != 0u)) floatSingle(type, row, missing);
            }
        }
    }
#endif
    return row;
}

// A row but the last two: the symbols, two in each of the four words. Groups in lockstep with one
// that is `on` may not be. Not as a loop: NVIDIA's compiler (580) leaves those rolled that have
// subgroup operations behind branches, and what is indexed in them goes to memory.
uvec4 floatWholeRow(uint type, bool on) {
    on = on || !kLockstep;
    uvec2 ahead = floatAhead();
    uint aheadOf = gFloatAheadAt;
    uvec4 row;
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU) // other compilers take long enough as it is
    [[dont_unroll]] for (uint i = 0u; i < kFloatLookUps; i += 2u) {
        floatTake(on);
        uint bits = floatNext(), first = floatEntry(bits),
             second = floatEntry(bits << (first & 31u));
        row[i] = first;
        row[i + 1u] = second;
        gFloatUsed += on ? first + second : 0u;
    }
#else
    floatTake(on);
    uint bits = floatNext();
    row.x = floatEntry(bits);
    row.y = floatEntry(bits << (row.x & 31u));
    gFloatUsed += on ? row.x + row.y : 0u;
    floatTake(on);
    bits = floatNext();
    row.z = floatEntry(bits);
    row.w = floatEntry(bits << (row.z & 31u));
    gFloatUsed += on ? row.z + row.w : 0u;
#endif
    if (wgAnyLane(on && ((row.x | row.y | row.z | row.w) & kFloatShort) != 0u))
        row = floatSingles(type, on, row, ahead, aheadOf);
    floatMove(ahead, aheadOf);
    return row;
}

// In the tail: the lane's bits, the next one above all others and zeros below the last, and how
// many there are.
uvec2 gFloatTail;
uint gFloatTailBits;

void floatTailBegin(bool whole) {
    bool turned = ((gFloatUsed ^ gFloatAsked) & 32u) != 0u; // the first word is used up
    uint at = gFloatUsed & 31u, first = turned ? gFloatSecond : gFloatFirst,
         second = turned ? 0u : gFloatSecond;
    gFloatTail = uvec2(floatFunnel(first, second, at), second << at);
    gFloatTailBits = whole ? (turned ? 32u : 64u) - at : 0u;
}

// What comes next if it were one symbol or, where there is room, two: its entry. Lanes that are not
// `on` stay as they are.
uint floatTailEntry(uint type, bool on, bool single) {
    uint entry = floatEntry(gFloatTail.x);
    uint needed = single                        ? floatFirstLength(type, entry)
                  : (entry & kFloatShort) != 0u ? kFloatMaxBits
                                                : entry & 15u;
    bool takes = on && gFloatTailBits < needed;
    uint takers = lgBallot(takes),
         at = 2u * gFloatNext + gFloatHalf + uint(bitCount(takers * gFloatBelow));
    uint word = floatWord(at >> 1) >> (at & 1u) * 16u & 0xffffu;
    gFloatTail.x |= takes ? word << (16u - gFloatTailBits & 31u) : 0u; // it has fewer than 12 bits
    gFloatTailBits += takes ? 16u : 0u;
    uint taken = gFloatHalf + uint(bitCount(takers));
    gFloatNext += taken >> 1;
    gFloatHalf = taken & 1u;
    entry = floatEntry(gFloatTail.x);
    uint bits = !on ? 0u : single ? floatFirstLength(type, entry) : entry & 15u;
    gFloatTail = uvec2(floatFunnel(gFloatTail.x, gFloatTail.y, bits), gFloatTail.y << bits);
    gFloatTailBits -= bits;
    return entry;
}

// One of the last two rows, in which lanes take only what their codes need.
uvec4 floatTailRow(uint type, bool on) {
    on = on || !kLockstep;
    uvec2 ahead = floatAhead();
    uint aheadOf = gFloatAheadAt;
    uvec4 row = uvec4(0u);
    [[dont_unroll]] for (uint i = 0u; i < kFloatLookUps; ++i) row =
        uvec4(row.yzw, floatTailEntry(type, on, false));
    floatMove(ahead, aheadOf);
    uint missing = on ? floatMissing(row) : 0u;
    [[dont_unroll]] for (uint turn = 0u; turn < kFloatLookUps; ++turn) {
        if (!wgAnyLane(missing != 0u)) break;
        uint entry = floatTailEntry(type, missing != 0u, true);
        if (missing != 0u) row = floatInsert(type, row, entry, missing);
        floatMove(ahead, aheadOf);
    }
    return row;
}

// -----------------------------------------------------------------------------------------------
// Tile

void floatTile(bool on, uint tile) {
    uint tiles = floatShiftRight64(add64(sFloatParts.count, kFloatTile - 1u), 13u).x;
    bool good = on && gFloatGood && tile < tiles;
    gFloatStatus = SLUICE_ST_BAD_REGION;
    uint begin = 0u, end = 0u;
    if (good) {
        begin = WordsIn(sFloatParts.index).w[tile];
        end = WordsIn(sFloatParts.index).w[tile + 1u];
        good = begin <= end && end <= sFloatParts.wordsSize8;
    }
    if (good && !gFloatComplete) {
        good = false;
        gFloatStatus = SLUICE_ST_BAD_CODE;
    }
    uvec2 left = sub64(sFloatParts.count, mul64(tile, kFloatTile));
    gFloatElements = !good ? 0u : left.y != 0u ? kFloatTile : min(left.x, kFloatTile);
    gFloatRows = (gFloatElements + kFloatRow - 1u) / kFloatRow;
    gFloatMask = sFloatParts.mask;
    uvec2 raw = add64(sFloatParts.raw, mul64(tile, kFloatTile / 8u * floatRawBits(gFloatType)));
    uvec3 planes = floatPlanes(gFloatType, gFloatElements);
    gFloatBytesAt = add64(raw, planes.x);
    gFloatOtherAt = gFloatType == kFloatF32 ? raw : add64(raw, planes.y);
    good = good && begin < end;
    uvec2 list = good ? add64(sFloatParts.words, mul64(begin, 8u)) : sFloatParts.lengths;
    floatStreamBegin(list, good ? end - begin : 0u, gFloatRows > kFloatTailRows);
}

uvec4 floatRow(uint type, uint row) {
    bool whole = row + kFloatTailRows < gFloatRows, tail = row < gFloatRows && !whole;
    uvec4 symbols = uvec4(0u);
    if (wgAny(whole)) symbols = floatWholeRow(type, whole);
    if (wgAny(tail)) {
        if (tail && (row == 0u || row + kFloatTailRows == gFloatRows)) floatTailBegin(row != 0u);
        uvec4 tailSymbols = floatTailRow(type, tail);
        symbols = mix(symbols, tailSymbols, bvec4(tail));
    }
    return symbols;
}

void floatTileEnd() {
    if (gFloatRows != 0u)
        gFloatStatus = (floatTaken() + gFloatHalf + 1u) / 2u > gFloatListEnd ? SLUICE_ST_TRUNCATED
                                                                             : SLUICE_ST_OK;
}

// -----------------------------------------------------------------------------------------------
// Elements

uvec2 floatRawBytes(uint eight) { return PairsIn(gFloatBytesAt).v[eight]; }

// What is not coded of 8 elements. A plane of a tile ends at a multiple of 16 bytes.
struct FloatRaw {
    uvec4 low;  // of f32
    uvec2 high; // bytes
    uint bits;  // 2 to 4 bits an element
    uint next;  // of 3 bits an element: the word behind
};
FloatRaw floatNoRaw() { return FloatRaw(uvec4(0u), uvec2(0u), 0u, 0u); }

// at, next: of 3 bits an element: the words with the first bit and with the last one.
FloatRaw floatRawAt(uint type, uint eight, uint at, uint next) {
    FloatRaw raw = floatNoRaw();
    if (type <= kFloatF32) raw.high = floatRawBytes(eight);
    if (type == kFloatF32) {
        raw.low = UnitsIn(gFloatOtherAt).v[eight];
    } else if (type == kFloatE4m3) {
        raw.bits = WordsIn(gFloatOtherAt).w[eight];
    } else if (type == kFloatE4m3Dense) {
        raw.bits = WordsIn(gFloatOtherAt).w[eight >> 1] >> (eight & 1u) * 16u;
    } else if (type == kFloatF16 || type == kFloatE5m2) { // three bytes
        raw.bits = WordsIn(gFloatOtherAt).w[at];
        raw.next = WordsIn(gFloatOtherAt).w[next];
    }
    return raw;
}

FloatRaw floatRaw(uint type, uint eight) {
    return floatRawAt(type, eight, 3u * eight >> 2, 3u * eight + 2u >> 2);
}

// The same for the lane in a row that another row follows, with less to reckon: the word behind may
// be another lane's.
FloatRaw floatRawOfRow(uint type, uint row) {
    uint at = 24u * row + (3u * lgLane() >> 2);
    return floatRawAt(type, 32u * row + lgLane(), at, at + 1u);
}

// The bits of the lane's elements, the first one's lowest. Words of 3-bit planes are joined here
// and not where they are loaded, as NVIDIA's compiler (580) would have the row's first step wait
// for them.
uint floatBits(uint type, FloatRaw raw) {
    if (type != kFloatF16 && type != kFloatE5m2) return raw.bits;
    uint shift = (3u * lgLane() & 3u) * 8u;
    return raw.bits >> shift | (raw.next << 1) << 31u - shift;
}

// The symbols where gFloatMask has ones, else the other bits.
uint floatSelect(uint symbols, uint other) {
    return (symbols & gFloatMask) | (other & ~gFloatMask);
}

uvec4 floatBf16(uvec4 row, uvec2 raw) {
    uvec4 words;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        uint two = raw[i >> 1] >> (i & 1u) * 16u;
        // each byte twice
        words[i] = floatSelect(row[i], ((two & 0xffu) + (two & 0xff00u) * 256u) * 257u);
    }
    return words;
}

uvec4 floatF16(uvec4 row, FloatRaw raw) {
    uvec4 words;
    uint bits = floatBits(kFloatF16, raw);
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        uint two = raw.high[i >> 1] >> (i & 1u) * 16u, six = bits >> (i >> 1) * 12u,
             down = (i & 1u) * 6u;
        // Of 3 bits the lower two go to 8 and 24, the sign to 15 and 31; nothing is carried.
        uint high =
            (six & 27u << down) * (0x200100u >> down) + (six & 36u << down) * (0x4002000u >> down);
        words[i] =
            floatSelect(row[i], (high & 0x83008300u) | ((two & 0xffu) + (two & 0xff00u) * 256u));
    }
    return words;
}

// Four numbers of 8 bits. raw: the bits of the first in its low ones. They go to the lowest bits of
// each byte, and again so far up that the sign is in its place; all else in a byte are bits of the
// symbol.
uint floatFour(uint type, uint first, uint second, uint raw) {
    uint symbols = first >> 16 | (second & 0xffff0000u), other = 0u;
    if (type == kFloatE4m3) {
        uint two = (raw & 0xffu) + (raw & 0xff00u) * 256u;
        other = ((two & 0xf000fu) + (two & 0xf000f0u) * 16u) * 17u;
    } else if (type == kFloatE5m2) {
        other =
            (((raw & 0707u) * 0x401u & 0x70007u) | ((raw & 07070u) * 0x8020u & 0x7000700u)) * 33u;
    } else if (type == kFloatE4m3Dense) {
        // and more, none of which counts
        uint four = (raw & 0x33u) * 0x1001u + (raw & 0xccu) * 0x40040u;
        other = four | four << 6;
    } else {
        return symbols;
    }
    return floatSelect(symbols, other);
}

uint[8] floatJoin(uint type, uvec4 row, FloatRaw raw) {
    uint words[8];
    [[unroll]] for (uint i = 0u; i < 8u; ++i) words[i] = 0u;
    if (type > kFloatF32) {
        uint bits = floatBits(type, raw);
        words[0] = floatFour(type, row.x, row.y, bits);
        words[1] = floatFour(type, row.z, row.w, bits >> 4u * floatWidth(type));
        return words;
    }
    uvec4 pairs = type == kFloatF16 ? floatF16(row, raw) : floatBf16(row, raw.high);
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        if (type == kFloatF32) {
            words[2u * i] = (raw.low[i] & 0xffffu) | pairs[i] << 16;
            words[2u * i + 1u] = raw.low[i] >> 16 | (pairs[i] & 0xffff0000u);
        } else {
            words[i] = pairs[i];
        }
    }
    return words;
}

#endif // SLUICE_FLOAT_TILE_GLSL
