// SPDX-License-Identifier: MIT OR Apache-2.0
#include "progress.h"

#include <cstdio>
#include <utility>

#include <unistd.h>

#include "tool.h"

namespace sluice {

Progress::Progress(std::string verb, uint64_t total, bool quiet)
    : verb_(std::move(verb)), total_(total), enabled_(!quiet && isatty(STDERR_FILENO) != 0),
      start_(Clock::now()), last_(start_)
{
}

void Progress::advance(uint64_t bytes)
{
    done_ += bytes;
    if (!enabled_) {
        return;
    }
    const Clock::time_point now = Clock::now();
    if (now - last_ >= std::chrono::milliseconds(100)) {
        last_ = now;
        print(now);
    }
}

void Progress::print(Clock::time_point now)
{
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = double(done_) / seconds;
    std::string line = verb_ + " " + sizeText(done_);
    if (total_ != 0) {
        const double part = double(done_) / double(total_);
        line += " of " + sizeText(total_) + formatText(", %.0f %%", 100 * part);
    }
    line += ", " + sizeText(uint64_t(rate)) + "/s";
    if (total_ > done_ && rate > 0) {
        const uint64_t left = uint64_t(double(total_ - done_) / rate + 0.5);
        line += formatText(", %u:%02u left", unsigned(left / 60), unsigned(left % 60));
    }
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
    shown_ = true;
}

void Progress::clear()
{
    if (shown_) {
        std::fputs("\r\033[K", stderr);
        std::fflush(stderr);
        shown_ = false;
    }
}

} // namespace sluice
