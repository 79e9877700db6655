// SPDX-License-Identifier: MIT OR Apache-2.0
// The parameters of the float codec's decoder (docs/format.md, section 6).
#ifndef SLUICE_LAYOUT_FLOAT_H
#define SLUICE_LAYOUT_FLOAT_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// Push constants of float_decode.comp. An entry of the list of tensors is this many words, those of
// SluiceFloatTensor.
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
