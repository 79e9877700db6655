// SPDX-License-Identifier: MIT OR Apache-2.0
// Decode of the float codec (docs/format.md): lists of tensors to memory, a lane group of 32 lanes a tile.
//
// A workgroup does consecutive tiles of the list and builds one table for each tensor that it meets.
#version 460
#extension GL_GOOGLE_include_directive : require
#if !defined(FL_TWO) || defined(SLUICE_NARROW) || defined(SLUICE_EMU)
#undef SLUICE_FLOAT_TWO
#else
#define SLUICE_FLOAT_TWO
#endif
#include "lib/float_tile.glsl"

layout(push_constant, std430) uniform Push {
    FloatDecodeParams p;
};

// The tensor of the list, with its output.
void loadTensor(uint index) {
    floatTensor(p.tensors, index, p.source, p.sourceSize);
    uvec2 size = mul64(gFloatCount.x, floatSize(gFloatType));
    size.y += gFloatCount.y * floatSize(gFloatType);
    gFloatGood = gFloatGood && inside64(gFloatOutput, size, p.destination, p.destinationSize);
}

// Stores 8 elements. target: of the tile.
void storeEight(uint type, uint words[8], uvec2 target, uint eight) {
    uint size = floatSize(type);
    if (size == 1u)
        PairsOut(target).v[eight] = uvec2(words[0], words[1]);
    if (size == 2u)
        UnitsOut(target).v[eight] = uvec4(words[0], words[1], words[2], words[3]);
    if (size == 4u) {
        UnitsOut(target).v[2u * eight] = uvec4(words[0], words[1], words[2], words[3]);
        UnitsOut(target).v[2u * eight + 1u] = uvec4(words[4], words[5], words[6], words[7]);
    }
}

// The first `count` of 8.
void storeSome(uint type, uint words[8], uvec2 target, uint eight, uint count) {
    uint size = floatSize(type), bytes = count * size;
    target = add64(target, 8u * size * eight);
    [[unroll]] for (uint i = 0u; i < 8u; ++i)
        if (4u * i < bytes)
            storeWord(add64(target, 4u * i), words[i], 0u, min(bytes - 4u * i, 4u));
}

// The rows of a tile; what is not coded is on its way while a row is decoded. target: of the tile.
void decodeRows(uint type, uvec2 target) {
    [[dont_unroll]] for (uint row = 0u; wgAny(row < gFloatRows); row++) {
        uint eight = 32u * row + lgLane();
        bool inside = 8u * eight < gFloatElements;
        FloatRaw raw = FloatRaw(uvec4(0u), uvec2(0u), 0u);
        if (inside)
            raw = floatRaw(type, eight);
        uvec4 symbols = floatRow(type, row);
        uint count = gFloatElements - 8u * eight;
        if (inside && count >= 8u)
            storeEight(type, floatJoin(type, symbols, raw), target, eight);
        else if (inside)
            storeSome(type, floatJoin(type, symbols, raw), target, eight, count);
    }
}

// The same for a whole tile, of which a subgroup does nothing else.
void decodeWhole(uint type, uvec2 target) {
    const uint rows = kFloatTile / kFloatRow;
    [[dont_unroll]] for (uint row = 0u; row < rows - 1u; row++) {
        uint eight = 32u * row + lgLane();
        FloatRaw raw = floatRaw(type, eight);
        storeEight(type, floatJoin(type, floatPairRow(type, true), raw), target, eight);
    }
    uint eight = 32u * (rows - 1u) + lgLane();
    FloatRaw raw = floatRaw(type, eight);
    storeEight(type, floatJoin(type, floatLastRow(type, true), raw), target, eight);
}

// The status of a tile.
void report(uint tile) {
    if (lgLane() == 0u) {
        WordsOut statuses = WordsOut(p.status);
        statuses.w[tile] = gFloatStatus;
        if (gFloatStatus != SLUICE_ST_OK) {
            atomicAdd(statuses.w[p.tileCount], 1u);
            atomicMin(statuses.w[p.tileCount + 1u], tile);
        }
    }
}

#ifdef SLUICE_FLOAT_TWO

// Two whole tiles. target: of the first one.
void decodeTwo(uint type, uvec2 target, uint tile) {
    const uint eights = kFloatTile / 8u; // of a tile
    uint eight = lgLane();
    [[dont_unroll]] for (uint row = 1u; row < kFloatTile / kFloatRow; row++) {
        FloatRaw first = floatRaw(type, eight), second = floatRaw(type, eight + eights);
        uvec4 rowOfFirst, rowOfSecond;
        floatTwoRows(type, rowOfFirst, rowOfSecond);
        storeEight(type, floatJoin(type, rowOfFirst, first), target, eight);
        storeEight(type, floatJoin(type, rowOfSecond, second), target, eight + eights);
        eight += 32u;
    }
    [[dont_unroll]] for (uint last = tile + 2u; wgAny(tile < last); tile++) {
        FloatRaw raw = floatRaw(type, eight);
        storeEight(type, floatJoin(type, floatLastRow(type, true), raw), target, eight);
        gFloatRows = 32u;
        floatTileEnd();
        report(tile);
        floatNextOfTwo();
        eight += eights;
    }
}

// Two tiles if both are whole; else false.
bool decodedTwo(bool enabled, uint tile) {
    uint local = tile - sFloatParts.firstTile, type = sFloatParts.type;
    bool two = floatTwoTiles(enabled && type < kFloatBytes, local);
    uvec2 target = add64(sFloatParts.output_, mul64(local, kFloatTile * floatSize(type)));
    if (wgAny(two && type == kFloatBf16))
        decodeTwo(kFloatBf16, target, tile);
    if (wgAny(two && type == kFloatF16))
        decodeTwo(kFloatF16, target, tile);
    if (wgAny(two && type == kFloatF32))
        decodeTwo(kFloatF32, target, tile);
    if (wgAny(two && type == kFloatE4m3))
        decodeTwo(kFloatE4m3, target, tile);
    if (wgAny(two && type == kFloatE5m2))
        decodeTwo(kFloatE5m2, target, tile);
    return two;
}

#endif

// What is known of the workgroup's work is in shared memory meanwhile: the registers are for the rows.
shared uint sStop, sTensor, sTensorEnd, sTensorGood; // the tiles' end; the next tensor, and what is known of the one before

// One tile of the tensor, a lane group each.
void decodeTile(bool enabled, uint tile) {
    uint local = tile - sFloatParts.firstTile, type = sFloatParts.type;
    gFloatGood = sTensorGood != 0u;
    floatTile(enabled, local);
    uvec2 target = add64(sFloatParts.output_, mul64(local, kFloatTile * floatSize(type)));
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU) // other compilers take long enough as it is
    decodeRows(type, target);
#else
    // Code of its own for each type, for whole tiles; another one for all others.
    bool whole = kNative && gFloatElements == kFloatTile;
#ifdef SLUICE_FLOAT_TWO
    whole = false;
#else
    if (wgAny(whole && type == kFloatBf16))
        decodeWhole(kFloatBf16, target);
    if (wgAny(whole && type == kFloatF16))
        decodeWhole(kFloatF16, target);
    if (wgAny(whole && type == kFloatF32))
        decodeWhole(kFloatF32, target);
    if (wgAny(whole && type == kFloatE4m3))
        decodeWhole(kFloatE4m3, target);
    if (wgAny(whole && type == kFloatE5m2))
        decodeWhole(kFloatE5m2, target);
    if (wgAny(whole && type == kFloatE4m3Dense))
        decodeWhole(kFloatE4m3Dense, target);
    if (wgAny(whole && type == kFloatBytes))
        decodeWhole(kFloatBytes, target);
#endif
    if (wgAny(!whole))
        decodeRows(type, target);
#endif
    floatTileEnd();
    if (enabled)
        report(tile);
}

uint firstTileOf(uint tensor) {
    uvec2 entry = add64(p.tensors, mul64(tensor, SLUICE_FLOAT_TENSOR_WORDS * 4u));
    return tensor < p.tensorCount ? min(WordsIn(entry).w[15], p.tileCount) : p.tileCount;
}

void main() {
    uint workgroup = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x;
    uint begin = min(workgroup * p.tilesPerWorkgroup, p.tileCount);
    uint stop = min(begin + p.tilesPerWorkgroup, p.tileCount);

    // The last tensor that begins at or before the first tile.
    uint tensor = 0u, count = p.tensorCount;
    for (uint step = 0u; step < 21u && count > 1u; step++) {
        uint half_ = count / 2u;
        if (half_ != 0u && firstTileOf(tensor + half_) <= begin) {
            tensor += half_;
            count -= half_;
        } else if (half_ != 0u) {
            count = half_;
        }
    }
    if (wgInvocation() == 0u) {
        sStop = stop;
        sTensor = tensor;
        sTensorEnd = begin;
    }
    wgBarrierShared();
    // Each pass of the loop does a tensor's tiles, at least one, or goes on to the next tensor.
    while (sTensorEnd < sStop) {
        uint tile = sTensorEnd, end = sStop;
        tensor = sTensor;
        if (tensor + 1u < p.tensorCount)
            end = min(max(firstTileOf(tensor + 1u), tile), end);
        wgBarrierShared(); // all have read that
        if (wgInvocation() == 0u) {
            sTensor = tensor + 1u;
            sTensorEnd = end;
        }
        if (end > tile) {
            loadTensor(tensor);
            if (wgInvocation() == 0u)
                sTensorGood = gFloatGood ? 1u : 0u;
            if (gFloatGood)
                floatTable();
        }
        wgBarrierShared();
#ifdef SLUICE_FLOAT_TWO
        if (kNative && p.tilesPerWorkgroup >= 2u * kGroupsPerWorkgroup) // enough tiles for all that can run at once
            for (; tile < sTensorEnd; tile += 2u * kGroupsPerWorkgroup) {
                uint own = tile + 2u * lgIndex();
                gFloatGood = sTensorGood != 0u;
                if (!decodedTwo(own + 1u < sTensorEnd, own))
                    [[dont_unroll]] for (uint last = own + 2u; wgAny(own < last); own++)
                        decodeTile(own < sTensorEnd, own);
            }
#endif
        for (; tile < sTensorEnd; tile += kGroupsPerWorkgroup)
            decodeTile(tile + lgIndex() < sTensorEnd, tile + lgIndex());
    }
}
