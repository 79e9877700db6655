// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests Zstandard frames with dictionaries on every device against the reference.
#include "tests/support/arguments.h"
#include "tests/support/short_runs.h"
#include "tests/support/zstd_frames.h"
#include "tests/support/zstd_maker.h"
#include "tests/support/zstd_regions.h"
#include "test_paths.h"

#include <zdict.h>

#include <array>
#include <fstream>
#include <iterator>

#include "formats/fse.h"

using namespace sluice::test;

namespace {

using Given = std::shared_ptr<const Bytes>;

Given given(Bytes bytes) { return std::make_shared<const Bytes>(std::move(bytes)); }

Bytes dataFile(const std::string& name)
{
    std::ifstream file(SLUICE_TEST_DATA_DIR "/zstd/" + name, std::ios::binary);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns a frame that libzstd makes of the content with the dictionary.
Bytes compressed(const Bytes& content, const Bytes& dictionary, int level)
{
    const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
    Bytes frame(ZSTD_compressBound(content.size()));
    const size_t size =
        ZSTD_compress_usingDict(context.get(), frame.data(), frame.size(), content.data(),
                                content.size(), dictionary.data(), dictionary.size(), level);
    REQUIRE(ZSTD_isError(size) == 0);
    frame.resize(size);
    return frame;
}

void setLe32(Bytes& bytes, size_t at, uint32_t value)
{
    for (uint32_t k = 0; k < 4; ++k)
        bytes[at + k] = uint8_t(value >> 8 * k);
}

// Returns a trained dictionary whose code of literals is `weights`.
ZstdDictionaryParts withWeights(ZstdGenerator& generator, const ZstdWeights& weights, bool direct)
{
    ZstdDictionaryParts parts = generator.dictionary(true);
    const uint32_t header = parts.bytes[8];
    const size_t tree = header < 128 ? 1 + header : 1 + (header - 126) / 2;
    Bytes bytes(parts.bytes.begin(), parts.bytes.begin() + 8);
    append(bytes, zstdTree(weights, direct));
    bytes.insert(bytes.end(), parts.bytes.begin() + ptrdiff_t(8 + tree), parts.bytes.end());
    parts.bytes = bytes;
    parts.state.weights = weights;
    return parts;
}

// Returns where the tree and the first two tables of a trained dictionary end.
std::array<size_t, 3> tableEnds(const Bytes& bytes)
{
    const uint32_t header = bytes[8];
    size_t at = 9 + (header < 128 ? header : (header - 126) / 2);
    std::array<size_t, 3> ends = {at, 0, 0};
    const std::pair<uint32_t, uint32_t> kinds[] = {
        {SLUICE_ZS_OFFSET_SYMBOLS, SLUICE_ZS_OFFSET_LOG},
        {SLUICE_ZS_MATCH_LENGTH_SYMBOLS, SLUICE_ZS_LENGTH_LOG}};
    for (uint32_t i = 0; i < 2; ++i) {
        sluice::fse::Distribution read;
        REQUIRE(sluice::fse::readDistribution(bytes.data() + at, bytes.size() - at, kinds[i].first,
                                              kinds[i].second, read) == SLUICE_TILE_OK);
        at += read.bytes;
        ends[i + 1] = at;
    }
    return ends;
}

void checkOk(const std::vector<ZstdCase>& cases)
{
    for (const uint32_t status : checkZstdCases(device(), cases))
        CHECK(status == SLUICE_TILE_OK);
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("zstd dictionaries: generated frames decode as by the reference")
{
    std::mt19937 random = makeRandom(900);
    ZstdGenerator generator(random);
    const uint32_t count = std::max(12u, environmentNumber("SLUICE_MUTATIONS", 100) / 10);
    std::vector<ZstdCase> cases;
    for (uint32_t i = 0; i < count; ++i) {
        const ZstdDictionaryParts parts = generator.dictionary(i % 3 != 0);
        const Given dictionary = given(parts.bytes);
        for (uint32_t k = 0; k < 20; ++k) {
            const ZstdGenerator::Made made = generator.frame(&parts);
            if (made.content.size() > (isSoftware() ? 20000u : 200000u)) continue;
            cases.push_back({made.frame, made.content.size(), true, "", dictionary});
        }
    }
    checkOk(cases);
}

TEST_CASE("zstd dictionaries: codewords of 12 bits, in one stream and in four")
{
    std::mt19937 random = makeRandom(901);
    ZstdGenerator generator(random);
    ZstdWeights weights; // codes of 1, 2 ... 12 and 12 bits
    for (uint32_t i = 0; i < 12; ++i)
        weights.push_back(uint8_t(12 - i));
    weights.push_back(1);
    const ZstdDictionaryParts parts = withWeights(generator, weights, true);
    const Given dictionary = given(parts.bytes);
    std::vector<ZstdCase> cases;
    for (const uint32_t streams : {1u, 4u}) {
        for (const size_t count : {6u, 9u, 13u, 100u, 900u, 5000u}) {
            if (streams == 1 && count > 1023) continue;
            ZstdMaker maker;
            maker.content.clear();
            maker.state = parts.state;
            Bytes literals(count);
            for (size_t i = 0; i < count; ++i)
                literals[i] = uint8_t(i % 13);
            maker.coded(literals, {}, nullptr, SLUICE_ZS_LITERALS_TREELESS, streams);
            cases.push_back({maker.frame(), count, true, "", dictionary});
            ZstdMaker own = maker; // a tree of the block's own has 11 bits at most
            own.coded(fewLetters(60), {}, nullptr, SLUICE_ZS_LITERALS_HUFFMAN, streams);
            own.coded(fewLetters(70), {}, nullptr, SLUICE_ZS_LITERALS_TREELESS, streams);
            cases.push_back({own.frame(), count + 130, true, "", dictionary});
        }
    }
    checkOk(cases);
    // Streams with a bit more, and a bit less.
    ZstdMaker maker;
    maker.state = parts.state;
    maker.coded(Bytes(41, 11), {}, nullptr, SLUICE_ZS_LITERALS_TREELESS, 1); // 61 bytes, 4 bits
    Bytes more = maker.frame(), less = more;
    more[more.size() - 2] ^= 0x30;
    less[less.size() - 2] ^= 0x18;
    CHECK(checkZstdCases(device(),
                         {{more, 41, true, "", dictionary}, {less, 41, true, "", dictionary}}) ==
          Words{SLUICE_TILE_BAD_CODE, SLUICE_TILE_BAD_CODE});
}

TEST_CASE("zstd dictionaries: a block's own tree of 12 bits is refused, with a dictionary too")
{
    std::mt19937 random = makeRandom(902);
    ZstdGenerator generator(random);
    ZstdWeights weights;
    for (uint32_t i = 0; i < 12; ++i)
        weights.push_back(uint8_t(12 - i));
    weights.push_back(1);
    ZstdMaker maker;
    ZstdBlockParts parts = maker.parts({}, {});
    parts.tree = zstdTree(weights, true);
    const Bytes literals = {0, 1, 2, 3, 4, 5};
    zstdStreams(parts, weights, literals, 1);
    parts.literalsHeader = zstdLiteralsHeader(SLUICE_ZS_LITERALS_HUFFMAN, 0, literals.size(),
                                              parts.tree.size() + parts.streams.size());
    maker.add(SLUICE_ZS_COMPRESSED, parts.joined());
    const Given dictionary = given(withWeights(generator, weights, true).bytes);
    CHECK(checkZstdCases(device(), {{maker.frame(), 6, true, "", dictionary}}) ==
          Words{SLUICE_TILE_BAD_CODE});
}

TEST_CASE("zstd dictionaries: golden and trained ones, frames of libzstd's levels")
{
    std::vector<ZstdCase> cases;
    const Bytes http = dataFile("http-dict-missing-symbols");
    const Given golden = given(http);
    const Bytes content = textBytes("{\"weight\":1.0,\"adTagType\":\"vast\",\"adTagId\":16174,\"pri"
                                    "cing\":\"fixed\",\"adDealId\":2682},{\"weight\":1.0}");
    for (const int level : {-5, 1, 3, 9, 19})
        cases.push_back({compressed(content, http, level), content.size(), true, "", golden});

    Bytes samples;
    std::vector<size_t> sizes;
    const auto sample = [&](uint32_t seed, size_t size) {
        std::mt19937 same(seed);
        Bytes bytes;
        while (bytes.size() < size) {
            const std::string word = "item" + std::to_string(same() % 50) + "=\"";
            append(bytes, textBytes(word));
            for (uint32_t i = 0; i < same() % 12; ++i)
                bytes.push_back(uint8_t('a' + same() % 26));
            append(bytes, textBytes(same() % 3 == 0 ? "\",\n" : "\" ; "));
        }
        bytes.resize(size);
        return bytes;
    };
    for (uint32_t i = 0; i < 400; ++i) {
        append(samples, sample(i, 200 + i));
        sizes.push_back(200 + i);
    }
    Bytes trained(5000);
    const size_t size = ZDICT_trainFromBuffer(trained.data(), trained.size(), samples.data(),
                                              sizes.data(), uint32_t(sizes.size()));
    REQUIRE(ZDICT_isError(size) == 0);
    trained.resize(size);
    for (const Bytes& bytes : {trained, Bytes(samples.begin(), samples.begin() + 3001)}) {
        const Given dictionary = given(bytes); // trained, and raw
        for (const int level : {-7, 1, 5, 12, 22})
            for (const size_t length : {1u, 50u, 700u, 9000u})
                cases.push_back({compressed(sample(1000 + uint32_t(length), length), bytes, level),
                                 length, true, "", dictionary});
    }
    checkOk(cases);
}

TEST_CASE("zstd dictionaries: vectors of the tree")
{
    // tests/data/README.md says how they were made.
    std::vector<ZstdCase> cases;
    for (const std::string name : {"trained", "raw"}) {
        const Given dictionary = given(dataFile(name + ".dict"));
        for (const std::string level : {"1", "19"}) {
            const Bytes frame = dataFile(name + ".l" + level + ".zst");
            const Bytes wanted = dataFile("dictionary-content.txt");
            cases.push_back({frame, wanted.size(), true, "", dictionary});
            sluice::zstd::Dictionary parsed;
            REQUIRE(sluice::zstd::readDictionary(dictionary->data(), dictionary->size(), parsed) ==
                    SLUICE_TILE_OK);
            CHECK((decodeZstd(frame, wanted.size(), &parsed).bytes == wanted));
        }
    }
    checkOk(cases);
}

TEST_CASE("zstd dictionaries: cut, damaged, and of every small size")
{
    if (skipsOtherSizes()) return;
    std::mt19937 random = makeRandom(904);
    ZstdGenerator generator(random);
    const ZstdDictionaryParts parts = generator.dictionary(true);
    const size_t tables = parts.bytes.size() - parts.content.size();
    ZstdMaker plain;
    plain.raw(counting(9));
    const Bytes simple = plain.frame();
    std::vector<ZstdCase> cases;
    const auto with = [&](Bytes bytes) {
        const Given dictionary = given(std::move(bytes));
        cases.push_back({simple, 9, true, "", dictionary});
        cases.push_back({generator.frame(&parts).frame, 50, true, "", dictionary});
    };
    const size_t step = isSoftware() ? 1 + tables / 60 : 1;
    for (size_t size = 1; size < 20; ++size)
        with({parts.bytes.begin(), parts.bytes.begin() + ptrdiff_t(size)});
    for (size_t size = 20; size < tables; size += step)
        with({parts.bytes.begin(), parts.bytes.begin() + ptrdiff_t(size)});
    for (const size_t size : {tables - 13, tables - 12, tables - 1, tables, tables + 1})
        with({parts.bytes.begin(), parts.bytes.begin() + ptrdiff_t(size)});
    for (uint32_t i = 0; i < 3; ++i) {
        for (const size_t repeat : {size_t(0), size_t(1), parts.content.size(),
                                    parts.content.size() + 1, size_t(0xffffffff)}) {
            Bytes bytes = parts.bytes;
            setLe32(bytes, tables - 12 + 4 * i, uint32_t(repeat));
            with(bytes);
        }
    }
    const uint32_t count = isSoftware() ? 100 : 1000;
    for (uint32_t i = 0; i < count; ++i) {
        Bytes bytes = parts.bytes;
        bytes[random() % tables] = uint8_t(random());
        with(bytes);
    }
    const Words statuses = checkZstdCases(device(), cases);
    for (const uint32_t status : {SLUICE_TILE_OK, SLUICE_TILE_TRUNCATED, SLUICE_TILE_BAD_CODE,
                                  SLUICE_TILE_BAD_OFFSET, SLUICE_TILE_UNSUPPORTED}) {
        CAPTURE(status);
        CHECK(std::count(statuses.begin(), statuses.end(), status) > 0);
    }
}

TEST_CASE("zstd dictionaries: cut where a table begins, at every byte of a word")
{
    std::mt19937 random = makeRandom(907);
    ZstdGenerator generator(random);
    ZstdMaker plain;
    plain.raw(counting(9));
    const Bytes simple = plain.frame();
    // A tree of one weight, and no table.
    std::vector<ZstdCase> cases = {
        {simple, 9, true, "", given({0x37, 0xa4, 0x30, 0xec, 1, 0, 0, 0, 0x80, 0x10})}};
    std::set<std::pair<size_t, size_t>> seen; // the table, and the byte of the word
    for (uint32_t i = 0; i < 1000 && seen.size() < 12; ++i) {
        const Bytes bytes = generator.dictionary(true).bytes;
        const std::array<size_t, 3> ends = tableEnds(bytes);
        for (size_t table = 0; table < 3; ++table) {
            if (!seen.insert({table, ends[table] % 4}).second) continue;
            Bytes cut(bytes.begin(), bytes.begin() + ptrdiff_t(ends[table]));
            cases.push_back({simple, 9, true, "", given(std::move(cut))});
        }
    }
    CHECK(seen.size() == 12);
    CHECK(checkZstdCases(device(), cases) == Words(cases.size(), SLUICE_TILE_TRUNCATED));
}

TEST_CASE("zstd dictionaries: ids, and the limit of content and frame together")
{
    std::mt19937 random = makeRandom(905);
    ZstdGenerator generator(random);
    const ZstdDictionaryParts parts = generator.dictionary(true);
    const Given trained = given(parts.bytes), raw = given(counting(100));
    std::vector<ZstdCase> cases;
    Words wanted;
    const auto expect = [&](const ZstdHeader& header, size_t size, const Given& dictionary,
                            uint32_t status) {
        Bytes frame = zstdHeader(header);
        append(frame, zstdBlock(SLUICE_ZS_RAW, counting(5), true));
        cases.push_back({frame, size, true, "", dictionary});
        wanted.push_back(status);
    };
    ZstdHeader header;
    header.window = 7 << 3;
    for (const uint32_t width : {0u, 1u, 2u, 4u}) {
        header.dictionaryIdBytes = width;
        header.dictionaryId = 0;
        expect(header, 5, trained, SLUICE_TILE_OK);
        expect(header, 5, raw, SLUICE_TILE_OK);
    }
    header.dictionaryId = parts.id;
    expect(header, 5, trained, SLUICE_TILE_OK);
    expect(header, 5, raw, SLUICE_TILE_UNSUPPORTED);
    expect(header, 5, nullptr, SLUICE_TILE_UNSUPPORTED);
    header.dictionaryId = parts.id + 1;
    expect(header, 5, trained, SLUICE_TILE_UNSUPPORTED);
    header = {};
    header.window = 7 << 3;
    header.contentSizeBytes = 4;
    for (const auto& [dictionary, size] :
         {std::pair<Given, size_t>{raw, 100}, {trained, parts.content.size()}}) {
        header.contentSize = SLUICE_ZS_MAX_HISTORY - size;
        expect(header, 5, dictionary, SLUICE_TILE_TOO_SHORT);
        ++*header.contentSize;
        expect(header, 5, dictionary, SLUICE_TILE_LIMIT);
    }
    CHECK(checkZstdCases(device(), cases) == wanted);
}

TEST_CASE("zstd dictionaries: offsets to the content's first byte, further, and over its end")
{
    const Given raw = given(counting(100));
    std::vector<ZstdCase> cases;
    Words wanted;
    for (const uint32_t first : {0u, 1u, 30u}) {
        for (const uint32_t offset : {1u, 29u, 99u, 100u, 101u, 130u, 131u}) {
            for (const uint32_t length : {3u, 40u, 300u}) {
                const uint32_t done = 10 + first;
                ZstdMaker maker;
                maker.content = counting(100);
                if (first != 0) maker.raw(counting(first));
                const bool inside = offset <= 100 + done;
                ZstdBlockParts parts =
                    maker.parts(counting(12), {{10, (inside ? offset : 1) + 3, length}});
                parts.bits = zstdSequenceBits({{10, offset + 3, length}}, maker.state.tables);
                maker.add(SLUICE_ZS_COMPRESSED, parts.joined());
                maker.content.erase(maker.content.begin(), maker.content.begin() + 100);
                ZstdHeader header;
                header.checksum = inside;
                cases.push_back({maker.frame(header), maker.content.size(), true, "", raw});
                wanted.push_back(inside ? uint32_t(SLUICE_TILE_OK)
                                        : uint32_t(SLUICE_TILE_BAD_OFFSET));
            }
        }
    }
    // A second frame of a region sees the dictionary before it, not the first frame.
    ZstdMaker first, second;
    first.raw(Bytes(50, 'f'));
    second.content = counting(100);
    second.coded({1, 2}, {{2, 102 + 3, 60}});
    second.content.erase(second.content.begin(), second.content.begin() + 100);
    ZstdHeader header;
    header.checksum = true;
    Bytes both = first.frame(header);
    append(both, second.frame(header));
    cases.push_back({both, 50 + second.content.size(), true, "", raw});
    wanted.push_back(SLUICE_TILE_OK);
    CHECK(checkZstdCases(device(), cases) == wanted);
}

TEST_CASE("zstd dictionaries: each repeated offset and each table of a dictionary, alone")
{
    std::mt19937 random = makeRandom(906);
    ZstdGenerator generator(random);
    const ZstdDictionaryParts parts = generator.dictionary(true);
    const Given dictionary = given(parts.bytes);
    ZstdTable again;
    again.mode = SLUICE_ZS_REPEAT;
    std::vector<ZstdCase> cases;
    for (uint32_t tables = 0; tables < 8; ++tables) {
        for (uint32_t repeat = 1; repeat <= 3; ++repeat) {
            for (const uint32_t literals : {0u, 2u}) {
                if (literals == 0 && repeat == 3 && parts.state.repeats[0] == 1) continue;
                ZstdMaker maker;
                maker.content = parts.content;
                maker.state = parts.state;
                const ZstdTable modes[3] = {tables & 1 ? again : ZstdTable(),
                                            tables & 2 ? again : ZstdTable(),
                                            tables & 4 ? again : ZstdTable()};
                maker.coded(counting(literals + 1), {{literals, repeat, 20}}, modes);
                const ZstdTable all[3] = {again, again, again};
                maker.coded(counting(3), {{1, 2, 5}, {0, 3, 4}, {2, 1, 9}}, all);
                maker.content.erase(maker.content.begin(),
                                    maker.content.begin() + ptrdiff_t(parts.content.size()));
                ZstdHeader header;
                header.checksum = true;
                cases.push_back({maker.frame(header), maker.content.size(), true, "", dictionary});
            }
        }
    }
    checkOk(cases);
    // With fewer slots than regions, a slot has another region in each turn.
    CHECK(checkZstdCases(device(), cases, 2) == Words(cases.size(), SLUICE_TILE_OK));
}

TEST_SUITE_END();
