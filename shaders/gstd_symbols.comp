// SPDX-License-Identifier: MIT OR Apache-2.0
// The symbol stage of Gstd (docs/format.md, section 7): decodes the literals and sequences of
// tiles. SLUICE_GS_LANE_GROUPS lane groups work on a tile, as many as it may have parts. Each
// decodes one part.
//
// The literals of a part are written to the end of the part's output, where gstd_expand.comp, the
// byte stage, reads them before it overwrites them. The sequences are written to the tile's slot of
// scratch (lib/layout/gstd.h).
//
// All lane groups of a workgroup go through the same code together. A lane group with nothing to do
// passes `on` = false, which turns off its stores. src/cuda/gstd_symbols.cu decodes with one warp
// per part, which can branch instead.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/loops.glsl"
#include "lib/layout/gstd.h"

layout(push_constant, std430) uniform Push { GstdParams p; };

#include "lib/gstd_literals.glsl"
#include "lib/gstd_sequences.glsl"

// Decodes a coded part whose header has been checked, and returns its status. `first` is the 16-bit
// word of the source at which the part begins. The part's output is bytes [begin, begin + size) of
// the tile. A part may use the tables of an earlier part: literalOwner is the part that has the
// table of this part's literals, sequenceOwner the part that has the tables of its sequences.
uint decodeCoded(bool on, uint part, uint first, uint begin, uint size, uint literalOwner,
                 uint sequenceOwner) {
    uint w0 = 0u, w3 = 0u, literalCount = 0u, sequenceCount = 0u;
    if (on) {
        w0 = sourceWord(first);
        literalCount = sourceWord(first + 1u) | (w0 >> 12 & 1u) << 16;
        sequenceCount = sourceWord(first + 2u);
        w3 = sourceWord(first + 3u);
    }
    gTablesGood = true;
    gLiteralMode = w0 >> 2 & 3u;
    gLiteralLog = gSequenceLog = SLUICE_GS_MIN_LOG;
    gModulus = 1u;
    // Reads the tables in three passes: first the literals' table of an earlier part, then the
    // sequences' tables of an earlier part, and last this part's own tables, because the part's
    // symbols follow them in the list of words. Pass 0 or 1 is left out if this part has such
    // tables of its own.
    bool oldLiterals = literalOwner != part, oldSequences = sequenceOwner != part;
    SLUICE_DONT_UNROLL
    for (uint turn = 0u; turn < 3u; ++turn) {
        bool wanted = on && (turn == 2u || (turn == 0u ? oldLiterals : oldSequences));
        if (wgAny(wanted))
            readTables(wanted,
                       turn == 0u   ? literalOwner
                       : turn == 1u ? sequenceOwner
                                    : part,
                       turn == 0u || (turn == 2u && !oldLiterals),
                       turn == 1u || (turn == 2u && !oldSequences));
    }
    // Some drivers leave loops early (lgLoopsGoOn). Tables that such a driver has not finished are
    // not used, because their contents may point anywhere.
    bool literalsGood = buildLiterals(on && gTablesGood), goOn = lgLoopsGoOn(),
         good = on && gTablesGood && literalsGood && goOn;
    decodeLiterals(good, gLiteralMode, w3 >> 8, literalCount, begin + size);
    bool sequences = good && sequenceCount != 0u, sequencesGood = true;
    if (wgAny(sequences)) sequencesGood = buildSequences(sequences);
    goOn = lgLoopsGoOn();
    good = good && (!sequences || sequencesGood) && goOn;
    uint literalSum, matchSum;
    decodeSequences(good, sequenceCount, begin / SLUICE_GS_BYTES_PER_SEQUENCE + part, literalSum,
                    matchSum);
    uint total = literalCount + matchSum;
    return !good                                            ? SLUICE_ST_BAD_CODE
           : total > size                                   ? SLUICE_ST_TOO_LONG
           : total < size                                   ? SLUICE_ST_TOO_SHORT
           : literalSum > literalCount || gNext < gWordsEnd ? SLUICE_ST_BAD_CODE
                                                            : SLUICE_ST_OK;
}

// Checks part `part` of the tile, decodes it if it is coded, and returns its status. If the lane
// group is `on`, `part` is below gParts.
uint decodePart(bool on, uint part) {
    uint from = on ? part : 0u;
    uint begin = ofPart(gPart.x, from), size = ofPart(gPart.y, from);
    uint first = ofPart(gPart.z, from), words = ofPart(gPart.w, from);
    uint w0 = on ? sourceWord(first) : 0u, kind = w0 & 3u, status = SLUICE_ST_OK;
    if (on && kind == SLUICE_GS_PLAIN) {
        status = w0 == SLUICE_GS_PLAIN && words == 1u + ((size + 1u) >> 1) ? SLUICE_ST_OK
                                                                           : SLUICE_ST_BAD_CODE;
    } else if (on && kind == SLUICE_GS_RUN) {
        status = (w0 & 0xfcu) == 0u && words == 1u ? SLUICE_ST_OK : SLUICE_ST_BAD_CODE;
    } else if (on) {
        status = SLUICE_ST_BAD_CODE;
        if (kind == SLUICE_GS_CODED && words >= SLUICE_GS_PART_HEADER) {
            uint literalCount = sourceWord(first + 1u) | (w0 >> 12 & 1u) << 16;
            uint sequenceCount = sourceWord(first + 2u), w3 = sourceWord(first + 3u);
            bool bad = w0 >> 13 != 0u || (w3 >> 6 & 3u) != 0u ||
                       SLUICE_GS_MIN_LOG + (w0 >> 6 & 7u) > SLUICE_GS_MAX_LITERAL_LOG ||
                       SLUICE_GS_MIN_LOG + (w0 >> 9 & 7u) > SLUICE_GS_MAX_SEQUENCE_LOG;
            status = bad                                                   ? SLUICE_ST_BAD_CODE
                     : sequenceCount * SLUICE_GS_BYTES_PER_SEQUENCE > size ? SLUICE_ST_LIMIT
                     : literalCount > size                                 ? SLUICE_ST_TOO_LONG
                                                                           : SLUICE_ST_OK;
        }
    }
    bool oldLiterals = (w0 >> 4 & 1u) != 0u, oldSequences = (w0 >> 5 & 1u) != 0u;
    uint literalOwner = oldLiterals ? ownerBefore(gLiteralOwners, from) : from;
    uint sequenceOwner = oldSequences ? ownerBefore(gSequenceOwners, from) : from;
    bool coded = on && kind == SLUICE_GS_CODED && status == SLUICE_ST_OK;
    if (coded && (literalOwner == kNone || sequenceOwner == kNone)) {
        status = SLUICE_ST_BAD_CODE;
        coded = false;
    }
    if (wgAny(coded)) {
        uint result = decodeCoded(coded, from, first, begin, size, literalOwner, sequenceOwner);
        status = coded ? result : status;
    }
    return status;
}

// Lane group `share` of a tile decodes part `share`.
void main() {
    const uint kGroupsPerTile = SLUICE_GS_LANE_GROUPS;
    uint group = wgIndex() * kGroupsPerWorkgroup + lgIndex();
    uint slot = group / kGroupsPerTile, share = group % kGroupsPerTile, index = p.firstTile + slot;
    bool enabled = slot < p.tileCount && index < regionCount();
    uint status = enabled ? openRegion(index) : SLUICE_ST_BAD_REGION;
    gSlot = add64(p.scratch, mul64(enabled ? slot : 0u, SLUICE_GS_SLOT_BYTES(p.maxTileBytes)));
    bool good = enabled && status == SLUICE_ST_OK;
    uint parts = loadParts(good);
    if (good) status = parts;
    good = good && status == SLUICE_ST_OK;
    if (enabled && share == 0u && lgLane() == 0u)
        WordsOut(gSlot).w[0] = status == kNone ? SLUICE_ST_OK : status;
    bool on = good && share < gParts;
    if (wgAny(on)) {
        uint result = decodePart(on, share);
        if (!lgLoopsGoOn()) result = SLUICE_ST_INTERNAL;
        if (on && lgLane() == 0u) WordsOut(gSlot).w[SLUICE_GS_PARTS_AT + share] = result;
    }
}
