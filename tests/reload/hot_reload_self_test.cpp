// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks that each pipeline is run by its own self-test, on the device that SLUICE_RELOAD_DEVICE
// names ("vulkan" by default).
#include <doctest/doctest.h>

#include <cstdlib>

#include "reload/self_test.h"
#include "reload/timer.h"

using namespace sluice;
using namespace sluice::dev;

TEST_CASE("every pipeline that the device can run is reached by its own self-test and passes it")
{
    const char* named = std::getenv("SLUICE_RELOAD_DEVICE");
    const char* tier = std::getenv("SLUICE_RELOAD_TIER");
    SluiceDeviceInfo open = {};
    open.selector = named ? named : "vulkan";
    open.tier = tier;
    SluiceDevice program = nullptr;
    REQUIRE(sluiceOpenDevice(&open, &program, nullptr) == SLUICE_OK);
    {
        TestDevice device;
        const char* error = nullptr;
        const SluiceStatus opened =
            device.open(open.selector, *vulkanBackend(sluiceGetDeviceContext(program)), error);
        REQUIRE_MESSAGE(opened == SLUICE_OK, (error ? error : ""));
        SelfTest test;
        for (const Pipeline pipeline : AllPipelines()) {
            const PipelineRow& row = pipelineRow(pipeline);
            CAPTURE(row.name);
            if (const char* only = std::getenv("SLUICE_RELOAD_ONLY"))
                if ((std::string(",") + only + ",").find(std::string(",") + row.name + ",") ==
                    std::string::npos)
                    continue;
            VulkanBackend* const backend = device.use(selftest::kernelsOf(row.selfTest), error);
            REQUIRE_MESSAGE(backend != nullptr, (error ? error : ""));
            if (!backend->pipelines().has(pipeline)) {
                MESSAGE(std::string(row.name) << ": this device cannot run it");
                continue;
            }
            const Timer timer;
            const Verdict verdict = test.run(device, pipeline);
            const bool byDriver = row.selfTest == SelfTestCase::gdeflate_by_driver;
            SluiceContextInfo info = {};
            backend->contextInfo(info);
            CHECK_MESSAGE(
                verdict.kind ==
                    (byDriver && info.driverRegionLimit == 0 ? Verdict::notUsed : Verdict::passed),
                verdict.text);
            MESSAGE(std::string(row.name) << ": " << timer.milliseconds() << " ms");
        }
    }
    sluiceCloseDevice(program);
}
