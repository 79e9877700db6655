// SPDX-License-Identifier: MIT OR Apache-2.0
// sgExclusiveAddBits and the additive scan on what the test gives, a value an invocation and round.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/memory.glsl"
#include "lib/scan.glsl"

layout(constant_id = 2) const uint kBits = 6;

layout(push_constant, std430) uniform Params
{
    uvec2 values;  // kRounds rows of a workgroup's values, for each workgroup
    uvec2 results; // for each value: the bit scan's sum of those before and its total, and the
                   // additive scan's sum up to here
}
p;

const uint kRounds = 4; // one after the other, for the shared memory of emulated subgroups is used
                        // in turn

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
