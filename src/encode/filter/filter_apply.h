// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "formats/filter.h"

#include <vector>

namespace sluice {

// Takes apart `size` bytes of packets of a Targa file. Returns false if they end inside a packet.
bool splitPackets(const u8* bytes, u32 size, u32 pixelBytes, std::vector<u8>& headers,
                  std::vector<u8>& pixels);

// Filters a section's `size` bytes. Returns false if they are packets and end inside one.
bool applySection(const FilterSection& section, const u8* bytes, u32 size, u8* filtered);

// Filters a tile. Errors: FORMAT and VERSION of the description, ARGUMENT (its sections do not fit
// the tile).
SluiceStatus applyFilter(const void* description, size_t descriptionSize, const u8* tile, u32 size,
                         u8* filtered);

// Appends a section to a description, which is empty at first.
void appendSection(const FilterSection& section, std::vector<u32>& description);

} // namespace sluice
