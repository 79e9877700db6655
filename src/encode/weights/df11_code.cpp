// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes the prefix code of a DFloat11 unit. A leaf is a symbol, or the end mark, with its weight
// (how often it occurs) and its code's length. A decoder looks codes up 8 bits at a time: the first
// byte in row 0 of its tables, each further byte in the row that the entry before names.

#include "encode/weights/df11_code.h"

#include <map>
#include <utility>

#include "formats/df11_form.h"
#include "encode/gdeflate/package_merge.h"

namespace sluice {
namespace {

constexpr uint32_t kEndSymbol = 256;
constexpr uint32_t kMaxLeaves = 257; // 256 symbols and the end mark
constexpr uint32_t kMaxExtraRows = SLUICE_DF11_MAX_ROWS - SLUICE_DF11_MIN_ROWS;

struct Leaf {
    uint64_t weight;
    uint32_t symbol;
    uint32_t length = 0;
};
using Leaves = std::vector<Leaf>;

// Sorts two or more leaves by weight and sets their code lengths to those of the cheapest prefix
// code in which no code is longer than maxLength.
void fitLengths(Leaves& leaves, uint32_t maxLength)
{
    std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) {
        return a.weight != b.weight ? a.weight < b.weight : a.symbol > b.symbol;
    });
    uint8_t lengths[kMaxLeaves];
    packageMerge<uint64_t, kMaxLeaves, 32>(uint32_t(leaves.size()), maxLength, lengths,
                                           [&](uint32_t i) { return leaves[i].weight; });
    for (size_t i = 0; i < leaves.size(); ++i)
        leaves[i].length = lengths[i];
}

uint32_t shortest(const Leaves& leaves)
{
    return std::min_element(leaves.begin(), leaves.end(),
                            [](const Leaf& a, const Leaf& b) { return a.length < b.length; })
        ->length;
}

// A decoder looks up a code byte by byte, in tables with a row for each prefix. Returns how many
// rows a code needs beyond the first: one for each prefix of 8, 16 or 24 bits with which longer
// codes begin. Codes ascend, the longest first, so these prefixes are 0, 1, 2 ... without a gap.
uint32_t extraRows(const Leaves& leaves)
{
    uint32_t rows = 0;
    for (uint32_t prefix = 8; prefix < 32; prefix += 8) {
        uint64_t space = 0; // code space of the longer codes, in units of 2^-32
        for (const Leaf& leaf : leaves)
            space += leaf.length > prefix ? uint64_t(1) << (32 - leaf.length) : 0;
        rows += uint32_t(divideUp(space, uint64_t(1) << (32 - prefix)));
    }
    return rows;
}

// Halves the weights of the most frequent symbols until no code is shorter than minLength.
// minLength is at most 2, so this ends at the latest when all weights are 0: a balanced code of
// four or more leaves has no code below 2 bits.
void buildLeaves(Leaves& leaves, uint32_t maxLength, uint32_t minLength)
{
    fitLengths(leaves, maxLength);
    while (shortest(leaves) < minLength) {
        for (Leaf& leaf : leaves)
            leaf.weight = leaf.length < minLength ? leaf.weight / 2 : leaf.weight;
        fitLengths(leaves, maxLength);
    }
}

// Finds the cheapest code of at most 16 bits that needs few rows in the look-up tables. For that,
// the rarest leaves form a subtree at most 8 bits deep, and its root and all other leaves are at
// most 8 bits deep too. Such a code always exists, since two leaves already make a subtree.
// `weightOf` has the true weights, whereas those in `leaves` may have been halved.
void buildWithFewRows(Leaves& leaves, uint32_t minLength, const std::vector<uint64_t>& weightOf)
{
    const auto cost = [&](const Leaves& candidate) {
        uint64_t bits = 0;
        for (const Leaf& leaf : candidate)
            bits += weightOf[leaf.symbol] * leaf.length;
        return bits;
    };
    const Leaves sorted = leaves; // by weight, the lightest first
    Leaves best;
    for (size_t rare = 2; rare < sorted.size(); ++rare) {
        const auto split = sorted.begin() + ptrdiff_t(rare);
        Leaves below(sorted.begin(), split);
        const Leaves above(split, sorted.end());
        uint64_t weight = 0;
        for (const Leaf& leaf : below)
            weight += leaf.weight;
        fitLengths(below, 8);
        for (bool more = true; more; more = weight != 0, weight /= 4) {
            constexpr uint32_t subtree = kEndSymbol + 1;
            Leaves top = above;
            top.push_back({weight, subtree});
            fitLengths(top, 8);
            const auto root = std::find_if(top.begin(), top.end(),
                                           [](const Leaf& l) { return l.symbol == subtree; });
            Leaves all = below; // begins with the end mark, the rarest
            for (Leaf& leaf : all)
                leaf.length += root->length;
            top.erase(root);
            all.insert(all.end(), top.begin(), top.end());
            const bool endIsLongest = std::all_of(all.begin(), all.end(), [&](const Leaf& leaf) {
                return leaf.length <= all[0].length;
            });
            if (endIsLongest && extraRows(all) <= kMaxExtraRows && shortest(all) >= minLength &&
                (best.empty() || cost(all) < cost(best)))
                best = all;
        }
    }
    leaves = best;
}

// Assigns the codes, the longest first, so that rare symbols have low codes. The end mark comes
// first of all and has only zeros.
void assignWords(Leaves& leaves, Df11Code& code)
{
    std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) {
        return a.length != b.length ? a.length > b.length : a.symbol > b.symbol;
    });
    uint64_t next = 0; // the next code, left-aligned in 32 bits
    for (const Leaf& leaf : leaves) {
        if (leaf.symbol != kEndSymbol)
            code.words[leaf.symbol] = {uint32_t(next >> (32 - leaf.length)), leaf.length};
        next += uint64_t(1) << (32 - leaf.length);
    }
}

// Makes the look-up tables: a row for each prefix of 8, 16 or 24 bits with which a longer code
// begins, sorted by prefix length. An entry holds the symbol of a code that ends there, or 256
// minus the number of the next row. Entries under the end mark's code hold the symbol with the
// longest code, so that a decoder that runs past the last element still advances.
void makeTables(const Leaves& leaves, Df11Code& code)
{
    using Prefix = std::pair<uint32_t, uint32_t>; // number of bits, and their value
    std::map<Prefix, uint32_t> rowOf = {{{0, 0}, 0}};
    for (const Leaf& leaf : leaves) {
        const Df11Code::Word word =
            leaf.symbol == kEndSymbol ? Df11Code::Word{0, leaf.length} : code.words[leaf.symbol];
        for (uint32_t length = 8; length < word.length; length += 8)
            rowOf.emplace(Prefix{length, word.bits >> (word.length - length)}, 0);
    }
    uint32_t rows = 0;
    for (auto& [prefix, row] : rowOf)
        row = rows++;
    uint32_t longest = 0;
    for (uint32_t symbol = 1; symbol < 256; ++symbol)
        longest = code.words[symbol].length > code.words[longest].length ? symbol : longest;
    code.luts.assign(size_t(rows + 1) * kDf11RowBytes, uint8_t(longest));
    for (uint32_t symbol = 0; symbol < 256; ++symbol) {
        const Df11Code::Word word = code.words[symbol];
        code.luts[size_t(rows) * kDf11RowBytes + symbol] = uint8_t(word.length);
        if (word.length == 0) continue;
        const uint32_t prefix = (word.length - 1) / 8 * 8, free = prefix + 8 - word.length;
        const uint32_t row =
            rowOf.at({prefix, prefix == 0 ? 0 : word.bits >> (word.length - prefix)});
        uint8_t* first = &code.luts[size_t(row) * kDf11RowBytes + (word.bits << free & 255)];
        std::fill(first, first + (1u << free), uint8_t(symbol));
    }
    for (const auto& [prefix, row] : rowOf) {
        if (prefix.first != 0) {
            const uint32_t parent = rowOf.at({prefix.first - 8, prefix.second >> 8});
            code.luts[size_t(parent) * kDf11RowBytes + (prefix.second & 255)] = uint8_t(256 - row);
        }
    }
}

} // namespace

uint32_t Df11Code::minLength() const
{
    uint32_t least = 32;
    for (const Word& word : words)
        least = word.length != 0 ? std::min(least, word.length) : least;
    return least;
}

bool makeDf11Code(SluiceDf11Kind kind, const uint64_t histogram[256], uint32_t minLength,
                  Df11Code& code)
{
    const Df11Form& form = df11Form(kind);
    Leaves leaves = {{0, kEndSymbol}}; // its weight is 0: it occurs once at most
    for (uint32_t symbol = 0; symbol < 256; ++symbol) {
        if (histogram[symbol] != 0) leaves.push_back({histogram[symbol], symbol});
    }
    if (leaves.size() == 1 || leaves.back().symbol > form.maxSymbol) return false;
    for (uint32_t symbol = 0; leaves.size() < uint32_t(1) << minLength; ++symbol) {
        if (histogram[symbol] == 0) {
            leaves.push_back({0, symbol}); // codes of minLength bits need this many leaves
        }
    }
    std::vector<uint64_t> weightOf(kEndSymbol + 1);
    for (const Leaf& leaf : leaves)
        weightOf[leaf.symbol] = leaf.weight;
    buildLeaves(leaves, form.maxCodeBytes * 8, minLength);
    if (extraRows(leaves) > kMaxExtraRows) buildWithFewRows(leaves, minLength, weightOf);
    code = {};
    assignWords(leaves, code);
    makeTables(leaves, code);
    return true;
}

} // namespace sluice
