// SPDX-License-Identifier: MIT OR Apache-2.0
// The first step of every decode: it sets the statuses of all tiles to PENDING and the number of
// failed tiles to 0.
#ifndef SLUICE_KERNELS_STATUS_H
#define SLUICE_KERNELS_STATUS_H

#include "../compat.h"
#include "../layout/regions.h"

SLUICE_KERNEL_BEGIN

// Sets word `index` of the statuses; `count` is the number of tiles, at most 2^24.
SLUICE_DEVICE void beginStatus(u64 status, u32 count, u32 index) {
    // After the statuses come the number of failed tiles and the index of the first one, ~0 if
    // there is none.
    u32 value = index < count ? SLUICE_ST_PENDING : index == count ? 0u : 0xffffffffu;
    if (index < count + 2u) storeWord(status, index, value);
}

SLUICE_KERNEL_END
#endif
