// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/budget.h"

#include <algorithm>

namespace sluice {

void Budget::expect(const std::string& name, double rows, double variants)
{
    m_expected.push_back({name, rows, variants, false});
    m_rowsLeft += rows;
}

// Returns how many rows are expected of `name`, which is a kernel or one variant of a kernel, and
// subtracts them from m_rowsLeft.
double Budget::weightOf(const std::string& name)
{
    const std::string base = name.substr(0, name.find(':'));
    const auto found = std::find_if(m_expected.begin(), m_expected.end(),
                                    [&](const Expected& one) { return one.name == base; });
    if (found == m_expected.end()) return 1;
    found->began = true;
    const double rows = found->rows / found->variants;
    m_rowsLeft = std::max(m_rowsLeft - rows, 0.0);
    return rows;
}

bool Budget::hasTime(const std::string& name, const std::string& size)
{
    if (!isLimited()) return true;
    const double now = elapsed();
    if (m_current != nullptr) {
        m_current->lastRow = now - m_rowStart;
        m_current->left -= m_current->lastRow;
        m_current = nullptr;
    }
    const auto [place, isNew] = m_shares.try_emplace(name);
    Share& share = place->second;
    if (isNew) {
        m_order.push_back(name);
        const double rows = weightOf(name);
        share.left = std::max(m_seconds - now, 0.0) * rows / (rows + m_rowsLeft);
    }
    if (now >= m_seconds || (share.measured && share.left < share.lastRow)) {
        share.cut.push_back(size);
        return false;
    }
    share.measured = true;
    m_current = &share;
    m_rowStart = now;
    return true;
}

std::vector<Budget::Cut> Budget::cuts() const
{
    std::vector<Cut> cuts;
    for (const std::string& name : m_order) {
        const Share& share = m_shares.at(name);
        if (!share.cut.empty()) cuts.push_back({name, share.cut, !share.measured});
    }
    for (const Expected& one : m_expected)
        if (!one.began) cuts.push_back({one.name, {}, true});
    return cuts;
}

} // namespace sluice
