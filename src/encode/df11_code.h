// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of a DFloat11 or ECF8 unit: lengths under the limits of the kernels that read such
// files, and the tables.
#pragma once

#include <cstdint>
#include <vector>

#include <sluice/sluice_df11.h>

namespace sluice {

// Of a block of 4,096 bytes, so that 2 bytes for each element, 512 counters and the block's end fit
// into 48 KiB of shared memory. 32,768 bits for more elements means less than 1.391 bits a code.
constexpr uint32_t df11MaxSharedElements = (48 * 1024 - 513 * 4) / 2;

struct Df11Code {
    struct Word {
        uint32_t bits = 0;
        uint32_t length = 0; // 0: none
    };
    Word words[256];           // most significant bit first; the end's code is all zeros
    std::vector<uint8_t> luts; // rows of 256 bytes, the lengths last

    uint32_t minLength() const;
};

// The code with the fewest bits for these symbols and one end, no length above the kind's limit (32
// or 16 bits) nor below minLength (1 or 2), whose tables have at most 16 rows beyond the first.
// Package-merge (Larmore, Hirschberg: A Fast Algorithm for Optimal Length-Limited Huffman Codes,
// JACM 1990); where its result breaks minLength or needs too many rows, a good code that does not.
// Symbols that do not occur may get codes to make it complete. False: nothing occurs, or a symbol
// that the format cannot hold (bf16: 240 and above; fp8: 16).
bool makeDf11Code(SluiceDf11Kind kind, const uint64_t histogram[256], uint32_t minLength,
                  Df11Code& code);

} // namespace sluice
