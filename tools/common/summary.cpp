// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/summary.h"

#include "tools/common/platform.h"

namespace sluice {

std::string ratioText(uint64_t stored, uint64_t plain)
{
    return plain != 0 ? formatText("%.1f %%", 100 * double(stored) / double(plain)) : "-";
}

void Summary::print(uint64_t files, uint64_t plain, uint64_t stored) const
{
    const bool wanted = m_common.verbosity > 0 || isTerminal(OutputStream::error);
    if (m_common.quiet || !wanted) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - m_start).count();
    printMessage("%llu file%s, %s, %s, %s, %.1f s\n", wide(files), files == 1 ? "" : "s",
                 sizeText(plain).c_str(), sizeText(stored).c_str(),
                 ratioText(stored, plain).c_str(), seconds);
}

} // namespace sluice
