// SPDX-License-Identifier: MIT OR Apache-2.0
// A GDeflate decoder for the CPU that is made for speed. It gives the same statuses as the
// reference in ../gdeflate.h and, for tiles whose status is OK, the same bytes.
#pragma once

#include <sluice/sluice_gdeflate.h>

#include "formats/integers.h"

namespace sluice::cpu::fast {

// Decodes one tile, with the arguments and statuses of cpu::decodeGdeflateTile. It allocates
// nothing and needs about 30 KiB of stack.
uint32_t decodeGdeflateTile(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                            size_t destinationSize);
// Decodes one tile in portable C++, without AVX2 even if the processor has it.
uint32_t decodeGdeflateTilePortably(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                                    size_t destinationSize);

// Runs the GDeflate command on a whole list of tiles, with this decoder.
void gdeflate(const SluiceGdeflateInfo& info);

} // namespace sluice::cpu::fast
