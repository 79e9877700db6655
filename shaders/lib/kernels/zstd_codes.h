// SPDX-License-Identifier: MIT OR Apache-2.0
// The codes of lengths and offsets of Zstandard's sequences, and the states of their three FSE
// tables in shared memory. Included before kernels/fse.h, which stores these states by
// zstdSetState.
#ifndef SLUICE_KERNELS_ZSTD_CODES_H
#define SLUICE_KERNELS_ZSTD_CODES_H

#include "../layout/zstd.h"
#include "../compat.h"

SLUICE_KERNEL_BEGIN

// The states of the three tables, for each block that a team decodes at once (a chain). A state is
// a word. Bits 0-11: 4,096 minus the bits that a sequence reads for this table (next state and
// extra bits). Bits 12-16: how many of them are for the next state. Bits 17-22: symbol. Bits 23-31:
// base of the next state. Words of the table of literal lengths have one less in bits 0-11. So the
// sum of a bit position, a sequence's three words and 1 is the position of the next sequence modulo
// 4,096, since streams are read downwards, and bit 6 of the three words' sum is 0 if the sequence
// has 64 bits or more. A step takes the base with one shift, and shifts of words take the number of
// bits as it is, with other bits above its five.
SLUICE_CONSTANT u32 kZstdStates = 1280u;
SLUICE_SHARED u32 sZstdStates[kZstdTeams * kZstdChains * kZstdStates];
// The memory of a chain: its ring buffer, and two buffers of 32 steps with four words each. Its
// size is 4 modulo 32 words, to avoid bank conflicts between chains. Before decoding begins, each
// lane group builds tables in kZstdTableWords of the same memory: a byte for each slot and a word
// for each symbol (slots.h).
SLUICE_CONSTANT u32 kZstdRing = 128u, kZstdTableWords = 384u;
SLUICE_CONSTANT u32 kZstdRingWords = kZstdRing + 4u;
// The bits of a position that say which bit of the ring it is.
SLUICE_CONSTANT u32 kZstdRingMask = 32u * kZstdRing - 1u;
SLUICE_CONSTANT u32 kZstdChainWords = kZstdRingWords + 256u;
SLUICE_CONSTANT u32 kZstdWork = kZstdTableWords * kZstdTeam > kZstdChainWords* kZstdChains
                                    ? kZstdTableWords* kZstdTeam
                                    : kZstdChainWords* kZstdChains;
SLUICE_SHARED_UNITS u32 sZstdWork[kZstdTeams * kZstdWork];
// Returns where in sZstdWork lane group `group` of the workgroup builds its tables.
SLUICE_DEVICE u32 zstdTableMemory(u32 group) {
    return group / kZstdTeam * kZstdWork + group % kZstdTeam * kZstdTableWords;
}
// Returns where in the states of a chain those of a table begin.
SLUICE_DEVICE u32 zstdTableAt(u32 kind) { return kind == 0u ? 0u : kind == 1u ? 512u : 768u; }

SLUICE_DEVICE u32 zstdExtraBits(u32 kind, u32 symbol) {
    if (kind == SLUICE_ZS_OFFSETS) return symbol;
    // Symbols first to first + 7 have 1, 1, 1, 1, 2, 2, 3 and 3 extra bits.
    bool literals = kind == SLUICE_ZS_LITERAL_LENGTHS;
    u32 first = literals ? 16u : 32u, regular = literals ? 25u : 43u;
    if (symbol < first) return 0u;
    if (symbol >= regular) return symbol - (literals ? 19u : 36u);
    return symbol < first + 8u ? 0x33221111u >> 4u * (symbol - first) & 15u
           : symbol == 42u     ? 5u
                               : 4u;
}

// Returns the length to which a symbol's extra bits are added; for match lengths minus
// SLUICE_ZS_MIN_MATCH.
SLUICE_DEVICE u32 zstdBase(u32 kind, u32 symbol) {
    bool literals = kind == SLUICE_ZS_LITERAL_LENGTHS;
    u32 first = literals ? 16u : 32u, at = symbol - first;
    if (symbol < first) return symbol;
    if (symbol >= (literals ? 25u : 43u)) return 1u << (symbol - (literals ? 19u : 36u));
    if (at < 4u) return first + 2u * at;
    u32 more = at < 6u ? 4u * (at - 4u) : 8u + 8u * (at - 6u);
    if (at < 8u) return first + 8u + more;
    return literals ? 48u : symbol == 42u ? 96u : 64u + 16u * (at - 8u);
}

// Returns what zstdSetState must know of a table: the index of its states, its kind, and log2 of the
// number of its states.
SLUICE_DEVICE u64 zstdTableStates(u32 at, u32 kind, u32 log) {
    return joinU64(at, kind | log << 8);
}
// Stores state `place` of a table. Steps take states as indices without a test. So whatever the
// parameters are, the next states are states of the table, each of which is stored. The base of a
// valid state is a multiple of 2^bits.
SLUICE_DEVICE void zstdSetState(u64 states, u32 place, u32 base, u32 symbol, u32 bits) {
    u32 log = highWord(states) >> 8, kind = highWord(states) & 255u;
    bits = min(bits, log);
    base &= (1u << log) - (1u << bits);
    symbol &= 63u;
    u32 one = kind == SLUICE_ZS_LITERAL_LENGTHS ? 1u : 0u,
        all = bits + zstdExtraBits(kind, symbol) + one;
    sZstdStates[lowWord(states) + place] =
        (0u - all & kZstdRingMask) | bits << 12 | symbol << 17 | base << 23;
}

SLUICE_KERNEL_END

#define SLUICE_FSE_STORE zstdSetState

#endif
