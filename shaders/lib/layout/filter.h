// SPDX-License-Identifier: MIT OR Apache-2.0
// The limits, numbers and structures of filters (docs/format.md, section 8).
#ifndef SLUICE_LAYOUT_FILTER_H
#define SLUICE_LAYOUT_FILTER_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// A description says what a filter has done to a tile. It is a list of words, section by section.
#define SLUICE_FILTER_VERSION 1u
#define SLUICE_FILTER_MAX_SECTIONS 255u
#define SLUICE_FILTER_DESCRIPTION_BYTES 16384u // most bytes of a description
// A section's first word, its head, has these fields, from the lowest bit on, each with its number
// of bits: size 21, number of runs of columns 8, rows 1, packets 1, reserved 1.
#define SLUICE_FILTER_REST 0x1fffffu     // as a size: all that remains of the tile
#define SLUICE_FILTER_MAX_WIDTH 1048576u // most records of a row
#define SLUICE_FILTER_MAX_STRIDE 128u    // most bytes of a record, and most columns of a section
// The number of columns of all sections of a description, plus SECTION_COLUMNS for each section, is
// at most MAX_COLUMNS.
#define SLUICE_FILTER_MAX_COLUMNS 4096u
#define SLUICE_FILTER_SECTION_COLUMNS 24u
#define SLUICE_FILTER_MAX_STEPS 9216u // most steps of a tile's sections (filterSteps)
#define SLUICE_FILTER_STEP_BYTES 8u   // columns with up to this many bytes in all share their steps
#define SLUICE_FILTER_ROW_STEPS 4u    // a row counts as this many steps
// The word of a run of columns has these fields, from the lowest bit on, each with its number of
// bits: how often the column is repeated 8, log2 of the column's bytes 2, flags 5, reserved 1,
// predictor 8, base 8.
#define SLUICE_FILTER_FLAGS_AT 10u // the lowest bit of the flags
// The residuals 0, 1, 2, 3 and so on stand for 0, -1, 1, -2 and so on.
#define SLUICE_FILTER_FLAG_ZIGZAG 1u
#define SLUICE_FILTER_FLAG_SPLIT 2u  // each byte of the group's residuals has a plane of its own
#define SLUICE_FILTER_FLAG_JOINED 4u // the column belongs to the group of the column before it
// Values are rotated left by one bit, so that a float's sign comes below its mantissa.
#define SLUICE_FILTER_FLAG_ROTATED 8u
// Values belong to compressed blocks of pixels: an end point (2 bytes) or the indices (4 bytes).
#define SLUICE_FILTER_FLAG_BLOCK 16u
// The predictors say from which earlier values a value is predicted (docs/format.md, 8.3).
#define SLUICE_PREDICTOR_NONE 0u
// LEFT, LEFT2 and LEFT3 are differences from the previous records, of order 1, 2 and 3.
#define SLUICE_PREDICTOR_LEFT 1u
#define SLUICE_PREDICTOR_LEFT2 2u
#define SLUICE_PREDICTOR_LEFT3 3u
#define SLUICE_PREDICTOR_UP 4u
#define SLUICE_PREDICTOR_GRADIENT 5u
#define SLUICE_PREDICTOR_MEDIAN 6u
#define SLUICE_PREDICTOR_AVERAGE 7u
#define SLUICE_PREDICTOR_COUNT 8u
// True for predictors that are undone by prefix sums of the residuals, along the records or down
// the columns of an image.
#define SLUICE_PREDICTOR_IS_SUM(predictor) ((predictor) <= SLUICE_PREDICTOR_UP)
// True for predictors that a wavefront undoes: rows are undone side by side, each a step behind the
// row above.
#define SLUICE_PREDICTOR_IS_WAVE(predictor) ((predictor) >= SLUICE_PREDICTOR_GRADIENT)
#define SLUICE_PREDICTOR_NEEDS_ROWS(predictor) ((predictor) >= SLUICE_PREDICTOR_UP)
// Applies X to each predictor with a wavefront, except GRADIENT. Kernels compare the predictor of a
// wavefront with each of these; if none is equal, it is GRADIENT.
#define SLUICE_OTHER_WAVES(X) X(SLUICE_PREDICTOR_MEDIAN) X(SLUICE_PREDICTOR_AVERAGE)

// These faults say what is wrong with a description. If several words break a rule, the fault is
// that of the first one.
#define SLUICE_FILTER_GOOD 0u    // nothing so far
#define SLUICE_FILTER_NEWER 1u   // a version, flag or predictor that a newer format may define
#define SLUICE_FILTER_DAMAGED 2u // any other broken rule

// How far a description has been read, and with what result (kernels/filter_description.h).
struct FilterReading {
    u32 fault;
    u32 words, next; // the description's number of words, and the index of the next word
    u32 sections;    // sections that are still to come
    // The number of columns so far, plus SLUICE_FILTER_SECTION_COLUMNS for each section.
    u32 columns;
    u32 steps; // the number of steps of all sections so far (filterSteps)
};
// The fields of the words that describe a section.
struct FilterSectionWords {
    u32 size; // bytes, or SLUICE_FILTER_REST
    // The number of records of a row (0: there are no rows), and the index in its row of the
    // section's first record.
    u32 width, first;
    u32 hasPackets; // 1 if the section is run-length packets
    u32 columns, stride;
    // How many bytes of a record belong to columns with the predictor UP, and to columns with a
    // wavefront.
    u32 upBytes, waveBytes;
};

// Rows of at least this many records are undone by a wavefront of quads, which undoes four bytes in
// a step. Shorter rows take fewer steps with a wavefront of single values, because a wavefront of
// quads would be idle in most of its steps.
#define SLUICE_FILTER_QUAD_WIDTH 32u

// All predictors, by ascending number. The host makes its own lists of predictors from this list.
// The arguments of X are the name, the number, and the SluiceFilterFeatures for which an encoder
// tries the predictor: one of them must be enabled (0: always).
#define SLUICE_PREDICTORS(X)                                                                       \
    X(none, SLUICE_PREDICTOR_NONE, 0)                                                              \
    X(left, SLUICE_PREDICTOR_LEFT, SLUICE_FILTER_DIFFERENCE)                                       \
    X(left2, SLUICE_PREDICTOR_LEFT2, SLUICE_FILTER_DIFFERENCE)                                     \
    X(left3, SLUICE_PREDICTOR_LEFT3, SLUICE_FILTER_DIFFERENCE)                                     \
    X(up, SLUICE_PREDICTOR_UP, SLUICE_FILTER_UP)                                                   \
    X(gradient, SLUICE_PREDICTOR_GRADIENT, SLUICE_FILTER_GRADIENT)                                 \
    X(median, SLUICE_PREDICTOR_MEDIAN, SLUICE_FILTER_MEDIAN)                                       \
    X(average, SLUICE_PREDICTOR_AVERAGE, SLUICE_FILTER_MEDIAN)

#define SLUICE_FILTER_WORKGROUPS 512u // most workgroups; each has scratch for one tile
// Behind the scratch stands a counter of the tiles that workgroups have taken (tickets). It takes
// this many bytes, with padding.
#define SLUICE_FILTER_TICKET_BYTES 16u
// The padding of a section's planes in scratch, in bytes. There is at most one plane for each byte
// of a record. A plane has up to 3 bytes of padding before its first value, so that rows start at
// words, and up to 15 after its last one.
#define SLUICE_FILTER_SLACK (18u * SLUICE_FILTER_MAX_STRIDE)

// Words of an entry in the list of tiles, which is a SluiceFilterTile.
#define SLUICE_FILTER_TILE_WORDS 8u

// Push constants of filter.comp.
struct FilterParams {
    SLUICE_ADDRESS tiles;
    SLUICE_ADDRESS tileCount; // 0: maxTileCount is the number of tiles
    SLUICE_ADDRESS descriptions;
    SLUICE_ADDRESS descriptionsSize;
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS status;
    SLUICE_ADDRESS scratch;
    u32 maxTileCount;
    u32 statusCount;
    u32 maxTileBytes;
    u32 scratchBytes; // bytes of scratch for one workgroup
    u32 workgroups;
    // 1: after each tile, a workgroup takes the next tile that no other has taken. 0: it takes the
    // tile `workgroups` further on.
    u32 tickets;
    // The first tile of the list that this dispatch decodes; the list ends at maxTileCount. It is 0
    // if `tickets` is 1.
    u32 firstTile;
};

SLUICE_LAYOUT_END
#endif
