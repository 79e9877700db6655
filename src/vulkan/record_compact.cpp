// SPDX-License-Identifier: MIT OR Apache-2.0
// Records compaction: one dispatch; a partition counts first, and in place where workgroups may not
// wait for each other there is a dispatch for every so many tiles.
#include <sluice/sluice_compact.h>

#include "api/plan_compact.h"
#include "vulkan/record.h"

namespace sluice {
namespace {

Pipeline compactPipeline(uint32_t elementSize)
{
    switch (elementSize) {
    case 1: return Pipeline::compact_1;
    case 2: return Pipeline::compact_2;
    case 8: return Pipeline::compact_8;
    case 16: return Pipeline::compact_16;
    default: return Pipeline::compact_4;
    }
}

// The variant of compact_ring.comp that tests and writes the least that the command needs.
Pipeline ringPipeline(const CompactParams& params)
{
    const bool elements = fromPair(params.output_) != 0;
    const u32 test = params.mode & SLUICE_COMPACT_MODE_TEST;
    if (test == SLUICE_COMPACT_TEST_BYTES) {
        return elements ? Pipeline::compact_ring_bytes : Pipeline::compact_ring_selectors;
    }
    if (test == SLUICE_COMPACT_TEST_MASK) return Pipeline::compact_ring_selectors;
    const u32 general = SLUICE_COMPACT_MODE_F32 | SLUICE_COMPACT_MODE_INVERT;
    return elements && (params.mode & general) == 0 ? Pipeline::compact_ring_words
                                                    : Pipeline::compact_ring;
}

} // namespace

// Elements of a tile.
uint32_t VulkanBackend::compactTile(uint32_t elementSize) const
{
    return SLUICE_COMPACT_BYTES_PER_INVOCATION / std::max(elementSize, 4u) *
           workgroup(compactPipeline(elementSize));
}

uint32_t VulkanBackend::compactRingTile() const
{
    return workgroup(Pipeline::compact_ring) * 4 * SLUICE_COMPACT_RING_ROWS;
}

uint32_t VulkanBackend::compactCallTile() const
{
    return workgroup(Pipeline::compact_call) * 4 * SLUICE_COMPACT_CALL_ROWS;
}

CompactMachine VulkanBackend::compactMachine(const SluiceCompactInfo& info) const
{
    const VulkanTuning::Compact& tuning = m_tuning.compact;
    CompactMachine machine = {};
    machine.lookback = m_tuning.lookback;
    machine.pollsInPlace = tuning.pollsInPlace;
    machine.forwardProgress = m_traits.forwardProgress;
    machine.scanners = !m_traits.isEmulated();
    machine.lookAhead = true;
    machine.tileElements = compactTile(compactedBytes(info));
    machine.workgroups = tuning.workgroups;
    machine.tilesPerWorkgroup = m_traits.forwardProgress ? 0 : tuning.tilesPerWorkgroup;
    machine.serialTiles = tuning.serialTiles;
    // compact_ring.comp and compact_call.comp compare whole elements of 4 bytes; a test for changes
    // looks at two of them.
    using P = Pipeline;
    const bool rings = hasAll(
        {P::compact_ring, P::compact_ring_selectors, P::compact_ring_words, P::compact_ring_bytes});
    if (rings && tuning.ringWorkgroups != 0 && compactedBytes(info) == 4 &&
        info.test != SLUICE_COMPACT_UNIQUE) {
        machine.ringElements = compactRingTile();
        machine.ringTiles = machine.ringWorkgroups = tuning.ringWorkgroups;
        machine.ringCountsAlone = true;
        machine.callElements = compactCallTile();
        machine.callTiles =
            hasAll({P::compact_call, P::compact_call_selectors}) ? tuning.callTiles : 0;
    }
    return machine;
}

SluiceRequirements VulkanBackend::compactRequirements(const SluiceCompactInfo& info) const
{
    const uint32_t tile = std::min(compactTile(4), compactTile(requiredBytes(info)));
    return compactScratch(info, applies(Pipeline::compact_ring) ? std::min(tile, compactRingTile())
                                                                : tile);
}

SluiceStatus VulkanBackend::cmdCompact(SluiceCommands commands, const SluiceCompactInfo& info)
{
    const VkCommandBuffer cmd = commandBuffer(commands);
    const uint32_t size = compactedBytes(info);
    CompactParams params = compactParams(info, m_tuning.lookback.polls);
    setAddresses(params, info, addressOf());
    // What is known of the result is how much fits.
    const uint64_t written = std::min(params.capacity, info.maxCount),
                   indices = std::min(params.indexCapacity, info.maxCount);
    const bool selects = info.test == SLUICE_COMPACT_BYTES || info.test == SLUICE_COMPACT_MASK;
    const Access count = access(info.count, false), result = access(info.resultCount, true);
    const Access argument = access(info.argument, true);
    const Access input = {fromPair(params.input_), uint64_t(info.maxCount) * size, false};
    const Access selectors = {fromPair(params.selectors), info.selectors.size, false};
    const Access output = {fromPair(params.output_), written * size, true};
    const Access indexList = {fromPair(params.indices), indices * 4, true};
    const Access scratch = {fromPair(params.scratch), compactRequirements(info).scratchSize, true};
    const auto record = [&](Pipeline pipeline, const CompactParams& plan) {
        dispatch(cmd, pipeline, plan, plan.workgroups,
                 {input, selectors, output, indexList, count, result, argument, scratch});
    };
    const Pipeline general = compactPipeline(size);
    CompactPlan plan =
        planCompact(info, params, compactMachine(info), [](const CompactParams&) { return true; });
    if (plan.countingWorkgroups != 0) {
        dispatch(cmd, general, plan.counting, plan.countingWorkgroups,
                 {input, selectors, count, scratch});
        computeBarrier(cmd);
    }
    switch (plan.path) {
    case CompactPlan::Path::serial:
        for (uint64_t i = 0; i < plan.serialDispatches; ++i) {
            if (i != 0) computeBarrier(cmd);
            record(general, plan.params);
            plan.params.first += plan.params.share;
        }
        break;
    case CompactPlan::Path::general: record(general, plan.params); break;
    case CompactPlan::Path::ring: record(ringPipeline(plan.params), plan.params); break;
    case CompactPlan::Path::call:
        record(selects ? Pipeline::compact_call_selectors : Pipeline::compact_call, plan.params);
        break;
    }
    return SLUICE_OK;
}

} // namespace sluice
