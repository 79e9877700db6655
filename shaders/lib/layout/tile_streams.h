// SPDX-License-Identifier: MIT OR Apache-2.0
// Whole tile streams.
#ifndef SLUICE_LAYOUT_TILE_STREAMS_H
#define SLUICE_LAYOUT_TILE_STREAMS_H

#include "regions.h"

SLUICE_LAYOUT_BEGIN

// Statuses of a tile stream; the same values as SluiceStreamStatus.
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

// Passes of tile_streams.comp checks each stream's header and table; writes its status, and its
// number of tiles into counts
#define SLUICE_STREAMS_CHECK 0u
#define SLUICE_STREAMS_WRITE 1u   // counts hold the first tiles now; writes the regions
#define SLUICE_STREAMS_VERDICT 2u // after the decode; writes the final status of each stream

// Push constants of tile_streams.comp.
struct TileStreamsParams {
    SLUICE_ADDRESS streams;
    SLUICE_ADDRESS streamCount; // 0: none, maxStreamCount counts
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize; // logical bytes
    SLUICE_ADDRESS results;         // 4 words a stream, then 4 of summary
    SLUICE_ADDRESS counts;          // a word a stream
    SLUICE_ADDRESS regions;
    SLUICE_ADDRESS status; // of the tiles
    SLUICE_ADDRESS zeroed; // the scan's scratch, which CHECK clears
    u32 zeroedWords;       // at most 128 a stream, and 128 if there are none
    u32 maxStreamCount;
    u32 maxTileCount;
    u32 pass;
};

SLUICE_LAYOUT_END
#endif
