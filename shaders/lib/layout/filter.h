// SPDX-License-Identifier: MIT OR Apache-2.0
// Filters (docs/format.md, section 8).
#ifndef SLUICE_LAYOUT_FILTER_H
#define SLUICE_LAYOUT_FILTER_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// The limits and fields of a description.
#define SLUICE_FILTER_VERSION 1u
#define SLUICE_FILTER_MAX_SECTIONS 255u
#define SLUICE_FILTER_DESCRIPTION_BYTES 16384u // at most
// A section's head: size : 21, runs : 8, rows : 1, packets : 1, reserved : 1.
#define SLUICE_FILTER_REST 0x1fffffu      // as a size: the remainder of the tile
#define SLUICE_FILTER_MAX_WIDTH 1048576u  // records of a row
#define SLUICE_FILTER_MAX_STRIDE 128u     // bytes of a record, and columns
#define SLUICE_FILTER_MAX_COLUMNS 4096u   // columns of all sections together, ...
#define SLUICE_FILTER_SECTION_COLUMNS 24u // ... where each section counts as this many more
#define SLUICE_FILTER_MAX_STEPS 9216u     // steps of all sections of a tile, by filterSteps
#define SLUICE_FILTER_STEP_BYTES 8u       // bytes of columns that share one count of steps
#define SLUICE_FILTER_ROW_STEPS 4u        // steps that a row counts as
// A run of columns: repeat : 8, log2 bytes : 2, flags : 5, reserved : 1, predictor : 8, base : 8.
#define SLUICE_FILTER_FLAGS_AT 10u   // the first bit of the flags
#define SLUICE_FILTER_FLAG_ZIGZAG 1u // residuals are signed: 0, -1, 1, -2, ...
#define SLUICE_FILTER_FLAG_SPLIT 2u  // the bytes of the group stand in planes of their own
#define SLUICE_FILTER_FLAG_JOINED 4u // the column is in the group of the column before it
// Values are rotated left by one, so that a float's sign comes below its mantissa.
#define SLUICE_FILTER_FLAG_ROTATED 8u
// Values belong to a compressed block of pixels: an end point (2 bytes) or the indices (4 bytes).
#define SLUICE_FILTER_FLAG_BLOCK 16u
// Predictors.
#define SLUICE_PREDICTOR_NONE 0u
#define SLUICE_PREDICTOR_LEFT 1u // differences; LEFT2 and LEFT3 are of order 2 and 3
#define SLUICE_PREDICTOR_LEFT2 2u
#define SLUICE_PREDICTOR_LEFT3 3u
#define SLUICE_PREDICTOR_UP 4u
#define SLUICE_PREDICTOR_GRADIENT 5u
#define SLUICE_PREDICTOR_MEDIAN 6u
#define SLUICE_PREDICTOR_AVERAGE 7u
#define SLUICE_PREDICTOR_COUNT 8u
// True for predictors that prefix sums of the residuals undo, along the records or down the columns
// of an image.
#define SLUICE_PREDICTOR_IS_SUM(predictor) ((predictor) <= SLUICE_PREDICTOR_UP)
// True for predictors that a wavefront undoes: the rows run in parallel, each a step behind the row
// above.
#define SLUICE_PREDICTOR_IS_WAVE(predictor) ((predictor) >= SLUICE_PREDICTOR_GRADIENT)
#define SLUICE_PREDICTOR_NEEDS_ROWS(predictor) ((predictor) >= SLUICE_PREDICTOR_UP)
// The predictors with a wavefront other than GRADIENT. Kernels instantiate code for each and select
// it through X(number).
#define SLUICE_OTHER_WAVES(X) X(SLUICE_PREDICTOR_MEDIAN) X(SLUICE_PREDICTOR_AVERAGE)

// These say what is wrong with a description: the first word that breaks a rule decides.
#define SLUICE_FILTER_GOOD 0u    // nothing so far
#define SLUICE_FILTER_NEWER 1u   // a version, a flag or a predictor that there may be some day
#define SLUICE_FILTER_DAMAGED 2u // any other rule

// How far a description has been read (kernels/filter_description.h).
struct FilterReading {
    u32 fault;
    u32 words, next; // of the description: their number, and the index of the next one
    u32 sections;    // to come
    u32 columns;     // of the sections so far, which count too
    u32 steps;       // of the sections so far, which depend on each other: filterSteps
};
// Holds what the words of a section say.
struct FilterSectionWords {
    u32 size;         // bytes, or SLUICE_FILTER_REST
    u32 width, first; // records of a row, 0 without rows; where in its row the first record is
    u32 hasPackets;   // 1 if so
    u32 columns, stride;
    u32 upBytes, waveBytes; // of the columns with UP, and with a wavefront
};

// Rows of at least this many bytes are undone by a wavefront of quads (4 bytes a step). In shorter
// rows most of its steps would do nothing, and a wavefront of single values takes fewer steps.
#define SLUICE_FILTER_QUAD_WIDTH 32u

// The host generates its lists of predictors from this one, which is in ascending order of number.
// The arguments of X are the name, the number, and the SluiceFilterFeatures of which at least one
// must be enabled before encoders try the predictor (0: they always do).
#define SLUICE_PREDICTORS(X)                                                                       \
    X(none, SLUICE_PREDICTOR_NONE, 0)                                                              \
    X(left, SLUICE_PREDICTOR_LEFT, SLUICE_FILTER_DIFFERENCE)                                       \
    X(left2, SLUICE_PREDICTOR_LEFT2, SLUICE_FILTER_DIFFERENCE)                                     \
    X(left3, SLUICE_PREDICTOR_LEFT3, SLUICE_FILTER_DIFFERENCE)                                     \
    X(up, SLUICE_PREDICTOR_UP, SLUICE_FILTER_UP)                                                   \
    X(gradient, SLUICE_PREDICTOR_GRADIENT, SLUICE_FILTER_GRADIENT)                                 \
    X(median, SLUICE_PREDICTOR_MEDIAN, SLUICE_FILTER_MEDIAN)                                       \
    X(average, SLUICE_PREDICTOR_AVERAGE, SLUICE_FILTER_MEDIAN)

#define SLUICE_FILTER_WORKGROUPS 512u  // at most; each has scratch for one tile
#define SLUICE_FILTER_TICKET_BYTES 16u // after that scratch: the number of tiles taken so far
// Bytes of scratch that the columns of a section take beyond their own values: each column has 3
// bytes of padding before its first value, so that rows start at words, and up to 15 after its last
// one.
#define SLUICE_FILTER_SLACK (18u * SLUICE_FILTER_MAX_STRIDE)

// Push constants of filter.comp. A tile in the list: SLUICE_FILTER_TILE_WORDS words, see
// SluiceFilterTile.
#define SLUICE_FILTER_TILE_WORDS 8u
struct FilterParams {
    SLUICE_ADDRESS tiles;
    SLUICE_ADDRESS tileCount; // 0: none, maxTileCount counts
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
    u32 scratchBytes; // of a workgroup
    u32 workgroups;
    u32 tickets;   // 1: after each tile, a workgroup takes the next free one; 0: it takes the tile
                   // `workgroups` further on
    u32 firstTile; // the first tile of the list to do; the list ends at maxTileCount. 0 if tickets
                   // is 1
};

SLUICE_LAYOUT_END
#endif
