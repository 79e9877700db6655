// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/stream/stream_pass.h"

#include <algorithm>
#include <chrono>

#include "tools/common/platform.h"

namespace sluice {
namespace {

constexpr uint32_t kMostPasses = 11;

} // namespace

double secondsNow()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

PassClock::PassClock() : m_start(secondsNow()), m_cpuStart(processSeconds()) {}

StreamPass PassClock::finish(uint64_t bytes) const
{
    return {secondsNow() - m_start, processSeconds() - m_cpuStart, bytes};
}

BenchRow timePasses(const std::string& kernel, const std::string& size, const std::string& who,
                    const std::function<StreamPass()>& pass)
{
    std::vector<StreamPass> passes;
    double total = pass().seconds;
    do {
        passes.push_back(pass());
        total += passes.back().seconds;
    } while (passes.size() < kMostPasses && total < kPassSeconds);
    std::sort(passes.begin(), passes.end(),
              [](const StreamPass& a, const StreamPass& b) { return a.seconds < b.seconds; });
    double cpuSeconds = 0, bytes = 0;
    for (const StreamPass& one : passes) {
        cpuSeconds += one.cpuSeconds;
        bytes += double(one.bytes);
    }
    const StreamPass& median = passes[passes.size() / 2];
    BenchRow row = {kernel,
                    size,
                    who,
                    median.bytes,
                    {median.seconds * 1e3, passes.front().seconds * 1e3,
                     passes.back().seconds * 1e3, uint32_t(passes.size())}};
    row.figures.push_back({"cpu_s_per_gb", cpuSeconds / (bytes * 1e-9)});
    return row;
}

} // namespace sluice
