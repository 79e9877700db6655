// SPDX-License-Identifier: MIT OR Apache-2.0
// Version numbers of the encoders. Caches of encoded assets store them, to notice when an encoder
// has changed.
#pragma once

#include "formats/integers.h"

namespace sluice {

// Raise this when an encoder, a filter plan or the cutting into tiles gives another result for the
// same bytes and options: entries that an older version cached are then made again.
// tests/encode/encoder_version_test.cpp fails if results have changed and this number has not.
constexpr uint32_t kEncoderVersion = 5;

// Returns kEncoderVersion combined with libzstd's version, since libzstd finds the matches of Gstd.
uint64_t encoderId();

} // namespace sluice
