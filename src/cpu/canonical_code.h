// SPDX-License-Identifier: MIT OR Apache-2.0
// A canonical Huffman code (RFC 1951, 3.2.2): codes ascend with their length, and codes of one
// length ascend with their symbol. So the code lengths of the symbols determine the code.
#pragma once

#include "formats/integers.h"

namespace sluice::cpu {

// kMaxLength is the longest code in bits. Symbols are below kMaxSymbols.
template <uint32_t kMaxLength, uint32_t kMaxSymbols>
class CanonicalCode {
public:
    // Builds the code from the code lengths of symbols 0 .. symbolCount - 1. Length 0 means that a
    // symbol has no code. Returns whether the code is complete, which means that every sequence of
    // bits begins with a code.
    template <typename Length>
    bool build(const Length* lengths, uint32_t symbolCount)
    {
        uint32_t count[kMaxLength + 1] = {}, next[kMaxLength + 1];
        for (uint32_t i = 0; i < symbolCount; ++i) {
            if (lengths[i] > kMaxLength) return false;
            ++count[lengths[i]];
        }
        uint32_t end = 0; // the next unused code, as a number of `length` bits
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

    // Completes a code that has only one symbol, with a code of 1 bit: both values of that bit will
    // decode to the symbol. Returns false, and does nothing, for any other code.
    bool completeSingle()
    {
        if (m_symbols != 1 || m_limit[1] != kAll / 2) return false;
        m_symbol[1] = m_symbol[0];
        m_limit[1] = kAll;
        return true;
    }

    // Completes a code without symbols: every bit will decode to symbol 0. Returns false, and does
    // nothing, for any other code.
    bool completeEmpty()
    {
        if (m_symbols != 0) return false;
        m_symbol[0] = 0;
        m_symbols = 1;
        m_limit[1] = kAll / 2;
        m_first[1] = 0;
        return completeSingle();
    }

    // A symbol and the length of its code in bits.
    struct Found {
        uint32_t symbol, length;
    };
    // Finds the next symbol of a stream. The code must be complete. Calls peek(n) for n = 1, 2, ...
    // up to the length of the symbol's code. peek returns a number of kMaxLength bits: its upper n
    // bits are the next n bits of the stream, and its other bits may be anything.
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
    // The number of values of kMaxLength bits. A complete code covers all of them.
    static constexpr uint32_t kAll = 1u << kMaxLength;

    // Both arrays are indexed by a code length. m_limit: 1 + the last code of this length, shifted
    // left to kMaxLength bits. All shorter codes are below this limit too. m_first: added to a code
    // of this length, it gives the index of the code's symbol in m_symbol.
    uint32_t m_limit[kMaxLength + 1] = {}, m_first[kMaxLength + 1] = {};
    uint16_t m_symbol[kMaxSymbols] = {}; // the symbols in the order of their codes
    uint32_t m_symbols = 0;              // how many symbols have a code
};

} // namespace sluice::cpu
