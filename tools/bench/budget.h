// SPDX-License-Identifier: MIT OR Apache-2.0
// The time that a benchmark may take, shared out among what it measures.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace sluice {

// When the first row of a name begins, the name gets a share of the time that is left. Time that it
// does not use goes to the names after it. The first row of a name is measured as long as there is
// any time at all, every other row only if the name's share suffices for another row like the last
// one.
class Budget {
public:
    // Says what was not measured of a name; all: nothing of it was.
    struct Cut {
        std::string name;
        std::vector<std::string> sizes;
        bool all;
    };

    // 0 seconds mean that there is no limit; then nothing else here has an effect.
    explicit Budget(double seconds = 0) : m_seconds(seconds) {}

    bool isLimited() const { return m_seconds > 0; }
    double seconds() const { return m_seconds; }
    double left() const { return isLimited() ? m_seconds - elapsed() : 0; }
    bool isOver() const { return isLimited() && left() <= 0; }
    // Announces that a name will be measured, with about this many rows and variants ("NAME:
    // VARIANT"). The variants divide the share equally.
    void expect(const std::string& name, double rows, double variants);
    // Returns whether the row of a name and size is to be measured now. If not, cuts() lists it.
    bool hasTime(const std::string& name, const std::string& size);
    // Returns the names in the order in which their rows were left out, then the names of which no
    // row began.
    std::vector<Cut> cuts() const;

    // Returns the sizes in the order to measure them. Under a limit the largest come first, because
    // they say most.
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
    double m_rowsLeft = 0; // rows of names that have no share yet
    std::map<std::string, Share> m_shares;
    std::vector<std::string> m_order; // the keys of m_shares in order
    Share* m_current = nullptr;       // the share whose row is being measured
    double m_rowStart = 0;
};

} // namespace sluice
