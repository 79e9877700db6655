// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice tune: measures what the tuning table (src/vulkan/tuning.h, src/cuda/tuning.h) chooses by,
// and prints the row for the device at hand.
#pragma once

#include <string>
#include <vector>

#include "tools/common/tool.h"

namespace sluice {

struct TuneOptions {
    DeviceOptions device;
    std::vector<std::string> only; // members, or the first parts of their names; none: all
    double seconds = 60;           // about, for all of them
    bool candidates = false;       // measures nothing
    std::string json;              // also write all measurements here; empty: do not
};

int runTune(const TuneOptions& options, const CommonOptions& common);

// What --tuning means: the text itself, or with @ before it a file's; without comments, which run
// from # to the end of the line. Throws a Failure.
std::string tuningText(const std::string& option);

} // namespace sluice
