// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gdeflate/gdeflate_huffman.h"

#include "encode/gdeflate/package_merge.h"

namespace sluice::gdeflate {

namespace {

struct Leaf {
    u32 frequency;
    u16 symbol;
};

// Sorts by frequency, ties by symbol, in two counting passes over 8 bits each. Frequencies above
// 65,535 count as equal; a tile has at most one such.
void sortLeaves(Leaf* leaves, u32 count)
{
    Leaf other[kMaxSymbols];
    const auto pass = [count](const Leaf* from, Leaf* to, u32 shift) {
        u32 start[257] = {};
        const auto digit = [shift](const Leaf& leaf) {
            return (std::min(leaf.frequency, 65535u) >> shift) & 255;
        };
        for (u32 i = 0; i < count; ++i)
            ++start[digit(from[i]) + 1];
        for (u32 i = 0; i < 256; ++i)
            start[i + 1] += start[i];
        for (u32 i = 0; i < count; ++i)
            to[start[digit(from[i])]++] = from[i];
    };
    pass(leaves, other, 0);
    pass(other, leaves, 8);
}

// Runs Huffman's algorithm on sorted leaves, with two queues in one array (Moffat and Katajainen).
// counts[d] becomes the number of leaves at depth d; none is deeper than maxLength.
void countDepths(const Leaf* leaves, u32 count, u32 maxLength, u32* counts)
{
    u32 weight[kMaxSymbols]; // the inner nodes', in the order in which they are made
    u32 parent[kMaxSymbols];
    u32 leaf = 0, inner = 0;
    for (u32 made = 0; made < count - 1; ++made) {
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
    u32 depth[kMaxSymbols];
    std::fill(counts, counts + kMaxCodeLength + 1, 0u);
    counts[1] = 2;
    const u32 root = count - 2;
    depth[root] = 0;
    for (u32 node = root; node-- > 0;) {
        depth[node] = depth[parent[node]] + 1;
        u32 at = depth[node];
        if (at >= maxLength) { // too deep: split the deepest leaf that may be split instead
            at = maxLength - 1;
            while (counts[at] == 0)
                --at;
        }
        --counts[at];
        counts[at + 1] += 2;
    }
}

// Collects the used symbols. With fewer than two there is no proper code; then it sets the lengths
// itself and returns 0.
u32 collectLeaves(const u32* frequencies, u32 count, Leaf* leaves, u8* lengths)
{
    u32 used = 0;
    for (u32 symbol = 0; symbol < count; ++symbol) {
        lengths[symbol] = 0;
        if (frequencies[symbol] != 0) leaves[used++] = {frequencies[symbol], u16(symbol)};
    }
    if (used == 1) {
        lengths[leaves[0].symbol] = 1;
        lengths[leaves[0].symbol == 0 ? 1 : 0] = 1;
    }
    if (used < 2) return 0;
    sortLeaves(leaves, used);
    return used;
}

} // namespace

void buildCodeLengths(const u32* frequencies, u32 count, u32 maxLength, u8* lengths)
{
    Leaf leaves[kMaxSymbols];
    const u32 used = collectLeaves(frequencies, count, leaves, lengths);
    if (used == 0) return;
    u32 counts[kMaxCodeLength + 1];
    countDepths(leaves, used, maxLength, counts);
    u32 next = 0; // the rarest symbols get the longest codes
    for (u32 length = maxLength; length > 0; --length) {
        for (u32 i = 0; i < counts[length]; ++i)
            lengths[leaves[next++].symbol] = u8(length);
    }
}

void buildLimitedCodeLengths(const u32* frequencies, u32 count, u32 maxLength, u8* lengths)
{
    Leaf leaves[kMaxSymbols];
    const u32 used = collectLeaves(frequencies, count, leaves, lengths);
    if (used == 0) return;
    u8 depths[kMaxSymbols];
    packageMerge<u32, kMaxSymbols, kMaxCodeLength>(used, maxLength, depths,
                                                   [&](u32 i) { return leaves[i].frequency; });
    for (u32 i = 0; i < used; ++i)
        lengths[leaves[i].symbol] = depths[i];
}

void assignCanonicalCodes(const u8* lengths, u32 count, u16* codes)
{
    u32 counts[kMaxCodeLength + 1] = {}, next[kMaxCodeLength + 1] = {};
    for (u32 symbol = 0; symbol < count; ++symbol)
        ++counts[lengths[symbol]];
    for (u32 length = 2; length <= kMaxCodeLength; ++length)
        next[length] = (next[length - 1] + counts[length - 1]) << 1;
    for (u32 symbol = 0; symbol < count; ++symbol)
        codes[symbol] = u16(lengths[symbol] == 0 ? 0 : next[lengths[symbol]]++);
}

void assignCodes(const u8* lengths, u32 count, u16* codes)
{
    assignCanonicalCodes(lengths, count, codes);
    for (u32 symbol = 0; symbol < count; ++symbol) {
        u32 reversed = 0;
        for (u32 i = 0; i < lengths[symbol]; ++i)
            reversed = reversed << 1 | (codes[symbol] >> i & 1);
        codes[symbol] = u16(reversed);
    }
}

} // namespace sluice::gdeflate
