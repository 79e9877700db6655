// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_compact.h>

#include "tools/sluice/tune/tune_device.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "tools/common/backends.h"

namespace sluice {
namespace {

// Makes options by which opening a device prints nothing: tune itself says what a user needs to
// know.
CommonOptions quietWith(const std::string& row)
{
    CommonOptions options;
    options.quiet = true;
    options.tuning = row;
    return options;
}

void setTraits(TuneTraits& traits, const VulkanBackend& backend, uint32_t)
{
    traits.isVulkan = true;
    traits.vulkan = backend.traits();
    traits.processors = traits.vulkan.processors;
    traits.subgroupSize = traits.vulkan.subgroupSize;
}

uint32_t callTile(const VulkanBackend& backend)
{
    SluiceCompactInfo info = {};
    info.elementSize = 4;
    return backend.compactMachine(info).callElements;
}

#ifdef SLUICE_HAVE_CUDA
void setTraits(TuneTraits& traits, const CudaBackend& backend, uint32_t index)
{
    int processors = 0;
    (void)cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, int(index));
    traits.processors = uint32_t(processors);
    traits.subgroupSize = 32;
    // The default row uses dependent launch only on devices that have it.
    traits.hasDependentLaunch = backend.tuning().scan.programmaticLaunch != 0;
}

uint32_t callTile(const CudaBackend&) { return 0; }
#endif

} // namespace

template <typename Function>
void TuneDevice::withBackend(const Function& function) const
{
    sluice::withBackend(context(), properties().backend, function);
}

TuneDevice::TuneDevice(const DeviceOptions& options, uint32_t kernels, const std::string& row)
    : ToolDevice(options, quietWith(row), kernels)
{
    if (properties().backend == SLUICE_BACKEND_CPU)
        throw Failure{exitUnsupported, "cpu: there is nothing to tune; a row is for a GPU"};
    m_traits.isGpu = properties().isSoftware == 0;
    withBackend([&](auto& backend) {
        setTraits(m_traits, backend, properties().index);
        const auto& fields = tuningFields(backend.tuning());
        m_fields.assign(std::begin(fields), std::end(fields));
    });
}

const TuningField* TuneDevice::field(const std::string& name) const
{
    const auto found = std::find_if(m_fields.begin(), m_fields.end(),
                                    [&](const TuningField& one) { return one.name == name; });
    return found != m_fields.end() ? &*found : nullptr;
}

uint32_t TuneDevice::value(const TuningField& field) const
{
    uint32_t result = 0;
    withBackend([&](auto& backend) { result = tuningValue(backend.tuning(), field); });
    return result;
}

void TuneDevice::set(const TuningField& field, uint32_t value)
{
    withBackend([&](auto& backend) {
        auto row = backend.tuning();
        setTuningValue(row, field, value);
        backend.setTuning(row);
    });
}

uint32_t TuneDevice::scanTile() const
{
    uint32_t elements = 1;
    withBackend([&](auto& backend) { elements = backend.scanMachine({}).tileElements; });
    return elements;
}

uint32_t TuneDevice::compactCallTile() const
{
    uint32_t elements = 0;
    withBackend([&](auto& backend) { elements = callTile(backend); });
    return elements;
}

double TuneDevice::time(const Work& work, uint32_t length, uint32_t passes) const
{
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin;
    const double milliseconds = run([&](SluiceCommands commands) {
        for (uint32_t i = 0; i < passes; ++i) {
            check(work.record(commands, length), "record");
            check(sluiceCmdBarrier(context(), commands), "barrier");
        }
        begin = Clock::now();
    });
    const std::chrono::duration<double, std::milli> taken = Clock::now() - begin;
    return (milliseconds != 0 ? milliseconds : taken.count()) / passes;
}

} // namespace sluice
