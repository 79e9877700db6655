// SPDX-License-Identifier: MIT OR Apache-2.0
// From the symbols of Gstd tiles, which gstd_symbols.comp has decoded, to their bytes. A workgroup
// makes a group of bytes of a tile at once, eight an invocation.
//
//   mark    A run is bytes in a row with a source in a row: literals, or a match. Each run that
//           meets the group sets the bit of its first byte there and leaves behind how far away its
//           source is: the literals stand at the part's end until they are used, so that both are
//           copies inside the tile.
//   make    The highest bit up to a byte is its run: the load-balancing search by counting zeros.
//           What lies outside the group is loaded; of a byte inside it, it is noted which one.
//   chase   Each invocation follows the chains of its own bytes through what was noted. The format
//           bounds their length.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout/gstd.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/units.glsl"

layout(constant_id = SLUICE_CONSTANT_PLAIN_STORES_VISIBLE) const uint kPlainLoads =
    0u; // 1: what the workgroup wrote is visible
        // without coherent accesses

layout(push_constant, std430) uniform Push { GstdParams p; };
#include "lib/region.glsl"

const uint kBytes = 8u, kGroup = kBytes * gl_WorkGroupSize.x, kWords = kGroup / 32u;
const uint kGroupBytes = kBytes * 32u; // of a lane group
const uint kUnknown = 0xffffffffu;
const uint kValue = 0x8000u; // of a byte of the group: this and its value, or the number of the one
                             // that it copies

shared uint sStarts[2u * kWords]; // a bit for each byte that a run begins with; of this group and
                                  // the next
// Of these bytes: how far the source is, times 2, and whether the run overlaps it. An invocation
// reads its own all at once.
shared uvec4 sRuns[kGroup / 4u];
shared uint sMade[kGroup / 2u]; // two bytes in each word
shared uint sFirst[2];          // the entry under way at the end of a group, or kUnknown
shared uint sCarried;           // where the match under way at the start of the group begins
shared uint sBadOffset, sTooDeep;

uvec2 gSource, gDestination, gSlot;
uint gSize, gDepth;

uint sourceWord(uint index) {
    return WordsIn(gSource).w[index >> 1] >> (index & 1u) * 16u & 0xffffu;
}

// Byte n and word n of the tile, which other subgroups may have written.
uint loadByte(uint n) {
#ifdef SLUICE_EXT
    if (kPlainLoads != 0u) return uint(int(BytesPlain(gDestination).b[n])) & 0xffu;
    return uint(BytesOut(gDestination).b[n]);
#else
    return WordsOut(gDestination).w[n >> 2] >> (n & 3u) * 8u & 0xffu;
#endif
}
uint loadWordAt(uint n) {
    if (kPlainLoads != 0u) return WordsPlain(gDestination).w[n];
    return WordsOut(gDestination).w[n];
}

// Four bytes from position `at`, a multiple of 4, of which those before `end` exist.
void storeBytes(uint at, uint bytes, uint end) {
    if (at + 4u <= end) {
        if (kPlainLoads != 0u)
            WordsPlain(gDestination).w[at >> 2] = bytes;
        else
            WordsOut(gDestination).w[at >> 2] = bytes;
    } else if (at < end)
        storeWord(add64(gDestination, at), bytes, 0u, end - at);
}

// -----------------------------------------------------------------------------------------------
// Parts without symbols, and stored tiles

void fill(uint begin, uint end, uint value) {
    for (uint at = begin; at < end; at += 4u * gl_WorkGroupSize.x)
        storeBytes(at + 4u * wgInvocation(), value * 0x01010101u, end);
}

// From byte `from` of the source on, an even number.
void copyPlain(uint begin, uint end, uint from) {
    for (uint at = begin; at < end; at += 4u * gl_WorkGroupSize.x) {
        uint own = at + 4u * wgInvocation();
        if (own < end) {
            uint source = from + own - begin, word = WordsIn(gSource).w[source >> 2];
            if ((source & 3u) != 0u) {
                word >>= 16;
                if (own + 2u < end) word |= WordsIn(gSource).w[(source >> 2) + 1u] << 16;
            }
            storeBytes(own, word, end);
        }
    }
}

// -----------------------------------------------------------------------------------------------
// A coded part
//
// Entries are its sequences, literals and a match each, and the literals behind them.
struct Part {
    uint begin, end;             // of its output
    uint entries;                // sequences
    uint records;                // where they stand in the slot
    uint literalCount, literals; // where in the output they stand until they are used
};

// Of entry i, if there is one: its record, and the first word of the next.
uvec3 loadEntry(Part part, uint i) {
    uint at = part.records + 2u * min(i, part.entries), next = i < part.entries ? at + 2u : at;
    return uvec3(WordsIn(gSlot).w[at], WordsIn(gSlot).w[at + 1u], WordsIn(gSlot).w[next]);
}

void beginRun(uint half_, uint place, uint run) {
    atomicOr(sStarts[half_ * kWords + (place >> 5)], 1u << (place & 31u));
    sRuns[place >> 2][place & 3u] = run;
}

// Marks the runs of entry i in [at, at + kGroup), counted from the part's first byte, and tells
// whether it goes on behind.
void mark(Part part, uint at, uint half_, uint i, uvec3 record) {
    uint size = part.end - part.begin, last = size - part.literalCount, end = at + kGroup;
    uint literal = record.x >> 16, nextLiteral = record.z >> 16;
    bool sequence = i < part.entries;
    uint literals = sequence ? record.x & 0xffffu : last + literal;
    uint match = sequence ? literals + (nextLiteral - literal & 0xffffu) : size;
    uint next = i + 1u < part.entries ? record.z & 0xffffu : sequence ? last + nextLiteral : size;
    if (i > part.entries || literals >= end) return;
    if (next >= end || !sequence) sFirst[half_] = i;
    uint start = max(literals, at);
    if (start < min(match, end))
        beginRun(half_, start - at, 2u * (part.literals + literal - part.begin - literals));
    start = max(match, at);
    if (start < min(next, end)) {
        bool bad = record.y == 0u || record.y > part.begin + match;
        if (bad) sBadOffset = 1u;
        uint run = 0u - 2u * record.y | uint(next - match > record.y);
        beginRun(half_, start - at, bad ? 0u : run);
        if (match <= at) sCarried = match;
    }
}

// value < 2^16, 0 < divisor < 2^18: the quotient of floats is at most one off.
uint modulo(uint value, uint divisor) {
    uint quotient = uint(float(value) / float(divisor)), rest = value - quotient * divisor;
    return min(rest, min(rest + divisor, rest - divisor));
}

// The highest word below `word` with marks; word 0 has some. anyMine: does `mine` hold in the lane
// group? Where lane groups would be joined in shared memory both are found alone, and the answer is
// yes.
uint wordBefore(uint starts, uint word, bool mine, out bool anyMine) {
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
    uint source = max(word, 1u) - 1u;
    for (uint i = 0u; i < kWords && sStarts[starts + source] == 0u; ++i)
        source = max(source, 1u) - 1u;
    anyMine = true;
    return source;
#else
    uint lane = lgLane(), source = 0u;
    anyMine = false;
    [[unroll]] for (uint i = 0u; i < kWords; i += 64u) {
        bool low = i + lane < kWords && sStarts[starts + min(i + lane, kWords - 1u)] != 0u;
        bool high =
            i + lane + 32u < kWords && sStarts[starts + min(i + lane + 32u, kWords - 1u)] != 0u;
        uvec3 any = lgBallot3(low, high, mine);
        anyMine = any.z != 0u;
        // Of 32 words those below: none, some or all.
        uint below = (1u << (word & 31u)) - 1u, at = word >> 5, half_ = i >> 5;
        any.x &= half_ < at ? ~0u : half_ == at ? below : 0u;
        any.y &= half_ + 1u < at ? ~0u : half_ + 1u == at ? below : 0u;
        source = any.x != 0u ? i + uint(findMSB(any.x)) : source;
        source = any.y != 0u ? i + 32u + uint(findMSB(any.y)) : source;
    }
    return source;
#endif
}

// The invocation's bytes of the group at `at`, two words.
uvec2 makeBytes(Part part, uint at, uint half_) {
    uint lane = lgLane(), own = kBytes * wgInvocation(), word = own >> 5, shift = own & 31u,
         starts = half_ * kWords;
    uint size = part.end - part.begin, group = part.begin + at;
    uint marks = sStarts[starts + word], upTo = marks & (2u << shift) - 1u;
    // The highest word below with marks, and whether the lane group's bytes have any behind the
    // first one.
    bool marked;
    uint source =
        wordBefore(starts, word, (lane * kBytes < 32u ? marks & ~1u : marks) != 0u, marked);
    uint before = sStarts[starts + source] | 1u;
    uint place =
        upTo != 0u ? 32u * word + uint(findMSB(upTo)) : 32u * source + uint(findMSB(before));

    // All of the lane group in one run that is there already: words.
    uint run = sRuns[place >> 2][place & 3u], first = own - kBytes * lane,
         from = group + first + uint(int(run) >> 1);
    bool there = (int(run) >= 0 || from + kGroupBytes <= group) && (run & 1u) == 0u &&
                 at + first + kGroupBytes <= size && (from + kGroupBytes + 3u & ~3u) <= gSize;
    uint made[kBytes];
    bool open = false;
    if (!marked && there) {
        from += kBytes * lane;
        uint skew = (from & 3u) * 8u, w0 = loadWordAt(from >> 2), w1 = loadWordAt((from >> 2) + 1u);
        uint w2 = skew != 0u ? loadWordAt((from >> 2) + 2u) : 0u;
        uvec2 words = uvec2(w0, w1);
        if (skew != 0u) words = uvec2(w0 >> skew | w1 << 32u - skew, w1 >> skew | w2 << 32u - skew);
        [[unroll]] for (uint k = 0u; k < kBytes; ++k) made[k] =
            kValue | (words[k >> 2] >> (k & 3u) * 8u & 0xffu);
    } else {
        uint mine = marks >> shift, left = max(at + own, size) - at - own, overlaps = 0u,
             last = run;
        // of bytes without a mark anything
        uvec4 low = sRuns[own / 4u], high = sRuns[own / 4u + 1u];
        uint begun[kBytes] =
            uint[kBytes](low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w);
        uint sources[kBytes]; // from the group on
        [[unroll]] for (uint k = 0u; k < kBytes; ++k) {
            if (k != 0u) last = mix(last, begun[k], (mine & 1u << k) != 0u);
            sources[k] = own + k + uint(int(last) >> 1);
            overlaps |= last;
        }
        if ((overlaps & 1u) != 0u) {
            // Of a match that overlaps itself, the bytes before it: as many whole offsets back as
            // it takes.
            uint rest = 0u, skip = 0u; // what its first bytes are to this one, less those offsets;
                                       // they
            if ((run & 1u) != 0u) {
                uint back = own - (place == 0u ? sCarried - at : place);
                rest = modulo(back, max(0u - uint(int(run) >> 1), 1u));
                skip = back - rest;
            }
            sources[0] -= skip;
            last = run;
            [[unroll]] for (uint k = 1u; k < kBytes; ++k) {
                bool begins = (mine & 1u << k) != 0u;
                last = mix(last, begun[k], begins);
                rest = mix(rest + 1u, 0u, begins);
                skip = mix(skip, 0u, begins);
                uint offset = mix(0u, 0u - uint(int(last) >> 1), (last & 1u) != 0u);
                skip += mix(0u, offset, rest == offset);
                rest = mix(rest, 0u, rest == offset);
                sources[k] -= skip;
            }
        }
        [[unroll]] for (uint k = 0u; k < kBytes; ++k) {
            bool inside = k < left, copied = inside && sources[k] < own + k;
            made[k] = mix(kValue, sources[k], copied);
            if (inside && !copied) made[k] |= loadByte(group + sources[k]);
            open = open || copied;
        }
    }
    [[unroll]] for (uint k = 0u; k < kBytes; k += 2u) sMade[(own + k) / 2u] = made[k] | made[k + 1u]
                                                                                            << 16;
    wgBarrierShared();

    // The chain of copies of each byte, all at once, as long as one may be: in each 512 bytes
    // gDepth copies of others of them, and one that leaves them.
    uint most = open ? kGroup / SLUICE_GS_GROUP * (gDepth + 1u) : 0u;
    for (uint step_ = 0u; step_ < most; ++step_) {
        if (step_ == gDepth) {
            bool inside = false;
            [[unroll]] for (uint k = 0u; k < kBytes; ++k) inside =
                inside || ((made[k] ^ own) & 0xffffu) < SLUICE_GS_GROUP;
            if (inside) sTooDeep = 1u;
        }
        uint every = kValue;
        [[unroll]] for (uint k = 0u; k < kBytes; ++k) { // values read some entry in vain, which is
                                                        // cheaper than a branch
            // with another entry in the upper half
            uint next = sMade[(made[k] & kValue - 1u) >> 1] >> (made[k] << 4 & 31u);
            made[k] = mix(next, made[k], (made[k] & kValue) != 0u);
            every &= made[k];
        }
        if (every != 0u) break;
    }
    uvec2 bytes = uvec2(0u);
    [[unroll]] for (uint k = 0u; k < kBytes; ++k) bytes[k >> 2] |= (made[k] & 0xffu)
                                                                   << (k & 3u) * 8u;
    return bytes;
}

// All of the workgroup. The groups take the halves of sStarts and sFirst in turn.
void expandPart(Part part) {
    uint size = part.end - part.begin, own = wgInvocation(), loaded = own, half_ = 0u;
    if (own < kWords) sStarts[own] = 0u;
    if (own == 0u) sFirst[0] = kUnknown;
    uvec3 entry = loadEntry(part, loaded);
    wgBarrierShared();
    mark(part, 0u, 0u, loaded, entry);
    for (uint at = 0u; at < size; at += kGroup) {
        wgBarrierAll(kPlainLoads != 0u); // the marks; the bytes before
        uint first = sFirst[half_];
        for (uint more = gl_WorkGroupSize.x; wgAny(first == kUnknown && more < kGroup);
             more += gl_WorkGroupSize.x) {
            wgBarrierShared(); // more entries begin in the group than there are invocations
            loaded += gl_WorkGroupSize.x;
            entry = loadEntry(part, loaded);
            mark(part, at, half_, loaded, entry);
            wgBarrierShared();
            first = sFirst[half_];
        }
        loaded = first + own;
        entry = loadEntry(part, loaded);
        if (own < kWords) sStarts[(half_ ^ 1u) * kWords + own] = 0u;
        if (own == 0u) sFirst[half_ ^ 1u] = kUnknown;
        uvec2 bytes = makeBytes(part, at, half_);
        half_ ^= 1u;
        if (at + kGroup < size) mark(part, at + kGroup, half_, loaded, entry);
        uint to = part.begin + at + kBytes * own;
        storeBytes(to, bytes.x, part.end);
        storeBytes(to + 4u, bytes.y, part.end);
    }
}

// -----------------------------------------------------------------------------------------------

uint expandTile() {
    uint header = WordsIn(gSource).w[0], parts = (header & 15u) + 1u, status = SLUICE_ST_OK;
    gDepth = (header >> 4 & 7u) + 1u;
    for (uint i = 0u; i < parts && status == SLUICE_ST_OK; ++i)
        status = WordsIn(gSlot).w[SLUICE_GS_PARTS_AT + i];
    uint begin = 0u, first = 2u + 2u * parts;
    for (uint i = 0u; i < parts && status == SLUICE_ST_OK; ++i) {
        uint entry = WordsIn(gSource).w[1u + i], w0 = sourceWord(first),
             end = begin + (entry & 0xffffu) + 1u;
        if ((w0 & 3u) == SLUICE_GS_RUN) {
            fill(begin, end, w0 >> 8);
        } else if ((w0 & 3u) == SLUICE_GS_PLAIN) {
            copyPlain(begin, end, 2u * (first + 1u));
        } else {
            Part part;
            part.begin = begin;
            part.end = end;
            part.entries = sourceWord(first + 2u);
            part.records = SLUICE_GS_SEQUENCES_AT + 2u * (begin / SLUICE_GS_BYTES_PER_SEQUENCE + i);
            part.literalCount = sourceWord(first + 1u) | (w0 >> 12 & 1u) << 16;
            part.literals = end - part.literalCount;
            expandPart(part);
        }
        wgBarrierAll(kPlainLoads != 0u);
        if (sBadOffset != 0u) status = SLUICE_ST_BAD_OFFSET;
        begin = end;
        first += (entry >> 16) + 1u;
    }
    return status == SLUICE_ST_OK && sTooDeep != 0u ? SLUICE_ST_LIMIT : status;
}

void main() {
    uint slot = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x, index = p.firstTile + slot;
    uint count = regionCount();
    if (wgInvocation() == 0u) sBadOffset = sTooDeep = 0u;
    wgBarrierShared();
    if (slot < p.tileCount && index < count) {
        Region region = loadRegion(index);
        gSource = region.source;
        gDestination = region.destination;
        gSize = region.size.x;
        gSlot = add64(p.scratch, mul64(slot, SLUICE_GS_SLOT_WORDS * 4u));
        uint status = WordsIn(gSlot).w[0];
        if (status == SLUICE_ST_OK) {
            if ((p.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0u && region.sourceSize.x == gSize)
                copyPlain(0u, gSize, 0u);
            else
                status = expandTile();
        }
        if (wgInvocation() == 0u) writeStatus(p.status, p.maxRegionCount, index, status);
    }
}
