// SPDX-License-Identifier: MIT OR Apache-2.0
// The scratch of a single-pass look-back (lib/lookback.glsl).
#ifndef SLUICE_LAYOUT_LOOKBACK_H
#define SLUICE_LAYOUT_LOOKBACK_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// Sizes in bytes. The scratch begins with a head of counters; one state for each tile follows. A
// state has twice this size if values have 64 bits.
#define SLUICE_LOOKBACK_HEAD 16u
#define SLUICE_LOOKBACK_STATE 8u
// If the number of polls is this value, no state is read at all: each workgroup computes the value
// of every tile before its own. Tests use it to run that fallback.
#define SLUICE_LOOKBACK_NEVER 0xffffffffu

SLUICE_LAYOUT_END
#endif
