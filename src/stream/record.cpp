// SPDX-License-Identifier: MIT OR Apache-2.0
// Gathers ready units into a batch, the most urgent first, and records it.
#include "stream/streamer.h"

#include <algorithm>

using namespace sluice::stream;

namespace {

SluiceBuffer partOf(const SluiceBuffer& buffer, uint64_t offset, uint64_t size)
{
    return {buffer.handle, buffer.offset + offset, size};
}

void addCost(CostInputs& cost, const TileRecord& tile)
{
    const bool isFiltered = tile.filterOffset != 0;
    switch (tile.codec) {
    case SLUICE_CODEC_GSTD: cost.addGstdTile(tile.storedSize, tile.size, isFiltered); break;
    case SLUICE_CODEC_FLOAT: cost.addFloatTile(tile.size, isFiltered); break;
    case SLUICE_CODEC_STORE: cost.addStoredTile(tile.size, isFiltered); break;
    default: cost.addGdeflateTile(tile.storedSize, tile.size, isFiltered); break;
    }
}

// The totals if some tiles more of the kinds that are there come, as far as filters allow.
SluiceTileTotals withMore(SluiceTileTotals totals, uint64_t maxFilteredSize)
{
    const uint64_t mostFiltered = std::max(totals.filteredSize, maxFilteredSize);
    constexpr uint32_t kMore = 64, kMoreDescriptions = 16384;
    for (uint32_t kind = 0; kind < SLUICE_TILE_KINDS; ++kind) {
        for (uint32_t filtered = 0; filtered < 2; ++filtered) {
            const uint32_t count = totals.counts[kind][filtered];
            if (count == 0) continue;
            totals.parts[kind][filtered] += kMore * (totals.parts[kind][filtered] / count + 1);
            totals.counts[kind][filtered] += kMore;
            if (filtered != 0)
                totals.filteredSize += uint64_t(kMore) * (totals.largestFiltered[kind] + 16);
        }
    }
    totals.filteredSize = std::min(totals.filteredSize, mostFiltered);
    totals.descriptionSize += totals.descriptionSize != 0 ? kMoreDescriptions : 0;
    return totals;
}

bool isWithin(const SluiceTileTotals& totals, const SluiceTileTotals& room)
{
    bool is =
        totals.filteredSize <= room.filteredSize && totals.descriptionSize <= room.descriptionSize;
    for (uint32_t kind = 0; kind < SLUICE_TILE_KINDS; ++kind) {
        is = is && totals.largestFiltered[kind] <= room.largestFiltered[kind];
        for (uint32_t filtered = 0; filtered < 2; ++filtered)
            is = is && totals.counts[kind][filtered] <= room.counts[kind][filtered] &&
                 totals.parts[kind][filtered] <= room.parts[kind][filtered];
    }
    return is;
}

bool isDecodedByGpu(const Unit& unit)
{
    return !unit.decodesOnCpu && (unit.route == Route::direct || unit.route == Route::output);
}

bool isCopied(const Unit& unit)
{
    return unit.route == Route::output || unit.route == Route::plain;
}

// Whether they share layers of a level.
bool overlap(const SluiceStreamImage& a, const SluiceStreamImage& b)
{
    return a.image == b.image && a.level == b.level &&
           a.firstLayer < uint64_t(b.firstLayer) + b.layerCount &&
           b.firstLayer < uint64_t(a.firstLayer) + a.layerCount;
}

} // namespace

// Fewer tiles than asked for wait for more, until the oldest has waited long enough.
bool SluiceStreamer_T::isWorthIt(const SluiceStreamBudget& budget)
{
    return !m_toRecord.empty() && budget.milliseconds > 0 &&
           (m_readyTiles >= budget.minTiles || m_recordCalls - m_readySince > budget.maxAge);
}

// NULL: nothing is to be recorded now.
SluiceStreamer_T::Batch* SluiceStreamer_T::beginBatch(const SluiceStreamBudget& budget)
{
    const Locked locked(*this);
    ++m_recordCalls;
    if (m_info.gpu == nullptr || m_isLost || !isWorthIt(budget)) return nullptr;
    Batch* batch = nullptr;
    for (Batch& one : m_batches)
        if (one.number == 0) batch = &one;
    if (batch == nullptr) return batch; // more are under way than there may be
    batch->semaphore = budget.semaphore;
    batch->value = budget.value;
    batch->number = ++m_batchNumber;
    batch->firstUnit = batch->lastUnit = kNone;
    batch->unitCount = batch->copies = batch->targetCount = 0;
    batch->unitTargets.clear();
    batch->unitFirstTile.clear();
    batch->cost = {};
    batch->weights = m_cost.weights();
    ++m_pending.batches;
    return batch;
}

SluiceStatus SluiceStreamer_T::record(SluiceCommands commands, const SluiceStreamBudget& budget,
                                      SluiceStreamBatch& result)
{
    result = {};
    if (m_info.gpu != nullptr && commands == nullptr && !isImmediate())
        return SLUICE_ERROR_ARGUMENT;
    if (budget.semaphore != 0 && m_info.gpu != nullptr && !hasSemaphores())
        return SLUICE_ERROR_UNSUPPORTED;
    Batch* batch = beginBatch(budget);
    if (batch == nullptr) return SLUICE_OK;
    result.number = batch->number;
    while (gather(*batch, budget, result)) {
    }
    SluiceStatus status = SLUICE_OK;
    if (batch->unitCount != 0) {
        result.copies = batch->copies;
        result.predictedMilliseconds = batch->predicted =
            float(batch->weights.predict(batch->cost));
        status = prepare(*batch);
        const bool isPrepared = status == SLUICE_OK;
        if (isPrepared) status = recordCommands(*batch, commands);
        if (status == SLUICE_OK) return status;
        // A part of the batch may run, and nobody could say when it is done.
        if (isPrepared && isImmediate()) {
            m_isLost = true;
            result = {};
            return SLUICE_ERROR_DEVICE;
        }
    }
    const Locked locked(*this);
    putBack(*batch);
    result = {};
    return status;
}

// Of groups of a unit each nothing is in this core's caches. Each step reads what an earlier one has
// had fetched.
void SluiceStreamer_T::prefetchReady() const
{
    constexpr uint32_t kRequest = 2, kUnit = 4, kGroup = 6;
    const auto unitOf = [&](uint32_t others) -> const Unit* {
        const Group* group = m_toRecord.later(others);
        return group != nullptr && group->readyHead != kNone ? &m_units[group->readyHead] : nullptr;
    };
    if (const Unit* unit = unitOf(kRequest)) prefetch(m_requests[unit->request]);
    if (const Unit* unit = unitOf(kUnit)) prefetch(*unit);
    if (const Group* group = m_toRecord.later(kGroup)) prefetch(*group);
}

// Adds some units; threads that read and decode get the lock in between. False: there are no more,
// or the batch is full.
bool SluiceStreamer_T::gather(Batch& batch, const SluiceStreamBudget& budget,
                              SluiceStreamBatch& result)
{
    const Locked locked(*this);
    for (uint32_t i = 0; i < kUnitsAtOnce; ++i) {
        Group* group = m_toRecord.top();
        if (group == nullptr) break;
        prefetchReady();
        Unit& unit = m_units[group->readyHead];
        const Added added = addUnit(batch, unit, budget, result);
        if (added == Added::full) return false;
        pop(group->readyHead, group->readyTail);
        if (group->readyHead == kNone) m_toRecord.remove(group);
        m_readyTiles -= unit.tileCount;
        if (added == Added::yes) {
            markRecorded(batch, unit);
            continue;
        }
        // More than control or scratch have room for, although the batch is empty.
        fail(*group, m_requests[unit.request], {SLUICE_ERROR_BUFFER_SIZE});
        finishUnit(unit);
        endIfDone(*group);
    }
    if (!m_toRecord.empty()) return true;
    m_readySince = m_recordCalls;
    return false;
}

SluiceStreamer_T::Added SluiceStreamer_T::addUnit(Batch& batch, Unit& unit,
                                                  const SluiceStreamBudget& budget,
                                                  SluiceStreamBatch& result)
{
    CostInputs cost = batch.cost; // a copy, since the unit may not fit
    const Request& request = m_requests[unit.request];
    if (isCopied(unit)) cost.addCopy(unit.size);
    if (isDecodedByGpu(unit)) {
        uint32_t count = 0;
        const TileRecord* records = request.info.file->records(request.info.asset, count);
        for (uint32_t i = 0; i < unit.tileCount; ++i)
            addCost(cost, records[unit.firstTile + i]);
    }
    const uint32_t copies = batch.copies + (isCopied(unit) ? 1 : 0);
    const bool isOver = batch.weights.predict(cost) > double(budget.milliseconds) ||
                        (budget.bytes != 0 && result.bytesOut + unit.size > budget.bytes) ||
                        (budget.copies != 0 && copies > budget.copies);
    if (batch.unitCount != 0 && (isOver || batch.unitCount == m_info.maxUnits)) return Added::full;
    if (isDecodedByGpu(unit)) {
        const Added added = addTiles(batch, unit);
        if (added != Added::yes) return added;
        result.tiles += unit.tileCount;
    } else {
        batch.unitTargets.push_back(kNone);
        batch.unitFirstTile.push_back(0);
    }
    batch.cost = cost;
    batch.copies = copies;
    result.bytesIn += unit.storedSize;
    result.bytesOut += unit.size;
    return Added::yes;
}

// Requests for parts of one buffer share a target, which grows as far as they reach.
uint32_t SluiceStreamer_T::targetFor(Batch& batch, uint64_t handle)
{
    for (uint32_t i = 0; i < batch.targetCount; ++i)
        if (batch.targets[i].destination.handle == handle) return i;
    if (batch.targetCount == kTargets) return kNone;
    TargetBatch& target = batch.targets[batch.targetCount];
    target.destination = {handle, 0, 0};
    target.totals = target.room = {};
    target.required = {};
    target.tiles.clear();
    return batch.targetCount++;
}

// Targets have control and results of their own, and scratch in turns.
bool SluiceStreamer_T::fits(const Batch& batch, uint32_t target,
                            const SluiceTilesRequirements& required) const
{
    const SluiceTileTotals& totals = batch.targets[target].totals;
    uint64_t control = required.controlSize, results = required.resultsSize, tiles = 0;
    uint64_t filtered = totals.filteredSize;
    for (uint32_t i = 0; i < batch.targetCount; ++i) {
        if (i == target) continue;
        control += batch.targets[i].required.controlSize + kSlotAlignment;
        results += batch.targets[i].required.resultsSize + kSlotAlignment;
        tiles += batch.targets[i].totals.tileCount;
        filtered += batch.targets[i].totals.filteredSize;
    }
    return tiles + totals.tileCount <= m_info.maxBatchTiles &&
           control + kSlotAlignment <= m_controlSlot && results + kSlotAlignment <= m_resultsSlot &&
           required.scratchSize <= m_info.scratch.size &&
           (filtered <= m_info.maxFilteredSize || batch.unitCount == 0);
}

// Finds what the totals need, or already some more tiles, since asking for every unit would cost as
// much as all else that Record does for it. False: there is no room for the totals.
bool SluiceStreamer_T::makeRoom(Batch& batch, uint32_t number) const
{
    TargetBatch& target = batch.targets[number];
    const SluiceTileTotals& totals = target.totals;
    if (isWithin(totals, target.room) && fits(batch, number, target.required)) return true;
    SluiceTilesInfo info = {};
    info.gstdTilesAtOnce = m_info.gstdTilesAtOnce;
    for (const SluiceTileTotals& room : {withMore(totals, m_info.maxFilteredSize), totals}) {
        SluiceTilesRequirements required = {};
        if (sluiceGetTilesRequirements(m_info.context, &info, &room, &required) == SLUICE_OK &&
            fits(batch, number, required)) {
            target.room = room;
            target.required = required;
            return true;
        }
    }
    return false;
}

SluiceStreamer_T::Added SluiceStreamer_T::addTiles(Batch& batch, const Unit& unit)
{
    const SluiceStreamRequest& request = m_requests[unit.request].info;
    const bool isDirect = unit.route == Route::direct;
    const SluiceBuffer& destination = isDirect ? request.buffer : m_info.output.buffer;
    const uint32_t known = batch.targetCount, number = targetFor(batch, destination.handle);
    if (number == kNone) return Added::full;
    TargetBatch& target = batch.targets[number];
    const SluiceArchiveAsset asset = request.file->filtersOf(request.asset);
    uint32_t count = 0;
    const TileRecord* tiles = request.file->records(request.asset, count) + unit.firstTile;
    const SluiceTileTotals before = target.totals;
    const size_t firstTile = target.tiles.size();
    uint64_t source = unit.sourceBase;
    bool isGood = firstTile + unit.tileCount <= m_info.maxBatchTiles;
    for (uint32_t i = 0; i < unit.tileCount && isGood; ++i) {
        const TileRecord& tile = tiles[i];
        const SluiceArchiveTile record = archiveTileOf(tile);
        const uint64_t place =
            destination.offset +
            (isDirect ? tile.outputOffset - request.offset
                      : unit.outputBase + tile.outputOffset - tiles[0].outputOffset);
        SluiceTile& one = target.tiles.emplace_back();
        isGood = sluiceGetArchiveTile(&asset, &record, source, place, &one) == SLUICE_OK &&
                 sluiceAddTile(&target.totals, &one) == SLUICE_OK;
        source += storedRoom(tile);
    }
    if (!isGood || !makeRoom(batch, number)) {
        target.totals = before;
        target.tiles.resize(firstTile);
        batch.targetCount = known;
        return batch.unitCount == 0 ? Added::impossible : Added::full;
    }
    target.destination.size =
        std::max(target.destination.size, destination.offset + destination.size);
    batch.unitTargets.push_back(number);
    batch.unitFirstTile.push_back(uint32_t(firstTile));
    return Added::yes;
}

void SluiceStreamer_T::markRecorded(Batch& batch, Unit& unit)
{
    Group& group = m_groups[unit.group];
    Request& request = m_requests[unit.request];
    append(batch.firstUnit, batch.lastUnit, unit);
    ++batch.unitCount;
    unit.state = UnitState::recorded;
    --request.unrecorded;
    --group.unrecorded;
    ++group.underWay;
    group.event.value = batch.value;
    unit.beginsImage = unit.endsImage = false;
    if (request.info.target == SLUICE_STREAM_TO_IMAGE) {
        // A unit that is decoded again may come after the end of its request.
        const bool isAfterEnd = request.endIn != 0;
        unit.beginsImage = request.begunIn == 0 || isAfterEnd;
        if (request.begunIn == 0) request.begunIn = batch.number;
        unit.endsImage =
            isAfterEnd || (request.unrecorded == 0 && request.cut == request.info.size);
        if (unit.endsImage && request.endIn == 0) request.endIn = batch.number;
    }
    tellIfRecorded(group);
}

// Whether by the last unit of a group that is recorded, or by one after it that needs no GPU.
void SluiceStreamer_T::tellIfRecorded(Group& group)
{
    if ((group.flags & SLUICE_STREAM_TELL_RECORDED) == 0 || group.unrecorded != 0 ||
        group.currentRequest != kNone || group.event.value == 0 || group.tellsRecorded ||
        group.toldRecorded || group.hasEnded)
        return;
    group.tellsRecorded = true;
    m_recordedEvents.push_back(indexOf(group));
    ++m_pending.events;
    tellEvent();
}

// Writes the lists of a batch, which the lock is not needed for: its units are recorded.
SluiceStatus SluiceStreamer_T::prepare(Batch& batch)
{
    const uint64_t slot = indexOf(batch);
    uint64_t control = slot * m_controlSlot;
    uint64_t results = slot * m_resultsSlot;
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

SluiceStatus SluiceStreamer_T::recordCommands(const Batch& batch, SluiceCommands commands)
{
    SluiceStreamGpu& gpu = *const_cast<SluiceStreamGpu*>(m_info.gpu);
    gpu.timestamp(commands, m_gpuId, indexOf(batch), false);
    gpu.barrierBefore(commands);
    for (uint32_t i = 0; i < batch.targetCount; ++i) {
        // Scratch was last used by the target before, or by the batch before.
        SluiceStatus status = sluiceCmdBarrier(m_info.context, commands);
        if (status == SLUICE_OK)
            status = sluiceCmdTiles(m_info.context, commands, &batch.targets[i].info);
        if (status != SLUICE_OK) return status;
    }
    gpu.barrierToCopies(commands);
    for (uint32_t at = batch.firstUnit; at != kNone;) {
        const SluiceStatus status = copySome(at, commands);
        if (status != SLUICE_OK) return status;
    }
    gpu.barrierAfter(commands);
    gpu.timestamp(commands, m_gpuId, indexOf(batch), true);
    return SLUICE_OK;
}

// Copies as many units, from `at` on, as can change their images' layouts at once: an image that
// has two requests in a batch changes its layout twice.
SluiceStatus SluiceStreamer_T::copySome(uint32_t& at, SluiceCommands commands)
{
    SluiceStreamGpu& gpu = *const_cast<SluiceStreamGpu*>(m_info.gpu);
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

SluiceStatus SluiceStreamer_T::copyUnit(const Unit& unit, SluiceCommands commands)
{
    SluiceStreamGpu& gpu = *const_cast<SluiceStreamGpu*>(m_info.gpu);
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

// It will be recorded again, and told again.
void SluiceStreamer_T::forgetRecorded(Group& group)
{
    group.toldRecorded = false;
    if (!group.tellsRecorded) return;
    group.tellsRecorded = false;
    m_recordedEvents.erase(
        std::find(m_recordedEvents.begin(), m_recordedEvents.end(), indexOf(group)));
    --m_pending.events;
}

// The batch will not run: its units are ready again, in front of what came since.
void SluiceStreamer_T::putBack(Batch& batch)
{
    uint32_t reversed = kNone;
    for (uint32_t at = batch.firstUnit; at != kNone;) {
        const uint32_t next = m_units[at].next;
        m_units[at].next = reversed;
        reversed = at;
        at = next;
    }
    while (reversed != kNone) {
        Unit& unit = m_units[reversed];
        reversed = unit.next;
        Group& group = m_groups[unit.group];
        Request& request = m_requests[unit.request];
        ++request.unrecorded;
        ++group.unrecorded;
        --group.underWay;
        if (request.begunIn == batch.number) request.begunIn = 0;
        if (request.endIn == batch.number) request.endIn = 0;
        unit.state = UnitState::ready;
        group.isCancelled = group.isCancelled || group.isCancelledIfPutBack;
        forgetRecorded(group);
        if (group.isCancelled) {
            m_wastedBytes += unit.storedSize;
            finishUnit(unit);
            endIfDone(group);
            continue;
        }
        m_readyTiles += unit.tileCount;
        unit.next = group.readyHead;
        group.readyHead = indexOf(unit);
        if (group.readyTail == kNone) group.readyTail = indexOf(unit);
        m_toRecord.insert(&group);
    }
    batch.number = 0;
    --m_pending.batches;
}

SluiceStatus SluiceStreamer_T::discard(uint64_t number)
{
    if (isImmediate()) return SLUICE_ERROR_ARGUMENT;
    const Locked locked(*this);
    Batch* newest = nullptr;
    for (Batch& batch : m_batches)
        if (batch.number != 0 && (newest == nullptr || batch.number > newest->number))
            newest = &batch;
    if (newest == nullptr || newest->number != number) return SLUICE_ERROR_ARGUMENT;
    putBack(*newest);
    return SLUICE_OK;
}
