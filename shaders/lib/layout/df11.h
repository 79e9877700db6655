// SPDX-License-Identifier: MIT OR Apache-2.0
// DFloat11 and ECF8.
#ifndef SLUICE_LAYOUT_DF11_H
#define SLUICE_LAYOUT_DF11_H

#include "base.h"

SLUICE_LAYOUT_BEGIN

// Push constants of df11.comp. A unit in the list: 18 words, see SluiceDf11Unit.
struct Df11Params {
    SLUICE_ADDRESS units;
    SLUICE_ADDRESS unitCount; // 0: none, maxUnitCount counts
    SLUICE_ADDRESS source;
    SLUICE_ADDRESS sourceSize;
    SLUICE_ADDRESS destination;
    SLUICE_ADDRESS destinationSize;
    SLUICE_ADDRESS status;
    u32 maxUnitCount;
    u32 maxBlockCount;
    u32 blocksPerWorkgroup;
};

SLUICE_LAYOUT_END
#endif
