// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/texture_format.h"

#include "tools/sluice/pack/texture_kind.h"

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

// Returns whether red, green and blue are the same in every texel.
bool isOneChannel(const Pixels& pixels)
{
    for (size_t i = 0; i < pixels.rgba.size(); i += 4)
        if (pixels.rgba[i] != pixels.rgba[i + 1] || pixels.rgba[i] != pixels.rgba[i + 2])
            return false;
    return true;
}

TextureFormat formatOfNormals(const std::string& bc, bool alpha)
{
    constexpr Averaging averaging = Averaging::normals;
    if (bc == "none") return {rgba8, averaging, "", "a normal map"};
    if (bc == "bc1") return {alpha ? bc1Rgba : bc1Rgb, averaging, "", "a normal map"};
    if (bc == "bc3") return {bc3, averaging, "", "a normal map"};
    if (bc == "bc4") return {bc4, averaging, "rrr1", "a normal map, red alone"};
    if (bc == "auto" && alpha) return {bc3, averaging, "", "a normal map with alpha"};
    return {bc5, averaging, "", "a normal map"};
}

TextureFormat formatOfData(const std::string& bc, bool alpha, bool oneChannel)
{
    constexpr Averaging averaging = Averaging::linear;
    if (bc == "none") return {rgba8, averaging, "", "numbers, not colours"};
    if (bc == "bc3" || (bc == "auto" && alpha && !oneChannel))
        return {bc3, averaging, "", "numbers with alpha, not colours"};
    if (bc == "bc4" || (bc == "auto" && oneChannel))
        return {bc4, averaging, "rrr1", "numbers of a single channel"};
    if (bc == "bc5") return {bc5, averaging, "", "numbers, red and green"};
    return {alpha ? bc1Rgba : bc1Rgb, averaging, "", "numbers, not colours"};
}

TextureFormat formatOfColours(const Pixels& pixels, const std::string& bc, bool alpha)
{
    const char* const colours = alpha ? "colours with alpha" : "opaque colours";
    const Averaging light = pixels.premultiplied ? Averaging::premultiplied : Averaging::colour,
                    values = Averaging::linear;
    if (bc == "none") return {rgba8Srgb, light, "", colours};
    if (bc == "bc1") return {alpha ? bc1RgbaSrgb : bc1RgbSrgb, light, "", colours};
    if (bc == "bc3") return {bc3Srgb, light, "", colours};
    if (bc == "bc4") return {bc4, values, "rrr1", "red alone"};
    if (bc == "bc5") return {bc5, values, "", "red and green"};
    return {alpha ? bc3Srgb : bc1RgbSrgb, light, "", colours};
}

TextureFormat formatOf(TextureKind kind, const Pixels& pixels, const std::string& bc,
                       const std::string& wanted)
{
    const bool alpha = hasAlpha(pixels);
    switch (kind) {
    case TextureKind::normal: return formatOfNormals(bc, alpha);
    case TextureKind::data: return formatOfData(bc, alpha, !alpha && isOneChannel(pixels));
    case TextureKind::mask: return formatOfData(bc, alpha, true);
    case TextureKind::color: break;
    }
    if (bc == "auto" && wanted == "auto" && pixels.channels == 1)
        return {bc4, Averaging::linear, "rrr1", "a single channel"};
    return formatOfColours(pixels, bc, alpha);
}

} // namespace

TextureFormat chooseTextureFormat(const std::string& name, const Pixels& pixels,
                                  const std::string& bc, const std::string& kind)
{
    const KindChoice choice = chooseKind(name, pixels, kind);
    TextureFormat format = formatOf(choice.kind, pixels, bc, kind);
    if (!choice.why.empty()) format.reason += " (" + choice.why + ")";
    return format;
}

} // namespace sluice
