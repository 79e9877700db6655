// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the interval family: the prefix sums of the counts, then one dispatch that shares the
// work out evenly.
#include <sluice/sluice_interval.h>

#include "api/interval_params.h"
#include "vulkan/record.h"

namespace sluice {

// By the average length that the sizes of lists and destination allow. Long runs go in longer
// rounds and fewer small shares than in CUDA.
Pipeline VulkanBackend::choosePipelineOfMove(IntervalParams& params) const
{
    const bool bulk = (params.form & 0xff) >= SLUICE_INTERVAL_REMOVED;
    const uint64_t elements = bulk ? std::min(params.itemCount, params.capacity) : params.capacity;
    const bool short_ =
        elements * params.elementSize < uint64_t(params.maxCount) * m_tuning.interval.shortRunBytes;
    if (short_ && has(Pipeline::interval_move_short)) return Pipeline::interval_move_short;
    params.tail = m_tuning.interval.longTailBytes / params.elementSize;
    params.window = m_tuning.interval.longWindowBytes / params.elementSize;
    return Pipeline::interval_move;
}

SluiceRequirements VulkanBackend::intervalRequirements(const SluiceIntervals& intervals) const
{
    return {intervalScratchBytes(intervals), 4, 0};
}

// Sums the counts group by group, then the groups, which also writes the result words.
void VulkanBackend::recordIntervalPlan(VkCommandBuffer commands, IntervalParams params,
                                       const SluiceBuffer& result)
{
    const bool sum = (params.form & 0xff) == SLUICE_INTERVAL_COUNTS && params.maxCount != 0;
    const uint64_t listBytes = uint64_t(params.maxCount) * 4;
    const VkDeviceAddress list = fromPair(params.counts);
    const VkDeviceAddress prefixes = fromPair(params.prefixes);
    const VkDeviceAddress count = fromPair(params.countBuffer);
    const uint64_t prefixBytes =
        (SLUICE_INTERVAL_BATCHES_AT + intervalDivideUp(params.maxCount, SLUICE_INTERVAL_BATCH)) * 4;
    if (sum) {
        params.form |= SLUICE_PASS_REDUCE << 16;
        dispatch(commands, Pipeline::interval_plan, params, intervalGroups(params.maxCount),
                 {{list, listBytes, false}, {count, 4, false}, {prefixes, prefixBytes, true}});
        computeBarrier(commands);
    }
    if (sum || result.size != 0) {
        params.form |= SLUICE_PASS_APPLY << 16;
        dispatch(commands, Pipeline::interval_plan, params, 1,
                 {{sum ? prefixes : list, sum ? prefixBytes : listBytes, sum},
                  {count, 4, false},
                  access({result.handle, result.offset, result.size != 0 ? 8u : 0u}, true)});
        computeBarrier(commands);
    }
}

void VulkanBackend::recordIntervals(VkCommandBuffer commands, Pipeline pipeline,
                                    IntervalParams params, const SluiceBuffer& result,
                                    std::initializer_list<Access> accesses)
{
    params.result_ = pair(address(result));
    recordIntervalPlan(commands, params, result);
    const uint64_t workgroups =
        intervalDivideUp(intervalShares(params), m_tuning.workgroup.intervalShares);
    if (workgroups != 0) dispatch(commands, pipeline, params, workgroups, accesses);
}

SluiceStatus VulkanBackend::cmdIntervalExpand(SluiceCommands commands,
                                              const SluiceIntervalExpandInfo& info)
{
    const Access list = access(
        info.intervals.counts.size != 0 ? info.intervals.counts : info.intervals.offsets, false);
    const Access count = access(info.intervals.count, false), scratch = access(info.scratch, false);
    const Access values = access(info.values, false), destination = access(info.destination, true);
    IntervalParams params = expandParams(info);
    params.counts = pair(list.address);
    params.countBuffer = pair(count.address);
    params.prefixes = pair(scratch.address);
    params.source = pair(values.address);
    params.sourceSize = pair(info.values.size);
    params.destination = pair(destination.address);
    params.destinationSize = pair(info.destination.size);
    const bool words = info.elementSize == 4 && has(Pipeline::interval_expand_words);
    recordIntervals(commandBuffer(commands),
                    words ? Pipeline::interval_expand_words : Pipeline::interval_expand, params,
                    info.result, {list, count, scratch, values, destination});
    return SLUICE_OK;
}

SluiceStatus VulkanBackend::cmdIntervalMove(SluiceCommands commands,
                                            const SluiceIntervalMoveInfo& info)
{
    const Access list = access(
        info.intervals.counts.size != 0 ? info.intervals.counts : info.intervals.offsets, false);
    const Access count = access(info.intervals.count, false), scratch = access(info.scratch, false);
    const SluiceBuffer none = {};
    const Access gather = access(info.kind != SLUICE_INTERVAL_SCATTER ? info.gather : none, false);
    const Access scatter = access(info.kind != SLUICE_INTERVAL_GATHER ? info.scatter : none, false);
    const Access source = access(info.source, false), destination = access(info.destination, true);
    IntervalParams params = moveParams(info);
    params.counts = pair(list.address);
    params.countBuffer = pair(count.address);
    params.prefixes = pair(scratch.address);
    params.gather = pair(gather.address);
    params.scatter = pair(scatter.address);
    params.source = pair(source.address);
    params.sourceSize = pair(info.source.size);
    params.destination = pair(destination.address);
    params.destinationSize = pair(info.destination.size);
    const Pipeline pipeline = choosePipelineOfMove(params);
    recordIntervals(commandBuffer(commands), pipeline, params, info.result,
                    {list, count, scratch, gather, scatter, source, destination,
                     access({info.result.handle, info.result.offset, info.result.size}, true)});
    return SLUICE_OK;
}

SluiceStatus VulkanBackend::cmdIntervalSearch(SluiceCommands commands,
                                              const SluiceIntervalSearchInfo& info)
{
    const Access list = access(
        info.intervals.counts.size != 0 ? info.intervals.counts : info.intervals.offsets, false);
    const Access count = access(info.intervals.count, false), scratch = access(info.scratch, false);
    const Access sources = access(info.sources, true), ranks = access(info.ranks, true);
    IntervalParams params = searchParams(info);
    params.counts = pair(list.address);
    params.countBuffer = pair(count.address);
    params.prefixes = pair(scratch.address);
    params.destination = pair(sources.address);
    params.gather = pair(ranks.address);
    recordIntervals(commandBuffer(commands), Pipeline::interval_search, params, info.result,
                    {list, count, scratch, sources, ranks});
    return SLUICE_OK;
}

void VulkanBackend::recordBulk(SluiceCommands commands, const SluiceBulkInfo& info, bool insert)
{
    const SluiceBuffer none = {};
    const Access indices = access(info.indices, false),
                 inserted = access(insert ? info.inserted : none, false);
    const Access indexCount = access(info.indexCount, false),
                 itemCount = access(info.itemCount, false);
    const Access source = access(info.source, false), destination = access(info.destination, true);
    IntervalParams params = bulkParams(info, insert);
    params.counts = pair(indices.address);
    params.countBuffer = pair(indexCount.address);
    params.gather = pair(inserted.address);
    params.scatter = pair(itemCount.address);
    params.source = pair(source.address);
    params.sourceSize = pair(info.source.size);
    params.destination = pair(destination.address);
    params.destinationSize = pair(info.destination.size);
    const Pipeline pipeline = choosePipelineOfMove(params);
    recordIntervals(
        commandBuffer(commands), pipeline, params, info.result,
        {indices, indexCount, itemCount, inserted, source, destination, access(info.result, true)});
}

SluiceStatus VulkanBackend::cmdBulkRemove(SluiceCommands commands, const SluiceBulkInfo& info)
{
    recordBulk(commands, info, false);
    return SLUICE_OK;
}

SluiceStatus VulkanBackend::cmdBulkInsert(SluiceCommands commands, const SluiceBulkInfo& info)
{
    recordBulk(commands, info, true);
    return SLUICE_OK;
}

} // namespace sluice
