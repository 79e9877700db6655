// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the scan family: one dispatch each, two for a scan that sums f32.
#include <sluice/sluice_scan.h>

#include "api/scan_params.h"
#include "vulkan/record.h"

namespace sluice {
namespace {

Pipeline scanPipeline(const SluiceScanInfo& info)
{
    const bool segmented = info.heads.size != 0, sum = info.operation == SLUICE_OPERATION_SUM;
    if (info.type == SLUICE_VALUE_U64) {
        return sum ? (segmented ? Pipeline::scan_sum_u64_segments : Pipeline::scan_sum_u64)
                   : (segmented ? Pipeline::scan_max_u64_segments : Pipeline::scan_max_u64);
    }
    if (isF32Sum(info.operation, info.type)) {
        return segmented ? Pipeline::scan_sum_f32_segments : Pipeline::scan_sum_f32;
    }
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

} // namespace

uint32_t VulkanBackend::scanTileElements() const
{
    return workgroup(Pipeline::scan_sum) * SLUICE_SCAN_PER_INVOCATION;
}

uint32_t VulkanBackend::ringTileElements() const
{
    return workgroup(Pipeline::scan_sum_ring) * 4 * SLUICE_SCAN_RING_ROWS;
}

// Whether scan_ring.comp runs it: a tile for each workgroup at least, and whole vectors.
bool VulkanBackend::scansByRing(const SluiceScanInfo& info, const ScanParams& params) const
{
    const bool simple = info.operation == SLUICE_OPERATION_SUM && info.heads.size == 0 &&
                        valueBytes(info.type) == 4 && !isF32Sum(info.operation, info.type);
    const bool aligned = ((params.input_.lo | params.output_.lo) & 15) == 0;
    return simple && aligned && has(Pipeline::scan_sum_ring) && mayWait(params.polls) &&
           scanTiles(info.maxCount, ringTileElements()) >= m_tuning.scan.ringWorkgroups;
}

SluiceRequirements VulkanBackend::scanRequirements(const SluiceScanInfo& info) const
{
    const uint32_t tile = has(Pipeline::scan_sum_ring)
                              ? std::min(scanTileElements(), ringTileElements())
                              : scanTileElements();
    return lookbackScratch(scanTiles(info.maxCount, tile), valueBytes(info.type));
}

SluiceRequirements VulkanBackend::reduceRequirements(const SluiceReduceInfo& info) const
{
    return lookbackScratch(reduceWorkgroups(info.maxCount, scanTileElements()), 4);
}

SluiceStatus VulkanBackend::cmdScan(SluiceCommands commands, const SluiceScanInfo& info)
{
    const VkCommandBuffer cmd = commandBuffer(commands);
    const uint64_t tiles = scanTiles(info.maxCount, scanTileElements());
    const uint64_t bytes = uint64_t(info.maxCount) * valueBytes(info.type);
    const Access count = access(info.count, false), heads = access(info.heads, false),
                 total = access(info.total, true);
    const Access input = {bytes != 0 ? address(info.input) : 0, bytes, false};
    const Access output = {bytes != 0 ? address(info.output) : 0, bytes, true};
    const Access scratch = {address(info.scratch), scanRequirements(info).scratchSize, true};
    ScanParams params = scanParams(info, polls);
    params.input_ = pair(input.address);
    params.output_ = pair(output.address);
    params.heads = pair(heads.address);
    params.countBuffer = pair(count.address);
    params.total = pair(total.address);
    params.scratch = pair(scratch.address);
    if (scansByRing(info, params)) {
        params.workgroups = m_tuning.scan.ringWorkgroups;
        dispatch(cmd, Pipeline::scan_sum_ring, params, params.workgroups,
                 {input, output, count, total, scratch});
        return SLUICE_OK;
    }
    const bool f32Sum = isF32Sum(info.operation, info.type);
    // One tile a workgroup while there are few, and always for an f32 sum.
    const uint64_t share = std::clamp<uint64_t>(tiles / m_tuning.scan.workgroups, 1,
                                                f32Sum ? 1 : m_tuning.scan.tilesPerWorkgroup);
    params.scanner = !m_traits.isEmulated() && !f32Sum && hasScanner(params.polls, tiles) ? 1 : 0;
    params.share = static_cast<u32>(share);
    params.workgroups = static_cast<u32>((tiles + share - 1) / share + params.scanner);
    if (f32Sum && tiles > 1) {
        ScanParams partials = params;
        partials.kind = SLUICE_KIND_PARTIALS;
        dispatch(cmd,
                 heads.size != 0 ? Pipeline::reduce_sum_f32_segments : Pipeline::reduce_sum_f32,
                 partials, tiles, {input, heads, count, scratch});
        computeBarrier(cmd);
    }
    dispatch(cmd, scanPipeline(info), params, params.workgroups,
             {input, output, heads, count, total, scratch});
    return SLUICE_OK;
}

SluiceStatus VulkanBackend::cmdReduce(SluiceCommands commands, const SluiceReduceInfo& info)
{
    const uint64_t workgroups = reduceWorkgroups(info.maxCount, scanTileElements());
    const uint64_t bytes = uint64_t(info.maxCount) * valueBytes(info.type);
    const Access count = access(info.count, false), result = access(info.result, true);
    const Access input = {bytes != 0 ? address(info.input) : 0, bytes, false};
    const Access scratch = {address(info.scratch), reduceRequirements(info).scratchSize, true};
    ScanParams params = reduceParams(info);
    params.input_ = pair(input.address);
    params.countBuffer = pair(count.address);
    params.total = pair(result.address);
    params.scratch = pair(scratch.address);
    params.workgroups = static_cast<u32>(workgroups);
    dispatch(commandBuffer(commands), reducePipeline(info.operation, info.type), params, workgroups,
             {input, count, result, scratch});
    return SLUICE_OK;
}

} // namespace sluice
