// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/tool/tool_cost.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {
namespace {

constexpr double kMostSeconds = kSlow ? 200 : 20; // of one core's time

} // namespace

Cost costOf(const Folder& tool, const std::string& arguments)
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork(); // a child, so that only the tool is counted
    if (child == 0) {
        Cost cost;
        cost.code = tool(arguments);
        struct rusage usage = {};
        getrusage(RUSAGE_CHILDREN, &usage);
        cost.seconds = double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                       double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
        cost.bytes = uint64_t(usage.ru_maxrss) * 1024;
        _exit(write(ends[1], &cost, sizeof(cost)) == ssize_t(sizeof(cost)) ? 0 : 1);
    }
    Cost cost;
    close(ends[1]);
    REQUIRE(read(ends[0], &cost, sizeof(cost)) == ssize_t(sizeof(cost)));
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return cost;
}

void checkCost(const Folder& tool, const std::string& arguments)
{
    // A new process first counts the memory of the process that began it, so that is added.
    const uint64_t least = costOf(tool, "--version").bytes;
    const Cost cost = costOf(tool, arguments);
    CAPTURE(arguments);
    CHECK(cost.code == 0);
    CHECK(cost.seconds < kMostSeconds);
    CHECK(cost.bytes < kMostMemory + least);
}

} // namespace sluice::test
