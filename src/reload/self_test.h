// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests pipelines. The case that a pipeline's registry row names must give the same results on the
// device and on the CPU reference, and it must have dispatched the pipeline.
#pragma once

#include <string>
#include <vector>

#include "selftest/cases.h"
#include "reload/test_device.h"

namespace sluice::dev {

using selftest::SelfTestCases;

struct Verdict {
    enum Kind {
        passed,
        notUsed, // the device has no command that dispatches it
        refused,
        lost // a call failed, and the device is no longer usable
    } kind;
    std::string text; // what is wrong
};

using Pipelines = std::vector<Pipeline>;

class SelfTest {
public:
    // Tests the pipelines of the device's context that one run reaches (see groups()).
    Verdict run(TestDevice& device, const Pipelines& group);
    Verdict run(TestDevice& device, Pipeline pipeline) { return run(device, Pipelines{pipeline}); }

    // Groups the pipelines, in their order, so that the rows of a group name the same case and
    // choose the same tuning.
    static std::vector<Pipelines> groups(const Pipelines& pipelines);

private:
    SelfTestCases m_cases;
};

} // namespace sluice::dev
