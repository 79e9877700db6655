// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes the literals of a Gstd part, 128 at a time. Each lane decodes four neighbouring literals,
// which form one word of the output.
#ifndef SLUICE_GSTD_LITERALS_GLSL
#define SLUICE_GSTD_LITERALS_GLSL

#include "loops.glsl"
#include "gstd_tables.glsl"
#include "units.glsl"

// Decodes and returns one literal in each lane that is `on`; all lanes of the lane group call this.
// `mode` is one of SLUICE_GS_LITERALS_*. In the mode LITERALS_ONE all literals are `one`.
uint takeLiteral(bool on, uint mode, uint one) {
    ransRefill(on && mode != SLUICE_GS_LITERALS_ONE);
    uint literal = one;
    if (mode == SLUICE_GS_LITERALS_RANS) {
        literal = ransTake(on, 0u, kLiteralEntries, gLiteralLog);
    } else if (mode == SLUICE_GS_LITERALS_HUFFMAN) {
        uint entry = ransEntry(0u, kLiteralEntries,
                               bitfieldReverse(gState) >> (32u - SLUICE_GS_MAX_CODE_LENGTH));
        literal = entry & 255u;
        gState = mix(gState, gState >> (entry >> 8 & 15u), on);
    } else if (mode == SLUICE_GS_LITERALS_PLAIN) {
        literal = gState & 255u;
        gState = mix(gState, gState >> 8, on);
    }
    return literal;
}
// Decodes four literals in each lane, from number `first` + 4 * lane on. Returns them as a word,
// the first one in the lowest byte. Literals from number `count` on are not decoded, and their
// bytes are meaningless.
uint takeLiterals(uint first, uint count, uint mode, uint one) {
    uint own = first + 4u * lgLane();
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
    uint word = 0u;
    SLUICE_DONT_UNROLL
    for (uint k = 0u; k < 4u; ++k)
        word |= takeLiteral(own + k < count, mode, one) << 8u * k;
    return word;
#else
    // The four calls are written out because NVIDIA's compiler (driver 580) does not unroll loops
    // with ballots.
    uint a = takeLiteral(own < count, mode, one), b = takeLiteral(own + 1u < count, mode, one);
    uint c = takeLiteral(own + 2u < count, mode, one), d = takeLiteral(own + 3u < count, mode, one);
    return a | b << 8 | c << 16 | d << 24;
#endif
}

// Decodes `count` literals to bytes [end - count, end) of the tile; `end` is the end of the part.
// gstd_expand.comp reads the literals there before it overwrites them. The stores are aligned
// words. If the first literal is not at a multiple of 4, the literals are shifted up by `skew`
// bytes, so each lane's word also takes bytes from the word of the lane below.
void decodeLiterals(bool on, uint mode, uint one, uint count, uint end) {
    // `carried` is lane 31's word of the previous 128 literals.
    uint start = end - count, skew = start & 3u, carried = 0u;
    uint wanted = on ? count : 0u;
    for (uint first = 0u; wgAny(on && first < count + skew); first += 128u) {
        uint word, ahead = wordsAhead();
#if defined(SLUICE_NARROW) || defined(SLUICE_EMU)
        word = takeLiterals(first, wanted, mode, one);
#else
        // The mode is a constant in each call below, so that no branch stands between the literals.
        if (kLockstep)
            word = takeLiterals(first, wanted, mode, one);
        else if (sgUniform(mode == SLUICE_GS_LITERALS_RANS))
            word = takeLiterals(first, wanted, SLUICE_GS_LITERALS_RANS, one);
        else if (sgUniform(mode == SLUICE_GS_LITERALS_HUFFMAN))
            word = takeLiterals(first, wanted, SLUICE_GS_LITERALS_HUFFMAN, one);
        else if (sgUniform(mode == SLUICE_GS_LITERALS_PLAIN))
            word = takeLiterals(first, wanted, SLUICE_GS_LITERALS_PLAIN, one);
        else
            word = one * 0x01010101u;
#endif
        wordsMove(ahead);
        lgShare(word);
        uint below = lgShared(max(lgLane(), 1u) - 1u);
        below = mix(below, carried, lgLane() == 0u);
        carried = lgShared(31u);
        word = mix(word << 8u * skew | below >> ((32u - 8u * skew) & 31u), word, skew == 0u);
        uint at = first + 4u * lgLane(), to = start - skew + at;
        if (on && at < count + skew) {
            if (to + 4u <= end)
                WordsPlain(gDestination).w[to >> 2] = word;
            else
                storeWord(add64(gDestination, to), word, 0u, end - to);
        }
    }
}

#endif // SLUICE_GSTD_LITERALS_GLSL
