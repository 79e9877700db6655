// SPDX-License-Identifier: MIT OR Apache-2.0
// Moves runs of bytes: interval move, gather and scatter, bulk remove and insert.
// shaders/interval_move.comp explains the method, and both kernels share the text of
// shaders/lib/kernels/interval_runs.h. Here one kernel chooses between words and units for each
// round; Vulkan has a separate pipeline for short runs.
#include "cuda/kernels.h"
#include "cuda/lib/compat.cuh"
#include "cuda/lib/intervals.cuh"
#include "cuda/lib/units.cuh"
#include "cuda/tuning.h"
#include "kernels/interval_runs.h"

namespace sluice {
namespace {

// A *run* is what a warp copies of an interval in a round. A *sector* is 32 aligned bytes of the
// destination. A round copies its runs in one of two ways:
// - as words, if they are short: 8 lanes copy a run's part of a sector, a word each, so that one
//   instruction writes all of that part
// - as units: 2 lanes copy each whole sector of a run, 16 bytes each; the parts of sectors at the
//   run's ends are copied as words
//
// How many units and words a lane has in flight, and how many runs copyEnds does at once:
constexpr uint32_t kUnitsAtOnce = 4, kWordsAtOnce = 6, kRunsAtOnce = 4;

// The runs of a round in shared memory. Each warp has such a structure.
struct MoveShared {
    Marks marks;
    uint4 places[kWarpSize]; // a Run's source and target
    uint2 spans[kWarpSize];  // a Run's end | lead << 27, start | shift << 16

    __device__ void put(uint32_t place, const Run& run)
    {
        places[place] =
            make_uint4(static_cast<uint32_t>(run.source), static_cast<uint32_t>(run.source >> 32),
                       static_cast<uint32_t>(run.target), static_cast<uint32_t>(run.target >> 32));
        spans[place] = make_uint2(run.end | run.lead << 27, run.start | run.shift << 16);
    }
    __device__ Run get(uint32_t place) const
    {
        const uint4 ends = places[place];
        const uint2 span = spans[place];
        return {static_cast<uint64_t>(ends.y) << 32 | ends.x,
                static_cast<uint64_t>(ends.w) << 32 | ends.z,
                span.y >> 16,
                span.x >> 27,
                span.x & ((1u << 27) - 1),
                span.y & 0xffff};
    }
};

// Returns entry i of a list of positions, each of which has 4 or 8 bytes.
__device__ uint64_t positionOf(const IntervalParams& p, U64Pair list, uint32_t i)
{
    return p.positionBytes == 8 ? __ldg(pointerFrom<const unsigned long long>(list) + i)
                                : __ldg(pointerFrom<const uint32_t>(list) + i);
}

// The entries of the lists of source and destination positions for a lane's interval of the next
// round. They are loaded together with the interval's length.
struct Fetched {
    uint64_t from, to;
};

template <uint32_t Kind>
__device__ Fetched fetch(const IntervalParams& p, uint32_t index, uint32_t intervals)
{
    constexpr bool gathered =
        Kind == SLUICE_INTERVAL_KIND_MOVE || Kind == SLUICE_INTERVAL_KIND_GATHER;
    constexpr bool placed =
        Kind == SLUICE_INTERVAL_KIND_MOVE || Kind == SLUICE_INTERVAL_KIND_SCATTER;
    Fetched fetched = {0, 0};
    if (gathered && index < intervals) fetched.from = positionOf(p, p.gather, index);
    if (placed && index < intervals) fetched.to = positionOf(p, p.scatter, index);
    return fetched;
}

// Returns what this warp copies of the interval `own`. Sets `skipped` if the interval is not inside
// the buffers.
template <uint32_t Kind>
__device__ Piece pieceOf(const IntervalParams& p, const Interval& own, const Fetched& fetched,
                         bool& skipped)
{
    constexpr bool gathered =
        Kind == SLUICE_INTERVAL_KIND_MOVE || Kind == SLUICE_INTERVAL_KIND_GATHER;
    constexpr bool placed =
        Kind == SLUICE_INTERVAL_KIND_MOVE || Kind == SLUICE_INTERVAL_KIND_SCATTER;
    uint64_t from = gathered ? fetched.from : own.before, to = placed ? fetched.to : own.before;
    if constexpr (Kind == SLUICE_INTERVAL_KIND_REMOVE) from += own.index;
    if constexpr (Kind == SLUICE_INTERVAL_KIND_INSERT) to += own.index;

    // Elements that do not fit into the destination are dropped. If a list gives the destinations,
    // the first p.capacity elements of all intervals are kept. Otherwise the elements whose
    // destination is below p.capacity are kept.
    const uint64_t room = subSaturated(p.capacity, placed ? own.before : to);
    const uint32_t bound = static_cast<uint32_t>(min(static_cast<uint64_t>(own.count), room));
    const uint32_t last = min(own.to, bound), first = min(own.from, last);
    const uint64_t whole = static_cast<uint64_t>(own.count) * p.elementSize;
    uint64_t source = 0, target = 0;
    bool inside = offsetWithin(from, p.elementSize, whole, u64From(p.sourceSize), source);
    inside =
        offsetWithin(to, p.elementSize, placed ? whole : 0, u64From(p.destinationSize), target) &&
        inside;
    skipped = !inside && last != first;
    if (skipped || last == first) return {0, 0, 0};
    target += u64From(p.destination);
    const uint64_t begin =
        cutAt(target, first * uint64_t{p.elementSize}, bound * uint64_t{p.elementSize});
    const uint64_t end =
        cutAt(target, last * uint64_t{p.elementSize}, bound * uint64_t{p.elementSize});
    return {u64From(p.source) + source + begin, target + begin, static_cast<uint32_t>(end - begin)};
}

// A word that is being copied: a word of the target, and the one or two words of the source that
// have its bytes. Aligned means that source and target have the same alignment and the word is
// whole.
template <bool Aligned>
struct Word {
    uint32_t* target;
    uint32_t low, high;
    uint32_t shift;    // bits by which the source's words are shifted
    uint32_t from, to; // bytes from .. to - 1 of the word are copied; none if from >= to

    // Loads the word at byte `place` of a run. Only bytes begin .. end - 1 of the run are copied;
    // if the word has none of them, nothing is loaded.
    __device__ void load(const Run& run, uint32_t place, uint32_t begin, uint32_t end)
    {
        const uint32_t* source =
            reinterpret_cast<const uint32_t*>(run.source) + (run.shift + place) / 4;
        target = globalPointer<uint32_t>(run.target) + place / 4;
        from = max(begin, place) - place;
        to = min(max(end, place) - place, 4u);
        const uint32_t skipped = Aligned ? 0 : run.shift % 4;
        shift = 8 * skipped;
        low = high = 0;
        if (from < to && skipped + from < 4) low = loadAhead(source);
        if (!Aligned && from < to && skipped + to > 4) high = loadAhead(source + 1);
    }
    __device__ void store() const
    {
        if constexpr (Aligned) {
            if (from < to) __stwb(target, low);
        } else {
            if (from < to)
                storeWord(reinterpret_cast<uint64_t>(target), __funnelshift_r(low, high, shift),
                          from, to);
        }
    }
};

// Copies all sectors of a round as words, 4 sectors at a time. `pieces` is the number of sectors.
template <bool Aligned>
__device__ void copyWords(const MoveShared& shared, uint32_t pieces)
{
    constexpr uint32_t atOnce = Aligned ? kWordsAtOnce : kWordsAtOnce / 2;
    for (uint32_t first = 0; first < pieces; first += 4 * atOnce) {
        Word<Aligned> words[atOnce];
#pragma unroll
        for (uint32_t i = 0; i < atOnce; ++i) {
            const uint32_t piece = first + 4 * i + laneIndex() / 8;
            const Run run = shared.get(shared.marks.rank(min(piece, pieces - 1)));
            words[i].load(run, kSector * (piece - run.start) + laneIndex() % 8 * 4, run.lead,
                          run.end);
        }
#pragma unroll
        for (uint32_t i = 0; i < atOnce; ++i)
            words[i].store();
    }
}

// Copies the parts of sectors at the ends of kRunsAtOnce runs, from run `first` on. For each run, 8
// lanes take the part before its first whole sector, and 8 lanes the part behind its last one.
// There are `runs` runs in all; the first withUnits of them have whole sectors.
template <bool Aligned>
__device__ void copyEnds(const MoveShared& shared, uint32_t first, uint32_t runs,
                         uint32_t withUnits)
{
    constexpr uint32_t atOnce = kRunsAtOnce / 2;
    Word<Aligned> words[atOnce];
#pragma unroll
    for (uint32_t i = 0; i < atOnce; ++i) {
        const uint32_t index = first + 2 * i + laneIndex() / 16, place = laneIndex() % 8 * 4;
        const bool behind = laneIndex() % 16 >= 8;
        const uint32_t fromBack = min(index - withUnits, kWarpSize - 1);
        const Run run = shared.get(index < withUnits ? index : kWarpSize - 1 - fromBack);
        const uint32_t end = index >= runs ? 0 : behind ? run.end : bodyBegin(run);
        words[i].load(run, behind ? bodyEnd(run) + place : place, behind ? 0 : run.lead, end);
    }
#pragma unroll
    for (uint32_t i = 0; i < atOnce; ++i)
        words[i].store();
}

// Copies all whole sectors of a round as units, 16 sectors at a time. The ends of a run are copied
// soon after its sectors, while the source is still in the cache.
__device__ void copyUnits(const MoveShared& shared, uint32_t pieces, uint32_t runs,
                          uint32_t withUnits, bool ends, bool aligned)
{
    uint32_t first = 0, ended = ends ? 0 : runs;
    do {
        if (first < pieces) {
            uint4 low[kUnitsAtOnce], high[kUnitsAtOnce];
            uint4* target[kUnitsAtOnce];
            uint32_t shift[kUnitsAtOnce];
#pragma unroll
            for (uint32_t i = 0; i < kUnitsAtOnce; ++i) {
                const uint32_t piece = first + 16 * i + laneIndex() / 2;
                const Run run = shared.get(shared.marks.rank(min(piece, pieces - 1)));
                const uint32_t unit =
                    bodyBegin(run) / 16 + (piece - run.start) * 2 + laneIndex() % 2;
                const uint4* source = reinterpret_cast<const uint4*>(run.source) + unit;
                target[i] = piece < pieces ? reinterpret_cast<uint4*>(run.target) + unit : nullptr;
                shift[i] = run.shift;
                if (piece < pieces) low[i] = loadAhead(source);
                if (piece < pieces && run.shift != 0) high[i] = loadAhead(source + 1);
            }
#pragma unroll
            for (uint32_t i = 0; i < kUnitsAtOnce; ++i) {
                if (target[i] != nullptr)
                    __stwb(target[i],
                           shift[i] != 0 ? funnelShift(low[i], high[i], shift[i]) : low[i]);
            }
        }
        first += 16 * kUnitsAtOnce;
        // The ends of the first `done` runs can be copied now, since their whole sectors are
        // stored.
        const uint32_t done =
            first < pieces ? uniform(shared.marks.rank(first - 1)) : runs + kRunsAtOnce - 1;
        for (; ended + kRunsAtOnce <= done; ended += kRunsAtOnce) {
            if (aligned) {
                copyEnds<true>(shared, ended, runs, withUnits);
            } else {
                copyEnds<false>(shared, ended, runs, withUnits);
            }
        }
    } while (first < pieces);
}

// Copies what the warp's 32 lanes have to copy in this round, as Runs. `piece` is this lane's.
__device__ void copyRuns(const IntervalParams& p, MoveShared& shared, const Piece& piece)
{
    const bool any = piece.bytes != 0;
    const uint32_t anys = __ballot_sync(kAllLanes, any), runs = static_cast<uint32_t>(__popc(anys));
    if (runs == 0) return;
    Run run = runOf(piece);
    const uint64_t lowest = piece.source & ~15ull,
                   highest = ((piece.source + piece.bytes) & ~15ull) + 16;
    // A unit near the ends of the source may reach outside of the source. In that case runs are
    // copied as words, and only words inside the source are loaded.
    const bool within =
        lowest >= u64From(p.source) && highest <= u64From(p.source) + u64From(p.sourceSize);

    const bool ends = __any_sync(kAllLanes, any && (run.lead | run.end % kSector) != 0);
    const bool asUnits = __all_sync(kAllLanes, !any || within) &&
                         (!ends || uniform(warpSum(piece.bytes)) >= runs * kLongRunBytes);
    const uint32_t sectors =
        asUnits ? (bodyEnd(run) - bodyBegin(run)) / kSector : (run.end + kSector - 1) / kSector;
    const uint32_t pieces = any ? sectors : 0, inclusive = warpInclusiveSum(pieces);
    const uint32_t total = __shfl_sync(kAllLanes, inclusive, kWarpSize - 1);
    run.start = inclusive - pieces;

    // Runs with whole sectors are put into shared memory from the front, in their order. Runs that
    // consist of ends only are put there from the back.
    const uint32_t with = __ballot_sync(kAllLanes, pieces != 0), below = lanesBelow();
    shared.marks.clear();
    if (pieces != 0) shared.marks.set(run.start);
    if (any)
        shared.put(static_cast<uint32_t>(pieces != 0 ? __popc(with & below)
                                                     : 31 - __popc(anys & ~with & below)),
                   run);
    shared.marks.count(0);
    const uint32_t low =
        static_cast<uint32_t>(piece.source) | static_cast<uint32_t>(piece.target) | piece.bytes;
    const bool aligned = !__any_sync(kAllLanes, any && low % 4 != 0);
    if (asUnits) {
        const uint32_t withUnits = static_cast<uint32_t>(__popc(with));
        copyUnits(shared, total, runs, withUnits, ends, aligned);
    } else {
        if (aligned) {
            copyWords<true>(shared, total);
        } else {
            copyWords<false>(shared, total);
        }
    }
    __syncwarp();
}

// Copies the item that is inserted behind the run of items with index own.index.
__device__ void insertItem(const IntervalParams& p, const Interval& own)
{
    const uint64_t place = static_cast<uint64_t>(own.before) + own.count + own.index;
    if (place >= p.capacity) return;
    const uint8_t* item =
        pointerFrom<const uint8_t>(p.gather) + uint64_t{own.index} * p.elementSize;
    uint8_t* target = pointerFrom<uint8_t>(p.destination) + place * p.elementSize;
    if ((p.elementSize | reinterpret_cast<uintptr_t>(item) | reinterpret_cast<uintptr_t>(target)) %
            4 ==
        0) {
        for (uint32_t i = 0; i < p.elementSize / 4; ++i)
            reinterpret_cast<uint32_t*>(target)[i] = reinterpret_cast<const uint32_t*>(item)[i];
    } else {
        for (uint32_t i = 0; i < p.elementSize; ++i)
            target[i] = item[i];
    }
}

template <uint32_t Form, uint32_t Kind>
__global__ void __launch_bounds__(kMoveWarps* kWarpSize, kMoveBlocksPerProcessor)
    moveKernel(IntervalParams p)
{
    __shared__ MoveShared shared[kMoveWarps];
    IntervalShare<Form> share(p);
    bool anySkipped = false;
    while (share.more()) {
        const uint32_t index = share.nextIndex(), count = share.lengthOf(index);
        const Fetched fetched = fetch<Kind>(p, index, share.list.intervals);
        const Interval own = share.next(count);
        bool skipped;
        const Piece piece = pieceOf<Kind>(p, own, fetched, skipped);
        anySkipped = anySkipped || skipped;
        copyRuns(p, shared[share.warp], piece);
        if constexpr (Kind == SLUICE_INTERVAL_KIND_INSERT) {
            if (own.owned && own.index + 1 < share.list.intervals) insertItem(p, own);
        }
    }
    if (anySkipped && u64From(p.result_) != 0)
        atomicOr(pointerFrom<uint32_t>(p.result_) + 1, SLUICE_INTERVAL_FLAG_SKIPPED);
}

template <uint32_t Form>
void (*moveKernelFor(uint32_t kind))(IntervalParams)
{
    switch (kind) {
    case SLUICE_INTERVAL_KIND_MOVE: return moveKernel<Form, SLUICE_INTERVAL_KIND_MOVE>;
    case SLUICE_INTERVAL_KIND_GATHER: return moveKernel<Form, SLUICE_INTERVAL_KIND_GATHER>;
    default: return moveKernel<Form, SLUICE_INTERVAL_KIND_SCATTER>;
    }
}

} // namespace

cudaError_t loadIntervalMove(CudaTraits&)
{
    cudaError_t error = load(moveKernel<SLUICE_INTERVAL_REMOVED, SLUICE_INTERVAL_KIND_REMOVE>);
    if (error == cudaSuccess)
        error = load(moveKernel<SLUICE_INTERVAL_INSERTED, SLUICE_INTERVAL_KIND_INSERT>);
    for (uint32_t kind = SLUICE_INTERVAL_KIND_MOVE; kind <= SLUICE_INTERVAL_KIND_SCATTER; ++kind) {
        if (error == cudaSuccess) error = load(moveKernelFor<SLUICE_INTERVAL_COUNTS>(kind));
        if (error == cudaSuccess) error = load(moveKernelFor<SLUICE_INTERVAL_OFFSETS>(kind));
    }
    return error;
}

cudaError_t launchIntervalMove(cudaStream_t stream, const IntervalParams& params, uint32_t blocks)
{
    const uint32_t form = params.form, kind = params.kind;
    const auto kernel = form == SLUICE_INTERVAL_COUNTS ? moveKernelFor<SLUICE_INTERVAL_COUNTS>(kind)
                        : form == SLUICE_INTERVAL_OFFSETS
                            ? moveKernelFor<SLUICE_INTERVAL_OFFSETS>(kind)
                        : form == SLUICE_INTERVAL_REMOVED
                            ? moveKernel<SLUICE_INTERVAL_REMOVED, SLUICE_INTERVAL_KIND_REMOVE>
                            : moveKernel<SLUICE_INTERVAL_INSERTED, SLUICE_INTERVAL_KIND_INSERT>;
    return launch(stream, kernel, blocks * (SLUICE_INTERVAL_SHARES / kMoveWarps),
                  kMoveWarps * kWarpSize, params);
}

} // namespace sluice
