// SPDX-License-Identifier: MIT OR Apache-2.0
// Tiles of scans and reductions: loads, stores, and the *keys* that elements become.
//
// An invocation has kRows rows of a tile, each 16 neighbouring bytes; the rows with the same number
// of all lanes of a subgroup are one range of memory. All minima and maxima are computed as maxima
// of unsigned keys. Keys have the order of the values of the type, or, for a minimum, the reverse
// order.
#ifndef SLUICE_SCAN_TILE_GLSL
#define SLUICE_SCAN_TILE_GLSL

#include "loops.glsl"
#include "runs.glsl"

layout(push_constant, std430) uniform Push { ScanParams p; };

#ifdef SLUICE_VALUE64
const uint kPerRow = 2u; // elements that an invocation has in a row
#else
const uint kPerRow = 4u;
#endif
#ifdef SLUICE_SCAN_RING
const uint kRows = SLUICE_SCAN_RING_ROWS;
#else
const uint kRows = SLUICE_SCAN_PER_INVOCATION / kPerRow;
#endif
const uint kTile = kRows * kPerRow * gl_WorkGroupSize.x;
const uint kValueBytes = 16u / kPerRow;

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer VectorsIn {
    uvec4 v[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer VectorsOut {
    uvec4 v[];
};

struct Row {
    Value x[kPerRow];
};

// The lowest key of f32: that of minus infinity for a maximum, of infinity for a minimum.
const uint kLowestKey = 0x007fffffu;

// Returns all ones if elements are f32, otherwise 0. With this mask, keys are computed without
// branches: a branch for each element made up half of the code of a maximum.
uint floatMask() { return p.isFloat != 0u ? ~0u : 0u; }

// Returns the key of an element; the maximum of all keys, compared as unsigned numbers, gives the
// result. A NaN has the lowest key, so that it is ignored.
Value encode(Value bits) {
#ifdef SLUICE_VALUE64
    return bits ^ p.flip;
#else
    uint key = bits ^ ((uint(int(bits) >> 31) | 0x80000000u) & floatMask()) ^ p.flip;
    bool isNan = (bits & 0x7fffffffu) > (0x7fffffffu ^ (0x007fffffu & floatMask()));
    return isNan ? kLowestKey : key;
#endif
}

// Returns the element that has the key `key`.
Value decode(Value key) {
#ifdef SLUICE_VALUE64
    return key ^ p.flip;
#else
    key = max(key, kLowestKey & floatMask()) ^ p.flip;
    return key ^ ((uint(~int(key) >> 31) | 0x80000000u) & floatMask());
#endif
}

uint elementCount() { return countOf(p.countBuffer, p.maxCount); }

// A tile of the input. It has an address of its own, from which lanes use small indices: byte
// offsets from the start of the input may need more than 32 bits, and an index above 2^31 would
// count as negative.
struct Tile {
    uvec2 input_;
    uint index;
    uint size;
    bool wide; // the tile is whole, and all of its memory is 16-byte aligned
};

// Returns tile `index` of an input of `count` elements; tiles past the end are empty.
Tile tileAt(uint index, uint count) {
    uvec2 offset = mul64(index, kTile * kValueBytes);
    uint start = index * kTile;
    Tile tile;
    tile.input_ = add64(p.input_, offset);
    tile.index = index;
    tile.size = start < count ? min(count - start, kTile) : 0u;
    tile.wide = sgUniform(tile.size == kTile && ((p.input_.x | p.output_.x) & 15u) == 0u);
    return tile;
}

uint tileCount(uint count) { return count / kTile + (count % kTile != 0u ? 1u : 0u); }

// Returns the index in the tile of this invocation's first element of a row.
uint rowStart(uint row) {
    return (sgIndex() * kRows + row) * (kSubgroupSize * kPerRow) + sgLane() * kPerRow;
}

Value loadValue(uvec2 base, uint index) {
#ifdef SLUICE_VALUE64
    return uvec2(WordsIn(base).w[2u * index], WordsIn(base).w[2u * index + 1u]);
#else
    return WordsIn(base).w[index];
#endif
}
void storeValue(uvec2 base, uint index, Value value) {
#ifdef SLUICE_VALUE64
    WordsOut(base).w[2u * index] = value.x;
    WordsOut(base).w[2u * index + 1u] = value.y;
#else
    WordsOut(base).w[index] = value;
#endif
}

Row encodeRow(Row row) {
    if (kOperation == SLUICE_SCAN_OP_MAX) {
        SLUICE_UNROLL
        for (uint i = 0u; i < kPerRow; i++)
            row.x[i] = encode(row.x[i]);
    }
    return row;
}

// Loads this invocation's elements of a row of a wide tile as keys; `at` is the first one's index.
Row wideRow(uvec2 base, uint at) {
    uvec4 v = VectorsIn(base).v[at / kPerRow];
    Row row;
#ifdef SLUICE_VALUE64
    row.x[0] = v.xy;
    row.x[1] = v.zw;
#else
    row.x[0] = v.x;
    row.x[1] = v.y;
    row.x[2] = v.z;
    row.x[3] = v.w;
#endif
    return encodeRow(row);
}

// Loads this invocation's elements of a row. Elements past the end of the tile are the identity.
Row loadRow(Tile tile, uint row) {
    uint at = rowStart(row);
    Row result;
    if (tile.wide) {
        result = wideRow(tile.input_, at);
    } else {
        SLUICE_UNROLL
        for (uint i = 0u; i < kPerRow; i++)
            result.x[i] = at + i < tile.size ? loadValue(tile.input_, at + i) : kIdentity;
        result = encodeRow(result);
        SLUICE_UNROLL
        for (uint i = 0u; i < kPerRow; i++)
            result.x[i] = at + i < tile.size ? result.x[i] : kIdentity;
    }
    return result;
}

Row decodeRow(Row row) {
    if (kOperation == SLUICE_SCAN_OP_MAX) {
        SLUICE_UNROLL
        for (uint i = 0u; i < kPerRow; i++)
            row.x[i] = decode(row.x[i]);
    }
    return row;
}

void storeWide(uvec2 base, uint at, Row row) {
#ifdef SLUICE_VALUE64
    VectorsOut(base).v[at / kPerRow] = uvec4(row.x[0], row.x[1]);
#else
    VectorsOut(base).v[at / kPerRow] = uvec4(row.x[0], row.x[1], row.x[2], row.x[3]);
#endif
}

void storeRow(Tile tile, uvec2 target, uint row, Row values) {
    uint at = rowStart(row);
    if (tile.wide) {
        storeWide(target, at, values);
    } else {
        SLUICE_UNROLL
        for (uint i = 0u; i < kPerRow; i++)
            if (at + i < tile.size) storeValue(target, at + i, values.x[i]);
    }
}

// Returns the head flags of the elements of tile `tile` from element `at` on, the first one in bit
// 0. A flag is set if a segment begins with the element. A tile's flags are a whole number of
// words, so they can be addressed tile by tile.
uint headsAt(uint tile, uint at) {
    return WordsIn(add64(p.heads, mul64(tile, kTile / 8u))).w[at >> 5] >> (at & 31u);
}

// Returns the head flags of this invocation's elements in a row.
uint rowHeads(Tile tile, uint row) {
    uint at = rowStart(row);
    return kSegmented && at < tile.size ? headsAt(tile.index, at) : 0u;
}

// Combines this invocation's elements of a row. `heads` has their head flags.
Run rowRun(Row row, uint heads) {
    Run run = kNoRun;
    SLUICE_UNROLL
    for (uint i = 0u; i < kPerRow; i++)
        run = join(run, Run(row.x[i], (heads >> i & 1u) != 0u));
    return run;
}

// This invocation's elements of a tile.
struct Elements {
    Row rows[kRows];
    uint heads[kRows];
};

Elements loadElements(Tile tile) {
    Elements e;
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++) {
        e.rows[row] = loadRow(tile, row);
        e.heads[row] = rowHeads(tile, row);
    }
    return e;
}

// Loads this invocation's elements of a wide tile.
Elements loadWide(uint index) {
    uvec2 base = add64(p.input_, mul64(index, kTile * kValueBytes));
    Elements e;
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++) {
        e.rows[row] = wideRow(base, rowStart(row));
        e.heads[row] = kSegmented ? headsAt(index, rowStart(row)) : 0u;
    }
    return e;
}

// Returns the result of sgInclusiveRun for each row. If a scan takes several steps of shuffles, all
// rows do each step together, so that their shuffles are in flight at the same time.
Run[kRows] sgInclusiveRows(Run runs[kRows]) {
#ifndef SLUICE_EMU
#ifdef SLUICE_VALUE64
    const bool steps = true;
#else
    const bool steps = kSegmented;
#endif
    if (steps) {
        uint reaches[kRows];
        SLUICE_UNROLL
        for (uint row = 0u; row < kRows; row++)
            reaches[row] = sgReach(runs[row].head, runs[row].head);
        SLUICE_DONT_UNROLL
        for (uint step_ = 1u; step_ < kSubgroupSize; step_ <<= 1) {
            SLUICE_UNROLL
            for (uint row = 0u; row < kRows; row++)
                runs[row].value = sgStep(runs[row].value, step_, reaches[row]);
        }
        return runs;
    }
#endif
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++)
        runs[row] = sgInclusiveRun(runs[row]);
    return runs;
}

// Combines the elements of a tile; the whole workgroup calls this. It loads one row after the
// other, which is slower but saves registers, because it is rarely called.
Run tileRun(Tile tile) {
    Run run = kNoRun, total;
    SLUICE_DONT_UNROLL
    for (uint row = 0u; row < kRows; row++)
        run = join(run, sgJoinedRun(rowRun(loadRow(tile, row), rowHeads(tile, row))));
    wgRunsBefore(run, total);
    return total;
}

#endif // SLUICE_SCAN_TILE_GLSL
