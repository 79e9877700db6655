// SPDX-License-Identifier: MIT OR Apache-2.0
// A lane group turns LZ tokens into bytes, many bytes at once. A token is a literal or a match.
//
// Tokens are in a ring, in output order. There are two steps:
//   place   An exclusive scan of the tokens' lengths gives the position of each. Each token is
//           checked, and the bit of its first byte is set in a ring of bits.
//   make    The lanes produce a group of 128 bytes, four each. The number of set bits up to a byte
//           is the index of its token, so a population count serves as the load-balancing search. A
//           literal gives the byte itself, a match gives the position of the byte's source. A
//           source before the group is read from the tile. If sources lie inside the group, their
//           pointers are followed in shared memory, all at the same time, so that each step halves
//           the length of every chain of copies (pointer jumping; Wyllie 1979).
// No match waits for an earlier match: even 128 bytes that each copy the byte before take only
// seven steps.
//
// gstd_expand.comp, the byte stage of Gstd, shares no code with this file and explains why.
//
// The includer defines kTiles, tileIndex(), kPerLane, kTokenRing and the array sToken, kRoomy,
// kUnpaired, kSuspends and kPlainHistory; gdeflate.comp explains them.
#ifndef SLUICE_LZ_EXPAND_GLSL
#define SLUICE_LZ_EXPAND_GLSL

#include "loops.glsl"
#include "lanes.glsl"
#include "memory.glsl"
#include "pitch.glsl"

const uint kStartRing = kRoomy ? 64u : 32u; // words, each for 32 bytes of output
const uint kGroup = 128u;                   // bytes that a lane group makes at once
const uint kAtOnce = 32u * kPerLane;        // tokens that are placed at once

// sToken is a ring of tokens. The upper half of a token is the length - 1. The lower half is a
// match's distance - 1, or 0xff00 plus a literal's byte. Matches have at least 3 bytes. A match of
// 65,536 bytes or more has the length 65,536, which does not fit in any tile.
shared uvec4 sStarts[kTiles * kStartRing / 4u]; // a bit for each byte of output that begins a token
// While pointers are followed, the ring has an entry for each byte of a group. It is the place in
// the ring of the byte that it copies; once its value is known, it is its own place plus this bit,
// with the value in the upper half. So loads need no condition, which would make NVIDIA's compiler
// (580) issue them one by one.
const uint kKnown = 0x8000u;

#ifdef SLUICE_EXT
const bool kLoadsBytes = true;
#else
const bool kLoadsBytes = false;
#endif

uvec2 gLzOut;    // the address of the tile's first byte
bool gLzPitched; // lib/pitch.glsl says where bytes lie, not gLzOut
uint gLzSize;    // bytes in the tile
uint gPlaced;    // tokens in sStarts
uint gEnd;       // bytes that these tokens make
uint gAt;        // bytes made, a multiple of kGroup
uint gBegun;     // tokens that begin before gAt

// This stage's state is kept here while the decode stage runs. Otherwise it would occupy registers
// there too, and registers decide how many tiles NVIDIA's hardware works on at a time. A tile has
// two entries: the constants and the progress.
shared uvec4 sLz[kSuspends ? 2u * kTiles : 1u];

void lzSuspend() {
    if (kSuspends && lgLane() == 0u) sLz[2u * tileIndex() + 1u] = uvec4(gPlaced, gEnd, gAt, gBegun);
    lgBarrierShared();
}

void lzResume() {
    if (!kSuspends) return;
    uvec4 tile = sLz[2u * tileIndex()], done = sLz[2u * tileIndex() + 1u];
    gLzOut = tile.xy;
    gLzSize = tile.z;
    gPlaced = done.x;
    gEnd = done.y;
    gAt = done.z;
    gBegun = done.w;
}

bool isMatch(uint token) { return token > 0xffffu; }

uint tokenAt(uint index) { return tileIndex() * kTokenRing + (index & (kTokenRing - 1u)); }

// Returns the index of the region, as lzBegin was given it, or ~0 if there is none.
uint lzRegion() { return sLz[2u * tileIndex()].w; }

void lzBegin(uint region) {
    gPlaced = gEnd = gAt = gBegun = 0u;
    if (lgLane() < kStartRing / 4u) sStarts[tileIndex() * (kStartRing / 4u) + lgLane()] = uvec4(0u);
    if (kSuspends && lgLane() == 0u) sLz[2u * tileIndex()] = uvec4(gLzOut, gLzSize, region);
    lzSuspend();
}

// Returns byte n after a 4-byte aligned address in the low bits; the upper bits are undefined.
uint loadByte(uvec2 base, uint n) {
#ifdef SLUICE_EXT
    return kPlainHistory ? uint(int(BytesPlain(base).b[n])) : uint(BytesOut(base).b[n]);
#else
    return (WordsOut(base).w[n >> 2] >> ((n & 3u) * 8u)) & 0xffu;
#endif
}

// Loads four bytes of the tile that have been produced. All loads are issued before the first wait.
uvec4 loadMade(uvec4 position) {
    uvec4 made;
    if (gLzPitched) {
        SLUICE_UNROLL
        for (uint k = 0u; k < 4u; ++k)
            made[k] = loadByte(pitchAddress(position[k] & ~3u), position[k] & 3u);
    } else {
        SLUICE_UNROLL
        for (uint k = 0u; k < 4u; ++k)
            made[k] = loadByte(gLzOut, position[k]);
    }
    return made;
}

// Stores the first n (1 .. 4) of four bytes at `position`, a multiple of 4.
void storeMade(uint position, uint bytes, uint n) {
    uvec2 base = gLzOut;
    uint word = position >> 2;
    if (gLzPitched) {
        base = pitchAddress(position);
        word = 0u;
    }
    if (n == 4u) {
#ifdef SLUICE_EXT
        if (kPlainHistory)
            WordsPlain(base).w[word] = bytes;
        else
#endif
            WordsOut(base).w[word] = bytes;
    } else {
#ifdef SLUICE_EXT
        SLUICE_UNROLL
        for (uint k = 0u; k < 3u; ++k)
            if (k < n) BytesOut(base).b[4u * word + k] = uint8_t(bytes >> (8u * k));
#else
        // Other lanes own the rest of the word.
        uint mask = (1u << (8u * n)) - 1u;
        atomicAnd(WordsOut(base).w[word], ~mask);
        atomicOr(WordsOut(base).w[word], bytes & mask);
#endif
    }
}

// Places up to kAtOnce tokens, kPerLane per lane: tokens with an index below `complete` that do not
// begin past the ring of bits. Returns the error of the first bad token, or OK.
uint lzPlace(bool enabled, uint complete) {
    if (!kLockstep) enabled = true;
    uint index = kPerLane * lgLane(), waiting = enabled ? complete - gPlaced : 0u;
    uint room = gAt + kStartRing * 32u, limit = min(room, gLzSize);
    uvec4 token = uvec4(0u), start = uvec4(0u);
    uint sum = 0u;
    SLUICE_UNROLL
    for (uint i = 0u; i < kPerLane; ++i) {
        token[i] = sToken[tokenAt(gPlaced + index + i)];
        start[i] = sum;
        sum += index + i < waiting ? (token[i] >> 16) + 1u : 0u;
    }
    uint before, total;
    lgScan(sum, before, total);
    start += gEnd + before;

    bool far = false;
    SLUICE_UNROLL
    for (uint i = 0u; i < kPerLane; ++i)
        far = far || (index + i < waiting && isMatch(token[i]) && (token[i] & 0xffffu) >= start[i]);
    uint status = SLUICE_ST_OK, count = min(waiting, kAtOnce),
         take = min(max(waiting, index) - index, kPerLane);
    if (wgAnyLane(far || gEnd + total > limit)) {
        // Some tokens are bad or begin past the ring. This counts this lane's tokens that begin
        // inside the ring, and finds its first bad token.
        uint taken = 0u;
        bool bad = false, offset = false;
        sum = 0u;
        SLUICE_UNROLL
        for (uint i = 0u; i < kPerLane; ++i)
            if (i < take && start[i] < room) {
                taken += 1u;
                sum += (token[i] >> 16) + 1u;
                bool isFar = isMatch(token[i]) && (token[i] & 0xffffu) >= start[i];
                if (!bad && (isFar || start[i] + (token[i] >> 16) + 1u > gLzSize)) {
                    bad = true;
                    offset = isFar;
                }
            }
        take = taken;
        lgScan(take, before, count);
        uvec3 votes = lgBallot3Scan(false, bad, offset, sum, before, total);
        if (votes.y != 0u)
            status = (votes.z >> uint(findLSB(votes.y)) & 1u) != 0u ? SLUICE_ST_BAD_OFFSET
                                                                    : SLUICE_ST_TOO_LONG;
    }
    if (status == SLUICE_ST_OK) {
        SLUICE_UNROLL
        for (uint i = 0u; i < kPerLane; ++i)
            atomicOr(sStarts[tileIndex() * (kStartRing / 4u) +
                             ((start[i] >> 7) & (kStartRing / 4u - 1u))][(start[i] >> 5) & 3u],
                     i < take ? 1u << (start[i] & 31u) : 0u);
        gPlaced += count;
        gEnd += total;
    }
    lgBarrierShared();
    return status;
}

// Finds the values of those bytes of a group whose source lies inside the group. Seven steps are
// enough for the longest chain of pointers. They use 128 places of the ring, starting at `base`, a
// multiple of 4.
void lzFollow(bool enabled, inout uvec4 value, uvec4 source, uint base) {
    uint own = tokenAt(base + 4u * lgLane()), steps = 0u;
    uvec4 entry =
        mix(value * 0x10000u + (own + uvec4(kKnown, kKnown + 1u, kKnown + 2u, kKnown + 3u)),
            ((source + base) & (kTokenRing - 1u)) + tokenAt(0u), lessThan(source, uvec4(kGroup)));
    bool open;
    SLUICE_DONT_UNROLL
    do {
        if (!kLockstep || enabled) {
            SLUICE_UNROLL
            for (uint k = 0u; k < 4u; ++k)
                sToken[own + k] = entry[k];
        }
        lgBarrierShared();
        SLUICE_UNROLL
        for (uint k = 0u; k < 4u; ++k)
            entry[k] = sToken[entry[k] & (kTiles * kTokenRing - 1u)];
        lgBarrierShared();
        steps += 1u;
        open = (!kLockstep || enabled) && (entry.x & entry.y & entry.z & entry.w & kKnown) == 0u &&
               steps < 7u;
    } while (wgAnyLane(open));
    value = entry >> 16;
}

bool anyOfGroup(uvec4 source) {
    return min(min(source.x, source.y), min(source.z, source.w)) < kGroup;
}

// A match that is longer than its distance copies its own bytes. This moves the sources of such
// bytes back by whole distances, to the bytes before the match that it repeats, or before the
// group, so that long runs do not become long chains for lzFollow. `starts` holds the bits of the
// group, `word` is the word with the lane's bits, and `marks` has the lane's four bits lowest.
uvec4 lzUnrepeat(uvec4 token, uvec4 source, uvec4 starts, uint word, uint marks) {
    uint lane = lgLane(), self = 4u * lane;
    bool odd = (lane & 8u) != 0u, upper = lane >= 16u;
    // `begin` is where the token of each of the lane's bytes begins in the group, 0 if before it.
    uint x = uint(findMSB(starts.x | 1u));
    uint y = mix(uint(findMSB(starts.y)) + 32u, x, starts.y == 0u);
    uint z = mix(uint(findMSB(starts.z)) + 64u, y, starts.z == 0u);
    uint below = word & ((2u << (self & 31u)) - 1u);
    uvec4 begin;
    begin.x = mix(uint(findMSB(below)) + (self & ~31u), mix(mix(0u, x, odd), mix(y, z, odd), upper),
                  below == 0u);
    begin.y = mix(begin.x, self + 1u, (marks & 2u) != 0u);
    begin.z = mix(begin.y, self + 2u, (marks & 4u) != 0u);
    begin.w = mix(begin.z, self + 3u, (marks & 8u) != 0u);
    uvec4 distance = (token & 0xffffu) + 1u; // for a literal, this is far more than a group
    // Adding 1/2 makes the truncated quotient exact, because the quotient is then never close to a
    // whole number.
    uvec4 behind = self + uvec4(0u, 1u, 2u, 3u) - begin;
    return source - distance * uvec4((vec4(behind) + 0.5) / vec4(distance));
}

// Produces the lane's four bytes of a group that lies inside one match. They repeat the last bytes
// before the group, so that no byte of a long run is copied from bytes that are produced at the
// same time.
uvec4 lzRepeat() {
    uint self = 4u * lgLane(), distance = (sToken[tokenAt(gBegun - 1u)] & 0xffffu) + 1u;
    uvec4 behind;
    // Adding 1/2 makes the division exact, see lzUnrepeat.
    behind.x = self - distance * uint((float(self) + 0.5) / float(distance));
    SLUICE_UNROLL
    for (uint k = 1u; k < 4u; ++k)
        behind[k] = mix(behind[k - 1u] + 1u, 0u, behind[k - 1u] + 1u == distance);
    lgBarrierShared(); // the bits and the token have been read
    return loadMade(min(gAt - distance + behind, uvec4(max(gAt, 1u) - 1u)));
}

// Produces the lane's four bytes of any group. `starts` has the group's bits. `begun`, the number
// of tokens that have begun, is advanced to the end of the group.
uvec4 lzGather(bool enabled, uvec4 starts, inout uint begun) {
    uint lane = lgLane(), self = 4u * lane;
    bool odd = (lane & 8u) != 0u, upper = lane >= 16u;
    uvec4 counts = uvec4(bitCount(starts));
    uint word = mix(mix(starts.x, starts.y, odd), mix(starts.z, starts.w, odd), upper);
    uint two = counts.x + counts.y, three = two + counts.z;
    uint index = begun + mix(mix(0u, counts.x, odd), mix(two, three, odd), upper) +
                 uint(bitCount(word & ((1u << (self & 31u)) - 1u))) - 1u;
    begun += three + counts.w;
    uint own = word >> (self & 31u);

    // Each byte of `marks` has one of the lane's bits. The highest byte of each product is the
    // number of bits set so far.
    uint marks = ((own & 15u) * 0x00204081u) & 0x01010101u;
    uvec4 token, source;
    token.x = sToken[tokenAt(index + (own & 1u))];
    token.y = sToken[tokenAt(index + (marks * 0x01010000u >> 24))];
    token.z = sToken[tokenAt(index + (marks * 0x01010100u >> 24))];
    token.w = sToken[tokenAt(index + (marks * 0x01010101u >> 24))];
    // Sources are relative to gAt, and wrap if they lie before it. The source of a literal is
    // always far away.
    SLUICE_UNROLL
    for (uint k = 0u; k < 4u; ++k)
        source[k] = self + k - 1u - (token[k] & 0xffffu);
    bool anyInside = wgAnyLane(enabled && anyOfGroup(source));
    // With kUnpaired, lzFollow's steps are cheaper than this.
    if (!kUnpaired) {
        if (anyInside) {
            if (wgAnyLane(enabled && any(greaterThan(token >> 16, token & 0xffffu)))) {
                source = lzUnrepeat(token, source, starts, word, own);
                anyInside = wgAnyLane(enabled && anyOfGroup(source));
            }
        }
    }
    bvec4 far;
    SLUICE_UNROLL
    for (uint k = 0u; k < 4u; ++k)
        far[k] = isMatch(token[k]) && source[k] >= kGroup;
    lgBarrierShared(); // the bits and the tokens have been read
    // A byte is loaded for all four, since a branch for each would wait for its load. Bytes that
    // are not needed are loaded from the position of the last byte produced. lzPlace has checked
    // that all sources lie in bytes that have been produced. If a byte is loaded as part of its
    // word, that word could lie partly outside a tile that has no bytes yet, so nothing is loaded
    // if no lane needs a byte.
    uvec4 made = uvec4(0u);
    if ((kLoadsBytes || wgAnyLane(any(far))) && (!kLockstep || enabled)) {
        made = loadMade(min(gAt + source, uvec4(max(gAt, 1u) - 1u)));
    }
    uvec4 value = mix(token, made, far);
    if (anyInside)
        // It uses the places of tokens before the last token that begins in the group.
        lzFollow(enabled, value, source, (begun - kGroup - 1u) & ~3u);
    return value;
}

// Produces the 128 bytes that start at gAt, and stores the words that lie wholly below gEnd. `made`
// receives the lane's four bytes.
void lzMake(bool enabled, inout uint made) {
    if (!kLockstep) enabled = true;
    uint lane = lgLane(), begun = gBegun;
    uint group = tileIndex() * (kStartRing / 4u) + ((gAt / kGroup) & (kStartRing / 4u - 1u));
    uvec4 starts = sStarts[group], value;
    // Where two subgroups share a tile, this test costs as much as it saves.
    if (kUnpaired) {
        if (wgAny((starts.x | starts.y | starts.z | starts.w) == 0u))
            value = lzRepeat();
        else
            value = lzGather(enabled, starts, begun);
    } else {
        value = lzGather(enabled, starts, begun);
    }

    if (enabled) {
        uint position = gAt + 4u * lane;
        made = (value.x & 0xffu) | (value.y & 0xffu) << 8 | (value.z & 0xffu) << 16 | value.w << 24;
        if (position + 4u <= gEnd) storeMade(position, made, 4u);
        if (lane == 0u) sStarts[group] = uvec4(0u);
        gBegun = begun;
        gAt += kGroup;
    }
    lgBarrierAll(); // the bytes are visible
}

// Does a turn of the expand stage. It places the tokens below index `complete` and produces the
// whole groups that they fill. If `more` tokens will follow, up to kAtOnce - 1 tokens may be left
// for the next turn; otherwise the last, incomplete group is produced too. Returns the error of the
// first bad token, or OK.
uint lzExpand(bool enabled, uint complete, bool more) {
    uint least = more ? kAtOnce : 1u, status = SLUICE_ST_OK;
    complete = enabled ? complete : gPlaced;
    uint made = 0u;
    bool again;
    SLUICE_DONT_UNROLL
    do {
        bool on = complete - gPlaced >= least;
        if (wgAny(on)) {
            uint result = lzPlace(on, complete);
            if (on && result != SLUICE_ST_OK) {
                status = result;
                complete = gPlaced; // no more
            }
        }
        again = wgAny(complete - gPlaced >= least);
        // gAt lies past gEnd when the last group has been made.
        bool last = enabled && status == SLUICE_ST_OK && !more && complete == gPlaced;
        int group = int(mix(kGroup, 1u, last));
        if (wgAny(int(gEnd - gAt) >= group)) {
            SLUICE_DONT_UNROLL
            do {
                lzMake(int(gEnd - gAt) >= group, made);
            } while (wgAny(int(gEnd - gAt) >= group));
        }
    } while (again);
    // These are the last bytes of the tile, which do not fill a word.
    uint position = gAt - kGroup + 4u * lgLane();
    if (enabled && !more && gAt > gEnd && position < gEnd && gEnd - position < 4u)
        storeMade(position, made, gEnd - position);
    return status;
}

#endif // SLUICE_LZ_EXPAND_GLSL
