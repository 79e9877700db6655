// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums up an asset for sluice info, from its tile records alone.
#pragma once

#include <sluice/sluice_filter.h>
#include <sluice/sluice_image.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/common/codecs.h"
#include "tools/common/container.h"

namespace sluice {

struct FilterRun {
    uint32_t first, count;
    const void* filter; // its description; null: none
    uint32_t size;
};

struct AssetSummary {
    uint64_t storedSize = 0;
    uint32_t tileCount = 0;           // that the asset has a part of
    uint32_t tiles[kCodecCount] = {}; // for each row of kCodecs
    uint32_t filtered = 0;
    std::vector<FilterRun> runs;
    // The lists of filters that occur, and how many tiles have each; the first tile's list comes
    // first.
    std::vector<std::pair<std::string, uint32_t>> lists;
};

struct ImageSummary {
    SluiceStatus status = SLUICE_OK; // VERSION: a newer description
    SluiceImageInfo info = {};       // container NONE: no image
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS] = {};
    SluiceImageFormat format = {};

    bool isImage() const { return status == SLUICE_OK && info.container != SLUICE_IMAGE_NONE; }
    const char* kind() const { return info.container == SLUICE_IMAGE_DDS ? "DDS" : "KTX2"; }
};

// Reads filter descriptions, each only once, because tiles often share them.
class DescribedFilters {
public:
    // Returns SluiceFilterFeatures; none without a description.
    uint32_t features(const void* description, uint32_t size);
    // The result is valid until the next call.
    const std::string& text(const void* description, uint32_t size);

private:
    std::unordered_map<const void*, uint32_t> m_features;
    std::unordered_map<const void*, std::string> m_texts;
};

AssetSummary summarize(const Container& container, uint32_t asset, DescribedFilters& filters);
ImageSummary imageOf(const Container& container, uint32_t number);
// Returns the names of SluiceFilterFeatures.
std::string namesOf(uint32_t features, const char* separator, const char* quote);

// Returns a file's type by its name: the extension in lower case, "-" without one.
std::string typeOf(const std::string& name);

struct TypeTotal {
    std::string type;
    uint64_t files = 0, size = 0, storedSize = 0;
};
// Sums up assets by type, the largest sum first. storedSizes are the bytes of each asset's tiles.
std::vector<TypeTotal> totalsByType(const Container& container,
                                    const std::vector<uint64_t>& storedSizes);

// Makes an HTML page about an archive.
std::string infoPage(const Container& container);

} // namespace sluice
