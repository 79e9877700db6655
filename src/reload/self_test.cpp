// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reload/self_test.h"

#include <algorithm>

namespace sluice::dev {

namespace {

// Sets few workgroups and small shares of work, so that a workgroup does several tiles or shares
// one after the other. In normal use that happens only for inputs much larger than those of the
// tests.
void crowd(VulkanTuning& tuning)
{
    tuning.lookback.scannerTiles = 2;
    tuning.scan.workgroups = 2;
    tuning.scan.reduceWorkgroups = 2;
    tuning.compact.workgroups = 2;
    tuning.compact.serialTiles = 2;
    tuning.interval.expandBytes = tuning.interval.shareBytes = 4096;
    tuning.interval.tailBytes = tuning.interval.shortTailBytes = 65536;
    tuning.interval.windowBytes = tuning.interval.shortWindowBytes = 4096;
    tuning.filter.takeNextTiles = 1;
    tuning.floatDecode.laneGroups = 1;
    tuning.fseTables.laneGroups = 1;
    tuning.df11.workgroups = 2;
}

} // namespace

std::vector<Pipelines> SelfTest::groups(const Pipelines& pipelines)
{
    std::vector<Pipelines> result;
    for (const Pipeline pipeline : pipelines) {
        const PipelineRow& row = pipelineRow(pipeline);
        const auto same = std::find_if(result.begin(), result.end(), [&](const Pipelines& group) {
            const PipelineRow& first = pipelineRow(group.front());
            return first.selfTest == row.selfTest && first.choose == row.choose;
        });
        if (same != result.end())
            same->push_back(pipeline);
        else
            result.push_back({pipeline});
    }
    return result;
}

Verdict SelfTest::run(TestDevice& device, const Pipelines& group)
{
    const PipelineRow& row = pipelineRow(group.front());
    const char* error = nullptr;
    VulkanBackend* const backend = device.use(selftest::kernelsOf(row.selfTest), error);
    if (backend == nullptr) return {Verdict::lost, error};
    const VulkanTuning base = backend->tuning();
    for (const bool crowded : {false, true}) {
        VulkanTuning tuning = base;
        row.choose(tuning);
        if (crowded) crowd(tuning);
        backend->setTuning(tuning);
        device.clearDispatched();
        std::string text;
        const SluiceStatus status = m_cases.compare(row.selfTest, device.handle(), text);
        backend->setTuning(base);
        if (status == SLUICE_ERROR_UNSUPPORTED)
            return {Verdict::notUsed, "not used on this device"};
        if (status != SLUICE_OK)
            return {Verdict::lost, std::string("the self-test could not run to its end: ") +
                                       sluiceGetStatusText(status)};
        if (!text.empty()) text = "self-test: " + text;
        for (const Pipeline pipeline : group) {
            if (text.empty() && device.dispatched().count(pipelineRow(pipeline).name) == 0)
                text = std::string("the self-test does not reach this pipeline: ") +
                       pipelineRow(pipeline).name;
        }
        if (!text.empty()) return {Verdict::refused, text};
    }
    return {Verdict::passed, {}};
}

} // namespace sluice::dev
