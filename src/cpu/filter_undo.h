// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "formats/filter.h"

namespace sluice::cpu {

// Undoes a filter: `size` bytes at `filtered` become the tile's own at `tile`. Returns a
// SluiceTileStatus.
u32 undoFilter(const void* description, size_t descriptionSize, const u8* filtered, u32 size,
               u8* tile);

} // namespace sluice::cpu
