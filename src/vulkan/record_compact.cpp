// SPDX-License-Identifier: MIT OR Apache-2.0
// Records compaction: one dispatch; a partition counts first, and in place where workgroups may not
// wait for each other there is a dispatch for every so many tiles.
#include <sluice/sluice_compact.h>

#include "api/compact_params.h"
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

// Of what compact_ring.comp can do.
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

Backend::Rings VulkanBackend::rings() const
{
    return {has(Pipeline::scan_sum_ring) ? m_tuning.scan.ringWorkgroups * ringTileElements() : 0,
            has(Pipeline::compact_ring) ? m_tuning.compact.ringWorkgroups * compactRingTile() : 0};
}

// Whether compact_ring.comp runs it, but for its size: one output, and whole vectors.
bool VulkanBackend::compactsByRing(const SluiceCompactInfo& info, const CompactParams& params) const
{
    const bool oneOutput = fromPair(params.output_) == 0 || fromPair(params.indices) == 0;
    return oneOutput && (params.input_.lo & 15) == 0 && has(Pipeline::compact_ring) &&
           mayWait(params.polls) && compactedBytes(info) == 4 && !isInPlace(info) &&
           info.test != SLUICE_COMPACT_UNIQUE && (info.flags & SLUICE_COMPACT_PARTITION) == 0;
}

SluiceRequirements VulkanBackend::compactRequirements(const SluiceCompactInfo& info) const
{
    const uint32_t tile = std::min(compactTile(4), compactTile(requiredBytes(info)));
    return compactScratch(info,
                          has(Pipeline::compact_ring) ? std::min(tile, compactRingTile()) : tile);
}

void VulkanBackend::recordSerialCompact(VkCommandBuffer commands, Pipeline pipeline,
                                        CompactParams params, uint64_t tiles,
                                        std::initializer_list<Access> accesses)
{
    params.mode |= SLUICE_COMPACT_MODE_SERIAL;
    params.workgroups = 1;
    params.share = m_tuning.compact.serialTiles;
    for (uint64_t first = 0; first < tiles; first += params.share) {
        if (first != 0) {
            computeBarrier(commands);
        }
        params.first = static_cast<u32>(first);
        dispatch(commands, pipeline, params, 1, accesses);
    }
}

SluiceStatus VulkanBackend::cmdCompact(SluiceCommands commands, const SluiceCompactInfo& info)
{
    const VkCommandBuffer cmd = commandBuffer(commands);
    const uint32_t size = compactedBytes(info);
    const uint64_t tiles = scanTiles(info.maxCount, compactTile(size));
    const bool inPlace = isInPlace(info), empty = info.maxCount == 0;
    const bool bytes = info.test == SLUICE_COMPACT_BYTES, mask = info.test == SLUICE_COMPACT_MASK;
    CompactParams params = compactParams(info, polls);
    // What is known of the result is how much fits.
    const uint64_t written = std::min(params.capacity, info.maxCount),
                   indices = std::min(params.indexCapacity, info.maxCount);
    const Access count = access(info.count, false), result = access(info.resultCount, true);
    const Access argument = access(info.argument, true);
    const Access input = {empty || !readsElements(info) ? 0 : address(info.input),
                          uint64_t(info.maxCount) * size, false};
    const Access selectors = {empty || !(bytes || mask) ? 0 : address(info.selectors),
                              info.selectors.size, false};
    const Access output = {empty ? 0 : address(info.output), written * size, true};
    const Access indexList = {empty ? 0 : address(info.indices), indices * 4, true};
    const Access scratch = {address(info.scratch), compactRequirements(info).scratchSize, true};
    params.input_ = pair(input.address);
    params.selectors = pair(selectors.address);
    params.output_ = pair(output.address);
    params.indices = pair(indexList.address);
    params.countBuffer = pair(count.address);
    params.resultCount = pair(result.address);
    params.argument = pair(argument.address);
    params.scratch = pair(scratch.address);
    const Pipeline pipeline = compactPipeline(size);
    if (isSerial(params, inPlace, m_traits.forwardProgress)) {
        recordSerialCompact(
            cmd, pipeline, params, tiles,
            {input, selectors, output, indexList, count, result, argument, scratch});
        return SLUICE_OK;
    }

    if (compactsByRing(info, params)) {
        const uint64_t ringTiles = scanTiles(info.maxCount, compactRingTile()),
                       calls = scanTiles(info.maxCount, compactCallTile());
        const bool many = ringTiles >= m_tuning.compact.ringWorkgroups, selects = bytes || mask;
        if (many || calls <= m_tuning.compact.callTiles) {
            turnAround(params);
            params.workgroups = many ? m_tuning.compact.ringWorkgroups : static_cast<u32>(calls);
            const Pipeline ring = ringPipeline(params);
            const Pipeline call =
                selects ? Pipeline::compact_call_selectors : Pipeline::compact_call;
            dispatch(cmd, many ? ring : call, params, params.workgroups,
                     {input, selectors, output, indexList, count, result, argument, scratch});
            return SLUICE_OK;
        }
    }
    if (inPlace) {
        params.mode |= SLUICE_COMPACT_MODE_IN_PLACE;
        params.polls = m_tuning.compact.pollsInPlace;
    }
    const bool partition = (info.flags & SLUICE_COMPACT_PARTITION) != 0;
    if (partition && tiles > 1) {
        CompactParams counting = params;
        counting.mode |= SLUICE_COMPACT_MODE_COUNT;
        counting.workgroups =
            static_cast<u32>(std::min<uint64_t>(tiles, m_tuning.compact.workgroups));
        dispatch(cmd, pipeline, counting, counting.workgroups, {input, selectors, count, scratch});
        computeBarrier(cmd);
    }
    // More workgroups than run at the same time: the others find no ticket left. A workgroup takes
    // any number of them, but where it may be stopped for its length.
    const bool scanner = !m_traits.isEmulated() && hasScanner(params.polls, tiles);
    const bool oneOutput = (output.address == 0) != (indexList.address == 0);
    uint64_t workgroups = std::min<uint64_t>(tiles, m_tuning.compact.workgroups);
    params.share = 0xffffffffu;
    if (!m_traits.forwardProgress) {
        params.share = static_cast<u32>(std::min<uint64_t>((tiles + workgroups - 1) / workgroups,
                                                           m_tuning.compact.tilesPerWorkgroup));
        workgroups = (tiles + params.share - 1) / params.share;
    }
    if (scanner) {
        params.mode |= SLUICE_COMPACT_MODE_SCANNER;
    }
    if (workgroups == tiles && !inPlace) {
        params.mode |= SLUICE_COMPACT_MODE_DIRECT;
    } else if (scanner && oneOutput && !partition && !inPlace) {
        params.mode |= SLUICE_COMPACT_MODE_AHEAD;
    }
    params.workgroups = static_cast<u32>(workgroups + (scanner ? 1 : 0));
    dispatch(cmd, pipeline, params, params.workgroups,
             {input, selectors, output, indexList, count, result, argument, scratch});
    return SLUICE_OK;
}

} // namespace sluice
