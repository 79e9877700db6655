// SPDX-License-Identifier: MIT OR Apache-2.0
// Length and distance symbols of GDeflate (RFC 1951, 3.2.5). A slot is a symbol less the first one of
// its kind. Its values begin with a one and `mantissaBits` bits below it, 2 for lengths and 1 for
// distances; then extra bits follow.
#ifndef SLUICE_FORMULAS_GDEFLATE_H
#define SLUICE_FORMULAS_GDEFLATE_H

#include "../layout/gdeflate.h"
#include "formula.h"

SLUICE_LAYOUT_BEGIN

SLUICE_FORMULA u32 gdeflateExtraBits(u32 slot, u32 mantissaBits) {
    return SLUICE_MAX(slot >> mantissaBits, 1u) - 1u;
}

// The bits above the extra bits: the least value of the slot is this, shifted left by them.
SLUICE_FORMULA u32 gdeflateMantissa(u32 slot, u32 mantissaBits, u32 extraBits) {
    return slot - (extraBits << mantissaBits);
}

SLUICE_LAYOUT_END
#endif
