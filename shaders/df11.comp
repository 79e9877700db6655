// SPDX-License-Identifier: MIT OR Apache-2.0
// Decode of DFloat11 and ECF8 units (docs/format.md, 5): a workgroup does consecutive blocks of 4,096 bytes and builds
// a table for each unit that it meets.
//
// Each invocation decodes its windows of 64 bits, every window from its gap on, into slots in shared memory, and takes
// what is there into registers; a sum over the workgroup says with which element a window starts, and whether all is as
// `outputPositions` has it. Then the symbols go to their places in the same shared memory, and from there out together
// with signs and mantissas, 16 bytes at a time. An entry of the table has up to three symbols; codes of more than 8
// bits are looked up in the unit's own rows, and a window with more symbols than a slot holds is decoded twice.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/layout.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/scan.glsl"
#include "lib/units.glsl"

layout(push_constant, std430) uniform Push {
    Df11Params p;
};

const uint kBf16 = 1u, kFp8 = 2u, kUnitWords = 18u, kMaxRows = 18u, kMaxSize = 0x7fffffffu;
const uint kBlockBytes = 4096u, kWindows = 512u, kWindowBits = 64u, kMaxElements = 32768u;
const uint kPointer = 240u; // the least entry of a row that leads to another one
const uint kOwnWindows = kWindows / gl_WorkGroupSize.x;

// An entry: bits 0 .. 23 symbols, 24 .. 25 how many there are, 28 .. 31 the length of all their codes; 0 if the first
// code has more than 8 bits or is none. First those for 10 bits, then those for 8, of one symbol each: there kWhole
// says that any 8 bits that start with the code lead to its symbol.
const uint kTableBits = 10u, kSingles = 1u << kTableBits, kWhole = 1u << 26;
shared uint sTable[kSingles + 256u];
shared uint sSame[8]; // a bit for each entry of row 0 that is equal to the one before

// First the slots, word w of window i at w * kWindows + i: its symbols, a byte each, of which there are 25 as a rule,
// and in the last word how many codes it has. Then exponents on their way out, some 12,400 as a rule.
const uint kSlotWords = 10u, kStage = (kSlotWords + 1u) * kWindows * 4u;
shared uint sStage[kStage / 4u];
shared uint sFailure[2]; // of a block: the status of its first bad window, and how many codes there are up to it

// The unit, the same in the whole workgroup.
uint gKind, gRows, gElements, gEncoded, gFirstBlock, gBlocks;
uvec2 gLuts, gStream, gRest, gPositions, gGaps, gOutput; // addresses
uint gGapBits, gCodeBytes, gMaxSymbol;
bool gGood;

// ---------------------------------------------------------------------------------------------------------------
// The unit

// Whether `size` bytes from `offset` on, rounded up to 16, are a table inside the source.
bool isTable(uvec2 offset, uint size) {
    return (offset.x & 15u) == 0u && inside64(offset, uvec2(size + 15u & ~15u, 0u), uvec2(0u), p.sourceSize);
}

void loadUnit(uint index) {
    WordsIn unit = WordsIn(add64(p.units, mul64(index, kUnitWords * 4u)));
    uvec2 luts = uvec2(unit.w[0], unit.w[1]), stream = uvec2(unit.w[2], unit.w[3]), rest = uvec2(unit.w[4], unit.w[5]);
    uvec2 positions = uvec2(unit.w[6], unit.w[7]), gaps = uvec2(unit.w[8], unit.w[9]);
    uvec2 output_ = uvec2(unit.w[10], unit.w[11]);
    gKind = unit.w[12];
    gRows = unit.w[13];
    gElements = unit.w[14];
    gEncoded = unit.w[15];
    gFirstBlock = unit.w[16];
    gBlocks = gEncoded / kBlockBytes + (gEncoded % kBlockBytes != 0u ? 1u : 0u);
    gGood = (gKind == kBf16 || gKind == kFp8) && gRows >= 2u && gRows <= kMaxRows && gElements <= kMaxSize &&
            gEncoded <= kMaxSize && unit.w[17] == 0u;
    bool bf16 = gKind == kBf16;
    gGapBits = bf16 ? 5u : 4u;
    gCodeBytes = bf16 ? 4u : 2u;
    gMaxSymbol = bf16 ? kPointer - 1u : 15u;
    if (gGood)
        gGood = isTable(luts, gRows * 256u) && isTable(stream, gEncoded) &&
                isTable(rest, bf16 ? gElements : gElements + 1u >> 1) &&
                isTable(positions, gBlocks * (bf16 ? 4u : 8u)) &&
                isTable(gaps, gBlocks * (kWindows / 8u) * gGapBits) && (output_.x & 3u) == 0u &&
                inside64(output_, uvec2(bf16 ? gElements * 2u : gElements, 0u), uvec2(0u), p.destinationSize);
    gLuts = add64(p.source, luts);
    gStream = add64(p.source, stream);
    gRest = add64(p.source, rest);
    gPositions = add64(p.source, positions);
    gGaps = add64(p.source, gaps);
    gOutput = add64(p.destination, output_);
}

uint lutAt(uint row, uint index) {
    uint at = row * 256u + index;
    return WordsIn(gLuts).w[at >> 2] >> (at & 3u) * 8u & 255u;
}

// By the whole workgroup.
void buildTable() {
    wgBarrierShared(); // the table before has been used
    if (wgInvocation() < 8u)
        sSame[wgInvocation()] = 0u;
    wgBarrierShared();
    for (uint i = wgInvocation(); i < 256u; i += gl_WorkGroupSize.x)
        if (i != 0u && lutAt(0u, i) == lutAt(0u, i - 1u))
            atomicOr(sSame[i >> 5], 1u << (i & 31u));
    wgBarrierShared();
    for (uint i = wgInvocation(); i < 256u; i += gl_WorkGroupSize.x) {
        uint symbol = lutAt(0u, i), length_ = symbol < kPointer ? lutAt(gRows - 1u, symbol) : 0u;
        bool good = symbol <= gMaxSymbol && length_ >= 1u && length_ <= 8u, whole = good;
        uint size = good ? 256u >> length_ : 1u, first = i & ~(size - 1u);
        [[unroll]] for (uint word = 0u; word < 8u; ++word) { // entries first + 1 .. first + size - 1
            uint from = max(first + 1u, 32u * word), to = min(first + size, 32u * word + 32u);
            if (from < to) {
                uint mask = 0xffffffffu >> (32u - (to - from)) << (from & 31u);
                whole = whole && (sSame[word] & mask) == mask;
            }
        }
        sTable[kSingles + i] = good ? symbol | 1u << 24 | (whole ? kWhole : 0u) | length_ << 28 : 0u;
    }
    wgBarrierShared();
    for (uint i = wgInvocation(); i < kSingles; i += gl_WorkGroupSize.x) {
        uint symbols = 0u, count = 0u, taken = 0u;
        bool more = true;
        [[unroll]] for (uint code = 0u; code < 3u; ++code) {
            uint known = kTableBits - taken; // bits that count; the others are zero
            uint single = sTable[kSingles + ((i << taken & kSingles - 1u) >> kTableBits - 8u)];
            uint length_ = single >> 28;
            more = more && single != 0u && (known >= 8u || ((single & kWhole) != 0u && length_ <= known));
            symbols |= more ? (single & 255u) << 8u * code : 0u;
            count += more ? 1u : 0u;
            taken += more ? length_ : 0u;
        }
        sTable[i] = symbols | count << 24 | taken << 28;
    }
    wgBarrierShared();
}

// ---------------------------------------------------------------------------------------------------------------
// Codes

uint bigEndian(uint word) {
    return word >> 24 | (word >> 8 & 0xff00u) | (word & 0xff00u) << 8 | word << 24;
}

// 32 bits of two words from bit `shift` on, which is below 32.
uint funnel(uint high, uint low, uint shift) { return high << shift | (low >> 1) >> 31u - shift; }

// A window and the four bytes behind it, its gap and the next one's, and how many bits the stream has from its start
// on, 96 if those or more.
struct Window {
    uvec3 words;
    uint gap, nextGap, bits;
};

// A word of the stream, 0 past its end.
uint streamWord(uint index) {
    uint at = index * 4u;
    if (at >= gEncoded)
        return 0u;
    uint have = min(gEncoded - at, 4u);
    return bigEndian(WordsIn(gStream).w[index]) & 0xffffffffu << 32u - 8u * have;
}

Window loadWindow(uint window) {
    Window result;
    uint at = window * 2u, left = gEncoded - min(window * 8u, gEncoded);
    result.bits = min(left * 8u, 96u);
    if (left >= 12u) {
        WordsIn stream = WordsIn(gStream);
        result.bits = 96u;
        result.words = uvec3(bigEndian(stream.w[at]), bigEndian(stream.w[at + 1u]), bigEndian(stream.w[at + 2u]));
    } else {
        result.words = uvec3(streamWord(at), streamWord(at + 1u), streamWord(at + 2u));
    }
    uint gapBit = window * gGapBits, gapWord = gapBit >> 5, gapWords = gBlocks * (kWindows / 32u) * gGapBits;
    uint high = bigEndian(WordsIn(gGaps).w[gapWord]);
    uint low = gapWord + 1u < gapWords ? bigEndian(WordsIn(gGaps).w[gapWord + 1u]) : 0u;
    uint gaps = funnel(high, low, gapBit & 31u);
    result.gap = gaps >> 32u - gGapBits;
    result.nextGap = gaps << gGapBits >> 32u - gGapBits;
    return result;
}

// A code at the upper end of `bits`, of which the stream has `left`. PENDING if all is well.
uint readCode(uint bits, uint left, out uint symbol, out uint length_) {
    uint row = 0u, status = SLUICE_ST_BAD_CODE;
    bool on = left != 0u;
    symbol = length_ = 0u;
    [[unroll]] for (uint depth = 0u; depth < 4u; ++depth)
        if (on && depth < gCodeBytes) {
            symbol = lutAt(row, bits >> 24u - 8u * depth & 255u);
            row = 256u - symbol;
            on = symbol >= kPointer && row < gRows - 1u;
            if (symbol < kPointer) {
                length_ = lutAt(gRows - 1u, symbol);
                bool good = symbol <= gMaxSymbol && length_ > 8u * depth && length_ <= 8u * depth + 8u;
                status = !good ? SLUICE_ST_BAD_CODE : length_ > left ? SLUICE_ST_TRUNCATED : SLUICE_ST_PENDING;
            }
        }
    return left == 0u ? SLUICE_ST_TRUNCATED : status;
}

// The codes at bit `at` of a window: up to three symbols, and their bits, 8 each. If they are bad, status says so,
// there are no symbols and the window is over.
void nextCodes(Window window, inout uint at, inout uint status, out uint symbols, out uint symbolBits) {
    bool upper = at < 32u;
    uint bits = funnel(upper ? window.words.x : window.words.y, upper ? window.words.y : window.words.z, at & 31u);
    // Up to bit 54 all codes in 10 bits start in the window.
    uint entry = sTable[at <= kWindowBits - kTableBits ? bits >> 32u - kTableBits : kSingles + (bits >> 24)];
    symbols = entry & 0xffffffu;
    symbolBits = entry >> 21 & 0x18u;
    uint taken = entry >> 28;
    if (entry == 0u || window.bits != 96u) {
        status = readCode(bits, window.bits - min(at, window.bits), symbols, taken);
        symbolBits = 8u;
        if (status != SLUICE_ST_PENDING) {
            symbols = symbolBits = 0u;
            taken = kWindowBits;
        }
    }
    at += taken;
}

// Bits as they fall into two words from bit `shift` of the first on; of shift its lower five bits count.
uint lowerPart(uint bits, uint shift) { return bits << (shift & 31u); }
uint upperPart(uint bits, uint shift) { return (bits >> 1) >> (~shift & 31u); }

// Decodes the codes that start in a window into a slot. PENDING if they are good and end where the next window's start.
uint decodeWindow(Window window, bool isLastOfUnit, uint slot, out uint codes) {
    uint at = window.gap, status = SLUICE_ST_PENDING, gathered = 0u, filled = 0u; // bits of the slot
    for (uint step = 0u; step < kWindowBits && at < kWindowBits; step++) { // each step takes a bit at least
        uint symbols, symbolBits;
        nextCodes(window, at, status, symbols, symbolBits);
        uint next = filled + symbolBits;
        bool full = ((filled ^ next) & 32u) != 0u;
        gathered |= lowerPart(symbols, filled);
        if (full && filled < 32u * kSlotWords)
            sStage[filled / 32u * kWindows + slot] = gathered;
        gathered = full ? upperPart(symbols, filled) : gathered;
        filled = next;
    }
    if (filled < 32u * kSlotWords)
        sStage[filled / 32u * kWindows + slot] = gathered;
    codes = filled / 8u;
    sStage[kSlotWords * kWindows + slot] = codes;
    bool ends = isLastOfUnit || at == kWindowBits + window.nextGap;
    return status == SLUICE_ST_PENDING && !ends ? SLUICE_ST_BAD_INDEX : status;
}

// ---------------------------------------------------------------------------------------------------------------
// Output. A place is that of an element, counted from a multiple of 16 bytes of the output.

// Places [gBegin, gEnd) are the block's; those in sStage are from gStaged on.
uint gBegin, gEnd, gStaged;

void stageWord(uint word, uint value) {
    uint at = word - gStaged / 4u;
    if (at < kStage / 4u)
        atomicOr(sStage[at], value);
}

// A slot's `own` symbols, the first `count` of them, to `place` and on.
void stageSlot(uint held[kSlotWords], uint own, uint count, uint place) {
    if (count != own) // the unit ends here
        [[unroll]] for (uint i = 0u; i < kSlotWords; ++i)
            if (4u * i + 4u > count)
                held[i] &= 4u * i < count ? (1u << 8u * (count - 4u * i)) - 1u : 0u;
    uint lead = place & 3u, first = (place - gStaged) >> 2;
    uint words = (lead + count + 3u) / 4u, whole = (lead + count) / 4u;
    [[unroll]] for (uint i = 0u; i <= kSlotWords; ++i)
        if (i < words && first + i < kStage / 4u) {
            // Behind the slot's last symbol there are zeros as far as its last word goes.
            uint value = 0u;
            if (i != 0u && 4u * i < count + 4u)
                value = upperPart(held[max(i, 1u) - 1u], 8u * lead);
            if (i < kSlotWords && 4u * i < count)
                value |= lowerPart(held[min(i, kSlotWords - 1u)], 8u * lead);
            if (i != 0u && i < whole)
                sStage[first + i] = value;
            else // shared with a neighbour
                atomicOr(sStage[first + i], value);
        }
}

// The same for a window that had no room in its slot, from the stream.
void stageWindow(uint index, uint count, uint place) {
    Window window = loadWindow(index);
    uint at = window.gap, status = SLUICE_ST_PENDING, end = place + count;
    for (uint step = 0u; step < kWindowBits && at < kWindowBits && place < end; step++) {
        uint symbols, symbolBits;
        nextCodes(window, at, status, symbols, symbolBits);
        uint fit = min(symbolBits / 8u, end - place);
        symbols &= (1u << 8u * fit) - 1u;
        stageWord(place >> 2, lowerPart(symbols, 8u * place));
        stageWord((place >> 2) + 1u, upperPart(symbols, 8u * place));
        place += fit;
    }
}

// 8 bytes at `address`, of which [from, to) count: no word without any of those is read.
uvec2 loadRest(uvec2 address, uint from, uint to) {
    uint lead = address.x & 3u;
    WordsIn words = WordsIn(uvec2(address.x & ~3u, address.y));
    uvec3 loaded = uvec3(0u);
    [[unroll]] for (uint i = 0u; i < 3u; ++i)
        if (4u * i < to + lead && 4u * i + 4u > from + lead)
            loaded[i] = words.w[i];
    uint shift = 8u * lead;
    return loaded.xy >> shift | (loaded.yz << 1) << 31u - shift;
}

// Two exponents, and two bytes of sign and mantissa.
uint mergeBf16(uint exponents, uint rest) {
    exponents = (exponents & 0xffu) | (exponents & 0xff00u) << 8;
    rest = (rest & 0xffu) | (rest & 0xff00u) << 8;
    return exponents << 7 | (rest & 0x7f007fu) | (rest & 0x800080u) << 8;
}

// Four exponents, and two bytes of two signs and mantissas each, the first in the upper half.
uint mergeFp8(uint exponents, uint rest) {
    rest = (rest & 0xffu) | (rest & 0xff00u) << 8;
    rest = (rest >> 4 & 0xf000fu) | (rest & 0xf000fu) << 8;
    return exponents << 3 | (rest & 0x07070707u) | (rest & 0x08080808u) << 4;
}

// 16 bytes of elements from their staged exponents, in the words from `at` on, and 8 bytes of signs and mantissas.
uvec4 mergeUnit(uint at, uvec2 rest) {
    if (gKind == kBf16) {
        uint low = sStage[at], high = sStage[at + 1u];
        return uvec4(mergeBf16(low, rest.x), mergeBf16(low >> 16, rest.x >> 16), mergeBf16(high, rest.y),
                     mergeBf16(high >> 16, rest.y >> 16));
    }
    return uvec4(mergeFp8(sStage[at], rest.x), mergeFp8(sStage[at + 1u], rest.x >> 16),
                 mergeFp8(sStage[at + 2u], rest.y), mergeFp8(sStage[at + 3u], rest.y >> 16));
}

// What is staged goes out. unitsAt: the address of place 0, restAt: of its sign and mantissa.
void copyOut(uvec2 unitsAt, uvec2 restAt) {
    uint size = gKind == kBf16 ? 2u : 1u, each = 16u / size, staged = gStaged / 4u;
    uint begin = max(gBegin, gStaged), end = min(gEnd, gStaged + kStage), shift = (restAt.x & 3u) * 8u;
    WordsIn words = WordsIn(uvec2(restAt.x & ~3u, restAt.y));
    for (uint unit = (begin + each - 1u) / each + wgInvocation(); unit < end / each; unit += gl_WorkGroupSize.x) {
        uvec3 loaded = uvec3(words.w[2u * unit], words.w[2u * unit + 1u], 0u);
        if (shift != 0u)
            loaded.z = words.w[2u * unit + 2u];
        uvec2 rest = loaded.xy >> shift | (loaded.yz << 1) << 31u - shift;
        UnitsOut(unitsAt).v[unit] = mergeUnit(unit * each / 4u - staged, rest);
    }
    // The ends, whose words others may write too.
    uint unit = wgInvocation() == 0u ? begin / each : end / each, first = unit * each;
    uint from = max(begin, first) - first, to = max(min(end, first + each), first) - first;
    if (wgInvocation() < 2u && from < to && to - from < each) {
        uvec2 rest = loadRest(add64(restAt, unit * 8u), from * size / 2u, (to * size + 1u) / 2u);
        storeUnit(unitsAt, unit, mergeUnit(first / 4u - staged, rest), from * size, to * size);
    }
}

// ---------------------------------------------------------------------------------------------------------------

// By the whole workgroup: a block of a good unit, its elements being [first, end). window: the invocation's first one.
uint decodeBlock(uint block, Window window, uint first, uint end) {
    bool isLast = end == gElements; // nothing counts after that element
    uint firstSlot = wgInvocation() * kOwnWindows, firstWindow = block * kWindows + firstSlot;
    wgBarrierShared(); // the block before is out

    // Codes in the lower half, windows that are bad in the upper one. After a bad one nothing counts.
    uint own = 0u, status = SLUICE_ST_PENDING;
    for (uint i = 0u; i < kOwnWindows; i++) {
        uint index = firstWindow + i, codes = 0u;
        if (i != 0u)
            window = loadWindow(index);
        if (status == SLUICE_ST_PENDING)
            status = decodeWindow(window, index + 1u == gBlocks * kWindows, firstSlot + i, codes);
        else
            sStage[kSlotWords * kWindows + firstSlot + i] = 0u;
        own += codes;
    }
    uint total, before = wgExclusiveAdd(own | (status != SLUICE_ST_PENDING ? 0x10000u : 0u), total);
    if (total >= 0x10000u) {
        if (status != SLUICE_ST_PENDING && before < 0x10000u) {
            sFailure[0] = status;
            sFailure[1] = before + own;
        }
        wgBarrierShared();
        uint codes = sFailure[1];
        status = isLast && codes >= end - first ? SLUICE_ST_OK : sFailure[0];
    } else {
        status = total < end - first             ? SLUICE_ST_TOO_SHORT
                 : total > end - first && !isLast ? SLUICE_ST_TOO_LONG
                                                  : SLUICE_ST_OK;
    }
    if (sgUniform(status == SLUICE_ST_OK)) {
        bool bf16 = gKind == kBf16;
        uint lead = (gOutput.x & 15u) >> (bf16 ? 1 : 0); // elements from a multiple of 16 bytes to the unit's first one
        uint origin = first + lead & ~15u;
        uvec2 unitsAt = sub64(add64(gOutput, mul64(origin, bf16 ? 2u : 1u)), uvec2(gOutput.x & 15u, 0u));
        uvec2 restAt = add64(gRest, bf16 ? origin : origin >> 1);
        restAt = sub64(restAt, uvec2(bf16 ? lead : lead >> 1, 0u));
        gBegin = first + lead - origin;
        gEnd = end + lead - origin;
        uint held[kOwnWindows][kSlotWords], counts[kOwnWindows];
        for (uint i = 0u; i < kOwnWindows; i++) {
            counts[i] = sStage[kSlotWords * kWindows + firstSlot + i];
            [[unroll]] for (uint word = 0u; word < kSlotWords; ++word)
                held[i][word] = sStage[word * kWindows + firstSlot + i];
        }
        for (gStaged = 0u; gStaged < gEnd; gStaged += kStage) {
            uint words = (min(gEnd - gStaged, kStage) + 15u) / 16u * 4u;
            wgBarrierShared(); // every slot is held, or what was staged is out
            for (uint i = wgInvocation(); i < words; i += gl_WorkGroupSize.x)
                sStage[i] = 0u;
            wgBarrierShared();
            uint place = gBegin + (before & 0xffffu);
            for (uint i = 0u; i < kOwnWindows; i++) {
                uint count = min(counts[i], gEnd - min(place, gEnd));
                if (counts[i] <= 4u * kSlotWords && place >= gStaged)
                    stageSlot(held[i], counts[i], count, place);
                else
                    stageWindow(firstWindow + i, count, place);
                place += counts[i];
            }
            wgBarrierShared();
            copyOut(unitsAt, restAt);
        }
    }
    return status;
}

// The element that a block starts with; 64 bits in fp8.
uvec2 positionOf(uint block) {
    if (block == gBlocks)
        return uvec2(gElements, 0u);
    WordsIn positions = WordsIn(gPositions);
    if (gKind == kBf16)
        return uvec2(positions.w[block], 0u);
    return uvec2(positions.w[2u * block], positions.w[2u * block + 1u]);
}

uint firstBlockOf(uint unit) { return WordsIn(add64(p.units, mul64(unit, kUnitWords * 4u))).w[16]; }

// The last unit whose first block is not above `block`; `count` if there is none.
uint unitOf(uint block, uint count) {
    uint low = 0u, high = count;
    for (uint step = 0u; step < 21u; step++)
        if (low < high) {
            uint middle = (low + high) / 2u;
            if (firstBlockOf(middle) <= block)
                low = middle + 1u;
            else
                high = middle;
        }
    return low == 0u ? count : low - 1u;
}

void main() {
    uint workgroup = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x;
    uint begin = min(workgroup * p.blocksPerWorkgroup, p.maxBlockCount);
    uint stop = min(begin + p.blocksPerWorkgroup, p.maxBlockCount);
    uint count = p.maxUnitCount;
    if ((p.unitCount.x | p.unitCount.y) != 0u)
        count = min(count, WordsIn(p.unitCount).w[0]);
    uint unit = count, nextUnitAt = 0u; // the block from which on to look for another unit
    for (uint block = begin; block < stop; block++) {
        if (block >= nextUnitAt) {
            uint found = unitOf(block, count);
            nextUnitAt = found == count ? block + 1u : 0xffffffffu;
            if (found + 1u < count)
                nextUnitAt = max(firstBlockOf(found + 1u), block + 1u);
            if (found != count && found != unit) {
                loadUnit(found);
                if (gGood)
                    buildTable();
            }
            unit = found;
        }
        if (unit != count && block - gFirstBlock < gBlocks) {
            uint own = block - gFirstBlock, status = SLUICE_ST_BAD_REGION;
            if (gGood) {
                uvec2 first = positionOf(own), end = positionOf(own + 1u); // all loads at once
                Window window = loadWindow(own * kWindows + wgInvocation() * kOwnWindows);
                bool good = (own != 0u || (first.x | first.y) == 0u) && !less64(end, first) &&
                            !less64(uvec2(gElements, 0u), end) && end.x - first.x <= kMaxElements;
                status = SLUICE_ST_BAD_INDEX;
                if (good)
                    status = decodeBlock(own, window, first.x, end.x);
            }
            if (wgInvocation() == 0u) {
                WordsOut statuses = WordsOut(p.status);
                statuses.w[block] = status;
                if (status != SLUICE_ST_OK) {
                    atomicAdd(statuses.w[p.maxBlockCount], 1u);
                    atomicMin(statuses.w[p.maxBlockCount + 1u], block);
                }
            }
        }
    }
}
