// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decodes DirectStorage tile streams as a whole: the GPU reads their headers and tile tables,
// checks them as the parser on the host does (sluice_formats.h), and decodes the tiles of all of
// them in one dispatch. Part of sluice.h, whose rules (ownership, barriers, threads, errors) hold
// here too.
#ifndef SLUICE_TILE_STREAMS_H
#define SLUICE_TILE_STREAMS_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// One stream, as the list in GPU memory has it; every member counts from the start of its buffer's
// range.
typedef struct SluiceStreamRange {
    uint64_t sourceOffset; // of the header in source, a multiple of 4
    uint64_t sourceSize;   // bytes, header and table included; the last tile ends there exactly
    // In destination (logical bytes, if that is pitched), a multiple of 4.
    uint64_t destinationOffset;
    uint64_t destinationSize; // room for the decoded bytes, which may be fewer
} SluiceStreamRange;

// The status of a stream. The same bytes give the same status on every backend and tier.
typedef enum SluiceStreamStatus {
    SLUICE_STREAM_PENDING = 0,    // past the count, or the command did not run to its end
    SLUICE_STREAM_OK = 1,         // every tile is OK
    SLUICE_STREAM_BAD_RANGE = 2,  // not wholly inside source or destination, or unaligned
    SLUICE_STREAM_TRUNCATED = 3,  // header, table or tiles reach past the end of the stream
    SLUICE_STREAM_BAD_HEADER = 4, // wrong identifier, tile size, last tile's size or reserved bits
    SLUICE_STREAM_BAD_TABLE = 5,  // tiles that are empty, too large, unaligned or not in order;
                                  // bytes after the last tile
    SLUICE_STREAM_NO_SPACE = 6,   // decodes to more bytes than destinationSize
    SLUICE_STREAM_NO_TILES = 7,   // its tiles do not fit in maxTileCount
    SLUICE_STREAM_BAD_TILE = 8,   // a tile failed: see the tile statuses
    SLUICE_STREAM_UNVERIFIED = 9, // no tile failed, but the driver decoded some, and no checksum
                                  // was asked for
    SLUICE_STREAM_INTERNAL = 10,  // a driver has left a loop early (SLUICE_TILE_INTERNAL)
    SLUICE_STREAM_STATUS_MAX_ENUM = 0x7fffffff
} SluiceStreamStatus;

// Returns one line of English for a stream status; never NULL. Thread-safe.
SLUICE_API const char* sluiceGetStreamStatusText(uint32_t streamStatus);

// The command writes this for each stream.
typedef struct SluiceStreamResult {
    uint32_t status;    // SluiceStreamStatus
    uint32_t firstTile; // its first tile among the tile statuses
    uint32_t tileCount; // 0 unless header and table are good
    uint32_t size;      // decoded bytes, at most 4,294,901,760; 0 unless header and table are good
} SluiceStreamResult;

// It writes this behind the last of them.
typedef struct SluiceStreamSummary {
    uint32_t failedStreams;     // neither OK nor UNVERIFIED, among those that were there
    uint32_t firstFailedStream; // 0xffffffff if none
    uint32_t tileCount;         // tiles that were decoded
    // Tiles of all streams with a good header and table: what maxTileCount should be.
    uint32_t tilesNeeded;
} SluiceStreamSummary;

// Decodes a list of tile streams. Tiles are numbered stream by stream; streams with a status from
// BAD_RANGE to NO_SPACE have none. A stream whose tiles do not fit below maxTileCount is NO_TILES
// and none of them is decoded (its firstTile and tileCount say what it would have needed), and so
// is every later stream that has tiles: statuses depend on the list alone, never on the order in
// which workgroups run. A bad stream changes no byte of the destination and does not hinder the
// others. Each stream's table is read twice by one workgroup of 128; then one dispatch decodes the
// tiles of all streams.
typedef struct SluiceTileStreamsInfo {
    // The list has at most this many streams, 0 .. 65,536.
    uint32_t maxStreamCount;
    // All streams together have at most this many tiles, 0 .. 2^24. The dispatch has this many lane
    // groups; those without a tile end at once.
    uint32_t maxTileCount;
    // 0 or SLUICE_DECODE_BY_DRIVER (SluiceDecodeFlags); the same conditions as for
    // sluiceCmdGdeflate.
    uint32_t flags;
    // Bytes of a row of a pitched destination, or 0: as in SluiceGdeflateInfo.
    uint32_t rowBytes;
    // Bytes from one row to the next, or 0: as in SluiceGdeflateInfo.
    uint32_t rowPitch;
    // maxStreamCount * 32 bytes, 8-byte aligned: SluiceStreamRanges.
    SluiceBuffer streams;
    // 4 bytes in GPU memory, 4-byte aligned: how many streams there are, clamped to maxStreamCount.
    // If its size is 0, there are maxStreamCount.
    SluiceBuffer streamCount;
    // 4-byte aligned. A stream that is not wholly inside it gets BAD_RANGE. Reads are whole words:
    // the handle must reach to the next multiple of 4 after each stream's end.
    SluiceBuffer source;
    // 4-byte aligned. A stream whose destination range is not wholly inside it gets BAD_RANGE. The
    // ranges must not overlap.
    SluiceBuffer destination;
    // maxTileCount * 4 bytes, 4-byte aligned: the checksums that the tiles must have, in the order
    // of the tile statuses. If its size is 0, no checksums are compared.
    SluiceBuffer expected;
    // maxStreamCount * 16 + 16 bytes, 4-byte aligned: a SluiceStreamResult for each stream, then a
    // SluiceStreamSummary.
    SluiceBuffer results;
    // (maxTileCount + 2) * 4 bytes, 4-byte aligned: a SluiceTileStatus for each tile and two
    // summary words, as in SluiceGdeflateInfo. Stream s has the words
    // firstTile .. firstTile + tileCount - 1.
    SluiceBuffer status;
    // As sluiceGetTileStreamsRequirements says: 32 bytes a tile, 4 a stream, and what scan and
    // decode need.
    SluiceBuffer scratch;
} SluiceTileStreamsInfo;

// Reads maxStreamCount, maxTileCount and flags only. Errors: ARGUMENT, UNSUPPORTED (BY_DRIVER).
SLUICE_API SluiceStatus sluiceGetTileStreamsRequirements(SluiceContext context,
                                                         const SluiceTileStreamsInfo* info,
                                                         SluiceRequirements* requirements);
// Errors: ARGUMENT, BUFFER_SIZE, UNSUPPORTED (BY_DRIVER).
SLUICE_API SluiceStatus sluiceCmdTileStreams(SluiceContext context, SluiceCommands commands,
                                             const SluiceTileStreamsInfo* info);

#ifdef __cplusplus
}
#endif
#endif // SLUICE_TILE_STREAMS_H
