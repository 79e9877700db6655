// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds the look-up table of a tensor's code (float_tensor.glsl describes its entries). A symbol
// is the part of an element that is coded (docs/format.md, 6.1).
#ifndef SLUICE_FLOAT_TABLE_GLSL
#define SLUICE_FLOAT_TABLE_GLSL

#include "loops.glsl"
#include "float_tensor.glsl"

// Returns the table's entry for the highest kFloatMaxBits bits of `bits`.
uint floatEntry(uint bits) { return sFloatTable[bits >> (32u - kFloatMaxBits)]; }

// Returns the length of a symbol's code in bits, or 0 if it has no code.
uint floatCodeLength(uint symbol) { return sFloatLengths[symbol >> 3] >> (symbol & 7u) * 4u & 15u; }

// Returns the length of the code with which the kFloatMaxBits bits of `bits` begin. Codes are
// ordered by length, so comparing with the end of each length's codes finds it.
uint floatLengthAt(uint bits) {
    uint codeLength = 1u;
    SLUICE_UNROLL
    for (uint i = 1u; i < kFloatMaxBits; ++i)
        codeLength += bits >= sFloatLimits[i] ? 1u : 0u;
    return codeLength;
}

// Returns the bit of an entry at which its first symbol begins.
uint floatFirstAt(uint type) {
    const uint places[kFloatTypes] = uint[kFloatTypes](7u, 10u, 7u, 19u, 18u, 16u, 17u);
    return places[min(type, kFloatTypes - 1u)];
}
// Returns the mask of the bits that a symbol may have in elements of this type.
uint floatMask(uint type) {
    const uint masks[kFloatTypes] = uint[kFloatTypes](255u, 31u, 255u, 15u, 31u, 255u, 63u);
    return masks[min(type, kFloatTypes - 1u)];
}
// Returns the bit of an entry at which the length of its first code begins.
uint floatLengthShift(uint type) { return type > kFloatF32 ? 8u : 16u; }

// Returns an entry with one symbol: the one whose code has `codeLength` bits and begins the
// kFloatMaxBits bits of `bits`. The last three parameters are the results of floatMask,
// floatFirstAt and floatLengthShift.
uint floatEntryOf(uint bits, uint codeLength, uint mask, uint firstAt, uint lengthAt) {
    uint symbol =
        sFloatSorted[((bits >> (kFloatMaxBits - codeLength)) + sFloatPlaces[codeLength]) & 255u];
    return (symbol & mask) << firstAt | codeLength << lengthAt;
}

// The whole workgroup builds the table of the tensor that floatTensor has loaded.
void floatTable() {
    // This barrier waits until all lanes are done with the previous table.
    wgBarrierShared();
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
    SLUICE_UNROLL
    for (uint i = 2u; i <= kFloatMaxBits; ++i)
        single = single && sFloatCounts[i] == 0u;
    SLUICE_UNROLL
    for (uint i = 1u; i <= kFloatMaxBits; ++i) {
        ranks[i] = rank;
        if (wgInvocation() == 0u) {
            sFloatPlaces[i] = rank - code;
            sFloatLimits[i] =
                single ? 1u << kFloatMaxBits : (code + sFloatCounts[i]) << (kFloatMaxBits - i);
        }
        code += sFloatCounts[i];
        rank += sFloatCounts[i];
        if (i < kFloatMaxBits) code <<= 1;
    }
    gFloatComplete = tooLong == 0u && (single || code == 1u << kFloatMaxBits);
    // A symbol's index in sFloatSorted is the number of symbols with shorter codes, plus the number
    // of lower symbols with codes of the same length.
    for (uint symbol = wgInvocation(); symbol < 256u; symbol += gl_WorkGroupSize.x) {
        uint codeLength = floatCodeLength(symbol), place = 0u;
        if (codeLength != 0u && codeLength <= kFloatMaxBits) {
            SLUICE_UNROLL
            for (uint i = 1u; i <= kFloatMaxBits; ++i)
                place = i == codeLength ? ranks[i] : place;
            for (uint word = 0u; word < symbol >> 3; word++) {
                uint differ = sFloatLengths[word] ^ codeLength * 0x11111111u;
                differ |= differ >> 2;
                differ |= differ >> 1;
                place += 8u - uint(bitCount(differ & 0x11111111u));
            }
            for (uint other = symbol & ~7u; other < symbol; other++)
                place += floatCodeLength(other) == codeLength ? 1u : 0u;
            sFloatSorted[place & 255u] = symbol;
            if (single) sFloatSorted[1] = symbol;
        }
    }
    wgBarrierShared();
    // First, each entry gets one symbol. An invocation makes 8 neighbouring entries at a time:
    // their indices differ in the lowest 3 of 12 bits, so they share their first code if it has at
    // most 9 bits.
    uint firstAt = floatFirstAt(gFloatType), mask = floatMask(gFloatType),
         lengthAt = floatLengthShift(gFloatType);
    for (uint i = 8u * wgInvocation(); i < 1u << kFloatMaxBits; i += 8u * gl_WorkGroupSize.x) {
        uint codeLength = floatLengthAt(i),
             entry = floatEntryOf(i, codeLength, mask, firstAt, lengthAt);
        SLUICE_DONT_UNROLL
        for (uint k = i; k < i + 8u; ++k) {
            if (codeLength > 9u) entry = floatEntryOf(k, floatLengthAt(k), mask, firstAt, lengthAt);
            sFloatTable[k] = entry;
        }
    }
    // Then each entry gets its second symbol: the first symbol of the entry for the bits after its
    // first code. Whether that entry has its own second symbol already does not matter.
    const uint each = 4u;
    uint secondAt = firstAt + (gFloatType > kFloatF32 ? 8u : 16u);
    SLUICE_DONT_UNROLL
    for (uint begin = 0u; begin < 1u << kFloatMaxBits; begin += each * gl_WorkGroupSize.x) {
        uint entries[each];
        wgBarrierShared();
        SLUICE_UNROLL
        for (uint k = 0u; k < each; ++k) {
            uint i = begin + k * gl_WorkGroupSize.x + wgInvocation();
            uint first = sFloatTable[i & kFloatEntries], length1 = first >> lengthAt & 15u;
            uint second = sFloatTable[i << length1 & kFloatEntries],
                 both = length1 + (second >> lengthAt & 15u);
            uint symbol = (second >> firstAt & mask) << secondAt;
            entries[k] = first | mix(length1 | kFloatShort, both | symbol, both <= kFloatMaxBits);
        }
        wgBarrierShared();
        SLUICE_UNROLL
        for (uint k = 0u; k < each; ++k) {
            uint i = begin + k * gl_WorkGroupSize.x + wgInvocation();
            if (i <= kFloatEntries) sFloatTable[i] = entries[k];
        }
    }
    wgBarrierShared();
}

#endif // SLUICE_FLOAT_TABLE_GLSL
