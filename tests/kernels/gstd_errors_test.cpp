// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests Gstd tiles that follow all rules of docs/format.md, section 7, or break exactly one. The
// status of each, and its bytes if it is OK, are written down here and are the same on every tier.
#include "tests/support/gdeflate_tiles.h"
#include "tests/support/gstd_word_writer.h"

#include <algorithm>
#include <functional>
#include <memory>

using namespace sluice::test;

namespace {

struct Case {
    Tile tile;
    uint32_t status;
    Bytes bytes; // only if the status is OK
};

constexpr uint32_t kOk = SLUICE_TILE_OK, kBadCode = SLUICE_TILE_BAD_CODE,
                   kBadOffset = SLUICE_TILE_BAD_OFFSET, kTruncated = SLUICE_TILE_TRUNCATED,
                   kTooLong = SLUICE_TILE_TOO_LONG, kTooShort = SLUICE_TILE_TOO_SHORT,
                   kLimit = SLUICE_TILE_LIMIT;

void check(const std::vector<Case>& cases)
{
    std::vector<Tile> tiles;
    for (const Case& one : cases)
        tiles.push_back(one.tile);
    const std::unique_ptr<Buffer> scratch = gstdScratchForMany(device());
    const std::vector<DecodedTile> results =
        decodeAndCompare(device(), tiles, TileCodec::gstd, scratch.get());
    for (size_t i = 0; i < cases.size(); ++i) {
        CAPTURE(cases[i].tile.name);
        CHECK(results[i].status == cases[i].status);
        if (cases[i].status == kOk) CHECK((results[i].bytes == cases[i].bytes));
    }
}

Bytes text(const char* characters) { return {characters, characters + std::strlen(characters)}; }
Bytes counting(uint32_t count)
{
    Bytes bytes(count);
    for (uint32_t i = 0; i < count; ++i)
        bytes[i] = uint8_t(i * 7 + i / 256);
    return bytes;
}
Bytes fewLiterals(uint32_t count)
{
    Bytes bytes(count);
    for (uint32_t i = 0; i < count; ++i)
        bytes[i] = uint8_t('a' + i * i % 5);
    return bytes;
}

// Returns `before` and the expanded bytes of a part after them. It follows docs/format.md alone and
// uses no decoder.
Bytes expandAfter(Bytes before, const GstdCoded& part)
{
    size_t literal = 0;
    uint32_t repeats[3] = {1, 4, 8};
    for (const GstdSequence& sequence : part.sequences) {
        for (uint32_t i = 0; i < sequence.literals; ++i)
            before.push_back(part.literals[literal++]);
        uint32_t offset = sequence.offset, place = 2;
        if (sequence.repeats) {
            place = (sequence.offset + (sequence.literals == 0 ? 1 : 0)) % 3;
            offset = repeats[place];
        }
        for (; place > 0; --place)
            repeats[place] = repeats[place - 1];
        repeats[0] = offset;
        for (uint32_t i = 0; i < sequence.length; ++i)
            before.push_back(before[before.size() - offset]);
    }
    before.insert(before.end(), part.literals.begin() + std::ptrdiff_t(literal),
                  part.literals.end());
    return before;
}

// Returns a part whose size is that of its literals and matches.
GstdCoded coded(const Bytes& literals, const std::vector<GstdSequence>& sequences,
                uint32_t literalKind = 2)
{
    GstdCoded part;
    part.literalKind = literalKind;
    part.literals = literals;
    part.sequences = sequences;
    part.size = uint32_t(literals.size());
    for (const GstdSequence& sequence : sequences)
        part.size += sequence.length;
    return part;
}

Case makeCase(const char* name, uint32_t status, const std::vector<GstdPart>& parts,
              const Bytes& bytes = {}, uint32_t depth = 8)
{
    uint32_t size = 0;
    for (const GstdPart& part : parts)
        size += part.size;
    return {{name, gstdTile(depth, parts), size}, status, bytes};
}

// Makes a case of a tile of one part whose status is OK.
Case good(const char* name, const GstdCoded& part, uint32_t depth = 8)
{
    return makeCase(name, kOk, {codedPart(part)}, expandAfter({}, part), depth);
}

// Makes a case of a tile of one part that is right except for what `change` does to it.
Case changed(const char* name, uint32_t status, const GstdCoded& part,
             const std::function<void(GstdPart&)>& change)
{
    GstdPart sent = codedPart(part);
    change(sent);
    return makeCase(name, status, {sent}, expandAfter({}, part));
}

// Returns a part of 40 bytes: literals, a match that overlaps itself, a repeated offset, literals.
GstdCoded plainExample() { return coded(text("abcdefgh12"), {{6, 20, 2}, {2, 10, 1, true}}); }

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("gstd errors: tiles worked out by hand")
{
    // One part of 5 bytes with plain literals and no sequence. Lane 0 reads all of them, as the
    // first lane of 128 literals. At the start it takes the word 0x6463; the other lanes take
    // zeros. Its first read takes 0x6261. Its state is then 0x64636261, whose bytes are read from
    // the low one on. Before the third read the state is below 2^16, but no word is left. Lane 1
    // reads the fifth literal from its 0x65, in the same step where lane 0 reads its first one. So
    // lane 0 takes the last word before that.
    const Bytes literals = {
        0x00, 0x00, 0x00, 0x00,       // one part, depth 1
        0x04, 0x00, 0x24, 0x00,       // 5 bytes, 37 words
        0x0a, 0x00, 5,    0,    0, 0, // coded, plain literals, logs of 5; 5 literals, no sequence
        0,    0,                      // modulus 1
        0x63, 0x64, 0x65, 0,          // lanes 0 and 1
        0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // lanes 2 to 31
        0x61, 0x62,
    };
    // A run of 512 bytes, then three plain bytes. The byte that fills up the last word may be
    // anything.
    const Bytes twoParts = {
        0x01, 0x00, 0x00, 0x00,             // two parts
        0xff, 0x01, 0x00, 0x00,             // 512 bytes, 1 word
        0x02, 0x00, 0x02, 0x00,             // 3 bytes, 3 words
        0x01, 0x5a,                         // run of 0x5a
        0x00, 0x00, 0x11, 0x22, 0x33, 0x99, // plain
    };
    Bytes twoPartsBytes(515, 0x5a);
    std::copy_n(twoParts.end() - 4, 3, twoPartsBytes.end() - 3);
    check({
        {{"literals", literals, 5}, kOk, text("abcde")},
        {{"run and plain", twoParts, 515}, kOk, twoPartsBytes},
    });
    // The writer of this test makes the same bytes, with 0 as the last one.
    CHECK(gstdTile(1, {runPart(0x5a, 512), plainPart({0x11, 0x22, 0x33})}) == [&] {
        Bytes b = twoParts;
        b.back() = 0;
        return b;
    }());
}

TEST_CASE("gstd errors: what every rule allows")
{
    std::vector<Case> cases = {good("plain literals", plainExample()),
                               good("one byte", coded(text("x"), {}))};
    for (const uint32_t kind : {0u, 1u, 3u}) {
        GstdCoded part = coded(fewLiterals(300), {{100, 50, 37}, {150, 3, 300}}, kind);
        if (kind == 3) part.literals.assign(300, 'q');
        cases.push_back(good("each kind of literals", part));
    }
    // The smallest and the largest logs of tables.
    for (const uint32_t log : {5u, 6u, 10u, 11u}) {
        GstdCoded part = coded(fewLiterals(300), {{100, 50, 37}, {150, 3, 300}}, 0);
        part.literalLog = log;
        part.sequenceLog = std::min(log, 10u);
        cases.push_back(good("a log", part));
    }
    // One symbol has all slots, so that literals cost no bits.
    cases.push_back(good("a table of one symbol", coded(Bytes(200, 'z'), {}, 0)));
    // This part has all 12 code lengths, and 11 bits twice.
    cases.push_back(good("codes of 11 bits", coded(text("abcdefghijklllkjihgfedcba"), {}, 1)));
    // In this part's table of classes, one class has all 64 slots.
    GstdCoded oneClass = coded(counting(256), {}, 1);
    oneClass.literalTable.assign(256, 8);
    oneClass.classes = {0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0};
    cases.push_back(good("one class alone", oneClass));

    // Numbers of literals around the rows of 128, and of sequences around the rows of 32.
    for (const uint32_t count : {127u, 128u, 129u, 383u})
        cases.push_back(good("rows of literals", coded(counting(count), {})));
    for (const uint32_t count : {31u, 32u, 33u, 65u}) {
        std::vector<GstdSequence> sequences;
        for (uint32_t i = 0; i < count; ++i)
            sequences.push_back({1, 3 + i % 40, 1 + i % 8});
        cases.push_back(good("rows of sequences", coded(counting(count + 9), sequences)));
    }
    // Each of the three recent offsets is repeated, with literals before the match and without.
    // Each repetition changes their order.
    for (uint32_t first = 0; first < 3; ++first) {
        for (uint32_t second = 0; second < 3; ++second) {
            for (const uint32_t literals : {0u, 1u})
                cases.push_back(good("repeats", coded(counting(40), {{9, 4, 7},
                                                                     {literals, 5, first, true},
                                                                     {literals, 4, second, true},
                                                                     {0, 3, 0, true},
                                                                     {2, 6, 2, true}})));
        }
    }
    cases.push_back(good("the offsets at first",
                         coded(counting(20), {{8, 3, 0, true}, {1, 3, 1, true}, {1, 3, 2, true}})));
    // Offsets with a modulus. Their remainders are 0, the highest one and others.
    for (const uint32_t modulus : {2u, 3u, 12u, 64u}) {
        GstdCoded part = coded(counting(300), {{200, 9, modulus},
                                               {3, 9, 2 * modulus - 1},
                                               {3, 9, modulus - 1},
                                               {3, 9, 150 + modulus}});
        part.modulus = modulus;
        cases.push_back(good("a modulus", part));
    }
    // Match lengths and numbers of literals at the edges of their symbols.
    for (const uint32_t length : {34u, 35u, 36u, 66u, 67u, 131u, 4099u})
        cases.push_back(good("a match length", coded(counting(50), {{20, length, 19}})));
    for (const uint32_t length : {15u, 16u, 17u, 31u, 32u, 1000u})
        cases.push_back(good("a literal length", coded(counting(1001), {{length, 7, 3}})));
    cases.push_back(good("65,536 bytes of one match", coded(text("a"), {{1, 65535, 1}})));
    cases.push_back(good("65,536 literals", coded(counting(65536), {})));
    check(cases);
}

TEST_CASE("gstd errors: parts, and tables of earlier parts")
{
    std::vector<Case> cases;
    // A match reaches back over parts of every kind, to the very first byte.
    const GstdCoded reach = coded(text("!"), {{1, 9, 1537}});
    Bytes before = counting(512);
    before.insert(before.end(), 1024, 'r');
    cases.push_back(makeCase("back over parts", kOk,
                             {plainPart(counting(512)), runPart('r', 1024), codedPart(reach)},
                             expandAfter(before, reach)));
    const GstdCoded further = coded(text("!"), {{1, 9, 1538}});
    cases.push_back(makeCase("one before the tile, over parts", kBadOffset,
                             {plainPart(counting(512)), runPart('r', 1024), codedPart(further)}));
    // This tile has sixteen parts.
    std::vector<GstdPart> sixteen(16, runPart('s', 512));
    cases.push_back(makeCase("sixteen parts", kOk, sixteen, Bytes(16 * 512, 's')));
    // Words after the last part are ignored, even with an odd number of bytes.
    Case behind = good("words behind the tile", plainExample());
    behind.tile.compressed.insert(behind.tile.compressed.end(), 7, 0xff);
    cases.push_back(behind);

    for (const uint32_t kind : {0u, 1u}) {
        GstdCoded first = coded(fewLiterals(512 - 50), {{20, 40, 3}, {100, 10, 15}}, kind);
        first.modulus = 4;
        GstdCoded second = coded(fewLiterals(150), {{20, 10, 15}, {100, 40, 3}}, kind);
        second.reusesLiterals = second.reusesSequences = true;
        second.literalsOf = second.sequencesOf = &first;
        second.modulus = 1; // it has no effect, like the fields below
        second.literalLog = 6;
        second.sequenceLog = 5;
        second.literalKind = 3;
        const Bytes bytes = expandAfter(expandAfter({}, first), second);
        cases.push_back(makeCase("tables of the part before", kOk,
                                 {codedPart(first), codedPart(second)}, bytes));
        // Parts without tables are between the two parts.
        Bytes with = expandAfter({}, first);
        with.insert(with.end(), 512, 'r');
        const Bytes noise = counting(512);
        with.insert(with.end(), noise.begin(), noise.end());
        cases.push_back(makeCase(
            "tables of the nearest part that has some", kOk,
            {codedPart(first), runPart('r', 512), codedPart(coded(noise, {})), codedPart(second)},
            expandAfter(with, second)));
        // Fields without effect must still be in their ranges.
        for (const auto& [name, bits] :
             {std::pair{"literals' log", 7u << 6}, {"sequences' log", 6u << 9}}) {
            GstdPart sent = codedPart(second);
            sent.words[0] |= uint16_t(bits);
            cases.push_back(makeCase(name, kBadCode, {codedPart(first), sent}));
        }
        // No part before this one has tables.
        for (const bool literals : {false, true}) {
            GstdCoded only = second;
            only.reusesLiterals = literals;
            only.reusesSequences = !literals;
            cases.push_back(makeCase("tables of no part", kBadCode, {codedPart(only)}));
        }
        // A part that has one kind of tables does not have the other kind.
        GstdCoded noLiterals = first;
        noLiterals.literalKind = 2;
        GstdCoded noSequences = coded(fewLiterals(512), {}, kind);
        cases.push_back(makeCase("no literals' table yet", kBadCode,
                                 {codedPart(noLiterals), codedPart(second)}));
        cases.push_back(makeCase("no sequences' tables yet", kBadCode,
                                 {codedPart(noSequences), codedPart(second)}));
    }
    // The bit asks for tables even if nothing would be read with them.
    GstdCoded unused = coded(text("abc"), {});
    unused.reusesSequences = true;
    cases.push_back(
        makeCase("sequences' tables of no part, no sequence", kBadCode, {codedPart(unused)}));
    GstdCoded noLiteral = coded({}, {{0, 8, 1}}, 0);
    noLiteral.reusesLiterals = true;
    cases.push_back(makeCase("literals' table of no part, no literal", kBadCode,
                             {runPart('r', 512), codedPart(noLiteral)}));
    check(cases);
}

TEST_CASE("gstd errors: the header of a tile")
{
    const Bytes tile = gstdTile(8, {plainPart(counting(512)), plainPart(counting(100))});
    const auto with = [&](const char* name, uint32_t status, size_t at, uint8_t value) {
        Bytes bytes = tile;
        bytes[at] = value;
        return Case{{name, bytes, 612}, status, {}};
    };
    Bytes expected = counting(512);
    const Bytes rest = counting(100);
    expected.insert(expected.end(), rest.begin(), rest.end());
    std::vector<Case> cases = {
        {{"as it should be", tile, 612}, kOk, expected},
        with("bit 7", kBadCode, 0, uint8_t(tile[0] | 0x80)),
        with("bit 8", kBadCode, 1, 1),
        with("bit 31", kBadCode, 3, 0x80),
        with("a first part of 511", kBadCode, 4, 0xfe),
        with("a first part of 513", kBadCode, 4, 0x00),
        with("another part after the last", kBadCode, 0, uint8_t(tile[0] + 1)),
        {{"one byte more than said", tile, 611}, kTooLong, {}},
        {{"one byte less than said", tile, 613}, kTooShort, {}},
        with("a last part that is longer", kTooLong, 8, 100),
        with("a last part that is shorter", kTooShort, 8, 98),
        with("a word that is not there", kTruncated, 10, uint8_t(tile[10] + 1)),
        with("a plain part of one word", kBadCode, 7, 0),
    };
    for (const size_t size :
         {size_t{1}, size_t{7}, size_t{8}, size_t{11}, tile.size() - 2, tile.size() - 1})
        cases.push_back({{"cut", Bytes(tile.begin(), tile.begin() + std::ptrdiff_t(size)), 612},
                         kTruncated,
                         {}});
    // If two rules are broken, the first one in order decides.
    Bytes both = Bytes(tile.begin(), tile.begin() + 8);
    both[3] = 1;
    cases.push_back({{"reserved bits before a list that is cut", both, 612}, kBadCode, {}});
    both.resize(7);
    cases.push_back({{"less than 8 bytes before reserved bits", both, 612}, kTruncated, {}});
    both = tile;
    both[4] = 0xfe;
    cases.push_back({{"a part of 511 before the sum", both, 700}, kBadCode, {}});
    both = Bytes(tile.begin(), tile.begin() + 20);
    cases.push_back({{"the sum before words that are not there", both, 700}, kTooShort, {}});
    cases.push_back(
        {{"words that are not there before what is wrong in one", both, 612}, kTruncated, {}});
    check(cases);
}

TEST_CASE("gstd errors: the header of a part")
{
    const GstdCoded example = plainExample();
    const auto flip = [&](const char* name, uint32_t status, size_t word, uint32_t value) {
        return changed(name, status, example,
                       [=](GstdPart& part) { part.words[word] ^= uint16_t(value); });
    };
    std::vector<Case> cases = {
        flip("kind 3", kBadCode, 0, 1), flip("bit 13", kBadCode, 0, 1 << 13),
        flip("bit 15", kBadCode, 0, 1 << 15), flip("word 3, bit 6", kBadCode, 3, 1 << 6),
        flip("word 3, bit 7", kBadCode, 3, 1 << 7),
        // The field says 5 + 7. Literals of kind 2 have no table, but the field keeps its limit.
        flip("a literals' log of 12", kBadCode, 0, 4 << 6),
        flip("a sequences' log of 11", kBadCode, 0, 3 << 9),
        flip("a sequences' log of 12", kBadCode, 0, 2 << 9),
        flip("65,536 literals more", kTooLong, 0, 1 << 12),
        flip("the one literal of another kind says nothing", kOk, 3, 0xff00)};
    for (const uint32_t words : {1u, 2u, 3u}) {
        cases.push_back(changed("a coded part without all of its header", kBadCode, example,
                                [=](GstdPart& part) { part.words.resize(words); }));
    }
    // Bits of the headers of runs and plain parts that must be 0.
    for (const uint32_t bit : {2u, 7u}) {
        GstdPart run = runPart('r', 100);
        run.words[0] |= uint16_t(1u << bit);
        cases.push_back(makeCase("bits of a run", kBadCode, {run}));
    }
    GstdPart run = runPart('r', 100);
    run.words.push_back(0);
    cases.push_back(makeCase("a run with two words", kBadCode, {run}));
    for (const uint32_t bit : {2u, 15u}) {
        GstdPart plain = plainPart(counting(99));
        plain.words[0] |= uint16_t(1u << bit);
        cases.push_back(makeCase("bits of a plain part", kBadCode, {plain}));
    }
    for (const size_t words : {size_t{50}, size_t{52}}) {
        GstdPart plain = plainPart(counting(99));
        REQUIRE(plain.words.size() == 51);
        plain.words.resize(words);
        cases.push_back(makeCase("a plain part with a word more or less", kBadCode, {plain}));
    }
    // Limits: at most a quarter of the size may be sequences; one more gives LIMIT.
    std::vector<GstdSequence> sequences(10, {1, 3, 1, false});
    cases.push_back(good("a sequence for every 4 bytes", coded(counting(10), sequences)));
    cases.push_back(changed("a sequence more", kLimit, coded(counting(10), sequences),
                            [](GstdPart& part) { ++part.words[2]; }));
    cases.push_back(changed("a byte less", kLimit, coded(counting(10), sequences),
                            [](GstdPart& part) { --part.size; }));
    cases.push_back(changed("65,535 sequences", kLimit, coded(counting(10), sequences),
                            [](GstdPart& part) { part.words[2] = 0xffff; }));
    GstdCoded literals = coded(counting(40), {});
    cases.push_back(changed("a literal more than bytes", kTooLong, literals,
                            [](GstdPart& part) { ++part.words[1]; }));
    // If two rules are broken, the first one in order decides.
    cases.push_back(changed("sequences before literals", kLimit, coded(counting(10), sequences),
                            [](GstdPart& part) {
                                ++part.words[2];
                                part.words[1] = 41;
                            }));
    cases.push_back(changed("reserved bits before sequences", kBadCode,
                            coded(counting(10), sequences), [](GstdPart& part) {
                                ++part.words[2];
                                part.words[3] |= 1 << 6;
                            }));
    cases.push_back(
        changed("literals before tables of no part", kTooLong, literals, [](GstdPart& part) {
            ++part.words[1];
            part.words[0] |= 1 << 5;
        }));
    check(cases);
}

TEST_CASE("gstd errors: the first bad part counts")
{
    GstdPart limit = codedPart(coded(counting(512), {}));
    limit.words[2] = 129;
    GstdPart tooLong = codedPart(coded(counting(512), {}));
    tooLong.words[1] = 513;
    GstdPart badCode = codedPart(coded(counting(512), {}));
    badCode.words[3] |= 1 << 7;
    const GstdPart badOffset = codedPart(coded(counting(500), {{1, 12, 2}}));
    const GstdPart fine = plainPart(counting(512));
    check({
        makeCase("LIMIT, TOO_LONG", kLimit, {fine, limit, tooLong}),
        makeCase("TOO_LONG, LIMIT", kTooLong, {fine, tooLong, limit}),
        makeCase("BAD_CODE, LIMIT", kBadCode, {badCode, limit, tooLong}),
        makeCase("an offset before a bad part", kTooLong, {badOffset, fine, tooLong}),
        makeCase("an offset alone", kBadOffset, {badOffset, fine, fine}),
    });
}

TEST_CASE("gstd errors: tables")
{
    std::vector<Case> cases;
    const auto literalTable = [](uint32_t kind, uint32_t symbol, int more) {
        GstdCoded part = complete(coded(fewLiterals(60), {{10, 9, 5}}, kind));
        part.literalTable[symbol] += uint32_t(more);
        return codedPart(part);
    };
    cases.push_back(makeCase("a slot too many", kBadCode, {literalTable(0, 'a', 1)}));
    cases.push_back(makeCase("a slot too few", kBadCode, {literalTable(0, 'a', -1)}));
    cases.push_back(
        makeCase("a slot too many, of the last symbol", kBadCode, {literalTable(0, 255, 1)}));
    cases.push_back(makeCase("a code too many", kBadCode, {literalTable(1, 'z', 3)}));
    cases.push_back(makeCase("a code that is too long", kBadCode, {literalTable(1, 'a', 1)}));
    // A length of 12 has a class, but is no code length, though 11 bits and two codes of 12 would
    // be complete.
    GstdCoded twelve = complete(coded(text("abcdefghijkl"), {}, 1));
    REQUIRE(twelve.literalTable['k'] == 11);
    REQUIRE(twelve.literalTable['l'] == 11);
    twelve.literalTable['l'] = 12;
    twelve.literalTable['m'] = 12;
    twelve.literals = text("abcdefghijk");
    twelve.size = 11;
    cases.push_back(makeCase("codes of 12 bits", kBadCode, {codedPart(twelve)}));
    GstdCoded none = complete(coded(text("aa"), {}, 1));
    none.literalTable.assign(256, 0);
    none.literalTable['a'] = 1;
    cases.push_back(makeCase("one code alone", kBadCode, {codedPart(none)}));

    for (uint32_t table = 0; table < 4; ++table) {
        for (const int more : {1, -1}) {
            GstdCoded part = coded(fewLiterals(60), {{10, 9, 6}, {0, 10, 11}}, 2);
            part.modulus = 3;
            part = complete(part);
            uint32_t& slots = *std::max_element(part.sequenceTables[table].begin(),
                                                part.sequenceTables[table].end());
            slots += uint32_t(more);
            cases.push_back(makeCase("a table of sequences", kBadCode, {codedPart(part)}));
        }
    }
    // The tables of the classes have wrong sums.
    for (const uint32_t kind : {0u, 1u, 2u}) {
        for (const int more : {1, -1}) {
            GstdCoded part = complete(coded(fewLiterals(60), {{10, 9, 5}}, kind));
            part.classes[12] += uint32_t(more);
            cases.push_back(makeCase("classes", kBadCode, {codedPart(part)}));
        }
    }
    // If the words end inside a table, lanes go on with zeros, and the table has a wrong sum.
    for (const uint32_t kind : {0u, 1u}) {
        for (const size_t left : {size_t{4}, size_t{5}, size_t{36}, size_t{50}, size_t{100}}) {
            cases.push_back(changed("cut in the literals' table", kBadCode,
                                    coded(fewLiterals(600), {{10, 9, 5}}, kind),
                                    [=](GstdPart& part) { part.words.resize(left); }));
        }
    }
    for (const size_t left : {size_t{4}, size_t{36}, size_t{60}})
        cases.push_back(changed("cut in the sequences' tables", kBadCode,
                                coded(fewLiterals(600), {{10, 9, 5}}),
                                [=](GstdPart& part) { part.words.resize(left); }));
    // Tables with which no symbol is read are checked, too.
    GstdCoded unused = complete(coded({}, {{0, 20, 1}}, 0));
    unused.literalTable[0] += 1;
    cases.push_back(
        makeCase("a table without use", kBadCode, {runPart('r', 512), codedPart(unused)}));
    check(cases);
}

TEST_CASE("gstd errors: sums and words left over")
{
    std::vector<Case> cases;
    for (const uint32_t kind : {0u, 1u, 2u, 3u}) {
        GstdCoded example = coded(fewLiterals(20), {{6, 20, 2}, {2, 10, 1, true}}, kind);
        if (kind == 3) example.literals.assign(20, 'q');
        for (const uint32_t words : {1u, 2u, 40u})
            cases.push_back(changed("words left over", kBadCode, example, [=](GstdPart& part) {
                part.words.resize(part.words.size() + words, 0x5555);
            }));
        cases.push_back(
            changed("a byte more", kTooShort, example, [](GstdPart& part) { ++part.size; }));
        cases.push_back(
            changed("a byte less", kTooLong, example, [](GstdPart& part) { --part.size; }));
        cases.push_back(
            changed("the sum before words left over", kTooLong, example, [](GstdPart& part) {
                --part.size;
                part.words.push_back(0);
            }));
    }
    // Without sequences, nothing takes the word that follows the literals' last one.
    cases.push_back(changed("only literals, a word left over", kBadCode, coded(counting(30), {}),
                            [](GstdPart& part) { part.words.push_back(7); }));
    GstdCoded one = coded(Bytes(30, 'x'), {}, 3);
    cases.push_back(good("lanes that read nothing take a word each", one));
    cases.push_back(changed("and a 33rd word is left over", kBadCode, one,
                            [](GstdPart& part) { part.words.push_back(0); }));
    cases.push_back(
        changed("and need not have one", kOk, one, [](GstdPart& part) { part.words.resize(4); }));

    // The sequences take more literals than there are, though the sum of sizes is right.
    const auto literalsTaken = [&](uint32_t taken) {
        GstdCoded part = coded(counting(20), {{10, 5, 3}, {taken - 10, 7, 3}});
        return part;
    };
    cases.push_back(good("all literals", literalsTaken(20)));
    cases.push_back(makeCase("a literal more", kBadCode, {codedPart(literalsTaken(21))}));
    cases.push_back(makeCase("many literals more", kBadCode, {codedPart(literalsTaken(1000))}));
    GstdCoded wrapping = coded(counting(20), std::vector<GstdSequence>(4, {65535, 20, 1}));
    cases.push_back(makeCase("literals that add up to 2^18", kBadCode, {codedPart(wrapping)}));
    for (const bool isLonger : {false, true}) {
        GstdPart part = codedPart(literalsTaken(21));
        part.size += isLonger ? 1 : ~0u;
        cases.push_back(
            makeCase("the sum before literals", isLonger ? kTooShort : kTooLong, {part}));
    }
    // The lengths of a part's literals and matches may add up to more than 16 bits hold, or far
    // more.
    GstdCoded twoLong = coded(text("ab"), {{1, 32769, 1}, {1, 32769, 1}});
    twoLong.size = 65536; // two of the bytes are literals
    cases.push_back(makeCase("65,540 bytes", kTooLong, {codedPart(twoLong)}));
    GstdCoded veryLong = coded(counting(2), std::vector<GstdSequence>(16384, {0, 65538, 1}));
    veryLong.sequenceLog = 5; // one symbol each
    veryLong.size = 65536;
    cases.push_back(makeCase("2^30 bytes and more", kTooLong, {codedPart(veryLong)}));
    check(cases);
}

TEST_CASE("gstd errors: offsets")
{
    std::vector<Case> cases;
    for (const uint32_t offset : {1u, 19u, 20u, 21u, 22u, 1000u, 65535u, 262142u}) {
        const GstdCoded part = coded(counting(30), {{20, 7, offset}});
        cases.push_back(offset <= 20 ? good("an offset", part)
                                     : makeCase("before the tile", kBadOffset, {codedPart(part)}));
    }
    GstdCoded farthest = coded(counting(30), {{20, 7, 262142 * 64 + 63}});
    farthest.modulus = 64;
    cases.push_back(makeCase("the farthest offset", kBadOffset, {codedPart(farthest)}));
    cases.push_back(
        makeCase("offset 0", kBadOffset, {codedPart(coded(counting(30), {{20, 7, 0}}))}));
    cases.push_back(
        makeCase("offset 0 is repeated", kBadOffset,
                 {codedPart(coded(counting(30), {{20, 7, 5}, {1, 7, 0}, {1, 3, 0, true}}))}));
    cases.push_back(makeCase("the first byte is a match", kBadOffset,
                             {codedPart(coded(counting(30), {{0, 7, 1}}))}));
    // Repeats of a part's initial offsets: 4 reaches exactly the first byte, or one before it.
    cases.push_back(good("4 of 4", coded(counting(30), {{4, 7, 1, true}})));
    cases.push_back(
        makeCase("4 of 3", kBadOffset, {codedPart(coded(counting(30), {{3, 7, 1, true}}))}));
    cases.push_back(
        makeCase("8 of 7", kBadOffset, {codedPart(coded(counting(30), {{7, 7, 2, true}}))}));
    // The bad offset is in the second sequence, in the last one of a row of 32, and after that.
    for (const uint32_t at : {1u, 31u, 32u, 40u}) {
        for (const uint32_t beyond : {0u, 1u}) {
            std::vector<GstdSequence> sequences(41, {1, 3, 1});
            sequences[at].offset = 4 * at + 1 + beyond;
            const GstdCoded part = coded(counting(60), sequences);
            cases.push_back(beyond == 0
                                ? good("to the first byte", part)
                                : makeCase("one byte further", kBadOffset, {codedPart(part)}));
        }
    }
    check(cases);
}

TEST_CASE("gstd errors: hops")
{
    std::vector<Case> cases;
    // Every match copies the 3 bytes of the match before it, so that each has one hop more.
    const auto chain = [](uint32_t links, uint32_t filler) {
        std::vector<GstdSequence> sequences = {{filler + 3, 3, 3}};
        for (uint32_t i = 1; i < links; ++i)
            sequences.push_back({0, 3, 2, true}); // (2 + 1) mod 3: the latest offset again
        return coded(counting(filler + 3 + 9), sequences);
    };
    for (uint32_t depth = 1; depth <= 8; ++depth) {
        cases.push_back(good("as deep as allowed", chain(depth, 0), depth));
        cases.push_back(
            makeCase("a hop too many", kLimit, {codedPart(chain(depth + 1, 0))}, {}, depth));
        // Of the group, three bytes are left, which the first match fills. The second one begins
        // the next group with no hop.
        cases.push_back(good("deep after a group's end", chain(depth + 2, 506), depth));
        cases.push_back(makeCase("a hop too many after a group's end", kLimit,
                                 {codedPart(chain(depth + 3, 506))}, {}, depth));
    }
    // A match that overlaps itself counts as one hop.
    cases.push_back(good("an overlap", coded(counting(20), {{5, 300, 5}}), 1));
    // A bad offset decides before hops do, wherever it is.
    GstdCoded both = chain(2, 0);
    both.sequences.push_back({1, 4, 5000});
    both.size += 4;
    cases.push_back(makeCase("an offset counts first", kBadOffset, {codedPart(both)}, {}, 1));
    check(cases);
}

TEST_SUITE_END();
