// SPDX-License-Identifier: MIT OR Apache-2.0
// Undoes filters on the CPU, fast: there are separate loops for each value size and predictor.
#pragma once

#include <sluice/sluice_filter.h>

#include "formats/integers.h"

namespace sluice::cpu::fast {

// Undoes the filter of one tile, with the arguments and results of cpu::undoFilter. It allocates
// nothing, but needs about 5 KiB of stack and the size of a FilterSection.
uint32_t undoFilter(const void* description, size_t descriptionSize, const uint8_t* filtered,
                    uint32_t size, uint8_t* tile);

// Runs the filter command on the whole list of tiles.
void filter(const SluiceFilterInfo& info);

} // namespace sluice::cpu::fast
