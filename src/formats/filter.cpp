// SPDX-License-Identifier: MIT OR Apache-2.0
#include "filter.h"

#include "xxh32.h"

namespace sluice {

FilterReader::FilterReader(const void* description, size_t size)
    : at_(static_cast<const uint8_t*>(description)), words_(size / 4)
{
    if (size < 4 || size % 4 != 0 || size > kFilterMaxBytes) {
        status_ = SLUICE_ERROR_FORMAT;
        return;
    }
    const uint32_t head = word();
    sections_ = head >> 16;
    if ((head & 0xffff) != kFilterVersion) {
        status_ = SLUICE_ERROR_VERSION;
    } else if (sections_ == 0 || sections_ > kFilterMaxSections) {
        status_ = SLUICE_ERROR_FORMAT;
    }
}

uint32_t FilterReader::word()
{
    if (words_ == 0) {
        status_ = SLUICE_ERROR_FORMAT;
        return 0;
    }
    const uint32_t value = loadLe32(at_);
    at_ += 4;
    --words_;
    return value;
}

bool FilterReader::fail(SluiceStatus status)
{
    if (status_ == SLUICE_OK) status_ = status;
    return false;
}

bool FilterReader::next(FilterSection& section)
{
    if (status_ != SLUICE_OK) return false;
    if (sections_ == 0) return words_ == 0 ? false : fail(SLUICE_ERROR_FORMAT);
    // size : 21, runs : 8, rows : 1, Targa packets : 1, reserved : 1
    const uint32_t head = word();
    section = {};
    section.size = head & 0x1fffff;
    section.tgaRle = (head >> 30 & 1) != 0;
    if (head >> 31 != 0) return fail(SLUICE_ERROR_VERSION);
    if (section.size > kFilterMaxTile && (section.size != kFilterRest || sections_ != 1))
        return fail(SLUICE_ERROR_FORMAT);
    if ((head >> 29 & 1) != 0) {
        section.width = word();
        section.first = word();
        if (section.width == 0 || section.width > kFilterMaxTile || section.first >= section.width)
            return fail(SLUICE_ERROR_FORMAT);
    }
    --sections_;
    return readColumns(section, head >> 21 & 0xff);
}

bool FilterReader::readColumns(FilterSection& section, uint32_t runs)
{
    for (uint32_t r = 0; r < runs; ++r) {
        // repeat : 8, log2 bytes : 2, flags : 5, reserved : 1, predictor : 8, base : 8
        const uint32_t run = word(), repeat = run & 0xff, log2Bytes = run >> 8 & 3;
        const FilterColumn column = {uint8_t(1u << log2Bytes), FilterPredictor(run >> 16 & 0xff),
                                     uint8_t(run >> 10 & 31), uint8_t(run >> 24)};
        if (status_ != SLUICE_OK) return false;
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
        for (uint32_t k = 0; k < repeat; ++k)
            section.columns[section.columnCount++] = column;
    }
    for (uint32_t c = 0; c < section.columnCount; ++c) { // a base has the same width and no base
        const FilterColumn& column = section.columns[c];
        if (column.base == 0) continue;
        if (column.base > section.columnCount) return fail(SLUICE_ERROR_FORMAT);
        const FilterColumn& base = section.columns[column.base - 1];
        if (base.base != 0 || base.bytes != column.bytes) return fail(SLUICE_ERROR_FORMAT);
    }
    const bool badPackets = section.tgaRle && (section.columnCount == 0 || section.width != 0);
    if (section.stride() > kFilterMaxStride || badPackets) return fail(SLUICE_ERROR_FORMAT);
    return status_ == SLUICE_OK;
}

SluiceStatus checkFilter(const void* description, size_t size)
{
    FilterReader reader(description, size);
    FilterSection section;
    while (reader.next(section)) {
    }
    return reader.status();
}

void filterPlanes(const FilterSection& section, uint32_t recordCount, FilterPlane* planes)
{
    uint32_t byte = 0; // of a record
    for (uint32_t c = 0; c < section.columnCount;) {
        const uint32_t group = byte;
        const bool split = section.columns[c].has(filterSplit);
        uint32_t groupBytes = 0;
        do
            groupBytes += section.columns[c++].bytes;
        while (c < section.columnCount && section.columns[c].has(filterJoined));
        for (; byte < group + groupBytes; ++byte)
            planes[byte] = split ? FilterPlane{byte * recordCount, 1}
                                 : FilterPlane{group * recordCount + byte - group, groupBytes};
    }
}

} // namespace sluice
