// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads Targa files, as described in
// http://www.dca.fee.unicamp.br/~martino/disciplinas/ia369/trabalhos/tgaffs.pdf. In a packed file
// (run-length coded) each packet has a header byte and the pixels that it repeats or lists.
#include <algorithm>
#include <cstring>

#include "formats/little_endian.h"
#include "formulas/filter.h"
#include "encode/image/texture.h"

namespace sluice {
namespace {

constexpr uint64_t kHeaderBytes = 18;
// Image types. kTypePacked is added to one of the others if the pixels are run-length coded.
constexpr uint32_t kTypeMapped = 1, kTypeColour = 2, kTypeGrey = 3, kTypePacked = 8;
// Bits of the header's descriptor.
constexpr uint32_t kFromRight = 16, kFromTop = 32, kInterleaved = 192;

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

// Holds what the extension area at the end of a file says about the fourth channel.
enum class Attributes : uint8_t {
    none,      // there is no alpha
    ignored,   // it has no meaning
    retained,  // it has no known meaning, but should be kept
    alpha,     // it is alpha
    multiplied // it is alpha, by which the colours are multiplied
};

struct TgaExtension {
    bool isThere = false;
    uint8_t attributes = 0; // a value of Attributes; larger ones mean nothing
    uint32_t gammaNumerator = 0, gammaDenominator = 0; // 0: it is not given
};

// Reads the extension area, which the last 26 bytes of a file point to.
TgaExtension readExtension(const uint8_t* bytes, uint64_t size)
{
    static constexpr char signature[] = "TRUEVISION-XFILE."; // with its terminating 0
    constexpr uint64_t footerBytes = 26, areaBytes = 495, gammaAt = 478, attributesAt = 494;
    TgaExtension extension;
    if (size < footerBytes + areaBytes ||
        std::memcmp(bytes + size - sizeof signature, signature, sizeof signature) != 0)
        return extension;
    const uint32_t at = loadLe32(bytes + size - footerBytes);
    if (at < kHeaderBytes || at > size - footerBytes - areaBytes ||
        loadLe16(bytes + at) < areaBytes)
        return extension;
    extension.isThere = true;
    extension.attributes = bytes[at + attributesAt];
    extension.gammaNumerator = loadLe16(bytes + at + gammaAt);
    extension.gammaDenominator = loadLe16(bytes + at + gammaAt + 2);
    return extension;
}

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
    bool fits = header.bits == 8 || header.bits == 16; // indices; grey, or grey and alpha
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

    // Converts a stored pixel. Returns false if its index lies outside the colour map.
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
        m_commonAlpha &= alpha;
        return true;
    }
    bool isTransparent() const { return m_anyAlpha == 0; } // every pixel so far has alpha 0
    bool isOpaque() const { return m_commonAlpha == 255; } // every pixel so far has alpha 255

private:
    const uint8_t* m_file;
    const TgaHeader& m_header;
    uint8_t m_anyAlpha = 0, m_commonAlpha = 255;
};

// Applies what the header and the extension area say about alpha. Returns whether there is alpha.
bool settleAlpha(const TgaHeader& header, const TgaExtension& extension, const TgaPixels& converted,
                 Pixels& pixels)
{
    if (!header.hasAlpha()) return false;
    const Attributes attributes = Attributes(extension.attributes);
    const bool says = extension.isThere && attributes <= Attributes::multiplied;
    const bool means = says ? attributes > Attributes::ignored : !converted.isTransparent();
    if (!means) {
        if (says && !converted.isOpaque())
            addRemark(pixels.obeyed, "its extension area says that it has no alpha");
        for (size_t i = 3; i < pixels.rgba.size(); i += 4)
            pixels.rgba[i] = 255;
        return false;
    }
    if (converted.isOpaque()) return true;
    pixels.premultiplied = says && attributes == Attributes::multiplied;
    if (pixels.premultiplied) addRemark(pixels.obeyed, "its colours are multiplied by alpha");
    if (says && attributes == Attributes::retained)
        addRemark(pixels.ignored, "its extension area does not know what its alpha means (type 2); "
                                  "it is kept");
    if (!says && header.alphaBits() == 0 && header.type != kTypeGrey)
        addRemark(pixels.ignored, "its header says that it has no alpha, but the fourth byte of "
                                  "its pixels, which differs, is kept as such");
    return true;
}

// Converts all pixels in the file's order. Returns null, or a text that says what is wrong.
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
    for (uint64_t pixel = 0; pixel < count;) { // terminates: each packet gives at least one pixel
        if (at >= size) return kShort;
        const uint8_t packet = bytes[at++];
        const uint32_t stored = filterPacketStored(packet);
        const uint64_t pixels = filterPacketPixels(packet);
        // Some writers let the last packet reach beyond the last pixel. The file need not have
        // these extra pixels.
        const uint64_t wanted = std::min(pixels, count - pixel);
        if ((stored == 1 ? 1 : wanted) * pixelBytes > size - at) return kShort;
        for (uint64_t i = 0; i < wanted; ++i) {
            const uint64_t source = stored == 1 ? 0 : i * pixelBytes;
            if (!convert.convert(bytes + at + source, rgba + 4 * (pixel + i))) return kIndex;
        }
        at += uint64_t(stored) * pixelBytes;
        pixel += wanted;
    }
    return nullptr;
}

} // namespace

const char* readTga(const uint8_t* bytes, uint64_t size, Pixels& pixels, uint64_t limit,
                    uint64_t* wanted)
{
    pixels = {};
    TgaHeader header;
    const char* problem = readHeader(bytes, size, header);
    if (problem != nullptr) return problem;
    const uint64_t count = uint64_t(header.width) * header.height, left = size - header.dataOffset;
    // A packet of one header byte and one pixel gives at most 128 pixels. Without this check a
    // short file could claim a huge picture and make us allocate it.
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
    const TgaExtension extension = readExtension(bytes, size);
    const bool hasAlpha = settleAlpha(header, extension, convert, pixels);
    const uint32_t numerator = extension.gammaNumerator, denominator = extension.gammaDenominator;
    if (denominator != 0 && numerator != denominator && 10 * numerator != 22 * denominator)
        addRemark(pixels.ignored, "its gamma of " + std::to_string(numerator) + "/" +
                                      std::to_string(denominator) + " is ignored");
    pixels.channels = (header.type == kTypeGrey ? 1 : 3) + (hasAlpha ? 1 : 0);
    const bool fromTop = (header.descriptor & kFromTop) != 0,
               fromRight = (header.descriptor & kFromRight) != 0;
    turnPixels(pixels, fromTop ? fromRight ? 2 : 1 : fromRight ? 3 : 4);
    return nullptr;
}

} // namespace sluice
