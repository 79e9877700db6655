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
    if (const uint32_t columns = terminalColumns(); columns != 0)
        text.resize(std::min<size_t>(text.size(), columns - 1u)); // a full line would wrap
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
    const double rate = double(m_done) / seconds;
    std::string line = m_verb + " " + sizeText(m_done);
    if (m_total != 0) {
        const double part = double(m_done) / double(m_total);
        line += " of " + sizeText(m_total) + formatText(", %.0f %%", 100 * part);
    }
    line += ", " + sizeText(uint64_t(rate)) + "/s";
    if (m_total > m_done && rate > 0) {
        const uint64_t left = uint64_t(double(m_total - m_done) / rate + 0.5);
        line += formatText(", %u:%02u left", uint32_t(left / 60), uint32_t(left % 60));
    }
    m_line.show(std::move(line));
}

} // namespace sluice
