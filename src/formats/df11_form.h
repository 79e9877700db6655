// SPDX-License-Identifier: MIT OR Apache-2.0
// The two forms of a unit (tensors under one code), DFloat11 and ECF8, and the sizes of a unit's
// tables. The numbers are those of shaders/lib/layout/df11.h.
#pragma once

#include <sluice/sluice.h>
#include <sluice/sluice_df11.h>

#include <cstddef>

#include "layout/df11.h"

namespace sluice {

struct Df11Form {
    uint32_t maxCodeBytes;  // most bytes of the stream that a look-up takes
    uint32_t gapBits;       // bits that say where in a window the first code starts
    uint32_t positionBytes; // bytes of an entry of outputPositions
    uint32_t maxSymbol;
    uint32_t elementBytes; // bytes of a decoded element
};

constexpr uint32_t kDf11Pointer = SLUICE_DF11_POINTER;
constexpr uint32_t kDf11RowBytes = SLUICE_DF11_ROW_BYTES;
constexpr uint32_t kDf11WindowBits = SLUICE_DF11_WINDOW_BITS;
constexpr uint32_t kDf11MaxBlockElements = SLUICE_DF11_MAX_BLOCK_ELEMENTS;
static_assert(SLUICE_DF11_KIND_BF16 == SLUICE_DF11_BF16 &&
              SLUICE_DF11_KIND_FP8 == SLUICE_DF11_FP8_E4M3);
static_assert(sizeof(Df11Unit) == sizeof(SluiceDf11Unit) &&
              sizeof(Df11Unit) == SLUICE_DF11_UNIT_BYTES &&
              offsetof(Df11Unit, firstBlock) == 4 * SLUICE_DF11_FIRST_BLOCK_WORD &&
              offsetof(Df11Unit, kind) == offsetof(SluiceDf11Unit, kind) &&
              offsetof(Df11Unit, firstBlock) == offsetof(SluiceDf11Unit, firstBlock));

inline const Df11Form& df11Form(uint32_t kind)
{
    static constexpr Df11Form bf16 = {SLUICE_DF11_BF16_CODE_BYTES, SLUICE_DF11_BF16_GAP_BITS,
                                      SLUICE_DF11_BF16_POSITION_BYTES, SLUICE_DF11_BF16_MAX_SYMBOL,
                                      SLUICE_DF11_BF16_ELEMENT_BYTES};
    static constexpr Df11Form fp8 = {SLUICE_DF11_FP8_CODE_BYTES, SLUICE_DF11_FP8_GAP_BITS,
                                     SLUICE_DF11_FP8_POSITION_BYTES, SLUICE_DF11_FP8_MAX_SYMBOL,
                                     SLUICE_DF11_FP8_ELEMENT_BYTES};
    return kind == SLUICE_DF11_BF16 ? bf16 : fp8;
}

inline uint64_t df11Blocks(uint64_t encodedSize)
{
    return encodedSize / SLUICE_DF11_BLOCK_BYTES +
           (encodedSize % SLUICE_DF11_BLOCK_BYTES != 0 ? 1 : 0);
}

inline uint32_t blocksOf(const SluiceDf11Unit& unit)
{
    return uint32_t(df11Blocks(unit.encodedSize));
}

inline uint64_t df11BlockGapBytes(const Df11Form& form)
{
    return SLUICE_DF11_WINDOWS * form.gapBits / 8;
}

inline uint64_t df11SignMantissaBytes(const SluiceDf11Unit& unit)
{
    return unit.kind == SLUICE_DF11_BF16 ? unit.elementCount
                                         : (uint64_t(unit.elementCount) + 1) / 2;
}

// Returns whether a unit keeps the rules stated at SluiceDf11Unit. sourceSize, destinationSize:
// bytes of the buffers in which it lies.
inline bool validDf11Unit(const SluiceDf11Unit& unit, uint64_t sourceSize, uint64_t destinationSize)
{
    if ((unit.kind != SLUICE_DF11_BF16 && unit.kind != SLUICE_DF11_FP8_E4M3) ||
        unit.lutRows < SLUICE_DF11_MIN_ROWS || unit.lutRows > SLUICE_DF11_MAX_ROWS ||
        unit.elementCount > SLUICE_DF11_MAX_SIZE || unit.encodedSize > SLUICE_DF11_MAX_SIZE ||
        unit.reserved != 0)
        return false;
    const Df11Form& form = df11Form(unit.kind);
    const uint64_t blocks = df11Blocks(unit.encodedSize);
    const auto table = [sourceSize](uint64_t offset, uint64_t size) {
        return offset % 16 == 0 && offset <= sourceSize &&
               (size + 15) / 16 * 16 <= sourceSize - offset;
    };
    const uint64_t output = uint64_t(unit.elementCount) * form.elementBytes;
    return table(unit.lutsOffset, uint64_t(unit.lutRows) * kDf11RowBytes) &&
           table(unit.encodedOffset, unit.encodedSize) &&
           table(unit.signMantissaOffset, df11SignMantissaBytes(unit)) &&
           table(unit.outputPositionsOffset, blocks * form.positionBytes) &&
           table(unit.gapsOffset, blocks * df11BlockGapBytes(form)) &&
           unit.destinationOffset % 4 == 0 && unit.destinationOffset <= destinationSize &&
           output <= destinationSize - unit.destinationOffset;
}

} // namespace sluice
