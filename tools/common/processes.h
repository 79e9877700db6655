// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs further processes of this tool, so that a crash or a hang of a driver stays in them.
#pragma once

#include <string>
#include <vector>

namespace sluice {

struct ChildResult {
    enum class End {
        exited,   // with `code`
        killed,   // by signal `code`; on Windows, by exception `code`
        stopped,  // by runTool, after the time limit
        notBegun, // `errors` says why
    };
    End end = End::notBegun;
    int code = 0;
    std::string output, errors; // the first 16 MiB of stdout, the last 4 KiB of stderr
};

constexpr size_t kMostChildOutput = 16u << 20, kMostChildErrors = 4096;

// Runs this tool in a new process with these arguments and an empty stdin, and waits until the
// process has ended. Ends it by force after `seconds`.
ChildResult runTool(const std::vector<std::string>& arguments, double seconds);
// Returns how a killed process ended, for example "signal 11 (Segmentation fault)".
std::string endText(const ChildResult& result);

} // namespace sluice
