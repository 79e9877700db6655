// SPDX-License-Identifier: MIT OR Apache-2.0
// The byte stage of Gstd (docs/format.md, section 7): turns the symbols that gstd_symbols.comp has
// decoded into bytes. A workgroup takes a tile and makes its bytes group by group, eight bytes per
// invocation.
//
// Words of this file:
// - run: literals or a match, that is, neighbouring bytes whose sources are neighbours too.
// - group: kGroup neighbouring bytes of a part, which the workgroup makes at once. kGroup is a
//   multiple of SLUICE_GS_GROUP, the 512 bytes that the format calls a group.
// - slot: the tile's scratch memory, in which gstd_symbols.comp leaves the sequences and a status
//   for each part (lib/layout/gstd.h).
// - chain: a byte copies a byte, which copies another, and so on, all inside one group.
//
// A group takes three steps:
// - mark: each run that overlaps the group sets the bit of its first byte in the group, and stores
//   the distance from its bytes to their sources. Literals stand at the end of the part's output
//   until they are used, so that both kinds of runs are copies inside the tile.
// - make: each byte finds its run, whose first byte is the nearest marked byte at or below it. So
//   counting leading zeros finds the run. If the byte's source is a literal or lies before the
//   group, its value is loaded. Otherwise the index of the source in the group is stored.
// - follow: each invocation follows the chains of its eight bytes, index by index, until it finds
//   values. The format bounds the length of a chain.
//
// lib/lz_expand.glsl, the byte stage of GDeflate, shares no code with this one: it counts marks,
// and halves chains by pointer jumping, with 128 bytes per subgroup. This kernel first used that
// method with 512 bytes per workgroup. 1.4 GB then took 14.9 ms (textures) and 14.0 ms (maps) on
// the H200, where the present method takes 7.1 and 7.2 ms. GDeflate cannot use the present method:
// its symbols do not say where their output begins, so a scan is needed first, and nothing bounds
// its chains.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/loops.glsl"
#include "lib/layout/gstd.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/units.glsl"

// 1 if invocations of a workgroup see each other's stores by plain loads; 0 if only by coherent
// ones.
layout(constant_id = SLUICE_CONSTANT_PLAIN_STORES_VISIBLE) const uint kPlainLoads = 0u;

layout(push_constant, std430) uniform Push { GstdParams p; };
#include "lib/region.glsl"

const uint kBytes = 8u, kGroup = kBytes * gl_WorkGroupSize.x, kWords = kGroup / 32u;
const uint kGroupBytes = kBytes * 32u; // the bytes of a group that one lane group makes
const uint kUnknown = 0xffffffffu;
// sMade has a 16-bit entry for each byte of the group: either kValue plus the byte's value, or the
// index in the group (0 .. kGroup - 1) of the byte that it copies.
const uint kValue = 0x8000u;

// Bit k of sStarts is set if a run begins at byte k of the group. There are two arrays of kWords
// words: while the bytes of one group are made, the next group's runs are marked in the other
// array.
shared uint sStarts[2u * kWords];
// sRuns has a number for each byte whose bit is set in sStarts: 2 * distance, plus 1 if the run
// repeats its own bytes because it is longer than the distance. The distance leads from the byte to
// its source, and is negative if the source lies before the byte. Four of these numbers share a
// vector, so that an invocation loads those of its eight bytes at once.
shared uvec4 sRuns[kGroup / 4u];
shared uint sMade[kGroup / 2u]; // the group's entries (see kValue), two in each word
// sFirst[t] belongs to array t of sStarts. It is the number of the entry (see Part) that makes the
// group's last byte, or kUnknown as long as that entry has not been found. The search for the next
// group's runs starts at that entry.
shared uint sFirst[2];
shared uint sCarried; // where a match that began before the group begins, as a byte of the part
shared uint sBadOffset, sTooDeep;

uvec2 gSource, gDestination, gSlot;
uint gSize, gDepth;

// Returns the 16-bit word `index` of the tile's source.
uint sourceWord(uint index) {
    return WordsIn(gSource).w[index >> 1] >> (index & 1u) * 16u & 0xffffu;
}

// Returns n, or the index of the tile's last byte if n is past the end of the tile. A fault of some
// drivers ends loops too early (sgLoopsGoOn). Then some sequences were never written to shared
// memory, and the stale words in their place may point outside the tile. Only the variants that
// such drivers run, narrow and emulated ones, make this check.
uint insideTile(uint n) {
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
    return min(n, gSize - 1u);
#else
    return n;
#endif
}

// Returns byte n of the tile's output, which another subgroup of the workgroup may have written.
uint loadByte(uint n) {
    n = insideTile(n);
#ifdef SLUICE_EXT
    if (kPlainLoads != 0u) return uint(int(BytesPlain(gDestination).b[n])) & 0xffu;
    return uint(BytesOut(gDestination).b[n]);
#else
    return WordsOut(gDestination).w[n >> 2] >> (n & 3u) * 8u & 0xffu;
#endif
}
// Returns the 4-byte word n of the tile's output, or the tile's last one if n is past its end.
// Another subgroup of the workgroup may have written it.
uint loadWordAt(uint n) {
    n = insideTile(4u * n) / 4u;
    if (kPlainLoads != 0u) return WordsPlain(gDestination).w[n];
    return WordsOut(gDestination).w[n];
}

// Stores the four bytes of `bytes` at byte `at` of the tile, a multiple of 4. Those of them that
// would lie at or past byte `end` are not stored.
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
// Parts that are plain bytes or repeat one byte, and stored tiles

// Sets the bytes [begin, end) of the tile to `value`. `begin` is a multiple of 4.
void fill(uint begin, uint end, uint value) {
    for (uint at = begin; at < end; at += 4u * gl_WorkGroupSize.x)
        storeBytes(at + 4u * wgInvocation(), value * 0x01010101u, end);
}

// Copies bytes of the source to bytes [begin, end) of the tile. `from`, an even number, is the byte
// of the source at which they start; `begin` is a multiple of 4.
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
// A coded part. It consists of *entries*: entry i is sequence i, that is, some literals and then a
// match. The last entry, number `entries`, is the literals after the last sequence. The record of
// an entry, two words, is described at SLUICE_GS_SEQUENCES_AT (lib/layout/gstd.h).

struct Part {
    uint begin, end;   // the bytes [begin, end) of the tile are its output
    uint entries;      // the number of its sequences; its last entry has this number
    uint records;      // the word of the slot at which its records begin
    uint literalCount; // how many literals it has
    uint literals;     // the byte of the tile where its literals stand until they are used
};

// Returns the two words of entry i's record in x and y, and the first word of the next entry's
// record in z. The last entry has no next one: for it, z is its own first word. An i past the last
// entry counts as the last entry.
uvec3 loadEntry(Part part, uint i) {
    uint at = part.records + 2u * min(i, part.entries), next = i < part.entries ? at + 2u : at;
    return uvec3(WordsIn(gSlot).w[at], WordsIn(gSlot).w[at + 1u], WordsIn(gSlot).w[next]);
}

// Marks the run that begins at byte `place` of the group. `turn` (0 or 1) chooses the array of
// sStarts. `run` is the run's distance as sRuns stores it.
void beginRun(uint turn, uint place, uint run) {
    atomicOr(sStarts[turn * kWords + (place >> 5)], 1u << (place & 31u));
    sRuns[place >> 2][place & 3u] = run;
}

// Marks the runs of entry i, its literals and its match, as far as they lie in the group that
// begins at byte `at` of the part. If the entry makes the group's last byte, or is the part's last
// one, stores i in sFirst[turn]. `record` is loadEntry(part, i), `turn` chooses the array of
// sStarts.
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

// Returns value modulo divisor, for values below 2^16 and divisors from 1 to 2^18. In this range,
// the quotient of floats is off by at most one. So one of three remainders is right, and it is the
// smallest, since negative ones wrap around to large numbers.
uint modulo(uint value, uint divisor) {
    uint quotient = uint(float(value) / float(divisor)), remainder = value - quotient * divisor;
    return min(remainder, min(remainder + divisor, remainder - divisor));
}

// Searches the group's marks, which begin at sStarts[starts], for the highest word below `word`
// that is not 0. Returns its index, or 0 if there is none. anyMine receives whether `mine` holds in
// any lane of the lane group. Where a lane group consists of several subgroups, a ballot is
// expensive. There each invocation searches by itself, and anyMine is always true.
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
        // Bit k of any.x says whether word i + k has marks, bit k of any.y whether word i + 32 + k
        // has. The bits of all words from `word` on are cleared here.
        uint below = (1u << (word & 31u)) - 1u, at = word >> 5, row = i >> 5;
        any.x &= row < at ? ~0u : row == at ? below : 0u;
        any.y &= row + 1u < at ? ~0u : row + 1u == at ? below : 0u;
        source = any.x != 0u ? i + uint(findMSB(any.x)) : source;
        source = any.y != 0u ? i + 32u + uint(findMSB(any.y)) : source;
    }
    return source;
#endif
}

// Returns this invocation's eight bytes of the group that begins at byte `at` of the part. `turn`
// (0 or 1) chooses the array of sStarts that has the group's marks.
uvec2 makeBytes(Part part, uint at, uint turn) {
    uint lane = lgLane(), own = kBytes * wgInvocation(), word = own >> 5, shift = own & 31u,
         starts = turn * kWords;
    uint size = part.end - part.begin, group = part.begin + at;
    uint marks = sStarts[starts + word], upTo = marks & ((2u << shift) - 1u);
    // True if a run begins at one of the lane group's bytes, other than the first.
    bool marked;
    uint source =
        wordBefore(starts, word, (lane * kBytes < 32u ? marks & ~1u : marks) != 0u, marked);
    uint before = sStarts[starts + source] | 1u;
    uint place =
        upTo != 0u ? 32u * word + uint(findMSB(upTo)) : 32u * source + uint(findMSB(before));

    // If the lane group's bytes all belong to one run, and their sources are literals or bytes of
    // earlier groups, the lanes copy whole words.
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
        // An entry of sRuns is meaningful only if its byte's bit is set in sStarts. Other entries
        // hold old values, which are not used.
        uvec4 low = sRuns[own / 4u], high = sRuns[own / 4u + 1u];
        uint begun[kBytes] =
            uint[kBytes](low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w);
        // sources[k] is the index in the group of the source of byte k, negative if the source lies
        // before the group.
        uint sources[kBytes];
        SLUICE_UNROLL
        for (uint k = 0u; k < kBytes; ++k) {
            if (k != 0u) last = mix(last, begun[k], (mine & 1u << k) != 0u);
            sources[k] = own + k + uint(int(last) >> 1);
            overlaps |= last;
        }
        if ((overlaps & 1u) != 0u) {
            // A match that is longer than its offset repeats its own bytes. For such a byte, the
            // distance to the source is increased by whole offsets until the source lies before the
            // match: `skip` is the sum of these offsets. `past` counts the bytes from the beginning
            // of the match to this byte, minus `skip`; it is below the offset.
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

    // Follows the chain of each byte to its end. Within SLUICE_GS_GROUP bytes a valid chain has at
    // most gDepth copies, and one more copy leads to the bytes before. `most` is the number of hops
    // after which every valid chain has ended.
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
        // Bytes whose value is known read an entry and drop it, which is cheaper than a branch.
        SLUICE_UNROLL
        for (uint k = 0u; k < kBytes; ++k) {
            // The entry is the low half of `next`. The upper half is never used.
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

// The whole workgroup makes the bytes of a coded part, group by group. While it makes one group, it
// marks the runs of the next in the other array of sStarts.
void expandPart(Part part) {
    uint size = part.end - part.begin, own = wgInvocation(), loaded = own, turn = 0u;
    if (own < kWords) sStarts[own] = 0u;
    if (own == 0u) sFirst[0] = kUnknown;
    uvec3 entry = loadEntry(part, loaded);
    wgBarrierShared();
    markRuns(part, 0u, 0u, loaded, entry);
    for (uint at = 0u; at < size; at += kGroup) {
        // This barrier makes the marks, and the bytes of the previous group, visible to the
        // workgroup.
        wgBarrierAll(kPlainLoads != 0u);
        uint first = sFirst[turn];
        for (uint more = gl_WorkGroupSize.x; wgAny(first == kUnknown && more < kGroup);
             more += gl_WorkGroupSize.x) {
            // Some of the group's entries are not marked yet, because it has more entries than the
            // workgroup has invocations.
            wgBarrierShared();
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

// Makes the bytes of the tile, part by part. Returns its status.
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
        // A slot has the status OK only if gstd_symbols.comp has checked the region, the tile's
        // header and its parts, so what is read here is inside the source.
        Region region = loadRegion(index);
        gSource = region.source;
        gDestination = region.destination;
        gSize = region.size.x;
        gSlot = add64(p.scratch, mul64(slot, SLUICE_GS_SLOT_BYTES(p.maxTileBytes)));
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
