// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes a DFloat11 or ECF8 unit in pieces, in the layout of docs/format.md 5.2.
#pragma once

#include <array>

#include <sluice/sluice_df11.h>

#include "encode/weights/df11_code.h"

namespace sluice {

// Adds the symbols of `count` elements to a histogram.
void countDf11Symbols(SluiceDf11Kind kind, const uint8_t* elements, uint64_t count,
                      uint64_t histogram[256]);

// Sizes of a unit's tensors in bytes, known before it is encoded.
struct Df11Sizes {
    uint64_t encoded, signMantissa, positions, gaps;
};
Df11Sizes df11Sizes(SluiceDf11Kind kind, const uint64_t histogram[256], const Df11Code& code);

class Df11Encoder {
public:
    // The code must outlive the encoder.
    Df11Encoder(SluiceDf11Kind kind, const Df11Code& code);

    // The output so far: the stream, signs and mantissas, output_positions and gaps. Between calls
    // the caller may remove bytes from the vectors.
    std::vector<uint8_t> encoded, signMantissa, positions, gaps;

    void add(const uint8_t* elements, uint64_t count);
    // Writes what remains after the last element, and the ends of the tables.
    void finish();

    uint32_t maxBlockElements() const { return m_maxBlockElements; } // after finish

private:
    template <bool Bf16>
    void addElements(const uint8_t* elements, uint64_t count);
    void startWindow(uint32_t gap);
    void startBlock(uint64_t element);

    SluiceDf11Kind m_kind;
    const Df11Code& m_code;
    uint64_t m_window = 0;       // the current window's bits, in the low ones
    uint32_t m_windowBits = 0;   // number of bits in m_window
    bool m_windowStarts = true;  // no code starts in the current window yet
    uint64_t m_wholeWindows = 0; // number of windows written
    uint64_t m_windows = 0;      // number of windows in which a code starts
    uint64_t m_elements = 0;     // encoded so far
    uint64_t m_blockStart = 0;   // the first element of the current block
    uint32_t m_maxBlockElements = 0;
    uint32_t m_gapBits = 0;  // bits of gaps that do not fill a byte yet
    uint32_t m_gapCount = 0; // number of bits in m_gapBits
    uint32_t m_nibble = 0;   // bits of an even element that waits for its odd one
};

// The offsets of luts, encoded, signMantissa, outputPositions and gaps.
inline std::array<uint64_t*, 5> offsetsOf(SluiceDf11Unit& unit)
{
    return {&unit.lutsOffset, &unit.encodedOffset, &unit.signMantissaOffset,
            &unit.outputPositionsOffset, &unit.gapsOffset};
}

// Encodes `count` elements, `repeats` times over, and appends the unit's parts to `source`, each at
// a multiple of 256. Returns the bytes of all parts; 0 if the format cannot hold the elements.
uint64_t encodeDf11Unit(SluiceDf11Kind kind, const uint8_t* elements, uint64_t count,
                        uint64_t repeats, std::vector<uint8_t>& source, SluiceDf11Unit& unit);

} // namespace sluice
