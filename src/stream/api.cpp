// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry points of sluice_stream.h. They check the arguments, and they let no exception out of
// the library.
#include "stream/streamer.h"

#include <algorithm>
#include <new>
#include <system_error>

using namespace sluice;
using namespace sluice::stream;

namespace {

// kHostAlignment: of the source ring's host address, in bytes. Vulkan's minMemoryMapAlignment is at
// least 64, so mapped memory always has it. kListAlignment: of control and results memory, which
// hold the lists that the GPU reads and writes.
constexpr uint64_t kHostAlignment = 64, kListAlignment = 256;

// The numbers that sluiceGetStreamerDefaults starts with. The three batches are for an engine with
// two frames in flight, while it records a third.
constexpr uint32_t kDefaultGroups = 4096, kDefaultBatches = 3, kDefaultThreads = 4;
constexpr uint64_t kMostRing = 256u << 20;
constexpr uint32_t kMostHalvings = 10; // after this many, all numbers are at their minimum

// Calls `action`. Returns OUT_OF_MEMORY if it throws because memory ran out or because no thread
// could be started.
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

ArgumentChecker checkerOf(const SluiceStreamerInfo* info, const char* function)
{
    return {info != nullptr ? Reporter{info->report, info->reportUser} : Reporter{}, function};
}
ArgumentChecker checkerOf(SluiceStreamer streamer, const char* function)
{
    return {streamer != nullptr ? streamer->reporter() : Reporter{}, function};
}
ArgumentChecker checkerOf(SluiceStreamFile file, const char* function)
{
    return checkerOf(file != nullptr ? file->owner : nullptr, function);
}

// Checks the members that sluiceGetStreamerRequirements reads.
void checkBatches(ArgumentChecker& check, const SluiceStreamerInfo& info)
{
    check.given(SLUICE_NAMED(info.context));
    check.atLeast(SLUICE_NAMED(info.maxBatches), 1);
    check.atMost(SLUICE_NAMED(info.maxBatches), kMaxBatches);
    check.atMost(SLUICE_NAMED(info.maxBatchTiles), kMaxBatchTiles);
    check.require(SLUICE_NAMED(info.maxBatchTiles),
                  info.maxBatchTiles == 0 || info.maxBatchTiles >= kUnitTiles,
                  "is 0, or at least the limit", SLUICE_ERROR_ARGUMENT, kUnitTiles);
    check.atMost(SLUICE_NAMED(info.decoding.sides), SLUICE_STREAM_BOTH);
}

void checkNumbers(ArgumentChecker& check, const SluiceStreamerInfo& info)
{
    checkBatches(check, info);
    check.atLeast(SLUICE_NAMED(info.maxGroups), 1);
    check.atMost(SLUICE_NAMED(info.maxGroups), kMaxGroups);
    check.atLeast(SLUICE_NAMED(info.maxRequests), 1);
    check.atMost(SLUICE_NAMED(info.maxRequests), kMaxRequests);
    check.atMost(SLUICE_NAMED(info.maxUnits), kMaxUnits);
    check.atMost(SLUICE_NAMED(info.threads), kMaxThreads);
    check.atMost(SLUICE_NAMED(info.io), SLUICE_STREAM_IO_DIRECT);
    check.atMost(SLUICE_NAMED(info.decoding.maxThreads), kMaxThreads);
}

// Checks a ring, or a list that the GPU reads or writes. needsHost: the memory must have a host
// address.
void checkMemory(ArgumentChecker& check, const Named<SluiceStreamMemory>& memory, uint64_t size,
                 uint64_t alignment, bool needsHost)
{
    const SluiceStreamMemory& is = memory.value;
    const auto member = [&](const uint64_t& value) { return named(memory.name, value); };
    const uint64_t host = uint64_t(reinterpret_cast<uintptr_t>(is.host));
    check.require(member(host), !needsHost || host != 0, "has a host address");
    check.require(member(is.buffer.offset), is.buffer.offset % alignment == 0,
                  "has a buffer.offset that is a multiple of the limit", SLUICE_ERROR_ARGUMENT,
                  alignment);
    check.require(member(is.buffer.size), is.buffer.size >= size,
                  "has a buffer.size of at least the limit", SLUICE_ERROR_BUFFER_SIZE, size);
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

// Computes memory sizes that suffice for every batch. A batch may consist entirely of tiles of one
// kind, so they are the maximum over such batches, each as large as the limits allow. Errors: those
// of sluiceGetTilesRequirements.
SluiceStatus requirementsOf(const SluiceStreamerInfo& info,
                            SluiceStreamerRequirements& requirements)
{
    const bool usesHost = info.decoding.sides != SLUICE_STREAM_GPU_ALONE;
    requirements = {0, 0, 0, kListAlignment, 0, usesHost ? 1u : 0u};
    if (!gpuMayDecode(info)) return SLUICE_OK;
    const SluiceStreamerInfo limits = withDefaults(info);
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
        {SLUICE_CODEC_ZSTD, 262144, false},    {SLUICE_CODEC_ZSTD, 262144, true},
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
            sluiceGetTilesRequirements(info.context, &batch, &totals, &required);
        if (status != SLUICE_OK) return status;
        requirements.kernels |= sluiceGetTilesKernels(&totals) & ~uint32_t(SLUICE_KERNELS_ZSTD);
        requirements.controlSize = std::max(requirements.controlSize, required.controlSize);
        requirements.resultsSize = std::max(requirements.resultsSize, required.resultsSize);
        requirements.scratchSize = std::max(requirements.scratchSize, required.scratchSize);
        requirements.alignment = std::max(requirements.alignment, required.scratchAlignment);
    }
    // Control and results have a slot for each batch. Every slot has additional room for filter
    // descriptions, for the lists of further targets (buffers into which the batch decodes), and
    // for the lists of the transcoder.
    constexpr uint64_t kMore = 1 << 20;
    const auto slots = [&](uint64_t size) {
        return (size + kMore + kListAlignment) / kListAlignment * kListAlignment * info.maxBatches;
    };
    requirements.controlSize = slots(requirements.controlSize + kTranscodeControl);
    requirements.resultsSize = slots(requirements.resultsSize + kTranscodeResults);
    requirements.scratchSize = std::max(requirements.scratchSize, kTranscodeScratch);
    return SLUICE_OK;
}

void checkInfo(ArgumentChecker& check, const SluiceStreamerInfo& info)
{
    checkNumbers(check, info);
    if (!check.isOk()) return;
    const bool decodesOnGpu = gpuMayDecode(info);
    const auto hostOf = [](const SluiceStreamMemory& memory) {
        return reinterpret_cast<uintptr_t>(memory.host);
    };
    check.require(SLUICE_NAMED(info.decoding.sides),
                  decodesOnGpu || info.decoding.sides != SLUICE_STREAM_GPU_ALONE,
                  "is not GPU_ALONE where the context is of the CPU");
    // Without `gpu`, a GPU could neither copy nor report that a batch is complete.
    check.require(SLUICE_NAMED(info.gpu), info.gpu != nullptr || !decodesOnGpu,
                  "is not NULL where the GPU may decode");
    checkMemory(check, SLUICE_NAMED(info.source), SLUICE_STREAM_MIN_SOURCE, kStoredAlignment, true);
    check.require(SLUICE_NAMED(info.source.host), hostOf(info.source) % kHostAlignment == 0,
                  "is a multiple of the limit", SLUICE_ERROR_ARGUMENT, kHostAlignment);
    if (info.gpu == nullptr || !check.isOk()) return;
    checkMemory(check, SLUICE_NAMED(info.output), SLUICE_STREAM_MIN_OUTPUT, kStoredAlignment,
                !decodesOnGpu);
    check.require(SLUICE_NAMED(info.output.host), hostOf(info.output) % kStoredAlignment == 0,
                  "is a multiple of the limit", SLUICE_ERROR_ARGUMENT, kStoredAlignment);
    if (!decodesOnGpu || !check.isOk()) return;
    SluiceStreamerRequirements required = {};
    const SluiceStatus status = requirementsOf(info, required);
    check.require(SLUICE_NAMED(info.context), status == SLUICE_OK, "can decode batches", status);
    checkMemory(check, SLUICE_NAMED(info.control), required.controlSize, kListAlignment, true);
    checkMemory(check, SLUICE_NAMED(info.results), required.resultsSize, kListAlignment, true);
    check.require(SLUICE_NAMED(info.scratch), info.scratch.offset % required.alignment == 0,
                  "has an offset that is a multiple of the limit", SLUICE_ERROR_ARGUMENT,
                  required.alignment);
    check.require(SLUICE_NAMED(info.scratch), info.scratch.size >= required.scratchSize,
                  "has a size of at least the limit", SLUICE_ERROR_BUFFER_SIZE,
                  required.scratchSize);
}

} // namespace

SluiceStatus sluiceGetStreamerRequirements(const SluiceStreamerInfo* info,
                                           SluiceStreamerRequirements* requirements)
{
    ArgumentChecker check = checkerOf(info, __func__);
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(requirements)))
        return check.status();
    checkBatches(check, *info);
    return check.isOk() ? requirementsOf(*info, *requirements) : check.status();
}

// Starts with the numbers of large batches, which are fast, and halves them until all memory
// together takes at most `memory` bytes.
SluiceStatus sluiceGetStreamerDefaults(SluiceContext context, uint64_t memory,
                                       SluiceStreamerInfo* info, uint32_t* kernels)
{
    ArgumentChecker check(Reporter{}, __func__);
    if (!check.given(SLUICE_NAMED(context)) || !check.given(SLUICE_NAMED(info)))
        return check.status();
    SluiceStreamerRequirements required = {};
    uint64_t total = 0;
    for (uint32_t halvings = 0; halvings < kMostHalvings; ++halvings) {
        const auto halved = [&](uint64_t most, uint64_t least) {
            return std::max(most >> halvings, least);
        };
        *info = {};
        info->context = context;
        info->maxGroups = kDefaultGroups;
        info->maxRequests = 4 * kDefaultGroups;
        info->maxBatches = kDefaultBatches;
        info->threads = kDefaultThreads;
        info->maxBatchTiles = uint32_t(halved(4 * SLUICE_STREAM_BATCH_TILES, kUnitTiles));
        info->gstdTilesAtOnce = uint32_t(halved(4 * SLUICE_STREAM_GSTD_TILES, 8));
        info->maxFilteredSize = halved(4 * uint64_t(SLUICE_STREAM_FILTERED_SIZE), kUnitWork);
        info->source.buffer.size = halved(kMostRing, SLUICE_STREAM_MIN_SOURCE);
        info->output.buffer.size = halved(kMostRing, SLUICE_STREAM_MIN_OUTPUT);
        const SluiceStatus status = requirementsOf(*info, required);
        if (status != SLUICE_OK) return status;
        info->control.buffer.size = required.controlSize;
        info->results.buffer.size = required.resultsSize;
        info->scratch.size = required.scratchSize;
        total = info->source.buffer.size + info->output.buffer.size + required.controlSize +
                required.resultsSize + required.scratchSize;
        if (total <= memory) break;
    }
    check.require(SLUICE_NAMED(memory), total <= memory, "is at least the limit",
                  SLUICE_ERROR_BUFFER_SIZE, total);
    if (kernels != nullptr) *kernels = required.kernels;
    return check.status();
}

SluiceStatus sluiceCreateStreamer(const SluiceStreamerInfo* info, SluiceStreamer* streamer)
{
    return createStreamer(info, operatingSystem(), streamer);
}

SluiceStatus sluice::stream::createStreamer(const SluiceStreamerInfo* info, const System& system,
                                            SluiceStreamer* streamer)
{
    ArgumentChecker check = checkerOf(info, "sluiceCreateStreamer");
    if (!check.given(SLUICE_NAMED(info)) || !check.given(SLUICE_NAMED(streamer)))
        return check.status();
    *streamer = nullptr;
    return guarded([&] {
        checkInfo(check, *info);
        if (!check.isOk()) return check.status();
        auto made = std::make_unique<SluiceStreamer_T>(*info, system);
        const SluiceStatus status = made->start();
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
    ArgumentChecker check = checkerOf(streamer, __func__);
    if (!check.given(SLUICE_NAMED(streamer)) || !check.given(SLUICE_NAMED(info)) ||
        !check.given(SLUICE_NAMED(file)))
        return check.status();
    check.require(SLUICE_NAMED(info->path), (info->path == nullptr) != (info->functions == nullptr),
                  "is not NULL if and only if functions is NULL");
    if (info->functions != nullptr) check.given(SLUICE_NAMED(info->functions->read));
    if (!check.isOk()) return check.status();
    return guarded([&] { return streamer->open(*info, *file); });
}

SluiceStatus sluiceStreamClose(SluiceStreamer streamer, SluiceStreamFile file)
{
    ArgumentChecker check = checkerOf(streamer, __func__);
    if (!check.given(SLUICE_NAMED(streamer)) || !check.given(SLUICE_NAMED(file)))
        return check.status();
    check.require(SLUICE_NAMED(file), file->owner == streamer, "is a file of the streamer");
    if (check.isOk()) streamer->giveUp(file);
    return check.status();
}

namespace {

// Checks that a file was given, and is open.
void checkOpen(ArgumentChecker& check, SluiceStreamFile file)
{
    if (check.given(SLUICE_NAMED(file))) check.end(file->openStatus());
}

void checkArchive(ArgumentChecker& check, SluiceStreamFile file)
{
    if (check.given(SLUICE_NAMED(file)))
        check.require(SLUICE_NAMED(file), file->isArchive, "is an archive");
    if (check.isOk()) checkOpen(check, file);
}

} // namespace

SluiceStatus sluiceStreamGetIoReport(SluiceStreamFile file, SluiceStreamIoReport* report)
{
    ArgumentChecker check = checkerOf(file, __func__);
    if (check.given(SLUICE_NAMED(report))) checkOpen(check, file);
    if (check.isOk()) *report = file->ioReport();
    return check.status();
}

SluiceStatus sluiceStreamGetArchive(SluiceStreamFile file, SluiceArchive* archive)
{
    ArgumentChecker check = checkerOf(file, __func__);
    if (check.given(SLUICE_NAMED(archive))) checkArchive(check, file);
    if (check.isOk()) *archive = file->archive;
    return check.status();
}

SluiceStatus sluiceStreamFindAsset(SluiceStreamFile file, const char* name, size_t nameLength,
                                   uint32_t* asset)
{
    ArgumentChecker check = checkerOf(file, __func__);
    if (check.given(SLUICE_NAMED(name)) && check.given(SLUICE_NAMED(asset)))
        checkArchive(check, file);
    return check.isOk() ? file->findAsset(name, nameLength, *asset) : check.status();
}

SluiceStatus sluiceStreamGetAsset(SluiceStreamFile file, uint32_t asset, SluiceArchiveAsset* info)
{
    ArgumentChecker check = checkerOf(file, __func__);
    if (check.given(SLUICE_NAMED(info))) checkArchive(check, file);
    if (!check.isOk()) return check.status();
    check.require(SLUICE_NAMED(asset), asset < file->archive.assetCount, "is less than the limit",
                  SLUICE_ERROR_ARGUMENT, file->archive.assetCount);
    return check.isOk() ? file->getAsset(asset, *info) : check.status();
}

SluiceStatus sluiceStreamGetKernels(SluiceStreamFile file, uint32_t* kernels)
{
    ArgumentChecker check = checkerOf(file, __func__);
    if (check.given(SLUICE_NAMED(kernels))) checkArchive(check, file);
    if (check.isOk()) *kernels = file->kernels();
    return check.status();
}

SluiceStatus sluiceStreamSubmit(SluiceStreamer streamer, const SluiceStreamGroupInfo* info,
                                SluiceStreamGroup* group)
{
    ArgumentChecker check = checkerOf(streamer, __func__);
    if (!check.given(SLUICE_NAMED(streamer)) || !check.given(SLUICE_NAMED(info)) ||
        !check.given(SLUICE_NAMED(group)))
        return check.status();
    *group = 0;
    return streamer->submit(check, *info, *group);
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

namespace {

// Checks that the engine may record batches itself. A submitter, if there is one, does it instead.
bool checkRecords(ArgumentChecker& check, SluiceStreamer streamer)
{
    if (check.given(SLUICE_NAMED(streamer)))
        check.require(SLUICE_NAMED(streamer), !streamer->hasSubmitter(), "has no submitter");
    return check.isOk();
}

} // namespace

SluiceStatus sluiceStreamRecord(SluiceStreamer streamer, SluiceCommands commands,
                                const SluiceStreamBudget* budget, SluiceStreamBatch* batch)
{
    ArgumentChecker check = checkerOf(streamer, __func__);
    if (!checkRecords(check, streamer) || !check.given(SLUICE_NAMED(budget)) ||
        !check.given(SLUICE_NAMED(batch)))
        return check.status();
    *batch = {};
    const Gpu& gpu = streamer->gpu();
    check.require(SLUICE_NAMED(commands),
                  commands != nullptr || !gpu.isThere() || gpu.isImmediate(),
                  "is a command buffer");
    check.require(SLUICE_NAMED(budget->semaphore),
                  budget->semaphore == 0 || !gpu.isThere() || gpu.hasSemaphores(),
                  "is 0 without semaphores of Vulkan", SLUICE_ERROR_UNSUPPORTED);
    return check.isOk() ? streamer->batcher().record(commands, *budget, *batch) : check.status();
}

SluiceStatus sluiceStreamDiscard(SluiceStreamer streamer, uint64_t batch)
{
    ArgumentChecker check = checkerOf(streamer, __func__);
    if (checkRecords(check, streamer))
        check.require(SLUICE_NAMED(batch), streamer->batcher().discard(batch),
                      "is the newest batch under way, which does not run yet");
    return check.status();
}

SluiceStatus sluiceStreamComplete(SluiceStreamer streamer, uint64_t batch)
{
    ArgumentChecker check = checkerOf(streamer, __func__);
    if (checkRecords(check, streamer))
        check.require(SLUICE_NAMED(batch), streamer->completion().complete(batch),
                      "is the number of a batch");
    return check.status();
}

SluiceStatus sluiceStreamDeviceLost(SluiceStreamer streamer)
{
    if (streamer == nullptr) return SLUICE_ERROR_ARGUMENT;
    streamer->loseDevice();
    return SLUICE_OK;
}

SluiceStatus sluiceStreamPoll(SluiceStreamer streamer, SluiceStreamEvent* events, uint32_t* count)
{
    ArgumentChecker check = checkerOf(streamer, __func__);
    if (!check.given(SLUICE_NAMED(streamer)) || !check.given(SLUICE_NAMED(count)))
        return check.status();
    check.require(SLUICE_NAMED(events), *count == 0 || events != nullptr, "is not NULL");
    return check.isOk() ? streamer->completion().poll(events, *count) : check.status();
}

int sluiceStreamEventFd(SluiceStreamer streamer)
{
    return streamer == nullptr ? -1 : streamer->eventFd();
}

SluiceStatus sluiceStreamGetCounters(SluiceStreamer streamer, SluiceStreamCounters* counters)
{
    ArgumentChecker check = checkerOf(streamer, __func__);
    if (check.given(SLUICE_NAMED(streamer)) && check.given(SLUICE_NAMED(counters)))
        streamer->counters(*counters);
    return check.status();
}
