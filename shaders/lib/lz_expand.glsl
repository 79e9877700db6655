// SPDX-License-Identifier: MIT OR Apache-2.0
// A lane group turns LZ tokens into bytes, many bytes at once.
//
// Tokens stand in a ring, in output order. There are two steps:
//   place   An exclusive scan of their lengths gives where each begins. Each token is checked, and
//           its first byte's bit is set in a bitmap ring.
//   make    Each lane makes four bytes. The number of set bits up to a byte is its token: the
//           load-balancing search as a population count. A literal gives the byte itself, a match
//           the place of the byte's source. A source before the 128 bytes is read from the tile.
//           For sources inside them, pointers are followed in shared memory, all at once, so that
//           each step halves the length of every chain of copies (pointer jumping; Wyllie 1979).
// Nothing waits for a match before it: 128 bytes of a run of one byte take seven steps.
//
// gstd_expand.comp, the byte stage of Gstd, shares no code with this one and says why.
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

// sToken is a ring of tokens, with the length - 1 in the upper half, and in the lower half a
// match's distance - 1, or 0xff00 and a literal's byte. Matches have at least 3 bytes; one of
// 65,536 bytes or more is given as 65,536 long, which no tile can hold.
shared uvec4 sStarts[kTiles * kStartRing / 4u]; // a bit for each byte of output that begins a token
// While pointers are followed, the ring has an entry for each byte of a group: the place in the
// ring of the byte that it copies; or, when its value is known, its own place, this bit, and the
// value in the upper half. So loads need no condition, behind which NVIDIA's compiler (580) would
// put them one by one.
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

// Between the turns of this stage its state stands here; otherwise it would take registers in the
// decode stage too, and registers decide how many tiles NVIDIA's hardware works on at a time. A
// tile has two words of these: what does not change, and what has been done.
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

// Returns byte n behind a 4-byte aligned address in the low bits; the upper bits may be anything.
uint loadByte(uvec2 base, uint n) {
#ifdef SLUICE_EXT
    return kPlainHistory ? uint(int(BytesPlain(base).b[n])) : uint(BytesOut(base).b[n]);
#else
    return (WordsOut(base).w[n >> 2] >> ((n & 3u) * 8u)) & 0xffu;
#endif
}

// Loads four bytes of the tile that have been made. All loads are issued before any of them is
// waited for.
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

// Places up to kAtOnce tokens, kPerLane a lane: tokens below number `complete` that do not begin
// past the bitmap ring. Returns the error of the first bad one, or OK.
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
        // Some tokens are bad or begin past the ring. This finds how many of this lane's tokens do
        // not, and its first bad one.
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

// Finds the values of the bytes of a group whose source lies inside it. Seven steps follow the
// longest chain of pointers. They use 128 places of the ring from `base` on, a multiple of 4.
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

// Matches longer than their distance copy their own bytes. This moves the sources of such bytes
// back by whole distances, to what the match repeats or before the group, so that long runs do not
// make long chains for lzFollow. `starts` are the bits of the group, `word` is the lane's word of
// them, `marks` are the lane's four bits.
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
    // Adding 1/2 makes the division exact: the quotient is nowhere near a whole number.
    uvec4 behind = self + uvec4(0u, 1u, 2u, 3u) - begin;
    return source - distance * uvec4((vec4(behind) + 0.5) / vec4(distance));
}

// Makes the lane's four bytes of a group that lies inside one match. They repeat the last bytes
// before the group. So no byte of a long run is copied from bytes that are made at the same time.
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

// Makes the lane's four bytes of any group. `starts` has the group's bits; `begun`, the number of
// tokens that have begun, is advanced to the end of the group.
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

    // Each byte of `marks` has one of the lane's bits; the highest bytes of the products are the
    // sums of the bits so far.
    uint marks = ((own & 15u) * 0x00204081u) & 0x01010101u;
    uvec4 token, source;
    token.x = sToken[tokenAt(index + (own & 1u))];
    token.y = sToken[tokenAt(index + (marks * 0x01010000u >> 24))];
    token.z = sToken[tokenAt(index + (marks * 0x01010100u >> 24))];
    token.w = sToken[tokenAt(index + (marks * 0x01010101u >> 24))];
    // Sources count from gAt, and wrap if they lie before it. A literal's is always far away.
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
    // All bytes are loaded, those that are not needed from the place of the last byte made, because
    // a branch for each would wait for it. lzPlace has checked that sources lie in what has been
    // made. If a byte is loaded with the word around it, that place could lie half outside the tile
    // at its beginning, so nothing is loaded if nothing is needed.
    uvec4 made = uvec4(0u);
    if ((kLoadsBytes || wgAnyLane(any(far))) && (!kLockstep || enabled)) {
        made = loadMade(min(gAt + source, uvec4(max(gAt, 1u) - 1u)));
    }
    uvec4 value = mix(token, made, far);
    if (anyInside)
        // It uses the places of tokens below the last one that begins in the group.
        lzFollow(enabled, value, source, (begun - kGroup - 1u) & ~3u);
    return value;
}

// Makes the 128 bytes from gAt on, and stores those words of them that lie wholly below gEnd.
// `made` gets the lane's four bytes.
void lzMake(bool enabled, inout uint made) {
    if (!kLockstep) enabled = true;
    uint lane = lgLane(), begun = gBegun;
    uint group = tileIndex() * (kStartRing / 4u) + ((gAt / kGroup) & (kStartRing / 4u - 1u));
    uvec4 starts = sStarts[group], value;
    // Where two subgroups share a tile, asking costs as much as it saves.
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

// Does a turn of the expand stage: places the tokens up to number `complete`, of which up to
// kAtOnce - 1 may be kept back if more are to come, and makes the whole groups that they fill; at
// the end the last group too. Returns the error of the first bad token, or OK.
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
