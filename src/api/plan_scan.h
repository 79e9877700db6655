// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of scans and reductions: how tiles are given to workgroups, how many workgroups there
// are, the size of scratch, and the kernels' parameters. In the look-back each tile has a state in
// scratch. Its workgroup publishes the tile's own value there, and later the value of all tiles up
// to this one. A scanner is a workgroup that takes no tile and only adds up states.
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

// Kernels compute minima and maxima as the unsigned maximum of keys. Returns the word to xor with
// an element to get its key. It flips the sign bit of an i32, so that unsigned order is signed
// order, and for a minimum all bits, which reverses the order. An f32 is first mapped to an integer
// of the same order.
inline uint32_t keyFlip(SluiceOperation operation, SluiceValueType type)
{
    const uint32_t sign = type == SLUICE_VALUE_I32 ? 0x80000000u : 0;
    return operation == SLUICE_OPERATION_MIN ? ~sign : sign;
}

inline uint64_t scanTiles(uint32_t maxCount, uint32_t tileElements)
{
    return std::max<uint64_t>((uint64_t(maxCount) + tileElements - 1) / tileElements, 1);
}

// Returns the scratch of a look-back: a head, and a state for each tile. A sum of f32 has no
// look-back; it keeps the partial sum of each tile in place of the tile's state.
inline SluiceRequirements lookbackScratch(uint64_t tiles, uint32_t bytesOfValue)
{
    return {SLUICE_LOOKBACK_HEAD + tiles * (bytesOfValue == 8 ? 2 : 1) * SLUICE_LOOKBACK_STATE, 16,
            1};
}

struct LookbackTuning {
    // A workgroup polls a tile that has published nothing this many times. Then it computes the
    // tile's value itself. The number is small on devices that do not promise that started
    // workgroups make progress. With 0 a workgroup never waits. With SLUICE_LOOKBACK_NEVER it reads
    // no states, but computes the values of all tiles before its own; that takes quadratic time and
    // is for tests.
    uint32_t polls;
    uint32_t scannerTiles; // from this many tiles on, one workgroup is the scanner
};

inline bool mayWait(uint32_t polls) { return polls != 0 && polls != SLUICE_LOOKBACK_NEVER; }

inline bool hasScanner(uint32_t polls, uint64_t tiles, uint32_t scannerTiles)
{
    return mayWait(polls) && tiles >= scannerTiles;
}

// Returns parameters in which everything is set except the addresses and the division of work among
// workgroups.
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

// Sets the addresses. addressOf(buffer) returns a device address, 0 for an empty range. If there
// are no elements, input and output get 0.
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

// Says what a backend's scan kernels can do, and holds its tuning for them.
struct ScanMachine {
    LookbackTuning lookback;
    uint32_t tileElements; // elements of a workgroup's tile
    uint32_t workgroups;   // up to this many tiles, each tile has a workgroup of its own
    // With more tiles than `workgroups`: the most tiles that one workgroup takes. 0: no limit;
    // there are `workgroups` workgroups, which take tiles until none is left.
    uint32_t tilesPerWorkgroup;
    bool scanners; // whether a scan may have a scanner
    // In the ring kernel (scan_ring.comp) a tile waits in shared memory for the sum of the tiles
    // before it, while its workgroup loads the next tiles.
    uint32_t ringElements; // elements of its tile; 0: it cannot do this operation and type
    uint32_t ringTiles;    // the ring kernel is used from this many tiles on
    // Workgroups of the ring kernel, the scanner included. 0: the ring kernel has as many as the
    // general kernel, and needs no scanner.
    uint32_t ringWorkgroups;
};

struct ScanPlan {
    uint32_t schedule;          // a SLUICE_SCAN_BY_ constant
    bool partials;              // a dispatch of `workgroups` workgroups computes partial sums first
    bool scanner;               // workgroup 0 is a scanner
    uint32_t tilesPerWorkgroup; // the most that a workgroup takes
    uint32_t workgroups;        // the scanner included
};

// Makes the plan. The caller has set the addresses in `params`: the ring kernel is chosen only if
// input and output are aligned to its vectors of 16 bytes.
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
