// SPDX-License-Identifier: MIT OR Apache-2.0
// The payload of GDeflate's symbols: what gdeflate.comp wants to know about a symbol, in 16 bits.
// lib/huffman.glsl stores payloads in its tables.
#ifndef SLUICE_GDEFLATE_SYMBOLS_GLSL
#define SLUICE_GDEFLATE_SYMBOLS_GLSL

#include "formulas/gdeflate.h"

// kLitCode and kDistCode are the numbers of a block's two codes; their payloads begin at kLitFirst
// and kDistFirst in sSorted (huffman.glsl). The precode, the code of the code lengths, uses the
// memory of the first code, which is built when the precode is no longer needed.
const uint kLitCode = 0u, kLitFirst = 0u;
const uint kDistCode = 1u, kDistFirst = 288u;
const uint kPrecode = 2u; // only as `kind` of huffmanPayload

// A payload has these fields:
//   bits 0 .. 4    the length of the symbol's code plus its extra bits
//   bits 5 .. 12   a literal's byte; otherwise the part of the value above the extra bits
// and the following flags.
const uint kLength = 1u << 13;    // the symbol begins a match; its length is the value + 2
const uint kSpecial = 1u << 14;   // the symbol ends the block, or is undefined
const uint kUndefined = 1u << 15; // the symbol must not occur
// Returns the payload of a symbol with a code of `len` bits. `kind` is kLitCode, kDistCode or
// kPrecode; the payload of the precode is the symbol itself.
uint huffmanPayload(uint kind, uint symbol, uint len) {
    if (kind == kPrecode) return symbol;
    bool distance = kind == kDistCode;
    uint slot = distance ? symbol : symbol - 257u, mantissaBits = distance ? 1u : 2u;
    uint extraBits = min(gdeflateExtraBits(slot, mantissaBits), 15u);
    uint above = gdeflateMantissa(slot, mantissaBits, extraBits), flags = 0u;
    if (!distance) {
        bool longest = slot == 28u, match = slot <= 28u;
        extraBits = mix(0u, mix(extraBits, 16u, longest), match);
        above = mix(symbol & 0xffu, mix(above, 0u, longest), match);
        flags = mix(mix(kSpecial | kUndefined, kSpecial, symbol == 256u), 0u, symbol < 256u);
        flags = mix(flags, kLength, match);
    }
    return (len + extraBits) | above << 5 | flags;
}

#endif // SLUICE_GDEFLATE_SYMBOLS_GLSL
