// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice tune: measures the numbers of the tuning table (src/vulkan/tuning.h, src/cuda/tuning.h),
// and prints the row for the current device.
#pragma once

#include <string>
#include <vector>

#include "tools/common/tool.h"

namespace sluice {

struct TuneOptions {
    DeviceOptions device;
    std::vector<std::string> only; // members, or the first parts of their names; none: all
    double seconds = 60;           // about how long for all of them
    bool candidates = false;       // measures nothing
    std::string json;              // also write all measurements here; empty: do not
};

int runTune(const TuneOptions& options, const CommonOptions& common);

// Returns the row that --tuning means: the text itself or, with @ in front, that of a file; without
// comments, which run from # to the end of the line. Throws a Failure.
std::string tuningText(const std::string& option);

} // namespace sluice
