// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes a tile of the float codec (docs/format.md, section 6) into the registers of a lane group
// of 32 lanes. float_decode.comp uses it, and so may shaders of your own that use weights where
// they decode them.
//
// How to include it: before anything else, with GL_GOOGLE_include_directive enabled. It includes
// memory.glsl and lanes.glsl. lanes.glsl says what forms a lane group has, where its functions may
// be called, and that the pipeline sets two specialization constants (0: workgroup size, 1:
// subgroup size).
//
// SluiceContextInfo tells which variants to compile: with SLUICE_EMU for the tiers emu4 to emu128,
// otherwise with SLUICE_NARROW for subgroups smaller than 32, otherwise with neither. SLUICE_INT64
// is for devices that have shaderInt64 enabled and shift 64 bits fast, as NVIDIA's do. Pipelines
// must require full subgroups of the size that was given, except emulated ones.
//
// The size of a workgroup is a multiple of 32 and of the subgroup size, up to 1,024; the larger it
// is, the fewer tables are built. In the narrow form it is 32, in the emulated one max(32, subgroup
// size).
//
// Shared memory: 17,808 bytes, and in addition 768 for each 32 invocations in the native and wide
// forms (42,384 in all with 1,024 invocations), 8 * workgroup size + 1,024 / subgroup size in the
// narrow form, 24 * workgroup size in the emulated form.
//
// Call these functions in this order:
//   floatTensor(list, index, source, sourceSize)
//                    by the whole workgroup, with the same arguments: reads SluiceFloatTensor
//                    `index` of the list and sets gFloatGood, gFloatCount, gFloatType,
//                    gFloatOutput and gFloatFirstTile
//   floatTable()     by the whole workgroup, if gFloatGood: builds the table of the tensor's code.
//                    A shader that takes only one type clears gFloatGood before; after this call
//                    gFloatGood must not change
//   floatTile(on, tile)
//                    by all lane groups in lockstep, each with a tile of the tensor, counted from
//                    0, or with `on` false: sets gFloatElements and gFloatRows, 0 if there is
//                    nothing to decode, and gFloatStatus. `tile` may be any number; one past the
//                    end is BAD_REGION
//   floatRow(type, row)
//                    by all lane groups in lockstep, for row 0, 1 and so on up to the largest
//                    gFloatRows (wgAny): returns the symbols of 8 elements, those with numbers
//                    256 row + 8 lgLane() to that + 7 in the tile. Symbols from number
//                    gFloatElements on mean nothing
//   floatTileEnd()   after the last row: sets gFloatStatus, a value SLUICE_ST_* of layout/base.h,
//                    to OK or TRUNCATED
// For each row, each lane whose first element is below gFloatElements may call the following on its
// own; `eight` is 32 row + lgLane(). The raw bits, which are not coded, may be loaded before the
// row is decoded, so that their latency is hidden.
//   floatBf16(symbols, floatRawBytes(eight))
//                    returns 8 elements of a bf16 tensor, two in a word, the first in the low half
//   floatJoin(type, symbols, floatRaw(type, eight))
//                    returns 8 elements of any type as they lie in memory, floatSize(type)
//                    bytes each
//
// `type` is gFloatType. A constant that is known to equal it is better, because then the code of a
// row has no branches.
//
// Hostile input: whatever the tensor, its index, lengths and words say, nothing is read outside
// [source, source + sourceSize) and the list's entry. A tile has at most 32 rows, and the work for
// a row is bounded. The elements of a tile whose status is not OK are unspecified. floatTensor does
// not check whether the output lies in a buffer.
#ifndef SLUICE_FLOAT_TILE_GLSL
#define SLUICE_FLOAT_TILE_GLSL

#include "float_rows.glsl"
#include "float_elements.glsl"

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

#endif // SLUICE_FLOAT_TILE_GLSL
