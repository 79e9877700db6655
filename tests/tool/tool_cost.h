// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures what a run of the tool costs. No input below 10 MB may cost more than SECURITY.md says.
#pragma once

#include "tests/tool/tool_run.h"

namespace sluice::test {

#if defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kMostMemory = uint64_t(4) << 30; // this includes the sanitizer's own memory
#else
constexpr uint64_t kMostMemory = uint64_t(512) << 20;
#endif

struct Cost {
    int code = -1;
    double seconds = 0; // of one core's time
    uint64_t bytes = 0; // the most memory in use, by the process that used most
};
Cost costOf(const Folder& tool, const std::string& arguments);
// Checks that the tool succeeds and takes neither more memory nor more time than a small input may
// take.
void checkCost(const Folder& tool, const std::string& arguments);

} // namespace sluice::test
