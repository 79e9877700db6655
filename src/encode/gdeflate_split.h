// SPDX-License-Identifier: MIT OR Apache-2.0
// Where to start a new block, with codes of its own.
#pragma once

#include "gdeflate_cost.h"

namespace sluice::gdeflate {

constexpr uint32_t kMaxChunks = 64;

// Cuts the tokens into up to maxChunks (1 .. kMaxChunks) equal chunks and joins neighbours to the blocks that cost least
// in all, by entropy and an estimate of the header. Writes the number of tokens of each block to `blocks` (room for
// kMaxChunks) and returns their count.
uint32_t splitIntoBlocks(const EntropyTable& entropy, const Token* tokens, uint32_t count, uint32_t maxChunks, uint32_t* blocks);

} // namespace sluice::gdeflate
