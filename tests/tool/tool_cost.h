// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures what a run of the tool costs, and says what no input below 10 MB may cost (SECURITY.md).
#pragma once

#include "tests/tool/tool_run.h"

namespace sluice::test {

struct Cost {
    int code = -1;
    double seconds = 0; // of a core
    uint64_t bytes = 0; // resident at most, in the process that took most
};
Cost costOf(const Folder& tool, const std::string& arguments);
// The tool succeeds, and takes neither the memory nor the time that no small input may take.
void checkCost(const Folder& tool, const std::string& arguments);

} // namespace sluice::test
