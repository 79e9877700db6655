// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes the float codec (docs/format.md, 6). A symbol is the coded part of an element, mostly its
// exponent; the raw bits are the rest. 32 lanes decode a tile: in each row of 256 elements a lane
// decodes 8 consecutive ones, by four look-ups that find one or two symbols each. In the last two
// rows, the tail, lanes take words of 16 bits; in all rows before, they take words of 32 bits.
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

// Gives access to the elements of a tensor, whose type is a template parameter.
template <uint32_t Type>
struct Elements {
    static constexpr Layout kLayout = layoutOf(Type);
    using Value = std::conditional_t<kLayout.bytes == 1, uint8_t,
                                     std::conditional_t<kLayout.bytes == 2, uint16_t, uint32_t>>;

    const uint8_t* bytes;

    uint32_t at(uint64_t index) const
    {
        Value value;
        std::memcpy(&value, bytes + index * sizeof value, sizeof value);
        return value; // all machines that sluice runs on are little-endian
    }
    uint32_t symbol(uint64_t index) const
    {
        return at(index) >> kLayout.mantissaBits & ((1u << kLayout.exponentBits) - 1);
    }
    uint32_t raw(uint64_t index) const
    {
        const uint32_t value = at(index), mantissa = value & ((1u << kLayout.mantissaBits) - 1);
        return mantissa | value >> (kLayout.mantissaBits + kLayout.exponentBits)
                                       << kLayout.mantissaBits;
    }
};

// Calls visit with the Elements of `type`, which must be valid.
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

    explicit Code(const uint8_t* packed)
    {
        for (uint32_t symbol = 0; symbol < 256; ++symbol)
            length[symbol] = uint8_t(codeLength(packed, symbol));
        gdeflate::assignCanonicalCodes(length, 256, bits);
    }
};

// Writes the words of a tile in the order in which the decoder's lanes take them.
class TileWriter {
public:
    TileWriter(const Code& code, const uint8_t* symbols, uint32_t rows, uint32_t* to)
        : m_code(code), m_symbols(symbols), m_rows(rows), m_whole(wholeRows(rows)), m_out(to)
    {
    }

    // Returns the number of words written, which is even.
    uint32_t write()
    {
        for (uint32_t lane = 0; lane < kLanes; ++lane)
            fill(lane);
        if (m_whole != 0) writeWhole();
        uint16_t halves[kLanes * kTailRows * kPerLane + 1];
        uint32_t count = 0;
        for (uint32_t row = m_whole; row < m_rows; ++row)
            count = writeTail(row, halves, count);
        if (count % 2 != 0) halves[count++] = 0;
        for (uint32_t i = 0; i < count; i += 2)
            *m_out++ = halves[i] | uint32_t(halves[i + 1]) << 16;
        if ((m_out - m_begin) % 2 != 0) *m_out++ = 0;
        return uint32_t(m_out - m_begin);
    }

private:
    // How many bits a lane uses for its 8 symbols of one row. In each row of all but the last few
    // (the tail), it makes four look-ups, and then reads the symbols that are left one by one.
    struct LaneRow {
        uint8_t half[2];          // bits of look-ups 0 and 1 together, and of 2 and 3 together
        uint8_t single[kLookUps]; // bits of each symbol that these look-ups leave; 0: none
    };
    static constexpr uint32_t kLaneWords = kTile / kLanes * kMaxBits / kWordBits + 4;

    // Turns all codes of a lane into one sequence of words. Zeros follow, since a decoding lane may
    // take up to two words more than its codes fill.
    void fill(uint32_t lane)
    {
        uint32_t* to = m_words[lane];
        uint64_t bits = 0; // the low `count` bits, fewer than 32, are not written yet
        uint32_t count = 0;
        for (uint32_t row = 0; row < m_rows; ++row) {
            const uint8_t* at = m_symbols + row * kRow + lane * kPerLane;
            uint8_t lengths[kPerLane];
            uint32_t isShort = 0;
            for (uint32_t k = 0; k < kPerLane; k += 2) {
                const uint32_t second = m_code.length[at[k + 1]],
                               both = m_code.length[at[k]] + second;
                lengths[k] = uint8_t(both - second);
                lengths[k + 1] = uint8_t(second);
                isShort |= both > kMaxBits;
                bits =
                    bits << both | uint64_t(m_code.bits[at[k]]) << second | m_code.bits[at[k + 1]];
                count += both;
                if (count >= kWordBits) *to++ = uint32_t(bits >> (count -= kWordBits));
            }
            if (row >= m_whole) continue;
            LaneRow& one = m_laneRows[row][lane];
            if (isShort == 0) {
                one = {{uint8_t(lengths[0] + lengths[1] + lengths[2] + lengths[3]),
                        uint8_t(lengths[4] + lengths[5] + lengths[6] + lengths[7])},
                       {}};
                continue;
            }
            one = {};
            uint32_t done = 0;
            for (uint32_t i = 0; i < kLookUps; ++i)
                one.half[i / 2] = uint8_t(one.half[i / 2] + lookUp(lengths, done).bitCount);
            m_singleRounds[row] = std::max(m_singleRounds[row], uint8_t(kPerLane - done));
            for (uint32_t i = 0; done < kPerLane; ++i)
                one.single[i] = lengths[done++];
        }
        *to++ = uint32_t(bits << (kWordBits - count));
        to[0] = to[1] = 0;
    }

    // Holds what one look-up finds: two symbols if their codes together have at most kMaxBits bits,
    // otherwise one symbol.
    struct Found {
        uint32_t bitCount; // bits of the codes found
        uint32_t needed;   // bits that the decoder must hold for this look-up
    };
    static Found lookUp(const uint8_t* lengths, uint32_t& done)
    {
        const uint32_t first = lengths[done], both = first + lengths[done + 1];
        done += both <= kMaxBits ? 2 : 1;
        return {both <= kMaxBits ? both : first, std::min(both, kMaxBits)};
    }

    void writeWhole()
    {
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
            for (uint32_t i = 0; i < 2; ++i)
                *m_out++ = m_words[lane][i];
            m_taken[lane] = 2;
            m_available[lane] = 2 * kWordBits;
        }
        for (uint32_t row = 0; row < m_whole; ++row) {
            const LaneRow* lanes = m_laneRows[row];
            for (uint32_t half = 0; half < 2; ++half)
                for (uint32_t lane = 0; lane < kLanes; ++lane)
                    takeAndUse(lane, lanes[lane].half[half]);
            for (uint32_t round = 0; round < m_singleRounds[row]; ++round)
                for (uint32_t lane = 0; lane < kLanes; ++lane)
                    takeAndUse(lane, lanes[lane].single[round]);
        }
    }

    // Lets a lane use `bitCount` bits. The lane takes its next word if it has at most kWordBits
    // bits. There is no branch, because a CPU could not predict whether a word is taken.
    void takeAndUse(uint32_t lane, uint32_t bitCount)
    {
        const uint32_t takes = m_available[lane] <= kWordBits ? 1 : 0;
        // Write the word even if the lane does not take it. Then the next word that is written
        // replaces it.
        *m_out = m_words[lane][m_taken[lane]];
        m_out += takes;
        m_taken[lane] += takes;
        m_available[lane] += takes * kWordBits - bitCount;
    }

    // In the last rows of a tile (the tail), lanes take words of 16 bits. Writes those of one row
    // to `halves`, after the `count` words that it already holds. Returns the new count.
    uint32_t writeTail(uint32_t row, uint16_t* halves, uint32_t count)
    {
        uint8_t lengths[kLanes][kPerLane];
        uint32_t done[kLanes] = {}; // symbols decoded so far
        for (uint32_t i = 0; i < kRow; ++i)
            lengths[i / kPerLane][i % kPerLane] = m_code.length[m_symbols[row * kRow + i]];
        const auto use = [&](uint32_t lane, const Found& found) {
            if (m_available[lane] < found.needed) {
                const uint32_t half = m_halvesTaken[lane]++;
                halves[count++] =
                    uint16_t(m_words[lane][m_taken[lane] + half / 2] >> (half % 2 == 0 ? 16 : 0));
                m_available[lane] += kTailWordBits;
            }
            m_available[lane] -= found.bitCount;
        };
        for (uint32_t i = 0; i < kLookUps; ++i)
            for (uint32_t lane = 0; lane < kLanes; ++lane)
                use(lane, lookUp(lengths[lane], done[lane]));
        for (uint32_t round = 0; round < kLookUps; ++round) {
            for (uint32_t lane = 0; lane < kLanes; ++lane) {
                if (done[lane] == kPerLane) continue;
                const uint32_t length = lengths[lane][done[lane]++];
                use(lane, {length, length});
            }
        }
        return count;
    }

    const Code& m_code;
    const uint8_t* m_symbols;
    uint32_t m_rows, m_whole;
    uint32_t *m_out, *m_begin = m_out;
    uint32_t m_words[kLanes][kLaneWords]; // each lane's words in order
    uint32_t m_taken[kLanes] = {}, m_halvesTaken[kLanes] = {};
    uint32_t m_available[kLanes] = {}; // bits of taken words that no code has used
    LaneRow m_laneRows[kTile / kRow][kLanes];
    uint8_t m_singleRounds[kTile / kRow] = {}; // by row: the most symbols left to one lane
};

} // namespace

SluiceStatus sluiceFloatCountSymbols(uint32_t type, const void* elements, uint64_t count,
                                     uint64_t histogram[256])
{
    if (type >= SLUICE_FLOAT_TYPE_COUNT || histogram == nullptr ||
        (elements == nullptr && count != 0))
        return SLUICE_ERROR_ARGUMENT;
    visitElements(type, elements, [&](auto values) {
        addSymbols(count, histogram, [&](uint64_t i) { return values.symbol(i); });
    });
    return SLUICE_OK;
}

SluiceStatus sluiceFloatCodeLengths(const uint64_t histogram[256],
                                    uint8_t lengths[SLUICE_FLOAT_LENGTHS_SIZE])
{
    if (histogram == nullptr || lengths == nullptr) return SLUICE_ERROR_ARGUMENT;
    uint64_t counts[256];
    std::copy_n(histogram, 256, counts);
    if (*std::max_element(counts, counts + 256) == 0) return SLUICE_ERROR_ARGUMENT;
    uint8_t unpacked[256];
    gdeflate::buildLimitedCodeLengths(counts, kMaxBits, unpacked);
    for (uint32_t i = 0; i < SLUICE_FLOAT_LENGTHS_SIZE; ++i)
        lengths[i] = uint8_t(unpacked[2 * i] | unpacked[2 * i + 1] << 4);
    return SLUICE_OK;
}

SluiceStatus sluiceFloatEncodeTile(uint32_t type, const uint8_t lengths[SLUICE_FLOAT_LENGTHS_SIZE],
                                   const void* elements, uint32_t count, uint32_t* words,
                                   uint32_t capacity, uint32_t* wordCount)
{
    if (type >= SLUICE_FLOAT_TYPE_COUNT || lengths == nullptr || elements == nullptr ||
        count == 0 || count > kTile || words == nullptr || wordCount == nullptr)
        return SLUICE_ERROR_ARGUMENT;
    const Code code(lengths);
    // The last row may be incomplete. Its empty places get the symbol with the shortest code.
    uint32_t shortest = 256;
    for (uint32_t i = 0; i < 256; ++i)
        if (code.length[i] != 0 && (shortest == 256 || code.length[i] < code.length[shortest]))
            shortest = i;
    if (shortest == 256) return SLUICE_ERROR_ARGUMENT;
    uint8_t symbols[kTile];
    const uint32_t rows = rowCount(count);
    bool known = true;
    visitElements(type, elements, [&](auto values) {
        for (uint32_t i = 0; i < count; ++i)
            symbols[i] = uint8_t(values.symbol(i));
    });
    for (uint32_t i = 0; i < count; ++i)
        known = known && code.length[symbols[i]] - 1u < kMaxBits;
    if (!known) return SLUICE_ERROR_ARGUMENT;
    std::fill(symbols + count, symbols + rows * kRow, uint8_t(shortest));

    uint32_t written[SLUICE_FLOAT_TILE_BOUND];
    *wordCount = TileWriter(code, symbols, rows, written).write();
    if (*wordCount > capacity) return SLUICE_ERROR_BUFFER_SIZE;
    std::copy(written, written + *wordCount, words);
    return SLUICE_OK;
}

SluiceStatus sluiceFloatPackRaw(uint32_t type, uint64_t total, const void* elements, uint64_t first,
                                uint64_t count, void* raw)
{
    if (type >= SLUICE_FLOAT_TYPE_COUNT || total > kMaxCount || first > total ||
        count > total - first || first % 8 != 0 || (count % 8 != 0 && first + count != total) ||
        (count != 0 && elements == nullptr))
        return SLUICE_ERROR_ARGUMENT;
    if (layoutOf(type).rawBits() == 0 || count == 0) return SLUICE_OK;
    if (raw == nullptr) return SLUICE_ERROR_ARGUMENT;
    visitElements(type, elements, [&](auto values) {
        constexpr Layout layout = decltype(values)::kLayout;
        // The lowest `above` raw bits of each element go into planes (arrays) of words and bytes,
        // the `width` bits above them into a plane of bits.
        constexpr uint32_t width = layout.planeBits(), above = layout.rawBits() - width;
        for (uint64_t i = 0; i < count;) { // in each pass the elements of one tile
            const uint64_t tile = (first + i) / kTile;
            const uint32_t at = uint32_t((first + i) % kTile),
                           size = uint32_t(std::min<uint64_t>(kTile, total - tile * kTile));
            const uint32_t part = uint32_t(std::min<uint64_t>(size - at, count - i));
            const Planes planes = planesOf(layout, size);
            uint8_t* bytes = static_cast<uint8_t*>(raw) + tile * rawTileBytes(layout);
            for (uint32_t k = 0; layout.hasWords() && k < part; ++k) {
                const uint16_t low = uint16_t(values.raw(i + k));
                std::memcpy(bytes + 2 * (at + k), &low, 2);
            }
            for (uint32_t k = 0; layout.hasBytes() && k < part; ++k)
                bytes[planes.bytes + at + k] =
                    uint8_t(values.raw(i + k) >> (layout.hasWords() ? 16 : 0));
            for (uint32_t group = 0; width != 0 && group < divideUp(part, 8u); ++group) {
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
