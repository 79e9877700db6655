// SPDX-License-Identifier: MIT OR Apache-2.0
// Decode of DFloat11 and ECF8 units (docs/format.md, 5): a workgroup does consecutive blocks of
// 4,096 bytes and builds a table for each unit that it meets.
//
// Each invocation decodes its windows of 64 bits, every window from its gap on, into registers,
// four bits a symbol; a sum over the workgroup says with which element a window starts, and whether
// all is as `outputPositions` has it. Then the symbols go to their places in shared memory, and
// from there out together with signs and mantissas, 16 bytes at a time.
//
// Four bits are enough for fp8. In bf16 they stand for 15 neighbouring exponents, those of the
// shortest codes; the few others are listed, and put in place as they go out. An entry of the table
// has up to five symbols; codes that it has no room for are looked up in the unit's own rows, and a
// window with more symbols than the registers hold is decoded twice.
//
// What the next block is decoded from is loaded while a block is decoded, and signs and mantissas
// while symbols go to their places.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLUICE_SCAN_SHUFFLED
#include "lib/layout.h"
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/scan.glsl"
#include "lib/units.glsl"

layout(push_constant, std430) uniform Push { Df11Params p; };

const uint kBf16 = 1u, kFp8 = 2u, kUnitWords = 18u, kMaxRows = 18u, kMaxSize = 0x7fffffffu;
const uint kBlockBytes = 4096u, kWindows = 512u, kWindowBits = 64u, kMaxElements = 32768u;
const uint kPointer = 240u; // the least entry of a row that leads to another one
const uint kOwnWindows = kWindows / gl_WorkGroupSize.x;

// An entry: bits 0 .. 19 symbols of four bits, the last one lowest; 20 .. 24 four times how many
// there are; 28 .. 31 the length of all their codes. 0 if the first code is too long or none, or
// its symbol has no four bits. Entries for n known bits stand from 1 << n on.
const uint kTableBits = 10u, kSingles = 1u << kTableBits, kEntrySymbols = 0xfffffu,
           kMaxEntryBits = 20u;
shared uint sTable[2u * kSingles];
shared uint sSame[8];     // a bit for each entry of row 0 that is equal to the one before
shared uint sLengths[16]; // of the codes by their four bits, 255 for what stands for all others
shared uint sBest;

// Symbols on their way out, four bits each, the first of a word highest; some 12,600 of a block as
// a rule.
const uint kStageWords = 1856u, kStage = kStageWords * 8u;
shared uint sStage[kStageWords];
shared uint sFailure[2]; // of a block: the status of its first bad window, and how many codes there
                         // are up to it

// Symbols without four bits, of which a block of bf16 has one or two as a rule: in bits 0 .. 15 the
// place. The counts are used in turn; one above kOthers means that all windows with such symbols
// are to be gone through again.
const uint kOthers = 32u;
shared uint sOthers[kOthers], sOtherCounts[2];

// What decodeBlock needs to know of a block, found by one invocation while the block before is
// under way; used in turn.
struct Block {
    uvec2 unitsAt, restAt; // the addresses of place 0 of the output, and of its sign and mantissa
    uint begin, end;       // places
    uint first;            // the element of place `begin`
    uint status;           // PENDING, BAD_INDEX; OK if the unit ends with this block
};
shared Block sPlan[2];

// The unit. It stands here because registers are scarce.
shared uint sKind, sRows, sElements, sEncoded, sFirstBlock, sBlocks;
shared uvec2 sLuts, sStream, sRest, sPositions, sGaps, sOutput; // addresses
shared uint sGapBits, sLastGapWord, sCodeBytes, sMaxSymbol;
shared uint sFullWindows;    // so many windows have four bytes behind them
shared uint sTableWindows;   // and of so many is known where their last code ends
shared uint sBase, sNibbles; // the symbol of four zero bits, and how many symbols there are from it
                             // on
shared bool sGood;

// -----------------------------------------------------------------------------------------------
// The unit

// Whether `size` bytes from `offset` on, rounded up to 16, are a table inside the source.
bool isTable(uvec2 offset, uint size) {
    return (offset.x & 15u) == 0u &&
           inside64(offset, uvec2(size + 15u & ~15u, 0u), uvec2(0u), p.sourceSize);
}

// By one invocation.
void loadUnit(uint index) {
    WordsIn unit = WordsIn(add64(p.units, mul64(index, kUnitWords * 4u)));
    uvec2 luts = uvec2(unit.w[0], unit.w[1]), stream = uvec2(unit.w[2], unit.w[3]),
          rest = uvec2(unit.w[4], unit.w[5]);
    uvec2 positions = uvec2(unit.w[6], unit.w[7]), gaps = uvec2(unit.w[8], unit.w[9]);
    uvec2 output_ = uvec2(unit.w[10], unit.w[11]);
    uint kind = unit.w[12], rows = unit.w[13], elements = unit.w[14], encoded = unit.w[15];
    uint blocks = encoded / kBlockBytes + (encoded % kBlockBytes != 0u ? 1u : 0u);
    bool bf16 = kind == kBf16;
    uint gapBits = bf16 ? 5u : 4u;
    bool good = (kind == kBf16 || kind == kFp8) && rows >= 2u && rows <= kMaxRows &&
                elements <= kMaxSize && encoded <= kMaxSize && unit.w[17] == 0u;
    if (good)
        good = isTable(luts, rows * 256u) && isTable(stream, encoded) &&
               isTable(rest, bf16 ? elements : elements + 1u >> 1) &&
               isTable(positions, blocks * (bf16 ? 4u : 8u)) &&
               isTable(gaps, blocks * (kWindows / 8u) * gapBits) && (output_.x & 3u) == 0u &&
               inside64(output_, uvec2(bf16 ? elements * 2u : elements, 0u), uvec2(0u),
                        p.destinationSize);
    sKind = kind;
    sRows = rows;
    sElements = elements;
    sEncoded = encoded;
    sFirstBlock = unit.w[16];
    sBlocks = blocks;
    sGapBits = gapBits;
    sLastGapWord = blocks * (kWindows / 32u) * gapBits - 1u;
    sFullWindows = max(encoded, 4u) - 4u >> 3;
    sTableWindows = min(sFullWindows, max(blocks * kWindows, 1u) - 1u);
    sCodeBytes = bf16 ? 4u : 2u;
    sMaxSymbol = bf16 ? kPointer - 1u : 15u;
    sNibbles = bf16 ? 15u : 16u;
    sGood = good;
    sLuts = add64(p.source, luts);
    sStream = add64(p.source, stream);
    sRest = add64(p.source, rest);
    sPositions = add64(p.source, positions);
    sGaps = add64(p.source, gaps);
    sOutput = add64(p.destination, output_);
}

uint lutAt(uint row, uint index) {
    uint at = row * 256u + index;
    return WordsIn(sLuts).w[at >> 2] >> (at & 3u) * 8u & 255u;
}

uint lengthOf(uint symbol) { return lutAt(sRows - 1u, symbol); }

// The entry of one code that takes `length_` bits.
uint singleEntry(uint symbol, uint length_) { return symbol - sBase | 4u << 20 | length_ << 28; }

// The entry of the first code in kTableBits bits, any bits that start with the code leading to its
// symbol.
uint singleOf(uint bits) {
    uint single = sStage[bits >> kTableBits - 8u];
    uint row = 256u - single, at = bits << 16u - kTableBits & 255u;
    if (single < kPointer || single >= 256u || row >= sRows - 1u)
        return single < 256u ? 0u : single;
    uint symbol = lutAt(row, at);
    if (symbol > sMaxSymbol || symbol - sBase >= sNibbles) return 0u;
    uint length_ = lengthOf(symbol);
    if (length_ <= 8u || length_ > kTableBits) return 0u;
    uint words = 1u << 14u - length_, first = row * 64u + (at >> 2 & ~(words - 1u)), different = 0u;
    for (uint i = 0u; i < words; ++i)
        different |= WordsIn(sLuts).w[first + i] ^ symbol * 0x1010101u;
    return different == 0u ? singleEntry(symbol, length_) : 0u;
}

// By the whole workgroup.
void buildTable() {
    if (wgInvocation() < 8u) sSame[wgInvocation()] = 0u;
    if (wgInvocation() == 0u) sBest = 0u;
    wgBarrierShared();
    for (uint i = wgInvocation(); i < 256u; i += gl_WorkGroupSize.x) {
        if (i != 0u && lutAt(0u, i) == lutAt(0u, i - 1u)) atomicOr(sSame[i >> 5], 1u << (i & 31u));
        if (sKind == kBf16 && i + 15u <= kPointer) { // how frequent the codes say that the symbols
                                                     // from i on are
            uint sum = 0u;
            for (uint symbol = i; symbol < i + 15u; ++symbol) {
                uint length_ = lengthOf(symbol);
                sum += length_ - 1u < 16u ? 0x10000u >> length_ : 0u;
            }
            atomicMax(sBest, sum << 8 | i);
        }
    }
    wgBarrierShared();
    if (wgInvocation() == 0u) sBase = sBest & 255u;
    wgBarrierShared();
    for (uint i = wgInvocation(); i < 256u; i += gl_WorkGroupSize.x) {
        uint symbol = lutAt(0u, i), length_ = symbol < kPointer ? lengthOf(symbol) : 0u;
        bool good =
            symbol <= sMaxSymbol && symbol - sBase < sNibbles && length_ >= 1u && length_ <= 8u;
        uint size = good ? 256u >> length_ : 1u, word = (i & ~(size - 1u)) >> 5;
        uint mask = (size < 32u ? (1u << size) - 1u << (i & 31u & ~(size - 1u)) : 0xffffffffu);
        mask &= mask << 1; // all but the first one
        good =
            good && (sSame[word] & mask) == mask && (size < 64u || sSame[word + 1u] == 0xffffffffu);
        if (good && size == 128u)
            good = sSame[word + 2u] == 0xffffffffu && sSame[word + 3u] == 0xffffffffu;
        sStage[i] = symbol >= kPointer ? symbol : good ? singleEntry(symbol, length_) : 0u;
        if (i < 16u) sLengths[i] = i < sNibbles ? lengthOf(sBase + i) : 255u;
    }
    wgBarrierShared();
    for (uint i = wgInvocation(); i < kSingles; i += gl_WorkGroupSize.x)
        sTable[kSingles + i] = singleOf(i);
    if (wgInvocation() == 0u) sTable[1] = 0u;
    // A code and what fewer bits lead to.
    for (uint known = 1u; known <= kTableBits; ++known) {
        wgBarrierShared();
        for (uint i = wgInvocation(); i < 1u << known; i += gl_WorkGroupSize.x) {
            uint entry = sTable[kSingles + (i << kTableBits - known)], length_ = entry >> 28;
            if (length_ > known) {
                entry = 0u;
            } else if (entry != 0u) {
                uint left = 1u << known - length_, next = sTable[left + (i & left - 1u)];
                if ((next >> 20 & 31u) == kMaxEntryBits) // no room: without the last of them
                    next = (next & kEntrySymbols) >> 4 | (kMaxEntryBits - 4u) << 20 |
                           (next >> 28) - sLengths[next & 15u] << 28;
                entry = ((entry & 15u) << (next >> 20 & 31u)) + next + (entry & ~15u);
            }
            sTable[(1u << known) + i] = entry;
        }
    }
    wgBarrierShared();
}

// -----------------------------------------------------------------------------------------------
// Codes

uint bigEndian(uint word) {
    return word >> 24 | (word >> 8 & 0xff00u) | (word & 0xff00u) << 8 | word << 24;
}

// 32 bits of two words from bit `shift` on, which is below 32.
uint funnel(uint high, uint low, uint shift) { return high << shift | (low >> 1) >> 31u - shift; }

// A window and the four bytes behind it, its gap, and where the next window's codes start, from
// this one's start on.
struct Window {
    uvec3 words;
    uint gap, end, index;
};

// A window's words and those with its gap and the next one's, as they are in memory.
struct RawWindow {
    uvec3 words;
    uvec2 gaps;
};

// A word of the stream, 0 past its end.
uint streamWord(uint index) {
    uint at = index * 4u;
    if (at >= sEncoded) return 0u;
    uint have = min(sEncoded - at, 4u);
    return WordsIn(sStream).w[index] & 0xffffffffu >> 32u - 8u * have;
}

// Nothing here waits for what is loaded.
RawWindow fetchWindow(uint window) {
    RawWindow raw;
    if (window < sFullWindows)
        raw.words = uvec3(PairsIn(sStream).v[window], WordsIn(sStream).w[window * 2u + 2u]);
    else
        raw.words = uvec3(streamWord(window * 2u), streamWord(window * 2u + 1u),
                          streamWord(window * 2u + 2u));
    uint gapWord = window * sGapBits >> 5;
    raw.gaps = uvec2(WordsIn(sGaps).w[gapWord], WordsIn(sGaps).w[min(gapWord + 1u, sLastGapWord)]);
    return raw;
}

Window openWindow(RawWindow raw, uint window) {
    uint gapBits = sGapBits,
         gaps = funnel(bigEndian(raw.gaps.x), bigEndian(raw.gaps.y), window * gapBits & 31u);
    return Window(uvec3(bigEndian(raw.words.x), bigEndian(raw.words.y), bigEndian(raw.words.z)),
                  gaps >> 32u - gapBits, kWindowBits + (gaps << gapBits >> 32u - gapBits), window);
}

Window loadWindow(uint window) { return openWindow(fetchWindow(window), window); }

// A code at the upper end of `bits`, of which the stream has `left`. PENDING if all is well.
uint readCode(uint bits, uint left, out uint symbol, out uint length_) {
    uint row = 0u, status = SLUICE_ST_BAD_CODE;
    bool on = left != 0u;
    symbol = length_ = 0u;
    [[dont_unroll]] for (uint depth = 0u; depth < 4u; ++depth) if (on && depth < sCodeBytes) {
        symbol = lutAt(row, bits >> 24u - 8u * depth & 255u);
        row = 256u - symbol;
        on = symbol >= kPointer && row < sRows - 1u;
        if (symbol < kPointer) {
            length_ = lengthOf(symbol);
            bool good = symbol <= sMaxSymbol && length_ > 8u * depth && length_ <= 8u * depth + 8u;
            status = !good            ? SLUICE_ST_BAD_CODE
                     : length_ > left ? SLUICE_ST_TRUNCATED
                                      : SLUICE_ST_PENDING;
        }
    }
    return left == 0u ? SLUICE_ST_TRUNCATED : status;
}

// Bits of a window from `at` on, which is below 64.
uint bitsAt(Window window, uint at) {
    bool upper = at < 32u;
    uint high = upper ? window.words.x : window.words.y,
         low = upper ? window.words.y : window.words.z;
    return funnel(high, low, at & 31u);
}

// Of a window that has too many codes for the registers.
const uint kLong = 0x100u, kCount = 0xffu;

// How many bits the stream has from bit `at` of a window on, at least if it is more than a code can
// have.
uint bitsLeft(Window window, uint at) {
    uint left = min(sEncoded - min(window.index * 8u, sEncoded), 12u) * 8u;
    return left - min(at, left);
}

// What is known of a window's symbols: their codes take the bits up to `at`, and there are counts /
// 4. other: 0 if all have four bits; kSeveral; else one plus the index of the one without, and from
// bit 8 on that symbol.
struct Progress {
    uint at, status, counts, other;
};
const uint kSeveral = 0xffffffffu;

// An entry for the codes at progress.at; of one without four bits, 15. If the code there is bad,
// the status says so, there are no symbols and the window is over. tableEnd: to where the table may
// look, 0 if it must not.
uint nextEntry(Window window, uint tableEnd, inout Progress progress) {
    uint bits = bitsAt(window, progress.at);
    uint known = min(max(tableEnd, progress.at) - progress.at, kTableBits);
    uint entry = sTable[(1u << known) + ((bits >> 1) >> 31u - known)], taken = entry >> 28;
    if (entry == 0u) {
        uint symbol;
        progress.status = readCode(bits, bitsLeft(window, progress.at), symbol, taken);
        if (progress.status == SLUICE_ST_PENDING) {
            entry = 4u << 20 | min(symbol - sBase, 15u);
            if (symbol - sBase >= sNibbles)
                progress.other =
                    progress.other != 0u ? kSeveral : progress.counts / 4u + 1u | symbol << 8;
        } else {
            taken = kWindowBits;
        }
    }
    progress.at += taken;
    progress.counts += entry >> 20 & 31u;
    return entry;
}

// To where the table may look in a window: every code before that must end there or before. 0 if
// that is not known.
uint tableEndOf(Window window) { return window.index < sTableWindows ? window.end : 0u; }

// value << shift, what goes out at the top being added to the next word by its own shift. shift is
// below 32.
uint shiftIn(uint value, uint factor, inout uint carry) {
    uint high, low;
    umulExtended(value, factor, high, low);
    low += carry;
    carry = high;
    return low;
}

// Appends an entry's symbols to `held`, whose last one is lowest in x. Words past `words` are left
// alone.
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

// The entry for the top bits of `bits`, all of which are known.
uint fullEntry(uint bits) { return sTable[kSingles + (bits >> 32u - kTableBits)]; }

// Decodes the codes that start in a window. PENDING if they are good and end where the next
// window's start. held: their symbols, four bits each, the last one lowest, if there are up to 32;
// else codes has kLong too. other: as in Progress.
uint decodeWindow(Window window, out uvec4 held, out uint codes, out uint other) {
    Progress progress = Progress(window.gap, SLUICE_ST_PENDING, 0u, 0u);
    uint tableEnd = tableEndOf(window);
    held = uvec4(0u);
    if (tableEnd != 0u && window.gap <= kWindowBits - 5u * kTableBits) {
        // Five entries are in any case, and a sixth as a rule; one of 0 changes nothing.
        uint high = funnel(window.words.x, window.words.y, window.gap);
        uint low = funnel(window.words.y, window.words.z, window.gap);
        uint first = fullEntry(high), taken = first >> 28;
        uint second = fullEntry(high << taken);
        taken += second >> 28;
        uint third = fullEntry(high << taken);
        taken += third >> 28;
        held.x = first & kEntrySymbols;
        append(held, second, 2u);
        append(held, third, 2u);
        high = funnel(high, low, taken);
        uint fourth = fullEntry(high);
        taken = fourth >> 28;
        uint fifth = fullEntry(high << taken);
        taken += fifth >> 28;
        uint sixth = fullEntry(high << taken);
        sixth = window.gap <= kWindowBits - 6u * kTableBits ? sixth : 0u;
        append(held, fourth, 3u);
        append(held, fifth, 4u);
        append(held, sixth, 4u);
        // Four times the symbols, and 256 times the bits.
        uint counts = (first >> 20) + (second >> 20) + (third >> 20) + (fourth >> 20) +
                      (fifth >> 20) + (sixth >> 20);
        progress.at += counts >> 8;
        progress.counts = counts & 255u;
    }
    // each step takes a bit at least
    for (uint step = 0u; step < kWindowBits && progress.at < kWindowBits; step++)
        append(held, nextEntry(window, tableEnd, progress), 4u);
    codes = progress.counts >> 2;
    codes |= codes > 32u ? kLong : 0u;
    other = progress.other;
    if (progress.status != SLUICE_ST_PENDING) return progress.status;
    // The table does not know that a code may not start behind the window. (One that it has not
    // does not.)
    for (uint i = 0u; i < 32u && progress.at >= kWindowBits + sLengths[held.x & 15u]; i++) {
        progress.at -= sLengths[held.x & 15u];
        codes--;
        held = held >> 4 | uvec4(held.yzw, 0u) << 28;
    }
    return progress.at == window.end || window.index == sBlocks * kWindows - 1u
               ? SLUICE_ST_PENDING
               : SLUICE_ST_BAD_INDEX;
}

// -----------------------------------------------------------------------------------------------
// Output. A place is that of an element, counted from a multiple of 16 bytes of the output.

// Places [gBegin, gEnd) are the block's; those in sStage are from gStaged on. gBase is sBase; gTurn
// says which of what is used in turn.
uint gBegin, gEnd, gStaged, gBase, gTurn;

// Whole words of a window's symbols, and what stands in the word where they end, to `place` and on:
// every word that one of them is the first of.
void stageOwn(uvec4 held, bool isLong, uint codes, uint place) {
    int last = int(place + codes - 1u - gStaged) >> 3,
        words = last - (int(place + 7u - gStaged) >> 3) + 1;
    if (isLong) { // comes later
        for (int i = 0; i < words && i < 8; ++i)
            if (uint(last - i) < kStageWords) sStage[last - i] = 0u;
        return;
    }
    uint shift = (0u - place - codes & 7u) * 4u;
    if (words > 0 && uint(last) < kStageWords) sStage[last] = held.x << shift;
    if (words > 1 && uint(last - 1) < kStageWords) sStage[last - 1] = funnel(held.y, held.x, shift);
    if (words > 2 && uint(last - 2) < kStageWords) sStage[last - 2] = funnel(held.z, held.y, shift);
    if (words > 3 && uint(last - 3) < kStageWords) sStage[last - 3] = funnel(held.w, held.z, shift);
}

// The rest of them: what stands in a word that began before.
void stageShared(uvec4 held, bool isLong, uint codes, uint place) {
    uint end = place + codes, first = place >> 3, at = first - (gStaged >> 3);
    if ((place & 7u) == 0u || isLong || at >= kStageWords) return;
    uint shift = (0u - end & 7u) * 4u, words = (end + 7u >> 3) - first;
    uint high = 0u, low = held.w; // of the first word
    if (words < 5u) {
        high = held.w;
        low = held.z;
    }
    if (words < 4u) {
        high = held.z;
        low = held.y;
    }
    if (words < 3u) {
        high = held.y;
        low = held.x;
    }
    if (words < 2u) {
        high = held.x;
        low = 0u;
    }
    atomicOr(sStage[at], funnel(high, low, shift));
}

void stageBits(uint word, uint bits) {
    uint at = word - (gStaged >> 3);
    if (bits != 0u && at < kStageWords) atomicOr(sStage[at], bits);
}

// The symbols of a window that has too many for the registers, from the stream.
void stageWindow(uint index, uint codes, uint place) {
    Window window = loadWindow(index);
    Progress progress = Progress(window.gap, SLUICE_ST_PENDING, 0u, 0u);
    uint tableEnd = tableEndOf(window), end = place + codes;
    for (uint step = 0u; step < kWindowBits && progress.at < kWindowBits && place < end; step++) {
        uint entry = nextEntry(window, tableEnd, progress), count = entry >> 22 & 7u;
        if (count != 0u) {
            uint bits = (entry & kEntrySymbols) << 32u - 4u * count, shift = (place & 7u) * 4u;
            count = min(count, end - place);
            bits &= ~(0xffffffffu >> 4u * count);
            stageBits(place >> 3, bits >> shift);
            stageBits((place >> 3) + 1u, (bits << 1) << 31u - shift);
            place += count;
        }
    }
}

// A window's symbols that have no four bits, each to its element. first: the element of place 0.
void storeOthers(uint index, uint codes, uint place, uint first) {
    Window window = loadWindow(index);
    uint at = window.gap, end = min(place + codes, gEnd);
    for (uint step = 0u; step < kWindowBits && at < kWindowBits && place < end; step++, place++) {
        uint symbol, length_;
        if (readCode(bitsAt(window, at), bitsLeft(window, at), symbol, length_) !=
            SLUICE_ST_PENDING)
            return;
        if (symbol - sBase >= sNibbles) { // in bf16 only
            uint element = first + place, shift = (element & 3u) * 8u;
            uint rest = WordsIn(sRest).w[element >> 2] >> shift;
            uint value = (rest & 0x80u) << 8 | symbol << 7 | (rest & 0x7fu);
            uvec2 target = add64(sOutput, mul64(element, 2u));
            uint from = target.x & 2u;
            storeWord(uvec2(target.x & ~3u, target.y), value * 0x10001u, from, from + 2u);
        }
        at += length_;
    }
}

// 8 bytes at `address`, of which [from, to) count: no word without any of those is read.
uvec2 loadRest(uvec2 address, uint from, uint to) {
    uint lead = address.x & 3u;
    WordsIn words = WordsIn(uvec2(address.x & ~3u, address.y));
    uvec3 loaded = uvec3(0u);
    [[unroll]] for (uint i = 0u; i < 3u; ++i) if (4u * i < to + lead && 4u * i + 4u > from + lead)
        loaded[i] = words.w[i];
    uint shift = 8u * lead;
    return loaded.xy >> shift | (loaded.yz << 1) << 31u - shift;
}

// Eight bf16 from their exponents less sBase and their bytes of sign and mantissa.
uvec4 mergeBf16(uint exponents, uvec2 rest, uint base) {
    uvec4 low = uvec4(exponents >> 21, exponents >> 13, exponents >> 5, exponents << 3) & 0x780u;
    uvec4 high =
        uvec4(exponents >> 1, exponents << 7, exponents << 15, exponents << 23) & 0x7800000u;
    uvec4 mantissa = uvec4(rest.x, rest.x >> 16, rest.y, rest.y >> 16) & 0x7fu;
    uvec4 both = uvec4(rest.x << 8, rest.x >> 8, rest.y << 8, rest.y >> 8) & 0x7f8000u;
    uvec4 sign = uvec4(rest.x << 16, rest.x, rest.y << 16, rest.y) & 0x80000000u;
    return (low | high) + base * 0x800080u | (mantissa | both | sign);
}

// Bytes of two words in turn, from the lower and the upper halves.
uvec2 interleave(uint even, uint odd) {
    uint low = (even & 0xffu) | (odd & 0xffu) << 8 | (even & 0xff00u) << 8 | (odd & 0xff00u) << 16;
    uint high = even >> 16 & 0xffu | odd >> 8 & 0xff00u | even >> 8 & 0xff0000u | odd & 0xff000000u;
    return uvec2(low, high);
}

// Eight fp8 from their exponents, and bytes of two signs and mantissas each, the first in the upper
// half.
uvec2 mergeFp8(uint exponents, uint rest) {
    exponents = bigEndian(exponents);
    uint even = (rest >> 4 & 0x7070707u) | (rest & 0x80808080u) | (exponents >> 1 & 0x78787878u);
    uint odd = (rest & 0x7070707u) | (rest << 4 & 0x80808080u) | (exponents << 3 & 0x78787878u);
    return interleave(even, odd);
}

// Eight bf16 among which are some of sOthers. count: how many those are; if too many, they come
// later.
uvec4 addOthers(uvec4 merged, uint from, uint base, uint count) {
    for (uint i = 0u; i < (count > kOthers ? 0u : count); ++i) {
        uint place = sOthers[i] & 0xffffu, more = sOthers[i] >> 16;
        if (place >> 3 == from >> 3) {
            more = more - base - 15u << 7 + 16u * (place & 1u);
            merged += more * uvec4(equal(uvec4(0u, 1u, 2u, 3u), uvec4(place >> 1 & 3u)));
        }
    }
    return merged;
}

// 16 bytes of elements, those of places `from` and on.
uvec4 mergeUnit(bool bf16, uint from, uvec2 rest) {
    uint at = from - gStaged >> 3, exponents = sStage[at];
    if (!bf16) return uvec4(mergeFp8(exponents, rest.x), mergeFp8(sStage[at + 1u], rest.y));
    uvec4 merged = mergeBf16(exponents, rest, gBase);
    uint fifteens = exponents & exponents >> 1;
    if ((fifteens & fifteens >> 2 & 0x11111111u) != 0u)
        merged = addOthers(merged, from, gBase, sOtherCounts[gTurn]);
    return merged;
}

// The units of 16 bytes that lie wholly in what is staged: the invocation's first one, and the end.
uvec2 ownUnits(uint each) {
    uint begin = max(gBegin, gStaged), end = min(gEnd, gStaged + kStage);
    return uvec2((begin + each - 1u) / each + wgInvocation(), end / each);
}

// Signs and mantissas of an invocation's first units, if they are at a multiple of 8 bytes: as many
// as it has as a rule.
const uint kFetched = 4u;

void fetchRests(bool bf16, uvec2 restAt, out uvec2 rests[kFetched]) {
    uvec2 units = ownUnits(bf16 ? 8u : 16u);
    [[unroll]] for (uint i = 0u; i < kFetched; ++i) {
        uint unit = units.x + i * gl_WorkGroupSize.x;
        rests[i] = uvec2(0u);
        if ((restAt.x & 7u) == 0u && (bf16 || i < kFetched / 2u) && unit < units.y)
            rests[i] = PairsIn(restAt).v[unit];
    }
}

// What is staged goes out. unitsAt: the address of place 0, restAt: of its sign and mantissa.
void copyOut(bool bf16, uvec2 unitsAt, uvec2 restAt, uvec2 rests[kFetched]) {
    uint size = bf16 ? 2u : 1u, each = 16u / size;
    uint begin = max(gBegin, gStaged), end = min(gEnd, gStaged + kStage),
         shift = (restAt.x & 3u) * 8u;
    uvec2 units = ownUnits(each);
    uint unit = units.x, stop = units.y;
    if ((restAt.x & 7u) == 0u) {
        [[unroll]] for (uint i = 0u; i < kFetched; ++i) if (bf16 || i < kFetched / 2u) {
            if (unit < stop) UnitsOut(unitsAt).v[unit] = mergeUnit(bf16, unit * each, rests[i]);
            unit += gl_WorkGroupSize.x;
        }
        [[dont_unroll]] for (; unit < stop; unit += gl_WorkGroupSize.x) {
            uvec2 rest = PairsIn(restAt).v[unit];
            UnitsOut(unitsAt).v[unit] = mergeUnit(bf16, unit * each, rest);
        }
    } else {
        WordsIn words = WordsIn(uvec2(restAt.x & ~3u, restAt.y));
        [[dont_unroll]] for (; unit < stop; unit += gl_WorkGroupSize.x) {
            uvec3 loaded = uvec3(words.w[2u * unit], words.w[2u * unit + 1u], 0u);
            if (shift != 0u) loaded.z = words.w[2u * unit + 2u];
            uvec2 rest = loaded.xy >> shift | (loaded.yz << 1) << 31u - shift;
            UnitsOut(unitsAt).v[unit] = mergeUnit(bf16, unit * each, rest);
        }
    }
    // The ends, whose words others may write too.
    unit = wgInvocation() == 0u ? begin / each : stop;
    uint first = unit * each, from = max(begin, first) - first,
         to = max(min(end, first + each), first) - first;
    if (wgInvocation() < 2u && from < to && to - from < each) {
        uvec2 rest = loadRest(add64(restAt, unit * 8u), from * size / 2u, (to * size + 1u) / 2u);
        storeUnit(unitsAt, unit, mergeUnit(bf16, first, rest), from * size, to * size);
    }
}

// -----------------------------------------------------------------------------------------------

// The element that a block starts with; 64 bits in fp8.
uvec2 positionOf(uint block) {
    if (block == sBlocks) return uvec2(sElements, 0u);
    WordsIn positions = WordsIn(sPositions);
    if (sKind == kBf16) return uvec2(positions.w[block], 0u);
    return uvec2(positions.w[2u * block], positions.w[2u * block + 1u]);
}

// Who has the least to write.
bool isPlanner() { return wgInvocation() == gl_WorkGroupSize.x - 1u; }

// By the planner: sPlan of a block that starts with element `begin` and ends before `end`.
void planBlock(uint block, uvec2 begin, uvec2 end) {
    bool bf16 = sKind == kBf16;
    bool good = (block != 0u || (begin.x | begin.y) == 0u) && !less64(end, begin) &&
                !less64(uvec2(sElements, 0u), end) && end.x - begin.x <= kMaxElements;
    uint lead = (sOutput.x & 15u) >> (bf16 ? 1 : 0); // elements from a multiple of 16 bytes to the
                                                     // unit's first one
    uint origin = begin.x + lead & ~15u;
    Block plan;
    plan.unitsAt = sub64(add64(sOutput, mul64(origin, bf16 ? 2u : 1u)), uvec2(sOutput.x & 15u, 0u));
    plan.restAt =
        sub64(add64(sRest, bf16 ? origin : origin >> 1), uvec2(bf16 ? lead : lead >> 1, 0u));
    plan.begin = begin.x + lead - origin;
    plan.end = end.x + lead - origin;
    plan.first = begin.x;
    plan.status = !good                ? SLUICE_ST_BAD_INDEX
                  : end.x == sElements ? SLUICE_ST_OK
                                       : SLUICE_ST_PENDING;
    sPlan[block & 1u] = plan;
}

// By the whole workgroup: a block of a good unit. raw: the invocation's first window, after that of
// the next block, if there is one in the unit, which is planned too.
uint decodeBlock(uint block, inout RawWindow raw) {
    uint firstWindow = block * kWindows + wgInvocation() * kOwnWindows;

    // Codes in the lower half, windows that are bad in the upper one. After a bad one nothing
    // counts.
    uint own = 0u, status = SLUICE_ST_PENDING, counts[kOwnWindows], others[kOwnWindows];
    uvec4 held[kOwnWindows];
    for (uint i = 0u; i < kOwnWindows; i++) {
        if (i != 0u) raw = fetchWindow(firstWindow + i);
        Window window = openWindow(raw, firstWindow + i);
        counts[i] = others[i] = 0u;
        held[i] = uvec4(0u);
        if (status == SLUICE_ST_PENDING)
            status = decodeWindow(window, held[i], counts[i], others[i]);
        own += counts[i] & kCount;
    }
    raw = fetchWindow(min(firstWindow + kWindows, sBlocks * kWindows - 1u));
    uvec2 next = positionOf(min(block + 1u, sBlocks)),
          afterNext = positionOf(min(block + 2u, sBlocks));
    uint total, before = wgExclusiveAdd(own | (status != SLUICE_ST_PENDING ? 0x10000u : 0u), total);
    gTurn = block & 1u;
    if (wgInvocation() == 0u) sOtherCounts[gTurn ^ 1u] = 0u;
    uint planned = sPlan[gTurn].status;
    gBegin = sPlan[gTurn].begin;
    gEnd = sPlan[gTurn].end;
    bool isLast = planned == SLUICE_ST_OK; // nothing counts after the last element
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
        planBlock(block + 1u, next, afterNext);
    if (sgUniform(status == SLUICE_ST_OK)) {
        bool bf16 = sKind == kBf16;
        uvec2 unitsAt = sPlan[gTurn].unitsAt, restAt = sPlan[gTurn].restAt;
        gBase = sBase;
        for (gStaged = 0u; gStaged < gEnd; gStaged += kStage) {
            if (gStaged != 0u) wgBarrierShared(); // what was staged is out
            uvec2 rests[kFetched];
            fetchRests(bf16, restAt, rests);
            if (wgInvocation() == 0u && gStaged == 0u && (gBegin & 7u) != 0u)
                sStage[gBegin >> 3] = 0u; // no symbol is its first
            uint place = gBegin + (before & 0xffffu);
            for (uint i = 0u; i < kOwnWindows; i++) {
                stageOwn(held[i], counts[i] > kCount, counts[i] & kCount, place);
                if (others[i] != 0u && gStaged == 0u) {
                    uint at =
                        atomicAdd(sOtherCounts[gTurn], others[i] == kSeveral ? kOthers + 1u : 1u);
                    if (at < kOthers)
                        sOthers[at] =
                            place + (others[i] & 255u) - 1u & 0xffffu | others[i] >> 8 << 16;
                }
                place += counts[i] & kCount;
            }
            wgBarrierShared();
            place = gBegin + (before & 0xffffu);
            for (uint i = 0u; i < kOwnWindows; i++) {
                stageShared(held[i], counts[i] > kCount, counts[i] & kCount, place);
                if (counts[i] > kCount) stageWindow(firstWindow + i, counts[i] & kCount, place);
                place += counts[i] & kCount;
            }
            wgBarrierShared();
            if (isPlanner() && gStaged == 0u) planBlock(block + 1u, next, afterNext);
            if (bf16)
                copyOut(true, unitsAt, restAt, rests);
            else
                copyOut(false, unitsAt, restAt, rests);
        }
        if (sgUniform(sOtherCounts[gTurn] > kOthers)) {
            memoryBarrierBuffer();
            wgBarrierShared(); // their elements have been written without them
            uint place = gBegin + (before & 0xffffu);
            for (uint i = 0u; i < kOwnWindows; i++) {
                if (others[i] != 0u)
                    storeOthers(firstWindow + i, counts[i] & kCount, place,
                                sPlan[gTurn].first - gBegin);
                place += counts[i] & kCount;
            }
        }
    }
    return status;
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
    uint workgroup = wgIndex();
    uint begin = min(workgroup * p.blocksPerWorkgroup, p.maxBlockCount);
    uint stop = min(begin + p.blocksPerWorkgroup, p.maxBlockCount);
    uint count = p.maxUnitCount;
    if ((p.unitCount.x | p.unitCount.y) != 0u) count = min(count, WordsIn(p.unitCount).w[0]);
    uint unit = count, nextUnitAt = 0u; // the block from which on to look for another unit
    uint fetched = 0xffffffffu;         // the block whose windows are in raw
    RawWindow raw = RawWindow(uvec3(0u), uvec2(0u));
    for (uint block = begin; block < stop; block++) {
        if (block >= nextUnitAt) {
            uint found = unitOf(block, count);
            nextUnitAt = found == count ? block + 1u : 0xffffffffu;
            if (found + 1u < count) nextUnitAt = max(firstBlockOf(found + 1u), block + 1u);
            if (found != count && found != unit) {
                wgBarrierShared(); // the unit and the table before have been used
                if (wgInvocation() == 0u) {
                    loadUnit(found);
                    sBase = sOtherCounts[0] = sOtherCounts[1] = 0u;
                }
                wgBarrierShared();
                if (sgUniform(sGood)) buildTable();
            }
            fetched = found == unit ? fetched : 0xffffffffu;
            unit = found;
        }
        if (unit != count && block - sFirstBlock < sBlocks) {
            uint own = block - sFirstBlock, status = SLUICE_ST_BAD_REGION;
            if (sGood) {
                if (fetched != block) {
                    raw = fetchWindow(own * kWindows + wgInvocation() * kOwnWindows);
                    if (isPlanner()) planBlock(own, positionOf(own), positionOf(own + 1u));
                }
                status = decodeBlock(own, raw);
                fetched = own + 1u < sBlocks ? block + 1u : 0xffffffffu;
            }
            if (wgInvocation() == 0u) writeStatus(p.status, p.maxBlockCount, block, status);
        }
    }
}
