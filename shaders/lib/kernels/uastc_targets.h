// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes blocks of the target formats. The host, GLSL and CUDA compile this text.
#ifndef SLUICE_KERNELS_UASTC_TARGETS_H
#define SLUICE_KERNELS_UASTC_TARGETS_H

#include "uastc_astc.h"
#include "uastc_bc.h"
#include "uastc_bc7.h"
#include "uastc_etc.h"

SLUICE_KERNEL_BEGIN

// Returns the bytes of a target's block. RGBA8 has no blocks.
SLUICE_DEVICE u32 uastcBlockBytes(u32 target) {
    return target == SLUICE_UA_BC1 || target == SLUICE_UA_BC4 || target == SLUICE_UA_ETC1 ? 8u
                                                                                          : 16u;
}

SLUICE_DEVICE UastcBits uastcJoined(SLUICE_IN(UastcHalf) first, SLUICE_IN(UastcHalf) second) {
    UastcBits joined;
    joined.x = first.x;
    joined.y = first.y;
    joined.z = second.x;
    joined.w = second.y;
    return joined;
}

// Makes a block of BC1, BC3, BC4 or BC5. Blocks of 8 bytes are in the lower half of the result.
SLUICE_DEVICE UastcBits uastcBc(u32 target, SLUICE_IN(UastcBits) block, SLUICE_IN(UastcShape) shape,
                                SLUICE_IN(UastcAllEnds) all, SLUICE_IN(UastcTexels) texels) {
    if (target == SLUICE_UA_BC1 || target == SLUICE_UA_BC3) {
        UastcHalf colour = uastcBc1(block, shape, all, texels);
        if (target == SLUICE_UA_BC1) return uastcJoined(colour, colour);
        return uastcJoined(uastcBc4(texels, 24u), colour);
    }
    UastcHalf red = uastcBc4(texels, 0u);
    if (target == SLUICE_UA_BC4) return uastcJoined(red, red);
    return uastcJoined(red, uastcBc4(texels, target == SLUICE_UA_BC5 ? 8u : 24u));
}

// Makes a block of ETC1, or of ETC2 with alpha.
SLUICE_DEVICE UastcBits uastcEtc(u32 target, SLUICE_IN(UastcBits) block,
                                 SLUICE_IN(UastcShape) shape, SLUICE_IN(UastcTexels) texels) {
    UastcHalf colour = uastcEtc1(block, shape, texels);
    if (target == SLUICE_UA_ETC1) return uastcJoined(colour, colour);
    return uastcJoined(uastcEac(block, shape, texels), colour);
}

SLUICE_KERNEL_END
#endif
