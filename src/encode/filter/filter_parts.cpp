// SPDX-License-Identifier: MIT OR Apache-2.0
// Recognises a file's type and finds its parts: ranges with one kind of record each.
#include "encode/filter/filter_plan.h"

#include "formats/little_endian.h"
#include "formulas/filter.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sluice {
void FilterPartList::fillTo(uint64_t end)
{
    if (end <= m_end) return;
    FilterPart part;
    part.begin = m_end;
    part.size = end - m_end;
    m_parts.push_back(std::move(part));
    m_end = end;
}

void FilterPartList::add(FilterPart part)
{
    if (part.size == 0 || part.begin < m_end || part.begin > m_size ||
        part.size > m_size - part.begin || m_parts.size() >= kMaxParts)
        return;
    fillTo(part.begin);
    m_end = part.begin + part.size;
    m_parts.push_back(std::move(part));
}

void FilterPartList::addUnordered(FilterParts parts)
{
    std::stable_sort(parts.begin(), parts.end(),
                     [](const FilterPart& a, const FilterPart& b) { return a.begin < b.begin; });
    for (FilterPart& part : parts)
        add(std::move(part));
}

FilterParts FilterPartList::finish()
{
    fillTo(m_size);
    return std::move(m_parts);
}

void addColumns(FilterSection& section, uint32_t count, uint8_t bytes)
{
    for (; count != 0 && section.columnCount < kFilterMaxStride; --count)
        section.columns[section.columnCount++] = {bytes, FilterPredictor::none, 0, 0};
}

namespace {

// Finds the packets of a run-length coded image of `pixels` pixels and appends the offset where
// each ends to part.packets. A file that ends early has fewer packets.
void findPackets(const uint8_t* bytes, uint64_t size, uint64_t pixels, FilterPart& part)
{
    const uint64_t end = std::min<uint64_t>(size, UINT32_MAX);
    const uint32_t stride = part.section.stride();
    uint64_t at = 0;
    part.packets.push_back(0);
    for (uint64_t pixel = 0; pixel < pixels && at < end;) {
        const uint64_t next = at + filterPacketBytes(bytes[at], stride);
        if (next > end) break;
        pixel += filterPacketPixels(bytes[at]);
        part.packets.push_back(uint32_t(next));
        at = next;
    }
    part.size = at;
}

} // namespace

// Targa (http://www.dca.fee.unicamp.br/~martino/disciplinas/ia369/trabalhos/tgaffs.pdf): types 2
// and 3 have plain pixels, types 10 and 11 packets.
FilterParts findTgaParts(const uint8_t* bytes, uint64_t size)
{
    if (size < 18) return {};
    const uint32_t type = bytes[2], bits = bytes[16], width = loadLe16(bytes + 12),
                   height = loadLe16(bytes + 14);
    const bool packets = type == 10 || type == 11, plain = type == 2 || type == 3;
    if (!(packets || plain) || bytes[1] > 1 || bits % 8 != 0 || bits < 8 || bits > 32 || width == 0)
        return {};
    FilterPart part;
    part.begin = 18u + bytes[0] + loadLe16(bytes + 5) * ((bytes[7] + 7u) / 8);
    part.size = uint64_t(width) * height * (bits / 8);
    if (part.begin >= size) return {};
    part.size = std::min(part.size, size - part.begin);
    addColumns(part.section, bits / 8, 1);
    if (packets) {
        part.section.tgaRle = true;
        findPackets(bytes + part.begin, size - part.begin, uint64_t(width) * height, part);
        part.choices.predictors = kDifferences;
    } else {
        part.section.width = width;
        part.choices.predictors = kRows;
    }
    part.choices.firstBase = 1; // green
    part.choices.baseCount = bits >= 24 ? 1 : 0;
    FilterPartList list(size);
    list.add(std::move(part));
    return list.finish();
}

// RIFF/WAVE: the chunk "data" consists of records, each with one sample of every channel. The chunk
// "fmt " must say first that the samples are integers or floats (format 1, 3, or 0xfffe for
// either).
FilterParts findWavParts(const uint8_t* bytes, uint64_t size)
{
    if (size < 12 || std::memcmp(bytes, "RIFF", 4) != 0 || std::memcmp(bytes + 8, "WAVE", 4) != 0)
        return {};
    FilterPartList list(size);
    uint32_t channels = 0, bits = 0;
    for (uint64_t at = 12; at <= size && size - at >= 8;) {
        const uint32_t length = loadLe32(bytes + at + 4);
        const uint64_t body = at + 8, left = size - body;
        if (std::memcmp(bytes + at, "fmt ", 4) == 0 && length >= 16 && left >= 16) {
            const uint32_t tag = loadLe16(bytes + body);
            channels = loadLe16(bytes + body + 2);
            bits = loadLe16(bytes + body + 14);
            const bool known =
                (tag == 1 || tag == 3 || tag == 0xfffe) && (bits == 8 || bits == 16 || bits == 32);
            if (!known || channels == 0 || channels * bits / 8 > kFilterMaxStride) return {};
        } else if (std::memcmp(bytes + at, "data", 4) == 0 && channels != 0) {
            FilterPart part;
            part.begin = body;
            part.size = std::min<uint64_t>(length, left);
            addColumns(part.section, channels, uint8_t(bits / 8));
            part.choices.predictors = kWithoutRows;
            part.choices.floats = bits == 32;
            part.choices.baseCount = channels > 1 ? 1 : 0;
            list.add(std::move(part));
        }
        at = body + length + (length & 1);
    }
    return list.finish();
}

namespace {

// Returns a part with `count` records that begins at the offset `begin`.
FilterPart recordsAt(uint64_t begin, uint64_t count, const FilterSection& section,
                     const FilterChoices& choices)
{
    FilterPart part;
    part.begin = begin;
    part.size = count * section.stride();
    part.section = section;
    part.choices = choices;
    return part;
}

FilterChoices choicesOf(uint32_t predictors, bool floats = false)
{
    FilterChoices choices;
    choices.predictors = predictors;
    choices.floats = floats;
    return choices;
}

// Returns a section whose records consist of `words` columns of 4 bytes.
FilterSection wordRecords(uint32_t words)
{
    FilterSection section;
    addColumns(section, words, 4);
    return section;
}

} // namespace

// Quake III models have a header, frames, tags and surfaces. A surface stores all of its vertices
// for one frame, then for the next frame. So the vertices of one frame serve as a row of records:
// the row above then holds the same vertices in the frame before.
FilterParts findMd3Parts(const uint8_t* bytes, uint64_t size)
{
    if (size < 108 || std::memcmp(bytes, "IDP3", 4) != 0 || loadLe32(bytes + 4) != 15) return {};
    const auto field = [&](uint64_t at) { return loadLe32(bytes + at); };
    const uint32_t frames = field(76), tags = field(80), surfaces = field(84);
    FilterParts found;
    FilterSection frame = wordRecords(10); // three vectors and a radius
    addColumns(frame, 16, 1);              // a name
    found.push_back(recordsAt(field(92), frames, frame, choicesOf(kDifferences, true)));
    FilterSection tag;
    addColumns(tag, 64, 1);
    addColumns(tag, 12, 4);
    if (tags != 0 && tags <= 0xffff && frames <= 0xffff) {
        tag.width = tags;
        found.push_back(recordsAt(field(96), uint64_t(tags) * frames, tag,
                                  choicesOf(kDifferences | bitOf(FilterPredictor::up), true)));
    }
    uint64_t at = field(100);
    for (uint32_t s = 0; s < surfaces && s < 1024 && at <= size && size - at >= 108; ++s) {
        const uint32_t vertexFrames = field(at + 72), vertices = field(at + 80),
                       triangles = field(at + 84);
        if (std::memcmp(bytes + at, "IDP3", 4) != 0 || vertices == 0 || vertices > 0xffff ||
            vertexFrames > 0xffff)
            break;
        found.push_back(
            recordsAt(at + field(at + 88), triangles, wordRecords(3), choicesOf(kDifferences)));
        found.push_back(recordsAt(at + field(at + 96), vertices, wordRecords(2),
                                  choicesOf(kDifferences, true)));
        FilterSection vertex;
        addColumns(vertex, 3, 2); // position
        addColumns(vertex, 2, 1); // normal, as two angles
        vertex.width = vertices;
        found.push_back(recordsAt(at + field(at + 100), uint64_t(vertices) * vertexFrames, vertex,
                                  choicesOf(kRows)));
        if (field(at + 104) < 108) break;
        at += field(at + 104);
    }
    FilterPartList list(size);
    list.addUnordered(std::move(found));
    return list.finish();
}

namespace {

// Returns how many cells of a Quake III map's light grid lie in a row. A cell covers 64 x 64 x 128
// units of the world, and the grid has the extents of the map's first model.
uint32_t lightGridWidth(const uint8_t* model)
{
    float low, high;
    std::memcpy(&low, model, 4);
    std::memcpy(&high, model + 12, 4);
    if (!(low > -1e6f && low < high && high < 1e6f)) return 0;
    const int first = int(std::ceil(low / 64)), last = int(std::floor(high / 64));
    return last >= first ? uint32_t(last - first + 1) : 0;
}

} // namespace

// Quake III maps, version 46: a header with offset and size of 17 lumps, each an array of one type.
FilterParts findBspParts(const uint8_t* bytes, uint64_t size)
{
    constexpr uint32_t lumps = 17, modelLump = 7, vertexLump = 10, lightmapLump = 14, gridLump = 15,
                       visibilityLump = 16;
    constexpr uint32_t strides[lumps] = {0, 72, 16, 36, 48,  4, 4, 40, 12,
                                         8, 44, 4,  72, 104, 3, 8, 1};
    if (size < 8 + 8 * lumps || std::memcmp(bytes, "IBSP", 4) != 0 || loadLe32(bytes + 4) != 46)
        return {};
    FilterParts found;
    for (uint32_t lump = 1; lump < lumps; ++lump) {
        const uint32_t stride = strides[lump];
        FilterPart part;
        part.begin = loadLe32(bytes + 8 + 8 * lump);
        part.size = loadLe32(bytes + 12 + 8 * lump);
        if (part.begin > size || part.size > size - part.begin) continue;
        part.choices = choicesOf(kDifferences, true);
        if (lump == lightmapLump) { // RGB images of 128 x 128 texels
            addColumns(part.section, 3, 1);
            part.section.width = 128;
            part.choices = choicesOf(kRows);
            part.choices.firstBase = part.choices.baseCount = 1;
        } else if (lump == gridLump) { // ambient and directed colour, two angles
            addColumns(part.section, 8, 1);
            const uint32_t models = loadLe32(bytes + 8 + 8 * modelLump);
            part.section.width =
                models <= size - 40 ? std::min(lightGridWidth(bytes + models), kFilterMaxTile) : 0;
            part.choices = choicesOf(part.section.width != 0 ? kRows : kDifferences);
            part.choices.firstBase = 1;
            part.choices.baseCount = 4;
        } else if (lump == visibilityLump) { // for each cluster a row of bits
            if (part.size < 8 || loadLe32(bytes + part.begin + 4) > kFilterMaxTile) continue;
            part.section.width = loadLe32(bytes + part.begin + 4);
            part.begin += 8;
            part.size -= 8;
            addColumns(part.section, 1, 1);
            part.choices = choicesOf(part.section.width != 0
                                         ? bitOf(FilterPredictor::none) | bitOf(FilterPredictor::up)
                                         : 1);
        } else {
            addColumns(part.section, (lump == vertexLump ? 40 : stride) / 4, 4);
            if (lump == vertexLump) addColumns(part.section, 4, 1);
        }
        part.size = part.size / part.section.stride() * part.section.stride();
        found.push_back(std::move(part));
    }
    FilterPartList list(size);
    list.addUnordered(std::move(found));
    return list.finish();
}

FilterParts findParts(const uint8_t* bytes, uint64_t size)
{
    for (const auto find :
         {findBspParts, findMd3Parts, findWavParts, findDdsParts, findGlbParts, findTgaParts}) {
        FilterParts parts = find(bytes, size);
        if (!parts.empty()) return parts;
    }
    return guessParts(bytes, size);
}

} // namespace sluice
