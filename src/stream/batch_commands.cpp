// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/batch_commands.h"

#include <algorithm>

#include "stream/file.h"

namespace sluice::stream {

namespace {

SluiceBuffer partOf(const SluiceBuffer& buffer, uint64_t offset, uint64_t size)
{
    return {buffer.handle, buffer.offset + offset, size};
}

// Returns whether a and b are boxes of the same level of an image, and have layers in common.
bool overlap(const SluiceStreamImage& a, const SluiceStreamImage& b)
{
    return a.image == b.image && a.level == b.level &&
           a.firstLayer < uint64_t(b.firstLayer) + b.layerCount &&
           b.firstLayer < uint64_t(a.firstLayer) + a.layerCount;
}

} // namespace

SluiceStatus BatchCommands::prepare(Batch& batch, uint32_t slot) const
{
    uint64_t control = slot * slotSize(m_info.control, m_info.maxBatches) + kTranscodeControl;
    uint64_t results = slot * slotSize(m_info.results, m_info.maxBatches) + kTranscodeResults;
    uint64_t scratch = 0;
    uint32_t kernels = batch.transcodes.empty() ? 0 : SLUICE_KERNELS_UASTC;
    SluiceStatus status = SLUICE_OK;
    for (uint32_t i = 0; i < batch.targetCount && status == SLUICE_OK; ++i) {
        TargetBatch& target = batch.targets[i];
        kernels |= sluiceGetTilesKernels(&target.totals);
        SluiceTilesInfo& info = target.info;
        info = {};
        info.tiles = target.tiles.data();
        info.tileCount = uint32_t(target.tiles.size());
        info.totals = &target.totals;
        info.flags = target.flags;
        info.gstdTilesAtOnce = m_info.gstdTilesAtOnce;
        info.source = m_info.source.buffer;
        info.sourceHost = m_info.source.host;
        info.destination = target.destination;
        info.control = partOf(m_info.control.buffer, control, target.required.controlSize);
        info.controlHost = static_cast<uint8_t*>(m_info.control.host) + control;
        info.results = partOf(m_info.results.buffer, results, target.required.resultsSize);
        info.resultsHost = static_cast<uint8_t*>(m_info.results.host) + results;
        // Targets (buffers to decode into) run side by side as long as each has scratch of its own.
        // If none is left for a target, it runs after the others and uses scratch from the start.
        SluiceTilesRequirements exact = {};
        status = sluiceGetTilesRequirements(m_info.context, &info, &target.totals, &exact);
        const uint64_t alignment = std::max(exact.scratchAlignment, kSlotAlignment);
        scratch = (scratch + alignment - 1) / alignment * alignment;
        target.isAfterOthers = scratch + exact.scratchSize > m_info.scratch.size;
        if (target.isAfterOthers) scratch = 0;
        info.scratch = partOf(m_info.scratch, scratch, exact.scratchSize);
        scratch += exact.scratchSize;
        const auto next = [](uint64_t at, uint64_t size) {
            return (at + size + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
        };
        control = next(control, target.required.controlSize);
        results = next(results, target.required.resultsSize);
        if (status == SLUICE_OK) status = sluicePrepareTiles(m_info.context, &info);
    }
    if (status == SLUICE_OK && !batch.transcodes.empty())
        batch.transcodes.prepare(m_info, m_gpu, slot);
    SluiceContextInfo about = {};
    if (status == SLUICE_OK) status = sluiceGetContextInfo(m_info.context, &about);
    if (status == SLUICE_OK && (about.kernels & kernels) != kernels)
        status = SLUICE_ERROR_NOT_READY;
    return status;
}

SluiceStatus BatchCommands::record(const Batch& batch, uint32_t slot, SluiceCommands commands) const
{
    SluiceStreamGpu& gpu = m_gpu.api();
    gpu.timestamp(commands, m_gpu.id(), slot, false);
    gpu.barrierBefore(commands);
    for (uint32_t first = 0; first < batch.targetCount;) {
        SluiceTilesInfo infos[kTargets];
        uint32_t count = 0;
        do
            infos[count++] = batch.targets[first++].info;
        while (first < batch.targetCount && !batch.targets[first].isAfterOthers);
        // All batches use the same scratch, so the commands that used it before must have ended.
        SluiceStatus status = sluiceCmdBarrier(m_info.context, commands);
        if (status == SLUICE_OK)
            status = sluiceCmdTilesTogether(m_info.context, commands, infos, count);
        if (status != SLUICE_OK) return status;
    }
    if (!batch.transcodes.empty()) {
        // The transcoder reads blocks that were just decoded, and uses the same scratch as the
        // decodes.
        SluiceStatus status = sluiceCmdBarrier(m_info.context, commands);
        if (status == SLUICE_OK) status = batch.transcodes.record(m_info, commands);
        if (status != SLUICE_OK) return status;
    }
    gpu.barrierToCopies(commands);
    for (uint32_t at = batch.units.head; at != kNone;) {
        const SluiceStatus status = copySome(at, commands);
        if (status != SLUICE_OK) return status;
    }
    gpu.barrierAfter(commands);
    gpu.timestamp(commands, m_gpu.id(), slot, true);
    return SLUICE_OK;
}

// Copies the units from index `at` on, between two barriers that change the layouts of all their
// images. A barrier changes an image's layout once, so this stops before a unit whose image is
// already in one of the barriers, or for which a barrier has no room. Sets `at` to that unit.
SluiceStatus BatchCommands::copySome(uint32_t& at, SluiceCommands commands) const
{
    SluiceStreamGpu& gpu = m_gpu.api();
    ImageBegin begun[kImagesAtOnce];
    const SluiceStreamImage* ended[kImagesAtOnce];
    uint32_t begunCount = 0, endedCount = 0, end = at;
    for (; end != kNone; end = m_units[end].next) {
        const Unit& unit = m_units[end];
        if (!isCopied(unit)) continue;
        const Request& request = m_requests[unit.request];
        const SluiceStreamImage& image = request.info.image;
        if (unit.beginsImage) {
            bool isThere = begunCount == kImagesAtOnce;
            for (uint32_t i = 0; i < begunCount && !isThere; ++i)
                isThere = overlap(*begun[i].image, image);
            for (uint32_t i = 0; i < endedCount && !isThere; ++i)
                isThere = overlap(*ended[i], image);
            if (isThere) break;
            const bool isRepeated = request.endIn != 0 && unit.isRetried;
            begun[begunCount++] = {&image, isRepeated ? image.newLayout : image.oldLayout};
        }
        if (unit.endsImage) {
            if (endedCount == kImagesAtOnce) {
                begunCount -= unit.beginsImage ? 1 : 0;
                break;
            }
            ended[endedCount++] = &image;
        }
    }
    if (begunCount != 0) gpu.beginImages(commands, begun, begunCount);
    for (; at != end; at = m_units[at].next) {
        const SluiceStatus status =
            isCopied(m_units[at]) ? copyUnit(m_units[at], commands) : SLUICE_OK;
        if (status != SLUICE_OK) return status;
    }
    if (endedCount != 0) gpu.endImages(commands, ended, endedCount);
    return SLUICE_OK;
}

SluiceStatus BatchCommands::copyUnit(const Unit& unit, SluiceCommands commands) const
{
    SluiceStreamGpu& gpu = m_gpu.api();
    const Request& request = m_requests[unit.request];
    const SluiceBuffer& ring =
        unit.route == Route::plain ? m_info.source.buffer : m_info.output.buffer;
    const SluiceStreamImage& image = request.info.image;
    uint64_t from = ring.offset + unit.copyBase, place = unit.offset - request.info.offset,
             size = unit.size;
    if (unit.isTranscoded) {
        from = ring.offset + unit.made;
        place = madeOffset(image, unit);
        size = madeSize(image, unit);
    } else if (unit.route == Route::output) {
        from += unit.offset - tilesOf(request.info, unit)->outputOffset;
    }
    if (request.info.target == SLUICE_STREAM_TO_BUFFER)
        return gpu.copyToBuffer(commands, ring.handle, from,
                                partOf(request.info.buffer, place, size));
    ImageCopy copy = {&image, ring.handle, from, image.firstLayer, 1, {}, {}};
    std::copy(image.offset, image.offset + 3, copy.offset);
    std::copy(image.extent, image.extent + 3, copy.extent);
    if (image.extent[2] == 1) {
        copy.firstLayer += unit.plane;
        copy.layerCount = unit.planes;
    } else {
        copy.offset[2] += unit.plane;
        copy.extent[2] = unit.planes;
    }
    copy.offset[1] += unit.row * image.blockHeight;
    copy.extent[1] =
        std::min(unit.rows * image.blockHeight, image.extent[1] - unit.row * image.blockHeight);
    gpu.copyToImage(commands, copy);
    return SLUICE_OK;
}

} // namespace sluice::stream
