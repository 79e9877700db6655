// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "tools/common/tool.h"

namespace sluice {

// Does `sluice transcode --reblock`.
int runReblock(const TranscodeOptions& options, const CommonOptions& common);

} // namespace sluice
