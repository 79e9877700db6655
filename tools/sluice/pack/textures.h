// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice pack --images` for pictures: Targa, PNG and JPEG files become KTX2 files.
#pragma once

#include <memory>
#include <string>

#include "tools/common/files.h"

namespace sluice {

bool hasPictureName(const std::string& name); // .tga, .png, .jpg or .jpeg
// Returns whether --images would make a texture of this file, whose name in the archive is `name`.
// Looks only at that name and at the file's first bytes.
bool isPicture(const InputFile& input, const std::string& name);

// Returns how many bytes an image may take in memory, where a picture is RGBA8. It depends on the
// size of the file and on the options.
uint64_t imageLimit(const InputFile& input, const AssetOptions& options);

struct Texture {
    // The KTX2 file, in memory, with the picture's name; null: none.
    std::unique_ptr<InputFile> file;
    std::string summary; // what the picture became, and why: "RGBA8 sRGB, 9 levels"
    std::string warning; // what the picture says of its pixels but the texture ignores
    std::string reason;  // why a picture has no texture
};

// Makes the texture of a picture, whose name in the archive is `name`. The same bytes, name and
// options make the same texture.
Texture makeTexture(const InputFile& input, const std::string& name, const AssetOptions& options);

} // namespace sluice
