// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of a compaction: comparisons as ranges of unsigned keys, and how large scratch is.
#pragma once

#include <sluice/sluice.h>
#include <sluice/sluice_compact.h>
#include <sluice/sluice_scan.h>

#include <algorithm>

#include "layout/compact.h"
#include "api/plan_scan.h"

namespace sluice {

// BYTES and MASK need the elements only where they are written.
inline bool readsElements(const SluiceCompactInfo& info)
{
    return info.output.size != 0 ||
           (info.test != SLUICE_COMPACT_BYTES && info.test != SLUICE_COMPACT_MASK);
}

inline uint32_t comparedBytes(SluiceValueType type)
{
    return type == SLUICE_VALUE_U8 ? 1 : type == SLUICE_VALUE_U16 ? 2 : valueBytes(type);
}

// Returns the size of an element for the kernels: 4 where they do not read elements.
inline uint32_t compactedBytes(const SluiceCompactInfo& info)
{
    return readsElements(info) ? info.elementSize : 4;
}

// Requirements depend on elementSize even where it is not used, so that they are the same before
// buffers are known.
inline uint32_t requiredBytes(const SluiceCompactInfo& info)
{
    return info.elementSize == 0 ? 4 : info.elementSize;
}

inline SluiceRequirements compactScratch(const SluiceCompactInfo& info, uint32_t tileElements)
{
    return lookbackScratch(scanTiles(info.maxCount, tileElements), 4);
}

inline bool isInPlace(const SluiceCompactInfo& info)
{
    return info.output.size != 0 && info.maxCount != 0 && info.output.handle == info.input.handle &&
           info.output.offset == info.input.offset;
}

// Maps f32 bits to unsigned keys of the same order; -0 is taken for 0.
inline uint32_t floatKey(uint32_t bits)
{
    if (bits == 0x80000000u) bits = 0;
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}

// The keys in [low, low + span], or those outside.
struct KeyRange {
    uint64_t low, span;
    bool outside;
};

inline KeyRange keysThatCompare(SluiceComparison comparison, SluiceValueType type,
                                uint64_t constant)
{
    const bool isFloat = type == SLUICE_VALUE_F32;
    const uint32_t bytes = comparedBytes(type);
    // Infinities are the ends: a NaN's key lies beyond.
    const uint64_t least = isFloat ? floatKey(0xff800000u) : 0;
    const uint64_t greatest = isFloat      ? floatKey(0x7f800000u)
                              : bytes == 8 ? UINT64_MAX
                                           : (uint64_t{1} << bytes * 8) - 1;
    const uint64_t key = isFloat                    ? floatKey(uint32_t(constant))
                         : type == SLUICE_VALUE_I32 ? constant ^ 0x80000000u
                                                    : constant;
    const uint64_t all = bytes == 8 ? UINT64_MAX : UINT32_MAX;
    const KeyRange nothing = {0, all, true};
    const KeyRange everything = {0, all, false};
    if (isFloat && (constant & 0x7fffffff) > 0x7f800000)
        return comparison == SLUICE_COMPARE_NOT_EQUAL ? everything : nothing;
    switch (comparison) {
    case SLUICE_COMPARE_NOT_EQUAL: return {key, 0, true};
    case SLUICE_COMPARE_LESS:
        return key == least ? nothing : KeyRange{least, key - 1 - least, false};
    case SLUICE_COMPARE_LESS_EQUAL: return {least, key - least, false};
    case SLUICE_COMPARE_GREATER:
        return key == greatest ? nothing : KeyRange{key + 1, greatest - key - 1, false};
    case SLUICE_COMPARE_GREATER_EQUAL: return {key, greatest - key, false};
    default: return {key, 0, false};
    }
}

// Sets everything but the addresses and the shares of the workgroups.
inline CompactParams compactParams(const SluiceCompactInfo& info, uint32_t polls)
{
    CompactParams params = {};
    params.maxCount = info.maxCount;
    const uint64_t size = compactedBytes(info);
    params.capacity = uint32_t(std::min<uint64_t>(info.output.size / size, UINT32_MAX));
    params.indexCapacity = uint32_t(std::min<uint64_t>(info.indices.size / 4, UINT32_MAX));
    params.mode = uint32_t(info.test);
    bool invert = (info.flags & SLUICE_COMPACT_DROP) != 0;
    if (info.test == SLUICE_COMPACT_COMPARE) {
        const KeyRange range = keysThatCompare(info.comparison, info.type, info.constant);
        params.low = {uint32_t(range.low), uint32_t(range.low >> 32)};
        params.span = {uint32_t(range.span), uint32_t(range.span >> 32)};
        if (info.type == SLUICE_VALUE_I32)
            params.low.lo ^= 0x80000000u; // keys are elements with the sign flipped: plus 2^31
        invert = invert != range.outside;
        if (info.type == SLUICE_VALUE_F32) params.mode |= SLUICE_COMPACT_MODE_F32;
    }
    if (invert) params.mode |= SLUICE_COMPACT_MODE_INVERT;
    if ((info.flags & SLUICE_COMPACT_PARTITION) != 0) params.mode |= SLUICE_COMPACT_MODE_PARTITION;
    params.polls = polls;
    params.argumentDivisor = std::max(info.argumentDivisor, 1u);
    params.argumentLimit = info.argumentLimit == 0 ? UINT32_MAX : info.argumentLimit;
    return params;
}

// addressOf(buffer) gives a device address, 0 for an empty range. Buffers that the test does not
// read or that have no elements get 0.
template <typename AddressOf>
void setAddresses(CompactParams& params, const SluiceCompactInfo& info, const AddressOf& addressOf)
{
    const auto where = [&](bool used, const SluiceBuffer& buffer) {
        return pair(used && info.maxCount != 0 ? addressOf(buffer) : 0);
    };
    params.input_ = where(readsElements(info), info.input);
    params.selectors = where(info.test == SLUICE_COMPACT_BYTES || info.test == SLUICE_COMPACT_MASK,
                             info.selectors);
    params.output_ = where(true, info.output);
    params.indices = where(true, info.indices);
    params.countBuffer = pair(addressOf(info.count));
    params.resultCount = pair(addressOf(info.resultCount));
    params.argument = pair(addressOf(info.argument));
    params.scratch = pair(addressOf(info.scratch));
}

// Turns a test of 4-byte elements, for zero or by an inverted integer comparison, into a comparison
// that is not inverted, if there is one.
inline void normalizeTest(CompactParams& params)
{
    const uint32_t test = params.mode & SLUICE_COMPACT_MODE_TEST;
    if (test == SLUICE_COMPACT_TEST_NON_ZERO) {
        params.low = {1, 0};
        params.span = {0xfffffffe, 0};
        params.mode += SLUICE_COMPACT_TEST_COMPARE - SLUICE_COMPACT_TEST_NON_ZERO;
    } else if (test != SLUICE_COMPACT_TEST_COMPARE ||
               (params.mode & SLUICE_COMPACT_MODE_F32) != 0) {
        return;
    }
    if ((params.mode & SLUICE_COMPACT_MODE_INVERT) != 0 && params.span.lo != 0xffffffff) {
        params.mode &= ~uint32_t(SLUICE_COMPACT_MODE_INVERT);
        params.low.lo += params.span.lo + 1;
        params.span.lo = 0xfffffffe - params.span.lo;
    }
}

// Describes a backend's kernels for the elements of a command, with the numbers of its tuning.
struct CompactMachine {
    LookbackTuning lookback;
    uint32_t pollsInPlace; // looks at a missing tile where that one cannot be computed instead,
                           // because it may be overwritten
    bool forwardProgress;  // workgroups that have started go on, whatever others do
    bool scanners;         // whether a compaction may have a scanner
    bool lookAhead;        // whether a workgroup may work on two tiles at a time
    uint32_t tileElements; // elements of a workgroup's tile
    uint32_t workgroups;   // that run at the same time, scanner included
    uint32_t tilesPerWorkgroup; // at most where a workgroup may be stopped for its length; 0: any
                                // number
    uint32_t serialTiles;       // tiles of a dispatch where one workgroup does everything
    // The kernels for 16-byte aligned input with one kind of output. 0 elements: there is none.
    uint32_t ringElements;   // elements of a tile that waits in a ring for what lies before it
    uint32_t ringTiles;      // used from this many tiles on
    uint32_t ringWorkgroups; // scanner included
    bool ringNeedsScanner;   // whether it is for lists that are long enough for a scanner
    bool ringCountsAlone;    // whether it may have no output but the count
    uint32_t callElements;   // elements of a tile where all tiles are in flight at once
    uint32_t callTiles;      // used up to this many tiles
};

struct CompactPlan {
    enum class Path {
        serial,
        general,
        ring,
        call
    };
    Path path;
    CompactParams params;        // with mode and workgroups
    CompactParams counting;      // the dispatch before it, which counts, ...
    uint32_t countingWorkgroups; // ... has this many workgroups; 0: there is none
    uint64_t serialDispatches;   // SERIAL: each of serialTiles
};

// Where each tile has a workgroup of its own, the workgroup's index is the tile's, without tickets.
inline void shareOutTiles(CompactParams& params, const CompactMachine& machine, uint64_t tiles,
                          bool scanner, bool inPlace)
{
    uint64_t workgroups = std::min<uint64_t>(tiles, machine.workgroups);
    params.share = 0xffffffffu;
    if (machine.tilesPerWorkgroup != 0) {
        params.share = uint32_t(
            std::min<uint64_t>((tiles + workgroups - 1) / workgroups, machine.tilesPerWorkgroup));
        workgroups = (tiles + params.share - 1) / params.share;
    }
    const bool fits = machine.tilesPerWorkgroup != 0
                          ? workgroups == tiles
                          : tiles + (scanner ? 1 : 0) <= machine.workgroups;
    if (fits && !inPlace) params.mode |= SLUICE_COMPACT_MODE_DIRECT;
    params.workgroups = uint32_t(workgroups + (scanner ? 1 : 0));
}

// `params` has its addresses already. knowsTest(params) says whether the ring kernels have its
// test.
template <typename KnowsTest>
CompactPlan planCompact(const SluiceCompactInfo& info, const CompactParams& params,
                        const CompactMachine& machine, const KnowsTest& knowsTest)
{
    const uint64_t tiles = scanTiles(info.maxCount, machine.tileElements);
    const bool inPlace = isInPlace(info);
    const bool partition = (info.flags & SLUICE_COMPACT_PARTITION) != 0;
    const bool elements = fromPair(params.output_) != 0, indices = fromPair(params.indices) != 0;
    const bool oneOutput = elements != indices;
    const bool ringOutput = oneOutput || (machine.ringCountsAlone && !elements);
    const bool ringInput = !partition && !inPlace && (params.input_.lo & 15) == 0;
    CompactPlan plan = {CompactPlan::Path::general, params, params, 0, 0};

    // In place a missing tile cannot be computed by another workgroup. If workgroups are not known
    // to go on, or must not wait, one workgroup does everything.
    if (inPlace && (!machine.forwardProgress || !mayWait(params.polls))) {
        plan.path = CompactPlan::Path::serial;
        plan.params.mode |= SLUICE_COMPACT_MODE_SERIAL;
        plan.params.workgroups = 1;
        plan.params.share = machine.serialTiles;
        plan.serialDispatches = (tiles + machine.serialTiles - 1) / machine.serialTiles;
        return plan;
    }
    if (inPlace) {
        plan.params.mode |= SLUICE_COMPACT_MODE_IN_PLACE;
        plan.params.polls = machine.pollsInPlace;
    }
    if (partition && tiles > 1) {
        plan.countingWorkgroups = uint32_t(std::min<uint64_t>(tiles, machine.workgroups));
        plan.counting = plan.params;
        plan.counting.mode |= SLUICE_COMPACT_MODE_COUNT;
        plan.counting.workgroups = plan.countingWorkgroups;
    }
    const bool scanner =
        machine.scanners && hasScanner(plan.params.polls, tiles, machine.lookback.scannerTiles);

    if (ringOutput && ringInput && machine.ringElements != 0 && mayWait(params.polls)) {
        CompactParams normal = plan.params;
        normalizeTest(normal);
        const uint64_t ringTiles = scanTiles(info.maxCount, machine.ringElements);
        const uint64_t calls =
            machine.callElements == 0 ? 0 : scanTiles(info.maxCount, machine.callElements);
        const bool ring = ringTiles >= machine.ringTiles && (scanner || !machine.ringNeedsScanner);
        if (knowsTest(normal) && (ring || (calls != 0 && calls <= machine.callTiles))) {
            plan.path = ring ? CompactPlan::Path::ring : CompactPlan::Path::call;
            plan.params = normal;
            plan.params.workgroups =
                ring ? uint32_t(std::min<uint64_t>(ringTiles + 1, machine.ringWorkgroups))
                     : uint32_t(calls);
            if (scanner) plan.params.mode |= SLUICE_COMPACT_MODE_SCANNER;
            return plan;
        }
    }
    if (scanner) plan.params.mode |= SLUICE_COMPACT_MODE_SCANNER;
    shareOutTiles(plan.params, machine, tiles, scanner, inPlace);
    const bool direct = (plan.params.mode & SLUICE_COMPACT_MODE_DIRECT) != 0;
    if (!direct && scanner && oneOutput && !partition && !inPlace && machine.lookAhead)
        plan.params.mode |= SLUICE_COMPACT_MODE_AHEAD;
    return plan;
}

} // namespace sluice
