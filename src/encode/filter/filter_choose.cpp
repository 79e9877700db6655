// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/filter/filter_choose.h"

#include "encode/filter/filter_residuals.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <new>

namespace sluice {
namespace {

constexpr FilterColumnFlags kNoFlags = FilterColumnFlags(0);

FilterColumnFlags operator|(FilterColumnFlags a, FilterColumnFlags b)
{
    return FilterColumnFlags(uint32_t(a) | uint32_t(b));
}

} // namespace

void FilterTrial::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

FilterTrial::FilterTrial(const FilterEffort& effort)
    : m_effort(effort), m_context(ZSTD_createCCtx())
{
    if (m_context == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(m_context.get(), ZSTD_c_contentSizeFlag, 0);
}

size_t FilterTrial::compress(int level, const uint8_t* bytes, size_t size)
{
    ZSTD_CCtx* const context = m_context.get();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    m_out.resize(std::max(m_out.size(), ZSTD_compressBound(size)));
    const size_t result = ZSTD_compress2(context, m_out.data(), m_out.size(), bytes, size);
    return ZSTD_isError(result) ? size : std::min(result, size);
}

namespace {

// Entry i is log2(1 + i / 256) in units of 1/65536. A number's highest bit gives the whole part of
// its logarithm; the 8 bits below it are the index i for the fraction.
constexpr uint32_t kMantissaLogs = 256;
constexpr std::array<uint16_t, kMantissaLogs> makeMantissaLogs()
{
    std::array<uint16_t, kMantissaLogs> logs{};
    for (uint32_t i = 0; i < kMantissaLogs; ++i)
        logs[i] = uint16_t(log2Fixed(kMantissaLogs + i, 16) - (8u << 16));
    return logs;
}
constexpr std::array<uint16_t, kMantissaLogs> kMantissas = makeMantissaLogs();

// Returns value * log2(value) in units of 1/65536, for 0 < value < 2^24.
uint64_t valueLog(uint32_t value)
{
    const uint32_t log = floorLog2(value);
    return uint64_t(value) * (log << 16 | kMantissas[(value << (31 - log)) >> 23 & 255]);
}

// Estimates how many bits an entropy coder without matches needs for these bytes.
uint64_t entropy(const uint8_t* bytes, uint32_t size)
{
    uint32_t counts[256] = {};
    if (size < 1024) {
        for (uint32_t i = 0; i < size; ++i)
            ++counts[bytes[i]];
    } else { // four tables, so that equal neighbours do not wait for each other's increment
        uint32_t parts[4][256] = {};
        for (uint32_t i = 0; i < size; ++i)
            ++parts[i % 4][bytes[i]];
        for (uint32_t symbol = 0; symbol < 256; ++symbol)
            counts[symbol] =
                parts[0][symbol] + parts[1][symbol] + parts[2][symbol] + parts[3][symbol];
    }
    uint64_t sum = size == 0 ? 0 : valueLog(size);
    for (const uint32_t count : counts)
        if (count != 0) sum -= std::min(sum, valueLog(count));
    return sum >> 16;
}

// Chooses the filter of one column. Each filter is rated by the entropy of its result, which is
// fast. Then the best kTried are compressed and compared. Filters without prediction are always
// compressed too, since their results may repeat earlier bytes, which entropy does not see.
class ColumnTrial {
public:
    ColumnTrial(FilterTrial& trial, const FilterSamples& samples, const FilterSection& section,
                uint32_t column)
        : m_trial(trial), m_samples(samples), m_section(section), m_column(column)
    {
    }

    // Rates each predictor in the bit set `predictors`, with these flags. `base` is 1 + the index
    // of the column that is subtracted before the prediction, or 0 for none.
    void tryPredictors(uint32_t predictors, uint8_t base, uint32_t flags)
    {
        FilterColumn& column = m_section.columns[m_column];
        column.base = base;
        column.flags = uint8_t(flags);
        readValues();
        for (uint32_t p = 0; p < uint32_t(FilterPredictor::count); ++p) {
            if ((predictors >> p & 1) == 0) continue;
            column.predictor = FilterPredictor(p);
            const bool isSigned = (p != 0 || base != 0) && column.bytes > 1;
            column.flags = uint8_t(isSigned ? flags | filterZigzag : flags);
            consider(column);
            if (isSigned) { // also try without zigzag, which is better if signs repeat
                column.flags = uint8_t(flags);
                consider(column);
            }
        }
    }

    FilterColumn best()
    {
        std::stable_sort(m_candidates.begin(), m_candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.bits < b.bits; });
        FilterColumn best = m_candidates[0].column;
        size_t all = 0;
        for (const FilterSample& sample : m_samples)
            all += sample.size / m_section.stride() * size_t(best.bytes);
        if (all < kFew) return best;
        size_t bestCost = SIZE_MAX;
        uint32_t tried = 0;
        for (const Candidate& candidate : m_candidates) {
            const FilterColumn& column = candidate.column;
            const bool isPlain = column.predictor == FilterPredictor::none && column.base == 0;
            if (!isPlain && tried >= kTried) continue;
            if (!isPlain) ++tried;
            m_section.columns[m_column] = column;
            readValues();
            size_t cost = 0;
            forEachSample([&](uint32_t count) {
                cost += m_trial.cost(m_bytes.data(), count * column.bytes);
            });
            if (cost >= bestCost) continue;
            bestCost = cost;
            best = column;
        }
        return best;
    }

private:
    static constexpr uint32_t kTried = 2; // how many filters with prediction or base are compressed
    static constexpr size_t kFew = 1024;  // below this many bytes, entropy alone decides

    struct Candidate {
        FilterColumn column;
        uint64_t bits;
    };

    // Reads the column's values from the samples, unless m_values has them already. They depend on
    // the base column that is subtracted and on how bits are mapped, but not on the predictor.
    void readValues()
    {
        const FilterColumn& column = m_section.columns[m_column];
        const uint32_t mapping = column.flags & (filterRotated | filterBlock);
        if (!m_values.empty() && m_base == column.base && m_mapping == mapping) return;
        m_base = column.base;
        m_mapping = mapping;
        m_values.resize(m_samples.size());
        for (size_t s = 0; s < m_samples.size(); ++s)
            m_values[s].read(m_section, m_column, m_samples[s].bytes,
                             m_samples[s].size / m_section.stride());
    }

    // For each sample, writes the filtered bytes to m_bytes and calls take(number of records).
    template <typename Take>
    void forEachSample(Take take)
    {
        const FilterColumn& column = m_section.columns[m_column];
        for (const ColumnValues& sample : m_values) {
            const uint32_t count = sample.count();
            FilterPlane planes[4];
            for (uint32_t b = 0; b < column.bytes; ++b)
                planes[b] = column.has(filterSplit) ? FilterPlane{b * count, 1}
                                                    : FilterPlane{b, column.bytes};
            m_bytes.resize(size_t(count) * column.bytes);
            sample.writeResiduals(m_section, column, planes, m_bytes.data());
            take(count);
        }
    }

    void consider(const FilterColumn& column)
    {
        uint64_t bits = 0;
        forEachSample([&](uint32_t count) {
            if (column.has(filterSplit)) {
                for (uint32_t b = 0; b < column.bytes; ++b)
                    bits += entropy(m_bytes.data() + size_t(b) * count, count);
            } else {
                bits += entropy(m_bytes.data(), count * column.bytes);
            }
        });
        m_candidates.push_back({column, bits});
    }

    FilterTrial& m_trial;
    const FilterSamples& m_samples;
    FilterSection m_section;
    uint32_t m_column;
    std::vector<Candidate> m_candidates;
    std::vector<ColumnValues> m_values; // what readValues read, with m_base and m_mapping
    uint32_t m_base = 0, m_mapping = 0;
    std::vector<uint8_t> m_bytes;
};

// Chooses a filter for each column separately. Columns that others may subtract (their base) come
// first, because a base column has no base itself.
void chooseColumns(FilterTrial& trial, const FilterSamples& samples, const FilterChoices& choices,
                   FilterSection& section)
{
    const uint32_t endBase = choices.firstBase + choices.baseCount;
    const FilterColumnFlags split = choices.planes ? filterSplit : kNoFlags;
    for (const bool bases : {true, false}) { // columns that may be a base come first
        for (uint32_t c = 0; c < section.columnCount; ++c) {
            if (choices.mayBeBase(c) != bases) continue;
            const uint32_t bytes = section.columns[c].bytes;
            ColumnTrial column(trial, samples, section, c);
            column.tryPredictors(choices.predictors, 0, split);
            if (bytes > 1 && choices.planes) column.tryPredictors(choices.predictors, 0, kNoFlags);
            if (choices.mayBeBlock(c)) column.tryPredictors(choices.predictors, 0, filterBlock);
            if (bytes == 4 && choices.floats)
                column.tryPredictors(choices.predictors, 0, split | filterRotated);
            for (uint32_t base = choices.firstBase; !bases && base < endBase; ++base)
                if (section.columns[base].bytes == bytes)
                    column.tryPredictors(choices.predictors, uint8_t(base + 1), split);
            section.columns[c] = column.best();
        }
    }
}

// Returns the section with all columns joined into one group with one predictor, so that bytes stay
// interleaved as in the records. If `bases` is set, the first three columns other than the base
// column subtract it: in a texel, red and blue subtract green.
FilterSection interleaved(const FilterSection& section, const FilterChoices& choices,
                          FilterPredictor predictor, bool bases)
{
    FilterSection result = section;
    for (uint32_t c = 0; c < result.columnCount; ++c) {
        FilterColumn& column = result.columns[c];
        const bool hasBase = bases && choices.baseCount != 0 && !choices.mayBeBase(c) && c < 3 &&
                             column.bytes == section.columns[choices.firstBase].bytes;
        column = {column.bytes, predictor, uint8_t(c == 0 ? 0 : filterJoined),
                  uint8_t(hasBase ? choices.firstBase + 1 : 0)};
    }
    return result;
}

// Returns the section with neighbouring columns joined into groups, whose bytes stay interleaved.
// `groups` has the number of columns in each group. If `keep` is set, a group of one column keeps
// its filter. In BC blocks, bit 0 of `blocks` turns on the mapping filterBlock for columns of
// colours, bit 1 for columns of indices.
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
                choices.mayBeBlock(c) && (blocks >> (column.bytes == 4 ? 1 : 0) & 1) != 0;
            const FilterColumnFlags flags =
                (k == 0 ? kNoFlags : filterJoined) | (isBlock ? filterBlock : kNoFlags);
            column = {column.bytes, FilterPredictor::none, uint8_t(flags), 0};
        }
    }
    for (c = 0; c < result.columnCount; ++c) { // a base must not have a base itself
        FilterColumn& column = result.columns[c];
        if (column.base != 0 && result.columns[column.base - 1].base != 0) column.base = 0;
    }
    return result;
}

// Returns the estimated cost in bytes of a section with its filters: the size of the compressed
// samples plus that of the description. `final` chooses a slower, more exact level of compression.
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

// Returns the index of the cheapest candidate. Candidate 0 filters nothing. It wins if no other
// candidate is clearly cheaper, unless `forced` is set. If costs are close, the cheapest candidates
// are compared again at a slower level of Zstandard. `ratio` receives the winner's cost divided by
// that of candidate 0.
size_t decide(FilterTrial& trial, const FilterSamples& samples, bool forced,
              const std::vector<FilterSection>& candidates, double& ratio)
{
    constexpr size_t kClose = 32;      // costs are close if they differ by at most 1/32
    constexpr size_t kLeastGain = 256; // a filter must gain at least 1/256 of the cost
    const auto least = [&](size_t plain) {
        return plain - std::min(plain, plain / kLeastGain + 16);
    };
    size_t sampleBytes = 0;
    for (const FilterSample& sample : samples)
        sampleBytes += sample.size;
    ratio = 1;
    size_t plain = candidateCost(trial, false, samples, candidates[0]);
    if (!forced && plain < sampleBytes / 256) return 0; // filtering can gain next to nothing
    std::vector<std::pair<size_t, size_t>> order;       // pairs of cost and index
    for (size_t i = 1; i < candidates.size(); ++i)
        order.emplace_back(candidateCost(trial, false, samples, candidates[i]), i);
    if (!forced) order.emplace_back(least(plain), 0);
    std::sort(order.begin(), order.end());
    const size_t limit = order[0].first + order[0].first / kClose;
    size_t close = 1;
    while (close < std::min<size_t>(order.size(), trial.effort().finalists) &&
           order[close].first <= limit)
        ++close;
    order.resize(close);
    if (close > 1 && trial.hasFinalCost()) {
        plain = candidateCost(trial, true, samples, candidates[0]);
        for (auto& [cost, index] : order)
            cost =
                index == 0 ? least(plain) : candidateCost(trial, true, samples, candidates[index]);
        std::sort(order.begin(), order.end());
    }
    if (order[0].second != 0) ratio = double(order[0].first) / double(std::max<size_t>(plain, 1));
    return order[0].second;
}

} // namespace

double chooseSection(FilterTrial& trial, const FilterSamples& columnSamples,
                     const FilterSamples& samples, const FilterChoices& choices,
                     FilterSection& section)
{
    double ratio = 1;
    std::vector<FilterSection> candidates(1, section);
    candidates[0].columnCount = 0;
    candidates[0].tgaRle = false;
    if (section.tgaRle) { // choose by the pixels alone, without headers
        std::vector<std::vector<uint8_t>> pixels(columnSamples.size());
        std::vector<uint8_t> headers;
        FilterSamples pixelSamples;
        for (size_t s = 0; s < columnSamples.size(); ++s) {
            splitPackets(columnSamples[s].bytes, columnSamples[s].size, section.stride(), headers,
                         pixels[s]);
            pixelSamples.push_back({pixels[s].data(), uint32_t(pixels[s].size())});
        }
        chooseColumns(trial, pixelSamples, choices, section);
    } else {
        chooseColumns(trial, columnSamples, choices, section);
    }
    // Without `planes` all columns are joined into one group, because no column may be stored apart
    // from the others.
    for (uint32_t c = 1; c < section.columnCount && !choices.planes; ++c)
        section.columns[c].flags |= filterJoined;
    candidates.push_back(section);
    for (const FilterPredictor predictor : {FilterPredictor::left, FilterPredictor::median}) {
        if ((choices.predictors & bitOf(predictor)) == 0) continue;
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
