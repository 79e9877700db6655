// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of the UASTC transcoder: one dispatch, in which every region gets as many workgroups as
// a region of maxRegionBlocks blocks needs.
#pragma once

#include <sluice/sluice_uastc.h>

#include "layout/uastc.h"
#include "api/address.h"

namespace sluice {

constexpr uint32_t kNoUastcTarget = ~0u;

// A target (SLUICE_UA_*), its VkFormat, and the sRGB variant of that format; 0: there is none.
struct UastcFormat {
    uint32_t target, format, srgb;
};
constexpr UastcFormat kUastcFormats[] = {{SLUICE_UA_RGBA8, 37, 43},  {SLUICE_UA_BC1, 131, 132},
                                         {SLUICE_UA_BC3, 137, 138},  {SLUICE_UA_BC4, 139, 0},
                                         {SLUICE_UA_BC5, 141, 0},    {SLUICE_UA_BC5_RA, 141, 0},
                                         {SLUICE_UA_BC7, 145, 146},  {SLUICE_UA_ETC1, 147, 148},
                                         {SLUICE_UA_ETC2, 151, 152}, {SLUICE_UA_ASTC, 157, 158}};

// Returns the target of a VkFormat, or kNoUastcTarget.
constexpr uint32_t uastcTarget(uint32_t format, uint32_t flags)
{
    uint32_t found = kNoUastcTarget;
    for (const UastcFormat& one : kUastcFormats)
        if (format != 0 && (one.format == format || one.srgb == format) && found == kNoUastcTarget)
            found = one.target;
    const bool isAlpha = (flags & SLUICE_UASTC_SECOND_IS_ALPHA) != 0;
    return found == SLUICE_UA_BC5 && isAlpha ? SLUICE_UA_BC5_RA : found;
}
// Returns the VkFormat of a target; 0 for BC4 and BC5 in sRGB, which do not exist.
constexpr uint32_t uastcFormat(uint32_t target, bool isSrgb)
{
    uint32_t found = 0;
    for (const UastcFormat& one : kUastcFormats)
        if (one.target == target) found = isSrgb ? one.srgb : one.format;
    return found;
}
// Returns the bytes of a block of 4 x 4 texels in a target.
constexpr uint32_t uastcBytes(uint32_t target)
{
    return target == SLUICE_UA_RGBA8                                                        ? 64
           : target == SLUICE_UA_BC1 || target == SLUICE_UA_BC4 || target == SLUICE_UA_ETC1 ? 8
                                                                                            : 16;
}
// Returns the group of a target, SLUICE_UA_GROUP_*. The targets of a group share a pipeline.
constexpr uint32_t uastcGroup(uint32_t target)
{
    return target < SLUICE_UA_BC1    ? target
           : target < SLUICE_UA_ETC1 ? SLUICE_UA_GROUP_BC
                                     : SLUICE_UA_GROUP_ETC;
}

inline bool isUastcInPlace(const SluiceUastcInfo& info)
{
    return info.source.handle == info.destination.handle &&
           info.source.offset == info.destination.offset &&
           info.source.size == info.destination.size;
}

// Returns the number of words of scratch in which kernels count for each region. The command clears
// them with the kernel that sets status words; scratch has more room, because that kernel also
// writes a summary of two words behind them.
inline uint32_t uastcScratchWords(const SluiceUastcInfo& info)
{
    return info.maxRegionCount * SLUICE_UA_SCRATCH_WORDS;
}
inline SluiceRequirements uastcScratch(const SluiceUastcInfo& info)
{
    if (info.maxRegionCount == 0) return {0, 16, 0};
    return {(uint64_t(uastcScratchWords(info)) + SLUICE_UA_SCRATCH_WORDS) * 4, 16, 0};
}

// Returns the kernel's parameters. lanes: the invocations of a workgroup. sorts: whether a
// workgroup sorts its blocks by mode (SLUICE_UASTC_SORTS); an invocation may then transcode several
// blocks. addressOf(buffer) returns a device address, 0 for an empty range.
template <typename AddressOf>
UastcParams uastcParams(const SluiceUastcInfo& info, uint32_t lanes, bool sorts,
                        const AddressOf& addressOf)
{
    UastcParams params = {};
    params.regions = pair(addressOf(info.regions));
    params.regionCount = pair(addressOf(info.regionCount));
    params.source = pair(addressOf(info.source));
    params.sourceSize = pair(info.source.size);
    params.destination = pair(addressOf(info.destination));
    params.destinationSize = pair(info.destination.size);
    params.status = pair(addressOf(info.status));
    params.invalid = pair(addressOf(info.invalid));
    params.scratch = pair(addressOf(info.scratch));
    params.maxRegionCount = info.maxRegionCount;
    params.regionStride = info.regionStride;
    params.target = uastcTarget(info.format, info.flags);
    params.maxBlocks = info.maxRegionBlocks;
    const uint32_t piece = lanes * (sorts ? SLUICE_UA_EACH(uastcGroup(params.target)) : 1);
    params.pieces = (info.maxRegionBlocks + piece - 1) / piece;
    params.inPlace = isUastcInPlace(info) ? 1 : 0;
    return params;
}
inline uint64_t uastcWorkgroups(const UastcParams& params)
{
    return uint64_t(params.maxRegionCount) * params.pieces;
}

} // namespace sluice
