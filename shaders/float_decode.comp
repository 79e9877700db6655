// SPDX-License-Identifier: MIT OR Apache-2.0
// Decode of the float codec (docs/format.md): lists of tensors to memory, a lane group of 32 lanes a tile.
//
// A workgroup does consecutive tiles of the list and builds one table for each tensor that it meets.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/float_tile.glsl"

layout(push_constant, std430) uniform Push {
    FloatDecodeParams p;
};

// The tensor of the list, with its output.
void loadTensor(uint index) {
    floatTensor(p.tensors, index, p.source, p.sourceSize);
    uvec2 size = mul64(gFloatCount.x, floatSize());
    size.y += gFloatCount.y * floatSize();
    gFloatGood = gFloatGood && inside64(gFloatOutput, size, p.destination, p.destinationSize);
}

layout(buffer_reference, std430, buffer_reference_align = 8) writeonly buffer PairOut {
    uvec2 v;
};

// Stores the first `count` of 8 elements.
void storeElements(uint words[8], uvec2 target, uint count) {
    uint size = floatSize();
    if (count >= 8u) {
        if (size == 1u)
            PairOut(target).v = uvec2(words[0], words[1]);
        else
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

// The rows of a tile; what is not coded is on its way while a row is decoded. target: of the tile; form: floatForm().
void decodeRows(uvec2 target, uint form) {
    for (uint row = 0u; wgAny(row < gFloatRows); row++) {
        uint at = row * kFloatRow + 8u * lgLane();
        bool inside = at < gFloatElements;
        FloatRaw raw;
        if (!kLockstep || inside) // in step with others it may be that there are no elements
            raw = floatRawOf(form, inside ? at : 0u);
        uvec4 symbols = floatRow(row);
        if (inside)
            storeElements(floatJoin(symbols, raw), add64(target, at * floatSize()), gFloatElements - at);
    }
}

// One tile of the tensor, a lane group each.
void decodeTile(bool enabled, uint tile) {
    uint local = tile - sFloatParts.firstTile;
    floatTile(enabled, local);
    uvec2 target = add64(sFloatParts.output_, mul64(local, kFloatTile * floatSize()));
    if (!kNative)
        decodeRows(target, floatForm());
    else if (wgAny(floatForm() == 0u)) // each of its own: see floatRawOf
        decodeRows(target, 0u);
    else if (wgAny(floatForm() == 1u))
        decodeRows(target, 1u);
    else
        decodeRows(target, 2u);
    floatTileEnd();
    if (enabled && lgLane() == 0u) {
        WordsOut statuses = WordsOut(p.status);
        statuses.w[tile] = gFloatStatus;
        if (gFloatStatus != SLUICE_ST_OK) {
            atomicAdd(statuses.w[p.tileCount], 1u);
            atomicMin(statuses.w[p.tileCount + 1u], tile);
        }
    }
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
            if (gFloatGood)
                floatTable();
            for (; tile < end; tile += kGroupsPerWorkgroup)
                decodeTile(tile + lgIndex() < end, tile + lgIndex());
            tile = end;
        }
        tensor++;
    }
}
