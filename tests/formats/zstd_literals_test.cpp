// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests streams of literals of every length, and those that are hard for a decoder which begins in
// the middle of them: the GPU's decoder cuts each stream into parts.
#include "tests/support/devices.h"
#include "tests/support/zstd_maker.h"

using namespace sluice::test;

namespace {

// Returns a code in which lengths[i] symbols have i bits.
ZstdWeights codeOf(const std::vector<uint32_t>& lengths)
{
    ZstdWeights weights;
    for (size_t bits = 1; bits < lengths.size(); ++bits)
        weights.insert(weights.end(), lengths[bits], uint8_t(lengths.size() - bits));
    return weights;
}

// Codes of 1 bit, of 8 bits, of 1 to 11 bits, and of 7 and 11 bits.
ZstdWeights twoSymbols() { return codeOf({0, 2}); }
ZstdWeights allBytes() { return codeOf({0, 0, 0, 0, 0, 0, 0, 0, 256}); }
ZstdWeights allLengths() { return codeOf({0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}); }
// Of its codewords only those of 11 bits begin with seven zeros.
ZstdWeights sevenBits() { return codeOf({0, 0, 0, 0, 0, 0, 0, 127, 0, 0, 0, 16}); }

Bytes anyOf(const ZstdWeights& weights, size_t count, std::mt19937& random)
{
    Bytes literals(count);
    for (uint8_t& literal : literals)
        literal = uint8_t(random() % weights.size());
    return literals;
}
// Returns symbols of sevenBits() whose codewords never make seven zeros, so that a decoder that
// begins at a wrong bit finds codewords of 7 bits and never the right ones. Every `period` symbols
// there is one of 11 bits, which moves the right ones against those of the decoder.
Bytes neverMeeting(size_t count, size_t period, std::mt19937& random)
{
    Bytes literals(count);
    for (size_t i = 0; i < count; ++i) {
        uint32_t code = 0;
        while (code >> 4 == 0 || (code & 15) == 0)
            code = 1 + uint32_t(random() % 127);
        literals[i] = uint8_t(code - 1);
        if (period != 0 && i % period == period - 1) literals[i] = uint8_t(127 + random() % 16);
    }
    return literals;
}

// Returns a frame whose block has these streams; each holds the literals that `streams` says, right
// or wrong, and `count` is how many the header says that there are.
Bytes frameOf(const ZstdWeights& weights, const std::vector<Bytes>& streams, size_t count)
{
    ZstdMaker maker;
    ZstdBlockParts parts = maker.parts({}, {});
    parts.tree = zstdTree(weights, weights.size() <= 128);
    if (parts.tree.empty()) parts.tree = zstdTree(weights, false);
    for (size_t i = 0; i < streams.size(); ++i) {
        if (i + 1 < streams.size()) appendLe(parts.jumps, streams[i].size(), 2);
        append(parts.streams, streams[i]);
    }
    parts.literalsHeader =
        zstdLiteralsHeader(SLUICE_ZS_LITERALS_HUFFMAN, streams.size() == 1 ? 0 : 3, count,
                           parts.tree.size() + parts.jumps.size() + parts.streams.size());
    maker.add(SLUICE_ZS_COMPRESSED, parts.joined());
    return maker.frame();
}
// Returns the parts of the literals that each of the streams has.
std::vector<Bytes> sharesOf(const Bytes& literals, size_t streams)
{
    const size_t share = (literals.size() + streams - 1) / streams;
    std::vector<Bytes> shares;
    for (size_t i = 0; i < streams; ++i)
        shares.emplace_back(literals.begin() + ptrdiff_t(std::min(i * share, literals.size())),
                            literals.begin() +
                                ptrdiff_t(std::min((i + 1) * share, literals.size())));
    return shares;
}
std::vector<Bytes> coded(const ZstdWeights& weights, const std::vector<Bytes>& shares)
{
    std::vector<Bytes> streams;
    for (const Bytes& share : shares)
        streams.push_back(zstdStream(weights, share.data(), share.size()));
    return streams;
}

void checkLiterals(const ZstdWeights& weights, const Bytes& literals, uint32_t streams)
{
    const Bytes frame =
        frameOf(weights, coded(weights, sharesOf(literals, streams)), literals.size());
    checkZstd(frame, literals);
    const LibzstdDecoded theirs = decodeByLibzstd(frame, literals.size());
    CHECK(theirs.error == ZSTD_error_no_error);
    CHECK((theirs.bytes == literals));
}

} // namespace

ZSTD_TEST_CASE("zstd literals: streams of every small number of symbols, and of 1,023")
{
    std::mt19937 random = makeRandom(910);
    for (const ZstdWeights& weights : {twoSymbols(), allBytes(), allLengths(), sevenBits()}) {
        for (const size_t count :
             {1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 500, 1023}) {
            CAPTURE(count);
            const Bytes literals = anyOf(weights, count, random);
            if (zstdStream(weights, literals.data(), count).size() < 900) // the header has 10 bits
                checkLiterals(weights, literals, 1);
            for (const size_t less : {0, 1, 2, 3})
                if (4 * count - less >= SLUICE_ZS_FOUR_STREAMS_LITERALS)
                    checkLiterals(weights, anyOf(weights, 4 * count - less, random), 4);
        }
    }
}

ZSTD_TEST_CASE("zstd literals: codewords that a decoder in the middle finds late or never")
{
    std::mt19937 random = makeRandom(911);
    for (const size_t period : {0, 1, 2, 10, 50, 200, 500, 700, 1300, 3000}) {
        CAPTURE(period);
        checkLiterals(sevenBits(), neverMeeting(600, period, random), 1);
        checkLiterals(sevenBits(), neverMeeting(16001, period, random), 4);
    }
    // Only one of the streams is such.
    for (size_t which = 0; which < 4; ++which) {
        Bytes literals = anyOf(sevenBits(), 8000, random);
        const Bytes some = neverMeeting(2000, 0, random);
        std::copy(some.begin(), some.end(), literals.begin() + ptrdiff_t(2000 * which));
        checkLiterals(sevenBits(), literals, 4);
    }
}

ZSTD_TEST_CASE("zstd literals: codewords that all end where a part begins, and none")
{
    std::mt19937 random = makeRandom(912);
    for (const size_t count : {512, 600, 1021, 4096, 4100, 8192}) {
        CAPTURE(count);
        checkLiterals(allBytes(), anyOf(allBytes(), count, random), 4);
        checkLiterals(twoSymbols(), anyOf(twoSymbols(), 4 * count, random), 4);
        checkLiterals(allLengths(), Bytes(count, 10), 4); // 11 bits
    }
    checkLiterals(twoSymbols(), anyOf(twoSymbols(), 1023, random), 1);
    checkLiterals(allLengths(), Bytes(700, 10), 1);
}

ZSTD_TEST_CASE("zstd literals: nearly all symbols of a stream in a small part of its bits")
{
    for (const size_t rare : {0, 30, 100, 300, 1000}) {
        for (const bool first : {false, true}) {
            Bytes literals(4000, 0); // codewords of 1 bit
            std::fill_n(first ? literals.begin() : literals.end() - ptrdiff_t(rare), rare,
                        uint8_t(11)); // and of 11 bits
            checkLiterals(allLengths(), literals, 4);
            Bytes each; // now for each of four streams
            for (uint32_t i = 0; i < 4; ++i)
                append(each, literals);
            checkLiterals(allLengths(), each, 4);
            literals.resize(1000);
            if (rare <= 300) checkLiterals(allLengths(), literals, 1);
        }
    }
}

ZSTD_TEST_CASE("zstd literals: 131,072 in four streams")
{
    std::mt19937 random = makeRandom(913);
    checkLiterals(sevenBits(), neverMeeting(SLUICE_ZS_BLOCK_BYTES, 0, random), 4);
    Bytes literals(SLUICE_ZS_BLOCK_BYTES);
    for (uint8_t& literal : literals) // as often as the code says
        literal = uint8_t(
            std::min<uint32_t>(11, sluice::floorLog2(~0u / std::max(1u, uint32_t(random())))));
    checkLiterals(allLengths(), literals, 4);
}

ZSTD_TEST_CASE("zstd literals: a stream with a symbol or a bit more or less, or another bit")
{
    std::mt19937 random = makeRandom(914);
    for (const ZstdWeights& weights : {twoSymbols(), allBytes(), allLengths(), sevenBits()}) {
        for (const uint32_t streams : {1u, 4u}) {
            for (const size_t count : {8, 60, 800, 6000}) {
                if (streams == 1 && count > 800) continue;
                const Bytes literals = anyOf(weights, count, random);
                const std::vector<Bytes> shares = sharesOf(literals, streams),
                                         right = coded(weights, shares);
                for (uint32_t which = 0; which < streams; ++which) {
                    CAPTURE(count);
                    CAPTURE(which);
                    std::vector<Bytes> more = shares, less = shares, bit = right, none = right;
                    more[which].push_back(literals[0]);
                    less[which].pop_back();
                    for (const std::vector<Bytes>& wrong : {more, less})
                        CHECK(zstdStatus(frameOf(weights, coded(weights, wrong), count), count) ==
                              SLUICE_TILE_BAD_CODE);
                    // The mark of the end moves by one bit. Another bit may give other literals.
                    uint8_t& last = bit[which].back();
                    if (last < 128) {
                        last = uint8_t(2 * last);
                        zstdStatus(frameOf(weights, bit, count), count);
                    }
                    bit = right;
                    bit[which].push_back(1); // 8 bits more or fewer
                    zstdStatus(frameOf(weights, bit, count), count);
                    bit = right;
                    bit[which][random() % bit[which].size()] ^= uint8_t(1 << random() % 7);
                    zstdStatus(frameOf(weights, bit, count), count);
                    none[which].back() = 0; // there is no mark
                    CHECK(zstdStatus(frameOf(weights, none, count), count) == SLUICE_TILE_BAD_CODE);
                }
            }
        }
    }
}
