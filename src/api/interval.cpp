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

using sluice::CallChecker;

// A list has counts or offsets, but not both. An empty list may have neither.
void checkLists(CallChecker& check, const SluiceIntervals& intervals)
{
    const bool hasCounts = intervals.counts.size != 0, hasOffsets = intervals.offsets.size != 0;
    check.require(SLUICE_NAMED(intervals.offsets), !(hasCounts && hasOffsets),
                  "is not given together with counts");
    check.require(SLUICE_NAMED(intervals.counts),
                  hasCounts || hasOffsets || intervals.maxCount == 0, "is given, or offsets are");
}

template <typename Info>
void checkElementSize(CallChecker& check, const Info& info)
{
    check.atLeast(SLUICE_NAMED(info.elementSize), 1);
    check.atMost(SLUICE_NAMED(info.elementSize), SLUICE_INTERVAL_MAX_ELEMENT);
}

void checkIntervals(CallChecker& check, const SluiceIntervals& intervals)
{
    checkLists(check, intervals);
    check.optionalBuffer(SLUICE_NAMED(intervals.count), 4, 4);
    check.optionalBuffer(SLUICE_NAMED(intervals.counts), uint64_t(intervals.maxCount) * 4, 4);
    check.optionalBuffer(SLUICE_NAMED(intervals.offsets), (uint64_t(intervals.maxCount) + 1) * 4,
                         4);
}

// Returns a copy of the info for the backend, with an empty scratch range if none is needed.
template <typename Info>
Info usedOf(SluiceContext context, const Info& info)
{
    return sluice::withUsedScratch(info, context->backend->intervalRequirements(info.intervals));
}

// Checks the arguments that all interval commands have, then calls checkRest(check) for the others.
// Calls run() if all arguments are allowed.
template <typename Info, typename Check, typename Run>
SluiceStatus checkAndRun(CallChecker check, SluiceCommands commands, const Info* info,
                         Check checkRest, Run run)
{
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    check.command(commands, SLUICE_KERNELS_INTERVAL);
    checkRest(check);
    check.optionalBuffer(SLUICE_NAMED(info->result), 8, 4);
    return check.isOk() ? run() : check.status();
}

void checkBulk(CallChecker& check, const SluiceBulkInfo& info)
{
    checkElementSize(check, info);
    check.atMost(SLUICE_NAMED(info.maxIndexCount), UINT32_MAX - 1);
    check.optionalBuffer(SLUICE_NAMED(info.itemCount), 4, 4);
    check.optionalBuffer(SLUICE_NAMED(info.indexCount), 4, 4);
    check.buffer(SLUICE_NAMED(info.indices), uint64_t(info.maxIndexCount) * 4, 4);
    check.buffer(SLUICE_NAMED(info.source), uint64_t(info.maxItemCount) * info.elementSize, 1);
    check.buffer(SLUICE_NAMED(info.destination), 0, 1);
}

} // namespace

SluiceStatus sluiceGetIntervalRequirements(SluiceContext context, const SluiceIntervals* intervals,
                                           SluiceRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(intervals)) || !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    checkLists(check, *intervals);
    if (check.isOk()) *requirements = context->backend->intervalRequirements(*intervals);
    return check.status();
}

SluiceStatus sluiceCmdIntervalExpand(SluiceContext context, SluiceCommands commands,
                                     const SluiceIntervalExpandInfo* info)
{
    const auto checkRest = [&](CallChecker& check) {
        const uint32_t size = info->elementSize;
        checkElementSize(check, *info);
        const bool isPowerOf2 = size != 0 && (size & (size - 1)) == 0;
        const uint64_t alignment = isPowerOf2 ? size : 1;
        checkIntervals(check, info->intervals);
        check.buffer(SLUICE_NAMED(info->values), uint64_t(info->intervals.maxCount) * size,
                     alignment);
        check.buffer(SLUICE_NAMED(info->destination), 0, alignment);
        check.scratch(SLUICE_NAMED(info->scratch),
                      context->backend->intervalRequirements(info->intervals));
    };
    return checkAndRun(CallChecker(context, __func__), commands, info, checkRest, [&] {
        return context->backend->cmdIntervalExpand(commands, usedOf(context, *info));
    });
}

SluiceStatus sluiceCmdIntervalMove(SluiceContext context, SluiceCommands commands,
                                   const SluiceIntervalMoveInfo* info)
{
    const auto checkRest = [&](CallChecker& check) {
        const SluiceIntervalMoveKind kind = info->kind;
        const uint32_t positionSize = info->positionSize;
        check.atMost(SLUICE_NAMED(info->kind), SLUICE_INTERVAL_SCATTER);
        checkElementSize(check, *info);
        check.require(SLUICE_NAMED(info->positionSize), positionSize == 4 || positionSize == 8,
                      "is 4 or 8");
        checkIntervals(check, info->intervals);
        if (!check.isOk()) return;
        const uint64_t positionBytes = uint64_t(info->intervals.maxCount) * positionSize;
        if (kind != SLUICE_INTERVAL_SCATTER)
            check.buffer(SLUICE_NAMED(info->gather), positionBytes, positionSize);
        if (kind != SLUICE_INTERVAL_GATHER)
            check.buffer(SLUICE_NAMED(info->scatter), positionBytes, positionSize);
        check.buffer(SLUICE_NAMED(info->source), 0, 1);
        check.buffer(SLUICE_NAMED(info->destination), 0, 1);
        check.scratch(SLUICE_NAMED(info->scratch),
                      context->backend->intervalRequirements(info->intervals));
    };
    return checkAndRun(CallChecker(context, __func__), commands, info, checkRest, [&] {
        return context->backend->cmdIntervalMove(commands, usedOf(context, *info));
    });
}

SluiceStatus sluiceCmdIntervalSearch(SluiceContext context, SluiceCommands commands,
                                     const SluiceIntervalSearchInfo* info)
{
    const auto checkRest = [&](CallChecker& check) {
        check.require(SLUICE_NAMED(info->sources), info->sources.size != 0 || info->ranks.size != 0,
                      "is given, or ranks is");
        checkIntervals(check, info->intervals);
        check.optionalBuffer(SLUICE_NAMED(info->sources), 0, 4);
        check.optionalBuffer(SLUICE_NAMED(info->ranks), 0, 4);
        check.scratch(SLUICE_NAMED(info->scratch),
                      context->backend->intervalRequirements(info->intervals));
    };
    return checkAndRun(CallChecker(context, __func__), commands, info, checkRest, [&] {
        return context->backend->cmdIntervalSearch(commands, usedOf(context, *info));
    });
}

SluiceStatus sluiceCmdBulkRemove(SluiceContext context, SluiceCommands commands,
                                 const SluiceBulkInfo* info)
{
    return checkAndRun(
        CallChecker(context, __func__), commands, info,
        [&](CallChecker& check) { checkBulk(check, *info); },
        [&] { return context->backend->cmdBulkRemove(commands, *info); });
}

SluiceStatus sluiceCmdBulkInsert(SluiceContext context, SluiceCommands commands,
                                 const SluiceBulkInfo* info)
{
    const auto checkRest = [&](CallChecker& check) {
        checkBulk(check, *info);
        check.require(SLUICE_NAMED(info->maxItemCount),
                      info->maxItemCount <= UINT32_MAX - info->maxIndexCount,
                      "is at most the limit, 2^32 - 1 less maxIndexCount", SLUICE_ERROR_ARGUMENT,
                      UINT32_MAX - info->maxIndexCount);
        check.buffer(SLUICE_NAMED(info->inserted),
                     uint64_t(info->maxIndexCount) * info->elementSize, 1);
    };
    return checkAndRun(CallChecker(context, __func__), commands, info, checkRest,
                       [&] { return context->backend->cmdBulkInsert(commands, *info); });
}
