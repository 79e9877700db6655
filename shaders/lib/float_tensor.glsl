// SPDX-License-Identifier: MIT OR Apache-2.0
// A tensor of the float codec (docs/format.md, section 6): reads its entry of the list
// (SluiceFloatTensor), checks it, and finds its *planes* of bits that are not coded.
#ifndef SLUICE_FLOAT_TENSOR_GLSL
#define SLUICE_FLOAT_TENSOR_GLSL

#include "layout/float.h"
#include "lanes.glsl"
#include "memory.glsl"

const uint kFloatTile = 8192u, kFloatRow = 256u; // elements of a tile, and of a row
const uint kFloatMaxBits = 12u;                  // bits of the longest code
const uint kFloatLookUps = 4u; // look-ups of a lane in a row; each gives one or two symbols
// The number of rows in a tile's tail, where lanes take only the bits that their codes need.
const uint kFloatTailRows = 2u;
const uint kFloatTypes = 7u; // the number of types, which have the values of SluiceFloatType
const uint kFloatBf16 = 0u, kFloatF16 = 1u, kFloatF32 = 2u, kFloatE4m3 = 3u, kFloatE5m2 = 4u;
const uint kFloatBytes = 5u, kFloatE4m3Dense = 6u;

// An entry of the look-up table holds one or two symbols. Bits 0 .. 3 are the number of bits of
// their codes together. Bit 6 (kFloatShort) is set if there is only one symbol, because the second
// code did not fit. An entry has two symbols whenever their codes have at most kFloatMaxBits bits
// together. The format prescribes this, since it determines when a lane takes words.
//
// The symbols have the bit positions that they have in elements, so that few instructions merge
// them with the other bits. The length of the first code is in bits where no symbol can be. For
// elements of 16 and 32 bits, each half of the entry has a symbol, and the length is at bit 16. For
// elements of 8 bits, bytes 2 and 3 have the symbols, and the length is at bit 8. Bits 4 and 5 are
// 0, so that a whole entry can serve as a bit count modulo 32 or 64.
const uint kFloatShort = 64u;
const uint kFloatEntries = (1u << kFloatMaxBits) - 1u; // the highest index of the table
shared uint sFloatTable[1u << kFloatMaxBits];
shared uint sFloatLimits[16]; // the end of the codes of each length, as 12 bits, left-aligned
// For each length: what to add to a code to get the index in sFloatSorted of its symbol.
shared uint sFloatPlaces[16];
shared uint sFloatSorted[256]; // the symbols in the order of their codes
shared uint sFloatCounts[16];  // how many symbols have codes of each length
shared uint sFloatLengths[32]; // the length of each symbol's code, 4 bits each

// These properties of the tensor are the same in the whole workgroup: the address of its output and
// the number of its elements, both with 64 bits; its type; and the number of its first tile among
// the tiles of all tensors in the list.
uvec2 gFloatOutput, gFloatCount;
uint gFloatType, gFloatFirstTile;
bool gFloatGood;     // true if the entry of the list is valid
bool gFloatComplete; // true if the tensor's prefix code is complete

// These properties of the tensor are needed only where a tile begins. They are in shared memory,
// because registers are scarce.
struct FloatParts {
    // `count` is the number of elements; the others are addresses.
    uvec2 words, index, raw, lengths, count, output_;
    uint wordsSize8, firstTile; // wordsSize8: the size of the list of words, in units of 8 bytes
    uint mask;                  // has ones in the bits of a word of elements that are symbols
};
shared FloatParts sFloatParts;

// These properties of the tile are the same in the whole lane group: the number of its elements,
// the number of its rows, and its status.
uint gFloatElements, gFloatRows, gFloatStatus;
// FloatParts::mask, which has ones in the bits of a word of elements that are symbols. It is a
// variable, because NVIDIA's compiler (driver 580) makes two instructions of a selection by a
// constant mask, but one of a selection by a variable.
uint gFloatMask;
// Where the tile's raw (uncoded) bits are: the addresses of the plane with a byte for each element
// and of the other plane, which has 2 bytes or 2 to 4 bits for each element.
uvec2 gFloatBytesAt, gFloatOtherAt;

uvec2 floatShiftRight64(uvec2 value, uint bits) {
    return uvec2(value.x >> bits | value.y << (32u - bits), value.y >> bits);
}

// Returns the size of an element in bytes.
uint floatSize(uint type) { return type <= kFloatF16 ? 2u : type == kFloatF32 ? 4u : 1u; }
// Returns how many bits of an element are in the plane of 2 to 4 bits, or 0 if there is none.
uint floatWidth(uint type) {
    const uint widths[kFloatTypes] = uint[kFloatTypes](0u, 3u, 0u, 4u, 3u, 0u, 2u);
    return widths[min(type, kFloatTypes - 1u)];
}

// Returns how many bits of an element are not coded.
uint floatRawBits(uint type) {
    return (type == kFloatF32 ? 24u : type < kFloatF32 ? 8u : 0u) + floatWidth(type);
}
uint floatAligned16(uint size) { return (size + 15u) & ~15u; }
// Returns the byte offsets of the planes of a tile of `elements` elements. x is where the plane of
// bytes begins, y where the plane of 2 to 4 bits begins, and z where the last plane ends. The plane
// with 2 bytes for each element begins at 0.
uvec3 floatPlanes(uint type, uint elements) {
    uint bytesAt = type == kFloatF32 ? floatAligned16(2u * elements) : 0u;
    uint bitsAt = bytesAt + (type <= kFloatF32 ? floatAligned16(elements) : 0u);
    return uvec3(bytesAt, bitsAt, bitsAt + floatAligned16((elements + 7u) / 8u * floatWidth(type)));
}

// The whole workgroup reads entry `index` of the list of tensors at the address `tensors`, and
// checks it. gFloatGood says whether it is valid.
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
    uvec2 whole = floatShiftRight64(gFloatCount, 13u); // whole tiles, at most 2^27
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
    // This barrier waits until all lanes are done with the previous tensor.
    wgBarrierShared();
    if (wgInvocation() == 0u) sFloatParts = parts;
    wgBarrierShared();
}

#endif // SLUICE_FLOAT_TENSOR_GLSL
