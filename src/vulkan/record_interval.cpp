// SPDX-License-Identifier: MIT OR Apache-2.0
// Records the commands on intervals: first dispatches for the prefix sums of the counts, then one
// dispatch whose workgroups have about equal shares of the work.
#include <sluice/sluice_interval.h>

#include "api/plan_interval.h"
#include "vulkan/context.h"

namespace sluice {
namespace {

Pipeline movePipeline(const VulkanPipelines& pipelines, const IntervalTuning& tuning,
                      const IntervalParams& params)
{
    return hasShortRuns(params, tuning) && pipelines.has(Pipeline::interval_move_short)
               ? Pipeline::interval_move_short
               : Pipeline::interval_move;
}

Access listAccess(const SluiceIntervals& list)
{
    return reads(list.counts.size != 0 ? list.counts : list.offsets);
}

// Records two dispatches. The first adds up the counts of each group of intervals. The second scans
// these sums, and also writes the command's two result words.
void recordIntervalPlan(const CommandRecorder& recorder, Recording commands, IntervalParams params,
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
        recorder.dispatch(
            commands, Pipeline::interval_plan, params, intervalGroups(params.maxCount),
            {readsAt(list, listBytes), readsAt(count, 4), writesAt(prefixes, prefixBytes)});
        recorder.computeBarrier(commands);
    }
    if (sum || result.size != 0) {
        params.pass = SLUICE_PASS_APPLY;
        recorder.dispatch(commands, Pipeline::interval_plan, params, 1,
                          {sum ? writesAt(prefixes, prefixBytes) : readsAt(list, listBytes),
                           readsAt(count, 4),
                           writes({result.handle, result.offset, result.size != 0 ? 8u : 0u})});
        recorder.computeBarrier(commands);
    }
}

void recordIntervals(const CommandRecorder& recorder, uint32_t shares, Recording commands,
                     Pipeline pipeline, IntervalParams params, const SluiceBuffer& result,
                     std::initializer_list<Access> accesses)
{
    recordIntervalPlan(recorder, commands, params, result);
    const uint64_t workgroups = intervalDivideUp(intervalShares(params), shares);
    if (workgroups != 0) recorder.dispatch(commands, pipeline, params, workgroups, accesses);
}

} // namespace

SluiceRequirements VulkanBackend::intervalRequirements(const SluiceIntervals& intervals) const
{
    return {intervalScratchBytes(intervals), 4, 0};
}

SluiceStatus VulkanBackend::cmdIntervalExpand(SluiceCommands commands,
                                              const SluiceIntervalExpandInfo& info)
{
    IntervalParams params = expandParams(info, m_machine.tuning.interval);
    setAddresses(params, info, addressOf());
    const bool words = info.elementSize == 4 && m_pipelines.has(Pipeline::interval_expand_words);
    recordIntervals(m_recorder, tuning().workgroup.intervalShares, recordingOf(commands),
                    words ? Pipeline::interval_expand_words : Pipeline::interval_expand, params,
                    info.result,
                    {listAccess(info.intervals), reads(info.intervals.count), reads(info.scratch),
                     reads(info.values), writes(info.destination)});
    return SLUICE_OK;
}

SluiceStatus VulkanBackend::cmdIntervalMove(SluiceCommands commands,
                                            const SluiceIntervalMoveInfo& info)
{
    IntervalParams params = moveParams(info, m_machine.tuning.interval);
    setAddresses(params, info, addressOf());
    recordIntervals(m_recorder, tuning().workgroup.intervalShares, recordingOf(commands),
                    movePipeline(m_pipelines, tuning().interval, params), params, info.result,
                    {listAccess(info.intervals), reads(info.intervals.count), reads(info.scratch),
                     readsAt(fromPair(params.gather), info.gather.size),
                     readsAt(fromPair(params.scatter), info.scatter.size), reads(info.source),
                     writes(info.destination), writes(info.result)});
    return SLUICE_OK;
}

SluiceStatus VulkanBackend::cmdIntervalSearch(SluiceCommands commands,
                                              const SluiceIntervalSearchInfo& info)
{
    IntervalParams params = searchParams(info, m_machine.tuning.interval);
    setAddresses(params, info, addressOf());
    recordIntervals(m_recorder, tuning().workgroup.intervalShares, recordingOf(commands),
                    Pipeline::interval_search, params, info.result,
                    {listAccess(info.intervals), reads(info.intervals.count), reads(info.scratch),
                     writes(info.sources), writes(info.ranks)});
    return SLUICE_OK;
}

void VulkanBackend::recordBulk(SluiceCommands commands, const SluiceBulkInfo& info, bool insert)
{
    IntervalParams params = bulkParams(info, insert, m_machine.tuning.interval);
    setAddresses(params, info, insert, addressOf());
    recordIntervals(m_recorder, tuning().workgroup.intervalShares, recordingOf(commands),
                    movePipeline(m_pipelines, tuning().interval, params), params, info.result,
                    {reads(info.indices), reads(info.indexCount), reads(info.itemCount),
                     readsAt(fromPair(params.gather), info.inserted.size), reads(info.source),
                     writes(info.destination), writes(info.result)});
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
