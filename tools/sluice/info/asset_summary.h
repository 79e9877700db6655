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
    uint32_t tileCount = 0;           // tiles that hold a part of the asset
    uint32_t tiles[kCodecCount] = {}; // for each row of kCodecs
    uint32_t filtered = 0;
    std::vector<FilterRun> runs;
    // The filter lists that occur, with the number of tiles that have each. The list of the first
    // tile comes first.
    std::vector<std::pair<std::string, uint32_t>> lists;
};

struct ImageSummary {
    SluiceStatus status = SLUICE_OK; // VERSION: the description is of a newer version
    SluiceImageInfo info = {};       // container NONE: no image
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS] = {};
    SluiceImageFormat format = {};

    bool isImage() const { return status == SLUICE_OK && info.container != SLUICE_IMAGE_NONE; }
    const char* kind() const { return info.container == SLUICE_IMAGE_DDS ? "DDS" : "KTX2"; }
};

// Reads filter descriptions. It keeps the results, because tiles often share a description.
class DescribedFilters {
public:
    // Returns SluiceFilterFeatures; 0 if there is no description.
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

// Returns a file's type, which is the extension of its name in lower case; "-" if there is none.
std::string typeOf(const std::string& name);

struct TypeTotal {
    std::string type;
    uint64_t files = 0, size = 0, storedSize = 0;
};
// Sums up assets by type; the type with the largest sum comes first. storedSizes holds the bytes of
// each asset's tiles.
std::vector<TypeTotal> totalsByType(const Container& container,
                                    const std::vector<uint64_t>& storedSizes);

// Makes an HTML page about an archive.
std::string infoPage(const Container& container);

} // namespace sluice
