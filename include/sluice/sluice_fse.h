// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Builds FSE decode tables, as Zstandard describes and builds them (RFC 8878, 4.1), many at once on
// the device. This is the step of a Zstandard decoder that is serial by definition. The parts stand
// in shaders/lib/fse.glsl for shaders of your own.
#ifndef SLUICE_FSE_H
#define SLUICE_FSE_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// Stands in front of a table's 2^log states.
typedef struct SluiceFseTableHeader {
    uint16_t descriptionSize; // bytes of the description; with SLUICE_FSE_COUNTS that of the region
    uint8_t log;              // accuracy log
    uint8_t lastSymbol;       // the largest one with a count
} SluiceFseTableHeader;

typedef struct SluiceFseState {
    uint16_t base;  // the next state is this plus the next `bits` bits
    uint8_t symbol; // that the state stands for
    uint8_t bits;   // 0 .. log
} SluiceFseState;

// A flag: sources are not descriptions but counts, 16 bits each, signed, one a symbol from symbol 0
// on, -1 for less than one.
#define SLUICE_FSE_COUNTS 1u

#define SLUICE_FSE_MIN_LOG 5u
#define SLUICE_FSE_MAX_LOG 9u // Zstandard's largest
#define SLUICE_FSE_MAX_SYMBOLS 256u
// Bytes of a table of 2^log states.
#define SLUICE_FSE_TABLE_SIZE(log) (4u + (4u << (log)))

// Builds tables. After an error the room of a table holds unspecified bytes; after OK the bytes
// behind the states are unspecified too. There is no scratch. Whatever the bytes are, the work of a
// table is bounded, and nothing is read outside source nor written outside destination and status.
//
// Statuses of a region:
//   BAD_REGION   it breaks a rule stated at regions, or lies outside source or destination
//   TRUNCATED    the description does not end in compressedSize bytes
//   BAD_CODE     the log or the symbols are more than allowed, or counts do not add up to a power
//                of 2
//   TOO_LONG     more states than room
typedef struct SluiceFseTablesInfo {
    // The list has at most this many regions, 0 .. 2^24.
    uint32_t maxRegionCount;
    // Bytes from one region to the next: a multiple of 4, at least 32.
    uint32_t regionStride;
    // SLUICE_FSE_COUNTS or 0.
    uint32_t flags;
    // 1 .. SLUICE_FSE_MAX_SYMBOLS; a table of more symbols has BAD_CODE. Zstandard: literal lengths
    // 36, match lengths 53, offsets 32, Huffman weights 13.
    uint32_t maxSymbols;
    // SLUICE_FSE_MIN_LOG .. SLUICE_FSE_MAX_LOG; a table of a larger log has BAD_CODE. Zstandard, in
    // the same order: 9, 9, 8, 6.
    uint32_t maxLog;
    // (maxRegionCount - 1) * regionStride + 32 bytes or more, 8-byte aligned: SluiceRegions with
    //   srcAddress        of the description, any alignment; of counts a multiple of 2
    //   dstAddress        a multiple of 4: receives a SluiceFseTableHeader and the states
    //   compressedSize    1 .. 2^32 - 1. A description ends where it says; this is what there is to
    //                     read. Counts: 2 bytes each, all of them, at most maxSymbols
    //   decompressedSize  room in bytes, 1 .. 2^32 - 1; SLUICE_FSE_TABLE_SIZE(maxLog) is always
    //                     enough
    SluiceBuffer regions;
    // 4 bytes in GPU memory, 4-byte aligned: how many regions there are, clamped to maxRegionCount.
    // If its size is 0, there are maxRegionCount.
    SluiceBuffer regionCount;
    // 4-byte aligned. Every region's bytes must lie wholly inside it, else the region gets
    // BAD_REGION. Reads are whole words: the handle must reach to the next multiple of 4 after each
    // region's end.
    SluiceBuffer source;
    // 4-byte aligned. Every region's room must lie wholly inside it, else the region gets
    // BAD_REGION. Regions must not overlap each other (values are undefined then, still inside
    // destination).
    SluiceBuffer destination;
    // (maxRegionCount + 2) * 4 bytes, 4-byte aligned: statuses, as in SluiceGdeflateInfo.
    SluiceBuffer status;
} SluiceFseTablesInfo;

// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdFseTables(SluiceContext context, SluiceCommands commands,
                                           const SluiceFseTablesInfo* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_FSE_H
