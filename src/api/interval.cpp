// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of the interval family: check the arguments, then hand over to the context's
// backend.
#include <sluice/sluice_interval.h>

#include "api/checks.h"
#include "layout/interval.h"

static_assert(SLUICE_INTERVAL_MOVE == SLUICE_INTERVAL_KIND_MOVE, "");
static_assert(SLUICE_INTERVAL_GATHER == SLUICE_INTERVAL_KIND_GATHER, "");
static_assert(SLUICE_INTERVAL_SCATTER == SLUICE_INTERVAL_KIND_SCATTER, "");
static_assert(SLUICE_INTERVAL_SATURATED == SLUICE_INTERVAL_FLAG_SATURATED, "");
static_assert(SLUICE_INTERVAL_TRUNCATED == SLUICE_INTERVAL_FLAG_TRUNCATED, "");
static_assert(SLUICE_INTERVAL_SKIPPED == SLUICE_INTERVAL_FLAG_SKIPPED, "");
static_assert(sizeof(sluice::IntervalParams) <= 128, "push constants");

namespace {

using sluice::RangeChecker;

bool validIntervals(const SluiceIntervals& intervals)
{
    const bool counts = intervals.counts.size != 0, offsets = intervals.offsets.size != 0;
    return intervals.maxCount == 0 ? !(counts && offsets) : counts != offsets;
}

bool validElementSize(uint32_t size) { return size >= 1 && size <= 16; }

void checkIntervals(RangeChecker& check, const SluiceIntervals& intervals)
{
    check.require(validIntervals(intervals), SLUICE_ERROR_ARGUMENT);
    check.optionalBuffer(intervals.count, 4, 4);
    check.optionalBuffer(intervals.counts, uint64_t(intervals.maxCount) * 4, 4);
    check.optionalBuffer(intervals.offsets, (uint64_t(intervals.maxCount) + 1) * 4, 4);
}

// Checks a command on intervals, then calls `run`.
template <typename Info, typename Check, typename Run>
SluiceStatus checkAndRun(SluiceContext context, SluiceCommands commands, const Info* info,
                         Check checkRest, Run run)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    RangeChecker check = sluice::checkerFor(context, commands, SLUICE_KERNELS_INTERVAL);
    checkRest(check);
    check.optionalBuffer(info->result, 8, 4);
    return check.status() != SLUICE_OK ? check.status() : run();
}

void checkBulk(RangeChecker& check, const SluiceBulkInfo& info)
{
    check.require(validElementSize(info.elementSize) && info.maxIndexCount != UINT32_MAX,
                  SLUICE_ERROR_ARGUMENT);
    check.optionalBuffer(info.itemCount, 4, 4);
    check.optionalBuffer(info.indexCount, 4, 4);
    check.buffer(info.indices, uint64_t(info.maxIndexCount) * 4, 4);
    check.buffer(info.source, uint64_t(info.maxItemCount) * info.elementSize, 1);
    check.buffer(info.destination, 0, 1);
}

} // namespace

SluiceStatus sluiceGetIntervalRequirements(SluiceContext context, const SluiceIntervals* intervals,
                                           SluiceRequirements* requirements)
{
    if (context == nullptr || intervals == nullptr || requirements == nullptr ||
        !validIntervals(*intervals))
        return SLUICE_ERROR_ARGUMENT;
    *requirements = context->backend->intervalRequirements(*intervals);
    return SLUICE_OK;
}

SluiceStatus sluiceCmdIntervalExpand(SluiceContext context, SluiceCommands commands,
                                     const SluiceIntervalExpandInfo* info)
{
    const auto checkRest = [&](RangeChecker& check) {
        const uint32_t size = info->elementSize;
        check.require(validElementSize(size), SLUICE_ERROR_ARGUMENT);
        const bool isPowerOf2 = size != 0 && (size & (size - 1)) == 0;
        const uint64_t alignment = isPowerOf2 ? size : 1;
        checkIntervals(check, info->intervals);
        check.buffer(info->values, uint64_t(info->intervals.maxCount) * size, alignment);
        check.buffer(info->destination, 0, alignment);
        check.scratch(info->scratch, context->backend->intervalRequirements(info->intervals));
    };
    return checkAndRun(context, commands, info, checkRest,
                       [&] { return context->backend->cmdIntervalExpand(commands, *info); });
}

SluiceStatus sluiceCmdIntervalMove(SluiceContext context, SluiceCommands commands,
                                   const SluiceIntervalMoveInfo* info)
{
    const auto checkRest = [&](RangeChecker& check) {
        const SluiceIntervalMoveKind kind = info->kind;
        const uint32_t positionSize = info->positionSize;
        check.require(kind == SLUICE_INTERVAL_MOVE || kind == SLUICE_INTERVAL_GATHER ||
                          kind == SLUICE_INTERVAL_SCATTER,
                      SLUICE_ERROR_ARGUMENT);
        check.require(validElementSize(info->elementSize), SLUICE_ERROR_ARGUMENT);
        check.require(positionSize == 4 || positionSize == 8, SLUICE_ERROR_ARGUMENT);
        checkIntervals(check, info->intervals);
        if (check.status() != SLUICE_OK) return;
        const uint64_t positionBytes = uint64_t(info->intervals.maxCount) * positionSize;
        if (kind != SLUICE_INTERVAL_SCATTER)
            check.buffer(info->gather, positionBytes, positionSize);
        if (kind != SLUICE_INTERVAL_GATHER)
            check.buffer(info->scatter, positionBytes, positionSize);
        check.buffer(info->source, 0, 1);
        check.buffer(info->destination, 0, 1);
        check.scratch(info->scratch, context->backend->intervalRequirements(info->intervals));
    };
    return checkAndRun(context, commands, info, checkRest,
                       [&] { return context->backend->cmdIntervalMove(commands, *info); });
}

SluiceStatus sluiceCmdIntervalSearch(SluiceContext context, SluiceCommands commands,
                                     const SluiceIntervalSearchInfo* info)
{
    const auto checkRest = [&](RangeChecker& check) {
        check.require(info->sources.size != 0 || info->ranks.size != 0, SLUICE_ERROR_ARGUMENT);
        checkIntervals(check, info->intervals);
        check.optionalBuffer(info->sources, 0, 4);
        check.optionalBuffer(info->ranks, 0, 4);
        check.scratch(info->scratch, context->backend->intervalRequirements(info->intervals));
    };
    return checkAndRun(context, commands, info, checkRest,
                       [&] { return context->backend->cmdIntervalSearch(commands, *info); });
}

SluiceStatus sluiceCmdBulkRemove(SluiceContext context, SluiceCommands commands,
                                 const SluiceBulkInfo* info)
{
    return checkAndRun(
        context, commands, info, [&](RangeChecker& check) { checkBulk(check, *info); },
        [&] { return context->backend->cmdBulkRemove(commands, *info); });
}

SluiceStatus sluiceCmdBulkInsert(SluiceContext context, SluiceCommands commands,
                                 const SluiceBulkInfo* info)
{
    const auto checkRest = [&](RangeChecker& check) {
        checkBulk(check, *info);
        check.require(info->maxItemCount <= UINT32_MAX - info->maxIndexCount,
                      SLUICE_ERROR_ARGUMENT);
        check.buffer(info->inserted, uint64_t(info->maxIndexCount) * info->elementSize, 1);
    };
    return checkAndRun(context, commands, info, checkRest,
                       [&] { return context->backend->cmdBulkInsert(commands, *info); });
}
