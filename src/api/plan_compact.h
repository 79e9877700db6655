// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of a compaction: which kernels run, and how many workgroups.
//
// The kernels compare keys: each element has a key, an unsigned number, and keys have the order of
// the elements. A comparison with a constant becomes the test whether the key is in a range.
//
// Three kernels do the work. The general kernel (compact.comp) can do everything. The ring kernel
// (compact_ring.comp) is for many tiles: while a tile waits in shared memory for the counts of the
// tiles before it, its workgroup loads the next tiles. The call kernel (compact_call.comp) is for
// few tiles: each has a workgroup, and all of these run at the same time. If there is a scanner,
// workgroup 0 takes no tile; it adds up the counts of the tiles for the other workgroups.
#pragma once

#include <sluice/sluice.h>
#include <sluice/sluice_compact.h>
#include <sluice/sluice_scan.h>

#include <algorithm>

#include "layout/compact.h"
#include "api/plan_scan.h"

namespace sluice {

// Returns whether the command reads elements. The tests BYTES and MASK look at selectors alone;
// with them, elements are read only to be copied to the output.
inline bool readsElements(const SluiceCompactInfo& info)
{
    return info.output.size != 0 ||
           (info.test != SLUICE_COMPACT_BYTES && info.test != SLUICE_COMPACT_MASK);
}

inline uint32_t comparedBytes(SluiceValueType type)
{
    return type == SLUICE_VALUE_U8 ? 1 : type == SLUICE_VALUE_U16 ? 2 : valueBytes(type);
}

// Returns the element size, in bytes, by which kernels are chosen. A command that reads no elements
// uses the kernels for 4 bytes.
inline uint32_t compactedBytes(const SluiceCompactInfo& info)
{
    return readsElements(info) ? info.elementSize : 4;
}

// Returns the alignment of input and output. Elements of 12 and 20 bytes are read and written word
// by word, so 4 is enough for them.
inline uint32_t compactAlignment(uint32_t elementSize)
{
    return SLUICE_COMPACT_IS_WIDE(elementSize) ? 4 : elementSize;
}

// Returns the element size, in bytes, by which scratch is sized. It is info.elementSize even if the
// command will read no elements. So the requirements do not depend on which buffers are given, and
// the caller can ask for them earlier. For an invalid size any value will do, because the command
// then ignores the size or refuses it.
inline uint32_t requiredBytes(const SluiceCompactInfo& info)
{
    return SLUICE_COMPACT_IS_SIZE(info.elementSize) ? info.elementSize : 4;
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

// Returns the key of the f32 with these bits: all bits inverted if it is negative, otherwise only
// the sign bit. So keys have the order of the values. -0 gets the key of 0, its equal.
inline uint32_t floatKey(uint32_t bits)
{
    if (bits == 0x80000000u) bits = 0;
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}

// A set of keys: those from low to low + span inclusive or, if `outside` is set, all others.
struct KeyRange {
    uint64_t low, span;
    bool outside;
};

inline KeyRange keysThatCompare(SluiceComparison comparison, SluiceValueType type,
                                uint64_t constant)
{
    const bool isFloat = type == SLUICE_VALUE_F32;
    const uint32_t bytes = comparedBytes(type);
    // The keys of the smallest and the greatest value that a comparison may select. For f32 these
    // are the infinities; the keys of NaNs lie outside.
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

// Returns parameters in which everything is set except the addresses, `workgroups`, `share` and
// `first`.
inline CompactParams compactParams(const SluiceCompactInfo& info, uint32_t polls)
{
    CompactParams params = {};
    params.maxCount = info.maxCount;
    const uint64_t size = compactedBytes(info);
    params.capacity = uint32_t(std::min<uint64_t>(info.output.size / size, UINT32_MAX));
    params.indexCapacity = uint32_t(std::min<uint64_t>(info.indices.size / 4, UINT32_MAX));
    params.mode = uint32_t(info.test) | uint32_t(size / 4) << SLUICE_COMPACT_MODE_WORDS;
    bool invert = (info.flags & SLUICE_COMPACT_DROP) != 0;
    if (info.test == SLUICE_COMPACT_COMPARE) {
        const KeyRange range = keysThatCompare(info.comparison, info.type, info.constant);
        params.low = {uint32_t(range.low), uint32_t(range.low >> 32)};
        params.span = {uint32_t(range.span), uint32_t(range.span >> 32)};
        if (info.type == SLUICE_VALUE_I32)
            params.low.lo ^= 0x80000000u; // the key of an i32 has the sign bit flipped
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

// Sets the addresses. addressOf(buffer) returns a device address, 0 for an empty range. Buffers
// that the command does not read or write get 0.
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

// Some tests of 4-byte elements are equivalent to a comparison whose result is not inverted:
// NON_ZERO and most inverted comparisons. Replaces them by that comparison, so that the ring kernel
// and the call kernel need fewer variants.
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

// Says what a backend's kernels for one element size can do, and holds its tuning for them.
struct CompactMachine {
    LookbackTuning lookback;
    // If the output is the input, a workgroup polls the count of an earlier tile this many times.
    // It cannot compute that count itself, since the tile's input may already be overwritten.
    uint32_t pollsInPlace;
    bool forwardProgress;  // started workgroups always make progress
    bool scanners;         // whether a compaction may have a scanner
    bool lookAhead;        // whether a workgroup may work on two tiles at a time
    uint32_t tileElements; // elements of a workgroup's tile
    uint32_t workgroups;   // workgroups that run at the same time, with the scanner
    // The most tiles that one workgroup takes, for drivers that stop a workgroup which runs too
    // long. 0: no limit.
    uint32_t tilesPerWorkgroup;
    uint32_t serialTiles; // tiles of one dispatch of Path::serial
    // The ring kernel and the call kernel (see the top of this file) need input aligned to 16
    // bytes, and write either elements or indices, not both.
    uint32_t ringElements;   // elements of a tile of the ring kernel; 0: there is no ring kernel
    uint32_t ringTiles;      // the ring kernel is used from this many tiles on
    uint32_t ringWorkgroups; // of the ring kernel, the scanner included
    bool ringNeedsScanner;   // the ring kernel is used only with a scanner
    bool ringCountsAlone;    // the ring kernel can write the count alone, without output
    uint32_t callElements;   // elements of a tile of the call kernel; 0: there is no call kernel
    uint32_t callTiles;      // the call kernel is used up to this many tiles
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
    CompactParams counting;      // for a dispatch before the main one, in which a partition counts
    uint32_t countingWorkgroups; // workgroups of the counting dispatch; 0: there is none
    // With Path::serial one workgroup does all tiles, in several dispatches of serialTiles tiles
    // each. This is their number.
    uint64_t serialDispatches;
};

// Divides the tiles among workgroups. A workgroup increments a counter in memory, and takes the
// tile whose number (ticket) it gets. If there are as many workgroups as tiles, workgroup i takes
// tile i without a ticket (DIRECT).
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

// Chooses the kernel and the number of workgroups. The caller has set the addresses in `params`.
// knowsTest(params) returns whether the ring kernel and the call kernel can do the test that is set
// in `params`.
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

    // In place, a workgroup must wait for the counts of earlier tiles. It cannot compute them,
    // since the input of those tiles may already be overwritten. Where started workgroups may stop
    // making progress, or waiting is forbidden, a single workgroup does all tiles in order.
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
