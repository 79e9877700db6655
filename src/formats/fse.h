// SPDX-License-Identifier: MIT OR Apache-2.0
// FSE tables as Zstandard describes and builds them (RFC 8878, 4.1). They are the reference for the
// tables that GPUs build.
#pragma once

#include "formats/integers.h"

namespace sluice::fse {

constexpr uint32_t kMinLog = 5, kMaxSymbols = 256;

// The number of times that each symbol occurs among 2^log symbols; -1 means less than once.
struct Distribution {
    uint32_t log = 0, symbols = 0;
    uint32_t bytes = 0; // size of the description
    int16_t count[kMaxSymbols] = {};
};

// readLog reads the log at the head of a description; readDistribution reads all of it. Both return
// a SluiceTileStatus: OK, BAD_CODE (more than maxSymbols symbols or 2^maxLog states, or a broken
// rule) or TRUNCATED (it does not end in `size` bytes; in some of these cases libzstd 1.5.4 reads
// bits of the last four bytes again).
uint32_t readLog(const uint8_t* bytes, size_t size, uint32_t maxLog, Distribution& result);
uint32_t readDistribution(const uint8_t* bytes, size_t size, uint32_t maxSymbols, uint32_t maxLog,
                          Distribution& result);

struct State {
    uint16_t base; // the next state is this plus the next `bits` bits
    uint8_t symbol, bits;
};

// Builds 2^log states.
void buildStates(const Distribution& distribution, State* states);

} // namespace sluice::fse
