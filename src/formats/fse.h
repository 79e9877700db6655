// SPDX-License-Identifier: MIT OR Apache-2.0
// FSE tables as Zstandard describes and builds them (RFC 8878, 4.1): the reference for the GPU's.
#pragma once

#include "formats/integers.h"

namespace sluice::fse {

constexpr u32 kMinLog = 5, kMaxSymbols = 256;

// How often each symbol occurs out of 2^log times; -1: less than once.
struct Distribution {
    u32 log = 0, symbols = 0;
    u32 bytes = 0; // of its description
    int16_t count[kMaxSymbols] = {};
};

// readLog reads the log at the head of a description; readDistribution reads all of it. Both return
// a SluiceTileStatus: OK, BAD_CODE (more than maxSymbols symbols or 2^maxLog states, or a broken
// rule) or TRUNCATED (it does not end in `size` bytes; in some of these cases libzstd 1.5.4 reads
// bits of the last four bytes again).
u32 readLog(const u8* bytes, size_t size, u32 maxLog, Distribution& result);
u32 readDistribution(const u8* bytes, size_t size, u32 maxSymbols, u32 maxLog,
                     Distribution& result);

struct State {
    u16 base; // the next state is this plus the next `bits` bits
    u8 symbol, bits;
};

// Builds 2^log states.
void buildStates(const Distribution& distribution, State* states);

} // namespace sluice::fse
