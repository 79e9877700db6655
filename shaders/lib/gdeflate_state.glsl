// SPDX-License-Identifier: MIT OR Apache-2.0
// The state of gdeflate.comp's decode stage. The includer defines kTiles, kSuspends and
// tileIndex().
#ifndef SLUICE_GDEFLATE_STATE_GLSL
#define SLUICE_GDEFLATE_STATE_GLSL

#include "bit_reader.glsl"
#include "lz_expand.glsl"

// The values of gState: where the stage is.
const uint kAtHeader = 0u;  // at the start of a block
const uint kInSymbols = 1u; // inside a block of codes
const uint kInStored = 2u;  // inside a stored block
const uint kDone = 3u;      // at the end or at an error

// These are the same in all lanes of the group.
uint gState, gStatus; // gStatus is PENDING as long as there is more to come
uint gBlocks;         // how many blocks have begun, and kFinal while in the last one
const uint kFinal = 1u << 31;
uint gTokens;       // how many tokens have begun; at the end, how many are complete
uint gTokensBefore; // gTokens before the last round
uint gStoredLeft;   // bytes left in the stored block
uint gPending;      // lanes that read a distance next
// gSlot is the index of the token of the lane's match. gUpper is the match's length - 1 in the form
// in which the token holds it, or kLiteral if the lane reads a literal or a length next.
const uint kLiteral = 0xff00u; // in a literal's token, see lz_expand.glsl
uint gSlot, gUpper;

// Values that are uniform in the lane group are kept here while the other stage runs, as in
// lzSuspend. On NVIDIA this reduces the registers from 70 to 61, so that 16 instead of 14 tiles fit
// on a multiprocessor.
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

#endif // SLUICE_GDEFLATE_STATE_GLSL
