// SPDX-License-Identifier: MIT OR Apache-2.0
// Cuts a file that consists of parts into tiles, and makes each tile's filter description. Tiles
// begin at multiples of 4 and, if possible, where a row or record begins. If a tile begins inside a
// record, the tile's bytes up to the next record are not filtered.
#include "encode/filter/filter_plan.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr uint64_t kOwnTile = 32768; // in bytes; a part this large shares no tile with others

uint64_t alignDown(uint64_t value) { return value & ~uint64_t(3); }

// Returns the offset at which the packet, row or record that contains the byte at `at` begins.
uint64_t unitBegin(const FilterPart& part, uint64_t at)
{
    const uint64_t offset = at - part.begin;
    if (part.section.tgaRle)
        return part.begin +
               *(std::upper_bound(part.packets.begin(), part.packets.end(), uint32_t(offset)) - 1);
    const uint64_t stride = std::max(1u, part.section.stride()),
                   row = stride * std::max(1u, part.section.width);
    return part.begin + offset / row * row;
}

// Returns a good offset to end a tile inside `part`, in (from, to]: if possible the first multiple
// of 4 at or after the beginning of a row, record or packet.
uint64_t cutInside(const FilterPart& part, uint64_t from, uint64_t to)
{
    if (part.doubtful) return alignDown(to); // the tile may be stored unfiltered, so ignore records
    uint64_t best = alignDown(to), bestWaste = UINT64_MAX;
    uint64_t unit = unitBegin(part, to);
    const uint32_t maxTries = part.section.tgaRle ? 256 : 8;
    for (uint32_t tries = 0; tries < maxTries && unit > from && unit >= part.begin; ++tries) {
        const uint64_t cut = alignUp(unit, 4);
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
uint64_t tileEnd(const FilterParts& parts, uint64_t from, uint32_t maxTileBytes,
                 const std::vector<uint64_t>& cuts)
{
    const uint64_t fileEnd = parts.back().begin + parts.back().size;
    const auto cut = std::upper_bound(cuts.begin(), cuts.end(), from);
    const uint64_t stop = cut == cuts.end() ? fileEnd : *cut,
                   limit = std::min(stop, from + maxTileBytes);
    // The bytes between two required cuts become one tile if they fit. Without required cuts, the
    // whole file becomes one tile if it fits.
    if ((cuts.empty() ? fileEnd : stop - from) <= maxTileBytes) return stop;
    uint64_t end = limit;
    bool first = true;
    for (const FilterPart& part : parts) {
        const uint64_t partEnd = part.begin + part.size;
        if (partEnd <= from) continue;
        if (part.begin >= limit) break;
        const bool own = part.size >= kOwnTile;
        if (own && !first && alignDown(part.begin) > from && part.begin % 4 == 0) return part.begin;
        if (own && partEnd <= limit && partEnd % 4 == 0) return partEnd;
        if (partEnd > limit) {
            // A part that fits into a tile is not divided: the tile ends before it.
            const bool later =
                part.size <= maxTileBytes && part.begin % 4 == 0 && part.begin > from;
            end = later ? part.begin : cutInside(part, from, limit);
        }
        first = false;
    }
    return end == fileEnd ? end : alignDown(end);
}

// Appends the sections for the bytes [from, to) of a part: the bytes up to the first whole record
// or packet unfiltered, the records, and the bytes of an incomplete last packet unfiltered.
void addPiece(const FilterPart& part, uint64_t from, uint64_t to,
              std::vector<FilterSection>& sections)
{
    FilterSection section = part.section;
    if (section.columnCount != 0) {
        const uint64_t offset = from - part.begin;
        uint64_t record = 0, start; // the first whole record: index, offset in the file
        if (section.tgaRle) {
            start = part.begin +
                    *std::lower_bound(part.packets.begin(), part.packets.end(), uint32_t(offset));
        } else {
            record = divideUp<uint64_t>(offset, section.stride());
            start = part.begin + record * section.stride();
        }
        start = std::min(start, to);
        if (start != from) {
            sections.emplace_back();
            sections.back().size = uint32_t(start - from);
        }
        if (section.width != 0) section.first = uint32_t((section.first + record) % section.width);
        from = start;
    }
    const uint64_t end = section.tgaRle ? std::max(from, unitBegin(part, to)) : to;
    section.size = uint32_t(end - from);
    if (section.size != 0) sections.push_back(section);
    if (end != to) {
        sections.emplace_back();
        sections.back().size = uint32_t(to - end);
    }
}

// Makes the filter description of a tile. It is empty if nothing in the tile is filtered, or if the
// description would exceed a limit of the format (sections, columns or decoding steps).
std::vector<uint32_t> describeTile(const FilterParts& parts, uint64_t from, uint64_t to)
{
    std::vector<FilterSection> sections;
    for (const FilterPart& part : parts) {
        const uint64_t begin = std::max(from, part.begin),
                       end = std::min(to, part.begin + part.size);
        if (begin < end) addPiece(part, begin, end, sections);
    }
    uint32_t columns = 0;
    for (const FilterSection& section : sections)
        columns += section.columnCount + SLUICE_FILTER_SECTION_COLUMNS;
    if (columns > SLUICE_FILTER_MAX_COLUMNS) return {};
    // Sections without columns at the end are left out, since decoders copy what no section covers.
    if (!sections.empty() && sections.back().columnCount != 0) sections.back().size = kFilterRest;
    while (!sections.empty() && sections.back().columnCount == 0)
        sections.pop_back();
    std::vector<uint32_t> description;
    for (const FilterSection& section : sections)
        appendSection(section, description);
    if (description.empty()) return {};
    // Parse the description again, which checks it against the limits of the format.
    FilterReader reader(description.data(), 4 * description.size());
    uint32_t end = 0;
    const auto take = [](const FilterSection&, uint32_t, uint32_t) { return true; };
    const bool fits = forEachSection(reader, uint32_t(to - from), end, take);
    return fits && reader.status() == SLUICE_OK ? description : std::vector<uint32_t>();
}

// Returns whether every filter that the tile uses is doubtful.
bool isDoubtful(const FilterParts& parts, uint64_t from, uint64_t to)
{
    return std::all_of(parts.begin(), parts.end(), [&](const FilterPart& part) {
        return part.section.columnCount == 0 || part.doubtful || part.begin >= to ||
               part.begin + part.size <= from;
    });
}

} // namespace

std::vector<FilterTiles> cutIntoTiles(const FilterParts& parts, uint32_t maxTileBytes,
                                      const std::vector<uint64_t>& cuts)
{
    std::vector<FilterTiles> segments;
    if (parts.empty()) return segments;
    const uint64_t end = parts.back().begin + parts.back().size;
    for (uint64_t from = 0; from < end;) {
        const uint64_t to = tileEnd(parts, from, maxTileBytes, cuts);
        std::vector<uint32_t> description = describeTile(parts, from, to);
        const bool doubtful = isDoubtful(parts, from, to);
        const bool same = !segments.empty() && segments.back().description == description &&
                          segments.back().doubtful == doubtful &&
                          segments.back().size % segments.back().tileBytes == 0 &&
                          to - from <= segments.back().tileBytes;
        if (same) {
            segments.back().size += to - from;
        } else {
            segments.push_back({to - from, uint32_t(to - from), std::move(description), doubtful});
        }
        from = to;
    }
    return segments;
}

} // namespace sluice
