// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the table of image formats with Vulkan's names, and tests the sizes of levels.
#include "tests/support/images.h"

#include <doctest/doctest.h>

#include <vulkan/vulkan_core.h>

#include <regex>

using namespace sluice::test;

TEST_CASE("image formats: extents and bytes are what the names say")
{
    const std::vector<uint32_t> formats = allFormats();
    CHECK(formats.size() == 170);
    CHECK(formats[0] == 0); // UASTC, whose name is not Vulkan's
    for (const uint32_t number : formats) {
        SluiceImageFormat row;
        REQUIRE(sluiceGetImageFormat(number, &row) == SLUICE_OK);
        const std::string name = row.name;
        CAPTURE(name);
        CHECK(row.format == number);
        CHECK((row.compressed != 0) == std::regex_search(name, std::regex("_BLOCK$")));
        CHECK((row.srgb != 0) == std::regex_search(name, std::regex("_SRGB(_|$)")));
        std::smatch found;
        if (std::regex_search(name, found, std::regex("^ASTC_(\\d+)x(\\d+)_"))) {
            CHECK(row.blockWidth == std::stoul(found[1]));
            CHECK(row.blockHeight == std::stoul(found[2]));
            CHECK(row.blockBytes == 16);
        } else if (row.compressed != 0) {
            CHECK(row.blockWidth == 4);
            CHECK(row.blockHeight == 4);
            const bool half = std::regex_search(
                name, std::regex("^(BC1|BC4|ETC2_R8G8B8_|ETC2_R8G8B8A1|EAC_R11_)"));
            CHECK(row.blockBytes == (half ? 8 : 16));
        } else {
            CHECK(row.blockWidth * row.blockHeight == 1);
            uint32_t bits = 0, first = 0;
            const std::string letters = name.substr(0, name.find('_'));
            const std::regex component("[RGBAE](\\d+)");
            for (std::sregex_iterator at(letters.begin(), letters.end(), component);
                 at != std::sregex_iterator(); ++at) {
                const uint32_t more = uint32_t(std::stoul((*at)[1]));
                bits += more;
                if (first == 0) first = more;
            }
            CHECK(row.blockBytes * 8 == bits);
            const bool packed = std::regex_search(name, found, std::regex("_PACK(\\d+)$"));
            CHECK(row.unitBytes * 8 == (packed ? std::stoul(found[1]) : first));
        }
        if (row.twin != 0) {
            SluiceImageFormat twin;
            REQUIRE(sluiceGetImageFormat(row.twin, &twin) == SLUICE_OK);
            CHECK(twin.twin == number);
            CHECK(twin.srgb != row.srgb);
            CHECK(std::regex_replace(std::string(twin.name), std::regex("SRGB|UNORM"), "") ==
                  std::regex_replace(name, std::regex("SRGB|UNORM"), ""));
        } else {
            CHECK(row.srgb == 0);
        }
        if (row.dxgi != 0) {
            SluiceImageFormat same;
            REQUIRE(sluiceGetImageFormat(sluiceImageFormatOfDxgi(row.dxgi), &same) == SLUICE_OK);
            CHECK(same.dxgi == row.dxgi);
            CHECK(same.blockBytes == row.blockBytes);
            CHECK(same.srgb == row.srgb);
        }
    }
}

TEST_CASE("image formats: numbers are those of Vulkan and DXGI")
{
    const struct {
        uint32_t number;
        const char* name;
        uint32_t dxgi;
    } known[] = {
        {VK_FORMAT_R4G4_UNORM_PACK8, "R4G4_UNORM_PACK8", 0},
        {VK_FORMAT_R5G6B5_UNORM_PACK16, "R5G6B5_UNORM_PACK16", 85},
        {VK_FORMAT_R8_UNORM, "R8_UNORM", 61},
        {VK_FORMAT_R8G8_SNORM, "R8G8_SNORM", 51},
        {VK_FORMAT_B8G8R8_SRGB, "B8G8R8_SRGB", 0},
        {VK_FORMAT_R8G8B8A8_UNORM, "R8G8B8A8_UNORM", 28},
        {VK_FORMAT_R8G8B8A8_SRGB, "R8G8B8A8_SRGB", 29},
        {VK_FORMAT_B8G8R8A8_SRGB, "B8G8R8A8_SRGB", 91},
        {VK_FORMAT_A2B10G10R10_UNORM_PACK32, "A2B10G10R10_UNORM_PACK32", 24},
        {VK_FORMAT_R16_SFLOAT, "R16_SFLOAT", 54},
        {VK_FORMAT_R16G16B16A16_SFLOAT, "R16G16B16A16_SFLOAT", 10},
        {VK_FORMAT_R32G32B32_SFLOAT, "R32G32B32_SFLOAT", 6},
        {VK_FORMAT_R64G64B64A64_SFLOAT, "R64G64B64A64_SFLOAT", 0},
        {VK_FORMAT_B10G11R11_UFLOAT_PACK32, "B10G11R11_UFLOAT_PACK32", 26},
        {VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, "E5B9G9R9_UFLOAT_PACK32", 67},
        {VK_FORMAT_BC1_RGB_UNORM_BLOCK, "BC1_RGB_UNORM_BLOCK", 0},
        {VK_FORMAT_BC1_RGBA_SRGB_BLOCK, "BC1_RGBA_SRGB_BLOCK", 72},
        {VK_FORMAT_BC4_SNORM_BLOCK, "BC4_SNORM_BLOCK", 81},
        {VK_FORMAT_BC6H_SFLOAT_BLOCK, "BC6H_SFLOAT_BLOCK", 96},
        {VK_FORMAT_BC7_SRGB_BLOCK, "BC7_SRGB_BLOCK", 99},
        {VK_FORMAT_ETC2_R8G8B8A8_SRGB_BLOCK, "ETC2_R8G8B8A8_SRGB_BLOCK", 0},
        {VK_FORMAT_EAC_R11G11_SNORM_BLOCK, "EAC_R11G11_SNORM_BLOCK", 0},
        {VK_FORMAT_ASTC_8x5_UNORM_BLOCK, "ASTC_8x5_UNORM_BLOCK", 0},
        {VK_FORMAT_ASTC_12x12_SRGB_BLOCK, "ASTC_12x12_SRGB_BLOCK", 0},
        {VK_FORMAT_A4R4G4B4_UNORM_PACK16, "A4R4G4B4_UNORM_PACK16", 115},
    };
    for (const auto& one : known) {
        SluiceImageFormat row;
        REQUIRE(sluiceGetImageFormat(one.number, &row) == SLUICE_OK);
        CHECK(std::string(row.name) == one.name);
        CHECK(row.dxgi == one.dxgi);
        if (one.dxgi != 0) CHECK(sluiceImageFormatOfDxgi(one.dxgi) == one.number);
    }
    SluiceImageFormat row;
    for (const uint32_t unknown :
         {VK_FORMAT_R8_USCALED, VK_FORMAT_D32_SFLOAT_S8_UINT, VK_FORMAT_G8B8G8R8_422_UNORM,
          VK_FORMAT_PVRTC1_2BPP_UNORM_BLOCK_IMG, VK_FORMAT_MAX_ENUM})
        CHECK(sluiceGetImageFormat(unknown, &row) == SLUICE_ERROR_VERSION);
    CHECK(sluiceGetImageFormat(37, nullptr) == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("images: sizes of levels")
{
    SluiceImageInfo info = {};
    SluiceImageLevel level;
    CHECK(sluiceGetImageLevel(&info, 0, &level) == SLUICE_ERROR_ARGUMENT);
    info.format = VK_FORMAT_ASTC_10x6_SRGB_BLOCK;
    info.width = 101;
    info.height = 13;
    info.depth = info.layers = info.faces = 1;
    REQUIRE(sluiceGetImageLevel(&info, 0, &level) == SLUICE_OK);
    CHECK(level.rowSize == 11 * 16);
    CHECK(level.sliceSize == 3 * 11 * 16);
    REQUIRE(sluiceGetImageLevel(&info, 31, &level) == SLUICE_OK);
    CHECK(level.decodedSize == 16);
    CHECK(sluiceGetImageLevel(&info, 32, &level) == SLUICE_ERROR_ARGUMENT);
    info.layers = 7;
    info.faces = 6;
    REQUIRE(sluiceGetImageLevel(&info, 2, &level) == SLUICE_OK);
    CHECK(level.width == 25);
    CHECK(level.height == 3);
    CHECK(level.decodedSize == 42 * 3 * 16);
    uint64_t offset = 0;
    CHECK(sluiceGetImageOffset(&info, &level, 6, 5, 0, &offset) == SLUICE_OK);
    CHECK(offset == 41 * 3 * 16);
    CHECK(sluiceGetImageOffset(&info, &level, 7, 0, 0, &offset) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetImageOffset(&info, &level, 0, 6, 0, &offset) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetImageOffset(&info, &level, 0, 0, 1, &offset) == SLUICE_ERROR_ARGUMENT);
    info.format = VK_FORMAT_R64G64B64A64_UINT; // 2^5 bytes
    info.faces = info.depth = 1;
    info.width = 1u << 31;
    info.height = 1u << 27;
    info.layers = 1;
    CHECK(sluiceGetImageLevel(&info, 0, &level) == SLUICE_OK);
    CHECK(level.decodedSize == uint64_t(1) << 63);
    info.layers = 2;
    CHECK(sluiceGetImageLevel(&info, 0, &level) == SLUICE_ERROR_FORMAT);
    CHECK(sluiceGetImageLevel(&info, 1, &level) == SLUICE_OK);
    info.format = VK_FORMAT_D16_UNORM;
    CHECK(sluiceGetImageLevel(&info, 0, &level) == SLUICE_ERROR_VERSION);
}
