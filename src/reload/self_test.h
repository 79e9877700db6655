// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests pipelines. A pipeline's row in the registry names a case of the self-test
// (selftest/cases.h). A pipeline passes if the case gives the results of the CPU reference on the
// device, and has dispatched the pipeline.
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
        notUsed, // no command dispatches the pipeline on this device
        refused, // the results are wrong
        lost     // a call failed, and the device cannot be used any more
    } kind;
    std::string text; // what is wrong
};

using Pipelines = std::vector<Pipeline>;

class SelfTest {
public:
    // Tests pipelines of the device's context that form a group (see groups()).
    Verdict run(TestDevice& device, const Pipelines& group);
    Verdict run(TestDevice& device, Pipeline pipeline) { return run(device, Pipelines{pipeline}); }

    // Divides pipelines into groups. One run of a self-test's case tests all pipelines of a group:
    // their rows in the registry name the same case and the same tuning. Keeps the order of the
    // pipelines.
    static std::vector<Pipelines> groups(const Pipelines& pipelines);

private:
    SelfTestCases m_cases;
};

} // namespace sluice::dev
