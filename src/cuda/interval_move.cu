// SPDX-License-Identifier: MIT OR Apache-2.0
// Interval move, gather and scatter, bulk remove and insert; the method is told in shaders/interval_move.comp.
#include "kernels.h"
#include "lib/intervals.cuh"
#include "lib/units.cuh"

namespace sluice {
namespace {

// How a batch is copied, by how long its runs are.
//   words   short runs: most stores are of edges, and a warp should write each 32-byte sector with one instruction
//   units   of 16 bytes, aligned at the destination; the edges, as words, on their own
//   rows    the same, but each run begins a row of 32 units, so that a warp looks up one run for the 32
constexpr uint32_t kShortRun = 160, kLongRun = 512; // bytes, on average
constexpr uint32_t kWords = 0, kUnits = 1, kRows = 2;
constexpr uint32_t kMaxPieces = SLUICE_INTERVAL_TILE_BYTES / 4 + 2 * SLUICE_INTERVAL_BATCH;
constexpr uint32_t kAtOnce = 2;      // units that a thread has in flight
constexpr uint32_t kWordsAtOnce = 4; // words
constexpr uint32_t kEdgesAtOnce = 2; // words of edges
// Blocks a multiprocessor: as many as the registers of the copies allow without spilling any.
template <uint32_t Kind>
constexpr uint32_t kBlocks = Kind == SLUICE_INTERVAL_KIND_INSERT ? 8 : 10;

// Part of an interval.
struct Run {
    uint64_t source, target;
    uint32_t bytes;
    uint32_t start; // its first word, unit or row | 1 << 31: all loads of units are within the source

    __device__ uint32_t number(uint32_t piece) const { return piece - (start & 0x7fffffff); }
    __device__ bool within() const { return start >> 31 != 0; }
    // Bytes before the first unit, and whole units.
    __device__ uint32_t head() const { return min(-static_cast<uint32_t>(target) & 15, bytes); }
    __device__ uint32_t units() const { return (bytes - head()) / 16; }
};

struct MoveShared {
    IntervalShared intervals;
    Marks<kMaxPieces> marks;
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

// Where an interval comes from and goes to, as far as lists say so; loaded early, together with its count.
struct Fetched {
    uint64_t from, to;
};

template <uint32_t Kind>
__device__ Fetched fetch(const IntervalParams& p, uint64_t index, uint64_t intervals)
{
    constexpr bool gathered = Kind == SLUICE_INTERVAL_KIND_MOVE || Kind == SLUICE_INTERVAL_KIND_GATHER;
    constexpr bool placed = Kind == SLUICE_INTERVAL_KIND_MOVE || Kind == SLUICE_INTERVAL_KIND_SCATTER;
    Fetched fetched = {0, 0};
    if (gathered && index < intervals) fetched.from = positionOf(p, p.gather, index);
    if (placed && index < intervals) fetched.to = positionOf(p, p.scatter, index);
    return fetched;
}

// This block's part of an interval.
template <uint32_t Kind>
__device__ Piece pieceOf(const IntervalParams& p, const Interval& own, const Fetched& fetched, bool& skipped)
{
    constexpr bool gathered = Kind == SLUICE_INTERVAL_KIND_MOVE || Kind == SLUICE_INTERVAL_KIND_GATHER;
    constexpr bool placed = Kind == SLUICE_INTERVAL_KIND_MOVE || Kind == SLUICE_INTERVAL_KIND_SCATTER;
    uint64_t from = gathered ? fetched.from : own.before, to = placed ? fetched.to : own.before;
    if constexpr (Kind == SLUICE_INTERVAL_KIND_REMOVE) from += own.index;
    if constexpr (Kind == SLUICE_INTERVAL_KIND_INSERT) to += own.index;

    // What is dropped: past the destination, by number or, where places follow from the order, by place.
    const uint64_t room = subSaturated(p.capacity, placed ? own.before : to);
    const uint32_t last = static_cast<uint32_t>(min(static_cast<uint64_t>(own.to), room));
    const uint32_t first = min(own.from, last);
    const uint64_t whole = static_cast<uint64_t>(own.count) * p.elementSize;
    uint64_t source = 0, target = 0;
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

// A word or unit at the destination, where its bytes come from, and which of them are the run's; from == to: none.
struct Place {
    uint64_t source, target;
    uint32_t from, to;
};

// Aligned: all runs of the batch are whole words at both ends.
template <bool Aligned>
__device__ Place wordPlace(const MoveShared& shared, uint32_t word)
{
    const Run& run = shared.runs[shared.marks.rank(word)];
    const uint32_t place = 4 * run.number(word);
    if constexpr (Aligned) return {run.source + place, run.target + place, 0, 4};
    const uint32_t head = static_cast<uint32_t>(run.target) & 3;
    return {run.source - head + place, run.target - head + place, place == 0 ? head : 0,
            min(run.bytes + head - place, 4u)};
}

template <bool Aligned>
__device__ void copyWords(const MoveShared& shared, uint32_t words)
{
    for (uint32_t first = threadIdx.x; first < words; first += kWordsAtOnce * kIntervalThreads) {
        uint32_t value[kWordsAtOnce];
#pragma unroll
        for (uint32_t i = 0; i < kWordsAtOnce; ++i) {
            const Place word = wordPlace<Aligned>(shared, min(first + i * kIntervalThreads, words - 1));
            value[i] = Aligned ? __ldg(reinterpret_cast<const uint32_t*>(word.source)) : beginWord(word.source, word.from);
        }
#pragma unroll
        for (uint32_t i = 0; i < kWordsAtOnce; ++i) {
            if (first + i * kIntervalThreads >= words) break;
            const Place word = wordPlace<Aligned>(shared, first + i * kIntervalThreads);
            if constexpr (Aligned) {
                *reinterpret_cast<uint32_t*>(word.target) = value[i];
            } else {
                storeWord(word.target, endWord(word.source, word.to, value[i]), word.from, word.to);
            }
        }
    }
}

// Unit `lane` of a row.
template <uint32_t Mode>
__device__ Place unitPlace(const MoveShared& shared, uint32_t row, uint32_t pieces, bool& within)
{
    const uint32_t piece = Mode == kRows ? row : row * 32 + laneIndex();
    const Run& run = shared.runs[shared.marks.rank(min(piece, pieces - 1))];
    const uint32_t head = run.head();
    uint32_t unit = run.number(piece);
    // A row begins at a cache line: the first one is perhaps not all the run's.
    if (Mode == kRows) unit = unit * 32 + laneIndex() - (static_cast<uint32_t>(run.target + head) / 16 & 7);
    within = run.within();
    const uint32_t place = head + 16 * unit;
    return {run.source + place, run.target + place, 0, piece < pieces && unit < run.units() ? 16u : 0u};
}

// kAtOnce rows of one run.
__device__ void copyRows(const MoveShared& shared, uint32_t row)
{
    const Run& run = shared.runs[shared.marks.rank(row)];
    const uint32_t head = run.head(), units = run.units();
    const uint32_t first = run.number(row) * 32 + laneIndex() - (static_cast<uint32_t>(run.target + head) / 16 & 7);
    const uint64_t source = run.source + head + 16 * static_cast<int64_t>(static_cast<int32_t>(first));
    uint4* target = reinterpret_cast<uint4*>(run.target + head) + static_cast<int32_t>(first);
    uint4 value[kAtOnce];
    if (run.within()) {
#pragma unroll
        for (uint32_t i = 0; i < kAtOnce; ++i) {
            if (first + 32 * i < units) value[i] = beginUnit(source + 512 * i);
        }
#pragma unroll
        for (uint32_t i = 0; i < kAtOnce; ++i) {
            if (first + 32 * i < units) target[32 * i] = endUnit(source + 512 * i, value[i]);
        }
    } else {
        for (uint32_t i = 0; i < kAtOnce; ++i) {
            if (first + 32 * i < units) target[32 * i] = loadBytes(source + 512 * i, 16);
        }
    }
}

template <uint32_t Mode>
__device__ void copyUnits(const MoveShared& shared, uint32_t pieces)
{
    // A warp takes rows of 32 units, kAtOnce of them at a time.
    const uint32_t rows = Mode == kRows ? pieces : (pieces + 31) / 32;
    for (uint32_t row = warpIndex() * kAtOnce; row < rows; row += kIntervalWarps * kAtOnce) {
        uint4 value[kAtOnce];
        bool within;
        if (Mode == kRows && (shared.marks.bits[row / 32] >> row % 32 & ((1u << kAtOnce) - 2)) == 0) {
            copyRows(shared, row);
            continue;
        }
#pragma unroll
        for (uint32_t i = 0; i < kAtOnce; ++i) {
            const Place unit = unitPlace<Mode>(shared, row + i, pieces, within);
            if (unit.to != 0 && within) value[i] = beginUnit(unit.source);
        }
#pragma unroll
        for (uint32_t i = 0; i < kAtOnce; ++i) {
            const Place unit = unitPlace<Mode>(shared, row + i, pieces, within);
            if (unit.to != 0)
                *reinterpret_cast<uint4*>(unit.target) =
                    within ? endUnit(unit.source, value[i]) : loadBytes(unit.source, 16);
        }
    }
}

// Word `slot` % 8 of the edges of a run: the first four words stand before its first unit, the others after its last.
__device__ Place edgePlace(const MoveShared& shared, uint32_t slot, uint32_t withUnits)
{
    const uint32_t index = slot / 8;
    const Run& run = shared.runs[index < withUnits ? index : SLUICE_INTERVAL_BATCH - 1 - (index - withUnits)];
    // Counted from the aligned unit that holds the run's beginning.
    const uint32_t lead = static_cast<uint32_t>(run.target) & 15, head = run.head();
    const bool behind = slot % 8 >= 4;
    const uint32_t begin = behind ? lead + head + 16 * run.units() : lead;
    const uint32_t end = behind ? lead + run.bytes : lead + head;
    const uint32_t place = (begin & ~15u) + 4 * (slot % 4);
    return {run.source - lead + place, run.target - lead + place, max(begin, place) - place,
            end > place ? min(end - place, 4u) : 0};
}

__device__ void copyEdges(const MoveShared& shared, uint32_t runs, uint32_t withUnits)
{
    for (uint32_t first = threadIdx.x; first < 8 * runs; first += kEdgesAtOnce * kIntervalThreads) {
        uint32_t value[kEdgesAtOnce];
#pragma unroll
        for (uint32_t i = 0; i < kEdgesAtOnce; ++i) {
            const Place word = edgePlace(shared, min(first + i * kIntervalThreads, 8 * runs - 1), withUnits);
            if (word.from < word.to) value[i] = beginWord(word.source, word.from);
        }
#pragma unroll
        for (uint32_t i = 0; i < kEdgesAtOnce; ++i) {
            if (first + i * kIntervalThreads >= 8 * runs) break;
            const Place word = edgePlace(shared, first + i * kIntervalThreads, withUnits);
            if (word.from < word.to)
                storeWord(word.target, endWord(word.source, word.to, value[i]), word.from, word.to);
        }
    }
}

// Pieces of a batch's runs in one mode.
__device__ uint32_t piecesOf(const Run& run, uint32_t mode)
{
    if (run.bytes == 0) return 0;
    const uint32_t target = static_cast<uint32_t>(run.target);
    if (mode == kWords) return (target % 4 + run.bytes + 3) / 4;
    if (mode == kUnits) return run.units();
    return run.units() == 0 ? 0 : ((target + run.head()) / 16 % 8 + run.units() + 31) / 32;
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
__global__ void __launch_bounds__(kIntervalThreads, kBlocks<Kind>) moveKernel(IntervalParams p)
{
    __shared__ MoveShared shared;
    IntervalShare<Form> share(p, shared.intervals);
    bool anySkipped = false;
    while (share.more()) {
        shared.marks.clear();
        const Fetched fetched = fetch<Kind>(p, share.nextIndex(), shared.intervals.intervals);
        const Interval own = share.next();
        bool skipped;
        const Piece piece = pieceOf<Kind>(p, own, fetched, skipped);
        anySkipped = anySkipped || skipped;

        Run run = {piece.source, piece.target, piece.bytes, 0};
        // Runs, those with edges, those that are not whole words, and bytes.
        const uint32_t edges = run.head() + 16 * run.units() == run.bytes && run.head() == 0 ? 0 : 1;
        const uint32_t odd = ((run.bytes | static_cast<uint32_t>(run.target) | static_cast<uint32_t>(run.source)) & 3) != 0;
        uint64_t sums;
        blockExclusive<uint64_t>(
            run.bytes == 0 ? 0 : static_cast<uint64_t>(run.bytes) << 32 | odd << 20 | edges << 10 | 1, sums,
            shared.intervals.sums64[1]);
        const uint32_t bytes = static_cast<uint32_t>(sums >> 32), runs = static_cast<uint32_t>(sums) & 0x3ff;
        const uint32_t edged = static_cast<uint32_t>(sums) >> 10 & 0x3ff;
        const bool aligned = (static_cast<uint32_t>(sums) >> 20) == 0;
        const uint32_t mode = bytes < edged * kShortRun ? kWords : bytes < runs * kLongRun ? kUnits : kRows;

        const uint32_t pieces = piecesOf(run, mode);
        uint32_t total;
        const uint32_t before = blockExclusive(
            run.bytes == 0 ? 0 : pieces | (pieces != 0 ? 1u << 16 : 1u << 24), total, shared.intervals.sums[1]);
        if (run.bytes != 0) {
            const uint64_t lowest = run.source & ~15ull, highest = ((run.source + run.bytes) & ~15ull) + 16;
            const bool within = lowest >= u64From(p.source) && highest <= u64From(p.source) + u64From(p.sourceSize);
            run.start = (before & 0xffff) | (within ? 1u << 31 : 0);
            // Runs with pieces from the front on, by rank; runs that are nothing but edges from the back on.
            shared.runs[pieces != 0 ? before >> 16 & 0xff : SLUICE_INTERVAL_BATCH - 1 - (before >> 24)] = run;
        }
        if (pieces != 0) shared.marks.set(before & 0xffff);
        shared.marks.count(shared.intervals);
        if (mode == kWords) {
            if (aligned) copyWords<true>(shared, total & 0xffff);
            else copyWords<false>(shared, total & 0xffff);
        } else {
            if (mode == kUnits) copyUnits<kUnits>(shared, total & 0xffff);
            else copyUnits<kRows>(shared, total & 0xffff);
            if (edged != 0) copyEdges(shared, runs, total >> 16 & 0xff);
        }
        if constexpr (Kind == SLUICE_INTERVAL_KIND_INSERT) {
            if (own.owned && own.index + 1 < shared.intervals.intervals) insertItem(p, own);
        }
        __syncthreads();
    }
    if (anySkipped && u64From(p.result_) != 0)
        atomicOr(pointerFrom<uint32_t>(p.result_) + 1, SLUICE_INTERVAL_FLAG_SKIPPED);
}

template <uint32_t Form>
void (*moveKernelFor(uint32_t kind))(IntervalParams)
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
        if (error == cudaSuccess) error = load(moveKernelFor<SLUICE_INTERVAL_COUNTS>(kind));
        if (error == cudaSuccess) error = load(moveKernelFor<SLUICE_INTERVAL_OFFSETS>(kind));
    }
    return error;
}

cudaError_t launchIntervalMove(cudaStream_t stream, const IntervalParams& params, uint32_t blocks)
{
    const uint32_t form = params.form & 0xff, kind = params.form >> 8 & 0xff;
    const auto kernel = form == SLUICE_INTERVAL_COUNTS    ? moveKernelFor<SLUICE_INTERVAL_COUNTS>(kind)
                        : form == SLUICE_INTERVAL_OFFSETS ? moveKernelFor<SLUICE_INTERVAL_OFFSETS>(kind)
                        : form == SLUICE_INTERVAL_REMOVED
                            ? moveKernel<SLUICE_INTERVAL_REMOVED, SLUICE_INTERVAL_KIND_REMOVE>
                            : moveKernel<SLUICE_INTERVAL_INSERTED, SLUICE_INTERVAL_KIND_INSERT>;
    return launch(stream, kernel, blocks, kIntervalThreads, params);
}

} // namespace sluice
