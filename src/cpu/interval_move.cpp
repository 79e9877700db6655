// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference of the commands that move runs of elements. For move, gather and scatter the runs
// are intervals; for bulk remove and insert they are the items between two indices.
#include <sluice/sluice_interval.h>

#include <cstring>

#include "cpu/context.h"
#include "cpu/intervals.h"

namespace sluice::cpu {
namespace {

// Returns entry i of a list of positions. positionSize: bytes of an entry, 4 or 8.
uint64_t positionOf(const SluiceBuffer& list, uint32_t positionSize, uint64_t i)
{
    return positionSize == 8 ? pointer<const uint64_t>(list)[i] : pointer<const uint32_t>(list)[i];
}

void copy(uint8_t* to, const uint8_t* from, uint64_t bytes)
{
    if (bytes != 0) std::memcpy(to, from, size_t(bytes));
}

// Returns how many of `count` items fit into a buffer of `capacity` items if the first one goes to
// index `place`.
uint64_t fitting(uint64_t place, uint64_t count, uint64_t capacity)
{
    return std::min(count, capacity - std::min(capacity, place));
}

} // namespace

SluiceStatus ReferenceBackend::cmdIntervalMove(SluiceCommands, const SluiceIntervalMoveInfo& info)
{
    const uint32_t size = info.elementSize;
    const uint8_t* source = pointer<const uint8_t>(info.source);
    uint8_t* destination = pointer<uint8_t>(info.destination);
    forEachInterval(
        info.intervals, info.destination.size / size, info.result, [&](const Interval& interval) {
            const bool scattered = info.kind != SLUICE_INTERVAL_GATHER;
            const uint64_t from = info.kind == SLUICE_INTERVAL_SCATTER
                                      ? interval.begin
                                      : positionOf(info.gather, info.positionSize, interval.index);
            const uint64_t to = scattered
                                    ? positionOf(info.scatter, info.positionSize, interval.index)
                                    : interval.begin;
            uint64_t fromBytes, toBytes;
            if (!offsetWithin(from, interval.count, size, info.source.size, fromBytes))
                return false;
            if (!offsetWithin(to, scattered ? interval.count : interval.kept, size,
                              info.destination.size, toBytes))
                return false;
            copy(destination + toBytes, source + fromBytes, uint64_t(interval.kept) * size);
            return true;
        });
    return SLUICE_OK;
}

// The caller of the command passes ascending indices. If they do not ascend, the command still
// writes only inside the destination, but items may be in wrong places or missing.
SluiceStatus ReferenceBackend::cmdBulkRemove(SluiceCommands, const SluiceBulkInfo& info)
{
    const uint64_t size = info.elementSize, capacity = info.destination.size / size;
    const uint32_t items = countOf(info.itemCount, info.maxItemCount);
    const uint32_t removed = countOf(info.indexCount, info.maxIndexCount);
    const uint32_t* indices = pointer<const uint32_t>(info.indices);
    uint64_t begin = 0, place = 0;
    for (uint64_t i = 0; i <= removed; ++i) {
        const uint64_t end = i == removed ? items : std::min(indices[i], items);
        if (begin < end) {
            const uint64_t count = fitting(place, end - begin, capacity);
            copy(pointer<uint8_t>(info.destination) + place * size,
                 pointer<const uint8_t>(info.source) + begin * size, count * size);
            place += count;
        }
        begin = end + 1;
    }
    writeResult(info.result, items - std::min(items, removed), capacity, false);
    return SLUICE_OK;
}

SluiceStatus ReferenceBackend::cmdBulkInsert(SluiceCommands, const SluiceBulkInfo& info)
{
    const uint64_t size = info.elementSize, capacity = info.destination.size / size;
    const uint32_t items = countOf(info.itemCount, info.maxItemCount);
    const uint32_t inserted = countOf(info.indexCount, info.maxIndexCount);
    const uint32_t* indices = pointer<const uint32_t>(info.indices);
    uint8_t* destination = pointer<uint8_t>(info.destination);
    uint64_t begin = 0, place = 0;
    for (uint64_t i = 0; i <= inserted; ++i) {
        const uint64_t end = i == inserted ? items : std::min(indices[i], items);
        if (begin < end) {
            const uint64_t count = fitting(place, end - begin, capacity);
            copy(destination + place * size, pointer<const uint8_t>(info.source) + begin * size,
                 count * size);
            place += end - begin;
        }
        if (i < inserted && place < capacity)
            copy(destination + place * size, pointer<const uint8_t>(info.inserted) + i * size,
                 size);
        ++place;
        begin = end;
    }
    writeResult(info.result, uint64_t(items) + inserted, capacity, false);
    return SLUICE_OK;
}

} // namespace sluice::cpu
