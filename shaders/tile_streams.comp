// SPDX-License-Identifier: MIT OR Apache-2.0
// Tile streams taken whole: a workgroup a stream. CHECK parses its header and table
// (docs/format.md, 2), scan.comp turns the tile counts into first tiles, WRITE makes the regions
// that gdeflate.comp decodes, and VERDICT sums up what became of them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"

layout(push_constant, std430) uniform Push { TileStreamsParams p; };

const uint kResultWords = 4u; // of SluiceStreamResult: status, firstTile, tileCount, size

// What an invocation finds, or-ed.
const uint kBad = 1u;        // a table entry breaks a rule; a tile failed
const uint kUnverified = 2u; // a tile was given to the driver
shared uint sFound;

// All of these are uniform in the workgroup.
uvec2 gSource, gSourceSize; // the stream: its header's address, its bytes
uvec2 gDestination, gDestinationSize;
uint gTileCount, gLastSize, gSize; // size: decoded

// Reads the list's entry and the header. A good one stays PENDING.
uint readHeader(uint stream) {
    WordsIn range = WordsIn(add64(p.streams, mul64(stream, 32u)));
    uvec2 source = uvec2(range.w[0], range.w[1]), destination = uvec2(range.w[4], range.w[5]);
    gSourceSize = uvec2(range.w[2], range.w[3]);
    gDestinationSize = uvec2(range.w[6], range.w[7]);
    gSource = add64(p.source, source);
    gDestination = add64(p.destination, destination);
    gTileCount = 0u;
    if (((source.x | destination.x) & 3u) != 0u ||
        !inside64(source, gSourceSize, uvec2(0u), p.sourceSize) ||
        !inside64(destination, gDestinationSize, uvec2(0u), p.destinationSize))
        return SLUICE_STREAM_ST_BAD_RANGE;
    if (less64(gSourceSize, uvec2(8u, 0u))) return SLUICE_STREAM_ST_TRUNCATED;
    // u8 id = 4, u8 id ^ 0xff, u16 tile count; tile size index : 2, last tile's size : 18, reserved
    // : 12
    uint first = WordsIn(gSource).w[0], second = WordsIn(gSource).w[1];
    uint count = first >> 16, last = second >> 2 & 0x3ffffu;
    if ((first & 0xffffu) != 0xfb04u || (second & 3u) != 1u || second >> 20 != 0u ||
        last > SLUICE_GD_TILE_BYTES || (count == 0u && last != 0u))
        return SLUICE_STREAM_ST_BAD_HEADER;
    if (less64(gSourceSize, uvec2(8u + 4u * count, 0u))) return SLUICE_STREAM_ST_TRUNCATED;
    gTileCount = count;
    gLastSize = last == 0u ? SLUICE_GD_TILE_BYTES : last;
    gSize = count == 0u ? 0u : (count - 1u) * SLUICE_GD_TILE_BYTES + gLastSize;
    return SLUICE_STREAM_ST_PENDING;
}

uint tableEntry(uint i) { return WordsIn(add64(gSource, 8u)).w[i]; }
// Entry 0 is the compressed size of the last tile; tile 0 begins at 0.
uint tileBegin(uint i) { return i == 0u ? 0u : tableEntry(i); }

// This invocation's share of the table's entries. (Mesa 22.3's lavapipe wants loops that start at
// 0.)
uint checkEntries() {
    uint found = 0u;
    for (uint base = 0u; base < gTileCount; base += gl_WorkGroupSize.x) {
        uint i = base + wgInvocation();
        if (i < gTileCount) {
            bool last = i + 1u == gTileCount;
            uint begin = tileBegin(i), end = last ? begin + tableEntry(0u) : tableEntry(i + 1u);
            uint size = end - begin;
            if (size - 1u >= SLUICE_GD_MAX_COMPRESSED ||
                (!last && (end <= begin || (size & 3u) != 0u)))
                found = kBad;
        }
    }
    return found;
}

// The rest of the table's rules.
uint checkEnd() {
    uvec2 end = uvec2(8u + 4u * gTileCount, 0u);
    if (gTileCount != 0u) end = add64(add64(end, tileBegin(gTileCount - 1u)), tableEntry(0u));
    if (end != gSourceSize)
        return less64(gSourceSize, end) ? SLUICE_STREAM_ST_TRUNCATED : SLUICE_STREAM_ST_BAD_TABLE;
    return less64(gDestinationSize, uvec2(gSize, 0u)) ? SLUICE_STREAM_ST_NO_SPACE
                                                      : SLUICE_STREAM_ST_PENDING;
}

// This invocation's share of a stream's tiles.
uint checkTiles(uint first, uint tiles) {
    uint found = 0u;
    for (uint base = 0u; base < tiles; base += gl_WorkGroupSize.x) {
        uint i = base + wgInvocation();
        uint status = i < tiles ? WordsIn(p.status).w[first + i] : SLUICE_ST_OK;
        found |= status == SLUICE_ST_OK ? 0u : status == SLUICE_ST_UNVERIFIED ? kUnverified : kBad;
    }
    return found;
}

void writeRegions(uint first, uint tiles) {
    uvec2 source = add64(gSource, 8u + 4u * gTileCount);
    WordsOut regions = WordsOut(add64(p.regions, mul64(first, 32u)));
    for (uint base = 0u; base < tiles; base += gl_WorkGroupSize.x) {
        uint i = base + wgInvocation();
        if (i < tiles) {
            bool last = i + 1u == gTileCount;
            uint begin = tileBegin(i);
            uvec2 tile = add64(source, begin),
                  target = add64(gDestination, i * SLUICE_GD_TILE_BYTES);
            regions.w[8u * i] = tile.x;
            regions.w[8u * i + 1u] = tile.y;
            regions.w[8u * i + 2u] = target.x;
            regions.w[8u * i + 3u] = target.y;
            regions.w[8u * i + 4u] = last ? tableEntry(0u) : tableEntry(i + 1u) - begin;
            regions.w[8u * i + 5u] = 0u;
            regions.w[8u * i + 6u] = last ? gLastSize : SLUICE_GD_TILE_BYTES;
            regions.w[8u * i + 7u] = 0u;
        }
    }
}

void writeStream(uint stream, uint result, uint summary) {
    uint first = WordsIn(p.counts).w[stream], tiles = WordsIn(p.results).w[result + 2u];
    bool fits = first <= p.maxTileCount && tiles <= p.maxTileCount - first;
    if (wgInvocation() == 0u) {
        WordsOut(p.results).w[result + 1u] = first;
        if (stream + 1u == p.maxStreamCount)
            WordsOut(p.results).w[summary + 3u] = first + tiles; // needed
        if (tiles != 0u && !fits) {
            WordsOut(p.results).w[result] = SLUICE_STREAM_ST_NO_TILES;
            // decoded: those of the streams before this one
            atomicMin(WordsOut(p.results).w[summary + 2u], first);
        }
    }
    if (tiles != 0u && fits && readHeader(stream) == SLUICE_STREAM_ST_PENDING)
        writeRegions(first, min(tiles, gTileCount));
}

void main() {
    uint stream = wgIndex();
    uint streamCount = p.maxStreamCount;
    if (p.streamCount != uvec2(0u)) streamCount = min(streamCount, WordsIn(p.streamCount).w[0]);
    bool inList = stream < p.maxStreamCount, there = stream < streamCount;
    // words of p.results
    uint result = stream * kResultWords, summary = p.maxStreamCount * kResultWords;

    uint status = SLUICE_STREAM_ST_PENDING, found = 0u;
    gTileCount = gSize = 0u;
    if (p.pass == SLUICE_STREAMS_CHECK && there) {
        status = readHeader(stream);
        found = checkEntries();
    } else if (p.pass == SLUICE_STREAMS_WRITE && inList) {
        writeStream(stream, result, summary);
    } else if (p.pass == SLUICE_STREAMS_VERDICT && there) {
        status = WordsIn(p.results).w[result];
        if (status == SLUICE_STREAM_ST_PENDING)
            found =
                checkTiles(WordsIn(p.results).w[result + 1u], WordsIn(p.results).w[result + 2u]);
    }

    uint word = stream * gl_WorkGroupSize.x + wgInvocation();
    if (p.pass == SLUICE_STREAMS_CHECK && word < p.zeroedWords) WordsOut(p.zeroed).w[word] = 0u;

    if (wgInvocation() == 0u) sFound = 0u;
    wgBarrierShared();
    if (found != 0u) atomicOr(sFound, found);
    wgBarrierShared();
    if (wgInvocation() != 0u) return;

    if (p.pass == SLUICE_STREAMS_CHECK) {
        if (stream == 0u) {
            WordsOut(p.results).w[summary] = 0u;               // failed streams
            WordsOut(p.results).w[summary + 1u] = 0xffffffffu; // the first of them
            WordsOut(p.results).w[summary + 2u] = 0u;
            WordsOut(p.results).w[summary + 3u] = 0u;
        }
        if (there && status == SLUICE_STREAM_ST_PENDING)
            status = sFound != 0u ? SLUICE_STREAM_ST_BAD_TABLE : checkEnd();
        bool good = there && status == SLUICE_STREAM_ST_PENDING;
        if (inList) {
            WordsOut(p.results).w[result] = status;
            WordsOut(p.results).w[result + 2u] = good ? gTileCount : 0u;
            WordsOut(p.results).w[result + 3u] = good ? gSize : 0u;
            WordsOut(p.counts).w[stream] = good ? gTileCount : 0u;
        }
    } else if (p.pass == SLUICE_STREAMS_VERDICT && there) {
        if (status == SLUICE_STREAM_ST_PENDING) {
            status = (sFound & kBad) != 0u ? SLUICE_STREAM_ST_BAD_TILE
                     : sFound != 0u        ? SLUICE_STREAM_ST_UNVERIFIED
                                           : SLUICE_STREAM_ST_OK;
            WordsOut(p.results).w[result] = status;
        }
        if (status != SLUICE_STREAM_ST_OK && status != SLUICE_STREAM_ST_UNVERIFIED) {
            atomicAdd(WordsOut(p.results).w[summary], 1u);
            atomicMin(WordsOut(p.results).w[summary + 1u], stream);
        }
    }
}
