// SPDX-License-Identifier: MIT OR Apache-2.0
// The table that says how each member of a tuning row is measured.
#pragma once

#include "tools/sluice/tune/tune_device.h"

namespace sluice {

struct Knob {
    enum class Kind {
        choose, // the fastest of some values
        upTo,   // the longest list for which `on` is faster than `off`
        from,   // the shortest list from which `on` is faster
        leave   // not chosen by measurement
    };
    const char* field;
    Kind kind;
    uint32_t kernels;               // SluiceKernels that the work needs
    std::vector<const char*> works; // names of works(); a threshold has only one
    std::vector<uint32_t> values;   // for `choose`, the values to try
    bool perProcessor = false;      // the values are multiplied by the number of processors
    bool isMade = false;      // compiled into pipelines, so each value needs a device of its own
    const char* row = "";     // settings that make the device create all pipelines in question
    uint32_t on = 0, off = 0; // for thresholds: values that force the pipeline on and off
    uint32_t tileBytes = 0;   // the work's tile size, if not the usual one
    // Returns how many elements of the work one unit of the member stands for; null: 1.
    double (*elementsEach)(const TuneDevice& device) = nullptr;
    // Returns why the member cannot matter on a device or is not tuned; null if it can matter.
    const char* (*whyNot)(const TuneTraits& traits) = nullptr;
};

const std::vector<Knob>& knobs();

} // namespace sluice
