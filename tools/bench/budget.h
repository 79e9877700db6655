// SPDX-License-Identifier: MIT OR Apache-2.0
// The time that a benchmark may take, shared out among what it measures.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace sluice {

// Each name has a share of the time that is left when its first row begins; what a name leaves over
// goes to those behind it. A name's first row is always measured while there is time at all; the
// others as long as its share holds another row like the one before.
class Budget {
public:
    // Says what was not measured of a name; all: nothing of it was.
    struct Cut {
        std::string name;
        std::vector<std::string> sizes;
        bool all;
    };

    // seconds: 0 means no limit; then nothing else here has an effect.
    explicit Budget(double seconds = 0) : m_seconds(seconds) {}

    bool isLimited() const { return m_seconds > 0; }
    double seconds() const { return m_seconds; }
    double left() const { return isLimited() ? m_seconds - elapsed() : 0; }
    bool isOver() const { return isLimited() && left() <= 0; }
    // Announces a name that will be measured, with about this many rows and variants ("NAME:
    // VARIANT"). Each variant gets its part of the share.
    void expect(const std::string& name, double rows, double variants);
    // Returns whether the row of a name and size is to be measured now. If not, cuts() lists it.
    bool hasTime(const std::string& name, const std::string& size);
    // In the order in which rows were left out; then names of which no row began.
    std::vector<Cut> cuts() const;

    // Under a limit the largest come first, which say most.
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
    double m_rowsLeft = 0; // of names that have no share yet
    std::map<std::string, Share> m_shares;
    std::vector<std::string> m_order; // of m_shares
    Share* m_current = nullptr;       // whose row is being measured
    double m_rowStart = 0;
};

} // namespace sluice
