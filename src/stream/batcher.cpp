// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/batcher.h"

#include <algorithm>

namespace sluice::stream {

namespace {

// Returns `totals` with room for kMore more tiles of each kind that the batch has already. The
// filtered size does not grow beyond maxFilteredSize.
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
    bool fits = totals.filteredSize <= room.filteredSize &&
                totals.descriptionSize <= room.descriptionSize &&
                totals.largestGstd <= room.largestGstd && totals.largestZstd <= room.largestZstd;
    for (uint32_t kind = 0; kind < SLUICE_TILE_KINDS; ++kind) {
        fits = fits && totals.largestFiltered[kind] <= room.largestFiltered[kind];
        for (uint32_t filtered = 0; filtered < 2; ++filtered)
            fits = fits && totals.counts[kind][filtered] <= room.counts[kind][filtered] &&
                   totals.parts[kind][filtered] <= room.parts[kind][filtered];
    }
    return fits;
}

// Returns the index of the batch's target with this buffer handle and these flags, which is added
// if it is new. Returns kNone if all targets are taken. Requests for parts of the same buffer share
// a target, whose range extends to the furthest byte that one of them writes.
uint32_t targetFor(Batch& batch, uint64_t handle, uint32_t flags)
{
    for (uint32_t i = 0; i < batch.targetCount; ++i)
        if (batch.targets[i].destination.handle == handle && batch.targets[i].flags == flags)
            return i;
    if (batch.targetCount == kTargets) return kNone;
    TargetBatch& target = batch.targets[batch.targetCount];
    target.destination = {handle, 0, 0};
    target.flags = flags;
    target.totals = target.room = {};
    target.required = {};
    target.tiles.clear();
    return batch.targetCount++;
}

} // namespace

Batcher::Batcher(const SluiceStreamerInfo& info, Monitor& monitor, Gpu& gpu, Ledger& ledger)
    : m_info(info), m_monitor(monitor), m_gpu(gpu), m_ledger(ledger),
      m_commands(info, gpu, ledger.requests, ledger.units),
      m_controlSlot(slotSize(info.control, info.maxBatches) - kTranscodeControl),
      m_resultsSlot(slotSize(info.results, info.maxBatches) - kTranscodeResults),
      m_batches(info.maxBatches), m_sharedTiles(gpuMayDecode(info) ? info.maxUnits : 0)
{
    for (Batch& batch : m_batches) {
        for (TargetBatch& target : batch.targets)
            target.tiles.reserve(gpuMayDecode(info) ? info.maxBatchTiles : 0);
        if (gpuMayDecode(info)) batch.transcodes.reserve();
        batch.unitTargets.reserve(info.maxUnits);
        batch.unitFirstTile.reserve(info.maxUnits);
    }
}

// Decides whether the GPU, the threads or both may take units from the line, the queue of units
// that either may decode. If the line is empty, returns the default, the GPU.
SideChoice Batcher::chooseSide(Held& held) const
{
    return m_ledger.work.line.empty(held) ? SideChoice{} : m_ledger.chooseSide(held);
}

// Begins an empty batch. Returns NULL if nothing is to be recorded now.
Batch* Batcher::begin(const SluiceStreamBudget& budget)
{
    Held held(m_monitor);
    m_ledger.work.countRecordCall(held);
    m_ledger.sides.noteKernels(held, m_ledger.work);
    m_ledger.sides.noteRecord(held, budget);
    const SideChoice choice = chooseSide(held);
    if (choice.cpu) held.wakeWorkers();
    const bool hasFailed = std::any_of(m_batches.begin(), m_batches.end(),
                                       [](const Batch& one) { return one.hasFailed; });
    if (!m_gpu.isThere() || m_gpu.isLost() || hasFailed ||
        !m_ledger.work.isWorthRecording(held, budget, choice.gpu))
        return nullptr;
    const auto batch = std::find_if(m_batches.begin(), m_batches.end(),
                                    [](const Batch& one) { return one.number == 0; });
    if (batch == m_batches.end()) { // the maximum number of batches is under way
        m_ledger.sides.noteRefused(held);
        if (chooseSide(held).cpu) held.wakeWorkers();
        return nullptr;
    }
    batch->semaphore = budget.semaphore;
    batch->value = budget.value;
    batch->number = ++m_lastNumber;
    batch->units = {};
    batch->unitCount = batch->copies = batch->targetCount = 0;
    batch->transcodes.clear();
    batch->unitTargets.clear();
    batch->unitFirstTile.clear();
    batch->cost = {};
    batch->weights = m_ledger.sides.gpuCosts(held).weights();
    batch->predicted = 0;
    batch->choice = choice;
    batch->isFull = false;
    ++m_ledger.pending.batches;
    return &*batch;
}

SluiceStatus Batcher::record(SluiceCommands commands, const SluiceStreamBudget& budget,
                             SluiceStreamBatch& result)
{
    result = {};
    Batch* batch = begin(budget);
    if (batch == nullptr) return SLUICE_OK;
    result.number = batch->number;
    while (gather(*batch, budget, result)) {
    }
    SluiceStatus status = SLUICE_OK;
    if (batch->unitCount != 0) {
        result.copies = batch->copies;
        const double predicted = batch->weights.predict(batch->cost);
        result.predictedMilliseconds = float(predicted);
        status = m_commands.prepare(*batch, slotOf(*batch));
        const bool isPrepared = status == SLUICE_OK;
        if (isPrepared) status = m_commands.record(*batch, slotOf(*batch), commands);
        if (status == SLUICE_OK) {
            noteRecorded(*batch, predicted);
            return status;
        }
        // CUDA may already be running a part of the batch, which cannot be taken back. Its memory
        // and its destinations stay in use until the end that is recorded here.
        if (isPrepared && m_gpu.isImmediate()) {
            m_gpu.api().timestamp(commands, m_gpu.id(), slotOf(*batch), true);
            noteFailed(*batch);
            result = {};
            return SLUICE_ERROR_DEVICE;
        }
    }
    Held held(m_monitor);
    putBack(held, *batch);
    result = {};
    return status;
}

// Notes that the batch ends with DEVICE. Its groups are not recorded as a whole, so they get no
// RECORDED events.
void Batcher::noteFailed(Batch& batch)
{
    Held held(m_monitor);
    batch.hasFailed = true;
    for (uint32_t at = batch.units.head; at != kNone; at = m_ledger.units[at].next)
        m_ledger.events.forgetRecorded(held, m_ledger.groups[m_ledger.units[at].group]);
}

// Notes the batch's predicted time. Wakes threads if they may now decode units that the batch has
// left in the line, the queue of units that either side may decode.
void Batcher::noteRecorded(Batch& batch, double predicted)
{
    Held held(m_monitor);
    batch.predicted = predicted;
    m_ledger.sides.noteBatch(held, {predicted, batch.unitCount, batch.isFull,
                                    batch.targetCount != 0 || !batch.transcodes.empty(),
                                    batch.choice.gpuReason});
    if (chooseSide(held).cpu) held.wakeWorkers();
}

// Prefetches the objects that the next iterations of gather() use. When each group has a single
// unit, every iteration would otherwise wait for three cache misses. A unit is found through its
// group, and a request through its unit, so groups are prefetched earliest and requests latest.
void Batcher::prefetchReady(Held& held, bool isInLine) const
{
    constexpr uint32_t kRequest = 2, kUnit = 4, kGroup = 6;
    const auto groupAfter = [&](uint32_t others) -> const Group* {
        return isInLine ? m_ledger.work.line.later(held, others)
                        : m_ledger.work.laterToCopy(held, others);
    };
    const auto unitOf = [&](uint32_t others) -> const Unit* {
        const Group* group = groupAfter(others);
        if (group == nullptr) return nullptr;
        const Queue& units = isInLine ? group->line : group->ready;
        return !units.empty() ? &m_ledger.units[units.head] : nullptr;
    };
    if (const Unit* unit = unitOf(kRequest)) prefetch(m_ledger.requests[unit->request]);
    if (const Unit* unit = unitOf(kUnit)) prefetch(*unit);
    if (const Group* group = groupAfter(kGroup)) prefetch(*group);
}

// Adds up to kUnitsAtOnce units. The caller repeats the call, so that threads that read and decode
// get the lock in between. Returns false if no unit is left or the batch is full.
bool Batcher::gather(Batch& batch, const SluiceStreamBudget& budget, SluiceStreamBatch& result)
{
    Held held(m_monitor);
    for (uint32_t i = 0; i < kUnitsAtOnce; ++i) {
        Group* group = m_ledger.work.toRecord(held, batch.choice.gpu);
        if (group == nullptr) break;
        // Take the group's units that only need a copy before those in the line, which the GPU must
        // decode as well.
        const bool isInLine = group->ready.empty();
        prefetchReady(held, isInLine);
        const uint32_t head = isInLine ? group->line.head : group->ready.head;
        const Added added = addUnit(held, batch, m_ledger.units[head], budget, result);
        batch.isFull = added == Added::full;
        if (batch.isFull) return false;
        Unit& unit = isInLine ? m_ledger.work.line.take(held, *group)
                              : m_ledger.work.takeReady(held, *group);
        if (isInLine) unit.reason = uint8_t(batch.choice.gpuReason);
        if (added == Added::yes) {
            markRecorded(held, batch, unit);
            continue;
        }
        // Control or scratch is too small for this unit even if the batch has no other unit.
        m_ledger.fail(held, *group, m_ledger.requests[unit.request], {SLUICE_ERROR_BUFFER_SIZE});
        m_ledger.finish(held, unit);
        m_ledger.endIfDone(held, *group);
    }
    if (m_ledger.work.toRecord(held, batch.choice.gpu) != nullptr) return true;
    m_ledger.work.renewAge(held);
    return false;
}

Batcher::Added Batcher::addUnit(Held& held, Batch& batch, Unit& unit,
                                const SluiceStreamBudget& budget, SluiceStreamBatch& result)
{
    CostInputs cost = batch.cost; // a copy, because the unit may turn out not to fit
    const Request& request = m_ledger.requests[unit.request];
    unit.copyBase = unit.outputBase;
    if (isCopied(unit))
        cost.addCopy(unit.isTranscoded ? madeSize(request.info.image, unit) : unit.size);
    const SharedTiles::Place* decoded = nullptr;
    if (isDecodedByGpu(unit)) {
        const TileRecord* tiles = tilesOf(request.info, unit);
        // If the context has refused pipelines since the unit was cut, the batch ends before this
        // unit, which a thread will decode.
        if (!m_ledger.sides.havePipelines(held, tiles, unit)) return Added::full;
        decoded = findDecoded(batch, unit, tiles);
        for (uint32_t i = 0; i < unit.tileCount && decoded == nullptr; ++i)
            addCost(cost, tiles[i]);
        if (unit.isTranscoded) addTranscode(cost, request.info.image, unit);
    }
    const uint32_t copies = batch.copies + (isCopied(unit) ? 1 : 0);
    const bool isOver = batch.weights.predict(cost) > double(budget.milliseconds) ||
                        (budget.bytes != 0 && result.bytesOut + unit.size > budget.bytes) ||
                        (budget.copies != 0 && copies > budget.copies);
    const bool hasRoom =
        !isTranscodedByGpu(unit) || batch.transcodes.hasRoom(request.info.image, unit);
    if (batch.unitCount != 0 && (isOver || !hasRoom || batch.unitCount == m_info.maxUnits))
        return Added::full;
    if (decoded != nullptr) {
        unit.copyBase = decoded->output;
        batch.unitTargets.push_back(decoded->target);
        batch.unitFirstTile.push_back(decoded->index);
    } else if (isDecodedByGpu(unit) && unit.tileCount != 0) {
        const Added added = addTiles(batch, unit);
        if (added != Added::yes) return added;
        result.tiles += unit.tileCount;
    } else {
        batch.unitTargets.push_back(kNone);
        batch.unitFirstTile.push_back(0);
    }
    if (isTranscodedByGpu(unit)) batch.transcodes.add(request.info.image, unit);
    batch.cost = cost;
    batch.copies = copies;
    result.bytesIn += unit.storedSize;
    result.bytesOut += unit.size;
    return Added::yes;
}

// Returns whether the batch has room for a target (a buffer to decode into) with these
// requirements. Each target has its own part of control and results. Targets for which scratch is
// too small together use it one after the other, so scratch need only suffice for each alone.
bool Batcher::fits(const Batch& batch, uint32_t target,
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

// Makes sure that the batch has room for the tiles that the target's totals count. Queries what
// these and some more tiles require, so that the next units need no query: a query per unit would
// cost as much as all the rest of Record. If the batch has no room for that, queries what the
// totals alone require. Returns false if the batch has no room for that either.
bool Batcher::makeRoom(Batch& batch, uint32_t number) const
{
    TargetBatch& target = batch.targets[number];
    const SluiceTileTotals& totals = target.totals;
    if (isWithin(totals, target.room) && fits(batch, number, target.required)) return true;
    SluiceTilesInfo info = {};
    info.flags = target.flags;
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

// If the batch already decodes all tiles of the unit contiguously, at a place from which the unit
// can be copied, returns the place of the unit's first tile. Otherwise returns NULL. A unit that is
// transcoded always decodes its own tiles, because they may be transcoded in place.
const SharedTiles::Place* Batcher::findDecoded(const Batch& batch, const Unit& unit,
                                               const TileRecord* tiles) const
{
    if (unit.route != Route::output || unit.size == unit.decodedSize || unit.isTranscoded)
        return nullptr;
    const SharedTiles::Place* first = m_sharedTiles.find(tiles, batch.number);
    if (first == nullptr) return nullptr;
    const SluiceStreamRequest& request = m_ledger.requests[unit.request].info;
    // Copies to images begin at a multiple of the texel block's size.
    if (request.target == SLUICE_STREAM_TO_IMAGE &&
        (m_info.output.buffer.offset + first->output + unit.offset - tiles[0].outputOffset) %
                request.image.blockSize !=
            0)
        return nullptr;
    for (uint32_t i = 1; i < unit.tileCount; ++i) {
        const SharedTiles::Place* place = m_sharedTiles.find(&tiles[i], batch.number);
        if (place == nullptr || place->target != first->target ||
            place->index != first->index + i ||
            place->output - first->output != tiles[i].outputOffset - tiles[0].outputOffset)
            return nullptr;
    }
    return first;
}

Batcher::Added Batcher::addTiles(Batch& batch, const Unit& unit)
{
    const SluiceStreamRequest& request = m_ledger.requests[unit.request].info;
    const bool isDirect = unit.route == Route::direct;
    const SluiceBuffer& destination = isDirect ? request.buffer : m_info.output.buffer;
    const uint32_t known = batch.targetCount,
                   number = targetFor(batch, destination.handle, request.file->tileFlags());
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
    if (isDirect || unit.size == unit.decodedSize || unit.isTranscoded) return Added::yes;
    for (uint32_t i = 0; i < unit.tileCount; ++i)
        m_sharedTiles.add({&tiles[i], batch.number,
                           unit.outputBase + tiles[i].outputOffset - tiles[0].outputOffset, number,
                           uint32_t(firstTile + i)});
    return Added::yes;
}

void Batcher::markRecorded(Held& held, Batch& batch, Unit& unit)
{
    Group& group = m_ledger.groups[unit.group];
    Request& request = m_ledger.requests[unit.request];
    m_ledger.units.append(batch.units, unit);
    ++batch.unitCount;
    m_ledger.work.setState(held, unit, UnitState::recorded);
    --request.unrecorded;
    --group.unrecorded;
    ++group.underWay;
    unit.valueBefore = group.event.value;
    group.event.value = batch.value;
    unit.beginsImage = unit.endsImage = false;
    if (request.info.target == SLUICE_STREAM_TO_IMAGE) {
        // A unit that is decoded a second time may come after the request's last copy, which has
        // already changed the image to its new layout. Then this unit's copy must change the layout
        // before and after itself.
        const bool isAfterEnd = request.endIn != 0;
        unit.beginsImage = request.begunIn == 0 || isAfterEnd;
        if (request.begunIn == 0) request.begunIn = batch.number;
        unit.endsImage =
            isAfterEnd || (request.unrecorded == 0 && request.cut == request.info.size);
        if (unit.endsImage && request.endIn == 0) request.endIn = batch.number;
    }
    m_ledger.tellIfRecorded(held, group);
}

// Takes back a batch, which will not run. Its units become ready again, ahead of units that became
// ready in the meantime.
void Batcher::putBack(Held& held, Batch& batch)
{
    Queue reversed;
    while (!batch.units.empty())
        m_ledger.units.prepend(reversed, m_ledger.units.pop(batch.units));
    while (!reversed.empty()) {
        Unit& unit = m_ledger.units.pop(reversed);
        Group& group = m_ledger.groups[unit.group];
        Request& request = m_ledger.requests[unit.request];
        if (request.begunIn == batch.number) request.begunIn = 0;
        if (request.endIn == batch.number) request.endIn = 0;
        // The units come in reverse order, so the group's first one in the batch comes last, and
        // restores the value of the batch before.
        group.event.value = unit.valueBefore;
        m_ledger.events.forgetRecorded(held, group);
        if (group.life == Life::tooLate) group.life = Life::cancelled; // it is no longer too late
        if (group.isCancelled()) {
            m_ledger.finishUnused(held, unit);
            m_ledger.endIfDone(held, group);
            continue;
        }
        ++request.unrecorded;
        ++group.unrecorded;
        --group.underWay;
        m_ledger.work.putBack(held, unit);
    }
    release(held, batch);
}

bool Batcher::discard(uint64_t number)
{
    if (m_gpu.isImmediate()) return false;
    Held held(m_monitor);
    Batch* newest = nullptr;
    for (Batch& batch : m_batches)
        if (batch.number != 0 && (newest == nullptr || batch.number > newest->number))
            newest = &batch;
    if (newest == nullptr || newest->number != number) return false;
    putBack(held, *newest);
    return true;
}

Batcher::Ready Batcher::readiness(const SluiceStreamBudget& budget, bool countsCall)
{
    Held held(m_monitor);
    if (m_ledger.work.toRecord(held, true) == nullptr || m_gpu.isLost() ||
        !(budget.milliseconds > 0))
        return Ready::nothing;
    m_ledger.sides.noteKernels(held, m_ledger.work);
    const SideChoice choice = chooseSide(held);
    if (choice.cpu) held.wakeWorkers();
    if (m_ledger.work.toRecord(held, choice.gpu) == nullptr) return Ready::threadsDecode;
    if (m_ledger.work.isWorthRecording(held, budget, choice.gpu)) return Ready::enough;
    if (countsCall) m_ledger.work.countRecordCall(held);
    return Ready::tooLittle;
}

Batch* Batcher::oldest()
{
    Batch* oldest = nullptr;
    for (Batch& batch : m_batches)
        if (batch.number != 0 && (oldest == nullptr || batch.number < oldest->number))
            oldest = &batch;
    return oldest;
}

uint32_t Batcher::underWay() const
{
    return uint32_t(std::count_if(m_batches.begin(), m_batches.end(),
                                  [](const Batch& batch) { return batch.number != 0; }));
}

void Batcher::release(Held& held, Batch& batch)
{
    m_ledger.sides.noteBatchEnd(held, batch.predicted);
    batch.number = 0;
    --m_ledger.pending.batches;
}

} // namespace sluice::stream
