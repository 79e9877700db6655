// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "formats/integers.h"

namespace sluice {

// Adds the symbols symbolAt(0 .. count - 1) to a histogram. It counts in four tables, so that equal
// neighbours do not wait for each other.
template <typename SymbolAt>
void addSymbols(u64 count, u64 histogram[256], SymbolAt symbolAt)
{
    u64 tables[4][256] = {};
    for (u64 i = 0; i < count; ++i)
        ++tables[i % 4][symbolAt(i)];
    for (u32 i = 0; i < 256; ++i)
        histogram[i] += tables[0][i] + tables[1][i] + tables[2][i] + tables[3][i];
}

} // namespace sluice
