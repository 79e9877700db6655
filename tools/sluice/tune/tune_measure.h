// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the members of a tuning row, one after the other.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tools/sluice/tune/tune_knobs.h"

namespace sluice {

// The times of several values, for one length of one work's list.
struct TunePoint {
    struct Time {
        uint32_t value;
        double milliseconds; // median; runs of all values alternate
        double noise;        // spread of the runs relative to the median
    };
    std::string work, unit;
    uint32_t length;
    std::vector<Time> times;
};

struct TuneResult {
    TuningField field;
    uint32_t usual;                   // the member's value in the device's own row
    uint32_t chosen;                  // the value that the member should have
    std::string why;                  // the result in words, or why nothing was measured
    std::vector<uint32_t> candidates; // values to measure; for a threshold: off and on
    std::vector<TunePoint> points;
};

class Tuner {
public:
    Tuner(const DeviceOptions& options, double seconds);

    // Returns the device as it is opened without any tuning, to ask for its properties and its
    // usual values. It has hardly any kernels, so nothing is measured on it.
    const TuneDevice& usual() const { return m_usual; }
    // Returns a result that only lists the values that measure() would compare, or says why it
    // would measure nothing.
    TuneResult candidatesOf(const Knob& knob) const;
    // Measures one knob, with the values chosen so far for others. `laterKnobs` more knobs will
    // share the time that is left.
    TuneResult measure(const Knob& knob, uint32_t laterKnobs);

private:
    using Clock = std::chrono::steady_clock;
    struct Entrant; // a value, with the device and work to measure it on

    std::string row() const; // the values chosen so far, as a tuning row
    WorkLimits limits(const Knob& knob, size_t devices) const;
    std::vector<uint32_t> valuesOf(const Knob& knob, uint32_t usual) const;
    void choose(const Knob& knob, TuneResult& result);
    void findThreshold(const Knob& knob, TuneResult& result);
    TunePoint contest(std::vector<Entrant>& entrants, const char* work, uint32_t length,
                      Clock::time_point until) const;

    DeviceOptions m_options;
    TuneDevice m_usual;
    // Name and value of each knob for which another value than the usual one has been chosen.
    std::vector<std::pair<std::string, uint32_t>> m_chosen;
    Clock::time_point m_end;
    Clock::time_point m_knobEnd;
};

} // namespace sluice
