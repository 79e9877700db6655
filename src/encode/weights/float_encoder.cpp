// SPDX-License-Identifier: MIT OR Apache-2.0
// The float codec: histogram, code lengths, tiles, raw planes (docs/format.md).
#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>

#include "formats/float_format.h"
#include "formats/little_endian.h"
#include "encode/gdeflate/gdeflate_huffman.h"
#include "encode/histogram.h"

#include <type_traits>

using namespace sluice;
using namespace sluice::floats;

namespace {

// The elements of a tensor of one type.
template <u32 Type>
struct Elements {
    static constexpr Layout kLayout = layoutOf(Type);
    using Value = std::conditional_t<kLayout.bytes == 1, u8,
                                     std::conditional_t<kLayout.bytes == 2, u16, u32>>;

    const u8* bytes;

    u32 at(u64 index) const
    {
        Value value;
        std::memcpy(&value, bytes + index * sizeof value, sizeof value);
        return value; // little-endian, like all machines that sluice runs on
    }
    u32 symbol(u64 index) const
    {
        return at(index) >> kLayout.mantissaBits & ((1u << kLayout.exponentBits) - 1);
    }
    u32 raw(u64 index) const
    {
        const u32 value = at(index), mantissa = value & ((1u << kLayout.mantissaBits) - 1);
        return mantissa | value >> (kLayout.mantissaBits + kLayout.exponentBits)
                                       << kLayout.mantissaBits;
    }
};

// Calls visit with the Elements of `type`, a valid one.
template <typename Visit>
void visitElements(u32 type, const void* elements, Visit visit)
{
    const u8* bytes = static_cast<const u8*>(elements);
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
    u8 length[256];
    u16 bits[256];

    explicit Code(const u8* packed)
    {
        for (u32 symbol = 0; symbol < 256; ++symbol)
            length[symbol] = u8(codeLength(packed, symbol));
        gdeflate::assignCanonicalCodes(length, 256, bits);
    }
};

// Writes the words of a tile in the order in which the lanes take them.
class TileWriter {
public:
    TileWriter(const Code& code, const u8* symbols, u32 rows, u32* to)
        : m_code(code), m_symbols(symbols), m_rows(rows), m_whole(wholeRows(rows)), m_out(to)
    {
    }

    // Returns how many words there are, an even number.
    u32 write()
    {
        for (u32 lane = 0; lane < kLanes; ++lane)
            fill(lane);
        if (m_whole != 0) writeWhole();
        u16 halves[kLanes * kTailRows * kPerLane + 1];
        u32 count = 0;
        for (u32 row = m_whole; row < m_rows; ++row)
            count = writeTail(row, halves, count);
        if (count % 2 != 0) halves[count++] = 0;
        for (u32 i = 0; i < count; i += 2)
            *m_out++ = halves[i] | u32(halves[i + 1]) << 16;
        if ((m_out - m_begin) % 2 != 0) *m_out++ = 0;
        return u32(m_out - m_begin);
    }

private:
    // The codes that a lane decodes in a row before the tail.
    struct LaneRow {
        u8 half[2];          // by two look-ups
        u8 single[kLookUps]; // of symbols that remain, 0 if there is none
    };
    static constexpr u32 kLaneWords = kTile / kLanes * kMaxBits / kWordBits + 4;

    // Turns a lane's codes into words, followed by zeros for the words that it may take beyond its
    // last codes.
    void fill(u32 lane)
    {
        u32* to = m_words[lane];
        u64 bits = 0; // the low `count`, fewer than 32, are not written yet
        u32 count = 0;
        for (u32 row = 0; row < m_rows; ++row) {
            const u8* at = m_symbols + row * kRow + lane * kPerLane;
            u8 lengths[kPerLane];
            u32 isShort = 0;
            for (u32 k = 0; k < kPerLane; k += 2) {
                const u32 second = m_code.length[at[k + 1]], both = m_code.length[at[k]] + second;
                lengths[k] = u8(both - second);
                lengths[k + 1] = u8(second);
                isShort |= both > kMaxBits;
                bits = bits << both | u64(m_code.bits[at[k]]) << second | m_code.bits[at[k + 1]];
                count += both;
                if (count >= kWordBits) *to++ = u32(bits >> (count -= kWordBits));
            }
            if (row >= m_whole) continue;
            LaneRow& one = m_laneRows[row][lane];
            if (isShort == 0) {
                one = {{u8(lengths[0] + lengths[1] + lengths[2] + lengths[3]),
                        u8(lengths[4] + lengths[5] + lengths[6] + lengths[7])},
                       {}};
                continue;
            }
            one = {};
            u32 done = 0;
            for (u32 i = 0; i < kLookUps; ++i)
                one.half[i / 2] = u8(one.half[i / 2] + lookUp(lengths, done).bitCount);
            m_singleRounds[row] = std::max(m_singleRounds[row], u8(kPerLane - done));
            for (u32 i = 0; done < kPerLane; ++i)
                one.single[i] = lengths[done++];
        }
        *to++ = u32(bits << (kWordBits - count));
        to[0] = to[1] = 0;
    }

    // A look-up decodes one symbol, or two if both codes have at most 12 bits together.
    struct Found {
        u32 bitCount; // of the symbols
        u32 needed;   // bits that the decoder must have to know this
    };
    static Found lookUp(const u8* lengths, u32& done)
    {
        const u32 first = lengths[done], both = first + lengths[done + 1];
        done += both <= kMaxBits ? 2 : 1;
        return {both <= kMaxBits ? both : first, std::min(both, kMaxBits)};
    }

    void writeWhole()
    {
        for (u32 lane = 0; lane < kLanes; ++lane) {
            for (u32 i = 0; i < 2; ++i)
                *m_out++ = m_words[lane][i];
            m_taken[lane] = 2;
            m_available[lane] = 2 * kWordBits;
        }
        for (u32 row = 0; row < m_whole; ++row) {
            const LaneRow* lanes = m_laneRows[row];
            for (u32 half = 0; half < 2; ++half)
                for (u32 lane = 0; lane < kLanes; ++lane)
                    takeAndUse(lane, lanes[lane].half[half]);
            for (u32 round = 0; round < m_singleRounds[row]; ++round)
                for (u32 lane = 0; lane < kLanes; ++lane)
                    takeAndUse(lane, lanes[lane].single[round]);
        }
    }

    // A lane takes a word if it has used one up. There is no branch, since it could not be
    // predicted.
    void takeAndUse(u32 lane, u32 bitCount)
    {
        const u32 takes = m_available[lane] <= kWordBits ? 1 : 0;
        *m_out = m_words[lane][m_taken[lane]]; // overwritten if it is not taken
        m_out += takes;
        m_taken[lane] += takes;
        m_available[lane] += takes * kWordBits - bitCount;
    }

    // Writes a row of the tail, whose words have 16 bits; there are `count` of them already.
    u32 writeTail(u32 row, u16* halves, u32 count)
    {
        u8 lengths[kLanes][kPerLane];
        u32 done[kLanes] = {}; // symbols
        for (u32 i = 0; i < kRow; ++i)
            lengths[i / kPerLane][i % kPerLane] = m_code.length[m_symbols[row * kRow + i]];
        const auto use = [&](u32 lane, const Found& found) {
            if (m_available[lane] < found.needed) {
                const u32 half = m_halvesTaken[lane]++;
                halves[count++] =
                    u16(m_words[lane][m_taken[lane] + half / 2] >> (half % 2 == 0 ? 16 : 0));
                m_available[lane] += kTailWordBits;
            }
            m_available[lane] -= found.bitCount;
        };
        for (u32 i = 0; i < kLookUps; ++i)
            for (u32 lane = 0; lane < kLanes; ++lane)
                use(lane, lookUp(lengths[lane], done[lane]));
        for (u32 round = 0; round < kLookUps; ++round) {
            for (u32 lane = 0; lane < kLanes; ++lane) {
                if (done[lane] == kPerLane) continue;
                const u32 length = lengths[lane][done[lane]++];
                use(lane, {length, length});
            }
        }
        return count;
    }

    const Code& m_code;
    const u8* m_symbols;
    u32 m_rows, m_whole;
    u32 *m_out, *m_begin = m_out;
    u32 m_words[kLanes][kLaneWords]; // in the order in which each lane takes them
    u32 m_taken[kLanes] = {}, m_halvesTaken[kLanes] = {};
    u32 m_available[kLanes] = {}; // bits of taken words that no code has used
    LaneRow m_laneRows[kTile / kRow][kLanes];
    u8 m_singleRounds[kTile / kRow] = {}; // of symbols that remain after the look-ups
};

} // namespace

SluiceStatus sluiceFloatCountSymbols(u32 type, const void* elements, u64 count, u64 histogram[256])
{
    if (type >= SLUICE_FLOAT_TYPE_COUNT || histogram == nullptr ||
        (elements == nullptr && count != 0))
        return SLUICE_ERROR_ARGUMENT;
    visitElements(type, elements, [&](auto values) {
        addSymbols(count, histogram, [&](u64 i) { return values.symbol(i); });
    });
    return SLUICE_OK;
}

SluiceStatus sluiceFloatCodeLengths(const uint64_t histogram[256],
                                    uint8_t lengths[SLUICE_FLOAT_LENGTHS_SIZE])
{
    if (histogram == nullptr || lengths == nullptr) return SLUICE_ERROR_ARGUMENT;
    u64 counts[256];
    std::copy_n(histogram, 256, counts);
    if (*std::max_element(counts, counts + 256) == 0) return SLUICE_ERROR_ARGUMENT;
    u8 unpacked[256];
    gdeflate::buildLimitedCodeLengths(counts, kMaxBits, unpacked);
    for (u32 i = 0; i < SLUICE_FLOAT_LENGTHS_SIZE; ++i)
        lengths[i] = u8(unpacked[2 * i] | unpacked[2 * i + 1] << 4);
    return SLUICE_OK;
}

SluiceStatus sluiceFloatEncodeTile(u32 type, const u8 lengths[SLUICE_FLOAT_LENGTHS_SIZE],
                                   const void* elements, u32 count, u32* words, u32 capacity,
                                   u32* wordCount)
{
    if (type >= SLUICE_FLOAT_TYPE_COUNT || lengths == nullptr || elements == nullptr ||
        count == 0 || count > kTile || words == nullptr || wordCount == nullptr)
        return SLUICE_ERROR_ARGUMENT;
    const Code code(lengths);
    // Places of the last row without an element get the shortest code.
    u32 shortest = 256;
    for (u32 i = 0; i < 256; ++i)
        if (code.length[i] != 0 && (shortest == 256 || code.length[i] < code.length[shortest]))
            shortest = i;
    if (shortest == 256) return SLUICE_ERROR_ARGUMENT;
    u8 symbols[kTile];
    const u32 rows = rowCount(count);
    bool known = true;
    visitElements(type, elements, [&](auto values) {
        for (u32 i = 0; i < count; ++i)
            symbols[i] = u8(values.symbol(i));
    });
    for (u32 i = 0; i < count; ++i)
        known = known && code.length[symbols[i]] - 1u < kMaxBits;
    if (!known) return SLUICE_ERROR_ARGUMENT;
    std::fill(symbols + count, symbols + rows * kRow, u8(shortest));

    u32 written[SLUICE_FLOAT_TILE_BOUND];
    *wordCount = TileWriter(code, symbols, rows, written).write();
    if (*wordCount > capacity) return SLUICE_ERROR_BUFFER_SIZE;
    std::copy(written, written + *wordCount, words);
    return SLUICE_OK;
}

SluiceStatus sluiceFloatPackRaw(u32 type, u64 total, const void* elements, u64 first, u64 count,
                                void* raw)
{
    if (type >= SLUICE_FLOAT_TYPE_COUNT || total > kMaxCount || first > total ||
        count > total - first || first % 8 != 0 || (count % 8 != 0 && first + count != total) ||
        (count != 0 && elements == nullptr))
        return SLUICE_ERROR_ARGUMENT;
    if (layoutOf(type).rawBits() == 0 || count == 0) return SLUICE_OK;
    if (raw == nullptr) return SLUICE_ERROR_ARGUMENT;
    visitElements(type, elements, [&](auto values) {
        constexpr Layout layout = decltype(values)::kLayout;
        constexpr u32 width = layout.planeBits(), above = layout.rawBits() - width;
        for (u64 i = 0; i < count;) { // in each pass the elements of one tile
            const u64 tile = (first + i) / kTile;
            const u32 at = u32((first + i) % kTile),
                      size = u32(std::min<u64>(kTile, total - tile * kTile));
            const u32 part = u32(std::min<u64>(size - at, count - i));
            const Planes planes = planesOf(layout, size);
            u8* bytes = static_cast<u8*>(raw) + tile * rawTileBytes(layout);
            for (u32 k = 0; layout.hasWords() && k < part; ++k) {
                const u16 low = u16(values.raw(i + k));
                std::memcpy(bytes + 2 * (at + k), &low, 2);
            }
            for (u32 k = 0; layout.hasBytes() && k < part; ++k)
                bytes[planes.bytes + at + k] =
                    u8(values.raw(i + k) >> (layout.hasWords() ? 16 : 0));
            for (u32 group = 0; width != 0 && group < divideUp(part, 8u); ++group) {
                u32 bits = 0;
                for (u32 k = 0; k < std::min(8u, part - 8 * group); ++k)
                    bits |= values.raw(i + 8 * group + k) >> above << width * k;
                for (u32 k = 0; k < width; ++k)
                    bytes[planes.bits + (at / 8 + group) * width + k] = u8(bits >> 8 * k);
            }
            i += part;
        }
    });
    return SLUICE_OK;
}
