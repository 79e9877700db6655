// SPDX-License-Identifier: MIT OR Apache-2.0
// GDeflate 1.0, one tile at a time, written in the lane rounds of the format: every lane consumes,
// then every lane that is short refills, in lane order. A round gives tokens; those that are
// complete after it become bytes. Slow and plain on purpose; the GPU kernels are compared with it,
// statuses included.
#include <sluice/sluice_gdeflate.h>

#include "gdeflate.h"

#include "regions.h"

#include <iterator>

namespace sluice::cpu {
namespace {

constexpr u32 laneCount = SLUICE_GD_LANES;
constexpr u32 maxCodeLength = 15;
constexpr u32 endOfBlock = 256;
constexpr u32 goOn = SLUICE_ST_PENDING; // what a step returns when the tile is neither finished nor
                                        // bad

// Base value and extra bits of a length or distance symbol.
struct Range {
    uint16_t base;
    uint8_t extraBits;
};

constexpr Range lengthRanges[29] = {
    {3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
    {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
    {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {3, 16},
};

constexpr Range distanceRanges[SLUICE_GD_DIST_SYMS] = {
    {1, 0},      {2, 0},      {3, 0},      {4, 0},      {5, 1},     {7, 1},     {9, 2},
    {13, 2},     {17, 3},     {25, 3},     {33, 4},     {49, 4},    {65, 5},    {97, 5},
    {129, 6},    {193, 6},    {257, 7},    {385, 7},    {513, 8},   {769, 8},   {1025, 9},
    {1537, 9},   {2049, 10},  {3073, 10},  {4097, 11},  {6145, 11}, {8193, 12}, {12289, 12},
    {16385, 13}, {24577, 13}, {32769, 14}, {49153, 14},
};

// A literal byte, or a match.
struct Token {
    u32 length = 1;
    u32 distance = 0; // 0: a literal
    uint8_t literal = 0;
};

// A lane's own bit stream and the match that it still owes a distance for.
struct Lane {
    uint64_t bits = 0;
    u32 bitCount = 0;
    bool pending = false;
    u32 match = 0; // the pending match's token

    u32 take(u32 n)
    {
        const u32 value = u32(bits & ((uint64_t(1) << n) - 1));
        bits >>= n;
        bitCount -= n;
        return value;
    }
};

// A canonical Huffman code: the number of codewords of each length and the symbols in codeword
// order.
class Code {
public:
    // false: over-subscribed or incomplete. Two incomplete codes are allowed: one symbol of length
    // 1, which both bit values then stand for, and no symbol at all, where every bit stands for
    // symbol 0.
    bool build(const uint8_t* lengths, u32 symbolCount)
    {
        std::fill_n(count, maxCodeLength + 1, 0u);
        for (u32 i = 0; i < symbolCount; ++i)
            ++count[lengths[i]];
        const u32 used = symbolCount - count[0];
        count[0] = 0;

        u32 first[maxCodeLength + 2] = {}; // index of the first symbol of each length
        u32 codeSpace = 0;                 // in units of 2^-15
        for (u32 length = 1; length <= maxCodeLength; ++length) {
            first[length + 1] = first[length] + count[length];
            codeSpace += count[length] << (maxCodeLength - length);
        }
        for (u32 i = 0; i < symbolCount; ++i) {
            if (lengths[i] != 0) symbol[first[lengths[i]]++] = uint16_t(i);
        }
        if (codeSpace == 1u << maxCodeLength) return true;
        if (used == 0) {
            symbol[0] = 0;
        } else if (used != 1 || count[1] != 1) {
            return false;
        }
        symbol[1] = symbol[0];
        count[1] = 2;
        return true;
    }

    u32 decode(Lane& lane) const
    {
        u32 code = 0, first = 0, index = 0;
        for (u32 length = 1; length <= maxCodeLength; ++length) {
            code = code << 1 | lane.take(1);
            first <<= 1;
            if (code - first < count[length]) return symbol[index + code - first];
            first += count[length];
            index += count[length];
        }
        return 0; // not reached: the code is complete
    }

private:
    u32 count[maxCodeLength + 1] = {};
    uint16_t symbol[SLUICE_GD_LITLEN_SYMS] = {};
};

class TileDecoder {
public:
    TileDecoder(const uint8_t* compressed, size_t compressedSize, uint8_t* output,
                size_t decompressedSize)
        : source(compressed), sourceSize(compressedSize), destination(output),
          outputSize(u32(decompressedSize))
    {
    }

    u32 decode()
    {
        u32 status = refill(); // every lane is empty: lane i takes word i
        for (u32 block = 0; status == goOn; ++block) {
            if (block == SLUICE_GD_MAX_BLOCKS) return SLUICE_ST_LIMIT;
            const u32 header = lanes[0].take(3);
            status = refill();
            if (status == goOn) status = decodeBlock(header >> 1);
            if (status == goOn && (header & 1) != 0)
                return position < outputSize ? SLUICE_ST_TOO_SHORT : SLUICE_ST_OK;
        }
        return status;
    }

private:
    u32 decodeBlock(u32 type)
    {
        switch (type) {
        case 0: return storedBlock();
        case 1: setStaticCodes(); return huffmanBlock();
        case 2: {
            const u32 status = readCodes();
            return status == goOn ? huffmanBlock() : status;
        }
        default: return SLUICE_ST_BAD_CODE;
        }
    }

    // Every lane with fewer than 32 bits takes the next word.
    u32 refill()
    {
        for (Lane& lane : lanes) {
            if (lane.bitCount >= 32) continue;
            if (nextByte >= sourceSize) return SLUICE_ST_TRUNCATED;
            u32 word = 0;
            for (size_t i = 0; i < std::min<size_t>(4, sourceSize - nextByte); ++i)
                word |= u32(source[nextByte + i]) << 8 * i;
            nextByte += 4;
            lane.bits |= uint64_t(word) << lane.bitCount;
            lane.bitCount += 32;
        }
        return goOn;
    }

    // LEN and the first byte are one step of lane 0; the bytes go round all lanes.
    u32 storedBlock()
    {
        u32 left = lanes[0].take(16);
        do {
            const u32 bytes = std::min(laneCount, left);
            for (u32 i = 0; i < bytes; ++i)
                tokens[tokenCount++].literal = uint8_t(lanes[i].take(8));
            if (const u32 status = refill(); status != goOn) return status;
            if (const u32 status = expandTokens(tokenCount); status != goOn) return status;
            left -= bytes;
        } while (left != 0);
        return goOn;
    }

    void setStaticCodes()
    {
        uint8_t lengths[SLUICE_GD_LITLEN_SYMS];
        for (u32 i = 0; i < SLUICE_GD_LITLEN_SYMS; ++i)
            lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
        literalCode.build(lengths, SLUICE_GD_LITLEN_SYMS);
        std::fill_n(lengths, SLUICE_GD_DIST_SYMS, uint8_t(5));
        distanceCode.build(lengths, SLUICE_GD_DIST_SYMS);
    }

    // The header of a dynamic block. Each step refills before its bits are judged.
    u32 readCodes()
    {
        const u32 literalCount = lanes[0].take(5) + 257;
        const u32 distanceCount = lanes[0].take(5) + 1;
        const u32 precodeCount = lanes[0].take(4) + 4;
        if (const u32 status = refill(); status != goOn) return status;

        static constexpr uint8_t precodeOrder[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                     11, 4,  12, 3, 13, 2, 14, 1, 15};
        uint8_t precodeLengths[19] = {};
        for (u32 i = 0; i < precodeCount; ++i)
            precodeLengths[precodeOrder[i]] = uint8_t(lanes[i].take(3));
        if (const u32 status = refill(); status != goOn) return status;
        Code precode;
        if (!precode.build(precodeLengths, 19)) return SLUICE_ST_BAD_CODE;

        uint8_t lengths[SLUICE_GD_LITLEN_SYMS + SLUICE_GD_DIST_SYMS] = {};
        const u32 total = literalCount + distanceCount;
        for (u32 covered = 0; covered < total;) {
            bool bad = false;
            for (u32 i = 0; i < laneCount && covered < total; ++i) {
                const u32 symbol = precode.decode(lanes[i]);
                u32 run = 1;
                uint8_t length = uint8_t(symbol < 16 ? symbol : 0);
                if (symbol == 16) {
                    run = 3 + lanes[i].take(2);
                    bad = bad || covered == 0;
                    length = covered > 0 ? lengths[covered - 1] : uint8_t(0);
                } else if (symbol == 17) {
                    run = 3 + lanes[i].take(3);
                } else if (symbol == 18) {
                    run = 11 + lanes[i].take(7);
                }
                bad = bad || run > total - covered;
                run = std::min(run, total - covered);
                std::fill_n(lengths + covered, run, length);
                covered += run;
            }
            if (const u32 status = refill(); status != goOn) return status;
            if (bad) return SLUICE_ST_BAD_CODE;
        }
        if (!literalCode.build(lengths, literalCount) ||
            !distanceCode.build(lengths + literalCount, distanceCount))
            return SLUICE_ST_BAD_CODE;
        return goOn;
    }

    // Rounds until the end-of-block symbol, then one more for the distances that are still owed.
    u32 huffmanBlock()
    {
        bool ended = false;
        while (!ended) {
            if (const u32 status = huffmanRound(ended); status != goOn) return status;
        }
        return huffmanRound(ended);
    }

    // A lane with a pending match decodes its distance; any other decodes one literal/length
    // symbol, unless a lower lane or an earlier round has ended the block. A round that fails
    // leaves no token complete.
    u32 huffmanRound(bool& ended)
    {
        const u32 before = tokenCount;
        bool badCode = false, pending = false;
        for (Lane& lane : lanes) {
            if (lane.pending) {
                const Range range = distanceRanges[distanceCode.decode(lane)];
                tokens[lane.match].distance = range.base + lane.take(range.extraBits);
                lane.pending = false;
            } else if (!ended) {
                const u32 symbol = literalCode.decode(lane);
                if (symbol < endOfBlock) {
                    tokens[tokenCount++].literal = uint8_t(symbol);
                } else if (symbol == endOfBlock) {
                    ended = true;
                } else if (symbol - 257 < std::size(lengthRanges)) {
                    const Range range = lengthRanges[symbol - 257];
                    lane.pending = pending = true;
                    lane.match = tokenCount;
                    tokens[tokenCount++].length = range.base + lane.take(range.extraBits);
                } else {
                    badCode = true;
                }
            }
        }
        if (badCode) return SLUICE_ST_BAD_CODE;
        if (const u32 status = refill(); status != goOn) return status;
        return expandTokens(pending ? before : tokenCount);
    }

    // Judges the first n tokens in order and makes their bytes, up to the first bad one.
    u32 expandTokens(u32 n)
    {
        for (u32 i = 0; i < n; ++i) {
            const Token& token = tokens[i];
            if (token.distance > position) return SLUICE_ST_BAD_OFFSET;
            if (token.length > outputSize - position) return SLUICE_ST_TOO_LONG;
            // One byte after the other: a match may overlap itself.
            for (u32 k = 0; k < token.length; ++k, ++position)
                destination[position] =
                    token.distance == 0 ? token.literal : destination[position - token.distance];
        }
        // The others, of which some wait for their distances, become the first ones.
        std::copy(tokens + n, tokens + tokenCount, tokens);
        std::fill(tokens + tokenCount - n, std::end(tokens), Token{});
        for (Lane& lane : lanes)
            lane.match -= lane.pending ? n : 0;
        tokenCount -= n;
        return goOn;
    }

    const uint8_t* source;
    size_t sourceSize;
    size_t nextByte = 0;
    uint8_t* destination;
    u32 outputSize;
    Token tokens[2 * laneCount]; // of the last round, and of the one before if some waited for a
                                 // distance
    u32 tokenCount = 0;
    u32 position = 0; // in the output
    Lane lanes[laneCount];
    Code literalCode;
    Code distanceCode;
};

} // namespace

uint32_t decodeGdeflateTile(const uint8_t* source, size_t sourceSize, uint8_t* destination,
                            size_t destinationSize)
{
    return TileDecoder(source, sourceSize, destination, destinationSize).decode();
}

static u32 decodeRegion(const SluiceGdeflateInfo& info, const SluiceRegion& tile)
{
    if (!validSource(info.source, tile, SLUICE_GD_MAX_COMPRESSED) ||
        !validDestination(info, tile, SLUICE_GD_TILE_BYTES))
        return SLUICE_ST_BAD_REGION;
    const uint8_t* source = reinterpret_cast<const uint8_t*>(uintptr_t(tile.srcAddress));
    const size_t sourceSize = size_t(tile.compressedSize), size = size_t(tile.decompressedSize);
    const auto decode = [&](uint8_t* destination) -> u32 {
        if ((info.flags & SLUICE_FLAG_STORED_IF_EQUAL) == 0 || sourceSize != size)
            return decodeGdeflateTile(source, sourceSize, destination, size);
        std::copy_n(source, size, destination);
        return SLUICE_ST_OK;
    };
    if (info.rowBytes == 0) return decode(reinterpret_cast<uint8_t*>(uintptr_t(tile.dstAddress)));
    uint8_t bytes[SLUICE_GD_TILE_BYTES]; // then to the rows
    const u32 status = decode(bytes);
    if (status == SLUICE_ST_OK)
        forEachRun(info, tile, [&](uint8_t* run, size_t at, size_t count) {
            std::copy_n(bytes + at, count, run);
        });
    return status;
}

void gdeflate(const SluiceGdeflateInfo& info)
{
    StatusWords status(info.status, info.maxRegionCount);
    status.reset();
    const u32 count = regionCount(info);
    for (u32 i = 0; i < count; ++i)
        status.set(i, decodeRegion(info, region(info, i)));
}

} // namespace sluice::cpu
