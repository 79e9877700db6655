// SPDX-License-Identifier: MIT OR Apache-2.0
// Applies filters: the inverse of src/cpu/filter.cpp.
#include "encode/filter/filter_apply.h"

#include "formats/tga_packets.h"
#include "encode/filter/filter_residuals.h"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

void applyRecords(const FilterSection& section, const u8* bytes, u32 size, u8* filtered)
{
    const u32 stride = section.stride(), count = stride == 0 ? 0 : size / stride;
    FilterPlane planes[kFilterMaxStride];
    filterPlanes(section, count, planes);
    ColumnValues values;
    for (u32 c = 0; count != 0 && c < section.columnCount; ++c) {
        values.read(section, c, bytes, count);
        values.writeResiduals(section, section.columns[c], planes + section.offsetOf(c), filtered);
    }
    const size_t end = size_t(count) * stride;
    if (size != end) std::memcpy(filtered + end, bytes + end, size - end);
}

} // namespace

bool splitPackets(const u8* bytes, u32 size, u32 pixelBytes, std::vector<u8>& headers,
                  std::vector<u8>& pixels)
{
    headers.clear();
    pixels.clear();
    for (u32 at = 0; at < size;) {
        const u32 stored = tgaStored(bytes[at]) * pixelBytes;
        headers.push_back(bytes[at++]);
        if (stored > size - at) return false;
        pixels.insert(pixels.end(), bytes + at, bytes + at + stored);
        at += stored;
    }
    return true;
}

bool applySection(const FilterSection& section, const u8* bytes, u32 size, u8* filtered)
{
    if (!section.tgaRle) {
        applyRecords(section, bytes, size, filtered);
        return true;
    }
    std::vector<u8> headers, pixels;
    if (!splitPackets(bytes, size, section.stride(), headers, pixels)) return false;
    std::copy(headers.begin(), headers.end(), filtered);
    applyRecords(section, pixels.data(), u32(pixels.size()), filtered + headers.size());
    return true;
}

SluiceStatus applyFilter(const void* description, size_t descriptionSize, const u8* tile, u32 size,
                         u8* filtered)
{
    FilterReader reader(description, descriptionSize);
    u32 end = 0;
    if (!forEachSection(reader, size, end, [&](const FilterSection& section, u32 begin, u32 bytes) {
            return applySection(section, tile + begin, bytes, filtered + begin);
        }))
        return SLUICE_ERROR_ARGUMENT;
    if (reader.status() == SLUICE_OK && size != end)
        std::memcpy(filtered + end, tile + end, size - end);
    return reader.status();
}

void appendSection(const FilterSection& section, std::vector<u32>& description)
{
    if (description.empty()) description.push_back(kFilterVersion);
    description[0] += 1u << 16;
    const size_t head = description.size();
    description.push_back(section.size | u32(section.width != 0) << 29 | u32(section.tgaRle) << 30);
    if (section.width != 0) description.insert(description.end(), {section.width, section.first});
    u32 last = 0; // the run's word without its repeat count
    for (u32 c = 0; c < section.columnCount; ++c) {
        const FilterColumn& column = section.columns[c];
        const u32 run = u32(column.bytes >> 1) << 8 | u32(column.flags) << 10 |
                        u32(column.predictor) << 16 | u32(column.base) << 24;
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
