// SPDX-License-Identifier: MIT OR Apache-2.0
// Readers of pictures for which the tool uses libraries. Builds without them say so.
#pragma once

#include <string>

#include "encode/texture.h"
#include "tool.h"

namespace sluice {

// Both return an empty text, or say why the file is not read; then `pixels` is unspecified. What a
// file says of gamma or colour profiles is ignored, as engines do. Beside the file they take the
// picture's bytes, at most 1 GiB, and libjpeg as many again. Throw std::bad_alloc.
std::string readPng(const Bytes& file, Pixels& pixels);
std::string readJpeg(const Bytes& file, Pixels& pixels);

} // namespace sluice
