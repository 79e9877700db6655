// SPDX-License-Identifier: MIT OR Apache-2.0
// Packs the index of an archive whose assets share tiles (docs/format.md, 4.11).
#pragma once

#include <string>
#include <vector>

#include "formats/integers.h"

namespace sluice {

// Codes and packs an index.
//   entries    entries of assets, shares and parts in the order of their extents; the parts of a
//              share follow it and hold its index at assetTileChecksum
//   order      indices of the assets and parts, in the order of their names
//   codedSize  receives the size of the coded index in bytes, before it is packed
std::vector<uint8_t> packArchiveIndex(const std::vector<uint8_t>& entries, const std::string& names,
                                      const std::vector<uint8_t>& blocks,
                                      const std::vector<uint32_t>& order, uint32_t& codedSize);

} // namespace sluice
