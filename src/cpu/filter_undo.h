// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference for undoing the filter of one tile.
#pragma once

#include "formats/filter.h"

namespace sluice::cpu {

// Undoes a filter: reads `size` bytes at `filtered`, and writes `size` original bytes to `tile`.
// description: the description of the filter (docs/format.md, section 8). Returns a
// SluiceTileStatus.
uint32_t undoFilter(const void* description, size_t descriptionSize, const uint8_t* filtered,
                    uint32_t size, uint8_t* tile);

} // namespace sluice::cpu
