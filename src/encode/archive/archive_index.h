// SPDX-License-Identifier: MIT OR Apache-2.0
// Packs the index of an archive that shares tiles (docs/format.md, 4.11 and 4.12).
#pragma once

#include <string>
#include <vector>

#include "formats/integers.h"

namespace sluice {

// Codes the index in its short form, compresses it piece by piece, and returns the result.
//   entries    entries of assets, shares and parts in the order of their extents; the parts of a
//              share follow the share and hold its index at assetTileChecksum
//   names      the names of all entries
//   blocks     the parameter blocks
//   order      indices of the assets and parts, in the order of their names
//   codedSize  receives the size of the coded index in bytes, before it is compressed
std::vector<uint8_t> packArchiveIndex(const std::vector<uint8_t>& entries, const std::string& names,
                                      const std::vector<uint8_t>& blocks,
                                      const std::vector<uint32_t>& order, uint32_t& codedSize);

} // namespace sluice
