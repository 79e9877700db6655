// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry point of the FSE table builder: checks the arguments, then hands over to the context's
// backend.
#include <sluice/sluice_fse.h>

#include "api/checks.h"

#include "layout/fse.h"

namespace {

constexpr uint32_t kMaxRegionCount = 1u << 24;
constexpr uint64_t kRegionBytes = sizeof(SluiceRegion);

static_assert(SLUICE_FSE_COUNTS == SLUICE_FSE_FLAG_COUNTS &&
              SLUICE_FSE_MIN_LOG == SLUICE_FSE_LOG_MIN &&
              SLUICE_FSE_MAX_LOG == SLUICE_FSE_LOG_MAX &&
              SLUICE_FSE_MAX_SYMBOLS == SLUICE_FSE_SYMBOLS && sizeof(SluiceFseTableHeader) == 4 &&
              sizeof(SluiceFseState) == 4);

} // namespace

SluiceStatus sluiceCmdFseTables(SluiceContext context, SluiceCommands commands,
                                const SluiceFseTablesInfo* info)
{
    if (context == nullptr || info == nullptr) return SLUICE_ERROR_ARGUMENT;
    sluice::RangeChecker check = sluice::checkerFor(context, commands, SLUICE_KERNELS_FSE);
    const uint64_t count = info->maxRegionCount;
    check.require(count <= kMaxRegionCount && (info->flags & ~uint32_t(SLUICE_FSE_COUNTS)) == 0,
                  SLUICE_ERROR_ARGUMENT);
    check.require(info->regionStride >= kRegionBytes && info->regionStride % 4 == 0,
                  SLUICE_ERROR_ARGUMENT);
    check.require(info->maxSymbols - 1 < SLUICE_FSE_MAX_SYMBOLS, SLUICE_ERROR_ARGUMENT);
    check.require(info->maxLog >= SLUICE_FSE_MIN_LOG && info->maxLog <= SLUICE_FSE_MAX_LOG,
                  SLUICE_ERROR_ARGUMENT);
    check.buffer(info->regions, count == 0 ? 0 : (count - 1) * info->regionStride + kRegionBytes,
                 8);
    check.optionalBuffer(info->regionCount, 4, 4);
    check.buffer(info->source, 0, 4);
    check.buffer(info->destination, 0, 4);
    check.buffer(info->status, (count + 2) * 4, 4);
    return check.status() != SLUICE_OK ? check.status()
                                       : context->backend->cmdFseTables(commands, *info);
}
