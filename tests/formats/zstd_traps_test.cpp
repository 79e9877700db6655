// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests what decoders of Zstandard frames have got wrong, or could get wrong. Each test case is
// named after one such trap.
#include "tests/support/devices.h"
#include "tests/support/zstd_maker.h"
#include "test_paths.h"

#include <xxhash.h>
#include <zdict.h>

#include <array>
#include <fstream>
#include <iterator>

using namespace sluice::test;

namespace {

constexpr uint32_t kOk = SLUICE_TILE_OK, kBadCode = SLUICE_TILE_BAD_CODE,
                   kBadOffset = SLUICE_TILE_BAD_OFFSET, kTruncated = SLUICE_TILE_TRUNCATED,
                   kTooLong = SLUICE_TILE_TOO_LONG, kTooShort = SLUICE_TILE_TOO_SHORT,
                   kLimit = SLUICE_TILE_LIMIT, kUnsupported = SLUICE_TILE_UNSUPPORTED;
constexpr uint32_t kBlock = SLUICE_ZS_BLOCK_BYTES;
constexpr uint32_t kHuffman = SLUICE_ZS_LITERALS_HUFFMAN, kTreeless = SLUICE_ZS_LITERALS_TREELESS;

Bytes golden(const char* name)
{
    std::ifstream file(std::string(SLUICE_TEST_DATA_DIR "/zstd/") + name, std::ios::binary);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

ZstdTable one(uint32_t symbol)
{
    ZstdTable table;
    table.mode = SLUICE_ZS_ONE_SYMBOL;
    table.symbol = symbol;
    return table;
}
ZstdTable again()
{
    ZstdTable table;
    table.mode = SLUICE_ZS_REPEAT;
    return table;
}
ZstdTable fse(const std::vector<uint32_t>& frequencies, uint32_t log)
{
    ZstdTable table;
    table.mode = SLUICE_ZS_FSE;
    table.counts = zstdCounts(frequencies, log, false);
    return table;
}

// Checks that this decoder and libzstd decode the frame to these bytes.
void checkBoth(const Bytes& frame, const Bytes& content)
{
    checkZstd(frame, content);
    const LibzstdDecoded theirs = decodeByLibzstd(frame, content.size());
    CHECK(theirs.error == ZSTD_error_no_error);
    CHECK((theirs.bytes == content));
}
void checkBoth(const ZstdMaker& maker) { checkBoth(maker.frame(), maker.content); }

// Returns the status of the maker's frame with one more block, whose content is not known. more:
// how many bytes it shall add.
uint32_t statusWith(ZstdMaker maker, const Bytes& block, size_t more)
{
    maker.add(SLUICE_ZS_COMPRESSED, block);
    return zstdStatus(maker.frame(), maker.content.size() + more);
}

} // namespace

ZSTD_TEST_CASE("zstd trap: golden vectors of zstd's own tests")
{
    checkZstd(golden("empty-block.zst"), Bytes());
    checkZstd(golden("rle-first-block.zst"), Bytes(1 << 20));
    checkZstd(golden("zeroSeq_2B.zst"), textBytes("Hello World!\n"));
    // libzstd 1.5.4 accepts all three.
    CHECK(zstdStatus(golden("off0.bin.zst"), 18) == kBadOffset);
    CHECK(zstdStatus(golden("zeroSeq_extraneous.zst"), 13) == kBadCode);
    CHECK(zstdStatus(golden("truncated_huff_state.zst"), 7) == kBadCode);
}

ZSTD_TEST_CASE("zstd trap: frames of zstd's page of errata")
{
    checkZstd(fromHex("28b52ffd 2000 150000 0000"), Bytes());
    checkZstd(fromHex("28b52ffd a001000200 02001000 0b000000"), Bytes(kBlock + 1));
    // This frame has a table of two bytes and a stream of one.
    const Bytes tiny =
        fromHex("28b52ffd2027c500 0080f3f1f0ecebc6 c5c7f09d43000000 e0e00658 0100603e52");
    const LibzstdDecoded theirs = decodeByLibzstd(tiny, 0x27);
    CHECK(theirs.error == ZSTD_error_no_error);
    checkZstd(tiny, theirs.bytes);
    // This frame has no magic number.
    CHECK(zstdStatus(fromHex("27b52ffd000319 0000666f6f3fbac459"), 3) == kBadCode);
}

ZSTD_TEST_CASE("zstd trap: a block that decodes to exactly 128 KiB, by literals and by a match")
{
    ZstdMaker maker;
    maker.coded(fewLetters(kBlock), {}, nullptr, kHuffman, 4);
    maker.coded(fewLetters(kBlock - 3), {{kBlock / 2, 7, 3}}, nullptr, kTreeless, 4);
    maker.coded(counting(1), {{1, 7, kBlock - 1}});
    maker.coded({}, {{0, 7, kBlock}});
    maker.raw(counting(kBlock));
    maker.rle('x', kBlock);
    checkBoth(maker);
}

ZSTD_TEST_CASE("zstd trap: a block that decodes to one byte more than 128 KiB")
{
    for (const uint32_t length : {kBlock + 1, 131074u}) {
        ZstdMaker maker;
        maker.raw(counting(10));
        maker.coded({}, {{0, 7, length}});
        CHECK(zstdStatus(maker.frame(), maker.content.size()) == kLimit);
    }
    ZstdMaker maker;
    maker.coded(fewLetters(kBlock - 2), {{4, 7, 3}});
    CHECK(zstdStatus(maker.frame(), maker.content.size()) == kLimit);
}

ZSTD_TEST_CASE("zstd trap: a compressed block of exactly 131,072 bytes")
{
    ZstdMaker maker; // like zstd's golden file block-128k
    maker.coded(Bytes(kBlock - 4), {});
    const Bytes frame = maker.frame();
    CHECK(frame.size() == 4 + 2 + 3 + kBlock);
    checkBoth(maker);
    CHECK(XXH64(frame.data(), frame.size(), 0) == 11201642040466773702u);
}

ZSTD_TEST_CASE("zstd trap: blocks of nothing, of each type, first and last")
{
    const auto nothing = [](ZstdMaker& maker, uint32_t kind) {
        if (kind == 0) maker.raw({});
        if (kind == 1) maker.rle('x', 0);
        if (kind == 2) maker.coded({}, {});
    };
    for (uint32_t first = 0; first < 3; ++first) {
        for (uint32_t last = 0; last < 3; ++last) {
            ZstdMaker maker;
            nothing(maker, first);
            maker.coded(counting(5), {{5, 7, 5}});
            nothing(maker, first);
            nothing(maker, last);
            checkBoth(maker);
            ZstdMaker none;
            nothing(none, first);
            nothing(none, last);
            checkBoth(none);
        }
    }
}

ZSTD_TEST_CASE("zstd trap: 43,690 and 43,691 sequences, and counts in one, two and three bytes")
{
    for (const uint32_t count : {1u, 127u, 128u, 255u, 256u, 0x7effu, 0x7f00u, 43690u}) {
        CAPTURE(count);
        ZstdMaker maker;
        maker.raw(counting(8));
        maker.coded({}, ZstdSequences(count, {0, 7, 3}));
        checkBoth(maker);
        if (count < 0x7f00) {
            ZstdMaker longer;
            longer.raw(counting(8));
            ZstdBlockParts parts = longer.parts({}, ZstdSequences(count, {0, 7, 3}));
            parts.sequencesHeader = zstdSequenceCount(count, 2);
            parts.sequencesHeader.push_back(0);
            longer.add(SLUICE_ZS_COMPRESSED, parts.joined());
            checkBoth(longer);
        }
    }
    ZstdMaker maker;
    maker.raw(counting(8));
    maker.coded({}, ZstdSequences(43691, {0, 7, 3}));
    CHECK(zstdStatus(maker.frame(), maker.content.size()) == kLimit);
    // With a window of 1 KiB, 341 sequences are the limit.
    for (const uint32_t count : {341u, 342u}) {
        ZstdMaker small;
        small.raw(counting(8));
        small.coded({}, ZstdSequences(count, {0, 7, 3}));
        Bytes frame = zstdHeader({});
        append(frame, small.blocks());
        CHECK(zstdStatus(frame, small.content.size()) == (count == 341 ? kOk : kLimit));
    }
}

ZSTD_TEST_CASE("zstd trap: many blocks of 43,690 sequences each, all chains of copies")
{
    const ZstdTable tables[3] = {one(0), one(2), one(0)};
    ZstdMaker maker;
    maker.raw(counting(8));
    for (uint32_t i = 0; i < 20; ++i) {
        const size_t before = maker.content.size();
        // An offset has one bit: its value is 4 or 5, minus 3. Both occur.
        ZstdSequences sequences(43690, {0, 7, 3});
        maker.coded({}, sequences, tables);
        CHECK(maker.content.size() == before + 131070);
    }
    checkBoth(maker);
}

ZSTD_TEST_CASE("zstd trap: one symbol for all sequences, and the symbols that there are not")
{
    ZstdMaker maker;
    const ZstdTable tables[3] = {one(3), one(2), one(4)};
    maker.coded(counting(12), ZstdSequences(4, {3, 4, 7}), tables);
    checkBoth(maker);
    // None of the three tables takes bits except for extra bits. The last symbol of each is
    // accepted, the one after it is not.
    constexpr uint32_t kLast[3] = {35, 31, 52};
    for (uint32_t kind = 0; kind < 3; ++kind) {
        for (uint32_t more = 0; more < 2; ++more) {
            Bytes block = {0x00, 1, 0x54, 0, 0, 0};
            block[3 + kind] = uint8_t(kLast[kind] + more);
            ZstdBits bits;
            bits.put(0, zstdExtraBits(kind, kLast[kind]));
            append(block, bits.finish());
            const uint32_t status = statusWith({}, block, 3);
            // The sequence has a length of literals that are not there, an offset that is too far,
            // or a match that is too long.
            CHECK(status == (more != 0   ? kBadCode
                             : kind == 0 ? kBadCode
                             : kind == 1 ? kBadOffset
                                         : kTooLong));
            ZstdMaker with;
            with.add(SLUICE_ZS_COMPRESSED, block);
            const auto outcome = decodeZstd(with.frame(), 3).outcome;
            CHECK((outcome.phase ==
                   (more != 0 ? sluice::cpu::ZstdPhase::tables : sluice::cpu::ZstdPhase::output)));
        }
    }
    // A described FSE table, too, may have the last symbol, but not the one after it. The block has
    // no bits of sequences, so it fails in any case, but later if its table is accepted.
    for (uint32_t kind = 0; kind < 3; ++kind) {
        for (uint32_t more = 0; more < 2; ++more) {
            std::vector<uint32_t> frequencies(kLast[kind] + 1 + more);
            frequencies[1] = 20;
            frequencies.back() = 12;
            Bytes block = {0x00, 1, uint8_t(SLUICE_ZS_FSE << (6 - 2 * kind))};
            append(block, zstdDescription(zstdCounts(frequencies, 5, false)));
            ZstdMaker with;
            with.add(SLUICE_ZS_COMPRESSED, block);
            const auto outcome = decodeZstd(with.frame(), 3).outcome;
            CHECK(outcome.status == kBadCode);
            CHECK((outcome.phase ==
                   (more != 0 ? sluice::cpu::ZstdPhase::tables : sluice::cpu::ZstdPhase::symbols)));
        }
    }
}

ZSTD_TEST_CASE("zstd trap: tables taken again after predefined ones, one symbol, and other blocks")
{
    const ZstdTable repeat[3] = {again(), again(), again()};
    const ZstdTable singles[3] = {one(2), one(2), one(1)};
    const ZstdTable coded[3] = {fse({3, 9, 20}, 5), fse({2, 1, 29}, 6), fse({20, 12}, 7)};
    const ZstdTable mixed[3] = {again(), one(2), again()};
    const ZstdSequences sequences(3, {2, 4, 4});
    for (const ZstdTable* first : {static_cast<const ZstdTable*>(nullptr), singles, coded}) {
        for (uint32_t between = 0; between < 4; ++between) {
            ZstdMaker maker;
            maker.coded(counting(9), sequences, first);
            if (between == 1) maker.raw(counting(100));
            if (between == 2) maker.rle('y', 100);
            if (between == 3) maker.coded(fewLetters(50), {}); // it has no sequences, so no tables
            maker.coded(counting(8), sequences, repeat);
            maker.coded(counting(8), sequences, mixed);
            maker.coded(counting(8), sequences, repeat);
            checkBoth(maker);
        }
    }
    // The first block with sequences has no earlier tables. Those of the frame before do not count.
    ZstdMaker before;
    before.coded(counting(9), sequences, coded);
    for (uint32_t kind = 0; kind < 3; ++kind) {
        ZstdMaker maker;
        maker.coded(counting(20), {});
        const Bytes block = {0x00, 1, uint8_t(SLUICE_ZS_REPEAT << (6 - 2 * kind)), 0x80};
        CHECK(statusWith(maker, block, 3) == kBadCode);
        ZstdMaker second;
        second.add(SLUICE_ZS_COMPRESSED, block);
        Bytes frames = before.frame();
        append(frames, second.frame());
        const auto outcome = decodeZstd(frames, before.content.size() + 3).outcome;
        CHECK(outcome.status == kBadCode);
        CHECK((outcome.phase == sluice::cpu::ZstdPhase::structure));
    }
}

ZSTD_TEST_CASE("zstd trap: treeless literals after raw and RLE literals, and first")
{
    for (const uint32_t between : {SLUICE_ZS_LITERALS_RAW, SLUICE_ZS_LITERALS_RLE}) {
        for (const uint32_t streams : {1u, 4u}) {
            ZstdMaker maker;
            maker.coded(fewLetters(50), {}, nullptr, kHuffman, streams);
            maker.coded(Bytes(20, 'q'), {{10, 7, 4}}, nullptr, between);
            maker.coded(fewLetters(60), {{10, 7, 4}}, nullptr, kTreeless, streams);
            checkBoth(maker);
        }
        ZstdMaker maker;
        maker.coded(Bytes(20, 'q'), {{10, 7, 4}}, nullptr, between);
        maker.state.weights = fewWeights();
        maker.coded(fewLetters(60), {}, nullptr, kTreeless);
        CHECK(zstdStatus(maker.frame(), maker.content.size()) == kBadCode);
    }
}

ZSTD_TEST_CASE("zstd trap: Huffman codes of 11 and 12 bits, of one symbol, of 255 and 256 weights")
{
    const auto withTree = [](const ZstdWeights& weights, const Bytes& tree, const Bytes& literals) {
        ZstdMaker maker;
        ZstdBlockParts parts = maker.parts({}, {});
        parts.tree = tree;
        zstdStreams(parts, weights, literals, 1);
        parts.literalsHeader =
            zstdLiteralsHeader(kHuffman, 0, literals.size(), tree.size() + parts.streams.size());
        maker.add(SLUICE_ZS_COMPRESSED, parts.joined());
        maker.content = literals;
        return maker;
    };
    // Codes have 1, 2, 3 ... bits; the longest length occurs twice.
    for (const uint32_t bits : {1u, 2u, 10u, 11u, 12u}) {
        ZstdWeights weights;
        for (uint32_t i = 0; i < bits; ++i)
            weights.push_back(uint8_t(bits - i));
        weights.push_back(1);
        Bytes all(weights.size());
        for (size_t i = 0; i < all.size(); ++i)
            all[i] = uint8_t(i);
        for (const bool direct : {true, false}) {
            if (!direct && (bits < 2 || bits > 11)) continue; // FSE needs two weights or more
            const ZstdMaker maker = withTree(weights, zstdTree(weights, direct), all);
            if (bits <= 11)
                checkBoth(maker);
            else
                CHECK(zstdStatus(maker.frame(), all.size()) == kBadCode);
        }
    }
    // 255 weights and the last one, which is not sent. All codes have the same length, so the
    // states of the FSE code take no bits.
    const ZstdWeights all(256, 1);
    Bytes literals(256);
    for (size_t i = 0; i < literals.size(); ++i)
        literals[i] = uint8_t(i * 7);
    const Bytes tree = zstdTree(all, false);
    REQUIRE(!tree.empty());
    checkBoth(withTree(all, tree, literals));
    CHECK(zstdTree(ZstdWeights(128, 1), true).size() == 1 + 64);
    checkBoth(withTree(ZstdWeights(128, 1), zstdTree(ZstdWeights(128, 1), true), Bytes(10, 127)));
    // More than 256 weights, and weights whose state is never left.
    const ZstdWeights tooMany(258, 1);
    CHECK(zstdStatus(withTree(all, zstdTree(tooMany, false), literals).frame(), 256) == kBadCode);
    Bytes endless = zstdDescription([] {
        sluice::fse::Distribution counts;
        counts.log = 5;
        counts.symbols = 2;
        counts.count[1] = 32;
        return counts;
    }());
    append(endless, {0, 0x04}); // only the first states
    endless.insert(endless.begin(), uint8_t(endless.size()));
    CHECK(zstdStatus(withTree(all, endless, literals).frame(), 256) == kBadCode);
}

ZSTD_TEST_CASE("zstd trap: four streams of 6 and of 9 literals, the last of which has none")
{
    for (size_t count = 6; count < 20; ++count) {
        CAPTURE(count);
        ZstdMaker maker;
        maker.coded(fewLetters(count), {}, nullptr, kHuffman, 4);
        checkBoth(maker);
    }
}

ZSTD_TEST_CASE("zstd trap: one stream of no literals")
{
    ZstdMaker maker;
    maker.coded({}, {}, nullptr, kHuffman, 1);
    maker.coded(fewLetters(20), {}, nullptr, kTreeless, 1);
    checkZstd(maker.frame(), maker.content);
}

ZSTD_TEST_CASE("zstd trap: the first offset less one, twice and across blocks")
{
    ZstdMaker maker;
    maker.raw(counting(100));
    maker.coded(counting(10), {{2, 53, 4}, {0, 3, 4}, {0, 3, 4}, {0, 3, 4}, {1, 1, 3}});
    maker.coded({}, {{0, 3, 4}});
    maker.raw(counting(3));
    maker.coded({}, {{0, 3, 4}, {0, 1, 5}, {0, 2, 5}, {0, 3, 5}});
    CHECK(maker.state.repeats[0] > 1);
    checkBoth(maker);
    // If the first offset is 1, it becomes 0, which is refused. libzstd 1.5.4 goes on with 1.
    for (const uint32_t block : {0u, 1u}) {
        ZstdMaker wrong;
        wrong.coded(counting(10), {{10, 4, 3}});
        if (block == 1) wrong.rle('x', 5);
        ZstdStates tables[3];
        for (uint32_t kind = 0; kind < 3; ++kind)
            tables[kind] = zstdStates(kind, {}, {});
        Bytes last = {0x00, 1, 0};
        append(last, zstdSequenceBits({{0, 3, 3}}, tables));
        CHECK(statusWith(wrong, last, 3) == kBadOffset);
    }
}

ZSTD_TEST_CASE("zstd trap: offsets taken again over blocks, in all orders of four")
{
    // Four sequences are of any kind. Each is in a block of its own, or the second and third are in
    // one block.
    constexpr std::array<ZstdSequence, 8> kKinds = {
        {{1, 1, 3}, {1, 2, 3}, {1, 3, 3}, {0, 1, 3}, {0, 2, 3}, {0, 3, 3}, {1, 30, 3}, {0, 41, 3}}};
    for (uint32_t order = 0; order < 8 * 8 * 8 * 8; ++order) {
        CAPTURE(order);
        ZstdMaker maker;
        maker.raw(counting(100));
        maker.state.repeats[0] = 1;
        ZstdSequences left;
        maker.coded(counting(3), {{1, 63, 3}, {1, 53, 4}, {1, 43, 3}});
        for (uint32_t k = 0; k < 4; ++k) {
            left.push_back(kKinds[order >> 3 * k & 7]);
            if (k == 1 && order % 3 == 0) continue; // this one and the next are in one block
            uint32_t literals = 0;
            for (const ZstdSequence& sequence : left)
                literals += sequence.literals;
            maker.coded(counting(literals), left);
            left.clear();
        }
        if (order % 16 == 0)
            checkBoth(maker);
        else
            checkZstd(maker.frame(), maker.content);
    }
}

ZSTD_TEST_CASE("zstd trap: 43,690 sequences that take the first offset less one, to the end")
{
    ZstdMaker maker;
    maker.raw(counting(kBlock));
    maker.coded({}, {{0, 43700 + 3, 3}});
    maker.coded({}, ZstdSequences(43690, {0, 3, 3}));
    CHECK(maker.state.repeats[0] == 10);
    checkBoth(maker);
}

ZSTD_TEST_CASE("zstd trap: offsets as far as the frame's start, further, and beyond the window")
{
    const auto single = [](uint32_t offset) {
        ZstdMaker maker;
        maker.raw(counting(100));
        ZstdStates tables[3];
        for (uint32_t kind = 0; kind < 3; ++kind)
            tables[kind] = zstdStates(kind, {}, {});
        Bytes block = {0x10, 'x', 'y', 1, 0}; // two raw literals
        append(block, zstdSequenceBits({{2, offset + 3, 5}}, tables));
        maker.add(SLUICE_ZS_COMPRESSED, block);
        return maker.frame();
    };
    CHECK(zstdStatus(single(102), 107) == kOk);
    CHECK(zstdStatus(single(103), 107) == kBadOffset);
    // A frame cannot copy from the frame before it.
    Bytes frames = single(102);
    append(frames, single(103));
    CHECK(zstdStatus(frames, 214) == kBadOffset);
    // An offset beyond the window of 1 KiB, but inside the frame, is accepted.
    ZstdMaker maker;
    for (uint32_t i = 0; i < 5; ++i)
        maker.raw(counting(1000));
    maker.coded({}, {{0, 4000 + 3, 100}});
    ZstdHeader header;
    header.window = 1; // a window of 1,152 bytes
    checkBoth(maker.frame(header), maker.content);
}

ZSTD_TEST_CASE("zstd trap: a match of 131,072, literals of 131,072, sums above the block")
{
    ZstdMaker maker;
    maker.raw(counting(kBlock));
    maker.coded({}, {{0, kBlock + 3, kBlock}});
    maker.coded(fewLetters(kBlock - 3), {{kBlock - 3, 4, 3}}, nullptr, kHuffman, 4);
    checkBoth(maker);
    // The sum of lengths exceeds 2^32: 43,690 literal lengths of 131,071, then as many matches of
    // 131,074 bytes.
    for (const bool literals : {true, false}) {
        ZstdMaker sums;
        sums.raw(counting(100));
        const ZstdTable tables[3] = {one(literals ? 35 : 0), one(2), one(literals ? 0 : 52)};
        ZstdStates states[3];
        Bytes block = {0x00, 0xff, 0xaa, 0x2b, 0x54};
        for (uint32_t kind = 0; kind < 3; ++kind) {
            states[kind] = zstdStates(kind, tables[kind], {});
            block.push_back(uint8_t(tables[kind].symbol));
        }
        append(block, zstdSequenceBits(ZstdSequences(43690, {literals ? 131071u : 0, 4,
                                                             literals ? 3u : 131074u}),
                                       states));
        CHECK(statusWith(sums, block, kBlock) == (literals ? kBadCode : kLimit));
    }
}

ZSTD_TEST_CASE("zstd trap: literals that no sequence takes, after the last one")
{
    ZstdMaker maker;
    maker.coded(counting(500), {{10, 7, 4}, {0, 1, 4}});
    checkBoth(maker);
}

ZSTD_TEST_CASE("zstd trap: dictionary whose literals have fewer than 256 symbols")
{
    const Bytes bytes = golden("http-dict-missing-symbols");
    sluice::zstd::Dictionary dictionary;
    REQUIRE(sluice::zstd::readDictionary(bytes.data(), bytes.size(), dictionary) == kOk);
    CHECK(dictionary.info.id == ZDICT_getDictID(bytes.data(), bytes.size()));
    CHECK(dictionary.info.hasTables);
    const Bytes content = textBytes("{\"weight\":1.0,\"adTagType\":\"vast\",\"adTagId\":16174,\"pri"
                                    "cing\":\"fixed\",\"adDealId\":2682},{\"weight\":1.0}");
    const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
    for (const int level : {1, 19}) {
        Bytes frame(ZSTD_compressBound(content.size()));
        const size_t size =
            ZSTD_compress_usingDict(context.get(), frame.data(), frame.size(), content.data(),
                                    content.size(), bytes.data(), bytes.size(), level);
        REQUIRE(ZSTD_isError(size) == 0);
        frame.resize(size);
        const ZstdDecoded decoded = decodeZstd(frame, content.size(), &dictionary);
        CHECK(decoded.outcome.status == kOk);
        CHECK((decoded.bytes == content));
        CHECK(zstdStatus(frame, content.size()) == kUnsupported);
    }
}

ZSTD_TEST_CASE("zstd trap: dictionaries that are cut or damaged")
{
    std::mt19937 random = makeRandom(890);
    ZstdGenerator generator(random);
    const ZstdDictionaryParts parts = generator.dictionary(true);
    const size_t tables = parts.bytes.size() - parts.content.size();
    const auto status = [](const Bytes& bytes) {
        // A copy of the exact size, so that sanitizers notice reads after its end.
        const Bytes exact(bytes);
        sluice::zstd::Dictionary dictionary;
        return sluice::zstd::readDictionary(exact.data(), exact.size(), dictionary);
    };
    CHECK(status(parts.bytes) == kOk);
    for (size_t size = 0; size < tables; ++size)
        CHECK(status({parts.bytes.begin(), parts.bytes.begin() + ptrdiff_t(size)}) ==
              (size < 8 ? kOk : kTruncated)); // with less than 8 bytes it is a raw dictionary
    for (uint32_t i = 0; i < 3; ++i) {
        for (const uint64_t repeat : {uint64_t(0), parts.content.size() + uint64_t(1)}) {
            Bytes bytes = parts.bytes;
            const size_t at = tables - 12 + 4 * i;
            for (uint32_t k = 0; k < 4; ++k)
                bytes[at + k] = uint8_t(repeat >> 8 * k);
            CHECK(status(bytes) == kBadOffset);
        }
    }
    for (uint32_t i = 0; i < 1000; ++i) {
        Bytes bytes = parts.bytes;
        bytes[8 + random() % (tables - 8)] = uint8_t(random());
        const uint32_t got = status(bytes);
        CHECK((got == kOk || got == kBadCode || got == kTruncated || got == kBadOffset));
    }
}

ZSTD_TEST_CASE("zstd trap: 65,536 and 65,537 blocks, and 4,096 and one for every 256 bytes")
{
    // Returns a frame of empty blocks, followed by blocks with the content.
    const auto made = [](uint32_t blocks, size_t size) {
        ZstdMaker maker;
        Bytes frame = zstdHeader(ZstdHeader{{}, 0, false, false, 7 << 3});
        for (uint32_t i = 1; i < blocks; ++i)
            append(frame, zstdBlock(SLUICE_ZS_RAW, {}, false));
        for (size_t left = size; left > kBlock; left -= kBlock) {
            frame.resize(frame.size() - 3);
            Bytes block = zstdRleBlock('z', kBlock, false);
            frame.insert(frame.begin() + 6, block.begin(), block.end());
        }
        append(frame, zstdRleBlock('z', (size - 1) % kBlock + 1, true));
        return frame;
    };
    for (const size_t size : {1u, 255u, 256u, 100000u}) {
        const uint32_t most = uint32_t(4096 + size / 256);
        checkZstd(made(most, size), Bytes(size, 'z'));
        CHECK(zstdStatus(made(most + 1, size), size) == kLimit);
    }
    constexpr size_t kLarge = 16 << 20;
    checkZstd(made(65536, kLarge), Bytes(kLarge, 'z'));
    CHECK(zstdStatus(made(65537, kLarge), kLarge) == kLimit);
    Bytes frames;
    for (uint32_t i = 0; i < 65536; ++i)
        append(frames, zstdSkippable(0, {}));
    CHECK(zstdStatus(frames, 0) == kOk);
    append(frames, zstdSkippable(0, {}));
    CHECK(zstdStatus(frames, 0) == kLimit);
}

ZSTD_TEST_CASE("zstd trap: sizes of a region that its frames do not have")
{
    ZstdMaker maker;
    maker.coded(counting(100), {{50, 33, 20}});
    Bytes frames = maker.frame();
    append(frames, maker.frame());
    const size_t size = 2 * maker.content.size();
    CHECK(zstdStatus(frames, size) == kOk);
    for (const size_t less : {size_t(0), size_t(1), size / 2, size - 1})
        CHECK(zstdStatus(frames, less) == kTooLong);
    CHECK(zstdStatus(frames, size + 1) == kTooShort);
}
