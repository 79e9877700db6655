// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes the bytes of Zstandard regions that are not large: kernels/zstd_expand.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compat.glsl"
#include "lib/layout/zstd.h"

// 1 if the workgroup sees its own stores through plain loads; 0 if it needs coherent ones.
layout(constant_id = SLUICE_CONSTANT_PLAIN_STORES_VISIBLE) const uint kPlainLoads = 0u;

layout(push_constant, std430) uniform Push { ZstdParams p; };
#define Params ZstdParams
#include "lib/region_params.glsl"

const uint kInvocations = gl_WorkGroupSize.x;

uint expandLoad(uvec2 address) {
#ifdef SLUICE_EXT
    if (kPlainLoads != 0u) return uint(int(BytesPlain(address).b[0])) & 0xffu;
    return uint(BytesOut(address).b[0]);
#else
    return WordsOut(wordOf(address)).w[0] >> (address.x & 3u) * 8u & 0xffu;
#endif
}

void storeBytes(uvec2 target, uint value, uint first, uint end) {
    if (first == 0u && end == 4u) {
        if (kPlainLoads != 0u)
            WordsPlain(target).w[0] = value;
        else
            WordsOut(target).w[0] = value;
        return;
    }
#ifdef SLUICE_EXT
    if (kPlainLoads == 0u) {
        for (uint i = first; i < end; ++i)
            BytesOut(target).b[i] = uint8_t(value >> 8u * i);
        return;
    }
#endif
    storeWord(target, value, first, end);
}

void expandBarrier() { wgBarrierAll(kPlainLoads != 0u); }

#include "lib/kernels/zstd_expand.h"

void main() {
    wgLoopsBegin();
    zstdExpand(p, wgIndex());
}
