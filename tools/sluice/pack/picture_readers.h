// SPDX-License-Identifier: MIT OR Apache-2.0
// Readers of pictures for which the tool uses libraries. In builds without these libraries they say
// so.
#pragma once

#include <string>

#include "encode/image/texture.h"
#include "tools/common/tool.h"

namespace sluice {

// Both return an empty text, or say why the file is not read; then `pixels` is unspecified. Gamma
// and colour profiles in a file are ignored, as engines do. Besides the file they take at most
// `limit` bytes, JPEG coefficients included; a picture that needs more is not read. They throw
// std::bad_alloc.
std::string readPng(const Bytes& file, uint64_t limit, Pixels& pixels);
std::string readJpeg(const Bytes& file, uint64_t limit, Pixels& pixels);

} // namespace sluice
