// SPDX-License-Identifier: MIT OR Apache-2.0
// A tensor of the float codec. This file reads and checks a tensor's entry in the list and locates
// its planes.
#ifndef SLUICE_FLOAT_TENSOR_GLSL
#define SLUICE_FLOAT_TENSOR_GLSL

#include "layout/float.h"
#include "lanes.glsl"
#include "memory.glsl"

const uint kFloatTile = 8192u, kFloatRow = 256u; // elements
const uint kFloatMaxBits = 12u;                  // of a code
const uint kFloatLookUps = 4u;                   // per lane and row, each for one or two symbols
const uint kFloatTailRows = 2u;
const uint kFloatTypes = 7u; // SluiceFloatType
const uint kFloatBf16 = 0u, kFloatF16 = 1u, kFloatF32 = 2u, kFloatE4m3 = 3u, kFloatE5m2 = 4u;
const uint kFloatBytes = 5u, kFloatE4m3Dense = 6u;

// An entry of the look-up table holds one or two symbols. Bits 0 .. 3 are the number of bits that
// it consumes. Bit 6 is set if it has only one symbol, because the second one did not fit. The
// symbols have the bit positions that they have in the elements, so that few instructions merge
// them with the other bits. The length of the first symbol's code occupies bits that no symbol
// uses. Elements of 16 and 32 bits have a symbol in each half of the entry and the length at bit
// 16; elements of 8 bits have the symbols in bytes 2 and 3 and the length at bit 8. An entry has
// two symbols whenever both codes fit into 12 bits, so that the lanes of a group stay in step. Bits
// 4 and 5 are 0, because entries are used as bit counts modulo 32 and 64.
const uint kFloatShort = 64u;
const uint kFloatEntries = (1u << kFloatMaxBits) - 1u; // the last one
shared uint sFloatTable[1u << kFloatMaxBits];
shared uint sFloatLimits[16]; // the end of the codes of each length, left-aligned to 12 bits
shared uint sFloatPlaces[16]; // for each length: what to add to a code to get its symbol's index in
                              // sFloatSorted
shared uint sFloatSorted[256];
shared uint sFloatCounts[16];
shared uint sFloatLengths[32]; // of the codes, 4 bits each

// Properties of the tensor, which are the same in the whole workgroup.
uvec2 gFloatOutput, gFloatCount;
uint gFloatType, gFloatFirstTile;
bool gFloatGood;
bool gFloatComplete; // whether its code is

// Properties that are only needed at the beginning of a tile are kept in shared memory, because
// registers are scarce. They are addresses, and the size of the list of words in units of 8 bytes.
struct FloatParts {
    uvec2 words, index, raw, lengths, count, output_;
    uint wordsSize8, firstTile;
    uint mask; // which bits of a word of elements are symbols
};
shared FloatParts sFloatParts;

// Properties of the tile, which are the same in the lane group.
uint gFloatElements, gFloatRows, gFloatStatus;
// The mask of sFloatParts. A constant would cost NVIDIA's compiler (580) two instructions for each
// selection.
uint gFloatMask;
// The addresses of the tile's first element in the plane of bytes (or the only plane), and in the
// second plane.
uvec2 gFloatBytesAt, gFloatOtherAt;

uvec2 floatShiftRight64(uvec2 value, uint bits) {
    return uvec2(value.x >> bits | value.y << (32u - bits), value.y >> bits);
}

// floatSize returns the size of an element in bytes; floatWidth returns its width in the last
// plane, in bits.
uint floatSize(uint type) { return type <= kFloatF16 ? 2u : type == kFloatF32 ? 4u : 1u; }
uint floatWidth(uint type) {
    const uint widths[kFloatTypes] = uint[kFloatTypes](0u, 3u, 0u, 4u, 3u, 0u, 2u);
    return widths[min(type, kFloatTypes - 1u)];
}

// Returns how many bits of an element are not coded.
uint floatRawBits(uint type) {
    return (type == kFloatF32 ? 24u : type < kFloatF32 ? 8u : 0u) + floatWidth(type);
}
uint floatAligned16(uint size) { return (size + 15u) & ~15u; }
// Returns the offsets of a tile's planes: x is the plane of bytes, y is the plane of bits, and z is
// the end of all planes. The plane of 2 bytes per element begins at 0.
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
    wgBarrierShared(); // all lanes are done with the previous tensor
    if (wgInvocation() == 0u) sFloatParts = parts;
    wgBarrierShared();
}

#endif // SLUICE_FLOAT_TENSOR_GLSL
