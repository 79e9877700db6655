// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "../formats/filter.h"

#include <vector>

namespace sluice {

// The values of a column before prediction: mapped, and its base subtracted. records: `count` of
// them.
void columnValues(const FilterSection& section, uint32_t column, const uint8_t* records,
                  uint32_t count, std::vector<uint32_t>& values);

// values as residuals, each byte in its plane below `to`.
void writeResiduals(const FilterSection& section, const FilterColumn& column,
                    const std::vector<uint32_t>& values, const FilterPlane* planes, uint8_t* to);

// Takes `size` bytes of packets of a Targa file apart. False: they end inside a packet.
bool splitPackets(const uint8_t* bytes, uint32_t size, uint32_t pixelBytes,
                  std::vector<uint8_t>& headers, std::vector<uint8_t>& pixels);

// Filters a section's `size` bytes. False: packets that end inside one.
bool applySection(const FilterSection& section, const uint8_t* bytes, uint32_t size,
                  uint8_t* filtered);

// Filters a tile. Errors: FORMAT, VERSION (of the description), ARGUMENT (its sections do not fit
// the tile).
SluiceStatus applyFilter(const void* description, size_t descriptionSize, const uint8_t* tile,
                         uint32_t size, uint8_t* filtered);

// Appends a section to a description, which is empty at first.
void appendSection(const FilterSection& section, std::vector<uint32_t>& description);

} // namespace sluice
