// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gdeflate_huffman.h"

#include <algorithm>
#include <cstring>

namespace sluice::gdeflate {

namespace {

struct Leaf {
    uint32_t frequency;
    uint16_t symbol;
};

// Sorts by frequency, ties by symbol: two counting passes over 8 bits each. Only the order of
// frequencies above 65,535, of which a tile has one at most, is lost.
void sortLeaves(Leaf* leaves, uint32_t count)
{
    Leaf other[kMaxSymbols];
    const auto pass = [count](const Leaf* from, Leaf* to, uint32_t shift) {
        uint32_t start[257] = {};
        const auto digit = [shift](const Leaf& leaf) {
            return (std::min(leaf.frequency, 65535u) >> shift) & 255;
        };
        for (uint32_t i = 0; i < count; ++i) {
            ++start[digit(from[i]) + 1];
        }
        for (uint32_t i = 0; i < 256; ++i) {
            start[i + 1] += start[i];
        }
        for (uint32_t i = 0; i < count; ++i) {
            to[start[digit(from[i])]++] = from[i];
        }
    };
    pass(leaves, other, 0);
    pass(other, leaves, 8);
}

// Huffman's algorithm on sorted leaves, two queues in one array (Moffat and Katajainen): counts[d]
// becomes the number of leaves at depth d, depths above maxLength counted as maxLength.
void countDepths(const Leaf* leaves, uint32_t count, uint32_t maxLength, uint32_t* counts)
{
    uint32_t weight[kMaxSymbols]; // of inner nodes, in the order of their making
    uint32_t parent[kMaxSymbols];
    uint32_t leaf = 0, inner = 0;
    for (uint32_t made = 0; made < count - 1; ++made) {
        weight[made] = 0;
        for (int child = 0; child < 2; ++child) {
            if (leaf < count && (inner == made || leaves[leaf].frequency <= weight[inner])) {
                weight[made] += leaves[leaf++].frequency;
            } else {
                weight[made] += weight[inner];
                parent[inner++] = made;
            }
        }
    }
    // A parent is made after its children, so depths follow from the root down. Each inner node at
    // depth d gives up a leaf's place there for two at depth d + 1.
    uint32_t depth[kMaxSymbols];
    std::fill(counts, counts + kMaxCodeLength + 1, 0u);
    counts[1] = 2;
    const uint32_t root = count - 2;
    depth[root] = 0;
    for (uint32_t node = root; node-- > 0;) {
        depth[node] = depth[parent[node]] + 1;
        uint32_t at = depth[node];
        if (at >= maxLength) { // too deep: split the deepest leaf that may be split instead
            at = maxLength - 1;
            while (counts[at] == 0) {
                --at;
            }
        }
        --counts[at];
        counts[at + 1] += 2;
    }
}

// The package-merge algorithm (Larmore and Hirschberg 1990) on sorted leaves: depths[i] becomes the
// depth of leaf i. List 1 holds the leaves; each next one holds the leaves and, as packages, the
// pairs of the list before, by weight. The 2 * count - 2 lightest items of list maxLength are the
// code: a leaf gets a bit more each time it stands among them, itself or in a package. Those are a
// prefix of each list, so all there is to keep is which items are leaves.
void limitDepths(const Leaf* leaves, uint32_t count, uint32_t maxLength, uint8_t* depths)
{
    bool isLeaf[kMaxCodeLength][2 * kMaxSymbols];
    uint32_t weights[2][2 * kMaxSymbols];
    uint32_t packages = 0;
    for (uint32_t list = 0; list < maxLength; ++list) {
        const uint32_t* const pairs = weights[(list + 1) % 2];
        uint32_t leaf = 0, package = 0, made = 0;
        for (; leaf + package < count + packages; ++made) {
            const uint32_t weight =
                package < packages ? pairs[2 * package] + pairs[2 * package + 1] : UINT32_MAX;
            const bool takesLeaf = leaf < count && leaves[leaf].frequency <= weight;
            isLeaf[list][made] = takesLeaf;
            weights[list % 2][made] = takesLeaf ? leaves[leaf].frequency : weight;
            leaf += takesLeaf ? 1 : 0;
            package += takesLeaf ? 0 : 1;
        }
        packages = made / 2;
    }
    std::fill(depths, depths + count, uint8_t{0});
    for (uint32_t list = maxLength, taken = 2 * count - 2; list-- > 0;) {
        const auto takenLeaves =
            static_cast<uint32_t>(std::count(isLeaf[list], isLeaf[list] + taken, true));
        for (uint32_t i = 0; i < takenLeaves; ++i) {
            ++depths[i];
        }
        taken = 2 * (taken - takenLeaves);
    }
}

// Collects the used symbols and settles the cases of none and one, which have no code proper:
// returns 0 for those.
uint32_t collectLeaves(const uint32_t* frequencies, uint32_t count, Leaf* leaves, uint8_t* lengths)
{
    uint32_t used = 0;
    for (uint32_t symbol = 0; symbol < count; ++symbol) {
        lengths[symbol] = 0;
        if (frequencies[symbol] != 0) {
            leaves[used++] = {frequencies[symbol], static_cast<uint16_t>(symbol)};
        }
    }
    if (used == 1) {
        lengths[leaves[0].symbol] = 1;
        lengths[leaves[0].symbol == 0 ? 1 : 0] = 1;
    }
    if (used < 2) {
        return 0;
    }
    sortLeaves(leaves, used);
    return used;
}

} // namespace

void buildCodeLengths(const uint32_t* frequencies, uint32_t count, uint32_t maxLength,
                      uint8_t* lengths)
{
    Leaf leaves[kMaxSymbols];
    const uint32_t used = collectLeaves(frequencies, count, leaves, lengths);
    if (used == 0) {
        return;
    }
    uint32_t counts[kMaxCodeLength + 1];
    countDepths(leaves, used, maxLength, counts);
    uint32_t next = 0; // the rarest symbols get the longest codes
    for (uint32_t length = maxLength; length > 0; --length) {
        for (uint32_t i = 0; i < counts[length]; ++i) {
            lengths[leaves[next++].symbol] = static_cast<uint8_t>(length);
        }
    }
}

void buildLimitedCodeLengths(const uint32_t* frequencies, uint32_t count, uint32_t maxLength,
                             uint8_t* lengths)
{
    Leaf leaves[kMaxSymbols];
    const uint32_t used = collectLeaves(frequencies, count, leaves, lengths);
    if (used == 0) {
        return;
    }
    uint8_t depths[kMaxSymbols];
    limitDepths(leaves, used, maxLength, depths);
    for (uint32_t i = 0; i < used; ++i) {
        lengths[leaves[i].symbol] = depths[i];
    }
}

void assignCodes(const uint8_t* lengths, uint32_t count, uint16_t* codes)
{
    uint32_t counts[kMaxCodeLength + 1] = {};
    for (uint32_t symbol = 0; symbol < count; ++symbol) {
        ++counts[lengths[symbol]];
    }
    counts[0] = 0;
    uint32_t next[kMaxCodeLength + 1] = {};
    for (uint32_t length = 1; length <= kMaxCodeLength; ++length) {
        next[length] = (next[length - 1] + counts[length - 1]) << 1;
    }
    for (uint32_t symbol = 0; symbol < count; ++symbol) {
        uint32_t code = next[lengths[symbol]]++;
        uint32_t reversed = 0;
        for (uint32_t i = 0; i < lengths[symbol]; ++i, code >>= 1) {
            reversed = reversed << 1 | (code & 1);
        }
        codes[symbol] = static_cast<uint16_t>(reversed);
    }
}

} // namespace sluice::gdeflate
