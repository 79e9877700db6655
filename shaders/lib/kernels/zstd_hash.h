// SPDX-License-Identifier: MIT OR Apache-2.0
// The last step of the Zstandard decode: checksums of frames, and the status of each region. A
// checksum is the lower half of XXH64, which is serial, so one invocation per region computes it,
// over several dispatches. A 64-bit number is two words, since not every device has 64-bit
// integers.
#ifndef SLUICE_KERNELS_ZSTD_HASH_H
#define SLUICE_KERNELS_ZSTD_HASH_H

#include "zstd_slot.h"

SLUICE_KERNEL_BEGIN

// 64-bit numbers have their lower half in x.
SLUICE_DEVICE u32x2 hashJoin(u64 value) { return makeU32x2(lowWord(value), highWord(value)); }
SLUICE_DEVICE u32x2 hashAdd(u32x2 a, u32x2 b) {
    return hashJoin(add64(joinU64(a.x, a.y), joinU64(b.x, b.y)));
}
SLUICE_DEVICE u32x2 hashTimes(u32x2 a, u32x2 b) {
    u32x2 low = hashJoin(mul64(a.x, b.x));
    return makeU32x2(low.x, low.y + a.x * b.y + a.y * b.x);
}
SLUICE_DEVICE u32x2 hashXor(u32x2 a, u32x2 b) { return makeU32x2(a.x ^ b.x, a.y ^ b.y); }
// Rotates to the left; bits: 1 .. 31.
SLUICE_DEVICE u32x2 hashTurn(u32x2 a, u32 bits) {
    return makeU32x2(a.x << bits | a.y >> (32u - bits), a.y << bits | a.x >> (32u - bits));
}

SLUICE_DEVICE u32x2 hashPrime1() { return makeU32x2(0x85ebca87u, 0x9e3779b1u); }
SLUICE_DEVICE u32x2 hashPrime2() { return makeU32x2(0x27d4eb4fu, 0xc2b2ae3du); }
SLUICE_DEVICE u32x2 hashPrime3() { return makeU32x2(0x9e3779f9u, 0x165667b1u); }
SLUICE_DEVICE u32x2 hashPrime4() { return makeU32x2(0xc2b2ae63u, 0x85ebca77u); }
SLUICE_DEVICE u32x2 hashPrime5() { return makeU32x2(0x165667c5u, 0x27d4eb2fu); }

SLUICE_DEVICE u32x2 hashRound(u32x2 sum, u32x2 lane) {
    return hashTimes(hashTurn(hashAdd(sum, hashTimes(lane, hashPrime2())), 31u), hashPrime1());
}
SLUICE_DEVICE u32x2 hashMerge(u32x2 hash, u32x2 sum) {
    hash = hashXor(hash, hashRound(makeU32x2(0u, 0u), sum));
    return hashAdd(hashTimes(hash, hashPrime1()), hashPrime4());
}

// Returns 4 bytes of the output, from byte `at` on.
SLUICE_DEVICE u32 hashWord(SLUICE_IN(ZstdSlot) z, u32 at) {
    u32 low = loadWord(z.destination, at >> 2), high = 0u;
    if ((at & 3u) != 0u) high = loadWord(z.destination, (at >> 2) + 1u);
    return funnelRight(low, high, (at & 3u) * 8u);
}
// Returns 8 bytes of the output, from byte `at` on.
SLUICE_DEVICE u32x2 hashPair(SLUICE_IN(ZstdSlot) z, u32 at) {
    return makeU32x2(hashWord(z, at), hashWord(z, at + 4u));
}

// The accumulators of XXH64, which each stripe of 32 bytes updates.
struct ZstdHash {
    u32x2 a, b, c, d;
};

SLUICE_DEVICE ZstdHash hashBegin() {
    ZstdHash h;
    h.a = hashAdd(hashPrime1(), hashPrime2());
    h.b = hashPrime2();
    h.c = makeU32x2(0u, 0u);
    h.d = hashAdd(hashXor(hashPrime1(), makeU32x2(0xffffffffu, 0xffffffffu)), makeU32x2(1u, 0u));
    return h;
}

SLUICE_DEVICE void hashStripe(SLUICE_IN(ZstdSlot) z, u32 at, SLUICE_INOUT(ZstdHash, h)) {
    h.a = hashRound(h.a, hashPair(z, at));
    h.b = hashRound(h.b, hashPair(z, at + 8u));
    h.c = hashRound(h.c, hashPair(z, at + 16u));
    h.d = hashRound(h.d, hashPair(z, at + 24u));
}

// Returns the lower half of the hash of `size` bytes from `begin` on. All full stripes are in `h`
// already.
SLUICE_DEVICE u32 hashEnd(SLUICE_IN(ZstdSlot) z, u32 begin, u32 size, SLUICE_IN(ZstdHash) h) {
    u32x2 hash = hashPrime5();
    if (size >= 32u) {
        hash = hashAdd(hashAdd(hashTurn(h.a, 1u), hashTurn(h.b, 7u)),
                       hashAdd(hashTurn(h.c, 12u), hashTurn(h.d, 18u)));
        hash = hashMerge(hashMerge(hashMerge(hashMerge(hash, h.a), h.b), h.c), h.d);
    }
    hash = hashAdd(hash, makeU32x2(size, 0u));
    u32 left = size & 31u, at = begin + size - left, eights = left >> 3;
    SLUICE_DONT_UNROLL
    for (u32 i = 0u; i < eights; ++i) {
        hash = hashXor(hash, hashRound(makeU32x2(0u, 0u), hashPair(z, at)));
        hash = hashAdd(hashTimes(hashTurn(hash, 27u), hashPrime1()), hashPrime4());
        at += 8u;
    }
    if ((left & 4u) != 0u) {
        hash = hashXor(hash, hashTimes(makeU32x2(hashWord(z, at), 0u), hashPrime1()));
        hash = hashAdd(hashTimes(hashTurn(hash, 23u), hashPrime2()), hashPrime3());
        at += 4u;
    }
    u32 bytes = left & 3u;
    SLUICE_DONT_UNROLL
    for (u32 k = 0u; k < bytes; ++k) {
        u32 byte = loadByte(z.destination, at);
        hash = hashXor(hash, hashTimes(makeU32x2(byte, 0u), hashPrime5()));
        hash = hashTimes(hashTurn(hash, 11u), hashPrime1());
        ++at;
    }
    hash = hashTimes(makeU32x2(hash.x ^ hash.y >> 1, hash.y), hashPrime2());
    u32x2 shifted = makeU32x2(hash.x >> 29 | hash.y << 3, hash.y >> 29);
    hash = hashTimes(hashXor(hash, shifted), hashPrime3());
    return hash.x ^ hash.y;
}

// Compares the checksums of frames that end before the first fault. Returns true if all are
// compared or one is wrong.
SLUICE_DEVICE bool zstdHashFrames(SLUICE_IN(ZstdSlot) z) {
    u32 fault = loadStoredWord(z.head, SLUICE_ZS_HEAD_FAULT), blocks = zstdBlocks(z),
        placed = loadStoredWord(z.head, SLUICE_ZS_HEAD_PLACED),
        position = loadStoredWord(z.head, SLUICE_ZS_HEAD_POSITION);
    if (fault != SLUICE_ZS_NO_FAULT) blocks = min(blocks, fault >> 10 & 0xfffffu);
    u32 block = loadStoredWord(z.head, SLUICE_ZS_HEAD_HASH_BLOCK),
        done = loadStoredWord(z.head, SLUICE_ZS_HEAD_HASH_AT);
    ZstdHash h;
    h.a = hashJoin(loadU64(z.head, SLUICE_ZS_HEAD_HASH / 2u));
    h.b = hashJoin(loadU64(z.head, SLUICE_ZS_HEAD_HASH / 2u + 1u));
    h.c = hashJoin(loadU64(z.head, SLUICE_ZS_HEAD_HASH / 2u + 2u));
    h.d = hashJoin(loadU64(z.head, SLUICE_ZS_HEAD_HASH / 2u + 3u));
    SLUICE_DONT_UNROLL
    for (u32 turn = 0u; turn < SLUICE_ZS_HASH_TURNS && block < blocks; ++turn) {
        u32 checksum = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_CHECKSUM);
        if (checksum == 0u) {
            ++block;
            continue;
        }
        if (done == SLUICE_ZS_NOT_HASHING) {
            done = 0u;
            h = hashBegin();
        }
        u32 begin = zstdBlockWord(z, block, SLUICE_ZS_BLOCK_FRAME_BEGIN), size = position;
        if (block + 1u < placed) size = zstdBlockWord(z, block + 1u, SLUICE_ZS_BLOCK_BEGIN);
        begin = min(begin, z.decoded);
        size = min(size, z.decoded) - min(begin, size);
        u32 stripes = min((size - done) >> 5, SLUICE_ZS_HASH_BYTES >> 5);
        SLUICE_DONT_UNROLL
        for (u32 i = 0u; i < stripes; ++i)
            hashStripe(z, begin + done + 32u * i, h);
        done += 32u * stripes;
        if (size - done >= 32u) continue;
        if (hashEnd(z, begin, size, h) != zstdWord(z, checksum)) {
            zstdFault(z, SLUICE_ZS_PHASE_OUTPUT, block, 2u, SLUICE_ST_BAD_CHECKSUM);
            return true;
        }
        done = SLUICE_ZS_NOT_HASHING;
        ++block;
    }
    storeWord(z.head, SLUICE_ZS_HEAD_HASH_BLOCK, block);
    storeWord(z.head, SLUICE_ZS_HEAD_HASH_AT, done);
    storeU64(z.head, SLUICE_ZS_HEAD_HASH / 2u, joinU64(h.a.x, h.a.y));
    storeU64(z.head, SLUICE_ZS_HEAD_HASH / 2u + 1u, joinU64(h.b.x, h.b.y));
    storeU64(z.head, SLUICE_ZS_HEAD_HASH / 2u + 2u, joinU64(h.c.x, h.c.y));
    storeU64(z.head, SLUICE_ZS_HEAD_HASH / 2u + 3u, joinU64(h.d.x, h.d.y));
    return block >= blocks;
}

SLUICE_DEVICE void zstdHash(SLUICE_IN(ZstdParams) p, u32 index) {
    if (index >= zstdTurnRegions(p)) return;
    ZstdSlot z = zstdSlot(p, index);
    bool last = (p.pass & SLUICE_ZS_LAST) != 0u;
    if ((p.flags & SLUICE_ZS_FLAG_CHECKSUMS) != 0u && zstdGoesOn(z, SLUICE_ZS_PHASE_OUTPUT)) {
        bool done = zstdHashFrames(z);
        if (!sgLoopsGoOn() || (last && !done)) zstdFault(z, 0u, 0u, 0u, SLUICE_ST_INTERNAL);
    }
    u32 fault = loadStoredWord(z.head, SLUICE_ZS_HEAD_FAULT);
    if (!last || fault == SLUICE_ST_PENDING) return;
    writeStatus(p.status, p.maxRegionCount, z.region,
                fault == SLUICE_ZS_NO_FAULT ? SLUICE_ST_OK : fault & 15u);
}

SLUICE_KERNEL_END
#endif
