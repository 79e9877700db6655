// SPDX-License-Identifier: MIT OR Apache-2.0
// The prefix code of a DFloat11 or ECF8 unit (tensors under one code) and its look-up tables. Code
// lengths stay within the limits of the kernels of other projects that read such files.
#pragma once

#include <vector>

#include <sluice/sluice_df11.h>

#include "formats/integers.h"

namespace sluice {

// The most elements of a block that decoders of other projects can take: they keep the elements, 2
// bytes each, in 48 KiB of shared memory, together with 512 counters and the block's end. A block
// has more elements only if its codes have fewer than 1.391 bits on average.
constexpr uint32_t kDf11MaxSharedElements = (48 * 1024 - 513 * 4) / 2;

struct Df11Code {
    struct Word {
        uint32_t bits = 0;
        uint32_t length = 0; // 0: the symbol has no code
    };
    Word words[256];           // most significant bit first
    std::vector<uint8_t> luts; // rows of 256 bytes; the last has the code lengths

    uint32_t minLength() const;
};

// Makes a code for the symbols that occur and for the end mark, whose code consists of zeros.
//
// No code is longer than the kind allows (32 or 16 bits) or shorter than minLength (1 or 2), and
// the look-up tables have at most 16 rows beyond the first. The code is the best one unless that
// breaks minLength or takes too many rows. Symbols that do not occur may receive codes, to complete
// the code.
//
// Returns false if no symbol occurs, or one that the format cannot hold: 240 and above for bf16, 16
// and above for fp8.
bool makeDf11Code(SluiceDf11Kind kind, const uint64_t histogram[256], uint32_t minLength,
                  Df11Code& code);

} // namespace sluice
