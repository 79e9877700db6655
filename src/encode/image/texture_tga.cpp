// SPDX-License-Identifier: MIT OR Apache-2.0
// Targa: http://www.dca.fee.unicamp.br/~martino/disciplinas/ia369/trabalhos/tgaffs.pdf
#include <algorithm>

#include "formats/little_endian.h"
#include "formats/tga_packets.h"
#include "encode/image/texture.h"

namespace sluice {
namespace {

constexpr uint64_t kHeaderBytes = 18;
constexpr uint32_t kTypeMapped = 1, kTypeColour = 2, kTypeGrey = 3, kTypePacked = 8; // or-ed
constexpr uint32_t kFromRight = 16, kFromTop = 32, kInterleaved = 192;               // descriptor

struct TgaHeader {
    uint32_t type; // without kTypePacked
    bool isPacked, hasMap;
    uint32_t mapFirst, mapCount, mapBits;
    uint32_t width, height, bits;
    uint32_t descriptor;
    uint64_t mapOffset, dataOffset;

    uint32_t mapEntryBytes() const { return (mapBits + 7) / 8; }
    uint32_t pixelBytes() const { return (bits + 7) / 8; }
    uint32_t alphaBits() const { return descriptor & 15; }
    uint32_t colourBits() const { return type == kTypeMapped ? mapBits : bits; }
    bool hasAlpha() const
    {
        if (type == kTypeGrey) return bits == 16;
        return colourBits() == 32 || (colourBits() == 16 && alphaBits() == 1);
    }
};

bool isColourDepth(uint32_t bits) { return bits == 15 || bits == 16 || bits == 24 || bits == 32; }

const char* readHeader(const uint8_t* bytes, uint64_t size, TgaHeader& header)
{
    if (size < kHeaderBytes) return "it is too short for a Targa header";
    header.hasMap = bytes[1] == 1;
    header.isPacked = (bytes[2] & kTypePacked) != 0;
    header.type = bytes[2] & ~kTypePacked;
    header.mapFirst = loadLe16(bytes + 3);
    header.mapCount = loadLe16(bytes + 5);
    header.mapBits = bytes[7];
    header.width = loadLe16(bytes + 12);
    header.height = loadLe16(bytes + 14);
    header.bits = bytes[16];
    header.descriptor = bytes[17];
    if (bytes[1] > 1 || header.type < kTypeMapped || header.type > kTypeGrey)
        return "its header is not one of Targa, or of a type that is not read";
    if ((header.descriptor & kInterleaved) != 0) return "its rows are interleaved";
    if (header.width == 0 || header.height == 0) return "it has no texels";
    if (header.width > kMaxTextureExtent || header.height > kMaxTextureExtent)
        return "it is larger than 16384 texels a side";
    bool fits = header.bits == 8 || header.bits == 16; // indices, or grey with alpha or without
    if (header.type == kTypeMapped) fits = fits && header.hasMap && isColourDepth(header.mapBits);
    if (header.type == kTypeColour) fits = isColourDepth(header.bits);
    if (!fits) return "its depth is not read";
    header.mapOffset = kHeaderBytes + bytes[0];
    header.dataOffset =
        header.mapOffset + (header.hasMap ? uint64_t(header.mapCount) * header.mapEntryBytes() : 0);
    return header.dataOffset <= size ? nullptr : "it ends too early";
}

uint8_t fiveBits(uint32_t value)
{
    value &= 31;
    return uint8_t(value << 3 | value >> 2);
}

// Converts a colour of 15, 16, 24 or 32 bits to RGBA8. Returns its alpha.
uint8_t readColour(const uint8_t* from, uint32_t bits, bool hasAlpha, uint8_t* rgba)
{
    if (bits <= 16) {
        const uint32_t value = loadLe16(from);
        rgba[0] = fiveBits(value >> 10);
        rgba[1] = fiveBits(value >> 5);
        rgba[2] = fiveBits(value);
        rgba[3] = !hasAlpha || (value & 0x8000) != 0 ? 255 : 0;
    } else {
        rgba[0] = from[2];
        rgba[1] = from[1];
        rgba[2] = from[0];
        rgba[3] = hasAlpha ? from[3] : 255;
    }
    return rgba[3];
}

// Turns stored pixels into RGBA8.
class TgaPixels {
public:
    TgaPixels(const uint8_t* file, const TgaHeader& header) : m_file(file), m_header(header) {}

    // False if the colour map has no such entry.
    bool convert(const uint8_t* from, uint8_t* rgba)
    {
        uint8_t alpha = 255;
        if (m_header.type == kTypeGrey) {
            rgba[0] = rgba[1] = rgba[2] = from[0];
            if (m_header.bits == 16) alpha = from[1];
            rgba[3] = alpha;
        } else if (m_header.type == kTypeMapped) {
            const uint32_t index = m_header.bits == 8 ? from[0] : loadLe16(from);
            if (index < m_header.mapFirst || index - m_header.mapFirst >= m_header.mapCount)
                return false;
            const uint64_t entry = uint64_t(index - m_header.mapFirst) * m_header.mapEntryBytes();
            alpha = readColour(m_file + m_header.mapOffset + entry, m_header.mapBits,
                               m_header.hasAlpha(), rgba);
        } else {
            alpha = readColour(from, m_header.bits, m_header.hasAlpha(), rgba);
        }
        m_anyAlpha |= alpha;
        return true;
    }
    bool isTransparent() const { return m_anyAlpha == 0; } // all of it

private:
    const uint8_t* m_file;
    const TgaHeader& m_header;
    uint8_t m_anyAlpha = 0;
};

// Converts all pixels in the file's order.
const char* readPixels(const uint8_t* bytes, uint64_t size, const TgaHeader& header,
                       TgaPixels& convert, uint8_t* rgba, uint64_t count)
{
    static constexpr const char *kShort = "it ends too early",
                                *kIndex = "it has an index outside its colour map";
    const uint32_t pixelBytes = header.pixelBytes();
    uint64_t at = header.dataOffset;
    if (!header.isPacked) {
        if (count > (size - at) / pixelBytes) return kShort;
        for (uint64_t i = 0; i < count; ++i)
            if (!convert.convert(bytes + at + i * pixelBytes, rgba + 4 * i)) return kIndex;
        return nullptr;
    }
    for (uint64_t pixel = 0; pixel < count;) { // a packet gives a pixel at least
        if (at >= size) return kShort;
        const uint8_t packet = bytes[at++];
        const uint32_t stored = tgaStored(packet);
        const uint64_t pixels = tgaPixels(packet);
        if (pixels > count - pixel) return "a run goes beyond its last row";
        if (uint64_t(stored) * pixelBytes > size - at) return kShort;
        for (uint64_t i = 0; i < pixels; ++i) {
            const uint64_t source = stored == 1 ? 0 : i * pixelBytes;
            if (!convert.convert(bytes + at + source, rgba + 4 * (pixel + i))) return kIndex;
        }
        at += uint64_t(stored) * pixelBytes;
        pixel += pixels;
    }
    return nullptr;
}

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

} // namespace

const char* readTga(const uint8_t* bytes, uint64_t size, Pixels& pixels, uint64_t limit,
                    uint64_t* wanted)
{
    TgaHeader header;
    const char* problem = readHeader(bytes, size, header);
    if (problem != nullptr) return problem;
    const uint64_t count = uint64_t(header.width) * header.height, left = size - header.dataOffset;
    // This keeps a short file from asking for much memory.
    const uint64_t most =
        header.isPacked ? left / (1 + header.pixelBytes()) * 128 : left / header.pixelBytes();
    if (count > most) return "it ends too early";
    if (wanted != nullptr) *wanted = count * 4;
    if (count * 4 > limit) return "it is larger than is allowed";
    pixels.width = header.width;
    pixels.height = header.height;
    pixels.rgba.resize(size_t(count) * 4);
    TgaPixels convert(bytes, header);
    problem = readPixels(bytes, size, header, convert, pixels.rgba.data(), count);
    if (problem != nullptr) return problem;
    bool hasAlpha = header.hasAlpha();
    if (hasAlpha && header.alphaBits() == 0 && convert.isTransparent()) {
        for (size_t i = 3; i < pixels.rgba.size(); i += 4)
            pixels.rgba[i] = 255;
        hasAlpha = false;
    }
    pixels.channels = (header.type == kTypeGrey ? 1 : 3) + (hasAlpha ? 1 : 0);
    if ((header.descriptor & kFromTop) == 0) flipRows(pixels);
    if ((header.descriptor & kFromRight) != 0) mirrorRows(pixels);
    return nullptr;
}

} // namespace sluice
