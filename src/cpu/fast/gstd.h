// SPDX-License-Identifier: MIT OR Apache-2.0
// A Gstd decoder for the CPU that is made for speed. It gives the same statuses as the reference in
// ../gstd.h and, for tiles whose status is OK, the same bytes.
#pragma once

#include <sluice/sluice_gstd.h>

#include "formats/integers.h"

namespace sluice::cpu::fast {

// The alignment and the size, in bytes, of a decoder's scratch memory. The caller lets only one
// thread at a time use it.
constexpr uint32_t kGstdScratchAlignment = 16;
extern const size_t kGstdScratchSize; // about 100 KB

// Decodes one tile, with the arguments and statuses of cpu::decodeGstdTile. `scratch` has
// kGstdScratchSize bytes with any contents.
uint32_t decodeGstdTile(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                        size_t destinationSize, void* scratch);
// Decodes one tile in portable C++, without AVX2 even if the processor has it.
uint32_t decodeGstdTilePortably(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                                size_t destinationSize, void* scratch);

// Runs the Gstd command on a whole list of tiles, with this decoder and the command's scratch.
void gstd(const SluiceGstdInfo& info);

} // namespace sluice::cpu::fast
