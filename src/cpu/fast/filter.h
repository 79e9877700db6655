// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes filters, with loops for the size and predictor of each column.
#pragma once

#include <sluice/sluice_filter.h>

#include "formats/integers.h"

namespace sluice::cpu::fast {

// Does what cpu::undoFilter does. It takes some 5 KiB of stack besides the section's and allocates
// nothing.
uint32_t undoFilter(const void* description, size_t descriptionSize, const uint8_t* filtered,
                    uint32_t size, uint8_t* tile);

// The command, as that of ReferenceBackend.
void filter(const SluiceFilterInfo& info);

} // namespace sluice::cpu::fast
