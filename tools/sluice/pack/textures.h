// SPDX-License-Identifier: MIT OR Apache-2.0
// Does sluice pack --images for pictures: Targa, PNG and JPEG files become KTX2 files.
#pragma once

#include <memory>
#include <string>

#include "tools/common/files.h"

namespace sluice {

bool hasPictureName(const std::string& name); // .tga, .png, .jpg or .jpeg
// Returns whether --images would make a texture of a file, judged by its name and its first bytes.
bool isPicture(const InputFile& input);

// Returns how many bytes an image may have in memory (a picture as RGBA8), by its file's size and
// the options.
uint64_t imageLimit(const InputFile& input, const AssetOptions& options);

struct Texture {
    std::unique_ptr<InputFile> file; // a KTX2 file in memory, under the picture's name; null: none
    std::string summary;             // what was made and why: "RGBA8 sRGB, 9 levels"
    std::string reason;              // why there is none
};

// Makes the texture of a picture. The same bytes and options make the same texture.
Texture makeTexture(const InputFile& input, const AssetOptions& options);

} // namespace sluice
