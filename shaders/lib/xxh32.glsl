// SPDX-License-Identifier: MIT OR Apache-2.0
// XXH32, seed 0 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md).
#ifndef SLUICE_XXH32_GLSL
#define SLUICE_XXH32_GLSL

#include "memory.glsl"
#include "pitch.glsl"

const uint kXxhPrime1 = 0x9E3779B1u, kXxhPrime2 = 0x85EBCA77u, kXxhPrime3 = 0xC2B2AE3Du,
           kXxhPrime4 = 0x27D4EB2Fu, kXxhPrime5 = 0x165667B1u;
// prime1 + prime2, prime2, 0, -prime1
const uvec4 kXxhStart = uvec4(0x24234428u, kXxhPrime2, 0u, 0x61C8864Fu);

uvec4 xxhRotate(uvec4 value, uvec4 bits) { return value << bits | value >> (32u - bits); }
uint xxhRotate(uint value, uint bits) { return value << bits | value >> (32u - bits); }

// One stripe of 16 bytes into the four lanes of the hash.
uvec4 xxhStripe(uvec4 sums, uvec4 words) {
    return xxhRotate(sums + words * kXxhPrime2, uvec4(13u)) * kXxhPrime1;
}

uint xxhMerge(uvec4 sums) {
    uvec4 turned = xxhRotate(sums, uvec4(1u, 7u, 12u, 18u));
    return turned.x + turned.y + turned.z + turned.w;
}

uint xxhFinish(uint hash) {
    hash = (hash ^ hash >> 15) * kXxhPrime2;
    hash = (hash ^ hash >> 13) * kXxhPrime3;
    return hash ^ hash >> 16;
}

// What is hashed: the memory at `address`, a multiple of 4, on; or, if `pitched`, bytes from
// `begin` on of the tile that pitchBegin was told of. `pitched` is a literal wherever it is given,
// so that no branch is left.
uint xxhWord(uvec2 address, uint begin, uint index, bool pitched) {
    if (pitched) return WordsIn(pitchAddress(begin + 4u * index)).w[0];
    return WordsIn(address).w[begin / 4u + index];
}

// Without 8-bit storage a byte's whole word is read.
uint xxhByte(uvec2 address, uint begin, uint index, bool pitched) {
#ifdef SLUICE_EXT
    return uint(
        BytesOut(pitched ? pitchAddress(begin + index) : add64(address, begin + index)).b[0]);
#else
    return xxhWord(address, begin, index >> 2, pitched) >> (8u * (index & 3u)) & 0xffu;
#endif
}

// XXH32 of `size` bytes from `begin`, a multiple of 4.
uint xxh32(uvec2 address, uint begin, uint size, bool pitched) {
    uint words = size / 4u, at = 0u, hash = kXxhPrime5;
    if (size >= 16u) {
        uvec4 sums = kXxhStart;
        for (; at + 4u <= words; at += 4u)
            sums = xxhStripe(sums, uvec4(xxhWord(address, begin, at, pitched),
                                         xxhWord(address, begin, at + 1u, pitched),
                                         xxhWord(address, begin, at + 2u, pitched),
                                         xxhWord(address, begin, at + 3u, pitched)));
        hash = xxhMerge(sums);
    }
    hash += size;
    for (; at < words; ++at)
        hash =
            xxhRotate(hash + xxhWord(address, begin, at, pitched) * kXxhPrime3, 17u) * kXxhPrime4;
    for (uint i = words * 4u; i < size; ++i)
        hash = xxhRotate(hash + xxhByte(address, begin, i, pitched) * kXxhPrime5, 11u) * kXxhPrime1;
    return xxhFinish(hash);
}

#endif // SLUICE_XXH32_GLSL
