// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the description of a filter (docs/format.md, 8.1 and 8.6) section by section; one
// invocation or the host does it. This is security code: every rule of the format is checked here,
// except one. That rule compares the base of a column with the column, so the includer must call
// isBaseBad for each column after it has read a section.
//
// The includer provides the type Columns, in which it keeps what it needs of a section's columns,
// and two functions. descriptionWord(columns, at) returns word `at` of the description.
// addColumn(columns, column, word, group) is called once for each column. `column` is its number in
// the section. `word` is the word of its run, but instead of the repeat count, its lowest 8 bits
// have the byte of the record at which the column begins. `group` is the byte of the record at
// which the column's group begins. A group is neighbouring columns whose residuals stand side by
// side.
#ifndef SLUICE_KERNELS_FILTER_DESCRIPTION_H
#define SLUICE_KERNELS_FILTER_DESCRIPTION_H

#include "../compat.h"
#include "../formulas/filter.h"

SLUICE_KERNEL_BEGIN

// The flags, shifted to their places in the word of a run of columns and in the word of a column.
SLUICE_CONSTANT u32 kZigzag = SLUICE_FILTER_FLAG_ZIGZAG << SLUICE_FILTER_FLAGS_AT,
                    kSplit = SLUICE_FILTER_FLAG_SPLIT << SLUICE_FILTER_FLAGS_AT,
                    kJoined = SLUICE_FILTER_FLAG_JOINED << SLUICE_FILTER_FLAGS_AT,
                    kRotated = SLUICE_FILTER_FLAG_ROTATED << SLUICE_FILTER_FLAGS_AT,
                    kBlock = SLUICE_FILTER_FLAG_BLOCK << SLUICE_FILTER_FLAGS_AT;

// Sets the fault if a rule is broken, but keeps an earlier fault.
SLUICE_DEVICE void refuseIf(bool broken, u32 fault, SLUICE_INOUT(FilterReading, reading)) {
    if (broken && reading.fault == SLUICE_FILTER_GOOD) reading.fault = fault;
}

// Begins to read a description of `words` words. `first` is its word 0, or 0 if there is no word.
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

// Returns the next word of the description. If the description has ended, returns 0 and sets a
// fault.
SLUICE_GENERIC(Columns)
SLUICE_DEVICE u32 nextWord(SLUICE_IN(Columns) columns, SLUICE_INOUT(FilterReading, reading)) {
    bool ended = reading.next >= reading.words;
    refuseIf(ended, SLUICE_FILTER_DAMAGED, reading);
    if (ended) return 0u;
    ++reading.next;
    return descriptionWord(columns, reading.next - 1u);
}

// Reads the `runs` words that describe the section's columns, and calls addColumn for each column.
SLUICE_GENERIC(Columns)
SLUICE_DEVICE void readRuns(u32 runs, SLUICE_INOUT(Columns, columns),
                            SLUICE_INOUT(FilterSectionWords, section),
                            SLUICE_INOUT(FilterReading, reading)) {
    // `before` is the word of the previous run. `group` is where the current group begins in a
    // record.
    u32 before = 0u, group = 0u;
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
            // A stride that is too large is refused by readSectionWords.
            if (section.stride + bytes <= SLUICE_FILTER_MAX_STRIDE)
                addColumn(columns, section.columns, (run & ~0xffu) | section.stride, group);
            section.stride += bytes;
            ++section.columns;
        }
    }
}

// Reads the next section. The tile has `left` bytes after the previous sections. The section is
// valid if reading.fault is still SLUICE_FILTER_GOOD and isBaseBad is false for all its columns.
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

// Adds the serial steps of a section of `bytes` bytes (filterSteps) to those of the tile, and
// refuses a description with too many of them.
SLUICE_DEVICE void countSteps(SLUICE_IN(FilterSectionWords) section, u32 bytes,
                              SLUICE_INOUT(FilterReading, reading)) {
    reading.steps += filterSteps(bytes / SLUICE_MAX(section.stride, 1u), section.width,
                                 section.first, section.upBytes, section.waveBytes);
    refuseIf(reading.steps > SLUICE_FILTER_MAX_STEPS, SLUICE_FILTER_DAMAGED, reading);
}

// Sets a fault if the description has words after its last section.
SLUICE_DEVICE void endSections(SLUICE_INOUT(FilterReading, reading)) {
    refuseIf(reading.sections == 0u && reading.next != reading.words, SLUICE_FILTER_DAMAGED,
             reading);
}

// Returns the number of the base column of the column with this word; `columns` is the section's
// number of columns. If the column has no base or an invalid one, returns some valid number, so
// that the caller may load a column with it in any case.
SLUICE_DEVICE u32 baseColumn(u32 word, u32 columns) {
    return SLUICE_MIN(SLUICE_MAX(filterWordBase(word), 1u), columns) - 1u;
}

// Returns whether a column's base breaks a rule. `word` is the column's word, `base` the word of
// the column that baseColumn returns.
SLUICE_DEVICE bool isBaseBad(u32 word, u32 base, u32 columns) {
    return filterWordBase(word) != 0u &&
           (filterWordBase(word) > columns || filterWordBase(base) != 0u ||
            filterWordBytes(base) != filterWordBytes(word));
}

SLUICE_KERNEL_END
#endif
