// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs other processes of this tool, so that a crash or hang stays in them: processes_posix.cpp and
// processes_windows.cpp.
#pragma once

#include <string>
#include <vector>

namespace sluice {

struct ChildResult {
    enum class End {
        exited,   // with `code`
        killed,   // by the signal `code`, or on Windows by the exception of that number
        stopped,  // by us, when its time was over
        notBegun, // `error` says why
    };
    End end = End::notBegun;
    int code = 0;
    std::string output, errors; // the first 16 MiB of its stdout, the last 4 KiB of its stderr
};

constexpr size_t kMostChildOutput = 16u << 20, kMostChildErrors = 4096;

// Runs this same tool with other arguments and an empty stdin. Waits until the process has ended,
// and stops it after this many seconds.
ChildResult runTool(const std::vector<std::string>& arguments, double seconds);
// Describes how a process ended that did not exit: "signal 11 (Segmentation fault)".
std::string endText(const ChildResult& result);

} // namespace sluice
