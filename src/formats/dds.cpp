// SPDX-License-Identifier: MIT OR Apache-2.0
// DDS: https://learn.microsoft.com/en-us/windows/win32/direct3ddds/dds-header
#include "formats/image.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr uint32_t fourCC(const char (&text)[5])
{
    uint32_t code = 0;
    for (uint32_t i = 0; i < 4; ++i)
        code |= uint32_t(uint8_t(text[i])) << 8 * i;
    return code;
}

// Offsets from the start of the file.
enum DdsField : uint32_t {
    ddsSize = 4, // of the header without the magic
    ddsHeight = 12,
    ddsWidth = 16,
    ddsDepth = 24,
    ddsMipCount = 28,
    ddsPixelSize = 76,
    ddsPixelFlags = 80,
    ddsFourCC = 84,
    ddsBits = 88,
    ddsMasks = 92, // u32[4]: red, green, blue, alpha
    ddsCaps2 = 112,
    ddsDxgi = 128, // with fourCC DX10
    ddsDimension = 132,
    ddsMisc = 136,
    ddsArraySize = 140,
    ddsMisc2 = 144,
    ddsDx10Bytes = 148,
};

constexpr uint32_t kPixelAlpha = 1, kPixelAlphaOnly = 2, kPixelFourCC = 4, kPixelRgb = 0x40,
                   kPixelLuminance = 0x20000;
constexpr uint32_t kCaps2Cube = 0x200, kCaps2Faces = 0xfc00, kCaps2Volume = 0x200000;
constexpr uint32_t kMiscCube = 4;

// The values of fourCC: letters, or a D3DFORMAT.
constexpr struct {
    uint32_t code, format;
    uint32_t flags; // SluiceImageFlags
} kFourCCs[] = {
    {fourCC("DXT1"), 133, 0},
    {fourCC("DXT2"), 135, SLUICE_IMAGE_PREMULTIPLIED},
    {fourCC("DXT3"), 135, 0},
    {fourCC("DXT4"), 137, SLUICE_IMAGE_PREMULTIPLIED},
    {fourCC("DXT5"), 137, 0},
    {fourCC("ATI1"), 139, 0},
    {fourCC("BC4U"), 139, 0},
    {fourCC("BC4S"), 140, 0},
    {fourCC("ATI2"), 141, 0},
    {fourCC("BC5U"), 141, 0},
    {fourCC("BC5S"), 142, 0},
    {36, 91, 0},   // A16B16G16R16
    {110, 92, 0},  // Q16W16V16U16
    {111, 76, 0},  // R16F
    {112, 83, 0},  // G16R16F
    {113, 97, 0},  // A16B16G16R16F
    {114, 100, 0}, // R32F
    {115, 103, 0}, // G32R32F
    {116, 109, 0}, // A32B32G32R32F
};

// Pixel formats that are described by masks. Those with 10 bits are left out, because some writers
// swap red and blue.
constexpr struct {
    uint32_t kind; // of the pixel format's flags
    uint32_t bits, red, green, blue, alpha;
    uint32_t format;
} kMasks[] = {
    {kPixelRgb, 32, 0xff, 0xff00, 0xff0000, 0xff000000, 37}, // R8G8B8A8
    {kPixelRgb, 32, 0xff0000, 0xff00, 0xff, 0xff000000, 44}, // B8G8R8A8
    {kPixelRgb, 24, 0xff, 0xff00, 0xff0000, 0, 23},          // R8G8B8
    {kPixelRgb, 24, 0xff0000, 0xff00, 0xff, 0, 30},          // B8G8R8
    {kPixelRgb, 32, 0xffff, 0xffff0000, 0, 0, 77},           // R16G16
    {kPixelRgb, 16, 0xf800, 0x7e0, 0x1f, 0, 4},              // R5G6B5
    {kPixelRgb, 16, 0x7c00, 0x3e0, 0x1f, 0x8000, 8},         // A1R5G5B5
    {kPixelRgb, 16, 0xf00, 0xf0, 0xf, 0xf000, 1000340000},   // A4R4G4B4
    {kPixelLuminance, 8, 0xff, 0, 0, 0, 9},                  // R8
    {kPixelLuminance, 16, 0xffff, 0, 0, 0, 70},              // R16
    {kPixelLuminance, 16, 0xff, 0, 0, 0xff00, 16},           // R8G8
    {kPixelAlphaOnly, 8, 0, 0, 0, 0xff, 1000470001},         // A8
};

// Errors: VERSION.
SluiceStatus readPixelFormat(const uint8_t* header, SluiceImageInfo& info)
{
    const uint32_t flags = loadLe32(header + ddsPixelFlags);
    info.flags |= SLUICE_IMAGE_COLOUR_UNKNOWN;
    if ((flags & kPixelFourCC) != 0) {
        const uint32_t code = loadLe32(header + ddsFourCC);
        for (const auto& known : kFourCCs) {
            if (known.code != code) continue;
            info.flags |= known.flags;
            return setImageFormat(known.format, info);
        }
        return SLUICE_ERROR_VERSION;
    }
    const auto mask = [&](uint32_t i) { return loadLe32(header + ddsMasks + 4 * i); };
    const bool alpha = (flags & (kPixelAlpha | kPixelAlphaOnly)) != 0;
    for (const auto& known : kMasks) {
        if ((flags & known.kind) == 0 || loadLe32(header + ddsBits) != known.bits ||
            mask(0) != known.red || mask(1) != known.green || mask(2) != known.blue)
            continue;
        if (alpha && mask(3) != known.alpha) continue;
        // Luminance with alpha has different masks from luminance alone.
        if (!alpha && known.alpha != 0 && known.kind != kPixelRgb) continue;
        if (!alpha && known.alpha != 0) info.flags |= SLUICE_IMAGE_OPAQUE;
        return setImageFormat(known.format, info);
    }
    return SLUICE_ERROR_VERSION;
}

// Reads the shape of a file without the DX10 header. Errors: FORMAT, VERSION.
SluiceStatus readShape(const uint8_t* header, SluiceImageInfo& info)
{
    const uint32_t caps2 = loadLe32(header + ddsCaps2);
    if ((caps2 & kCaps2Volume) != 0) {
        info.depth = loadLe32(header + ddsDepth);
        info.flags |= SLUICE_IMAGE_3D;
        return (caps2 & kCaps2Cube) == 0 ? SLUICE_OK : SLUICE_ERROR_FORMAT;
    }
    if ((caps2 & kCaps2Cube) == 0) return SLUICE_OK;
    info.faces = 6;
    info.flags |= SLUICE_IMAGE_CUBE;
    return (caps2 & kCaps2Faces) == kCaps2Faces ? SLUICE_OK : SLUICE_ERROR_VERSION;
}

// Reads shape and format from the DX10 header. Errors: FORMAT, VERSION.
SluiceStatus readDx10(const uint8_t* header, SluiceImageInfo& info)
{
    const uint32_t dimension = loadLe32(header + ddsDimension), misc = loadLe32(header + ddsMisc),
                   alphaMode = loadLe32(header + ddsMisc2) & 7;
    const bool cube = (misc & kMiscCube) != 0;
    info.layers = loadLe32(header + ddsArraySize);
    if (dimension < 2 || dimension > 4 || info.layers == 0 || alphaMode > 4 ||
        (cube && dimension != 3) || (dimension == 4 && info.layers != 1))
        return SLUICE_ERROR_FORMAT;
    if (dimension == 2) {
        info.flags |= SLUICE_IMAGE_1D;
        info.height = std::max(1u, info.height);
        if (info.height != 1) return SLUICE_ERROR_FORMAT;
    }
    if (dimension == 4) {
        info.flags |= SLUICE_IMAGE_3D;
        info.depth = loadLe32(header + ddsDepth);
    }
    if (cube) {
        info.flags |= SLUICE_IMAGE_CUBE;
        info.faces = 6;
    }
    if (info.layers > 1) info.flags |= SLUICE_IMAGE_ARRAY;
    if (alphaMode == 2) info.flags |= SLUICE_IMAGE_PREMULTIPLIED;
    if (alphaMode == 3) info.flags |= SLUICE_IMAGE_OPAQUE;
    const DxgiFormat found = formatOfDxgi(loadLe32(header + ddsDxgi));
    info.flags |= found.flags;
    return found.format == 0 ? SLUICE_ERROR_VERSION : setImageFormat(found.format, info);
}

// Each image has its levels together, the largest first.
SluiceStatus placeLevels(uint64_t begin, uint64_t fileSize, const SluiceImageInfo& info,
                         SluiceImageLevel* levels)
{
    uint64_t stride = 0, whole;
    for (uint32_t level = 0; level < info.levels; ++level) {
        const SluiceStatus status = sluiceGetImageLevel(&info, level, &levels[level]);
        if (status != SLUICE_OK) return status;
        levels[level].offset = begin + stride; // below 2^64 if the sum of all fits in the file
        if (!add(stride, levels[level].imageSize, stride)) return SLUICE_ERROR_FORMAT;
    }
    if (!multiply(stride, uint64_t(info.layers) * info.faces, whole) || whole > fileSize - begin)
        return SLUICE_ERROR_FORMAT;
    for (uint32_t level = 0; level < info.levels; ++level)
        levels[level].imageStride = stride;
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
    const uint8_t* header = start.bytes;
    if (loadLe32(header + ddsSize) != kDdsHeaderBytes - kDdsMagicSize ||
        loadLe32(header + ddsPixelSize) != 32)
        return SLUICE_ERROR_FORMAT;
    const bool dx10 = (loadLe32(header + ddsPixelFlags) & kPixelFourCC) != 0 &&
                      loadLe32(header + ddsFourCC) == fourCC("DX10");
    const uint32_t dataBegin = dx10 ? ddsDx10Bytes : kDdsHeaderBytes;
    status = start.require(dataBegin);
    if (status != SLUICE_OK) return status;

    info.container = SLUICE_IMAGE_DDS;
    info.width = loadLe32(header + ddsWidth);
    info.height = loadLe32(header + ddsHeight);
    info.depth = info.layers = info.faces = 1;
    info.levels = std::max(1u, loadLe32(header + ddsMipCount));
    status = dx10 ? readDx10(header, info) : readShape(header, info);
    if (status == SLUICE_ERROR_FORMAT) return status;
    // A file that contradicts itself is damaged, whatever its format.
    if (info.width == 0 || info.height == 0 || info.depth == 0 ||
        info.levels > maxImageLevels(info.width, info.height, info.depth) ||
        (info.faces == 6 && info.width != info.height))
        return SLUICE_ERROR_FORMAT;
    if (status == SLUICE_OK && !dx10) status = readPixelFormat(header, info);
    return status == SLUICE_OK ? placeLevels(dataBegin, start.fileSize, info, levels) : status;
}

} // namespace sluice
