// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Decodes whole DirectStorage tile streams: the GPU reads their headers and tile tables, checks
// them like the parser on the host (sluice_formats.h), and decodes the tiles of all streams in one
// dispatch. Part of sluice.h, whose rules (ownership, barriers, threads, errors) apply here too.
#ifndef SLUICE_TILE_STREAMS_H
#define SLUICE_TILE_STREAMS_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

// One stream of the list in GPU memory. Offsets are in bytes from the start of the buffer's range.
typedef struct SluiceStreamRange {
    uint64_t sourceOffset; // offset of the header in source, a multiple of 4
    uint64_t sourceSize;   // bytes, including header and table; the last tile must end exactly
                           // there
    // Offset in destination (in logical bytes, if that is pitched), a multiple of 4.
    uint64_t destinationOffset;
    uint64_t destinationSize; // room for the decoded bytes; the stream may have fewer
} SluiceStreamRange;

// Flags of SluiceTileStreamsInfo, beside SLUICE_DECODE_BY_DRIVER.
typedef enum SluiceTileStreamsFlags {
    // The list has the form that DirectStorage's metacommand takes, words of 32 bits: first the
    // number of streams, then a pair of words per stream. A pair is the byte offset of the stream's
    // header in source and the byte offset of its decoded bytes in destination (in logical bytes,
    // if that is pitched). Both are multiples of 4. A stream is as long as its own header and table
    // say; other bytes may follow it.
    SLUICE_TILE_STREAMS_PAIRS = 0x100,
    SLUICE_TILE_STREAMS_FLAGS_MAX_ENUM = 0x7fffffff
} SluiceTileStreamsFlags;

// Status of a stream. The same bytes give the same status on every backend and tier.
typedef enum SluiceStreamStatus {
    SLUICE_STREAM_PENDING = 0,    // past the number of streams, or the command did not run to its
                                  // end
    SLUICE_STREAM_OK = 1,         // every tile is OK
    SLUICE_STREAM_BAD_RANGE = 2,  // not completely inside source or destination, or unaligned
    SLUICE_STREAM_TRUNCATED = 3,  // header, table or tiles reach past the end of the stream
    SLUICE_STREAM_BAD_HEADER = 4, // wrong identifier, last tile's size or reserved bits
    SLUICE_STREAM_BAD_TABLE = 5,  // tiles that are empty, too large, unaligned or not in order;
                                  // bytes after the last tile
    SLUICE_STREAM_NO_SPACE = 6,   // the stream decodes to more bytes than destinationSize or, with
                                  // PAIRS, than fit between its offset and the buffer's end
    SLUICE_STREAM_NO_TILES = 7,   // the stream's tiles do not fit in maxTileCount
    SLUICE_STREAM_BAD_TILE = 8,   // a tile failed: see the tile statuses
    SLUICE_STREAM_UNVERIFIED = 9, // no tile failed, but the driver decoded some, and no checksum
                                  // was requested
    SLUICE_STREAM_INTERNAL = 10,  // the driver left a loop early (SLUICE_TILE_INTERNAL)
    // The tile size index is not 1: the stream's tiles have another size than 65,536 bytes, as in
    // some packages.
    SLUICE_STREAM_TILE_SIZE = 11,
    SLUICE_STREAM_STATUS_MAX_ENUM = 0x7fffffff
} SluiceStreamStatus;

// Returns one line of English for a stream status. The text is never NULL. Thread-safe.
SLUICE_API const char* sluiceGetStreamStatusText(uint32_t streamStatus);

// The command writes one result per stream.
typedef struct SluiceStreamResult {
    uint32_t status;    // SluiceStreamStatus
    uint32_t firstTile; // index of its first tile among the tile statuses
    uint32_t tileCount; // 0 unless header and table are valid
    uint32_t size;      // decoded bytes, at most 4,294,901,760; 0 unless header and table are valid
} SluiceStreamResult;

// The command writes the summary after the last result.
typedef struct SluiceStreamSummary {
    // Streams of the list that are neither OK nor UNVERIFIED. With PAIRS, those past maxStreamCount
    // are counted too.
    uint32_t failedStreams;
    uint32_t firstFailedStream; // index; 0xffffffff: none
    uint32_t tileCount;         // tiles that were decoded
    // Number of tiles of all streams with a valid header and table: the maxTileCount that they
    // need.
    uint32_t tilesNeeded;
} SluiceStreamSummary;

// Decodes a list of tile streams. Tiles are numbered stream by stream. Streams with a status from
// BAD_RANGE to NO_SPACE have no tiles. A stream whose tiles do not all fit below maxTileCount gets
// NO_TILES and none of its tiles is decoded; its firstTile and tileCount say what it needs. Every
// later stream that has tiles gets NO_TILES, too. So statuses depend only on the list, never on the
// order in which workgroups run. A bad stream changes no byte of the destination and does not
// affect the others. One workgroup of 128 reads each stream's table twice; then one dispatch
// decodes the tiles of all streams.
typedef struct SluiceTileStreamsInfo {
    // Upper limit of the number of streams in the list, 0 .. 65,536.
    uint32_t maxStreamCount;
    // Upper limit of the number of tiles of all streams together, 0 .. 2^24. The dispatch has a
    // group of lanes for each of them; groups without a tile end at once.
    uint32_t maxTileCount;
    // SluiceTileStreamsFlags, and SLUICE_DECODE_BY_DRIVER (SluiceDecodeFlags) under the same
    // conditions as for sluiceCmdGdeflate.
    uint32_t flags;
    // Bytes per row of a pitched destination (sluice_gdeflate.h): a multiple of 4, 4 .. 2^30. 0
    // means that the destination is linear.
    uint32_t rowBytes;
    // Bytes from one row to the next: a multiple of 4, at least rowBytes. It is 0 if rowBytes is 0.
    uint32_t rowPitch;
    // maxStreamCount * 32 bytes, 8-byte aligned: SluiceStreamRanges. With PAIRS,
    // 4 + maxStreamCount * 8 bytes, 4-byte aligned: the number of streams, clamped to
    // maxStreamCount, and the pairs.
    SluiceBuffer streams;
    // 4 bytes in GPU memory, 4-byte aligned: the number of streams, clamped to maxStreamCount. If
    // this range is empty (size 0), there are maxStreamCount streams. Empty with PAIRS.
    SluiceBuffer streamCount;
    // 4-byte aligned. A stream that is not completely inside this range gets BAD_RANGE. Reads are
    // whole words, so the handle must reach to the next multiple of 4 after each stream's end.
    SluiceBuffer source;
    // 4-byte aligned. A stream whose destination range is not completely inside this range gets
    // BAD_RANGE. The destination ranges must not overlap: bytes that several streams write are
    // unspecified, but nothing else is affected.
    SluiceBuffer destination;
    // maxTileCount * 4 bytes, 4-byte aligned: the checksums that the tiles must have, in the order
    // of the tile statuses. If this range is empty (size 0), no checksums are compared.
    SluiceBuffer expected;
    // maxStreamCount * 16 + 16 bytes, 4-byte aligned: a SluiceStreamResult per stream, then a
    // SluiceStreamSummary.
    SluiceBuffer results;
    // (maxTileCount + 2) * 4 bytes, 4-byte aligned: a SluiceTileStatus per tile, then the number of
    // tiles that failed, and the index of the first failed tile or 0xffffffff. The tiles of a
    // stream are those from firstTile to firstTile + tileCount - 1 of its result.
    SluiceBuffer status;
    // The size that sluiceGetTileStreamsRequirements returns: 32 bytes per tile, 4 per stream, and
    // the scratch of scan and decode.
    SluiceBuffer scratch;
} SluiceTileStreamsInfo;

// Reads only maxStreamCount, maxTileCount and flags. Errors: ARGUMENT, UNSUPPORTED (BY_DRIVER).
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
