// SPDX-License-Identifier: MIT OR Apache-2.0
// The statuses and parameters of decodes of whole tile streams (docs/format.md, 2).
#ifndef SLUICE_LAYOUT_TILE_STREAMS_H
#define SLUICE_LAYOUT_TILE_STREAMS_H

#include "regions.h"

SLUICE_LAYOUT_BEGIN

// The statuses of tile streams, with the values of SluiceStreamStatus.
#define SLUICE_STREAM_ST_PENDING 0u
#define SLUICE_STREAM_ST_OK 1u
#define SLUICE_STREAM_ST_BAD_RANGE 2u
#define SLUICE_STREAM_ST_TRUNCATED 3u
#define SLUICE_STREAM_ST_BAD_HEADER 4u
#define SLUICE_STREAM_ST_BAD_TABLE 5u
#define SLUICE_STREAM_ST_NO_SPACE 6u
#define SLUICE_STREAM_ST_NO_TILES 7u
#define SLUICE_STREAM_ST_BAD_TILE 8u
#define SLUICE_STREAM_ST_UNVERIFIED 9u
#define SLUICE_STREAM_ST_INTERNAL 10u
#define SLUICE_STREAM_ST_TILE_SIZE 11u

// The passes of tile_streams.comp. CHECK checks the header and table of each stream; it writes the
// stream's status to `results` and its number of tiles to `counts`. Then a scan replaces each count
// by the number of the stream's first tile. WRITE writes the regions of the tiles, which are
// decoded next. VERDICT writes the final status of each stream.
#define SLUICE_STREAMS_CHECK 0u
#define SLUICE_STREAMS_WRITE 1u
#define SLUICE_STREAMS_VERDICT 2u

// A header's tile size index for tiles of 65,536 bytes, the only ones that are decoded.
#define SLUICE_STREAM_TILE_SIZE_INDEX 1u

// Push constants of tile_streams.comp.
struct TileStreamsParams {
    SLUICE_ADDRESS streams;
    SLUICE_ADDRESS streamCount; // 0: maxStreamCount is the number of streams
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize; // logical bytes, without padding of rows
    SLUICE_ADDRESS results;         // 4 words for each stream, then 4 words of summary
    SLUICE_ADDRESS counts;          // a word for each stream
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS status; // address of the tiles' statuses
    SLUICE_ADDRESS zeroed; // the scratch of the scan, which CHECK clears
    u32 zeroedWords;       // at most one for each invocation of CHECK
    u32 maxStreamCount;
    u32 maxTileCount;
    u32 pass;
    u32 hasPairs; // 1: `streams` has the form of SLUICE_TILE_STREAMS_PAIRS
};

SLUICE_LAYOUT_END
#endif
