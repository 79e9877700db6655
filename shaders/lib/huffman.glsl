// SPDX-License-Identifier: MIT OR Apache-2.0
// Canonical Huffman codes for a lane group: sorting the symbols, checking the code, filling the look-up table, and the
// canonical search for codes that are longer than the table's index.
//
// A code's places in shared memory (per lane group):
//   lengths  sLut[lengths + symbol], one word each, while the code is being built; the table may overwrite them
//   table    sLut[table ..], 2^bits entries of 16 bits, two a word: code length in bits 0 .. 3 (0: longer than `bits`, use
//            huffmanSearch), symbol in bits 4 .. 12
//   sorted   sSorted[sorted + rank], symbols in canonical order
//   info     sInfo[info + l] = end of the codes of length <= l, left-aligned to 15 bits;
//            sInfo[info + 16 + l] = rank of the first code of length l, minus that code
// The rank of a symbol among those of its length is a population count of the lanes below that hold the same length.
#ifndef SLUICE_HUFFMAN_GLSL
#define SLUICE_HUFFMAN_GLSL

const uint kLutWords = 640u;
const uint kSortedWords = 320u;
const uint kInfoWords = 64u;

shared uint sLut[kGroupsPerWorkgroup * kLutWords];
shared uint sSorted[kGroupsPerWorkgroup * kSortedWords];
shared uint sInfo[kGroupsPerWorkgroup * kInfoWords];
shared uint sLane[kGroupsPerWorkgroup * 32u]; // one word a lane, for whoever needs it between two barriers

uint gLut, gSorted, gInfo, gLane; // where this lane group's parts begin

void huffmanBegin() {
    gLut = lgIndex() * kLutWords;
    gSorted = lgIndex() * kSortedWords;
    gInfo = lgIndex() * kInfoWords;
    gLane = lgIndex() * 32u;
}

// Sorts n symbols (at most chunks * 32) by code length. Returns false for a code that is neither complete, nor a single
// symbol of length 1, nor empty (the rule of libdeflate 1.8; the last two decode to one symbol whatever the bit).
// Barriers: lengths must be visible; sorted and info are visible afterwards.
bool huffmanSort(bool enabled, uint lengths, uint n, uint chunks, uint sorted, uint info) {
    uint lane = lgLane();
    lgBarrierShared();
    sLane[gLane + lane] = 0u;
    lgBarrierShared();
    for (uint chunk = 0u; chunk < chunks; ++chunk) {
        uint symbol = chunk * 32u + lane;
        uint len = enabled && symbol < n ? sLut[gLut + lengths + symbol] : 0u;
        if (len != 0u)
            atomicAdd(sLane[gLane + len], 1u);
    }
    lgBarrierShared();

    // Every lane walks the 15 lengths; lane l keeps what belongs to length l.
    uint ones = sLane[gLane + 1u];
    uint code = 0u, rank = 0u, myEnd = 0u, myDelta = 0u, myRank = 0u;
    [[unroll]] for (uint l = 1u; l < 16u; ++l) {
        uint count = sLane[gLane + l];
        if (lane == l) {
            myRank = rank;
            myDelta = rank - (code >> (15u - l));
        }
        code += count << (15u - l);
        rank += count;
        if (lane == l)
            myEnd = code;
    }
    bool single = rank == 0u || (rank == 1u && ones == 1u);
    if (single) {
        myEnd = 0x8000u;
        myDelta = 0u;
    }
    lgBarrierShared();
    if (enabled && lane < 16u) {
        sInfo[gInfo + info + lane] = myEnd;
        sInfo[gInfo + info + 16u + lane] = myDelta;
    }
    sLane[gLane + lane] = myRank;
    if (enabled && single && lane < 2u)
        sSorted[gSorted + sorted + lane] = 0u;
    lgBarrierShared();

    for (uint chunk = 0u; chunk < chunks; ++chunk) {
        uint symbol = chunk * 32u + lane;
        uint len = enabled && symbol < n ? sLut[gLut + lengths + symbol] : 0u;
        uvec3 low = lgBallot3((len & 1u) != 0u, (len & 2u) != 0u, (len & 4u) != 0u);
        uint high = lgBallot((len & 8u) != 0u);
        uint same = ((len & 1u) != 0u ? low.x : ~low.x) & ((len & 2u) != 0u ? low.y : ~low.y) &
                    ((len & 4u) != 0u ? low.z : ~low.z) & ((len & 8u) != 0u ? high : ~high);
        uint below = uint(bitCount(same & lgLanesBelow()));
        uint next = sLane[gLane + len];
        lgBarrierShared();
        if (len != 0u) {
            // An over-subscribed code has at most n symbols too: the rank stays below the alphabet's size.
            sSorted[gSorted + sorted + next + below] = symbol;
            if (single)
                sSorted[gSorted + sorted + 1u] = symbol;
            if ((same >> lane) == 1u)
                sLane[gLane + len] = next + below + 1u;
        }
        lgBarrierShared();
    }
    return single || code == 0x8000u;
}

// The length of the code at the left of the 15 bits c, given that it is longer than `from` bits; and its symbol.
uint huffmanSymbol(uint c, uint len, uint sorted, uint info) {
    uint rank = (c >> (15u - len)) + sInfo[gInfo + info + 16u + len];
    return sSorted[gSorted + min(sorted + rank, kSortedWords - 1u)];
}

// Fills 2^bits entries (two a word) of the table; `rounds` * 32 words.
void huffmanFill(bool enabled, uint table, uint bits, uint rounds, uint sorted, uint info) {
    uint ends[10];
    [[unroll]] for (uint l = 0u; l < 10u; ++l)
        ends[l] = l < bits ? sInfo[gInfo + info + 1u + l] : 0x8000u;
    for (uint round = 0u; round < rounds; ++round) {
        uint index = (round * 32u + lgLane()) * 2u;
        uint packed = 0u;
        [[unroll]] for (uint half_ = 0u; half_ < 2u; ++half_) {
            uint c = bitfieldReverse(index + half_) >> 17;
            uint len = 1u;
            [[unroll]] for (uint l = 0u; l < 10u; ++l)
                len += c >= ends[l] ? 1u : 0u;
            if (len <= bits)
                packed |= (len | (huffmanSymbol(c, len, sorted, info) << 4)) << (16u * half_);
        }
        if (enabled)
            sLut[gLut + table + round * 32u + lgLane()] = packed;
    }
    lgBarrierShared();
}

// Entry for the next bits; entry 0 means a code longer than the table's index.
uint huffmanLookup(uint table, uint index) {
    uint word = sLut[gLut + table + (index >> 1)];
    return (word >> ((index & 1u) * 16u)) & 0xffffu;
}

// The same for long codes, by canonical search: lengths 9 .. 15.
uint huffmanSearch(uint bitsAhead, uint sorted, uint info) {
    uint c = bitfieldReverse(bitsAhead) >> 17;
    uint len = 9u;
    [[unroll]] for (uint l = 9u; l < 15u; ++l)
        len += c >= sInfo[gInfo + info + l] ? 1u : 0u;
    return len | (huffmanSymbol(c, len, sorted, info) << 4);
}

#endif // SLUICE_HUFFMAN_GLSL
