// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of sluice_stream.h. They check the arguments, and they let no exception out of
// the library.
#include "stream/streamer.h"

#include <new>
#include <system_error>

using namespace sluice::stream;

namespace {

// Host memory: every driver maps memory at a multiple of 64.
constexpr uint64_t kHostAlignment = 64, kListAlignment = 256;

// Calls `action` and converts its exceptions to a status: memory ran out, or no thread could be
// started.
template <class Action>
SluiceStatus guarded(const Action& action)
{
    try {
        return action();
    } catch (const std::bad_alloc&) {
        return SLUICE_ERROR_OUT_OF_MEMORY;
    } catch (const std::system_error&) { // no thread could be started
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
}

SluiceStatus checkInfo(const SluiceStreamerInfo& info)
{
    const bool isMeasured =
        info.maxGroups >= 1 && info.maxGroups <= kMaxGroups && info.maxRequests >= 1 &&
        info.maxRequests <= kMaxRequests && info.maxUnits <= kMaxUnits && info.maxBatches >= 1 &&
        info.maxBatches <= kMaxBatches && info.maxBatchTiles <= kMaxBatchTiles &&
        (info.maxBatchTiles == 0 || info.maxBatchTiles >= kUnitTiles) &&
        info.threads <= kMaxThreads && info.io <= SLUICE_STREAM_IO_DIRECT;
    if (info.context == nullptr || !isMeasured) return SLUICE_ERROR_ARGUMENT;
    const bool decodesOnGpu = isGpu(info.context);
    // Without `gpu`, a GPU context could neither copy nor report that a batch is complete.
    if (decodesOnGpu && info.gpu == nullptr) return SLUICE_ERROR_ARGUMENT;
    if (info.source.host == nullptr ||
        reinterpret_cast<uintptr_t>(info.source.host) % kHostAlignment != 0 ||
        info.source.buffer.offset % kStoredAlignment != 0)
        return SLUICE_ERROR_ARGUMENT;
    if (info.source.buffer.size < SLUICE_STREAM_MIN_SOURCE) return SLUICE_ERROR_BUFFER_SIZE;
    if (info.gpu == nullptr) return SLUICE_OK;
    if (info.output.buffer.offset % kStoredAlignment != 0 ||
        reinterpret_cast<uintptr_t>(info.output.host) % kStoredAlignment != 0 ||
        (!decodesOnGpu && info.output.host == nullptr))
        return SLUICE_ERROR_ARGUMENT;
    if (info.output.buffer.size < SLUICE_STREAM_MIN_OUTPUT) return SLUICE_ERROR_BUFFER_SIZE;
    if (!decodesOnGpu) return SLUICE_OK;
    SluiceStreamerRequirements required = {};
    const SluiceStatus status = sluiceGetStreamerRequirements(&info, &required);
    if (status != SLUICE_OK) return status;
    for (const SluiceStreamMemory* memory : {&info.control, &info.results})
        if (memory->host == nullptr || memory->buffer.offset % kListAlignment != 0)
            return SLUICE_ERROR_ARGUMENT;
    if (info.scratch.offset % required.alignment != 0) return SLUICE_ERROR_ARGUMENT;
    return info.control.buffer.size >= required.controlSize &&
                   info.results.buffer.size >= required.resultsSize &&
                   info.scratch.size >= required.scratchSize
               ? SLUICE_OK
               : SLUICE_ERROR_BUFFER_SIZE;
}

// Adds `count` tiles of one codec and size to the totals.
void addTiles(SluiceTileTotals& totals, uint32_t codec, uint32_t size, uint64_t count,
              const void* filter)
{
    for (uint64_t i = 0; i < count; ++i) {
        const SluiceTile tile = {0,
                                 0,
                                 codec == SLUICE_CODEC_STORE ? size : size / 2,
                                 size,
                                 codec,
                                 0,
                                 filter,
                                 filter != nullptr ? 4u : 0u};
        sluiceAddTile(&totals, &tile);
    }
}

} // namespace

// A batch may consist entirely of tiles of any one kind, up to the limits of that kind. The result
// is the largest requirement of any such batch.
SluiceStatus sluiceGetStreamerRequirements(const SluiceStreamerInfo* info,
                                           SluiceStreamerRequirements* requirements)
{
    if (info == nullptr || requirements == nullptr || info->context == nullptr ||
        info->maxBatches == 0 || info->maxBatches > kMaxBatches ||
        info->maxBatchTiles > kMaxBatchTiles ||
        (info->maxBatchTiles != 0 && info->maxBatchTiles < kUnitTiles))
        return SLUICE_ERROR_ARGUMENT;
    *requirements = {0, 0, 0, kListAlignment, 0};
    if (!isGpu(info->context)) return SLUICE_OK;
    const SluiceStreamerInfo limits = withDefaults(*info);
    const uint64_t tiles = limits.maxBatchTiles, filtered = limits.maxFilteredSize;
    const uint32_t description = 0;
    SluiceTilesInfo batch = {};
    batch.gstdTilesAtOnce = limits.gstdTilesAtOnce;
    struct Kind {
        uint32_t codec, size;
        bool isFiltered;
    };
    constexpr Kind kKinds[] = {
        {SLUICE_CODEC_GDEFLATE, 65536, false}, {SLUICE_CODEC_GDEFLATE, 65536, true},
        {SLUICE_CODEC_GSTD, 262144, false},    {SLUICE_CODEC_GSTD, 262144, true},
        {SLUICE_CODEC_FLOAT, 1 << 20, false},  {SLUICE_CODEC_STORE, 1 << 20, false},
    };
    for (const Kind& kind : kKinds) {
        SluiceTileTotals totals = {};
        addTiles(totals, kind.codec, kind.size,
                 kind.isFiltered ? std::min(tiles, std::max(filtered, kUnitWork) / kind.size)
                                 : tiles,
                 kind.isFiltered ? &description : nullptr);
        if (totals.tileCount == 0) continue; // this build lacks the codec's component
        SluiceTilesRequirements required = {};
        const SluiceStatus status =
            sluiceGetTilesRequirements(info->context, &batch, &totals, &required);
        if (status != SLUICE_OK) return status;
        requirements->kernels |= sluiceGetTilesKernels(&totals);
        requirements->controlSize = std::max(requirements->controlSize, required.controlSize);
        requirements->resultsSize = std::max(requirements->resultsSize, required.resultsSize);
        requirements->scratchSize = std::max(requirements->scratchSize, required.scratchSize);
        requirements->alignment = std::max(requirements->alignment, required.scratchAlignment);
    }
    // Every slot has additional room for filter descriptions, and for the lists of further targets.
    constexpr uint64_t kMore = 1 << 20;
    const auto slots = [&](uint64_t size) {
        return (size + kMore + kListAlignment) / kListAlignment * kListAlignment * info->maxBatches;
    };
    requirements->controlSize = slots(requirements->controlSize);
    requirements->resultsSize = slots(requirements->resultsSize);
    return SLUICE_OK;
}

SluiceStatus sluiceCreateStreamer(const SluiceStreamerInfo* info, SluiceStreamer* streamer)
{
    return createStreamer(info, operatingSystem(), streamer);
}

SluiceStatus sluice::stream::createStreamer(const SluiceStreamerInfo* info, const System& system,
                                            SluiceStreamer* streamer)
{
    if (info == nullptr || streamer == nullptr) return SLUICE_ERROR_ARGUMENT;
    *streamer = nullptr;
    return guarded([&] {
        SluiceStatus status = checkInfo(*info);
        if (status != SLUICE_OK) return status;
        auto made = std::make_unique<SluiceStreamer_T>(*info, system);
        status = made->start();
        if (status == SLUICE_OK) *streamer = made.release();
        return status;
    });
}

void sluiceDestroyStreamer(SluiceStreamer streamer) { delete streamer; }

SluiceStatus sluiceStreamPump(SluiceStreamer streamer, uint32_t jobs, uint32_t* done)
{
    if (streamer == nullptr) return SLUICE_ERROR_ARGUMENT;
    const uint32_t count = streamer->readers().pump(jobs);
    if (done != nullptr) *done = count;
    return SLUICE_OK;
}

SluiceStatus sluiceStreamOpen(SluiceStreamer streamer, const SluiceStreamOpenInfo* info,
                              SluiceStreamFile* file)
{
    if (streamer == nullptr || info == nullptr || file == nullptr ||
        (info->path == nullptr) != (info->functions != nullptr) ||
        (info->functions != nullptr && info->functions->read == nullptr))
        return SLUICE_ERROR_ARGUMENT;
    return guarded([&] { return streamer->open(*info, *file); });
}

SluiceStatus sluiceStreamGetIoReport(SluiceStreamFile file, SluiceStreamIoReport* report)
{
    if (file == nullptr || report == nullptr) return SLUICE_ERROR_ARGUMENT;
    if (file->state.load(std::memory_order_acquire) != SluiceStreamFile_T::isOpen)
        return SLUICE_ERROR_NOT_READY;
    *report = file->ioReport();
    return SLUICE_OK;
}

SluiceStatus sluiceStreamClose(SluiceStreamer streamer, SluiceStreamFile file)
{
    if (streamer == nullptr || file == nullptr || file->owner != streamer)
        return SLUICE_ERROR_ARGUMENT;
    streamer->giveUp(file);
    return SLUICE_OK;
}

namespace {

SluiceStatus checkArchive(SluiceStreamFile file, bool hasResult)
{
    if (file == nullptr || !file->isArchive || !hasResult) return SLUICE_ERROR_ARGUMENT;
    return file->state.load(std::memory_order_acquire) == SluiceStreamFile_T::isOpen
               ? SLUICE_OK
               : SLUICE_ERROR_NOT_READY;
}

} // namespace

SluiceStatus sluiceStreamGetArchive(SluiceStreamFile file, SluiceArchive* archive)
{
    const SluiceStatus status = checkArchive(file, archive != nullptr);
    if (status == SLUICE_OK) *archive = file->archive;
    return status;
}

SluiceStatus sluiceStreamFindAsset(SluiceStreamFile file, const char* name, size_t nameLength,
                                   uint32_t* asset)
{
    const SluiceStatus status = checkArchive(file, asset != nullptr && name != nullptr);
    return status != SLUICE_OK
               ? status
               : sluiceFindArchiveAsset(&file->archive, file->index.data(), file->index.size(),
                                        name, nameLength, asset);
}

SluiceStatus sluiceStreamGetAsset(SluiceStreamFile file, uint32_t asset, SluiceArchiveAsset* info)
{
    const SluiceStatus status = checkArchive(file, info != nullptr);
    return status != SLUICE_OK ? status
                               : sluiceGetArchiveAsset(&file->archive, file->index.data(),
                                                       file->index.size(), asset, info);
}

SluiceStatus sluiceStreamGetKernels(SluiceStreamFile file, uint32_t* kernels)
{
    const SluiceStatus status = checkArchive(file, kernels != nullptr);
    if (status == SLUICE_OK) *kernels = file->kernels;
    return status;
}

SluiceStatus sluiceStreamSubmit(SluiceStreamer streamer, const SluiceStreamGroupInfo* info,
                                SluiceStreamGroup* group)
{
    if (streamer == nullptr || info == nullptr || group == nullptr) return SLUICE_ERROR_ARGUMENT;
    *group = 0;
    return streamer->submit(*info, *group);
}

SluiceStatus sluiceStreamSetPriority(SluiceStreamer streamer, SluiceStreamGroup group,
                                     int32_t priority)
{
    if (streamer == nullptr) return SLUICE_ERROR_ARGUMENT;
    streamer->setPriority(group, priority);
    return SLUICE_OK;
}

SluiceStatus sluiceStreamCancel(SluiceStreamer streamer, SluiceStreamGroup group)
{
    if (streamer == nullptr) return SLUICE_ERROR_ARGUMENT;
    streamer->cancel(group);
    return SLUICE_OK;
}

SluiceStatus sluiceStreamCancelTags(SluiceStreamer streamer, uint64_t mask, uint64_t value)
{
    if (streamer == nullptr) return SLUICE_ERROR_ARGUMENT;
    streamer->cancelTags(mask, value);
    return SLUICE_OK;
}

SluiceStatus sluiceStreamRecord(SluiceStreamer streamer, SluiceCommands commands,
                                const SluiceStreamBudget* budget, SluiceStreamBatch* batch)
{
    if (streamer == nullptr || budget == nullptr || batch == nullptr || streamer->hasSubmitter())
        return SLUICE_ERROR_ARGUMENT;
    return streamer->batcher().record(commands, *budget, *batch);
}

SluiceStatus sluiceStreamDiscard(SluiceStreamer streamer, uint64_t batch)
{
    return streamer == nullptr || streamer->hasSubmitter() ? SLUICE_ERROR_ARGUMENT
                                                           : streamer->batcher().discard(batch);
}

SluiceStatus sluiceStreamComplete(SluiceStreamer streamer, uint64_t batch)
{
    return streamer == nullptr || streamer->hasSubmitter() ? SLUICE_ERROR_ARGUMENT
                                                           : streamer->completion().complete(batch);
}

SluiceStatus sluiceStreamDeviceLost(SluiceStreamer streamer)
{
    if (streamer == nullptr) return SLUICE_ERROR_ARGUMENT;
    streamer->loseDevice();
    return SLUICE_OK;
}

SluiceStatus sluiceStreamPoll(SluiceStreamer streamer, SluiceStreamEvent* events, uint32_t* count)
{
    if (streamer == nullptr || count == nullptr || (*count != 0 && events == nullptr))
        return SLUICE_ERROR_ARGUMENT;
    return streamer->completion().poll(events, *count);
}

int sluiceStreamEventFd(SluiceStreamer streamer)
{
    return streamer == nullptr ? -1 : streamer->eventFd();
}

SluiceStatus sluiceStreamGetCounters(SluiceStreamer streamer, SluiceStreamCounters* counters)
{
    if (streamer == nullptr || counters == nullptr) return SLUICE_ERROR_ARGUMENT;
    streamer->counters(*counters);
    return SLUICE_OK;
}
