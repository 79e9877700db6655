// SPDX-License-Identifier: MIT OR Apache-2.0
// Length and distance symbols of GDeflate (RFC 1951, 3.2.5). A slot is a symbol minus the first
// symbol of its kind. Its values, in binary, begin with a one and `mantissaBits` bits below it (2
// for lengths, 1 for distances); then extra bits follow.
#ifndef SLUICE_FORMULAS_GDEFLATE_H
#define SLUICE_FORMULAS_GDEFLATE_H

#include "../layout/gdeflate.h"
#include "formula.h"

SLUICE_LAYOUT_BEGIN

SLUICE_FORMULA u32 gdeflateExtraBits(u32 slot, u32 mantissaBits) {
    return SLUICE_MAX(slot >> mantissaBits, 1u) - 1u;
}

// Returns the bits above the extra bits: shifted left by their number, they are the slot's least
// value.
SLUICE_FORMULA u32 gdeflateMantissa(u32 slot, u32 mantissaBits, u32 extraBits) {
    return slot - (extraBits << mantissaBits);
}

SLUICE_LAYOUT_END
#endif
