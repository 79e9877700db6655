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

// Returns whether they share layers of a level.
bool overlap(const SluiceStreamImage& a, const SluiceStreamImage& b)
{
    return a.image == b.image && a.level == b.level &&
           a.firstLayer < uint64_t(b.firstLayer) + b.layerCount &&
           b.firstLayer < uint64_t(a.firstLayer) + a.layerCount;
}

} // namespace

SluiceStatus BatchCommands::prepare(Batch& batch, uint32_t slot) const
{
    uint64_t control = slot * slotSize(m_info.control, m_info.maxBatches);
    uint64_t results = slot * slotSize(m_info.results, m_info.maxBatches);
    uint32_t kernels = 0;
    SluiceStatus status = SLUICE_OK;
    for (uint32_t i = 0; i < batch.targetCount && status == SLUICE_OK; ++i) {
        TargetBatch& target = batch.targets[i];
        kernels |= sluiceGetTilesKernels(&target.totals);
        SluiceTilesInfo& info = target.info;
        info = {};
        info.tiles = target.tiles.data();
        info.tileCount = uint32_t(target.tiles.size());
        info.totals = &target.totals;
        info.gstdTilesAtOnce = m_info.gstdTilesAtOnce;
        info.source = m_info.source.buffer;
        info.sourceHost = m_info.source.host;
        info.destination = target.destination;
        info.control = partOf(m_info.control.buffer, control, target.required.controlSize);
        info.controlHost = static_cast<uint8_t*>(m_info.control.host) + control;
        info.results = partOf(m_info.results.buffer, results, target.required.resultsSize);
        info.resultsHost = static_cast<uint8_t*>(m_info.results.host) + results;
        info.scratch = m_info.scratch;
        const auto next = [](uint64_t at, uint64_t size) {
            return (at + size + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
        };
        control = next(control, target.required.controlSize);
        results = next(results, target.required.resultsSize);
        status = sluicePrepareTiles(m_info.context, &info);
    }
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
    for (uint32_t i = 0; i < batch.targetCount; ++i) {
        // All targets and batches use the same scratch, so the previous user must have finished
        // with it.
        SluiceStatus status = sluiceCmdBarrier(m_info.context, commands);
        if (status == SLUICE_OK)
            status = sluiceCmdTiles(m_info.context, commands, &batch.targets[i].info);
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

// Starting with unit `at`, copies as many units as can share one barrier for layout transitions
// before all of their copies and one after. It stops at a unit whose image is already in such a
// barrier: an image with two requests in a batch changes its layout twice.
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
    uint64_t from = ring.offset + unit.outputBase;
    if (unit.route == Route::output) {
        uint32_t count = 0;
        const TileRecord* records = request.info.file->records(request.info.asset, count);
        from += unit.offset - records[unit.firstTile].outputOffset;
    }
    if (request.info.target == SLUICE_STREAM_TO_BUFFER) {
        const SluiceBuffer to =
            partOf(request.info.buffer, unit.offset - request.info.offset, unit.size);
        return gpu.copyToBuffer(commands, ring.handle, from, to);
    }
    const SluiceStreamImage& image = request.info.image;
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
