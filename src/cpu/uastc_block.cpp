// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of UASTC blocks (docs/uastc.md). It unpacks a block to numbers, and packs each
// target from them. For BC1, BC4 and ETC it only computes the texels, and passes them to the
// encoders that the GPU kernels also use.
#include "cpu/uastc.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cpu/uastc_words.h"

namespace sluice::cpu {
namespace {

uint32_t bitsAt(const uint8_t* bytes, uint32_t at, uint32_t count)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < count; ++i)
        value |= (bytes[(at + i) / 8] >> (at + i) % 8 & 1u) << i;
    return value;
}

// Appends fields to a block of 16 bytes.
class BlockWriter {
public:
    explicit BlockWriter(uint8_t* block) : m_block(block) { std::fill_n(block, 16, uint8_t(0)); }

    void put(uint32_t value, uint32_t count)
    {
        putAt(m_at, value, count);
        m_at += count;
    }
    void putAt(uint32_t at, uint32_t value, uint32_t count)
    {
        for (uint32_t i = 0; i < count; ++i)
            m_block[(at + i) / 8] =
                uint8_t(m_block[(at + i) / 8] | (value >> i & 1u) << (at + i) % 8);
    }

private:
    uint8_t* m_block;
    uint32_t m_at = 0;
};

struct Ends {
    uint32_t low[4], high[4]; // R, G, B, A
};

struct Block {
    uint32_t mode, pattern; // pattern: an index into kUastcPatterns
    uint32_t components, subsets, planes, lowBits, radix, weightBits, selector;
    uint32_t stored[18]; // quantised endpoint values
    Ends ends[3];        // the endpoints of each subset, as 8-bit values
    uint32_t weights[2][16];
    uint32_t colour[4]; // R, G, B, A of a block of mode 8

    uint32_t subsetOf(uint32_t texel) const
    {
        return subsets == 1 ? 0 : kUastcPatterns[pattern] >> 2 * texel & 3;
    }
    uint32_t seen() const { return components == 3 ? 3 : 4; } // components that decide a BC7 p-bit
};

// Returns the first texel of a subset.
uint32_t firstOf(const Block& block, uint32_t subset)
{
    uint32_t texel = 0;
    while (block.subsetOf(texel) != subset)
        ++texel;
    return texel;
}

void readEndpoints(const uint8_t* bytes, Block& block, uint32_t& at)
{
    const uint32_t count = 2 * block.components * block.subsets, each = block.radix == 3   ? 5
                                                                        : block.radix == 5 ? 3
                                                                                           : 18;
    uint32_t digits[18] = {};
    for (uint32_t first = 0; block.radix != 0 && first < count; first += each) {
        static constexpr uint32_t trits[] = {0, 2, 4, 5, 7, 8}, quints[] = {0, 3, 5, 7};
        const uint32_t values = std::min(each, count - first),
                       bits = block.radix == 3 ? trits[values] : quints[values];
        uint32_t code = bitsAt(bytes, at, bits);
        at += bits;
        for (uint32_t i = 0; i < values; ++i, code /= block.radix)
            digits[first + i] = code % block.radix;
    }
    for (uint32_t i = 0; i < count; ++i, at += block.lowBits)
        block.stored[i] = digits[i] << block.lowBits | bitsAt(bytes, at, block.lowBits);
    for (uint32_t subset = 0; subset < block.subsets; ++subset) {
        for (uint32_t c = 0; c < 4; ++c) {
            const uint32_t from = block.components == 2 ? (c == 3 ? 1 : 0) : c;
            Ends& ends = block.ends[subset];
            ends.low[c] = ends.high[c] = 255;
            if (from >= block.components) continue;
            const uint32_t* pair = block.stored + 2 * (subset * block.components + from);
            ends.low[c] = uastcWiden(pair[0], block.lowBits, block.radix);
            ends.high[c] = uastcWiden(pair[1], block.lowBits, block.radix);
        }
    }
}

// Unpacks a block. Returns false if it is invalid.
bool unpack(const uint8_t* bytes, Block& block)
{
    const uint32_t mode = kUastcCodes[(bytes[0] & 127) / 4] >> 8 * (bytes[0] % 4) & 31;
    if (mode >= kUastcModes) return false;
    const uint32_t kind = kUastcKinds[mode], patternBits = kind >> 24;
    block = {};
    block.mode = mode;
    block.components = kind & 15;
    block.subsets = kind >> 4 & 3;
    block.planes = kind >> 6 & 3;
    block.lowBits = kind >> 8 & 15;
    block.radix = kind >> 12 & 7;
    block.weightBits = kind >> 16 & 7;
    uint32_t at = kUastcPlaces[mode] & 255;
    if (mode == kUastcSolid) {
        for (uint32_t c = 0; c < 4; ++c)
            block.colour[c] = bitsAt(bytes, 5 + 8 * c, 8);
        return true;
    }
    block.pattern = bitsAt(bytes, at, patternBits);
    at += patternBits;
    const uint32_t begin = mode == 3   ? kUastcThree
                           : mode == 7 ? kUastcSplit
                                       : 0,
                   end = mode == 3   ? kUastcSplit
                         : mode == 7 ? kUastcPatternEnd
                                     : kUastcThree;
    block.pattern += begin;
    if (block.pattern >= end) return false;
    block.selector = 3;
    if (block.planes == 2 && mode != 17) {
        block.selector = bitsAt(bytes, at, 2);
        at += 2;
    }
    readEndpoints(bytes, block, at);
    for (uint32_t texel = 0; texel < 16; ++texel) {
        const bool isAnchor = texel == firstOf(block, block.subsetOf(texel));
        for (uint32_t plane = 0; plane < block.planes; ++plane) {
            const uint32_t bits = block.weightBits - (isAnchor ? 1 : 0);
            block.weights[plane][texel] = bitsAt(bytes, at, bits);
            at += bits;
        }
    }
    return true;
}

UastcTexels texelsOf(const Block& block)
{
    UastcTexels texels = {};
    for (uint32_t i = 0; i < 16; ++i) {
        const Ends& ends = block.ends[block.subsetOf(i)];
        for (uint32_t c = 0; c < 4; ++c) {
            const uint32_t plane = block.planes == 2 && c == block.selector ? 1 : 0,
                           weight = uastcWeight(block.weights[plane][i], block.weightBits),
                           low = ends.low[c] * 257, high = ends.high[c] * 257;
            const uint32_t value = block.mode == kUastcSolid
                                       ? block.colour[c]
                                       : ((low * (64 - weight) + high * weight + 32) >> 6) >> 8;
            texels.t[i] |= value << 8 * c;
        }
    }
    return texels;
}

// -----------------------------------------------------------------------------------------------
// BC7

uint32_t p8Of(const Block& block, const uint32_t* end)
{
    uint32_t odd = 0;
    for (uint32_t c = 0; c < block.seen(); ++c)
        odd += end[c] & 1;
    return 2 * odd > block.seen() ? 1 : 0;
}

uint32_t errorOf(const uint32_t* end, uint32_t count, uint32_t bits, uint32_t p)
{
    uint32_t sum = 0;
    for (uint32_t c = 0; c < count; ++c)
        sum += uastcStoredError(end[c], bits, p);
    return sum;
}

void packBc7Mode5(const Block& block, BlockWriter& writer)
{
    Ends ends = block.ends[0];
    std::swap(ends.low[3], ends.low[block.selector]);
    std::swap(ends.high[3], ends.high[block.selector]);
    writer.put(1u << 5, 6);
    writer.put((block.selector + 1) & 3, 2);
    for (uint32_t c = 0; c < 3; ++c) {
        writer.put(uastcScaled(ends.low[c], 127), 7);
        writer.put(uastcScaled(ends.high[c], 127), 7);
    }
    writer.put(ends.low[3], 8);
    writer.put(ends.high[3], 8);
    // Texel 0 is the anchor in UASTC and in BC7: the highest bit of its index is 0 and not stored.
    for (const auto& plane : block.weights)
        for (uint32_t i = 0; i < 16; ++i)
            writer.put(block.weightBits == 1 ? 3 * plane[i] : plane[i], i == 0 ? 1 : 2);
}

uint32_t mode6Index(uint32_t weight, uint32_t bits)
{
    switch (bits) {
    case 2: return 5 * weight;
    case 3: return 2 * weight + (weight >> 2);
    case 5: return weight == 14 ? 6 : weight == 17 ? 9 : weight >> 1;
    default: return weight;
    }
}

void packBc7Mode6(const Block& block, BlockWriter& writer)
{
    const Ends& ends = block.ends[0];
    const uint32_t pLow = p8Of(block, ends.low), pHigh = p8Of(block, ends.high);
    writer.put(1u << 6, 7);
    for (uint32_t c = 0; c < 4; ++c) {
        writer.put(uastcStored(ends.low[c], 7, pLow), 7);
        writer.put(uastcStored(ends.high[c], 7, pHigh), 7);
    }
    writer.put(pLow, 1);
    writer.put(pHigh, 1);
    for (uint32_t i = 0; i < 16; ++i)
        writer.put(mode6Index(block.weights[0][i], block.weightBits), i == 0 ? 3 : 4);
}

// The subsets of a BC7 block: their count, the number of the partition, the subset of each texel,
// the anchor texels, and the endpoints.
struct Bc7Subsets {
    uint32_t count, number, of[16], anchors[3];
    Ends ends[3];
};

Bc7Subsets subsetsOf(const Block& block)
{
    Bc7Subsets subsets = {};
    subsets.count = block.mode == 3 || block.mode == 7 ? 3 : 2;
    if (block.mode == 1) { // UASTC has one subset, BC7 gets two equal ones
        subsets.anchors[1] = 15;
        for (uint32_t i = 0; i < 16; ++i)
            subsets.of[i] = i >> 1 & 1;
        subsets.ends[0] = subsets.ends[1] = block.ends[0];
        return subsets;
    }
    const uint32_t partition = kUastcPartitions[block.pattern];
    subsets.number = partition & 63;
    for (uint32_t k = 0; k < subsets.count; ++k) {
        const uint32_t ours = partition >> (6 + 2 * k) & 3;
        subsets.ends[k] = block.ends[ours];
        if (k != 0) subsets.anchors[k] = partition >> (8 + 4 * k) & 15;
        for (uint32_t i = 0; i < 16; ++i)
            if (block.mode == 7 ? (kUastcSplits[block.pattern - kUastcSplit] >> 2 * i & 3) == k
                                : block.subsetOf(i) == ours)
                subsets.of[i] = k;
    }
    return subsets;
}

void packBc7Subsets(const Block& block, BlockWriter& writer)
{
    Bc7Subsets subsets = subsetsOf(block);
    const uint32_t mode = block.mode == 2                       ? 1
                          : subsets.count == 3                  ? 2
                          : block.mode == 9 || block.mode == 16 ? 7
                                                                : 3,
                   bits = mode == 1   ? 6
                          : mode == 3 ? 7
                                      : 5,
                   components = mode == 7 ? 4 : 3, most = (1u << block.weightBits) - 1;
    uint32_t indices[16], pLow[3] = {}, pHigh[3] = {};
    std::copy_n(block.weights[0], 16, indices);
    for (uint32_t k = 0; k < subsets.count; ++k) {
        Ends& ends = subsets.ends[k];
        if (indices[subsets.anchors[k]] > most / 2) {
            std::swap(ends.low, ends.high);
            for (uint32_t i = 0; i < 16; ++i)
                if (subsets.of[i] == k) indices[i] = most - indices[i];
        }
        if (mode == 1) {
            pLow[k] = pHigh[k] =
                errorOf(ends.low, 3, bits, 1) + errorOf(ends.high, 3, bits, 1) <
                        errorOf(ends.low, 3, bits, 0) + errorOf(ends.high, 3, bits, 0)
                    ? 1
                    : 0;
        } else if (mode == 3) {
            pLow[k] = p8Of(block, ends.low);
            pHigh[k] = p8Of(block, ends.high);
        } else if (mode == 7) {
            pLow[k] = errorOf(ends.low, 4, bits, 1) < errorOf(ends.low, 4, bits, 0) ? 1 : 0;
            pHigh[k] = errorOf(ends.high, 4, bits, 1) < errorOf(ends.high, 4, bits, 0) ? 1 : 0;
        }
    }
    writer.put(1u << mode, mode + 1);
    writer.put(subsets.number, 6);
    for (uint32_t c = 0; c < components; ++c) {
        for (uint32_t k = 0; k < subsets.count; ++k) {
            const uint32_t low = subsets.ends[k].low[c], high = subsets.ends[k].high[c];
            writer.put(mode == 2 ? uastcScaled(low, 31) : uastcStored(low, bits, pLow[k]), bits);
            writer.put(mode == 2 ? uastcScaled(high, 31) : uastcStored(high, bits, pHigh[k]), bits);
        }
    }
    for (uint32_t k = 0; k < subsets.count && mode != 2; ++k) {
        writer.put(pLow[k], 1);
        if (mode != 1) writer.put(pHigh[k], 1);
    }
    for (uint32_t i = 0; i < 16; ++i)
        writer.put(indices[i], block.weightBits - (i == subsets.anchors[subsets.of[i]] ? 1 : 0));
}

void packBc7Solid(const uint32_t* colour, BlockWriter& writer)
{
    const bool has0 = std::find(colour, colour + 4, 0u) != colour + 4,
               has255 = std::find(colour, colour + 4, 255u) != colour + 4;
    // A p-bit of 1 cannot give a component of 0, and a p-bit of 0 cannot give 255. Mode 6 has one
    // p-bit for all components, so it cannot be used if the colour has both values.
    if (!has0 || !has255) {
        const uint32_t p = has255 ? 1 : 0;
        writer.put(1u << 6, 7);
        for (uint32_t c = 0; c < 4; ++c) {
            writer.put(uastcSolid6(colour[c], p) & 127, 7);
            writer.put(uastcSolid6(colour[c], p) >> 8, 7);
        }
        writer.put(p, 1);
        writer.put(p, 1);
        for (uint32_t i = 0; i < 16; ++i)
            writer.put(5, i == 0 ? 3 : 4);
        return;
    }
    writer.put(1u << 5, 8); // mode 5 with rotation 0
    for (uint32_t c = 0; c < 3; ++c) {
        writer.put(uastcSolid5(colour[c]) & 127, 7);
        writer.put(uastcSolid5(colour[c]) >> 8, 7);
    }
    writer.put(colour[3], 8);
    writer.put(colour[3], 8);
    for (uint32_t i = 0; i < 16; ++i)
        writer.put(1, i == 0 ? 1 : 2);
}

void packBc7(const Block& block, uint8_t* made)
{
    BlockWriter writer(made);
    if (block.mode == kUastcSolid)
        packBc7Solid(block.colour, writer);
    else if (block.planes == 2)
        packBc7Mode5(block, writer);
    else if (block.subsets == 1 && block.mode != 1)
        packBc7Mode6(block, writer);
    else
        packBc7Subsets(block, writer);
}

// -----------------------------------------------------------------------------------------------
// ASTC

// In a subset whose high endpoint has a smaller sum of R, G and B than the low one, an ASTC decoder
// applies blue contraction. To avoid it, swaps the endpoints of such subsets and inverts their
// weights.
void avoidContraction(Block& block)
{
    if (block.components == 2) return;
    for (uint32_t k = 0; k < block.subsets; ++k) {
        const Ends& ends = block.ends[k];
        if (ends.high[0] + ends.high[1] + ends.high[2] >= ends.low[0] + ends.low[1] + ends.low[2])
            continue;
        uint32_t* stored = block.stored + 2 * k * block.components;
        for (uint32_t c = 0; c < block.components; ++c)
            std::swap(stored[2 * c], stored[2 * c + 1]);
        for (auto& plane : block.weights)
            for (uint32_t i = 0; i < 16; ++i)
                if (block.subsetOf(i) == k) plane[i] = (1u << block.weightBits) - 1 - plane[i];
    }
}

// Writes the endpoint values in ASTC's integer sequence encoding: the bits of a group's trits or
// quints are interleaved with the low bits of its values.
void putSequence(const Block& block, BlockWriter& writer)
{
    static constexpr uint32_t trits[] = {2, 2, 1, 2, 1}, quints[] = {3, 2, 2};
    const uint32_t count = 2 * block.components * block.subsets, each = block.radix == 3   ? 5
                                                                        : block.radix == 5 ? 3
                                                                                           : 1;
    for (uint32_t first = 0; first < count; first += each) {
        uint32_t digits[5] = {};
        for (uint32_t i = 0; i < each && first + i < count; ++i)
            digits[i] = block.stored[first + i] >> block.lowBits;
        uint32_t code = block.radix == 3
                            ? uastcTrits(digits[0], digits[1], digits[2], digits[3], digits[4])
                        : block.radix == 5 ? uastcQuints(digits[0], digits[1], digits[2])
                                           : 0;
        for (uint32_t i = 0; i < each && first + i < count; ++i) {
            writer.put(block.stored[first + i], block.lowBits);
            const uint32_t bits = block.radix == 3 ? trits[i] : block.radix == 5 ? quints[i] : 0;
            writer.put(code, bits);
            code >>= bits;
        }
    }
}

void packAstc(Block block, uint8_t* made)
{
    BlockWriter writer(made);
    if (block.mode == kUastcSolid) {
        writer.put(0xfffffdfc, 32); // a void-extent block has one colour
        writer.put(0xffffffff, 32);
        for (const uint32_t component : block.colour)
            writer.put(component * 257, 16);
        return;
    }
    avoidContraction(block);
    const uint32_t format = 4 * (block.components - 1);
    writer.put(kUastcBlockModes[block.mode], 11);
    writer.put(block.subsets - 1, 2);
    if (block.subsets > 1) {
        writer.put(kUastcSeeds[block.pattern], 10);
        writer.put(format << 2, 6); // low bits 00: all subsets have this format
    } else {
        writer.put(format, 4);
    }
    putSequence(block, writer);
    const uint32_t bits = block.weightBits;
    uint32_t at = 128;
    for (uint32_t i = 0; i < 16; ++i)
        for (uint32_t plane = 0; plane < block.planes; ++plane)
            for (uint32_t j = 0; j < bits; ++j)
                writer.putAt(--at, block.weights[plane][i] >> j, 1);
    if (block.planes == 2) writer.putAt(at - 2, block.selector, 2);
}

} // namespace

uint32_t uastcTargetBytes(uint32_t target)
{
    return target == SLUICE_UA_RGBA8 ? 64 : uastcBlockBytes(target);
}

bool transcodeUastc(uint32_t target, const uint8_t* bytes, uint8_t* made)
{
    Block block;
    const bool valid = unpack(bytes, block);
    static constexpr uint32_t magenta[] = {SLUICE_UA_MAGENTA_X, SLUICE_UA_MAGENTA_Y, 0, 0};
    UastcBits words;
    std::memcpy(&words, valid ? static_cast<const void*>(bytes) : magenta, sizeof words);
    if (!valid) {
        block = {};
        block.mode = kUastcSolid;
        block.colour[0] = block.colour[2] = block.colour[3] = 255;
    }
    if (target == SLUICE_UA_BC7) {
        packBc7(block, made);
    } else if (target == SLUICE_UA_ASTC) {
        packAstc(block, made);
    } else {
        const UastcTexels texels = texelsOf(block);
        if (target == SLUICE_UA_RGBA8) {
            std::memcpy(made, texels.t, sizeof texels.t);
        } else {
            const UastcShape shape = uastcShapeOfMode(words, block.mode);
            const UastcBits other =
                target < SLUICE_UA_ETC1
                    ? uastcBc(target, words, shape, uastcAllEnds(words, shape), texels)
                    : uastcEtc(target, words, shape, texels);
            std::memcpy(made, &other, uastcBlockBytes(target));
        }
    }
    return valid;
}

} // namespace sluice::cpu
