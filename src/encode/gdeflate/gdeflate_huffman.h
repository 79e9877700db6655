// SPDX-License-Identifier: MIT OR Apache-2.0
// Length-limited canonical Huffman codes.
#pragma once

#include <algorithm>

#include "formats/gdeflate_symbols.h"

namespace sluice::gdeflate {

// Sets lengths[0 .. count - 1] to the code lengths of a Huffman code for symbols with these
// frequencies. No length exceeds maxLength, and a symbol with frequency 0 has length 0. The code is
// complete: if only one symbol occurs, another symbol gets a code too. If none occurs, all lengths
// are 0.
void buildCodeLengths(const uint32_t* frequencies, uint32_t count, uint32_t maxLength,
                      uint8_t* lengths);

// Sets lengths[] like buildCodeLengths. This is slower, but optimal: no other code within maxLength
// needs fewer bits for all symbols together. At most 2^maxLength symbols may occur.
void buildLimitedCodeLengths(const uint32_t* frequencies, uint32_t count, uint32_t maxLength,
                             uint8_t* lengths);

// An overload for 256 counts of any size, which are scaled to 16 bits. A count above 0 stays above
// 0.
template <typename Count>
void buildLimitedCodeLengths(const Count (&counts)[256], uint32_t maxLength, uint8_t* lengths)
{
    const Count largest = *std::max_element(counts, counts + 256);
    uint32_t frequencies[256], shift = 0;
    while (largest >> shift > 0xffff)
        ++shift;
    for (uint32_t i = 0; i < 256; ++i)
        frequencies[i] = counts[i] == 0 ? 0 : std::max(uint32_t(counts[i] >> shift), 1u);
    buildLimitedCodeLengths(frequencies, 256, maxLength, lengths);
}

// Both functions set codes[] to the canonical codes of these code lengths. assignCodes also
// reverses the bits of each code, so that it can be written least significant bit first.
void assignCanonicalCodes(const uint8_t* lengths, uint32_t count, uint16_t* codes);
void assignCodes(const uint8_t* lengths, uint32_t count, uint16_t* codes);

} // namespace sluice::gdeflate
