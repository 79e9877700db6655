// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/progress.h"

#include <algorithm>
#include <utility>

#include "tools/common/platform.h"
#include "tools/common/tool.h"

namespace sluice {

StatusLine::StatusLine(bool quiet) : m_enabled(!quiet && isTerminal(OutputStream::error)) {}

void StatusLine::show(std::string text)
{
    if (!m_enabled) return;
    if (const uint32_t columns = terminalColumns(OutputStream::error); columns != 0)
        // A full line would make the terminal wrap.
        text.resize(std::min<size_t>(text.size(), columns - 1u));
    printMessage("\r\033[K%s", text.c_str());
    m_shown = true;
}

void StatusLine::clear()
{
    if (!m_shown) return;
    printMessage("\r\033[K");
    m_shown = false;
}

Progress::Progress(std::string verb, uint64_t total, bool quiet)
    : m_line(quiet), m_verb(std::move(verb)), m_total(total), m_start(Clock::now()), m_last(m_start)
{
}

void Progress::advance(uint64_t bytes)
{
    m_done += bytes;
    if (!m_line.isShown()) {
        return;
    }
    const Clock::time_point now = Clock::now();
    if (now - m_last >= std::chrono::milliseconds(100)) {
        m_last = now;
        print(now);
    }
}

void Progress::print(Clock::time_point now)
{
    const double seconds = std::chrono::duration<double>(now - m_start).count();
    m_line.show(progressText(m_verb, m_done, m_total, seconds));
}

std::string progressText(const std::string& verb, uint64_t done, uint64_t total, double seconds)
{
    std::string line = verb + " " + sizeText(done);
    const double part = total != 0 ? std::min(double(done) / double(total), 1.0) : 0;
    if (total != 0) line += " of " + sizeText(total) + formatText(", %.0f %%", 100 * part);
    const double rate = double(done) / seconds;
    line += ", " + sizeText(uint64_t(rate)) + "/s";
    // Bytes are counted when they are read, before they are processed, and the first file may still
    // be in planning. So the rate predicts the remaining time only after a while.
    constexpr double kLeastSeconds = 2, kLeastPart = 0.02, kEnoughSeconds = 20;
    const bool isKnown =
        seconds >= kEnoughSeconds || (seconds >= kLeastSeconds && part >= kLeastPart);
    if (total <= done || done == 0 || !isKnown) return line;
    const double left = double(total - done) / rate + 0.5;
    if (left >= 100 * 3600.0) return line + ", days left";
    const uint32_t whole = uint32_t(left), hours = whole / 3600, minutes = whole / 60 % 60;
    line += hours != 0 ? formatText(", %u:%02u:%02u left", hours, minutes, whole % 60)
                       : formatText(", %u:%02u left", minutes, whole % 60);
    return line;
}

} // namespace sluice
