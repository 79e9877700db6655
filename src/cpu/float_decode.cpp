// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the float codec lane after lane, as docs/format.md describes.
#include <sluice/sluice_float.h>

#include "formats/float_format.h"
#include "formats/little_endian.h"
#include "cpu/context.h"
#include "cpu/canonical_code.h"
#include "cpu/regions.h"

#include <iterator>

namespace sluice::cpu {
namespace {

using namespace floats;

using Code = CanonicalCode<kMaxBits, 256>;

// Returns false if the lengths make no complete code.
bool buildCode(Code& code, const u8* packed)
{
    u8 lengths[256];
    for (u32 symbol = 0; symbol < 256; ++symbol)
        lengths[symbol] = u8(codeLength(packed, symbol));
    return code.build(lengths, 256) || code.completeSingle();
}

// Finds the code at the upper end of `bits`, which has kMaxBits.
Code::Found find(const Code& code, u32 bits)
{
    return code.find([bits](u32) { return bits; });
}

// The 32 lanes that share one list of words. Words past its end are 0.
class Lanes {
public:
    Lanes(const u8* bytes, u64 size) : m_bytes(bytes), m_end(size) {}

    // Returns the next bits of a lane, left-aligned to kMaxBits, with zeros for those that it does
    // not have.
    u32 peek(u32 lane) const { return u32(m_lanes[lane].bits >> (64 - kMaxBits)); }
    u32 available(u32 lane) const { return m_lanes[lane].count; }
    // A lane may take a word of 32 bits when it has 32 or fewer, and one of 16 when it has fewer
    // than 16.
    void take(u32 lane, u32 bitCount)
    {
        const u64 left = m_next < m_end ? m_end - m_next : 0;
        const u64 word =
            loadLe(m_bytes + std::min(m_next, m_end), size_t(std::min<u64>(left, bitCount / 8)));
        m_next += bitCount / 8;
        m_lanes[lane].bits |= word << (64 - bitCount) >> m_lanes[lane].count;
        m_lanes[lane].count += bitCount;
    }
    void consume(u32 lane, u32 bitCount)
    {
        m_lanes[lane].bits <<= bitCount;
        m_lanes[lane].count -= bitCount;
    }
    bool truncated() const { return m_next > m_end; }

private:
    struct Lane {
        u64 bits = 0; // the next one on top
        u32 count = 0;
    };
    Lane m_lanes[kLanes];
    const u8* m_bytes;
    u64 m_next = 0, m_end;
};

// Decodes the symbols of a tile row by row.
class Rows {
public:
    Rows(const Code& code, Lanes& lanes) : m_code(code), m_lanes(lanes) {}

    // Each lane begins with two words.
    void begin()
    {
        for (u32 lane = 0; lane < kLanes; ++lane)
            for (u32 i = 0; i < 2; ++i)
                m_lanes.take(lane, kWordBits);
    }

    // Before every two look-ups, and before every single symbol, a lane takes a word if it has used
    // one up.
    void whole(u8* symbols)
    {
        const auto takeIfUsed = [&](u32 lane) {
            if (m_lanes.available(lane) <= kWordBits) m_lanes.take(lane, kWordBits);
        };
        u32 done[kLanes] = {}; // symbols
        for (u32 i = 0; i < kLookUps; i += 2) {
            for (u32 lane = 0; lane < kLanes; ++lane) {
                takeIfUsed(lane);
                for (u32 k = 0; k < 2; ++k)
                    lookUp(lane, symbols, done[lane]);
            }
        }
        while (anyMissing(done)) {
            for (u32 lane = 0; lane < kLanes; ++lane) {
                takeIfUsed(lane);
                if (done[lane] < kPerLane) read(lane, symbols, done[lane]);
            }
        }
    }

    // In the tail a lane takes a word if the bits that it has do not suffice for the next code.
    void tail(u8* symbols)
    {
        const auto takeIfFewer = [&](u32 lane, u32 bitCount) {
            if (m_lanes.available(lane) < bitCount) m_lanes.take(lane, kTailWordBits);
        };
        u32 done[kLanes] = {};
        for (u32 i = 0; i < kLookUps; ++i) {
            for (u32 lane = 0; lane < kLanes; ++lane) {
                takeIfFewer(lane, std::min(lengthOfBoth(lane), kMaxBits));
                lookUp(lane, symbols, done[lane]);
            }
        }
        while (anyMissing(done)) {
            for (u32 lane = 0; lane < kLanes; ++lane) {
                if (done[lane] == kPerLane) continue;
                takeIfFewer(lane, find(m_code, m_lanes.peek(lane)).length);
                read(lane, symbols, done[lane]);
            }
        }
    }

private:
    static bool anyMissing(const u32 (&done)[kLanes])
    {
        return std::any_of(std::begin(done), std::end(done),
                           [](u32 count) { return count < kPerLane; });
    }

    u32 lengthOfBoth(u32 lane) const
    {
        const u32 bits = m_lanes.peek(lane), first = find(m_code, bits).length;
        return first + find(m_code, bits << first & ((1u << kMaxBits) - 1)).length;
    }
    // Reads the lane's next symbol; `done` symbols are there already.
    void read(u32 lane, u8* symbols, u32& done)
    {
        const Code::Found found = find(m_code, m_lanes.peek(lane));
        symbols[lane * kPerLane + done++] = u8(found.symbol);
        m_lanes.consume(lane, found.length);
    }
    // Reads a second symbol too if both codes have at most 12 bits together.
    void lookUp(u32 lane, u8* symbols, u32& done)
    {
        const bool both = lengthOfBoth(lane) <= kMaxBits;
        read(lane, symbols, done);
        if (both) read(lane, symbols, done);
    }

    const Code& m_code;
    Lanes& m_lanes;
};

// Decodes the symbols of a tile. Returns false if its words end too early.
bool decodeSymbols(const Code& code, Lanes& lanes, u32 rows, u8* symbols)
{
    Rows decoder(code, lanes);
    const u32 whole = wholeRows(rows);
    if (whole != 0) decoder.begin();
    for (u32 row = 0; row < rows; ++row) {
        if (row < whole)
            decoder.whole(symbols + row * kRow);
        else
            decoder.tail(symbols + row * kRow);
    }
    return !lanes.truncated();
}

// Returns the bits of an element that are not coded, from the planes of its tile.
u32 rawBits(const Layout& layout, const Planes& planes, const u8* raw, u32 element)
{
    u32 bits = 0, have = 0;
    if (layout.hasWords()) {
        bits = loadLe16(raw + 2 * element);
        have = 16;
    }
    if (layout.hasBytes()) {
        bits |= u32(raw[planes.bytes + element]) << have;
        have += 8;
    }
    const u32 width = layout.planeBits();
    for (u32 i = 0; i < width; ++i) {
        const u32 at = element % 8 * width + i;
        bits |= u32(raw[planes.bits + element / 8 * width + at / 8] >> at % 8 & 1) << (have + i);
    }
    return bits;
}

void store(const Layout& layout, u32 symbol, u32 raw, u8* to)
{
    const u32 mantissa = raw & ((1u << layout.mantissaBits) - 1), sign = raw >> layout.mantissaBits;
    const u32 exponent = symbol & ((1u << layout.exponentBits) - 1);
    const u64 value = mantissa | u64(exponent) << layout.mantissaBits |
                      u64(sign) << (layout.mantissaBits + layout.exponentBits);
    storeLe(to, value, layout.bytes);
}

class Tensor {
public:
    Tensor(const SluiceFloatDecodeInfo& info, const SluiceFloatTensor& tensor) : m_tensor(tensor)
    {
        if (tensor.type >= SLUICE_FLOAT_TYPE_COUNT || tensor.count > kMaxCount) return;
        m_layout = layoutOf(tensor.type);
        const u64 tiles = tileCount(tensor.count);
        m_good = (tensor.words | tensor.lengths | tensor.raw | tensor.output) % 16 == 0 &&
                 tensor.wordsSize % kUnit == 0 && tensor.index % 4 == 0 &&
                 inside(info.source, tensor.words, tensor.wordsSize) &&
                 inside(info.source, tensor.index, (tiles + 1) * 4) &&
                 inside(info.source, tensor.lengths, SLUICE_FLOAT_LENGTHS_SIZE) &&
                 inside(info.source, tensor.raw, rawBytes(m_layout, tensor.count)) &&
                 inside(info.destination, tensor.output, tensor.count * m_layout.bytes);
        m_complete = m_good && buildCode(m_code, pointer<const u8>(tensor.lengths));
    }

    u32 decode(u32 tile) const
    {
        if (!m_good || tile >= tileCount(m_tensor.count)) return SLUICE_ST_BAD_REGION;
        const u32* index = pointer<const u32>(m_tensor.index);
        const u64 begin = index[tile], end = index[tile + 1];
        if (begin > end || end * kUnit > m_tensor.wordsSize) return SLUICE_ST_BAD_REGION;
        if (!m_complete) return SLUICE_ST_BAD_CODE;
        const u64 first = u64(tile) * kTile;
        const u32 elements = u32(std::min<u64>(kTile, m_tensor.count - first));
        u8 symbols[kTile];
        Lanes lanes(pointer<const u8>(m_tensor.words) + begin * kUnit, (end - begin) * kUnit);
        if (!decodeSymbols(m_code, lanes, rowCount(elements), symbols)) return SLUICE_ST_TRUNCATED;
        const u8* raw = pointer<const u8>(m_tensor.raw) + u64(tile) * rawTileBytes(m_layout);
        u8* output = pointer<u8>(m_tensor.output) + first * m_layout.bytes;
        const Planes planes = planesOf(m_layout, elements);
        for (u32 i = 0; i < elements; ++i)
            store(m_layout, symbols[i], rawBits(m_layout, planes, raw, i),
                  output + i * m_layout.bytes);
        return SLUICE_ST_OK;
    }

private:
    SluiceFloatTensor m_tensor;
    Layout m_layout = {};
    Code m_code;
    bool m_good = false;     // the tensor lies inside its buffers
    bool m_complete = false; // its lengths make a code
};

} // namespace

SluiceStatus ReferenceBackend::cmdFloatDecode(SluiceCommands, const SluiceFloatDecodeInfo& info)
{
    StatusWords status(info.status, info.tileCount);
    status.reset();
    const SluiceFloatTensor* tensors = pointer<const SluiceFloatTensor>(info.tensors);
    for (u32 i = 0; i < info.tensorCount; ++i) {
        // A tensor has the tiles up to the next tensor's first tile, whatever its count says.
        const u32 begin = i == 0 ? 0 : std::min(tensors[i].firstTile, info.tileCount);
        const u32 end = i + 1 < info.tensorCount
                            ? std::min(tensors[i + 1].firstTile, info.tileCount)
                            : info.tileCount;
        const Tensor tensor(info, tensors[i]);
        for (u32 tile = begin; tile < end; ++tile)
            status.set(tile, tensor.decode(tile - tensors[i].firstTile));
    }
    return SLUICE_OK;
}

} // namespace sluice::cpu
