// SPDX-License-Identifier: MIT OR Apache-2.0
// The registry of pipelines: one row a pipeline says all that is known of it. A pipeline is a
// shader with constants; several may be of one shader. What a command dispatches is decided by its
// plan (src/api) and recorder (record_*.cpp), never by the order of this list.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sluice/sluice.h>

#include "vulkan/traits.h"
#include "vulkan/tuning.h"

namespace sluice {

enum class Pipeline : uint32_t {
    status,
    checksum,
    gdeflate,
    gdeflate_pitched,
    gdeflate_few,
    gdeflate_many,
    driver_regions,
    tile_streams,
    gstd_symbols,
    gstd_expand,
    gstd_expand_few,
    fse_tables,
    filter,
    filter_few,
    compact_1,
    compact_2,
    compact_4,
    compact_8,
    compact_16,
    compact_ring,
    compact_ring_selectors,
    compact_ring_words,
    compact_ring_bytes,
    compact_call,
    compact_call_selectors,
    interval_plan,
    interval_expand,
    interval_expand_words,
    interval_move,
    interval_move_short,
    interval_search,
    scan_sum,
    scan_max,
    scan_sum_f32,
    scan_sum_segments,
    scan_max_segments,
    scan_sum_f32_segments,
    scan_sum_ring,
    scan_sum_u64,
    scan_max_u64,
    scan_sum_u64_segments,
    scan_max_u64_segments,
    reduce_sum,
    reduce_max,
    reduce_sum_f32,
    reduce_sum_f32_segments,
    reduce_sum_u64,
    reduce_max_u64,
    float_decode,
    df11,
    count // no pipeline
};
constexpr size_t kPipelineCount = size_t(Pipeline::count);

// The command that runs a pipeline when it is tested by itself, which src/selftest fills and compares
// with the CPU reference.
enum class SelfTestCase : uint32_t {
    none, // no row may have it
    status,
    checksum,
    gdeflate,
    gdeflate_pitched,
    gdeflate_by_driver,
    tile_streams,
    gstd,
    fse_tables,
    filter,
    compact_1,
    compact_2,
    compact_4,
    compact_8,
    compact_16,
    interval_expand,
    interval_move,
    interval_bulk,
    interval_search,
    scan,
    reduce,
    float_decode,
    df11
};

// Specialization constants by name: the ids stand in shaders/lib/layout/constants.h.
struct PipelineConstants {
    struct One {
        uint32_t id, value;
    };
    One values[8];
    uint32_t count = 0;

    void set(uint32_t id, uint32_t value) { values[count++] = {id, value}; }
};

// Whether commands can do without a pipeline.
enum class Need : uint32_t {
    always,
    speed // another one does the same work, only slower
};

struct PipelineRow {
    Pipeline pipeline;
    const char* name;
    const char* shader; // shaders/SHADER.comp
    uint32_t kernels;   // SluiceKernels whose commands dispatch it
    Need need;
    // Whether the device can run it and the tuning ever asks for it.
    bool (*applies)(const DeviceTraits& device, const VulkanTuning& tuning);
    uint32_t (*workgroup)(const DeviceTraits& device, const VulkanTuning& tuning);
    // Those beside workgroup and subgroup size.
    void (*constants)(const DeviceTraits& device, const VulkanTuning& tuning,
                      PipelineConstants& constants);
    SelfTestCase selfTest;
    // Changes a tuning so that the self-test's command dispatches this pipeline and not another one
    // that does the same work.
    void (*choose)(VulkanTuning& tuning);
};

const PipelineRow& pipelineRow(Pipeline pipeline);

// Whether a pipeline is one of those that sluiceCreatePipelines is asked for.
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
