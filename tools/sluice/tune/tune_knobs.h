// SPDX-License-Identifier: MIT OR Apache-2.0
// How each member of a row of tuning is measured: a table.
#pragma once

#include "tools/sluice/tune/tune_device.h"

namespace sluice {

struct Knob {
    enum class Kind {
        choose, // the fastest of some values
        upTo,   // the longest list for which `on` is faster than `off`
        from,   // the shortest list from which on it is
        leave   // not chosen by measurement
    };
    const char* field;
    Kind kind;
    uint32_t kernels;               // SluiceKernels of its work
    std::vector<const char*> works; // names of works(); a threshold has one
    std::vector<uint32_t> values;   // for `choose`, the values to try
    bool perProcessor = false;      // the values are multiplied by the number of processors
    bool isMade = false;      // pipelines are made with it: each value has a device of its own
    const char* row = "";     // so that all pipelines in question are there
    uint32_t on = 0, off = 0; // thresholds
    uint32_t tileBytes = 0;   // the work's tile size, if not the usual one
    // Returns the work's elements for 1 of the member; null: 1.
    double (*elementsEach)(const TuneDevice& device) = nullptr;
    // Returns why it cannot matter on a device, or is left as it is; null if it can matter.
    const char* (*whyNot)(const TuneTraits& traits) = nullptr;
};

const std::vector<Knob>& knobs();

} // namespace sluice
