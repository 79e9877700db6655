// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads DDS files: https://learn.microsoft.com/en-us/windows/win32/direct3ddds/dds-header
#include "formats/image.h"

#include <algorithm>
#include <cstdio>

namespace sluice {
namespace {

constexpr uint32_t fourCC(const char (&text)[5])
{
    uint32_t code = 0;
    for (uint32_t i = 0; i < 4; ++i)
        code |= uint32_t(uint8_t(text[i])) << 8 * i;
    return code;
}

// Offsets of header fields from the start of the file.
enum DdsField : uint32_t {
    ddsSize = 4, // size of the header without the magic
    ddsFlags = 8,
    ddsHeight = 12,
    ddsWidth = 16,
    ddsDepth = 24,
    ddsMipCount = 28,
    ddsGimpMagic = 32,  // "GIMP-DDS", if GIMP has written the file
    ddsGimpCoding = 44, // four letters: how GIMP has coded colours in the channels
    ddsWriter = 68,     // "NVTT", if NVIDIA's tools have written the file
    ddsPixelSize = 76,
    ddsPixelFlags = 80,
    ddsFourCC = 84,
    ddsBits = 88,
    ddsMasks = 92, // u32[4]: red, green, blue, alpha
    ddsCaps2 = 112,
    ddsDxgi = 128, // only if fourCC is DX10
    ddsDimension = 132,
    ddsMisc = 136,
    ddsArraySize = 140,
    ddsMisc2 = 144,
    ddsDx10Bytes = 148,
};

constexpr uint32_t kHasHeight = 2, kHasDepth = 0x800000;
constexpr uint32_t kPixelAlpha = 1, kPixelAlphaOnly = 2, kPixelFourCC = 4, kPixelRgb = 0x40,
                   kPixelPremultiplied = 0x8000, kPixelLuminance = 0x20000,
                   kPixelBumpLuminance = 0x40000, kPixelBump = 0x80000;
constexpr uint32_t kPixelPalettes = 0x8 | 0x20 | 0x800 | 0x1000, kPixelDepth = 0x400,
                   kPixelYuv = 0x200;
// kPixelSrgb, kPixelNormal: only files of NVIDIA's tools and of GIMP have these flags.
constexpr uint32_t kPixelSrgb = 0x40000000, kPixelNormal = 0x80000000;
constexpr uint32_t kCaps2Cube = 0x200, kCaps2Faces = 0xfc00, kCaps2Volume = 0x200000;
constexpr uint32_t kMiscCube = 4;

// Values of fourCC and the VkFormat of each. A value is four letters or the number of a D3DFORMAT.
// docs/notes/images.md says who writes them.
constexpr struct {
    uint32_t code, format;
    uint32_t flags;   // SluiceImageFlags
    const char* note; // what the VkFormat does not say; null: nothing
} kFourCCs[] = {
    {fourCC("DXT1"), 133, 0, nullptr},
    {fourCC("DXT2"), 135, SLUICE_IMAGE_PREMULTIPLIED, nullptr},
    {fourCC("DXT3"), 135, 0, nullptr},
    {fourCC("DXT4"), 137, SLUICE_IMAGE_PREMULTIPLIED, nullptr},
    {fourCC("DXT5"), 137, 0, nullptr},
    {fourCC("RXGB"), 137, 0, "red is in alpha"},
    {fourCC("A2D5"), 137, 0, "a normal map with x in alpha and y in green"},
    {fourCC("xGBR"), 137, 0, "red is in alpha"},
    {fourCC("RxBG"), 137, 0, "green is in alpha"},
    {fourCC("RBxG"), 137, 0, "blue is in green, and green in alpha"},
    {fourCC("xRBG"), 137, 0, "red is in green, and green in alpha"},
    {fourCC("RGxB"), 137, 0, "blue is in alpha"},
    {fourCC("xGxR"), 137, 0, "red is in alpha"},
    {fourCC("GXRB"), 137, 0, "its channels are green, none, red, blue"},
    {fourCC("GRXB"), 137, 0, "its channels are green, red, none, blue"},
    {fourCC("BRGX"), 137, 0, "its channels are blue, red, green, none"},
    {fourCC("ATI1"), 139, 0, nullptr},
    {fourCC("BC4U"), 139, 0, nullptr},
    {fourCC("BC4S"), 140, 0, nullptr},
    {fourCC("ATI2"), 141, 0, nullptr},
    {fourCC("A2XY"), 141, 0, nullptr},
    {fourCC("BC5U"), 141, 0, nullptr},
    {fourCC("BC5S"), 142, 0, nullptr},
    {fourCC("BC6H"), 143, 0, nullptr},
    {fourCC("BC7L"), 145, 0, nullptr},
    {fourCC("BC7\0"), 145, 0, nullptr},
    {20, 30, 0, nullptr},                           // R8G8B8
    {21, 44, 0, nullptr},                           // A8R8G8B8
    {22, 44, SLUICE_IMAGE_OPAQUE, nullptr},         // X8R8G8B8
    {23, 4, 0, nullptr},                            // R5G6B5
    {24, 8, SLUICE_IMAGE_OPAQUE, nullptr},          // X1R5G5B5
    {25, 8, 0, nullptr},                            // A1R5G5B5
    {26, 1000340000, 0, nullptr},                   // A4R4G4B4
    {28, 1000470001, 0, nullptr},                   // A8
    {30, 1000340000, SLUICE_IMAGE_OPAQUE, nullptr}, // X4R4G4B4
    {31, 64, 0, nullptr},                           // A2B10G10R10
    {32, 37, 0, nullptr},                           // A8B8G8R8
    {33, 37, SLUICE_IMAGE_OPAQUE, nullptr},         // X8B8G8R8
    {34, 77, 0, nullptr},                           // G16R16
    {35, 58, 0, nullptr},                           // A2R10G10B10
    {36, 91, 0, nullptr},                           // A16B16G16R16
    {50, 9, 0, nullptr},                            // L8
    {51, 16, 0, "green is alpha"},                  // A8L8
    {60, 17, 0, nullptr},                           // V8U8
    {63, 38, 0, nullptr},                           // Q8W8V8U8
    {64, 78, 0, nullptr},                           // V16U16
    {81, 70, 0, nullptr},                           // L16
    {110, 92, 0, nullptr},                          // Q16W16V16U16
    {111, 76, 0, nullptr},                          // R16F
    {112, 83, 0, nullptr},                          // G16R16F
    {113, 97, 0, nullptr},                          // A16B16G16R16F
    {114, 100, 0, nullptr},                         // R32F
    {115, 103, 0, nullptr},                         // G32R32F
    {116, 109, 0, nullptr},                         // A32B32G32R32F
};

// A file with one grey channel has one of these flags. Old tools of NVIDIA mark luminance as RGB.
constexpr uint32_t kGrey = kPixelLuminance | kPixelRgb;

// Formats that a file describes by masks of its channels, and the VkFormat of each. Formats with 10
// bits are missing, because some writers swap their red and blue.
constexpr struct {
    uint32_t kinds; // the pixel format's flags must name at least one of these kinds, and no other
    uint32_t bits, red, green, blue, alpha;
    uint32_t format;
} kMasks[] = {
    {kPixelRgb, 32, 0xff, 0xff00, 0xff0000, 0xff000000, 37},  // R8G8B8A8
    {kPixelRgb, 32, 0xff0000, 0xff00, 0xff, 0xff000000, 44},  // B8G8R8A8
    {kPixelRgb, 24, 0xff, 0xff00, 0xff0000, 0, 23},           // R8G8B8
    {kPixelRgb, 24, 0xff0000, 0xff00, 0xff, 0, 30},           // B8G8R8
    {kPixelRgb, 32, 0xffff, 0xffff0000, 0, 0, 77},            // R16G16
    {kPixelRgb, 32, 0xffffffff, 0, 0, 0, 100},                // R32F
    {kPixelRgb, 16, 0xf800, 0x7e0, 0x1f, 0, 4},               // R5G6B5
    {kPixelRgb, 16, 0x1f, 0x7e0, 0xf800, 0, 5},               // B5G6R5
    {kPixelRgb, 16, 0xf800, 0x7c0, 0x3e, 1, 6},               // R5G5B5A1
    {kPixelRgb, 16, 0x3e, 0x7c0, 0xf800, 1, 7},               // B5G5R5A1
    {kPixelRgb, 16, 0x7c00, 0x3e0, 0x1f, 0x8000, 8},          // A1R5G5B5
    {kPixelRgb, 16, 0x1f, 0x3e0, 0x7c00, 0x8000, 1000470000}, // A1B5G5R5
    {kPixelRgb, 16, 0xf000, 0xf00, 0xf0, 0xf, 2},             // R4G4B4A4
    {kPixelRgb, 16, 0xf0, 0xf00, 0xf000, 0xf, 3},             // B4G4R4A4
    {kPixelRgb, 16, 0xf00, 0xf0, 0xf, 0xf000, 1000340000},    // A4R4G4B4
    {kPixelRgb, 16, 0xf, 0xf0, 0xf00, 0xf000, 1000340001},    // A4B4G4R4
    {kPixelRgb, 16, 0xff, 0xff00, 0, 0, 16},                  // R8G8
    {kGrey, 8, 0xff, 0, 0, 0, 9},                             // R8
    {kGrey, 16, 0xffff, 0, 0, 0, 70},                         // R16
    {kGrey, 16, 0xff, 0, 0, 0xff00, 16},                      // R8G8
    {kPixelLuminance, 8, 0xff, 0, 0, 0xff00, 16},             // R8G8 with the bits of one channel
    {kPixelAlphaOnly, 8, 0, 0, 0, 0xff, 1000470001},          // A8
    {kPixelBump, 16, 0xff, 0xff00, 0, 0, 17},                 // R8G8, signed
    {kPixelBump, 32, 0xff, 0xff00, 0xff0000, 0xff000000, 38}, // R8G8B8A8, signed
    {kPixelBump, 32, 0xffff, 0xffff0000, 0, 0, 78},           // R16G16, signed
};

// Holds what the headers of a file say, besides the members of SluiceImageInfo.
struct DdsHeader {
    const uint8_t* bytes;
    bool dx10;
    uint32_t flags, caps2, depth;
    bool noFaces; // a cube that does not say which faces it has

    // Returns whether a flag says that there is a depth.
    bool claimsDepth() const
    {
        return depth > 1 && ((flags & kHasDepth) != 0 || (caps2 & kCaps2Volume) != 0);
    }
};

// The text of a fourCC: four letters in quotes if they are printable, otherwise a number.
struct CodeText {
    char text[16];
    explicit CodeText(uint32_t code)
    {
        bool letters = true;
        char four[4];
        for (uint32_t i = 0; i < 4; ++i) {
            four[i] = char(code >> 8 * i & 0xff);
            letters = letters && four[i] >= ' ' && four[i] <= '~';
        }
        if (letters)
            (void)std::snprintf(text, sizeof text, "'%.4s'", four);
        else
            (void)std::snprintf(text, sizeof text, "%u", code);
    }
};

SluiceStatus refuseMasks(ImageStart& start, uint32_t flags)
{
    const uint8_t* header = start.bytes;
    const auto word = [&](uint32_t at) { return loadLe32(header + at); };
    const bool tenBits = (flags & kPixelRgb) != 0 && word(ddsMasks + 4) == 0xffc00;
    const char* const why =
        (flags & kPixelPalettes) != 0        ? "a palette, which is not read"
        : (flags & kPixelBumpLuminance) != 0 ? "signed numbers beside luminance (BUMPLUMINANCE), "
                                               "which no VkFormat has"
        : (flags & kPixelDepth) != 0         ? "depth, which is not read"
        : (flags & kPixelYuv) != 0           ? "YUV, which is not read"
        : tenBits ? "10 bits a channel, of which some writers swap red and blue; a DX10 header "
                    "says without doubt which they are"
                  : "none that is read; docs/notes/images.md lists those";
    return start.refuse(SLUICE_ERROR_VERSION,
                        "its pixel format, flags 0x%x, %u bits and masks %x, %x, %x, %x, is %s",
                        flags, word(ddsBits), word(ddsMasks), word(ddsMasks + 4),
                        word(ddsMasks + 8), word(ddsMasks + 12), why);
}

// Sets the format that flags and masks describe. Errors: VERSION.
SluiceStatus readMasks(ImageStart& start, uint32_t flags, SluiceImageInfo& info)
{
    const auto mask = [&](uint32_t i) { return loadLe32(start.bytes + ddsMasks + 4 * i); };
    constexpr uint32_t kinds = kPixelAlphaOnly | kGrey | kPixelBump | kPixelBumpLuminance |
                               kPixelPalettes | kPixelDepth | kPixelYuv;
    const uint32_t kind = flags & kinds;
    const bool alpha = (flags & (kPixelAlpha | kPixelAlphaOnly)) != 0;
    for (const auto& known : kMasks) {
        // Some writers give luminance the same mask for red, green and blue.
        const bool grey = (known.kinds & kPixelLuminance) != 0 && mask(1) == mask(0) &&
                          mask(2) == mask(0) && (kind & kPixelLuminance) != 0;
        if ((kind & known.kinds) == 0 || (kind & ~known.kinds) != 0 ||
            loadLe32(start.bytes + ddsBits) != known.bits || mask(0) != known.red ||
            (!grey && (mask(1) != known.green || mask(2) != known.blue)))
            continue;
        const bool isSigned = known.kinds == kPixelBump; // such files have no flag for alpha
        if ((alpha || isSigned) && mask(3) != known.alpha) continue;
        // A luminance format with alpha does not fit a file without alpha. An RGB format with alpha
        // does fit; its alpha then has no meaning.
        const bool without = !alpha && !isSigned && known.alpha != 0;
        if (without && known.kinds != kPixelRgb) continue;
        if (without) info.flags |= SLUICE_IMAGE_OPAQUE;
        if ((kind & kPixelLuminance) != 0 && known.alpha != 0) start.note("green is alpha");
        return setImageFormat(known.format, info);
    }
    return refuseMasks(start, flags);
}

// Applies what NVIDIA's tools and GIMP say in header fields that only they fill.
void readWriter(ImageStart& start, uint32_t flags, SluiceImageInfo& info)
{
    const uint8_t* header = start.bytes;
    const bool isNvtt = loadLe32(header + ddsWriter) == fourCC("NVTT"),
               isGimp = loadLe32(header + ddsGimpMagic) == fourCC("GIMP") &&
                        loadLe32(header + ddsGimpMagic + 4) == fourCC("-DDS");
    SluiceImageFormat format;
    if (isNvtt && (flags & kPixelSrgb) != 0 &&
        sluiceGetImageFormat(info.format, &format) == SLUICE_OK && format.twin != 0 &&
        format.srgb == 0) {
        (void)setImageFormat(format.twin, info);
        info.flags &= ~uint32_t(SLUICE_IMAGE_COLOUR_UNKNOWN);
    }
    const uint32_t bits = loadLe32(header + ddsBits);
    if ((flags & kPixelFourCC) != 0 && (bits == fourCC("A2D5") || bits == fourCC("xGxR")))
        start.warn("a normal map with x in alpha and y in green");
    else if ((isNvtt || isGimp) && (flags & kPixelNormal) != 0)
        start.note("a normal map");
    const uint32_t coding = loadLe32(header + ddsGimpCoding);
    if (isGimp && coding == fourCC("AEXP")) start.warn("alpha scales the colours (AEXP)");
    if (isGimp && (coding == fourCC("YCG1") || coding == fourCC("YCG2")))
        start.warn("its channels are Co, Cg, scale and Y, not colours (%s)", CodeText(coding).text);
}

// Sets the format of a file without DX10 header. Errors: VERSION.
SluiceStatus readPixelFormat(ImageStart& start, SluiceImageInfo& info)
{
    const uint8_t* header = start.bytes;
    const uint32_t code = loadLe32(header + ddsFourCC);
    uint32_t flags = loadLe32(header + ddsPixelFlags);
    // Some files of Unreal Tournament 2004 have no flags, only the fourCC.
    if (flags == 0 && code != 0 && loadLe32(header + ddsBits) == 0) flags = kPixelFourCC;
    info.flags |= SLUICE_IMAGE_COLOUR_UNKNOWN;
    if ((flags & kPixelPremultiplied) != 0) info.flags |= SLUICE_IMAGE_PREMULTIPLIED;
    SluiceStatus status = SLUICE_ERROR_VERSION;
    if ((flags & kPixelFourCC) == 0) {
        status = readMasks(start, flags, info);
    } else {
        for (const auto& known : kFourCCs) {
            if (known.code != code) continue;
            info.flags |= known.flags;
            if (known.note != nullptr) start.warn("%s", known.note);
            status = setImageFormat(known.format, info);
            break;
        }
        if (status != SLUICE_OK)
            return start.refuse(status,
                                "its pixel format has the fourCC %s, which is not read; "
                                "docs/notes/images.md lists the codes that are",
                                CodeText(code).text);
    }
    if (status == SLUICE_OK) readWriter(start, flags, info);
    return status;
}

// Reads extents, layers and faces of a file without DX10 header. Errors: FORMAT, VERSION.
SluiceStatus readShape(ImageStart& start, DdsHeader& header, SluiceImageInfo& info)
{
    // Some writers set only the flag of a depth, others only the flag of a volume.
    const bool isVolume = (header.caps2 & kCaps2Volume) != 0 || header.claimsDepth();
    // The bits of faces have no other meaning, so they make a cube even without the cube's bit.
    const bool isCube = (header.caps2 & (kCaps2Cube | kCaps2Faces)) != 0;
    if (isVolume && isCube)
        return start.refuse(SLUICE_ERROR_FORMAT,
                            "caps2 is 0x%x, of a cube, and its depth is %u; only one can be",
                            header.caps2, header.depth);
    if (isVolume) {
        info.depth = header.depth;
        info.flags |= SLUICE_IMAGE_3D;
        return SLUICE_OK;
    }
    if (!isCube) return SLUICE_OK;
    info.faces = 6;
    info.flags |= SLUICE_IMAGE_CUBE;
    const uint32_t faces = header.caps2 & kCaps2Faces;
    header.noFaces = faces == 0;
    if (header.noFaces || faces == kCaps2Faces) return SLUICE_OK;
    return start.refuse(SLUICE_ERROR_VERSION,
                        "caps2 is 0x%x, a cube of which faces are missing; all six (0xfc00) are "
                        "needed",
                        header.caps2);
}

// Reads extents, layers, faces and format from the DX10 header. Errors: FORMAT, VERSION.
SluiceStatus readDx10(ImageStart& start, const DdsHeader& header, SluiceImageInfo& info)
{
    constexpr SluiceStatus bad = SLUICE_ERROR_FORMAT;
    constexpr uint32_t line = 2, plane = 3, volume = 4;
    const auto word = [&](uint32_t at) { return loadLe32(header.bytes + at); };
    // Some writers set the dimension of a plane, or the array size of a single layer, to 0.
    const uint32_t dimension = word(ddsDimension) == 0 ? plane : word(ddsDimension),
                   alphaMode = word(ddsMisc2) & 7;
    const bool cube = (word(ddsMisc) & kMiscCube) != 0;
    info.layers = std::max(1u, word(ddsArraySize));
    if (dimension < line || dimension > volume)
        return start.refuse(bad, "resourceDimension is %u, and 2 (1D) to 4 (3D) are allowed",
                            dimension);
    if (alphaMode > 4)
        return start.refuse(bad, "the alpha mode in miscFlags2 is %u, and 0 to 4 are allowed",
                            alphaMode);
    if (cube && dimension != plane)
        return start.refuse(bad, "miscFlag makes it a cube, but resourceDimension is %u, not 3",
                            dimension);
    if (dimension == volume && info.layers != 1)
        return start.refuse(bad, "arraySize of a volume is %u, and 1 is allowed", info.layers);
    if (dimension == line) {
        info.flags |= SLUICE_IMAGE_1D;
        if (info.height > 1 && (header.flags & kHasHeight) != 0)
            return start.refuse(bad, "the height of a 1D texture is %u, and 1 is allowed",
                                info.height);
        info.height = 1;
    }
    if (dimension == volume) {
        info.flags |= SLUICE_IMAGE_3D;
        info.depth = header.depth;
    }
    if (cube) {
        info.flags |= SLUICE_IMAGE_CUBE;
        info.faces = 6;
    }
    if (info.layers > 1) info.flags |= SLUICE_IMAGE_ARRAY;
    if (alphaMode == 2) info.flags |= SLUICE_IMAGE_PREMULTIPLIED;
    if (alphaMode == 3) info.flags |= SLUICE_IMAGE_OPAQUE;
    if (alphaMode == 4) start.warn("its alpha is no opacity (alpha mode 4)");
    const DxgiFormat found = formatOfDxgi(word(ddsDxgi));
    info.flags |= found.flags;
    if (found.format == 0)
        return start.refuse(SLUICE_ERROR_VERSION,
                            "dxgiFormat is %u, which is not read: formats of video, of depth and "
                            "with palettes are not, nor 89",
                            word(ddsDxgi));
    return setImageFormat(found.format, info);
}

// Computes the bytes of an image with all its levels. alignment: rows begin at multiples of this
// many bytes. Returns false if the image has 2^64 bytes or more.
bool chainBytes(const SluiceImageInfo& info, uint32_t levels, uint32_t alignment, uint64_t& bytes)
{
    bytes = 0;
    for (uint32_t i = 0; i < levels; ++i) {
        SluiceImageLevel level;
        if (sluiceGetImageLevel(&info, i, &level) != SLUICE_OK) return false;
        // The number of rows in all slices: imageSize is this number times rowSize.
        const uint64_t rows = level.imageSize / level.rowSize;
        uint64_t size = 0;
        if (!multiply(alignUp(level.rowSize, alignment), rows, size) || !add(bytes, size, bytes))
            return false;
    }
    return true;
}

// Returns whether the images of a file, each with this number of levels, take exactly `data` bytes.
bool isWhole(const SluiceImageInfo& info, uint32_t levels, uint64_t data, uint32_t alignment = 1)
{
    uint64_t chain = 0, whole = 0;
    return chainBytes(info, levels, alignment, chain) &&
           multiply(chain, uint64_t(info.layers) * info.faces, whole) && whole == data;
}

// Corrects the numbers of layers, faces and levels to what the writer meant, if the file's size
// leaves no doubt.
void correctCounts(ImageStart& start, const DdsHeader& header, uint64_t data, SluiceImageInfo& info)
{
    const uint32_t most = maxImageLevels(info.width, info.height, info.depth);
    const uint32_t layers = info.layers, levels = info.levels;
    const auto take = [&](uint32_t newLayers, uint32_t faces) {
        SluiceImageInfo other = info;
        other.layers = newLayers;
        other.faces = faces;
        if (levels > most || !isWhole(other, levels, data)) return false;
        if (faces == 6) other.flags |= SLUICE_IMAGE_CUBE;
        if (newLayers == 1) other.flags &= ~uint32_t(SLUICE_IMAGE_ARRAY);
        info = other;
        return true;
    };
    const bool isCube = info.faces == 6,
               isFlat = (info.flags & (SLUICE_IMAGE_1D | SLUICE_IMAGE_3D)) == 0;
    if (header.dx10 && isFlat && info.width == info.height) {
        const bool caps = (header.caps2 & kCaps2Cube) != 0;
        // GIMP names a cube in caps2 only.
        if (!isCube && caps && layers % 6 == 0 && take(layers / 6, 6))
            return start.warn("caps2 makes it a cube, which the DX10 header does not name");
        if (!isCube && caps && layers == 1 && take(1, 6))
            return start.warn("caps2 makes it a cube, which the DX10 header does not name");
        // In an example of Microsoft's documentation, arraySize counted the faces.
        if (isCube && layers % 6 == 0 && take(layers / 6, 6))
            return start.warn("arraySize, %u, counts faces, not cubes", layers);
    }
    if (levels <= most && isWhole(info, levels, data)) return;
    // With a wrong number of levels, all images after the first would be read from wrong offsets.
    // So find a number with which all images together have the size of the file's data.
    const uint64_t images = uint64_t(info.layers) * info.faces;
    uint64_t chain = 0, whole = 0;
    const bool tooShort = levels <= most && chainBytes(info, levels, 1, chain) &&
                          multiply(chain, images, whole) && whole > data;
    if (tooShort || (levels <= most && images == 1)) return;
    for (uint32_t i = most; i != 0; --i) {
        if ((levels > most && i != most && i != 1) || !isWhole(info, i, data)) continue;
        info.levels = i;
        return start.warn("mipMapCount is %u, but %u levels are there", levels, i);
    }
}

// Refuses a file that leaves doubt which image is meant, for example because its size contradicts
// its header. Errors: FORMAT, VERSION.
SluiceStatus checkDoubts(ImageStart& start, const DdsHeader& header, uint64_t data,
                         const SluiceImageInfo& info)
{
    constexpr SluiceStatus bad = SLUICE_ERROR_FORMAT;
    const uint32_t most = maxImageLevels(info.width, info.height, info.depth);
    if (info.levels > most)
        return start.refuse(bad, "mipMapCount is %u, and %u x %u x %u texels have %u levels",
                            info.levels, info.width, info.height, info.depth, most);
    const bool isExact = isWhole(info, info.levels, data);
    if (header.noFaces && !isExact)
        return start.refuse(SLUICE_ERROR_VERSION,
                            "caps2 is 0x%x, a cube that names none of its faces; all six (0xfc00) "
                            "are needed",
                            header.caps2);
    if (isExact) return SLUICE_OK;
    if ((info.flags & SLUICE_IMAGE_3D) == 0 && header.depth > 1) {
        SluiceImageInfo volume = info;
        volume.depth = header.depth;
        if (header.claimsDepth() || isWhole(volume, info.levels, data))
            return start.refuse(bad,
                                "its depth is %u, but %s; a volume has both DDSD_DEPTH and "
                                "DDSCAPS2_VOLUME, in a DX10 header resourceDimension 4",
                                header.depth,
                                header.dx10 ? "resourceDimension is 3" : "no flag says so");
    }
    SluiceImageFormat format;
    (void)sluiceGetImageFormat(info.format, &format); // setImageFormat has found it
    if (format.compressed == 0 && isWhole(info, info.levels, data, 4))
        return start.refuse(bad, "its rows begin at multiples of 4 bytes; rows without gaps are "
                                 "read");
    return SLUICE_OK;
}

// Sets where the levels lie. Each image stores all of its levels together, the largest first.
SluiceStatus placeLevels(ImageStart& start, uint64_t begin, const SluiceImageInfo& info,
                         SluiceImageLevel* levels)
{
    uint64_t stride = 0, whole = 0;
    bool fits = true;
    for (uint32_t level = 0; fits && level < info.levels; ++level) {
        fits = sluiceGetImageLevel(&info, level, &levels[level]) == SLUICE_OK;
        levels[level].offset = begin + stride; // does not wrap, if the sum fits in the file
        fits = fits && add(stride, levels[level].imageSize, stride);
    }
    if (!fits || !multiply(stride, uint64_t(info.layers) * info.faces, whole))
        return start.refuse(SLUICE_ERROR_FORMAT, "its images have 2^64 bytes or more");
    if (whole > start.fileSize - begin)
        return start.refuse(
            SLUICE_ERROR_FORMAT,
            "the file ends at byte %llu%s, and its images, of %llu bytes, at %llu",
            longOf(start.fileSize),
            start.fileSize - begin < levels[0].imageSize ? ", before its first level does" : "",
            longOf(whole), longOf(begin + whole));
    for (uint32_t level = 0; level < info.levels; ++level)
        levels[level].imageStride = stride;
    return SLUICE_OK;
}

// Checks the fields in which the headers state their own sizes. Errors: FORMAT.
SluiceStatus checkSizes(ImageStart& start, bool dx10)
{
    const uint32_t header = loadLe32(start.bytes + ddsSize),
                   pixel = loadLe32(start.bytes + ddsPixelSize);
    // Some games have wrong sizes: Stalker 2 has 24 instead of 124, Flat Out 2 and Unreal
    // Tournament 2004 have 24 and 0 instead of 32. All of these files have a fourCC.
    const bool mayLie = !dx10 && loadLe32(start.bytes + ddsFourCC) != 0;
    if (header != kDdsHeaderBytes - kDdsMagicSize && !(header == 24 && mayLie))
        return start.refuse(SLUICE_ERROR_FORMAT,
                            "its header gives %u as its size, and 124 is "
                            "allowed",
                            header);
    if (pixel != 32 && !((pixel == 24 || pixel == 0) && mayLie))
        return start.refuse(SLUICE_ERROR_FORMAT,
                            "its pixel format gives %u as its size, and 32 is "
                            "allowed",
                            pixel);
    return SLUICE_OK;
}

} // namespace

bool isDds(const uint8_t* bytes, uint64_t size)
{
    return size >= kDdsMagicSize && loadLe32(bytes) == fourCC("DDS ");
}

SluiceStatus parseDds(ImageStart& start, SluiceImageInfo& info, SluiceImageLevel* levels)
{
    SluiceStatus status = start.require(kDdsHeaderBytes);
    if (status != SLUICE_OK) return status;
    const uint8_t* bytes = start.bytes;
    const uint32_t pixelFlags = loadLe32(bytes + ddsPixelFlags);
    const bool dx10 = loadLe32(bytes + ddsFourCC) == fourCC("DX10") &&
                      ((pixelFlags & kPixelFourCC) != 0 || pixelFlags == 0);
    status = checkSizes(start, dx10);
    if (status != SLUICE_OK) return status;
    const uint32_t dataBegin = dx10 ? ddsDx10Bytes : kDdsHeaderBytes;
    status = start.require(dataBegin);
    if (status != SLUICE_OK) return status;

    DdsHeader header = {bytes,
                        dx10,
                        loadLe32(bytes + ddsFlags),
                        loadLe32(bytes + ddsCaps2),
                        loadLe32(bytes + ddsDepth),
                        false};
    info.container = SLUICE_IMAGE_DDS;
    info.width = loadLe32(bytes + ddsWidth);
    info.height = loadLe32(bytes + ddsHeight);
    info.depth = info.layers = info.faces = 1;
    info.levels = std::max(1u, loadLe32(bytes + ddsMipCount));
    status = dx10 ? readDx10(start, header, info) : readShape(start, header, info);
    if (status == SLUICE_ERROR_FORMAT) return status;
    // `status` may be VERSION here. But a file that contradicts itself is damaged, whatever its
    // format, so the following FORMAT errors take precedence.
    if (info.width == 0 || info.height == 0 || info.depth == 0)
        return start.refuse(SLUICE_ERROR_FORMAT,
                            "its extents are %u x %u x %u, and each is at least 1", info.width,
                            info.height, info.depth);
    if (info.faces == 6 && info.width != info.height)
        return start.refuse(SLUICE_ERROR_FORMAT,
                            "it is a cube, but its faces have %u x %u texels and are no squares",
                            info.width, info.height);
    if (status == SLUICE_OK && !dx10) status = readPixelFormat(start, info);
    if (status != SLUICE_OK) return status;
    const uint64_t data = start.fileSize - dataBegin;
    correctCounts(start, header, data, info);
    status = checkDoubts(start, header, data, info);
    return status == SLUICE_OK ? placeLevels(start, dataBegin, info, levels) : status;
}

} // namespace sluice
