// SPDX-License-Identifier: MIT OR Apache-2.0
#include "formats/filter.h"

#include "formats/little_endian.h"

namespace sluice {
namespace {

struct Columns {
    const uint8_t* description;
    FilterSection& section;
    uint32_t words[kFilterMaxStride]; // the word of the description that describes each column
};

uint32_t descriptionWord(const Columns& columns, uint32_t at)
{
    return loadLe32(columns.description + 4 * at);
}

void addColumn(Columns& columns, uint32_t column, uint32_t word, uint32_t)
{
    columns.words[column] = word;
    columns.section.columns[column] = {
        uint8_t(filterWordBytes(word)), FilterPredictor(filterWordPredictor(word)),
        uint8_t(word >> SLUICE_FILTER_FLAGS_AT & 31), uint8_t(filterWordBase(word))};
}

} // namespace
} // namespace sluice

#include "kernels/filter_description.h"

namespace sluice {

FilterReader::FilterReader(const void* description, size_t size)
    : m_description(static_cast<const uint8_t*>(description))
{
    const bool isWhole = size % 4 == 0 && size <= kFilterMaxBytes;
    const uint32_t words = isWhole ? uint32_t(size / 4) : 0;
    m_reading = beginDescription(words, words == 0 ? 0 : loadLe32(m_description));
}

SluiceStatus FilterReader::status() const
{
    return m_reading.fault == SLUICE_FILTER_GOOD    ? SLUICE_OK
           : m_reading.fault == SLUICE_FILTER_NEWER ? SLUICE_ERROR_VERSION
                                                    : SLUICE_ERROR_FORMAT;
}

bool FilterReader::next(FilterSection& section)
{
    endSections(m_reading);
    if (status() != SLUICE_OK || m_reading.sections == 0) return false;
    section = {};
    Columns columns = {m_description, section, {}};
    m_words = readSectionWords(kFilterMaxTile, columns, m_reading);
    if (status() != SLUICE_OK) return false;
    for (uint32_t c = 0; c < m_words.columns; ++c) {
        const uint32_t word = columns.words[c],
                       base = columns.words[baseColumn(word, m_words.columns)];
        refuseIf(isBaseBad(word, base, m_words.columns), SLUICE_FILTER_DAMAGED, m_reading);
    }
    section.size = m_words.size;
    section.width = m_words.width;
    section.first = m_words.first;
    section.tgaRle = m_words.hasPackets != 0;
    section.columnCount = m_words.columns;
    return status() == SLUICE_OK;
}

bool FilterReader::addSteps(uint32_t bytes)
{
    countSteps(m_words, bytes, m_reading);
    return status() == SLUICE_OK;
}

SluiceStatus checkFilter(const void* description, size_t size)
{
    FilterReader reader(description, size);
    for (FilterSection section; reader.next(section);)
        if (section.size != kFilterRest && !reader.addSteps(section.size)) break;
    return reader.status();
}

void filterPlanes(const FilterSection& section, uint32_t recordCount, FilterPlane* planes)
{
    uint32_t byte = 0; // index in a record
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
