// SPDX-License-Identifier: MIT OR Apache-2.0
// Length and distance symbols of GDeflate (RFC 1951, 3.2.5). A *slot* is a symbol minus the first
// symbol of its kind. A slot stands for a range of values. In binary, each value is a leading one,
// then `mantissaBits` bits that the slot determines (2 for lengths, 1 for distances), and then the
// extra bits, which follow the symbol in the stream.
#ifndef SLUICE_FORMULAS_GDEFLATE_H
#define SLUICE_FORMULAS_GDEFLATE_H

#include "../layout/gdeflate.h"
#include "formula.h"

SLUICE_LAYOUT_BEGIN

// Returns how many extra bits the slot has.
SLUICE_FORMULA u32 gdeflateExtraBits(u32 slot, u32 mantissaBits) {
    return SLUICE_MAX(slot >> mantissaBits, 1u) - 1u;
}

// Returns the bits of the slot's values above the extra bits. Shifted left by `extraBits`, they are
// the slot's least value.
SLUICE_FORMULA u32 gdeflateMantissa(u32 slot, u32 mantissaBits, u32 extraBits) {
    return slot - (extraBits << mantissaBits);
}

SLUICE_LAYOUT_END
#endif
