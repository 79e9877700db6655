// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs sgExclusiveAddBits and the additive scan on values of scan_bits_test.cpp, one for each
// invocation and round.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/memory.glsl"
#include "lib/scan.glsl"

layout(constant_id = 2) const uint kBits = 6;

layout(push_constant, std430) uniform Params
{
    uvec2 values; // kRounds rows of values for each workgroup
    // Three words for each value: the sum of those before it and the total, both of the bit scan,
    // and the additive scan's sum up to it.
    uvec2 results;
}
p;

// Several scans follow one another, since emulated subgroups exchange values through two buffers in
// shared memory, in turn: one scan must not disturb the next.
const uint kRounds = 4;

void main()
{
    for (uint round = 0; round < kRounds; round++) {
        uint place = (gl_WorkGroupID.x * kRounds + round) * gl_WorkGroupSize.x + wgInvocation();
        uint value = WordsIn(p.values).w[place], total;
        uint before = sgExclusiveAddBits(value, kBits, total);
        WordsOut results = WordsOut(p.results);
        results.w[3u * place] = before;
        results.w[3u * place + 1u] = total;
        results.w[3u * place + 2u] = sgInclusiveAdd(value);
    }
}
