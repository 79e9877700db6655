// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice tune`: measures what the numbers of the tuning table (src/vulkan/tuning.h,
// src/cuda/tuning.h) should be, and prints the row for a device.
#pragma once

#include <string>
#include <vector>

#include "tools/common/tool.h"

namespace sluice {

struct TuneOptions {
    DeviceOptions device;
    std::vector<std::string> only; // members to measure, or first parts of their names; none: all
    double seconds = 60;           // about how long all of them together may take
    bool candidates = false;       // list what would be measured, and measure nothing
    std::string json;              // file for all measurements; empty: none
};

int runTune(const TuneOptions& options, const CommonOptions& common);

// Returns the tuning row that --tuning gives: the text itself or, after an @, the content of that
// file. Comments, from # to the end of a line, are removed. Throws a Failure.
std::string tuningText(const std::string& option);
// Throws a Failure if the row has a member that no backend has, or a value that is out of range.
// This does not depend on the device, so it also checks rows for devices without any tuning, such
// as the CPU.
void checkTuning(const std::string& row);

} // namespace sluice
