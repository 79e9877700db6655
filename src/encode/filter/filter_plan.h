// SPDX-License-Identifier: MIT OR Apache-2.0
// Plans how a file is filtered. A file is divided into parts, each with one kind of record, and
// then cut into tiles. A tile's filter description has a section for each part that it touches.
#pragma once

#include "encode/filter/filter_choose.h"
#include "encode/image/image_file.h"

#include <sluice/sluice_filter_encode.h>

namespace sluice {

// Sets of predictors, a bit for each (bitOf).
constexpr uint32_t kDifferences = bitOf(FilterPredictor::none) | bitOf(FilterPredictor::left);
constexpr uint32_t kSecondDifferences = kDifferences | bitOf(FilterPredictor::left2);
constexpr uint32_t predictorsThat(bool needRows)
{
    uint32_t set = 0;
    for (const FilterPredictorRow& row : kFilterPredictors)
        if (needsRows(FilterPredictor(row.number)) == needRows) set |= 1u << row.number;
    return set;
}
constexpr uint32_t kWithoutRows = predictorsThat(false);
constexpr uint32_t kRows = kDifferences | predictorsThat(true);

// A contiguous range of a file. It is not filtered if its section has no columns. section.size is
// not used.
struct FilterPart {
    uint64_t begin = 0, size = 0;
    FilterSection section;
    FilterChoices choices;
    // Parts of one image, such as its mip levels, have the same group number, not 0. They take the
    // filter of the largest part among them, but keep their own row width.
    uint32_t group = 0;
    bool doubtful = false; // the gain is so small that tiles may be smaller unfiltered
    // In a run-length coded Targa file: the offset of each packet in the part, and the end of the
    // last one.
    std::vector<uint32_t> packets;
};
using FilterParts = std::vector<FilterPart>;

// Recognises the type of a file and finds its parts, in order and without gaps. Bytes of unknown
// meaning become parts without columns.
FilterParts findParts(const uint8_t* bytes, uint64_t size);
// Each of these functions knows one type of file, and returns nothing if the file has another type
// or is damaged.
FilterParts findTgaParts(const uint8_t* bytes, uint64_t size);
FilterParts findWavParts(const uint8_t* bytes, uint64_t size);
FilterParts findMd3Parts(const uint8_t* bytes, uint64_t size);
FilterParts findBspParts(const uint8_t* bytes, uint64_t size);
FilterParts findDdsParts(const uint8_t* bytes, uint64_t size);
FilterParts findImageParts(const uint8_t* bytes, uint64_t size); // DDS and KTX2
FilterParts findGlbParts(const uint8_t* bytes, uint64_t size);
FilterParts guessParts(const uint8_t* bytes, uint64_t size); // for a file of any type

// Collects parts in ascending order, and fills the gaps between them with parts without columns.
class FilterPartList {
public:
    explicit FilterPartList(uint64_t fileSize) : m_size(fileSize) {}
    // Ignores a part that reaches beyond the file or begins before the end of the parts so far.
    void add(FilterPart part);
    // Sorts the parts by their offsets before it adds them.
    void addUnordered(FilterParts parts);
    FilterParts finish();

private:
    void fillTo(uint64_t end);

    uint64_t m_size, m_end = 0;
    FilterParts m_parts;
};

// Appends `count` columns to the section, each `bytes` wide.
void addColumns(FilterSection& section, uint32_t count, uint8_t bytes);

// Chooses the filters of all parts. A part that no filter makes smaller loses its columns.
void chooseFilters(FilterTrial& trial, const uint8_t* bytes, FilterParts& parts);

// Joins neighbouring parts if none of them is filtered, or if they have the same filter and their
// records form no rows.
void joinParts(FilterParts& parts);

// Consecutive tiles of equal size with the same filter description. The last tile may be shorter.
struct FilterTiles {
    uint64_t size;                     // bytes of all tiles together
    uint32_t tileBytes;                // bytes of one tile
    std::vector<uint32_t> description; // empty if the tiles are not filtered
    bool doubtful;                     // every filter in the description gains little
};
// Cuts a file into tiles. A tile begins at each offset in `cuts`, which the caller passes as
// ascending multiples of 4; other tiles may begin elsewhere.
std::vector<FilterTiles> cutIntoTiles(const FilterParts& parts, uint32_t maxTileBytes,
                                      const std::vector<uint64_t>& cuts);

// Returns whether a tile compresses better with this filter, the description's own bytes included.
bool worthIt(FilterTrial& trial, const uint8_t* bytes, uint32_t size,
             const std::vector<uint32_t>& description);

// Finds the parts of a file. What may be tried for them is limited to what `info` allows.
FilterParts wantedParts(const uint8_t* bytes, uint64_t size, const SluiceFilterPlanInfo& info);
FilterEffort effortOf(const SluiceFilterPlanInfo& info);

} // namespace sluice
