// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/texture_format.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace sluice {
namespace {

enum VkFormat : uint32_t {
    rgba8 = 37,
    rgba8Srgb = 43,
    bc1Rgb = 131,
    bc1RgbSrgb = 132,
    bc1Rgba = 133,
    bc1RgbaSrgb = 134,
    bc3 = 137,
    bc3Srgb = 138,
    bc4 = 139,
    bc5 = 141
};

bool hasAlpha(const Pixels& pixels)
{
    for (size_t i = 3; i < pixels.rgba.size(); i += 4)
        if (pixels.rgba[i] != 255) return true;
    return false;
}

// Returns whether a name looks like that of a normal map: "wall_n.tga", "wall_normal.png".
bool isNormalName(const std::string& name)
{
    const std::string base = name.substr(name.rfind('/') + 1),
                      stem = base.substr(0, base.rfind('.'));
    const size_t bar = stem.rfind('_');
    if (bar == std::string::npos) return false;
    std::string suffix = stem.substr(bar + 1);
    for (char& letter : suffix)
        letter = char(std::tolower(static_cast<uint8_t>(letter)));
    static const char* const known[] = {"n",       "nm",  "nrm",  "norm",  "normal",
                                        "normals", "ddn", "ddna", "local", "bump"};
    return std::find(std::begin(known), std::end(known), suffix) != std::end(known);
}

// Returns whether at least nine of ten texels are unit vectors that point away from the surface.
// The name does not suffice, because height maps have such names too.
bool hasNormals(const Pixels& pixels)
{
    size_t normals = 0;
    const size_t texels = pixels.rgba.size() / 4;
    for (size_t i = 0; i < texels; ++i) {
        int squares = 0;
        for (size_t c = 0; c < 3; ++c) {
            const int value = 2 * pixels.rgba[4 * i + c] - 255;
            squares += value * value;
        }
        constexpr int one = 255 * 255;
        const bool isUnit = squares > one * 72 / 100 && squares < one * 132 / 100;
        normals += isUnit && pixels.rgba[4 * i + 2] >= 120 ? 1 : 0;
    }
    return normals >= texels - texels / 10;
}

TextureFormat formatOfNormals(const std::string& bc, bool alpha)
{
    constexpr Averaging averaging = Averaging::normals;
    if (bc == "none") return {rgba8, averaging, "", "a normal map"};
    if (bc == "bc1") return {alpha ? bc1Rgba : bc1Rgb, averaging, "", "a normal map"};
    if (bc == "bc3") return {bc3, averaging, "", "a normal map"};
    if (bc == "auto" && alpha) return {bc3, averaging, "", "a normal map with alpha"};
    return {bc5, averaging, "", "a normal map"};
}

} // namespace

TextureFormat chooseTextureFormat(const std::string& name, const Pixels& pixels,
                                  const std::string& bc)
{
    const bool alpha = hasAlpha(pixels);
    if (bc != "bc4" && isNormalName(name) && hasNormals(pixels)) return formatOfNormals(bc, alpha);
    const char* const colours = alpha ? "colours with alpha" : "opaque colours";
    constexpr Averaging light = Averaging::colour, values = Averaging::linear;
    if (bc == "none") return {rgba8Srgb, light, "", colours};
    if (bc == "bc1") return {alpha ? bc1RgbaSrgb : bc1RgbSrgb, light, "", colours};
    if (bc == "bc3") return {bc3Srgb, light, "", colours};
    if (bc == "bc4") return {bc4, values, "rrr1", "red alone"};
    if (bc == "bc5") return {bc5, values, "", "red and green"};
    if (pixels.channels == 1) return {bc4, values, "rrr1", "a single channel"};
    return {alpha ? bc3Srgb : bc1RgbSrgb, light, "", colours};
}

} // namespace sluice
