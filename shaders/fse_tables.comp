// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds FSE tables from descriptions or from counts: kernels/fse_tables.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/fse.glsl"

layout(push_constant, std430) uniform Push { FseTablesParams p; };
#define Params FseTablesParams
#include "lib/region_params.glsl"

// Returns the count of symbol `symbol`. The address `source` has an array of signed 16-bit counts.
int countAt(uvec2 source, uint symbol) {
    uint at = (source.x & 2u) / 2u + symbol;
    uint word = WordsIn(wordOf(source)).w[at >> 1];
    return int(word << 16u * (1u - (at & 1u))) >> 16;
}

// kernels/fse_tables.h calls this to fill a table's states. All symbols are below 2^symbolBits.
void writeStates(FseTable table, bool on, uint symbolBits, uvec2 states) {
    fseStates(table, on, symbolBits, states);
}

#include "lib/kernels/fse_tables.h"

void main() {
    uint workgroup = wgIndex();
    fseTables(p, workgroup * kGroupsPerWorkgroup + lgIndex(), lgIndex(),
              (p.flags & SLUICE_FSE_FLAG_COUNTS) != 0u);
}
