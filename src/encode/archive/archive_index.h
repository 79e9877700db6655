// SPDX-License-Identifier: MIT OR Apache-2.0
// Packs the index of an archive that shares tiles (docs/format.md, 4.11 and 4.12).
#pragma once

#include <string>
#include <vector>

#include "formats/integers.h"

namespace sluice {

// Codes the index, compresses the coded form piece by piece, and returns the result.
//   entries    entries of assets, of shares (tiles for several assets) and of parts (these assets),
//              in the order of their tiles in the file; the parts of a share follow the share, and
//              their field assetTileChecksum holds its index
//   names      the names of all entries
//   blocks     the parameter blocks
//   order      indices of the assets and parts, in the order of their names
//   codedSize  receives the size of the coded index in bytes, before it is compressed
std::vector<uint8_t> packArchiveIndex(const std::vector<uint8_t>& entries, const std::string& names,
                                      const std::vector<uint8_t>& blocks,
                                      const std::vector<uint32_t>& order, uint32_t& codedSize);

} // namespace sluice
