// SPDX-License-Identifier: MIT OR Apache-2.0
// GDeflate 1.0 decode. Format, rounds, limits and the order of errors: docs/format.md.
//
// The bit streams do not depend on the output, so decoding comes in two stages with a ring of
// tokens between them: bits to tokens, a round of 32 symbols at a time, and tokens to bytes, 128 at
// a time (lib/lz_expand.glsl). Where lane groups are subgroups, two of them share a tile, a stage
// each, in phases with a barrier between them; elsewhere, or where tiles are so many that more of
// them at work are worth more, one does both in turn.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/lanes.glsl"
#include "lib/memory.glsl"
#include "lib/layout/gdeflate.h"

// Two subgroups, or the lane groups of two subgroups, to a tile. Hardware subgroups of 32 lanes or
// more only; workgroup of two subgroups then.
layout(constant_id = SLUICE_CONSTANT_GDEFLATE_PAIRED) const bool kPaired = false;
layout(constant_id = SLUICE_CONSTANT_PLAIN_STORES_VISIBLE) const
    bool kPlainHistory = false; // use WordsPlain and BytesPlain
// Rows with padding: 0: what rowBytes says, 1: never, 2: always. To ask takes a tenth of the speed.
layout(constant_id = SLUICE_CONSTANT_GDEFLATE_PITCH) const uint kPitch = 0u;
// How much shared memory a tile may take before that limits how many tiles the hardware works at.
// 0: 3 KB; 1: 5 KB; 2: 9 KB, where there are few tiles, and what counts is how long one takes by
// itself.
layout(constant_id = SLUICE_CONSTANT_GDEFLATE_ROOM) const uint kRoom = 0u;
const bool kAmple = kRoom >= 1u, kFew = kRoom >= 2u;

// One subgroup a tile, though two could share it.
const bool kAlone = kNative && !kPaired;
const bool kSuspends = kPaired || kAlone; // a stage's state stands in shared memory between its
                                          // turns

const uint kTiles = kPaired ? kGroupsPerWorkgroup / 2u : kGroupsPerWorkgroup; // a workgroup
uint tileIndex() { return kPaired ? lgIndex() % kTiles : lgIndex(); }

// Tokens of a lane that are placed at once, rounds of a phase, and the ring of tokens. The ring
// holds those of a phase, or of two where one is made while the other is taken, 32 that wait for a
// distance, a rest of up to 127 that is not placed yet and 128 of an unfinished group. While one
// has sources inside itself its own tokens have been read, and 132 places from them downwards are
// used for that; in a phase in which a code is built there are no tokens, and those places are used
// for the code. Sizes without kAmple are small because shared memory decides then how many tiles an
// SM holds; at 3,200 bytes it is 32 of one subgroup.
const uint kPerLane = kAmple ? 4u : 2u, kRoundsAmple = kFew ? 16u : 8u,
           kRounds = kPaired && !kAmple ? 4u : kRoundsAmple;
const uint kTokenRingAmple = kFew ? 2048u : 1024u, kTokenRing = kAmple ? kTokenRingAmple : 512u;
shared uint sToken[kTiles * kTokenRing]; // see lib/lz_expand.glsl

#include "lib/bit_reader.glsl"

// The two codes of a block, and where their symbols begin in the tables of lib/huffman.glsl. The
// precode takes the place of the literal/length code, which is built after it.
const uint kLitCode = 0u, kLitFirst = 0u;
const uint kDistCode = 1u, kDistFirst = 288u;
const uint kPrecode = 2u; // a kind of symbols only

// What there is to know about a symbol:
//   bits 0 .. 4    length of its code plus its extra bits
//   bits 5 .. 12   a literal's byte, or what stands above the extra bits
// and flags
const uint kLength = 1u << 13;    // begins a match of 2 bytes more than the value
const uint kSpecial = 1u << 14;   // end of block, or undefined
const uint kUndefined = 1u << 15; // must not occur

// For lib/huffman.glsl. Literal/length symbols, or distances: 2 or 1 bits below a leading one,
// shifted by the extra bits (RFC 1951, 3.2.5).
uint huffmanPayload(uint kind, uint symbol, uint len) {
    if (kind == kPrecode) return symbol;
    bool distance = kind == kDistCode;
    uint slot = distance ? symbol : symbol - 257u, mantissaBits = distance ? 1u : 2u;
    uint extraBits = min(max(slot >> mantissaBits, 1u) - 1u, 15u);
    uint above = slot - (extraBits << mantissaBits), flags = 0u;
    if (!distance) {
        bool longest = slot == 28u, match = slot <= 28u;
        extraBits = mix(0u, mix(extraBits, 16u, longest), match);
        above = mix(symbol & 0xffu, mix(above, 0u, longest), match);
        flags = mix(mix(kSpecial | kUndefined, kSpecial, symbol == 256u), 0u, symbol < 256u);
        flags = mix(flags, kLength, match);
    }
    return (len + extraBits) | above << 5 | flags;
}

#include "lib/huffman.glsl"
#include "lib/pitch.glsl"
#include "lib/lz_expand.glsl"

layout(push_constant) uniform Push { RegionParams p; };
#include "lib/region.glsl"

// For each turn and tile: x, y: by the first stage the tokens that are complete and its status; z:
// by the second its status.
shared uvec4 sPhase[kPaired ? 2u * kTiles : 1u];

// What the first stage is doing.
const uint kAtHeader = 0u;  // at the start of a block
const uint kInSymbols = 1u; // inside a block of codes
const uint kInStored = 2u;  // inside a stored block
const uint kDone = 3u;      // all read, or failed

// State of the first stage, the same in all lanes of the group.
uint gState, gStatus; // gStatus: PENDING as long as there is more to come
uint gBlocks;         // blocks begun, and whether this is the last one
const uint kFinal = 1u << 31;
uint gTokens;       // begun; at the end: complete
uint gTokensBefore; // and before the last round
uint gStoredLeft;   // bytes left in the stored block
uint gPending;      // lanes that read a distance next
// State of the lane: the token of its match, and that one's length - 1 as it stands in the token;
// or kLiteral if a literal or a length comes next.
const uint kLiteral = 0xff00u; // of a literal's token, see lib/lz_expand.glsl
uint gSlot, gUpper;

// What is the same in all lanes stands in shared memory between the turns of the first stage, see
// lzSuspend: 61 registers instead of 70 on NVIDIA, which is 16 tiles on a multiprocessor instead of
// 14.
shared uvec4 sFirst[kSuspends ? 3u * kTiles : 1u];

void firstSuspend() {
    if (kSuspends && lgLane() == 0u) {
        sFirst[3u * tileIndex()] = uvec4(gBitsSource, gBitsBytes, gBitsNext);
        sFirst[3u * tileIndex() + 1u] = uvec4(gState, gStatus, gBlocks, gStoredLeft);
        sFirst[3u * tileIndex() + 2u] = uvec4(gTokens, gTokensBefore, gPending, 0u);
    }
    lgBarrierShared();
}

void firstResume() {
    if (!kSuspends) return;
    uvec4 bits = sFirst[3u * tileIndex()], state = sFirst[3u * tileIndex() + 1u],
          tokens = sFirst[3u * tileIndex() + 2u];
    gBitsSource = bits.xy;
    gBitsBytes = bits.z;
    gBitsNext = bits.w;
    gState = state.x;
    gStatus = state.y;
    gBlocks = state.z;
    gStoredLeft = state.w;
    gTokens = tokens.x;
    gTokensBefore = tokens.y;
    gPending = tokens.z;
}

uint tokensComplete() { return gPending != 0u ? gTokensBefore : gTokens; }

void finish(uint status) {
    gTokens = tokensComplete();
    gPending = 0u;
    gStatus = status;
    gState = kDone;
}

void fail(bool condition, uint status) {
    if (condition && gState != kDone) finish(status);
}

void blockDone() {
    gPending = 0u;
    gState = kAtHeader;
    if ((gBlocks & kFinal) != 0u) finish(SLUICE_ST_OK);
}

// Index in a list of `count` code lengths where precode length i stands (RFC 1951, 3.2.7).
uint precodeOrder(uint i) {
    const uint order[19] = uint[19](16u, 17u, 18u, 0u, 8u, 7u, 9u, 6u, 10u, 5u, 11u, 4u, 12u, 3u,
                                    13u, 2u, 14u, 1u, 15u);
    return order[min(i, 18u)];
}

// Reads the code lengths of a dynamic block.
void readCodeLengths(bool enabled, uint total) {
    uint lane = lgLane();
    uint position = 0u;
    uint carried = 0u; // the last length of the round before
    [[dont_unroll]] while (wgAny(enabled && gState != kDone && position < total)) {
        bool on = enabled && gState != kDone && position < total;
        uvec2 decoded = huffmanDecode(bitsPeek(), kLitCode);
        uint len = decoded.x, symbol = decoded.y & 31u;
        uint extraBits = symbol < 16u ? 0u : symbol == 16u ? 2u : symbol == 17u ? 3u : 7u;
        uint extra = bitfieldExtract(bitsPeek(), int(len), int(extraBits));
        uint run = symbol < 16u ? 1u : (symbol == 18u ? 11u : 3u) + extra;
        uint before, covered;
        uint defines = lgBallot3Scan(false, symbol != 16u, false, on ? run : 0u, before, covered).y;
        uint at = position + before;
        bool valid = on && at < total;

        uint source = symbol == 16u ? defines & lgLanesBelow() : 1u << lane;
        lgShare(symbol < 16u ? symbol : 0u);
        uint value = lgShared(mix(uint(findMSB(source)), 0u, source == 0u));
        value = mix(value, carried, source == 0u);
        // A run of lengths that are not 0 is of 6 at most.
        if (valid && value != 0u) setCodeLengths(at, value, min(run, min(total - at, 6u)));
        if (valid) bitsConsume(len + extraBits);
        uint last = lgShared(mix(uint(findMSB(defines)), 0u, defines == 0u));
        carried = mix(last, carried, defines == 0u);

        uint bad = lgBallot(valid && (at + run > total || (symbol == 16u && at == 0u)));
        bitsRefill(on);
        if (on) {
            position += covered;
            fail(bitsTruncated(), SLUICE_ST_TRUNCATED);
            fail(bad != 0u, SLUICE_ST_BAD_CODE);
        }
    }
    fail(enabled && gState != kDone && position < total, SLUICE_ST_INTERNAL);
}

bool inMatch() { return gUpper > 0xffffu; }

// This lane's next symbol: the length of its code, and what there is to know about it.
uvec2 nextSymbol() { return huffmanDecode(bitsPeek(), mix(kLitCode, kDistCode, inMatch())); }

// Reads one block's header and builds its tables.
void readHeader(bool enabled) {
    uint lane = lgLane();
    if (!kLockstep || enabled) {
        // The same as before, or of no use any more; so no registers keep it.
        gSlot = 0u;
        gUpper = kLiteral;
        gTokensBefore = gTokens;
        gPending = 0u;
    }
    if (enabled) {
        fail(gBlocks == SLUICE_GD_MAX_BLOCKS, SLUICE_ST_LIMIT);
        gBlocks += 1u;
    }
    enabled = enabled && gState != kDone;

    // Lane 0 holds the header.
    lgShare(bitsPeek());
    uint header = lgShared(0u);
    if (enabled && lane == 0u) bitsConsume(3u);
    bitsRefill(enabled);
    uint type = (header >> 1) & 3u;
    if (enabled) {
        gBlocks |= (header & 1u) * kFinal;
        fail(bitsTruncated(), SLUICE_ST_TRUNCATED);
        fail(type == 3u, SLUICE_ST_BAD_CODE);
    }
    enabled = enabled && gState != kDone;

    bool stored = enabled && type == 0u, fixedCodes = enabled && type == 1u,
         dynamic = enabled && type == 2u;
    if (wgAny(stored || dynamic)) {
        lgShare(bitsPeek());
        header = lgShared(0u);
        if (lane == 0u && (stored || dynamic)) bitsConsume(stored ? 16u : 14u);
        bitsRefill(dynamic); // a stored block's first byte belongs to the same step as its length
        if (stored) {
            gStoredLeft = header & 0xffffu;
            gState = kInStored;
        }
        fail(dynamic && bitsTruncated(), SLUICE_ST_TRUNCATED);
        dynamic = dynamic && gState != kDone;
    }

    uint litCount = SLUICE_GD_LITLEN_SYMS, distCount = SLUICE_GD_DIST_SYMS;
    huffmanBuildAt(tokenAt((gTokens + 63u) & ~63u));
    if (wgAny(dynamic)) {
        uint preCount = ((header >> 10) & 15u) + 4u;
        bool mine = dynamic && lane < preCount;
        clearCodeLengths(dynamic);
        if (mine) {
            setCodeLengths(precodeOrder(lane), bitsPeek() & 7u, 1u);
            bitsConsume(3u);
        }
        bitsRefill(dynamic);
        fail(dynamic && bitsTruncated(), SLUICE_ST_TRUNCATED);
        dynamic = dynamic && gState != kDone;

        bool good = huffmanSort(dynamic, kPrecode, kLitCode, kLitFirst, 0u, 19u, false);
        fail(dynamic && !good, SLUICE_ST_BAD_CODE);
        dynamic = dynamic && gState != kDone;
        if (dynamic) {
            litCount = (header & 31u) + 257u;
            distCount = ((header >> 5) & 31u) + 1u;
        }
        clearCodeLengths(dynamic);
        readCodeLengths(dynamic, litCount + distCount);
        dynamic = dynamic && gState != kDone;
    }
    if (fixedCodes) {
        // RFC 1951, 3.2.6; eight code lengths a word.
        sToken[gLengths + lane] = lane < 18u ? 0x88888888u : 0x99999999u;
        if (lane < 8u)
            sToken[gLengths + 32u + lane] = lane < 3u   ? 0x77777777u
                                            : lane < 4u ? 0x88888888u
                                                        : 0x55555555u;
    }
    bool codes = fixedCodes || dynamic;
    if (wgAny(codes)) {
        bool goodLit = huffmanSort(codes, kLitCode, kLitCode, kLitFirst, 0u, litCount, true);
        bool goodDist =
            huffmanSort(codes, kDistCode, kDistCode, kDistFirst, litCount, distCount, false);
        fail(codes && !(goodLit && goodDist), SLUICE_ST_BAD_CODE);
        codes = codes && gState != kDone;
        if (codes) gState = kInSymbols;
    }
}

// What a symbol says, with its extra bits.
uint symbolValue(uvec2 symbol) {
    uint all = symbol.y & 31u, len = symbol.x;
    return ((symbol.y >> 5 & 0xffu) << (all - len)) + ((bitsPeek() & ~(0xffffffffu << all)) >> len);
}

// Keeps the length of a match, and removes the symbol's bits.
void endSymbol(uvec2 symbol, uint value) {
    gUpper = mix(kLiteral, min(value + 2u, 0xffffu) << 16, (symbol.y & kLength) != 0u);
    bitsConsume(symbol.y & 31u);
}

// Stores a token or keeps the length of one, and removes the symbol's bits.
void takeSymbol(uvec2 symbol) {
    uint value = symbolValue(symbol);
    if ((symbol.y & (kLength | kSpecial)) == 0u) sToken[tokenAt(gSlot)] = value + gUpper;
    endSymbol(symbol, value);
}

// The round with the end-of-block symbol, and one more for the distances that it leaves open.
void lastRounds(bool enabled) {
    uint lane = lgLane();
    uvec2 symbol = enabled ? nextSymbol() : uvec2(0u);
    uvec3 votes = lgBallot3((symbol.y & (kSpecial | kUndefined)) == kSpecial,
                            (symbol.y & kUndefined) != 0u, false);
    // Lanes above the lowest end-of-block symbol read nothing, but for distances.
    uint upToEnd = votes.x ^ (votes.x - 1u); // all ones if there is none
    uint skipped = ~gPending & ~upToEnd;
    fail(enabled && (votes.y & ~skipped) != 0u, SLUICE_ST_BAD_CODE);
    enabled = enabled && gState != kDone;
    uint first = ~gPending & upToEnd >> 1; // lanes that begin a token; the end itself is none
    if (enabled && (gPending >> lane & 1u) == 0u)
        gSlot = gTokens + uint(bitCount(first & lgLanesBelow()));
    if (enabled) {
        if ((skipped >> lane & 1u) == 0u)
            takeSymbol(symbol);
        else
            gUpper = kLiteral;
    }
    bitsRefill(enabled);
    fail(enabled && bitsTruncated(), SLUICE_ST_TRUNCATED);
    enabled = enabled && gState != kDone;

    uint pending = lgBallot(enabled && inMatch());
    if (enabled) {
        gTokensBefore = gTokens;
        gTokens += uint(bitCount(first));
        gPending = pending;
    }
    bool open = enabled && inMatch();
    if (wgAny(pending != 0u)) {
        if (open) takeSymbol(nextSymbol());
        bitsRefill(pending != 0u);
        fail(enabled && bitsTruncated(), SLUICE_ST_TRUNCATED);
    }
    if (enabled && gState != kDone) blockDone();
}

// A round of one symbol a lane: the distance of the match whose length it read in the round before,
// or a literal or length. Returns what there is to know of the lane's symbol; all is right only if
// no lane's was special. `last`: one was.
uint symbolRound(bool on, const bool ample, out bool last) {
    uvec2 symbol = on ? nextSymbol() : uvec2(0u);
    if (on) {
        uint value = symbolValue(symbol);
        gSlot = mix(gTokens + uint(bitCount(~gPending & lgLanesBelow())), gSlot, inMatch());
        sToken[tokenAt(gSlot)] = value + gUpper; // not complete if that is a length, and not
                                                 // published then
        endSymbol(symbol, value);
    }
    bool take = on && gBitsCount < 32u;
    uvec3 votes = lgBallot3(take, inMatch(), (symbol.y & kSpecial) != 0u);
    bitsTake(take, votes.x, ample);
    last = votes.z != 0u;
    if (on) {
        gTokensBefore = gTokens;
        gTokens += 32u - uint(bitCount(gPending));
        gPending = votes.y;
    }
    return symbol.y;
}

// What symbolRound changes, for rounds that must be taken back.
struct Before {
    uvec4 bits;
    uvec3 tokens;
    uvec2 match;
};

Before before() {
    return Before(uvec4(gBitsLow, gBitsHigh, gBitsCount, gBitsNext),
                  uvec3(gTokensBefore, gTokens, gPending), uvec2(gSlot, gUpper));
}

void takeBack(Before to) {
    gBitsLow = to.bits.x;
    gBitsHigh = to.bits.y;
    gBitsCount = to.bits.z;
    gBitsNext = to.bits.w;
    gTokensBefore = to.tokens.x;
    gTokens = to.tokens.y;
    gPending = to.tokens.z;
    gSlot = to.match.x;
    gUpper = to.match.y;
}

// Rounds one by one.
void symbolRounds(bool enabled, uint rounds) {
    [[dont_unroll]] for (uint i = 0u; i < rounds && wgAny(enabled && gState == kInSymbols); ++i) {
        bool on = enabled && gState == kInSymbols, last;
        Before begin = before();
        symbolRound(on, false, last);
        bool cut = on && bitsTruncated();
        if (wgAny(last || cut)) {
            if (last || cut) takeBack(begin);
            fail(cut && !last, SLUICE_ST_TRUNCATED);
            if (wgAny(last)) lastRounds(last);
        }
    }
}

#if !defined(SLUICE_NARROW) && !defined(SLUICE_EMU)
// A symbol of such a round, in which `pending` are the lanes that read a distance, as `match` says
// of this one, and `tokens` had begun before it. `match` afterwards: this lane reads one next.
uint symbolOfPair(uint tokens, uint pending, inout bool match) {
    uvec2 symbol = huffmanDecode(bitsPeek(), mix(kLitCode, kDistCode, match));
    uint value = symbolValue(symbol);
    // As ~pending & lgLanesBelow(), with an instruction less.
    gSlot = mix(tokens + 32u - uint(bitCount(pending | 0xffffffffu << lgLane())), gSlot, match);
    sToken[tokenAt(gSlot)] = value + gUpper; // not complete if that is a length, and not published
                                             // then
    endSymbol(symbol, value);
    match = (symbol.y & kLength) != 0u;
    return symbol.y;
}

// Two rounds, and their refills together. All is right only if no lane's symbol was special and all
// have a bit left, that is, none needed for its second symbol the word that it takes after the
// first.
void symbolRoundPair(inout uint symbols, inout uint counts, inout bool match) {
    symbols |= symbolOfPair(gTokens, gPending, match);
    bool first = gBitsCount < 32u;
    gTokensBefore = gTokens + 32u - uint(bitCount(gPending));
    gPending = lgBallot(match);
    symbols |= symbolOfPair(gTokensBefore, gPending, match);
    counts |= gBitsCount - 1u;
    uvec3 votes = lgBallot3(first, gBitsCount < 32u, match);
    bitsTakeTwo(first, votes.x, votes.y);
    gTokens = gTokensBefore + 32u - uint(bitCount(gPending));
    gPending = votes.z;
}

// The same without branches, if all goes well: all lane groups are inside a block, and the input
// lasts. Written out because NVIDIA's compiler (580) does not unroll loops with ballots. That a
// round held something else than literals and matches is found at the end; then all is as it was.
// `ahead`: what bitsAhead has given.
const uint kRoundsAtOnce = 4u;
bool symbolRoundsAtOnce(uint ahead) {
    Before begin = before();
    uint symbols = 0u, counts = 0u;
    bool match = inMatch();
    symbolRoundPair(symbols, counts, match);
    symbolRoundPair(symbols, counts, match);
    counts |= ahead & p.flags; // changes nothing: there is no flag in the highest bit
    bool good = !wgAnyLane((symbols & kSpecial) != 0u || int(counts) < 0);
    if (!good) takeBack(begin);
    return good;
}
#endif

// One round of a stored block: 32 bytes. An empty one still refills.
void storedRound(bool enabled) {
    uint lane = lgLane(), n = min(gStoredLeft, 32u);
    if (enabled && lane < n) {
        sToken[tokenAt(gTokens + lane)] = kLiteral + (bitsPeek() & 0xffu);
        bitsConsume(8u);
    }
    bitsRefill(enabled);
    fail(enabled && bitsTruncated(), SLUICE_ST_TRUNCATED);
    if (enabled && gState != kDone) {
        gTokens += n;
        gStoredLeft -= n;
        if (gStoredLeft == 0u) blockDone();
    }
}

// The first stage: a header if one is next, and some rounds; where kAlone, one or the other, which
// takes fewer registers.
void decodePhase() {
    bool header = gState == kAtHeader;
    uint ahead = bitsAhead();
    if (wgAny(header)) readHeader(header);
    bool rounds = !kAlone || !header;
    bool symbols = rounds && gState == kInSymbols, stored = rounds && gState == kInStored;
    if (wgAny(symbols)) {
        uint left = kRounds;
#if !defined(SLUICE_NARROW) && !defined(SLUICE_EMU)
        if (kSuspends) {
            [[dont_unroll]] while (
                !wgAny(!symbols || left == 0u || !bitsAmple(32u * kRoundsAtOnce))) {
                if (!symbolRoundsAtOnce(ahead)) break;
                left -= kRoundsAtOnce;
            }
        }
#endif
        symbolRounds(symbols, left);
    }
    [[dont_unroll]] for (uint i = 0u; i < kRounds && wgAny(stored && gState == kInStored); ++i)
        storedRound(stored && gState == kInStored);
}

// Plain bytes instead of a compressed tile.
void copyStored(bool enabled, uvec2 source, uint size) {
    uint words = enabled ? size >> 2 : 0u;
    for (uint i = 0u; wgAny(i < words); i += 256u)
        [[unroll]] for (uint k = 0u; k < 8u; ++k) {
            uint index = i + k * 32u + lgLane();
            if (index < words) storeMade(4u * index, WordsIn(source).w[index], 4u);
        }
    if (enabled && lgLane() == 0u && (size & 3u) != 0u)
        storeMade(words * 4u, WordsIn(source).w[words], size & 3u);
}

// Both stages, of one lane group each, in phases. Returns the tile's status in the second half of
// the workgroup.
uint decodePaired() {
    bool running = true, more = true;
    uint turn = 0u;
    if (lgLane() == 0u)
        // before the first one
        sPhase[kTiles + tileIndex()] = uvec4(0u, SLUICE_ST_PENDING, SLUICE_ST_OK, 0u);
    wgBarrierShared();
    [[dont_unroll]] while (wgAny(running)) {
        uint place = turn * kTiles + tileIndex();
        if (wgAny(lgIndex() < kTiles)) {
            firstResume();
            if (wgAny(more)) decodePhase();
            if (lgLane() == 0u) {
                sPhase[place].x = tokensComplete();
                sPhase[place].y = gStatus;
            }
            firstSuspend();
        } else {
            uvec4 decoded = sPhase[(turn ^ 1u) * kTiles + tileIndex()];
            lzResume();
            uint status = lzExpand(decoded.z == SLUICE_ST_OK, decoded.x, more);
            lzSuspend();
            if (lgLane() == 0u) sPhase[place].z = decoded.z != SLUICE_ST_OK ? decoded.z : status;
        }
        wgBarrierShared();
        running = more;
        more = false;
        [[unroll]] for (uint i = 0u; i < 4u; ++i) if (i < kTiles) more =
            more || (sPhase[turn * kTiles + i].y == SLUICE_ST_PENDING &&
                     sPhase[turn * kTiles + i].z == SLUICE_ST_OK);
        turn ^= 1u;
    }
    lzResume();
    uvec4 last = sPhase[(turn ^ 1u) * kTiles + tileIndex()];
    return last.z != SLUICE_ST_OK ? last.z : last.y;
}

// Both stages in turn.
uint decodeAlone() {
    uint status = SLUICE_ST_OK;
    bool again;
    [[dont_unroll]] do {
        firstResume();
        decodePhase();
        uint complete = tokensComplete();
        bool more = wgAny(gStatus == SLUICE_ST_PENDING);
        firstSuspend();
        lzResume();
        // Where kAlone, there is one tile, and all ends with the first error.
        uint result = lzExpand(kAlone || status == SLUICE_ST_OK, complete, more);
        lzSuspend();
        status = mix(status, result, kAlone || status == SLUICE_ST_OK);
        again = wgAny(more && status == SLUICE_ST_OK);
    }
    while (again)
        ;
    firstResume();
    lzResume();
    return status != SLUICE_ST_OK ? status : gStatus;
}

void main() {
    huffmanBegin();
    uint group = gl_WorkGroupID.y * p.gridX + gl_WorkGroupID.x;
    uint index = group * kTiles + tileIndex();
    bool enabled = index < regionCount(), good = false;
    Region region = Region(uvec2(0u), uvec2(0u), uvec2(0u), uvec2(0u));
    uint status = SLUICE_ST_OK;
    if (enabled) {
        region = loadRegion(index);
        good = sourceAllowed(region, SLUICE_GD_MAX_COMPRESSED) &&
               destinationAllowed(region, SLUICE_GD_TILE_BYTES);
        if (!good) status = SLUICE_ST_BAD_REGION;
    }
    gLzOut = region.destination;
    gLzPitched = kPitch == 0u ? p.rowBytes != 0u : kPitch == 2u;
    if (gLzPitched)
        pitchBegin(uvec4(p.rowBytes, p.rowPitch, p.rowMagic, p.rowShift), p.destination,
                   sub64(region.destination, p.destination));
    bool plain = good && (p.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0u &&
                 region.sourceSize.x == region.size.x;
    if ((p.flags & SLUICE_FLAG_STORED_IF_EQUAL) != 0u)
        copyStored(plain && (!kPaired || lgIndex() >= kTiles), region.source, region.size.x);
    bool compressed = good && !plain;
    // What is not compressed is done: it takes part, with no tokens and no bytes to make.
    gLzSize = compressed ? region.size.x : 0u;
    gState = compressed ? kAtHeader : kDone;
    gStatus = compressed ? SLUICE_ST_PENDING : status;
    gBlocks = gTokens = gTokensBefore = gStoredLeft = gPending = gSlot = 0u;
    gUpper = kLiteral;
    if (wgAny(!kPaired || lgIndex() < kTiles)) {
        bitsBegin(compressed, region.source, region.sourceSize.x);
        fail(bitsTruncated(), SLUICE_ST_TRUNCATED);
        firstSuspend();
    }
    if (wgAny(!kPaired || lgIndex() >= kTiles)) lzBegin(enabled ? index : ~0u);
#if !defined(SLUICE_NARROW) && !defined(SLUICE_EMU)
    if (kPaired) {
        status = decodePaired();
    } else
#endif
        status = decodeAlone();
    if (kSuspends) {
        index = lzRegion();
        enabled = index != ~0u;
    }
    if (status == SLUICE_ST_OK && gEnd < gLzSize) status = SLUICE_ST_TOO_SHORT;
    // A loop that the driver has left early must not pass for success.
    if (status == SLUICE_ST_PENDING || (status == SLUICE_ST_OK && gAt < gEnd))
        status = SLUICE_ST_INTERNAL;

    if (enabled && lgLane() == 0u && (!kPaired || lgIndex() >= kTiles))
        writeStatus(p.status, p.maxRegionCount, index, status);
}
