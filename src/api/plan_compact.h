// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of a compaction. Represents comparisons as ranges of unsigned keys, and computes the
// size of scratch.
#pragma once

#include <sluice/sluice.h>
#include <sluice/sluice_compact.h>
#include <sluice/sluice_scan.h>

#include <algorithm>

#include "layout/compact.h"
#include "api/plan_scan.h"

namespace sluice {

// The tests BYTES and MASK do not read the elements. They are needed only if they are written.
inline bool readsElements(const SluiceCompactInfo& info)
{
    return info.output.size != 0 ||
           (info.test != SLUICE_COMPACT_BYTES && info.test != SLUICE_COMPACT_MASK);
}

inline uint32_t comparedBytes(SluiceValueType type)
{
    return type == SLUICE_VALUE_U8 ? 1 : type == SLUICE_VALUE_U16 ? 2 : valueBytes(type);
}

// Returns the element size for the kernels; 4 if they do not read elements.
inline uint32_t compactedBytes(const SluiceCompactInfo& info)
{
    return readsElements(info) ? info.elementSize : 4;
}

// Requirements depend on elementSize even if it is not used. They can therefore be queried before
// the buffers are known, and do not change later.
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

// Maps the bits of an f32 to an unsigned key, so that keys have the order of the values. -0 is
// treated as 0.
inline uint32_t floatKey(uint32_t bits)
{
    if (bits == 0x80000000u) bits = 0;
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}

// The keys inside [low, low + span], or those outside that range.
struct KeyRange {
    uint64_t low, span;
    bool outside;
};

inline KeyRange keysThatCompare(SluiceComparison comparison, SluiceValueType type,
                                uint64_t constant)
{
    const bool isFloat = type == SLUICE_VALUE_F32;
    const uint32_t bytes = comparedBytes(type);
    // The infinities have the least and the greatest key, so the keys of NaNs lie outside.
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

// Sets all members except the addresses and the division of work among workgroups.
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
            params.low.lo ^= 0x80000000u; // a key is its element with the sign bit flipped
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

// Normalizes a test of 4-byte elements: converts a test for nonzero, or an inverted integer
// comparison, to a comparison that is not inverted, if an equivalent one exists.
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

// Describes a backend's kernels for the element size of a command, with the numbers of its tuning.
struct CompactMachine {
    LookbackTuning lookback;
    // The number of times that a workgroup polls a missing tile that it cannot compute instead,
    // because its input may be overwritten.
    uint32_t pollsInPlace;
    bool forwardProgress;  // started workgroups always make progress
    bool scanners;         // whether a compaction may have a scanner
    bool lookAhead;        // whether a workgroup may work on two tiles at a time
    uint32_t tileElements; // elements of a workgroup's tile
    uint32_t workgroups;   // that run at the same time, including the scanner
    // The most, where the system may stop a workgroup that runs for long; 0: no limit.
    uint32_t tilesPerWorkgroup;
    uint32_t serialTiles; // tiles per dispatch where one workgroup does everything
    // The ring and call kernels, for 16-byte aligned input and one kind of output. 0 elements:
    // there is no such kernel.
    uint32_t ringElements;   // per tile; a tile waits in a ring for the tiles before it
    uint32_t ringTiles;      // used from this many tiles on
    uint32_t ringWorkgroups; // including the scanner
    bool ringNeedsScanner;   // whether it is used only with a scanner
    bool ringCountsAlone;    // whether it may write nothing but the count
    uint32_t callElements;   // per tile; all tiles are in flight at once
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
    CompactParams params;        // including `mode` and `workgroups`
    CompactParams counting;      // of an additional dispatch before it, which counts
    uint32_t countingWorkgroups; // its workgroups; 0: there is no such dispatch
    uint64_t serialDispatches;   // for Path::serial; each has serialTiles tiles
};

// Divides the tiles among workgroups. If each tile has a workgroup of its own, the workgroup's
// index is the tile's index, and no tickets are needed.
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

// `params` must have its addresses. knowsTest(params) returns whether the ring kernels implement
// its test.
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

    // In place, no other workgroup can compute a missing tile, because its input may be
    // overwritten. If workgroups are not known to make progress, or must not wait, one workgroup
    // does everything.
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
