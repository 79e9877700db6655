// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "formats/filter.h"

#include <vector>

namespace sluice {

// Splits `size` bytes of Targa packets into their header bytes and their pixels. Returns false if
// the last packet is incomplete.
bool splitPackets(const uint8_t* bytes, uint32_t size, uint32_t pixelBytes,
                  std::vector<uint8_t>& headers, std::vector<uint8_t>& pixels);

// Filters the `size` bytes of a section into `filtered`. Returns false if the section consists of
// Targa packets and the last packet is incomplete.
bool applySection(const FilterSection& section, const uint8_t* bytes, uint32_t size,
                  uint8_t* filtered);

// Filters a tile. Errors: FORMAT and VERSION (the description is not valid), ARGUMENT (its sections
// do not fit the tile).
SluiceStatus applyFilter(const void* description, size_t descriptionSize, const uint8_t* tile,
                         uint32_t size, uint8_t* filtered);

// Appends a section to a description, which the caller passes empty for the first section.
void appendSection(const FilterSection& section, std::vector<uint32_t>& description);

} // namespace sluice
