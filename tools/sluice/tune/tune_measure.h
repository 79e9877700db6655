// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures one member of a row after the other.
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
        double milliseconds; // median of runs that alternate with those of the others
        double noise;        // the spread of the runs, relative to the median
    };
    std::string work, unit;
    uint32_t length;
    std::vector<Time> times;
};

struct TuneResult {
    TuningField field;
    uint32_t usual;                   // what the device's row has
    uint32_t chosen;                  // what it should have
    std::string why;                  // what was measured, in short, or why nothing was
    std::vector<uint32_t> candidates; // times with it; for a threshold, without and with it
    std::vector<TunePoint> points;
};

class Tuner {
public:
    Tuner(const DeviceOptions& options, double seconds);

    // The device with the row that is chosen for it, and hardly any kernels.
    const TuneDevice& usual() const { return m_usual; }
    // Returns what would be measured.
    TuneResult candidatesOf(const Knob& knob) const;
    // Measures with the values chosen before. laterKnobs is how many knobs will still be measured.
    TuneResult measure(const Knob& knob, uint32_t laterKnobs);

private:
    using Clock = std::chrono::steady_clock;
    struct Entrant; // a value, and what it is measured on

    std::string row() const; // what was chosen, as text
    WorkLimits limits(const Knob& knob, size_t devices) const;
    std::vector<uint32_t> valuesOf(const Knob& knob, uint32_t usual) const;
    void choose(const Knob& knob, TuneResult& result);
    void findThreshold(const Knob& knob, TuneResult& result);
    TunePoint contest(std::vector<Entrant>& entrants, const char* work, uint32_t length,
                      Clock::time_point until) const;

    DeviceOptions m_options;
    TuneDevice m_usual;
    std::vector<std::pair<std::string, uint32_t>> m_chosen; // that differ from what is usual
    Clock::time_point m_end;
    Clock::time_point m_knobEnd;
};

} // namespace sluice
