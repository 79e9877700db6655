// SPDX-License-Identifier: MIT OR Apache-2.0
// The float codec: histogram, code lengths, tiles, raw planes (docs/format.md).
#include <sluice/sluice_encode.h>

#include "../formats/float_format.h"
#include "gdeflate_huffman.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace {

using namespace sluice::floats;

// The elements of one type.
template <uint32_t Type>
struct Elements {
    static constexpr Layout kLayout = layoutOf(Type);
    using Value = std::conditional_t<kLayout.bytes == 1, uint8_t, std::conditional_t<kLayout.bytes == 2, uint16_t, uint32_t>>;

    const uint8_t* bytes;

    uint32_t at(uint64_t index) const
    {
        Value value;
        std::memcpy(&value, bytes + index * sizeof value, sizeof value); // little-endian, as all that we run on
        return value;
    }
    uint32_t symbol(uint64_t index) const
    {
        return at(index) >> kLayout.mantissaBits & ((1u << kLayout.exponentBits) - 1);
    }
    uint32_t raw(uint64_t index) const
    {
        const uint32_t value = at(index), mantissa = value & ((1u << kLayout.mantissaBits) - 1);
        return mantissa | value >> (kLayout.mantissaBits + kLayout.exponentBits) << kLayout.mantissaBits;
    }
};

// Calls visit with the Elements of `type`, a valid one.
template <typename Visit>
void visitElements(uint32_t type, const void* elements, Visit visit)
{
    const uint8_t* bytes = static_cast<const uint8_t*>(elements);
    switch (type) {
    case SLUICE_FLOAT_BF16: return visit(Elements<SLUICE_FLOAT_BF16>{bytes});
    case SLUICE_FLOAT_F16: return visit(Elements<SLUICE_FLOAT_F16>{bytes});
    case SLUICE_FLOAT_F32: return visit(Elements<SLUICE_FLOAT_F32>{bytes});
    case SLUICE_FLOAT_F8_E4M3: return visit(Elements<SLUICE_FLOAT_F8_E4M3>{bytes});
    case SLUICE_FLOAT_F8_E5M2: return visit(Elements<SLUICE_FLOAT_F8_E5M2>{bytes});
    case SLUICE_FLOAT_F8_E4M3_DENSE: return visit(Elements<SLUICE_FLOAT_F8_E4M3_DENSE>{bytes});
    default: return visit(Elements<SLUICE_FLOAT_BYTES>{bytes});
    }
}

struct Code {
    uint8_t length[256];
    uint16_t bits[256];
};

// Canonical codes: shorter ones first, then by symbol.
Code canonicalCode(const uint8_t* packed)
{
    Code code = {};
    for (uint32_t symbol = 0; symbol < 256; ++symbol) code.length[symbol] = packed[symbol / 2] >> symbol % 2 * 4 & 15;
    uint32_t count[16] = {}, next[16] = {};
    for (const uint8_t length : code.length) ++count[length];
    for (uint32_t length = 2; length <= kMaxBits; ++length)
        next[length] = (next[length - 1] + count[length - 1]) << 1;
    for (uint32_t symbol = 0; symbol < 256; ++symbol)
        if (code.length[symbol] != 0) code.bits[symbol] = uint16_t(next[code.length[symbol]]++);
    return code;
}

// The bits of one lane, in words as it takes them.
struct LaneWords {
    uint16_t words[kTile / kLanes * kMaxBits / kWordBits + 4];
    uint32_t taken = 0;
    uint32_t available = 0; // bits of the taken words that no code has used
};

// Writes the words in the order in which the lanes take them.
class TileWriter {
public:
    TileWriter(const Code& tileCode, const uint8_t* tileSymbols, uint32_t tileRows, uint16_t* to)
        : code(tileCode), symbols(tileSymbols), rows(tileRows), out(to)
    {
    }

    uint32_t write()
    {
        for (uint32_t lane = 0; lane < kLanes; ++lane) fill(lane);
        for (uint32_t row = 0; row + 1 < rows; ++row)
            for (uint32_t k = 0; k < kPerLane; k += 2) writePairs(lengths + row * kRow + k);
        const uint8_t* last = lengths + (rows - 1) * kRow;
        for (uint32_t k = 0; k < kPerLane; ++k) {
            for (uint32_t lane = 0; lane < kLanes; ++lane) {
                const uint32_t length = last[lane * kPerLane + k];
                if (length > lanes[lane].available) take(lanes[lane]);
                lanes[lane].available -= length;
            }
        }
        return uint32_t(out - begin);
    }

private:
    void take(LaneWords& lane)
    {
        lane.available += kWordBits;
        *out++ = lane.words[lane.taken++];
    }

    // A lane's codes one behind the other, and two words more than they need: it may take those ahead of its last codes.
    void fill(uint32_t index)
    {
        uint16_t* to = lanes[index].words;
        uint32_t bits = 0, count = 0;
        for (uint32_t row = 0; row < rows; ++row) {
            const uint32_t at = row * kRow + index * kPerLane;
            for (uint32_t k = 0; k < kPerLane; ++k) {
                const uint32_t symbol = symbols[at + k], length = code.length[symbol];
                lengths[at + k] = uint8_t(length);
                bits = bits << length | code.bits[symbol];
                count += length;
                if (count >= kWordBits) *to++ = uint16_t(bits >> (count -= kWordBits));
            }
        }
        *to++ = uint16_t(bits << (kWordBits - count));
        to[0] = to[1] = 0;
    }

    // Steps 1 to 4 of a pair of symbols; at: lengths of lane 0's.
    void writePairs(const uint8_t* at)
    {
        uint32_t waiting = 0; // lanes whose two codes are longer than 12 bits together
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
            LaneWords& one = lanes[lane];
            if (one.available < kMaxBits) take(one);
            const uint32_t first = at[lane * kPerLane], both = first + at[lane * kPerLane + 1];
            const bool waits = both > kMaxBits;
            one.available -= waits ? first : both;
            waiting |= uint32_t(waits) << lane;
        }
        for (uint32_t lane = 0; waiting >> lane != 0; ++lane) {
            if ((waiting >> lane & 1) == 0) continue;
            if (lanes[lane].available < kMaxBits) take(lanes[lane]);
            lanes[lane].available -= at[lane * kPerLane + 1];
            if (lane == kLanes - 1) break;
        }
    }

    const Code& code;
    const uint8_t* symbols;
    uint32_t rows;
    uint16_t *out, *begin = out;
    uint8_t lengths[kTile];
    LaneWords lanes[kLanes];
};

} // namespace

SluiceStatus sluiceFloatCountSymbols(uint32_t type, const void* elements, uint64_t count, uint64_t histogram[256])
{
    if (type >= SLUICE_FLOAT_TYPE_COUNT || histogram == nullptr || (elements == nullptr && count != 0))
        return SLUICE_ERROR_ARGUMENT;
    visitElements(type, elements, [&](auto values) {
        uint64_t several[4][256] = {}; // so that equal neighbours do not wait for each other
        for (uint64_t i = 0; i < count; ++i) ++several[i % 4][values.symbol(i)];
        for (uint32_t i = 0; i < 256; ++i) histogram[i] += several[0][i] + several[1][i] + several[2][i] + several[3][i];
    });
    return SLUICE_OK;
}

SluiceStatus sluiceFloatCodeLengths(const uint64_t histogram[256], uint8_t lengths[SLUICE_FLOAT_LENGTHS_SIZE])
{
    if (histogram == nullptr || lengths == nullptr) return SLUICE_ERROR_ARGUMENT;
    // The code builder sorts frequencies of 16 bits; what occurs must not vanish.
    const uint64_t largest = *std::max_element(histogram, histogram + 256);
    if (largest == 0) return SLUICE_ERROR_ARGUMENT;
    uint32_t shift = 0;
    while (largest >> shift > 65535) ++shift;
    uint32_t frequencies[256];
    uint8_t unpacked[256] = {};
    for (uint32_t i = 0; i < 256; ++i)
        frequencies[i] = histogram[i] == 0 ? 0 : std::max<uint32_t>(1, uint32_t(histogram[i] >> shift));
    sluice::gdeflate::buildLimitedCodeLengths(frequencies, 256, kMaxBits, unpacked);
    for (uint32_t i = 0; i < SLUICE_FLOAT_LENGTHS_SIZE; ++i)
        lengths[i] = uint8_t(unpacked[2 * i] | unpacked[2 * i + 1] << 4);
    return SLUICE_OK;
}

SluiceStatus sluiceFloatEncodeTile(uint32_t type, const uint8_t lengths[SLUICE_FLOAT_LENGTHS_SIZE],
                                   const void* elements, uint32_t count, uint32_t* words, uint32_t capacity,
                                   uint32_t* wordCount)
{
    if (type >= SLUICE_FLOAT_TYPE_COUNT || lengths == nullptr || elements == nullptr || count == 0 || count > kTile ||
        words == nullptr || wordCount == nullptr)
        return SLUICE_ERROR_ARGUMENT;
    const Code code = canonicalCode(lengths);
    // What is missing in the last row gets the shortest code.
    uint32_t shortest = 256;
    for (uint32_t i = 0; i < 256; ++i)
        if (code.length[i] != 0 && (shortest == 256 || code.length[i] < code.length[shortest])) shortest = i;
    if (shortest == 256) return SLUICE_ERROR_ARGUMENT;
    uint8_t symbols[kTile];
    const uint32_t rows = rowCount(count);
    bool known = true;
    visitElements(type, elements, [&](auto values) {
        for (uint32_t i = 0; i < count; ++i) symbols[i] = uint8_t(values.symbol(i));
    });
    for (uint32_t i = 0; i < count; ++i) known = known && code.length[symbols[i]] - 1u < kMaxBits;
    if (!known) return SLUICE_ERROR_ARGUMENT;
    std::fill(symbols + count, symbols + rows * kRow, uint8_t(shortest));

    uint16_t halves[2 * SLUICE_FLOAT_TILE_BOUND];
    uint32_t written = TileWriter(code, symbols, rows, halves).write();
    if (written % 2 != 0) halves[written++] = 0;
    *wordCount = written / 2;
    if (*wordCount > capacity) return SLUICE_ERROR_BUFFER_SIZE;
    for (uint32_t i = 0; i < *wordCount; ++i) words[i] = halves[2 * i] | uint32_t(halves[2 * i + 1]) << 16;
    return SLUICE_OK;
}

SluiceStatus sluiceFloatPackRaw(uint32_t type, uint64_t total, const void* elements, uint64_t first, uint64_t count,
                                void* raw)
{
    if (type >= SLUICE_FLOAT_TYPE_COUNT || total > kMaxCount || first > total || count > total - first ||
        first % 8 != 0 || (count % 8 != 0 && first + count != total) ||
        (count != 0 && elements == nullptr))
        return SLUICE_ERROR_ARGUMENT;
    if (layoutOf(type).rawBits() == 0 || count == 0) return SLUICE_OK;
    if (raw == nullptr) return SLUICE_ERROR_ARGUMENT;
    visitElements(type, elements, [&](auto values) {
        constexpr Layout layout = decltype(values)::kLayout;
        constexpr uint32_t width = layout.planeBits(), above = layout.rawBits() - width;
        for (uint64_t i = 0; i < count;) { // the part of a tile each
            const uint64_t tile = (first + i) / kTile;
            const uint32_t at = uint32_t((first + i) % kTile), size = uint32_t(std::min<uint64_t>(kTile, total - tile * kTile));
            const uint32_t part = uint32_t(std::min<uint64_t>(size - at, count - i));
            const Planes planes = planesOf(layout, size);
            uint8_t* bytes = static_cast<uint8_t*>(raw) + tile * rawTileBytes(layout);
            for (uint32_t k = 0; layout.hasWords() && k < part; ++k) {
                const uint16_t low = uint16_t(values.raw(i + k));
                std::memcpy(bytes + 2 * (at + k), &low, 2);
            }
            for (uint32_t k = 0; layout.hasBytes() && k < part; ++k)
                bytes[planes.bytes + at + k] = uint8_t(values.raw(i + k) >> (layout.hasWords() ? 16 : 0));
            for (uint32_t group = 0; width != 0 && group < (part + 7) / 8; ++group) {
                uint32_t bits = 0;
                for (uint32_t k = 0; k < std::min(8u, part - 8 * group); ++k)
                    bits |= values.raw(i + 8 * group + k) >> above << width * k;
                for (uint32_t k = 0; k < width; ++k)
                    bytes[planes.bits + (at / 8 + group) * width + k] = uint8_t(bits >> 8 * k);
            }
            i += part;
        }
    });
    return SLUICE_OK;
}
