// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes the reader of Targa files: what it accepts is a whole picture, of which mip levels can be
// made.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "encode/image/texture.h"
#include "formats/image.h"
#include "tests/fuzz/fuzzing.h"

using sluice::fuzz::require;

using namespace sluice;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const std::unique_ptr<uint8_t[]> exact(new uint8_t[size]);
    std::copy(data, data + size, exact.get());
    Pixels pixels;
    if (readTga(exact.get(), size, pixels) != nullptr) return 0;
    const uint64_t texels = uint64_t(pixels.width) * pixels.height;
    require(texels != 0 && pixels.width <= kMaxTextureExtent && pixels.height <= kMaxTextureExtent);
    require(pixels.rgba.size() == texels * 4);
    require(texels <= size * 128); // a file cannot ask for more
    require(pixels.channels >= 1 && pixels.channels <= 4);
    const bool hasAlpha = pixels.channels == 2 || pixels.channels == 4;
    for (size_t i = 0; i < pixels.rgba.size(); i += 4) {
        const uint8_t* const texel = &pixels.rgba[i];
        require(hasAlpha || texel[3] == 255);
        require(pixels.channels > 2 || (texel[0] == texel[1] && texel[1] == texel[2]));
    }
    if (texels > 4096) return 0;
    const uint32_t levels = maxImageLevels(pixels.width, pixels.height, 1);
    for (const Averaging averaging : {Averaging::colour, Averaging::linear, Averaging::normals}) {
        const std::vector<std::vector<uint8_t>> mips = makeMips(pixels, averaging, levels - 1);
        require(mips.size() == levels - 1);
        require(mips.empty() || mips.back().size() == 4);
    }
    return 0;
}
