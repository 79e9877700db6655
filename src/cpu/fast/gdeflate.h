// SPDX-License-Identifier: MIT OR Apache-2.0
// A GDeflate decoder made for speed. Its statuses, and the bytes of tiles that are OK, are those of
// the reference in ../gdeflate.h.
#pragma once

#include <sluice/sluice_gdeflate.h>

#include "formats/integers.h"

namespace sluice::cpu::fast {

// Does what cpu::decodeGdeflateTile does. Uses about 30 KiB of stack and allocates nothing.
uint32_t decodeGdeflateTile(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                            size_t destinationSize);
// Does the same in portable C++, without AVX2 even if the processor has it.
uint32_t decodeGdeflateTilePortably(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                                    size_t destinationSize);

// Runs the command as ReferenceBackend does, with this decoder.
void gdeflate(const SluiceGdeflateInfo& info);

} // namespace sluice::cpu::fast
