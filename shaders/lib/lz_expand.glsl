// SPDX-License-Identifier: MIT OR Apache-2.0
// A lane group turns LZ tokens into bytes, many at once. A token is one word, and stands for a
// literal or a match.
//
// Tokens stand in a ring, in the order of their output. There are two steps:
// - place: an exclusive scan of the tokens' lengths gives the position at which each token's bytes
//   begin. Each token is checked, and the bit of its first byte is set in a ring of bits (sStarts).
// - make: the lanes make a *group* of 128 bytes, four each. The number of bits set up to a byte is
//   the number of its token, so a population count finds the token. A literal's token has the byte
//   itself, a match's token has the distance to the byte's source. A source before the group is
//   loaded from the tile. A source inside the group is a pointer. All pointers are followed in
//   shared memory at the same time, and each step halves the length of every chain of copies
//   (pointer jumping; Wyllie 1979).
//
// So no match waits for an earlier one. Even a chain of 128 bytes, each copying the byte before it,
// takes only seven steps.
//
// gstd_expand.comp, the byte stage of Gstd, uses another method and says why.
//
// The includer defines kTiles, tileIndex(), kPerLane, kTokenRing, sToken, kRoomy, kUnpaired,
// kSuspends and kPlainHistory, which gdeflate.comp explains.
#ifndef SLUICE_LZ_EXPAND_GLSL
#define SLUICE_LZ_EXPAND_GLSL

#include "loops.glsl"
#include "lanes.glsl"
#include "memory.glsl"
#include "pitch.glsl"

// How many words the ring of bits, sStarts, has. A word has bits for 32 bytes of output.
const uint kStartRing = kRoomy ? 64u : 32u;
const uint kGroup = 128u;            // bytes that a lane group makes at once
const uint kAtOnce = 32u * kPerLane; // most tokens that are placed at once

// sToken is the ring of tokens. The upper half of a token is its length - 1. The lower half is a
// match's distance - 1, or 0xff00 plus a literal's byte. Matches have at least 3 bytes. A match of
// 65,536 bytes or more gets the length 65,536, which does not fit in any tile.
//
// sStarts has a bit for each byte of output, set if a token's bytes begin there.
shared uvec4 sStarts[kTiles * kStartRing / 4u];
// While pointers are followed, the ring of tokens also holds an entry for each byte of a group. As
// long as the byte's value is not known, the entry is a pointer: the index in sToken of the entry
// of the byte's source. Once the value is known, it is in the upper half, and the lower half is the
// entry's own index plus kKnown. So every entry has a valid index, whose entry can be loaded
// without a condition. NVIDIA's compiler (driver 580) would issue conditional loads one after the
// other.
const uint kKnown = 0x8000u;

#ifdef SLUICE_EXT
const bool kLoadsBytes = true;
#else
const bool kLoadsBytes = false;
#endif

uvec2 gLzOut;    // the address of the tile's output, if not gLzPitched
bool gLzPitched; // rows of the output have padding: lib/pitch.glsl says where its bytes are
uint gLzSize;    // bytes of the tile
uint gPlaced;    // how many tokens are placed: their bits are in sStarts
uint gEnd;       // how many bytes the placed tokens make
uint gAt;        // how many bytes have been made, a multiple of kGroup
uint gBegun;     // how many tokens begin before gAt

// While the decode stage runs, the variables of this stage are kept here and not in registers,
// because registers limit how many tiles NVIDIA's hardware works on at a time. A tile has two
// entries: the first has what is constant, the second what changes.
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

// Returns whether a token is a match, not a literal: only matches are longer than one byte.
bool isMatch(uint token) { return token > 0xffffu; }

// Returns the index in sToken of token number `index`.
uint tokenAt(uint index) { return tileIndex() * kTokenRing + (index & (kTokenRing - 1u)); }

// Returns the number of the region that lzBegin was given, or ~0 if there is none.
uint lzRegion() { return sLz[2u * tileIndex()].w; }

// Begins a tile without tokens. `region` is kept for lzRegion.
void lzBegin(uint region) {
    gPlaced = gEnd = gAt = gBegun = 0u;
    if (lgLane() < kStartRing / 4u) sStarts[tileIndex() * (kStartRing / 4u) + lgLane()] = uvec4(0u);
    if (kSuspends && lgLane() == 0u) sLz[2u * tileIndex()] = uvec4(gLzOut, gLzSize, region);
    lzSuspend();
}

// Returns byte n from the address `base`, a multiple of 4, in the low 8 bits of the result. Its
// other bits are undefined.
uint loadByte(uvec2 base, uint n) {
#ifdef SLUICE_EXT
    return kPlainHistory ? uint(int(BytesPlain(base).b[n])) : uint(BytesOut(base).b[n]);
#else
    return (WordsOut(base).w[n >> 2] >> ((n & 3u) * 8u)) & 0xffu;
#endif
}

// Loads four bytes of the tile's output that exist already, from any positions. All loads are
// issued before the first is waited for.
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

// Stores the first n (1 .. 4) bytes of `bytes` at byte `position` of the tile, a multiple of 4.
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
        // Other lanes store the rest of the word.
        uint mask = (1u << (8u * n)) - 1u;
        atomicAnd(WordsOut(base).w[word], ~mask);
        atomicOr(WordsOut(base).w[word], bytes & mask);
#endif
    }
}

// Finds where in the output up to kAtOnce tokens begin, kPerLane in each lane, and sets their bits
// in the ring of bits. Leaves out tokens with numbers from `complete` on, and those whose bytes
// begin past the end of the ring. Returns the error of the first bad token, or SLUICE_ST_OK.
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
        // Some tokens are bad, or begin past the end of the ring of bits. The loop counts the
        // lane's tokens that begin inside the ring, and finds the first bad one among them.
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

// Finds the values of the bytes of a group whose sources lie in the group itself. `source` is the
// index in the group of a byte's source. For a byte whose `value` is known already, it is kGroup or
// more. Seven steps are enough for the longest chain of pointers, kGroup bytes. The entries take
// kGroup words of the token ring, from token `base` on, a multiple of 4.
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

// Returns whether any of four sources lies inside the group.
bool anyOfGroup(uvec4 source) {
    return min(min(source.x, source.y), min(source.z, source.w)) < kGroup;
}

// A match that is longer than its distance copies its own bytes. This moves the source of such a
// byte back by a multiple of the distance, to before the match or before the group, so that
// lzFollow meets no long chain. Returns the sources. `starts` has the bits of the group, `word` is
// the word of `starts` with the lane's four bits, and `marks` has these four bits lowest.
uvec4 lzUnrepeat(uvec4 token, uvec4 source, uvec4 starts, uint word, uint marks) {
    uint lane = lgLane(), self = 4u * lane;
    bool odd = (lane & 8u) != 0u, upper = lane >= 16u;
    // For each of the lane's bytes, `begin` is the index in the group at which its token begins, or
    // 0 if the token begins before the group.
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
    uvec4 distance = (token & 0xffffu) + 1u; // for literals much more than kGroup, so nothing moves
    // Computes behind / distance, rounded down, by floats. With 1/2 added, the exact quotient is
    // never so close to a whole number that the rounding of floats could cross it.
    uvec4 behind = self + uvec4(0u, 1u, 2u, 3u) - begin;
    return source - distance * uvec4((vec4(behind) + 0.5) / vec4(distance));
}

// Returns the lane's four bytes of a group that lies inside one match. They repeat the last bytes
// before the group, so that no byte is copied from bytes that are made at the same time.
uvec4 lzRepeat() {
    uint self = 4u * lgLane(), distance = (sToken[tokenAt(gBegun - 1u)] & 0xffffu) + 1u;
    uvec4 behind;
    // Adding 1/2 makes the truncated quotient exact (see lzUnrepeat).
    behind.x = self - distance * uint((float(self) + 0.5) / float(distance));
    SLUICE_UNROLL
    for (uint k = 1u; k < 4u; ++k)
        behind[k] = mix(behind[k - 1u] + 1u, 0u, behind[k - 1u] + 1u == distance);
    // After this barrier other lanes may overwrite the bits and the token.
    lgBarrierShared();
    return loadMade(min(gAt - distance + behind, uvec4(max(gAt, 1u) - 1u)));
}

// Returns the lane's four bytes of any group. `starts` has the group's bits of sStarts. `begun` is
// the number of tokens that begin before the group, and receives the number of those that begin
// before its end.
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

    // Each byte of `marks` has one of the lane's four bits. The highest byte of each product below
    // is the sum of the lowest 2, 3 or 4 of these bytes.
    uint marks = ((own & 15u) * 0x00204081u) & 0x01010101u;
    uvec4 token, source;
    token.x = sToken[tokenAt(index + (own & 1u))];
    token.y = sToken[tokenAt(index + (marks * 0x01010000u >> 24))];
    token.z = sToken[tokenAt(index + (marks * 0x01010100u >> 24))];
    token.w = sToken[tokenAt(index + (marks * 0x01010101u >> 24))];
    // Sources count from gAt. A source before gAt wraps around to a large number, and the source of
    // a literal is a large number, too.
    SLUICE_UNROLL
    for (uint k = 0u; k < 4u; ++k)
        source[k] = self + k - 1u - (token[k] & 0xffffu);
    bool anyInside = wgAnyLane(enabled && anyOfGroup(source));
    // If one subgroup decodes the tile alone, more steps of lzFollow cost less than lzUnrepeat.
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
    // After this barrier other lanes may overwrite the bits and the tokens.
    lgBarrierShared();
    // All four loads are issued without a branch, since in branches each load would wait for the
    // previous one. A load that is not needed reads the last byte that was made. lzPlace has
    // checked that all sources are bytes of the tile before their match. Without 8-bit loads a
    // whole word is read, which may lie partly outside of an empty tile. So nothing is loaded then
    // unless some lane needs a byte.
    uvec4 made = uvec4(0u);
    if ((kLoadsBytes || wgAnyLane(any(far))) && (!kLockstep || enabled)) {
        made = loadMade(min(gAt + source, uvec4(max(gAt, 1u) - 1u)));
    }
    uvec4 value = mix(token, made, far);
    if (anyInside)
        // lzFollow overwrites tokens before the last one that begins in the group. These have been
        // read.
        lzFollow(enabled, value, source, (begun - kGroup - 1u) & ~3u);
    return value;
}

// Makes the kGroup bytes from gAt on, and stores the words that lie wholly below gEnd. `made`
// receives the lane's four bytes.
void lzMake(bool enabled, inout uint made) {
    if (!kLockstep) enabled = true;
    uint lane = lgLane(), begun = gBegun;
    uint group = tileIndex() * (kStartRing / 4u) + ((gAt / kGroup) & (kStartRing / 4u - 1u));
    uvec4 starts = sStarts[group], value;
    // Where two subgroups share a tile, the test for lzRepeat costs as much as it saves.
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
    // This barrier makes the bytes visible to the lanes that will copy them.
    lgBarrierAll();
}

// Does a turn of the expand stage: places the tokens with numbers below `complete`, and makes the
// groups that they fill. If `more` is set, more tokens will follow, and up to kAtOnce - 1 tokens
// may wait for the next turn. Otherwise the last, incomplete group is made, too. Returns the error
// of the first bad token, or SLUICE_ST_OK.
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
                // From now on no more tokens are placed.
                complete = gPlaced;
            }
        }
        again = wgAny(complete - gPlaced >= least);
        // gAt is past gEnd once the last, incomplete group has been made.
        bool last = enabled && status == SLUICE_ST_OK && !more && complete == gPlaced;
        int group = int(mix(kGroup, 1u, last));
        if (wgAny(int(gEnd - gAt) >= group)) {
            SLUICE_DONT_UNROLL
            do {
                lzMake(int(gEnd - gAt) >= group, made);
            } while (wgAny(int(gEnd - gAt) >= group));
        }
    } while (again);
    // Stores the last bytes of the tile, which do not fill a word.
    uint position = gAt - kGroup + 4u * lgLane();
    if (enabled && !more && gAt > gEnd && position < gEnd && gEnd - position < 4u)
        storeMade(position, made, gEnd - position);
    return status;
}

#endif // SLUICE_LZ_EXPAND_GLSL
