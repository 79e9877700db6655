// SPDX-License-Identifier: MIT OR Apache-2.0
#include "formats/filter.h"

#include "formats/little_endian.h"

namespace sluice {

FilterReader::FilterReader(const void* description, size_t size)
    : m_at(static_cast<const u8*>(description)), m_wordsLeft(size / 4)
{
    if (size < 4 || size % 4 != 0 || size > kFilterMaxBytes) {
        m_status = SLUICE_ERROR_FORMAT;
        return;
    }
    const u32 head = word(); // version : 16, sections : 16
    m_sectionsLeft = head >> 16;
    if ((head & 0xffff) != kFilterVersion) {
        m_status = SLUICE_ERROR_VERSION;
    } else if (m_sectionsLeft == 0 || m_sectionsLeft > kFilterMaxSections) {
        m_status = SLUICE_ERROR_FORMAT;
    }
}

u32 FilterReader::word()
{
    if (m_wordsLeft == 0) {
        m_status = SLUICE_ERROR_FORMAT;
        return 0;
    }
    const u32 value = loadLe32(m_at);
    m_at += 4;
    --m_wordsLeft;
    return value;
}

bool FilterReader::fail(SluiceStatus status)
{
    if (m_status == SLUICE_OK) m_status = status;
    return false;
}

bool FilterReader::next(FilterSection& section)
{
    if (m_status != SLUICE_OK) return false;
    if (m_sectionsLeft == 0) return m_wordsLeft == 0 ? false : fail(SLUICE_ERROR_FORMAT);
    // size : 21, runs : 8, rows : 1, Targa packets : 1, reserved : 1
    const u32 head = word();
    section = {};
    section.size = head & 0x1fffff;
    section.tgaRle = (head >> 30 & 1) != 0;
    if (head >> 31 != 0) return fail(SLUICE_ERROR_VERSION);
    if (section.size > kFilterMaxTile && (section.size != kFilterRest || m_sectionsLeft != 1))
        return fail(SLUICE_ERROR_FORMAT);
    if ((head >> 29 & 1) != 0) {
        section.width = word();
        section.first = word();
        if (section.width == 0 || section.width > kFilterMaxTile || section.first >= section.width)
            return fail(SLUICE_ERROR_FORMAT);
    }
    --m_sectionsLeft;
    return readColumns(section, head >> 21 & 0xff);
}

bool FilterReader::readColumns(FilterSection& section, u32 runs)
{
    for (u32 r = 0; r < runs; ++r) {
        // repeat : 8, log2 bytes : 2, flags : 5, reserved : 1, predictor : 8, base : 8
        const u32 run = word(), repeat = run & 0xff, log2Bytes = run >> 8 & 3;
        const FilterColumn column = {u8(1u << log2Bytes), FilterPredictor(run >> 16 & 0xff),
                                     u8(run >> 10 & 31), u8(run >> 24)};
        if (m_status != SLUICE_OK) return false;
        if (log2Bytes == 3 || (run >> 15 & 1) != 0 || column.predictor >= FilterPredictor::count)
            return fail(SLUICE_ERROR_VERSION);
        const bool sameGroup =
            section.columnCount != 0 &&
            section.columns[section.columnCount - 1].has(filterSplit) == column.has(filterSplit);
        const bool badBlock =
            column.has(filterBlock) && (column.bytes == 1 || column.has(filterRotated));
        if (badBlock || repeat == 0 || repeat > kFilterMaxStride - section.columnCount ||
            (column.has(filterJoined) && !sameGroup) ||
            (needsRows(column.predictor) && section.width == 0))
            return fail(SLUICE_ERROR_FORMAT);
        for (u32 k = 0; k < repeat; ++k)
            section.columns[section.columnCount++] = column;
    }
    for (u32 c = 0; c < section.columnCount; ++c) { // a base has the same width and no base
        const FilterColumn& column = section.columns[c];
        if (column.base == 0) continue;
        if (column.base > section.columnCount) return fail(SLUICE_ERROR_FORMAT);
        const FilterColumn& base = section.columns[column.base - 1];
        if (base.base != 0 || base.bytes != column.bytes) return fail(SLUICE_ERROR_FORMAT);
    }
    m_columns += section.columnCount + SLUICE_FILTER_SECTION_COLUMNS;
    if (m_columns > SLUICE_FILTER_MAX_COLUMNS) return fail(SLUICE_ERROR_FORMAT);
    const bool badPackets = section.tgaRle && (section.columnCount == 0 || section.width != 0);
    if (section.stride() > kFilterMaxStride || badPackets) return fail(SLUICE_ERROR_FORMAT);
    return m_status == SLUICE_OK;
}

bool FilterSteps::add(const FilterSection& section, u32 bytes)
{
    if (section.width == 0) return true; // no column needs rows
    u32 ups = 0, waves = 0;              // bytes
    for (u32 c = 0; c < section.columnCount; ++c) {
        const FilterColumn& column = section.columns[c];
        if (column.predictor == FilterPredictor::up) ups += column.bytes;
        if (SLUICE_PREDICTOR_IS_WAVE(u32(column.predictor))) waves += column.bytes;
    }
    if (ups + waves == 0) return true;
    m_steps += filterSteps(bytes / section.stride(), section.width, section.first, ups, waves);
    return m_steps <= SLUICE_FILTER_MAX_STEPS;
}

SluiceStatus checkFilter(const void* description, size_t size)
{
    FilterReader reader(description, size);
    FilterSteps steps;
    for (FilterSection section; reader.next(section);)
        if (section.size != kFilterRest && !steps.add(section, section.size))
            return SLUICE_ERROR_FORMAT;
    return reader.status();
}

void filterPlanes(const FilterSection& section, u32 recordCount, FilterPlane* planes)
{
    u32 byte = 0; // of a record
    for (u32 c = 0; c < section.columnCount;) {
        const u32 group = byte;
        const bool split = section.columns[c].has(filterSplit);
        u32 groupBytes = 0;
        do
            groupBytes += section.columns[c++].bytes;
        while (c < section.columnCount && section.columns[c].has(filterJoined));
        for (; byte < group + groupBytes; ++byte)
            planes[byte] = split ? FilterPlane{byte * recordCount, 1}
                                 : FilterPlane{group * recordCount + byte - group, groupBytes};
    }
}

} // namespace sluice
