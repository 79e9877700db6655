// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses the format of a texture.
#pragma once

#include <string>

#include "encode/image/texture.h"

namespace sluice {

struct TextureFormat {
    uint32_t format; // VkFormat
    Averaging averaging;
    const char* swizzle; // KTXswizzle, in the form that makeKtx2 takes
    std::string reason;  // what in the picture, its name or the options has decided
};

// Chooses the format of the texture that is made of a picture. `name` is the name of the picture's
// file, `bc` the value of --bc, and `kind` the value of --kind.
TextureFormat chooseTextureFormat(const std::string& name, const Pixels& pixels,
                                  const std::string& bc, const std::string& kind);

} // namespace sluice
