// SPDX-License-Identifier: MIT OR Apache-2.0
// The Huffman code of literals: chooses it, and writes its description and streams.
#pragma once

#include <memory>
#include <vector>

#include "layout/zstd.h"
#include "encode/zstd/zstd_bits.h"

namespace sluice::zstd {

struct LiteralCounts {
    uint32_t count[256] = {};

    void add(const LiteralCounts& other);
    uint32_t used() const; // how many different bytes occur
};

class LiteralCode {
public:
    std::vector<uint8_t> description;

    // Returns how many bits these literals take, or UINT64_MAX if a literal has no codeword.
    uint64_t bits(const LiteralCounts& literals) const;
    void write(const uint8_t* literals, uint32_t count, std::vector<uint8_t>& to) const;

private:
    friend std::unique_ptr<LiteralCode> fitLiterals(const LiteralCounts& literals);

    uint8_t m_length[256] = {}; // 0: no codeword
    uint16_t m_bits[256] = {};
};

// Returns the cheapest code of these literals that can be described, or nothing if there is none.
std::unique_ptr<LiteralCode> fitLiterals(const LiteralCounts& literals);

} // namespace sluice::zstd
