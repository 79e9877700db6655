// SPDX-License-Identifier: MIT OR Apache-2.0
// Readers of pictures for which the tool uses libraries. Builds without them say so.
#pragma once

#include <string>

#include "encode/image/texture.h"
#include "tools/common/tool.h"

namespace sluice {

// Both return an empty text, or say why the file is not read; then `pixels` is unspecified. What a
// file says of gamma or colour profiles is ignored, as engines do. Beside the file they take at most
// `limit` bytes, coefficients of JPEG among them: a picture that needs more is not read. Throw
// std::bad_alloc.
std::string readPng(const Bytes& file, uint64_t limit, Pixels& pixels);
std::string readJpeg(const Bytes& file, uint64_t limit, Pixels& pixels);

} // namespace sluice
