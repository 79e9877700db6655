// SPDX-License-Identifier: MIT OR Apache-2.0
// A Gstd decoder made for speed. Its statuses, and the bytes of tiles that are OK, are those of the
// reference in ../gstd.h.
#pragma once

#include <sluice/sluice_gstd.h>

#include "formats/integers.h"

namespace sluice::cpu::fast {

// The memory that decoding needs besides its arguments. Only one thread at a time may use it.
constexpr uint32_t kGstdScratchAlignment = 16;
extern const size_t kGstdScratchSize; // some 100 KB

// Like cpu::decodeGstdTile. `scratch` has kGstdScratchSize bytes of any contents, aligned as above.
uint32_t decodeGstdTile(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                        size_t destinationSize, void* scratch);
// Does the same in portable C++ on any processor.
uint32_t decodeGstdTilePortably(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                                size_t destinationSize, void* scratch);

// The command, as that of ReferenceBackend; with scratch as above.
void gstd(const SluiceGstdInfo& info);

} // namespace sluice::cpu::fast
