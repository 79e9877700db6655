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
    double seconds = 60;           // approximate time for all of them together
    bool candidates = false;       // lists the candidates and measures nothing
    std::string json;              // the file that also gets all measurements; empty: none
};

int runTune(const TuneOptions& options, const CommonOptions& common);

// Returns the row that --tuning means: the text itself or, if it begins with @, the content of that
// file. Comments, which run from # to the end of the line, are removed. Throws a Failure.
std::string tuningText(const std::string& option);

} // namespace sluice
