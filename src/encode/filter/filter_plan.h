// SPDX-License-Identifier: MIT OR Apache-2.0
// Plans how a file is filtered: it consists of parts, each of one kind of record, and is cut into
// tiles.
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

// Consecutive bytes of a file. Without columns the part is not filtered; section.size has no meaning.
struct FilterPart {
    uint64_t begin = 0, size = 0;
    FilterSection section;
    FilterChoices choices;
    uint32_t group =
        0; // parts with the same number (not 0) take the filter of the largest, except for
           // the width
    bool doubtful = false; // the filter gains little
    std::vector<uint32_t>
        packets; // of a Targa file: where each begins in the part, and the last ends
};
using FilterParts = std::vector<FilterPart>;

// Finds a file's parts, in order and without gaps. Bytes that are not understood are parts without
// columns.
FilterParts findParts(const uint8_t* bytes, uint64_t size);
// Each of these knows one type of file; they find nothing in others and in damaged ones.
FilterParts findTgaParts(const uint8_t* bytes, uint64_t size);
FilterParts findWavParts(const uint8_t* bytes, uint64_t size);
FilterParts findMd3Parts(const uint8_t* bytes, uint64_t size);
FilterParts findBspParts(const uint8_t* bytes, uint64_t size);
FilterParts findDdsParts(const uint8_t* bytes, uint64_t size);
FilterParts findImageParts(const uint8_t* bytes, uint64_t size); // KTX2 and DDS of every format
FilterParts findGlbParts(const uint8_t* bytes, uint64_t size);
FilterParts guessParts(const uint8_t* bytes, uint64_t size); // of any type

// Collects parts in ascending order; the bytes between them become parts without columns.
class FilterPartList {
public:
    explicit FilterPartList(uint64_t fileSize) : m_size(fileSize) {}
    // Leaves out a part that does not lie in the file or not wholly behind the parts so far.
    void add(FilterPart part);
    // Brings the parts into their order first.
    void addUnordered(FilterParts parts);
    FilterParts finish();

private:
    void fillTo(uint64_t end);

    uint64_t m_size, m_end = 0;
    FilterParts m_parts;
};

// Appends `count` columns of this many bytes each.
void addColumns(FilterSection& section, uint32_t count, uint8_t bytes);

// Chooses the filters of all parts; parts that gain nothing lose their columns.
void chooseFilters(FilterTrial& trial, const uint8_t* bytes, FilterParts& parts);

// Joins neighbours that are not filtered, or have the same filter without rows.
void joinParts(FilterParts& parts);

// Tiles of one size with one description; the last one of them may be shorter.
struct FilterTiles {
    uint64_t size;
    uint32_t tileBytes;
    std::vector<uint32_t> description; // empty: not filtered
    bool doubtful;                     // all of its filters are doubtful
};
// `cuts` are where tiles must begin: multiples of 4 in order.
std::vector<FilterTiles> cutIntoTiles(const FilterParts& parts, uint32_t maxTileBytes,
                                      const std::vector<uint64_t>& cuts);

// Returns whether a tile with its description gets smaller.
bool worthIt(FilterTrial& trial, const uint8_t* bytes, uint32_t size,
             const std::vector<uint32_t>& description);

// Finds the parts of a file and what `info` allows to try for them.
FilterParts wantedParts(const uint8_t* bytes, uint64_t size, const SluiceFilterPlanInfo& info);
FilterEffort effortOf(const SluiceFilterPlanInfo& info);

} // namespace sluice
