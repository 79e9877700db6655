// SPDX-License-Identifier: MIT OR Apache-2.0
// The values of Gstd's length and offset symbols (docs/format.md, 7.5). Two symbols share the
// values from one power of 2 to the next; the extra bits after a symbol select one of its values.
#ifndef SLUICE_FORMULAS_GSTD_H
#define SLUICE_FORMULAS_GSTD_H

#include "../layout/gstd.h"
#include "formula.h"

SLUICE_LAYOUT_BEGIN

// Returns how many extra bits a length symbol has. A symbol below 2^log is the length itself.
SLUICE_FORMULA u32 gstdExtraBits(u32 symbol, u32 log) {
    return SLUICE_SELECT(symbol < 1u << log, 0u, log - 1u + ((symbol - (1u << log)) >> 1));
}
// Returns the least value of a length symbol, to which its extra bits are added.
SLUICE_FORMULA u32 gstdBase(u32 symbol, u32 log, u32 extraBits) {
    return SLUICE_SELECT(symbol < 1u << log, symbol, (2u + (symbol & 1u)) << extraBits);
}

// Returns how many extra bits an offset symbol has. `place` is the symbol minus SLUICE_GS_REPEATS,
// the number of symbols that repeat an offset. The symbol's base plus its extra bits gives a value
// v. The offset is then (v - 1) * modulus + remainder. All sequences of a part share the modulus,
// and another symbol gives the remainder.
SLUICE_FORMULA u32 gstdOffsetBits(u32 place) {
    return SLUICE_SELECT(place == 0u, 0u, (place - 1u) >> 1);
}
// Returns the base of an offset symbol, to which its extra bits are added.
SLUICE_FORMULA u32 gstdOffsetBase(u32 place, u32 extraBits) {
    return SLUICE_SELECT(place == 0u, 1u, (2u + ((place - 1u) & 1u)) << extraBits);
}

SLUICE_LAYOUT_END
#endif
