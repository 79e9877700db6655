// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes DFloat11 and ECF8 units (docs/format.md, 5): weights of neural networks with compressed
// exponents. lib/kernels/df11_unit.h explains unit, block, window, place and plan. A workgroup
// decodes neighbouring blocks of a list, and builds a table for each unit that it reaches.
//
// A block takes these steps:
// - Each invocation decodes windows of 64 bits into registers, four bits per symbol
//   (lib/kernels/df11_windows.h). The *gap* of a window says at which of its bits the first code
//   starts.
// - A scan over the workgroup counts the codes before each window, which gives the element with
//   which the window starts, and compares the counts with the unit's positions.
// - The symbols are stored at their places in shared memory (lib/kernels/df11_output.h). From there
//   they are merged with the signs and mantissas ("rest"), and stored 16 bytes at a time.
//
// While a block is decoded, the next block's input is loaded. While symbols go to shared memory,
// signs and mantissas are loaded. src/cuda/df11.cu loads both by asynchronous copies to shared
// memory. GLSL has no such copies, so this kernel needs up to 64 registers where CUDA needs 40.
// docs/notes/df11.md has the forms of both loops that were measured.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLUICE_SCAN_SHUFFLED
#include "lib/loops.glsl"
#include "lib/compat.glsl"
#include "lib/layout/df11.h"
#include "lib/scan.glsl"

layout(push_constant, std430) uniform Push { Df11Params p; };

const uint kThreads = gl_WorkGroupSize.x;

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer UnitIn {
    Df11Unit unit;
};
Df11Unit loadUnit(uvec2 address) { return UnitIn(address).unit; }

#include "lib/kernels/df11_unit.h"

// How many windows of a block one invocation decodes.
const uint kOwnWindows = kWindows / kThreads;

// sCodeBytes is the length of the longest code in bytes, sGapBits the size of a gap in bits, and
// sLastGapWord the index of the last word of the gaps. All depend on the unit's kind.
shared uint sCodeBytes, sGapBits, sLastGapWord;

#define Form bool // true if the unit is bf16, false if it is fp8
uint codeBytesOf(Form bf16) { return sCodeBytes; }
uint maxSymbolOf(Form bf16) { return wg.unit.maxSymbol; }

// Shifts one word of a longer number to the left: returns the low word of value * factor + carry.
// `factor` is 2^n, for n below 32. `carry` has the bits that come from the word below, and receives
// those that go to the word above.
uint shiftIn(uint value, uint factor, inout uint carry) {
    uint high, low;
    umulExtended(value, factor, high, low);
    low += carry;
    carry = high;
    return low;
}

// Shifts the symbols in `held` up and puts the symbols of the table's entry `entry` below them.
// Only the lowest `words` words change. df11_windows.h calls this.
void append(inout uvec4 held, uint entry, uint words) {
    uint factor = 1u << (entry >> 20 & 31u), carry = entry & kEntrySymbols;
    held.x = shiftIn(held.x, factor, carry);
    if (words > 2u) {
        held.y = shiftIn(held.y, factor, carry);
        if (words > 3u) {
            held.z = shiftIn(held.z, factor, carry);
            held.w = held.w * factor + carry;
        } else {
            held.z = held.z * factor + carry;
        }
    } else {
        held.y = held.y * factor + carry;
    }
}

#include "lib/kernels/df11_windows.h"

// -----------------------------------------------------------------------------------------------
// Windows

// A window (64 bits of the stream) as fetchWindow has loaded it: its words, and the two words that
// hold its gap and the gap of the next window. A gap is the bit of a window at which its first code
// starts. The bytes are in the order of memory, not yet swapped.
struct RawWindow {
    uvec3 words;
    uvec2 gaps;
};

// Returns word `index` of the unit's stream; bytes behind the stream are 0.
uint streamWord(uint index) {
    uint at = index * 4u;
    if (at >= wg.unit.encoded) return 0u;
    uint have = min(wg.unit.encoded - at, 4u);
    return WordsIn(wg.unit.stream).w[index] & 0xffffffffu >> (32u - 8u * have);
}

// Loads window `window` of the unit. Nothing here waits for the loads, so a caller may call this
// long before it needs the result.
RawWindow fetchWindow(uint window) {
    RawWindow raw;
    if (window < wg.unit.fullWindows)
        raw.words =
            uvec3(PairsIn(wg.unit.stream).v[window], WordsIn(wg.unit.stream).w[window * 2u + 2u]);
    else
        raw.words = uvec3(streamWord(window * 2u), streamWord(window * 2u + 1u),
                          streamWord(window * 2u + 2u));
    uint gapWord = window * sGapBits >> 5;
    raw.gaps = uvec2(WordsIn(wg.unit.gaps).w[gapWord],
                     WordsIn(wg.unit.gaps).w[min(gapWord + 1u, sLastGapWord)]);
    return raw;
}

// Makes a Window of what fetchWindow has loaded: swaps the bytes, and takes both gaps apart.
Window openWindow(RawWindow raw, uint window) {
    uint gapBits = sGapBits,
         gaps = funnelLeft(bigEndian(raw.gaps.x), bigEndian(raw.gaps.y), window * gapBits & 31u);
    return Window(bigEndian(raw.words.x), bigEndian(raw.words.y), bigEndian(raw.words.z),
                  gaps >> (32u - gapBits), kWindowBits + (gaps << gapBits >> (32u - gapBits)),
                  window);
}

Window loadWindow(Form bf16, uint window) { return openWindow(fetchWindow(window), window); }

// Stores the bf16 element at `place`, whose exponent is `symbol`. unitsAt is the address of place 0
// in the output, restAt that of its sign and mantissa.
void storeOther(uvec2 unitsAt, uvec2 restAt, uint place, uint symbol) {
    uvec2 at = add64(restAt, place), target = add64(unitsAt, mul64(place, 2u));
    uint rest = WordsIn(wordOf(at)).w[0] >> (at.x & 3u) * 8u;
    uint value = (rest & 0x80u) << 8 | symbol << 7 | (rest & 0x7fu), from = target.x & 2u;
    storeWord(wordOf(target), value * 0x10001u, from, from + 2u);
}

#include "lib/kernels/df11_output.h"

// -----------------------------------------------------------------------------------------------
// Output

// If a block has bad windows, sFailure[0] is the status of the first one, and sFailure[1] is the
// number of codes in the block before that window's bad code.
shared uint sFailure[2];

// The block's elements have places [gBegin, gEnd). A place is an element's number, counted from an
// address of the output that is a multiple of 16. wg.stage holds the symbols of places from gStaged
// on. gBase is a copy of wg.unit.base. gTurn is the block's number modulo 2; some data is
// double-buffered, and gTurn selects the block's half.
uint gBegin, gEnd, gStaged, gBase, gTurn;

// Returns the 8 bytes at `address`, of which bytes [from, to) are needed. Loads only words that
// have some of the needed bytes.
uvec2 loadRest(uvec2 address, uint from, uint to) {
    uint lead = address.x & 3u;
    WordsIn words = WordsIn(uvec2(address.x & ~3u, address.y));
    uvec3 loaded = uvec3(0u);
    SLUICE_UNROLL
    for (uint i = 0u; i < 3u; ++i)
        if (4u * i < to + lead && 4u * i + 4u > from + lead) loaded[i] = words.w[i];
    uint shift = 8u * lead;
    return loaded.xy >> shift | (loaded.yz << 1) << (31u - shift);
}

// Returns eight bf16 elements. `exponents` has their exponents minus `base`, four bits each, the
// first one highest. `rest` has a byte for each: the sign in bit 7, the mantissa below it.
uvec4 mergeBf16(uint exponents, uvec2 rest, uint base) {
    uvec4 low = uvec4(exponents >> 21, exponents >> 13, exponents >> 5, exponents << 3) & 0x780u;
    uvec4 high =
        uvec4(exponents >> 1, exponents << 7, exponents << 15, exponents << 23) & 0x7800000u;
    uvec4 mantissa = uvec4(rest.x, rest.x >> 16, rest.y, rest.y >> 16) & 0x7fu;
    uvec4 both = uvec4(rest.x << 8, rest.x >> 8, rest.y << 8, rest.y >> 8) & 0x7f8000u;
    uvec4 sign = uvec4(rest.x << 16, rest.x, rest.y << 16, rest.y) & 0x80000000u;
    return ((low | high) + base * 0x800080u) | (mantissa | both | sign);
}

// Returns 16 bytes of elements, from place `from` on: merges their symbols, which are in shared
// memory, with their signs and mantissas in `rest`.
uvec4 mergeUnit(bool bf16, uint from, uvec2 rest) {
    uint at = (from - gStaged) >> 3, exponents = wg.stage[at];
    if (!bf16) return uvec4(mergeFp8(exponents, rest.x), mergeFp8(wg.stage[at + 1u], rest.y));
    uvec4 merged = mergeBf16(exponents, rest, gBase);
    return hasFifteen(exponents) ? addOthers(merged, from >> 3, wg.otherCounts[gTurn]) : merged;
}

// Finds the aligned 16-byte units of output, of `each` elements, whose elements are all staged.
// Returns the first unit of this invocation in x, and the end of all units in y.
uvec2 ownUnits(uint each) {
    uint begin = max(gBegin, gStaged), end = min(gEnd, gStaged + kStage);
    return uvec2((begin + each - 1u) / each + wgInvocation(), end / each);
}

// fetchRests loads the signs and mantissas for an invocation's first units: for kFetched units in
// bf16, for half as many in fp8. An invocation seldom has more. It loads nothing if restAt, the
// address of those of place 0, is not a multiple of 8.
const uint kFetched = 4u;

void fetchRests(bool bf16, uvec2 restAt, out uvec2 rests[kFetched]) {
    uvec2 units = ownUnits(bf16 ? 8u : 16u);
    SLUICE_UNROLL
    for (uint i = 0u; i < kFetched; ++i) {
        uint unit = units.x + i * gl_WorkGroupSize.x;
        rests[i] = uvec2(0u);
        if ((restAt.x & 7u) == 0u && (bf16 || i < kFetched / 2u) && unit < units.y)
            rests[i] = PairsIn(restAt).v[unit];
    }
}

// Stores the units whose signs and mantissas fetchRests has loaded to `rests`. unitsAt is the
// address of place 0 in the output. bf16 is a constant in each call, so the code has no branches.
void copyFetched(bool bf16, uvec2 unitsAt, uvec2 rests[kFetched]) {
    uint each = bf16 ? 8u : 16u;
    uvec2 units = ownUnits(each);
    SLUICE_UNROLL
    for (uint i = 0u; i < kFetched; ++i)
        if (bf16 || i < kFetched / 2u) {
            uint unit = units.x + i * gl_WorkGroupSize.x;
            if (unit < units.y) UnitsOut(unitsAt).v[unit] = mergeUnit(bf16, unit * each, rests[i]);
        }
}

// Stores all staged units that copyFetched has not stored, and the incomplete units at both ends of
// the block, in whose words other workgroups may store elements. restAt is the address of the sign
// and mantissa of place 0. `fetched` is how many of this invocation's units are stored already.
void copyOthers(bool bf16, uvec2 unitsAt, uvec2 restAt, uint fetched) {
    uint size = bf16 ? 2u : 1u, each = 16u / size;
    uint begin = max(gBegin, gStaged), end = min(gEnd, gStaged + kStage),
         shift = (restAt.x & 3u) * 8u;
    uvec2 units = ownUnits(each);
    uint stop = units.y;
    WordsIn words = WordsIn(uvec2(restAt.x & ~3u, restAt.y));
    SLUICE_DONT_UNROLL
    for (uint unit = units.x + fetched * gl_WorkGroupSize.x; unit < stop;
         unit += gl_WorkGroupSize.x) {
        uvec3 loaded = uvec3(words.w[2u * unit], words.w[2u * unit + 1u], 0u);
        if (shift != 0u) loaded.z = words.w[2u * unit + 2u];
        uvec2 rest = loaded.xy >> shift | (loaded.yz << 1) << (31u - shift);
        UnitsOut(unitsAt).v[unit] = mergeUnit(bf16, unit * each, rest);
    }
    uint unit = wgInvocation() == 0u ? begin / each : stop;
    uint first = unit * each, from = max(begin, first) - first,
         to = max(min(end, first + each), first) - first;
    if (wgInvocation() < 2u && from < to && to - from < each) {
        uvec2 rest = loadRest(add64(restAt, unit * 8u), from * size / 2u, (to * size + 1u) / 2u);
        storeUnit(unitsAt, unit, mergeUnit(bf16, first, rest), from * size, to * size);
    }
}

// -----------------------------------------------------------------------------------------------

// Returns the number, in the unit, of the first element of block `block`; in fp8 it has 64 bits.
uvec2 positionOf(uint block) {
    if (block == wg.unit.blocks) return uvec2(wg.unit.elements, 0u);
    WordsIn positions = WordsIn(wg.unit.positions);
    if (isBf16()) return uvec2(positions.w[block], 0u);
    return uvec2(positions.w[2u * block], positions.w[2u * block + 1u]);
}

// The planner is the invocation that plans the next block (planBlock). It is the last invocation,
// because that one has the least to store.
bool isPlanner() { return wgInvocation() == gl_WorkGroupSize.x - 1u; }

// The whole workgroup decodes block `block` of a valid unit, and plans the next block if the unit
// has one. `raw` has this invocation's first window of the block; on return it has that of the next
// block. Returns the block's status.
uint decodeBlock(uint block, inout RawWindow raw) {
    uint firstWindow = block * kWindows + wgInvocation() * kOwnWindows;

    // The scan below adds up two counts at once. The lower half of each value counts codes. The
    // upper half counts invocations that have met a bad window; such an invocation does not count
    // the codes after its bad window.
    uint own = 0u, status = SLUICE_ST_PENDING, counts[kOwnWindows], others[kOwnWindows];
    uvec4 held[kOwnWindows];
    for (uint i = 0u; i < kOwnWindows; i++) {
        if (i != 0u) raw = fetchWindow(firstWindow + i);
        Window window = openWindow(raw, firstWindow + i);
        counts[i] = others[i] = 0u;
        held[i] = uvec4(0u);
        if (status == SLUICE_ST_PENDING)
            status = decodeWindow(isBf16(), window, held[i], counts[i], others[i]);
        own += counts[i] & kCount;
    }
    raw = fetchWindow(min(firstWindow + kWindows, wg.unit.blocks * kWindows - 1u));
    uvec2 next = positionOf(min(block + 1u, wg.unit.blocks)),
          afterNext = positionOf(min(block + 2u, wg.unit.blocks));
    uint total, before = wgExclusiveAdd(own | (status != SLUICE_ST_PENDING ? 0x10000u : 0u), total);
    gTurn = block & 1u;
    if (wgInvocation() == 0u) wg.otherCounts[gTurn ^ 1u] = 0u;
    uint planned = wg.plan[gTurn].status;
    gBegin = wg.plan[gTurn].begin;
    gEnd = wg.plan[gTurn].end;
    // The plan of the unit's last block has the status OK. In that block, codes after the code of
    // the last element are ignored.
    bool isLast = planned == SLUICE_ST_OK;
    if (sgUniform(planned == SLUICE_ST_BAD_INDEX)) {
        status = SLUICE_ST_BAD_INDEX;
    } else if (sgUniform(total >= 0x10000u)) {
        if (status != SLUICE_ST_PENDING && before < 0x10000u) {
            sFailure[0] = status;
            sFailure[1] = before + own;
        }
        wgBarrierShared();
        status = isLast && sFailure[1] >= gEnd - gBegin ? SLUICE_ST_OK : sFailure[0];
    } else {
        status = total < gEnd - gBegin              ? SLUICE_ST_TOO_SHORT
                 : total > gEnd - gBegin && !isLast ? SLUICE_ST_TOO_LONG
                                                    : SLUICE_ST_OK;
    }
    if (isPlanner() && (status != SLUICE_ST_OK || gEnd == 0u))
        planBlock(isBf16(), block + 1u, next, afterNext);
    if (sgUniform(status == SLUICE_ST_OK)) {
        bool bf16 = isBf16();
        uvec2 unitsAt = wg.plan[gTurn].unitsAt, restAt = wg.plan[gTurn].restAt;
        gBase = wg.unit.base;
        for (gStaged = 0u; gStaged < gEnd; gStaged += kStage) {
            // This barrier waits until the symbols that were staged before have been stored.
            if (gStaged != 0u) wgBarrierShared();
            uvec2 rests[kFetched];
            fetchRests(bf16, restAt, rests);
            if (wgInvocation() == 0u && gStaged == 0u && (gBegin & 7u) != 0u)
                // The block begins inside this word of wg.stage, so stageOwn does not store it. It
                // must be 0 before stageShared sets bits in it.
                wg.stage[gBegin >> 3] = 0u;
            uint place = gBegin + (before & 0xffffu);
            for (uint i = 0u; i < kOwnWindows; i++) {
                stageOwn(gStaged, held[i], counts[i], place);
                if (others[i] != 0u && gStaged == 0u) noteOther(gTurn, others[i], place);
                place += counts[i] & kCount;
            }
            wgBarrierShared();
            place = gBegin + (before & 0xffffu);
            for (uint i = 0u; i < kOwnWindows; i++) {
                stageShared(gStaged, held[i], counts[i], place);
                if (counts[i] > kCount)
                    stageWindow(bf16, gStaged, firstWindow + i, counts[i] & kCount, place);
                place += counts[i] & kCount;
            }
            wgBarrierShared();
            if (isPlanner() && gStaged == 0u) planBlock(isBf16(), block + 1u, next, afterNext);
            bool isFetched = (restAt.x & 7u) == 0u;
            if (isFetched) {
                if (bf16)
                    copyFetched(true, unitsAt, rests);
                else
                    copyFetched(false, unitsAt, rests);
            }
            copyOthers(bf16, unitsAt, restAt, !isFetched ? 0u : bf16 ? kFetched : kFetched / 2u);
        }
        if (sgUniform(wg.otherCounts[gTurn] > kOthers)) {
            memoryBarrierBuffer();
            // wg.others has no room for all symbols that do not fit in four bits, so elements with
            // such symbols have been stored wrongly. After this barrier they are stored again.
            wgBarrierShared();
            uint place = gBegin + (before & 0xffffu);
            for (uint i = 0u; i < kOwnWindows; i++) {
                if (others[i] != 0u)
                    storeOthers(bf16, gTurn, firstWindow + i, counts[i] & kCount, place, gEnd);
                place += counts[i] & kCount;
            }
        }
    }
    return status;
}

// Opens unit `index` of the list; one invocation calls this.
void openUnitHere(uint index) {
    openUnit(p, index);
    bool bf16 = isBf16();
    sCodeBytes = bf16 ? SLUICE_DF11_BF16_CODE_BYTES : SLUICE_DF11_FP8_CODE_BYTES;
    sGapBits = bf16 ? SLUICE_DF11_BF16_GAP_BITS : SLUICE_DF11_FP8_GAP_BITS;
    sLastGapWord = wg.unit.blocks * (kWindows / 32u) * sGapBits - 1u;
    wg.otherCounts[0] = wg.otherCounts[1] = 0u;
}

void main() {
    uint workgroup = wgIndex();
    uint begin = min(workgroup * p.blocksPerWorkgroup, p.maxBlockCount);
    uint stop = min(begin + p.blocksPerWorkgroup, p.maxBlockCount);
    uint count = countOf(p.unitCount, p.maxUnitCount);
    // `unit` is the open unit, or `count` if there is none; another unit may begin at nextUnitAt.
    uint unit = count, nextUnitAt = 0u;
    uint fetched = 0xffffffffu; // the block whose windows are in `raw`
    RawWindow raw = RawWindow(uvec3(0u), uvec2(0u));
    wgLoopsBegin();
    for (uint block = begin; block < stop; block++) {
        if (block >= nextUnitAt) {
            uint found = unitOf(p, block, count);
            nextUnitAt = found == count ? block + 1u : 0xffffffffu;
            if (found + 1u < count) nextUnitAt = max(firstBlockOf(p, found + 1u), block + 1u);
            if (found != count && found != unit) {
                // This barrier waits until all invocations are done with the previous unit and its
                // table.
                wgBarrierShared();
                if (wgInvocation() == 0u) openUnitHere(found);
                wgBarrierShared();
                if (sgUniform(wg.unit.good)) buildTable();
            }
            fetched = found == unit ? fetched : 0xffffffffu;
            unit = found;
        }
        if (unit != count && block - wg.unit.firstBlock < wg.unit.blocks) {
            uint own = block - wg.unit.firstBlock, status = SLUICE_ST_BAD_REGION;
            if (wg.unit.good) {
                if (fetched != block) {
                    raw = fetchWindow(own * kWindows + wgInvocation() * kOwnWindows);
                    if (isPlanner())
                        planBlock(isBf16(), own, positionOf(own), positionOf(own + 1u));
                }
                status = decodeBlock(own, raw);
                fetched = own + 1u < wg.unit.blocks ? block + 1u : 0xffffffffu;
            }
            if (!wgLoopsGoOn()) status = SLUICE_ST_INTERNAL;
            if (wgInvocation() == 0u) writeStatus(p.status, p.maxBlockCount, block, status);
        }
    }
}
