// SPDX-License-Identifier: MIT OR Apache-2.0
// Single-pass look-back.
#ifndef SLUICE_LAYOUT_LOOKBACK_H
#define SLUICE_LAYOUT_LOOKBACK_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// Scratch of a single-pass look-back: a head of two counters, then one state a tile (twice as large
// for 64-bit values).
#define SLUICE_LOOKBACK_HEAD 16u
#define SLUICE_LOOKBACK_STATE 8u
// How often a workgroup looks at a tile that has published nothing before it computes that tile
// itself, and how often the scanner looks before it ends: where a workgroup that has started is
// known to go on, and where it is not.
#define SLUICE_LOOKBACK_POLLS 4096u
#define SLUICE_LOOKBACK_POLLS_UNSURE 64u
#define SLUICE_LOOKBACK_SCANNER_TILES 64u // from so many tiles on there is a scanner
#define SLUICE_LOOKBACK_NEVER 0xffffffffu // for tests: reads no state at all

SLUICE_LAYOUT_END
#endif
