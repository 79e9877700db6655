// SPDX-License-Identifier: MIT OR Apache-2.0
// How a file is filtered: it consists of parts, each of one kind of record, and is cut into tiles.
#pragma once

#include "filter_choose.h"

#include <sluice/sluice_filter_encode.h>

#include <cstdint>
#include <vector>

namespace sluice {

// Consecutive bytes of a file. section.size is not used; without columns the part is not filtered.
struct FilterPart {
    uint64_t begin = 0, size = 0;
    FilterSection section;
    FilterChoices choices;
    bool follows = false;          // takes the filter of the part before, but for the width
    bool doubtful = false;         // the filter gains little
    std::vector<uint32_t> packets; // of a Targa file: where each begins in the part, and where the
                                   // last one ends
};
using FilterParts = std::vector<FilterPart>;

// A file's parts in order and without gaps; what is not known is a part without columns. bytes: the
// whole file.
FilterParts findParts(const uint8_t* bytes, uint64_t size);
// One each, in src/encode/filter_*.cpp. Nothing: the file is of another type, or damaged.
FilterParts findTgaParts(const uint8_t* bytes, uint64_t size);
FilterParts findWavParts(const uint8_t* bytes, uint64_t size);
FilterParts findMd3Parts(const uint8_t* bytes, uint64_t size);
FilterParts findBspParts(const uint8_t* bytes, uint64_t size);
FilterParts findDdsParts(const uint8_t* bytes, uint64_t size);
FilterParts findGlbParts(const uint8_t* bytes, uint64_t size);
FilterParts guessParts(const uint8_t* bytes, uint64_t size); // of any type

// Collects parts in ascending order; what lies between them becomes parts of its own, without
// columns.
class FilterPartList {
public:
    explicit FilterPartList(uint64_t fileSize) : size_(fileSize) {}
    // A part that does not lie wholly behind those before it, or not in the file, is left out.
    void add(FilterPart part);
    FilterParts finish();

private:
    void fillTo(uint64_t end);

    uint64_t size_, end_ = 0;
    FilterParts parts_;
};

// A part of `count` columns of so many bytes each, to be appended to.
void addColumns(FilterSection& section, uint32_t count, uint8_t bytes);

// Chooses the filters of all parts; those not worth it lose their columns.
void chooseFilters(FilterTrial& trial, const uint8_t* bytes, FilterParts& parts);

// Neighbours that are not filtered, or with the same filter without rows, become one part.
void joinParts(FilterParts& parts);

// Tiles of one size with one description; the last one of them may be shorter.
struct FilterTiles {
    uint64_t size;
    uint32_t tileBytes;
    std::vector<uint32_t> description; // empty: not filtered
    bool doubtful;                     // no filter in it is without doubt
};
std::vector<FilterTiles> cutIntoTiles(const FilterParts& parts, uint32_t maxTileBytes);

// Whether a tile with its description gets smaller.
bool worthIt(FilterTrial& trial, const uint8_t* bytes, uint32_t size,
             const std::vector<uint32_t>& description);

// The parts of a file, as far as `info` allows to filter them.
FilterParts wantedParts(const uint8_t* bytes, uint64_t size, const SluiceFilterPlanInfo& info);
FilterEffort effortOf(const SluiceFilterPlanInfo& info);

} // namespace sluice
