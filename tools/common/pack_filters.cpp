// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/pack_filters.h"

#include <algorithm>
#include <iterator>

#include "tools/common/codecs.h"
#include "formats/archive_layout.h"

namespace sluice {
namespace {

// Larger files are planned in pieces of this many bytes, so that memory is bounded. Each piece
// becomes segments, so the number must be a multiple of 4 (SluiceArchiveSegment::size).
constexpr uint64_t kMostHeldBytes = uint64_t(1) << 28;

struct FilterList {
    uint32_t features; // SluiceFilterFeatures that may be used
    bool forced;       // whether these filters are used even where they gain nothing
};

// Parses the value of --filters: "auto", "none", names of filters that must be used, or names of
// filters that must not be used, each with "no-" before it.
FilterList filterList(const std::string& text)
{
    if (text == "auto") return {SLUICE_FILTER_ALL, false};
    if (text == "none") return {0, false};
    uint32_t forced = 0, forbidden = 0;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (word == "auto" || word == "none") {
            throw Failure{exitUsage, "--filters: '" + word + "' stands alone"};
        }
        const bool forbids = word.compare(0, 3, "no-") == 0;
        const std::string name = forbids ? word.substr(3) : word;
        const auto* found = std::find_if(std::begin(kFilterNames), std::end(kFilterNames),
                                         [&](const auto& known) { return name == known.first; });
        if (found == std::end(kFilterNames)) {
            throw Failure{exitUsage, "--filters: '" + word + "' is none of auto, none, " +
                                         filterNames(", ") +
                                         ", nor one of these nine with no- before it"};
        }
        (forbids ? forbidden : forced) |= found->second;
        begin = end + 1;
    }
    if (forced != 0 && forbidden != 0) {
        throw Failure{exitUsage, "--filters: either names of filters to force or, with no-, of "
                                 "filters to forbid, not both"};
    }
    return forced != 0 ? FilterList{forced, true}
                       : FilterList{SLUICE_FILTER_ALL & ~forbidden, false};
}

} // namespace

void checkFilterList(const std::string& text) { filterList(text); }

std::string filterNames(const char* separator)
{
    std::string names;
    for (const auto& [name, feature] : kFilterNames)
        names += (names.empty() ? "" : separator) + std::string(name);
    return names;
}

std::vector<SluiceArchiveSegment> planFilters(const std::string& name, const Bytes& bytes,
                                              SluiceFilterLayout layout,
                                              const AssetOptions& options, FilterPlan& plan)
{
    const FilterList filters = filterList(options.filters);
    SluiceFilterPlanInfo info = {};
    info.maxTileSize = tileBytes(options);
    info.features = filters.features;
    info.effort = 1;
    info.force = filters.forced ? 1 : 0;
    info.layout = layout;
    SluiceFilterPlan made = nullptr;
    const SluiceStatus status = sluiceCreateFilterPlan(bytes.data(), bytes.size(), &info, &made);
    if (status != SLUICE_OK)
        throw Failure{exitCodeOf(status), name + ": " + sluiceGetStatusText(status)};
    plan.reset(made);
    uint32_t count = 0;
    const SluiceFilterSegment* found = sluiceGetFilterSegments(made, &count);
    std::vector<SluiceArchiveSegment> segments;
    for (uint32_t i = 0; i < count; ++i) {
        SluiceArchiveSegment segment = {};
        segment.size = found[i].size;
        segment.codec = codecNamed(options.codec).fileCodec;
        segment.tileSize = (found[i].tileSize + 3) / 4 * 4;
        segment.level = options.level;
        segment.copyDepth = options.copyDepth;
        segment.filterOffset = found[i].filterOffset;
        segment.filterTrial = options.level >= 9 ? found[i].doubtful : 0;
        segments.push_back(segment);
    }
    return segments;
}

void SegmentList::add(SluiceArchiveSegment segment, const uint8_t* parameters)
{
    if (segment.filterOffset != 0) {
        const uint8_t* item = parameters + segment.filterOffset - 4;
        const Bytes bytes(item, item + kItemHead + itemSize(item));
        const auto [found, isNew] = m_items.emplace(bytes, uint32_t(m_plan.parameters.size()) + 4);
        if (isNew) m_plan.parameters.insert(m_plan.parameters.end(), bytes.begin(), bytes.end());
        segment.filterOffset = found->second;
    }
    m_plan.segments.push_back(segment);
}

namespace {

// Plans a file that is larger than kMostHeldBytes in pieces. Each piece is planned like a file.
void planPieces(const InputFile& input, const AssetOptions& options, PackPlan& plan)
{
    Bytes bytes;
    SegmentList list(plan);
    for (uint64_t at = 0; at < input.size(); at += bytes.size()) {
        bytes.resize(size_t(std::min(kMostHeldBytes, input.size() - at)));
        input.read(at, bytes.data(), bytes.size());
        FilterPlan filters{nullptr, sluiceDestroyFilterPlan};
        const std::vector<SluiceArchiveSegment> segments =
            planFilters(input.name(), bytes, SLUICE_FILTER_LAYOUT_AUTO, options, filters);
        uint32_t size = 0;
        const void* parameters = sluiceGetFilterParameters(filters.get(), &size);
        for (const SluiceArchiveSegment& segment : segments)
            list.add(segment, static_cast<const uint8_t*>(parameters));
    }
}

} // namespace

// Plans the filters of a file: of the whole file, or piece by piece if it is larger than
// kMostHeldBytes. A file larger than 1 GiB gets no filters.
PackPlan planFiltered(const InputFile& input, const AssetOptions& options)
{
    constexpr uint64_t largest = uint64_t(1) << 30;
    PackPlan plan;
    if (filterList(options.filters).features == 0 || input.size() == 0) return plan;
    if (input.size() > largest) {
        plan.reason = "it is larger than 1 GiB";
        return plan;
    }
    if (input.size() > kMostHeldBytes) {
        planPieces(input, options, plan);
        return plan;
    }
    Bytes bytes = input.readAll();
    plan.segments =
        planFilters(input.name(), bytes, SLUICE_FILTER_LAYOUT_AUTO, options, plan.filters);
    plan.content = std::make_unique<InputFile>(input.name(), std::move(bytes));
    return plan;
}

} // namespace sluice
