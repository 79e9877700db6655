// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes lists of float-codec tensors (docs/format.md, section 6) to memory, one tile per lane
// group. A workgroup decodes consecutive tiles of the list and builds a table for each tensor that
// it reaches.
//
// src/cuda/float_decode.cu does the same, but has costly steps in PTX and prefetches the tiles of
// short lists.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/loops.glsl"
#include "lib/float_tile.glsl"

layout(push_constant, std430) uniform Push { FloatDecodeParams p; };

// Reads a tensor of the list, and checks its output.
void loadTensor(uint index) {
    floatTensor(p.tensors, index, p.source, p.sourceSize);
    uvec2 size = mul64(gFloatCount.x, floatSize(gFloatType));
    size.y += gFloatCount.y * floatSize(gFloatType);
    gFloatGood = gFloatGood && inside64(gFloatOutput, size, p.destination, p.destinationSize);
}

// Stores 8 elements; `target` is the address of the tile's output.
void storeEight(uint type, uint words[8], uvec2 target, uint eight) {
    uint size = floatSize(type);
    if (size == 1u) PairsOut(target).v[eight] = uvec2(words[0], words[1]);
    if (size == 2u) UnitsOut(target).v[eight] = uvec4(words[0], words[1], words[2], words[3]);
    if (size == 4u) {
        UnitsOut(target).v[2u * eight] = uvec4(words[0], words[1], words[2], words[3]);
        UnitsOut(target).v[2u * eight + 1u] = uvec4(words[4], words[5], words[6], words[7]);
    }
}

// Stores the first `count` of 8 elements. Only the last row of a tensor needs it, so the words are
// stored in a loop that is not unrolled.
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

// Decodes and stores the rows of a tile. Bits that are not coded are loaded before a row is
// decoded.
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

// Decodes a tile of the tensor for each lane group.
void decodeTile(bool enabled, uint tile) {
    uint local = tile - sFloatParts.firstTile;
    floatTile(enabled, local);
    uvec2 target = add64(sFloatParts.output_, mul64(local, kFloatTile * floatSize(gFloatType)));
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU) // compilation takes long enough already
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

uint firstTileOf(uint tensor) {
    uvec2 entry = add64(p.tensors, mul64(tensor, SLUICE_FLOAT_TENSOR_WORDS * 4u));
    return tensor < p.tensorCount ? min(WordsIn(entry).w[15], p.tileCount) : p.tileCount;
}

void main() {
    uint workgroup = wgIndex();
    uint begin = min(workgroup * p.tilesPerWorkgroup, p.tileCount);
    uint stop = min(begin + p.tilesPerWorkgroup, p.tileCount);

    // Finds the last tensor that begins at or before the first tile.
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
    // Each iteration decodes all of a tensor's tiles, or advances to the next tensor if it has none
    // here.
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
