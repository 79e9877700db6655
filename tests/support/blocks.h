// SPDX-License-Identifier: MIT OR Apache-2.0
// A simple decoder of BC1, BC3, BC4 and BC5.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::test {

// Returns a level as RGBA from 0 to 255 with fractions, in rows without gaps. format: a VkFormat.
// Channels that the format does not have are 0; alpha is then 255.
std::vector<double> decodeBlocks(const std::vector<uint8_t>& blocks, uint32_t width,
                                 uint32_t height, uint32_t format);

} // namespace sluice::test
