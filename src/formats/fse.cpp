// SPDX-License-Identifier: MIT OR Apache-2.0
#include "formats/fse.h"

#include <sluice/sluice.h>

#include <cstdlib>

namespace sluice::fse {
namespace {

// Reads bits, the lowest of each byte first; past the end they are 0.
class BitReader {
public:
    BitReader(const u8* bytes, size_t size) : m_bytes(bytes), m_size(size) {}

    u32 peek(u32 n) const
    {
        u32 value = 0;
        for (u32 i = 0; i < n; ++i) {
            const size_t at = m_position + i;
            if (at / 8 < m_size) value |= u32(m_bytes[at / 8] >> at % 8 & 1) << i;
        }
        return value;
    }
    void skip(u32 n) { m_position += n; }
    u32 take(u32 n)
    {
        const u32 value = peek(n);
        skip(n);
        return value;
    }
    size_t bytesTaken() const { return divideUp<size_t>(m_position, 8); }

private:
    const u8* m_bytes;
    size_t m_size, m_position = 0;
};

} // namespace

u32 readLog(const u8* bytes, size_t size, u32 maxLog, Distribution& result)
{
    result = {};
    if (size == 0) return SLUICE_TILE_TRUNCATED;
    result.log = (bytes[0] & 15) + kMinLog;
    return result.log > maxLog ? SLUICE_TILE_BAD_CODE : SLUICE_TILE_OK;
}

u32 readDistribution(const u8* bytes, size_t size, u32 maxSymbols, u32 maxLog, Distribution& result)
{
    const u32 status = readLog(bytes, size, maxLog, result);
    if (status != SLUICE_TILE_OK) return status;
    BitReader reader(bytes, size);
    reader.skip(4);
    u32 left = 1u << result.log; // states that no symbol has yet
    while (left > 0) {
        if (result.symbols >= maxSymbols) return SLUICE_TILE_BAD_CODE;
        // The next value is 0 .. left + 1. The lowest `shorter` ones take a bit less.
        const u32 bits = floorLog2(left + 1) + 1, shorter = (1u << bits) - 1 - (left + 1);
        u32 value = reader.peek(bits - 1);
        if (value < shorter) {
            reader.skip(bits - 1);
        } else {
            value = reader.take(bits);
            if (value >= 1u << (bits - 1)) value -= shorter;
        }
        if (reader.bytesTaken() > size) return SLUICE_TILE_TRUNCATED;
        const int count = int(value) - 1;
        result.count[result.symbols++] = int16_t(count);
        left -= u32(std::abs(count));
        if (count != 0) continue;
        for (u32 repeat = 3; repeat == 3;) { // more symbols that do not occur
            repeat = reader.take(2);
            if (reader.bytesTaken() > size) return SLUICE_TILE_TRUNCATED;
            result.symbols += repeat;
            if (result.symbols > maxSymbols) return SLUICE_TILE_BAD_CODE;
        }
    }
    result.bytes = u32(reader.bytesTaken());
    return SLUICE_TILE_OK;
}

void buildStates(const Distribution& distribution, State* states)
{
    const u32 size = 1u << distribution.log, step = (size >> 1) + (size >> 3) + 3;
    u32 next[kMaxSymbols], end = size; // symbols that occur less than once fill up from the end
    for (u32 symbol = 0; symbol < distribution.symbols; ++symbol) {
        const int count = distribution.count[symbol];
        next[symbol] = count < 0 ? 1 : u32(count);
        if (count < 0) states[--end].symbol = u8(symbol);
    }
    u32 position = 0;
    for (u32 symbol = 0; symbol < distribution.symbols; ++symbol) {
        for (int i = 0; i < distribution.count[symbol]; ++i) {
            states[position].symbol = u8(symbol);
            do
                position = (position + step) & (size - 1);
            while (position >= end);
        }
    }
    for (u32 i = 0; i < size; ++i) {
        const u32 state = next[states[i].symbol]++;
        states[i].bits = u8(distribution.log - floorLog2(state));
        states[i].base = u16((state << states[i].bits) - size);
    }
}

} // namespace sluice::fse
