// SPDX-License-Identifier: MIT OR Apache-2.0
// Length-limited canonical Huffman codes.
#pragma once

#include <algorithm>

#include "formats/gdeflate_symbols.h"

namespace sluice::gdeflate {

// Sets lengths[0 .. count - 1] to the code lengths of symbols with these frequencies (0: unused,
// length 0), none above maxLength. The code is complete: a single used symbol gets a partner.
// Without any used symbol all lengths are 0.
void buildCodeLengths(const uint32_t* frequencies, uint32_t count, uint32_t maxLength,
                      uint8_t* lengths);

// Does the same with the best such code: of all codes without a length above maxLength none takes
// fewer bits. Slower; 2^maxLength must not be less than the number of used symbols.
void buildLimitedCodeLengths(const uint32_t* frequencies, uint32_t count, uint32_t maxLength,
                             uint8_t* lengths);

// Does the same for 256 counts of any size. They are scaled to the 16 bits that code lengths are
// made of, without losing a symbol that occurs.
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

// Sets codes[] to the canonical codes of the lengths. assignCodes reverses their bits, so that they
// can be written least significant bit first.
void assignCanonicalCodes(const uint8_t* lengths, uint32_t count, uint16_t* codes);
void assignCodes(const uint8_t* lengths, uint32_t count, uint16_t* codes);

} // namespace sluice::gdeflate
