// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction in one pass with decoupled look-back.
//
// A tile stays in registers until its place is known. Then each subgroup gathers what it keeps of a row in shared memory and
// writes it from there, so that stores are of consecutive words; elements of 1 and 2 bytes are gathered by whole tiles and
// packed. Where there are many tiles a workgroup is one tile ahead of itself: while it holds a tile, the next one is loaded
// and its count published before anybody waits for what lies before the first.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/compact_tile.glsl"
#include "lib/lookback.glsl"

layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer WordsStored {
    uint w[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) buffer CompactHead {
    uint unused_[2];
    coherent uint kept; // partition: by all tiles; SERIAL: so far
};

// What is kept of a row of each subgroup, or of a tile. (A row each, not a tile: shared memory is what NVIDIA's Vulkan has least
// of, 48 KB a processor.)
shared uint sGathered[kSmall ? kTile : kRowWords * gl_WorkGroupSize.x];
shared uint sNext; // ticket

uint workgroupIndex() { return gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x; }

bool lookbackTile(uint index, out uint value) {
    value = tileKept(tileAt(index, elementCount()));
    return false;
}

// ---------------------------------------------------------------------------------------------------------------
// From registers to where they belong: elements, or their indices

// How many of `count` fit from position `to` on.
uint fitting(bool indices, uint count, uint to) {
    uint capacity = indices ? p.indexCapacity : p.capacity;
    return min(count, capacity - min(to, capacity));
}

uvec2 targetAt(bool indices, uint to) {
    return add64(indices ? p.indices : p.output_, mul64(to, indices ? 4u : kBytes));
}

// By whole subgroups: shared memory of a row.
void rowBarrier() {
#ifdef SLUICE_EMU
    wgBarrierShared();
#else
    subgroupMemoryBarrierShared();
    subgroupBarrier();
#endif
}

// Gathers what the subgroup keeps of a row: elements, or their indices. Small branches, for each becomes one conditional store.
void gatherElements(uint row, Elements e) {
    uint place = sgIndex() * (kPerRow * kSubgroupSize) + lanesBelow(e, row);
    [[unroll]] for (uint i = 0u; i < kPerRow; i++) {
        uint keep = e.keep >> row * kPerRow + i & 1u;
        if (keep != 0u) {
            [[unroll]] for (uint k = 0u; k < kWords; k++)
                sGathered[place * kWords + k] = e.rows[row].w[i * kWords + k];
        }
        place += keep;
    }
}
void gatherIndices(uint row, Elements e, uint start) {
    uint place = sgIndex() * (kRowWords * kSubgroupSize) + lanesBelow(e, row), index = start + rowStart(row);
    [[unroll]] for (uint i = 0u; i < kPerRow; i++) {
        uint keep = e.keep >> row * kPerRow + i & 1u;
        if (keep != 0u)
            sGathered[place] = index + i;
        place += keep;
    }
}

// Writes what was gathered, elements or indices of `words` words. One after the other, without a loop: the compiler knows the
// distances.
//   place  where the row goes from target on; in the end that of the next row
//   fits   how many are written in all
void storeRow(uint row, Elements e, uint words, uvec2 target, uint fits, inout uint place) {
    rowBarrier();
    uint kept = keptBySubgroup(e, row), count = min(kept, fits - min(place, fits)) * words, lane = sgLane();
    uvec2 first = add64(target, 4u * (place * words + lane)); // less than a tile from target
    uint at = sgIndex() * (kRowWords * kSubgroupSize) + lane;
    [[unroll]] for (uint i = 0u; i < kRowWords; i++)
        if (lane + i * kSubgroupSize < count)
            WordsStored(first).w[i * kSubgroupSize] = sGathered[at + i * kSubgroupSize];
    rowBarrier(); // before the next row is gathered
    place += kept;
}

// What a tile keeps; `prefix` are kept before it. By the whole workgroup.
//   start  of the tile
//   fits   how many are written
void emit(Elements e, uint start, bool indices, uint prefix, uint fits) {
    uint place = e.before;
    uvec2 target = targetAt(indices, prefix);
    // Written out: NVIDIA's compiler (580) does not unroll loops with barriers or votes everywhere.
    if (indices) {
#define SLUICE_EMIT(row) gatherIndices(row, e, start); storeRow(row, e, 1u, target, fits, place);
        SLUICE_EMIT(0u) SLUICE_EMIT(1u) SLUICE_EMIT(2u) SLUICE_EMIT(3u)
#undef SLUICE_EMIT
    } else {
#define SLUICE_EMIT(row) gatherElements(row, e); storeRow(row, e, kWords, target, fits, place);
        SLUICE_EMIT(0u) SLUICE_EMIT(1u) SLUICE_EMIT(2u) SLUICE_EMIT(3u)
#undef SLUICE_EMIT
    }
}

// The rest of a tile.
void emitRest(Tile tile, Elements e, bool indices, uvec2 target, uint fits) {
    uint place = e.before;
    [[unroll]] for (uint row = 0u; row < kRows; row++) {
        uint rank = place + lanesBelow(e, row);
        [[unroll]] for (uint i = 0u; i < kPerRow; i++) {
            uint keep = e.keep >> row * kPerRow + i & 1u, element = rowStart(row) + i, at = element - rank;
            if (keep == 0u && element < tile.size && at < fits) {
                if (indices) {
                    WordsStored(target).w[at] = tile.start + element;
                } else {
                    [[unroll]] for (uint k = 0u; k < kWords; k++)
                        WordsStored(target).w[at * kWords + k] = e.rows[row].w[i * kWords + k];
                }
            }
            rank += keep;
        }
        place += keptBySubgroup(e, row);
    }
}

// Elements of 1 and 2 bytes to shared memory: what is kept to the front; rest: and what is not behind it.
void gatherTile(Tile tile, Elements e, bool rest) {
    uint place = e.before;
    [[unroll]] for (uint row = 0u; row < kRows; row++) {
        uint rank = place + lanesBelow(e, row);
        [[unroll]] for (uint i = 0u; i < kPerRow; i++) {
            uint keep = e.keep >> row * kPerRow + i & 1u, element = rowStart(row) + i;
            if (keep != 0u || (rest && element < tile.size))
                sGathered[keep != 0u ? rank : e.kept + element - rank] = e.rows[row].w[i];
            rank += keep;
        }
        place += keptBySubgroup(e, row);
    }
}

// `count` of them, packed. Words at the ends may be shared with other workgroups.
void storeSmall(uvec2 target, uint from, uint count) {
    uint lead = target.x & 3u, bytes = lead + count * kBytes;
    uvec2 words = uvec2(target.x & ~3u, target.y);
    for (uint i = wgInvocation(); 4u * i < bytes; i += gl_WorkGroupSize.x) {
        uint value = 0u, begin = i == 0u ? lead : 0u, end = min(bytes - 4u * i, 4u);
        [[unroll]] for (uint b = 0u; b < 4u; b += kBytes)
            if (b >= begin && b < end)
                value |= sGathered[from + (4u * i + b - lead) / kBytes] << 8u * b;
        storeWord(add64(words, 4u * i), value, begin, end);
    }
}

// A tile's elements, or their indices; `prefix` are kept before it. By the whole workgroup.
//   parted  what is not kept, too, to restAt
void store(Tile tile, Elements e, bool indices, uint prefix, bool parted, uint restAt) {
    uint fits = fitting(indices, e.kept, prefix), restFits = fitting(indices, tile.size - e.kept, restAt);
    if (kSmall && !indices) {
        gatherTile(tile, e, parted);
        wgBarrierShared();
        storeSmall(targetAt(false, prefix), 0u, fits);
        if (parted)
            storeSmall(targetAt(false, restAt), e.kept, restFits);
        wgBarrierShared();
    } else {
        emit(e, tile.start, indices, prefix, fits);
        if (parted)
            emitRest(tile, e, indices, targetAt(indices, restAt), restFits);
    }
}

// ---------------------------------------------------------------------------------------------------------------

void storeResult(uint kept) {
    if (wgInvocation() != 0u)
        return;
    if (p.resultCount != uvec2(0u))
        WordsStored(p.resultCount).w[0] = kept;
    uint groups = kept / p.argumentDivisor + (kept % p.argumentDivisor != 0u ? 1u : 0u);
    if (p.argument != uvec2(0u))
        WordsStored(p.argument).w[0] = min(groups, p.argumentLimit);
}

// Where the first element of a tile that is not kept goes: behind all that are.
uint restStart(Tile tile, Elements e, uint prefix) {
    return (p.workgroups > 1u ? CompactHead(p.scratch).kept : e.kept) + tile.start - prefix;
}

// Returns how many elements this tile and those before it keep.
//   published  its count is known to the others
//   last       the workgroup's last tile, after which it leaves the look-back
//   prefix     what the tiles before it keep, where there is no look-back
uint compactOne(uint index, uint count, uint tiles, bool published, bool last, uint prefix) {
    bool inPlace = hasMode(SLUICE_COMPACT_MODE_IN_PLACE), parted = hasMode(SLUICE_COMPACT_MODE_PARTITION);
    Tile tile = tileAt(index, count);
    Elements e;
    loadElements(tile, tile.wide, e);
    if (hasMode(SLUICE_COMPACT_MODE_IN_PLACE | SLUICE_COMPACT_MODE_SERIAL))
        memoryBarrierBuffer(); // read before others learn that it may be overwritten
    rankElements(e);
    if (p.workgroups > 1u) {
        if (!published)
            lookbackPublish(p.scratch, index, e.kept, false, inPlace);
        prefix = lookbackWait(p.scratch, index, e.kept, false, p.polls, inPlace, hasMode(SLUICE_COMPACT_MODE_SCANNER));
    }
    uint restAt = parted ? restStart(tile, e, prefix) : 0u;
    if (last)
        lookbackLeave(p.scratch); // its latency passes behind the stores
    for (uint indices = p.output_ != uvec2(0u) ? 0u : 1u; indices < (p.indices != uvec2(0u) ? 2u : 1u); indices++)
        store(tile, e, indices != 0u, prefix, parted, restAt);
    if (index == tiles - 1u)
        storeResult(prefix + e.kept);
    wgBarrierShared(); // before shared memory is written again
    return prefix + e.kept;
}

// Not the invocation that publishes and waits.
bool takesTickets() { return wgInvocation() == gl_WorkGroupSize.x - 1u; }

// Wide tiles, one ahead; there is a scanner, and one kind of output. Returns tickets that are still to be dealt with: after
// waiting for long three, the first two of tiles whose count is published; else the first is for no wide tile, and the
// others for none. The fourth number is how many tickets it took, its share at most.
//
// Rounds without a tile to load load the first one and keep nothing of it: at every branch around subgroup operations NVIDIA's
// compiler (580) computes anew which lanes are there.
shared uvec4 sLate;
uvec4 compactAhead(uint ticket, uint count, uint wideTiles, uint tiles) {
    bool indices = p.output_ == uvec2(0u);
    uint current = tiles; // the tile that waits for what lies before it
    Elements e, next;
    [[unroll]] for (uint row = 0u; row < kRows; row++)
        [[unroll]] for (uint i = 0u; i < kRowWords; i++)
            next.rows[row].w[i] = 0u;
    e = next;
    e.keep = e.before = e.kept = 0u;
    e.lanes = e.totals = uint[2](0u, 0u);
    bool late = false;
    for (uint round = 0u; sgUniform(min(ticket, current) < wideTiles); round++) {
        bool loads = ticket < wideTiles, stores = current < wideTiles;
        LookbackState seen = lookbackPeek(p.scratch, stores ? current : 0u);
        uint taken = tiles; // known by the time that its tile can be loaded
        if (takesTickets() && loads && round + 1u < p.share)
            taken = lookbackTakeAlone(p.scratch);
        loadElements(wideTileAt(loads ? ticket : 0u), true, next);
        next.keep = mix(0u, next.keep, loads);
        rankElements(next);
        if (loads)
            lookbackPublish(p.scratch, ticket, next.kept, false, false);
        if (stores)
            lookbackAwait(p.scratch, current, p.polls, seen);
        if (takesTickets())
            sNext = taken;
        wgBarrierShared();
        uint following = sNext, prefix = sLookbackValue;
        bool waited = stores && sLookbackNext == 0u;
        if (kSmall && !indices) {
            if (sgUniform(waited))
                store(wideTileAt(current), e, false, prefix, false, 0u);
        } else {
            emit(e, current * kTile, indices, prefix, waited ? fitting(indices, e.kept, prefix) : 0u);
        }
        if (waited && current == tiles - 1u)
            storeResult(prefix + e.kept);
        if (stores && !waited) {
            if (wgInvocation() == 0u)
                sLate = uvec4(current, ticket, loads ? following : tiles, min(round + 2u, p.share));
            late = true;
            loads = false;
            ticket = tiles;
        }
        current = loads ? ticket : tiles;
        ticket = loads ? following : ticket;
        e = next;
    }
    wgBarrierShared();
    return late ? sLate : uvec4(ticket, tiles, tiles, p.share);
}

// All tiles of a workgroup. compactOne stands here once: every call is a copy of long code. Tiles come
//   by number  a tile a workgroup, without tickets; or one workgroup does one tile after the other (SERIAL): a single one, or
//              the only way in place where no workgroup may wait for another
//   by ticket  first what compactAhead leaves
void compactTiles(uint workgroup, uint count, uint tiles) {
    bool serial = hasMode(SLUICE_COMPACT_MODE_SERIAL), leaves = p.workgroups > 1u;
    bool tickets = leaves && !hasMode(SLUICE_COMPACT_MODE_DIRECT);
    uint published = 0u, prefix = 0u, end = tiles;
    uvec4 next = uvec4(0u, tiles, tiles, 1u); // tiles to do, and tickets taken
    if (tickets) {
        next.x = lookbackTicket(p.scratch);
        uint wideTiles = tileAt(0u, ~0u).wide ? count / kTile : 0u;
        if (hasMode(SLUICE_COMPACT_MODE_AHEAD) && wideTiles != 0u) {
            next = compactAhead(next.x, count, wideTiles, tiles);
            published = uint(next.x < wideTiles) + uint(next.x < wideTiles && next.y < wideTiles);
        }
    } else {
        next.x = serial ? p.first : workgroup - (hasMode(SLUICE_COMPACT_MODE_SCANNER) ? 1u : 0u);
        end = min(serial ? p.first + p.share : next.x + 1u, tiles);
        prefix = serial && p.first != 0u ? CompactHead(p.scratch).kept : 0u;
    }
    bool left = !tickets && next.x < end; // compactOne says so
    while (sgUniform(next.x < end)) {
        prefix = compactOne(next.x, count, tiles, published != 0u, leaves && !tickets, prefix);
        if (serial) {
            next.x++;
            continue;
        }
        published -= min(published, 1u);
        next.xyz = uvec3(next.yz, tiles);
        if (sgUniform(tickets && next.x >= tiles && next.w < p.share)) {
            next.x = lookbackTicket(p.scratch);
            next.w++;
        }
    }
    if (leaves && !left)
        lookbackLeave(p.scratch);
    if (serial && wgInvocation() == 0u)
        CompactHead(p.scratch).kept = p.first + p.share < tileCount(p.maxCount) ? prefix : 0u;
}

void countTiles(uint workgroup, uint count, uint tiles) {
    uint kept = 0u;
    for (uint index = workgroup; index < tiles; index += p.workgroups)
        kept += tileKept(tileAt(index, count));
    if (wgInvocation() == 0u)
        atomicAdd(CompactHead(p.scratch).kept, kept);
}

void main() {
    uint workgroup = workgroupIndex();
    if (workgroup >= p.workgroups)
        return; // the grid is a rectangle and may have some more

    uint count = elementCount();
    uint tiles = max(tileCount(count), 1u); // an empty input has one empty tile, which writes the result
    if (hasMode(SLUICE_COMPACT_MODE_COUNT)) {
        countTiles(workgroup, count, tiles);
        return;
    }
    if (hasMode(SLUICE_COMPACT_MODE_SCANNER) && workgroup == 0u) {
        lookbackScan(p.scratch, tiles, p.polls);
        lookbackLeave(p.scratch);
    } else {
        compactTiles(workgroup, count, tiles);
    }
    if (p.workgroups > 1u)
        lookbackClean(p.scratch, p.workgroups, tiles);
}
