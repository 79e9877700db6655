// SPDX-License-Identifier: MIT OR Apache-2.0
// Readers of pictures for which the tool uses libraries. Builds without them say so.
#pragma once

#include <string>

#include "encode/texture.h"
#include "tool.h"

namespace sluice {

// Both return an empty text, or say why the file is not read; then `pixels` is unspecified. What a
// file says of gamma or colour profiles is ignored, as engines do. Memory stays below 5 GiB for the
// largest picture, whatever the file.
std::string readPng(const Bytes& file, Pixels& pixels);
std::string readJpeg(const Bytes& file, Pixels& pixels);

} // namespace sluice
