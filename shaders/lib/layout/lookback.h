// SPDX-License-Identifier: MIT OR Apache-2.0
// Single-pass look-back.
#ifndef SLUICE_LAYOUT_LOOKBACK_H
#define SLUICE_LAYOUT_LOOKBACK_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// The scratch of a single-pass look-back has a head of counters, then one state per tile. A state
// is twice as large for 64-bit values. Sizes are in bytes.
#define SLUICE_LOOKBACK_HEAD 16u
#define SLUICE_LOOKBACK_STATE 8u
// Where this is the number of polls, no state is read, and the workgroup recomputes every tile
// before its own. Tests use it to exercise the fallback.
#define SLUICE_LOOKBACK_NEVER 0xffffffffu

SLUICE_LAYOUT_END
#endif
