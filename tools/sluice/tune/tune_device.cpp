// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_compact.h>

#include "tools/sluice/tune/tune_device.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "tools/common/backends.h"
#include "tools/common/device.h"

namespace sluice {
namespace {

void check(SluiceStatus status, const char* what)
{
    if (status != SLUICE_OK) throw WorkFailure(status, what);
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
    // Only with it does the row that is chosen have this.
    traits.hasDependentLaunch = backend.tuning().scan.programmaticLaunch != 0;
}

uint32_t callTile(const CudaBackend&) { return 0; }
#endif

} // namespace

template <typename Function>
void TuneDevice::withBackend(const Function& function) const
{
    sluice::withBackend(sluiceGetDeviceContext(handle()), m_properties.backend, function);
}

TuneDevice::TuneDevice(const DeviceOptions& options, uint32_t kernels, const std::string& row)
{
    m_properties = matchDevices(options.device, options.tier)[0];
    const std::string selector = deviceSelector(m_properties);
    if (m_properties.backend == SLUICE_BACKEND_CPU)
        throw Failure{exitUnsupported, "cpu: there is nothing to tune; a row is for a GPU"};
    SluiceDeviceInfo info = {};
    info.selector = selector.c_str();
    info.tier = options.tier.empty() ? nullptr : options.tier.c_str();
    info.kernels = kernels;
    info.pipelineThreads = pipelineThreads();
    info.pipelineCache = "";
    info.tuning = row.c_str();
    SluiceDevice opened = nullptr;
    const char* error = nullptr;
    const SluiceStatus status = sluiceOpenDevice(&info, &opened, &error);
    if (status != SLUICE_OK) {
        const int code = status == SLUICE_ERROR_UNSUPPORTED ? exitUnsupported : exitDevice;
        throw Failure{code, selector + ": " + (error != nullptr ? error : "cannot be opened")};
    }
    m_device.reset(opened);
    SluiceContextInfo context = {};
    check(sluiceGetContextInfo(sluiceGetDeviceContext(opened), &context), "context");
    m_tier = context.tier;
    m_traits.isGpu = m_properties.isSoftware == 0;
    withBackend([&](auto& backend) {
        setTraits(m_traits, backend, m_properties.index);
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
    SluiceCommands commands = nullptr;
    check(sluiceBegin(handle(), &commands), "begin");
    for (uint32_t i = 0; i < passes; ++i) {
        check(work.record(commands, length), "record");
        check(sluiceCmdBarrier(work.context(), commands), "barrier");
    }
    const Clock::time_point begin = Clock::now();
    double milliseconds = 0;
    check(sluiceSubmit(handle(), commands, &milliseconds), "submit");
    if (milliseconds == 0)
        milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    return milliseconds / passes;
}

} // namespace sluice
