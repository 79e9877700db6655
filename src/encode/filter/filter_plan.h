// SPDX-License-Identifier: MIT OR Apache-2.0
// Plans how a file is filtered: it consists of parts, each of one kind of record, and is cut into
// tiles.
#pragma once

#include "encode/filter/filter_choose.h"
#include "encode/image/image_file.h"

#include <sluice/sluice_filter_encode.h>

namespace sluice {

// Sets of predictors.
constexpr u32 kDifferences = bitOf(FilterPredictor::none) | bitOf(FilterPredictor::left);
constexpr u32 kSecondDifferences = kDifferences | bitOf(FilterPredictor::left2);
constexpr u32 predictorsThat(bool needRows)
{
    u32 set = 0;
    for (const FilterPredictorRow& row : kFilterPredictors)
        if (needsRows(FilterPredictor(row.number)) == needRows) set |= 1u << row.number;
    return set;
}
constexpr u32 kWithoutRows = predictorsThat(false);
constexpr u32 kRows = kDifferences | predictorsThat(true);

// Consecutive bytes of a file. Without columns the part is not filtered; section.size has no meaning.
struct FilterPart {
    u64 begin = 0, size = 0;
    FilterSection section;
    FilterChoices choices;
    u32 group = 0; // parts with the same number (not 0) take the filter of the largest, except for
                   // the width
    bool doubtful = false;    // the filter gains little
    std::vector<u32> packets; // of a Targa file: where each begins in the part, and the last ends
};
using FilterParts = std::vector<FilterPart>;

// Finds a file's parts, in order and without gaps. Bytes that are not understood are parts without
// columns.
FilterParts findParts(const u8* bytes, u64 size);
// Each of these knows one type of file; they find nothing in others and in damaged ones.
FilterParts findTgaParts(const u8* bytes, u64 size);
FilterParts findWavParts(const u8* bytes, u64 size);
FilterParts findMd3Parts(const u8* bytes, u64 size);
FilterParts findBspParts(const u8* bytes, u64 size);
FilterParts findDdsParts(const u8* bytes, u64 size);
FilterParts findImageParts(const u8* bytes, u64 size); // KTX2 and DDS of every format
FilterParts findGlbParts(const u8* bytes, u64 size);
FilterParts guessParts(const u8* bytes, u64 size); // of any type

// Collects parts in ascending order; the bytes between them become parts without columns.
class FilterPartList {
public:
    explicit FilterPartList(u64 fileSize) : m_size(fileSize) {}
    // Leaves out a part that does not lie in the file or not wholly behind the parts so far.
    void add(FilterPart part);
    // Brings the parts into their order first.
    void addUnordered(FilterParts parts);
    FilterParts finish();

private:
    void fillTo(u64 end);

    u64 m_size, m_end = 0;
    FilterParts m_parts;
};

// Appends `count` columns of this many bytes each.
void addColumns(FilterSection& section, u32 count, u8 bytes);

// Chooses the filters of all parts; parts that gain nothing lose their columns.
void chooseFilters(FilterTrial& trial, const u8* bytes, FilterParts& parts);

// Joins neighbours that are not filtered, or have the same filter without rows.
void joinParts(FilterParts& parts);

// Tiles of one size with one description; the last one of them may be shorter.
struct FilterTiles {
    u64 size;
    u32 tileBytes;
    std::vector<u32> description; // empty: not filtered
    bool doubtful;                // all of its filters are doubtful
};
// `cuts` are where tiles must begin: multiples of 4 in order.
std::vector<FilterTiles> cutIntoTiles(const FilterParts& parts, u32 maxTileBytes,
                                      const std::vector<u64>& cuts);

// Returns whether a tile with its description gets smaller.
bool worthIt(FilterTrial& trial, const u8* bytes, u32 size, const std::vector<u32>& description);

// Finds the parts of a file and what `info` allows to try for them.
FilterParts wantedParts(const u8* bytes, u64 size, const SluiceFilterPlanInfo& info);
FilterEffort effortOf(const SluiceFilterPlanInfo& info);

} // namespace sluice
