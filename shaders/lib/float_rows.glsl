// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the rows of a tile of the float codec (docs/format.md, 6.3). A row is 256 symbols, 8 per
// lane. A lane makes four *look-ups* in a row, each of which gives one or two symbols; symbols that
// are missing then follow one by one. A row's result is four words with two symbols each, at the
// bits that they have in elements (float_tensor.glsl). The last two rows are the *tail*, in which
// lanes take only the bits that their codes need.
#ifndef SLUICE_FLOAT_ROWS_GLSL
#define SLUICE_FLOAT_ROWS_GLSL

#include "loops.glsl"
#include "float_stream.glsl"
#include "float_table.glsl"

// Joins the first symbols of two entries of the table, `first` and `second`, to a word of a row.
uint floatPairOf(uint type, uint first, uint second) {
    return type <= kFloatF32 ? (first & 0xffffu) | second << 16
                             : (first & 0xffffffu) | (second & 0xff0000u) << 8;
}

// Returns the length in bits of the code of an entry's first symbol.
uint floatFirstLength(uint type, uint entry) { return entry >> floatLengthShift(type) & 15u; }

// Returns a bit for each of the row's four words, set if the word has one symbol instead of two.
uint floatMissing(uvec4 row) {
    uvec4 bits = row & kFloatShort;
    return bits.x >> 6 | bits.y >> 5 | bits.z >> 4 | bits.w >> 3;
}

// Appends the first symbol of `entry` to the row. The symbols after the last gap move forward by
// one place to close the gap, and the new one follows them. A gap is the place of the second symbol
// in a word that has only one. `missing` is what floatMissing has returned, and is not 0; its
// highest bit, which stands for this gap, is cleared.
uvec4 floatInsert(uint type, uvec4 row, uint entry, inout uint missing) {
    uint last = uint(findMSB(missing)), up = type <= kFloatF32 ? 16u : 8u;
    missing &= ~(1u << last);
    uvec4 result;
    result.x = last == 0u ? floatPairOf(type, row.x, row.y) : row.x;
    result.y = last <= 1u ? floatPairOf(type, row.y >> (last < 1u ? up : 0u), row.z) : row.y;
    result.z = last <= 2u ? floatPairOf(type, row.z >> (last < 2u ? up : 0u), row.w) : row.z;
    result.w = floatPairOf(type, row.w >> (last < 3u ? up : 0u), entry);
    return result;
}

// Decodes one symbol in each lane whose row still misses symbols.
void floatSingle(uint type, inout uvec4 row, inout uint missing) {
    bool some = true;
    // Takes no words if only another lane group in lockstep misses symbols.
    if (kLockstep) some = lgBallot(missing != 0u) != 0u;
    floatTake(some);
    uint entry = floatEntry(floatNext());
    if (missing != 0u) {
        gFloatUsed += floatFirstLength(type, entry);
        row = floatInsert(type, row, entry, missing);
    }
}

// Decodes the symbols that the look-ups of a row have not found, in up to four steps of one symbol
// per lane. The lanes take at most 64 words in two steps, so the ring must move after every second
// step (float_stream.glsl). `ahead` and `aheadOf` are the arguments of floatMove.
uvec4 floatSingles(uint type, bool on, uvec4 row, uvec2 ahead, uint aheadOf) {
    uint missing = on ? floatMissing(row) : 0u;
// In the narrow and emulated forms the steps are a loop, because written out they take too long to
// compile.
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
    SLUICE_DONT_UNROLL
    for (uint turn = 0u; turn < kFloatLookUps; ++turn) {
        if (!wgAnyLane(missing != 0u)) break;
        floatSingle(type, row, missing);
    }
#else
    // Here the steps are no loop. A loop inside the loop over rows would make NVIDIA's compiler
    // (driver 580) use four more registers.
    floatMove(ahead, aheadOf);
    if (wgAnyLane(missing != 0u)) {
        floatSingle(type, row, missing);
        if (wgAnyLane(missing != 0u)) {
            floatSingle(type, row, missing);
            floatMove(ahead, aheadOf);
            if (wgAnyLane(missing != 0u)) {
                floatSingle(type, row, missing);
                if (wgAnyLane(missing != 0u)) floatSingle(type, row, missing);
            }
        }
    }
#endif
    return row;
}

// Decodes a row that is not in the tail. Returns the symbols, two in each word. A lane group that
// is not `on` takes part only because it is in lockstep with one that is. The look-ups are no loop,
// because NVIDIA's compiler (driver 580) does not unroll loops with subgroup operations after
// branches, and arrays that are indexed in such loops go to memory.
uvec4 floatWholeRow(uint type, bool on) {
    on = on || !kLockstep;
    uvec2 ahead = floatAhead();
    uint aheadOf = gFloatAheadAt;
    uvec4 row;
// In the narrow and emulated forms the steps are a loop, because written out they take too long to
// compile.
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
    SLUICE_DONT_UNROLL
    for (uint i = 0u; i < kFloatLookUps; i += 2u) {
        floatTake(on);
        uint bits = floatNext(), first = floatEntry(bits),
             second = floatEntry(bits << (first & 31u));
        row[i] = first;
        row[i + 1u] = second;
        gFloatUsed += on ? first + second : 0u;
    }
#else
    floatTake(on);
    uint bits = floatNext();
    row.x = floatEntry(bits);
    row.y = floatEntry(bits << (row.x & 31u));
    gFloatUsed += on ? row.x + row.y : 0u;
    floatTake(on);
    bits = floatNext();
    row.z = floatEntry(bits);
    row.w = floatEntry(bits << (row.z & 31u));
    gFloatUsed += on ? row.z + row.w : 0u;
#endif
    if (wgAnyLane(on && ((row.x | row.y | row.z | row.w) & kFloatShort) != 0u))
        row = floatSingles(type, on, row, ahead, aheadOf);
    floatMove(ahead, aheadOf);
    return row;
}

// In the tail, gFloatTail has the lane's remaining bits, the next one highest, followed by zeros.
// gFloatTailBits is the number of these bits.
uvec2 gFloatTail;
uint gFloatTailBits;

// Begins the tail, the tile's last rows. `whole` is true if other rows came before it, so that the
// lanes have bits left.
void floatTailBegin(bool whole) {
    // True if the first of the lane's two words has been used up.
    bool turned = ((gFloatUsed ^ gFloatAsked) & 32u) != 0u;
    uint at = gFloatUsed & 31u, first = turned ? gFloatSecond : gFloatFirst,
         second = turned ? 0u : gFloatSecond;
    gFloatTail = uvec2(floatFunnel(first, second, at), second << at);
    gFloatTailBits = whole ? (turned ? 32u : 64u) - at : 0u;
}

// Returns the table's entry for the lane's next bits and removes their codes: one code if `single`
// is set, otherwise all codes of the entry. A lane that has too few bits first takes 16 more from
// the list. Lanes that are not `on` keep their bits.
uint floatTailEntry(uint type, bool on, bool single) {
    uint entry = floatEntry(gFloatTail.x);
    uint needed = single                        ? floatFirstLength(type, entry)
                  : (entry & kFloatShort) != 0u ? kFloatMaxBits
                                                : entry & 15u;
    bool takes = on && gFloatTailBits < needed;
    uint takers = lgBallot(takes),
         at = 2u * gFloatNext + gFloatHalf + uint(bitCount(takers * gFloatBelow));
    uint word = floatWord(at >> 1) >> (at & 1u) * 16u & 0xffffu;
    gFloatTail.x |=
        // A lane that takes bits has fewer than 12, so the shift is positive.
        takes ? word << ((16u - gFloatTailBits) & 31u) : 0u;
    gFloatTailBits += takes ? 16u : 0u;
    uint taken = gFloatHalf + uint(bitCount(takers));
    gFloatNext += taken >> 1;
    gFloatHalf = taken & 1u;
    entry = floatEntry(gFloatTail.x);
    uint bits = !on ? 0u : single ? floatFirstLength(type, entry) : entry & 15u;
    gFloatTail = uvec2(floatFunnel(gFloatTail.x, gFloatTail.y, bits), gFloatTail.y << bits);
    gFloatTailBits -= bits;
    return entry;
}

// Decodes a row of the tail. Returns the symbols, two in each word, as floatWholeRow does.
uvec4 floatTailRow(uint type, bool on) {
    on = on || !kLockstep;
    uvec2 ahead = floatAhead();
    uint aheadOf = gFloatAheadAt;
    uvec4 row = uvec4(0u);
    SLUICE_DONT_UNROLL
    for (uint i = 0u; i < kFloatLookUps; ++i)
        row = uvec4(row.yzw, floatTailEntry(type, on, false));
    floatMove(ahead, aheadOf);
    uint missing = on ? floatMissing(row) : 0u;
    SLUICE_DONT_UNROLL
    for (uint turn = 0u; turn < kFloatLookUps; ++turn) {
        if (!wgAnyLane(missing != 0u)) break;
        uint entry = floatTailEntry(type, missing != 0u, true);
        if (missing != 0u) row = floatInsert(type, row, entry, missing);
        floatMove(ahead, aheadOf);
    }
    return row;
}

#endif // SLUICE_FLOAT_ROWS_GLSL
