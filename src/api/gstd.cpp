// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the Gstd decoder: check the arguments, then hand over to the context's
// backend.
#include <sluice/sluice_gstd.h>

#include "api/checks.h"

#include "layout/gstd.h"

namespace {

using sluice::RangeChecker;

constexpr uint32_t kMaxRegionCount = 1u << 24;
constexpr uint64_t kRegionBytes = sizeof(SluiceRegion);

static_assert(SLUICE_GSTD_SLOT_SIZE == SLUICE_GS_SLOT_WORDS * 4 &&
              SLUICE_GSTD_SLOTS == SLUICE_GS_SLOTS);

bool validList(const SluiceGstdInfo& info)
{
    return (info.flags & ~uint32_t(SLUICE_DECODE_STORED_IF_EQUAL)) == 0 &&
           info.maxRegionCount <= kMaxRegionCount;
}

// Source and destination must not overlap: the second pass reads source bytes again, which the
// first pass has checked, while it writes the destination.
bool overlap(const SluiceBuffer& a, const SluiceBuffer& b)
{
    return a.handle == b.handle && a.size != 0 && b.size != 0 && a.offset < b.offset + b.size &&
           b.offset < a.offset + a.size;
}

} // namespace

SluiceStatus sluiceGetGstdRequirements(SluiceContext context, const SluiceGstdInfo* info,
                                       SluiceRequirements* requirements)
{
    if (context == nullptr || info == nullptr || requirements == nullptr || !validList(*info))
        return SLUICE_ERROR_ARGUMENT;
    *requirements = context->backend->gstdRequirements(*info);
    return SLUICE_OK;
}

SluiceStatus sluice::checkGstd(SluiceContext context, SluiceCommands commands,
                               const SluiceGstdInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    RangeChecker check = sluice::checkerFor(context, commands, SLUICE_KERNELS_GSTD);
    const uint64_t count = info->maxRegionCount;
    check.require(validList(*info), SLUICE_ERROR_ARGUMENT);
    check.require(info->regionStride >= kRegionBytes && info->regionStride % 4 == 0,
                  SLUICE_ERROR_ARGUMENT);
    check.buffer(info->regions, count == 0 ? 0 : (count - 1) * info->regionStride + kRegionBytes,
                 8);
    check.optionalBuffer(info->regionCount, 4, 4);
    check.buffer(info->source, 0, 1);
    check.buffer(info->destination, 0, 1);
    check.require(!overlap(info->source, info->destination), SLUICE_ERROR_ARGUMENT);
    check.buffer(info->status, (count + 2) * 4, 4);
    check.optionalBuffer(info->expected, count * 4, 4);
    if (check.status() == SLUICE_OK)
        check.scratch(info->scratch, context->backend->gstdRequirements(*info));
    return check.status();
}

SluiceStatus sluiceCmdGstd(SluiceContext context, SluiceCommands commands,
                           const SluiceGstdInfo* info)
{
    const SluiceStatus status = sluice::checkGstd(context, commands, info);
    return status != SLUICE_OK ? status : context->backend->cmdGstd(commands, *info);
}
