// SPDX-License-Identifier: MIT OR Apache-2.0
// The versions that cached results of the encoders depend on, besides the bytes and the options.
#pragma once

#include "formats/integers.h"

namespace sluice {

// Must be raised with every change of what an encoder, a filter plan or the cuts of tiles give for
// the same bytes and options; caches of older versions are then invalid.
// tests/encode/encoder_version_test.cpp fails if the bytes have changed and this has not.
constexpr uint32_t kEncoderVersion = 4;

// Returns the version above with that of libzstd, which finds the matches of Gstd.
uint64_t encoderId();

} // namespace sluice
