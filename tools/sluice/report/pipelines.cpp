// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice devices --pipelines`: how long a device takes to make each pipeline, and what the driver
// says about it.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tools/common/device.h"
#include "tools/common/files.h"
#include "device/device.h"
#include "device/device_vulkan.h"
#include "device/pipeline_cache.h"
#include "vulkan/context.h"

namespace sluice {
namespace {

struct Family {
    const char* name;
    uint32_t kernels;
};
constexpr Family kFamilies[] = {
    {"scan", SLUICE_KERNELS_SCAN},         {"compact", SLUICE_KERNELS_COMPACT},
    {"interval", SLUICE_KERNELS_INTERVAL}, {"gdeflate", SLUICE_KERNELS_GDEFLATE},
    {"gstd", SLUICE_KERNELS_GSTD},         {"filter", SLUICE_KERNELS_FILTER},
    {"float", SLUICE_KERNELS_FLOAT},       {"df11", SLUICE_KERNELS_DF11},
    {"fse", SLUICE_KERNELS_FSE},           {"tile_streams", SLUICE_KERNELS_TILE_STREAMS},
    {"checksum", SLUICE_KERNELS_CHECKSUM}, {"zstd", SLUICE_KERNELS_ZSTD},
    {"uastc", SLUICE_KERNELS_UASTC}};

uint32_t kernelsNamed(const std::vector<std::string>& names)
{
    uint32_t kernels = names.empty() ? uint32_t(SLUICE_KERNELS_ALL) : 0;
    for (const std::string& name : names) {
        const auto found = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                        [&](const Family& one) { return name == one.name; });
        if (found == std::end(kFamilies)) {
            std::string known;
            for (const Family& one : kFamilies)
                known += std::string(known.empty() ? "" : ", ") + one.name;
            throw Failure{exitUsage, "--kernels " + name + ": there are " + known};
        }
        kernels |= found->kernels;
    }
    return kernels;
}

struct Statistic {
    std::string name, value;
};

// Asks the driver for statistics of pipelines, by VK_KHR_pipeline_executable_properties. Without
// that extension, of() returns none.
class Statistics {
public:
    explicit Statistics(SluiceDevice device)
    {
        VulkanHandles handles = {};
        if (!vulkanHandles(device, handles)) return;
        const SluiceVulkanContextInfo& info = handles.contextInfo;
        const auto load = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
            info.getInstanceProcAddr(info.instance, "vkGetDeviceProcAddr"));
        if ((info.pipelineFlags & VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR) == 0) return;
        m_device = info.device;
        m_get = reinterpret_cast<PFN_vkGetPipelineExecutableStatisticsKHR>(
            load(info.device, "vkGetPipelineExecutableStatisticsKHR"));
    }

    std::vector<Statistic> of(VkPipeline pipeline) const
    {
        std::vector<Statistic> result;
        if (m_get == nullptr) return result;
        // A compute pipeline has exactly one executable.
        const VkPipelineExecutableInfoKHR info = {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                                  nullptr, pipeline, 0};
        uint32_t count = 0;
        if (m_get(m_device, &info, &count, nullptr) != VK_SUCCESS) return result;
        VkPipelineExecutableStatisticKHR empty{};
        empty.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
        std::vector<VkPipelineExecutableStatisticKHR> list(count, empty);
        if (m_get(m_device, &info, &count, list.data()) != VK_SUCCESS) return result;
        for (const VkPipelineExecutableStatisticKHR& one : list) {
            const auto& value = one.value;
            std::string text = one.format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR
                                   ? std::to_string(value.b32)
                               : one.format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR
                                   ? std::to_string(value.i64)
                               : one.format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR
                                   ? std::to_string(value.u64)
                                   : formatText("%g", value.f64);
            result.push_back({one.name, std::move(text)});
        }
        return result;
    }

private:
    VkDevice m_device = VK_NULL_HANDLE;
    PFN_vkGetPipelineExecutableStatisticsKHR m_get = nullptr;
};

// Returns the value of the first of these names that the driver reports. NVIDIA, RADV and ANV give
// the same figure different names.
std::string valueOf(const std::vector<Statistic>& statistics,
                    std::initializer_list<const char*> names)
{
    for (const char* name : names) {
        for (const Statistic& one : statistics)
            if (one.name == name) return one.value;
    }
    return "-";
}

void printRow(const VulkanBackend& backend, Pipeline pipeline,
              const std::vector<Statistic>& statistics, bool all)
{
    const PipelineRow& row = pipelineRow(pipeline);
    std::printf("%-24s %-16s %9.1f %9zu %9s %9s  %s\n", row.name, row.shader,
                backend.pipelines().millisecondsOf(pipeline),
                backend.pipelines().codeBytesOf(pipeline),
                valueOf(statistics, {"Binary Size", "Code size", "Instruction Count"}).c_str(),
                valueOf(statistics, {"Register Count", "VGPRs", "Max live registers"}).c_str(),
                backend.pipelines().isRefused(pipeline) ? "refused by the driver"
                : row.need == Need::speed               ? "for speed"
                                                        : "");
    for (const Statistic& one : statistics)
        if (all) std::printf("    %s: %s\n", one.name.c_str(), one.value.c_str());
}

void printJson(const VulkanBackend& backend, Pipeline pipeline,
               const std::vector<Statistic>& statistics, const char* separator)
{
    const PipelineRow& row = pipelineRow(pipeline);
    std::printf("%s\n    {\"name\": \"%s\", \"shader\": \"%s\", \"milliseconds\": %.3f, "
                "\"spirv\": %zu, \"subgroupSize\": %u, \"necessary\": %s, \"refused\": %s, "
                "\"statistics\": {",
                separator, row.name, row.shader, backend.pipelines().millisecondsOf(pipeline),
                backend.pipelines().codeBytesOf(pipeline), backend.traits().subgroupSize,
                row.need == Need::always ? "true" : "false",
                backend.pipelines().isRefused(pipeline) ? "true" : "false");
    for (const Statistic& one : statistics)
        std::printf("%s%s: %s", &one == &statistics[0] ? "" : ", ", jsonText(one.name).c_str(),
                    one.value.c_str());
    std::printf("}}");
}

// Throws if the file exists and is not a pipeline cache of ours, since it will be replaced.
void checkCacheFile(const std::string& path, const CommonOptions& common)
{
    FileFacts facts;
    if (path.empty() || !factsOf(path, true, facts)) return;
    if (leadsToStream(path)) throw Failure{exitUsage, path + ": is not a regular file"};
    if (facts.kind == FileFacts::Kind::file &&
        (facts.size == 0 || PipelineCacheFile::isStart(InputFile(path).readStart(4))))
        return;
    checkOverwrite(path, common.force, "is no cache of pipelines; -f overwrites it");
}

} // namespace

std::vector<std::string> pipelineFamilies()
{
    std::vector<std::string> names;
    for (const Family& family : kFamilies)
        names.emplace_back(family.name);
    return names;
}

int runPipelines(const PipelineOptions& options, bool json, const CommonOptions& common)
{
    checkCacheFile(options.cache, common);
    const std::string wanted = options.device.device.empty() ? "vulkan" : options.device.device;
    const SluiceDeviceProperties properties = matchDevices(wanted, options.device.tier)[0];
    const std::string selector = deviceSelector(properties);
    if (properties.backend != SLUICE_BACKEND_VULKAN)
        throw Failure{exitUnsupported, selector + ": only Vulkan devices have pipelines"};
    SluiceDeviceInfo info = {};
    info.selector = selector.c_str();
    info.tier = options.device.tier.empty() ? nullptr : options.device.tier.c_str();
    info.pipelineStatistics = 1;
    info.allowRefused = 1;
    info.kernels = kernelsNamed(options.kernels);
    const uint32_t threads = threadCount(options.threads);
    info.pipelineFlags = options.necessary ? uint32_t(SLUICE_PIPELINES_NECESSARY) : 0;
    info.pipelineThreads = threads;
    info.requiredSubgroupSize = options.subgroupSize;
    info.pipelineCache = options.cache.empty() ? nullptr : options.cache.c_str();
    const auto begin = std::chrono::steady_clock::now();
    const ToolDevice device(info, selector + ": ", exitUnsupported);
    const double wall =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    const auto& backend = static_cast<const VulkanBackend&>(*device.context()->backend);
    const Statistics statistics(device.handle());
    double sum = 0;
    size_t spirv = 0, count = 0, refused = 0;
    if (json)
        std::printf("{\n  \"device\": %s,\n  \"driver\": %s,\n  \"tier\": %s,\n  \"threads\": %u,\n"
                    "  \"milliseconds\": %.3f,\n  \"pipelines\": [",
                    jsonText(selector).c_str(), jsonText(properties.driver).c_str(),
                    jsonText(device.tier()).c_str(), threads, wall);
    else if (!common.quiet)
        std::printf("%s, %s, tier %s\n%-24s %-16s %9s %9s %9s %9s\n", selector.c_str(),
                    properties.name, device.tier(), "pipeline", "shader", "ms", "SPIR-V", "code",
                    "registers");
    for (const Pipeline pipeline : AllPipelines()) {
        const bool isRefused = backend.pipelines().isRefused(pipeline);
        if (!backend.pipelines().has(pipeline) && !isRefused) continue;
        const std::vector<Statistic> known =
            isRefused ? std::vector<Statistic>()
                      : statistics.of(backend.pipelines().handle(pipeline));
        if (json)
            printJson(backend, pipeline, known, count == 0 ? "" : ",");
        else if (!common.quiet)
            printRow(backend, pipeline, known, common.verbosity > 0);
        sum += backend.pipelines().millisecondsOf(pipeline);
        spirv += backend.pipelines().codeBytesOf(pipeline);
        ++count;
        refused += isRefused ? 1 : 0;
    }
    if (json)
        std::printf("\n  ]\n}\n");
    else
        std::printf("%zu pipelines of %zu bytes of SPIR-V: %.0f ms of %u thread%s, the device open "
                    "after %.0f ms\n",
                    count, spirv, sum, threads, threads == 1 ? "" : "s", wall);
    if (refused != 0)
        throw Failure{exitDevice, selector + ": the driver cannot make these pipelines: " +
                                      backend.pipelines().refusedPipelines()};
    return exitOk;
}

} // namespace sluice
