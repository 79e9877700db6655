// SPDX-License-Identifier: MIT OR Apache-2.0
// The rounds of GDeflate blocks. A round turns 32 symbols, one per lane, into tokens.
#ifndef SLUICE_GDEFLATE_ROUNDS_GLSL
#define SLUICE_GDEFLATE_ROUNDS_GLSL

#include "loops.glsl"
#include "gdeflate_state.glsl"
#include "huffman.glsl"

bool inMatch() { return gUpper > 0xffffu; }

// Returns the lane's next symbol in the code that it reads next: the length of the symbol's code in
// x, its payload in y.
uvec2 nextSymbol() { return huffmanDecode(bitsPeek(), mix(kLitCode, kDistCode, inMatch())); }

// Returns the value of a symbol with its extra bits.
uint symbolValue(uvec2 symbol) {
    uint all = symbol.y & 31u, len = symbol.x;
    return ((symbol.y >> 5 & 0xffu) << (all - len)) + ((bitsPeek() & ~(0xffffffffu << all)) >> len);
}

// Keeps the match's length in gUpper if the symbol begins a match, and removes the symbol's bits.
void endSymbol(uvec2 symbol, uint value) {
    gUpper = mix(kLiteral, min(value + 2u, 0xffffu) << 16, (symbol.y & kLength) != 0u);
    bitsConsume(symbol.y & 31u);
}

// Stores a token or keeps the length of a match, and removes the symbol's bits.
void takeSymbol(uvec2 symbol) {
    uint value = symbolValue(symbol);
    if ((symbol.y & (kLength | kSpecial)) == 0u) sToken[tokenAt(gSlot)] = value + gUpper;
    endSymbol(symbol, value);
}

// Does the round with the end-of-block symbol, and one more round for the distances of matches that
// are still open.
void lastRounds(bool enabled) {
    uint lane = lgLane();
    uvec2 symbol = enabled ? nextSymbol() : uvec2(0u);
    uvec3 votes = lgBallot3((symbol.y & (kSpecial | kUndefined)) == kSpecial,
                            (symbol.y & kUndefined) != 0u, false);
    // Lanes above the lowest end-of-block symbol only read distances.
    uint upToEnd = votes.x ^ (votes.x - 1u); // all ones if there is none
    uint skipped = ~gPending & ~upToEnd;
    fail(enabled && (votes.y & ~skipped) != 0u, SLUICE_ST_BAD_CODE);
    enabled = enabled && gState != kDone;
    uint first = ~gPending & upToEnd >> 1; // lanes that begin a token, which the end does not
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

// Does a round of one symbol per lane. A lane reads the distance of the match whose length it read
// in the previous round, or a literal or a length. `last` is set if a lane's symbol was special;
// then the caller must undo the round.
void symbolRound(bool on, out bool last) {
    uvec2 symbol = on ? nextSymbol() : uvec2(0u);
    if (on) {
        uint value = symbolValue(symbol);
        gSlot = mix(gTokens + uint(bitCount(~gPending & lgLanesBelow())), gSlot, inMatch());
        // The token of a length is incomplete until its distance is read, and is not published
        // before.
        sToken[tokenAt(gSlot)] = value + gUpper;
        endSymbol(symbol, value);
    }
    bool take = on && gBitsCount < 32u;
    uvec3 votes = lgBallot3(take, inMatch(), (symbol.y & kSpecial) != 0u);
    bitsTake(take, votes.x, false);
    last = votes.z != 0u;
    if (on) {
        gTokensBefore = gTokens;
        gTokens += 32u - uint(bitCount(gPending));
        gPending = votes.y;
    }
}

// The variables that a round changes, saved so that the round can be undone.
struct RoundState {
    uvec4 bits;
    uvec3 tokens;
    uvec2 match;
};

RoundState saveRound() {
    return RoundState(uvec4(gBitsLow, gBitsHigh, gBitsCount, gBitsNext),
                      uvec3(gTokensBefore, gTokens, gPending), uvec2(gSlot, gUpper));
}

void restoreRound(RoundState to) {
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

// Does up to `rounds` rounds, one by one.
void symbolRounds(bool enabled, uint rounds) {
    SLUICE_DONT_UNROLL
    for (uint i = 0u; i < rounds && wgAny(enabled && gState == kInSymbols); ++i) {
        bool on = enabled && gState == kInSymbols, last;
        RoundState begin = saveRound();
        symbolRound(on, last);
        bool cut = on && bitsTruncated();
        if (wgAny(last || cut)) {
            if (last || cut) restoreRound(begin);
            fail(cut && !last, SLUICE_ST_TRUNCATED);
            if (wgAny(last)) lastRounds(last);
        }
    }
}

#if !defined(SLUICE_NARROW) && !defined(SLUICE_EMU)
// Takes a symbol in a round before which `tokens` tokens had begun. The lanes in `pending` read a
// distance, and `match` is set if this lane does. On return `match` is set if the lane reads a
// distance next. Returns the payload.
uint symbolOfPair(uint tokens, uint pending, inout bool match) {
    uvec2 symbol = huffmanDecode(bitsPeek(), mix(kLitCode, kDistCode, match));
    uint value = symbolValue(symbol);
    // This counts the bits of ~pending & lgLanesBelow() with one instruction less.
    gSlot = mix(tokens + 32u - uint(bitCount(pending | 0xffffffffu << lgLane())), gSlot, match);
    // The token of a length is incomplete until its distance is read, and is not published before.
    sToken[tokenAt(gSlot)] = value + gUpper;
    endSymbol(symbol, value);
    match = (symbol.y & kLength) != 0u;
    return symbol.y;
}

// Does two rounds with one refill. The rounds are valid only if no lane's symbol was special and
// every lane has at least one bit left: then no lane needed, for its second symbol, the word that
// it would have taken after the first. `symbols` and `counts` accumulate the payloads and the bit
// counts - 1 by OR.
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

// Does kRoundsAtOnce rounds without branches. All lane groups must be inside a block, and the input
// must be long enough. Returns false if a round had symbols other than literals and matches. This
// is only tested at the end; then all rounds are undone. `ahead` comes from bitsAhead. The pairs of
// rounds are written out because NVIDIA's compiler (580) does not unroll loops with ballots.
const uint kRoundsAtOnce = 4u;
bool symbolRoundsAtOnce(uint ahead) {
    RoundState begin = saveRound();
    uint symbols = 0u, counts = 0u;
    bool match = inMatch();
    symbolRoundPair(symbols, counts, match);
    symbolRoundPair(symbols, counts, match);
    counts |= ahead & p.flags; // uses `ahead` without effect: no flag is the highest bit
    bool good = !wgAnyLane((symbols & kSpecial) != 0u || int(counts) < 0);
    if (!good) restoreRound(begin);
    return good;
}
#endif

// Does a round of a stored block, which is 32 bytes. An empty block still does a refill.
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

#endif // SLUICE_GDEFLATE_ROUNDS_GLSL
