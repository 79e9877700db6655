// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses how a section is filtered, by compressing samples with a fast level of Zstandard.
#pragma once

#include "encode/filter/filter_apply.h"

#include <memory>
#include <vector>

struct ZSTD_CCtx_s; // zstd.h

namespace sluice {

// How much is tried.
struct FilterEffort {
    // The levels of Zstandard: for most trials, for the few that decide, and for inputs of few
    // bytes or with a doubtful result.
    int fastLevel, finalLevel, carefulLevel;
    uint32_t sampleBytes, samples;       // size and number of samples for whole sections
    uint32_t columnBytes, columnSamples; // size and number of samples for single columns
    uint32_t finalists;
};

// Estimates the size of bytes after compression with matches and entropy coding.
class FilterTrial {
public:
    // Throws std::bad_alloc.
    explicit FilterTrial(const FilterEffort& effort);
    const FilterEffort& effort() const { return m_effort; }
    size_t cost(const uint8_t* bytes, size_t size)
    {
        return compress(m_effort.fastLevel, bytes, size);
    }
    size_t finalCost(const uint8_t* bytes, size_t size)
    {
        return compress(size <= kSmall ? m_effort.carefulLevel : m_effort.finalLevel, bytes, size);
    }
    size_t carefulCost(const uint8_t* bytes, size_t size)
    {
        return compress(m_effort.carefulLevel, bytes, size);
    }
    // Returns whether finalCost() takes more care than cost().
    bool hasFinalCost() const
    {
        return m_effort.finalLevel != m_effort.fastLevel ||
               m_effort.carefulLevel != m_effort.fastLevel;
    }

private:
    static constexpr size_t kSmall = 32768;
    struct Free {
        void operator()(ZSTD_CCtx_s* context) const;
    };
    size_t compress(int level, const uint8_t* bytes, size_t size);

    FilterEffort m_effort;
    std::unique_ptr<ZSTD_CCtx_s, Free> m_context;
    std::vector<uint8_t> m_out;
};

// Whole records of a section.
struct FilterSample {
    const uint8_t* bytes;
    uint32_t size;
};
using FilterSamples = std::vector<FilterSample>;

// Says what is tried for the columns of a section.
struct FilterChoices {
    uint32_t predictors = 1;                 // a set of bitOf(predictor)
    bool planes = true;                      // columns may be split
    bool floats = false;                     // columns of 4 bytes may be rotated
    bool forced = false;                     // leaving the section unfiltered is not an option
    uint32_t firstBase = 0, baseCount = 0;   // columns that may be subtracted from others as wide
    uint32_t firstBlock = 0, blockCount = 0; // columns of colours or indices of compressed blocks
    std::vector<uint8_t> groups; // a way to group the columns: the number of columns of each
                                 // group

    bool mayBeBase(uint32_t column) const { return column - firstBase < baseCount; }
    bool mayBeBlock(uint32_t column) const { return column - firstBlock < blockCount; }
};

// Chooses how the section's columns are filtered: each alone in planes, some or all interleaved, or
// not at all, which leaves the section without columns. Returns the ratio of the filtered to the
// unfiltered cost. columnSamples decide about single columns, samples about the whole section.
double chooseSection(FilterTrial& trial, const FilterSamples& columnSamples,
                     const FilterSamples& samples, const FilterChoices& choices,
                     FilterSection& section);

} // namespace sluice
