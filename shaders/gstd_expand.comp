// SPDX-License-Identifier: MIT OR Apache-2.0
// From the symbols of Gstd tiles, which gstd_symbols.comp has decoded, to their bytes. A workgroup makes 512 bytes of a tile
// at once, four an invocation.
//
//   mark    Sequences stand in a ring. Those that begin in the group set a bit for the byte, so that counting the set bits
//           up to a byte finds its sequence: the load-balancing search as a population count. The literals behind the last
//           sequence are an entry of the ring, too.
//   make    A byte is a literal, a copy of one from before the group, or one of a byte inside it: then it points to that.
//   follow  All pointers are followed at once, which halves every chain (pointer jumping; Wyllie 1979). The format bounds
//           their length.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/units.glsl"

layout(push_constant, std430) uniform Push {
    GstdParams p;
};

const uint kGroup = SLUICE_GS_GROUP, kWords = kGroup / 32u;
// A group meets at most kGroup / 3 sequences, the one that is under way and the one behind.
const uint kRing = 256u, kAhead = 176u;

shared uvec2 sEntries[kRing];   // see layout.h
shared uint sStarts[kWords];    // a bit for each byte that an entry begins with
shared uint sCover[kWords];     // entries that begin before these 32 bytes
shared uint sBegun;             // entries that begin before the next group
shared uint sBytes[kGroup];     // of each byte: its value and kValue, or which one it copies over how many
const uint kValue = 0x80000000u;
shared uint sFlags;   // kPointers of this group, and kBadOffset
shared uint sTooDeep; // copies were nested deeper than the tile says
const uint kPointers = 1u, kBadOffset = 2u;

uvec2 gSource, gDestination, gSlot;
uint gDepth;

uint sourceWord(uint index) { return WordsIn(gSource).w[index >> 1] >> (index & 1u) * 16u & 0xffffu; }

// Byte n of the tile. Coherent: other subgroups may have made it.
uint loadByte(uint n) {
#ifdef SLUICE_EXT
    return uint(BytesOut(gDestination).b[n]);
#else
    return WordsOut(gDestination).w[n >> 2] >> (n & 3u) * 8u & 0xffu;
#endif
}

// Four bytes from position `at`, a multiple of 4, of which those before `end` exist.
void storeBytes(uint at, uint bytes, uint end) {
    if (at + 4u <= end)
        WordsOut(gDestination).w[at >> 2] = bytes;
    else if (at < end)
        storeWord(add64(gDestination, at), bytes, 0u, end - at);
}

// ---------------------------------------------------------------------------------------------------------------
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
                if (own + 2u < end)
                    word |= WordsIn(gSource).w[(source >> 2) + 1u] << 16;
            }
            storeBytes(own, word, end);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------
// A coded part

struct Part {
    uint begin, end;     // of its output
    uint entries;        // sequences, and the literals behind the last one
    uint records;        // where they stand in the slot
    uint literalCount;
    uint literals;       // where its literals stand in the output,
    uint literalsInside; // how many of them, and
    uint last;           // where in the slot the others do
};

// Keeps the ring full: entries up to `begun` + kAhead.
uint loadRing(Part part, uint loaded, uint begun) {
    uint want = min(begun + kAhead, part.entries), end = min(max(begun, 1u) - 1u + kRing, part.entries);
    for (uint from = loaded; from < want; from += gl_WorkGroupSize.x) {
        uint i = from + wgInvocation();
        if (i < end) {
            uint at = part.records + 2u * i;
            sEntries[i & (kRing - 1u)] = uvec2(WordsIn(gSlot).w[at], WordsIn(gSlot).w[at + 1u]);
        }
        loaded = min(from + gl_WorkGroupSize.x, end);
    }
    return loaded;
}

// Where entry i begins, from the part's first byte on.
uint beginOf(Part part, uint i) {
    uint entry = sEntries[i & (kRing - 1u)].x, size = part.end - part.begin;
    return i + 1u < part.entries ? entry & 0xffffu : i + 1u == part.entries ? size - (part.literalCount - (entry >> 16)) : size;
}

// Marks what begins in [at, at + kGroup), counted from the part's first byte. `begun` entries begin before.
void mark(Part part, uint at, uint begun) {
    for (uint from = 0u; from < kAhead; from += gl_WorkGroupSize.x) {
        uint number = begun + from + wgInvocation(); // entry number - 1; the first one is under way
        bool first = number == begun;
        if (number > part.entries || from + wgInvocation() > kGroup / SLUICE_GS_MIN_MATCH + 1u)
            continue;
        uint start = first ? at : beginOf(part, number - 1u), next = beginOf(part, number);
        if (start >= at + kGroup)
            continue;
        if (!first)
            atomicOr(sStarts[start - at >> 5], 1u << (start & 31u));
        uint end = min(next - at, kGroup);
        for (uint word = first ? 0u : (start - at >> 5) + 1u; word < kWords && 32u * word <= end; ++word)
            sCover[word] = number;
        if (next >= at + kGroup || number == part.entries)
            sBegun = number;
    }
}

// False: a match begins before the tile.
bool expandPart(Part part) {
    uint loaded = 0u, begun = 0u, size = part.end - part.begin;
    for (uint at = 0u; at < size; at += kGroup) {
        loaded = loadRing(part, loaded, begun);
        if (wgInvocation() < kWords)
            sStarts[wgInvocation()] = 0u;
        if (wgInvocation() == 0u)
            sFlags &= ~kPointers;
        wgBarrierShared();
        mark(part, at, begun);
        wgBarrierShared();

        uint own = at + 4u * wgInvocation(), word = 4u * wgInvocation() >> 5, shift = 4u * wgInvocation() & 31u;
        uint number = sCover[word] + uint(bitCount(sStarts[word] & (1u << shift) - 1u)), flags = 0u;
        uvec4 bytes = uvec4(kValue);
        [[unroll]] for (uint k = 0u; k < 4u; ++k) {
            number += sStarts[word] >> shift + k & 1u;
            uint position = own + k;
            if (position >= size)
                continue;
            uvec2 entry = sEntries[number - 1u & (kRing - 1u)], next = sEntries[number & (kRing - 1u)];
            uint start = beginOf(part, number - 1u), literal = entry.x >> 16;
            uint literals = number == part.entries ? size : (next.x >> 16) - literal & 0xffffu;
            uint after = position - start, match = start + literals;
            if (after < literals) {
                literal += after;
                bytes[k] = kValue | (literal < part.literalsInside
                                         ? loadByte(part.literals + literal)
                                         : WordsIn(gSlot).w[part.last + (literal - part.literalsInside >> 2)] >>
                                                   (literal - part.literalsInside & 3u) * 8u & 0xffu);
            } else {
                uint offset = entry.y, to = part.begin + position, back = position - match;
                if (offset == 0u || offset > part.begin + match) {
                    flags |= kBadOffset;
                } else {
                    uint from = to - offset;
                    if (back >= offset) // the match overlaps itself: the bytes before it
                        from = part.begin + match - offset + back % offset;
                    uint group = part.begin + at;
                    if (from >= group) {
                        bytes[k] = from - group | 1u << 16;
                        flags |= kPointers;
                    } else {
                        bytes[k] = kValue | loadByte(from);
                    }
                }
            }
        }
        [[unroll]] for (uint k = 0u; k < 4u; ++k)
            sBytes[4u * wgInvocation() + k] = bytes[k];
        if (flags != 0u)
            atomicOr(sFlags, flags);
        wgBarrierShared();
        begun = sBegun;
        uint seen = sFlags;
        // As many steps as chains of gDepth copies want.
        for (uint step = 0u; (seen & kPointers) != 0u && gDepth >> step != 0u; ++step) {
            uvec4 other = uvec4(kValue);
            [[unroll]] for (uint k = 0u; k < 4u; ++k)
                if (bytes[k] < kValue)
                    other[k] = sBytes[bytes[k] & kGroup - 1u];
            wgBarrierShared();
            [[unroll]] for (uint k = 0u; k < 4u; ++k)
                if (bytes[k] < kValue) {
                    bytes[k] = other[k] + (bytes[k] & 0xff0000u);
                    sBytes[4u * wgInvocation() + k] = bytes[k];
                }
            wgBarrierShared();
        }
        bool deep = false;
        [[unroll]] for (uint k = 0u; k < 4u; ++k)
            deep = deep || bytes[k] < kValue || (bytes[k] >> 16 & 0xffu) > gDepth;
        if (deep)
            sTooDeep = 1u;
        uint packed = (bytes.x & 255u) | (bytes.y & 255u) << 8 | (bytes.z & 255u) << 16 | bytes.w << 24;
        storeBytes(part.begin + own, packed, part.end);
        memoryBarrierBuffer();
        wgBarrierShared();
        if ((seen & kBadOffset) != 0u)
            return false;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------

uint expandTile(uint size) {
    uint header = WordsIn(gSource).w[0], parts = (header & 15u) + 1u, status = SLUICE_ST_OK;
    gDepth = (header >> 4 & 7u) + 1u;
    for (uint i = 0u; i < parts && status == SLUICE_ST_OK; ++i)
        status = WordsIn(gSlot).w[SLUICE_GS_PARTS_AT + SLUICE_GS_PART_WORDS * i];
    uint begin = 0u, first = 2u + 2u * parts;
    for (uint i = 0u; i < parts && status == SLUICE_ST_OK; ++i) {
        uint entry = WordsIn(gSource).w[1u + i], w0 = sourceWord(first), end = begin + (entry & 0xffffu) + 1u;
        if ((w0 & 3u) == SLUICE_GS_RUN) {
            fill(begin, end, w0 >> 8);
        } else if ((w0 & 3u) == SLUICE_GS_PLAIN) {
            copyPlain(begin, end, 2u * (first + 1u));
        } else {
            uint count = sourceWord(first + 1u) | (w0 >> 12 & 1u) << 16, start = end - count + 3u & ~3u;
            Part part;
            part.begin = begin;
            part.end = end;
            part.entries = sourceWord(first + 2u) + 1u;
            part.records = SLUICE_GS_SEQUENCES_AT + 2u * (begin / SLUICE_GS_BYTES_PER_SEQUENCE + i);
            part.literalCount = count;
            part.literals = start;
            part.literalsInside = end - min(start, end) & ~3u;
            part.last = SLUICE_GS_PARTS_AT + SLUICE_GS_PART_WORDS * i + 1u;
            if (!expandPart(part))
                status = SLUICE_ST_BAD_OFFSET;
        }
        memoryBarrierBuffer();
        wgBarrierShared();
        begin = end;
        first += (entry >> 16) + 1u;
    }
    return status == SLUICE_ST_OK && sTooDeep != 0u ? SLUICE_ST_LIMIT : status;
}

void main() {
    uint slot = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x, index = p.firstTile + slot;
    uint count = p.maxRegionCount;
    if (p.regionCount != uvec2(0u))
        count = min(count, WordsIn(p.regionCount).w[0]);
    if (wgInvocation() == 0u)
        sFlags = sTooDeep = 0u;
    wgBarrierShared();
    if (slot < p.tileCount && index < count) {
        WordsIn region = WordsIn(add64(p.regions, mul64(index, p.regionStride)));
        gSource = uvec2(region.w[0], region.w[1]);
        gDestination = uvec2(region.w[2], region.w[3]);
        uint sourceBytes = region.w[4], size = region.w[6];
        gSlot = add64(p.scratch, mul64(slot, SLUICE_GS_SLOT_WORDS * 4u));
        uint status = WordsIn(gSlot).w[0];
        if (status == SLUICE_ST_OK) {
            if ((p.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0u && sourceBytes == size)
                copyPlain(0u, size, 0u);
            else
                status = expandTile(size);
        }
        if (wgInvocation() == 0u) {
            WordsOut(p.status).w[index] = status;
            if (status != SLUICE_ST_OK) {
                atomicAdd(WordsOut(p.status).w[p.maxRegionCount], 1u);
                atomicMin(WordsOut(p.status).w[p.maxRegionCount + 1u], index);
            }
        }
    }
}
