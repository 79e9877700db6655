// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the UASTC transcoder: check the arguments, then hand over to the context's
// backend.
#include <sluice/sluice_uastc.h>

#include "api/plan_uastc.h"
#include "api/region_checks.h"

#include <algorithm>

namespace {

using sluice::CallChecker;

static_assert(sizeof(SluiceUastcRegion) == SLUICE_UA_REGION_BYTES &&
              sizeof(SluiceUastcInvalid) == 8 && SLUICE_UASTC_MAX_BLOCKS == SLUICE_UA_MAX_BLOCKS &&
              sizeof(sluice::UastcParams) <= 128);
constexpr uint64_t kMostBlocks = uint64_t(1) << 35; // limit for all regions together

// Values of VkComponentSwizzle: IDENTITY, ZERO, ONE, R and A.
constexpr uint32_t kSame = 0, kZero = 1, kOne = 2, kR = 3, kA = 6;

void checkList(CallChecker& check, const SluiceUastcInfo& info)
{
    const uint64_t count = info.maxRegionCount;
    check.atMost(SLUICE_NAMED(info.maxRegionCount), sluice::kMaxRegionCount);
    check.atLeast(SLUICE_NAMED(info.regionStride), SLUICE_UA_REGION_BYTES);
    check.multipleOf(SLUICE_NAMED(info.regionStride), 4);
    check.atLeast(SLUICE_NAMED(info.maxRegionBlocks), 1);
    check.atMost(
        SLUICE_NAMED(info.maxRegionBlocks),
        std::min<uint64_t>(SLUICE_UASTC_MAX_BLOCKS, kMostBlocks / std::max<uint64_t>(count, 1)));
    check.require(SLUICE_NAMED(info.format),
                  sluice::uastcTarget(info.format, 0) != sluice::kNoUastcTarget,
                  "is a format that UASTC is transcoded to");
    const bool isBc5 = sluice::uastcTarget(info.format, 0) == SLUICE_UA_BC5;
    check.flags(SLUICE_NAMED(info.flags), isBc5 ? SLUICE_UASTC_SECOND_IS_ALPHA : 0);
    check.buffer(SLUICE_NAMED(info.regions),
                 count == 0 ? 0 : (count - 1) * info.regionStride + SLUICE_UA_REGION_BYTES, 8);
    check.optionalBuffer(SLUICE_NAMED(info.regionCount), 4, 4);
    check.buffer(SLUICE_NAMED(info.status), (count + 2) * 4, 4);
    check.optionalBuffer(SLUICE_NAMED(info.invalid), count * 8, 4);
    check.buffer(SLUICE_NAMED(info.source), 0, 16);
    check.buffer(SLUICE_NAMED(info.destination), 0, 16);
}

} // namespace

SluiceStatus sluiceGetUastcRequirements(SluiceContext context, const SluiceUastcInfo* info,
                                        SluiceRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    check.atMost(SLUICE_NAMED(info->maxRegionCount), sluice::kMaxRegionCount);
    if (check.isOk()) *requirements = context->backend->uastcRequirements(*info);
    return check.status();
}

SluiceStatus sluiceCmdUastc(SluiceContext context, SluiceCommands commands,
                            const SluiceUastcInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    check.command(commands, SLUICE_KERNELS_UASTC);
    checkList(check, *info);
    if (!check.isOk()) return check.status();
    const bool fits = sluice::uastcBytes(sluice::uastcTarget(info->format, info->flags)) == 16;
    check.require(SLUICE_NAMED(info->destination),
                  !sluice::overlap(info->source, info->destination) ||
                      (fits && sluice::isUastcInPlace(*info)),
                  "does not overlap source, or is the same range and has blocks of 16 bytes");
    const SluiceRequirements required = context->backend->uastcRequirements(*info);
    check.scratch(SLUICE_NAMED(info->scratch), required);
    if (!check.isOk()) return check.status();
    return context->backend->cmdUastc(commands, sluice::withUsedScratch(*info, required));
}

SluiceStatus sluiceGetUastcFormats(uint32_t channels, uint32_t features, uint32_t choice,
                                   SluiceUastcFormat* formats, uint32_t* count)
{
    constexpr uint32_t allFeatures =
        SLUICE_UASTC_HAS_BC | SLUICE_UASTC_HAS_ASTC | SLUICE_UASTC_HAS_ETC2;
    const bool known = channels == SLUICE_UASTC_RGB ||
                       (channels >= SLUICE_UASTC_RGBA && channels <= SLUICE_UASTC_RG);
    if (!known || (features & ~allFeatures) != 0 ||
        (choice & ~uint32_t(SLUICE_UASTC_SRGB | SLUICE_UASTC_LEAST_MEMORY)) != 0 ||
        formats == nullptr || count == nullptr)
        return SLUICE_ERROR_ARGUMENT;
    const bool srgb = (choice & SLUICE_UASTC_SRGB) != 0,
               two = channels == SLUICE_UASTC_RRRG || channels == SLUICE_UASTC_RG,
               alpha = channels == SLUICE_UASTC_RGBA || channels == SLUICE_UASTC_RRRG;
    uint32_t used = 0;
    const auto add = [&](uint32_t feature, uint32_t target) {
        if (feature != 0 && (features & feature) == 0) return;
        SluiceUastcFormat& added = formats[used++];
        const bool isBc5 = target == SLUICE_UA_BC5;
        added.flags = isBc5 && channels == SLUICE_UASTC_RRRG ? SLUICE_UASTC_SECOND_IS_ALPHA : 0;
        added.blockBytes = sluice::uastcBytes(target);
        added.format = sluice::uastcFormat(target, srgb);
        uint32_t swizzle[4] = {kSame, kSame, kSame, channels == SLUICE_UASTC_RGBA ? kSame : kOne};
        if (channels == SLUICE_UASTC_RRR) swizzle[0] = swizzle[1] = swizzle[2] = kR;
        if (two) swizzle[2] = kZero;
        if (channels == SLUICE_UASTC_RRRG && !isBc5) swizzle[1] = kA;
        std::copy_n(swizzle, 4, added.swizzle);
    };
    add(SLUICE_UASTC_HAS_ASTC, SLUICE_UA_ASTC);
    // There are no sRGB variants of BC4 and BC5.
    if (channels == SLUICE_UASTC_RRR && !srgb) add(SLUICE_UASTC_HAS_BC, SLUICE_UA_BC4);
    if (two && !srgb) add(SLUICE_UASTC_HAS_BC, SLUICE_UA_BC5);
    add(SLUICE_UASTC_HAS_BC, SLUICE_UA_BC7);
    add(SLUICE_UASTC_HAS_ETC2, alpha ? SLUICE_UA_ETC2 : SLUICE_UA_ETC1);
    add(SLUICE_UASTC_HAS_BC, alpha ? SLUICE_UA_BC3 : SLUICE_UA_BC1);
    add(0, SLUICE_UA_RGBA8);
    if ((choice & SLUICE_UASTC_LEAST_MEMORY) != 0)
        std::stable_sort(formats, formats + used,
                         [](const SluiceUastcFormat& a, const SluiceUastcFormat& b) {
                             return a.blockBytes < b.blockBytes;
                         });
    *count = used;
    return SLUICE_OK;
}
