// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the members of a tuning row one after the other.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tools/sluice/tune/tune_knobs.h"

namespace sluice {

// The times of some values for one length of one work.
struct TunePoint {
    struct Time {
        uint32_t value;
        double milliseconds; // median; the runs alternate with those of the other values
        double noise;        // the spread of the runs, relative to the median
    };
    std::string work, unit;
    uint32_t length;
    std::vector<Time> times;
};

struct TuneResult {
    TuningField field;
    uint32_t usual;                   // the value in the device's row
    uint32_t chosen;                  // the value that it should have
    std::string why;                  // a summary of the measurement, or why there is none
    std::vector<uint32_t> candidates; // the values to measure; for a threshold, off and on
    std::vector<TunePoint> points;
};

class Tuner {
public:
    Tuner(const DeviceOptions& options, double seconds);

    // Returns the device with its default row. It has hardly any kernels.
    const TuneDevice& usual() const { return m_usual; }
    // Returns the values that would be measured.
    TuneResult candidatesOf(const Knob& knob) const;
    // Measures with the values chosen before. laterKnobs is the number of knobs that follow, which
    // share the remaining time.
    TuneResult measure(const Knob& knob, uint32_t laterKnobs);

private:
    using Clock = std::chrono::steady_clock;
    struct Entrant; // a value, and what it is measured on

    std::string row() const; // the chosen values as text
    WorkLimits limits(const Knob& knob, size_t devices) const;
    std::vector<uint32_t> valuesOf(const Knob& knob, uint32_t usual) const;
    void choose(const Knob& knob, TuneResult& result);
    void findThreshold(const Knob& knob, TuneResult& result);
    TunePoint contest(std::vector<Entrant>& entrants, const char* work, uint32_t length,
                      Clock::time_point until) const;

    DeviceOptions m_options;
    TuneDevice m_usual;
    std::vector<std::pair<std::string, uint32_t>> m_chosen; // those that are not the usual values
    Clock::time_point m_end;
    Clock::time_point m_knobEnd;
};

} // namespace sluice
