// SPDX-License-Identifier: MIT OR Apache-2.0
#include "filter_choose.h"

#include <zstd.h>

#include <algorithm>

namespace sluice {
namespace {

constexpr FilterColumnFlags noFlags = FilterColumnFlags(0);

FilterColumnFlags operator|(FilterColumnFlags a, FilterColumnFlags b)
{
    return FilterColumnFlags(uint32_t(a) | uint32_t(b));
}

} // namespace

void FilterTrial::Free::operator()(void* context) const
{
    ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context));
}

FilterTrial::Context FilterTrial::create(int level)
{
    ZSTD_CCtx* context = ZSTD_createCCtx();
    if (context == nullptr) return nullptr;
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    return Context(context);
}

bool FilterTrial::start(const FilterEffort& effort)
{
    effort_ = effort;
    fast_ = create(effort.fastLevel);
    final_ = create(effort.finalLevel);
    careful_ = create(effort.carefulLevel);
    return fast_ != nullptr && final_ != nullptr && careful_ != nullptr;
}

size_t FilterTrial::compress(void* context, const uint8_t* bytes, size_t size)
{
    out_.resize(ZSTD_compressBound(size));
    const size_t result =
        ZSTD_compress2(static_cast<ZSTD_CCtx*>(context), out_.data(), out_.size(), bytes, size);
    return ZSTD_isError(result) ? size : std::min(result, size);
}

namespace {

// One column, tried in many ways.
class ColumnTrial {
public:
    ColumnTrial(FilterTrial& trial, const FilterSamples& samples, const FilterSection& section,
                uint32_t column)
        : trial_(trial), samples_(samples), section_(section), column_(column),
          best_(section.columns[column])
    {
    }

    // Tries each predictor of the set with a base and flags.
    void tryPredictors(uint32_t predictors, uint8_t base, uint32_t flags)
    {
        FilterColumn& column = section_.columns[column_];
        column.base = base;
        column.flags = uint8_t(flags);
        std::vector<std::vector<uint32_t>> values(samples_.size());
        for (size_t s = 0; s < samples_.size(); ++s)
            columnValues(section_, column_, samples_[s].bytes, samples_[s].size / section_.stride(),
                         values[s]);
        for (uint32_t p = 0; p < uint32_t(FilterPredictor::count); ++p) {
            if ((predictors >> p & 1) == 0) continue;
            column.predictor = FilterPredictor(p);
            const bool differs = p != 0 || base != 0;
            column.flags = uint8_t(differs && column.bytes > 1 ? flags | filterZigzag : flags);
            keep(column, cost(values));
            if (differs && column.bytes > 1) { // signs that repeat are better left alone
                column.flags = uint8_t(flags);
                keep(column, cost(values));
            }
        }
    }

    const FilterColumn& best() const { return best_; }

private:
    size_t cost(const std::vector<std::vector<uint32_t>>& values)
    {
        const FilterColumn& column = section_.columns[column_];
        size_t sum = 0;
        for (const std::vector<uint32_t>& sample : values) {
            const uint32_t count = uint32_t(sample.size());
            FilterPlane planes[4];
            for (uint32_t b = 0; b < column.bytes; ++b)
                planes[b] = column.has(filterSplit) ? FilterPlane{b * count, 1}
                                                    : FilterPlane{b, column.bytes};
            bytes_.resize(size_t(count) * column.bytes);
            writeResiduals(section_, column, sample, planes, bytes_.data());
            sum += trial_.cost(bytes_.data(), bytes_.size());
        }
        return sum;
    }

    void keep(const FilterColumn& column, size_t cost)
    {
        if (cost >= bestCost_) return;
        bestCost_ = cost;
        best_ = column;
    }

    FilterTrial& trial_;
    const FilterSamples& samples_;
    FilterSection section_;
    uint32_t column_;
    FilterColumn best_;
    size_t bestCost_ = SIZE_MAX;
    std::vector<uint8_t> bytes_;
};

bool mayBeBlock(const FilterChoices& choices, uint32_t column)
{
    return column - choices.firstBlock < choices.blockCount;
}

// The best choice for each column alone.
void chooseColumns(FilterTrial& trial, const FilterSamples& samples, const FilterChoices& choices,
                   FilterSection& section)
{
    const uint32_t endBase = choices.firstBase + choices.baseCount;
    const FilterColumnFlags split = choices.planes ? filterSplit : noFlags;
    for (const bool bases : {true, false}) { // those that may be a base have none
        for (uint32_t c = 0; c < section.columnCount; ++c) {
            const bool mayBeBase = c >= choices.firstBase && c < endBase;
            if (mayBeBase != bases) continue;
            const uint32_t bytes = section.columns[c].bytes;
            ColumnTrial column(trial, samples, section, c);
            column.tryPredictors(choices.predictors, 0, split);
            if (bytes > 1 && choices.planes) column.tryPredictors(choices.predictors, 0, noFlags);
            if (mayBeBlock(choices, c)) column.tryPredictors(choices.predictors, 0, filterBlock);
            if (bytes == 4 && choices.floats)
                column.tryPredictors(choices.predictors, 0, split | filterRotated);
            for (uint32_t base = choices.firstBase; !mayBeBase && base < endBase; ++base)
                if (section.columns[base].bytes == bytes)
                    column.tryPredictors(choices.predictors, uint8_t(base + 1), split);
            section.columns[c] = column.best();
        }
    }
}

// All columns in one group, with one predictor where the choice has it.
FilterSection interleaved(const FilterSection& section, const FilterChoices& choices,
                          FilterPredictor predictor, bool bases)
{
    FilterSection result = section;
    for (uint32_t c = 0; c < result.columnCount; ++c) {
        FilterColumn& column = result.columns[c];
        const bool mayBeBase = c >= choices.firstBase && c < choices.firstBase + choices.baseCount;
        const bool hasBase = bases && choices.baseCount != 0 && !mayBeBase && c < 3;
        column = {column.bytes, predictor, uint8_t(c == 0 ? 0 : filterJoined),
                  uint8_t(hasBase ? choices.firstBase + 1 : 0)};
    }
    return result;
}

// Columns in groups, those of a group interleaved. A group of one column stays as it was chosen if
// `keep` is set. blocks: bit 0, colours are mapped; bit 1, indices.
FilterSection grouped(const FilterSection& section, const FilterChoices& choices,
                      const std::vector<uint8_t>& groups, bool keep, uint32_t blocks)
{
    FilterSection result = section;
    uint32_t c = 0;
    for (const uint8_t group : groups) {
        for (uint32_t k = 0; k < group && c < result.columnCount; ++k, ++c) {
            FilterColumn& column = result.columns[c];
            if (group == 1 && keep) continue;
            const bool isBlock =
                mayBeBlock(choices, c) && (blocks >> (column.bytes == 4 ? 1 : 0) & 1) != 0;
            const FilterColumnFlags flags =
                (k == 0 ? noFlags : filterJoined) | (isBlock ? filterBlock : noFlags);
            column = {column.bytes, FilterPredictor::none, uint8_t(flags), 0};
        }
    }
    for (c = 0; c < result.columnCount; ++c) { // a base that is left has a base itself
        FilterColumn& column = result.columns[c];
        if (column.base != 0 && result.columns[column.base - 1].base != 0) column.base = 0;
    }
    return result;
}

// The bytes that a candidate takes: those of the samples after it, and its words in the
// description.
size_t candidateCost(FilterTrial& trial, bool final, const FilterSamples& samples,
                     const FilterSection& section)
{
    std::vector<uint32_t> description;
    appendSection(section, description);
    size_t cost = section.columnCount == 0 ? 0 : 4 * description.size();
    std::vector<uint8_t> filtered;
    for (const FilterSample& sample : samples) {
        filtered.resize(sample.size);
        applySection(section, sample.bytes, sample.size, filtered.data());
        cost += final ? trial.finalCost(filtered.data(), sample.size)
                      : trial.cost(filtered.data(), sample.size);
    }
    return cost;
}

// The index of the best: candidate 0, nothing filtered, is compared with those that seem best.
size_t decide(FilterTrial& trial, const FilterSamples& samples, bool forced,
              const std::vector<FilterSection>& candidates, double& ratio)
{
    size_t sampleBytes = 0;
    for (const FilterSample& sample : samples)
        sampleBytes += sample.size;
    ratio = 1;
    const size_t plain = candidateCost(trial, true, samples, candidates[0]);
    if (!forced && plain < sampleBytes / 256) return 0; // hardly anything to gain
    std::vector<std::pair<size_t, size_t>> order;       // cost and index
    for (size_t i = 1; i < candidates.size(); ++i)
        order.emplace_back(candidateCost(trial, false, samples, candidates[i]), i);
    std::sort(order.begin(), order.end());
    order.resize(std::min<size_t>(order.size(), trial.effort().finalists));
    size_t best = forced ? order[0].second : 0;
    size_t bestCost = best == 0 ? plain : candidateCost(trial, true, samples, candidates[best]);
    if (best == 0) bestCost -= std::min(bestCost, bestCost / 256 + 16); // what a filter must gain
    for (const auto& [estimate, index] : order) {
        const size_t cost =
            index == best ? bestCost : candidateCost(trial, true, samples, candidates[index]);
        if (cost >= bestCost) continue;
        best = index;
        bestCost = cost;
    }
    if (best != 0) ratio = double(bestCost) / double(std::max<size_t>(plain, 1));
    return best;
}

} // namespace

double chooseSection(FilterTrial& trial, const FilterSamples& samples, const FilterChoices& choices,
                     FilterSection& section)
{
    double ratio = 1;
    std::vector<FilterSection> candidates(1, section);
    candidates[0].columnCount = 0;
    candidates[0].tgaRle = false;
    if (section.tgaRle) { // columns are chosen by the pixels alone
        std::vector<std::vector<uint8_t>> pixels(samples.size());
        std::vector<uint8_t> headers;
        FilterSamples pixelSamples;
        for (size_t s = 0; s < samples.size(); ++s) {
            splitPackets(samples[s].bytes, samples[s].size, section.stride(), headers, pixels[s]);
            pixelSamples.push_back({pixels[s].data(), uint32_t(pixels[s].size())});
        }
        chooseColumns(trial, pixelSamples, choices, section);
    } else {
        chooseColumns(trial, samples, choices, section);
    }
    // columns apart are planes too
    for (uint32_t c = 1; c < section.columnCount && !choices.planes; ++c)
        section.columns[c].flags |= filterJoined;
    candidates.push_back(section);
    for (const FilterPredictor predictor : {FilterPredictor::left, FilterPredictor::median}) {
        if ((choices.predictors >> uint32_t(predictor) & 1) == 0) continue;
        candidates.push_back(interleaved(section, choices, predictor, false));
        if (choices.baseCount != 0)
            candidates.push_back(interleaved(section, choices, predictor, true));
    }
    if (!choices.groups.empty() && choices.planes) {
        for (uint32_t blocks = 0; blocks < (choices.blockCount != 0 ? 4 : 1); ++blocks) {
            candidates.push_back(grouped(section, choices, choices.groups, false, blocks));
            candidates.push_back(grouped(section, choices, choices.groups, true, blocks));
        }
    }
    if (choices.blockCount != 0)
        candidates.push_back(grouped(section, choices, {uint8_t(section.columnCount)}, false, 3));
    section = candidates[decide(trial, samples, choices.forced, candidates, ratio)];
    return ratio;
}

} // namespace sluice
