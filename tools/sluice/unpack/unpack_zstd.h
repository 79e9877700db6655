// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice unpack`, `verify` and `info` for Zstandard files.
#pragma once

#include <memory>

#include "tools/common/files.h"
#include "tools/common/tool.h"

namespace sluice {

// `first` is the open file options.input. options.selection.names are the paths of further files.
int runUnpackZstd(std::unique_ptr<InputFile> first, const UnpackOptions& options,
                  const CommonOptions& common);
int runVerifyZstd(std::unique_ptr<InputFile> first, const VerifyOptions& options,
                  const CommonOptions& common);
int runZstdInfo(std::unique_ptr<InputFile> file, bool json);

} // namespace sluice
