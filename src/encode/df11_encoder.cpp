// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_df11.h>

#include "df11_encoder.h"

#include <algorithm>

#include "api/df11_form.h"
#include "formats/archive_layout.h"

namespace sluice {
namespace {

template <bool Bf16>
uint32_t elementAt(const uint8_t* elements, uint64_t index)
{
    return Bf16 ? loadLe16(elements + 2 * index) : elements[index];
}

template <bool Bf16>
uint32_t symbolOf(uint32_t element)
{
    return Bf16 ? element >> 7 & 255 : element >> 3 & 15;
}

// Sign above mantissa.
template <bool Bf16>
uint32_t restOf(uint32_t element)
{
    return Bf16 ? (element >> 8 & 0x80) | (element & 0x7f) : (element >> 4 & 8) | (element & 7);
}

template <bool Bf16>
void countSymbols(const uint8_t* elements, uint64_t count, uint64_t histogram[256])
{
    uint64_t several[4][256] = {}; // so that equal neighbours do not wait for each other
    for (uint64_t i = 0; i < count; ++i) {
        ++several[i % 4][symbolOf<Bf16>(elementAt<Bf16>(elements, i))];
    }
    for (uint32_t i = 0; i < 256; ++i) {
        histogram[i] += several[0][i] + several[1][i] + several[2][i] + several[3][i];
    }
}

} // namespace

void countDf11Symbols(SluiceDf11Kind kind, const uint8_t* elements, uint64_t count,
                      uint64_t histogram[256])
{
    kind == SLUICE_DF11_BF16 ? countSymbols<true>(elements, count, histogram)
                             : countSymbols<false>(elements, count, histogram);
}

Df11Sizes df11Sizes(SluiceDf11Kind kind, const uint64_t histogram[256], const Df11Code& code)
{
    const Df11Form& form = df11Form(kind);
    uint64_t bits = 0, elements = 0;
    for (uint32_t symbol = 0; symbol < 256; ++symbol) {
        bits += histogram[symbol] * code.words[symbol].length;
        elements += histogram[symbol];
    }
    const uint64_t encoded = (bits + 7) / 8, blocks = df11Blocks(encoded);
    return {encoded, kind == SLUICE_DF11_BF16 ? elements : (elements + 1) / 2,
            (blocks + 1) * form.positionBytes, blocks * df11BlockGapBytes(form)};
}

Df11Encoder::Df11Encoder(SluiceDf11Kind kind, const Df11Code& code) : kind_(kind), code_(code) {}

void Df11Encoder::startBlock(uint64_t element)
{
    const size_t at = positions.size(), size = df11Form(kind_).positionBytes;
    positions.resize(at + size);
    size == 8 ? storeLe64(&positions[at], element) : storeLe32(&positions[at], uint32_t(element));
    maxBlockElements_ = std::max(maxBlockElements_, uint32_t(element - blockStart_));
    blockStart_ = element;
}

// Where the first code of a window starts; gap: bits of a code that began before it.
void Df11Encoder::startWindow(uint32_t gap)
{
    if (windows_++ % SLUICE_DF11_WINDOWS == 0) {
        startBlock(elements_);
    }
    const uint32_t bits = df11Form(kind_).gapBits;
    gapBits_ = gapBits_ << bits | gap;
    gapCount_ += bits;
    if (gapCount_ >= 8) {
        gapCount_ -= 8;
        gaps.push_back(uint8_t(gapBits_ >> gapCount_));
    }
}

template <bool Bf16>
void Df11Encoder::addElements(const uint8_t* elements, uint64_t count)
{
    if (windowStarts_ && count != 0) {
        startWindow(windowBits_);
        windowStarts_ = false;
    }
    const uint64_t firstElement = elements_;
    const size_t restAt = signMantissa.size();
    signMantissa.resize(restAt + size_t(Bf16 ? count : (count + elements_ % 2) / 2));
    uint8_t* rest = signMantissa.data() + restAt;
    uint64_t window = window_; // locals: the compiler must not think that stores to the vectors
                               // change them
    uint32_t windowBits = windowBits_, nibble = nibble_;
    for (uint64_t i = 0; i < count; ++i) {
        const uint32_t element = elementAt<Bf16>(elements, i);
        const Df11Code::Word word = code_.words[symbolOf<Bf16>(element)];
        if (Bf16) {
            *rest++ = uint8_t(restOf<Bf16>(element));
        } else if ((firstElement + i) % 2 == 0) {
            nibble = restOf<Bf16>(element);
        } else {
            *rest++ = uint8_t(nibble << 4 | restOf<Bf16>(element));
        }
        windowBits += word.length;
        if (windowBits < 64) {
            window = window << word.length | word.bits;
            continue;
        }
        windowBits -= 64; // bits of this code in the next window, fewer than 32
        window = window << (word.length - windowBits) | word.bits >> windowBits;
        const size_t at = encoded.size();
        encoded.resize(at + 8);
        for (uint32_t byte = 0; byte < 8; ++byte) {
            encoded[at + byte] = uint8_t(window >> (56 - 8 * byte));
        }
        window = word.bits & ((uint64_t(1) << windowBits) - 1);
        ++wholeWindows_;
        elements_ = firstElement + i + 1;
        windowStarts_ = i + 1 == count;
        if (!windowStarts_) {
            startWindow(windowBits);
        }
    }
    window_ = window;
    windowBits_ = windowBits;
    nibble_ = nibble;
    elements_ = firstElement + count;
}

void Df11Encoder::add(const uint8_t* elements, uint64_t count)
{
    kind_ == SLUICE_DF11_BF16 ? addElements<true>(elements, count)
                              : addElements<false>(elements, count);
}

void Df11Encoder::finish()
{
    // The end's code is all zeros: it fills up the last byte.
    const uint32_t tailBytes = (windowBits_ + 7) / 8;
    window_ <<= tailBytes * 8 - windowBits_;
    for (uint32_t byte = tailBytes; byte-- > 0;) {
        encoded.push_back(uint8_t(window_ >> 8 * byte));
    }
    const Df11Form& form = df11Form(kind_);
    const uint64_t blocks = df11Blocks(wholeWindows_ * 8 + tailBytes);
    if (gapCount_ != 0) {
        gaps.push_back(uint8_t(gapBits_ << (8 - gapCount_)));
    }
    gaps.resize(gaps.size() +
                size_t(blocks * df11BlockGapBytes(form) - (windows_ * form.gapBits + 7) / 8));
    // A block in which no code starts has an entry all the same: the kernels read it.
    for (uint64_t entries = (windows_ + SLUICE_DF11_WINDOWS - 1) / SLUICE_DF11_WINDOWS;
         entries <= blocks; ++entries) {
        startBlock(elements_);
    }
}

} // namespace sluice
