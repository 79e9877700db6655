// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes whole tile streams (docs/format.md, 2), one stream per workgroup, in three passes. CHECK
// parses each stream's header and table, and counts its tiles. A scan then replaces each count by
// the number of the stream's first tile. WRITE writes the regions of the tiles, which the GDeflate
// kernel decodes next. VERDICT sets the streams' statuses by the statuses of their tiles.
//
// The includer defines kThreads, the size of a workgroup.
#ifndef SLUICE_KERNELS_TILE_STREAMS_H
#define SLUICE_KERNELS_TILE_STREAMS_H

#include "../compat.h"
#include "../layout/gdeflate.h"
#include "../layout/tile_streams.h"

SLUICE_KERNEL_BEGIN

// The indices of words in a SluiceStreamResult, which each stream has, and in the
// SluiceStreamSummary after all results.
SLUICE_CONSTANT u32 kStatus = 0u, kFirstTile = 1u, kTileCount = 2u, kSize = 3u, kResultWords = 4u;
SLUICE_CONSTANT u32 kFailedStreams = 0u, kFirstFailedStream = 1u, kTilesDecoded = 2u,
                    kTilesNeeded = 3u;

// Flags for what an invocation finds.
SLUICE_CONSTANT u32 kBad = 1u;        // CHECK: a table entry breaks a rule; VERDICT: a tile failed
SLUICE_CONSTANT u32 kUnverified = 2u; // a tile was given to the driver
SLUICE_CONSTANT u32 kStopped = 4u;    // the driver has left a loop early (sgLoopsGoOn)
SLUICE_SHARED u32 sFound;

// Returns, in invocation 0, the OR of what all invocations of the workgroup have found.
SLUICE_DEVICE u32 wgFound(u32 found) {
    if (wgInvocation() == 0u) sFound = 0u;
    wgBarrierShared();
    if (found != 0u) atomicOr(SLUICE_AT(sFound), found);
    wgBarrierShared();
    return sFound;
}

// Properties of a stream, the same in all invocations.
struct TileStream {
    u64 source, sourceSize, destination, destinationSize; // addresses and bytes
    // lastSize: the decoded bytes of the last tile. size: those of the whole stream.
    u32 tileCount, lastSize, size;
};

// Returns how many bytes a range of `size` bytes has from `offset` on; 0 if `offset` is past its
// end.
SLUICE_DEVICE u64 bytesFrom(u64 offset, u64 size) {
    return less64(size, offset) ? wide(0u) : sub64(size, offset);
}

// Reads entry `index` of the list and the stream's header. Returns SLUICE_STREAM_ST_PENDING if both
// are good, otherwise the stream's status.
SLUICE_DEVICE u32 readHeader(SLUICE_IN(TileStreamsParams) p, u32 index,
                             SLUICE_OUT(TileStream, stream)) {
    u64 from, to;
    if (p.hasPairs != 0u) {
        u64 entry = add64(u64Of(p.streams), 4u + 8u * index);
        from = wide(loadWord(entry, 0u));
        to = wide(loadWord(entry, 1u));
        stream.sourceSize = bytesFrom(from, u64Of(p.sourceSize));
        stream.destinationSize = bytesFrom(to, u64Of(p.destinationSize));
    } else {
        u64 entry = add64(u64Of(p.streams), mul64(index, 32u));
        from = loadU64(entry, 0u);
        to = loadU64(entry, 2u);
        stream.sourceSize = loadU64(entry, 1u);
        stream.destinationSize = loadU64(entry, 3u);
    }
    stream.source = add64(u64Of(p.source), from);
    stream.destination = add64(u64Of(p.destination), to);
    stream.tileCount = stream.lastSize = stream.size = 0u;
    if (((lowWord(from) | lowWord(to)) & 3u) != 0u ||
        !inside64(from, stream.sourceSize, kNull, u64Of(p.sourceSize)) ||
        !inside64(to, stream.destinationSize, kNull, u64Of(p.destinationSize)))
        return SLUICE_STREAM_ST_BAD_RANGE;
    if (less64(stream.sourceSize, wide(8u))) return SLUICE_STREAM_ST_TRUNCATED;
    // The header has, from the lowest bit on: u8 identifier, u8 identifier ^ 0xff, u16 tile count;
    // then 2 bits tile size index, 18 bits last tile's size, 12 bits reserved.
    u32 first = loadWord(stream.source, 0u), second = loadWord(stream.source, 1u);
    u32 count = first >> 16, last = second >> 2 & 0x3ffffu;
    if (((first ^ (first >> 8)) & 0xffu) != 0xffu) return SLUICE_STREAM_ST_BAD_HEADER;
    if ((second & 3u) != SLUICE_STREAM_TILE_SIZE_INDEX) return SLUICE_STREAM_ST_TILE_SIZE;
    if (second >> 20 != 0u || last > SLUICE_GD_TILE_BYTES || (count == 0u && last != 0u))
        return SLUICE_STREAM_ST_BAD_HEADER;
    if (less64(stream.sourceSize, wide(8u + 4u * count))) return SLUICE_STREAM_ST_TRUNCATED;
    stream.tileCount = count;
    stream.lastSize = last == 0u ? SLUICE_GD_TILE_BYTES : last;
    stream.size = count == 0u ? 0u : (count - 1u) * SLUICE_GD_TILE_BYTES + stream.lastSize;
    return SLUICE_STREAM_ST_PENDING;
}

// Returns entry i of the table.
SLUICE_DEVICE u32 tableEntry(SLUICE_IN(TileStream) stream, u32 i) {
    return loadWord(add64(stream.source, 8u), i);
}
// Returns the offset of tile i's compressed bytes, counted from the end of the table. Tile 0 begins
// at 0 and has no entry of its own: entry 0 is the compressed size of the last tile.
SLUICE_DEVICE u32 tileBegin(SLUICE_IN(TileStream) stream, u32 i) {
    return i == 0u ? 0u : tableEntry(stream, i);
}
SLUICE_DEVICE u32 compressedSize(SLUICE_IN(TileStream) stream, u32 i) {
    if (i + 1u == stream.tileCount) return tableEntry(stream, 0u);
    return tableEntry(stream, i + 1u) - tileBegin(stream, i);
}

// Returns whether tile i's entry breaks a rule.
SLUICE_DEVICE bool isBadEntry(SLUICE_IN(TileStream) stream, u32 i) {
    u32 size = compressedSize(stream, i);
    if (size - 1u >= SLUICE_GD_MAX_COMPRESSED) return true;
    return i + 1u != stream.tileCount &&
           (tableEntry(stream, i + 1u) <= tileBegin(stream, i) || (size & 3u) != 0u);
}

// Checks the rules about the table as a whole. Returns SLUICE_STREAM_ST_PENDING if none is broken,
// otherwise the stream's status. bytesMayFollow: the source may have more bytes after the stream.
SLUICE_DEVICE u32 checkEnd(SLUICE_IN(TileStream) stream, bool bytesMayFollow) {
    u64 end = wide(8u + 4u * stream.tileCount);
    if (stream.tileCount != 0u) {
        end = add64(end, tileBegin(stream, stream.tileCount - 1u));
        end = add64(end, tableEntry(stream, 0u));
    }
    if (less64(stream.sourceSize, end)) return SLUICE_STREAM_ST_TRUNCATED;
    if (!bytesMayFollow && end != stream.sourceSize) return SLUICE_STREAM_ST_BAD_TABLE;
    return less64(stream.destinationSize, wide(stream.size)) ? SLUICE_STREAM_ST_NO_SPACE
                                                             : SLUICE_STREAM_ST_PENDING;
}

// All loops over a stream's tiles count from 0, because lavapipe of Mesa 22.3 drops the code after
// a loop that counts from the invocation's number on (docs/portability.md).

// Does the pass CHECK for stream `index`; `there` says that the list has a stream with this number.
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
                                          : checkEnd(stream, p.hasPairs != 0u);
        good = status == SLUICE_STREAM_ST_PENDING;
    }
    u64 result = add64(u64Of(p.results), mul64(index, 4u * kResultWords));
    u32 tileCount = good ? stream.tileCount : 0u;
    storeWord(result, kStatus, status);
    storeWord(result, kTileCount, tileCount);
    storeWord(result, kSize, good ? stream.size : 0u);
    storeWord(u64Of(p.counts), index, tileCount);
}

// Does the pass WRITE for stream `index`: writes the region of each of its tiles, that is, an entry
// of the list that is decoded next.
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
            // The list of regions is full, so only the tiles of the streams before this one are
            // decoded.
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

// Does the pass VERDICT for stream `index`: sets its final status.
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
            // If the list has more than maxStreamCount pairs, the rest of them count as failed.
            u32 left = p.hasPairs == 0u ? 0u : loadWord(u64Of(p.streamCount), 0u) - count;
            storeWord(summary, kFailedStreams, left);
            storeWord(summary, kFirstFailedStream, left == 0u ? 0xffffffffu : count);
            storeWord(summary, kTilesDecoded, 0u);
            storeWord(summary, kTilesNeeded, 0u);
        }
    }
    // One workgroup is dispatched even for an empty list, to clear the summary.
    if (index >= p.maxStreamCount) return;
    if (p.pass == SLUICE_STREAMS_CHECK)
        checkStream(p, index, index < count);
    else if (p.pass == SLUICE_STREAMS_WRITE)
        writeStream(p, index);
    else if (index < count)
        judgeStream(p, index);
}

SLUICE_KERNEL_END
#endif
