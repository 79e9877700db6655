// SPDX-License-Identifier: MIT OR Apache-2.0
// Filters applied: the inverse of src/cpu/filter.cpp.
#include "filter_apply.h"

#include "../formats/tga_packets.h"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

uint32_t columnOffset(const FilterSection& section, uint32_t column)
{
    uint32_t offset = 0;
    for (uint32_t c = 0; c < column; ++c)
        offset += section.columns[c].bytes;
    return offset;
}

// The values of a column as they are, mapped.
void mappedValues(const FilterSection& section, uint32_t column, const uint8_t* records,
                  uint32_t count, std::vector<uint32_t>& values)
{
    const FilterColumn& description = section.columns[column];
    const uint32_t stride = section.stride(), bytes = description.bytes;
    const uint8_t* from = records + columnOffset(section, column);
    values.resize(count);
    for (uint32_t i = 0; i < count; ++i, from += stride) {
        uint32_t value = from[0];
        if (bytes >= 2) value |= uint32_t(from[1]) << 8;
        if (bytes == 4) value |= uint32_t(from[2]) << 16 | uint32_t(from[3]) << 24;
        values[i] = description.has(filterRotated) ? rotateLeft(value, 8 * bytes)
                    : description.has(filterBlock) ? mapBlock(value, 8 * bytes)
                                                   : value;
    }
}

} // namespace

void columnValues(const FilterSection& section, uint32_t column, const uint8_t* records,
                  uint32_t count, std::vector<uint32_t>& values)
{
    mappedValues(section, column, records, count, values);
    if (section.columns[column].base == 0) return;
    std::vector<uint32_t> base;
    mappedValues(section, section.columns[column].base - 1u, records, count, base);
    const uint32_t mask = 0xffffffffu >> (32 - 8 * section.columns[column].bytes);
    for (uint32_t i = 0; i < count; ++i)
        values[i] = (values[i] - base[i]) & mask;
}

void writeResiduals(const FilterSection& section, const FilterColumn& column,
                    const std::vector<uint32_t>& values, const FilterPlane* planes, uint8_t* to)
{
    const uint32_t bits = column.bits(), mask = column.mask();
    const bool zigzagged = column.has(filterZigzag);
    predictAll(
        column, uint32_t(values.size()), section.width, section.first,
        [&](uint32_t i) { return values[i]; },
        [&](uint32_t i, uint32_t guess) {
            uint32_t residual = (values[i] - guess) & mask;
            if (zigzagged) residual = zigzag(residual, bits);
            for (uint32_t b = 0; b < column.bytes; ++b)
                to[planes[b].start + size_t(i) * planes[b].step] = uint8_t(residual >> 8 * b);
        });
}

namespace {

void applyRecords(const FilterSection& section, const uint8_t* bytes, uint32_t size,
                  uint8_t* filtered)
{
    const uint32_t stride = section.stride(), count = stride == 0 ? 0 : size / stride;
    FilterPlane planes[kFilterMaxStride];
    filterPlanes(section, count, planes);
    std::vector<uint32_t> values;
    for (uint32_t c = 0; count != 0 && c < section.columnCount; ++c) {
        columnValues(section, c, bytes, count, values);
        writeResiduals(section, section.columns[c], values, planes + columnOffset(section, c),
                       filtered);
    }
    const size_t end = size_t(count) * stride;
    if (size != end) std::memcpy(filtered + end, bytes + end, size - end);
}

} // namespace

bool splitPackets(const uint8_t* bytes, uint32_t size, uint32_t pixelBytes,
                  std::vector<uint8_t>& headers, std::vector<uint8_t>& pixels)
{
    headers.clear();
    pixels.clear();
    for (uint32_t at = 0; at < size;) {
        const uint32_t stored = tgaStored(bytes[at]) * pixelBytes;
        headers.push_back(bytes[at++]);
        if (stored > size - at) return false;
        pixels.insert(pixels.end(), bytes + at, bytes + at + stored);
        at += stored;
    }
    return true;
}

bool applySection(const FilterSection& section, const uint8_t* bytes, uint32_t size,
                  uint8_t* filtered)
{
    if (!section.tgaRle) {
        applyRecords(section, bytes, size, filtered);
        return true;
    }
    std::vector<uint8_t> headers, pixels;
    if (!splitPackets(bytes, size, section.stride(), headers, pixels)) return false;
    std::copy(headers.begin(), headers.end(), filtered);
    applyRecords(section, pixels.data(), uint32_t(pixels.size()), filtered + headers.size());
    return true;
}

SluiceStatus applyFilter(const void* description, size_t descriptionSize, const uint8_t* tile,
                         uint32_t size, uint8_t* filtered)
{
    FilterReader reader(description, descriptionSize);
    FilterSection section;
    while (reader.next(section)) {
        const uint32_t bytes = section.size == kFilterRest ? size : section.size;
        if (bytes > size || !applySection(section, tile, bytes, filtered))
            return SLUICE_ERROR_ARGUMENT;
        tile += bytes;
        filtered += bytes;
        size -= bytes;
    }
    if (reader.status() == SLUICE_OK && size != 0) std::memcpy(filtered, tile, size);
    return reader.status();
}

void appendSection(const FilterSection& section, std::vector<uint32_t>& description)
{
    if (description.empty()) description.push_back(kFilterVersion);
    description[0] += 1u << 16;
    const size_t head = description.size();
    description.push_back(section.size | uint32_t(section.width != 0) << 29 |
                          uint32_t(section.tgaRle) << 30);
    if (section.width != 0) description.insert(description.end(), {section.width, section.first});
    uint32_t last = 0; // the run's word without its repeat count
    for (uint32_t c = 0; c < section.columnCount; ++c) {
        const FilterColumn& column = section.columns[c];
        const uint32_t run = uint32_t(column.bytes >> 1) << 8 | uint32_t(column.flags) << 10 |
                             uint32_t(column.predictor) << 16 | uint32_t(column.base) << 24;
        if (c != 0 && run == last) {
            ++description.back();
        } else {
            description.push_back(run | 1);
            description[head] += 1u << 21;
        }
        last = run;
    }
}

} // namespace sluice
