// SPDX-License-Identifier: MIT OR Apache-2.0
// Length and distance symbols of GDeflate (RFC 1951, 3.2.5). A *slot* is the number of a symbol
// among the length symbols, or among the distance symbols. It stands for a range of values. In
// binary, each value is a leading one, then `mantissaBits` bits that the slot determines (2 for
// lengths, 1 for distances), then the extra bits, which follow the symbol in the stream.
#ifndef SLUICE_FORMULAS_GDEFLATE_H
#define SLUICE_FORMULAS_GDEFLATE_H

#include "../layout/gdeflate.h"
#include "formula.h"

SLUICE_LAYOUT_BEGIN

// Returns how many extra bits follow the symbol with this slot.
SLUICE_FORMULA u32 gdeflateExtraBits(u32 slot, u32 mantissaBits) {
    return SLUICE_MAX(slot >> mantissaBits, 1u) - 1u;
}

// Returns the bits that all values of the slot share: its least value, shifted right by
// `extraBits`.
SLUICE_FORMULA u32 gdeflateMantissa(u32 slot, u32 mantissaBits, u32 extraBits) {
    return slot - (extraBits << mantissaBits);
}

SLUICE_LAYOUT_END
#endif
