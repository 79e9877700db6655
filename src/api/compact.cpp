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

using sluice::CallChecker;

constexpr const char* kSizeRule = "is 1, 2, 4, 8, 12, 16 or 20";

void checkTest(CallChecker& check, const SluiceCompactInfo& info)
{
    check.atMost(SLUICE_NAMED(info.test), SLUICE_COMPACT_UNIQUE);
    check.require(SLUICE_NAMED(info.elementSize),
                  SLUICE_COMPACT_IS_SIZE(info.elementSize) || !sluice::readsElements(info),
                  kSizeRule);
    if (info.test != SLUICE_COMPACT_COMPARE) return;
    check.atMost(SLUICE_NAMED(info.comparison), SLUICE_COMPARE_GREATER_EQUAL);
    if (!check.atMost(SLUICE_NAMED(info.type), SLUICE_VALUE_U16)) return;
    const uint32_t size = sluice::comparedBytes(info.type);
    check.require(SLUICE_NAMED(info.elementSize), info.elementSize == size,
                  "is the size of the type (limit)", SLUICE_ERROR_ARGUMENT, size);
    check.require(SLUICE_NAMED(info.constant), size == 8 || info.constant >> size * 8 == 0,
                  "fits into the type");
}

bool sameStart(const SluiceBuffer& a, const SluiceBuffer& b)
{
    return a.size != 0 && b.size != 0 && a.handle == b.handle && a.offset == b.offset;
}

} // namespace

SluiceStatus sluiceGetCompactRequirements(SluiceContext context, const SluiceCompactInfo* info,
                                          SluiceRequirements* requirements)
{
    CallChecker check(context, __func__);
    if (check.given(SLUICE_NAMED(info)) && check.given(SLUICE_NAMED(requirements)))
        *requirements = context->backend->compactRequirements(*info);
    return check.status();
}

SluiceStatus sluiceCmdCompact(SluiceContext context, SluiceCommands commands,
                              const SluiceCompactInfo* info)
{
    CallChecker check(context, __func__);
    if (!check.given(SLUICE_NAMED(info))) return check.status();
    checkTest(check, *info);
    if (!check.isOk()) return check.status();
    // If the command reads no elements, elementSize and input are ignored and may hold anything.
    // The backend gets valid values instead.
    SluiceCompactInfo used = *info;
    if (!sluice::readsElements(used)) {
        used.elementSize = sluice::compactedBytes(used);
        used.input = {};
    }
    const uint64_t count = used.maxCount;
    const uint32_t size = used.elementSize, alignment = sluice::compactAlignment(size);
    check.command(commands, sluice::compactedBytes(used) == 4 ? SLUICE_KERNELS_COMPACT_WORDS
                                                              : SLUICE_KERNELS_COMPACT_SIZES);
    check.flags(SLUICE_NAMED(used.flags), SLUICE_COMPACT_DROP | SLUICE_COMPACT_PARTITION);
    check.optionalBuffer(SLUICE_NAMED(used.count), 4, 4);
    if (sluice::readsElements(used))
        check.buffer(SLUICE_NAMED(used.input), count * size, alignment);
    if (used.test == SLUICE_COMPACT_BYTES)
        check.buffer(SLUICE_NAMED(used.selectors), (count + 3) / 4 * 4, 4);
    if (used.test == SLUICE_COMPACT_MASK)
        check.buffer(SLUICE_NAMED(used.selectors), (count + 31) / 32 * 4, 4);
    check.optionalBuffer(SLUICE_NAMED(used.output), 0, alignment);
    check.optionalBuffer(SLUICE_NAMED(used.indices), 0, 4);
    check.optionalBuffer(SLUICE_NAMED(used.resultCount), 4, 4);
    check.optionalBuffer(SLUICE_NAMED(used.argument), 4, 4);
    if (sameStart(used.input, used.output)) {
        check.require(SLUICE_NAMED(used.flags), (used.flags & SLUICE_COMPACT_PARTITION) == 0,
                      "is without PARTITION where output is input");
        check.require(SLUICE_NAMED(used.indices), used.indices.size == 0,
                      "is not given where output is input");
    }
    check.scratch(SLUICE_NAMED(used.scratch), context->backend->compactRequirements(used));
    return check.isOk() ? context->backend->cmdCompact(commands, used) : check.status();
}
