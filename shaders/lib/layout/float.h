// SPDX-License-Identifier: MIT OR Apache-2.0
// The float codec.
#ifndef SLUICE_LAYOUT_FLOAT_H
#define SLUICE_LAYOUT_FLOAT_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// Push constants of float_decode.comp. A tensor in the list: 16 words, see SluiceFloatTensor.
#define SLUICE_FLOAT_TENSOR_WORDS 16u
struct FloatDecodeParams {
    SLUICE_ADDRESS tensors;
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS status;
    u32 tensorCount;
    u32 tileCount;
    u32 tilesPerWorkgroup;
};

SLUICE_LAYOUT_END
#endif
