// SPDX-License-Identifier: MIT OR Apache-2.0
// Readers of pictures that need libraries. In a build without such a library, its reader returns a
// text that says so.
#pragma once

#include <string>

#include "encode/image/texture.h"
#include "tools/common/tool.h"

namespace sluice {

// Both return an empty text on success. Otherwise the text says why the file is not read, and
// `pixels` is unspecified. Like engines, they ignore gamma and colour profiles in a file. In
// addition to the file they use at most `limit` bytes, JPEG coefficients included; a picture that
// needs more is not read. They throw std::bad_alloc.
std::string readPng(const Bytes& file, uint64_t limit, Pixels& pixels);
std::string readJpeg(const Bytes& file, uint64_t limit, Pixels& pixels);

} // namespace sluice
