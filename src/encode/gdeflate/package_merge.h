// SPDX-License-Identifier: MIT OR Apache-2.0
// The package-merge algorithm (Larmore and Hirschberg: A Fast Algorithm for Optimal Length-Limited
// Huffman Codes, JACM 1990).
#pragma once

#include <algorithm>
#include <limits>

#include "formats/integers.h"

namespace sluice {

// Sets lengths[0 .. count - 1] to those of the cheapest prefix code with no length above maxLength.
//   count      number of leaves, 2 .. kMaxLeaves and at most 2^maxLength
//   maxLength  1 .. kMaxDepth
//   weightOf   weightOf(i) is the weight of leaf i; leaves are sorted by ascending weight
//
// List 0 holds the leaves. Each further list holds all leaves and all packages, sorted by weight. A
// package is a pair of neighbouring items of the list before. The 2 * count - 2 lightest items of
// the last list give the code: a leaf's length is how often the leaf occurs in them, by itself or
// inside packages. In every list the counted items come first, so it is enough to store which items
// are leaves.
template <typename Weight, uint32_t kMaxLeaves, uint32_t kMaxDepth, typename WeightOf>
void packageMerge(uint32_t count, uint32_t maxLength, uint8_t* lengths, WeightOf weightOf)
{
    bool isLeaf[kMaxDepth][2 * kMaxLeaves];
    Weight weights[2][2 * kMaxLeaves];
    uint32_t packages = 0;
    for (uint32_t list = 0; list < maxLength; ++list) {
        const Weight* const pairs = weights[(list + 1) % 2];
        uint32_t leaf = 0, package = 0, made = 0;
        for (; leaf + package < count + packages; ++made) {
            const Weight weight = package < packages ? pairs[2 * package] + pairs[2 * package + 1]
                                                     : std::numeric_limits<Weight>::max();
            const bool takesLeaf = leaf < count && weightOf(leaf) <= weight;
            isLeaf[list][made] = takesLeaf;
            weights[list % 2][made] = takesLeaf ? weightOf(leaf) : weight;
            leaf += takesLeaf ? 1 : 0;
            package += takesLeaf ? 0 : 1;
        }
        packages = made / 2;
    }
    std::fill(lengths, lengths + count, uint8_t(0));
    for (uint32_t list = maxLength, taken = 2 * count - 2; list-- > 0;) {
        const uint32_t leaves = uint32_t(std::count(isLeaf[list], isLeaf[list] + taken, true));
        for (uint32_t i = 0; i < leaves; ++i)
            ++lengths[i];
        taken = 2 * (taken - leaves);
    }
}

} // namespace sluice
