// SPDX-License-Identifier: MIT OR Apache-2.0
// Divides the time that a benchmark may take among what it measures.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace sluice {

// A name is a kernel of the benchmark, or a variant of one ("NAME: VARIANT"). When the first row of
// a name begins, the name gets a share of the time that is left. What it does not use of its share
// goes to the names after it. The first row of a name is measured if there is any time at all,
// further rows only if the rest of the share is enough for another row like the last one.
class Budget {
public:
    // The rows of a name that were left out.
    struct Cut {
        std::string name;
        std::vector<std::string> sizes; // of these rows
        bool all;                       // nothing of the name was measured
    };

    // 0 seconds: no limit, and the other functions have no effect.
    explicit Budget(double seconds = 0) : m_seconds(seconds) {}

    bool isLimited() const { return m_seconds > 0; }
    double seconds() const { return m_seconds; }
    double left() const { return isLimited() ? m_seconds - elapsed() : 0; }
    bool isOver() const { return isLimited() && left() <= 0; }
    // Announces a kernel of about this many rows, in this many variants. Variants divide the
    // kernel's share equally.
    void expect(const std::string& name, double rows, double variants);
    // Returns whether this row of `name` may be measured now. If not, cuts() will list `size`.
    bool hasTime(const std::string& name, const std::string& size);
    // Returns what was left out: first the names of which rows began, in their order, then the
    // names of which none began.
    std::vector<Cut> cuts() const;

    // Returns the sizes in the order in which to measure them: under a limit the largest, which say
    // most, come first.
    template <class T>
    std::vector<T> ordered(std::vector<T> sizes) const
    {
        return isLimited() ? std::vector<T>(sizes.rbegin(), sizes.rend()) : sizes;
    }

private:
    using Clock = std::chrono::steady_clock;

    struct Expected {
        std::string name;
        double rows, variants;
        bool began;
    };
    struct Share {
        double left = 0, lastRow = 0; // seconds
        bool measured = false;        // at least one row
        std::vector<std::string> cut;
    };

    double elapsed() const { return std::chrono::duration<double>(Clock::now() - m_start).count(); }
    double weightOf(const std::string& name);

    double m_seconds;
    Clock::time_point m_start = Clock::now();
    std::vector<Expected> m_expected;
    double m_rowsLeft = 0; // rows expected of names without a share
    std::map<std::string, Share> m_shares;
    std::vector<std::string> m_order; // the keys of m_shares, in the order in which they began
    Share* m_current = nullptr;       // of the row that is being measured
    double m_rowStart = 0;
};

} // namespace sluice
