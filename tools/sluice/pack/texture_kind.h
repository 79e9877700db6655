// SPDX-License-Identifier: MIT OR Apache-2.0
// Says what the numbers in a picture mean, by its name and its texels.
#pragma once

#include <string>

#include "encode/image/texture.h"

namespace sluice {

enum class TextureKind {
    color,  // colours, which are sRGB-encoded
    data,   // numbers in each channel: roughness, occlusion, heights
    normal, // normals: vectors in red, green and blue
    mask    // numbers in red alone
};
// The names that --kind and rules use, in the order of TextureKind. "auto" is the fifth.
constexpr const char* kKindNames[] = {"color", "data", "normal", "mask", "auto"};
constexpr const char kKindList[] = "color, data, normal, mask or auto";

bool isKindName(const std::string& name);

struct KindChoice {
    TextureKind kind;
    std::string why; // "its name says 'orm'"; empty: nothing speaks against colours
};

// Chooses the kind of a picture. `name` is the name of its file, `wanted` a name of kKindNames. A
// name alone makes no normal map: nine texels in ten must be unit vectors that point away from the
// surface.
KindChoice chooseKind(const std::string& name, const Pixels& pixels, const std::string& wanted);

} // namespace sluice
