// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of image formats, with the numbers and names of Vulkan and of DXGI.
#include "formats/image.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace sluice {
namespace {

struct FormatRow {
    uint32_t format;
    uint8_t blockWidth, blockHeight, blockBytes, unitBytes;
    uint8_t twin; // the VkFormat that differs only in sRGB; 0: none
    uint8_t dxgi; // DXGI_FORMAT; 0: none
    const char* name;
};

// Sorted by VkFormat.
constexpr FormatRow kFormats[] = {
    {kUastcFormat, 4, 4, 16, 1, 0, 0, "UASTC_4x4_BLOCK"}, // the name is ours
    {1, 1, 1, 1, 1, 0, 0, "R4G4_UNORM_PACK8"},
    {2, 1, 1, 2, 2, 0, 191, "R4G4B4A4_UNORM_PACK16"},
    {3, 1, 1, 2, 2, 0, 0, "B4G4R4A4_UNORM_PACK16"},
    {4, 1, 1, 2, 2, 0, 85, "R5G6B5_UNORM_PACK16"},
    {5, 1, 1, 2, 2, 0, 0, "B5G6R5_UNORM_PACK16"},
    {6, 1, 1, 2, 2, 0, 0, "R5G5B5A1_UNORM_PACK16"},
    {7, 1, 1, 2, 2, 0, 0, "B5G5R5A1_UNORM_PACK16"},
    {8, 1, 1, 2, 2, 0, 86, "A1R5G5B5_UNORM_PACK16"},
    {9, 1, 1, 1, 1, 15, 61, "R8_UNORM"},
    {10, 1, 1, 1, 1, 0, 63, "R8_SNORM"},
    {13, 1, 1, 1, 1, 0, 62, "R8_UINT"},
    {14, 1, 1, 1, 1, 0, 64, "R8_SINT"},
    {15, 1, 1, 1, 1, 9, 0, "R8_SRGB"},
    {16, 1, 1, 2, 1, 22, 49, "R8G8_UNORM"},
    {17, 1, 1, 2, 1, 0, 51, "R8G8_SNORM"},
    {20, 1, 1, 2, 1, 0, 50, "R8G8_UINT"},
    {21, 1, 1, 2, 1, 0, 52, "R8G8_SINT"},
    {22, 1, 1, 2, 1, 16, 0, "R8G8_SRGB"},
    {23, 1, 1, 3, 1, 29, 0, "R8G8B8_UNORM"},
    {24, 1, 1, 3, 1, 0, 0, "R8G8B8_SNORM"},
    {27, 1, 1, 3, 1, 0, 0, "R8G8B8_UINT"},
    {28, 1, 1, 3, 1, 0, 0, "R8G8B8_SINT"},
    {29, 1, 1, 3, 1, 23, 0, "R8G8B8_SRGB"},
    {30, 1, 1, 3, 1, 36, 0, "B8G8R8_UNORM"},
    {31, 1, 1, 3, 1, 0, 0, "B8G8R8_SNORM"},
    {34, 1, 1, 3, 1, 0, 0, "B8G8R8_UINT"},
    {35, 1, 1, 3, 1, 0, 0, "B8G8R8_SINT"},
    {36, 1, 1, 3, 1, 30, 0, "B8G8R8_SRGB"},
    {37, 1, 1, 4, 1, 43, 28, "R8G8B8A8_UNORM"},
    {38, 1, 1, 4, 1, 0, 31, "R8G8B8A8_SNORM"},
    {41, 1, 1, 4, 1, 0, 30, "R8G8B8A8_UINT"},
    {42, 1, 1, 4, 1, 0, 32, "R8G8B8A8_SINT"},
    {43, 1, 1, 4, 1, 37, 29, "R8G8B8A8_SRGB"},
    {44, 1, 1, 4, 1, 50, 87, "B8G8R8A8_UNORM"},
    {45, 1, 1, 4, 1, 0, 0, "B8G8R8A8_SNORM"},
    {48, 1, 1, 4, 1, 0, 0, "B8G8R8A8_UINT"},
    {49, 1, 1, 4, 1, 0, 0, "B8G8R8A8_SINT"},
    {50, 1, 1, 4, 1, 44, 91, "B8G8R8A8_SRGB"},
    {51, 1, 1, 4, 4, 57, 28, "A8B8G8R8_UNORM_PACK32"},
    {52, 1, 1, 4, 4, 0, 31, "A8B8G8R8_SNORM_PACK32"},
    {55, 1, 1, 4, 4, 0, 30, "A8B8G8R8_UINT_PACK32"},
    {56, 1, 1, 4, 4, 0, 32, "A8B8G8R8_SINT_PACK32"},
    {57, 1, 1, 4, 4, 51, 29, "A8B8G8R8_SRGB_PACK32"},
    {58, 1, 1, 4, 4, 0, 0, "A2R10G10B10_UNORM_PACK32"},
    {59, 1, 1, 4, 4, 0, 0, "A2R10G10B10_SNORM_PACK32"},
    {62, 1, 1, 4, 4, 0, 0, "A2R10G10B10_UINT_PACK32"},
    {63, 1, 1, 4, 4, 0, 0, "A2R10G10B10_SINT_PACK32"},
    {64, 1, 1, 4, 4, 0, 24, "A2B10G10R10_UNORM_PACK32"},
    {65, 1, 1, 4, 4, 0, 0, "A2B10G10R10_SNORM_PACK32"},
    {68, 1, 1, 4, 4, 0, 25, "A2B10G10R10_UINT_PACK32"},
    {69, 1, 1, 4, 4, 0, 0, "A2B10G10R10_SINT_PACK32"},
    {70, 1, 1, 2, 2, 0, 56, "R16_UNORM"},
    {71, 1, 1, 2, 2, 0, 58, "R16_SNORM"},
    {74, 1, 1, 2, 2, 0, 57, "R16_UINT"},
    {75, 1, 1, 2, 2, 0, 59, "R16_SINT"},
    {76, 1, 1, 2, 2, 0, 54, "R16_SFLOAT"},
    {77, 1, 1, 4, 2, 0, 35, "R16G16_UNORM"},
    {78, 1, 1, 4, 2, 0, 37, "R16G16_SNORM"},
    {81, 1, 1, 4, 2, 0, 36, "R16G16_UINT"},
    {82, 1, 1, 4, 2, 0, 38, "R16G16_SINT"},
    {83, 1, 1, 4, 2, 0, 34, "R16G16_SFLOAT"},
    {84, 1, 1, 6, 2, 0, 0, "R16G16B16_UNORM"},
    {85, 1, 1, 6, 2, 0, 0, "R16G16B16_SNORM"},
    {88, 1, 1, 6, 2, 0, 0, "R16G16B16_UINT"},
    {89, 1, 1, 6, 2, 0, 0, "R16G16B16_SINT"},
    {90, 1, 1, 6, 2, 0, 0, "R16G16B16_SFLOAT"},
    {91, 1, 1, 8, 2, 0, 11, "R16G16B16A16_UNORM"},
    {92, 1, 1, 8, 2, 0, 13, "R16G16B16A16_SNORM"},
    {95, 1, 1, 8, 2, 0, 12, "R16G16B16A16_UINT"},
    {96, 1, 1, 8, 2, 0, 14, "R16G16B16A16_SINT"},
    {97, 1, 1, 8, 2, 0, 10, "R16G16B16A16_SFLOAT"},
    {98, 1, 1, 4, 4, 0, 42, "R32_UINT"},
    {99, 1, 1, 4, 4, 0, 43, "R32_SINT"},
    {100, 1, 1, 4, 4, 0, 41, "R32_SFLOAT"},
    {101, 1, 1, 8, 4, 0, 17, "R32G32_UINT"},
    {102, 1, 1, 8, 4, 0, 18, "R32G32_SINT"},
    {103, 1, 1, 8, 4, 0, 16, "R32G32_SFLOAT"},
    {104, 1, 1, 12, 4, 0, 7, "R32G32B32_UINT"},
    {105, 1, 1, 12, 4, 0, 8, "R32G32B32_SINT"},
    {106, 1, 1, 12, 4, 0, 6, "R32G32B32_SFLOAT"},
    {107, 1, 1, 16, 4, 0, 3, "R32G32B32A32_UINT"},
    {108, 1, 1, 16, 4, 0, 4, "R32G32B32A32_SINT"},
    {109, 1, 1, 16, 4, 0, 2, "R32G32B32A32_SFLOAT"},
    {110, 1, 1, 8, 8, 0, 0, "R64_UINT"},
    {111, 1, 1, 8, 8, 0, 0, "R64_SINT"},
    {112, 1, 1, 8, 8, 0, 0, "R64_SFLOAT"},
    {113, 1, 1, 16, 8, 0, 0, "R64G64_UINT"},
    {114, 1, 1, 16, 8, 0, 0, "R64G64_SINT"},
    {115, 1, 1, 16, 8, 0, 0, "R64G64_SFLOAT"},
    {116, 1, 1, 24, 8, 0, 0, "R64G64B64_UINT"},
    {117, 1, 1, 24, 8, 0, 0, "R64G64B64_SINT"},
    {118, 1, 1, 24, 8, 0, 0, "R64G64B64_SFLOAT"},
    {119, 1, 1, 32, 8, 0, 0, "R64G64B64A64_UINT"},
    {120, 1, 1, 32, 8, 0, 0, "R64G64B64A64_SINT"},
    {121, 1, 1, 32, 8, 0, 0, "R64G64B64A64_SFLOAT"},
    {122, 1, 1, 4, 4, 0, 26, "B10G11R11_UFLOAT_PACK32"},
    {123, 1, 1, 4, 4, 0, 67, "E5B9G9R9_UFLOAT_PACK32"},
    {131, 4, 4, 8, 1, 132, 0, "BC1_RGB_UNORM_BLOCK"},
    {132, 4, 4, 8, 1, 131, 0, "BC1_RGB_SRGB_BLOCK"},
    {133, 4, 4, 8, 1, 134, 71, "BC1_RGBA_UNORM_BLOCK"},
    {134, 4, 4, 8, 1, 133, 72, "BC1_RGBA_SRGB_BLOCK"},
    {135, 4, 4, 16, 1, 136, 74, "BC2_UNORM_BLOCK"},
    {136, 4, 4, 16, 1, 135, 75, "BC2_SRGB_BLOCK"},
    {137, 4, 4, 16, 1, 138, 77, "BC3_UNORM_BLOCK"},
    {138, 4, 4, 16, 1, 137, 78, "BC3_SRGB_BLOCK"},
    {139, 4, 4, 8, 1, 0, 80, "BC4_UNORM_BLOCK"},
    {140, 4, 4, 8, 1, 0, 81, "BC4_SNORM_BLOCK"},
    {141, 4, 4, 16, 1, 0, 83, "BC5_UNORM_BLOCK"},
    {142, 4, 4, 16, 1, 0, 84, "BC5_SNORM_BLOCK"},
    {143, 4, 4, 16, 1, 0, 95, "BC6H_UFLOAT_BLOCK"},
    {144, 4, 4, 16, 1, 0, 96, "BC6H_SFLOAT_BLOCK"},
    {145, 4, 4, 16, 1, 146, 98, "BC7_UNORM_BLOCK"},
    {146, 4, 4, 16, 1, 145, 99, "BC7_SRGB_BLOCK"},
    {147, 4, 4, 8, 1, 148, 0, "ETC2_R8G8B8_UNORM_BLOCK"},
    {148, 4, 4, 8, 1, 147, 0, "ETC2_R8G8B8_SRGB_BLOCK"},
    {149, 4, 4, 8, 1, 150, 0, "ETC2_R8G8B8A1_UNORM_BLOCK"},
    {150, 4, 4, 8, 1, 149, 0, "ETC2_R8G8B8A1_SRGB_BLOCK"},
    {151, 4, 4, 16, 1, 152, 0, "ETC2_R8G8B8A8_UNORM_BLOCK"},
    {152, 4, 4, 16, 1, 151, 0, "ETC2_R8G8B8A8_SRGB_BLOCK"},
    {153, 4, 4, 8, 1, 0, 0, "EAC_R11_UNORM_BLOCK"},
    {154, 4, 4, 8, 1, 0, 0, "EAC_R11_SNORM_BLOCK"},
    {155, 4, 4, 16, 1, 0, 0, "EAC_R11G11_UNORM_BLOCK"},
    {156, 4, 4, 16, 1, 0, 0, "EAC_R11G11_SNORM_BLOCK"},
    {157, 4, 4, 16, 1, 158, 0, "ASTC_4x4_UNORM_BLOCK"},
    {158, 4, 4, 16, 1, 157, 0, "ASTC_4x4_SRGB_BLOCK"},
    {159, 5, 4, 16, 1, 160, 0, "ASTC_5x4_UNORM_BLOCK"},
    {160, 5, 4, 16, 1, 159, 0, "ASTC_5x4_SRGB_BLOCK"},
    {161, 5, 5, 16, 1, 162, 0, "ASTC_5x5_UNORM_BLOCK"},
    {162, 5, 5, 16, 1, 161, 0, "ASTC_5x5_SRGB_BLOCK"},
    {163, 6, 5, 16, 1, 164, 0, "ASTC_6x5_UNORM_BLOCK"},
    {164, 6, 5, 16, 1, 163, 0, "ASTC_6x5_SRGB_BLOCK"},
    {165, 6, 6, 16, 1, 166, 0, "ASTC_6x6_UNORM_BLOCK"},
    {166, 6, 6, 16, 1, 165, 0, "ASTC_6x6_SRGB_BLOCK"},
    {167, 8, 5, 16, 1, 168, 0, "ASTC_8x5_UNORM_BLOCK"},
    {168, 8, 5, 16, 1, 167, 0, "ASTC_8x5_SRGB_BLOCK"},
    {169, 8, 6, 16, 1, 170, 0, "ASTC_8x6_UNORM_BLOCK"},
    {170, 8, 6, 16, 1, 169, 0, "ASTC_8x6_SRGB_BLOCK"},
    {171, 8, 8, 16, 1, 172, 0, "ASTC_8x8_UNORM_BLOCK"},
    {172, 8, 8, 16, 1, 171, 0, "ASTC_8x8_SRGB_BLOCK"},
    {173, 10, 5, 16, 1, 174, 0, "ASTC_10x5_UNORM_BLOCK"},
    {174, 10, 5, 16, 1, 173, 0, "ASTC_10x5_SRGB_BLOCK"},
    {175, 10, 6, 16, 1, 176, 0, "ASTC_10x6_UNORM_BLOCK"},
    {176, 10, 6, 16, 1, 175, 0, "ASTC_10x6_SRGB_BLOCK"},
    {177, 10, 8, 16, 1, 178, 0, "ASTC_10x8_UNORM_BLOCK"},
    {178, 10, 8, 16, 1, 177, 0, "ASTC_10x8_SRGB_BLOCK"},
    {179, 10, 10, 16, 1, 180, 0, "ASTC_10x10_UNORM_BLOCK"},
    {180, 10, 10, 16, 1, 179, 0, "ASTC_10x10_SRGB_BLOCK"},
    {181, 12, 10, 16, 1, 182, 0, "ASTC_12x10_UNORM_BLOCK"},
    {182, 12, 10, 16, 1, 181, 0, "ASTC_12x10_SRGB_BLOCK"},
    {183, 12, 12, 16, 1, 184, 0, "ASTC_12x12_UNORM_BLOCK"},
    {184, 12, 12, 16, 1, 183, 0, "ASTC_12x12_SRGB_BLOCK"},
    {1000066000, 4, 4, 16, 1, 0, 0, "ASTC_4x4_SFLOAT_BLOCK"},
    {1000066001, 5, 4, 16, 1, 0, 0, "ASTC_5x4_SFLOAT_BLOCK"},
    {1000066002, 5, 5, 16, 1, 0, 0, "ASTC_5x5_SFLOAT_BLOCK"},
    {1000066003, 6, 5, 16, 1, 0, 0, "ASTC_6x5_SFLOAT_BLOCK"},
    {1000066004, 6, 6, 16, 1, 0, 0, "ASTC_6x6_SFLOAT_BLOCK"},
    {1000066005, 8, 5, 16, 1, 0, 0, "ASTC_8x5_SFLOAT_BLOCK"},
    {1000066006, 8, 6, 16, 1, 0, 0, "ASTC_8x6_SFLOAT_BLOCK"},
    {1000066007, 8, 8, 16, 1, 0, 0, "ASTC_8x8_SFLOAT_BLOCK"},
    {1000066008, 10, 5, 16, 1, 0, 0, "ASTC_10x5_SFLOAT_BLOCK"},
    {1000066009, 10, 6, 16, 1, 0, 0, "ASTC_10x6_SFLOAT_BLOCK"},
    {1000066010, 10, 8, 16, 1, 0, 0, "ASTC_10x8_SFLOAT_BLOCK"},
    {1000066011, 10, 10, 16, 1, 0, 0, "ASTC_10x10_SFLOAT_BLOCK"},
    {1000066012, 12, 10, 16, 1, 0, 0, "ASTC_12x10_SFLOAT_BLOCK"},
    {1000066013, 12, 12, 16, 1, 0, 0, "ASTC_12x12_SFLOAT_BLOCK"},
    {1000340000, 1, 1, 2, 2, 0, 115, "A4R4G4B4_UNORM_PACK16"},
    {1000340001, 1, 1, 2, 2, 0, 0, "A4B4G4R4_UNORM_PACK16"},
    {1000470000, 1, 1, 2, 2, 0, 0, "A1B5G5R5_UNORM_PACK16"},
    {1000470001, 1, 1, 1, 1, 0, 65, "A8_UNORM"},
};
// clang-format on

constexpr bool isInOrder()
{
    for (size_t i = 1; i < std::size(kFormats); ++i)
        if (kFormats[i - 1].format >= kFormats[i].format) return false;
    return true;
}
static_assert(isInOrder(), "formats are searched by halves");

const FormatRow* find(uint32_t format)
{
    const FormatRow* row =
        std::lower_bound(std::begin(kFormats), std::end(kFormats), format,
                         [](const FormatRow& a, uint32_t wanted) { return a.format < wanted; });
    return row != std::end(kFormats) && row->format == format ? row : nullptr;
}

// The DXGI_FORMATs that kFormats lacks: typeless formats, and formats whose alpha is padding.
constexpr struct {
    uint32_t dxgi, same; // another DXGI_FORMAT with the same bits
    uint32_t flags;
} kOtherDxgi[] = {
    {1, 2, SLUICE_IMAGE_COLOUR_UNKNOWN},   // R32G32B32A32
    {5, 6, SLUICE_IMAGE_COLOUR_UNKNOWN},   // R32G32B32
    {9, 11, SLUICE_IMAGE_COLOUR_UNKNOWN},  // R16G16B16A16
    {15, 16, SLUICE_IMAGE_COLOUR_UNKNOWN}, // R32G32
    {23, 24, SLUICE_IMAGE_COLOUR_UNKNOWN}, // R10G10B10A2
    {27, 28, SLUICE_IMAGE_COLOUR_UNKNOWN}, // R8G8B8A8
    {33, 35, SLUICE_IMAGE_COLOUR_UNKNOWN}, // R16G16
    {39, 41, SLUICE_IMAGE_COLOUR_UNKNOWN}, // R32
    {48, 49, SLUICE_IMAGE_COLOUR_UNKNOWN}, // R8G8
    {53, 56, SLUICE_IMAGE_COLOUR_UNKNOWN}, // R16
    {60, 61, SLUICE_IMAGE_COLOUR_UNKNOWN}, // R8
    {70, 71, SLUICE_IMAGE_COLOUR_UNKNOWN}, // BC1 to BC5
    {73, 74, SLUICE_IMAGE_COLOUR_UNKNOWN},
    {76, 77, SLUICE_IMAGE_COLOUR_UNKNOWN},
    {79, 80, SLUICE_IMAGE_COLOUR_UNKNOWN},
    {82, 83, SLUICE_IMAGE_COLOUR_UNKNOWN},
    {88, 87, SLUICE_IMAGE_OPAQUE},                               // B8G8R8X8
    {90, 87, SLUICE_IMAGE_COLOUR_UNKNOWN},                       // B8G8R8A8
    {92, 87, SLUICE_IMAGE_COLOUR_UNKNOWN | SLUICE_IMAGE_OPAQUE}, // B8G8R8X8
    {93, 91, SLUICE_IMAGE_OPAQUE},                               // B8G8R8X8 with sRGB
    {94, 95, SLUICE_IMAGE_COLOUR_UNKNOWN},                       // BC6H
    {97, 98, SLUICE_IMAGE_COLOUR_UNKNOWN},                       // BC7
};

} // namespace

DxgiFormat formatOfDxgi(uint32_t dxgi)
{
    if (dxgi == 0) return {0, 0};
    // DXGI has three kinds of each ASTC block size: typeless, plain and sRGB. VkFormat has the last
    // two.
    constexpr uint32_t firstAstc = 133, lastAstc = 187, firstAstcFormat = 157;
    if (dxgi >= firstAstc && dxgi <= lastAstc && (dxgi - firstAstc) % 4 != 3) {
        const uint32_t size = (dxgi - firstAstc) / 4, kind = (dxgi - firstAstc) % 4;
        return {firstAstcFormat + 2 * size + (kind == 2 ? 1 : 0),
                kind == 0 ? uint32_t(SLUICE_IMAGE_COLOUR_UNKNOWN) : 0};
    }
    uint32_t flags = 0;
    for (const auto& other : kOtherDxgi) {
        if (other.dxgi != dxgi) continue;
        flags = other.flags;
        dxgi = other.same;
        break;
    }
    // If several rows have this DXGI number, the first row counts. The other rows are Vulkan's
    // formats of packed words that have the same bits.
    for (const FormatRow& row : kFormats)
        if (row.dxgi == dxgi) return {row.format, flags};
    return {0, 0};
}

} // namespace sluice

using namespace sluice;

SluiceStatus sluiceGetImageFormat(uint32_t format, SluiceImageFormat* info)
{
    if (info == nullptr) return SLUICE_ERROR_ARGUMENT;
    const FormatRow* row = find(format);
    if (row == nullptr) return SLUICE_ERROR_VERSION;
    const std::string_view name(row->name);
    info->name = row->name;
    info->format = format;
    info->blockWidth = row->blockWidth;
    info->blockHeight = row->blockHeight;
    info->blockBytes = row->blockBytes;
    info->unitBytes = row->unitBytes;
    info->compressed = name.size() > 6 && name.substr(name.size() - 6) == "_BLOCK" ? 1 : 0;
    info->srgb = name.find("SRGB") != std::string_view::npos ? 1 : 0;
    info->twin = row->twin;
    info->dxgi = row->dxgi;
    return SLUICE_OK;
}

uint32_t sluiceImageFormatOfDxgi(uint32_t dxgi) { return formatOfDxgi(dxgi).format; }
