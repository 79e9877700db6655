// SPDX-License-Identifier: MIT OR Apache-2.0
// Applies filters, which src/cpu/filter.cpp undoes.
#include "encode/filter/filter_apply.h"

#include "formulas/filter.h"
#include "encode/filter/filter_residuals.h"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

void applyRecords(const FilterSection& section, const uint8_t* bytes, uint32_t size,
                  uint8_t* filtered)
{
    const uint32_t stride = section.stride(), count = stride == 0 ? 0 : size / stride;
    FilterPlane planes[kFilterMaxStride];
    filterPlanes(section, count, planes);
    ColumnValues values;
    for (uint32_t c = 0; count != 0 && c < section.columnCount; ++c) {
        values.read(section, c, bytes, count);
        values.writeResiduals(section, section.columns[c], planes + section.offsetOf(c), filtered);
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
        const uint32_t stored = filterPacketStored(bytes[at]) * pixelBytes;
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
    uint32_t end = 0;
    if (!forEachSection(reader, size, end,
                        [&](const FilterSection& section, uint32_t begin, uint32_t bytes) {
                            return applySection(section, tile + begin, bytes, filtered + begin);
                        }))
        return SLUICE_ERROR_ARGUMENT;
    if (reader.status() == SLUICE_OK && size != end)
        std::memcpy(filtered + end, tile + end, size - end);
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
    uint32_t last = 0; // the word that describes the previous column, without its count
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
