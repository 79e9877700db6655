// SPDX-License-Identifier: MIT OR Apache-2.0
#include "self_test.h"

#include <algorithm>

namespace sluice::dev {

namespace {

// So few workgroups, and so small shares, that each has several pieces of work one after the other,
// as in work of any size.
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

std::string difference(const Words& got, const Words& wanted)
{
    if (got.size() != wanted.size()) return "self-test: results of another size than on the CPU";
    const auto at = std::mismatch(got.begin(), got.end(), wanted.begin());
    if (at.first == got.end()) return {};
    return "self-test: word " + std::to_string(at.first - got.begin()) + " of " +
           std::to_string(got.size()) + " is " + std::to_string(*at.first) + ", the CPU has " +
           std::to_string(*at.second);
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

const Words* SelfTest::expected(SelfTestCase which)
{
    const auto known = m_expected.find(which);
    if (known != m_expected.end()) return &known->second;
    SluiceDeviceInfo cpu = {};
    cpu.selector = "cpu";
    SluiceDevice device = nullptr;
    if (sluiceOpenDevice(&cpu, &device, nullptr) != SLUICE_OK) return nullptr;
    Words words;
    const SluiceStatus status = m_cases.run(which, device, words);
    sluiceCloseDevice(device);
    return status == SLUICE_OK ? &(m_expected[which] = std::move(words)) : nullptr;
}

Verdict SelfTest::run(TestDevice& device, const Pipelines& group)
{
    const PipelineRow& row = pipelineRow(group.front());
    const char* error = "the CPU reference could not run the self-test";
    const Words* const wanted = expected(row.selfTest);
    VulkanBackend* const backend =
        wanted != nullptr ? device.use(SelfTestCases::kernels(row.selfTest), error) : nullptr;
    if (backend == nullptr) return {Verdict::lost, error};
    const VulkanTuning base = backend->tuning();
    for (const bool crowded : {false, true}) {
        VulkanTuning tuning = base;
        row.choose(tuning);
        if (crowded) crowd(tuning);
        backend->setTuning(tuning);
        device.clearDispatched();
        Words got;
        const SluiceStatus status = m_cases.run(row.selfTest, device.handle(), got);
        backend->setTuning(base);
        if (status == SLUICE_ERROR_UNSUPPORTED)
            return {Verdict::notUsed, "not used on this device"};
        if (status != SLUICE_OK)
            return {Verdict::lost, std::string("the self-test could not run to its end: ") +
                                       sluiceGetStatusText(status)};
        std::string text = difference(got, *wanted);
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
