// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <vector>

#include "formats/integers.h"

namespace sluice::zstd {

// Appends bits to a vector of bytes, the lowest bit of each byte first. For streams that decoders
// read backwards, the last bits must be put first.
class BitWriter {
public:
    explicit BitWriter(std::vector<uint8_t>& to) : m_to(to) {}

    // Appends n bits (0 .. 32). value: below 2^n.
    void put(uint32_t value, uint32_t n)
    {
        m_bits |= uint64_t(value) << m_count;
        for (m_count += n; m_count >= 8; m_count -= 8) {
            m_to.push_back(uint8_t(m_bits));
            m_bits >>= 8;
        }
    }
    // Pads the last byte with zeros.
    void fill()
    {
        if (m_count != 0) put(0, 8 - m_count);
    }
    // Adds the bit that marks the end of a stream.
    void finish()
    {
        put(1, 1);
        fill();
    }

private:
    std::vector<uint8_t>& m_to;
    uint64_t m_bits = 0;
    uint32_t m_count = 0; // bits that are not in a whole byte yet
};

} // namespace sluice::zstd
