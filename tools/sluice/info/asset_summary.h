// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums up an asset for `sluice info`. It reads the asset's tile records, not the tiles.
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

// Consecutive tiles with the same filter description.
struct FilterRun {
    uint32_t first, count;
    const void* filter; // filter description; null: not filtered
    uint32_t size;
};

struct AssetSummary {
    uint64_t storedSize = 0;
    uint32_t tileCount = 0;           // tiles that hold a byte of the asset
    uint32_t tiles[kCodecCount] = {}; // number of tiles for each row of kCodecs
    uint32_t filtered = 0;
    std::vector<FilterRun> runs;
    // The combinations of filters that the tiles have, as text, each with its number of tiles. The
    // first tile's combination comes first.
    std::vector<std::pair<std::string, uint32_t>> lists;
};

struct ImageSummary {
    SluiceStatus status = SLUICE_OK; // VERSION: a newer version made the description
    SluiceImageInfo info = {};       // container NONE: it is no image
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS] = {};
    SluiceImageFormat format = {};

    bool isImage() const { return status == SLUICE_OK && info.container != SLUICE_IMAGE_NONE; }
    bool isUastc() const { return isImage() && (info.flags & SLUICE_IMAGE_TRANSCODE) != 0; }
    const char* channels() const; // which channels UASTC blocks hold
    const char* kind() const { return info.container == SLUICE_IMAGE_DDS ? "DDS" : "KTX2"; }
};

// Reads filter descriptions, and keeps the results, because many tiles have the same description.
class DescribedFilters {
public:
    // Returns a set of SluiceFilterFeatures, 0 without a description.
    uint32_t features(const void* description, uint32_t size);
    // Returns the description in words. The reference is valid until the next call.
    const std::string& text(const void* description, uint32_t size);

private:
    std::unordered_map<const void*, uint32_t> m_features;
    std::unordered_map<const void*, std::string> m_texts;
};

AssetSummary summarize(const Container& container, uint32_t asset, DescribedFilters& filters);
ImageSummary imageOf(const Container& container, uint32_t number);
// Returns the names of the filters in a set of SluiceFilterFeatures.
std::string namesOf(uint32_t features, const char* separator, const char* quote);

// Returns a file's type: the extension of its name in lower case, "-" if there is none.
std::string typeOf(const std::string& name);

struct TypeTotal {
    std::string type;
    uint64_t files = 0, size = 0, storedSize = 0;
};
// Sums up assets by type, sorted by descending sum. storedSizes has the bytes of each asset's
// tiles.
std::vector<TypeTotal> totalsByType(const Container& container,
                                    const std::vector<uint64_t>& storedSizes);

// Makes an HTML page about an archive.
std::string infoPage(const Container& container);

} // namespace sluice
