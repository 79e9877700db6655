// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice pack -c float: which codec each part of a .safetensors file gets.
#pragma once

#include <string>
#include <vector>

#include <sluice/sluice_archive.h>

#include "files.h"
#include "tool.h"

namespace sluice {

// The segments of a .safetensors file: header and small remains as GDeflate, floating-point tensors
// as FLOAT of their type, of other large tensors whatever makes samples of them smallest. The same
// bytes give the same segments. None if the file is no .safetensors file; reason then says why if
// it looks like one.
std::vector<SluiceArchiveSegment>
planWeightSegments(const InputFile& file, const PackOptions& options, std::string& reason);

} // namespace sluice
