// SPDX-License-Identifier: MIT OR Apache-2.0
// LZ match copies of a lane group, many at once.
//
// Matches wait in a ring in output order. A batch of up to 32, one a lane, is resolved together:
//   1. Redirect. What a match reads may be written by earlier matches of the batch: an interval of lanes, found by binary
//      search (positions are sorted). A match that reads only what one of them writes reads that one's source instead.
//      All lanes do so at once, which halves the length of a chain of matches each time.
//   2. Rounds. A match is ready when nothing that it still reads waits to be written. All ready matches are copied as one
//      interval move: their destination words are numbered by an exclusive scan, and each lane finds the match that its
//      word belongs to by the load-balancing search. All loads of a step come before its stores.
//
// Everything before the oldest waiting match, and all literals before the read position of the decoder, must have been
// written before lzFlush.
#ifndef SLUICE_LZ_COPY_GLSL
#define SLUICE_LZ_COPY_GLSL

const uint kRing = 64u;
// x: position | length << 16. y: source | period << 16; byte i of the match is byte source + i % period of the tile, and
// the period is at most the length.
shared uvec2 sRing[kGroupsPerWorkgroup * kRing];
// The ready matches of a round: index of the first destination word << 5 | lane that holds the match; past the last one
// 0xffffffff.
shared uint sReady[kGroupsPerWorkgroup * 32u];

uint gRingHead, gRingCount; // oldest entry, entries
uvec2 gLzOut;               // the tile's first byte
uint gLzSize;               // bytes in the tile

uint lzSlot(uint index) { return lgIndex() * kRing + ((gRingHead + index) & (kRing - 1u)); }
uint low16(uint pair) { return pair & 0xffffu; }
uint high16(uint pair) { return pair >> 16; }
uint matchEnd(uint target) { return low16(target) + high16(target); }

void storeByte(uint position, uint value) {
    if (position < gLzSize) {
#ifdef SLUICE_EXT
        BytesOut(gLzOut).b[position] = uint8_t(value);
#else
        // The tile was cleared first, so that one atomic is enough.
        atomicOr(WordsOut(gLzOut).w[position >> 2], value << ((position & 3u) * 8u));
#endif
    }
}

uint loadOutWord(uint index) { return index < ((gLzSize + 3u) >> 2) ? WordsOut(gLzOut).w[index] : 0u; }
uint loadOutByte(uint position) { return (loadOutWord(position >> 2) >> ((position & 3u) * 8u)) & 0xffu; }

// One destination word of a match: its index, its bytes [from, to) and their values in place.
struct LzUnit {
    uint word, from, to, value;
};

LzUnit lzLoad(bool mine, uint unit, uint owner) {
    LzUnit r;
    r.word = r.from = r.to = r.value = 0u;
    if (mine) {
        uint entry = sReady[lgIndex() * 32u + owner];
        uvec2 match = sRing[lzSlot(entry & 31u)];
        uint position = low16(match.x), source = low16(match.y), period = high16(match.y);
        r.word = (position >> 2) + unit - (entry >> 5);
        r.from = max(position, r.word * 4u);
        r.to = min(matchEnd(match.x), r.word * 4u + 4u);
        if (r.to - position <= period) {
            // Within the first period: two words, shifted into place. The first may begin before the tile.
            int ahead = int(source) - int(position);
            int start = int(r.word * 4u) + ahead;
            int index = start >> 2;
            int boundary = index * 4 + 4;
            uint shift = (uint(start) & 3u) * 8u;
            uint low = int(r.from) + ahead < boundary ? loadOutWord(uint(index)) : 0u;
            uint high = int(r.to) + ahead > boundary ? loadOutWord(uint(index + 1)) : 0u;
            r.value = (low >> shift) | ((high << 1) << (31u - shift));
        } else {
            uint offset = (r.from - position) % period;
            [[unroll]] for (uint k = 0u; k < 4u; ++k)
                if (r.from + k < r.to) {
                    r.value |= loadOutByte(source + offset) << (((r.from + k) & 3u) * 8u);
                    offset = offset + 1u == period ? 0u : offset + 1u;
                }
        }
    }
    return r;
}

void lzStore(LzUnit unit) {
    if (unit.to - unit.from == 4u)
        WordsOut(gLzOut).w[unit.word] = unit.value; // inside the tile: checked when the match was queued
    else {
#ifdef SLUICE_EXT
        [[unroll]] for (uint k = 0u; k < 3u; ++k)
            if (unit.from + k < unit.to)
                storeByte(unit.from + k, (unit.value >> (((unit.from + k) & 3u) * 8u)) & 0xffu);
#else
        if (unit.from < unit.to) {
            uint keep = (0xffffffffu >> (32u - (unit.to - unit.from) * 8u)) << ((unit.from & 3u) * 8u);
            atomicOr(WordsOut(gLzOut).w[unit.word], unit.value & keep);
        }
#endif
    }
}

// Load-balancing search: which of the ready matches unit belongs to.
uint lzSearch(uint unit) {
    uint owner = 0u;
    [[unroll]] for (uint i = 0u; i < 5u; ++i) { // Mesa unrolls a loop only if it counts by addition
        uint step = 16u >> i;
        owner += (sReady[lgIndex() * 32u + owner + step] >> 5) <= unit ? step : 0u;
    }
    return owner;
}

// Copies units [base, base + 64) of `total`. `first` is the first unit of this lane's own match, if it is ready; `begun`
// counts the matches that begin before `base`.
void lzCopyUnits(uint base, uint total, bool ready, uint first, inout uint begun) {
    uint a = base + lgLane(), b = a + 32u;
    uint ownerA, ownerB;
#if !defined(SLUICE_EMU) && !defined(SLUICE_NARROW)
    if (kNative) {
        // One subgroup: a bit for each unit that begins a match; the bits up to a unit count its owner.
        uint at = first - base;
        uint startsA = subgroupOr(ready && at < 32u ? 1u << at : 0u);
        uint startsB = subgroupOr(ready && at - 32u < 32u ? 1u << (at - 32u) : 0u);
        uint upTo = lgLanesBelow() * 2u + 1u;
        ownerA = begun + uint(bitCount(startsA & upTo)) - 1u;
        begun += uint(bitCount(startsA));
        ownerB = begun + uint(bitCount(startsB & upTo)) - 1u;
        begun += uint(bitCount(startsB));
    } else
#endif
    {
        ownerA = lzSearch(a);
        ownerB = lzSearch(b);
    }
    LzUnit unitA = lzLoad(a < total, a, ownerA), unitB = lzLoad(b < total, b, ownerB);
    lzStore(unitA);
    lzStore(unitB);
}

// Queues the matches of the lanes in `lanes` (a ballot), in lane order. Lane group operation without a barrier.
void lzPush(bool push, uint lanes, uint position, uint length_, uint distance) {
    if (push)
        sRing[lzSlot(gRingCount + uint(bitCount(lanes & lgLanesBelow())))] =
            uvec2(position | (length_ << 16), (position - distance) | (min(distance, length_) << 16));
    gRingCount += uint(bitCount(lanes));
}

// The matches of the batch, before this lane's, whose output overlaps [from, to): an interval of lanes, as a mask.
uint lzWriters(uint from, uint to) {
    uint lane = lgLane();
    uint first = 0u, end = 0u;
    [[unroll]] for (uint i = 0u; i < 5u; ++i) {
        uint step = 16u >> i;
        uint x = first + step - 1u, y = end + step - 1u;
        first += x < lane && matchEnd(sRing[lzSlot(x)].x) <= from ? step : 0u;
        end += y < lane && low16(sRing[lzSlot(y)].x) < to ? step : 0u;
    }
    return first < end ? ((1u << end) - 1u) & ~((1u << first) - 1u) : 0u;
}

// Copies the oldest 32 matches of the ring, or all if there are fewer. Returns false if a loop stopped early, which no
// data can cause.
bool lzFlush(bool enabled) {
    uint lane = lgLane();
    uint n = enabled ? min(gRingCount, 32u) : 0u;
    lgBarrierAll();

    bool pending = lane < n;
    uvec2 match = pending ? sRing[lzSlot(lane)] : uvec2(0u, 1u << 16);
    uint batchStart = low16(sRing[lzSlot(0u)].x);
    uint waitsFor = 0u;
    bool look = pending;
    // One step more than a chain of 32 can need: the last only finds what is left to wait for.
    for (uint step = 0u; step < 6u; ++step) {
        if (look) {
            uint from = low16(match.y), span = high16(match.y);
            waitsFor = from + span > batchStart ? lzWriters(from, from + span) : 0u;
            look = step < 5u && waitsFor != 0u && (waitsFor & (waitsFor - 1u)) == 0u;
            if (look) {
                uvec2 writer = sRing[lzSlot(uint(findLSB(waitsFor)))];
                uint offset = from - low16(writer.x), period = high16(writer.y);
                look = from >= low16(writer.x) && from + span <= matchEnd(writer.x);
                if (look && offset >= period)
                    offset %= period;
                look = look && offset + span <= period;
                if (look)
                    match.y = (low16(writer.y) + offset) | (span << 16);
            }
        }
        if (!wgAny(lgBallot(look) != 0u))
            break;
        lgBarrierShared();
        if (look)
            sRing[lzSlot(lane)].y = match.y;
        lgBarrierShared();
    }
    uint units = ((low16(match.x) & 3u) + high16(match.x) + 3u) >> 2;

    uint left = n == 32u ? 0xffffffffu : (1u << n) - 1u;
    for (uint round = 0u; round < 32u && wgAny(left != 0u); ++round) {
        bool ready = pending && (left & waitsFor) == 0u;
        uint first, total;
        uint done = lgBallot3Scan(false, ready, false, ready ? units : 0u, first, total).y;
        uint entry = uint(bitCount(done & lgLanesBelow()));
        if (ready)
            sReady[lgIndex() * 32u + entry] = (first << 5) | lane;
        if (!kNative && !ready) // the search needs an end
            sReady[lgIndex() * 32u + uint(bitCount(done)) + lane - entry] = 0xffffffffu;
        lgBarrierShared();
        uint begun = 0u;
        lzCopyUnits(0u, total, ready, first, begun);
        for (uint base = 64u; wgAny(base < total); base += 64u)
            lzCopyUnits(base, total, ready, first, begun);
        pending = pending && !ready;
        left &= ~done;
        lgBarrierAll();
    }
    gRingHead = (gRingHead + n) & (kRing - 1u);
    gRingCount -= n;
    return left == 0u;
}

#endif // SLUICE_LZ_COPY_GLSL
