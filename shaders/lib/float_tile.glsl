// SPDX-License-Identifier: MIT OR Apache-2.0
// One tile of the float codec (docs/format.md, section 6) decoded into registers by a lane group of 32 lanes: for
// float_decode.comp, and for shaders of your own that use weights where they decode them.
//
// Include it before anything else; GL_GOOGLE_include_directive must be on. It brings memory.glsl and lanes.glsl, which
// says what forms a lane group has, where its calls may stand, and that the pipeline sets two specialization constants
// (0: workgroup size, 1: subgroup size). Compile a variant for each form that you want, as SluiceContextInfo tells:
// SLUICE_EMU defined for the tiers emu4 .. emu128, else SLUICE_NARROW for subgroups smaller than 32, else neither.
// Pipelines but the emulated ones require full subgroups of that size. Workgroups: a multiple of 32 and of the subgroup
// size, up to 512, the larger the fewer tables; 32 in the narrow form, max(32, subgroup size) in the emulated one.
//
// Shared memory: 17,600 bytes; then 256 for each 32 invocations in the native and wide forms (21,696 at 512), 8 *
// workgroup size + 1,024 / subgroup size in the narrow one, 24 * workgroup size in the emulated one.
//
// In this order:
//   floatTensor(list, index, source, sourceSize)
//                    every invocation, with what is the same for the workgroup: reads SluiceFloatTensor `index` of the
//                    list and sets gFloatGood, gFloatCount, gFloatType, gFloatOutput, gFloatFirstTile
//   floatTable()     the whole workgroup, if gFloatGood: builds the table of the tensor's code. Then gFloatGood stays
//                    as it is; a shader that wants one type, say, clears it before
//   floatTile(on, tile)
//                    all lane groups in lockstep, each with a tile of the tensor, counted from 0, or `on` false: sets
//                    gFloatElements and gFloatRows, 0 if there is nothing to decode, and gFloatStatus. `tile` is any
//                    number; one past the end is BAD_REGION
//   floatRow(row)    the same, row 0, 1, .. up to the largest gFloatRows (wgAny): returns the symbols of 8 elements,
//                    number 256 row + 8 lgLane() .. + 7 of the tile; from gFloatElements on they mean nothing
//   floatTileEnd()   after the last row: sets gFloatStatus, an SLUICE_ST_ value of layout.h, to OK or TRUNCATED
// For each row, by every lane alone whose first element is below gFloatElements; `element`, a multiple of 8, is that
// element's number in the tensor, 64 bits:
//   floatBf16(symbols, floatRawBytes(element))   8 numbers of a bf16 tensor, two a word, the first in the low half. The
//                                                bytes may be loaded before the row is decoded
//   floatElements(symbols, element)              8 numbers of any type, as they lie in memory; floatSize() bytes each
//
// Hostile input: nothing outside [source, source + sourceSize) is read but the list's entry, whatever the tensor, its
// index, lengths and words say. A tile has at most 32 rows, and a row's work is bounded. Numbers of a tile whose status
// is not OK are unspecified. floatTensor does not ask whether the output lies in a buffer.
#ifndef SLUICE_FLOAT_TILE_GLSL
#define SLUICE_FLOAT_TILE_GLSL

#include "layout.h"
#include "lanes.glsl"
#include "memory.glsl"
#include "units.glsl"
#include "word_stream.glsl"

const uint kFloatTile = 8192u, kFloatRow = 256u; // elements
const uint kFloatMaxBits = 12u, kFloatPairs = 4u; // of symbols, which a lane has of a row
const uint kFloatTypes = 7u; // SluiceFloatType
const uint kFloatBf16 = 0u, kFloatF16 = 1u, kFloatF32 = 2u, kFloatE4m3 = 3u, kFloatE5m2 = 4u, kFloatE4m3Dense = 6u;

// An entry: bits 0 .. 3 how many bits it takes, 4: the second symbol did not fit, 7 .. 14 the first symbol, 16 .. 19
// the length of its code, 23 .. 30 the second symbol. The symbols stand where exponents of two bf16 in a word do. It
// has two wherever both codes fit into 12 bits, so that the lanes of a group stay in step.
const uint kFloatWaits = 16u;
shared uint sFloatTable[1u << kFloatMaxBits];
shared uint sFloatLimits[16]; // the end of the codes of each length, left-aligned to 12 bits
shared uint sFloatPlaces[16]; // what to add to a code of a length for its symbol's place in sFloatSorted
shared uint sFloatSorted[256];
shared uint sFloatCounts[16];

// The tensor, the same in the whole workgroup.
uvec2 gFloatOutput, gFloatCount;
uint gFloatType, gFloatFirstTile;
bool gFloatGood;
uvec2 gFloatWords, gFloatIndex, gFloatLengths, gFloatRaw, gFloatBytesPlane, gFloatBitsPlane; // addresses
uint gFloatWordsSize4;
bool gFloatComplete; // its code

// The tile, the same in the lane group.
uint gFloatElements, gFloatRows, gFloatStatus;

// ---------------------------------------------------------------------------------------------------------------
// Tensor

uvec2 floatShiftRight64(uvec2 value, uint bits) {
    return uvec2(value.x >> bits | value.y << (32u - bits), value.y >> bits);
}
uvec2 floatAligned16(uvec2 size) {
    uvec2 sum = add64(size, 15u);
    return uvec2(sum.x & ~15u, sum.y);
}

// Bytes of an element.
uint floatSize() { return gFloatType <= kFloatF16 ? 2u : gFloatType == kFloatF32 ? 4u : 1u; }

void floatTensor(uvec2 tensors, uint index, uvec2 source, uvec2 sourceSize) {
    WordsIn list = WordsIn(add64(tensors, mul64(index, SLUICE_FLOAT_TENSOR_WORDS * 4u)));
    gFloatWords = uvec2(list.w[0], list.w[1]);
    uvec2 wordsSize = uvec2(list.w[2], list.w[3]);
    gFloatIndex = uvec2(list.w[4], list.w[5]);
    gFloatLengths = uvec2(list.w[6], list.w[7]);
    gFloatRaw = uvec2(list.w[8], list.w[9]);
    gFloatOutput = uvec2(list.w[10], list.w[11]);
    gFloatCount = uvec2(list.w[12], list.w[13]);
    gFloatType = list.w[14];
    gFloatFirstTile = list.w[15];
    gFloatWordsSize4 = wordsSize.x >> 2 | wordsSize.y << 30;
    gFloatGood = gFloatType < kFloatTypes && !less64(uvec2(0u, 256u), gFloatCount) && wordsSize.y < 4u;
    if (!gFloatGood)
        return;
    uvec2 twice = uvec2(gFloatCount.x << 1, gFloatCount.y << 1 | gFloatCount.x >> 31);
    uvec2 bytesAt = gFloatType == kFloatF32 ? floatAligned16(twice) : uvec2(0u);
    uvec2 bitsAt = gFloatType <= kFloatF32 ? add64(bytesAt, floatAligned16(gFloatCount)) : uvec2(0u);
    uint width = gFloatType == kFloatF16 || gFloatType == kFloatE5m2 ? 3u
                 : gFloatType == kFloatE4m3                          ? 4u
                 : gFloatType == kFloatE4m3Dense                     ? 2u
                                                                     : 0u;
    uvec2 groups = floatShiftRight64(add64(gFloatCount, 7u), 3u), bits = mul64(groups.x, width);
    bits.y += groups.y * width;
    uvec2 rawSize = add64(bitsAt, floatAligned16(bits));
    uvec2 tiles = floatShiftRight64(add64(gFloatCount, kFloatTile - 1u), 13u);
    uvec2 indexSize = uvec2((tiles.x << 2) + 4u, tiles.y << 2 | tiles.x >> 30);
    gFloatBytesPlane = add64(gFloatRaw, bytesAt);
    gFloatBitsPlane = add64(gFloatRaw, bitsAt);
    uint places = gFloatWords.x | gFloatIndex.x | gFloatLengths.x | gFloatRaw.x | gFloatOutput.x;
    gFloatGood = (places & 15u) == 0u && (wordsSize.x & 3u) == 0u &&
                 inside64(gFloatWords, wordsSize, source, sourceSize) &&
                 inside64(gFloatIndex, indexSize, source, sourceSize) &&
                 inside64(gFloatLengths, uvec2(128u, 0u), source, sourceSize) &&
                 inside64(gFloatRaw, rawSize, source, sourceSize);
}

// ---------------------------------------------------------------------------------------------------------------
// The bits of a lane, left-aligned, to which words of the group's list are added.

uint gFloatBits, gFloatAvailable;

void floatStreamBegin(uvec2 words, uint wordCount) {
    wordsBegin(words, wordCount);
    gFloatBits = gFloatAvailable = 0u;
}

void floatTake(bool need) {
    uint takers = lgBallot(need), at = gNext + uint(bitCount(takers & lgLanesBelow()));
    uint word = wordAt(at);
    gFloatBits |= need ? word << ((16u - gFloatAvailable) & 31u) : 0u;
    gFloatAvailable += need ? 16u : 0u;
    gNext += uint(bitCount(takers));
}

void floatConsume(uint count) {
    gFloatBits <<= count;
    gFloatAvailable -= count;
}

// ---------------------------------------------------------------------------------------------------------------
// Table

uint floatCodeLength(uint symbol) { return WordsIn(gFloatLengths).w[symbol >> 3] >> (symbol & 7u) * 4u & 15u; }

// The length of the code at the upper end of 12 bits.
uint floatLengthAt(uint bits) {
    uint length_ = 1u;
    [[unroll]] for (uint i = 1u; i < kFloatMaxBits; ++i)
        length_ += bits >= sFloatLimits[i] ? 1u : 0u;
    return length_;
}

uint floatSymbolAt(uint bits, uint length_) {
    return sFloatSorted[(bits >> (kFloatMaxBits - length_)) + sFloatPlaces[length_] & 255u];
}

void floatTable() {
    wgBarrierShared(); // the table before has been used
    if (wgInvocation() < 16u)
        sFloatCounts[wgInvocation()] = 0u;
    wgBarrierShared();
    for (uint symbol = wgInvocation(); symbol < 256u; symbol += gl_WorkGroupSize.x)
        atomicAdd(sFloatCounts[floatCodeLength(symbol)], 1u);
    wgBarrierShared();
    uint code = 0u, rank = 0u, tooLong = sFloatCounts[13] + sFloatCounts[14] + sFloatCounts[15];
    uint ranks[kFloatMaxBits + 1u];
    bool single = sFloatCounts[1] == 1u;
    [[unroll]] for (uint i = 2u; i <= kFloatMaxBits; ++i)
        single = single && sFloatCounts[i] == 0u;
    [[unroll]] for (uint i = 1u; i <= kFloatMaxBits; ++i) {
        ranks[i] = rank;
        if (wgInvocation() == 0u) {
            sFloatPlaces[i] = rank - code;
            sFloatLimits[i] = single ? 1u << kFloatMaxBits : code + sFloatCounts[i] << (kFloatMaxBits - i);
        }
        code += sFloatCounts[i];
        rank += sFloatCounts[i];
        if (i < kFloatMaxBits)
            code <<= 1;
    }
    gFloatComplete = tooLong == 0u && (single || code == 1u << kFloatMaxBits);
    // The place of a symbol: those with shorter codes, and those before it with a code as long.
    for (uint symbol = wgInvocation(); symbol < 256u; symbol += gl_WorkGroupSize.x) {
        uint length_ = floatCodeLength(symbol), place = 0u;
        if (length_ != 0u && length_ <= kFloatMaxBits) {
            [[unroll]] for (uint i = 1u; i <= kFloatMaxBits; ++i)
                place = i == length_ ? ranks[i] : place;
            for (uint word = 0u; word < symbol >> 3; word++) {
                uint differ = WordsIn(gFloatLengths).w[word] ^ length_ * 0x11111111u;
                differ |= differ >> 2;
                differ |= differ >> 1;
                place += 8u - uint(bitCount(differ & 0x11111111u));
            }
            for (uint other = symbol & ~7u; other < symbol; other++)
                place += floatCodeLength(other) == length_ ? 1u : 0u;
            sFloatSorted[place & 255u] = symbol;
            if (single)
                sFloatSorted[1] = symbol;
        }
    }
    wgBarrierShared();
    for (uint i = wgInvocation(); i < 1u << kFloatMaxBits; i += gl_WorkGroupSize.x) {
        uint length1 = floatLengthAt(i), rest = i << length1 & (1u << kFloatMaxBits) - 1u;
        uint length2 = floatLengthAt(rest);
        bool both = length1 + length2 <= kFloatMaxBits;
        sFloatTable[i] = floatSymbolAt(i, length1) << 7 | length1 << 16 |
                         (both ? length1 + length2 | floatSymbolAt(rest, length2) << 23 : length1 | kFloatWaits);
    }
    wgBarrierShared();
}

uint floatTableAt() { return sFloatTable[gFloatBits >> (32u - kFloatMaxBits)]; }

// ---------------------------------------------------------------------------------------------------------------
// Rows

#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
#define FLOAT_ROW_LOOP [[dont_unroll]] // compilers take long enough as it is
#else
#define FLOAT_ROW_LOOP [[unroll]]
#endif

// A row but the last: two symbols in each of the four words, as in table entries. Groups in lockstep with one that is
// `on` may not be.
uvec4 floatPairRow(bool on) {
    on = on || !kLockstep;
    uvec4 row;
    FLOAT_ROW_LOOP for (uint i = 0u; i < kFloatPairs; ++i) {
        floatTake(on && gFloatAvailable < kFloatMaxBits);
        uint entry = floatTableAt();
        floatConsume(on ? entry & 15u : 0u);
        bool waits = on && (entry & kFloatWaits) != 0u;
        if (wgAnyLane(waits)) {
            floatTake(waits && gFloatAvailable < kFloatMaxBits);
            uint second = floatTableAt();
            if (waits) {
                floatConsume(second >> 16 & 15u);
                entry = (entry & 0x7f80u) | (second & 0x7f80u) << 16;
            }
        }
        row[i] = entry;
        wordsMove();
    }
    return row & 0x7f807f80u;
}

// The last one takes only words that its codes need.
uvec4 floatLastRow(bool on) {
    on = on || !kLockstep;
    uvec4 row = uvec4(0u);
    FLOAT_ROW_LOOP for (uint i = 0u; i < 2u * kFloatPairs; ++i) {
        floatTake(on && (floatTableAt() >> 16 & 15u) > gFloatAvailable);
        uint entry = floatTableAt();
        floatConsume(on ? entry >> 16 & 15u : 0u);
        row[i >> 1] |= (entry & 0x7f80u) << ((i & 1u) * 16u);
        wordsMove();
    }
    return row;
}

// ---------------------------------------------------------------------------------------------------------------
// Tile

void floatTile(bool on, uint tile) {
    uint tiles = floatShiftRight64(add64(gFloatCount, kFloatTile - 1u), 13u).x;
    bool good = on && gFloatGood && tile < tiles;
    gFloatStatus = SLUICE_ST_BAD_REGION;
    uint begin = 0u, end = 0u;
    if (good) {
        begin = WordsIn(gFloatIndex).w[tile];
        end = WordsIn(gFloatIndex).w[tile + 1u];
        good = begin <= end && end <= gFloatWordsSize4;
    }
    if (good && !gFloatComplete) {
        good = false;
        gFloatStatus = SLUICE_ST_BAD_CODE;
    }
    uvec2 left = sub64(gFloatCount, mul64(tile, kFloatTile));
    gFloatElements = !good ? 0u : left.y != 0u ? kFloatTile : min(left.x, kFloatTile);
    gFloatRows = (gFloatElements + kFloatRow - 1u) / kFloatRow;
    floatStreamBegin(add64(gFloatWords, mul64(begin, 4u)), good ? end - begin : 0u);
}

uvec4 floatRow(uint row) {
    bool last = row + 1u == gFloatRows, other = row + 1u < gFloatRows;
    uvec4 symbols = uvec4(0u);
    if (wgAny(other))
        symbols = floatPairRow(other);
    if (wgAny(last)) {
        uvec4 lastSymbols = floatLastRow(last);
        symbols = last ? lastSymbols : symbols;
    }
    return symbols;
}

void floatTileEnd() {
    if (gFloatRows != 0u)
        gFloatStatus = gNext > 2u * gWordsSize ? SLUICE_ST_TRUNCATED : SLUICE_ST_OK;
}

// ---------------------------------------------------------------------------------------------------------------
// Elements

uint floatSymbolOf(uvec4 row, uint i) { return row[i >> 1] >> (7u + 16u * (i & 1u)) & 255u; }

// Of the 8 elements from `element`, a multiple of 8, on; the planes end at multiples of 16 bytes.
uvec4 floatRawWords(uvec2 element) {
    UnitsIn words = UnitsIn(add64(gFloatRaw, uvec2(element.x << 1, element.y << 1 | element.x >> 31)));
    return words.v[0];
}
uvec2 floatRawBytes(uvec2 element) {
    WordsIn bytes = WordsIn(add64(gFloatBytesPlane, element));
    return uvec2(bytes.w[0], bytes.w[1]);
}
// 2 to 4 bits an element.
uint floatRawBits(uvec2 element, uint width) {
    uvec2 group = uvec2(element.x >> 3 | element.y << 29, element.y >> 3), offset = mul64(group.x, width);
    offset.y += group.y * width;
    uvec2 at = add64(gFloatBitsPlane, offset);
    uint shift = (at.x & 3u) * 8u;
    WordsIn words = WordsIn(uvec2(at.x & ~3u, at.y));
    uint bits = words.w[0] >> shift;
    if (shift > 32u - 8u * width)
        bits |= words.w[1] << (32u - shift);
    return bits;
}

uvec4 floatBf16(uvec4 row, uvec2 raw) {
    uvec4 words;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        uint two = raw[i >> 1] >> (i & 1u) * 16u;
        two = (two & 0xffu) | (two & 0xff00u) << 8;
        words[i] = row[i] | two + (two & 0x800080u) * 255u; // the sign goes up by a byte
    }
    return words;
}

uint[8] floatElements(uvec4 row, uvec2 element) {
    uint words[8];
    [[unroll]] for (uint i = 0u; i < 8u; ++i)
        words[i] = 0u;
    if (gFloatType == kFloatBf16) {
        uvec4 pairs = floatBf16(row, floatRawBytes(element));
        [[unroll]] for (uint i = 0u; i < 4u; ++i)
            words[i] = pairs[i];
    } else if (gFloatType == kFloatF16) {
        uvec2 raw = floatRawBytes(element);
        uint bits = floatRawBits(element, 3u);
        [[unroll]] for (uint i = 0u; i < 8u; ++i) {
            uint high = bits >> 3u * i & 7u;
            uint low = (raw[i >> 2] >> (i & 3u) * 8u & 0xffu) | (high & 3u) << 8;
            uint value = low | (floatSymbolOf(row, i) & 31u) << 10 | high >> 2 << 15;
            words[i >> 1] |= value << 16u * (i & 1u);
        }
    } else if (gFloatType == kFloatF32) {
        uvec4 low = floatRawWords(element);
        uvec2 raw = floatRawBytes(element);
        [[unroll]] for (uint i = 0u; i < 8u; ++i) {
            uint high = raw[i >> 2] >> (i & 3u) * 8u & 0xffu;
            words[i] = (low[i >> 1] >> 16u * (i & 1u) & 0xffffu) | (high & 0x7fu) << 16 | floatSymbolOf(row, i) << 23 |
                       high >> 7 << 31;
        }
    } else {
        uint mantissa = gFloatType == kFloatE4m3        ? 3u
                        : gFloatType == kFloatE5m2      ? 2u
                        : gFloatType == kFloatE4m3Dense ? 1u
                                                        : 0u;
        uint width = mantissa == 0u ? 0u : mantissa + 1u, bits = width == 0u ? 0u : floatRawBits(element, width);
        uint mask = 255u >> width;
        [[unroll]] for (uint i = 0u; i < 8u; ++i) {
            uint raw = bits >> (width * i & 31u) & (1u << width) - 1u;
            uint value =
                (raw & (1u << mantissa) - 1u) | (floatSymbolOf(row, i) & mask) << mantissa | raw >> mantissa << 7;
            words[i >> 2] |= (width == 0u ? floatSymbolOf(row, i) : value) << 8u * (i & 3u);
        }
    }
    return words;
}

#endif // SLUICE_FLOAT_TILE_GLSL
