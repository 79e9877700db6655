// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace viewer {

// Writes a picture: as PPM if the path ends in .ppm, otherwise as PNG. `pixels` has four bytes a
// pixel, from the top row on; the fourth byte of a pixel is ignored. Throws if the file cannot be
// written.
void writePicture(const std::string& path, uint32_t width, uint32_t height,
                  const std::vector<uint8_t>& pixels);

void writeFile(const std::string& path, const std::string& bytes);

} // namespace viewer
