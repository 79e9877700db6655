// SPDX-License-Identifier: MIT OR Apache-2.0
// LZ match copies of a lane group, many at once.
//
// Matches wait in a ring in output order. A batch of up to 32, one a lane, is resolved in rounds: a match is ready when
// no pending match of the batch writes what it reads. Which ones those are is an interval of the batch (positions are
// sorted), found once by binary search. All ready matches are then copied together as one interval move: their
// destination words are numbered by an exclusive scan, and each lane finds the match that its word belongs to by the
// load-balancing search. A round's loads all come before its stores.
//
// Everything before the oldest waiting match, and all literals before the read position of the decoder, must have been
// written and made visible (lgBarrierAll) before lzFlush.
#ifndef SLUICE_LZ_COPY_GLSL
#define SLUICE_LZ_COPY_GLSL

const uint kRing = 64u;
shared uvec2 sRing[kGroupsPerWorkgroup * kRing]; // x: position | length << 16, y: distance
shared uint sUnits[kGroupsPerWorkgroup * 32u];   // exclusive scan of destination words

uint gRingHead, gRingCount; // oldest entry, entries
uvec2 gLzOut;               // the tile's first byte
uint gLzSize;               // bytes in the tile

uint lzSlot(uint index) { return lgIndex() * kRing + ((gRingHead + index) & (kRing - 1u)); }

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

LzUnit lzLoad(uint unit, uint total) {
    LzUnit r;
    r.word = r.from = r.to = r.value = 0u;
    if (unit < total) {
        uint group = lgIndex() * 32u;
        uint owner = 0u;
        [[unroll]] for (uint step = 16u; step != 0u; step >>= 1)
            owner += sUnits[group + owner + step] <= unit ? step : 0u;
        uvec2 match = sRing[lzSlot(owner)];
        uint position = match.x & 0xffffu, end = position + (match.x >> 16), distance = match.y;
        r.word = (position >> 2) + unit - sUnits[group + owner];
        r.from = max(position, r.word * 4u);
        r.to = min(end, r.word * 4u + 4u);
        if (r.to - position <= distance) {
            // Not reaching into the match itself: two words, shifted into place. The first may begin before the tile.
            int start = int(r.word * 4u) - int(distance);
            uint shift = (uint(start) & 3u) * 8u;
            int index = start >> 2;
            uint low = index >= 0 && r.from - distance < uint(index) * 4u + 4u ? loadOutWord(uint(index)) : 0u;
            uint high = r.to - distance > uint(index + 1) * 4u ? loadOutWord(uint(index + 1)) : 0u;
            r.value = (low >> shift) | ((high << 1) << (31u - shift));
        } else {
            uint offset = (r.from - position) % distance;
            [[unroll]] for (uint k = 0u; k < 4u; ++k)
                if (r.from + k < r.to) {
                    r.value |= loadOutByte(position - distance + offset) << (((r.from + k) & 3u) * 8u);
                    offset = offset + 1u == distance ? 0u : offset + 1u;
                }
        }
    }
    return r;
}

void lzStore(LzUnit unit) {
    if (unit.to - unit.from == 4u)
        WordsOut(gLzOut).w[unit.word] = unit.value; // to <= tile size: checked when the match was queued
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

void lzCopyUnits(uint base, uint total) {
    uint unit = base + lgLane();
    LzUnit a = lzLoad(unit, total), b = lzLoad(unit + 32u, total);
    LzUnit c = lzLoad(unit + 64u, total), d = lzLoad(unit + 96u, total);
    lzStore(a);
    lzStore(b);
    lzStore(c);
    lzStore(d);
}

// Queues the matches of the lanes in `lanes` (a ballot), in lane order. Lane group operation without a barrier.
void lzPush(bool push, uint lanes, uint position, uint length_, uint distance) {
    if (push)
        sRing[lzSlot(gRingCount + uint(bitCount(lanes & lgLanesBelow())))] = uvec2(position | (length_ << 16), distance);
    gRingCount += uint(bitCount(lanes));
}

// Copies the oldest 32 matches of the ring, or all if there are fewer. Returns false if a loop stopped early, which no
// data can cause.
bool lzFlush(bool enabled) {
    uint lane = lgLane();
    uint n = enabled ? min(gRingCount, 32u) : 0u;
    lgBarrierAll();

    bool pending = lane < n;
    uvec2 match = pending ? sRing[lzSlot(lane)] : uvec2(0u, 1u);
    uint position = match.x & 0xffffu, length_ = match.x >> 16;
    uint from = position - match.y, to = min(from + length_, position);
    uint firstWriter = 0u, endWriter = 0u;
    if (pending) {
        [[unroll]] for (uint step = 16u; step != 0u; step >>= 1) {
            uint x = firstWriter + step - 1u, y = endWriter + step - 1u;
            uint mx = sRing[lzSlot(x)].x, my = sRing[lzSlot(y)].x;
            firstWriter += x < lane && (mx & 0xffffu) + (mx >> 16) <= from ? step : 0u;
            endWriter += y < lane && (my & 0xffffu) < to ? step : 0u;
        }
    }
    uint waitsFor = firstWriter < endWriter ? ((1u << endWriter) - 1u) & ~((1u << firstWriter) - 1u) : 0u;
    uint units = ((position & 3u) + length_ + 3u) >> 2;

    uint left = n == 32u ? 0xffffffffu : (1u << n) - 1u;
    for (uint round = 0u; round < 32u && wgAny(left != 0u); ++round) {
        bool ready = pending && (left & waitsFor) == 0u;
        uint first, total;
        uint done = lgBallot3Scan(false, ready, false, ready ? units : 0u, first, total).y;
        sUnits[lgIndex() * 32u + lane] = first;
        lgBarrierShared();
        lzCopyUnits(0u, total);
        for (uint base = 128u; wgAny(base < total); base += 128u)
            lzCopyUnits(base, total);
        pending = pending && !ready;
        left &= ~done;
        lgBarrierAll();
    }
    gRingHead = (gRingHead + n) & (kRing - 1u);
    gRingCount -= n;
    return left == 0u;
}

#endif // SLUICE_LZ_COPY_GLSL
