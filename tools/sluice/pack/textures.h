// SPDX-License-Identifier: MIT OR Apache-2.0
// Does sluice pack --images for pictures: Targa, PNG and JPEG files become KTX2 files.
#pragma once

#include <memory>
#include <string>

#include "tools/common/files.h"

namespace sluice {

bool hasPictureName(const std::string& name); // .tga, .png, .jpg or .jpeg
// Returns whether --images would make a texture of a file. Only its name and its first bytes are
// looked at.
bool isPicture(const InputFile& input);

// Returns how many bytes an image may have in memory (a picture has RGBA8 there). The limit depends
// on the size of its file and on the options.
uint64_t imageLimit(const InputFile& input, const AssetOptions& options);

struct Texture {
    std::unique_ptr<InputFile> file; // a KTX2 file in memory, under the picture's name; null: none
    std::string summary;             // the result and the reason for it: "RGBA8 sRGB, 9 levels"
    std::string reason;              // why there is no texture
};

// Makes the texture of a picture. The same bytes and options make the same texture.
Texture makeTexture(const InputFile& input, const AssetOptions& options);

} // namespace sluice
