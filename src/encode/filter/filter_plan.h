// SPDX-License-Identifier: MIT OR Apache-2.0
// Plans how a file is filtered. The file consists of parts, each with one kind of record, and is
// cut into tiles.
#pragma once

#include "encode/filter/filter_choose.h"
#include "encode/image/image_file.h"

#include <sluice/sluice_filter_encode.h>

namespace sluice {

// Sets of predictors.
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

// A contiguous range of a file, not filtered if it has no columns. section.size has no meaning.
struct FilterPart {
    uint64_t begin = 0, size = 0;
    FilterSection section;
    FilterChoices choices;
    uint32_t group =
        0; // parts of the same group, unless it is 0, take the filter of the largest one but
           // keep their own width
    bool doubtful = false; // the filter gains little
    std::vector<uint32_t>
        packets; // Targa: the offset of each packet in the part, and the end of the last
};
using FilterParts = std::vector<FilterPart>;

// Finds a file's parts, in order and without gaps. Bytes of unknown meaning become parts without
// columns.
FilterParts findParts(const uint8_t* bytes, uint64_t size);
// Each of these functions knows one type of file. It finds nothing in a file of another type or in
// a damaged one.
FilterParts findTgaParts(const uint8_t* bytes, uint64_t size);
FilterParts findWavParts(const uint8_t* bytes, uint64_t size);
FilterParts findMd3Parts(const uint8_t* bytes, uint64_t size);
FilterParts findBspParts(const uint8_t* bytes, uint64_t size);
FilterParts findDdsParts(const uint8_t* bytes, uint64_t size);
FilterParts findImageParts(const uint8_t* bytes, uint64_t size); // KTX2 and DDS of any format
FilterParts findGlbParts(const uint8_t* bytes, uint64_t size);
FilterParts guessParts(const uint8_t* bytes, uint64_t size); // for files of any type

// Collects parts in ascending order; the bytes between them become parts without columns.
class FilterPartList {
public:
    explicit FilterPartList(uint64_t fileSize) : m_size(fileSize) {}
    // Ignores a part that exceeds the file or does not begin after the parts so far.
    void add(FilterPart part);
    // Sorts the parts by their offsets before it adds them.
    void addUnordered(FilterParts parts);
    FilterParts finish();

private:
    void fillTo(uint64_t end);

    uint64_t m_size, m_end = 0;
    FilterParts m_parts;
};

// Appends `count` columns of this many bytes each.
void addColumns(FilterSection& section, uint32_t count, uint8_t bytes);

// Chooses the filters of all parts. A part that gains nothing loses its columns.
void chooseFilters(FilterTrial& trial, const uint8_t* bytes, FilterParts& parts);

// Joins neighbouring parts if they are not filtered, or have the same filter without rows.
void joinParts(FilterParts& parts);

// Consecutive tiles of one size with one filter description. The last of them may be shorter.
struct FilterTiles {
    uint64_t size;
    uint32_t tileBytes;
    std::vector<uint32_t> description; // empty if the tiles are not filtered
    bool doubtful;                     // all filters in the description are doubtful
};
// `cuts` are the offsets at which tiles must begin, in ascending order and multiples of 4.
std::vector<FilterTiles> cutIntoTiles(const FilterParts& parts, uint32_t maxTileBytes,
                                      const std::vector<uint64_t>& cuts);

// Returns whether a filtered tile together with its description is smaller than the plain tile.
bool worthIt(FilterTrial& trial, const uint8_t* bytes, uint32_t size,
             const std::vector<uint32_t>& description);

// Finds the parts of a file and restricts their choices to those that `info` allows.
FilterParts wantedParts(const uint8_t* bytes, uint64_t size, const SluiceFilterPlanInfo& info);
FilterEffort effortOf(const SluiceFilterPlanInfo& info);

} // namespace sluice
