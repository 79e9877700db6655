// SPDX-License-Identifier: MIT OR Apache-2.0
// The table of knobs. A knob says how one member of a tuning row is measured.
#pragma once

#include "tools/sluice/tune/tune_device.h"

namespace sluice {

struct Knob {
    enum class Kind {
        choose, // the fastest of some values
        upTo,   // a threshold: the longest list for which `on` is faster than `off`
        from,   // a threshold: the shortest list from which `on` is faster than `off`
        leave   // nothing is measured
    };
    const char* field;
    Kind kind;
    uint32_t kernels;               // set of SluiceKernels that the work needs
    std::vector<const char*> works; // names of the works to measure; a threshold has one
    std::vector<uint32_t> values;   // for `choose`, the values to try
    bool perProcessor = false;      // the values are multiplied by the number of processors
    // The value is compiled into pipelines, so each value needs a TuneDevice of its own.
    bool isMade = false;
    // Tuning (lines "NAME=VALUE") under which the device creates all pipelines to be compared.
    const char* row = "";
    uint32_t on = 0, off = 0; // for a threshold: the values that force the pipeline on or off
    uint32_t tileBytes = 0;   // decoded bytes of the work's tiles, if not as usual
    // For a threshold that does not count elements of the measured list: returns how many elements
    // a value of 1 stands for. Null means 1.
    double (*elementsEach)(const TuneDevice& device) = nullptr;
    // Returns why the knob is not measured on such a device, or null if it is. If whyNot itself is
    // null, the knob is measured on every device.
    const char* (*whyNot)(const TuneTraits& traits) = nullptr;
};

const std::vector<Knob>& knobs();

} // namespace sluice
