// SPDX-License-Identifier: MIT OR Apache-2.0
// Transcodes lists of regions of UASTC blocks on the CPU.
#pragma once

#include <sluice/sluice_uastc.h>

#include <algorithm>

#include "api/plan_uastc.h"
#include "cpu/regions.h"

namespace sluice::cpu {

// Returns how many blocks a region has, or 0 if the region breaks a rule of the command.
inline uint32_t blocksOf(const SluiceUastcInfo& info, const SluiceUastcRegion& region)
{
    const uint32_t target = uastcTarget(info.format, info.flags), bytes = uastcBytes(target);
    if (region.width - 1 >= SLUICE_UA_MAX_SIDE || region.height - 1 >= SLUICE_UA_MAX_SIDE) return 0;
    const uint64_t blocks =
        divideUp<uint64_t>(region.width, 4) * divideUp<uint64_t>(region.height, 4);
    const uint64_t size =
        target == SLUICE_UA_RGBA8 ? uint64_t(region.width) * region.height * 4 : blocks * bytes;
    const bool allowed = blocks <= info.maxRegionBlocks &&
                         region.srcAddress % SLUICE_UA_BLOCK_BYTES == 0 &&
                         region.dstAddress % (target == SLUICE_UA_RGBA8 ? 4 : bytes) == 0 &&
                         inside(info.source, region.srcAddress, blocks * SLUICE_UA_BLOCK_BYTES) &&
                         inside(info.destination, region.dstAddress, size) &&
                         (!isUastcInPlace(info) || region.srcAddress == region.dstAddress);
    return allowed ? uint32_t(blocks) : 0;
}

// Runs the command. transcode(block, made) converts a UASTC block of 16 bytes to a block of the
// target or, for RGBA8, to 16 texels. It returns whether the UASTC block is valid.
template <typename Transcode>
void transcodeRegions(const SluiceUastcInfo& info, Transcode transcode)
{
    const uint32_t target = uastcTarget(info.format, info.flags), bytes = uastcBytes(target);
    StatusWords status(info.status, info.maxRegionCount);
    status.reset();
    const uint32_t count = countOf(info.regionCount, info.maxRegionCount);
    for (uint32_t i = 0; i < count; ++i) {
        const auto region = entryAt<SluiceUastcRegion>(info.regions, i, info.regionStride);
        const uint32_t blocks = blocksOf(info, region), columns = divideUp(region.width, 4u);
        SluiceUastcInvalid invalid = {0, ~0u};
        for (uint32_t k = 0; k < blocks; ++k) {
            const auto* block = pointer<const uint8_t>(region.srcAddress) + size_t(k) * 16;
            auto* made = pointer<uint8_t>(region.dstAddress);
            bool valid = false;
            if (target == SLUICE_UA_RGBA8) {
                const uint32_t x = k % columns * 4, y = k / columns * 4;
                uint8_t texels[64];
                valid = transcode(block, texels);
                for (uint32_t row = 0; row < std::min(4u, region.height - y); ++row)
                    std::copy_n(texels + size_t(16) * row,
                                size_t(4) * std::min(4u, region.width - x),
                                made + 4 * (uint64_t(y + row) * region.width + x));
            } else {
                valid = transcode(block, made + size_t(k) * bytes);
            }
            if (valid) continue;
            invalid.first = std::min(invalid.first, k);
            ++invalid.blocks;
        }
        status.set(i, blocks == 0           ? SLUICE_ST_BAD_REGION
                      : invalid.blocks != 0 ? SLUICE_ST_BAD_CODE
                                            : SLUICE_ST_OK);
        if (info.invalid.size != 0)
            std::memcpy(pointer<uint8_t>(info.invalid) + size_t(i) * sizeof invalid, &invalid,
                        sizeof invalid);
    }
}

} // namespace sluice::cpu
