// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef SLUICE_FORMULAS_INTERVAL_H
#define SLUICE_FORMULAS_INTERVAL_H

#include "../layout/interval.h"
#include "formula.h"

SLUICE_LAYOUT_BEGIN

// Returns how many counts a workgroup of interval_plan sums. This is a multiple of
// SLUICE_INTERVAL_ROUND, and large enough that SLUICE_INTERVAL_MAX_GROUPS workgroups suffice.
SLUICE_FORMULA u32 intervalGroupSize(u32 maxCount) {
    u32 last = SLUICE_SELECT(maxCount != 0u, maxCount - 1u, 0u);
    return (last / (SLUICE_INTERVAL_ROUND * SLUICE_INTERVAL_MAX_GROUPS) + 1u) *
           SLUICE_INTERVAL_ROUND;
}

SLUICE_LAYOUT_END
#endif
