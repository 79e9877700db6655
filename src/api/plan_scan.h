// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of the scan family. Decides which operation its kernels run for a type, and computes the
// size of scratch.
#pragma once

#include <sluice/sluice.h>
#include <sluice/sluice_scan.h>

#include <algorithm>

#include "layout/lookback.h"
#include "layout/scan.h"
#include "api/address.h"

namespace sluice {

inline uint32_t valueBytes(SluiceValueType type) { return type == SLUICE_VALUE_U64 ? 8 : 4; }

inline bool isF32Sum(SluiceOperation operation, SluiceValueType type)
{
    return operation == SLUICE_OPERATION_SUM && type == SLUICE_VALUE_F32;
}

// Returns the word that converts elements to keys by xor. The unsigned maximum of the keys is the
// requested minimum or maximum. The bits of f32 are first mapped to integers of the same order.
inline uint32_t keyFlip(SluiceOperation operation, SluiceValueType type)
{
    const uint32_t sign = type == SLUICE_VALUE_I32 ? 0x80000000u : 0;
    return operation == SLUICE_OPERATION_MIN ? ~sign : sign;
}

inline uint64_t scanTiles(uint32_t maxCount, uint32_t tileElements)
{
    return std::max<uint64_t>((uint64_t(maxCount) + tileElements - 1) / tileElements, 1);
}

// The scratch has a head, and a state per tile. An f32 sum stores its partial results in the
// states.
inline SluiceRequirements lookbackScratch(uint64_t tiles, uint32_t bytesOfValue)
{
    return {SLUICE_LOOKBACK_HEAD + tiles * (bytesOfValue == 8 ? 2 : 1) * SLUICE_LOOKBACK_STATE, 16,
            1};
}

struct LookbackTuning {
    // The number of times that a workgroup polls a tile that has published nothing, before it
    // computes that tile itself. It is small where workgroups are not known to make progress. With
    // 0, look-back never waits. With SLUICE_LOOKBACK_NEVER it reads no state at all, which takes
    // quadratic time and is for tests.
    uint32_t polls;
    // With this many tiles or more, one workgroup, the scanner, does nothing but add up states.
    uint32_t scannerTiles;
};

inline bool mayWait(uint32_t polls) { return polls != 0 && polls != SLUICE_LOOKBACK_NEVER; }

inline bool hasScanner(uint32_t polls, uint64_t tiles, uint32_t scannerTiles)
{
    return mayWait(polls) && tiles >= scannerTiles;
}

// Sets all members except the addresses and the division of work among workgroups.
inline ScanParams scanParams(const SluiceScanInfo& info, uint32_t polls)
{
    ScanParams params = {};
    params.maxCount = info.maxCount;
    params.kind =
        info.kind == SLUICE_SCAN_INCLUSIVE ? SLUICE_KIND_INCLUSIVE : SLUICE_KIND_EXCLUSIVE;
    params.polls = polls;
    params.flip = keyFlip(info.operation, info.type);
    params.isFloat = info.type == SLUICE_VALUE_F32 ? 1 : 0;
    return params;
}

inline ScanParams reduceParams(const SluiceReduceInfo& info)
{
    ScanParams params = {};
    params.maxCount = info.maxCount;
    params.kind = SLUICE_KIND_REDUCE;
    params.flip = keyFlip(info.operation, info.type);
    params.isFloat = info.type == SLUICE_VALUE_F32 ? 1 : 0;
    return params;
}

// addressOf(buffer) gives a device address, 0 for an empty range. Buffers without elements get 0.
template <typename AddressOf>
void setAddresses(ScanParams& params, const SluiceScanInfo& info, const AddressOf& addressOf)
{
    const auto elements = [&](const SluiceBuffer& buffer) {
        return pair(info.maxCount != 0 ? addressOf(buffer) : 0);
    };
    params.input_ = elements(info.input);
    params.output_ = elements(info.output);
    params.heads = pair(addressOf(info.heads));
    params.countBuffer = pair(addressOf(info.count));
    params.total = pair(addressOf(info.total));
    params.scratch = pair(addressOf(info.scratch));
}

template <typename AddressOf>
void setAddresses(ScanParams& params, const SluiceReduceInfo& info, const AddressOf& addressOf)
{
    params.input_ = pair(info.maxCount != 0 ? addressOf(info.input) : 0);
    params.countBuffer = pair(addressOf(info.count));
    params.total = pair(addressOf(info.result));
    params.scratch = pair(addressOf(info.scratch));
}

// Describes a backend's scan kernels, with the numbers of its tuning.
struct ScanMachine {
    LookbackTuning lookback;
    uint32_t tileElements; // elements of a workgroup's tile
    uint32_t workgroups;   // up to this many tiles, each has its own workgroup
    // For more tiles: the most that each workgroup gets. 0: `workgroups` workgroups run at the same
    // time, and take tiles until none is left.
    uint32_t tilesPerWorkgroup;
    bool scanners; // whether a scan may have a scanner
    // The ring kernel, whose tiles wait in a ring for the tiles before them. 0 elements: there is
    // no such kernel for this operation and type.
    uint32_t ringElements;   // elements of a tile
    uint32_t ringTiles;      // used from this many tiles on
    uint32_t ringWorkgroups; // including the scanner; 0: as without a ring
};

struct ScanPlan {
    uint32_t schedule;          // a SLUICE_SCAN_BY_ constant
    bool partials;              // a dispatch of `workgroups` computes partials first
    bool scanner;               // workgroup 0 is a scanner
    uint32_t tilesPerWorkgroup; // at most
    uint32_t workgroups;        // including the scanner
};

// params: must have its addresses, because the ring kernel needs aligned vectors.
inline ScanPlan planScan(const SluiceScanInfo& info, const ScanParams& params,
                         const ScanMachine& machine)
{
    const uint64_t tiles = scanTiles(info.maxCount, machine.tileElements);
    if (isF32Sum(info.operation, info.type))
        return {SLUICE_SCAN_BY_NUMBER, tiles > 1, false, 1, uint32_t(tiles)};
    const bool scanner =
        machine.scanners && hasScanner(params.polls, tiles, machine.lookback.scannerTiles);
    const bool aligned = ((params.input_.lo | params.output_.lo) & 15) == 0;
    const bool ring = machine.ringElements != 0 && aligned &&
                      scanTiles(info.maxCount, machine.ringElements) >= machine.ringTiles;
    if (ring && machine.ringWorkgroups != 0 && mayWait(params.polls))
        return {SLUICE_SCAN_BY_RING, false, true, UINT32_MAX, machine.ringWorkgroups};
    uint64_t share = UINT32_MAX, workgroups = std::min<uint64_t>(tiles, machine.workgroups);
    if (machine.tilesPerWorkgroup != 0) {
        share = std::clamp<uint64_t>(tiles / machine.workgroups, 1, machine.tilesPerWorkgroup);
        workgroups = (tiles + share - 1) / share;
    }
    const uint32_t schedule = workgroups == tiles                   ? SLUICE_SCAN_BY_NUMBER
                              : ring && machine.ringWorkgroups == 0 ? SLUICE_SCAN_BY_RING
                                                                    : SLUICE_SCAN_BY_TICKET;
    return {schedule, false, scanner, uint32_t(share), uint32_t(workgroups + (scanner ? 1 : 0))};
}

} // namespace sluice
