// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of compaction: check the arguments, then hand over to the context's backend.
#include <sluice/sluice_compact.h>
#include <sluice/sluice_scan.h>

#include "api/checks.h"
#include "api/plan_compact.h"

static_assert(sizeof(sluice::CompactParams) <= 128, "push constants");
static_assert(SLUICE_COMPACT_BYTES == SLUICE_COMPACT_TEST_BYTES &&
                  SLUICE_COMPACT_MASK == SLUICE_COMPACT_TEST_MASK &&
                  SLUICE_COMPACT_COMPARE == SLUICE_COMPACT_TEST_COMPARE &&
                  SLUICE_COMPACT_NON_ZERO == SLUICE_COMPACT_TEST_NON_ZERO &&
                  SLUICE_COMPACT_UNIQUE == SLUICE_COMPACT_TEST_UNIQUE,
              "");

namespace {

bool validSize(uint32_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
}

bool validElements(const SluiceCompactInfo& info)
{
    return validSize(info.elementSize) || !sluice::readsElements(info);
}

bool validComparison(const SluiceCompactInfo& info)
{
    if (info.test != SLUICE_COMPACT_COMPARE) return true;
    if (info.comparison > SLUICE_COMPARE_GREATER_EQUAL) return false;
    if (info.type > SLUICE_VALUE_U16) return false;
    const uint32_t size = sluice::comparedBytes(info.type);
    return info.elementSize == size && (size == 8 || info.constant >> size * 8 == 0);
}

bool sameStart(const SluiceBuffer& a, const SluiceBuffer& b)
{
    return a.size != 0 && b.size != 0 && a.handle == b.handle && a.offset == b.offset;
}

} // namespace

SluiceStatus sluiceGetCompactRequirements(SluiceContext context, const SluiceCompactInfo* info,
                                          SluiceRequirements* requirements)
{
    if (context == nullptr || info == nullptr || requirements == nullptr ||
        (info->elementSize != 0 && !validSize(info->elementSize)))
        return SLUICE_ERROR_ARGUMENT;
    *requirements = context->backend->compactRequirements(*info);
    return SLUICE_OK;
}

SluiceStatus sluiceCmdCompact(SluiceContext context, SluiceCommands commands,
                              const SluiceCompactInfo* given)
{
    if (context == nullptr || given == nullptr) return SLUICE_ERROR_ARGUMENT;
    if (given->test > SLUICE_COMPACT_UNIQUE || !validElements(*given) || !validComparison(*given))
        return SLUICE_ERROR_ARGUMENT;
    // Backends never see the ignored members, which may hold anything.
    SluiceCompactInfo used = *given;
    if (!sluice::readsElements(used)) {
        used.elementSize = sluice::compactedBytes(used);
        used.input = {};
    }
    const SluiceCompactInfo* const info = &used;
    const uint64_t count = info->maxCount;
    const uint32_t size = info->elementSize;
    constexpr uint32_t known = SLUICE_COMPACT_DROP | SLUICE_COMPACT_PARTITION;
    sluice::RangeChecker check =
        sluice::checkerFor(context, commands,
                           sluice::compactedBytes(*info) == 4 ? SLUICE_KERNELS_COMPACT_WORDS
                                                              : SLUICE_KERNELS_COMPACT_SIZES);
    check.require((info->flags & ~known) == 0, SLUICE_ERROR_ARGUMENT);
    check.optionalBuffer(info->count, 4, 4);
    if (sluice::readsElements(*info)) check.buffer(info->input, count * size, size);
    if (info->test == SLUICE_COMPACT_BYTES) check.buffer(info->selectors, (count + 3) / 4 * 4, 4);
    if (info->test == SLUICE_COMPACT_MASK) check.buffer(info->selectors, (count + 31) / 32 * 4, 4);
    check.optionalBuffer(info->output, 0, size);
    check.optionalBuffer(info->indices, 0, 4);
    check.optionalBuffer(info->resultCount, 4, 4);
    check.optionalBuffer(info->argument, 4, 4);
    if (sameStart(info->input, info->output))
        check.require((info->flags & SLUICE_COMPACT_PARTITION) == 0 && info->indices.size == 0,
                      SLUICE_ERROR_ARGUMENT);
    check.scratch(info->scratch, context->backend->compactRequirements(*info));
    return check.status() != SLUICE_OK ? check.status()
                                       : context->backend->cmdCompact(commands, *info);
}
