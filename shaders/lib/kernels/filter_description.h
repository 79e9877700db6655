// SPDX-License-Identifier: MIT OR Apache-2.0
// The description of a filter (docs/format.md, 8.1 and 8.6), read section by section, by one
// invocation or by the host. This is security code, and it contains every rule. The rule for bases
// compares two columns of a section that has been read, so the includer must call isBaseBad for
// each column.
//
// The includer provides the type Columns, which keeps the properties of a section's columns that it
// needs, and two functions. descriptionWord(columns, at) returns a word of the description, and
// addColumn(columns, column, word, group) adds a column. A column's word is the word of its run,
// but the lowest 8 bits hold the column's place in the record instead of the repeat count. `group`
// is where its group begins in the record.
#ifndef SLUICE_KERNELS_FILTER_DESCRIPTION_H
#define SLUICE_KERNELS_FILTER_DESCRIPTION_H

#include "../compat.h"
#include "../formulas/filter.h"

SLUICE_KERNEL_BEGIN

// The flags in the word of a run or of a column.
SLUICE_CONSTANT u32 kZigzag = SLUICE_FILTER_FLAG_ZIGZAG << SLUICE_FILTER_FLAGS_AT,
                    kSplit = SLUICE_FILTER_FLAG_SPLIT << SLUICE_FILTER_FLAGS_AT,
                    kJoined = SLUICE_FILTER_FLAG_JOINED << SLUICE_FILTER_FLAGS_AT,
                    kRotated = SLUICE_FILTER_FLAG_ROTATED << SLUICE_FILTER_FLAGS_AT,
                    kBlock = SLUICE_FILTER_FLAG_BLOCK << SLUICE_FILTER_FLAGS_AT;

// Only the first fault is kept.
SLUICE_DEVICE void refuseIf(bool broken, u32 fault, SLUICE_INOUT(FilterReading, reading)) {
    if (broken && reading.fault == SLUICE_FILTER_GOOD) reading.fault = fault;
}

// first: word 0, if there is one.
SLUICE_DEVICE FilterReading beginDescription(u32 words, u32 first) {
    FilterReading reading;
    reading.fault = SLUICE_FILTER_GOOD;
    reading.words = words;
    reading.next = 1u;
    reading.sections = first >> 16;
    reading.columns = 0u;
    reading.steps = 0u;
    refuseIf(words - 1u >= SLUICE_FILTER_DESCRIPTION_BYTES / 4u, SLUICE_FILTER_DAMAGED, reading);
    refuseIf((first & 0xffffu) != SLUICE_FILTER_VERSION, SLUICE_FILTER_NEWER, reading);
    refuseIf(reading.sections - 1u >= SLUICE_FILTER_MAX_SECTIONS, SLUICE_FILTER_DAMAGED, reading);
    return reading;
}

SLUICE_GENERIC(Columns)
SLUICE_DEVICE u32 nextWord(SLUICE_IN(Columns) columns, SLUICE_INOUT(FilterReading, reading)) {
    bool ended = reading.next >= reading.words;
    refuseIf(ended, SLUICE_FILTER_DAMAGED, reading);
    if (ended) return 0u;
    ++reading.next;
    return descriptionWord(columns, reading.next - 1u);
}

SLUICE_GENERIC(Columns)
SLUICE_DEVICE void readRuns(u32 runs, SLUICE_INOUT(Columns, columns),
                            SLUICE_INOUT(FilterSectionWords, section),
                            SLUICE_INOUT(FilterReading, reading)) {
    u32 before = 0u, group = 0u; // before: the run
    for (u32 r = 0u; r < runs && reading.fault == SLUICE_FILTER_GOOD; ++r) {
        u32 run = nextWord(columns, reading), repeat = run & 0xffu, bytes = filterWordBytes(run),
            predictor = filterWordPredictor(run);
        bool isSame = section.columns != 0u && ((before ^ run) & kSplit) == 0u;
        refuseIf((run >> 8 & 3u) == 3u || (run >> 15 & 1u) != 0u ||
                     predictor >= SLUICE_PREDICTOR_COUNT,
                 SLUICE_FILTER_NEWER, reading);
        refuseIf(repeat == 0u || repeat > SLUICE_FILTER_MAX_STRIDE - section.columns ||
                     ((run & kJoined) != 0u && !isSame) ||
                     (SLUICE_PREDICTOR_NEEDS_ROWS(predictor) && section.width == 0u) ||
                     ((run & kBlock) != 0u && (bytes == 1u || (run & kRotated) != 0u)),
                 SLUICE_FILTER_DAMAGED, reading);
        before = run;
        if (predictor == SLUICE_PREDICTOR_UP) section.upBytes += repeat * bytes;
        if (SLUICE_PREDICTOR_IS_WAVE(predictor)) section.waveBytes += repeat * bytes;
        for (u32 k = 0u; k < repeat && reading.fault == SLUICE_FILTER_GOOD; ++k) {
            if ((run & kJoined) == 0u) group = section.stride;
            // A stride that is too large is refused below.
            if (section.stride + bytes <= SLUICE_FILTER_MAX_STRIDE)
                addColumn(columns, section.columns, (run & ~0xffu) | section.stride, group);
            section.stride += bytes;
            ++section.columns;
        }
    }
}

// Reads a section, which may have at most `left` bytes of the tile. It is valid if there is no
// fault and the bases of all its columns are good.
SLUICE_GENERIC(Columns)
SLUICE_DEVICE FilterSectionWords readSectionWords(u32 left, SLUICE_INOUT(Columns, columns),
                                                  SLUICE_INOUT(FilterReading, reading)) {
    FilterSectionWords section;
    u32 head = nextWord(columns, reading);
    --reading.sections;
    section.size = head & SLUICE_FILTER_REST;
    section.hasPackets = head >> 30 & 1u;
    section.width = section.first = section.columns = section.stride = 0u;
    section.upBytes = section.waveBytes = 0u;
    refuseIf(head >> 31 != 0u, SLUICE_FILTER_NEWER, reading);
    refuseIf(section.size == SLUICE_FILTER_REST ? reading.sections != 0u : section.size > left,
             SLUICE_FILTER_DAMAGED, reading);
    if ((head >> 29 & 1u) != 0u) {
        section.width = nextWord(columns, reading);
        section.first = nextWord(columns, reading);
        refuseIf(section.width - 1u >= SLUICE_FILTER_MAX_WIDTH || section.first >= section.width,
                 SLUICE_FILTER_DAMAGED, reading);
    }
    readRuns(head >> 21 & 0xffu, columns, section, reading);
    reading.columns += section.columns + SLUICE_FILTER_SECTION_COLUMNS;
    refuseIf(section.stride > SLUICE_FILTER_MAX_STRIDE ||
                 (section.hasPackets != 0u && (section.columns == 0u || section.width != 0u)) ||
                 reading.columns > SLUICE_FILTER_MAX_COLUMNS,
             SLUICE_FILTER_DAMAGED, reading);
    return section;
}

// Counts the steps of a section that has `bytes` bytes.
SLUICE_DEVICE void countSteps(SLUICE_IN(FilterSectionWords) section, u32 bytes,
                              SLUICE_INOUT(FilterReading, reading)) {
    reading.steps += filterSteps(bytes / SLUICE_MAX(section.stride, 1u), section.width,
                                 section.first, section.upBytes, section.waveBytes);
    refuseIf(reading.steps > SLUICE_FILTER_MAX_STEPS, SLUICE_FILTER_DAMAGED, reading);
}

// No words may be left over behind the last section.
SLUICE_DEVICE void endSections(SLUICE_INOUT(FilterReading, reading)) {
    refuseIf(reading.sections == 0u && reading.next != reading.words, SLUICE_FILTER_DAMAGED,
             reading);
}

// The base of a column from its word, or any other column of the section.
SLUICE_DEVICE u32 baseColumn(u32 word, u32 columns) {
    return SLUICE_MIN(SLUICE_MAX(filterWordBase(word), 1u), columns) - 1u;
}

// base: the word of that column.
SLUICE_DEVICE bool isBaseBad(u32 word, u32 base, u32 columns) {
    return filterWordBase(word) != 0u &&
           (filterWordBase(word) > columns || filterWordBase(base) != 0u ||
            filterWordBytes(base) != filterWordBytes(word));
}

SLUICE_KERNEL_END
#endif
