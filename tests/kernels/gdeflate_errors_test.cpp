// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests damaged and odd tiles. Each has one status, which is written down here and is the same on
// every tier.
#include "tests/support/gdeflate_bit_writer.h"
#include "tests/support/gdeflate_tiles.h"

#include <algorithm>
#include <functional>

using namespace sluice::test;

namespace {

using Write = std::function<void(GdeflateBitWriter&)>;

struct Case {
    Tile tile;
    uint32_t status;
};

Case makeCase(const char* name, uint32_t status, uint32_t size, const Write& write)
{
    GdeflateBitWriter writer;
    write(writer);
    return {{name, writer.bytes(), size}, status};
}

// Makes the same case with zeros after it, which only a decoder that does not stop in time reads.
Case makeOpenCase(const char* name, uint32_t status, uint32_t size, const Write& write)
{
    Case result = makeCase(name, status, size, write);
    result.tile.compressed.resize(result.tile.compressed.size() + 1024, 0);
    return result;
}

// Returns a precode's lengths in the order in which they are sent. Symbols that are not in
// `lengths` have no code.
CodeLengths precode(const std::vector<LengthSymbol>& lengths)
{
    const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    CodeLengths sent(19, 0);
    for (const LengthSymbol& entry : lengths)
        sent[size_t(std::find(order, order + 19, entry.symbol) - order)] = uint8_t(entry.extra);
    return sent;
}

// The header of a dynamic block. Its precode is always the same: symbols 0, 1 and 18 have 2 bits,
// 16 and 17 have 3.
const CodeLengths kRunPrecode = [] {
    CodeLengths lengths(19, 0);
    lengths[0] = lengths[1] = lengths[18] = 2;
    lengths[16] = lengths[17] = 3;
    return lengths;
}();
void runHeader(GdeflateBitWriter& writer, uint32_t hlit, uint32_t hdist,
               const std::vector<LengthSymbol>& symbols)
{
    writer.blockHeader(true, 2);
    writer.dynamicCounts(hlit, hdist, 15);
    writer.precodeLengths(precode({{0, 2}, {1, 2}, {18, 2}, {16, 3}, {17, 3}}));
    writer.lengthSymbols(kRunPrecode, symbols);
}

// Lengths of literal/length codes: `count` symbols from 'a' on and the end of the block all have
// codes of `length` bits.
CodeLengths letters(uint32_t count, uint8_t length)
{
    CodeLengths lengths(288, 0);
    std::fill_n(lengths.begin() + 'a', count, length);
    lengths[256] = length;
    return lengths;
}

std::vector<Token> text(uint32_t count)
{
    std::vector<Token> tokens;
    for (uint32_t i = 0; i < count; ++i)
        tokens.push_back(literal('a' + i % 3));
    return tokens;
}

// Lengths of codes for blocks with matches: 'a', 'b', 'c', the end of the block and symbol 257, a
// match of length 3.
CodeLengths lettersAndMatches()
{
    CodeLengths lengths(288, 0);
    lengths['a'] = lengths['b'] = lengths['c'] = 2;
    lengths[256] = lengths[257] = 3;
    return lengths;
}

// Returns a tile with blocks of all kinds: stored, dynamic and fixed, with literals and matches.
Tile everything()
{
    std::vector<Token> tokens = text(50);
    for (uint32_t i = 0; i < 30; ++i) {
        tokens.push_back(match(3 + i * i, 1 + i));
        tokens.push_back(literal(i));
    }
    GdeflateBitWriter writer;
    writer.stored(false, Bytes(45, 'x'));
    writer.dynamic(false, fixedLiteralLengths(), fixedDistanceLengths(), tokens);
    writer.fixed(false, tokens);
    writer.stored(true, Bytes(77, 'y'));
    return {"everything", writer.bytes(), uint32_t(45 + 2 * expand(tokens).size() + 77)};
}

void check(const std::vector<Case>& cases)
{
    std::vector<Tile> tiles;
    for (const Case& one : cases)
        tiles.push_back(one.tile);
    const std::vector<DecodedTile> results = decodeAndCompare(device(), tiles);
    for (size_t i = 0; i < cases.size(); ++i) {
        CAPTURE(cases[i].tile.name);
        CHECK(results[i].status == cases[i].status);
    }
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("gdeflate errors: truncated after every word")
{
    const Tile whole = everything();
    std::vector<Case> cases = {{whole, SLUICE_TILE_OK}};
    for (size_t size = 1; size <= whole.compressed.size() - 4; size += size < 12 ? 1 : 4)
        cases.push_back(
            {{"cut",
              Bytes(whole.compressed.begin(), whole.compressed.begin() + std::ptrdiff_t(size)),
              whole.size},
             SLUICE_TILE_TRUNCATED});
    check(cases);
}

TEST_CASE("gdeflate errors: code tables")
{
    const CodeLengths fixed = fixedLiteralLengths(), distances = fixedDistanceLengths();
    const uint32_t bad = SLUICE_TILE_BAD_CODE, ok = SLUICE_TILE_OK;
    const auto withPrecode = [](const CodeLengths& lengths) {
        return [lengths](GdeflateBitWriter& writer) {
            writer.blockHeader(true, 2);
            writer.dynamicCounts(0, 0, 15);
            writer.precodeLengths(lengths);
        };
    };
    const auto withLengths = [](const CodeLengths& literals, const CodeLengths& dists) {
        return [=](GdeflateBitWriter& writer) { writer.dynamic(true, literals, dists, text(10)); };
    };
    CodeLengths three(32, 0), overSubscribed(32, 5), one(32, 0), oneLong(32, 0), two(32, 0),
        none(32, 0);
    three[0] = three[1] = three[2] = 2;
    overSubscribed[7] = 4;
    one[5] = 1;
    oneLong[5] = 2;
    two[3] = two[9] = 2;
    CodeLengths fourLetters = letters(3, 2);
    CodeLengths undefinedInTable = letters(3, 3);
    for (const uint32_t symbol : {255u, 257u, 286u, 287u})
        undefinedInTable[symbol] = 3;

    check({
        makeOpenCase("reserved block type", bad, 10,
                     [](GdeflateBitWriter& writer) { writer.blockHeader(true, 3); }),
        makeOpenCase("reserved block type, second block", bad, 10,
                     [](GdeflateBitWriter& writer) {
                         writer.fixed(false, text(10));
                         writer.blockHeader(true, 3);
                     }),
        makeOpenCase("precode over-subscribed", bad, 10,
                     withPrecode(precode({{0, 1}, {1, 1}, {2, 7}}))),
        makeOpenCase("precode incomplete", bad, 10, withPrecode(precode({{0, 1}, {1, 2}}))),
        makeOpenCase("precode of one symbol, length 2", bad, 10, withPrecode(precode({{0, 2}}))),
        makeOpenCase("starts with a repeat", bad, 10,
                     [](GdeflateBitWriter& writer) {
                         runHeader(writer, 0, 0, {{16, 0}});
                     }),
        makeOpenCase("a repeat passes the end", bad, 10,
                     [](GdeflateBitWriter& writer) {
                         runHeader(writer, 0, 0, {{18, 127}, {18, 106}, {1, 0}, {16, 0}});
                     }),
        makeOpenCase("a short zero run passes the end", bad, 10,
                     [](GdeflateBitWriter& writer) {
                         runHeader(writer, 0, 0, {{18, 127}, {18, 106}, {1, 0}, {17, 0}});
                     }),
        makeOpenCase("a long zero run passes the end", bad, 10,
                     [](GdeflateBitWriter& writer) {
                         runHeader(writer, 0, 0, {{18, 127}, {18, 106}, {1, 0}, {18, 127}});
                     }),
        makeOpenCase("literal code over-subscribed", bad, 10,
                     withLengths(letters(5, 2), distances)),
        makeOpenCase("literal code incomplete", bad, 10, withLengths(letters(3, 3), distances)),
        makeOpenCase("distance code over-subscribed", bad, 10, withLengths(fixed, overSubscribed)),
        makeOpenCase("distance code incomplete", bad, 10, withLengths(fixed, three)),
        makeOpenCase("one distance of length 2", bad, 10, withLengths(fixed, oneLong)),
        makeOpenCase("two distances of length 2", bad, 10, withLengths(fixed, two)),
        makeOpenCase("symbol 286", bad, 10,
                     [&](GdeflateBitWriter& writer) {
                         writer.blockHeader(true, 1);
                         writer.symbols(fixed, distances, {literal('a'), literal(286)});
                     }),
        makeOpenCase("symbol 287", bad, 10,
                     [&](GdeflateBitWriter& writer) {
                         writer.blockHeader(true, 1);
                         writer.symbols(fixed, distances, {literal(287)});
                     }),

        // These are odd but allowed.
        makeCase("a complete code of four symbols", ok, 10, withLengths(fourLetters, distances)),
        makeCase("undefined symbols that are not used", ok, 10,
                 withLengths(undefinedInTable, distances)),
        makeCase("no distance code, no match", ok, 10, withLengths(fixed, none)),
        makeCase("one distance code, no match", ok, 10, withLengths(fixed, one)),
        makeCase("all zero but the end of block, as one bit", SLUICE_TILE_TOO_SHORT, 10,
                 [](GdeflateBitWriter& writer) {
                     runHeader(writer, 0, 0, {{18, 127}, {18, 107}, {1, 0}, {0, 0}});
                     writer.put(0, 1, 1); // the other value of the single code's bit
                     writer.refill();
                 }),
        makeOpenCase("no literal code at all is a stream of zeros", SLUICE_TILE_TOO_LONG, 10,
                     [](GdeflateBitWriter& writer) {
                         runHeader(writer, 0, 0, {{18, 127}, {18, 109}});
                     }),
    });
}

TEST_CASE("gdeflate: incomplete codes that are allowed decode as one symbol")
{
    // The tile is "abc" and then a match of 3 bytes. The table of distances has one symbol or none.
    // Either value of the bit means that symbol or, if there is none, symbol 0.
    const auto tile = [](uint32_t distanceSymbols, uint32_t bit) {
        GdeflateBitWriter writer;
        CodeLengths distanceLengths(32, 0);
        if (distanceSymbols == 1) distanceLengths[2] = 1;
        CodeLengths lengths = lettersAndMatches();
        const std::vector<uint32_t> code = canonicalCode(lengths);
        writer.dynamic(false, lengths, distanceLengths, {literal('a'), literal('b'), literal('c')});
        // The second block is written by hand; its match is on lane 0.
        writer.blockHeader(true, 2);
        writer.dynamicCounts(31, 31, 15);
        writer.precodeLengths({0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4});
        CodeLengths precodeLengths(19, 4);
        std::fill(precodeLengths.begin() + 16, precodeLengths.end(), uint8_t(0));
        std::vector<LengthSymbol> symbols;
        for (const CodeLengths* table : {&lengths, &distanceLengths}) {
            for (const uint8_t length : *table)
                symbols.push_back({length, 0});
        }
        writer.lengthSymbols(precodeLengths, symbols);
        writer.put(0, code[257], lengths[257]);
        writer.put(1, code[256], lengths[256]);
        writer.refill();
        writer.put(0, bit, 1);
        writer.refill();
        return Tile{"one distance", writer.bytes(), 6};
    };
    const std::vector<DecodedTile> results =
        decodeAndCompare(device(), {tile(1, 0), tile(1, 1), tile(0, 0), tile(0, 1)});
    const char* expected[] = {"abcabc", "abcabc", "abcccc", "abcccc"};
    for (size_t i = 0; i < 4; ++i) {
        CHECK(results[i].status == SLUICE_TILE_OK);
        CHECK(std::string(results[i].bytes.begin(), results[i].bytes.end()) == expected[i]);
    }
}

TEST_CASE("gdeflate errors: offsets and lengths")
{
    const uint32_t offset = SLUICE_TILE_BAD_OFFSET, tooLong = SLUICE_TILE_TOO_LONG,
                   tooShort = SLUICE_TILE_TOO_SHORT;
    const auto fixed = [](std::vector<Token> tokens) {
        return [tokens](GdeflateBitWriter& writer) { writer.fixed(true, tokens); };
    };
    const auto after = [](uint32_t count, std::vector<Token> more) {
        std::vector<Token> tokens = text(count);
        tokens.insert(tokens.end(), more.begin(), more.end());
        return tokens;
    };
    check({
        makeCase("a match at the very start", offset, 3, fixed({match(3, 1)})),
        makeCase("one before the start", offset, 103, fixed(after(100, {match(3, 101)}))),
        makeCase("exactly the start", SLUICE_TILE_OK, 103, fixed(after(100, {match(3, 100)}))),
        makeCase("far before the start", offset, 103, fixed(after(100, {match(3, 65536)}))),
        makeCase("before the start, in the last round of a block", offset, 34,
                 fixed(after(31, {match(3, 32)}))),
        makeCase("before the start, in a later block", offset, 35,
                 [](GdeflateBitWriter& writer) {
                     writer.stored(false, Bytes(32, 1));
                     writer.fixed(true, {match(3, 33)});
                 }),
        makeCase("into an earlier block", SLUICE_TILE_OK, 35,
                 [](GdeflateBitWriter& writer) {
                     writer.stored(false, Bytes(32, 1));
                     writer.fixed(true, {match(3, 32)});
                 }),
        makeCase("one literal too many", tooLong, 99, fixed(text(100))),
        makeCase("a match one byte too long", tooLong, 102, fixed(after(100, {match(3, 1)}))),
        makeCase("a very long match", tooLong, 300, fixed(after(1, {match(65535, 1)}))),
        makeCase("many very long matches in one round", tooLong, 65536,
                 fixed(after(1, std::vector<Token>(31, match(65535, 1))))),
        makeCase("stored bytes, one too many", tooLong, 99,
                 [](GdeflateBitWriter& writer) { writer.stored(true, Bytes(100)); }),
        makeCase("a stored length of 65,535", tooLong, 65534,
                 [](GdeflateBitWriter& writer) { writer.stored(true, Bytes(65535)); }),
        makeCase("too much in the second block", tooLong, 150,
                 [](GdeflateBitWriter& writer) {
                     writer.fixed(false, text(100));
                     writer.fixed(true, text(51));
                 }),
        makeCase("one literal too few", tooShort, 101, fixed(text(100))),
        makeCase("nothing at all", tooShort, 1, fixed({})),
        makeCase("stored nothing", tooShort, 1,
                 [](GdeflateBitWriter& writer) { writer.stored(true, {}); }),
        makeCase("stored, one too few", tooShort, 65536,
                 [](GdeflateBitWriter& writer) { writer.stored(true, Bytes(65535)); }),
        makeCase("empty blocks among others", SLUICE_TILE_OK, 20,
                 [](GdeflateBitWriter& writer) {
                     writer.stored(false, {});
                     writer.fixed(false, {});
                     writer.dynamic(false, fixedLiteralLengths(), CodeLengths(1, 0), {});
                     writer.fixed(false, text(10));
                     writer.stored(false, {});
                     writer.stored(false, Bytes(10, 7));
                     writer.fixed(true, {});
                 }),
        makeOpenCase("words that nobody reads", SLUICE_TILE_OK, 100, fixed(text(100))),
    });
}

TEST_CASE("gdeflate errors: the first error wins, in the order of the rounds")
{
    const CodeLengths literals = fixedLiteralLengths(), distances = fixedDistanceLengths();
    // In the second round lane 0 sends a bad distance. Lane 1 sends `symbol`: a literal past the
    // end of the output, or a symbol that is not defined.
    const auto secondRound = [&](uint32_t symbol) {
        return [=](GdeflateBitWriter& writer) {
            std::vector<Token> tokens = {match(3, 9)};
            const std::vector<Token> rest = text(31);
            tokens.insert(tokens.end(), rest.begin(), rest.end());
            tokens.push_back(literal(symbol));
            writer.blockHeader(true, 1);
            writer.symbols(literals, distances, tokens);
        };
    };
    std::vector<Case> cases = {
        makeCase("bad offset before too long", SLUICE_TILE_BAD_OFFSET, 34, secondRound('a')),
        makeCase("bad code before bad offset and too long", SLUICE_TILE_BAD_CODE, 34,
                 secondRound(286)),
        makeCase("a bad offset that stands before what is too long", SLUICE_TILE_BAD_OFFSET, 33,
                 secondRound('a')),
    };
    // If a round fails, its tokens do not count. Those of earlier rounds count and are judged
    // first.
    const auto twoRounds = [&](uint32_t second) {
        return [=](GdeflateBitWriter& writer) {
            writer.blockHeader(true, 1);
            for (uint32_t i = 0; i < 64; ++i) {
                const uint32_t symbol = i < 32 ? 'a' : second;
                writer.put(i % 32, canonicalCode(literals)[symbol], 8);
            }
        };
    };
    cases.push_back(makeOpenCase("too long one round before a bad code", SLUICE_TILE_TOO_LONG, 31,
                                 twoRounds(286)));
    cases.push_back(makeOpenCase("a bad code after as much as there should be",
                                 SLUICE_TILE_BAD_CODE, 32, twoRounds(286)));
    // These rounds need one word more than there is. A bad code is found first; otherwise the tile
    // is TRUNCATED, and the size of its output does not matter.
    for (const uint32_t symbol : {uint32_t('a'), 286u}) {
        GdeflateBitWriter writer;
        writer.blockHeader(true, 1);
        for (uint32_t i = 0; i < 32; ++i)
            writer.put(i, canonicalCode(literals)[symbol], 8);
        const Bytes before = writer.bytes();
        for (const uint32_t size : {31u, 32u})
            cases.push_back(
                {{"truncated", before, size},
                 symbol == 286 ? uint32_t(SLUICE_TILE_BAD_CODE) : uint32_t(SLUICE_TILE_TRUNCATED)});
    }
    // In headers, words are read before what they hold is judged.
    GdeflateBitWriter reserved;
    reserved.put(0, 7, 3);
    cases.push_back({{"truncated before the block type is judged", reserved.bytes(), 10},
                     SLUICE_TILE_TRUNCATED});
    GdeflateBitWriter precodeEnd;
    precodeEnd.blockHeader(true, 2);
    precodeEnd.dynamicCounts(0, 0, 15);
    for (uint32_t i = 0; i < 19; ++i)
        precodeEnd.put(i, 1, 3);
    cases.push_back({{"truncated before the precode is judged", precodeEnd.bytes(), 10},
                     SLUICE_TILE_TRUNCATED});
    check(cases);
}

TEST_CASE("gdeflate errors: the limit of 256 blocks")
{
    const auto blocks = [](uint32_t count, bool last) {
        return [=](GdeflateBitWriter& writer) {
            for (uint32_t i = 0; i < count; ++i)
                writer.fixed(last && i + 1 == count, {literal('a')});
        };
    };
    const auto storedBlocks = [](uint32_t count) {
        return [=](GdeflateBitWriter& writer) {
            for (uint32_t i = 0; i < count; ++i)
                writer.stored(i + 1 == count, {});
        };
    };
    check({
        makeCase("256 blocks", SLUICE_TILE_OK, 256, blocks(256, true)),
        makeCase("257 blocks", SLUICE_TILE_LIMIT, 257, blocks(257, true)),
        makeCase("257 blocks, output complete after 256", SLUICE_TILE_LIMIT, 256,
                 blocks(256, false)),
        makeCase("256 empty blocks", SLUICE_TILE_TOO_SHORT, 1, storedBlocks(256)),
        makeCase("257 empty blocks", SLUICE_TILE_LIMIT, 1, storedBlocks(257)),
        makeCase("a thousand empty blocks", SLUICE_TILE_LIMIT, 1, storedBlocks(1000)),
    });
}

TEST_CASE("gdeflate errors: garbage")
{
    std::mt19937 random = makeRandom(41);
    std::vector<Tile> tiles;
    for (uint32_t i = 0; i < 64; ++i) {
        Bytes bytes(128 + random() % 2000);
        std::generate(bytes.begin(), bytes.end(), [&random] { return uint8_t(random()); });
        if (i % 2 == 1)
            // Every other tile begins with a block type that exists.
            bytes[0] = uint8_t((bytes[0] & ~7u) | (2 + 2 * (i / 2 % 2)));
        tiles.push_back({"garbage " + std::to_string(i), bytes, 1 + uint32_t(random()) % 3000});
    }
    for (const uint8_t fill : {uint8_t(0), uint8_t(0xFF), uint8_t(0xAA)})
        tiles.push_back({"all the same byte", Bytes(4096, fill), 3000});
    const std::vector<DecodedTile> results = decodeAndCompare(device(), tiles);
    CHECK(std::all_of(results.begin(), results.end(),
                      [](const DecodedTile& tile) { return tile.status != 0; }));
}

TEST_SUITE_END();
