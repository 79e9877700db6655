// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes the filter plan of an asset: finds its parts, chooses a filter for each, and cuts the asset
// into tiles.
#include <sluice/sluice_filter.h>

#include "encode/filter/filter_plan.h"

#include "formats/archive_layout.h"
#include "formats/errors.h"

#include <algorithm>
#include <map>

namespace sluice {
namespace {

constexpr uint64_t kSmallPart = 128; // in bytes; for less, a description costs more than it gains
// A ratio is the estimated size with a filter divided by the estimated size without it. A filter
// with a ratio above kClear must also gain on a sample as large as a tile. With a ratio above
// kDoubt, that gain is measured at a slower level of Zstandard.
constexpr double kDoubt = 0.8;
constexpr double kClear = 0.7;
// Above this ratio the gain is doubtful. Sizes are estimated with zstd, but Gstd makes unfiltered
// tiles up to a tenth smaller than zstd does.
constexpr double kLittle = 0.85;
// In files up to this size in bytes every gain is doubtful, because descriptions and padding are a
// large fraction of the file.
constexpr uint64_t kSmallFile = 32768;
constexpr uint32_t kNarrow = 4; // in rows of fewer records, no predictor reads the row above

// Takes samples of a Targa file that begin and end with whole packets.
FilterSamples packetSamples(const FilterPart& part, const uint8_t* bytes,
                            const FilterEffort& effort)
{
    FilterSamples samples;
    const auto packetAt = [&](uint64_t at) { // the first packet at or after `at`
        return *std::lower_bound(part.packets.begin(), part.packets.end() - 1, uint32_t(at));
    };
    for (uint32_t s = 0; s < effort.samples; ++s) {
        const uint64_t room = part.size / effort.samples;
        const uint32_t begin = packetAt(room * s);
        const uint32_t end =
            packetAt(std::min(begin + uint64_t(effort.sampleBytes), room * (s + 1)));
        if (begin < end) samples.push_back({bytes + part.begin + begin, end - begin});
    }
    return samples;
}

// Takes the samples that decide about a whole section: the whole part if it is small, otherwise
// pieces at equal distances.
FilterSamples samplesOf(const FilterPart& part, const uint8_t* bytes, const FilterEffort& effort)
{
    const uint64_t stride = part.section.stride(), row = stride * std::max(1u, part.section.width);
    const uint64_t unit = row <= effort.sampleBytes ? row : stride;
    const uint64_t size = effort.sampleBytes / unit * unit;
    FilterSamples samples;
    if (part.section.tgaRle) return packetSamples(part, bytes, effort);
    if (part.size <= size * effort.samples) {
        for (uint64_t at = 0; at < part.size; at += size)
            samples.push_back({bytes + part.begin + at, uint32_t(std::min(size, part.size - at))});
        return samples;
    }
    for (uint32_t s = 0; s < effort.samples; ++s) {
        const uint64_t at = (part.size - size) * (s + 1) / (effort.samples + 1) / unit * unit;
        samples.push_back({bytes + part.begin + at, uint32_t(size)});
    }
    return samples;
}

// Takes the samples by which the filters of single columns are chosen. Residuals vary along a part,
// and a larger number of short samples represents them better than a few long ones. If predictors
// read the row above, a sample holds several rows, and there are half as many samples.
FilterSamples columnSamplesOf(const FilterPart& part, const uint8_t* bytes,
                              const FilterEffort& effort)
{
    constexpr uint64_t kRows = 4;
    const uint64_t row = uint64_t(part.section.stride()) * part.section.width;
    FilterEffort columns = effort;
    columns.sampleBytes =
        uint32_t(std::clamp<uint64_t>(kRows * row, effort.columnBytes, effort.sampleBytes));
    const uint32_t all = effort.columnBytes * effort.columnSamples / (row != 0 ? 2 : 1);
    columns.samples = std::max(1u, all / columns.sampleBytes);
    return samplesOf(part, bytes, columns);
}

uint32_t allowedPredictors(uint32_t features)
{
    uint32_t allowed = 0;
    for (const FilterPredictorRow& row : kFilterPredictors)
        if (row.features == 0 || (features & row.features) != 0) allowed |= 1u << row.number;
    return allowed;
}

FilterParts givenRecords(uint64_t size, const SluiceFilterPlanInfo& info)
{
    FilterPart part;
    part.begin = info.begin;
    part.size = info.begin < size ? size - info.begin : 0;
    addColumns(part.section, info.stride / info.columnSize, uint8_t(info.columnSize));
    part.section.width = info.rowRecords;
    part.choices.predictors = info.rowRecords != 0 ? kWithoutRows | kRows : kWithoutRows;
    part.choices.floats = info.columnSize == 4;
    FilterPartList list(size);
    list.add(std::move(part));
    return list.finish();
}

// Returns the set of predictors with which decoding every tile of the part takes at most
// SLUICE_FILTER_MAX_STEPS, even if all columns use the slowest predictor of the set.
uint32_t predictorsWithinSteps(const FilterPart& part, uint32_t maxTileSize)
{
    const FilterSection& section = part.section;
    if (section.width == 0 || section.columnCount == 0) return kRows | kWithoutRows;
    const uint32_t records =
        uint32_t(std::min<uint64_t>(part.size, maxTileSize) / section.stride());
    const auto fits = [&](uint32_t ups, uint32_t waves) {
        return filterSteps(records, section.width, section.width - 1, ups, waves) <=
               SLUICE_FILTER_MAX_STEPS;
    };
    // `ups` is how many bytes of a record the predictor `up` predicts; `waves` is how many
    // gradient, median and average predict. A tile that mixes both kinds may take one more pass
    // over its rows than with one kind alone. So the first check adds a pass of `up`
    // (SLUICE_FILTER_STEP_BYTES).
    const uint32_t bytes = section.stride();
    if (fits(SLUICE_FILTER_STEP_BYTES, bytes)) return kRows | kWithoutRows;
    return fits(bytes, 0) ? kWithoutRows | bitOf(FilterPredictor::up) : kWithoutRows;
}

} // namespace

FilterEffort effortOf(const SluiceFilterPlanInfo& info)
{
    constexpr FilterEffort efforts[3] = {{1, 1, 1, 32768, 1, 16384, 2, 1},
                                         {1, 3, 3, 65536, 2, 16384, 4, 2},
                                         {3, 9, 9, 131072, 4, 32768, 8, 3}};
    return efforts[info.effort];
}

FilterParts wantedParts(const uint8_t* bytes, uint64_t size, const SluiceFilterPlanInfo& info)
{
    if (info.features == 0) return FilterPartList(size).finish();
    FilterParts parts;
    if (info.layout == SLUICE_FILTER_LAYOUT_RECORDS) {
        parts = givenRecords(size, info);
    } else {
        if (info.layout == SLUICE_FILTER_LAYOUT_IMAGE) parts = findImageParts(bytes, size);
        if (parts.empty()) parts = findParts(bytes, size);
    }
    for (FilterPart& part : parts) {
        FilterChoices& choices = part.choices;
        choices.predictors &= allowedPredictors(info.features);
        // A decoder undoes predictors that read the row above with one lane for each row or column,
        // so most lanes would idle in narrow rows. Very long or very many rows exceed the limit of
        // steps.
        choices.predictors &= part.section.width < kNarrow
                                  ? kWithoutRows
                                  : predictorsWithinSteps(part, info.maxTileSize);
        choices.planes = (info.features & SLUICE_FILTER_PLANES) != 0;
        choices.floats = choices.floats && (info.features & SLUICE_FILTER_FLOAT) != 0;
        choices.forced = info.force != 0;
        if ((info.features & SLUICE_FILTER_SUBTRACT) == 0) choices.baseCount = 0;
        if ((info.features & SLUICE_FILTER_BLOCKS) == 0) choices.blockCount = 0;
        if (part.section.tgaRle && (info.features & SLUICE_FILTER_TGA_PACKETS) == 0)
            part.section.columnCount = 0;
    }
    return parts;
}

namespace {

bool needsRows(const FilterSection& section)
{
    for (uint32_t c = 0; c < section.columnCount; ++c)
        if (needsRows(section.columns[c].predictor)) return true;
    return false;
}

bool sameColumns(const FilterSection& a, const FilterSection& b)
{
    for (uint32_t c = 0; c < std::max(a.columnCount, b.columnCount); ++c) {
        const FilterColumn &x = a.columns[c], &y = b.columns[c];
        if (x.bytes != y.bytes || x.predictor != y.predictor || x.flags != y.flags ||
            x.base != y.base)
            return false;
    }
    return a.columnCount == b.columnCount;
}

bool canJoin(const FilterPart& a, const FilterPart& b)
{
    if (a.section.columnCount == 0 || b.section.columnCount == 0)
        return a.section.columnCount == b.section.columnCount;
    return !a.section.tgaRle && !b.section.tgaRle && a.section.width == 0 && b.section.width == 0 &&
           a.doubtful == b.doubtful && sameColumns(a.section, b.section) &&
           a.size % a.section.stride() == 0;
}

// Returns whether the filter also gains on a sample as large as a whole tile, in which compression
// finds matches at longer distances than in the small samples.
bool holdsUp(FilterTrial& trial, const uint8_t* bytes, const FilterPart& part, bool doubtful)
{
    FilterEffort large = trial.effort();
    large.sampleBytes = 262144;
    large.samples = 1;
    size_t plain = 0, filtered = 4;
    std::vector<uint8_t> buffer;
    for (const FilterSample& sample : samplesOf(part, bytes, large)) {
        buffer.resize(sample.size);
        applySection(part.section, sample.bytes, sample.size, buffer.data());
        const auto cost = [&](const uint8_t* from) {
            return doubtful ? trial.carefulCost(from, sample.size) : trial.cost(from, sample.size);
        };
        plain += cost(sample.bytes);
        filtered += cost(buffer.data());
    }
    return filtered < plain;
}

// Chooses the part's own filter. Parts of one image form a group, for whose largest part alone this
// is called; the others take over the result.
void chooseFilter(FilterTrial& trial, const uint8_t* bytes, uint64_t fileSize, FilterPart& part)
{
    FilterSection& section = part.section;
    const double ratio =
        chooseSection(trial, columnSamplesOf(part, bytes, trial.effort()),
                      samplesOf(part, bytes, trial.effort()), part.choices, section);
    const bool chosen = section.columnCount != 0 && !part.choices.forced;
    part.doubtful = chosen && (ratio > kLittle || fileSize <= kSmallFile);
    if (chosen && ratio > kClear && !holdsUp(trial, bytes, part, ratio > kDoubt)) {
        section.columnCount = 0;
        section.tgaRle = false;
    }
}

} // namespace

void chooseFilters(FilterTrial& trial, const uint8_t* bytes, FilterParts& parts)
{
    const uint64_t fileSize = parts.empty() ? 0 : parts.back().begin + parts.back().size;
    std::map<uint32_t, const FilterPart*> largest; // by group
    for (const FilterPart& part : parts) {
        const FilterPart*& most = largest[part.group];
        if (most == nullptr || part.size > most->size) most = &part;
    }
    const auto leads = [&](const FilterPart& part) {
        return part.group == 0 || largest[part.group] == &part;
    };
    for (FilterPart& part : parts) {
        if (part.size < kSmallPart && !part.choices.forced) part.section.columnCount = 0;
        if (part.section.columnCount != 0 && leads(part))
            chooseFilter(trial, bytes, fileSize, part);
    }
    for (FilterPart& part : parts) {
        FilterSection& section = part.section;
        if (section.columnCount != 0 && !leads(part)) {
            const FilterPart& leader = *largest[part.group];
            const uint32_t width = section.width;
            section = leader.section;
            section.width = width;
            part.doubtful = leader.doubtful;
        }
    }
    for (FilterPart& part : parts)
        if (!needsRows(part.section)) part.section.width = part.section.first = 0;
}

bool worthIt(FilterTrial& trial, const uint8_t* bytes, uint32_t size,
             const std::vector<uint32_t>& description)
{
    std::vector<uint8_t> filtered(size);
    if (applyFilter(description.data(), 4 * description.size(), bytes, size, filtered.data()) !=
        SLUICE_OK)
        return false;
    return trial.finalCost(filtered.data(), size) + 8 + 4 * description.size() <
           trial.finalCost(bytes, size);
}

void joinParts(FilterParts& parts)
{
    size_t kept = 0;
    for (size_t p = 0; p < parts.size(); ++p) {
        if (kept != 0 && canJoin(parts[kept - 1], parts[p])) {
            parts[kept - 1].size += parts[p].size;
        } else {
            if (kept != p) parts[kept] = std::move(parts[p]);
            ++kept;
        }
    }
    parts.resize(kept);
}

} // namespace sluice

using namespace sluice;

struct SluiceFilterPlan_T {
    std::vector<FilterTiles> tiles; // segments point to their descriptions
    std::vector<SluiceFilterSegment> segments;
    std::vector<uint32_t> parameters;

    void finish()
    {
        for (const FilterTiles& one : tiles) {
            SluiceFilterSegment segment = {};
            segment.size = one.size;
            segment.tileSize = one.tileBytes;
            if (!one.description.empty()) {
                segment.description = one.description.data();
                segment.descriptionSize = uint32_t(4 * one.description.size());
                segment.filterOffset = addItem(one.description);
                segment.doubtful = one.doubtful ? 1 : 0;
            }
            segments.push_back(segment);
        }
    }

private:
    // Stores a description as an item of the asset's parameters, unless an equal item is there.
    // Returns the value that filterOffset has for it in the archive's tile records.
    uint32_t addItem(const std::vector<uint32_t>& description)
    {
        const uint32_t bytes = uint32_t(4 * description.size());
        for (size_t at = 0; at < parameters.size(); at += 2 + parameters[at + 1] / 4)
            if (parameters[at + 1] == bytes &&
                std::equal(description.begin(), description.end(), &parameters[at + 2]))
                return uint32_t(4 + 4 * at);
        const uint32_t offset = uint32_t(4 + 4 * parameters.size());
        parameters.insert(parameters.end(), {kFilterItem, bytes});
        parameters.insert(parameters.end(), description.begin(), description.end());
        return offset;
    }
};

namespace {

bool valid(const SluiceFilterPlanInfo& info)
{
    const bool records = info.layout == SLUICE_FILTER_LAYOUT_RECORDS;
    const bool goodRecords =
        (info.columnSize == 1 || info.columnSize == 2 || info.columnSize == 4) &&
        info.stride != 0 && info.stride <= kFilterMaxStride && info.stride % info.columnSize == 0 &&
        info.rowRecords <= kFilterMaxTile;
    return info.maxTileSize % 4 == 0 && info.maxTileSize >= 4096 &&
           info.maxTileSize <= SLUICE_FILTER_MAX_TILE &&
           (info.features & ~uint32_t(SLUICE_FILTER_ALL)) == 0 && info.effort <= 2 &&
           info.force <= 1 &&
           (info.layout == SLUICE_FILTER_LAYOUT_AUTO || info.layout == SLUICE_FILTER_LAYOUT_IMAGE ||
            (records && goodRecords));
}

} // namespace

SluiceStatus sluiceCreateFilterPlan(const void* bytes, uint64_t size,
                                    const SluiceFilterPlanInfo* info, SluiceFilterPlan* plan)
{
    if (plan == nullptr) return SLUICE_ERROR_ARGUMENT;
    *plan = nullptr;
    if (info == nullptr || (bytes == nullptr && size != 0) || !valid(*info))
        return SLUICE_ERROR_ARGUMENT;
    return withoutExceptions([&] {
        auto made = std::make_unique<SluiceFilterPlan_T>();
        FilterTrial trial(effortOf(*info));
        const uint8_t* from = static_cast<const uint8_t*>(bytes);
        FilterParts parts = wantedParts(from, size, *info);
        chooseFilters(trial, from, parts);
        joinParts(parts);
        std::vector<uint64_t> cuts;
        ImageFile image;
        if (info->layout == SLUICE_FILTER_LAYOUT_IMAGE && image.parse(from, size))
            cuts = image.cuts(size);
        made->tiles = cutIntoTiles(parts, info->maxTileSize, cuts);
        // Each part's filter was chosen for that part alone. In one common tile the parts share
        // entropy tables and matches, so compare the whole tile with and without filters again.
        // This is not needed if nearly all of it is one image.
        const bool isMixed =
            parts.size() > 2 && std::none_of(parts.begin(), parts.end(), [&](const FilterPart& p) {
                return p.section.columns[0].bytes == 1 && p.size > size - size / 16;
            });
        if (isMixed && made->tiles.size() == 1 && !made->tiles[0].description.empty() &&
            info->force == 0 && !worthIt(trial, from, uint32_t(size), made->tiles[0].description))
            made->tiles[0].description.clear();
        made->finish();
        *plan = made.release();
        return SLUICE_OK;
    });
}

void sluiceDestroyFilterPlan(SluiceFilterPlan plan) { delete plan; }

const SluiceFilterSegment* sluiceGetFilterSegments(SluiceFilterPlan plan, uint32_t* count)
{
    if (count != nullptr) *count = plan == nullptr ? 0 : uint32_t(plan->segments.size());
    return plan == nullptr || plan->segments.empty() ? nullptr : plan->segments.data();
}

const void* sluiceGetFilterParameters(SluiceFilterPlan plan, uint32_t* size)
{
    if (size != nullptr) *size = plan == nullptr ? 0 : uint32_t(4 * plan->parameters.size());
    return plan == nullptr || plan->parameters.empty() ? nullptr : plan->parameters.data();
}

SluiceStatus sluiceApplyFilter(const void* description, size_t size, const void* tile,
                               void* filtered, size_t tileSize)
{
    if (description == nullptr || tile == nullptr || filtered == nullptr || tileSize == 0 ||
        tileSize > SLUICE_FILTER_MAX_TILE)
        return SLUICE_ERROR_ARGUMENT;
    return withoutExceptions([&] {
        return applyFilter(description, size, static_cast<const uint8_t*>(tile), uint32_t(tileSize),
                           static_cast<uint8_t*>(filtered));
    });
}
