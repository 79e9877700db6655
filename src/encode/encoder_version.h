// SPDX-License-Identifier: MIT OR Apache-2.0
// The versions that cached results of the encoders depend on, besides the bytes and the options.
#pragma once

#include "formats/integers.h"

namespace sluice {

// Raise this with every change that makes an encoder, a filter plan or the cutting into tiles give
// another result for the same bytes and options. It invalidates caches of older versions.
// tests/encode/encoder_version_test.cpp fails if results have changed and this number has not.
constexpr uint32_t kEncoderVersion = 4;

// Returns kEncoderVersion combined with libzstd's version, since libzstd finds the matches of Gstd.
uint64_t encoderId();

} // namespace sluice
