// SPDX-License-Identifier: MIT OR Apache-2.0
// Checksums of decoded tiles, a lane group a tile: XXH32 of 32 pieces, a lane a piece, then XXH32
// of those 32 words.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/xxh32.glsl"

layout(push_constant, std430) uniform Push { RegionParams p; };

shared uint sPieces[gl_WorkGroupSize.x];

void main() {
    uint group = wgIndex();
    uint index = group * kGroupsPerWorkgroup + lgIndex();
    uint count = p.maxRegionCount;
    if (p.regionCount != uvec2(0u)) count = min(count, WordsIn(p.regionCount).w[0]);
    uint status = index < count ? WordsIn(p.status).w[index] : SLUICE_ST_PENDING;
    bool checked = status == SLUICE_ST_OK || status == SLUICE_ST_UNVERIFIED;

    // Such a tile had an allowed region; a list that has changed since must still not lead outside
    // the destination.
    bool allowed = false;
    uint piece = 0u;
    if (checked) {
        WordsIn region = WordsIn(add64(p.regions, mul64(index, p.regionStride)));
        uvec2 address = uvec2(region.w[2], region.w[3]), size64 = uvec2(region.w[6], region.w[7]);
        allowed = (address.x & 3u) == 0u && size64.y == 0u &&
                  size64.x - 1u < SLUICE_MAX_TILE_BYTES &&
                  inside64(address, size64, p.destination, p.destinationSize);
        if (allowed) {
            uint size = size64.x;
            uint pieceBytes = 4u * (((size + 3u) / 4u + 31u) / 32u);
            uint begin = min(size, pieceBytes * lgLane());
            uint bytes = min(pieceBytes, size - begin);
            if (p.rowBytes == 0u) {
                piece = xxh32(address, begin, bytes, false);
            } else {
                pitchBegin(uvec4(p.rowBytes, p.rowPitch, p.rowMagic, p.rowShift), p.destination,
                           sub64(address, p.destination));
                piece = xxh32(address, begin, bytes, true);
            }
        }
    }
    sPieces[wgInvocation()] = piece;
    lgBarrierShared();

    if (checked && lgLane() == 0u) {
        // (Mesa 22.3's lavapipe loses what follows a loop that starts at `first` instead of 0.)
        uint first = wgInvocation();
        uvec4 sums = kXxhStart;
        for (uint i = 0u; i < 32u; i += 4u)
            sums = xxhStripe(sums, uvec4(sPieces[first + i], sPieces[first + i + 1u],
                                         sPieces[first + i + 2u], sPieces[first + i + 3u]));
        uint hash = xxhFinish(xxhMerge(sums) + 128u);
        if (!allowed || hash != WordsIn(p.expected).w[index]) {
            writeStatus(p.status, p.maxRegionCount, index, SLUICE_ST_BAD_CHECKSUM);
        } else if (status != SLUICE_ST_OK) {
            WordsOut(p.status).w[index] = SLUICE_ST_OK;
        }
    }
}
