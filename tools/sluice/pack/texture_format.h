// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses the format of a texture.
#pragma once

#include <string>

#include "encode/image/texture.h"

namespace sluice {

struct TextureFormat {
    uint32_t format; // VkFormat
    Averaging averaging;
    const char* swizzle; // as makeKtx2 takes it
    const char* reason;  // what about the picture decided
};

// name: of the picture's file; bc: what --bc takes.
TextureFormat chooseTextureFormat(const std::string& name, const Pixels& pixels,
                                  const std::string& bc);

} // namespace sluice
