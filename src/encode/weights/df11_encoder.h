// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes a DFloat11 or ECF8 unit in pieces, in the layout of docs/format.md 5.2.
#pragma once

#include <array>

#include <sluice/sluice_df11.h>

#include "encode/weights/df11_code.h"

namespace sluice {

// Adds the symbols of `count` elements to a histogram.
void countDf11Symbols(SluiceDf11Kind kind, const u8* elements, u64 count, u64 histogram[256]);

// Sizes of a unit's tensors in bytes, known before it is encoded.
struct Df11Sizes {
    u64 encoded, signMantissa, positions, gaps;
};
Df11Sizes df11Sizes(SluiceDf11Kind kind, const u64 histogram[256], const Df11Code& code);

class Df11Encoder {
public:
    // The code must outlive the encoder.
    Df11Encoder(SluiceDf11Kind kind, const Df11Code& code);

    // The output so far: the stream, signs and mantissas, output_positions and gaps. The caller may
    // take bytes away between calls.
    std::vector<u8> encoded, signMantissa, positions, gaps;

    void add(const u8* elements, u64 count);
    // Writes what remains after the last element, and the ends of the tables.
    void finish();

    u32 maxBlockElements() const { return m_maxBlockElements; } // after finish

private:
    template <bool Bf16>
    void addElements(const u8* elements, u64 count);
    void startWindow(u32 gap);
    void startBlock(u64 element);

    SluiceDf11Kind m_kind;
    const Df11Code& m_code;
    u64 m_window = 0;           // the current window's bits, in the low ones
    u32 m_windowBits = 0;       // how many there are
    bool m_windowStarts = true; // no code starts in it yet
    u64 m_wholeWindows = 0;     // that are written
    u64 m_windows = 0;          // in which a code starts
    u64 m_elements = 0;         // encoded so far
    u64 m_blockStart = 0;       // the first element of the current block
    u32 m_maxBlockElements = 0;
    u32 m_gapBits = 0;  // bits of gaps that do not fill a byte yet
    u32 m_gapCount = 0; // how many there are
    u32 m_nibble = 0;   // bits of an even element that waits for its odd one
};

// The offsets of luts, encoded, signMantissa, outputPositions and gaps.
inline std::array<u64*, 5> offsetsOf(SluiceDf11Unit& unit)
{
    return {&unit.lutsOffset, &unit.encodedOffset, &unit.signMantissaOffset,
            &unit.outputPositionsOffset, &unit.gapsOffset};
}

// Encodes `count` elements, `repeats` times over, and appends the unit's parts to `source`, each at
// a multiple of 256. Returns the bytes of all parts; 0 if the format cannot hold the elements.
u64 encodeDf11Unit(SluiceDf11Kind kind, const u8* elements, u64 count, u64 repeats,
                   std::vector<u8>& source, SluiceDf11Unit& unit);

} // namespace sluice
