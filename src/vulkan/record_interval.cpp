// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the interval family: the prefix sums of the counts, then one dispatch that shares the
// work out evenly.
#include <sluice/sluice_interval.h>

#include "api/plan_interval.h"
#include "vulkan/record.h"

namespace sluice {

Pipeline VulkanBackend::movePipeline(const IntervalParams& params) const
{
    return hasShortRuns(params, m_tuning.interval) && has(Pipeline::interval_move_short)
               ? Pipeline::interval_move_short
               : Pipeline::interval_move;
}

SluiceRequirements VulkanBackend::intervalRequirements(const SluiceIntervals& intervals) const
{
    return {intervalScratchBytes(intervals), 4, 0};
}

VulkanBackend::Access VulkanBackend::listAccess(const SluiceIntervals& list) const
{
    return access(list.counts.size != 0 ? list.counts : list.offsets, false);
}

// Sums the counts group by group, then the groups, which also writes the result words.
void VulkanBackend::recordIntervalPlan(VkCommandBuffer commands, IntervalParams params,
                                       const SluiceBuffer& result)
{
    const bool sum = params.form == SLUICE_INTERVAL_COUNTS && params.maxCount != 0;
    const uint64_t listBytes = uint64_t(params.maxCount) * 4;
    const VkDeviceAddress list = fromPair(params.counts);
    const VkDeviceAddress prefixes = fromPair(params.prefixes);
    const VkDeviceAddress count = fromPair(params.countBuffer);
    const uint64_t prefixBytes =
        (SLUICE_INTERVAL_BATCHES_AT + intervalDivideUp(params.maxCount, SLUICE_INTERVAL_BATCH)) * 4;
    if (sum) {
        params.pass = SLUICE_PASS_REDUCE;
        dispatch(commands, Pipeline::interval_plan, params, intervalGroups(params.maxCount),
                 {{list, listBytes, false}, {count, 4, false}, {prefixes, prefixBytes, true}});
        computeBarrier(commands);
    }
    if (sum || result.size != 0) {
        params.pass = SLUICE_PASS_APPLY;
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
    recordIntervalPlan(commands, params, result);
    const uint64_t workgroups =
        intervalDivideUp(intervalShares(params), m_tuning.workgroup.intervalShares);
    if (workgroups != 0) dispatch(commands, pipeline, params, workgroups, accesses);
}

SluiceStatus VulkanBackend::cmdIntervalExpand(SluiceCommands commands,
                                              const SluiceIntervalExpandInfo& info)
{
    IntervalParams params = expandParams(info, m_tuning.interval);
    setAddresses(params, info, addressOf());
    const bool words = info.elementSize == 4 && has(Pipeline::interval_expand_words);
    recordIntervals(
        commandBuffer(commands),
        words ? Pipeline::interval_expand_words : Pipeline::interval_expand, params, info.result,
        {listAccess(info.intervals), access(info.intervals.count, false),
         access(info.scratch, false), access(info.values, false), access(info.destination, true)});
    return SLUICE_OK;
}

SluiceStatus VulkanBackend::cmdIntervalMove(SluiceCommands commands,
                                            const SluiceIntervalMoveInfo& info)
{
    IntervalParams params = moveParams(info, m_tuning.interval);
    setAddresses(params, info, addressOf());
    recordIntervals(commandBuffer(commands), movePipeline(params), params, info.result,
                    {listAccess(info.intervals),
                     access(info.intervals.count, false),
                     access(info.scratch, false),
                     {fromPair(params.gather), info.gather.size, false},
                     {fromPair(params.scatter), info.scatter.size, false},
                     access(info.source, false),
                     access(info.destination, true),
                     access(info.result, true)});
    return SLUICE_OK;
}

SluiceStatus VulkanBackend::cmdIntervalSearch(SluiceCommands commands,
                                              const SluiceIntervalSearchInfo& info)
{
    IntervalParams params = searchParams(info, m_tuning.interval);
    setAddresses(params, info, addressOf());
    recordIntervals(commandBuffer(commands), Pipeline::interval_search, params, info.result,
                    {listAccess(info.intervals), access(info.intervals.count, false),
                     access(info.scratch, false), access(info.sources, true),
                     access(info.ranks, true)});
    return SLUICE_OK;
}

void VulkanBackend::recordBulk(SluiceCommands commands, const SluiceBulkInfo& info, bool insert)
{
    IntervalParams params = bulkParams(info, insert, m_tuning.interval);
    setAddresses(params, info, insert, addressOf());
    recordIntervals(commandBuffer(commands), movePipeline(params), params, info.result,
                    {access(info.indices, false),
                     access(info.indexCount, false),
                     access(info.itemCount, false),
                     {fromPair(params.gather), info.inserted.size, false},
                     access(info.source, false),
                     access(info.destination, true),
                     access(info.result, true)});
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
