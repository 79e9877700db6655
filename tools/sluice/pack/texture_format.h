// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses the format of a texture.
#pragma once

#include <string>

#include "encode/image/texture.h"

namespace sluice {

struct TextureFormat {
    uint32_t format; // VkFormat
    Averaging averaging;
    const char* swizzle; // in the form that makeKtx2 takes
    const char* reason;  // the property of the picture that decided
};

// `name` is that of the picture's file, `bc` the value of --bc.
TextureFormat chooseTextureFormat(const std::string& name, const Pixels& pixels,
                                  const std::string& bc);

} // namespace sluice
