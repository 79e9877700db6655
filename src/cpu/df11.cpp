// SPDX-License-Identifier: MIT OR Apache-2.0
// DFloat11 and ECF8, one block of 4,096 bytes at a time: code after code in the order of the
// stream, while `gaps` is compared with where each window's first code really starts. Slow and
// plain on purpose; the GPU kernels are compared with it, statuses included.
#include <sluice/sluice_df11.h>

#include "../api/df11_form.h"
#include "regions.h"

namespace sluice::cpu {
namespace {

constexpr u32 goOn = SLUICE_ST_PENDING; // what a step returns when nothing is wrong

struct Code {
    u32 symbol;
    u32 length; // bits
};

class UnitDecoder {
public:
    UnitDecoder(const SluiceDf11Info& info, const SluiceDf11Unit& description)
        : unit(description), form(df11Form(unit.kind)),
          blockCount(u32(df11Blocks(unit.encodedSize))), bitCount(uint64_t(unit.encodedSize) * 8),
          source(pointer<const uint8_t>(info.source)),
          lengths(source + unit.lutsOffset + size_t(unit.lutRows - 1) * df11RowBytes),
          destination(pointer<uint8_t>(info.destination) + unit.destinationOffset)
    {
    }

    u32 decodeBlock(u32 block) const
    {
        const uint64_t first = position(block), end = position(block + 1);
        if ((block == 0 && first != 0) || first > end || end > unit.elementCount ||
            end - first > df11MaxBlockElements)
            return SLUICE_ST_BAD_INDEX;
        const bool last = end == unit.elementCount; // nothing counts after that element
        const uint64_t firstWindow = uint64_t(block) * SLUICE_DF11_WINDOWS;
        const uint64_t windowCount = uint64_t(blockCount) * SLUICE_DF11_WINDOWS;
        uint64_t bit = windowStart(firstWindow);
        uint64_t element = first;
        for (uint64_t window = firstWindow; window <= firstWindow + SLUICE_DF11_WINDOWS; ++window) {
            if (last && element == end) return SLUICE_ST_OK;
            if (window < windowCount && bit != windowStart(window)) return SLUICE_ST_BAD_INDEX;
            // the next block's, of which only the start counts
            if (window == firstWindow + SLUICE_DF11_WINDOWS) break;
            while (bit < (window + 1) * df11WindowBits && !(last && element == end)) {
                Code code = {};
                if (const u32 status = readCode(bit, code); status != goOn) return status;
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
    // The element that a block starts with; behind the last block that is their number.
    uint64_t position(u32 block) const
    {
        if (block == blockCount) return unit.elementCount;
        const uint8_t* entry =
            source + unit.outputPositionsOffset + size_t(block) * form.positionBytes;
        uint64_t value = 0;
        for (u32 i = 0; i < form.positionBytes; ++i)
            value |= uint64_t(entry[i]) << 8 * i;
        return value;
    }

    // The bit at which a window's first code starts, as its gap has it.
    uint64_t windowStart(uint64_t window) const
    {
        const uint8_t* gaps = source + unit.gapsOffset;
        u32 gap = 0;
        for (uint64_t i = window * form.gapBits; i < (window + 1) * form.gapBits; ++i)
            gap = gap << 1 | (gaps[i / 8] >> (7 - i % 8) & 1);
        return window * df11WindowBits + gap;
    }

    // Eight bits of the stream; 0 past its end.
    u32 byteAt(uint64_t bit) const
    {
        const auto byte = [this](uint64_t i) -> u32 {
            return i < unit.encodedSize ? source[unit.encodedOffset + i] : 0;
        };
        return (byte(bit / 8) << 8 | byte(bit / 8 + 1)) >> (8 - bit % 8) & 0xff;
    }

    u32 readCode(uint64_t bit, Code& code) const
    {
        if (bit >= bitCount) return SLUICE_ST_TRUNCATED;
        u32 row = 0;
        for (u32 depth = 1; depth <= form.maxCodeBytes; ++depth) {
            const u32 entry =
                source[unit.lutsOffset + row * df11RowBytes + byteAt(bit + (depth - 1) * 8)];
            if (entry < df11Pointer) {
                code = {entry, lengths[entry]};
                if (entry > form.maxSymbol || code.length <= (depth - 1) * 8 ||
                    code.length > depth * 8)
                    return SLUICE_ST_BAD_CODE;
                return code.length > bitCount - bit ? SLUICE_ST_TRUNCATED : goOn;
            }
            row = 256 - entry;
            if (row >= unit.lutRows - 1) return SLUICE_ST_BAD_CODE;
        }
        return SLUICE_ST_BAD_CODE;
    }

    // Joins the exponent with the element's sign and mantissa.
    void store(uint64_t element, u32 exponent) const
    {
        const uint8_t* signMantissa = source + unit.signMantissaOffset;
        if (unit.kind == SLUICE_DF11_BF16) {
            const u32 rest = signMantissa[element];
            const u32 value = (rest & 0x80) << 8 | exponent << 7 | (rest & 0x7f);
            destination[element * 2] = uint8_t(value);
            destination[element * 2 + 1] = uint8_t(value >> 8);
        } else {
            const u32 rest = signMantissa[element / 2] >> (element % 2 == 0 ? 4 : 0) & 0xfu;
            destination[element] = uint8_t((rest & 8) << 4 | exponent << 3 | (rest & 7));
        }
    }

    const SluiceDf11Unit& unit;
    const Df11Form& form;
    u32 blockCount;
    uint64_t bitCount;
    const uint8_t* source;
    const uint8_t* lengths;
    uint8_t* destination;
};

SluiceDf11Unit unitAt(const SluiceDf11Info& info, u32 index)
{
    SluiceDf11Unit unit;
    std::memcpy(&unit, pointer<const uint8_t>(info.units) + size_t(index) * sizeof unit,
                sizeof unit);
    return unit;
}

// The last unit whose first block is not above `block`; count if there is none.
u32 unitOf(const SluiceDf11Info& info, u32 count, u32 block)
{
    u32 low = 0, high = count; // units before low start at or before it, those from high on after
                               // it
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (unitAt(info, middle).firstBlock <= block) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? count : low - 1;
}

} // namespace

void df11(const SluiceDf11Info& info)
{
    StatusWords status(info.status, info.maxBlockCount);
    status.reset();
    const u32 count = info.unitCount.size == 0
                          ? info.maxUnitCount
                          : std::min(info.maxUnitCount, *pointer<const u32>(info.unitCount));
    for (u32 block = 0; block < info.maxBlockCount; ++block) {
        const u32 index = unitOf(info, count, block);
        if (index == count) continue;
        const SluiceDf11Unit unit = unitAt(info, index);
        const u32 own = block - unit.firstBlock;
        if (own >= df11Blocks(unit.encodedSize)) continue;
        status.set(block, validDf11Unit(unit, info.source.size, info.destination.size)
                              ? UnitDecoder(info, unit).decodeBlock(own)
                              : SLUICE_ST_BAD_REGION);
    }
}

} // namespace sluice::cpu
