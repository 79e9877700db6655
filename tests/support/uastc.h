// SPDX-License-Identifier: MIT OR Apache-2.0
// UASTC blocks for tests, and what devices make of them.
#pragma once

#include <sluice/sluice_uastc.h>

#include "tests/support/devices.h"

#include "cpu/uastc.h"
#include "layout/uastc.h"

namespace sluice::test {

constexpr uint32_t kUastcModeCount = 19;

// Returns a file of tests/data/uastc.
Bytes uastcVectors(const char* name);

// Returns a random block of one of the 19 modes, or for mode 19 one with the reserved code.
Bytes uastcBlockOfMode(std::mt19937& random, uint32_t mode);

// The number of bits of a mode's code and the code itself.
struct UastcCode {
    uint32_t bits, code;
};
UastcCode uastcCodeOf(uint32_t mode);
// Sets the pattern of a block of a mode with patterns. Returns how many patterns there are, 0 if
// the mode has none.
uint32_t setUastcPattern(uint8_t* block, uint32_t mode, uint32_t pattern);

struct UastcTarget {
    uint32_t format, flags;
    uint32_t number; // SLUICE_UA_*
    uint32_t bytes;  // of 16 texels
};
constexpr UastcTarget kUastcTargets[] = {
    {145, 0, SLUICE_UA_BC7, 16},  {157, 0, SLUICE_UA_ASTC, 16},
    {37, 0, SLUICE_UA_RGBA8, 64}, {131, 0, SLUICE_UA_BC1, 8},
    {137, 0, SLUICE_UA_BC3, 16},  {139, 0, SLUICE_UA_BC4, 8},
    {141, 0, SLUICE_UA_BC5, 16},  {141, SLUICE_UASTC_SECOND_IS_ALPHA, SLUICE_UA_BC5_RA, 16},
    {147, 0, SLUICE_UA_ETC1, 8},  {151, 0, SLUICE_UA_ETC2, 16}};

// Makes the pipelines of the device, which devices do not have unless asked.
void needUastc(Device& on);

// A region of a test: its blocks begin at a byte of the source.
struct UastcPiece {
    uint64_t offset;
    uint32_t width, height;
};

// What the reference makes of a piece.
struct UastcMade {
    Bytes output;
    SluiceUastcInvalid invalid = {0, ~0u};
};
UastcMade uastcMade(const UastcTarget& target, const Bytes& source, const UastcPiece& piece);

// Transcodes pieces of `source` on a device, and compares bytes, statuses, counts of invalid blocks
// and the bytes around the outputs with the reference. inPlace: the source is also the destination.
void checkUastc(Device& on, const UastcTarget& target, const Bytes& source,
                const std::vector<UastcPiece>& pieces, bool inPlace = false);

} // namespace sluice::test
