// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds Huffman codes. A leaf is a symbol that occurs, with its frequency.
#include "encode/gdeflate/gdeflate_huffman.h"

#include "encode/gdeflate/package_merge.h"

namespace sluice::gdeflate {

namespace {

struct Leaf {
    uint32_t frequency;
    uint16_t symbol;
};

// Sorts leaves by frequency, and leaves of equal frequency by symbol: a radix sort of two passes
// with 8 bits each. Frequencies above 65,535 count as equal. This is harmless: all frequencies of a
// tile add up to about 65,536, so at most one symbol has such a frequency.
void sortLeaves(Leaf* leaves, uint32_t count)
{
    Leaf other[kMaxSymbols];
    const auto pass = [count](const Leaf* from, Leaf* to, uint32_t shift) {
        uint32_t start[257] = {};
        const auto digit = [shift](const Leaf& leaf) {
            return (std::min(leaf.frequency, 65535u) >> shift) & 255;
        };
        for (uint32_t i = 0; i < count; ++i)
            ++start[digit(from[i]) + 1];
        for (uint32_t i = 0; i < 256; ++i)
            start[i + 1] += start[i];
        for (uint32_t i = 0; i < count; ++i)
            to[start[digit(from[i])]++] = from[i];
    };
    pass(leaves, other, 0);
    pass(other, leaves, 8);
}

// Runs Huffman's algorithm on sorted leaves, with two queues in one array (Moffat and Katajainen:
// one queue of leaves, one of inner nodes). Sets counts[d] to the number of leaves at depth d; none
// is deeper than maxLength.
void countDepths(const Leaf* leaves, uint32_t count, uint32_t maxLength, uint32_t* counts)
{
    uint32_t weight[kMaxSymbols]; // weights of the inner nodes, in the order in which they are made
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
    // A parent is made after its children, so walking backwards from the root visits parents first,
    // and a node's depth follows from its parent's. Each inner node at depth d turns one leaf at
    // depth d into two leaves at depth d + 1.
    uint32_t depth[kMaxSymbols];
    std::fill(counts, counts + kMaxCodeLength + 1, 0u);
    counts[1] = 2;
    const uint32_t root = count - 2;
    depth[root] = 0;
    for (uint32_t node = root; node-- > 0;) {
        depth[node] = depth[parent[node]] + 1;
        uint32_t at = depth[node];
        if (at >= maxLength) { // too deep: split the deepest leaf above the limit instead
            at = maxLength - 1;
            while (counts[at] == 0)
                --at;
        }
        --counts[at];
        counts[at + 1] += 2;
    }
}

// Collects the symbols that occur. Huffman's algorithm needs two: if fewer occur, this function
// sets the lengths itself and returns 0.
uint32_t collectLeaves(const uint32_t* frequencies, uint32_t count, Leaf* leaves, uint8_t* lengths)
{
    uint32_t used = 0;
    for (uint32_t symbol = 0; symbol < count; ++symbol) {
        lengths[symbol] = 0;
        if (frequencies[symbol] != 0) leaves[used++] = {frequencies[symbol], uint16_t(symbol)};
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

void buildCodeLengths(const uint32_t* frequencies, uint32_t count, uint32_t maxLength,
                      uint8_t* lengths)
{
    Leaf leaves[kMaxSymbols];
    const uint32_t used = collectLeaves(frequencies, count, leaves, lengths);
    if (used == 0) return;
    uint32_t counts[kMaxCodeLength + 1];
    countDepths(leaves, used, maxLength, counts);
    uint32_t next = 0; // leaves are sorted, so the rarest get the longest codes
    for (uint32_t length = maxLength; length > 0; --length) {
        for (uint32_t i = 0; i < counts[length]; ++i)
            lengths[leaves[next++].symbol] = uint8_t(length);
    }
}

void buildLimitedCodeLengths(const uint32_t* frequencies, uint32_t count, uint32_t maxLength,
                             uint8_t* lengths)
{
    Leaf leaves[kMaxSymbols];
    const uint32_t used = collectLeaves(frequencies, count, leaves, lengths);
    if (used == 0) return;
    uint8_t depths[kMaxSymbols];
    packageMerge<uint32_t, kMaxSymbols, kMaxCodeLength>(
        used, maxLength, depths, [&](uint32_t i) { return leaves[i].frequency; });
    for (uint32_t i = 0; i < used; ++i)
        lengths[leaves[i].symbol] = depths[i];
}

void assignCanonicalCodes(const uint8_t* lengths, uint32_t count, uint16_t* codes)
{
    uint32_t counts[kMaxCodeLength + 1] = {}, next[kMaxCodeLength + 1] = {};
    for (uint32_t symbol = 0; symbol < count; ++symbol)
        ++counts[lengths[symbol]];
    for (uint32_t length = 2; length <= kMaxCodeLength; ++length)
        next[length] = (next[length - 1] + counts[length - 1]) << 1;
    for (uint32_t symbol = 0; symbol < count; ++symbol)
        codes[symbol] = uint16_t(lengths[symbol] == 0 ? 0 : next[lengths[symbol]]++);
}

void assignCodes(const uint8_t* lengths, uint32_t count, uint16_t* codes)
{
    assignCanonicalCodes(lengths, count, codes);
    for (uint32_t symbol = 0; symbol < count; ++symbol) {
        uint32_t reversed = 0;
        for (uint32_t i = 0; i < lengths[symbol]; ++i)
            reversed = reversed << 1 | (codes[symbol] >> i & 1);
        codes[symbol] = uint16_t(reversed);
    }
}

} // namespace sluice::gdeflate
