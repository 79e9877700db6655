// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace viewer {

// Writes the colours of pixels of four bytes, row by row from the top. The format is PPM if the
// name ends so, otherwise PNG. Throws.
void writePicture(const std::string& path, uint32_t width, uint32_t height,
                  const std::vector<uint8_t>& pixels);

void writeFile(const std::string& path, const std::string& bytes);

} // namespace viewer
