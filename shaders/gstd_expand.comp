// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns the symbols of Gstd tiles, which gstd_symbols.comp has decoded, into bytes. A workgroup
// produces a group of bytes of a tile at a time, eight per invocation.
//
//   mark    A run is a sequence of bytes with consecutive sources: literals or a match. Each run
//           that overlaps the group sets the bit of its first byte there and stores the distance of
//           its source. Literals are kept at the end of the part until they are used, so that both
//           kinds of runs are copies inside the tile.
//   make    The highest bit set at or below a byte gives its run, so counting leading zeros serves
//           as the load-balancing search. Bytes whose source is outside the group are loaded; for
//           others the place of the source is stored.
//   follow  Each invocation follows the chains of its own bytes through those places. The format
//           bounds their length.
//
// lib/lz_expand.glsl, the byte stage of GDeflate, shares no code with this one. It counts marks and
// uses pointer jumping, with 128 bytes per subgroup. This kernel did so at first, with 512 bytes
// per workgroup; then 1.4 GB took 14.9 ms (textures) and 14.0 ms (maps) on the H200, where this
// form takes 7.1 and 7.2. GDeflate cannot do the same: its tokens do not say where they begin, so a
// scan is needed first, and nothing bounds its chains.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/loops.glsl"
#include "lib/layout/gstd.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/units.glsl"

// 1: the workgroup sees what it wrote without coherent accesses.
layout(constant_id = SLUICE_CONSTANT_PLAIN_STORES_VISIBLE) const uint kPlainLoads = 0u;

layout(push_constant, std430) uniform Push { GstdParams p; };
#include "lib/region.glsl"

const uint kBytes = 8u, kGroup = kBytes * gl_WorkGroupSize.x, kWords = kGroup / 32u;
const uint kGroupBytes = kBytes * 32u; // of a lane group
const uint kUnknown = 0xffffffffu;
// An entry for a byte of the group is this flag with the byte's value, or the index of the byte of
// the group that it copies.
const uint kValue = 0x8000u;

// A bit for each byte of the group at which a run begins; double-buffered for this group and the
// next.
shared uint sStarts[2u * kWords];
// For each of these bytes, the distance of its source times 2, plus 1 if the run overlaps it. An
// invocation reads its own entries all at once.
shared uvec4 sRuns[kGroup / 4u];
shared uint sMade[kGroup / 2u]; // the bytes of the group, two in each word
shared uint sFirst[2];          // the entry that continues after the group, or kUnknown
shared uint sCarried;           // where the match that reaches into the group begins
shared uint sBadOffset, sTooDeep;

uvec2 gSource, gDestination, gSlot;
uint gSize, gDepth;

uint sourceWord(uint index) {
    return WordsIn(gSource).w[index >> 1] >> (index & 1u) * 16u & 0xffffu;
}

// If a driver leaves loops early (sgLoopsGoOn), runs may be missing, and garbage in their place may
// point outside the tile.
uint insideTile(uint n) {
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
    return min(n, gSize - 1u);
#else
    return n;
#endif
}

// Return byte n and word n of the tile, which other subgroups may have written.
uint loadByte(uint n) {
    n = insideTile(n);
#ifdef SLUICE_EXT
    if (kPlainLoads != 0u) return uint(int(BytesPlain(gDestination).b[n])) & 0xffu;
    return uint(BytesOut(gDestination).b[n]);
#else
    return WordsOut(gDestination).w[n >> 2] >> (n & 3u) * 8u & 0xffu;
#endif
}
uint loadWordAt(uint n) {
    n = insideTile(4u * n) / 4u;
    if (kPlainLoads != 0u) return WordsPlain(gDestination).w[n];
    return WordsOut(gDestination).w[n];
}

// Stores four bytes at position `at`, a multiple of 4, of which those before `end` exist.
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

// Copies the source, starting at byte `from`, an even number.
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
// A coded part. Its entries are its sequences (each has literals and a match) and finally the
// literals after the last sequence.

struct Part {
    uint begin, end;   // of its output
    uint entries;      // without the last literals
    uint records;      // where the entries' records stand in the slot
    uint literalCount; // how many literals there are,
    uint literals;     // and where in the output they stand until they are used
};

// Returns the record of entry i, if there is one, and the first word of the next one.
uvec3 loadEntry(Part part, uint i) {
    uint at = part.records + 2u * min(i, part.entries), next = i < part.entries ? at + 2u : at;
    return uvec3(WordsIn(gSlot).w[at], WordsIn(gSlot).w[at + 1u], WordsIn(gSlot).w[next]);
}

void beginRun(uint turn, uint place, uint run) {
    atomicOr(sStarts[turn * kWords + (place >> 5)], 1u << (place & 31u));
    sRuns[place >> 2][place & 3u] = run;
}

// Marks the runs of entry i in [at, at + kGroup), counted from the part's first byte. If the entry
// continues after the group, stores i in sFirst.
void markRuns(Part part, uint at, uint turn, uint i, uvec3 record) {
    uint size = part.end - part.begin, last = size - part.literalCount, end = at + kGroup;
    uint literal = record.x >> 16, nextLiteral = record.z >> 16;
    bool sequence = i < part.entries;
    uint literals = sequence ? record.x & 0xffffu : last + literal;
    uint match = sequence ? literals + ((nextLiteral - literal) & 0xffffu) : size;
    uint next = i + 1u < part.entries ? record.z & 0xffffu : sequence ? last + nextLiteral : size;
    if (i > part.entries || literals >= end) return;
    if (next >= end || !sequence) sFirst[turn] = i;
    uint start = max(literals, at);
    if (start < min(match, end))
        beginRun(turn, start - at, 2u * (part.literals + literal - part.begin - literals));
    start = max(match, at);
    if (start < min(next, end)) {
        bool bad = record.y == 0u || record.y > part.begin + match;
        if (bad) sBadOffset = 1u;
        uint run = (0u - 2u * record.y) | uint(next - match > record.y);
        beginRun(turn, start - at, bad ? 0u : run);
        if (match <= at) sCarried = match;
    }
}

// Returns value modulo divisor, for values below 2^16 and divisors from 1 to 2^18, where the
// quotient of floats is at most one off.
uint modulo(uint value, uint divisor) {
    uint quotient = uint(float(value) / float(divisor)), remainder = value - quotient * divisor;
    return min(remainder, min(remainder + divisor, remainder - divisor));
}

// Returns the index of the highest word below `word` that has marks, or 0. anyMine is set if `mine`
// holds in any lane of the lane group. Where a lane group spans several subgroups, each invocation
// searches by itself and anyMine is true.
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
    SLUICE_UNROLL
    for (uint i = 0u; i < kWords; i += 64u) {
        bool low = i + lane < kWords && sStarts[starts + min(i + lane, kWords - 1u)] != 0u;
        bool high =
            i + lane + 32u < kWords && sStarts[starts + min(i + lane + 32u, kWords - 1u)] != 0u;
        uvec3 any = lgBallot3(low, high, mine);
        anyMine = any.z != 0u;
        // In each group of 32 words, none, some or all are below `word`.
        uint below = (1u << (word & 31u)) - 1u, at = word >> 5, row = i >> 5;
        any.x &= row < at ? ~0u : row == at ? below : 0u;
        any.y &= row + 1u < at ? ~0u : row + 1u == at ? below : 0u;
        source = any.x != 0u ? i + uint(findMSB(any.x)) : source;
        source = any.y != 0u ? i + 32u + uint(findMSB(any.y)) : source;
    }
    return source;
#endif
}

// Produces the invocation's bytes of the group at `at`, two words.
uvec2 makeBytes(Part part, uint at, uint turn) {
    uint lane = lgLane(), own = kBytes * wgInvocation(), word = own >> 5, shift = own & 31u,
         starts = turn * kWords;
    uint size = part.end - part.begin, group = part.begin + at;
    uint marks = sStarts[starts + word], upTo = marks & ((2u << shift) - 1u);
    // `marked` is set if a run begins in the lane group's bytes, apart from the first byte.
    bool marked;
    uint source =
        wordBefore(starts, word, (lane * kBytes < 32u ? marks & ~1u : marks) != 0u, marked);
    uint before = sStarts[starts + source] | 1u;
    uint place =
        upTo != 0u ? 32u * word + uint(findMSB(upTo)) : 32u * source + uint(findMSB(before));

    // If all of the lane group's bytes are in one run whose source has been produced already, words
    // are copied.
    uint run = sRuns[place >> 2][place & 3u], first = own - kBytes * lane,
         from = group + first + uint(int(run) >> 1);
    bool there = (int(run) >= 0 || from + kGroupBytes <= group) && (run & 1u) == 0u &&
                 at + first + kGroupBytes <= size && ((from + kGroupBytes + 3u) & ~3u) <= gSize;
    uint made[kBytes];
    bool open = false;
    if (!marked && there) {
        from += kBytes * lane;
        uint skew = (from & 3u) * 8u, w0 = loadWordAt(from >> 2), w1 = loadWordAt((from >> 2) + 1u);
        uint w2 = skew != 0u ? loadWordAt((from >> 2) + 2u) : 0u;
        uvec2 words = uvec2(w0, w1);
        if (skew != 0u)
            words = uvec2(w0 >> skew | w1 << (32u - skew), w1 >> skew | w2 << (32u - skew));
        SLUICE_UNROLL
        for (uint k = 0u; k < kBytes; ++k)
            made[k] = kValue | (words[k >> 2] >> (k & 3u) * 8u & 0xffu);
    } else {
        uint mine = marks >> shift, left = max(at + own, size) - at - own, overlaps = 0u,
             last = run;
        // For bytes without a mark these are undefined.
        uvec4 low = sRuns[own / 4u], high = sRuns[own / 4u + 1u];
        uint begun[kBytes] =
            uint[kBytes](low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w);
        uint sources[kBytes]; // from the group on
        SLUICE_UNROLL
        for (uint k = 0u; k < kBytes; ++k) {
            if (k != 0u) last = mix(last, begun[k], (mine & 1u << k) != 0u);
            sources[k] = own + k + uint(int(last) >> 1);
            overlaps |= last;
        }
        if ((overlaps & 1u) != 0u) {
            // A match that overlaps itself copies the bytes before it, so sources go back by as
            // many whole offsets as that takes. `skip` is the sum of these offsets, `past` is how
            // far a byte is behind the match's beginning, minus `skip`.
            uint past = 0u, skip = 0u;
            if ((run & 1u) != 0u) {
                uint back = own - (place == 0u ? sCarried - at : place);
                past = modulo(back, max(0u - uint(int(run) >> 1), 1u));
                skip = back - past;
            }
            sources[0] -= skip;
            last = run;
            SLUICE_UNROLL
            for (uint k = 1u; k < kBytes; ++k) {
                bool begins = (mine & 1u << k) != 0u;
                last = mix(last, begun[k], begins);
                past = mix(past + 1u, 0u, begins);
                skip = mix(skip, 0u, begins);
                uint offset = mix(0u, 0u - uint(int(last) >> 1), (last & 1u) != 0u);
                skip += mix(0u, offset, past == offset);
                past = mix(past, 0u, past == offset);
                sources[k] -= skip;
            }
        }
        SLUICE_UNROLL
        for (uint k = 0u; k < kBytes; ++k) {
            bool inside = k < left, copied = inside && sources[k] < own + k;
            made[k] = mix(kValue, sources[k], copied);
            if (inside && !copied) made[k] |= loadByte(group + sources[k]);
            open = open || copied;
        }
    }
    SLUICE_UNROLL
    for (uint k = 0u; k < kBytes; k += 2u)
        sMade[(own + k) / 2u] = made[k] | made[k + 1u] << 16;
    wgBarrierShared();

    // Follows the chains of copies of all bytes. The format bounds their length: in each
    // SLUICE_GS_GROUP bytes a chain has at most gDepth copies inside them, and one that leaves
    // them.
    uint most = open ? kGroup / SLUICE_GS_GROUP * (gDepth + 1u) : 0u;
    for (uint hop = 0u; hop < most; ++hop) {
        if (hop == gDepth) {
            bool inside = false;
            SLUICE_UNROLL
            for (uint k = 0u; k < kBytes; ++k)
                inside = inside || ((made[k] ^ own) & 0xffffu) < SLUICE_GS_GROUP;
            if (inside) sTooDeep = 1u;
        }
        uint every = kValue;
        // Bytes that already have their value read an arbitrary entry, which is cheaper than a
        // branch.
        SLUICE_UNROLL
        for (uint k = 0u; k < kBytes; ++k) {
            // `next` has the other entry of the word in its upper half.
            uint next = sMade[(made[k] & (kValue - 1u)) >> 1] >> (made[k] << 4 & 31u);
            made[k] = mix(next, made[k], (made[k] & kValue) != 0u);
            every &= made[k];
        }
        if (every != 0u) break;
    }
    uvec2 bytes = uvec2(0u);
    SLUICE_UNROLL
    for (uint k = 0u; k < kBytes; ++k)
        bytes[k >> 2] |= (made[k] & 0xffu) << (k & 3u) * 8u;
    return bytes;
}

// The whole workgroup produces the bytes of a part. sStarts and sFirst are double-buffered by
// group.
void expandPart(Part part) {
    uint size = part.end - part.begin, own = wgInvocation(), loaded = own, turn = 0u;
    if (own < kWords) sStarts[own] = 0u;
    if (own == 0u) sFirst[0] = kUnknown;
    uvec3 entry = loadEntry(part, loaded);
    wgBarrierShared();
    markRuns(part, 0u, 0u, loaded, entry);
    for (uint at = 0u; at < size; at += kGroup) {
        wgBarrierAll(kPlainLoads != 0u); // makes the marks and the previous group's bytes visible
        uint first = sFirst[turn];
        for (uint more = gl_WorkGroupSize.x; wgAny(first == kUnknown && more < kGroup);
             more += gl_WorkGroupSize.x) {
            wgBarrierShared(); // more entries begin in the group than there are invocations
            loaded += gl_WorkGroupSize.x;
            entry = loadEntry(part, loaded);
            markRuns(part, at, turn, loaded, entry);
            wgBarrierShared();
            first = sFirst[turn];
        }
        loaded = first + own;
        entry = loadEntry(part, loaded);
        if (own < kWords) sStarts[(turn ^ 1u) * kWords + own] = 0u;
        if (own == 0u) sFirst[turn ^ 1u] = kUnknown;
        uvec2 bytes = makeBytes(part, at, turn);
        turn ^= 1u;
        if (at + kGroup < size) markRuns(part, at + kGroup, turn, loaded, entry);
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
    uint slot = wgIndex(), index = p.firstTile + slot;
    uint count = regionCount();
    if (wgInvocation() == 0u) sBadOffset = sTooDeep = 0u;
    wgBarrierShared();
    wgLoopsBegin();
    if (slot < p.tileCount && index < count) {
        // gstd_symbols.comp has checked the region and the header and parts that are read here;
        // only then does the slot have OK.
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
        if (!wgLoopsGoOn()) status = SLUICE_ST_INTERNAL;
        if (wgInvocation() == 0u) writeStatus(p.status, p.maxRegionCount, index, status);
    }
}
