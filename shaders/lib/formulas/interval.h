// SPDX-License-Identifier: MIT OR Apache-2.0
// Formulas for lists of intervals.
#ifndef SLUICE_FORMULAS_INTERVAL_H
#define SLUICE_FORMULAS_INTERVAL_H

#include "../layout/interval.h"
#include "formula.h"

SLUICE_LAYOUT_BEGIN

// Returns how many counts, that is, lengths of intervals, form a *group*, which one workgroup of
// interval_plan sums up. It is a multiple of SLUICE_INTERVAL_ROUND, and so large that
// SLUICE_INTERVAL_MAX_GROUPS groups are enough for maxCount counts.
SLUICE_FORMULA u32 intervalGroupSize(u32 maxCount) {
    u32 last = SLUICE_SELECT(maxCount != 0u, maxCount - 1u, 0u);
    return (last / (SLUICE_INTERVAL_ROUND * SLUICE_INTERVAL_MAX_GROUPS) + 1u) *
           SLUICE_INTERVAL_ROUND;
}

SLUICE_LAYOUT_END
#endif
