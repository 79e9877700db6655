// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes a tile of the float codec (docs/format.md, section 6) into registers, by a lane group of
// 32 lanes: for float_decode.comp, and for shaders of your own that use weights where they decode
// them.
//
// Include it before anything else; GL_GOOGLE_include_directive must be on. It brings memory.glsl
// and lanes.glsl, which says what forms a lane group has, where its calls may stand, and that the
// pipeline sets two specialization constants (0: workgroup size, 1: subgroup size). Compile a
// variant for each form that you need, as SluiceContextInfo tells: SLUICE_EMU defined for the tiers
// emu4 .. emu128, else SLUICE_NARROW for subgroups smaller than 32, else neither; SLUICE_INT64
// where the device has shaderInt64 enabled and shifts 64 bits fast (NVIDIA's do). All pipelines but
// the emulated ones require full subgroups of that size. A workgroup is a multiple of 32 and of the
// subgroup size, up to 1,024, the larger the fewer tables; 32 in the narrow form, max(32, subgroup
// size) in the emulated one.
//
// It takes 17,808 bytes of shared memory; then 768 for each 32 invocations in the native and wide
// forms (42,384 at 1,024), 8 * workgroup size + 1,024 / subgroup size in the narrow one, 24 *
// workgroup size in the emulated one.
//
// Call in this order:
//   floatTensor(list, index, source, sourceSize)
//                    the whole workgroup, with what is the same for it: reads SluiceFloatTensor
//                    `index` of the list and sets gFloatGood, gFloatCount, gFloatType,
//                    gFloatOutput, gFloatFirstTile
//   floatTable()     the whole workgroup, if gFloatGood: builds the table of the tensor's code.
//                    gFloatGood does not change behind it; a shader that takes only one type clears
//                    it before
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
// For each row, every lane whose first element is below gFloatElements may call these on its own;
// `eight` is 32 row + lgLane():
//   floatBf16(symbols, floatRawBytes(eight)) 8 numbers of a bf16 tensor, two a word, the first in
//   the low half
//   floatJoin(type, symbols, floatRaw(type, eight)) 8 numbers of any type, as they lie in memory,
//   floatSize(type) bytes each
// The raw bits may be loaded before the row is decoded, to hide their latency.
//
// type: gFloatType. A constant that is known to equal it is better, because then the code of a row
// has no branches.
//
// Hostile input: whatever the tensor, its index, lengths and words say, nothing is read outside
// [source, source + sourceSize) but the list's entry. A tile has at most 32 rows, and a row's work
// is bounded. Numbers of a tile whose status is not OK are unspecified. floatTensor does not check
// whether the output lies in a buffer.
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
