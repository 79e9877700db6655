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

// Returns the lane's next symbol, without removing its bits. If the lane is in a match, it is a
// symbol of the code of distances. x is the length of the symbol's code. y is its payload, that is,
// its value, flags and number of bits (gdeflate_symbols.glsl).
uvec2 nextSymbol() { return huffmanDecode(bitsPeek(), mix(kLitCode, kDistCode, inMatch())); }

// Returns the number that a symbol stands for, together with its extra bits: a literal's byte, a
// match's length - 2, or a distance - 1.
uint symbolValue(uvec2 symbol) {
    uint all = symbol.y & 31u, len = symbol.x;
    return ((symbol.y >> 5 & 0xffu) << (all - len)) + ((bitsPeek() & ~(0xffffffffu << all)) >> len);
}

// Removes the symbol's bits from the lane's bits. If the symbol begins a match, puts the match's
// length - 1 into the upper half of gUpper; otherwise sets gUpper to kLiteral. `value` is
// symbolValue(symbol).
void endSymbol(uvec2 symbol, uint value) {
    gUpper = mix(kLiteral, min(value + 2u, 0xffffu) << 16, (symbol.y & kLength) != 0u);
    bitsConsume(symbol.y & 31u);
}

// If the symbol is a literal or a distance, stores the token that it completes. Then removes the
// symbol's bits.
void takeSymbol(uvec2 symbol) {
    uint value = symbolValue(symbol);
    if ((symbol.y & (kLength | kSpecial)) == 0u) sToken[tokenAt(gSlot)] = value + gUpper;
    endSymbol(symbol, value);
}

// Does the round in which the block ends. Then does another for the distances of matches that are
// still incomplete.
void lastRounds(bool enabled) {
    uint lane = lgLane();
    uvec2 symbol = enabled ? nextSymbol() : uvec2(0u);
    uvec3 votes = lgBallot3((symbol.y & (kSpecial | kUndefined)) == kSpecial,
                            (symbol.y & kUndefined) != 0u, false);
    // Lanes above the lowest lane with an end-of-block symbol only read distances. upToEnd has the
    // bits of all lanes up to that lowest lane, or of all lanes if no lane has such a symbol.
    uint upToEnd = votes.x ^ (votes.x - 1u);
    uint skipped = ~gPending & ~upToEnd;
    fail(enabled && (votes.y & ~skipped) != 0u, SLUICE_ST_BAD_CODE);
    enabled = enabled && gState != kDone;
    // `first` has the bits of the lanes that begin a token. The shift excludes the lane with the
    // end-of-block symbol, since that symbol begins no token.
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

// Does a round in which every symbol is expected to be a literal, a length or a distance. If a lane
// reads an end-of-block or undefined symbol, sets `last`, and the caller must undo the round.
void symbolRound(bool on, out bool last) {
    uvec2 symbol = on ? nextSymbol() : uvec2(0u);
    if (on) {
        uint value = symbolValue(symbol);
        gSlot = mix(gTokens + uint(bitCount(~gPending & lgLanesBelow())), gSlot, inMatch());
        // If the symbol is a length, this stores an incomplete token. The lane completes it when it
        // reads the distance, and nobody reads the token until then.
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
// Reads this lane's symbol in one of the two rounds of symbolRoundPair. `tokens` is the number of
// tokens that had begun before the round. `pending` is the mask of the lanes that read a distance
// in it, and `match` says whether this lane is one of them; on return, `match` says so for the next
// round. Returns the symbol's payload.
uint symbolOfPair(uint tokens, uint pending, inout bool match) {
    uvec2 symbol = huffmanDecode(bitsPeek(), mix(kLitCode, kDistCode, match));
    uint value = symbolValue(symbol);
    // Counts the lanes below this one that begin a token. It is bitCount(~pending &
    // lgLanesBelow()), with one instruction less.
    gSlot = mix(tokens + 32u - uint(bitCount(pending | 0xffffffffu << lgLane())), gSlot, match);
    // If the symbol is a length, this stores an incomplete token, which the next round completes.
    sToken[tokenAt(gSlot)] = value + gUpper;
    endSymbol(symbol, value);
    match = (symbol.y & kLength) != 0u;
    return symbol.y;
}

// Does two rounds with one refill, although the format has a refill after each round. The caller
// must test afterwards whether that was right: if no lane has read an end-of-block or undefined
// symbol, and every lane has at least one bit left. Then no lane needed bits of the word that the
// omitted refill would have given it. `symbols` collects all payloads by OR. `counts` collects the
// number of the lane's bits left, minus 1, by OR; it becomes negative if a lane had none left.
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

// Does kRoundsAtOnce rounds without branches. All lane groups must be inside a block, and
// bitsEnough must have returned true for the words that these rounds take. Only at the end, the
// function tests whether the rounds were valid. If not, it undoes all of them and returns false.
// `ahead` comes from bitsAhead. The pairs of rounds are written out because NVIDIA's compiler
// (driver 580) does not unroll loops with ballots.
const uint kRoundsAtOnce = 4u;
bool symbolRoundsAtOnce(uint ahead) {
    RoundState begin = saveRound();
    uint symbols = 0u, counts = 0u;
    bool match = inMatch();
    symbolRoundPair(symbols, counts, match);
    symbolRoundPair(symbols, counts, match);
    // This uses `ahead`, so that the compiler does not drop its load. It has no effect: only the
    // highest bit of `counts` is tested, and no flag has that bit.
    counts |= ahead & p.flags;
    bool good = !wgAnyLane((symbols & kSpecial) != 0u || int(counts) < 0);
    if (!good) restoreRound(begin);
    return good;
}
#endif

// Does a round of a stored block: each of up to 32 lanes reads one byte. A block without bytes
// still refills once.
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
