// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the bytes of a tile in a destination whose rows have padding (RegionParams::rowBytes is not
// 0). Regions count *logical* bytes, without the padding: logical byte b of the destination lies at
// byte b / rowBytes * rowPitch + b % rowBytes. A row is a whole number of words.
#ifndef SLUICE_PITCH_GLSL
#define SLUICE_PITCH_GLSL

#include "memory.glsl"

uvec4 gPitch;      // rowBytes, rowPitch, rowMagic, rowShift of RegionParams
uvec2 gPitchRow;   // address of the row in which the tile begins
uint gPitchColumn; // the byte of that row with which the tile begins

// Begins a tile of a destination whose rows have padding. Logical bytes are counted without
// padding. `offset` is the number of the tile's first logical byte, a multiple of 4; `base` is the
// address of the destination, and `pitch` the value for gPitch.
void pitchBegin(uvec4 pitch, uvec2 base, uvec2 offset) {
    // Divides the 64-bit offset by rowBytes. The low word is divided bit by bit; rowBytes is at
    // most 2^30, so twice a remainder fits in 32 bits.
    uvec2 row = uvec2(0u, offset.y / pitch.x);
    uint column = offset.y % pitch.x;
    for (uint i = 0u; i < 32u; i++) {
        column = column << 1 | (offset.x >> (31u - i) & 1u);
        bool more = column >= pitch.x;
        column -= more ? pitch.x : 0u;
        row.x = row.x << 1 | (more ? 1u : 0u);
    }
    gPitch = pitch;
    gPitchRow = add64(base, mul64(row.x, pitch.y) + uvec2(0u, row.y * pitch.y));
    gPitchColumn = column;
}

// Returns the address of logical byte n of the tile, n < 2^30. The four bytes of a logical word are
// neighbours in memory, because a row is a whole number of words.
uvec2 pitchAddress(uint n) {
    uint at = gPitchColumn + n;
    uint row = mul64(at, gPitch.z).y >> gPitch.w;
    return add64(add64(gPitchRow, mul64(row, gPitch.y)), at - row * gPitch.x);
}

#endif // SLUICE_PITCH_GLSL
