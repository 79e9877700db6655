// SPDX-License-Identifier: MIT OR Apache-2.0
// Length-limited canonical Huffman codes.
#pragma once

#include "gdeflate_format.h"

namespace sluice::gdeflate {

constexpr uint32_t kMaxSymbols = 288;

// Sets lengths[0 .. count - 1] to the code lengths of symbols with these frequencies (0: unused,
// length 0), none above maxLength. The code is complete: a single used symbol gets a partner.
// Without any used symbol all lengths are 0.
void buildCodeLengths(const uint32_t* frequencies, uint32_t count, uint32_t maxLength,
                      uint8_t* lengths);

// The same, and the best such code: of all codes without a length above maxLength none takes fewer
// bits. Slower; 2 to the power of maxLength must not be less than the number of used symbols.
void buildLimitedCodeLengths(const uint32_t* frequencies, uint32_t count, uint32_t maxLength,
                             uint8_t* lengths);

// Sets codes[] to the canonical codes of the lengths, bit-reversed: ready to be written least
// significant bit first.
void assignCodes(const uint8_t* lengths, uint32_t count, uint16_t* codes);

} // namespace sluice::gdeflate
