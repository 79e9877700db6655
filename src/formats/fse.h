// SPDX-License-Identifier: MIT OR Apache-2.0
// FSE tables, described and built as in Zstandard (RFC 8878, 4.1). The tables that GPUs build are
// compared with these.
#pragma once

#include "formats/integers.h"

namespace sluice::fse {

constexpr uint32_t kMinLog = 5, kMaxSymbols = 256;

// Says how many of the 2^log states of a table each symbol gets. A count of -1 means a probability
// of less than one state; the symbol gets one state.
struct Distribution {
    uint32_t log = 0, symbols = 0;
    uint32_t bytes = 0; // size of the description
    int16_t count[kMaxSymbols] = {};
};

// readLog reads the log, with which a description begins. readDistribution reads the whole
// description. Both return a SluiceTileStatus: OK, BAD_CODE (more than maxSymbols symbols or
// 2^maxLog states, or a broken rule) or TRUNCATED (the description does not end within `size`
// bytes; libzstd 1.5.4 accepts some of these, because it reads bits of the last four bytes twice).
uint32_t readLog(const uint8_t* bytes, size_t size, uint32_t maxLog, Distribution& result);
uint32_t readDistribution(const uint8_t* bytes, size_t size, uint32_t maxSymbols, uint32_t maxLog,
                          Distribution& result);

struct State {
    uint16_t base; // the next state is `base` plus the next `bits` bits
    uint8_t symbol, bits;
};

// Builds the 2^log states of a table.
void buildStates(const Distribution& distribution, State* states);

} // namespace sluice::fse
