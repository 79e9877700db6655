// SPDX-License-Identifier: MIT OR Apache-2.0
// DFloat11 and ECF8 (docs/format.md, 5): a unit of the list, and the table that decodes its codes.
//
// These words are used in the df11_*.h files:
// - unit: tensors that were coded together. It has a stream of prefix codes, one for the exponent
//   of each element, and for each element one byte (fp8: four bits) with its other bits, its
//   *rest*.
// - block: 4,096 bytes of the stream, which a workgroup decodes at once. Its *position* is the
//   number in the unit of the first element whose code starts in it.
// - window: 64 bits of the stream. Its *gap* is the bit of the window at which the first of its
//   codes starts.
// - symbol: what a code stands for, the exponent of an element.
// - place: the number of an element in a block, but counted from an address of the output that is a
//   multiple of 16.
//
// A unit's properties are kept in shared memory, because registers are scarce.
//
// The includer provides kThreads, the size of a workgroup, and loadUnit, which reads a unit of the
// list from an address.
#ifndef SLUICE_KERNELS_DF11_UNIT_H
#define SLUICE_KERNELS_DF11_UNIT_H

#include "../compat.h"
#include "../layout/df11.h"

SLUICE_KERNEL_BEGIN

SLUICE_CONSTANT u32 kWindows = SLUICE_DF11_WINDOWS, kWindowBits = SLUICE_DF11_WINDOW_BITS;

struct Unit {
    // The addresses of the unit's data; `rest` is signs and mantissas.
    u64 luts, stream, rest, positions, gaps, target;
    // Members of Df11Unit; `encoded` is its encodedSize, and `blocks` the number of its blocks.
    u32 kind, rows, elements, encoded, firstBlock, blocks;
    u32 maxSymbol;
    u32 fullWindows;  // how many windows have at least four more bytes of the stream after them
    u32 tableWindows; // for how many windows the end of the last code is known
    // Symbols are kept in four bits where possible: n stands for symbol base + n, for n < nibbles.
    u32 base, nibbles;
    bool good; // the unit is valid; if not, only `blocks` is used
};

// An entry of the table holds up to five symbols of four bits, in bits 0 .. 19, the last one
// lowest. Bits 20 .. 24 are four times the number of symbols; bits 28 .. 31 are the total length of
// their codes in bits. An entry is 0 if the first code is too long or invalid, or if its symbol
// does not fit in four bits. A look-up uses n bits: all bits that are known to belong to codes that
// start in the window, but at most kTableBits. For each n the table has 2^n entries, which begin at
// index 2^n.
SLUICE_CONSTANT u32 kTableBits = 10u, kSingles = 1u << kTableBits, kEntrySymbols = 0xfffffu,
                    kMaxEntryBits = 20u;

// Symbols are staged for output with four bits each, eight in a word, the first one highest. There
// is room for kStage symbols; a block usually has about 12,600.
SLUICE_CONSTANT u32 kStageWords = 1856u, kStage = kStageWords * 8u;

// The most symbols of a block that do not fit in four bits and can still be listed. A block of bf16
// usually has one or two such symbols.
SLUICE_CONSTANT u32 kOthers = 32u;

// The plan of a block: where its elements go. One invocation makes it while the previous block is
// being decoded.
struct Block {
    u64 unitsAt, restAt; // addresses of place 0 in the output and in the unit's `rest`
    u32 begin, end;      // the block has places [begin, end)
    u32 status;          // PENDING, or BAD_INDEX; OK if the unit ends with this block
};

// The workgroup's shared memory is one structure, so that CUDA addresses all of it through one
// register.
struct SharedMemory {
    u32 stage[kStageWords];
    Unit unit;
    u32 table[2u * kSingles];
    u32 same[8]; // a bit for each entry of look-up row 0 that equals the entry before it
    // The length of each symbol's code, indexed by the symbol's four bits; 255 where no symbol has
    // these four bits.
    u32 lengths[16];
    // Used to choose `base`: the 15 neighbouring symbols that occur most often. Bits 0 .. 7 are the
    // first of these symbols, the bits above their frequency.
    u32 best;
    // The symbols of a block that do not fit in four bits: each entry has the place in bits 0 .. 15
    // and the symbol from bit 16 on. otherCounts[0] counts those of even blocks, otherCounts[1]
    // those of odd blocks. If a count is above kOthers, all windows with such symbols must be
    // decoded again.
    u32 others[kOthers], otherCounts[2];
    Block plan[2]; // for the block that is decoded, and the next one
};
SLUICE_SHARED_UNITS SharedMemory wg;

SLUICE_DEVICE bool isBf16() { return wg.unit.kind == SLUICE_DF11_KIND_BF16; }

// Returns the address of unit `index` of the list.
SLUICE_DEVICE u64 unitAt(SLUICE_IN(Df11Params) p, u32 index) {
    return add64(u64Of(p.units), mul64(index, SLUICE_DF11_UNIT_BYTES));
}

// Returns whether `offset` is a multiple of 16 and the source has `size` bytes there, rounded up to
// a multiple of 16.
SLUICE_DEVICE bool isTable(u64 sourceSize, u64 offset, u32 size) {
    return (lowWord(offset) & 15u) == 0u &&
           inside64(offset, wide((size + 15u) & ~15u), kNull, sourceSize);
}

// Reads unit `index` of the list and checks it; one invocation calls this.
SLUICE_DEVICE void openUnit(SLUICE_IN(Df11Params) p, u32 index) {
    Df11Unit from = loadUnit(unitAt(p, index));
    u32 rows = from.rows, elements = from.elements, encoded = from.encodedSize;
    u32 blocks =
        encoded / SLUICE_DF11_BLOCK_BYTES + (encoded % SLUICE_DF11_BLOCK_BYTES != 0u ? 1u : 0u);
    bool bf16 = from.kind == SLUICE_DF11_KIND_BF16;
    u32 gapBits = bf16 ? SLUICE_DF11_BF16_GAP_BITS : SLUICE_DF11_FP8_GAP_BITS;
    u32 positionBytes = bf16 ? SLUICE_DF11_BF16_POSITION_BYTES : SLUICE_DF11_FP8_POSITION_BYTES;
    u32 elementBytes = bf16 ? SLUICE_DF11_BF16_ELEMENT_BYTES : SLUICE_DF11_FP8_ELEMENT_BYTES;
    u64 sourceSize = u64Of(p.sourceSize), target = u64Of(from.destination);
    bool good = (bf16 || from.kind == SLUICE_DF11_KIND_FP8) && rows >= SLUICE_DF11_MIN_ROWS &&
                rows <= SLUICE_DF11_MAX_ROWS && elements <= SLUICE_DF11_MAX_SIZE &&
                encoded <= SLUICE_DF11_MAX_SIZE && from.reserved == 0u;
    // Within these limits no product below overflows 32 bits.
    if (good)
        good =
            isTable(sourceSize, u64Of(from.luts), rows * SLUICE_DF11_ROW_BYTES) &&
            isTable(sourceSize, u64Of(from.encoded), encoded) &&
            isTable(sourceSize, u64Of(from.signMantissa), bf16 ? elements : (elements + 1u) >> 1) &&
            isTable(sourceSize, u64Of(from.positions), blocks * positionBytes) &&
            isTable(sourceSize, u64Of(from.gaps), blocks * (kWindows / 8u) * gapBits) &&
            (lowWord(target) & 3u) == 0u &&
            inside64(target, wide(elements * elementBytes), kNull, u64Of(p.destinationSize));
    wg.unit.kind = from.kind;
    wg.unit.rows = rows;
    wg.unit.elements = elements;
    wg.unit.encoded = encoded;
    wg.unit.firstBlock = from.firstBlock;
    wg.unit.blocks = blocks;
    wg.unit.maxSymbol = bf16 ? SLUICE_DF11_BF16_MAX_SYMBOL : SLUICE_DF11_FP8_MAX_SYMBOL;
    wg.unit.fullWindows = (max(encoded, 4u) - 4u) >> 3;
    wg.unit.tableWindows = min(wg.unit.fullWindows, max(blocks * kWindows, 1u) - 1u);
    wg.unit.base = 0u;
    wg.unit.nibbles = bf16 ? 15u : 16u;
    wg.unit.good = good;
    u64 source = u64Of(p.source);
    wg.unit.luts = add64(source, u64Of(from.luts));
    wg.unit.stream = add64(source, u64Of(from.encoded));
    wg.unit.rest = add64(source, u64Of(from.signMantissa));
    wg.unit.positions = add64(source, u64Of(from.positions));
    wg.unit.gaps = add64(source, u64Of(from.gaps));
    wg.unit.target = add64(u64Of(p.destination), target);
}

// Returns entry `index` of row `row` of the unit's look-up rows, each of which decodes a byte of a
// code.
SLUICE_DEVICE u32 lutAt(u32 row, u32 index) {
    return loadByte(wg.unit.luts, row * SLUICE_DF11_ROW_BYTES + index);
}

// Returns the length of a symbol's code in bits, which is in the last look-up row.
SLUICE_DEVICE u32 lengthOf(u32 symbol) { return lutAt(wg.unit.rows - 1u, symbol); }

// Returns the table's entry for one code of `length_` bits.
SLUICE_DEVICE u32 singleEntry(u32 symbol, u32 length_) {
    return (symbol - wg.unit.base) | 4u << 20 | length_ << 28;
}

// `bits` is a string of kTableBits bits that begins with a code. Returns the table's entry for this
// code alone, or 0 if some string that begins with this code does not lead to the code's symbol, as
// it happens in damaged look-up rows. wg.stage serves as scratch here: it must hold such entries
// for all values of the first 8 bits.
SLUICE_DEVICE u32 singleOf(u32 bits) {
    u32 single = wg.stage[bits >> (kTableBits - 8u)];
    u32 row = 256u - single, at = bits << (16u - kTableBits) & 255u;
    if (single < SLUICE_DF11_POINTER || single >= 256u || row >= wg.unit.rows - 1u)
        return single < 256u ? 0u : single;
    u32 symbol = lutAt(row, at);
    if (symbol > wg.unit.maxSymbol || symbol - wg.unit.base >= wg.unit.nibbles) return 0u;
    u32 length_ = lengthOf(symbol);
    if (length_ <= 8u || length_ > kTableBits) return 0u;
    u32 words = 1u << (14u - length_), first = row * 64u + (at >> 2 & ~(words - 1u));
    u32 different = 0u;
    SLUICE_UNROLL_BY(4)
    for (u32 i = 0u; i < words; ++i)
        different |= loadWord(wg.unit.luts, first + i) ^ symbol * 0x1010101u;
    return different == 0u ? singleEntry(symbol, length_) : 0u;
}

// The whole workgroup builds the unit's table.
SLUICE_DEVICE void buildTable() {
    if (wgInvocation() < 8u) wg.same[wgInvocation()] = 0u;
    if (wgInvocation() == 0u) wg.best = 0u;
    wgBarrierShared();
    for (u32 i = wgInvocation(); i < 256u; i += kThreads) {
        if (i != 0u && lutAt(0u, i) == lutAt(0u, i - 1u))
            atomicOr(SLUICE_AT(wg.same[i >> 5]), 1u << (i & 31u));
        if (isBf16() && i + 15u <= SLUICE_DF11_POINTER) {
            // The frequency of the 15 symbols from i on, estimated from the lengths of their codes.
            u32 sum = 0u;
            for (u32 symbol = i; symbol < i + 15u; ++symbol) {
                u32 length_ = lengthOf(symbol);
                sum += length_ - 1u < 16u ? 0x10000u >> length_ : 0u;
            }
            atomicMax(SLUICE_AT(wg.best), sum << 8 | i);
        }
    }
    wgBarrierShared();
    if (wgInvocation() == 0u) wg.unit.base = wg.best & 255u;
    wgBarrierShared();
    for (u32 i = wgInvocation(); i < 256u; i += kThreads) {
        u32 symbol = lutAt(0u, i), length_ = symbol < SLUICE_DF11_POINTER ? lengthOf(symbol) : 0u;
        bool good = symbol <= wg.unit.maxSymbol && symbol - wg.unit.base < wg.unit.nibbles &&
                    length_ >= 1u && length_ <= 8u;
        u32 size = good ? 256u >> length_ : 1u, first = i & ~(size - 1u), word = first >> 5;
        u32 mask = size < 32u ? ((1u << size) - 1u) << (first & 31u) : 0xffffffffu;
        mask &= mask << 1; // all strings that begin with the code, except the first one
        good = good && (wg.same[word] & mask) == mask &&
               (size < 64u || wg.same[word + 1u] == 0xffffffffu);
        if (good && size == 128u)
            good = wg.same[word + 2u] == 0xffffffffu && wg.same[word + 3u] == 0xffffffffu;
        wg.stage[i] = symbol >= SLUICE_DF11_POINTER ? symbol
                      : good                        ? singleEntry(symbol, length_)
                                                    : 0u;
        if (i < 16u) wg.lengths[i] = i < wg.unit.nibbles ? lengthOf(wg.unit.base + i) : 255u;
    }
    wgBarrierShared();
    for (u32 i = wgInvocation(); i < kSingles; i += kThreads)
        wg.table[kSingles + i] = singleOf(i);
    if (wgInvocation() == 0u) wg.table[1] = 0u;
    // Each entry is made of its first code and the entry of the bits that remain after this code.
    // The remaining bits are fewer, so an earlier iteration has made their entry.
    for (u32 known = 1u; known <= kTableBits; ++known) {
        wgBarrierShared();
        for (u32 i = wgInvocation(); i < 1u << known; i += kThreads) {
            u32 entry = wg.table[kSingles + (i << (kTableBits - known))], length_ = entry >> 28;
            if (length_ > known) {
                entry = 0u;
            } else if (entry != 0u) {
                u32 left = 1u << (known - length_), next = wg.table[left + (i & (left - 1u))];
                // If the entry `next` is full, its last symbol makes room for the first code's
                // symbol.
                if ((next >> 20 & 31u) == kMaxEntryBits)
                    next = (next & kEntrySymbols) >> 4 | (kMaxEntryBits - 4u) << 20 |
                           ((next >> 28) - wg.lengths[next & 15u]) << 28;
                entry = ((entry & 15u) << (next >> 20 & 31u)) + next + (entry & ~15u);
            }
            wg.table[(1u << known) + i] = entry;
        }
    }
    wgBarrierShared();
}

SLUICE_DEVICE u32 firstBlockOf(SLUICE_IN(Df11Params) p, u32 unit) {
    return loadWord(unitAt(p, unit), SLUICE_DF11_FIRST_BLOCK_WORD);
}

// Returns the last unit whose first block is not above `block`, or `count` if there is none.
// `count` is the number of units.
SLUICE_DEVICE u32 unitOf(SLUICE_IN(Df11Params) p, u32 block, u32 count) {
    u32 low = 0u, high = count;
    SLUICE_DONT_UNROLL
    // maxUnitCount is at most 2^20, so 21 steps are enough.
    SLUICE_WHILE(21u, low < high) {
        u32 middle = (low + high) / 2u;
        bool above = firstBlockOf(p, middle) > block;
        low = above ? low : middle + 1u;
        high = above ? middle : high;
    }
    return low == 0u ? count : low - 1u;
}

SLUICE_KERNEL_END
#endif
