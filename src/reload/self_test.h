// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests pipelines: the command that each one's row of the registry names must give the same results
// on a device and on the CPU reference, and must have used the pipeline.
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
        lost // a call failed: the device is of no more use
    } kind;
    std::string text; // what is wrong
};

using Pipelines = std::vector<Pipeline>;

class SelfTest {
public:
    // Tests pipelines that one run reaches (see groups), as the device's context has them.
    Verdict run(TestDevice& device, const Pipelines& group);
    Verdict run(TestDevice& device, Pipeline pipeline) { return run(device, Pipelines{pipeline}); }

    // The pipelines in their order, those together whose rows name the same case and choose the
    // same tuning.
    static std::vector<Pipelines> groups(const Pipelines& pipelines);

private:
    SelfTestCases m_cases;
};

} // namespace sluice::dev
