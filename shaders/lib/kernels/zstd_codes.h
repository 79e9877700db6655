// SPDX-License-Identifier: MIT OR Apache-2.0
// The codes of lengths and offsets of Zstandard's sequences, and the states of their three tables
// in shared memory. Included before kernels/fse.h, which then stores states by zstdSetState.
#ifndef SLUICE_KERNELS_ZSTD_CODES_H
#define SLUICE_KERNELS_ZSTD_CODES_H

#include "../layout/zstd.h"
#include "../compat.h"

SLUICE_KERNEL_BEGIN

// The states of the three tables of each chain of a team. A state is a word: bits 0-6 all
// bits that a sequence takes for this table (for the next state and extra bits), bits 7-10 those
// for the next state, bits 11-19 the base of the next state, from bit 20 on the symbol. The sum of
// three such words has the number of all bits of a sequence in its lowest bits.
SLUICE_CONSTANT u32 kZstdStates = 1280u;
SLUICE_SHARED u32 sZstdStates[kZstdTeams * kZstdChains * kZstdStates];
// The memory of a chain: its ring, and twice two words for each of 32 steps. The number of words is
// odd, so that chains do not meet in one bank. Each lane group builds tables in kZstdTableWords of
// the same words: a byte for each slot and a word for each symbol.
SLUICE_CONSTANT u32 kZstdRing = 128u, kZstdTableWords = 384u;
SLUICE_CONSTANT u32 kZstdChainWords = kZstdRing + 1u + 128u;
SLUICE_CONSTANT u32 kZstdWork = kZstdTableWords * kZstdTeam > kZstdChainWords* kZstdChains
                                    ? kZstdTableWords* kZstdTeam
                                    : kZstdChainWords* kZstdChains;
SLUICE_SHARED u32 sZstdWork[kZstdTeams * kZstdWork];
// Returns where lane group `group` of the workgroup builds its tables.
SLUICE_DEVICE u32 zstdTableMemory(u32 group) {
    return group / kZstdTeam * kZstdWork + group % kZstdTeam * kZstdTableWords;
}
// Returns where the states of a table begin.
SLUICE_DEVICE u32 zstdTableAt(u32 kind) { return kind == 0u ? 0u : kind == 1u ? 512u : 768u; }

SLUICE_DEVICE u32 zstdExtraBits(u32 kind, u32 symbol) {
    if (kind == SLUICE_ZS_OFFSETS) return symbol;
    // Symbols `first` and the seven behind have 1, 1, 1, 1, 2, 2, 3 and 3 bits.
    bool literals = kind == SLUICE_ZS_LITERAL_LENGTHS;
    u32 first = literals ? 16u : 32u, regular = literals ? 25u : 43u;
    if (symbol < first) return 0u;
    if (symbol >= regular) return symbol - (literals ? 19u : 36u);
    return symbol < first + 8u ? 0x33221111u >> 4u * (symbol - first) & 15u
           : symbol == 42u     ? 5u
                               : 4u;
}

// Returns the length to which the extra bits of a symbol are added; match lengths without the 3.
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

// `states` has the place of the table in its lower half and its kind in the upper one.
SLUICE_DEVICE void zstdSetState(u64 states, u32 place, u32 base, u32 symbol, u32 bits) {
    u32 all = bits + zstdExtraBits(highWord(states), symbol);
    sZstdStates[lowWord(states) + place] = all | bits << 7 | base << 11 | symbol << 20;
}

SLUICE_KERNEL_END

#define SLUICE_FSE_STORE zstdSetState

#endif
