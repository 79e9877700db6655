// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_df11.h>

#include "encode/weights/df11_code.h"

#include <map>
#include <utility>

#include "formats/df11_form.h"
#include "encode/gdeflate/package_merge.h"

namespace sluice {
namespace {

constexpr u32 kEndSymbol = 256;
constexpr u32 kMaxLeaves = 257; // all symbols and the end
constexpr u32 kMaxExtraRows = SLUICE_DF11_MAX_ROWS - SLUICE_DF11_MIN_ROWS;

struct Leaf {
    u64 weight;
    u32 symbol;
    u32 length = 0;
};
using Leaves = std::vector<Leaf>;

// Gives two or more leaves the lengths of the cheapest code, none above maxLength, and sorts them
// by weight.
void fitLengths(Leaves& leaves, u32 maxLength)
{
    std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) {
        return a.weight != b.weight ? a.weight < b.weight : a.symbol > b.symbol;
    });
    u8 lengths[kMaxLeaves];
    packageMerge<u64, kMaxLeaves, 32>(u32(leaves.size()), maxLength, lengths,
                                      [&](u32 i) { return leaves[i].weight; });
    for (size_t i = 0; i < leaves.size(); ++i)
        leaves[i].length = lengths[i];
}

u32 shortest(const Leaves& leaves)
{
    return std::min_element(leaves.begin(), leaves.end(),
                            [](const Leaf& a, const Leaf& b) { return a.length < b.length; })
        ->length;
}

// Returns the number of rows beyond the first. Codes longer than 8, 16 or 24 bits come first, so
// they fill the lowest prefixes of that length without a gap.
u32 extraRows(const Leaves& leaves)
{
    u32 rows = 0;
    for (u32 prefix = 8; prefix < 32; prefix += 8) {
        u64 space = 0; // of longer codes, in units of 2^-32
        for (const Leaf& leaf : leaves)
            space += leaf.length > prefix ? u64(1) << (32 - leaf.length) : 0;
        rows += u32(divideUp(space, u64(1) << (32 - prefix)));
    }
    return rows;
}

// Makes the most frequent symbols rarer until none has a code shorter than minLength. It ends at
// the latest when all weights are 0, since four or more leaves then have at least 2 bits each.
void buildLeaves(Leaves& leaves, u32 maxLength, u32 minLength)
{
    fitLengths(leaves, maxLength);
    while (shortest(leaves) < minLength) {
        for (Leaf& leaf : leaves)
            leaf.weight = leaf.length < minLength ? leaf.weight / 2 : leaf.weight;
        fitLengths(leaves, maxLength);
    }
}

// Finds the cheapest code with few rows among those in which the rarest leaves stand in a subtree
// of at most 8 bits, and that subtree and all other leaves have codes of at most 8 bits. One
// exists: the two rarest leaves below a node that is as rare as they are.
void buildWithFewRows(Leaves& leaves, u32 minLength, const std::vector<u64>& weightOf)
{
    const auto cost = [&](const Leaves& candidate) {
        u64 bits = 0;
        for (const Leaf& leaf : candidate)
            bits += weightOf[leaf.symbol] * leaf.length;
        return bits;
    };
    const Leaves sorted = leaves; // by weight
    Leaves best;
    for (size_t rare = 2; rare < sorted.size(); ++rare) {
        const auto split = sorted.begin() + ptrdiff_t(rare);
        Leaves below(sorted.begin(), split);
        const Leaves above(split, sorted.end());
        u64 weight = 0;
        for (const Leaf& leaf : below)
            weight += leaf.weight;
        fitLengths(below, 8);
        for (bool more = true; more; more = weight != 0, weight /= 4) {
            constexpr u32 subtree = kEndSymbol + 1;
            Leaves top = above;
            top.push_back({weight, subtree});
            fitLengths(top, 8);
            const auto root = std::find_if(top.begin(), top.end(),
                                           [](const Leaf& l) { return l.symbol == subtree; });
            Leaves all = below; // the end comes first: it is the rarest
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

// Assigns codes in the order of their lengths, the longest first and the end before all others, so
// that rare symbols have low codes.
void assignWords(Leaves& leaves, Df11Code& code)
{
    std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) {
        return a.length != b.length ? a.length > b.length : a.symbol > b.symbol;
    });
    u64 next = 0; // in units of 2^-32
    for (const Leaf& leaf : leaves) {
        if (leaf.symbol != kEndSymbol)
            code.words[leaf.symbol] = {u32(next >> (32 - leaf.length)), leaf.length};
        next += u64(1) << (32 - leaf.length);
    }
}

// Makes a row for each prefix of 8, 16 or 24 bits that a longer code begins with, in the order of
// their lengths. Entries that the end's code leads to hold the symbol of the longest code, so that a
// decoder that runs past the last element advances.
void makeTables(const Leaves& leaves, Df11Code& code)
{
    using Prefix = std::pair<u32, u32>; // its number of bits, and their value
    std::map<Prefix, u32> rowOf = {{{0, 0}, 0}};
    for (const Leaf& leaf : leaves) {
        const Df11Code::Word word =
            leaf.symbol == kEndSymbol ? Df11Code::Word{0, leaf.length} : code.words[leaf.symbol];
        for (u32 length = 8; length < word.length; length += 8)
            rowOf.emplace(Prefix{length, word.bits >> (word.length - length)}, 0);
    }
    u32 rows = 0;
    for (auto& [prefix, row] : rowOf)
        row = rows++;
    u32 longest = 0;
    for (u32 symbol = 1; symbol < 256; ++symbol)
        longest = code.words[symbol].length > code.words[longest].length ? symbol : longest;
    code.luts.assign(size_t(rows + 1) * kDf11RowBytes, u8(longest));
    for (u32 symbol = 0; symbol < 256; ++symbol) {
        const Df11Code::Word word = code.words[symbol];
        code.luts[size_t(rows) * kDf11RowBytes + symbol] = u8(word.length);
        if (word.length == 0) continue;
        const u32 prefix = (word.length - 1) / 8 * 8, free = prefix + 8 - word.length;
        const u32 row = rowOf.at({prefix, prefix == 0 ? 0 : word.bits >> (word.length - prefix)});
        u8* first = &code.luts[size_t(row) * kDf11RowBytes + (word.bits << free & 255)];
        std::fill(first, first + (1u << free), u8(symbol));
    }
    for (const auto& [prefix, row] : rowOf) {
        if (prefix.first != 0) {
            const u32 parent = rowOf.at({prefix.first - 8, prefix.second >> 8});
            code.luts[size_t(parent) * kDf11RowBytes + (prefix.second & 255)] = u8(256 - row);
        }
    }
}

} // namespace

u32 Df11Code::minLength() const
{
    u32 least = 32;
    for (const Word& word : words)
        least = word.length != 0 ? std::min(least, word.length) : least;
    return least;
}

bool makeDf11Code(SluiceDf11Kind kind, const u64 histogram[256], u32 minLength, Df11Code& code)
{
    const Df11Form& form = df11Form(kind);
    Leaves leaves = {{0, kEndSymbol}}; // weighs nothing, as it occurs at most once
    for (u32 symbol = 0; symbol < 256; ++symbol) {
        if (histogram[symbol] != 0) leaves.push_back({histogram[symbol], symbol});
    }
    if (leaves.size() == 1 || leaves.back().symbol > form.maxSymbol) return false;
    for (u32 symbol = 0; leaves.size() < u32(1) << minLength; ++symbol) {
        if (histogram[symbol] == 0) {
            leaves.push_back({0, symbol}); // a code without shorter words needs this many
        }
    }
    std::vector<u64> weightOf(kEndSymbol + 1);
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
