// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes descriptions of images in an archive's index: what is accepted must lie inside the asset
// and give the same item again. The first eight bytes are the size of the asset.
#include <sluice/sluice_image.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/support/image_ranges.h"
#include "tests/fuzz/fuzzing.h"

using sluice::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 8) return 0;
    SluiceArchiveAsset asset = {};
    std::memcpy(&asset.size, data, 8);
    const std::vector<uint8_t> parameters(data + 8, data + 8 + (size - 8) / 4 * 4);
    asset.parameters = parameters.empty() ? nullptr : parameters.data();
    asset.parameterSize = uint32_t(parameters.size());
    SluiceImageInfo info, again;
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS], same[SLUICE_IMAGE_MAX_LEVELS];
    if (sluiceGetArchiveImage(&asset, &info, levels) != SLUICE_OK ||
        info.container == SLUICE_IMAGE_NONE)
        return 0;
    require(sluice::test::badRanges(info, levels, asset.size) == nullptr);
    uint8_t item[SLUICE_IMAGE_ITEM_SIZE];
    uint32_t itemSize = 0;
    require(sluiceMakeArchiveImageItem(&info, levels, item, &itemSize) == SLUICE_OK);
    asset.parameters = item;
    asset.parameterSize = itemSize;
    require(sluiceGetArchiveImage(&asset, &again, same) == SLUICE_OK);
    require(std::memcmp(&info, &again, sizeof info) == 0 &&
            std::memcmp(levels, same, info.levels * sizeof *levels) == 0);
    return 0;
}
