// SPDX-License-Identifier: MIT OR Apache-2.0
// Interval move, gather and scatter, and bulk remove and insert, which move the runs between
// indices.
#include <sluice/sluice_interval.h>

#include <cstring>

#include "cpu/context.h"
#include "cpu/intervals.h"

namespace sluice::cpu {
namespace {

u64 positionOf(const SluiceBuffer& list, u32 positionSize, u64 i)
{
    return positionSize == 8 ? pointer<const u64>(list)[i] : pointer<const u32>(list)[i];
}

void copy(u8* to, const u8* from, u64 bytes)
{
    if (bytes != 0) std::memcpy(to, from, size_t(bytes));
}

// Returns how many of `count` items fit from `place` on.
u64 fitting(u64 place, u64 count, u64 capacity)
{
    return std::min(count, capacity - std::min(capacity, place));
}

} // namespace

SluiceStatus ReferenceBackend::cmdIntervalMove(SluiceCommands, const SluiceIntervalMoveInfo& info)
{
    const u32 size = info.elementSize;
    const u8* source = pointer<const u8>(info.source);
    u8* destination = pointer<u8>(info.destination);
    forEachInterval(
        info.intervals, info.destination.size / size, info.result, [&](const Interval& interval) {
            const bool scattered = info.kind != SLUICE_INTERVAL_GATHER;
            const u64 from = info.kind == SLUICE_INTERVAL_SCATTER
                                 ? interval.begin
                                 : positionOf(info.gather, info.positionSize, interval.index);
            const u64 to = scattered ? positionOf(info.scatter, info.positionSize, interval.index)
                                     : interval.begin;
            u64 fromBytes, toBytes;
            if (!offsetWithin(from, interval.count, size, info.source.size, fromBytes))
                return false;
            if (!offsetWithin(to, scattered ? interval.count : interval.kept, size,
                              info.destination.size, toBytes))
                return false;
            copy(destination + toBytes, source + fromBytes, u64(interval.kept) * size);
            return true;
        });
    return SLUICE_OK;
}

// Indices that break a rule may put items anywhere inside the destination, or drop them.
SluiceStatus ReferenceBackend::cmdBulkRemove(SluiceCommands, const SluiceBulkInfo& info)
{
    const u64 size = info.elementSize, capacity = info.destination.size / size;
    const u32 items = countOf(info.itemCount, info.maxItemCount);
    const u32 removed = countOf(info.indexCount, info.maxIndexCount);
    const u32* indices = pointer<const u32>(info.indices);
    u64 begin = 0, place = 0;
    for (u64 i = 0; i <= removed; ++i) {
        const u64 end = i == removed ? items : std::min(indices[i], items);
        if (begin < end) {
            const u64 count = fitting(place, end - begin, capacity);
            copy(pointer<u8>(info.destination) + place * size,
                 pointer<const u8>(info.source) + begin * size, count * size);
            place += count;
        }
        begin = end + 1;
    }
    writeResult(info.result, items - std::min(items, removed), capacity, false);
    return SLUICE_OK;
}

SluiceStatus ReferenceBackend::cmdBulkInsert(SluiceCommands, const SluiceBulkInfo& info)
{
    const u64 size = info.elementSize, capacity = info.destination.size / size;
    const u32 items = countOf(info.itemCount, info.maxItemCount);
    const u32 inserted = countOf(info.indexCount, info.maxIndexCount);
    const u32* indices = pointer<const u32>(info.indices);
    u8* destination = pointer<u8>(info.destination);
    u64 begin = 0, place = 0;
    for (u64 i = 0; i <= inserted; ++i) {
        const u64 end = i == inserted ? items : std::min(indices[i], items);
        if (begin < end) {
            const u64 count = fitting(place, end - begin, capacity);
            copy(destination + place * size, pointer<const u8>(info.source) + begin * size,
                 count * size);
            place += end - begin;
        }
        if (i < inserted && place < capacity)
            copy(destination + place * size, pointer<const u8>(info.inserted) + i * size, size);
        ++place;
        begin = end;
    }
    writeResult(info.result, u64(items) + inserted, capacity, false);
    return SLUICE_OK;
}

} // namespace sluice::cpu
