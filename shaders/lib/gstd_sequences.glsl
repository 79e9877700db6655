// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the sequences of a Gstd part, 32 at a time, one per lane.
#ifndef SLUICE_GSTD_SEQUENCES_GLSL
#define SLUICE_GSTD_SEQUENCES_GLSL

#include "loops.glsl"
#include "formulas/gstd.h"
#include "gstd_tables.glsl"
#include "units.glsl"

// These return the origins of the last three offsets. `changes` is the mask of the lanes that
// changed the list of these offsets. An origin is either a lane, or 32 + an index in the list as it
// was before all lanes.
uint highest(uint lanes) { return uint(findMSB(lanes)); } // ~0 if there is none
uint latest(uint changes) { return min(highest(changes), 32u); }
uint second(uint changes) {
    uint others = changes & ~(1u << (latest(changes) & 31u));
    return min(highest(others), changes != 0u ? 32u : 33u);
}
uint third(uint changes, uint swaps) {
    uint others = changes & ~swaps;
    return mix(34u, second(changes & ((1u << (highest(others) & 31u)) - 1u)), others != 0u);
}

// Returns the offset of an origin. `value` is the offset of the origin's lane, if the origin is a
// lane.
uint offsetOf(uint origin, uint value, uvec3 repeats) {
    return mix(mix(repeats.z, mix(repeats.y, repeats.x, origin == 32u), origin < 34u), value,
               origin < 32u);
}

// Follows a chain of origins to its end, which is a lane that is its own origin, or an origin of 32
// or more. Five steps of pointer jumping are enough for 32 lanes.
uint jump(uint origin) {
    lgShare(origin);
    uint next = lgShared(origin & 31u);
    return mix(next, origin, origin >= 32u);
}
uint followed(uint origin) {
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
    SLUICE_DONT_UNROLL
    for (uint i = 0u; i < 5u; ++i)
        origin = jump(origin);
    return origin;
#else
    return jump(jump(jump(jump(jump(origin)))));
#endif
}

// Decodes `count` sequences to consecutive records, starting at `firstRecord`. Returns the sums of
// their lengths.
void decodeSequences(bool on, uint count, uint firstRecord, out uint literalSum,
                     out uint matchSum) {
    uvec3 repeats = uvec3(SLUICE_GS_FIRST_REPEATS, SLUICE_GS_FIRST_REPEATS >> 8,
                          SLUICE_GS_FIRST_REPEATS >> 16) &
                    255u;
    uint log = on ? gSequenceLog : 0u;
    literalSum = matchSum = 0u;
    for (uint first = 0u; wgAny(on && first < count); first += 32u) {
        bool here = on && first + lgLane() < count;
        uint ahead = wordsAhead();
        uint symbol = ransSymbol(here, kSequenceMarks * kOffsets, kOffsetEntries, log),
             place = symbol - SLUICE_GS_REPEATS;
        bool fresh = here && symbol >= SLUICE_GS_REPEATS;
        uint bits = gstdOffsetBits(place) & 31u;
        uint offset = ransBits(fresh, bits);
        offset = (offset + gstdOffsetBase(place, bits) - 1u) * gModulus;
        if (wgAny(on && gModulus > 1u)) {
            uint remainder = ransSymbol(fresh && gModulus > 1u, kSequenceMarks * kRemainders,
                                        kRemainderEntries, log);
            offset += gModulus > 1u ? remainder : 0u;
        }
        wordsMove(ahead);
        ahead = wordsAhead();
        uint literalSymbol =
            ransSymbol(here, kSequenceMarks * kLiteralLengths, kLengthEntries, log);
        uint matchSymbol = ransSymbol(here, kSequenceMarks * kMatchLengths, kMatchEntries, log);
        uint literalBits = gstdExtraBits(literalSymbol, SLUICE_GS_LITERAL_DIRECT_LOG),
             matchBits = gstdExtraBits(matchSymbol, SLUICE_GS_MATCH_DIRECT_LOG);
        uint literals = gstdBase(literalSymbol, SLUICE_GS_LITERAL_DIRECT_LOG, literalBits),
             matchLength = gstdBase(matchSymbol, SLUICE_GS_MATCH_DIRECT_LOG, matchBits);
        literals += ransBits(here, literalBits);
        matchLength += ransBits(here, matchBits) + SLUICE_GS_MIN_MATCH;
        literals = here ? literals : 0u;
        matchLength = here ? matchLength : 0u;

        wordsMove(ahead);

        // This finds the origin of the offset. A sequence that repeats the latest offset does not
        // change the list of the last three. Among the other sequences, the latest one determines
        // the first offset of the list, and the one before it determines the second. The third
        // offset is what the second one was before the latest sequence that did more than swap the
        // first two.
        uint used = symbol + uint(literals == 0u); // index of a repeated offset, 0 .. 3; 3 means 0
        used = mix(used, 0u, used == SLUICE_GS_REPEATS);
        bool old = here && !fresh;
        uvec3 masks = lgBallot3(fresh, fresh || (old && used != 0u), old && used == 1u);
        uint below = masks.y & lgLanesBelow(), origin = latest(below);
        origin = mix(origin, second(below), used == 1u);
        origin = mix(origin, third(below, masks.z), used == 2u);
        origin = mix(lgLane(), origin, old);
        if (wgAnyLane(origin < 32u && origin != lgLane() && (masks.x >> (origin & 31u) & 1u) == 0u))
            origin = followed(origin);
        lgShare(offset);
        uint actual = lgShared(origin & 31u);
        actual = offsetOf(origin, actual, repeats);
        lgShare(actual);
        uvec3 places = uvec3(latest(masks.y), second(masks.y), third(masks.y, masks.z));
        uvec3 next =
            uvec3(lgShared(places.x & 31u), lgShared(places.y & 31u), lgShared(places.z & 31u));
        repeats = uvec3(offsetOf(places.x, next.x, repeats), offsetOf(places.y, next.y, repeats),
                        offsetOf(places.z, next.z, repeats));

        // One scan computes both sums in the halves of a word, unless they could overflow.
        uint literalsBefore, literalTotal, lengthBefore, lengthTotal, before, total;
        lgScan(literals + (matchLength << 16), before, total);
        literalsBefore = before & 0xffffu;
        literalTotal = total & 0xffffu;
        lengthBefore = before >> 16;
        lengthTotal = total >> 16;
        if (wgAnyLane(literals + matchLength >= 2048u)) {
            lgScan(literals, literalsBefore, literalTotal);
            lgScan(matchLength, lengthBefore, lengthTotal);
        }
        if (here) {
            uint begin = literalSum + literalsBefore + matchSum + lengthBefore;
            PairsOut(gSlot).v[SLUICE_GS_SEQUENCES_AT / 2u + firstRecord + first + lgLane()] =
                uvec2(begin & 0xffffu | (literalSum + literalsBefore) << 16, actual);
        }
        literalSum += literalTotal;
        matchSum += lengthTotal;
    }
    if (on && lgLane() == 0u) {
        PairsOut(gSlot).v[SLUICE_GS_SEQUENCES_AT / 2u + firstRecord + count] =
            uvec2((literalSum + matchSum) & 0xffffu | literalSum << 16, 0u);
    }
}

#endif // SLUICE_GSTD_SEQUENCES_GLSL
