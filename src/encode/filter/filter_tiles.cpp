// SPDX-License-Identifier: MIT OR Apache-2.0
// Cuts a file of parts into tiles and describes each. Cuts stand at multiples of 4, and at the ends
// of rows or records if possible. The first bytes of a tile that starts inside a record are not
// filtered.
#include "encode/filter/filter_plan.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr u64 kOwnTile = 32768; // parts from this size on do not share a tile

u64 alignDown(u64 value) { return value & ~u64(3); }

// Returns where the packet, row or record that holds `at` begins.
u64 unitBegin(const FilterPart& part, u64 at)
{
    const u64 offset = at - part.begin;
    if (part.section.tgaRle)
        return part.begin +
               *(std::upper_bound(part.packets.begin(), part.packets.end(), u32(offset)) - 1);
    const u64 stride = std::max(1u, part.section.stride()),
              row = stride * std::max(1u, part.section.width);
    return part.begin + offset / row * row;
}

// Finds a good place for a cut inside `part`, in (from, to].
u64 cutInside(const FilterPart& part, u64 from, u64 to)
{
    if (part.doubtful) return alignDown(to); // where tiles without filters are cut
    u64 best = alignDown(to), bestWaste = UINT64_MAX;
    u64 unit = unitBegin(part, to);
    const u32 maxTries = part.section.tgaRle ? 256 : 8;
    for (u32 tries = 0; tries < maxTries && unit > from && unit >= part.begin; ++tries) {
        const u64 cut = alignUp(unit, 4);
        if (cut <= to && cut > from && cut - unit < bestWaste) {
            best = cut;
            bestWaste = cut - unit;
        }
        if (unit == part.begin) break;
        unit = unitBegin(part, unit - 1);
    }
    return best;
}

// Returns where the tile that starts at `from` ends.
u64 tileEnd(const FilterParts& parts, u64 from, u32 maxTileBytes, const std::vector<u64>& cuts)
{
    const u64 fileEnd = parts.back().begin + parts.back().size;
    const auto cut = std::upper_bound(cuts.begin(), cuts.end(), from);
    const u64 stop = cut == cuts.end() ? fileEnd : *cut,
              limit = std::min(stop, from + maxTileBytes);
    // A part that is cut out is one tile if possible; so is a file.
    if ((cuts.empty() ? fileEnd : stop - from) <= maxTileBytes) return stop;
    u64 end = limit;
    bool first = true;
    for (const FilterPart& part : parts) {
        const u64 partEnd = part.begin + part.size;
        if (partEnd <= from) continue;
        if (part.begin >= limit) break;
        const bool own = part.size >= kOwnTile;
        if (own && !first && alignDown(part.begin) > from && part.begin % 4 == 0) return part.begin;
        if (own && partEnd <= limit && partEnd % 4 == 0) return partEnd;
        if (partEnd > limit) {
            // A part that fits into a tile of its own is not cut.
            const bool later =
                part.size <= maxTileBytes && part.begin % 4 == 0 && part.begin > from;
            end = later ? part.begin : cutInside(part, from, limit);
        }
        first = false;
    }
    return end == fileEnd ? end : alignDown(end);
}

// Appends the sections for bytes [from, to) of a part.
void addPiece(const FilterPart& part, u64 from, u64 to, std::vector<FilterSection>& sections)
{
    FilterSection section = part.section;
    if (section.columnCount != 0) {
        const u64 offset = from - part.begin;
        u64 record = 0, start; // of the first whole record
        if (section.tgaRle) {
            start = part.begin +
                    *std::lower_bound(part.packets.begin(), part.packets.end(), u32(offset));
        } else {
            record = divideUp<u64>(offset, section.stride());
            start = part.begin + record * section.stride();
        }
        start = std::min(start, to);
        if (start != from) {
            sections.emplace_back();
            sections.back().size = u32(start - from);
        }
        if (section.width != 0) section.first = u32((section.first + record) % section.width);
        from = start;
    }
    const u64 end = section.tgaRle ? std::max(from, unitBegin(part, to)) : to;
    section.size = u32(end - from);
    if (section.size != 0) sections.push_back(section);
    if (end != to) {
        sections.emplace_back();
        sections.back().size = u32(to - end);
    }
}

// Makes the description of a tile, an empty one if nothing of it is filtered or if it would have
// too many sections or columns, or take too many steps.
std::vector<u32> describeTile(const FilterParts& parts, u64 from, u64 to)
{
    std::vector<FilterSection> sections;
    for (const FilterPart& part : parts) {
        const u64 begin = std::max(from, part.begin), end = std::min(to, part.begin + part.size);
        if (begin < end) addPiece(part, begin, end, sections);
    }
    u32 columns = 0;
    for (const FilterSection& section : sections)
        columns += section.columnCount + SLUICE_FILTER_SECTION_COLUMNS;
    if (columns > SLUICE_FILTER_MAX_COLUMNS) return {};
    // A decoder copies the end of a tile if no section describes it.
    if (!sections.empty() && sections.back().columnCount != 0) sections.back().size = kFilterRest;
    while (!sections.empty() && sections.back().columnCount == 0)
        sections.pop_back();
    std::vector<u32> description;
    for (const FilterSection& section : sections)
        appendSection(section, description);
    if (description.empty()) return {};
    // There may be more sections than a description has room for.
    FilterReader reader(description.data(), 4 * description.size());
    u32 end = 0;
    const auto take = [](const FilterSection&, u32, u32) { return true; };
    const bool fits = forEachSection(reader, u32(to - from), end, take);
    return fits && reader.status() == SLUICE_OK ? description : std::vector<u32>();
}

// Returns whether all filters of a tile are doubtful.
bool isDoubtful(const FilterParts& parts, u64 from, u64 to)
{
    return std::all_of(parts.begin(), parts.end(), [&](const FilterPart& part) {
        return part.section.columnCount == 0 || part.doubtful || part.begin >= to ||
               part.begin + part.size <= from;
    });
}

} // namespace

std::vector<FilterTiles> cutIntoTiles(const FilterParts& parts, u32 maxTileBytes,
                                      const std::vector<u64>& cuts)
{
    std::vector<FilterTiles> segments;
    if (parts.empty()) return segments;
    const u64 end = parts.back().begin + parts.back().size;
    for (u64 from = 0; from < end;) {
        const u64 to = tileEnd(parts, from, maxTileBytes, cuts);
        std::vector<u32> description = describeTile(parts, from, to);
        const bool doubtful = isDoubtful(parts, from, to);
        const bool same = !segments.empty() && segments.back().description == description &&
                          segments.back().doubtful == doubtful &&
                          segments.back().size % segments.back().tileBytes == 0 &&
                          to - from <= segments.back().tileBytes;
        if (same) {
            segments.back().size += to - from;
        } else {
            segments.push_back({to - from, u32(to - from), std::move(description), doubtful});
        }
        from = to;
    }
    return segments;
}

} // namespace sluice
