// SPDX-License-Identifier: MIT OR Apache-2.0
// Partial results of the workgroups of a reduction, or of a scan by several dispatches. They are in
// scratch, at the offset where a look-back has its states. A result is a Run (runs.glsl) in two
// words: its value and its head flag, or a 64-bit value.
#ifndef SLUICE_PARTIALS_GLSL
#define SLUICE_PARTIALS_GLSL

#include "layout/lookback.h"
#include "memory.glsl"
#include "runs.glsl"

layout(buffer_reference, std430, buffer_reference_align = 8) buffer Partials {
    coherent uvec2 pair[];
};

Run loadPartial(uvec2 scratch, uint index) {
    uvec2 words = Partials(add64(scratch, SLUICE_LOOKBACK_HEAD)).pair[index];
#ifdef SLUICE_VALUE64
    return Run(words, false);
#else
    return Run(words.x, words.y != 0u);
#endif
}

void storePartial(uvec2 scratch, uint index, Run run) {
#ifdef SLUICE_VALUE64
    uvec2 words = run.value;
#else
    uvec2 words = uvec2(run.value, run.head ? 1u : 0u);
#endif
    Partials(add64(scratch, SLUICE_LOOKBACK_HEAD)).pair[index] = words;
}

#endif // SLUICE_PARTIALS_GLSL
