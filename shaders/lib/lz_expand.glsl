// SPDX-License-Identifier: MIT OR Apache-2.0
// From LZ tokens to bytes, by a lane group, many bytes at once.
//
// Tokens stand in a ring, in output order. Two steps:
//   place   An exclusive scan of their lengths tells where each begins. It is judged, and a bit is set in a bitmap ring for
//           the byte that it begins with.
//   make    128 bytes of output, four a lane. The set bits up to a byte count its token: the load-balancing search as a
//           population count. A literal gives the byte itself. A match gives where it comes from: a source before the 128
//           is read from the tile, for one inside them pointers are followed in shared memory, all at once, which halves
//           the length of every chain of copies in each step (pointer jumping; Wyllie 1979).
// Nothing waits for a match before it: 128 bytes of a run of one byte take seven steps.
#ifndef SLUICE_LZ_EXPAND_GLSL
#define SLUICE_LZ_EXPAND_GLSL

const uint kStartRing = 64u; // words of 32 bytes of output each
const uint kGroup = 128u;    // bytes that a lane group makes at once
const uint kAtOnce = 32u * kPerLane; // tokens that are placed at once

// A token: the length - 1 in the upper half; in the lower half a literal's byte or a match's distance - 1. Matches are 3
// bytes at least; one of 65,536 bytes or more is said to be 65,536 long, which no tile can hold.
shared uint sToken[kTiles * kTokenRing];
shared uint sStarts[kTiles * kStartRing]; // a bit for each byte of output that begins a token
shared uint sGroup[kTiles * kGroup];      // of each byte of a group: its value and kValue, or which one it copies
const uint kValue = 256u;

uvec2 gLzOut;    // address of the tile's first byte, unless
bool gLzPitched; // its place is what lib/pitch.glsl says
uint gLzSize;    // bytes in the tile
uint gPlaced;    // tokens in sStarts
uint gEnd;       // bytes that they make
uint gAt;        // bytes made, a multiple of kGroup
uint gBegun;     // tokens that begin before gAt

bool isMatch(uint token) { return token > 0xffffu; }

uint tokenAt(uint index) { return tileIndex() * kTokenRing + (index & (kTokenRing - 1u)); }

void lzBegin() {
    gPlaced = gEnd = gAt = gBegun = 0u;
    sStarts[tileIndex() * kStartRing + lgLane()] = 0u;
    sStarts[tileIndex() * kStartRing + 32u + lgLane()] = 0u;
    lgBarrierShared();
}

// Byte n behind a 4-byte aligned address, in the low bits; what the others hold does not matter.
uint loadByte(uvec2 base, uint n) {
#ifdef SLUICE_EXT
    return kPlainHistory ? uint(int(BytesPlain(base).b[n])) : uint(BytesOut(base).b[n]);
#else
    return (WordsOut(base).w[n >> 2] >> ((n & 3u) * 8u)) & 0xffu;
#endif
}

// Four bytes of the tile, which have been made. All loads go out before any of them is waited for.
uvec4 loadMade(uvec4 position) {
    position = min(position, uvec4(gLzSize - 1u));
    uvec4 made;
    if (gLzPitched) {
        [[unroll]] for (uint k = 0u; k < 4u; ++k)
            made[k] = loadByte(pitchAddress(position[k] & ~3u), position[k] & 3u);
    } else {
        [[unroll]] for (uint k = 0u; k < 4u; ++k)
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
        [[unroll]] for (uint k = 0u; k < 3u; ++k)
            if (k < n)
                BytesOut(base).b[4u * word + k] = uint8_t(bytes >> (8u * k));
#else
        // The rest of the word is not ours.
        uint mask = (1u << (8u * n)) - 1u;
        atomicAnd(WordsOut(base).w[word], ~mask);
        atomicOr(WordsOut(base).w[word], bytes & mask);
#endif
    }
}

// Takes up to kAtOnce tokens, kPerLane a lane, of those up to number `complete`, unless they begin past the ring. Returns
// the error of the first bad one, or OK.
uint lzPlace(bool enabled, uint complete) {
    if (!kLockstep)
        enabled = true;
    uint index = kPerLane * lgLane(), waiting = enabled ? complete - gPlaced : 0u;
    uint room = gAt + kStartRing * 32u, limit = min(room, gLzSize);
    uvec4 token = uvec4(0u), start = uvec4(0u);
    uint sum = 0u;
    [[unroll]] for (uint i = 0u; i < kPerLane; ++i) {
        token[i] = sToken[tokenAt(gPlaced + index + i)];
        start[i] = sum;
        sum += index + i < waiting ? (token[i] >> 16) + 1u : 0u;
    }
    uint before, total;
    lgBallot3Scan(false, false, false, sum, before, total);
    start += gEnd + before;

    bool far = false;
    [[unroll]] for (uint i = 0u; i < kPerLane; ++i)
        far = far || (index + i < waiting && isMatch(token[i]) && (token[i] & 0xffffu) >= start[i]);
    uint status = SLUICE_ST_OK, count = min(waiting, kAtOnce), take = min(max(waiting, index) - index, kPerLane);
    if (wgAnyLane(far || gEnd + total > limit)) {
        // Some are bad, or begin past the ring: `take` of this lane do not, and its first bad one is found.
        uint taken = 0u;
        bool bad = false, offset = false;
        sum = 0u;
        [[unroll]] for (uint i = 0u; i < kPerLane; ++i)
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
        lgBallot3Scan(false, false, false, take, before, count);
        uvec3 votes = lgBallot3Scan(false, bad, offset, sum, before, total);
        if (votes.y != 0u)
            status = (votes.z >> uint(findLSB(votes.y)) & 1u) != 0u ? SLUICE_ST_BAD_OFFSET : SLUICE_ST_TOO_LONG;
    }
    if (status == SLUICE_ST_OK) {
        [[unroll]] for (uint i = 0u; i < kPerLane; ++i)
            if (i < take)
                atomicOr(sStarts[tileIndex() * kStartRing + ((start[i] >> 5) & (kStartRing - 1u))], 1u << (start[i] & 31u));
        gPlaced += count;
        gEnd += total;
    }
    lgBarrierShared();
    return status;
}

// Follows the pointers of a group. Seven steps end the longest chain.
void lzFollow(inout uvec4 entry) {
    uint group = tileIndex() * kGroup;
    [[dont_unroll]] for (uint step = 0u; step < 7u; ++step) {
        [[unroll]] for (uint k = 0u; k < 4u; ++k)
            sGroup[group + 4u * lgLane() + k] = entry[k];
        lgBarrierShared();
        [[unroll]] for (uint k = 0u; k < 4u; ++k)
            if (entry[k] < kValue)
                entry[k] = sGroup[group + entry[k]];
        lgBarrierShared();
        if (!wgAnyLane(min(min(entry.x, entry.y), min(entry.z, entry.w)) < kValue))
            break;
    }
}

// Makes the 128 bytes from gAt on. `whole`: all of them are below gEnd; else only those that are get written.
void lzMake(bool enabled, const bool whole) {
    if (!kLockstep)
        enabled = true;
    uint lane = lgLane(), quarter = lane >> 3, shift = (lane & 7u) * 4u;
    uint words = tileIndex() * kStartRing + ((gAt >> 5) & (kStartRing - 1u));
    uvec4 starts = uvec4(sStarts[words], sStarts[words + 1u], sStarts[words + 2u], sStarts[words + 3u]);
    uint own = quarter < 2u ? (quarter == 0u ? starts.x : starts.y) : (quarter == 2u ? starts.z : starts.w);
    uvec4 counts = uvec4(bitCount(starts));
    uint index = gBegun + (quarter > 0u ? counts.x : 0u) + (quarter > 1u ? counts.y : 0u) + (quarter > 2u ? counts.z : 0u) +
                 uint(bitCount(own & ((1u << shift) - 1u))) - 1u;
    own >>= shift;

    // A byte of a match whose source lies inside the group copies that one, any other has its value.
    uvec4 token, source;
    [[unroll]] for (uint k = 0u; k < 4u; ++k) {
        index += (own >> k) & 1u;
        token[k] = sToken[tokenAt(index)];
    }
    bool near = false, far = false;
    [[unroll]] for (uint k = 0u; k < 4u; ++k) {
        source[k] = 4u * lane + k - 1u - (token[k] & 0xffffu); // from gAt; wraps if it is before
        near = near || (enabled && isMatch(token[k]) && source[k] < kGroup);
        far = far || (enabled && isMatch(token[k]) && source[k] >= kGroup);
    }
    bool anyNear = wgAnyLane(near);
    // All bytes are loaded if any is wanted, those that are not from one place: a branch for each would wait for it.
    uvec4 made = uvec4(0u);
    if (wgAnyLane(far) && (!kLockstep || enabled)) {
        [[unroll]] for (uint k = 0u; k < 4u; ++k)
            made[k] = isMatch(token[k]) && source[k] >= kGroup ? gAt + source[k] : 0u;
        made = loadMade(made);
    }
    lgBarrierShared(); // the bits are read
    uvec4 entry;
    [[unroll]] for (uint k = 0u; k < 4u; ++k)
        entry[k] = isMatch(token[k]) && source[k] < kGroup ? source[k] : (isMatch(token[k]) ? made[k] : token[k]) | kValue;
    if (kLockstep && !enabled)
        entry = uvec4(kValue);
    if (anyNear)
        lzFollow(entry);

    if (enabled) {
        uint position = gAt + 4u * lane;
        uint bytes = (entry.x & 0xffu) | (entry.y & 0xffu) << 8 | (entry.z & 0xffu) << 16 | entry.w << 24;
        if (whole)
            storeMade(position, bytes, 4u);
        else if (position < gEnd)
            storeMade(position, bytes, min(gEnd - position, 4u));
        if (lane < 4u)
            sStarts[words + lane] = 0u;
        gBegun += counts.x + counts.y + counts.z + counts.w;
        gAt += kGroup;
    }
    lgBarrierAll(); // the bytes are visible
}

// Takes the tokens up to number `complete`, but for a rest below kAtOnce if more are to come, and makes the whole groups
// that they fill; at the end the last one too. Returns the error of the first bad token, or OK.
uint lzExpand(bool enabled, uint complete, bool more) {
    uint least = more ? kAtOnce : 1u, status = SLUICE_ST_OK;
    [[dont_unroll]] while (wgAny(enabled && status == SLUICE_ST_OK && complete - gPlaced >= least)) {
        bool on = enabled && status == SLUICE_ST_OK && complete - gPlaced >= least;
        uint result = lzPlace(on, complete);
        if (on)
            status = result;
        [[dont_unroll]] while (wgAny(on && status == SLUICE_ST_OK && gEnd - gAt >= kGroup))
            lzMake(on && status == SLUICE_ST_OK && gEnd - gAt >= kGroup, true);
    }
    bool last = enabled && status == SLUICE_ST_OK && !more && gEnd > gAt;
    if (wgAny(last))
        lzMake(last, false);
    return status;
}

#endif // SLUICE_LZ_EXPAND_GLSL
