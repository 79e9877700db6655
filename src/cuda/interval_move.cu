// SPDX-License-Identifier: MIT OR Apache-2.0
// Interval move, gather and scatter, bulk remove and insert; the method is told in shaders/interval_move.comp.
#include "kernels.h"
#include "lib/intervals.cuh"
#include "lib/units.cuh"

namespace sluice {
namespace {

// An interval adds up to two units to those that its bytes fill.
constexpr uint32_t kMaxUnits = SLUICE_INTERVAL_TILE_BYTES / 16 + 2 * SLUICE_INTERVAL_BATCH;
constexpr uint32_t kAtOnce = 4; // units that a thread has in flight

// Part of an interval, in units.
struct Run {
    uint64_t source; // of byte 0 of the first unit, which is perhaps not one of the run's
    uint64_t target; // where the run begins: its low four bits are how far into the first unit
    uint32_t start;  // number of the first unit | 1 << 31: all loads are within the source
    uint32_t end;    // of the run, counted from the first unit

    __device__ uint32_t head() const { return static_cast<uint32_t>(target) & 15; }

    __device__ uint4 loadNumbered(uint32_t unit) const
    {
        const uint32_t number = unit - (start & 0x7fffffffu);
        return loadUnit(source + 16 * number, number == 0 ? head() : 0, min(end - 16 * number, 16u), start >> 31 != 0);
    }

    __device__ void storeNumbered(uint32_t unit, uint4 value) const
    {
        const uint32_t number = unit - (start & 0x7fffffffu);
        storeUnit(target - head() + 16 * number, value, number == 0 ? head() : 0, min(end - 16 * number, 16u));
    }
};

struct MoveShared {
    IntervalShared intervals;
    Marks<kMaxUnits> marks;
    Run runs[SLUICE_INTERVAL_BATCH];
};

// Bytes to copy; 0: none.
struct Piece {
    uint64_t source, target;
    uint32_t bytes;
};

__device__ uint64_t positionOf(const IntervalParams& p, u64pair list, uint64_t i)
{
    return (p.form >> 24 & 1) != 0 ? __ldg(pointerFrom<const unsigned long long>(list) + i)
                                   : __ldg(pointerFrom<const uint32_t>(list) + i);
}

// The byte offset of element `position`. False: it, or `bytes` from there on, is not inside `size`.
__device__ bool offsetWithin(uint64_t position, uint32_t elementSize, uint64_t bytes, uint64_t size, uint64_t& offset)
{
    offset = position * elementSize;
    return position < 1ull << 59 && bytes <= size && offset <= size - bytes;
}

// This block's part of an interval.
template <uint32_t Kind>
__device__ Piece pieceOf(const IntervalParams& p, const Interval& own, bool& skipped)
{
    constexpr bool gathered = Kind == SLUICE_INTERVAL_KIND_MOVE || Kind == SLUICE_INTERVAL_KIND_GATHER;
    constexpr bool placed = Kind == SLUICE_INTERVAL_KIND_MOVE || Kind == SLUICE_INTERVAL_KIND_SCATTER;
    uint64_t from = own.before, to = from;
    if (own.from < own.to) {
        if constexpr (gathered) from = positionOf(p, p.gather, own.index);
        if constexpr (placed) to = positionOf(p, p.scatter, own.index);
    }
    if constexpr (Kind == SLUICE_INTERVAL_KIND_REMOVE) from += own.index;
    if constexpr (Kind == SLUICE_INTERVAL_KIND_INSERT) to += own.index;

    // What is dropped: past the destination, by number or, where places follow from the order, by place.
    const uint64_t room = subSaturated(p.capacity, placed ? own.before : to);
    const uint32_t last = static_cast<uint32_t>(min(static_cast<uint64_t>(own.to), room));
    const uint32_t first = min(own.from, last);
    const uint64_t whole = static_cast<uint64_t>(own.count) * p.elementSize;
    uint64_t source, target;
    bool inside = offsetWithin(from, p.elementSize, whole, u64From(p.sourceSize), source);
    inside = offsetWithin(to, p.elementSize, placed ? whole : 0, u64From(p.destinationSize), target) && inside;
    Piece piece;
    const uint64_t skip = static_cast<uint64_t>(first) * p.elementSize;
    piece.source = u64From(p.source) + source + skip;
    piece.target = u64From(p.destination) + target + skip;
    piece.bytes = inside ? (last - first) * p.elementSize : 0;
    skipped = !inside && last != first;
    return piece;
}

__device__ Run runOf(const IntervalParams& p, const Piece& piece, uint32_t start)
{
    Run run;
    run.target = piece.target;
    run.source = piece.source - run.head();
    run.end = run.head() + piece.bytes;
    const uint64_t lowest = run.source & ~15ull, begin = u64From(p.source);
    const uint64_t highest = lowest + ((run.end + 15) & ~15u) + 16;
    run.start = start | (lowest >= begin && highest <= begin + u64From(p.sourceSize) ? 1u << 31 : 0);
    return run;
}

__device__ void copyUnits(const MoveShared& shared, uint32_t units)
{
    for (uint32_t first = threadIdx.x; first < units; first += kAtOnce * kIntervalThreads) {
        uint4 value[kAtOnce];
#pragma unroll
        for (uint32_t i = 0; i < kAtOnce; ++i) {
            const uint32_t unit = first + i * kIntervalThreads;
            if (unit < units) value[i] = shared.runs[shared.marks.rank(unit)].loadNumbered(unit);
        }
#pragma unroll
        for (uint32_t i = 0; i < kAtOnce; ++i) {
            const uint32_t unit = first + i * kIntervalThreads;
            if (unit < units) shared.runs[shared.marks.rank(unit)].storeNumbered(unit, value[i]);
        }
    }
}

// Insert: the item that goes behind run own.index.
__device__ void insertItem(const IntervalParams& p, const Interval& own)
{
    const uint64_t place = static_cast<uint64_t>(own.before) + own.count + own.index;
    if (place >= p.capacity) return;
    const uint8_t* item = pointerFrom<const uint8_t>(p.gather) + own.index * p.elementSize;
    uint8_t* target = pointerFrom<uint8_t>(p.destination) + place * p.elementSize;
    if ((p.elementSize | reinterpret_cast<uintptr_t>(item) | reinterpret_cast<uintptr_t>(target)) % 4 == 0) {
        for (uint32_t i = 0; i < p.elementSize / 4; ++i)
            reinterpret_cast<uint32_t*>(target)[i] = reinterpret_cast<const uint32_t*>(item)[i];
    } else {
        for (uint32_t i = 0; i < p.elementSize; ++i)
            target[i] = item[i];
    }
}

template <uint32_t Form, uint32_t Kind>
__global__ void __launch_bounds__(kIntervalThreads) moveKernel(IntervalParams p)
{
    __shared__ MoveShared shared;
    IntervalShare<Form> share(p, shared.intervals);
    bool anySkipped = false;
    while (share.more()) {
        shared.marks.clear();
        const Interval own = share.next();
        bool skipped;
        const Piece piece = pieceOf<Kind>(p, own, skipped);
        anySkipped = anySkipped || skipped;

        const uint32_t units =
            piece.bytes == 0 ? 0 : ((static_cast<uint32_t>(piece.target) & 15) + piece.bytes + 15) / 16;
        uint32_t total;
        const uint32_t before = share.scan.exclusive(units | (units != 0 ? 1u << 16 : 0), total);
        if (units != 0) {
            shared.runs[before >> 16] = runOf(p, piece, before & 0xffff);
            shared.marks.set(before & 0xffff);
        }
        shared.marks.count(share.scan);
        copyUnits(shared, total & 0xffff);
        if constexpr (Kind == SLUICE_INTERVAL_KIND_INSERT) {
            if (own.owned && own.index < share.list.listed) insertItem(p, own);
        }
        __syncthreads();
    }
    if (anySkipped && u64From(p.result_) != 0)
        atomicOr(pointerFrom<uint32_t>(p.result_) + 1, SLUICE_INTERVAL_FLAG_SKIPPED);
}

template <uint32_t Form>
void (*kernelFor(uint32_t kind))(IntervalParams)
{
    switch (kind) {
    case SLUICE_INTERVAL_KIND_MOVE:
        return moveKernel<Form, SLUICE_INTERVAL_KIND_MOVE>;
    case SLUICE_INTERVAL_KIND_GATHER:
        return moveKernel<Form, SLUICE_INTERVAL_KIND_GATHER>;
    default:
        return moveKernel<Form, SLUICE_INTERVAL_KIND_SCATTER>;
    }
}

} // namespace

cudaError_t loadIntervalMove()
{
    cudaError_t error = load(moveKernel<SLUICE_INTERVAL_REMOVED, SLUICE_INTERVAL_KIND_REMOVE>);
    if (error == cudaSuccess) error = load(moveKernel<SLUICE_INTERVAL_INSERTED, SLUICE_INTERVAL_KIND_INSERT>);
    for (uint32_t kind = SLUICE_INTERVAL_KIND_MOVE; kind <= SLUICE_INTERVAL_KIND_SCATTER; ++kind) {
        if (error == cudaSuccess) error = load(kernelFor<SLUICE_INTERVAL_COUNTS>(kind));
        if (error == cudaSuccess) error = load(kernelFor<SLUICE_INTERVAL_OFFSETS>(kind));
    }
    return error;
}

cudaError_t launchIntervalMove(cudaStream_t stream, const IntervalParams& params, uint32_t blocks)
{
    const uint32_t form = params.form & 0xff, kind = params.form >> 8 & 0xff;
    const auto kernel = form == SLUICE_INTERVAL_COUNTS    ? kernelFor<SLUICE_INTERVAL_COUNTS>(kind)
                        : form == SLUICE_INTERVAL_OFFSETS ? kernelFor<SLUICE_INTERVAL_OFFSETS>(kind)
                        : form == SLUICE_INTERVAL_REMOVED
                            ? moveKernel<SLUICE_INTERVAL_REMOVED, SLUICE_INTERVAL_KIND_REMOVE>
                            : moveKernel<SLUICE_INTERVAL_INSERTED, SLUICE_INTERVAL_KIND_INSERT>;
    return launch(stream, kernel, blocks, kIntervalThreads, params);
}

} // namespace sluice
