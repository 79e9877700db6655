// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Builds many FSE decode tables at once on the device, as Zstandard describes and builds them (RFC
// 8878, 4.1). This is the step of a Zstandard decoder that is serial by definition.
// shaders/lib/fse.glsl has its building blocks for your own shaders.
#ifndef SLUICE_FSE_H
#define SLUICE_FSE_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// The header of a table, followed by its 2^log states.
typedef struct SluiceFseTableHeader {
    uint16_t descriptionSize; // bytes of the description; with SLUICE_FSE_COUNTS those of the
                              // region
    uint8_t log;              // accuracy log
    uint8_t lastSymbol;       // the largest symbol with a count
} SluiceFseTableHeader;

typedef struct SluiceFseState {
    uint16_t base;  // the next state is base plus the next `bits` bits
    uint8_t symbol; // the symbol that the state decodes to
    uint8_t bits;   // 0 .. log
} SluiceFseState;

// Flag: the sources are not descriptions but counts, 16-bit signed, one per symbol in order from
// symbol 0. A count of -1 (the probability is less than one state's) gives the symbol one state.
#define SLUICE_FSE_COUNTS 1u

#define SLUICE_FSE_MIN_LOG 5u
#define SLUICE_FSE_MAX_LOG 9u // the largest log of Zstandard
#define SLUICE_FSE_MAX_SYMBOLS 256u
// Bytes of a table of 2^log states.
#define SLUICE_FSE_TABLE_SIZE(log) (4u + (4u << (log)))

// Builds tables. After an error the bytes in the table's room are unspecified. After OK only the
// bytes after the states are unspecified. No scratch is needed. For any bytes the work per table is
// bounded, nothing outside source is read, and nothing outside destination and status is written.
//
// Errors in a region's status:
//   BAD_REGION   the region breaks a rule stated at regions, or is outside source or destination
//   TRUNCATED    the description does not end within compressedSize bytes
//   BAD_CODE     the log or the number of symbols is larger than allowed, or the counts do not add
//                up to a power of 2
//   TOO_LONG     the states need more bytes than the region has room for
typedef struct SluiceFseTablesInfo {
    // Upper limit of the number of regions in the list, 0 .. 2^24.
    uint32_t maxRegionCount;
    // Bytes from one region to the next: a multiple of 4, at least 32.
    uint32_t regionStride;
    // SLUICE_FSE_COUNTS or 0.
    uint32_t flags;
    // 1 .. SLUICE_FSE_MAX_SYMBOLS; a table with more symbols gets BAD_CODE. Zstandard: 36
    // for literal lengths, 53 for match lengths, 32 for offsets, 13 for Huffman weights.
    uint32_t maxSymbols;
    // SLUICE_FSE_MIN_LOG .. SLUICE_FSE_MAX_LOG; a table with a larger log gets BAD_CODE. Zstandard:
    // 9 for literal and match lengths, 8 for offsets, 6 for Huffman weights.
    uint32_t maxLog;
    // (maxRegionCount - 1) * regionStride + 32 bytes or more, 8-byte aligned: SluiceRegions with
    //   srcAddress        the description's address, any alignment; the counts' address, a multiple
    //                     of 2
    //   dstAddress        a multiple of 4: receives a SluiceFseTableHeader and the states
    //   compressedSize    1 .. 2^32 - 1. Descriptions: the number of readable bytes; the
    //                     description itself says where it ends. Counts: 2 bytes per count, for all
    //                     counts, at most maxSymbols
    //   decompressedSize  room in bytes, 1 .. 2^32 - 1; SLUICE_FSE_TABLE_SIZE(maxLog) is always
    //                     enough
    SluiceBuffer regions;
    // 4 bytes in GPU memory, 4-byte aligned: the number of regions, clamped to maxRegionCount. If
    // this range is empty (size 0), there are maxRegionCount regions.
    SluiceBuffer regionCount;
    // 4-byte aligned. Every region's bytes must lie completely inside this range, otherwise the
    // region gets BAD_REGION. Reads are whole words, so the handle must reach to the next multiple
    // of 4 after each region's end.
    SluiceBuffer source;
    // 4-byte aligned. Every region's room must lie completely inside this range, otherwise the
    // region gets BAD_REGION. Regions must not overlap each other (values are then undefined, but
    // still inside destination).
    SluiceBuffer destination;
    // (maxRegionCount + 2) * 4 bytes, 4-byte aligned: a SluiceTileStatus per region, then the
    // number of regions that failed, and the index of the first failed region or 0xffffffff.
    SluiceBuffer status;
} SluiceFseTablesInfo;

// Errors: ARGUMENT, BUFFER_SIZE.
SLUICE_API SluiceStatus sluiceCmdFseTables(SluiceContext context, SluiceCommands commands,
                                           const SluiceFseTablesInfo* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_FSE_H
