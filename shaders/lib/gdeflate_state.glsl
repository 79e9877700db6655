// SPDX-License-Identifier: MIT OR Apache-2.0
// The variables of gdeflate.comp's decode stage, for one lane group and its tile. The includer
// defines kTiles, kSuspends and tileIndex(), which gdeflate.comp explains.
#ifndef SLUICE_GDEFLATE_STATE_GLSL
#define SLUICE_GDEFLATE_STATE_GLSL

#include "bit_reader.glsl"
#include "lz_expand.glsl"

// The values of gState, which say what the decode stage reads next.
const uint kAtHeader = 0u;  // the header of a block
const uint kInSymbols = 1u; // the symbols of a block with codes
const uint kInStored = 2u;  // the bytes of a stored block
const uint kDone = 3u;      // nothing, after the end or an error

// The following variables have the same values in all lanes of the lane group.
uint gState, gStatus; // gStatus is SLUICE_ST_PENDING until gState is kDone
// The number of blocks that have begun; bit kFinal is set in the last one.
uint gBlocks;
const uint kFinal = 1u << 31;
uint gTokens;       // how many tokens have begun; after the end, how many are complete
uint gTokensBefore; // gTokens as it was before the last round
uint gStoredLeft;   // bytes that the stored block still has
uint gPending;      // bit k is set if lane k reads a distance next
// These two variables belong to the lane. gSlot is the number of the token of the lane's match.
// gUpper has, in its upper half, the upper half of that token: the match's length - 1. It is
// kLiteral if the lane reads a literal or a length next.
const uint kLiteral = 0xff00u; // a literal's token is this plus its byte (lz_expand.glsl)
uint gSlot, gUpper;

// While the expand stage runs, the variables that are uniform in the lane group are kept here and
// not in registers. On NVIDIA this reduces the registers from 70 to 61, so that 16 instead of 14
// tiles fit on a multiprocessor.
shared uvec4 sDecode[kSuspends ? 3u * kTiles : 1u];

void decodeSuspend() {
    if (kSuspends && lgLane() == 0u) {
        sDecode[3u * tileIndex()] = uvec4(gBitsSource, gBitsBytes, gBitsNext);
        sDecode[3u * tileIndex() + 1u] = uvec4(gState, gStatus, gBlocks, gStoredLeft);
        sDecode[3u * tileIndex() + 2u] = uvec4(gTokens, gTokensBefore, gPending, 0u);
    }
    lgBarrierShared();
}

void decodeResume() {
    if (!kSuspends) return;
    uvec4 bits = sDecode[3u * tileIndex()], state = sDecode[3u * tileIndex() + 1u],
          tokens = sDecode[3u * tileIndex() + 2u];
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

// Returns how many tokens are complete, counted from the first one. If some token of the last round
// still waits for its distance, no token of that round counts.
uint tokensComplete() { return gPending != 0u ? gTokensBefore : gTokens; }

// Ends the tile with this status. Tokens that still lack their distance are dropped.
void finish(uint status) {
    gTokens = tokensComplete();
    gPending = 0u;
    gStatus = status;
    gState = kDone;
}

void fail(bool condition, uint status) {
    if (condition && gState != kDone) finish(status);
}

// Ends the block; if it was the last one, the tile is complete.
void blockDone() {
    gPending = 0u;
    gState = kAtHeader;
    if ((gBlocks & kFinal) != 0u) finish(SLUICE_ST_OK);
}

#endif // SLUICE_GDEFLATE_STATE_GLSL
