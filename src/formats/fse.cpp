// SPDX-License-Identifier: MIT OR Apache-2.0
#include "formats/fse.h"

#include <sluice/sluice.h>

#include <cstdlib>

namespace sluice::fse {
namespace {

// Reads bits of a table's description, from the lowest bit of each byte up; 0 past the end.
class BitReader {
public:
    BitReader(const uint8_t* bytes, size_t size) : m_bytes(bytes), m_size(size) {}

    uint32_t peek(uint32_t n) const
    {
        uint32_t value = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const size_t at = m_position + i;
            if (at / 8 < m_size) value |= uint32_t(m_bytes[at / 8] >> at % 8 & 1) << i;
        }
        return value;
    }
    void skip(uint32_t n) { m_position += n; }
    uint32_t take(uint32_t n)
    {
        const uint32_t value = peek(n);
        skip(n);
        return value;
    }
    size_t bytesTaken() const { return divideUp<size_t>(m_position, 8); }

private:
    const uint8_t* m_bytes;
    size_t m_size, m_position = 0;
};

} // namespace

uint32_t readLog(const uint8_t* bytes, size_t size, uint32_t maxLog, Distribution& result)
{
    result = {};
    if (size == 0) return SLUICE_TILE_TRUNCATED;
    result.log = (bytes[0] & 15) + kMinLog;
    return result.log > maxLog ? SLUICE_TILE_BAD_CODE : SLUICE_TILE_OK;
}

uint32_t readDistribution(const uint8_t* bytes, size_t size, uint32_t maxSymbols, uint32_t maxLog,
                          Distribution& result)
{
    const uint32_t status = readLog(bytes, size, maxLog, result);
    if (status != SLUICE_TILE_OK) return status;
    BitReader reader(bytes, size);
    reader.skip(4);
    uint32_t left = 1u << result.log; // states that have no symbol yet
    while (left > 0) {
        if (result.symbols >= maxSymbols) return SLUICE_TILE_BAD_CODE;
        // The next number is in 0 .. left + 1. It takes `bits` bits, except that the smallest
        // `shorter` numbers take one bit less.
        const uint32_t bits = floorLog2(left + 1) + 1, shorter = (1u << bits) - 1 - (left + 1);
        uint32_t value = reader.peek(bits - 1);
        if (value < shorter) {
            reader.skip(bits - 1);
        } else {
            value = reader.take(bits);
            if (value >= 1u << (bits - 1)) value -= shorter;
        }
        if (reader.bytesTaken() > size) return SLUICE_TILE_TRUNCATED;
        const int count = int(value) - 1;
        result.count[result.symbols++] = int16_t(count);
        left -= uint32_t(std::abs(count));
        if (count != 0) continue;
        for (uint32_t repeat = 3; repeat == 3;) { // count further symbols that do not occur
            repeat = reader.take(2);
            if (reader.bytesTaken() > size) return SLUICE_TILE_TRUNCATED;
            result.symbols += repeat;
            if (result.symbols > maxSymbols) return SLUICE_TILE_BAD_CODE;
        }
    }
    result.bytes = uint32_t(reader.bytesTaken());
    return SLUICE_TILE_OK;
}

void buildStates(const Distribution& distribution, State* states)
{
    const uint32_t size = 1u << distribution.log, step = (size >> 1) + (size >> 3) + 3;
    uint32_t next[kMaxSymbols],
        end = size; // symbols with count -1 take the last states, from the end downwards
    for (uint32_t symbol = 0; symbol < distribution.symbols; ++symbol) {
        const int count = distribution.count[symbol];
        next[symbol] = count < 0 ? 1 : uint32_t(count);
        if (count < 0) states[--end].symbol = uint8_t(symbol);
    }
    uint32_t position = 0;
    for (uint32_t symbol = 0; symbol < distribution.symbols; ++symbol) {
        for (int i = 0; i < distribution.count[symbol]; ++i) {
            states[position].symbol = uint8_t(symbol);
            do
                position = (position + step) & (size - 1);
            while (position >= end);
        }
    }
    for (uint32_t i = 0; i < size; ++i) {
        const uint32_t state = next[states[i].symbol]++;
        states[i].bits = uint8_t(distribution.log - floorLog2(state));
        states[i].base = uint16_t((state << states[i].bits) - size);
    }
}

} // namespace sluice::fse
