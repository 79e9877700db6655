// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes tensors of the float codec (docs/format.md, section 6) to memory. A lane group decodes a
// tile (8,192 elements); a workgroup takes neighbouring tiles of the list and builds a table for
// each tensor that it reaches. lib/float_tile.glsl and the files that it includes have the decoder.
//
// src/cuda/float_decode.cu is the same decoder in CUDA. It also has its costly steps in PTX, and
// prefetches the tiles of short lists.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/loops.glsl"
#include "lib/float_tile.glsl"

layout(push_constant, std430) uniform Push { FloatDecodeParams p; };

// Reads tensor `index` of the list. Sets gFloatGood if it is valid and its output has room.
void loadTensor(uint index) {
    floatTensor(p.tensors, index, p.source, p.sourceSize);
    uvec2 size = mul64(gFloatCount.x, floatSize(gFloatType));
    size.y += gFloatCount.y * floatSize(gFloatType);
    gFloatGood = gFloatGood && inside64(gFloatOutput, size, p.destination, p.destinationSize);
}

// Stores a lane's 8 elements, whose bytes fill the first words of `words`. `target` is the address
// of the tile's output; `eight` is the number of the first element in the tile, divided by 8.
void storeEight(uint type, uint words[8], uvec2 target, uint eight) {
    uint size = floatSize(type);
    if (size == 1u) PairsOut(target).v[eight] = uvec2(words[0], words[1]);
    if (size == 2u) UnitsOut(target).v[eight] = uvec4(words[0], words[1], words[2], words[3]);
    if (size == 4u) {
        UnitsOut(target).v[2u * eight] = uvec4(words[0], words[1], words[2], words[3]);
        UnitsOut(target).v[2u * eight + 1u] = uvec4(words[4], words[5], words[6], words[7]);
    }
}

// Does what storeEight does, but stores only the first `count` of the 8 elements. Only the last row
// of a tensor needs this, so the loop over words is not unrolled.
void storeSome(uint type, uint words[8], uvec2 target, uint eight, uint count) {
    uint size = floatSize(type), bytes = count * size;
    target = add64(target, 8u * size * eight);
    SLUICE_DONT_UNROLL
    for (uint at = 0u; at < bytes; at += 4u) {
        storeWord(add64(target, at), words[0], 0u, min(bytes - at, 4u));
        SLUICE_UNROLL
        for (uint i = 0u; i < 7u; ++i)
            words[i] = words[i + 1u];
    }
}

// Decodes the rows of a tile and stores them. The bits of a row that are not coded are loaded
// before the row's codes are decoded, so that the loads overlap with the decoding.
void decodeRows(uint type, uvec2 target) {
    uint row = 0u;
    if (kNative) {
        SLUICE_DONT_UNROLL
        for (; wgAny(row + kFloatTailRows < gFloatRows); row++) {
            FloatRaw raw = floatRawOfRow(type, row);
            storeEight(type, floatJoin(type, floatWholeRow(type, true), raw), target,
                       32u * row + lgLane());
        }
        floatTailBegin(row != 0u);
    }
    SLUICE_DONT_UNROLL
    for (; wgAny(row < gFloatRows); row++) {
        uint eight = 32u * row + lgLane();
        bool inside = 8u * eight < gFloatElements;
        FloatRaw raw = floatNoRaw();
        if (inside) raw = floatRaw(type, eight);
        uvec4 symbols = kNative ? floatTailRow(type, true) : floatRow(type, row);
        uint count = gFloatElements - 8u * eight;
        if (inside && count >= 8u)
            storeEight(type, floatJoin(type, symbols, raw), target, eight);
        else if (inside)
            storeSome(type, floatJoin(type, symbols, raw), target, eight, count);
    }
}

// Decodes tile `tile` of the list, which belongs to the tensor that was loaded. Each lane group
// decodes a tile of its own.
void decodeTile(bool enabled, uint tile) {
    uint local = tile - sFloatParts.firstTile;
    floatTile(enabled, local);
    uvec2 target = add64(sFloatParts.output_, mul64(local, kFloatTile * floatSize(gFloatType)));
// In the variants for small and for emulated subgroups, all types share one copy of the code,
// because each copy takes long to compile.
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
    decodeRows(gFloatType, target);
#else
    if (wgAny(gFloatType == kFloatBf16))
        decodeRows(kFloatBf16, target);
    else if (wgAny(gFloatType == kFloatF16))
        decodeRows(kFloatF16, target);
    else if (wgAny(gFloatType == kFloatF32))
        decodeRows(kFloatF32, target);
    else if (wgAny(gFloatType == kFloatE4m3))
        decodeRows(kFloatE4m3, target);
    else if (wgAny(gFloatType == kFloatE5m2))
        decodeRows(kFloatE5m2, target);
    else if (wgAny(gFloatType == kFloatE4m3Dense))
        decodeRows(kFloatE4m3Dense, target);
    else
        decodeRows(kFloatBytes, target);
#endif
    floatTileEnd();
    if (!lgLoopsGoOn()) gFloatStatus = SLUICE_ST_INTERNAL;
    if (enabled && lgLane() == 0u) writeStatus(p.status, p.tileCount, tile, gFloatStatus);
}

// Returns the first tile of a tensor in the list.
uint firstTileOf(uint tensor) {
    uvec2 entry = add64(p.tensors, mul64(tensor, SLUICE_FLOAT_TENSOR_WORDS * 4u));
    return tensor < p.tensorCount ? min(WordsIn(entry).w[15], p.tileCount) : p.tileCount;
}

void main() {
    uint workgroup = wgIndex();
    uint begin = min(workgroup * p.tilesPerWorkgroup, p.tileCount);
    uint stop = min(begin + p.tilesPerWorkgroup, p.tileCount);

    // Finds the last tensor that begins at or before the workgroup's first tile (binary search).
    uint tensor = 0u, count = p.tensorCount;
    for (uint step = 0u; step < 21u && count > 1u; step++) {
        uint middle = count / 2u;
        if (middle != 0u && firstTileOf(tensor + middle) <= begin) {
            tensor += middle;
            count -= middle;
        } else if (middle != 0u) {
            count = middle;
        }
    }
    // Each iteration decodes all tiles that this workgroup has of a tensor, which may be none.
    for (uint tile = begin; tile < stop;) {
        uint next = tensor + 1u < p.tensorCount ? max(firstTileOf(tensor + 1u), tile) : stop,
             end = min(next, stop);
        if (end > tile) {
            loadTensor(tensor);
            if (gFloatGood) floatTable();
            for (; tile < end; tile += kGroupsPerWorkgroup)
                decodeTile(tile + lgIndex() < end, tile + lgIndex());
            tile = end;
        }
        tensor++;
    }
}
