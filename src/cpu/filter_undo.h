// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "formats/filter.h"

namespace sluice::cpu {

// Undoes a filter: reads `size` bytes at `filtered` and writes the original bytes to `tile`.
// Returns a SluiceTileStatus.
uint32_t undoFilter(const void* description, size_t descriptionSize, const uint8_t* filtered,
                    uint32_t size, uint8_t* tile);

} // namespace sluice::cpu
