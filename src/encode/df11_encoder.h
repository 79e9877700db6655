// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes a DFloat11 or ECF8 unit in pieces, in the layout of docs/format.md 5.2.
#pragma once

#include <sluice/sluice_df11.h>

#include "df11_code.h"

namespace sluice {

// Adds the symbols of `count` elements.
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

    // What has been made and not been taken away; the user may empty them between calls. In this
    // order: the stream, signs and mantissas, output_positions, gaps.
    std::vector<uint8_t> encoded, signMantissa, positions, gaps;

    void add(const uint8_t* elements, uint64_t count);
    // After the last element: what is left, and the ends of the tables.
    void finish();

    uint32_t maxBlockElements() const { return maxBlockElements_; } // after finish

private:
    template <bool Bf16>
    void addElements(const uint8_t* elements, uint64_t count);
    void startWindow(uint32_t gap);
    void startBlock(uint64_t element);

    SluiceDf11Kind kind_;
    const Df11Code& code_;
    uint64_t window_ = 0;       // its bits so far, in the low ones
    uint32_t windowBits_ = 0;   // how many
    bool windowStarts_ = true;  // no code starts in it yet
    uint64_t wholeWindows_ = 0; // written
    uint64_t windows_ = 0;      // in which a code starts
    uint64_t elements_ = 0;     // done
    uint64_t blockStart_ = 0;   // the element
    uint32_t maxBlockElements_ = 0;
    uint32_t gapBits_ = 0; // that are not a whole byte yet
    uint32_t gapCount_ = 0;
    uint32_t nibble_ = 0; // of an even element that waits for its odd one
};

} // namespace sluice
