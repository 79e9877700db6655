// SPDX-License-Identifier: MIT OR Apache-2.0
// Decode of the float codec (docs/format.md): Huffman codes of exponents, or of whole bytes, a lane group of 32 lanes a
// tile, and signs and mantissas from their planes.
//
// A workgroup does consecutive tiles of the list and builds one table for each tensor that it meets. Its 2^12 entries give
// two symbols at once wherever both codes fit into 12 bits, so that the lanes of a group stay in step.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/units.glsl"
#include "lib/word_stream.glsl"

layout(push_constant, std430) uniform Push {
    FloatDecodeParams p;
};

const uint kMaxBits = 12u, kTile = 8192u, kRow = 256u, kPairs = 4u; // a row: 4 pairs of symbols a lane
const uint kTypes = 7u, kBf16 = 0u, kF16 = 1u, kF32 = 2u, kE4m3 = 3u, kE5m2 = 4u, kE4m3Dense = 6u;

// An entry: bits 0 .. 3 how many bits it takes, 4: the second symbol did not fit, 7 .. 14 the first symbol, 16 .. 19 the
// length of its code, 23 .. 30 the second symbol. The symbols stand where exponents of two bf16 in a word do.
const uint kWaits = 16u;
shared uint sTable[1u << kMaxBits];
shared uint sLimits[16]; // the end of the codes of each length, left-aligned to 12 bits
shared uint sPlaces[16]; // what to add to a code of a length for its symbol's place in sSorted
shared uint sSorted[256];
shared uint sCounts[16];

// The tensor, the same in the whole workgroup.
uvec2 gWords, gIndex, gLengths, gRaw, gOutput, gCount;
uint gWordsSize4, gType, gFirstTile;
uvec2 gBytesPlane, gBitsPlane; // addresses
bool gGood, gComplete;

// ---------------------------------------------------------------------------------------------------------------
// The bits of a lane, left-aligned, to which words of the group's list are added.

uint gBits, gAvailable;

void streamBegin(uvec2 words, uint wordCount) {
    wordsBegin(words, wordCount);
    gBits = gAvailable = 0u;
}

void streamTake(bool need) {
    uint takers = lgBallot(need), at = gNext + uint(bitCount(takers & lgLanesBelow()));
    uint word = wordAt(at);
    gBits |= need ? word << ((16u - gAvailable) & 31u) : 0u;
    gAvailable += need ? 16u : 0u;
    gNext += uint(bitCount(takers));
}

void streamConsume(uint count) {
    gBits <<= count;
    gAvailable -= count;
}

// ---------------------------------------------------------------------------------------------------------------
// Table

uint codeLength(uint symbol) { return WordsIn(gLengths).w[symbol >> 3] >> (symbol & 7u) * 4u & 15u; }

// The length of the code at the upper end of 12 bits.
uint lengthAt(uint bits) {
    uint length_ = 1u;
    [[unroll]] for (uint i = 1u; i < kMaxBits; ++i)
        length_ += bits >= sLimits[i] ? 1u : 0u;
    return length_;
}

uint symbolAt(uint bits, uint length_) { return sSorted[(bits >> (kMaxBits - length_)) + sPlaces[length_] & 255u]; }

// By the whole workgroup. Sets gComplete.
void buildTable() {
    wgBarrierShared(); // the table before has been used
    if (wgInvocation() < 16u)
        sCounts[wgInvocation()] = 0u;
    wgBarrierShared();
    for (uint symbol = wgInvocation(); symbol < 256u; symbol += gl_WorkGroupSize.x)
        atomicAdd(sCounts[codeLength(symbol)], 1u);
    wgBarrierShared();
    uint code = 0u, rank = 0u, tooLong = sCounts[13] + sCounts[14] + sCounts[15];
    uint ranks[kMaxBits + 1u];
    bool single = sCounts[1] == 1u;
    [[unroll]] for (uint i = 2u; i <= kMaxBits; ++i)
        single = single && sCounts[i] == 0u;
    [[unroll]] for (uint i = 1u; i <= kMaxBits; ++i) {
        ranks[i] = rank;
        if (wgInvocation() == 0u) {
            sPlaces[i] = rank - code;
            sLimits[i] = single ? 1u << kMaxBits : code + sCounts[i] << (kMaxBits - i);
        }
        code += sCounts[i];
        rank += sCounts[i];
        if (i < kMaxBits)
            code <<= 1;
    }
    gComplete = tooLong == 0u && (single || code == 1u << kMaxBits);
    // The place of a symbol: those with shorter codes, and those before it with a code as long.
    for (uint symbol = wgInvocation(); symbol < 256u; symbol += gl_WorkGroupSize.x) {
        uint length_ = codeLength(symbol), place = 0u;
        if (length_ != 0u && length_ <= kMaxBits) {
            [[unroll]] for (uint i = 1u; i <= kMaxBits; ++i)
                place = i == length_ ? ranks[i] : place;
            for (uint word = 0u; word < symbol >> 3; word++) {
                uint differ = WordsIn(gLengths).w[word] ^ length_ * 0x11111111u;
                differ |= differ >> 2;
                differ |= differ >> 1;
                place += 8u - uint(bitCount(differ & 0x11111111u));
            }
            for (uint other = symbol & ~7u; other < symbol; other++)
                place += codeLength(other) == length_ ? 1u : 0u;
            sSorted[place & 255u] = symbol;
            if (single)
                sSorted[1] = symbol;
        }
    }
    wgBarrierShared();
    for (uint i = wgInvocation(); i < 1u << kMaxBits; i += gl_WorkGroupSize.x) {
        uint length1 = lengthAt(i), rest = i << length1 & (1u << kMaxBits) - 1u, length2 = lengthAt(rest);
        bool both = length1 + length2 <= kMaxBits;
        sTable[i] = symbolAt(i, length1) << 7 | length1 << 16 |
                    (both ? length1 + length2 | symbolAt(rest, length2) << 23 : length1 | kWaits);
    }
    wgBarrierShared();
}

uint tableAt() { return sTable[gBits >> (32u - kMaxBits)]; }

// ---------------------------------------------------------------------------------------------------------------
// Rows

#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
#define ROW_LOOP [[dont_unroll]] // compilers take long enough as it is
#else
#define ROW_LOOP [[unroll]]
#endif

// A row but the last: two symbols in each of the four words, as in table entries. Groups in lockstep with one that is `on`
// may not be.
uvec4 decodeRow(bool on) {
    on = on || !kLockstep;
    uvec4 row;
    ROW_LOOP for (uint i = 0u; i < kPairs; ++i) {
        streamTake(on && gAvailable < kMaxBits);
        uint entry = tableAt();
        streamConsume(on ? entry & 15u : 0u);
        bool waits = on && (entry & kWaits) != 0u;
        if (wgAnyLane(waits)) {
            streamTake(waits && gAvailable < kMaxBits);
            uint second = tableAt();
            if (waits) {
                streamConsume(second >> 16 & 15u);
                entry = (entry & 0x7f80u) | (second & 0x7f80u) << 16;
            }
        }
        row[i] = entry;
        wordsMove();
    }
    return row & 0x7f807f80u;
}

// The last one takes only words that its codes need.
uvec4 decodeLastRow(bool on) {
    on = on || !kLockstep;
    uvec4 row = uvec4(0u);
    ROW_LOOP for (uint i = 0u; i < 2u * kPairs; ++i) {
        streamTake(on && (tableAt() >> 16 & 15u) > gAvailable);
        uint entry = tableAt();
        streamConsume(on ? entry >> 16 & 15u : 0u);
        row[i >> 1] |= (entry & 0x7f80u) << ((i & 1u) * 16u);
        wordsMove();
    }
    return row;
}

uint symbolOf(uvec4 row, uint i) { return row[i >> 1] >> (7u + 16u * (i & 1u)) & 255u; }

// Words of the planes for the 8 elements from `element`, a multiple of 8, on; the planes end at multiples of 16 bytes.
uvec4 rawWords(uvec2 element) {
    UnitsIn words = UnitsIn(add64(gRaw, uvec2(element.x << 1, element.y << 1 | element.x >> 31)));
    return words.v[0];
}
uvec2 rawBytes(uvec2 element) {
    WordsIn bytes = WordsIn(add64(gBytesPlane, element));
    return uvec2(bytes.w[0], bytes.w[1]);
}
// 3 or 4 bits an element.
uint rawBits(uvec2 element, uint width) {
    uvec2 group = uvec2(element.x >> 3 | element.y << 29, element.y >> 3), offset = mul64(group.x, width);
    offset.y += group.y * width;
    uvec2 at = add64(gBitsPlane, offset);
    uint shift = (at.x & 3u) * 8u;
    WordsIn words = WordsIn(uvec2(at.x & ~3u, at.y));
    uint bits = words.w[0] >> shift;
    if (shift > 32u - 8u * width)
        bits |= words.w[1] << (32u - shift);
    return bits;
}

// Stores the first `count` of the 8 elements from `element` on.
void storeElements(uvec4 row, uvec2 element, uint count) {
    uint size = gType <= kF16 ? 2u : gType == kF32 ? 4u : 1u;
    uint words[8];
    [[unroll]] for (uint i = 0u; i < 8u; ++i)
        words[i] = 0u;
    if (gType == kBf16) {
        uvec2 raw = rawBytes(element);
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            uint two = raw[i >> 1] >> (i & 1u) * 16u;
            two = (two & 0xffu) | (two & 0xff00u) << 8;
            words[i] = row[i] | (two & 0x7f007fu) | (two & 0x800080u) << 8;
        }
    } else if (gType == kF16) {
        uvec2 raw = rawBytes(element);
        uint bits = rawBits(element, 3u);
        [[unroll]] for (uint i = 0u; i < 8u; ++i) {
            uint high = bits >> 3u * i & 7u;
            uint value = (raw[i >> 2] >> (i & 3u) * 8u & 0xffu) | (high & 3u) << 8 | (symbolOf(row, i) & 31u) << 10 | high >> 2 << 15;
            words[i >> 1] |= value << 16u * (i & 1u);
        }
    } else if (gType == kF32) {
        uvec4 low = rawWords(element);
        uvec2 raw = rawBytes(element);
        [[unroll]] for (uint i = 0u; i < 8u; ++i) {
            uint high = raw[i >> 2] >> (i & 3u) * 8u & 0xffu;
            words[i] = (low[i >> 1] >> 16u * (i & 1u) & 0xffffu) | (high & 0x7fu) << 16 | symbolOf(row, i) << 23 | high >> 7 << 31;
        }
    } else {
        uint mantissa = gType == kE4m3 ? 3u : gType == kE5m2 ? 2u : gType == kE4m3Dense ? 1u : 0u;
        uint width = mantissa == 0u ? 0u : mantissa + 1u, bits = width == 0u ? 0u : rawBits(element, width);
        uint mask = 255u >> width;
        [[unroll]] for (uint i = 0u; i < 8u; ++i) {
            uint raw = bits >> (width * i & 31u) & (1u << width) - 1u;
            uint value = (raw & (1u << mantissa) - 1u) | (symbolOf(row, i) & mask) << mantissa | raw >> mantissa << 7;
            words[i >> 2] |= (width == 0u ? symbolOf(row, i) : value) << 8u * (i & 3u);
        }
    }
    uvec2 offset = mul64(element.x, size);
    offset.y += element.y * size;
    uvec2 target = add64(gOutput, offset);
    if (count == 8u && size != 1u) {
        UnitsOut(target).v[0] = uvec4(words[0], words[1], words[2], words[3]);
        if (size == 4u)
            UnitsOut(target).v[1] = uvec4(words[4], words[5], words[6], words[7]);
    } else {
        uint bytes = count * size;
        [[unroll]] for (uint i = 0u; i < 8u; ++i)
            if (4u * i < bytes)
                storeWord(add64(target, 4u * i), words[i], 0u, min(bytes - 4u * i, 4u));
    }
}

// ---------------------------------------------------------------------------------------------------------------

uvec2 shiftRight64(uvec2 value, uint bits) { return uvec2(value.x >> bits | value.y << (32u - bits), value.y >> bits); }
uvec2 aligned16(uvec2 size) {
    uvec2 sum = add64(size, 15u);
    return uvec2(sum.x & ~15u, sum.y);
}

void loadTensor(uint index) {
    WordsIn list = WordsIn(add64(p.tensors, mul64(index, SLUICE_FLOAT_TENSOR_WORDS * 4u)));
    gWords = uvec2(list.w[0], list.w[1]);
    uvec2 wordsSize = uvec2(list.w[2], list.w[3]);
    gIndex = uvec2(list.w[4], list.w[5]);
    gLengths = uvec2(list.w[6], list.w[7]);
    gRaw = uvec2(list.w[8], list.w[9]);
    gOutput = uvec2(list.w[10], list.w[11]);
    gCount = uvec2(list.w[12], list.w[13]);
    gType = list.w[14];
    gFirstTile = list.w[15];
    gWordsSize4 = wordsSize.x >> 2 | wordsSize.y << 30;
    gGood = gType < kTypes && !less64(uvec2(0u, 256u), gCount) && wordsSize.y < 4u;
    if (!gGood)
        return;
    uint size = gType <= kF16 ? 2u : gType == kF32 ? 4u : 1u;
    uvec2 twice = uvec2(gCount.x << 1, gCount.y << 1 | gCount.x >> 31);
    uvec2 bytesAt = gType == kF32 ? aligned16(twice) : uvec2(0u);
    uvec2 bitsAt = gType <= kF32 ? add64(bytesAt, aligned16(gCount)) : uvec2(0u);
    uint width = gType == kF16 || gType == kE5m2 ? 3u : gType == kE4m3 ? 4u : gType == kE4m3Dense ? 2u : 0u;
    uvec2 groups = shiftRight64(add64(gCount, 7u), 3u), bits = mul64(groups.x, width);
    bits.y += groups.y * width;
    uvec2 rawSize = add64(bitsAt, aligned16(bits)), tiles = shiftRight64(add64(gCount, kTile - 1u), 13u);
    uvec2 indexSize = uvec2((tiles.x << 2) + 4u, tiles.y << 2 | tiles.x >> 30), outputSize = mul64(gCount.x, size);
    outputSize.y += gCount.y * size;
    gBytesPlane = add64(gRaw, bytesAt);
    gBitsPlane = add64(gRaw, bitsAt);
    gGood = ((gWords.x | gIndex.x | gLengths.x | gRaw.x | gOutput.x) & 15u) == 0u && (wordsSize.x & 3u) == 0u &&
            inside64(gWords, wordsSize, p.source, p.sourceSize) && inside64(gIndex, indexSize, p.source, p.sourceSize) &&
            inside64(gLengths, uvec2(128u, 0u), p.source, p.sourceSize) && inside64(gRaw, rawSize, p.source, p.sourceSize) &&
            inside64(gOutput, outputSize, p.destination, p.destinationSize);
}

// One tile of the tensor, a lane group each.
void decodeTile(bool enabled, uint tile) {
    uint local = tile - gFirstTile, tiles = shiftRight64(add64(gCount, kTile - 1u), 13u).x, status = SLUICE_ST_BAD_REGION;
    bool good = enabled && gGood && local < tiles;
    uint begin = 0u, end = 0u;
    if (good) {
        begin = WordsIn(gIndex).w[local];
        end = WordsIn(gIndex).w[local + 1u];
        good = begin <= end && end <= gWordsSize4;
    }
    if (good && !gComplete) {
        good = false;
        status = SLUICE_ST_BAD_CODE;
    }
    uvec2 first = mul64(local, kTile), left = sub64(gCount, first);
    uint elements = left.y != 0u ? kTile : min(left.x, kTile), rows = good ? (elements + kRow - 1u) / kRow : 0u;
    streamBegin(add64(gWords, mul64(begin, 4u)), good ? end - begin : 0u);
    for (uint row = 0u; wgAny(row < rows); row++) {
        bool last = row + 1u == rows, other = row + 1u < rows;
        uvec4 symbols = uvec4(0u);
        if (wgAny(other))
            symbols = decodeRow(other);
        if (wgAny(last)) {
            uvec4 lastSymbols = decodeLastRow(last);
            symbols = last ? lastSymbols : symbols;
        }
        uint at = row * kRow + 8u * lgLane();
        if (row < rows && at < elements)
            storeElements(symbols, add64(first, at), min(elements - at, 8u));
    }
    if (good)
        status = gNext > 2u * gWordsSize ? SLUICE_ST_TRUNCATED : SLUICE_ST_OK;
    if (enabled && lgLane() == 0u) {
        WordsOut statuses = WordsOut(p.status);
        statuses.w[tile] = status;
        if (status != SLUICE_ST_OK) {
            atomicAdd(statuses.w[p.tileCount], 1u);
            atomicMin(statuses.w[p.tileCount + 1u], tile);
        }
    }
}

uint firstTileOf(uint tensor) {
    return tensor < p.tensorCount ? min(WordsIn(add64(p.tensors, mul64(tensor, SLUICE_FLOAT_TENSOR_WORDS * 4u))).w[15], p.tileCount)
                                  : p.tileCount;
}

void main() {
    uint workgroup = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x;
    uint begin = min(workgroup * p.tilesPerWorkgroup, p.tileCount), stop = min(begin + p.tilesPerWorkgroup, p.tileCount);

    // The last tensor that begins at or before the first tile.
    uint tensor = 0u, count = p.tensorCount;
    for (uint step = 0u; step < 21u; step++) {
        uint half_ = count / 2u;
        if (half_ != 0u && firstTileOf(tensor + half_) <= begin) {
            tensor += half_;
            count -= half_;
        } else if (half_ != 0u) {
            count = half_;
        }
    }
    // Each pass of the loop does a tensor's tiles, at least one, or goes on to the next tensor.
    for (uint tile = begin; tile < stop;) {
        uint next = tensor + 1u < p.tensorCount ? max(firstTileOf(tensor + 1u), tile) : stop, end = min(next, stop);
        if (end > tile) {
            loadTensor(tensor);
            if (gGood)
                buildTable();
            for (; tile < end; tile += kGroupsPerWorkgroup)
                decodeTile(tile + lgIndex() < end, tile + lgIndex());
            tile = end;
        }
        tensor++;
    }
}
