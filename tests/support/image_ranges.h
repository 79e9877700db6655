// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the result of a reader of image files that accepted a file. Tests and fuzzers use this.
#pragma once

#include <sluice/sluice_image.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sluice::test {

// Sums and products of this type cannot overflow here.
using Wide = unsigned __int128;

// Returns NULL, or what is wrong.
inline const char* badRanges(const SluiceImageInfo& info, const SluiceImageLevel* levels,
                             uint64_t fileSize)
{
    SluiceImageFormat format;
    if (sluiceGetImageFormat(info.format, &format) != SLUICE_OK) return "format";
    if (info.width == 0 || info.height == 0 || info.depth == 0 || info.layers == 0) return "extent";
    if (info.faces != 1 && info.faces != 6) return "faces";
    if (info.levels == 0 || info.levels > SLUICE_IMAGE_MAX_LEVELS) return "levels";
    if (info.keyValueOffset > fileSize || info.keyValueSize > fileSize - info.keyValueOffset)
        return "key/value data";
    const Wide images = Wide(info.layers) * info.faces;
    std::vector<std::pair<Wide, Wide>> ranges;
    for (uint32_t i = 0; i < info.levels; ++i) {
        const SluiceImageLevel& level = levels[i];
        const auto blocks = [&](uint32_t extent, uint32_t block) {
            return (Wide(std::max(1u, extent >> i)) + block - 1) / block;
        };
        const Wide row = blocks(info.width, format.blockWidth) * format.blockBytes,
                   slice = row * blocks(info.height, format.blockHeight),
                   image = slice * blocks(info.depth, 1);
        if (row != level.rowSize || slice != level.sliceSize || image != level.imageSize ||
            image * images != level.decodedSize)
            return "size of a level";
        if (level.offset == 0 || level.offset > fileSize) return "offset of a level";
        if (info.container == SLUICE_IMAGE_KTX2) {
            if (level.size > fileSize - level.offset) return "level outside the file";
            if (level.imageStride != level.imageSize) return "stride";
            ranges.emplace_back(level.offset, level.offset + Wide(level.size));
        } else {
            const Wide end = level.offset + (images - 1) * level.imageStride + image;
            if (end > fileSize || level.size != level.decodedSize) return "level outside the file";
            ranges.emplace_back(level.offset, level.offset + image); // the range of the first image
            if (level.offset + image > levels[0].offset + Wide(level.imageStride)) return "stride";
        }
        if (info.scheme == SLUICE_IMAGE_SCHEME_NONE && level.size != level.decodedSize)
            return "size without a scheme";
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); ++i)
        if (ranges[i - 1].second > ranges[i].first) return "overlap";
    return nullptr;
}

} // namespace sluice::test
