// SPDX-License-Identifier: MIT OR Apache-2.0
// A canonical Huffman code (RFC 1951, 3.2.2).
#pragma once

#include <algorithm>

#include "formats/integers.h"

namespace sluice::cpu {

template <uint32_t kMaxLength, uint32_t kMaxSymbols>
class CanonicalCode {
public:
    // Builds the code from its lengths; length 0 means that the symbol has no code. Returns whether
    // the code is complete.
    template <typename Length>
    bool build(const Length* lengths, uint32_t symbolCount)
    {
        uint32_t count[kMaxLength + 1] = {}, next[kMaxLength + 1];
        for (uint32_t i = 0; i < symbolCount; ++i) {
            if (lengths[i] > kMaxLength) return false;
            ++count[lengths[i]];
        }
        uint32_t end = 0; // the end of the code space that is used so far
        m_symbols = 0;
        for (uint32_t length = 1; length <= kMaxLength; ++length) {
            end <<= 1;
            m_first[length] = m_symbols - end;
            next[length] = m_symbols;
            m_symbols += count[length];
            m_limit[length] = (end += count[length]) << (kMaxLength - length);
        }
        for (uint32_t i = 0; i < symbolCount; ++i)
            if (lengths[i] != 0) m_symbol[next[lengths[i]]++] = uint16_t(i);
        return end == kAll;
    }

    // If the code has a single symbol with 1 bit, completes it, so that both bit values decode to
    // this symbol. Returns false for any other code.
    bool completeSingle()
    {
        if (m_symbols != 1 || m_limit[1] != kAll / 2) return false;
        m_symbol[1] = m_symbol[0];
        m_limit[1] = kAll;
        return true;
    }

    // If the code has no symbols, completes it, so that every bit decodes to symbol 0. Returns
    // false for any other code.
    bool completeEmpty()
    {
        if (m_symbols != 0) return false;
        m_symbol[0] = 0;
        m_symbols = 1;
        m_limit[1] = kAll / 2;
        m_first[1] = 0;
        return completeSingle();
    }

    struct Found {
        uint32_t symbol, length;
    };
    // Finds the next symbol. peek(n) must return a value of kMaxLength bits whose upper n bits are
    // the next n bits of the stream; its other bits may be anything. It is called for n = 1, 2, ...
    template <typename Peek>
    Found find(Peek peek) const
    {
        for (uint32_t length = 1; length <= kMaxLength; ++length) {
            const uint32_t bits = peek(length);
            if (bits < m_limit[length])
                return {m_symbol[m_first[length] + (bits >> (kMaxLength - length))], length};
        }
        return {}; // not reached: the code is complete
    }

private:
    static constexpr uint32_t kAll = 1u << kMaxLength;

    // Per length: the left-aligned end of its codes, and the index of its first symbol minus its
    // first code.
    uint32_t m_limit[kMaxLength + 1] = {}, m_first[kMaxLength + 1] = {};
    uint16_t m_symbol[kMaxSymbols] = {}; // in the order of their codes
    uint32_t m_symbols = 0;
};

} // namespace sluice::cpu
