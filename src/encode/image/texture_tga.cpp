// SPDX-License-Identifier: MIT OR Apache-2.0
// Targa: http://www.dca.fee.unicamp.br/~martino/disciplinas/ia369/trabalhos/tgaffs.pdf
#include <algorithm>

#include "formats/little_endian.h"
#include "formats/tga_packets.h"
#include "encode/image/texture.h"

namespace sluice {
namespace {

constexpr u64 kHeaderBytes = 18;
constexpr u32 kTypeMapped = 1, kTypeColour = 2, kTypeGrey = 3, kTypePacked = 8; // or-ed
constexpr u32 kFromRight = 16, kFromTop = 32, kInterleaved = 192;               // descriptor

struct TgaHeader {
    u32 type; // without kTypePacked
    bool isPacked, hasMap;
    u32 mapFirst, mapCount, mapBits;
    u32 width, height, bits;
    u32 descriptor;
    u64 mapOffset, dataOffset;

    u32 mapEntryBytes() const { return (mapBits + 7) / 8; }
    u32 pixelBytes() const { return (bits + 7) / 8; }
    u32 alphaBits() const { return descriptor & 15; }
    u32 colourBits() const { return type == kTypeMapped ? mapBits : bits; }
    bool hasAlpha() const
    {
        if (type == kTypeGrey) return bits == 16;
        return colourBits() == 32 || (colourBits() == 16 && alphaBits() == 1);
    }
};

bool isColourDepth(u32 bits) { return bits == 15 || bits == 16 || bits == 24 || bits == 32; }

const char* readHeader(const u8* bytes, u64 size, TgaHeader& header)
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
        header.mapOffset + (header.hasMap ? u64(header.mapCount) * header.mapEntryBytes() : 0);
    return header.dataOffset <= size ? nullptr : "it ends too early";
}

u8 fiveBits(u32 value)
{
    value &= 31;
    return u8(value << 3 | value >> 2);
}

// Converts a colour of 15, 16, 24 or 32 bits to RGBA8. Returns its alpha.
u8 readColour(const u8* from, u32 bits, bool hasAlpha, u8* rgba)
{
    if (bits <= 16) {
        const u32 value = loadLe16(from);
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
    TgaPixels(const u8* file, const TgaHeader& header) : m_file(file), m_header(header) {}

    // False if the colour map has no such entry.
    bool convert(const u8* from, u8* rgba)
    {
        u8 alpha = 255;
        if (m_header.type == kTypeGrey) {
            rgba[0] = rgba[1] = rgba[2] = from[0];
            if (m_header.bits == 16) alpha = from[1];
            rgba[3] = alpha;
        } else if (m_header.type == kTypeMapped) {
            const u32 index = m_header.bits == 8 ? from[0] : loadLe16(from);
            if (index < m_header.mapFirst || index - m_header.mapFirst >= m_header.mapCount)
                return false;
            const u64 entry = u64(index - m_header.mapFirst) * m_header.mapEntryBytes();
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
    const u8* m_file;
    const TgaHeader& m_header;
    u8 m_anyAlpha = 0;
};

// Converts all pixels in the file's order.
const char* readPixels(const u8* bytes, u64 size, const TgaHeader& header, TgaPixels& convert,
                       u8* rgba, u64 count)
{
    static constexpr const char *kShort = "it ends too early",
                                *kIndex = "it has an index outside its colour map";
    const u32 pixelBytes = header.pixelBytes();
    u64 at = header.dataOffset;
    if (!header.isPacked) {
        if (count > (size - at) / pixelBytes) return kShort;
        for (u64 i = 0; i < count; ++i)
            if (!convert.convert(bytes + at + i * pixelBytes, rgba + 4 * i)) return kIndex;
        return nullptr;
    }
    for (u64 pixel = 0; pixel < count;) { // a packet gives a pixel at least
        if (at >= size) return kShort;
        const u8 packet = bytes[at++];
        const u32 stored = tgaStored(packet);
        const u64 pixels = tgaPixels(packet);
        if (pixels > count - pixel) return "a run goes beyond its last row";
        if (u64(stored) * pixelBytes > size - at) return kShort;
        for (u64 i = 0; i < pixels; ++i) {
            const u64 source = stored == 1 ? 0 : i * pixelBytes;
            if (!convert.convert(bytes + at + source, rgba + 4 * (pixel + i))) return kIndex;
        }
        at += u64(stored) * pixelBytes;
        pixel += pixels;
    }
    return nullptr;
}

void flipRows(Pixels& pixels)
{
    const size_t row = size_t(pixels.width) * 4;
    for (u32 y = 0; y < pixels.height / 2; ++y) {
        u8* const a = pixels.rgba.data() + y * row;
        std::swap_ranges(a, a + row, pixels.rgba.data() + (pixels.height - 1 - y) * row);
    }
}

void mirrorRows(Pixels& pixels)
{
    for (u32 y = 0; y < pixels.height; ++y) {
        u8* const row = pixels.rgba.data() + size_t(y) * pixels.width * 4;
        for (u32 x = 0; x < pixels.width / 2; ++x)
            std::swap_ranges(row + 4 * x, row + 4 * x + 4, row + 4 * (pixels.width - 1 - x));
    }
}

} // namespace

const char* readTga(const u8* bytes, u64 size, Pixels& pixels, u64 limit, u64* wanted)
{
    TgaHeader header;
    const char* problem = readHeader(bytes, size, header);
    if (problem != nullptr) return problem;
    const u64 count = u64(header.width) * header.height, left = size - header.dataOffset;
    // This keeps a short file from asking for much memory.
    const u64 most =
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
