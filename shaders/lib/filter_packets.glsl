// SPDX-License-Identifier: MIT OR Apache-2.0
// Sections of run-length packets of a Targa file (docs/format.md, 8.4). A packet is a header byte
// and then pixels. The filtered section has all headers first and then all pixels. A header
// determines how many bytes its packet takes in the output, so a prefix sum of these numbers finds
// where each header belongs.
#ifndef SLUICE_FILTER_PACKETS_GLSL
#define SLUICE_FILTER_PACKETS_GLSL

#include "loops.glsl"
#include "filter_columns.glsl"
#include "filter_records.glsl"

shared uint sPackets; // how many packets there are

// Returns how many of the section's packets, from the first one on, have `size` bytes together, or
// 0 if no number of them has. Marks the bytes of the output that are headers: sets a bit in scratch
// for each, and stores how many bits are set before each word of bits (filterHeaderBits in
// formulas/filter.h).
uint countPackets(uint size) {
    const uint kEach = 4u;
    uint lead = gPosition & 3u, bits = filterHeaderBits(size), words = filterHeaderWords(size),
         bytes = 0u, before = 0u;
    for (uint w = wgInvocation(); w < words; w += gl_WorkGroupSize.x)
        storeScratchWord(4u * (bits + w), 0u);
    if (wgInvocation() == 0u) sPackets = 0u;
    wgBarrierAll();
    for (uint base = 0u; sgUniform(base < size && bytes < size);
         base += gl_WorkGroupSize.x * kEach) {
        uint k = base + wgInvocation() * kEach, sum = 0u, total;
        uint own[kEach];
        SLUICE_UNROLL
        for (uint e = 0u; e < kEach; e++) {
            own[e] = k + e < size ? filterPacketBytes(sourceByte(gPosition + k + e), gStride) : 0u;
            sum += own[e];
        }
        uint at = bytes + wgExclusiveAdd(sum, total);
        SLUICE_UNROLL
        for (uint e = 0u; e < kEach; e++) {
            if (own[e] != 0u && at < size)
                atomicOr(WordsOut(gScratch).w[bits + ((lead + at) >> 5)],
                         1u << ((lead + at) & 31u));
            at += own[e];
            if (own[e] != 0u && at == size) sPackets = k + e + 1u;
        }
        bytes += total;
    }
    wgBarrierAll();
    for (uint base = 0u; sgUniform(base < words); base += gl_WorkGroupSize.x) {
        uint w = base + wgInvocation(), total;
        uint own = w < words ? bitCount(WordsOut(gScratch).w[bits + w]) : 0u;
        uint sum = wgExclusiveAdd(own, total);
        if (w < words) storeScratchWord(4u * (bits + words + w), before + sum);
        before += total;
    }
    wgBarrierAll();
    return sPackets;
}

#endif // SLUICE_FILTER_PACKETS_GLSL
