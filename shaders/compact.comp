// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable compaction: writes the elements that pass a test, or their indices, or both, without gaps
// and in their order. In a *partition* the elements that do not pass follow those that do.
//
// The input is cut into *tiles*. A tile's output begins at its *prefix*, the number of elements
// that all tiles before it keep. Workgroups publish how many elements their tiles keep and look
// back at the counts of earlier tiles (lookback.glsl), so that one pass is enough. A tile's kept
// elements are gathered in shared memory and written from there, so that stores fill whole cache
// lines.
//
// If there are many tiles, a workgroup works one tile ahead: while a tile's kept elements are in
// shared memory, the workgroup loads the next tile and publishes its count. Only then does it wait
// for the first tile's prefix. src/cuda/compact.cu describes how CUDA differs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/loops.glsl"
#include "lib/compact_tile.glsl"
#include "lib/lookback.glsl"

// The start of the scratch.
layout(buffer_reference, std430, buffer_reference_align = 16) buffer CompactHead {
    uint lookback[2]; // the next ticket, and the number of workgroups that are done
    // In a partition, this is how many elements all tiles keep. In the mode SERIAL, it is how many
    // elements the tiles of earlier dispatches keep.
    coherent uint kept;
};

shared uint sTile[kRows * kRowWords * gl_WorkGroupSize.x]; // the kept elements of a tile
shared uint sNext; // the ticket of the workgroup's next tile

// Counts the kept elements of tile `index` from the input. The look-back calls this if the tile's
// workgroup does not publish the count in time. Returns false, because later tiles also need the
// counts of the tiles before this one.
bool lookbackTile(uint index, out uint value) {
    value = tileKept(tileAt(index, elementCount()));
    return false;
}

// -----------------------------------------------------------------------------------------------
// From registers to shared memory

// Gathers the kept elements of a tile in sTile, or their indices if `indices` is set. If `dropped`
// is set, the elements that are not kept follow them.
void gather(Tile tile, Elements e, bool indices, bool dropped) {
    SLUICE_UNROLL
    for (uint row = 0u; row < kRows; row++) {
        uint rank = e.ranks[row], at = rowStart(row);
        SLUICE_UNROLL
        for (uint i = 0u; i < kPerRow; i++) {
            bool keep = (e.keep >> (row * kPerRow + i) & 1u) != 0u;
            if (keep || (dropped && at + i < tile.size)) {
                uint place = keep ? rank : e.kept + at + i - rank;
                if (indices) {
                    sTile[place] = tile.start + at + i;
                } else {
                    SLUICE_UNROLL
                    for (uint k = 0u; k < kMostWords; k++)
                        if (!kWide || k < elementWords())
                            sTile[place * elementWords() + k] = e.rows[row].w[i * kMostWords + k];
                }
            }
            rank += keep ? 1u : 0u;
        }
    }
}

// -----------------------------------------------------------------------------------------------
// From shared memory to the output

// Stores `count` words of sTile, from index `from` on, at the address `target`. Invocation 0 stands
// for the beginning of the 128-byte cache line that contains `target`, not for `target` itself. So
// the stores of a subgroup fill whole cache lines.
void storeWords(uvec2 target, uint from, uint count) {
    uint lead = target.x >> 2 & 31u;
    for (uint i = wgInvocation(); i < count + lead; i += gl_WorkGroupSize.x)
        if (i >= lead) WordsStored(target).w[i - lead] = sTile[from + i - lead];
}

// Stores `count` elements of 1 or 2 bytes at the address `target`. sTile has a word for each
// element, from index `from` on; here they are packed. Other tiles may own some bytes of the first
// and last word of the output, so these bytes must not change.
void storeSmall(uvec2 target, uint from, uint count) {
    uint lead = target.x & 3u, bytes = lead + count * kBytes;
    uvec2 words = uvec2(target.x & ~3u, target.y);
    for (uint i = wgInvocation(); 4u * i < bytes; i += gl_WorkGroupSize.x) {
        uint value = 0u, begin = i == 0u ? lead : 0u, end = min(bytes - 4u * i, 4u);
        SLUICE_UNROLL
        for (uint b = 0u; b < 4u; b += kBytes)
            if (b >= begin && b < end)
                value |= sTile[from + (4u * i + b - lead) / kBytes] << 8u * b;
        storeWord(add64(words, 4u * i), value, begin, end);
    }
}

// Stores `count` entries of sTile, elements or `indices`, from entry `from` on. They go to index
// `to` of the output; entries that exceed its capacity are dropped.
void store(bool indices, uint from, uint count, uint to) {
    uint capacity = indices ? p.indexCapacity : p.capacity, size = indices ? 4u : elementBytes();
    uint fits = min(count, capacity - min(to, capacity)), words = indices ? 1u : elementWords();
    uvec2 target = add64(indices ? p.indices : p.output_, mul64(to, size));
    if (kSmall && !indices)
        storeSmall(target, from, fits);
    else
        storeWords(target, from * words, fits * words);
}

// -----------------------------------------------------------------------------------------------

// In a partition, the elements that are not kept follow the kept elements of all tiles. Returns the
// index in the output of this tile's first element that is not kept.
uint restStart(Tile tile, Elements e, uint prefix) {
    return (p.workgroups > 1u ? CompactHead(p.scratch).kept : e.kept) + tile.start - prefix;
}

// Compacts tile `index`. Returns how many elements this tile and all tiles before it keep. The kept
// elements are gathered in shared memory before the workgroup waits for the tile's prefix, so that
// the wait overlaps with that work.
//   published  true if the tile's count has been published already
//   last       true for the workgroup's last tile: after it, the workgroup leaves the look-back
//   prefix     how many elements the tiles before this one keep; used only without a look-back
uint compactOne(uint index, uint count, uint tiles, bool published, bool last, uint prefix) {
    bool inPlace = hasMode(SLUICE_COMPACT_MODE_IN_PLACE),
         parted = hasMode(SLUICE_COMPACT_MODE_PARTITION);
    bool elements = p.output_ != uvec2(0u);
    Tile tile = tileAt(index, count);
    Elements e;
    loadElements(tile, tile.wide, e);
    if (inPlace) memoryBarrierBuffer(); // other workgroups may overwrite the input from here on
    rankElements(e);
    if (p.workgroups > 1u && !published) lookbackPublish(p.scratch, index, e.kept, false, inPlace);
    gather(tile, e, !elements, parted);
    if (p.workgroups > 1u)
        prefix = lookbackWait(p.scratch, index, e.kept, false, p.polls, inPlace,
                              hasMode(SLUICE_COMPACT_MODE_SCANNER));
    uint restAt = parted ? restStart(tile, e, prefix) : 0u;
    if (last) lookbackLeave(p.scratch); // early, so that the stores hide the latency of its atomic
    wgBarrierShared();
    for (uint indices = elements ? 0u : 1u; indices < (p.indices != uvec2(0u) ? 2u : 1u);
         indices++) {
        if (elements && indices != 0u) {
            wgBarrierShared();
            gather(tile, e, true, parted);
            wgBarrierShared();
        }
        for (uint part = 0u; part < (parted ? 2u : 1u); part++)
            store(indices != 0u, part == 0u ? 0u : e.kept, part == 0u ? e.kept : tile.size - e.kept,
                  part == 0u ? prefix : restAt);
    }
    if (index == tiles - 1u)
        if (wgInvocation() == 0u) storeResult(prefix + e.kept);
    wgBarrierShared(); // waits until all have read shared memory
    return prefix + e.kept;
}

// Compacts wide tiles (Tile::wide) and works one tile ahead. This needs a scanner (lookback.glsl)
// and a single output, elements or indices. A *ticket* is the number of a tile that a workgroup has
// taken. Returns in x, y and z the tickets of tiles that the caller must still compact. w is the
// number of tickets taken so far, at most p.share.
//
// If the prefix of a tile did not arrive in time, x is that tile, and the counts of tiles x and y
// have been published. Otherwise x is not a wide tile, and y and z are past the last tile.
uvec4 compactAhead(uint ticket, uint count, uint wideTiles, uint tiles) {
    bool elements = p.output_ != uvec2(0u);
    uint kept = 0u, current = tiles; // sTile has the `kept` elements of tile `current`
    for (uint round = 0u;; round++) {
        // The first round only loads, the last one only stores.
        bool loading = sgUniform(ticket < wideTiles), storing = sgUniform(current < wideTiles);
        if (!loading && !storing) return uvec4(ticket, tiles, tiles, p.share);
        LookbackState seen = lookbackPeek(p.scratch, storing ? current : 0u);
        // The ticket is taken early, so that the atomic completes while this round's tile is
        // loaded.
        uint taken = tiles;
        if (takesTickets() && loading && round + 1u < p.share) taken = lookbackTakeAlone(p.scratch);
        // If there is nothing to load, tile 0 is loaded and ignored, which saves a branch.
        Tile tile = tileAt(loading ? ticket : 0u, count);
        Elements e;
        loadElements(tile, true, e);
        e.keep = loading ? e.keep : 0u;
        rankElements(e);
        if (loading) lookbackPublish(p.scratch, ticket, e.kept, false, false);
        if (storing) lookbackAwait(p.scratch, current, p.polls, seen);
        if (takesTickets()) sNext = taken;
        wgBarrierShared();
        uint next = sNext;
        if (storing) {
            if (sgUniform(sLookbackNext != 0u)) {
                wgBarrierShared(); // waits until all have read sLookbackNext
                return uvec4(current, ticket, next, min(round + 2u, p.share));
            }
            store(!elements, 0u, kept, sLookbackValue);
            if (current == tiles - 1u)
                if (wgInvocation() == 0u) storeResult(sLookbackValue + kept);
        }
        wgBarrierShared();
        if (loading) gather(tile, e, !elements, false);
        kept = e.kept;
        current = loading ? ticket : tiles;
        ticket = loading ? next : ticket;
    }
}

// Compacts all tiles of a workgroup. Only one place calls compactOne, because every call is inlined
// and its code is long. A workgroup gets its tiles in one of three ways:
// - by number: each workgroup has one tile, without a ticket.
// - SERIAL: one workgroup compacts all tiles in order, because there is only one workgroup, or in
//   place because no workgroup may wait for another.
// - by ticket: compactAhead takes tiles as long as it can. The tiles that it returns are compacted
//   here, and then the tiles of new tickets.
void compactTiles(uint workgroup, uint count, uint tiles) {
    bool serial = hasMode(SLUICE_COMPACT_MODE_SERIAL), leaves = p.workgroups > 1u;
    bool tickets = leaves && !hasMode(SLUICE_COMPACT_MODE_DIRECT);
    uint published = 0u, prefix = 0u, end = tiles;
    uvec4 next = uvec4(0u, tiles, tiles, 1u); // xyz: tiles to compact; w: number of tickets taken
    if (tickets) {
        next.x = lookbackTicket(p.scratch);
        uint wideTiles = tileAt(0u, ~0u).wide ? count / kTile : 0u;
        if (sgUniform(hasMode(SLUICE_COMPACT_MODE_AHEAD) && next.x < wideTiles)) {
            next = compactAhead(next.x, count, wideTiles, tiles);
            published = uint(next.x < wideTiles) + uint(next.x < wideTiles && next.y < wideTiles);
        }
    } else {
        next.x = serial ? p.first : workgroup - (hasMode(SLUICE_COMPACT_MODE_SCANNER) ? 1u : 0u);
        end = min(serial ? p.first + p.share : next.x + 1u, tiles);
        prefix = serial && p.first != 0u ? CompactHead(p.scratch).kept : 0u;
    }
    bool left = !tickets && next.x < end; // true if compactOne will leave the look-back
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
    if (leaves && !left) lookbackLeave(p.scratch);
    if (serial && wgInvocation() == 0u)
        CompactHead(p.scratch).kept = p.first + p.share < tileCount(p.maxCount) ? prefix : 0u;
}

// The first dispatch of a partition calls this. It adds the number of elements that this
// workgroup's tiles keep to CompactHead::kept.
void countTiles(uint workgroup, uint count, uint tiles) {
    uint kept = 0u;
    for (uint index = workgroup; index < tiles; index += p.workgroups)
        kept += tileKept(tileAt(index, count));
    if (wgInvocation() == 0u) atomicAdd(CompactHead(p.scratch).kept, kept);
}

void main() {
    uint workgroup = wgIndex();
    if (workgroup >= p.workgroups) return; // a surplus workgroup of the dispatch

    // An empty input has one empty tile, because the last tile's workgroup writes the result.
    uint count = elementCount(), tiles = max(tileCount(count), 1u);
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
    if (p.workgroups > 1u) lookbackClean(p.scratch, p.workgroups, tiles);
}
