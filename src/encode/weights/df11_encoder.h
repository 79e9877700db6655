// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes a DFloat11 or ECF8 unit piece by piece, in the layout of docs/format.md 5.2. The stream
// is divided into windows of 64 bits. A gap says at which bit of a window its first code starts.
#pragma once

#include <array>

#include <sluice/sluice_df11.h>

#include "encode/weights/df11_code.h"

namespace sluice {

// Adds how often each symbol occurs among `count` elements to a histogram.
void countDf11Symbols(SluiceDf11Kind kind, const uint8_t* elements, uint64_t count,
                      uint64_t histogram[256]);

// The sizes in bytes of four arrays of a unit (tensors under one code), known before it is encoded.
struct Df11Sizes {
    uint64_t encoded, signMantissa, positions, gaps;
};
Df11Sizes df11Sizes(SluiceDf11Kind kind, const uint64_t histogram[256], const Df11Code& code);

class Df11Encoder {
public:
    // The code must outlive the encoder.
    Df11Encoder(SluiceDf11Kind kind, const Df11Code& code);

    // The arrays that have been encoded so far. `encoded` is the stream of codes, `signMantissa`
    // the uncoded bits, and `positions` the index of each block's first element. The caller may
    // remove bytes between calls.
    std::vector<uint8_t> encoded, signMantissa, positions, gaps;

    void add(const uint8_t* elements, uint64_t count);
    // Writes what remains after the last element: the last window and the ends of the arrays.
    void finish();

    uint32_t maxBlockElements() const { return m_maxBlockElements; } // valid after finish()

private:
    template <bool Bf16>
    void addElements(const uint8_t* elements, uint64_t count);
    void startWindow(uint32_t gap);
    void startBlock(uint64_t element);

    SluiceDf11Kind m_kind;
    const Df11Code& m_code;
    uint64_t m_window = 0;       // the bits of the current window, right-aligned
    uint32_t m_windowBits = 0;   // number of bits in m_window
    bool m_windowStarts = true;  // no code has started in the current window
    uint64_t m_wholeWindows = 0; // windows written
    uint64_t m_windows = 0;      // windows in which a code starts
    uint64_t m_elements = 0;     // elements encoded so far
    uint64_t m_blockStart = 0;   // index of the current block's first element
    uint32_t m_maxBlockElements = 0;
    uint32_t m_gapBits = 0;  // bits of gaps that do not fill a byte yet
    uint32_t m_gapCount = 0; // number of bits in m_gapBits
    uint32_t m_nibble = 0;   // bits of an element with even index, until the next fills the byte
};

// Returns pointers to the five offsets in a unit's description, in the order luts, encoded,
// signMantissa, outputPositions, gaps.
inline std::array<uint64_t*, 5> offsetsOf(SluiceDf11Unit& unit)
{
    return {&unit.lutsOffset, &unit.encodedOffset, &unit.signMantissaOffset,
            &unit.outputPositionsOffset, &unit.gapsOffset};
}

// Encodes `count` elements, `repeats` times over, as one unit (tensors under one code). Appends its
// arrays to `source`, each at a multiple of 256 bytes. Returns the size of all arrays in bytes, or
// 0 if the format cannot hold the elements.
uint64_t encodeDf11Unit(SluiceDf11Kind kind, const uint8_t* elements, uint64_t count,
                        uint64_t repeats, std::vector<uint8_t>& source, SluiceDf11Unit& unit);

} // namespace sluice
