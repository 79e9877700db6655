// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of a DFloat11 or ECF8 unit and its tables. Code lengths stay within the limits of the
// existing kernels that read such files.
#pragma once

#include <vector>

#include <sluice/sluice_df11.h>

#include "formats/integers.h"

namespace sluice {

// The number of elements of a block, at 2 bytes each, that fit into 48 KiB of shared memory beside
// 512 counters and the block's end. A block has more elements only if its codes have fewer than
// 1.391 bits on average.
constexpr uint32_t kDf11MaxSharedElements = (48 * 1024 - 513 * 4) / 2;

struct Df11Code {
    struct Word {
        uint32_t bits = 0;
        uint32_t length = 0; // 0: none
    };
    Word words[256];           // most significant bit first; the end's code is all zeros
    std::vector<uint8_t> luts; // rows of 256 bytes, the lengths last

    uint32_t minLength() const;
};

// Makes a code for these symbols and one end. No length exceeds the kind's limit (32 or 16 bits) or
// is below minLength (1 or 2), and the tables have at most 16 rows beyond the first. The code is
// optimal, unless the optimal one breaks minLength or needs too many rows; then it is a good one
// that does not. Symbols that do not occur may receive codes to make the code complete. Returns
// false if no symbol occurs, or one that the format cannot hold (bf16: 240 and above; fp8: 16).
bool makeDf11Code(SluiceDf11Kind kind, const uint64_t histogram[256], uint32_t minLength,
                  Df11Code& code);

} // namespace sluice
