// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_df11.h>

#include "df11_code.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/df11_form.h"

namespace sluice {
namespace {

constexpr uint32_t endSymbol = 256;
constexpr uint32_t maxExtraRows = 16;

struct Leaf {
    uint64_t weight;
    uint32_t symbol;
    uint32_t length = 0;
};
using Leaves = std::vector<Leaf>;

// Sets the lengths of two leaves or more, none above maxLength: the cheapest code. 2^maxLength must
// not be less than the number of leaves. The order of the leaves becomes that of their weights.
void packageMerge(Leaves& leaves, uint32_t maxLength)
{
    std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) {
        return a.weight != b.weight ? a.weight < b.weight : a.symbol > b.symbol;
    });
    struct Item {
        uint64_t weight;
        bool isLeaf;
    };
    std::vector<std::vector<Item>> lists(
        maxLength); // of each depth, the deepest first: leaves and pairs of the one before
    for (uint32_t depth = 0; depth < maxLength; ++depth) {
        std::vector<Item>& list = lists[depth];
        size_t leaf = 0;
        for (size_t pair = 0; depth > 0 && pair + 1 < lists[depth - 1].size(); pair += 2) {
            const uint64_t weight =
                lists[depth - 1][pair].weight + lists[depth - 1][pair + 1].weight;
            for (; leaf < leaves.size() && leaves[leaf].weight <= weight; ++leaf) {
                list.push_back({leaves[leaf].weight, true});
            }
            list.push_back({weight, false});
        }
        for (; leaf < leaves.size(); ++leaf) {
            list.push_back({leaves[leaf].weight, true});
        }
    }
    // Each time that a leaf is among the cheapest 2 n - 2 items, its code gets a bit longer.
    for (Leaf& leaf : leaves) {
        leaf.length = 0;
    }
    for (size_t depth = maxLength, taken = 2 * leaves.size() - 2; depth-- > 0;) {
        size_t takenLeaves = 0;
        for (size_t i = 0; i < taken; ++i) {
            takenLeaves += lists[depth][i].isLeaf ? 1 : 0;
        }
        for (size_t i = 0; i < takenLeaves; ++i) {
            ++leaves[i].length;
        }
        taken = 2 * (taken - takenLeaves);
    }
}

uint32_t shortest(const Leaves& leaves)
{
    return std::min_element(leaves.begin(), leaves.end(),
                            [](const Leaf& a, const Leaf& b) { return a.length < b.length; })
        ->length;
}

// Rows beyond the first. Long codes come first, so they fill the lowest prefixes of 8, 16 and 24
// bits without a hole.
uint32_t extraRows(const Leaves& leaves)
{
    uint32_t rows = 0;
    for (uint32_t prefix = 8; prefix < 32; prefix += 8) {
        uint64_t space = 0; // of longer codes, in units of 2^-32
        for (const Leaf& leaf : leaves) {
            space += leaf.length > prefix ? uint64_t(1) << (32 - leaf.length) : 0;
        }
        const uint64_t unit = uint64_t(1) << (32 - prefix);
        rows += uint32_t((space + unit - 1) / unit);
    }
    return rows;
}

// With lengths of minLength and more: the most frequent symbols are made rarer until none has a
// shorter code. Ends when all weights are 0, at the latest: four leaves and more have 2 bits each
// then.
void buildLeaves(Leaves& leaves, uint32_t maxLength, uint32_t minLength)
{
    packageMerge(leaves, maxLength);
    while (shortest(leaves) < minLength) {
        for (Leaf& leaf : leaves) {
            leaf.weight = leaf.length < minLength ? leaf.weight / 2 : leaf.weight;
        }
        packageMerge(leaves, maxLength);
    }
}

// Of codes in which the rarest leaves have a subtree of their own with at most 8 bits, and the
// others at most 8 bits too, the cheapest that has few rows. There is one: the two rarest leaves
// below a node that is as rare as they are.
void buildWithFewRows(Leaves& leaves, uint32_t minLength, const std::vector<uint64_t>& weightOf)
{
    const auto cost = [&](const Leaves& candidate) {
        uint64_t bits = 0;
        for (const Leaf& leaf : candidate) {
            bits += weightOf[leaf.symbol] * leaf.length;
        }
        return bits;
    };
    const Leaves sorted = leaves; // by weight
    Leaves best;
    for (size_t rare = 2; rare < sorted.size(); ++rare) {
        const auto split = sorted.begin() + ptrdiff_t(rare);
        Leaves below(sorted.begin(), split);
        const Leaves above(split, sorted.end());
        uint64_t weight = 0;
        for (const Leaf& leaf : below) {
            weight += leaf.weight;
        }
        packageMerge(below, 8);
        for (bool more = true; more; more = weight != 0, weight /= 4) {
            constexpr uint32_t subtree = endSymbol + 1;
            Leaves top = above;
            top.push_back({weight, subtree});
            packageMerge(top, 8);
            const auto root = std::find_if(top.begin(), top.end(),
                                           [](const Leaf& l) { return l.symbol == subtree; });
            Leaves all = below; // the end first: it is the rarest
            for (Leaf& leaf : all) {
                leaf.length += root->length;
            }
            top.erase(root);
            all.insert(all.end(), top.begin(), top.end());
            const bool endIsLongest = std::all_of(all.begin(), all.end(), [&](const Leaf& leaf) {
                return leaf.length <= all[0].length;
            });
            if (endIsLongest && extraRows(all) <= maxExtraRows && shortest(all) >= minLength &&
                (best.empty() || cost(all) < cost(best))) {
                best = all;
            }
        }
    }
    leaves = best;
}

// Codes in the order of their lengths, the longest first and the end before all others: rare
// symbols stand towards zero.
void assignWords(Leaves& leaves, Df11Code& code)
{
    std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) {
        return a.length != b.length ? a.length > b.length : a.symbol > b.symbol;
    });
    uint64_t next = 0; // in units of 2^-32
    for (const Leaf& leaf : leaves) {
        if (leaf.symbol != endSymbol) {
            code.words[leaf.symbol] = {uint32_t(next >> (32 - leaf.length)), leaf.length};
        }
        next += uint64_t(1) << (32 - leaf.length);
    }
}

// A row for each prefix of 8, 16 or 24 bits that a longer code begins with, in the order of their
// lengths. What the end's code leads to is filled with the symbol of the longest code, so that a
// decoder that runs past the last element advances.
void makeTables(const Leaves& leaves, Df11Code& code)
{
    using Prefix = std::pair<uint32_t, uint32_t>; // bits of it, value
    std::map<Prefix, uint32_t> rowOf = {{{0, 0}, 0}};
    for (const Leaf& leaf : leaves) {
        const Df11Code::Word word =
            leaf.symbol == endSymbol ? Df11Code::Word{0, leaf.length} : code.words[leaf.symbol];
        for (uint32_t length = 8; length < word.length; length += 8) {
            rowOf.emplace(Prefix{length, word.bits >> (word.length - length)}, 0);
        }
    }
    uint32_t rows = 0;
    for (auto& [prefix, row] : rowOf) {
        row = rows++;
    }
    uint32_t longest = 0;
    for (uint32_t symbol = 1; symbol < 256; ++symbol) {
        longest = code.words[symbol].length > code.words[longest].length ? symbol : longest;
    }
    code.luts.assign(size_t(rows + 1) * df11RowBytes, uint8_t(longest));
    for (uint32_t symbol = 0; symbol < 256; ++symbol) {
        const Df11Code::Word word = code.words[symbol];
        code.luts[size_t(rows) * df11RowBytes + symbol] = uint8_t(word.length);
        if (word.length == 0) {
            continue;
        }
        const uint32_t prefix = (word.length - 1) / 8 * 8, free = prefix + 8 - word.length;
        const uint32_t row =
            rowOf.at({prefix, prefix == 0 ? 0 : word.bits >> (word.length - prefix)});
        uint8_t* first = &code.luts[size_t(row) * df11RowBytes + (word.bits << free & 255)];
        std::fill(first, first + (1u << free), uint8_t(symbol));
    }
    for (const auto& [prefix, row] : rowOf) {
        if (prefix.first != 0) {
            const uint32_t parent = rowOf.at({prefix.first - 8, prefix.second >> 8});
            code.luts[size_t(parent) * df11RowBytes + (prefix.second & 255)] = uint8_t(256 - row);
        }
    }
}

} // namespace

uint32_t Df11Code::minLength() const
{
    uint32_t least = 32;
    for (const Word& word : words) {
        least = word.length != 0 ? std::min(least, word.length) : least;
    }
    return least;
}

bool makeDf11Code(SluiceDf11Kind kind, const uint64_t histogram[256], uint32_t minLength,
                  Df11Code& code)
{
    const Df11Form& form = df11Form(kind);
    Leaves leaves = {{0, endSymbol}}; // of it, the stream has a few bits at most
    for (uint32_t symbol = 0; symbol < 256; ++symbol) {
        if (histogram[symbol] != 0) {
            leaves.push_back({histogram[symbol], symbol});
        }
    }
    if (leaves.size() == 1 || leaves.back().symbol > form.maxSymbol) {
        return false;
    }
    for (uint32_t symbol = 0; leaves.size() < uint32_t(1) << minLength; ++symbol) {
        if (histogram[symbol] == 0) {
            leaves.push_back({0, symbol}); // does not occur, but a code of longer words needs as
                                           // many
        }
    }
    std::vector<uint64_t> weightOf(endSymbol + 1);
    for (const Leaf& leaf : leaves) {
        weightOf[leaf.symbol] = leaf.weight;
    }
    buildLeaves(leaves, form.maxCodeBytes * 8, minLength);
    if (extraRows(leaves) > maxExtraRows) {
        buildWithFewRows(leaves, minLength, weightOf);
    }
    code = {};
    assignWords(leaves, code);
    makeTables(leaves, code);
    return true;
}

} // namespace sluice
