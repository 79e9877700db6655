// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the sequences of a Gstd part, 32 at a time, one per lane. A sequence is a number of
// literals and a match.
#ifndef SLUICE_GSTD_SEQUENCES_GLSL
#define SLUICE_GSTD_SEQUENCES_GLSL

#include "loops.glsl"
#include "formulas/gstd.h"
#include "gstd_tables.glsl"
#include "units.glsl"

// A sequence may repeat one of the last three offsets, which form a list, the latest first. 32
// lanes decode 32 sequences at once, so a lane does not know yet what the lanes below it have put
// into the list. Instead, it finds the *origin* of its offset. This is the number of a lane below
// that has the offset, or 32, 33 or 34 for the first, second or third offset that the list had
// before these 32 sequences.
uint highest(uint lanes) { return uint(findMSB(lanes)); } // ~0 if `lanes` is 0
// Returns the origin of the list's first offset, after the lanes of the mask `changes` have changed
// the list.
uint latest(uint changes) { return min(highest(changes), 32u); }
// Returns the origin of the list's second offset after these changes.
uint second(uint changes) {
    uint others = changes & ~(1u << (latest(changes) & 31u));
    return min(highest(others), changes != 0u ? 32u : 33u);
}
// Returns the origin of the list's third offset after the lanes of the mask `changes` have changed
// the list. Those in the mask `swaps` have only exchanged its first two offsets.
uint third(uint changes, uint swaps) {
    uint others = changes & ~swaps;
    return mix(34u, second(changes & ((1u << (highest(others) & 31u)) - 1u)), others != 0u);
}

// Returns the offset that has the origin `origin`. If that is a lane, `value` must be the lane's
// offset. Otherwise the offset is one of `repeats`, the list before these 32 sequences.
uint offsetOf(uint origin, uint value, uvec3 repeats) {
    return mix(mix(repeats.z, mix(repeats.y, repeats.x, origin == 32u), origin < 34u), value,
               origin < 32u);
}

// If `origin` is a lane, returns the origin of that lane, since it may have its offset from a third
// lane. Otherwise returns `origin`.
uint jump(uint origin) {
    lgShare(origin);
    uint next = lgShared(origin & 31u);
    return mix(next, origin, origin >= 32u);
}
// Follows the chain of origins from this lane to its end: a lane that is its own origin, or an
// origin of 32 and above. Each jump doubles the distance, so five jumps are enough for 32 lanes.
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

// Decodes `count` sequences and writes a record of two words for each (layout/gstd.h) to the tile's
// scratch, from record `firstRecord` on. literalSum and matchSum receive the sums of the sequences'
// literal counts and match lengths.
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

        // Finds the origin of each offset. A sequence that repeats the list's first offset does not
        // change the list. After any other sequence, its offset is the first of the list, and the
        // previous first one is the second. The third one is then the previous second one, unless
        // the sequence has only exchanged the first two.
        //
        // If a sequence repeats an offset, `used` is the index of that offset in the list. It is
        // the symbol or, in a sequence without literals, (symbol + 1) % 3 (docs/format.md, 7.5).
        uint used = symbol + uint(literals == 0u);
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

        // One scan computes the prefix sums of literal counts and of match lengths, in the two
        // halves of a word. If a half could overflow, there is a scan for each.
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
    // One more record, after that of the last sequence, says where that sequence ends.
    if (on && lgLane() == 0u) {
        PairsOut(gSlot).v[SLUICE_GS_SEQUENCES_AT / 2u + firstRecord + count] =
            uvec2((literalSum + matchSum) & 0xffffu | literalSum << 16, 0u);
    }
}

#endif // SLUICE_GSTD_SEQUENCES_GLSL
