// SPDX-License-Identifier: MIT OR Apache-2.0
// The registry of pipelines: one row says everything about a pipeline. A pipeline is a shader with
// constants, and several pipelines may share a shader. The plan of a command (src/api) and its
// recorder (record_*.cpp) decide which pipelines the command dispatches; the order of the rows does
// not matter.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sluice/sluice.h>

#include "layout/constants.h"
#include "vulkan/pipeline_table.h"
#include "vulkan/traits.h"
#include "vulkan/tuning.h"

namespace sluice {

#define SLUICE_ENUMERATOR(name, ...) name,
enum class Pipeline : uint32_t {
    SLUICE_PIPELINES(SLUICE_ENUMERATOR) count // the number of pipelines, not a pipeline
};
constexpr size_t kPipelineCount = size_t(Pipeline::count);

enum class SelfTestCase : uint32_t {
    none, // no row may have this
    SLUICE_SELF_TESTS(SLUICE_ENUMERATOR)
};
#undef SLUICE_ENUMERATOR

// Says whether commands can run without a pipeline.
enum class Need : uint32_t {
    always,
    speed // another pipeline does the same, but more slowly
};

struct PipelineRow {
    Pipeline pipeline;
    const char* name;
    const char* shader; // the shader is shaders/SHADER.comp
    uint32_t kernels;   // SluiceKernels whose commands dispatch the pipeline
    Need need;
    // Returns whether the device can run the pipeline, and commands with this tuning may dispatch
    // it.
    bool (*applies)(const DeviceTraits& device, const VulkanTuning& tuning);
    uint32_t (*workgroup)(const DeviceTraits& device, const VulkanTuning& tuning);
    // Sets the constants, except for the sizes of workgroup and subgroup.
    void (*constants)(const DeviceTraits& device, const VulkanTuning& tuning,
                      PipelineConstants& constants);
    SelfTestCase selfTest;
    // Changes a tuning so that the command of the self-test dispatches this pipeline, and not
    // another one that does the same.
    void (*choose)(VulkanTuning& tuning);
};

const PipelineRow& pipelineRow(Pipeline pipeline);

// Returns all constants of a pipeline whose workgroups have `workgroup` invocations.
inline PipelineConstants constantsOf(const PipelineRow& row, const DeviceTraits& device,
                                     const VulkanTuning& tuning, uint32_t workgroup)
{
    PipelineConstants constants;
    constants.set(SLUICE_CONSTANT_WORKGROUP_SIZE, workgroup);
    constants.set(SLUICE_CONSTANT_SUBGROUP_SIZE, device.subgroupSize);
    row.constants(device, tuning, constants);
    return constants;
}

// Returns whether a call of sluiceCreatePipelines with these kernels and flags asks for a pipeline.
inline bool isWanted(const PipelineRow& row, uint32_t kernels, uint32_t flags)
{
    return (row.kernels & kernels) != 0 &&
           (row.need == Need::always || (flags & SLUICE_PIPELINES_NECESSARY) == 0);
}

// All pipelines, for range-based loops.
struct AllPipelines {
    struct Iterator {
        uint32_t at;
        Pipeline operator*() const { return Pipeline(at); }
        Iterator& operator++()
        {
            ++at;
            return *this;
        }
        bool operator!=(Iterator other) const { return at != other.at; }
    };
    Iterator begin() const { return {0}; }
    Iterator end() const { return {uint32_t(kPipelineCount)}; }
};

} // namespace sluice
