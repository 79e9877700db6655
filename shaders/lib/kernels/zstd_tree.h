// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of a lane group's Huffman code of literals in shared memory. Before that, the same
// memory has the states of the FSE table that codes the weights. Included before kernels/fse.h,
// which stores these states by zstdSetState.
//
// The includer then defines zstdEntry(groupHere, value). It returns the table's 16 bits for
// `value`, the next bits of a stream (up to 11): from bit 0 on the length of their first codeword,
// from bit 8 on its symbol. For a codeword of 12 bits only the length is valid.
#ifndef SLUICE_KERNELS_ZSTD_TREE_H
#define SLUICE_KERNELS_ZSTD_TREE_H

#include "../layout/zstd.h"
#include "../compat.h"

SLUICE_KERNEL_BEGIN

SLUICE_CONSTANT u32 kZstdTable = 1u << SLUICE_ZS_MAX_CODE_LENGTH >> 1; // words of two entries
SLUICE_SHARED u32 sZstdTable[kGroupsPerWorkgroup * kZstdTable];

SLUICE_DEVICE void zstdSetState(u64 states, u32 place, u32 base, u32 symbol, u32 bits) {
    sZstdTable[lowWord(states) + place] = base | symbol << 8 | bits << 16;
}

SLUICE_KERNEL_END

#define SLUICE_FSE_STORE zstdSetState

#endif
