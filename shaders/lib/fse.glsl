// SPDX-License-Identifier: MIT OR Apache-2.0
// FSE tables as Zstandard describes and builds them (RFC 8878, 4.1), by a lane group.
//
// A description is a serial thing: how many bits a count has depends on those before. One lane
// reads it, and others read others meanwhile. A table is built by the whole group, without a serial
// step:
//   Walking through the table by a step that is odd gives place s * step to whoever is s-th: place
//   p is reached at step p / step, a multiplication by the inverse. Places that are passed over
//   because they belong to symbols that occur less than once are marked by their steps, and those
//   before are counted. Whose turn it was then is what a table of slots says. States of a symbol
//   are numbered in the order of their places: how many places of the same symbol come before, by
//   ballots within 32 places and a count per symbol across them.
//
// A shader that includes this file sets GL_GOOGLE_include_directive and defines kSlotWords >= 128
// and kSlotSymbols >= 256 (slots.glsl). It brings layout.h, memory.glsl and lanes.glsl, which says
// what forms a lane group has, what variants of the shader there are and which specialization
// constants. Between fseRead and fseRow stands lgBarrierAll().
#ifndef SLUICE_FSE_GLSL
#define SLUICE_FSE_GLSL

#include "layout.h"
#include "lanes.glsl"
#include "memory.glsl"
#include "slots.glsl"

// -----------------------------------------------------------------------------------------------
// Descriptions

struct FseDescription {
    uint status; // SLUICE_ST_OK, BAD_CODE, TRUNCATED, TOO_LONG (more states than wanted) or
                 // INTERNAL
    uint log, entries, lastSymbol, bytes;
};

// Symbols that occur, in ascending order: symbol, count << 8, and bit 31 where it is less than one
// (the count is 1 then).
uint fseEntry(uint symbol, uint count, bool low) { return symbol | count << 8 | uint(low) << 31; }

// 32 bits from bit `at` of a list of words on.
uint fseBits(uvec2 words, uint count, uint at) {
    uint low = loadWord(words, at >> 5, count), high = loadWord(words, (at >> 5) + 1u, count);
    return low >> (at & 31u) | high << 1u << (31u - (at & 31u));
}

const uint kFseLongest = 1024u; // bytes; no description is that long
const uint kFseSteps = 640u;    // values and repeats of one: 256 symbols, each with a repeat, and
                                // 85 repeats of three

// One lane reads a description of at most `size` bytes at any address, and writes its symbols to
// `entries`: one for each of the states at most. maxStates: how many states are wanted at most.
FseDescription fseRead(uvec2 address, uint size, uint maxSymbols, uint maxLog, uint maxStates,
                       uvec2 entries) {
    uvec2 words = uvec2(address.x & ~3u, address.y);
    uint at = (address.x & 3u) * 8u, begin = at, end = at + min(size, kFseLongest) * 8u,
         count = end + 31u >> 5;
    FseDescription d;
    d.log = (fseBits(words, count, at) & 15u) + SLUICE_FSE_LOG_MIN;
    d.status = d.log > maxLog            ? SLUICE_ST_BAD_CODE
               : 1u << d.log > maxStates ? SLUICE_ST_TOO_LONG
                                         : SLUICE_ST_OK;
    d.entries = 0u;
    at += 4u;
    uint symbol = 0u, left = 1u << min(d.log, SLUICE_FSE_LOG_MAX); // what has not been given away
    bool zeros = false;
    [[dont_unroll]] for (uint i = 0u; i < kFseSteps && d.status == SLUICE_ST_OK && left != 0u;
                         ++i) {
        uint bits = fseBits(words, count, at);
        bool tooMany = !zeros && symbol >= maxSymbols;
        if (zeros) { // how many more symbols do not occur
            uint repeat = bits & 3u;
            at += 2u;
            symbol += repeat;
            zeros = repeat == 3u;
        } else {
            // A value up to left + 1; the lowest ones are a bit shorter.
            uint n = uint(findMSB(left + 1u)), short_ = (2u << n) - 2u - left,
                 low = bits & (1u << n) - 1u;
            bool longer = low >= short_;
            uint value = longer ? bits & (2u << n) - 1u : low;
            value -= longer && value >> n != 0u ? short_ : 0u;
            at += longer ? n + 1u : n;
            zeros = value == 1u;
            uint slots = value == 0u ? 1u : value - 1u;
            if (!tooMany && !zeros && at <= end) {
                WordsOut(entries).w[d.entries] = fseEntry(symbol, slots, value == 0u);
                ++d.entries;
                d.lastSymbol = symbol;
            }
            left -= slots;
            ++symbol;
        }
        d.status = tooMany               ? SLUICE_ST_BAD_CODE
                   : at > end            ? SLUICE_ST_TRUNCATED
                   : symbol > maxSymbols ? SLUICE_ST_BAD_CODE
                                         : SLUICE_ST_OK;
    }
    if (d.status == SLUICE_ST_OK && left != 0u) d.status = SLUICE_ST_INTERNAL;
    d.bytes = at - begin + 7u >> 3;
    return d;
}

// -----------------------------------------------------------------------------------------------
// Tables: fseTable, then fseRow for 32 symbols at a time, in order, then fseStates. All lanes of
// the group. The counts have been checked: those of `on` groups add up to 2^log, 5 .. 9.

// Steps at which the walk meets a place that is passed over, a bit each; how many there are before
// each word.
shared uint sFseSkipped[kGroupsPerWorkgroup * 16u];
shared uint sFseSkippedBefore[kGroupsPerWorkgroup * 16u];
uint gFseLow;     // symbols so far that occur less than once
bool gFseZeroLow; // symbol 0 is one of them

uint fseInverse(uint log) { // of the step, modulo 2^log
    // right in 3 bits; each turn doubles them
    uint step_ = (1u << log >> 1) + (1u << log >> 3) + 3u, inverse = step_;
    inverse *= 2u - step_ * inverse;
    return inverse * (2u - step_ * inverse);
}

void fseTable(bool on, uint log) {
    slotsTable(on, log);
    gFseLow = 0u;
    gFseZeroLow = false;
    if (lgLane() < 16u) sFseSkipped[lgIndex() * 16u + lgLane()] = 0u;
    lgBarrierShared();
}

// The lanes with `on` have a symbol and its count; `low`: less than once. Symbols ascend.
void fseRow(bool on, uint log, uint symbol, uint count, bool low) {
    low = low && on;
    uvec3 votes = lgBallot3(low, low && symbol == 0u, false);
    slotsRow(on, log, symbol, low ? 0u : count);
    // they have the last places
    uint place = (1u << log) - 1u - gFseLow - uint(bitCount(votes.x & lgLanesBelow()));
    if (low && place < 1u << log) {
        uint step_ = place * fseInverse(log) & (1u << log) - 1u;
        atomicOr(sSlots[slotsAt(place >> 2)], symbol << (place & 3u) * 8u);
        atomicOr(sFseSkipped[lgIndex() * 16u + (step_ >> 5)], 1u << (step_ & 31u));
        sSymbols[symbolsAt(symbol)] = 1u;
    }
    gFseLow += uint(bitCount(votes.x));
    gFseZeroLow = gFseZeroLow || votes.y != 0u;
}

// The lanes whose symbol is the same, of symbols below 2^bits; bits is the same for all.
uint fseSame(uint symbol, uint bits) {
    uint same = 0xffffffffu;
    [[dont_unroll]] for (uint b = 0u; b < bits; b += 3u) {
        uvec3 one = uvec3(symbol) >> uvec3(b, b + 1u, b + 2u) & 1u;
        // lanes that agree with this one
        uvec3 votes = lgBallot3(one.x != 0u, one.y != 0u, one.z != 0u) ^ (one - 1u);
        same &= votes.x & votes.y & votes.z;
    }
    return same;
}

// Writes the 2^log states: base, symbol << 16, bits << 24.
void fseStates(bool on, uint log, uint symbolBits, uvec2 states) {
    slotsFill(on, log); // for each step of the walk whose turn it is; behind, the symbols that
                        // occur less than once
    uint lane = lgLane(), words = lgIndex() * 16u, before, sum;
    lgScan(lane < 16u ? uint(bitCount(sFseSkipped[words + (lane & 15u)])) : 0u, before, sum);
    if (lane < 16u) sFseSkippedBefore[words + lane] = before;
    lgBarrierShared();
    uint size = 1u << log, end = size - gFseLow, inverse = fseInverse(log);
    [[dont_unroll]] for (uint row = 0u; wgAny(on && row < size); row += 32u) {
        uint place = row + lane, step_ = place * inverse & size - 1u, word = words + (step_ >> 5);
        uint turn = step_ - sFseSkippedBefore[word] -
                    uint(bitCount(sFseSkipped[word] & (1u << (step_ & 31u)) - 1u));
        uint at = mix(turn, place, place >= end);
        uint symbol = sSlots[slotsAt(at >> 2 & 127u)] >> (at & 3u) * 8u & 255u;
        // its mark in the table is that of no symbol
        symbol = mix(symbol, 0u, gFseZeroLow && place == size - 1u);
        uint same = fseSame(symbol, symbolBits), next = sSymbols[symbolsAt(symbol)] & 0xffffu;
        bool here = on && row < size;
        lgBarrierShared();
        if (here && same >> lane == 1u) sSymbols[symbolsAt(symbol)] = next + uint(bitCount(same));
        lgBarrierShared();
        uint state = next + uint(bitCount(same & lgLanesBelow())),
             bits = log - uint(findMSB(max(state, 1u)));
        if (here)
            WordsOut(states).w[place] =
                (state << bits) - size & 0xffffu | symbol << 16 | bits << 24;
    }
}

#endif // SLUICE_FSE_GLSL
