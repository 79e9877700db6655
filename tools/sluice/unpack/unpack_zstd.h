// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice unpack`, `verify` and `info` for Zstandard files.
#pragma once

#include <memory>

#include "tools/common/files.h"
#include "tools/common/tool.h"

namespace sluice {

// `first` is options.input, opened. Selected names are further files.
int runUnpackZstd(std::unique_ptr<InputFile> first, const UnpackOptions& options,
                  const CommonOptions& common);
int runVerifyZstd(std::unique_ptr<InputFile> first, const VerifyOptions& options,
                  const CommonOptions& common);
int runZstdInfo(std::unique_ptr<InputFile> file, bool json);

} // namespace sluice
