// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns and mirrors pictures.
#include <algorithm>
#include <cstring>

#include "encode/image/texture.h"

namespace sluice {
namespace {

void flipRows(Pixels& pixels)
{
    const size_t row = size_t(pixels.width) * 4;
    for (uint32_t y = 0; y < pixels.height / 2; ++y) {
        uint8_t* const a = pixels.rgba.data() + y * row;
        std::swap_ranges(a, a + row, pixels.rgba.data() + (pixels.height - 1 - y) * row);
    }
}

void mirrorRows(Pixels& pixels)
{
    for (uint32_t y = 0; y < pixels.height; ++y) {
        uint8_t* const row = pixels.rgba.data() + size_t(y) * pixels.width * 4;
        for (uint32_t x = 0; x < pixels.width / 2; ++x)
            std::swap_ranges(row + 4 * x, row + 4 * x + 4, row + 4 * (pixels.width - 1 - x));
    }
}

// Transposes the picture: columns become rows.
void transpose(Pixels& pixels)
{
    std::vector<uint8_t> turned(pixels.rgba.size());
    for (uint32_t y = 0; y < pixels.height; ++y)
        for (uint32_t x = 0; x < pixels.width; ++x)
            std::memcpy(&turned[(size_t(x) * pixels.height + y) * 4],
                        &pixels.rgba[(size_t(y) * pixels.width + x) * 4], 4);
    pixels.rgba.swap(turned);
    std::swap(pixels.width, pixels.height);
}

} // namespace

void addRemark(std::string& remarks, const std::string& remark)
{
    if (!remark.empty()) remarks += (remarks.empty() ? "" : "; ") + remark;
}

void turnPixels(Pixels& pixels, uint32_t orientation)
{
    // An EXIF orientation says at which sides of the shown picture the file's first row and first
    // column are. With 5 to 8 the first row is shown as a column.
    if (orientation < 1 || orientation > 8) return;
    if (orientation >= 5) transpose(pixels);
    const bool fromRight =
                   orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7,
               fromBottom =
                   orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    if (fromRight) mirrorRows(pixels);
    if (fromBottom) flipRows(pixels);
}

} // namespace sluice
