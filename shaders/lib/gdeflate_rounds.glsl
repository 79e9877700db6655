// SPDX-License-Identifier: MIT OR Apache-2.0
// The rounds of GDeflate blocks (docs/format.md, 1.5). In a round each of 32 lanes reads one
// symbol. A literal gives a token at once. A match takes two rounds: a lane that has read a length
// reads the distance in the next round, and the token of the match is complete only then.
#ifndef SLUICE_GDEFLATE_ROUNDS_GLSL
#define SLUICE_GDEFLATE_ROUNDS_GLSL

#include "loops.glsl"
#include "gdeflate_state.glsl"
#include "huffman.glsl"

// Returns whether the lane has read a length whose distance comes next.
bool inMatch() { return gUpper > 0xffffu; }

// Returns the lane's next symbol; if the lane is in a match, the symbol is of the code of
// distances. x is the length of the symbol's code, y is its payload (gdeflate_symbols.glsl).
uvec2 nextSymbol() { return huffmanDecode(bitsPeek(), mix(kLitCode, kDistCode, inMatch())); }

// Returns the number that a symbol stands for: a literal's byte, a match's length - 2, or a
// distance - 1, with its extra bits.
uint symbolValue(uvec2 symbol) {
    uint all = symbol.y & 31u, len = symbol.x;
    return ((symbol.y >> 5 & 0xffu) << (all - len)) + ((bitsPeek() & ~(0xffffffffu << all)) >> len);
}

// Removes the symbol's bits. If the symbol begins a match, puts the match's length - 1 into gUpper.
void endSymbol(uvec2 symbol, uint value) {
    gUpper = mix(kLiteral, min(value + 2u, 0xffffu) << 16, (symbol.y & kLength) != 0u);
    bitsConsume(symbol.y & 31u);
}

// If the symbol completes a token, stores the token. Then removes the symbol's bits.
void takeSymbol(uvec2 symbol) {
    uint value = symbolValue(symbol);
    if ((symbol.y & (kLength | kSpecial)) == 0u) sToken[tokenAt(gSlot)] = value + gUpper;
    endSymbol(symbol, value);
}

// Does the round in which the block ends, and one more for the distances of matches that are not
// complete then.
void lastRounds(bool enabled) {
    uint lane = lgLane();
    uvec2 symbol = enabled ? nextSymbol() : uvec2(0u);
    uvec3 votes = lgBallot3((symbol.y & (kSpecial | kUndefined)) == kSpecial,
                            (symbol.y & kUndefined) != 0u, false);
    // Lanes above the lowest one with an end-of-block symbol only read distances. upToEnd has the
    // bits of the lanes up to that lowest one, or all bits if no lane has such a symbol.
    uint upToEnd = votes.x ^ (votes.x - 1u);
    uint skipped = ~gPending & ~upToEnd;
    fail(enabled && (votes.y & ~skipped) != 0u, SLUICE_ST_BAD_CODE);
    enabled = enabled && gState != kDone;
    // The bits of the lanes that begin a token. The lane with the end-of-block symbol begins none;
    // the shift leaves out its bit.
    uint first = ~gPending & upToEnd >> 1;
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

// Does a round. `last` is set if a lane has read an end-of-block or undefined symbol; then the
// caller must undo the round.
void symbolRound(bool on, out bool last) {
    uvec2 symbol = on ? nextSymbol() : uvec2(0u);
    if (on) {
        uint value = symbolValue(symbol);
        gSlot = mix(gTokens + uint(bitCount(~gPending & lgLanesBelow())), gSlot, inMatch());
        // For a length this stores a token that is not complete. The lane completes it when it
        // reads the distance, and nobody reads the token before.
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

// The variables that a round changes, so that it can be undone.
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

// Does at most `rounds` rounds, one by one.
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
// Reads a symbol in a round before which `tokens` tokens had begun. The lanes in `pending` read a
// distance, and `match` says whether this lane does; on return it says so for the next round.
// Returns the symbol's payload.
uint symbolOfPair(uint tokens, uint pending, inout bool match) {
    uvec2 symbol = huffmanDecode(bitsPeek(), mix(kLitCode, kDistCode, match));
    uint value = symbolValue(symbol);
    // 32 minus this count is the number of bits of ~pending & lgLanesBelow(); it takes one
    // instruction less.
    gSlot = mix(tokens + 32u - uint(bitCount(pending | 0xffffffffu << lgLane())), gSlot, match);
    // For a length this stores a token that is not complete, as in symbolRound.
    sToken[tokenAt(gSlot)] = value + gUpper;
    endSymbol(symbol, value);
    match = (symbol.y & kLength) != 0u;
    return symbol.y;
}

// Does two rounds with one refill. They are valid only if no lane reads an end-of-block or
// undefined symbol, and every lane has at least one bit left afterwards: no lane then needed, for
// its second symbol, the word that it would have taken after the first. The caller must test this.
// `symbols` receives the OR of all payloads, and `counts` the OR of the lane's bits left minus 1,
// which is negative if none were left.
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

// Does kRoundsAtOnce rounds without branches. All lane groups must be inside a block, and a call of
// bitsEnough must have covered the words that these rounds take. Whether the rounds were valid is
// tested only at the end; if they were not, undoes all of them and returns false. `ahead` comes
// from bitsAhead. The pairs of rounds are written out because NVIDIA's compiler (driver 580) does
// not unroll loops with ballots.
const uint kRoundsAtOnce = 4u;
bool symbolRoundsAtOnce(uint ahead) {
    RoundState begin = saveRound();
    uint symbols = 0u, counts = 0u;
    bool match = inMatch();
    symbolRoundPair(symbols, counts, match);
    symbolRoundPair(symbols, counts, match);
    // This uses `ahead`, so that its load is not dropped, but without any effect: only the highest
    // bit of `counts` is tested, and no flag is that bit.
    counts |= ahead & p.flags;
    bool good = !wgAnyLane((symbols & kSpecial) != 0u || int(counts) < 0);
    if (!good) restoreRound(begin);
    return good;
}
#endif

// Does a round of a stored block, up to 32 bytes. A block without bytes still refills once.
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
