// SPDX-License-Identifier: MIT OR Apache-2.0
// The float codec, lane after lane as docs/format.md tells it.
#include "regions.h"

#include "../formats/float_format.h"

#include <sluice/sluice_float.h>

#include <algorithm>
#include <iterator>

namespace sluice::cpu {
namespace {

using namespace floats;

struct CanonicalCode {
    uint32_t limit[kMaxBits + 1] = {}; // the end of the codes of each length, left-aligned to
                                       // kMaxBits
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
            for (uint32_t bits = 1; bits <= kMaxBits; ++bits)
                limit[bits] = 1u << kMaxBits;
        }
        return single || limit[kMaxBits] == 1u << kMaxBits;
    }

    // The code at the upper end of `bits`, which has kMaxBits.
    uint32_t codeLength(uint32_t bits) const
    {
        uint32_t result = 1;
        while (bits >= limit[result])
            ++result;
        return result;
    }
    uint32_t symbol(uint32_t bits, uint32_t bitCount) const
    {
        return sorted[((bits >> (kMaxBits - bitCount)) + first[bitCount]) & 255];
    }

private:
    static uint32_t length(const uint8_t* packed, uint32_t symbol)
    {
        return packed[symbol / 2] >> symbol % 2 * 4 & 15;
    }
};

// The 32 lanes that share one list of words. Past its end they are 0.
class Lanes {
public:
    Lanes(const uint8_t* from, uint64_t size) : bytes(from), end(size) {}

    // The bits ahead of a lane, left-aligned to kMaxBits, with zeros for those that it does not
    // have.
    uint32_t peek(uint32_t lane) const { return uint32_t(lanes[lane].bits >> (64 - kMaxBits)); }
    uint32_t available(uint32_t lane) const { return lanes[lane].count; }
    // A lane may take a word of 32 bits when it has 32 or fewer, and one of 16 when it has fewer
    // than 16.
    void take(uint32_t lane, uint32_t bitCount)
    {
        uint64_t word = 0;
        for (uint32_t i = 0; i < bitCount / 8; ++i)
            if (next + i < end) word |= uint64_t(bytes[next + i]) << 8 * i;
        next += bitCount / 8;
        lanes[lane].bits |= word << (64 - bitCount) >> lanes[lane].count;
        lanes[lane].count += bitCount;
    }
    void consume(uint32_t lane, uint32_t bitCount)
    {
        lanes[lane].bits <<= bitCount;
        lanes[lane].count -= bitCount;
    }
    bool truncated() const { return next > end; }

private:
    struct Lane {
        uint64_t bits = 0; // the next one above all others
        uint32_t count = 0;
    };
    Lane lanes[kLanes];
    const uint8_t* bytes;
    uint64_t next = 0, end;
};

// The symbols of a tile, row by row.
class Rows {
public:
    Rows(const CanonicalCode& tileCode, Lanes& tileLanes) : code(tileCode), lanes(tileLanes) {}

    // Each lane begins with two words.
    void begin()
    {
        for (uint32_t lane = 0; lane < kLanes; ++lane)
            for (uint32_t i = 0; i < 2; ++i)
                lanes.take(lane, kWordBits);
    }

    // Before every two look-ups and before every single symbol a lane takes a word if it has used
    // one up.
    void whole(uint8_t* symbols)
    {
        const auto takeIfUsed = [&](uint32_t lane) {
            if (lanes.available(lane) <= kWordBits) lanes.take(lane, kWordBits);
        };
        uint32_t done[kLanes] = {}; // symbols
        for (uint32_t i = 0; i < kLookUps; i += 2) {
            for (uint32_t lane = 0; lane < kLanes; ++lane) {
                takeIfUsed(lane);
                for (uint32_t k = 0; k < 2; ++k)
                    lookUp(lane, symbols, done[lane]);
            }
        }
        while (anyMissing(done)) {
            for (uint32_t lane = 0; lane < kLanes; ++lane) {
                takeIfUsed(lane);
                if (done[lane] < kPerLane) read(lane, symbols, done[lane]);
            }
        }
    }

    // In the tail a lane takes a word if it needs one, as far as the bits that it has tell.
    void tail(uint8_t* symbols)
    {
        const auto takeIfFewer = [&](uint32_t lane, uint32_t bitCount) {
            if (lanes.available(lane) < bitCount) lanes.take(lane, kTailWordBits);
        };
        uint32_t done[kLanes] = {};
        for (uint32_t i = 0; i < kLookUps; ++i) {
            for (uint32_t lane = 0; lane < kLanes; ++lane) {
                takeIfFewer(lane, std::min(lengthOfBoth(lane), kMaxBits));
                lookUp(lane, symbols, done[lane]);
            }
        }
        while (anyMissing(done)) {
            for (uint32_t lane = 0; lane < kLanes; ++lane) {
                if (done[lane] == kPerLane) continue;
                takeIfFewer(lane, code.codeLength(lanes.peek(lane)));
                read(lane, symbols, done[lane]);
            }
        }
    }

private:
    static bool anyMissing(const uint32_t (&done)[kLanes])
    {
        return std::any_of(std::begin(done), std::end(done),
                           [](uint32_t count) { return count < kPerLane; });
    }

    uint32_t lengthOfBoth(uint32_t lane) const
    {
        const uint32_t bits = lanes.peek(lane), first = code.codeLength(bits);
        return first + code.codeLength(bits << first & ((1u << kMaxBits) - 1));
    }
    // The lane's next symbol, the one after `done` others of the row.
    void read(uint32_t lane, uint8_t* symbols, uint32_t& done)
    {
        const uint32_t bits = lanes.peek(lane), length = code.codeLength(bits);
        symbols[lane * kPerLane + done++] = uint8_t(code.symbol(bits, length));
        lanes.consume(lane, length);
    }
    // And the one behind it if both codes have at most 12 bits together.
    void lookUp(uint32_t lane, uint8_t* symbols, uint32_t& done)
    {
        const bool both = lengthOfBoth(lane) <= kMaxBits;
        read(lane, symbols, done);
        if (both) read(lane, symbols, done);
    }

    const CanonicalCode& code;
    Lanes& lanes;
};

// Symbols of a tile. False: its words end before they do.
bool decodeSymbols(const CanonicalCode& code, Lanes& lanes, uint32_t rows, uint8_t* symbols)
{
    Rows decoder(code, lanes);
    const uint32_t whole = wholeRows(rows);
    if (whole != 0) decoder.begin();
    for (uint32_t row = 0; row < rows; ++row) {
        if (row < whole)
            decoder.whole(symbols + row * kRow);
        else
            decoder.tail(symbols + row * kRow);
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
        bits |= uint32_t(raw[planes.bits + element / 8 * width + at / 8] >> at % 8 & 1)
                << (have + i);
    }
    return bits;
}

void store(const Layout& layout, uint32_t symbol, uint32_t raw, uint8_t* to)
{
    const uint32_t mantissa = raw & ((1u << layout.mantissaBits) - 1),
                   sign = raw >> layout.mantissaBits;
    const uint32_t exponent = symbol & ((1u << layout.exponentBits) - 1);
    const uint64_t value = mantissa | uint64_t(exponent) << layout.mantissaBits |
                           uint64_t(sign) << (layout.mantissaBits + layout.exponentBits);
    for (uint32_t i = 0; i < layout.bytes; ++i)
        to[i] = uint8_t(value >> 8 * i);
}

class Tensor {
public:
    Tensor(const SluiceFloatDecodeInfo& info, const SluiceFloatTensor& description)
        : tensor(description)
    {
        good = tensor.type < SLUICE_FLOAT_TYPE_COUNT && tensor.count <= kMaxCount;
        if (!good) return;
        layout = layoutOf(tensor.type);
        const uint64_t tiles = tileCount(tensor.count);
        good = (tensor.words | tensor.lengths | tensor.raw | tensor.output) % 16 == 0 &&
               tensor.wordsSize % kUnit == 0 && tensor.index % 4 == 0 &&
               inside(info.source, tensor.words, tensor.wordsSize) &&
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
        if (begin > end || end * kUnit > tensor.wordsSize) return SLUICE_ST_BAD_REGION;
        if (!complete) return SLUICE_ST_BAD_CODE;
        const uint64_t first = uint64_t(tile) * kTile;
        const uint32_t elements = uint32_t(std::min<uint64_t>(kTile, tensor.count - first));
        uint8_t symbols[kTile];
        Lanes lanes(bytes(tensor.words) + begin * kUnit, (end - begin) * kUnit);
        if (!decodeSymbols(code, lanes, rowCount(elements), symbols)) return SLUICE_ST_TRUNCATED;
        const uint8_t* raw = bytes(tensor.raw) + uint64_t(tile) * rawTileBytes(layout);
        const Planes planes = planesOf(layout, elements);
        for (uint32_t i = 0; i < elements; ++i)
            store(layout, symbols[i], rawBits(layout, planes, raw, i),
                  bytes(tensor.output) + (first + i) * layout.bytes);
        return SLUICE_ST_OK;
    }

private:
    static uint8_t* bytes(uint64_t address)
    {
        return reinterpret_cast<uint8_t*>(uintptr_t(address));
    }

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
        const u32 end = i + 1 < info.tensorCount
                            ? std::min(tensors[i + 1].firstTile, info.tileCount)
                            : info.tileCount;
        const Tensor tensor(info, tensors[i]);
        for (u32 tile = begin; tile < end; ++tile)
            status.set(tile, tensor.decode(tile - tensors[i].firstTile));
    }
}

} // namespace sluice::cpu
