// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the encoder for DFloat11 and ECF8: codes keep the limits of the kernels that read them, and
// units decode to what was encoded.
#include <sluice/sluice_df11.h>

#include "tests/support/df11_units.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>

#include "encode/weights/df11_encoder.h"
#include "formats/archive_layout.h"

using namespace sluice;
using namespace sluice::test;

namespace {

struct Packed {
    Df11Code code;
    Df11Tensors tensors;
    uint32_t maxBlockElements = 0;
};

// Encodes in pieces of random size, as when a file is read.
Packed pack(SluiceDf11Kind kind, const Bytes& elements, uint32_t minLength, std::mt19937& random)
{
    const uint64_t size = kind == SLUICE_DF11_BF16 ? 2 : 1, count = elements.size() / size;
    uint64_t histogram[256] = {};
    countDf11Symbols(kind, elements.data(), count, histogram);
    Packed packed;
    REQUIRE(makeDf11Code(kind, histogram, minLength, packed.code));
    const Df11Sizes sizes = df11Sizes(kind, histogram, packed.code);
    Df11Encoder encoder(kind, packed.code);
    Df11Tensors& unit = packed.tensors;
    const auto take = [&] {
        const auto move = [](Bytes& from, Bytes& to) {
            to.insert(to.end(), from.begin(), from.end());
            from.clear();
        };
        move(encoder.encoded, unit.encoded);
        move(encoder.signMantissa, unit.signMantissa);
        move(encoder.positions, unit.outputPositions);
        move(encoder.gaps, unit.gaps);
    };
    for (uint64_t at = 0; at < count;) {
        const uint64_t piece =
            std::min<uint64_t>(count - at, random() % 2 != 0 ? 1 + random() % 9 : random() % 40000);
        encoder.add(elements.data() + at * size, piece);
        at += piece;
        if (random() % 2 != 0) take();
    }
    encoder.finish();
    take();
    packed.maxBlockElements = encoder.maxBlockElements();
    unit.kind = kind;
    unit.elementCount = uint32_t(count);
    unit.luts = packed.code.luts;
    unit.expected = elements;
    CHECK(unit.encoded.size() == sizes.encoded);
    CHECK(unit.signMantissa.size() == sizes.signMantissa);
    CHECK(unit.outputPositions.size() == sizes.positions);
    CHECK(unit.gaps.size() == sizes.gaps);
    return packed;
}

// Checks the rules on which the kernels of other projects rely, beyond what any reader checks.
void checkLimits(SluiceDf11Kind kind, const Df11Code& code, uint32_t minLength)
{
    const size_t rows = code.luts.size() / 256;
    REQUIRE(code.luts.size() % 256 == 0);
    CHECK(rows >= 2);
    CHECK(rows <= 18);
    CHECK(code.minLength() >= minLength);
    const uint8_t* lengths = &code.luts[(rows - 1) * 256];
    for (uint32_t symbol = 0; symbol < 256; ++symbol) {
        CHECK(lengths[symbol] == code.words[symbol].length);
        CHECK(lengths[symbol] <= (kind == SLUICE_DF11_BF16 ? 32 : 16));
    }
    // No look-up may give a symbol without a code, or a row that does not exist.
    for (size_t i = 0; i + 256 < code.luts.size(); ++i) {
        const uint32_t entry = code.luts[i];
        if (entry < 240)
            CHECK(lengths[entry] > 0);
        else
            CHECK(256 - entry < rows - 1);
    }
}

void checkUnit(const Df11Tensors& unit)
{
    SluiceDf11Unit description = {};
    std::string reason;
    CHECK(unit.check(description, reason) == SLUICE_OK);
    CHECK(reason == "");
    CHECK(description.kind == uint32_t(unit.kind));
    CHECK(description.elementCount == unit.elementCount);
}

// Returns what the kernels of DFloat11 and ECF8 make of a unit. A thread decodes the codes that
// start in its 8 bytes and counts them; after a prefix sum it stores those inside its block's
// positions. The bytes after the stream are random, and nothing stops a thread there.
Bytes decodeAsKernel(const Df11Tensors& unit, std::mt19937& random)
{
    const bool bf16 = unit.kind == SLUICE_DF11_BF16;
    const uint32_t gapBits = bf16 ? 5 : 4, lookAhead = bf16 ? 4 : 2, blocks = unit.blockCount();
    Bytes stream = unit.encoded;
    while (stream.size() < blocks * 4096 + lookAhead)
        stream.push_back(uint8_t(random()));
    const uint8_t* lengths = &unit.luts[unit.luts.size() - 256];
    const auto position = [&](uint32_t block) {
        // All positions are below 2^32.
        return loadLe32(&unit.outputPositions[size_t(block) * (bf16 ? 4 : 8)]);
    };
    const auto bitsAt = [](const Bytes& bytes, uint64_t bit, uint32_t count) { // count is at most 8
        const uint32_t pair =
            uint32_t(bytes[bit / 8]) << 8 | (bit / 8 + 1 < bytes.size() ? bytes[bit / 8 + 1] : 0u);
        return pair >> (16 - bit % 8 - count) & ((1u << count) - 1);
    };
    Bytes output(unit.expected.size());
    for (uint32_t block = 0; block < blocks; ++block) {
        uint64_t element = position(block);
        for (uint64_t thread = block * 512; thread < (block + 1) * 512; ++thread) {
            for (uint64_t bit = bitsAt(unit.gaps, thread * gapBits, gapBits); bit < 64;) {
                uint64_t at = thread * 64 + bit;
                uint32_t entry = unit.luts[bitsAt(stream, at, 8)];
                for (uint32_t bytes = 1; entry >= 240 && bytes < lookAhead; ++bytes)
                    entry = unit.luts[(256 - entry) * 256 + bitsAt(stream, at += 8, 8)];
                REQUIRE(lengths[entry] != 0); // otherwise the thread would never end
                bit += lengths[entry];
                if (element < position(block + 1)) {
                    const uint32_t rest = unit.signMantissa[bf16 ? element : element / 2];
                    if (bf16) {
                        output[2 * element] = uint8_t(entry << 7 | (rest & 0x7f));
                        output[2 * element + 1] = uint8_t((rest & 0x80) | entry >> 1);
                    } else {
                        const uint32_t nibble = element % 2 == 0 ? rest >> 4 : rest;
                        output[element] = uint8_t((nibble & 8) << 4 | entry << 3 | (nibble & 7));
                    }
                }
                ++element;
            }
        }
    }
    return output;
}

void checkRoundTrip(const std::vector<Df11Tensors>& units)
{
    Device cpu("cpu", "ref", 0);
    REQUIRE(cpu.isOpen());
    for (const Df11Tensors& unit : units)
        checkUnit(unit);
    const std::vector<DecodedDf11> decoded = decodeDf11(cpu, units);
    for (size_t i = 0; i < units.size(); ++i) {
        CAPTURE(i);
        CHECK(decoded[i].ok());
        CHECK((decoded[i].bytes == units[i].expected));
        std::mt19937 random = makeRandom(600);
        CHECK((decodeAsKernel(units[i], random) == units[i].expected));
    }
}

Bytes elementsOf(SluiceDf11Kind kind, size_t count, const std::function<uint32_t()>& exponent,
                 std::mt19937& random)
{
    Bytes bytes;
    for (size_t i = 0; i < count; ++i) {
        const uint32_t rest = uint32_t(random());
        if (kind == SLUICE_DF11_BF16) {
            const uint32_t element = (rest & 0x807f) | exponent() << 7;
            bytes.push_back(uint8_t(element));
            bytes.push_back(uint8_t(element >> 8));
        } else {
            bytes.push_back(uint8_t((rest & 0x87) | exponent() << 3));
        }
    }
    return bytes;
}

constexpr SluiceDf11Kind kInds[] = {SLUICE_DF11_BF16, SLUICE_DF11_FP8_E4M3};

uint64_t bitsOf(const uint64_t histogram[256], const Df11Code& code)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < 256; ++i)
        bits += histogram[i] * code.words[i].length;
    return bits;
}

} // namespace

TEST_CASE("df11 encode: alphabets of any size, all exponents equal, any count")
{
    std::mt19937 random = makeRandom(601);
    std::vector<Df11Tensors> units;
    for (const SluiceDf11Kind kind : kInds) {
        const uint32_t top = kind == SLUICE_DF11_BF16 ? 239 : 15;
        for (const size_t count :
             std::initializer_list<size_t>{2, 4, 6, 100, 5000, 32768, 32770, 40000}) {
            for (const uint32_t symbols : {1u, 2u, 3u, 4u, 6u, top + 1}) {
                for (const uint32_t minLength : {1u, 2u}) {
                    const uint32_t base = uint32_t(random() % (top + 2 - symbols));
                    const Packed packed =
                        pack(kind,
                             elementsOf(
                                 kind, count, [&] { return base + uint32_t(random() % symbols); },
                                 random),
                             minLength, random);
                    checkLimits(kind, packed.code, minLength);
                    if (minLength == 2) CHECK(packed.maxBlockElements <= kDf11MaxSharedElements);
                    units.push_back(packed.tensors);
                }
            }
        }
    }
    for (const size_t count : std::initializer_list<size_t>{1, 3, 7777}) // odd counts: bf16 only
        units.push_back(pack(SLUICE_DF11_BF16,
                             elementsOf(
                                 SLUICE_DF11_BF16, count, [] { return 0u; }, random),
                             1, random)
                            .tensors);
    checkRoundTrip(units);
}

TEST_CASE("df11 encode: the last code fills the last byte, window or block, or runs past it")
{
    std::mt19937 random = makeRandom(602);
    std::vector<Df11Tensors> units;
    for (const SluiceDf11Kind kind : kInds) {
        // Codes of 1 and 2 bits, and the end mark's: first `ones` of 1 bit, then `twos` of 2 bits.
        for (const size_t ones : std::initializer_list<size_t>{6, 7, 8, 62, 63, 64, 32764, 32765,
                                                               32766, 32767, 32768, 65536}) {
            for (const size_t twos : std::initializer_list<size_t>{2, 1}) {
                size_t i = 0;
                const size_t count =
                    ones + twos - (kind == SLUICE_DF11_FP8_E4M3 ? (ones + twos) % 2 : 0);
                const Packed packed =
                    pack(kind,
                         elementsOf(
                             kind, count, [&] { return i++ < ones ? 5u : 9u; }, random),
                         1, random);
                units.push_back(packed.tensors);
            }
        }
    }
    checkRoundTrip(units);
    // 32,767 codes of 1 bit and one of 9 bits, which starts in the last bit of block 0 and ends
    // with the first byte of block 1.
    uint64_t histogram[256] = {};
    for (uint32_t i = 0; i < 8; ++i)
        histogram[i] = uint64_t(1) << (40 - 4 * i);
    Df11Code code;
    REQUIRE(makeDf11Code(SLUICE_DF11_BF16, histogram, 1, code));
    REQUIRE(code.words[0].length == 1);
    Df11Encoder encoder(SLUICE_DF11_BF16, code);
    const Bytes zeros(2 * 32767);
    const uint16_t other = uint16_t(7 << 7);
    encoder.add(zeros.data(), 32767);
    encoder.add(reinterpret_cast<const uint8_t*>(&other), 1);
    encoder.finish();
    CHECK(code.words[7].length == 8);
    CHECK(encoder.encoded.size() == 4097);
    CHECK(encoder.positions.size() == 3 * 4); // like the reference packer, without the last entry
    CHECK(encoder.maxBlockElements() == 32768);
    CHECK(encoder.gaps.size() == 640);
}

TEST_CASE("df11 encode: histograms of any shape keep the limits")
{
    std::mt19937 random = makeRandom(603);
    uint32_t limited = 0;
    for (uint32_t round = 0; round < 400; ++round) {
        const SluiceDf11Kind kind = kInds[round % 2];
        const uint32_t top = kind == SLUICE_DF11_BF16 ? 240 : 16;
        uint64_t histogram[256] = {};
        const uint32_t shape = uint32_t(random() % 4), used = uint32_t(1 + random() % top);
        double weight = 1;
        for (uint32_t i = 0; i < used; ++i) {
            const uint32_t symbol = uint32_t(random() % top);
            if (shape == 0) histogram[symbol] = 1 + random() % 1000;
            // Codes as deep as they can get.
            if (shape == 1) histogram[symbol] = uint64_t(1) << std::min(i, 30u);
            // Many symbols, all of them rare.
            if (shape == 2) histogram[symbol] = i == 0 ? 1000000000 : 1 + random() % 3;
            if (shape == 3) histogram[symbol] = uint64_t(weight = std::min(weight * 1.2, 1e9));
            histogram[symbol] = std::max<uint64_t>(histogram[symbol], 1);
        }
        for (const uint32_t minLength : {1u, 2u}) {
            Df11Code code;
            REQUIRE(makeDf11Code(kind, histogram, minLength, code));
            CAPTURE(round);
            checkLimits(kind, code, minLength);
            limited += code.luts.size() / 256 == 18 ? 1 : 0;
            // A code may never take much more than a fixed-length code of 8 bits, and should be
            // close to the entropy where that is possible.
            uint64_t total = 0;
            for (const uint64_t n : histogram)
                total += n;
            CHECK(bitsOf(histogram, code) <= total * 9);
        }
    }
    CHECK(limited > 0);
    uint64_t none[256] = {}, large[256] = {};
    large[240] = 1;
    Df11Code code;
    CHECK_FALSE(makeDf11Code(SLUICE_DF11_BF16, none, 1, code));
    CHECK_FALSE(makeDf11Code(SLUICE_DF11_BF16, large, 1, code));
    large[240] = 0, large[16] = 1;
    CHECK_FALSE(makeDf11Code(SLUICE_DF11_FP8_E4M3, large, 1, code));
}

TEST_CASE("df11 encode: units with codes of every length come back")
{
    std::mt19937 random = makeRandom(604);
    std::vector<Df11Tensors> units;
    for (const SluiceDf11Kind kind : kInds) {
        const uint32_t symbols = kind == SLUICE_DF11_BF16 ? 40 : 16;
        for (uint32_t round = 0; round < 8; ++round) {
            // The code is made for another histogram than that of the elements, so long codes occur
            // often.
            uint64_t histogram[256] = {};
            for (uint32_t i = 0; i < symbols; ++i)
                histogram[i * (kind == SLUICE_DF11_BF16 ? 5 : 1)] = uint64_t(1) << i;
            Packed packed;
            REQUIRE(makeDf11Code(kind, histogram, 1, packed.code));
            CHECK(packed.code.words[0].length == (kind == SLUICE_DF11_BF16 ? 32 : 16));
            const Bytes elements = elementsOf(
                kind, 20000,
                [&] { return uint32_t(random() % symbols * (kind == SLUICE_DF11_BF16 ? 5 : 1)); },
                random);
            Df11Encoder encoder(kind, packed.code);
            encoder.add(elements.data(), 20000);
            encoder.finish();
            Df11Tensors unit;
            unit.kind = kind;
            unit.elementCount = 20000;
            unit.luts = packed.code.luts;
            unit.encoded = encoder.encoded;
            unit.signMantissa = encoder.signMantissa;
            unit.outputPositions = encoder.positions;
            unit.gaps = encoder.gaps;
            unit.expected = elements;
            units.push_back(unit);
        }
    }
    checkRoundTrip(units);
}

TEST_CASE("df11 encode: what the original packers made is not larger here, and comes back")
{
    Device cpu("cpu", "ref", 0);
    REQUIRE(cpu.isOpen());
    std::mt19937 random = makeRandom(605);
    std::vector<Df11Tensors> units;
    for (const Df11Golden& golden : df11GoldenFiles()) {
        const Bytes bytes = decodeDf11(cpu, {golden.tensors})[0].bytes;
        const Packed packed = pack(golden.tensors.kind, bytes, 1, random);
        CAPTURE(golden.file);
        CHECK(packed.tensors.encoded.size() <= golden.tensors.encoded.size());
        // both are Huffman codes
        CHECK(packed.tensors.encoded.size() + 8 >= golden.tensors.encoded.size());
        units.push_back(packed.tensors);
    }
    checkRoundTrip(units);
}
