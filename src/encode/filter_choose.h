// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses how a section is filtered, by trial: what a fast level of Zstandard makes of samples.
#pragma once

#include "filter_apply.h"

#include <memory>
#include <vector>

namespace sluice {

// How much is tried.
struct FilterEffort {
    // Levels of Zstandard: for the many trials, for the few that decide, and for those of few bytes
    // or in doubt.
    int fastLevel, finalLevel, carefulLevel;
    uint32_t sampleBytes, samples; // the size of a sample; how many of a part
    uint32_t finalists;
};

// Estimates what bytes take after an entropy coder with matches.
class FilterTrial {
public:
    // False: out of memory.
    bool start(const FilterEffort& effort);
    const FilterEffort& effort() const { return effort_; }
    size_t cost(const uint8_t* bytes, size_t size) { return compress(fast_.get(), bytes, size); }
    size_t finalCost(const uint8_t* bytes, size_t size)
    {
        return compress(size <= kSmall ? careful_.get() : final_.get(), bytes, size);
    }

    size_t carefulCost(const uint8_t* bytes, size_t size)
    {
        return compress(careful_.get(), bytes, size);
    }

private:
    static constexpr size_t kSmall = 32768;
    struct Free {
        void operator()(void* context) const;
    };
    using Context = std::unique_ptr<void, Free>;
    static Context create(int level);
    size_t compress(void* context, const uint8_t* bytes, size_t size);

    FilterEffort effort_ = {};
    Context fast_, final_, careful_;
    std::vector<uint8_t> out_;
};

// Whole records from somewhere in a section, as the tile that they will stand in has them.
struct FilterSample {
    const uint8_t* bytes;
    uint32_t size;
};
using FilterSamples = std::vector<FilterSample>;

// What is tried for the columns of a section.
struct FilterChoices {
    uint32_t predictors = 1;                 // bit p: predictor p
    bool planes = true;                      // columns may be split
    bool floats = false;                     // columns of 4 bytes may be rotated
    bool forced = false;                     // something has to be done
    uint32_t firstBase = 0, baseCount = 0;   // columns that others of their width may be taken from
    uint32_t firstBlock = 0, blockCount = 0; // columns that hold colours or indices of compressed
                                             // blocks
    std::vector<uint8_t> groups;             // a way to group the columns: how many are in each
                                             // group, if any
};

// Chooses how the section's columns, which come with their bytes, are filtered: each alone in
// planes, all interleaved, or not at all, which leaves the section without columns. Returns its
// cost as a part of that without a filter.
double chooseSection(FilterTrial& trial, const FilterSamples& samples, const FilterChoices& choices,
                     FilterSection& section);

} // namespace sluice
