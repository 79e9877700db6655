// SPDX-License-Identifier: MIT OR Apache-2.0
// Checksums of decoded tiles: kernels/checksum.h, with one lane group for each tile.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"
#include "lib/layout/regions.h"
#include "lib/pitch.glsl"

layout(push_constant, std430) uniform Push { RegionParams p; };
#define Params RegionParams
#include "lib/region_params.glsl"

// The tile that kernels/checksum.h reads; `pitched` says whether its rows have padding
// (lib/pitch.glsl). Every call below that makes a Tile passes a literal for `pitched`, so that the
// compiler removes the branches on it.
struct Tile {
    uvec2 address;
    bool pitched;
};

Tile linearTile(RegionParams p, uvec2 address) { return Tile(address, false); }

Tile pitchedTile(RegionParams p, uvec2 address) {
    pitchBegin(uvec4(p.rowBytes, p.rowPitch, p.rowMagic, p.rowShift), p.destination,
               sub64(address, p.destination));
    return Tile(address, true);
}

uint tileWord(Tile tile, uint at) {
    if (tile.pitched) return WordsIn(pitchAddress(at)).w[0];
    return WordsIn(tile.address).w[at / 4u];
}

// Returns byte `at` of the tile. Without 8-bit storage, the word that contains it is loaded.
uint tileByte(Tile tile, uint at) {
#ifdef SLUICE_EXT
    return uint(BytesOut(tile.pitched ? pitchAddress(at) : add64(tile.address, at)).b[0]);
#else
    return tileWord(tile, at & ~3u) >> (8u * (at & 3u)) & 0xffu;
#endif
}

#include "lib/kernels/checksum.h"

void main() {
    uint group = wgIndex();
    checksumTile(p, group * kGroupsPerWorkgroup + lgIndex());
}
