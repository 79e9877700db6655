// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/pack/textures.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "tools/sluice/pack/block_encoder.h"
#include "formats/image.h"
#include "tools/sluice/pack/picture_readers.h"
#include "tools/sluice/pack/texture_format.h"

#include "tools/common/tool.h"

namespace sluice {
namespace {

constexpr uint64_t kLargest = uint64_t(1) << 30; // most bytes of a file, and of a texture

constexpr uint32_t kThoroughLevel = 6; // from this level on, blocks are encoded thoroughly

enum class Picture {
    none,
    tga,
    png,
    jpeg
};

std::string suffixOf(const std::string& name)
{
    const size_t dot = name.rfind('.');
    return dot == std::string::npos ? "" : lower(name.substr(dot));
}

// Returns what kind of picture a file is. Its name must be that of a picture; then its first bytes
// say which kind.
Picture kindOf(const InputFile& input, const std::string& name)
{
    if (!hasPictureName(name)) return Picture::none;
    const std::string suffix = suffixOf(name);
    const Bytes start = input.readStart(kKtx2MagicSize);
    if (isKtx2(start.data(), start.size()) || isDds(start.data(), start.size()))
        return Picture::none;
    const auto begins = [&](const char* magic, size_t size) {
        return start.size() >= size && std::memcmp(start.data(), magic, size) == 0;
    };
    if (begins("\x89PNG\r\n\x1a\n", 8)) return Picture::png;
    if (begins("\xff\xd8\xff", 3)) return Picture::jpeg;
    return suffix == ".tga" ? Picture::tga : suffix == ".png" ? Picture::png : Picture::jpeg;
}

std::string readPicture(const InputFile& input, Picture kind, uint64_t limit, Pixels& pixels)
{
    const Bytes file = input.readAll();
    switch (kind) {
    case Picture::png: return readPng(file, limit, pixels);
    case Picture::jpeg: return readJpeg(file, limit, pixels);
    default: {
        uint64_t bytes = 0;
        const char* const problem = readTga(file.data(), file.size(), pixels, limit, &bytes);
        return bytes > limit ? whyTooLarge(bytes, limit) : problem == nullptr ? "" : problem;
    }
    }
}

// Returns the bytes of all levels of a texture.
uint64_t bytesOf(SluiceImageInfo info)
{
    info.depth = info.layers = info.faces = 1;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < info.levels; ++i) {
        SluiceImageLevel level = {};
        // Cannot fail: a picture's extents are small enough.
        (void)sluiceGetImageLevel(&info, i, &level);
        bytes += level.size;
    }
    return bytes;
}

} // namespace

bool hasPictureName(const std::string& name)
{
    const std::string suffix = suffixOf(name);
    return suffix == ".tga" || suffix == ".png" || suffix == ".jpg" || suffix == ".jpeg";
}

bool isPicture(const InputFile& input, const std::string& name)
{
    return kindOf(input, name) != Picture::none;
}

uint64_t imageLimit(const InputFile& input, const AssetOptions& options)
{
    // All that is made of a picture takes 2.7 times its size in memory. The limit on its size is
    // 128 MiB, or 16 times the size of the file if that is more (other limits take 100 times). So a
    // picture file of less than 10 MB takes less than 512 MiB in all.
    return std::min(outputLimit(input.size(), options.maxOutput, uint64_t(128) << 20, 16),
                    kLargest);
}

Texture makeTexture(const InputFile& input, const std::string& name, const AssetOptions& options)
{
    Texture texture;
    const Picture kind = kindOf(input, name);
    if (kind == Picture::none) return texture;
    if (input.size() > kLargest) {
        texture.reason = "it is larger than 1 GiB";
        return texture;
    }
    Pixels pixels;
    texture.reason = readPicture(input, kind, imageLimit(input, options), pixels);
    if (!texture.reason.empty()) return texture;

    const TextureFormat choice = chooseTextureFormat(name, pixels, options.bc, options.kind);
    SluiceImageFormat format;
    (void)sluiceGetImageFormat(choice.format, &format); // cannot fail: the table has this format
    SluiceImageInfo info = {};
    info.format = choice.format;
    info.width = pixels.width;
    info.height = pixels.height;
    info.levels = options.mips ? maxImageLevels(info.width, info.height, 1) : 1;
    info.flags = pixels.premultiplied ? SLUICE_IMAGE_PREMULTIPLIED : 0;
    if (bytesOf(info) > kLargest) {
        texture.reason = "its texture would be larger than 1 GiB";
        return texture;
    }
    const std::vector<Bytes> mips = makeMips(pixels, choice.averaging, info.levels - 1);
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    Bytes file = makeKtx2(info, choice.swizzle, levels);
    for (uint32_t i = 0; i < info.levels; ++i) {
        const Bytes& level = i == 0 ? pixels.rgba : mips[i - 1];
        uint8_t* const to = &file[size_t(levels[i].offset)];
        if (format.compressed != 0)
            encodeBlocks(level.data(), levels[i].width, levels[i].height, format,
                         choice.averaging == Averaging::colour, options.level >= kThoroughLevel,
                         threadCount(options.threads), to);
        else
            std::memcpy(to, level.data(), level.size());
    }
    texture.summary = formatText("%s, %u x %u, %u levels: %s", format.name, info.width, info.height,
                                 info.levels, choice.reason.c_str());
    if (!pixels.obeyed.empty()) texture.summary += "; " + pixels.obeyed;
    texture.warning = pixels.ignored;
    if (!pixels.colourSpace.empty() && format.srgb != 0)
        addRemark(texture.warning,
                  "its " + pixels.colourSpace + " is ignored: its colours are taken as sRGB");
    texture.file = std::make_unique<InputFile>(input.name(), std::move(file));
    return texture;
}

} // namespace sluice
