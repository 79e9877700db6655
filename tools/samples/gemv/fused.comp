// SPDX-License-Identifier: MIT OR Apache-2.0
// y = W x for an encoded matrix W. A lane group decodes a tile of 8,192 weights and multiplies them
// at once, so decoded weights are never written to memory. A tile has parts of one or more rows of
// the matrix. The sum of each part goes to `sums`, and sum.comp adds up the sums of each row.
//
// Lane groups take tiles from a counter until none are left. So a workgroup builds its decoding
// table only once, no lane group waits for a slower one, and workgroups that start late end at
// once. The sums of a tile do not depend on which lane group takes it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/float_tile.glsl"
#include "lib/loops.glsl"
#include "product.glsl"

const uint kMaxTiles = 64u; // most tiles of a lane group; the dispatch has enough groups

shared uint sTaken;

// Returns the number of a tile that no other lane group (32 lanes that decode together) takes.
uint takeTile()
{
    uint tile = 0u;
    if (lgLane() == 0u) tile = atomicAdd(WordsOut(p.counters).w[0], 1u);
    lgShare(tile);
    return lgShared(0u);
}

void multiplyTile(uint tile)
{
    floatTile(tile < p.tiles, tile);
    // `column` is the matrix column of the first of the lane's next 8 weights.
    uint first = tile * kFloatTile, column = (first + 8u * lgLane()) % p.columns;
    // The elements begin .. end - 1 of the tile belong to the current row of the matrix. The sum of
    // their products goes to `target`.
    uint begin = 0u, end = p.columns - first % p.columns;
    uvec2 target = add64(p.sums, mul64(tile, 4u * p.sumsPerTile));
    vec2 sums = vec2(0.0);
    for (uint row = 0u; wgAny(row < gFloatRows); row++) {
        uint at = row * kFloatRow + 8u * lgLane();
        bool inside = at < gFloatElements;
        uvec2 raw = uvec2(0u);
        // This load is under way while floatRow decodes.
        if (inside) raw = floatRawBytes(32u * row + lgLane());
        uvec4 symbols = floatRow(kFloatBf16, row);
        vec2 products = vec2(0.0);
        if (inside) products = multiplyAdd(floatBf16(symbols, raw), column, products);
        column += kFloatRow;
        column -= column >= p.columns ? p.columns : 0u;

        // Inside these 256 weights, rows of the matrix may end, and the tile may end. All 8 weights
        // of a lane belong to one row of the matrix, because columns is a multiple of 8.
        uint stop = (row + 1u) * kFloatRow;
        for (;;) {
            bool ends = begin < gFloatElements && min(end, gFloatElements) <= stop, mine = at < end;
            if (!wgAny(ends)) break;
            vec2 part = sums + mix(vec2(0.0), products, bvec2(mine));
            float sum = groupSum(part.x + part.y);
            if (ends) {
                if (lgLane() == 0u) Floats(target).f[0] = sum;
                target = add64(target, 4u);
                sums = vec2(0.0);
                products = mix(products, vec2(0.0), bvec2(mine));
                begin = end;
                end += p.columns;
            }
        }
        sums += products;
    }
    floatTileEnd();
    if (tile < p.tiles && lgLane() == 0u && gFloatStatus != SLUICE_ST_OK)
        atomicAdd(WordsOut(p.counters).w[1], 1u);
}

void main()
{
    if (wgInvocation() == 0u) sTaken = atomicOr(WordsOut(p.counters).w[0], 0u);
    wgBarrierShared();
    if (sTaken >= p.tiles) return;
    floatTensor(p.tensor, 0u, p.source, p.sourceSize);
    gFloatGood =
        gFloatGood && gFloatType == kFloatBf16 && gFloatCount == uvec2(p.rows * p.columns, 0u);
    if (gFloatGood) floatTable();
    for (uint i = 0u; i < kMaxTiles; ++i) {
        uint tile = takeTile();
        if (!wgAny(tile < p.tiles)) break;
        multiplyTile(tile);
    }
}
