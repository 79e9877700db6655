// SPDX-License-Identifier: MIT OR Apache-2.0
// A canonical Huffman code (RFC 1951, 3.2.2), decoded bit by bit.
#pragma once

#include <algorithm>

#include "../formats/integers.h"

namespace sluice::cpu {

template <u32 kMaxLength, u32 kMaxSymbols>
class CanonicalCode {
public:
    // Returns whether the lengths make a complete code; 0 stands for a symbol without one.
    template <typename Length>
    bool build(const Length* lengths, u32 symbolCount)
    {
        std::fill_n(m_count, kMaxLength + 1, 0u);
        m_symbols = 0;
        for (u32 i = 0; i < symbolCount; ++i) {
            if (lengths[i] > kMaxLength) return false;
            ++m_count[lengths[i]];
        }
        m_count[0] = 0;
        u32 space = 0; // that the codes take, in units of 2^-kMaxLength
        for (u32 length = 1; length <= kMaxLength; ++length) {
            space += m_count[length] << (kMaxLength - length);
            for (u32 i = 0; i < symbolCount; ++i)
                if (lengths[i] == length) m_symbol[m_symbols++] = u16(i);
        }
        return space == 1u << kMaxLength;
    }

    // Completes a code of one symbol with 1 bit, which both bit values then stand for. Returns
    // false if the code is another one.
    bool completeSingle()
    {
        if (m_symbols != 1 || m_count[1] != 1) return false;
        m_symbol[1] = m_symbol[0];
        m_count[1] = 2;
        return true;
    }

    // Completes a code without symbols, in which every bit stands for symbol 0.
    bool completeEmpty()
    {
        if (m_symbols != 0) return false;
        m_symbol[0] = 0;
        m_symbols = m_count[1] = 1;
        return completeSingle();
    }

    // The next symbol of a complete code; takeBit() returns the next bit.
    template <typename TakeBit>
    u32 decode(TakeBit takeBit) const
    {
        u32 code = 0, first = 0, index = 0; // first code of this length, and its symbol's place
        for (u32 length = 1; length <= kMaxLength; ++length) {
            code = code << 1 | takeBit();
            first <<= 1;
            if (code - first < m_count[length]) return m_symbol[index + code - first];
            first += m_count[length];
            index += m_count[length];
        }
        return 0; // not reached: the code is complete
    }

private:
    u32 m_count[kMaxLength + 1] = {}; // codes of each length
    u16 m_symbol[kMaxSymbols] = {};   // in the order of their codes
    u32 m_symbols = 0;
};

} // namespace sluice::cpu
