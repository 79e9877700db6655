// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "formats/integers.h"

namespace sluice {

// Adds the symbols symbolAt(0) .. symbolAt(count - 1) to a histogram. There are four tables, so
// that counting a symbol need not wait until the same symbol just before it has been counted.
template <typename SymbolAt>
void addSymbols(uint64_t count, uint64_t histogram[256], SymbolAt symbolAt)
{
    uint64_t tables[4][256] = {};
    for (uint64_t i = 0; i < count; ++i)
        ++tables[i % 4][symbolAt(i)];
    for (uint32_t i = 0; i < 256; ++i)
        histogram[i] += tables[0][i] + tables[1][i] + tables[2][i] + tables[3][i];
}

} // namespace sluice
