// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of the DFloat11 and ECF8 decoder (docs/format.md, section 5). A block is 4,096
// bytes of the stream; its codes are decoded one after the other. The stream is cut into *windows*
// of 64 bits. An array, the gaps, says at which bit of each window the first code starts. GPUs
// start to decode there, so the reference checks that each gap is right. The code is plain on
// purpose: GPU kernels are compared with it, statuses included.
#include <sluice/sluice_df11.h>

#include "formats/df11_form.h"
#include "formats/little_endian.h"
#include "cpu/context.h"
#include "cpu/regions.h"

namespace sluice::cpu {
namespace {

// Functions return this status while they have found no error and the block is not finished.
constexpr uint32_t kContinue = SLUICE_ST_PENDING;

// A code that was read from the stream.
struct Code {
    uint32_t symbol;
    uint32_t length; // bits
};

// Decodes the blocks of one unit. A unit is one or several tensors that share a prefix code. The
// exponents of their elements are coded; signs and mantissas are stored uncoded.
class UnitDecoder {
public:
    UnitDecoder(const SluiceDf11Info& info, const SluiceDf11Unit& unit)
        : m_unit(unit), m_form(df11Form(unit.kind)),
          m_blockCount(uint32_t(df11Blocks(unit.encodedSize))),
          m_bitCount(uint64_t(unit.encodedSize) * 8), m_source(pointer<const uint8_t>(info.source)),
          m_lengths(m_source + unit.lutsOffset + size_t(unit.lutRows - 1) * kDf11RowBytes),
          m_destination(pointer<uint8_t>(info.destination) + unit.destinationOffset)
    {
    }

    // Decodes the block with the index `block` of the unit, and returns its status.
    uint32_t decodeBlock(uint32_t block) const
    {
        const uint64_t first = position(block), end = position(block + 1);
        if ((block == 0 && first != 0) || first > end || end > m_unit.elementCount ||
            end - first > kDf11MaxBlockElements)
            return SLUICE_ST_BAD_INDEX;
        // The last block of the unit may have bits behind the code of the last element. They are
        // ignored.
        const bool last = end == m_unit.elementCount;
        const uint64_t firstWindow = uint64_t(block) * SLUICE_DF11_WINDOWS;
        const uint64_t windowCount = uint64_t(m_blockCount) * SLUICE_DF11_WINDOWS;
        uint64_t bit = windowStart(firstWindow);
        uint64_t element = first;
        for (uint64_t window = firstWindow; window <= firstWindow + SLUICE_DF11_WINDOWS; ++window) {
            if (last && element == end) return SLUICE_ST_OK;
            if (window < windowCount && bit != windowStart(window)) return SLUICE_ST_BAD_INDEX;
            // This is the first window of the next block. Check that it starts where this block
            // ends, but do not decode its codes, which belong to the next block.
            if (window == firstWindow + SLUICE_DF11_WINDOWS) break;
            while (bit < (window + 1) * kDf11WindowBits && !(last && element == end)) {
                Code code = {};
                if (const uint32_t status = readCode(bit, code); status != kContinue) return status;
                if (element < end) store(element, code.symbol);
                ++element;
                bit += code.length;
            }
        }
        return element < end   ? SLUICE_ST_TOO_SHORT
               : element > end ? SLUICE_ST_TOO_LONG
                               : SLUICE_ST_OK;
    }

private:
    // Returns the index of a block's first element. For the block after the last one, returns the
    // number of elements.
    uint64_t position(uint32_t block) const
    {
        if (block == m_blockCount) return m_unit.elementCount;
        return loadLe(m_source + m_unit.outputPositionsOffset +
                          size_t(block) * m_form.positionBytes,
                      m_form.positionBytes);
    }

    // Returns the bit offset in the stream at which the first code of a window (64 bits) starts.
    // The window's gap, a field of gapBits bits, is this offset relative to the window.
    uint64_t windowStart(uint64_t window) const
    {
        const uint8_t* gaps = m_source + m_unit.gapsOffset;
        uint32_t gap = 0;
        for (uint64_t i = window * m_form.gapBits; i < (window + 1) * m_form.gapBits; ++i)
            gap = gap << 1 | (gaps[i / 8] >> (7 - i % 8) & 1);
        return window * kDf11WindowBits + gap;
    }

    // Returns the eight bits of the stream that start at `bit`. Bits past the stream's end are 0.
    uint32_t byteAt(uint64_t bit) const
    {
        const auto byte = [this](uint64_t i) -> uint32_t {
            return i < m_unit.encodedSize ? m_source[m_unit.encodedOffset + i] : 0;
        };
        return (byte(bit / 8) << 8 | byte(bit / 8 + 1)) >> (8 - bit % 8) & 0xff;
    }

    // Reads the code at `bit`. Returns kContinue, or an error if the code is invalid or cut off.
    // The next 8 bits of the stream are an index into row 0 of the table. An entry is either a
    // symbol or the number of the row in which the following 8 bits are looked up.
    uint32_t readCode(uint64_t bit, Code& code) const
    {
        if (bit >= m_bitCount) return SLUICE_ST_TRUNCATED;
        uint32_t row = 0;
        for (uint32_t depth = 1; depth <= m_form.maxCodeBytes; ++depth) {
            const uint32_t entry =
                m_source[m_unit.lutsOffset + row * kDf11RowBytes + byteAt(bit + (depth - 1) * 8)];
            if (entry < kDf11Pointer) {
                code = {entry, m_lengths[entry]};
                if (entry > m_form.maxSymbol || code.length <= (depth - 1) * 8 ||
                    code.length > depth * 8)
                    return SLUICE_ST_BAD_CODE;
                return code.length > m_bitCount - bit ? SLUICE_ST_TRUNCATED : kContinue;
            }
            row = 256 - entry;
            if (row >= m_unit.lutRows - 1) return SLUICE_ST_BAD_CODE;
        }
        return SLUICE_ST_BAD_CODE;
    }

    // Writes an element: joins its exponent with its sign and mantissa, which are stored uncoded.
    void store(uint64_t element, uint32_t exponent) const
    {
        const uint8_t* signMantissa = m_source + m_unit.signMantissaOffset;
        if (m_unit.kind == SLUICE_DF11_BF16) {
            const uint32_t raw = signMantissa[element];
            storeLe16(m_destination + element * 2,
                      (raw & 0x80) << 8 | exponent << 7 | (raw & 0x7f));
        } else {
            const uint32_t raw = signMantissa[element / 2] >> (element % 2 == 0 ? 4 : 0) & 0xfu;
            m_destination[element] = uint8_t((raw & 8) << 4 | exponent << 3 | (raw & 7));
        }
    }

    const SluiceDf11Unit& m_unit;
    const Df11Form& m_form;
    uint32_t m_blockCount;
    uint64_t m_bitCount;
    const uint8_t* m_source;
    const uint8_t* m_lengths;
    uint8_t* m_destination;
};

// Returns a copy of a unit's description.
SluiceDf11Unit unitAt(const SluiceDf11Info& info, uint32_t index)
{
    return entryAt<SluiceDf11Unit>(info.units, index, sizeof(SluiceDf11Unit));
}

// Returns the index of the unit that may contain a block: the last one whose firstBlock is not
// above `block`. Returns `count` if there is none.
uint32_t unitOf(const SluiceDf11Info& info, uint32_t count, uint32_t block)
{
    // Units before `low` start at or before the block; units at or after `high` start after it.
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (unitAt(info, middle).firstBlock <= block) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? count : low - 1;
}

} // namespace

SluiceStatus ReferenceBackend::cmdDf11(SluiceCommands, const SluiceDf11Info& info)
{
    StatusWords status(info.status, info.maxBlockCount);
    status.reset();
    const uint32_t count = countOf(info.unitCount, info.maxUnitCount);
    for (uint32_t block = 0; block < info.maxBlockCount; ++block) {
        const uint32_t index = unitOf(info, count, block);
        if (index == count) continue;
        const SluiceDf11Unit unit = unitAt(info, index);
        const uint32_t own = block - unit.firstBlock;
        if (own >= df11Blocks(unit.encodedSize)) continue;
        status.set(block, validDf11Unit(unit, info.source.size, info.destination.size)
                              ? UnitDecoder(info, unit).decodeBlock(own)
                              : SLUICE_ST_BAD_REGION);
    }
    return SLUICE_OK;
}

} // namespace sluice::cpu
