// SPDX-License-Identifier: MIT OR Apache-2.0
// The registry of pipelines: one row a pipeline says all that is known of it. A pipeline is a
// shader with constants; several may be of one shader. What a command dispatches is decided by its
// plan (src/api) and recorder (record_*.cpp), never by the order of this list.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sluice/sluice.h>

#include "layout/constants.h"
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

// The commands that run a pipeline when it is tested by itself. X(name, kernels, call): a context
// with these kernels is needed, and `call` fills the commands and takes their results; it is of
// SelfTestCases (src/selftest/cases.h), of which tests that keep nothing are free functions.
#define SLUICE_SELF_TESTS(X)                                                                       \
    X(status, SLUICE_KERNELS_FSE, testStatusWords(on))                                             \
    X(checksum, SLUICE_KERNELS_CHECKSUM, testChecksum(on))                                         \
    X(gdeflate, SLUICE_KERNELS_GDEFLATE, gdeflate(on))                                             \
    X(gdeflate_pitched, SLUICE_KERNELS_GDEFLATE, gdeflatePitched(on))                              \
    X(gdeflate_by_driver, SLUICE_KERNELS_GDEFLATE, gdeflateByDriver(on))                           \
    X(tile_streams, SLUICE_KERNELS_TILE_STREAMS, tileStreams(on))                                  \
    X(gstd, SLUICE_KERNELS_GSTD, gstd(on))                                                         \
    X(fse_tables, SLUICE_KERNELS_FSE, testFseTables(on))                                           \
    X(filter, SLUICE_KERNELS_FILTER, testFilter(on))                                               \
    X(compact_1, SLUICE_KERNELS_COMPACT, testCompact(on, 1))                                       \
    X(compact_2, SLUICE_KERNELS_COMPACT, testCompact(on, 2))                                       \
    X(compact_4, SLUICE_KERNELS_COMPACT_WORDS, testCompact(on, 4))                                 \
    X(compact_8, SLUICE_KERNELS_COMPACT, testCompact(on, 8))                                       \
    X(compact_16, SLUICE_KERNELS_COMPACT, testCompact(on, 16))                                     \
    X(interval_expand, SLUICE_KERNELS_INTERVAL, testIntervalExpand(on))                            \
    X(interval_move, SLUICE_KERNELS_INTERVAL, testIntervalMove(on))                                \
    X(interval_bulk, SLUICE_KERNELS_INTERVAL, testBulk(on))                                        \
    X(interval_search, SLUICE_KERNELS_INTERVAL, testIntervalSearch(on))                            \
    X(scan, SLUICE_KERNELS_SCAN, testScan(on))                                                     \
    X(reduce, SLUICE_KERNELS_SCAN, testReduce(on))                                                 \
    X(float_decode, SLUICE_KERNELS_FLOAT, testFloatDecode(on))                                     \
    X(df11, SLUICE_KERNELS_DF11, testDf11(on))

enum class SelfTestCase : uint32_t {
    none, // no row may have it
#define SLUICE_ENUMERATOR(name, kernels, call) name,
    SLUICE_SELF_TESTS(SLUICE_ENUMERATOR)
#undef SLUICE_ENUMERATOR
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

// All constants of a pipeline in workgroups of so many invocations.
inline PipelineConstants constantsOf(const PipelineRow& row, const DeviceTraits& device,
                                     const VulkanTuning& tuning, uint32_t workgroup)
{
    PipelineConstants constants;
    constants.set(SLUICE_CONSTANT_WORKGROUP_SIZE, workgroup);
    constants.set(SLUICE_CONSTANT_SUBGROUP_SIZE, device.subgroupSize);
    row.constants(device, tuning, constants);
    return constants;
}

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
