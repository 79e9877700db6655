// SPDX-License-Identifier: MIT OR Apache-2.0
// Records a compaction. Usually that is one dispatch. A partition has a second dispatch before it,
// which counts the kept elements. A compaction in place whose workgroups may not wait for each
// other has one dispatch for every serialTiles tiles.
#include <sluice/sluice_compact.h>

#include "api/plan_compact.h"
#include "vulkan/context.h"

namespace sluice {
namespace {

Pipeline compactPipeline(uint32_t elementSize)
{
    switch (elementSize) {
    case 1: return Pipeline::compact_1;
    case 2: return Pipeline::compact_2;
    case 8: return Pipeline::compact_8;
    case 16: return Pipeline::compact_16;
    case 4: return Pipeline::compact_4;
    default: return Pipeline::compact_wide;
    }
}

// Returns the smallest variant of compact_ring.comp that can do the command's test and write its
// outputs.
Pipeline ringPipeline(const CompactParams& params)
{
    const bool elements = fromPair(params.output_) != 0;
    const uint32_t test = params.mode & SLUICE_COMPACT_MODE_TEST;
    if (test == SLUICE_COMPACT_TEST_BYTES) {
        return elements ? Pipeline::compact_ring_bytes : Pipeline::compact_ring_selectors;
    }
    if (test == SLUICE_COMPACT_TEST_MASK) return Pipeline::compact_ring_selectors;
    const uint32_t general = SLUICE_COMPACT_MODE_F32 | SLUICE_COMPACT_MODE_INVERT;
    return elements && (params.mode & general) == 0 ? Pipeline::compact_ring_words
                                                    : Pipeline::compact_ring;
}

uint32_t compactTile(const VulkanPipelines& pipelines, uint32_t elementSize)
{
    return SLUICE_COMPACT_ROWS * SLUICE_COMPACT_ROW_ELEMENTS(elementSize) *
           pipelines.workgroup(compactPipeline(elementSize));
}

uint32_t compactRingTile(const VulkanPipelines& pipelines)
{
    return pipelines.workgroup(Pipeline::compact_ring) * 4 * SLUICE_COMPACT_RING_ROWS;
}

uint32_t compactCallTile(const VulkanPipelines& pipelines)
{
    return pipelines.workgroup(Pipeline::compact_call) * 4 * SLUICE_COMPACT_CALL_ROWS;
}

} // namespace

CompactMachine VulkanBackend::compactMachine(const SluiceCompactInfo& info) const
{
    const VulkanTuning::Compact& tuning = m_machine.tuning.compact;
    CompactMachine machine = {};
    machine.lookback = m_machine.tuning.lookback;
    machine.pollsInPlace = tuning.pollsInPlace;
    machine.forwardProgress = m_machine.traits.forwardProgress;
    machine.scanners = !m_machine.traits.isEmulated();
    machine.lookAhead = true;
    machine.tileElements = compactTile(m_pipelines, compactedBytes(info));
    machine.workgroups = tuning.workgroups;
    machine.tilesPerWorkgroup = m_machine.traits.forwardProgress ? 0 : tuning.tilesPerWorkgroup;
    machine.serialTiles = tuning.serialTiles;
    // compact_ring.comp and compact_call.comp look at one 4-byte element at a time.
    // SLUICE_COMPACT_UNIQUE compares an element with the one before it, which they cannot do.
    using P = Pipeline;
    const bool rings = m_pipelines.hasAll(
        {P::compact_ring, P::compact_ring_selectors, P::compact_ring_words, P::compact_ring_bytes});
    if (rings && tuning.ringWorkgroups != 0 && compactedBytes(info) == 4 &&
        info.test != SLUICE_COMPACT_UNIQUE) {
        machine.ringElements = compactRingTile(m_pipelines);
        machine.ringTiles = machine.ringWorkgroups = tuning.ringWorkgroups;
        machine.ringCountsAlone = true;
        machine.callElements = compactCallTile(m_pipelines);
        machine.callTiles =
            m_pipelines.hasAll({P::compact_call, P::compact_call_selectors}) ? tuning.callTiles : 0;
    }
    return machine;
}

SluiceRequirements VulkanBackend::compactRequirements(const SluiceCompactInfo& info) const
{
    const uint32_t tile =
        std::min(compactTile(m_pipelines, 4), compactTile(m_pipelines, requiredBytes(info)));
    return compactScratch(info, m_pipelines.applies(Pipeline::compact_ring)
                                    ? std::min(tile, compactRingTile(m_pipelines))
                                    : tile);
}

SluiceStatus VulkanBackend::cmdCompact(SluiceCommands commands, const SluiceCompactInfo& info)
{
    const Recording cmd = recordingOf(commands);
    const uint32_t size = compactedBytes(info);
    CompactParams params = compactParams(info, m_machine.tuning.lookback.polls);
    setAddresses(params, info, addressOf());
    // The number of selected elements is not known yet; these are upper bounds.
    const uint64_t written = std::min(params.capacity, info.maxCount),
                   indices = std::min(params.indexCapacity, info.maxCount);
    const bool selects = info.test == SLUICE_COMPACT_BYTES || info.test == SLUICE_COMPACT_MASK;
    const Access count = reads(info.count), result = writes(info.resultCount);
    const Access argument = writes(info.argument);
    const Access input = readsAt(fromPair(params.input_), uint64_t(info.maxCount) * size);
    const Access selectors = readsAt(fromPair(params.selectors), info.selectors.size);
    const Access output = writesAt(fromPair(params.output_), written * size);
    const Access indexList = writesAt(fromPair(params.indices), indices * 4);
    const Access scratch =
        writesAt(fromPair(params.scratch), compactRequirements(info).scratchSize);
    const auto record = [&](Pipeline pipeline, const CompactParams& plan) {
        m_recorder.dispatch(
            cmd, pipeline, plan, plan.workgroups,
            {input, selectors, output, indexList, count, result, argument, scratch});
    };
    const Pipeline general = compactPipeline(size);
    CompactPlan plan =
        planCompact(info, params, compactMachine(info), [](const CompactParams&) { return true; });
    if (plan.countingWorkgroups != 0) {
        m_recorder.dispatch(cmd, general, plan.counting, plan.countingWorkgroups,
                            {input, selectors, count, scratch});
        m_recorder.computeBarrier(cmd);
    }
    switch (plan.path) {
    case CompactPlan::Path::serial:
        for (uint64_t i = 0; i < plan.serialDispatches; ++i) {
            if (i != 0) m_recorder.computeBarrier(cmd);
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
