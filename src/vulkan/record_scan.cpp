// SPDX-License-Identifier: MIT OR Apache-2.0
// Records scans and reductions, with one dispatch each. A scan that sums f32 has a second dispatch
// before it, which computes for each tile the sum of all earlier tiles.
#include <sluice/sluice_scan.h>

#include "api/plan_scan.h"
#include "vulkan/context.h"

namespace sluice {
namespace {

Pipeline scanPipeline(const SluiceScanInfo& info)
{
    const bool segmented = info.heads.size != 0, sum = info.operation == SLUICE_OPERATION_SUM;
    if (info.type == SLUICE_VALUE_U64)
        return sum ? (segmented ? Pipeline::scan_sum_u64_segments : Pipeline::scan_sum_u64)
                   : (segmented ? Pipeline::scan_max_u64_segments : Pipeline::scan_max_u64);
    if (isF32Sum(info.operation, info.type))
        return segmented ? Pipeline::scan_sum_f32_segments : Pipeline::scan_sum_f32;
    return sum ? (segmented ? Pipeline::scan_sum_segments : Pipeline::scan_sum)
               : (segmented ? Pipeline::scan_max_segments : Pipeline::scan_max);
}

Pipeline reducePipeline(SluiceOperation operation, SluiceValueType type)
{
    const bool sum = operation == SLUICE_OPERATION_SUM;
    return type == SLUICE_VALUE_U64    ? (sum ? Pipeline::reduce_sum_u64 : Pipeline::reduce_max_u64)
           : isF32Sum(operation, type) ? Pipeline::reduce_sum_f32
           : sum                       ? Pipeline::reduce_sum
                                       : Pipeline::reduce_max;
}

uint32_t scanTileElements(const VulkanPipelines& pipelines)
{
    return pipelines.workgroup(Pipeline::scan_sum) * SLUICE_SCAN_PER_INVOCATION;
}

uint32_t ringTileElements(const VulkanPipelines& pipelines)
{
    return pipelines.workgroup(Pipeline::scan_sum_ring) * 4 * SLUICE_SCAN_RING_ROWS;
}

uint64_t reduceWorkgroups(const VulkanPipelines& pipelines, const VulkanTuning& tuning,
                          uint32_t maxCount)
{
    return std::min<uint64_t>(scanTiles(maxCount, scanTileElements(pipelines)),
                              tuning.scan.reduceWorkgroups);
}

} // namespace

// Returns what planScan needs to know of the device. The ring kernel, scan_ring.comp, only sums
// 32-bit integers. Its workgroups wait for each other at the end, so all must run at the same time:
// one that starts late would delay the others.
ScanMachine VulkanBackend::scanMachine(const SluiceScanInfo& info) const
{
    const bool words = info.operation == SLUICE_OPERATION_SUM && info.heads.size == 0 &&
                       valueBytes(info.type) == 4 && !isF32Sum(info.operation, info.type);
    const VulkanTuning::Scan& scan = m_machine.tuning.scan;
    const bool ring = words && m_pipelines.has(Pipeline::scan_sum_ring) && scan.ringWorkgroups != 0;
    return {m_machine.tuning.lookback,
            scanTileElements(m_pipelines),
            scan.workgroups,
            scan.tilesPerWorkgroup,
            !m_machine.traits.isEmulated(),
            ring ? ringTileElements(m_pipelines) : 0,
            scan.ringWorkgroups,
            scan.ringWorkgroups};
}

SluiceRequirements VulkanBackend::scanRequirements(const SluiceScanInfo& info) const
{
    const uint32_t tile =
        m_pipelines.applies(Pipeline::scan_sum_ring)
            ? std::min(scanTileElements(m_pipelines), ringTileElements(m_pipelines))
            : scanTileElements(m_pipelines);
    return lookbackScratch(scanTiles(info.maxCount, tile), valueBytes(info.type));
}

SluiceRequirements VulkanBackend::reduceRequirements(const SluiceReduceInfo& info) const
{
    return lookbackScratch(reduceWorkgroups(m_pipelines, tuning(), info.maxCount), 4);
}

SluiceStatus VulkanBackend::cmdScan(SluiceCommands commands, const SluiceScanInfo& info)
{
    const Recording cmd = recordingOf(commands);
    const uint64_t bytes = uint64_t(info.maxCount) * valueBytes(info.type);
    ScanParams params = scanParams(info, m_machine.tuning.lookback.polls);
    setAddresses(params, info, addressOf());
    const Access input = readsAt(fromPair(params.input_), bytes);
    const Access output = writesAt(fromPair(params.output_), bytes);
    const Access count = reads(info.count), heads = reads(info.heads);
    const Access total = writes(info.total);
    const Access scratch = writesAt(fromPair(params.scratch), scanRequirements(info).scratchSize);
    const ScanPlan plan = planScan(info, params, scanMachine(info));
    params.workgroups = plan.workgroups;
    params.schedule = plan.schedule;
    if (plan.schedule == SLUICE_SCAN_BY_RING) {
        m_recorder.dispatch(cmd, Pipeline::scan_sum_ring, params, plan.workgroups,
                            {input, output, count, total, scratch});
        return SLUICE_OK;
    }
    params.scanner = plan.scanner ? 1 : 0;
    params.share = plan.tilesPerWorkgroup;
    if (plan.partials) {
        ScanParams partials = params;
        partials.kind = SLUICE_KIND_PARTIALS;
        m_recorder.dispatch(
            cmd, heads.size != 0 ? Pipeline::reduce_sum_f32_segments : Pipeline::reduce_sum_f32,
            partials, plan.workgroups, {input, heads, count, scratch});
        m_recorder.computeBarrier(cmd);
    }
    m_recorder.dispatch(cmd, scanPipeline(info), params, plan.workgroups,
                        {input, output, heads, count, total, scratch});
    return SLUICE_OK;
}

SluiceStatus VulkanBackend::cmdReduce(SluiceCommands commands, const SluiceReduceInfo& info)
{
    const uint64_t workgroups = reduceWorkgroups(m_pipelines, tuning(), info.maxCount);
    const uint64_t bytes = uint64_t(info.maxCount) * valueBytes(info.type);
    ScanParams params = reduceParams(info);
    setAddresses(params, info, addressOf());
    params.workgroups = uint32_t(workgroups);
    m_recorder.dispatch(
        recordingOf(commands), reducePipeline(info.operation, info.type), params, workgroups,
        {readsAt(fromPair(params.input_), bytes), reads(info.count), writes(info.result),
         writesAt(fromPair(params.scratch), reduceRequirements(info).scratchSize)});
    return SLUICE_OK;
}

} // namespace sluice
