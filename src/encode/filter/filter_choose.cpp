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
    return FilterColumnFlags(u32(a) | u32(b));
}

} // namespace

void FilterTrial::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

FilterTrial::FilterTrial(const FilterEffort& effort)
    : m_effort(effort), m_context(ZSTD_createCCtx())
{
    if (m_context == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(m_context.get(), ZSTD_c_contentSizeFlag, 0);
}

size_t FilterTrial::compress(int level, const u8* bytes, size_t size)
{
    ZSTD_CCtx* const context = m_context.get();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    m_out.resize(std::max(m_out.size(), ZSTD_compressBound(size)));
    const size_t result = ZSTD_compress2(context, m_out.data(), m_out.size(), bytes, size);
    return ZSTD_isError(result) ? size : std::min(result, size);
}

namespace {

// log2 of 1 + i / 256, in 1/65536.
constexpr u32 kMantissaLogs = 256;
constexpr std::array<u16, kMantissaLogs> makeMantissaLogs()
{
    std::array<u16, kMantissaLogs> logs{};
    for (u32 i = 0; i < kMantissaLogs; ++i)
        logs[i] = u16(log2Fixed(kMantissaLogs + i, 16) - (8u << 16));
    return logs;
}
constexpr std::array<u16, kMantissaLogs> kMantissas = makeMantissaLogs();

// Returns value * log2(value) in 1/65536; value is not 0 and below 2^24.
u64 valueLog(u32 value)
{
    const u32 log = floorLog2(value);
    return u64(value) * (log << 16 | kMantissas[(value << (31 - log)) >> 23 & 255]);
}

// Estimates how many bits an entropy coder without matches needs for bytes.
u64 entropy(const u8* bytes, u32 size)
{
    u32 counts[256] = {};
    if (size < 1024) {
        for (u32 i = 0; i < size; ++i)
            ++counts[bytes[i]];
    } else { // several, so that equal bytes do not wait for each other
        u32 parts[4][256] = {};
        for (u32 i = 0; i < size; ++i)
            ++parts[i % 4][bytes[i]];
        for (u32 symbol = 0; symbol < 256; ++symbol)
            counts[symbol] =
                parts[0][symbol] + parts[1][symbol] + parts[2][symbol] + parts[3][symbol];
    }
    u64 sum = size == 0 ? 0 : valueLog(size);
    for (const u32 count : counts)
        if (count != 0) sum -= std::min(sum, valueLog(count));
    return sum >> 16;
}

// Tries many filters for one column. The candidates with the least entropy are compressed, and so
// are those without prediction, which may have matches.
class ColumnTrial {
public:
    ColumnTrial(FilterTrial& trial, const FilterSamples& samples, const FilterSection& section,
                u32 column)
        : m_trial(trial), m_samples(samples), m_section(section), m_column(column)
    {
    }

    // Tries each predictor of the set with a base and flags.
    void tryPredictors(u32 predictors, u8 base, u32 flags)
    {
        FilterColumn& column = m_section.columns[m_column];
        column.base = base;
        column.flags = u8(flags);
        readValues();
        for (u32 p = 0; p < u32(FilterPredictor::count); ++p) {
            if ((predictors >> p & 1) == 0) continue;
            column.predictor = FilterPredictor(p);
            const bool isSigned = (p != 0 || base != 0) && column.bytes > 1;
            column.flags = u8(isSigned ? flags | filterZigzag : flags);
            consider(column);
            if (isSigned) { // signs that repeat are better left alone
                column.flags = u8(flags);
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
        u32 tried = 0;
        for (const Candidate& candidate : m_candidates) {
            const FilterColumn& column = candidate.column;
            const bool isPlain = column.predictor == FilterPredictor::none && column.base == 0;
            if (!isPlain && tried >= kTried) continue;
            if (!isPlain) ++tried;
            m_section.columns[m_column] = column;
            readValues();
            size_t cost = 0;
            forEachSample(
                [&](u32 count) { cost += m_trial.cost(m_bytes.data(), count * column.bytes); });
            if (cost >= bestCost) continue;
            bestCost = cost;
            best = column;
        }
        return best;
    }

private:
    static constexpr u32 kTried = 2;     // of those with a prediction or a base
    static constexpr size_t kFew = 1024; // bytes up to which entropy alone decides

    struct Candidate {
        FilterColumn column;
        u64 bits;
    };

    // Reads the column's values, which depend on its base and mapping but not on the predictor.
    void readValues()
    {
        const FilterColumn& column = m_section.columns[m_column];
        const u32 mapping = column.flags & (filterRotated | filterBlock);
        if (!m_values.empty() && m_base == column.base && m_mapping == mapping) return;
        m_base = column.base;
        m_mapping = mapping;
        m_values.resize(m_samples.size());
        for (size_t s = 0; s < m_samples.size(); ++s)
            m_values[s].read(m_section, m_column, m_samples[s].bytes,
                             m_samples[s].size / m_section.stride());
    }

    // Filters each sample into m_bytes.
    template <typename Take>
    void forEachSample(Take take)
    {
        const FilterColumn& column = m_section.columns[m_column];
        for (const ColumnValues& sample : m_values) {
            const u32 count = sample.count();
            FilterPlane planes[4];
            for (u32 b = 0; b < column.bytes; ++b)
                planes[b] = column.has(filterSplit) ? FilterPlane{b * count, 1}
                                                    : FilterPlane{b, column.bytes};
            m_bytes.resize(size_t(count) * column.bytes);
            sample.writeResiduals(m_section, column, planes, m_bytes.data());
            take(count);
        }
    }

    void consider(const FilterColumn& column)
    {
        u64 bits = 0;
        forEachSample([&](u32 count) {
            if (column.has(filterSplit)) {
                for (u32 b = 0; b < column.bytes; ++b)
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
    u32 m_column;
    std::vector<Candidate> m_candidates;
    std::vector<ColumnValues> m_values; // with this base and mapping
    u32 m_base = 0, m_mapping = 0;
    std::vector<u8> m_bytes;
};

// Finds the best choice for each column alone.
void chooseColumns(FilterTrial& trial, const FilterSamples& samples, const FilterChoices& choices,
                   FilterSection& section)
{
    const u32 endBase = choices.firstBase + choices.baseCount;
    const FilterColumnFlags split = choices.planes ? filterSplit : kNoFlags;
    for (const bool bases : {true, false}) { // columns that may be a base have none
        for (u32 c = 0; c < section.columnCount; ++c) {
            if (choices.mayBeBase(c) != bases) continue;
            const u32 bytes = section.columns[c].bytes;
            ColumnTrial column(trial, samples, section, c);
            column.tryPredictors(choices.predictors, 0, split);
            if (bytes > 1 && choices.planes) column.tryPredictors(choices.predictors, 0, kNoFlags);
            if (choices.mayBeBlock(c)) column.tryPredictors(choices.predictors, 0, filterBlock);
            if (bytes == 4 && choices.floats)
                column.tryPredictors(choices.predictors, 0, split | filterRotated);
            for (u32 base = choices.firstBase; !bases && base < endBase; ++base)
                if (section.columns[base].bytes == bytes)
                    column.tryPredictors(choices.predictors, u8(base + 1), split);
            section.columns[c] = column.best();
        }
    }
}

// Puts all columns in one group, with one predictor.
FilterSection interleaved(const FilterSection& section, const FilterChoices& choices,
                          FilterPredictor predictor, bool bases)
{
    FilterSection result = section;
    for (u32 c = 0; c < result.columnCount; ++c) {
        FilterColumn& column = result.columns[c];
        const bool hasBase = bases && choices.baseCount != 0 && !choices.mayBeBase(c) && c < 3 &&
                             column.bytes == section.columns[choices.firstBase].bytes;
        column = {column.bytes, predictor, u8(c == 0 ? 0 : filterJoined),
                  u8(hasBase ? choices.firstBase + 1 : 0)};
    }
    return result;
}

// Interleaves the columns of each group. A group of one column stays as it was chosen if `keep` is
// set. blocks: bit 0, colours are mapped; bit 1, indices.
FilterSection grouped(const FilterSection& section, const FilterChoices& choices,
                      const std::vector<u8>& groups, bool keep, u32 blocks)
{
    FilterSection result = section;
    u32 c = 0;
    for (const u8 group : groups) {
        for (u32 k = 0; k < group && c < result.columnCount; ++k, ++c) {
            FilterColumn& column = result.columns[c];
            if (group == 1 && keep) continue;
            const bool isBlock =
                choices.mayBeBlock(c) && (blocks >> (column.bytes == 4 ? 1 : 0) & 1) != 0;
            const FilterColumnFlags flags =
                (k == 0 ? kNoFlags : filterJoined) | (isBlock ? filterBlock : kNoFlags);
            column = {column.bytes, FilterPredictor::none, u8(flags), 0};
        }
    }
    for (c = 0; c < result.columnCount; ++c) { // a base that is left has a base itself
        FilterColumn& column = result.columns[c];
        if (column.base != 0 && result.columns[column.base - 1].base != 0) column.base = 0;
    }
    return result;
}

// Returns the bytes that a candidate takes: filtered samples, and words of the description.
size_t candidateCost(FilterTrial& trial, bool final, const FilterSamples& samples,
                     const FilterSection& section)
{
    std::vector<u32> description;
    appendSection(section, description);
    size_t cost = section.columnCount == 0 ? 0 : 4 * description.size();
    std::vector<u8> filtered;
    for (const FilterSample& sample : samples) {
        filtered.resize(sample.size);
        applySection(section, sample.bytes, sample.size, filtered.data());
        cost += final ? trial.finalCost(filtered.data(), sample.size)
                      : trial.cost(filtered.data(), sample.size);
    }
    return cost;
}

// Returns the index of the best candidate; candidate 0 filters nothing. Candidates with close
// estimates are compared with more care.
size_t decide(FilterTrial& trial, const FilterSamples& samples, bool forced,
              const std::vector<FilterSection>& candidates, double& ratio)
{
    constexpr size_t kClose = 32;      // a part of the cost
    constexpr size_t kLeastGain = 256; // a part of the cost that a filter must gain, at least
    const auto least = [&](size_t plain) {
        return plain - std::min(plain, plain / kLeastGain + 16);
    };
    size_t sampleBytes = 0;
    for (const FilterSample& sample : samples)
        sampleBytes += sample.size;
    ratio = 1;
    size_t plain = candidateCost(trial, false, samples, candidates[0]);
    if (!forced && plain < sampleBytes / 256) return 0; // hardly anything to gain
    std::vector<std::pair<size_t, size_t>> order;       // cost and index
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
    if (section.tgaRle) { // columns are chosen by the pixels alone
        std::vector<std::vector<u8>> pixels(columnSamples.size());
        std::vector<u8> headers;
        FilterSamples pixelSamples;
        for (size_t s = 0; s < columnSamples.size(); ++s) {
            splitPackets(columnSamples[s].bytes, columnSamples[s].size, section.stride(), headers,
                         pixels[s]);
            pixelSamples.push_back({pixels[s].data(), u32(pixels[s].size())});
        }
        chooseColumns(trial, pixelSamples, choices, section);
    } else {
        chooseColumns(trial, columnSamples, choices, section);
    }
    // Columns that stand apart are planes too.
    for (u32 c = 1; c < section.columnCount && !choices.planes; ++c)
        section.columns[c].flags |= filterJoined;
    candidates.push_back(section);
    for (const FilterPredictor predictor : {FilterPredictor::left, FilterPredictor::median}) {
        if ((choices.predictors & bitOf(predictor)) == 0) continue;
        candidates.push_back(interleaved(section, choices, predictor, false));
        if (choices.baseCount != 0)
            candidates.push_back(interleaved(section, choices, predictor, true));
    }
    if (!choices.groups.empty() && choices.planes) {
        for (u32 blocks = 0; blocks < (choices.blockCount != 0 ? 4 : 1); ++blocks) {
            candidates.push_back(grouped(section, choices, choices.groups, false, blocks));
            candidates.push_back(grouped(section, choices, choices.groups, true, blocks));
        }
    }
    if (choices.blockCount != 0)
        candidates.push_back(grouped(section, choices, {u8(section.columnCount)}, false, 3));
    section = candidates[decide(trial, samples, choices.forced, candidates, ratio)];
    return ratio;
}

} // namespace sluice
