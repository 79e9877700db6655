// SPDX-License-Identifier: MIT OR Apache-2.0
// The limits of GDeflate 1.0 (docs/format.md, section 1).
#ifndef SLUICE_LAYOUT_GDEFLATE_H
#define SLUICE_LAYOUT_GDEFLATE_H

#include "regions.h"

SLUICE_LAYOUT_BEGIN

#define SLUICE_GD_LANES 32u
#define SLUICE_GD_TILE_BYTES 65536u
#define SLUICE_GD_MAX_COMPRESSED 131072u
#define SLUICE_GD_MAX_BLOCKS 256u
#define SLUICE_GD_LITLEN_SYMS 288u
#define SLUICE_GD_DIST_SYMS 32u

SLUICE_LAYOUT_END
#endif
