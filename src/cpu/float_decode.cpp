// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of the float codec's decoder (docs/format.md, section 6). Some bits of each
// element, mostly its exponent, are coded as a symbol. The other bits are stored as they are. A
// tile's symbols stand in rows of 256. Each of 32 *lanes* decodes eight symbols of a row. The lanes
// take their bits from one list of words.
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

// Builds a code from packed lengths, two per byte. Returns false if the code is incomplete, unless
// it has only one symbol, with a code of 1 bit.
bool buildCode(Code& code, const uint8_t* packed)
{
    uint8_t lengths[256];
    for (uint32_t symbol = 0; symbol < 256; ++symbol)
        lengths[symbol] = uint8_t(codeLength(packed, symbol));
    return code.build(lengths, 256) || code.completeSingle();
}

// Returns the symbol and the length of the code with which `bits` begins. `bits` has kMaxBits bits,
// of which the highest comes first.
Code::Found find(const Code& code, uint32_t bits)
{
    return code.find([bits](uint32_t) { return bits; });
}

// The bits of the 32 lanes, and the list of words that the lanes share. Words past the end of the
// list are 0.
class Lanes {
public:
    Lanes(const uint8_t* bytes, uint64_t size) : m_bytes(bytes), m_end(size) {}

    // Returns the next kMaxBits bits of a lane, of which the highest comes first. Bits that the
    // lane lacks are 0.
    uint32_t peek(uint32_t lane) const { return uint32_t(m_lanes[lane].bits >> (64 - kMaxBits)); }
    // Returns how many bits a lane has.
    uint32_t available(uint32_t lane) const { return m_lanes[lane].count; }
    // Gives a lane the next word of the list. bitCount: 16 or 32. The lane holds up to 64 bits, and
    // must have room for the word.
    void take(uint32_t lane, uint32_t bitCount)
    {
        const uint64_t left = m_next < m_end ? m_end - m_next : 0;
        const uint64_t word = loadLe(m_bytes + std::min(m_next, m_end),
                                     size_t(std::min<uint64_t>(left, bitCount / 8)));
        m_next += bitCount / 8;
        m_lanes[lane].bits |= word << (64 - bitCount) >> m_lanes[lane].count;
        m_lanes[lane].count += bitCount;
    }
    // Drops the next bits of a lane.
    void consume(uint32_t lane, uint32_t bitCount)
    {
        m_lanes[lane].bits <<= bitCount;
        m_lanes[lane].count -= bitCount;
    }
    // Returns whether a lane took a word past the end.
    bool truncated() const { return m_next > m_end; }

private:
    struct Lane {
        uint64_t bits = 0;  // the next bit is the highest
        uint32_t count = 0; // bits that the lane has
    };
    Lane m_lanes[kLanes];
    const uint8_t* m_bytes;
    uint64_t m_next = 0, m_end; // byte offsets in the list: the next word, the end
};

// Decodes the symbols of a tile row by row; in a row each lane decodes kPerLane symbols. In the
// last rows, the *tail*, lanes take words of 16 bits instead of 32, so that fewer bits are wasted
// at the end.
class Rows {
public:
    Rows(const Code& code, Lanes& lanes) : m_code(code), m_lanes(lanes) {}

    // Gives each lane its first two words.
    void begin()
    {
        for (uint32_t lane = 0; lane < kLanes; ++lane)
            for (uint32_t i = 0; i < 2; ++i)
                m_lanes.take(lane, kWordBits);
    }

    // Decodes a row before the tail. First each lane does kLookUps look-ups, which decode one or
    // two symbols each. Then it decodes its remaining symbols of the row one by one. Before every
    // two look-ups, and before every single symbol, a lane with at most 32 bits left takes a word.
    void whole(uint8_t* symbols)
    {
        const auto takeIfUsed = [&](uint32_t lane) {
            if (m_lanes.available(lane) <= kWordBits) m_lanes.take(lane, kWordBits);
        };
        uint32_t done[kLanes] = {}; // symbols of the row that each lane has decoded
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

    // Decodes a row of the tail, the last rows of a tile. Here a lane takes a word only if it has
    // too few bits. A look-up needs the bits of the next two codes together, but at most kMaxBits.
    // A single symbol needs the bits of its code.
    void tail(uint8_t* symbols)
    {
        const auto takeIfFewer = [&](uint32_t lane, uint32_t bitCount) {
            if (m_lanes.available(lane) < bitCount) m_lanes.take(lane, kTailWordBits);
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
                takeIfFewer(lane, find(m_code, m_lanes.peek(lane)).length);
                read(lane, symbols, done[lane]);
            }
        }
    }

private:
    // Returns whether a lane still lacks symbols of the row.
    static bool anyMissing(const uint32_t (&done)[kLanes])
    {
        return std::any_of(std::begin(done), std::end(done),
                           [](uint32_t count) { return count < kPerLane; });
    }

    // Returns the length of the lane's next two codes together.
    uint32_t lengthOfBoth(uint32_t lane) const
    {
        const uint32_t bits = m_lanes.peek(lane), first = find(m_code, bits).length;
        return first + find(m_code, bits << first & ((1u << kMaxBits) - 1)).length;
    }
    // Decodes a lane's next symbol. done: how many symbols of this row the lane has decoded.
    void read(uint32_t lane, uint8_t* symbols, uint32_t& done)
    {
        const Code::Found found = find(m_code, m_lanes.peek(lane));
        symbols[lane * kPerLane + done++] = uint8_t(found.symbol);
        m_lanes.consume(lane, found.length);
    }
    // Does a look-up: decodes the lane's next symbol, and also the symbol after it if the two codes
    // have at most kMaxBits bits together.
    void lookUp(uint32_t lane, uint8_t* symbols, uint32_t& done)
    {
        const bool both = lengthOfBoth(lane) <= kMaxBits;
        read(lane, symbols, done);
        if (both) read(lane, symbols, done);
    }

    const Code& m_code;
    Lanes& m_lanes;
};

// Decodes the `rows` rows of a tile. Returns false if a lane took a word past the end.
bool decodeSymbols(const Code& code, Lanes& lanes, uint32_t rows, uint8_t* symbols)
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

// Returns the bits of an element that are not coded: its sign and the lower bits of its mantissa.
// They stand in up to three planes of the tile: one of 2-byte words, one of bytes, and one of fewer
// bits per element.
uint32_t rawBits(const Layout& layout, const Planes& planes, const uint8_t* raw, uint32_t element)
{
    uint32_t bits = 0, have = 0;
    if (layout.hasWords()) {
        bits = loadLe16(raw + 2 * element);
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

// Joins an element's symbol with its other bits and writes it.
void store(const Layout& layout, uint32_t symbol, uint32_t raw, uint8_t* to)
{
    const uint32_t mantissa = raw & ((1u << layout.mantissaBits) - 1),
                   sign = raw >> layout.mantissaBits;
    const uint32_t exponent = symbol & ((1u << layout.exponentBits) - 1);
    const uint64_t value = mantissa | uint64_t(exponent) << layout.mantissaBits |
                           uint64_t(sign) << (layout.mantissaBits + layout.exponentBits);
    storeLe(to, value, layout.bytes);
}

// A coded tensor.
class Tensor {
public:
    // Checks the alignment and ranges of the arrays (m_good), and builds the code (m_complete).
    Tensor(const SluiceFloatDecodeInfo& info, const SluiceFloatTensor& tensor) : m_tensor(tensor)
    {
        if (tensor.type >= SLUICE_FLOAT_TYPE_COUNT || tensor.count > kMaxCount) return;
        m_layout = layoutOf(tensor.type);
        const uint64_t tiles = tileCount(tensor.count);
        m_good = (tensor.words | tensor.lengths | tensor.raw | tensor.output) % 16 == 0 &&
                 tensor.wordsSize % kUnit == 0 && tensor.index % 4 == 0 &&
                 inside(info.source, tensor.words, tensor.wordsSize) &&
                 inside(info.source, tensor.index, (tiles + 1) * 4) &&
                 inside(info.source, tensor.lengths, SLUICE_FLOAT_LENGTHS_SIZE) &&
                 inside(info.source, tensor.raw, rawBytes(m_layout, tensor.count)) &&
                 inside(info.destination, tensor.output, tensor.count * m_layout.bytes);
        m_complete = m_good && buildCode(m_code, pointer<const uint8_t>(tensor.lengths));
    }

    // Decodes the tile with the index `tile` of the tensor, and returns its status.
    uint32_t decode(uint32_t tile) const
    {
        if (!m_good || tile >= tileCount(m_tensor.count)) return SLUICE_ST_BAD_REGION;
        const uint32_t* index = pointer<const uint32_t>(m_tensor.index);
        const uint64_t begin = index[tile], end = index[tile + 1];
        if (begin > end || end * kUnit > m_tensor.wordsSize) return SLUICE_ST_BAD_REGION;
        if (!m_complete) return SLUICE_ST_BAD_CODE;
        const uint64_t first = uint64_t(tile) * kTile;
        const uint32_t elements = uint32_t(std::min<uint64_t>(kTile, m_tensor.count - first));
        uint8_t symbols[kTile];
        Lanes lanes(pointer<const uint8_t>(m_tensor.words) + begin * kUnit, (end - begin) * kUnit);
        if (!decodeSymbols(m_code, lanes, rowCount(elements), symbols)) return SLUICE_ST_TRUNCATED;
        const uint8_t* raw =
            pointer<const uint8_t>(m_tensor.raw) + uint64_t(tile) * rawTileBytes(m_layout);
        uint8_t* output = pointer<uint8_t>(m_tensor.output) + first * m_layout.bytes;
        const Planes planes = planesOf(m_layout, elements);
        for (uint32_t i = 0; i < elements; ++i)
            store(m_layout, symbols[i], rawBits(m_layout, planes, raw, i),
                  output + i * m_layout.bytes);
        return SLUICE_ST_OK;
    }

private:
    SluiceFloatTensor m_tensor;
    Layout m_layout = {};
    Code m_code;
    bool m_good = false;     // its arrays are aligned and inside the buffers
    bool m_complete = false; // its code is complete
};

} // namespace

SluiceStatus ReferenceBackend::cmdFloatDecode(SluiceCommands, const SluiceFloatDecodeInfo& info)
{
    StatusWords status(info.status, info.tileCount);
    status.reset();
    const SluiceFloatTensor* tensors = pointer<const SluiceFloatTensor>(info.tensors);
    for (uint32_t i = 0; i < info.tensorCount; ++i) {
        // A tensor's tiles end where the next tensor's tiles begin, even if the tensor's number of
        // elements asks for more or fewer tiles.
        const uint32_t begin = i == 0 ? 0 : std::min(tensors[i].firstTile, info.tileCount);
        const uint32_t end = i + 1 < info.tensorCount
                                 ? std::min(tensors[i + 1].firstTile, info.tileCount)
                                 : info.tileCount;
        const Tensor tensor(info, tensors[i]);
        for (uint32_t tile = begin; tile < end; ++tile)
            status.set(tile, tensor.decode(tile - tensors[i].firstTile));
    }
    return SLUICE_OK;
}

} // namespace sluice::cpu
