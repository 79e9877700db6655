// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/picture.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <zlib.h>

namespace viewer {

namespace {

void addU32(std::string& bytes, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes += char(value >> shift & 0xff);
}

void addChunk(std::string& png, const std::string& name, const std::string& data)
{
    const std::string chunk = name + data;
    addU32(png, uint32_t(data.size()));
    png += chunk;
    addU32(png,
           uint32_t(crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), uInt(chunk.size()))));
}

// Paeth's predictor of PNG: returns the byte on the left, above, or above left, whichever is
// nearest to left + above - corner.
int paeth(int left, int above, int corner)
{
    const int plane = left + above - corner;
    const int toLeft = std::abs(plane - left), toAbove = std::abs(plane - above),
              toCorner = std::abs(plane - corner);
    if (toLeft <= toAbove && toLeft <= toCorner) return left;
    return toAbove <= toCorner ? above : corner;
}

std::string pngOf(uint32_t width, uint32_t height, const std::string& colours)
{
    const size_t stride = size_t{width} * 3;
    std::string rows;
    for (size_t y = 0; y < height; ++y) {
        rows += char(4); // 4 is PNG's Paeth filter, which suits such pictures
        for (size_t x = 0; x < stride; ++x) {
            const auto at = [&](size_t row, size_t column) {
                return int(uint8_t(colours[row * stride + column]));
            };
            const int left = x >= 3 ? at(y, x - 3) : 0, above = y > 0 ? at(y - 1, x) : 0,
                      corner = x >= 3 && y > 0 ? at(y - 1, x - 3) : 0;
            rows += char(at(y, x) - paeth(left, above, corner));
        }
    }
    uLongf packedSize = compressBound(uLong(rows.size()));
    std::string packed(packedSize, 0);
    if (compress2(reinterpret_cast<Bytef*>(packed.data()), &packedSize,
                  reinterpret_cast<const Bytef*>(rows.data()), uLong(rows.size()), 9) != Z_OK)
        throw std::runtime_error("a picture cannot be compressed");
    packed.resize(packedSize);
    std::string header;
    addU32(header, width);
    addU32(header, height);
    header += std::string("\x08\x02\x00\x00\x00", 5); // 8 bits a channel, RGB, no interlacing
    std::string png = "\x89PNG\r\n\x1a\n";
    addChunk(png, "IHDR", header);
    addChunk(png, "IDAT", packed);
    addChunk(png, "IEND", "");
    return png;
}

} // namespace

void writeFile(const std::string& path, const std::string& bytes)
{
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), std::streamsize(bytes.size()));
    file.close();
    if (!file) throw std::runtime_error(path + " cannot be written");
}

void writePicture(const std::string& path, uint32_t width, uint32_t height,
                  const std::vector<uint8_t>& pixels)
{
    std::string colours;
    for (size_t i = 0; i < pixels.size(); i += 4)
        colours.append(reinterpret_cast<const char*>(pixels.data() + i), 3);
    const bool isPpm = path.size() > 4 && path.compare(path.size() - 4, 4, ".ppm") == 0;
    if (isPpm)
        writeFile(path, "P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n" +
                            colours);
    else
        writeFile(path, pngOf(width, height, colours));
}

} // namespace viewer
