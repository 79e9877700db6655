// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes a DFloat11 stream. A window is 64 bits of the stream, which one thread decodes. Its gap is
// the number of bits at its beginning that belong to a code of the window before it. A block has
// SLUICE_DF11_WINDOWS windows; `positions` has the index of its first element.

#include "encode/weights/df11_encoder.h"

#include <algorithm>

#include "formats/df11_form.h"
#include "formats/little_endian.h"
#include "encode/histogram.h"

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

// Returns the bits of an element that are stored without a code: the mantissa, below the sign.
template <bool Bf16>
uint32_t rawOf(uint32_t element)
{
    return Bf16 ? (element >> 8 & 0x80) | (element & 0x7f) : (element >> 4 & 8) | (element & 7);
}

} // namespace

void countDf11Symbols(SluiceDf11Kind kind, const uint8_t* elements, uint64_t count,
                      uint64_t histogram[256])
{
    if (kind == SLUICE_DF11_BF16)
        addSymbols(count, histogram,
                   [&](uint64_t i) { return symbolOf<true>(elementAt<true>(elements, i)); });
    else
        addSymbols(count, histogram,
                   [&](uint64_t i) { return symbolOf<false>(elementAt<false>(elements, i)); });
}

Df11Sizes df11Sizes(SluiceDf11Kind kind, const uint64_t histogram[256], const Df11Code& code)
{
    const Df11Form& form = df11Form(kind);
    uint64_t bits = 0, elements = 0;
    for (uint32_t symbol = 0; symbol < 256; ++symbol) {
        bits += histogram[symbol] * code.words[symbol].length;
        elements += histogram[symbol];
    }
    const uint64_t encoded = divideUp<uint64_t>(bits, 8), blocks = df11Blocks(encoded);
    return {encoded, kind == SLUICE_DF11_BF16 ? elements : divideUp<uint64_t>(elements, 2),
            (blocks + 1) * form.positionBytes, blocks * df11BlockGapBytes(form)};
}

Df11Encoder::Df11Encoder(SluiceDf11Kind kind, const Df11Code& code) : m_kind(kind), m_code(code) {}

void Df11Encoder::startBlock(uint64_t element)
{
    const size_t at = positions.size(), size = df11Form(m_kind).positionBytes;
    positions.resize(at + size);
    storeLe(&positions[at], element, size);
    m_maxBlockElements = std::max(m_maxBlockElements, uint32_t(element - m_blockStart));
    m_blockStart = element;
}

// Begins a window of 64 bits. Its first `gap` bits are the end of a code that began in the window
// before it.
void Df11Encoder::startWindow(uint32_t gap)
{
    if (m_windows++ % SLUICE_DF11_WINDOWS == 0) startBlock(m_elements);
    const uint32_t bits = df11Form(m_kind).gapBits;
    m_gapBits = m_gapBits << bits | gap;
    m_gapCount += bits;
    if (m_gapCount >= 8) {
        m_gapCount -= 8;
        gaps.push_back(uint8_t(m_gapBits >> m_gapCount));
    }
}

template <bool Bf16>
void Df11Encoder::addElements(const uint8_t* elements, uint64_t count)
{
    if (m_windowStarts && count != 0) {
        startWindow(m_windowBits);
        m_windowStarts = false;
    }
    const uint64_t firstElement = m_elements;
    const size_t rawAt = signMantissa.size();
    signMantissa.resize(rawAt + size_t(Bf16 ? count : (count + m_elements % 2) / 2));
    uint8_t* raw = signMantissa.data() + rawAt;
    // Local copies, since the compiler must assume that a store to the vectors changes the members.
    uint64_t window = m_window;
    uint32_t windowBits = m_windowBits, nibble = m_nibble;
    for (uint64_t i = 0; i < count; ++i) {
        const uint32_t element = elementAt<Bf16>(elements, i);
        const Df11Code::Word word = m_code.words[symbolOf<Bf16>(element)];
        if (Bf16) {
            *raw++ = uint8_t(rawOf<Bf16>(element));
        } else if ((firstElement + i) % 2 == 0) {
            nibble = rawOf<Bf16>(element);
        } else {
            *raw++ = uint8_t(nibble << 4 | rawOf<Bf16>(element));
        }
        windowBits += word.length;
        if (windowBits < 64) {
            window = window << word.length | word.bits;
            continue;
        }
        windowBits -= 64; // how many of this code's bits, up to 31, go into the next window
        window = window << (word.length - windowBits) | word.bits >> windowBits;
        const size_t at = encoded.size();
        encoded.resize(at + 8);
        for (uint32_t byte = 0; byte < 8; ++byte)
            encoded[at + byte] = uint8_t(window >> (56 - 8 * byte));
        window = word.bits & ((uint64_t(1) << windowBits) - 1);
        ++m_wholeWindows;
        m_elements = firstElement + i + 1;
        m_windowStarts = i + 1 == count;
        if (!m_windowStarts) startWindow(windowBits);
    }
    m_window = window;
    m_windowBits = windowBits;
    m_nibble = nibble;
    m_elements = firstElement + count;
}

void Df11Encoder::add(const uint8_t* elements, uint64_t count)
{
    m_kind == SLUICE_DF11_BF16 ? addElements<true>(elements, count)
                               : addElements<false>(elements, count);
}

void Df11Encoder::finish()
{
    // The end mark's code is all zeros. So the zeros that fill up the last byte are the beginning
    // of this code.
    const uint32_t tailBytes = divideUp(m_windowBits, 8u);
    m_window <<= tailBytes * 8 - m_windowBits;
    for (uint32_t byte = tailBytes; byte-- > 0;)
        encoded.push_back(uint8_t(m_window >> 8 * byte));
    const Df11Form& form = df11Form(m_kind);
    const uint64_t blocks = df11Blocks(m_wholeWindows * 8 + tailBytes);
    if (m_gapCount != 0) gaps.push_back(uint8_t(m_gapBits << (8 - m_gapCount)));
    gaps.resize(gaps.size() + size_t(blocks * df11BlockGapBytes(form) -
                                     divideUp<uint64_t>(m_windows * form.gapBits, 8)));
    // Kernels read an entry of `positions` for every block, so blocks in which no code starts get
    // an entry too.
    for (uint64_t entries = divideUp<uint64_t>(m_windows, SLUICE_DF11_WINDOWS); entries <= blocks;
         ++entries)
        startBlock(m_elements);
}

uint64_t encodeDf11Unit(SluiceDf11Kind kind, const uint8_t* elements, uint64_t count,
                        uint64_t repeats, std::vector<uint8_t>& source, SluiceDf11Unit& unit)
{
    uint64_t histogram[256] = {};
    countDf11Symbols(kind, elements, count, histogram);
    for (uint64_t& number : histogram)
        number *= repeats;
    Df11Code code;
    if (!makeDf11Code(kind, histogram, 1, code)) return 0;
    Df11Encoder encoder(kind, code);
    for (uint64_t i = 0; i < repeats; ++i)
        encoder.add(elements, count);
    encoder.finish();
    const std::vector<uint8_t>* parts[] = {&code.luts, &encoder.encoded, &encoder.signMantissa,
                                           &encoder.positions, &encoder.gaps};
    const SluiceDf11Tables tables = {parts[0]->data(), parts[0]->size(), parts[3]->data(),
                                     parts[3]->size(), parts[4]->size(), parts[1]->size(),
                                     parts[2]->size()};
    if (sluiceCheckDf11Unit(&tables, &unit, nullptr) != SLUICE_OK) return 0;
    uint64_t size = 0;
    for (size_t i = 0; i < std::size(parts); ++i) {
        *offsetsOf(unit)[i] = source.size();
        source.insert(source.end(), parts[i]->begin(), parts[i]->end());
        source.resize((source.size() + 255) / 256 * 256);
        size += parts[i]->size();
    }
    return size;
}

} // namespace sluice
