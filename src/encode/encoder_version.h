// SPDX-License-Identifier: MIT OR Apache-2.0
// What kept results of the encoders depend on besides the bytes and the options.
#pragma once

#include "formats/integers.h"

namespace sluice {

// Is raised by whoever changes what an encoder, a filter plan or the cuts of tiles give for the
// same bytes and options; caches of older versions are then of no use.
// tests/encode/encoder_version_test.cpp fails where the bytes have changed and this has not.
constexpr u32 kEncoderVersion = 4;

// The version above and that of libzstd, which finds the matches of Gstd.
u64 encoderId();

} // namespace sluice
