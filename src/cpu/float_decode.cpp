// SPDX-License-Identifier: MIT OR Apache-2.0
// The float codec, lane after lane as docs/format.md tells it.
#include "regions.h"

#include "../formats/float_format.h"

#include <sluice/sluice_float.h>

namespace sluice::cpu {
namespace {

using namespace floats;

struct CanonicalCode {
    uint32_t limit[kMaxBits + 1] = {}; // the end of the codes of each length, left-aligned to kMaxBits
    uint32_t first[kMaxBits + 1] = {}; // rank of a length's first symbol, minus its code
    uint8_t sorted[256] = {};

    // False: the lengths make no complete code.
    bool build(const uint8_t* packed)
    {
        uint32_t count[16] = {};
        for (uint32_t symbol = 0; symbol < 256; ++symbol)
            ++count[length(packed, symbol)];
        if (count[13] + count[14] + count[15] != 0) return false;
        uint32_t code = 0, rank = 0;
        for (uint32_t bits = 1; bits <= kMaxBits; ++bits) {
            first[bits] = rank - code;
            code += count[bits];
            for (uint32_t symbol = 0; symbol < 256; ++symbol)
                if (length(packed, symbol) == bits) sorted[rank++] = uint8_t(symbol);
            limit[bits] = code << (kMaxBits - bits);
            code <<= 1;
        }
        const bool single = rank == 1 && count[1] == 1;
        if (single) { // whatever the bit
            sorted[1] = sorted[0];
            for (uint32_t bits = 1; bits <= kMaxBits; ++bits) limit[bits] = 1u << kMaxBits;
        }
        return single || limit[kMaxBits] == 1u << kMaxBits;
    }

    // The code at the upper end of `bits`, which has kMaxBits.
    uint32_t codeLength(uint32_t bits) const
    {
        uint32_t result = 1;
        while (bits >= limit[result]) ++result;
        return result;
    }
    uint32_t symbol(uint32_t bits, uint32_t bitCount) const
    {
        return sorted[((bits >> (kMaxBits - bitCount)) + first[bitCount]) & 255];
    }

private:
    static uint32_t length(const uint8_t* packed, uint32_t symbol) { return packed[symbol / 2] >> symbol % 2 * 4 & 15; }
};

// The 32 lanes that share one list of words. Past its end they are 0.
class Lanes {
public:
    Lanes(const uint8_t* from, uint64_t wordCount) : words(from), end(wordCount) {}

    // The bits ahead of a lane, left-aligned to kMaxBits.
    uint32_t peek(uint32_t lane) const { return lanes[lane].bits >> (32 - kMaxBits); }
    uint32_t available(uint32_t lane) const { return lanes[lane].count; }
    void take(uint32_t lane)
    {
        uint32_t word = 0;
        if (next < end) word = uint32_t(words[2 * next] | words[2 * next + 1] << 8);
        ++next;
        lanes[lane].bits |= word << (16 - lanes[lane].count);
        lanes[lane].count += kWordBits;
    }
    void consume(uint32_t lane, uint32_t bitCount)
    {
        lanes[lane].bits <<= bitCount;
        lanes[lane].count -= bitCount;
    }
    bool truncated() const { return next > end; }

private:
    struct Lane {
        uint32_t bits = 0, count = 0;
    };
    Lane lanes[kLanes];
    const uint8_t* words;
    uint64_t next = 0, end;
};

// Symbols of a tile. False: its words end before they do.
bool decodeSymbols(const CanonicalCode& code, Lanes& lanes, uint32_t rows, uint8_t* symbols)
{
    const auto read = [&](uint32_t lane, uint8_t* to) {
        const uint32_t bits = lanes.peek(lane), length = code.codeLength(bits);
        *to = uint8_t(code.symbol(bits, length));
        lanes.consume(lane, length);
        return length;
    };
    for (uint32_t row = 0; row + 1 < rows; ++row) {
        for (uint32_t k = 0; k < kPerLane; k += 2) {
            uint8_t* at = symbols + row * kRow + k;
            for (uint32_t lane = 0; lane < kLanes; ++lane)
                if (lanes.available(lane) < kMaxBits) lanes.take(lane);
            // Two codes of a lane that are longer than 12 bits together: the second waits for more words.
            bool waits[kLanes] = {};
            for (uint32_t lane = 0; lane < kLanes; ++lane) {
                const uint32_t bits = lanes.peek(lane), length = code.codeLength(bits);
                const uint32_t both = length + code.codeLength(bits << length & ((1u << kMaxBits) - 1));
                waits[lane] = both > kMaxBits;
                read(lane, at + lane * kPerLane);
                if (!waits[lane]) read(lane, at + lane * kPerLane + 1);
            }
            for (uint32_t lane = 0; lane < kLanes; ++lane)
                if (waits[lane] && lanes.available(lane) < kMaxBits) lanes.take(lane);
            for (uint32_t lane = 0; lane < kLanes; ++lane)
                if (waits[lane]) read(lane, at + lane * kPerLane + 1);
        }
    }
    // The last row takes only words that its codes need.
    for (uint32_t k = 0; k < kPerLane; ++k) {
        for (uint32_t lane = 0; lane < kLanes; ++lane)
            if (code.codeLength(lanes.peek(lane)) > lanes.available(lane)) lanes.take(lane);
        for (uint32_t lane = 0; lane < kLanes; ++lane)
            read(lane, symbols + (rows - 1) * kRow + lane * kPerLane + k);
    }
    return !lanes.truncated();
}

uint32_t rawBits(const Layout& layout, const Planes& planes, const uint8_t* raw, uint32_t element)
{
    uint32_t bits = 0, have = 0;
    if (layout.hasWords()) {
        bits = uint32_t(raw[2 * element] | raw[2 * element + 1] << 8);
        have = 16;
    }
    if (layout.hasBytes()) {
        bits |= uint32_t(raw[planes.bytes + element]) << have;
        have += 8;
    }
    const uint32_t width = layout.planeBits();
    for (uint32_t i = 0; i < width; ++i) {
        const uint32_t at = element % 8 * width + i;
        bits |= uint32_t(raw[planes.bits + element / 8 * width + at / 8] >> at % 8 & 1) << (have + i);
    }
    return bits;
}

void store(const Layout& layout, uint32_t symbol, uint32_t raw, uint8_t* to)
{
    const uint32_t mantissa = raw & ((1u << layout.mantissaBits) - 1), sign = raw >> layout.mantissaBits;
    const uint32_t exponent = symbol & ((1u << layout.exponentBits) - 1);
    const uint64_t value = mantissa | uint64_t(exponent) << layout.mantissaBits |
                           uint64_t(sign) << (layout.mantissaBits + layout.exponentBits);
    for (uint32_t i = 0; i < layout.bytes; ++i) to[i] = uint8_t(value >> 8 * i);
}

class Tensor {
public:
    Tensor(const SluiceFloatDecodeInfo& info, const SluiceFloatTensor& description) : tensor(description)
    {
        good = tensor.type < SLUICE_FLOAT_TYPE_COUNT && tensor.count <= kMaxCount;
        if (!good) return;
        layout = layoutOf(tensor.type);
        const uint64_t tiles = tileCount(tensor.count);
        good = (tensor.words | tensor.lengths | tensor.raw | tensor.output) % 16 == 0 &&
               (tensor.index | tensor.wordsSize) % 4 == 0 && inside(info.source, tensor.words, tensor.wordsSize) &&
               inside(info.source, tensor.index, (tiles + 1) * 4) &&
               inside(info.source, tensor.lengths, SLUICE_FLOAT_LENGTHS_SIZE) &&
               inside(info.source, tensor.raw, rawBytes(layout, tensor.count)) &&
               inside(info.destination, tensor.output, tensor.count * layout.bytes);
        complete = good && code.build(bytes(tensor.lengths));
    }

    u32 decode(u32 tile) const
    {
        if (!good || tile >= tileCount(tensor.count)) return SLUICE_ST_BAD_REGION;
        const u32* index = reinterpret_cast<const u32*>(bytes(tensor.index));
        const uint64_t begin = index[tile], end = index[tile + 1];
        if (begin > end || end * 4 > tensor.wordsSize) return SLUICE_ST_BAD_REGION;
        if (!complete) return SLUICE_ST_BAD_CODE;
        const uint64_t first = uint64_t(tile) * kTile;
        const uint32_t elements = uint32_t(std::min<uint64_t>(kTile, tensor.count - first));
        uint8_t symbols[kTile];
        Lanes lanes(bytes(tensor.words) + begin * 4, (end - begin) * 2);
        if (!decodeSymbols(code, lanes, rowCount(elements), symbols)) return SLUICE_ST_TRUNCATED;
        const uint8_t* raw = bytes(tensor.raw) + uint64_t(tile) * rawTileBytes(layout);
        const Planes planes = planesOf(layout, elements);
        for (uint32_t i = 0; i < elements; ++i)
            store(layout, symbols[i], rawBits(layout, planes, raw, i),
                  bytes(tensor.output) + (first + i) * layout.bytes);
        return SLUICE_ST_OK;
    }

private:
    static uint8_t* bytes(uint64_t address) { return reinterpret_cast<uint8_t*>(uintptr_t(address)); }

    SluiceFloatTensor tensor;
    Layout layout = {};
    CanonicalCode code;
    bool good, complete = false;
};

} // namespace

void floatDecode(const SluiceFloatDecodeInfo& info)
{
    StatusWords status(info.status, info.tileCount);
    status.reset();
    const SluiceFloatTensor* tensors = pointer<const SluiceFloatTensor>(info.tensors);
    for (u32 i = 0; i < info.tensorCount; ++i) {
        // The tiles of this tensor are those up to the next one's first, whatever its count says.
        const u32 begin = i == 0 ? 0 : std::min(tensors[i].firstTile, info.tileCount);
        const u32 end = i + 1 < info.tensorCount ? std::min(tensors[i + 1].firstTile, info.tileCount) : info.tileCount;
        const Tensor tensor(info, tensors[i]);
        for (u32 tile = begin; tile < end; ++tile)
            status.set(tile, tensor.decode(tile - tensors[i].firstTile));
    }
}

} // namespace sluice::cpu
