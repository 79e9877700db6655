// SPDX-License-Identifier: MIT OR Apache-2.0
// Whole tile streams, one stream per workgroup. CHECK parses the stream's header and table
// (docs/format.md, 2), a scan turns the tile counts into first tiles, WRITE writes the regions that
// the GDeflate kernel decodes, and VERDICT summarizes the result.
//
// kThreads is the size of a workgroup.
#ifndef SLUICE_KERNELS_TILE_STREAMS_H
#define SLUICE_KERNELS_TILE_STREAMS_H

#include "../compat.h"
#include "../layout/gdeflate.h"
#include "../layout/tile_streams.h"

SLUICE_KERNEL_BEGIN

// Words of SluiceStreamResult and, behind all results, of SluiceStreamSummary.
SLUICE_CONSTANT u32 kStatus = 0u, kFirstTile = 1u, kTileCount = 2u, kSize = 3u, kResultWords = 4u;
SLUICE_CONSTANT u32 kFailedStreams = 0u, kFirstFailedStream = 1u, kTilesDecoded = 2u,
                    kTilesNeeded = 3u;

// Flags that an invocation sets for what it finds.
SLUICE_CONSTANT u32 kBad = 1u;        // a table entry breaks a rule; a tile failed
SLUICE_CONSTANT u32 kUnverified = 2u; // a tile was given to the driver
SLUICE_CONSTANT u32 kStopped = 4u;    // a driver has left a loop early
SLUICE_SHARED u32 sFound;

// Returns, in invocation 0, what all invocations of the workgroup have found.
SLUICE_DEVICE u32 wgFound(u32 found) {
    if (wgInvocation() == 0u) sFound = 0u;
    wgBarrierShared();
    if (found != 0u) atomicOr(SLUICE_AT(sFound), found);
    wgBarrierShared();
    return sFound;
}

// Properties of a stream, which are the same in all invocations.
struct TileStream {
    u64 source, sourceSize, destination, destinationSize; // addresses and bytes
    u32 tileCount, lastSize, size;                        // size is that of the decoded stream
};

// Reads the entry of the list and the stream's header. Returns PENDING if both are good.
SLUICE_DEVICE u32 readHeader(SLUICE_IN(TileStreamsParams) p, u32 index,
                             SLUICE_OUT(TileStream, stream)) {
    u64 entry = add64(u64Of(p.streams), mul64(index, 32u));
    u64 from = loadU64(entry, 0u), to = loadU64(entry, 2u);
    stream.source = add64(u64Of(p.source), from);
    stream.sourceSize = loadU64(entry, 1u);
    stream.destination = add64(u64Of(p.destination), to);
    stream.destinationSize = loadU64(entry, 3u);
    stream.tileCount = stream.lastSize = stream.size = 0u;
    if (((lowWord(from) | lowWord(to)) & 3u) != 0u ||
        !inside64(from, stream.sourceSize, kNull, u64Of(p.sourceSize)) ||
        !inside64(to, stream.destinationSize, kNull, u64Of(p.destinationSize)))
        return SLUICE_STREAM_ST_BAD_RANGE;
    if (less64(stream.sourceSize, wide(8u))) return SLUICE_STREAM_ST_TRUNCATED;
    // u8 id = 4, u8 id ^ 0xff, u16 tile count; tile size index : 2, last tile's size : 18, reserved
    // : 12
    u32 first = loadWord(stream.source, 0u), second = loadWord(stream.source, 1u);
    u32 count = first >> 16, last = second >> 2 & 0x3ffffu;
    if ((first & 0xffffu) != 0xfb04u || (second & 3u) != 1u || second >> 20 != 0u ||
        last > SLUICE_GD_TILE_BYTES || (count == 0u && last != 0u))
        return SLUICE_STREAM_ST_BAD_HEADER;
    if (less64(stream.sourceSize, wide(8u + 4u * count))) return SLUICE_STREAM_ST_TRUNCATED;
    stream.tileCount = count;
    stream.lastSize = last == 0u ? SLUICE_GD_TILE_BYTES : last;
    stream.size = count == 0u ? 0u : (count - 1u) * SLUICE_GD_TILE_BYTES + stream.lastSize;
    return SLUICE_STREAM_ST_PENDING;
}

SLUICE_DEVICE u32 tableEntry(SLUICE_IN(TileStream) stream, u32 i) {
    return loadWord(add64(stream.source, 8u), i);
}
// Entry 0 is the compressed size of the last tile; tile 0 begins at 0.
SLUICE_DEVICE u32 tileBegin(SLUICE_IN(TileStream) stream, u32 i) {
    return i == 0u ? 0u : tableEntry(stream, i);
}
SLUICE_DEVICE u32 compressedSize(SLUICE_IN(TileStream) stream, u32 i) {
    if (i + 1u == stream.tileCount) return tableEntry(stream, 0u);
    return tableEntry(stream, i + 1u) - tileBegin(stream, i);
}

SLUICE_DEVICE bool isBadEntry(SLUICE_IN(TileStream) stream, u32 i) {
    u32 size = compressedSize(stream, i);
    if (size - 1u >= SLUICE_GD_MAX_COMPRESSED) return true;
    return i + 1u != stream.tileCount &&
           (tableEntry(stream, i + 1u) <= tileBegin(stream, i) || (size & 3u) != 0u);
}

// Checks the rules of the table as a whole.
SLUICE_DEVICE u32 checkEnd(SLUICE_IN(TileStream) stream) {
    u64 end = wide(8u + 4u * stream.tileCount);
    if (stream.tileCount != 0u) {
        end = add64(end, tileBegin(stream, stream.tileCount - 1u));
        end = add64(end, tableEntry(stream, 0u));
    }
    if (end != stream.sourceSize)
        return less64(stream.sourceSize, end) ? SLUICE_STREAM_ST_TRUNCATED
                                              : SLUICE_STREAM_ST_BAD_TABLE;
    return less64(stream.destinationSize, wide(stream.size)) ? SLUICE_STREAM_ST_NO_SPACE
                                                             : SLUICE_STREAM_ST_PENDING;
}

// Loops over a stream's tiles begin at 0, because Mesa 22.3's lavapipe drops the code after other
// loops.

SLUICE_DEVICE void checkStream(SLUICE_IN(TileStreamsParams) p, u32 index, bool there) {
    u32 status = SLUICE_STREAM_ST_PENDING, found = 0u;
    TileStream stream;
    stream.tileCount = stream.size = 0u;
    if (there) status = readHeader(p, index, stream);
    for (u32 base = 0u; base < stream.tileCount; base += kThreads) {
        u32 i = base + wgInvocation();
        if (i < stream.tileCount && isBadEntry(stream, i)) found = kBad;
    }
    found = wgFound(sgLoopsGoOn() ? found : kStopped);
    if (wgInvocation() != 0u) return;
    bool good = there && status == SLUICE_STREAM_ST_PENDING;
    if (good) {
        status = (found & kStopped) != 0u ? SLUICE_STREAM_ST_INTERNAL
                 : found != 0u            ? SLUICE_STREAM_ST_BAD_TABLE
                                          : checkEnd(stream);
        good = status == SLUICE_STREAM_ST_PENDING;
    }
    u64 result = add64(u64Of(p.results), mul64(index, 4u * kResultWords));
    u32 tileCount = good ? stream.tileCount : 0u;
    storeWord(result, kStatus, status);
    storeWord(result, kTileCount, tileCount);
    storeWord(result, kSize, good ? stream.size : 0u);
    storeWord(u64Of(p.counts), index, tileCount);
}

SLUICE_DEVICE void writeStream(SLUICE_IN(TileStreamsParams) p, u32 index) {
    u64 result = add64(u64Of(p.results), mul64(index, 4u * kResultWords));
    u64 summary = add64(u64Of(p.results), mul64(p.maxStreamCount, 4u * kResultWords));
    u32 first = loadWord(u64Of(p.counts), index), tiles = loadWord(result, kTileCount);
    bool fits = first <= p.maxTileCount && tiles <= p.maxTileCount - first;
    if (wgInvocation() == 0u) {
        storeWord(result, kFirstTile, first);
        if (index + 1u == p.maxStreamCount) storeWord(summary, kTilesNeeded, first + tiles);
        if (tiles != 0u && !fits) {
            storeWord(result, kStatus, SLUICE_STREAM_ST_NO_TILES);
            // the tiles of the streams before this one are decoded
            atomicMinWord(summary, kTilesDecoded, first);
        }
    }
    TileStream stream;
    if (tiles == 0u || !fits || readHeader(p, index, stream) != SLUICE_STREAM_ST_PENDING) return;
    u64 regions = add64(u64Of(p.regions), mul64(first, 32u));
    u64 data = add64(stream.source, 8u + 4u * stream.tileCount);
    tiles = min(tiles, stream.tileCount);
    for (u32 base = 0u; base < tiles; base += kThreads) {
        u32 i = base + wgInvocation();
        if (i < tiles) {
            storeU64(regions, 4u * i, add64(data, tileBegin(stream, i)));
            storeU64(regions, 4u * i + 1u, add64(stream.destination, i * SLUICE_GD_TILE_BYTES));
            storeU64(regions, 4u * i + 2u, wide(compressedSize(stream, i)));
            storeU64(regions, 4u * i + 3u,
                     wide(i + 1u == stream.tileCount ? stream.lastSize : SLUICE_GD_TILE_BYTES));
        }
    }
    if (!sgLoopsGoOn()) storeWord(result, kStatus, SLUICE_STREAM_ST_INTERNAL);
}

SLUICE_DEVICE void judgeStream(SLUICE_IN(TileStreamsParams) p, u32 index) {
    u64 result = add64(u64Of(p.results), mul64(index, 4u * kResultWords));
    u64 summary = add64(u64Of(p.results), mul64(p.maxStreamCount, 4u * kResultWords));
    u32 status = loadWord(result, kStatus), found = 0u;
    bool decoded = status == SLUICE_STREAM_ST_PENDING;
    if (decoded) {
        u32 first = loadWord(result, kFirstTile), tiles = loadWord(result, kTileCount);
        for (u32 base = 0u; base < tiles; base += kThreads) {
            u32 i = base + wgInvocation();
            u32 tile = i < tiles ? loadWord(u64Of(p.status), first + i) : SLUICE_ST_OK;
            found |= tile == SLUICE_ST_OK ? 0u : tile == SLUICE_ST_UNVERIFIED ? kUnverified : kBad;
        }
    }
    found = wgFound(sgLoopsGoOn() ? found : kStopped);
    if (wgInvocation() != 0u) return;
    if (decoded) {
        status = (found & kStopped) != 0u ? SLUICE_STREAM_ST_INTERNAL
                 : (found & kBad) != 0u   ? SLUICE_STREAM_ST_BAD_TILE
                 : found != 0u            ? SLUICE_STREAM_ST_UNVERIFIED
                                          : SLUICE_STREAM_ST_OK;
        storeWord(result, kStatus, status);
    }
    if (status != SLUICE_STREAM_ST_OK && status != SLUICE_STREAM_ST_UNVERIFIED) {
        atomicAddWord(summary, kFailedStreams, 1u);
        atomicMinWord(summary, kFirstFailedStream, index);
    }
}

SLUICE_DEVICE void tileStreams(SLUICE_IN(TileStreamsParams) p, u32 index) {
    u32 count = countOf(u64Of(p.streamCount), p.maxStreamCount);
    if (p.pass == SLUICE_STREAMS_CHECK) {
        u32 word = index * kThreads + wgInvocation();
        if (word < p.zeroedWords) storeWord(u64Of(p.zeroed), word, 0u);
        if (index == 0u && wgInvocation() == 0u) {
            u64 summary = add64(u64Of(p.results), mul64(p.maxStreamCount, 4u * kResultWords));
            storeWord(summary, kFailedStreams, 0u);
            storeWord(summary, kFirstFailedStream, 0xffffffffu);
            storeWord(summary, kTilesDecoded, 0u);
            storeWord(summary, kTilesNeeded, 0u);
        }
    }
    if (index >= p.maxStreamCount) return; // the workgroup of an empty list
    if (p.pass == SLUICE_STREAMS_CHECK)
        checkStream(p, index, index < count);
    else if (p.pass == SLUICE_STREAMS_WRITE)
        writeStream(p, index);
    else if (index < count)
        judgeStream(p, index);
}

SLUICE_KERNEL_END
#endif
