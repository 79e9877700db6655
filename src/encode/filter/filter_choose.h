// SPDX-License-Identifier: MIT OR Apache-2.0
// Chooses how a section of records is filtered. It filters samples in several ways, compresses the
// results with Zstandard and keeps the cheapest way. A section is a range of records; a column is
// one field of all its records (docs/format.md, 8).
#pragma once

#include "encode/filter/filter_apply.h"

#include <memory>
#include <vector>

struct ZSTD_CCtx_s; // zstd.h

namespace sluice {

// How much work a choice may take.
struct FilterEffort {
    // Levels of Zstandard: for most trials; for the few that decide; and for small inputs or
    // doubtful results.
    int fastLevel, finalLevel, carefulLevel;
    uint32_t sampleBytes, samples;       // size in bytes and number of samples for sections
    uint32_t columnBytes, columnSamples; // size in bytes and number of samples for columns
    uint32_t finalists;                  // candidates that are compared at the final level
};

// Estimates how small bytes become in a codec with matches and entropy coding: it compresses them
// with Zstandard and counts the compressed bytes.
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
    // Returns whether finalCost() compresses at a slower level than cost().
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

// A piece of a section that consists of whole records.
struct FilterSample {
    const uint8_t* bytes;
    uint32_t size;
};
using FilterSamples = std::vector<FilterSample>;

// Says what may be tried for the columns of a section.
struct FilterChoices {
    uint32_t predictors = 1;                 // a set of bitOf(predictor)
    bool planes = true;                      // columns may be stored in planes of their own
    bool floats = false;                     // 4-byte columns may be floats, whose bits are rotated
    bool forced = false;                     // the section must be filtered
    uint32_t firstBase = 0, baseCount = 0;   // other columns of equal width may subtract these
    uint32_t firstBlock = 0, blockCount = 0; // columns with colours or indices of BC blocks
    std::vector<uint8_t> groups; // one way to join columns: the number of columns in each group

    bool mayBeBase(uint32_t column) const { return column - firstBase < baseCount; }
    bool mayBeBlock(uint32_t column) const { return column - firstBlock < blockCount; }
};

// Chooses how the section's columns are filtered, and sets their filters. Each column may get a
// plane of its own, or columns stay interleaved. If no filter helps, the section loses its columns.
// Returns the estimated size with the filter divided by the size without it. columnSamples are used
// to choose the filters of single columns, `samples` to compare whole sections.
double chooseSection(FilterTrial& trial, const FilterSamples& columnSamples,
                     const FilterSamples& samples, const FilterChoices& choices,
                     FilterSection& section);

} // namespace sluice
