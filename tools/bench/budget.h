// SPDX-License-Identifier: MIT OR Apache-2.0
// Divides the time that a benchmark may take among what it measures.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace sluice {

// A name is a kernel of the benchmark, or a variant of one ("NAME: VARIANT"). When the first row of
// a name begins, the name gets a share of the time that is left. Time that a name does not use goes
// to the names after it. The first row of a name is measured if there is any time at all, further
// rows only if the rest of the share is enough for another row like the last one.
class Budget {
public:
    // The rows of a name that were left out.
    struct Cut {
        std::string name;
        std::vector<std::string> sizes; // of the omitted rows
        bool all;                       // nothing of the name was measured
    };

    // seconds: 0 means that there is no limit and that the other functions have no effect.
    explicit Budget(double seconds = 0) : m_seconds(seconds) {}

    bool isLimited() const { return m_seconds > 0; }
    double seconds() const { return m_seconds; }
    double left() const { return isLimited() ? m_seconds - elapsed() : 0; }
    bool isOver() const { return isLimited() && left() <= 0; }
    // Announces a kernel that will have about this many rows in all. Its variants divide its share
    // of the time equally.
    void expect(const std::string& name, double rows, double variants);
    // Returns whether this row of `name` may be measured now. If not, cuts() will list `size`.
    bool hasTime(const std::string& name, const std::string& size);
    // Returns the names with omitted rows: first the names that hasTime() was asked about, in that
    // order, then the expected names that it was never asked about.
    std::vector<Cut> cuts() const;

    // Returns `sizes`, which ascend, in the order in which to measure them. With a time limit, the
    // largest come first, since they are the most informative.
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
        bool measured = false;        // at least one row was measured
        std::vector<std::string> cut;
    };

    double elapsed() const { return std::chrono::duration<double>(Clock::now() - m_start).count(); }
    double weightOf(const std::string& name);

    double m_seconds;
    Clock::time_point m_start = Clock::now();
    std::vector<Expected> m_expected;
    double m_rowsLeft = 0; // rows expected of the names that have no share yet
    std::map<std::string, Share> m_shares;
    std::vector<std::string> m_order; // the keys of m_shares, in the order in which they began
    Share* m_current = nullptr;       // the share that pays for the row being measured
    double m_rowStart = 0;
};

} // namespace sluice
