// SPDX-License-Identifier: MIT OR Apache-2.0
// Symbols of Gstd's sequences (docs/format.md, 7). Each power of 2 is split into two symbols; extra
// bits select the value within a symbol's range.
#ifndef SLUICE_FORMULAS_GSTD_H
#define SLUICE_FORMULAS_GSTD_H

#include "../layout/gstd.h"
#include "formula.h"

SLUICE_LAYOUT_BEGIN

// Lengths. A symbol below 2^log is the value itself.
SLUICE_FORMULA u32 gstdExtraBits(u32 symbol, u32 log) {
    return SLUICE_SELECT(symbol < 1u << log, 0u, log - 1u + ((symbol - (1u << log)) >> 1));
}
SLUICE_FORMULA u32 gstdBase(u32 symbol, u32 log, u32 extraBits) {
    return SLUICE_SELECT(symbol < 1u << log, symbol, (2u + (symbol & 1u)) << extraBits);
}

// Offsets: `place` is a symbol minus SLUICE_GS_REPEATS. The decoded value minus 1 is the quotient
// of the offset and the part's modulus.
SLUICE_FORMULA u32 gstdOffsetBits(u32 place) {
    return SLUICE_SELECT(place == 0u, 0u, (place - 1u) >> 1);
}
SLUICE_FORMULA u32 gstdOffsetBase(u32 place, u32 extraBits) {
    return SLUICE_SELECT(place == 0u, 1u, (2u + ((place - 1u) & 1u)) << extraBits);
}

SLUICE_LAYOUT_END
#endif
