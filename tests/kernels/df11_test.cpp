// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests DFloat11 and ECF8 units: the golden files, every kind of code and length of unit, and
// damage of every kind.
#include <sluice/sluice_df11.h>

#include "tests/support/df11_units.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <functional>

using namespace sluice::test;

namespace {

void checkDecodes(const std::vector<Df11Tensors>& units)
{
    for (const Df11Tensors& tensors : units) {
        CAPTURE(tensors.name);
        SluiceDf11Unit unit = {};
        std::string reason;
        CHECK(tensors.check(unit, reason) == SLUICE_OK);
        CHECK(reason == "");
        CHECK(unit.kind == uint32_t(tensors.kind));
        CHECK(unit.elementCount == tensors.elementCount);
        CHECK(unit.encodedSize == tensors.encoded.size());
        CHECK(unit.lutRows * 256 == tensors.luts.size());
    }
    const std::vector<DecodedDf11> results = decodeDf11(device(), units);
    for (size_t i = 0; i < units.size(); ++i) {
        CAPTURE(units[i].name);
        CHECK(results[i].ok());
        CHECK((results[i].bytes == units[i].expected));
    }
}

Df11Tensors packed(const std::string& name, SluiceDf11Kind kind, const Bytes& exponents,
                   std::mt19937& random)
{
    return packDf11(name, kind, exponents, huffmanLengths(exponents), random);
}

Df11Tensors weights(SluiceDf11Kind kind, size_t count, std::mt19937& random)
{
    return packed(std::to_string(count) + " weights", kind, weightExponents(kind, count, random),
                  random);
}

constexpr SluiceDf11Kind kBothKinds[] = {SLUICE_DF11_BF16, SLUICE_DF11_FP8_E4M3};

// Returns one symbol for each length from 1 on. The longest has two: the last one is the end mark.
CodeLengths chain(uint32_t longest)
{
    CodeLengths lengths(kDf11End + 1);
    for (uint32_t symbol = 0; symbol < longest; ++symbol)
        lengths[symbol] = symbol + 1;
    lengths[kDf11End] = longest;
    return lengths;
}

Words statusesOf(const Df11Tensors& unit) { return decodeDf11(device(), {unit})[0].statuses; }

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("df11: golden files of the original packers")
{
    std::vector<Df11Tensors> units;
    const std::vector<Df11Golden> files = df11GoldenFiles();
    for (const Df11Golden& golden : files)
        units.push_back(golden.tensors);
    const std::vector<DecodedDf11> results = decodeDf11(device(), units);
    for (size_t i = 0; i < files.size(); ++i) {
        CAPTURE(files[i].file);
        CHECK(results[i].ok());
        CHECK(XXH64(results[i].bytes.data(), results[i].bytes.size(), 0) == files[i].xxh64);
    }
}

TEST_CASE("df11: any number of elements")
{
    std::mt19937 random = makeRandom(71);
    std::vector<Df11Tensors> units;
    for (const SluiceDf11Kind kind : kBothKinds) {
        for (const size_t count :
             {0u, 1u, 2u, 3u, 5u, 24u, 25u, 26u, 1000u, 12001u, 30000u, 100001u})
            units.push_back(
                weights(kind, kind == SLUICE_DF11_BF16 ? count : count + count % 2, random));
    }
    checkDecodes(units);
}

TEST_CASE("df11: small alphabets")
{
    std::mt19937 random = makeRandom(72);
    std::vector<Df11Tensors> units;
    for (const SluiceDf11Kind kind : kBothKinds) {
        for (uint32_t symbols = 1; symbols <= 6; ++symbols) {
            for (const uint32_t first : {0u, 9u}) { // with exponent 0, and without it
                Bytes exponents(70000);
                std::generate(exponents.begin(), exponents.end(),
                              [&] { return uint8_t(first + random() % symbols); });
                units.push_back(
                    packed(std::to_string(symbols) + " exponents from " + std::to_string(first),
                           kind, exponents, random));
            }
        }
    }
    checkDecodes(units);
}

TEST_CASE("df11: codes of every length")
{
    std::mt19937 random = makeRandom(73);
    std::vector<Df11Tensors> units;
    for (const SluiceDf11Kind kind : kBothKinds) {
        for (uint32_t longest = 1; longest <= (kind == SLUICE_DF11_BF16 ? 32u : 16u); ++longest) {
            Bytes exponents(9000);
            std::generate(exponents.begin(), exponents.end(),
                          [&] { return uint8_t(random() % longest); });
            units.push_back(packDf11("lengths to " + std::to_string(longest), kind, exponents,
                                     chain(longest), random));
        }
    }
    checkDecodes(units);
}

TEST_CASE("df11: a stream that ends with a block, and one whose last code spills into the next")
{
    std::mt19937 random = makeRandom(74);
    std::vector<Df11Tensors> units;
    for (const SluiceDf11Kind kind : kBothKinds) {
        CodeLengths lengths = chain(9); // symbol 0 has 1 bit, symbol 8 has 9
        units.push_back(packDf11("exact", kind, Bytes(32768), lengths, random));
        CHECK(units.back().encoded.size() == 4096);
        Bytes exponents(32768);
        exponents.back() = 8;
        units.push_back(packDf11("spill", kind, exponents, lengths, random));
        CHECK(units.back().encoded.size() == 4097);
        // one entry short
        CHECK(units.back().outputPositions.size() == (kind == SLUICE_DF11_BF16 ? 8 : 16));
    }
    checkDecodes(units);
}

TEST_CASE("df11: a part of a unit is a unit")
{
    std::mt19937 random = makeRandom(75);
    const Df11Tensors whole = weights(SLUICE_DF11_BF16, 60000, random);
    REQUIRE(whole.blockCount() >= 4);
    const auto position = [&](size_t block) {
        uint32_t value = 0;
        for (size_t i = 0; i < 4; ++i)
            value |= uint32_t(whole.outputPositions[block * 4 + i]) << 8 * i;
        return value;
    };
    const uint32_t first = position(1), end = position(3);
    Df11Tensors part;
    part.name = "part";
    part.elementCount = end - first;
    part.luts = whole.luts;
    part.encoded.assign(whole.encoded.begin() + 4096, whole.encoded.begin() + 3 * 4096 + 4);
    part.signMantissa.assign(whole.signMantissa.begin() + first, whole.signMantissa.begin() + end);
    part.gaps.assign(whole.gaps.begin() + 320, whole.gaps.begin() + 4 * 320);
    part.expected.assign(whole.expected.begin() + first * 2, whole.expected.begin() + end * 2);
    for (size_t block = 1; block <= 3; ++block) {
        for (uint32_t i = 0; i < 4; ++i)
            part.outputPositions.push_back(uint8_t((position(block) - first) >> 8 * i));
    }
    checkDecodes({part});
}

TEST_SUITE_END();

TEST_CASE("df11: what sluiceCheckDf11Unit refuses, in its words")
{
    std::mt19937 random = makeRandom(76);
    const Df11Tensors bf16 = weights(SLUICE_DF11_BF16, 60000, random),
                      fp8 = weights(SLUICE_DF11_FP8_E4M3, 60000, random);
    REQUIRE(bf16.luts.size() >= 3 * 256);
    const auto refused = [](Df11Tensors unit, const std::function<void(Df11Tensors&)>& change) {
        change(unit);
        SluiceDf11Unit description = {};
        std::string reason;
        const SluiceStatus status = unit.check(description, reason);
        CHECK(status == (reason.empty() ? SLUICE_OK : SLUICE_ERROR_FORMAT));
        return reason;
    };
    const auto lengthsOf = [](Df11Tensors& unit) {
        return unit.luts.data() + unit.luts.size() - 256;
    };
    const auto pointerOf = [](Df11Tensors& unit) {
        return std::find_if(unit.luts.begin(), unit.luts.begin() + 256,
                            [](uint8_t entry) { return entry >= 240; });
    };
    REQUIRE(pointerOf(const_cast<Df11Tensors&>(bf16)) != bf16.luts.begin() + 256);

    CHECK(refused(bf16, [](Df11Tensors&) {}) == "");
    CHECK(refused(bf16, [](Df11Tensors& u) { u.luts.pop_back(); }) ==
          "luts is not 2 to 18 rows of 256 bytes");
    CHECK(refused(bf16, [](Df11Tensors& u) { u.luts.resize(256); }) ==
          "luts is not 2 to 18 rows of 256 bytes");
    CHECK(refused(bf16, [](Df11Tensors& u) { u.luts.resize(19 * 256); }) ==
          "luts is not 2 to 18 rows of 256 bytes");
    CHECK(refused(bf16, [&](Df11Tensors& u) { *pointerOf(u) = 240; }) ==
          "luts: a pointer leads to a row that is not there");
    // A cycle: all entries of another row point to that row.
    CHECK(refused(bf16, [&](Df11Tensors& u) {
              std::fill_n(u.luts.begin() + 256, 256, uint8_t(255));
          }) == "luts: an exponent has a length, but no code of that length");
    CHECK(refused(bf16, [&](Df11Tensors& u) { lengthsOf(u)[121] = 0; }) ==
          "luts: the lengths do not make a complete code");
    CHECK(refused(bf16, [&](Df11Tensors& u) { ++lengthsOf(u)[120]; }) ==
          "luts: the lengths do not make a complete code");
    CHECK(refused(bf16, [&](Df11Tensors& u) { --lengthsOf(u)[120]; }) ==
          "luts: an exponent has a length, but no code of that length");
    CHECK(refused(bf16, [&](Df11Tensors& u) { lengthsOf(u)[120] = 33; }) ==
          "luts: a code is longer than 32 bits");
    CHECK(refused(fp8, [&](Df11Tensors& u) { lengthsOf(u)[11] = 17; }) ==
          "luts: a code is longer than 16 bits");
    for (const uint32_t symbol : {240u, 254u, 255u}) {
        CHECK(refused(bf16, [&](Df11Tensors& u) { lengthsOf(u)[symbol] = 8; }) ==
              "luts: an exponent of 240 or more, which the format cannot hold");
    }
    CHECK(refused(fp8, [&](Df11Tensors& u) { lengthsOf(u)[16] = 8; }) ==
          "luts: an exponent of 16 or more");

    const char* entries = "output_positions does not have an entry for each 4096 bytes of "
                          "encoded_exponent and one more";
    CHECK(refused(bf16, [](Df11Tensors& u) { u.outputPositions.pop_back(); }) == entries);
    CHECK(refused(bf16, [](Df11Tensors& u) {
              u.outputPositions.resize(u.outputPositions.size() + 4);
          }) == entries);
    CHECK(refused(bf16, [](Df11Tensors& u) {
              u.outputPositions.resize(u.outputPositions.size() - 8);
          }) == entries);
    CHECK(refused(bf16, [](Df11Tensors& u) { u.outputPositions.clear(); }) == entries);
    CHECK(refused(bf16, [](Df11Tensors& u) {
              u.outputPositions.resize(u.outputPositions.size() - 4);
          }) == "output_positions does not end with the number of elements");
    CHECK(refused(bf16, [](Df11Tensors& u) { u.outputPositions[0] = 1; }) ==
          "output_positions does not start with 0");
    CHECK(refused(bf16, [](Df11Tensors& u) { u.outputPositions[9] = 0; }) ==
          "output_positions runs backwards");
    CHECK(refused(bf16, [](Df11Tensors& u) { u.signMantissa.pop_back(); }) ==
          "output_positions does not end with the number of elements");
    CHECK(refused(fp8, [](Df11Tensors& u) { u.outputPositions[15] = 0x80; }) ==
          "output_positions gives a block too many elements");
    CHECK(refused(bf16, [](Df11Tensors& u) {
              std::fill_n(u.outputPositions.begin() + 4, 12, uint8_t(0));
          }) == "output_positions gives a block too many elements");

    const char* gaps =
        "gaps does not have 320 bytes (fp8: 256) for each 4096 bytes of encoded_exponent";
    CHECK(refused(bf16, [](Df11Tensors& u) { u.gaps.pop_back(); }) == gaps);
    CHECK(refused(fp8, [](Df11Tensors& u) { u.gaps.pop_back(); }) == gaps);
    CHECK(refused(bf16, [](Df11Tensors& u) { u.gaps.push_back(0); }) == gaps);
    CHECK(refused(bf16, [](Df11Tensors& u) { u.encoded.resize(u.encoded.size() + 8192); }) == gaps);
    CHECK(refused(bf16, [](Df11Tensors& u) { u.signMantissa.resize(u.encoded.size() * 8 + 1); }) ==
          "encoded_exponent has fewer bits than there are elements");
}

TEST_CASE("df11: what sluiceCheckDf11Unit refuses for its size")
{
    std::mt19937 random = makeRandom(77);
    const Df11Tensors bf16 = weights(SLUICE_DF11_BF16, 60000, random),
                      fp8 = weights(SLUICE_DF11_FP8_E4M3, 60000, random);
    SluiceDf11Tables tables = bf16.tables();
    SluiceDf11Unit unit = {};
    const char* reason = nullptr;
    tables.encodedSize = uint64_t(1) << 63;
    tables.gapsSize = (uint64_t(1) << 51) * 320;
    CHECK(sluiceCheckDf11Unit(&tables, &unit, &reason) == SLUICE_ERROR_FORMAT);
    CHECK(std::string(reason) == "encoded_exponent has more than 2^31 - 1 bytes");
    tables = bf16.tables();
    tables.signMantissaSize = uint64_t(1) << 31;
    CHECK(sluiceCheckDf11Unit(&tables, &unit, &reason) == SLUICE_ERROR_FORMAT);
    CHECK(std::string(reason) == "sign_mantissa has more than 2^31 - 1 elements");
    tables = fp8.tables();
    tables.signMantissaSize = uint64_t(1) << 30;
    CHECK(sluiceCheckDf11Unit(&tables, &unit, nullptr) == SLUICE_ERROR_FORMAT);
    CHECK(sluiceCheckDf11Unit(nullptr, &unit, &reason) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCheckDf11Unit(&tables, nullptr, &reason) == SLUICE_ERROR_ARGUMENT);
    tables.luts = nullptr;
    CHECK(sluiceCheckDf11Unit(&tables, &unit, &reason) == SLUICE_ERROR_ARGUMENT);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("df11: leaked bytes in rows are accepted, pointers too")
{
    std::mt19937 random = makeRandom(77);
    Df11Tensors unit = packDf11("leaks", SLUICE_DF11_BF16, Bytes(3000, 20), chain(22), random);
    REQUIRE(unit.luts.size() == 4 * 256); // the end mark is all zeros: entry 0 of row 2 is unused
    for (const uint8_t leak : {uint8_t(0), uint8_t(20), uint8_t(239), uint8_t(254), uint8_t(255)}) {
        unit.luts[2 * 256] = leak;
        checkDecodes({unit});
    }
}

TEST_CASE("df11: statuses of damaged units")
{
    std::mt19937 random = makeRandom(78);
    const Df11Tensors good = weights(SLUICE_DF11_BF16, 60000, random);
    const size_t blocks = good.blockCount();
    REQUIRE(blocks >= 4);
    const auto damaged = [&](const std::function<void(Df11Tensors&)>& change) {
        Df11Tensors unit = good;
        change(unit);
        return statusesOf(unit);
    };
    const auto onlyBad = [&](size_t block, uint32_t status) {
        Words expected(blocks, SLUICE_TILE_OK);
        expected[block] = status;
        return expected;
    };
    CHECK(damaged([](Df11Tensors&) {}) == Words(blocks, SLUICE_TILE_OK));
    CHECK(damaged([](Df11Tensors& u) { u.gaps[320 + 100] ^= 0x10; }) ==
          onlyBad(1, SLUICE_TILE_BAD_INDEX));
    CHECK(damaged([](Df11Tensors& u) { u.outputPositions[0] = 1; }) ==
          onlyBad(0, SLUICE_TILE_BAD_INDEX));
    CHECK(damaged([](Df11Tensors& u) { u.outputPositions[11] = 0x80; })[1] ==
          SLUICE_TILE_BAD_INDEX);
    const Words moved = damaged([](Df11Tensors& u) { ++u.outputPositions[8]; });
    CHECK(moved[1] == SLUICE_TILE_TOO_SHORT);
    CHECK(moved[2] == SLUICE_TILE_TOO_LONG);
    CHECK(moved[3] == SLUICE_TILE_OK);
    CHECK(damaged([](Df11Tensors& u) { u.encoded.resize(u.encoded.size() - 9); })[blocks - 1] ==
          SLUICE_TILE_TRUNCATED);
    CHECK(damaged([](Df11Tensors& u) { u.luts[u.luts.size() - 256 + 121] = 0; }) ==
          Words(blocks, SLUICE_TILE_BAD_CODE));
    CHECK(damaged([](Df11Tensors& u) { u.luts[u.luts.size() - 256 + 121] = 9; }) ==
          Words(blocks, SLUICE_TILE_BAD_CODE));
    CHECK(damaged([](Df11Tensors& u) { std::fill_n(u.luts.begin(), 256, uint8_t(240)); }) ==
          Words(blocks, SLUICE_TILE_BAD_CODE));
    CHECK(damaged([](Df11Tensors& u) { std::fill_n(u.luts.begin(), 512, uint8_t(255)); }) ==
          Words(blocks, SLUICE_TILE_BAD_CODE)); // a cycle
    CHECK(damaged([](Df11Tensors& u) { u.luts.resize(19 * 256); }) ==
          Words(blocks, SLUICE_TILE_BAD_REGION));
    CHECK(damaged([](Df11Tensors& u) { u.luts.resize(256); }) ==
          Words(blocks, SLUICE_TILE_BAD_REGION));
    CHECK(damaged([](Df11Tensors& u) { u.kind = SluiceDf11Kind(3); }) ==
          Words(blocks, SLUICE_TILE_BAD_REGION));
}

// Computes statuses as the header defines them, window by window as a GPU does it: each window by
// itself from its gap, then a sum.
namespace {

class WindowDecoder {
public:
    explicit WindowDecoder(const Df11Tensors& tensors)
        : m_unit(tensors), m_fp8(tensors.kind == SLUICE_DF11_FP8_E4M3),
          m_windows(uint64_t(tensors.blockCount()) * 512)
    {
    }

    uint32_t status(uint32_t block) const
    {
        const uint64_t n = m_unit.elementCount, first = position(block), end = position(block + 1);
        if ((block == 0 && first != 0) || first > end || end > n || end - first > 32768)
            return SLUICE_TILE_BAD_INDEX;
        uint64_t element = first;
        for (uint32_t lane = 0; lane < 512; ++lane) {
            const Window window = decode(uint64_t(block) * 512 + lane);
            element += window.count;
            if (window.status == SLUICE_TILE_OK) continue;
            return end == n && element >= end ? uint32_t(SLUICE_TILE_OK) : window.status;
        }
        if (element == end || (end == n && element > end)) return SLUICE_TILE_OK;
        return element < end ? SLUICE_TILE_TOO_SHORT : SLUICE_TILE_TOO_LONG;
    }

private:
    struct Window {
        uint32_t count = 0;
        uint32_t status = SLUICE_TILE_OK;
    };

    uint64_t position(uint32_t block) const
    {
        if (block == m_unit.blockCount()) return m_unit.elementCount;
        uint64_t value = 0;
        for (size_t width = m_fp8 ? 8 : 4, i = width; i-- > 0;)
            value = value << 8 | m_unit.outputPositions[block * width + i];
        return value;
    }

    static uint64_t bits(const Bytes& bytes, uint64_t at, uint32_t count)
    {
        uint64_t value = 0;
        for (uint64_t i = at; i < at + count; ++i)
            value = value << 1 | (i / 8 < bytes.size() ? bytes[i / 8] >> (7 - i % 8) & 1u : 0u);
        return value;
    }

    uint64_t start(uint64_t window) const
    {
        return window * 64 + bits(m_unit.gaps, window * (m_fp8 ? 4 : 5), m_fp8 ? 4 : 5);
    }

    Window decode(uint64_t number) const
    {
        Window window;
        uint64_t bit = start(number);
        for (; bit < (number + 1) * 64; ++window.count) {
            const uint32_t length = codeLength(bit, window.status);
            if (window.status != SLUICE_TILE_OK) return window;
            bit += length;
        }
        if (number + 1 < m_windows && start(number + 1) != bit)
            window.status = SLUICE_TILE_BAD_INDEX;
        return window;
    }

    uint32_t codeLength(uint64_t bit, uint32_t& status) const
    {
        const uint64_t total = m_unit.encoded.size() * 8;
        status = SLUICE_TILE_TRUNCATED;
        if (bit >= total) return 0;
        status = SLUICE_TILE_BAD_CODE;
        const size_t rows = m_unit.luts.size() / 256 - 1;
        size_t row = 0;
        for (uint32_t depth = 0; depth < (m_fp8 ? 2u : 4u); ++depth) {
            const uint32_t entry =
                m_unit.luts[row * 256 + bits(m_unit.encoded, bit + depth * 8, 8)];
            if (entry >= 240) {
                row = 256 - entry;
                if (row >= rows) return 0;
                continue;
            }
            const uint32_t length = m_unit.luts[rows * 256 + entry];
            if ((m_fp8 && entry > 15) || length < depth * 8 + 1 || length > depth * 8 + 8) return 0;
            status = bit + length > total ? SLUICE_TILE_TRUNCATED : SLUICE_TILE_OK;
            return length;
        }
        return 0;
    }

    const Df11Tensors& m_unit;
    bool m_fp8;
    uint64_t m_windows;
};

void flipBits(Bytes& bytes, std::mt19937& random)
{
    for (size_t i = 1 + random() % 4; i > 0 && !bytes.empty(); --i) {
        const size_t bit = random() % (bytes.size() * 8);
        bytes[bit / 8] = uint8_t(bytes[bit / 8] ^ 1u << bit % 8);
    }
}

Df11Tensors mutate(const std::vector<Df11Tensors>& corpus, std::mt19937& random)
{
    Df11Tensors unit = corpus[random() % corpus.size()];
    Bytes* const tables[] = {&unit.luts, &unit.encoded, &unit.outputPositions, &unit.gaps,
                             &unit.signMantissa};
    switch (random() % 8) {
    case 0: // all of them
        for (Bytes* table : tables)
            flipBits(*table, random);
        break;
    case 1: { // other bytes under the same tables
        for (uint8_t& byte : unit.encoded)
            byte = uint8_t(random());
        break;
    }
    case 2: { // rows of anything
        for (uint8_t& byte : unit.luts)
            byte = uint8_t(random() % 4 == 0 ? 240 + random() % 16 : random() % 40);
        break;
    }
    default: {
        Bytes& table = *tables[random() % std::size(tables)];
        flipBits(table, random);
        if (&table == &unit.luts && random() % 2 == 0)
            table[table.size() - 1 - random() % 256] = uint8_t(random());
        break;
    }
    }
    return unit;
}

} // namespace

TEST_CASE("df11: mutated units")
{
    Device cpu("cpu", "ref", 0);
    std::mt19937 random = makeRandom(79);
    std::vector<Df11Tensors> corpus;
    for (const SluiceDf11Kind kind : kBothKinds) {
        for (const size_t count : {2u, 100u, 1000u, 15000u})
            corpus.push_back(weights(kind, count, random));
        corpus.push_back(packDf11(
            "chain", kind, weightExponents(SLUICE_DF11_FP8_E4M3, 3000, random), chain(16), random));
        corpus.push_back(packed("equal", kind, Bytes(40000, 3), random));
    }
    const uint32_t total = environmentNumber(
        "SLUICE_MUTATIONS", device().backend() == SLUICE_BACKEND_CPU ? 10000 : 300);
    REQUIRE(total > 0);
    uint32_t okCount = 0, acceptedCount = 0;
    for (uint32_t done = 0; done < total; done += 100) {
        std::vector<Df11Tensors> units;
        for (uint32_t i = done; i < std::min(total, done + 100); ++i)
            units.push_back(mutate(corpus, random));
        const std::vector<DecodedDf11> results = decodeDf11(device(), units),
                                       reference = decodeDf11(cpu, units);
        for (size_t i = 0; i < units.size(); ++i) {
            Words expected;
            for (uint32_t block = 0; block < units[i].blockCount(); ++block)
                expected.push_back(WindowDecoder(units[i]).status(block));
            CAPTURE(units[i].name);
            CAPTURE(done + i);
            CHECK(results[i].statuses == expected);
            if (results[i].ok()) CHECK((results[i].bytes == reference[i].bytes));
            SluiceDf11Unit unit = {};
            std::string reason;
            acceptedCount += units[i].check(unit, reason) == SLUICE_OK;
            okCount += results[i].ok();
        }
    }
    CHECK(okCount < total);
    CHECK(acceptedCount < total);
    if (total >= 100) CHECK((okCount > 0 && acceptedCount > 0));
}

TEST_CASE("df11: a list of units with a count in memory, and units that break the rules")
{
    std::mt19937 random = makeRandom(80);
    const Df11Tensors tensors = weights(SLUICE_DF11_FP8_E4M3, 2000, random);
    REQUIRE(tensors.blockCount() == 1);
    Bytes bytes;
    const auto place = [&bytes](const Bytes& table) {
        const uint64_t offset = bytes.size();
        bytes.insert(bytes.end(), table.begin(), table.end());
        bytes.resize((bytes.size() + 15) / 16 * 16);
        return offset;
    };
    SluiceDf11Unit good = {};
    good.lutsOffset = place(tensors.luts);
    good.encodedOffset = place(tensors.encoded);
    good.signMantissaOffset = place(tensors.signMantissa);
    good.outputPositionsOffset = place(tensors.outputPositions);
    good.gapsOffset = place(tensors.gaps);
    good.kind = SLUICE_DF11_FP8_E4M3;
    good.lutRows = uint32_t(tensors.luts.size() / 256);
    good.elementCount = tensors.elementCount;
    good.encodedSize = uint32_t(tensors.encoded.size());

    std::vector<SluiceDf11Unit> list(1, good);
    const auto bad = [&](const std::function<void(SluiceDf11Unit&)>& change) {
        list.push_back(good);
        change(list.back());
        list.back().firstBlock = uint32_t(list.size()) - 1;
    };
    bad([](SluiceDf11Unit& u) { u.lutsOffset += 4; });
    bad([](SluiceDf11Unit& u) { u.encodedOffset += 8; });
    bad([&](SluiceDf11Unit& u) { u.gapsOffset = bytes.size() - 240; });
    bad([](SluiceDf11Unit& u) { u.outputPositionsOffset = ~uint64_t(15); });
    bad([&](SluiceDf11Unit& u) { u.signMantissaOffset = bytes.size(); });
    bad([](SluiceDf11Unit& u) { u.destinationOffset = 2; });
    bad([](SluiceDf11Unit& u) { u.destinationOffset = 4; });
    bad([](SluiceDf11Unit& u) { u.destinationOffset = ~uint64_t(3); });
    bad([](SluiceDf11Unit& u) { u.lutRows = 1; });
    bad([](SluiceDf11Unit& u) { u.lutRows = 19; });
    bad([](SluiceDf11Unit& u) { u.kind = 0; });
    bad([](SluiceDf11Unit& u) { u.elementCount = 0x80000000u; });
    bad([](SluiceDf11Unit& u) { u.reserved = 1; });
    bad([](SluiceDf11Unit&) {}); // past the count

    const uint32_t count = uint32_t(list.size());
    Buffer source(device(), bytes), destination(device(), tensors.elementCount),
        units(device(), bytesOf(list));
    Buffer unitCount(device(), Words{count - 1}), status(device(), (uint64_t(count) + 2) * 4);
    SluiceDf11Info info = {};
    info.maxUnitCount = info.maxBlockCount = count;
    info.units = units.range();
    info.unitCount = unitCount.range();
    info.source = source.range();
    info.destination = destination.range();
    info.status = status.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdDf11(device().context(), commands, &info) == SLUICE_OK);
    });
    Words expected(count, SLUICE_TILE_BAD_REGION);
    expected[0] = SLUICE_TILE_OK;
    expected[count - 1] = SLUICE_TILE_PENDING;
    expected.push_back(count - 2);
    expected.push_back(1);
    CHECK(status.words() == expected);
    CHECK((destination.bytes() == tensors.expected));
}

// There are so many blocks that a workgroup does several, of one unit or more, good and bad ones.
TEST_CASE("df11: many blocks")
{
    std::mt19937 random = makeRandom(81);
    std::vector<Df11Tensors> kinds;
    for (const SluiceDf11Kind kind : kBothKinds) {
        for (const size_t count : {0u, 2u, 30u, 300u, 2000u, 150000u})
            kinds.push_back(weights(kind, count, random));
        kinds.push_back(kinds.back());
        kinds.back().gaps[1000] ^= 0x80;
        kinds.push_back(kinds.back());
        std::fill_n(kinds.back().outputPositions.begin() + 8, 4, uint8_t(0xff));
        kinds.push_back(weights(kind, 100, random));
        kinds.back().luts.resize(256);
    }
    const std::vector<DecodedDf11> reference = decodeDf11(device(), kinds);
    std::vector<size_t> picks;
    std::vector<Df11Tensors> units;
    // A workgroup of a GPU gets two blocks, one of a software device four or five.
    const PlannedBy few(device(), isSoftware() ? "df11.workgroups=200" : "", "");
    const uint32_t most = isSoftware() ? 900 : 4500;
    for (uint32_t blocks = 0; blocks < most; blocks += units.back().blockCount()) {
        picks.push_back(random() % 8 == 0 ? random() % kinds.size()
                                          : random() % 2 * kinds.size() / 2 + random() % 4);
        units.push_back(kinds[picks.back()]);
    }
    const std::vector<DecodedDf11> results = decodeDf11(device(), units);
    for (size_t i = 0; i < units.size(); ++i) {
        CAPTURE(units[i].name);
        CHECK(results[i].statuses == reference[picks[i]].statuses);
        if (results[i].ok()) CHECK((results[i].bytes == units[i].expected));
    }
}

TEST_SUITE_END();

TEST_CASE("df11: arguments outside their contract")
{
    Device cpu("cpu", "ref", 0);
    REQUIRE(cpu.isOpen());
    alignas(16) static uint8_t memory[1024];
    const auto range = [](uint64_t offset, uint64_t size) {
        return SluiceBuffer{uint64_t(uintptr_t(memory)), offset, size};
    };
    SluiceDf11Info good = {};
    good.maxUnitCount = 2;
    good.maxBlockCount = 4;
    good.units = range(0, 144);
    good.unitCount = range(160, 4);
    good.source = range(256, 100);
    good.destination = range(384, 100);
    good.status = range(512, 24);
    const SluiceContext context = cpu.context();
    const auto result = [&](const std::function<void(SluiceDf11Info&)>& change) {
        SluiceDf11Info info = good;
        change(info);
        return sluiceCmdDf11(context, nullptr, &info);
    };
    CHECK(result([](SluiceDf11Info&) {}) == SLUICE_OK);
    CHECK(sluiceCmdDf11(nullptr, nullptr, &good) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdDf11(context, nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    SluiceRequirements requirements = {};
    CHECK(sluiceGetDf11Requirements(context, &good, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetDf11Requirements(nullptr, &good, &requirements) == SLUICE_ERROR_ARGUMENT);
    CHECK(result([](SluiceDf11Info& info) { info.units.size = 143; }) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(result([](SluiceDf11Info& info) { info.status.size = 23; }) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(result([](SluiceDf11Info& info) { info.unitCount.size = 3; }) ==
          SLUICE_ERROR_BUFFER_SIZE);
    CHECK(result([](SluiceDf11Info& info) { info.units.offset = 4; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(result([](SluiceDf11Info& info) { info.unitCount.offset = 2; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(result([](SluiceDf11Info& info) { info.source.offset = 8; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(result([](SluiceDf11Info& info) { info.destination.offset = 2; }) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(result([](SluiceDf11Info& info) { info.status.offset = 2; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(result([](SluiceDf11Info& info) { info.source.handle = 0; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(result([](SluiceDf11Info& info) { info.source.size = ~uint64_t(0); }) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(result([](SluiceDf11Info& info) { info.source = info.destination = {}; }) ==
          SLUICE_OK); // then no unit is valid
}

TEST_SUITE_BEGIN("device");

TEST_CASE("df11: no units, and counts out of range")
{
    Buffer status(device(), 8);
    SluiceDf11Info info = {};
    info.status = status.range();
    device().run([&](SluiceCommands commands) {
        CHECK(sluiceCmdDf11(device().context(), commands, &info) == SLUICE_OK);
        info.maxUnitCount = (1u << 20) + 1;
        CHECK(sluiceCmdDf11(device().context(), commands, &info) == SLUICE_ERROR_ARGUMENT);
        info.maxUnitCount = 1;
        CHECK(sluiceCmdDf11(device().context(), commands, &info) == SLUICE_ERROR_BUFFER_SIZE);
        info.maxUnitCount = 0;
        info.maxBlockCount = 1;
        CHECK(sluiceCmdDf11(device().context(), commands, &info) == SLUICE_ERROR_BUFFER_SIZE);
        info.maxBlockCount = (1u << 24) + 1;
        CHECK(sluiceCmdDf11(device().context(), commands, &info) == SLUICE_ERROR_ARGUMENT);
    });
    CHECK((status.words() == Words{0, ~0u}));
}

TEST_SUITE_END();
