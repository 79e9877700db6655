// SPDX-License-Identifier: MIT OR Apache-2.0
// The scan family as its kernels see it: which operation they run for a type, and how large scratch
// is.
#pragma once

#include <sluice/sluice.h>

#include <algorithm>

#include "address.h"

namespace sluice {

inline uint32_t valueBytes(SluiceValueType type) { return type == SLUICE_VALUE_U64 ? 8 : 4; }

inline bool isF32Sum(SluiceOperation operation, SluiceValueType type)
{
    return operation == SLUICE_OPERATION_SUM && type == SLUICE_VALUE_F32;
}

// What xor makes of an element a key whose unsigned maximum is the wanted minimum or maximum (f32:
// after its bits were put into order).
inline uint32_t keyFlip(SluiceOperation operation, SluiceValueType type)
{
    const uint32_t sign = type == SLUICE_VALUE_I32 ? 0x80000000u : 0;
    return operation == SLUICE_OPERATION_MIN ? ~sign : sign;
}

inline uint64_t scanTiles(uint32_t maxCount, uint32_t tileElements)
{
    return std::max<uint64_t>((uint64_t(maxCount) + tileElements - 1) / tileElements, 1);
}

inline uint64_t reduceWorkgroups(uint32_t maxCount, uint32_t tileElements)
{
    return std::min<uint64_t>(scanTiles(maxCount, tileElements), SLUICE_REDUCE_WORKGROUPS);
}

// A head and a state for each tile. An f32 sum has partial results there.
inline SluiceRequirements lookbackScratch(uint64_t tiles, uint32_t bytesOfValue)
{
    return {SLUICE_LOOKBACK_HEAD + tiles * (bytesOfValue == 8 ? 2 : 1) * SLUICE_LOOKBACK_STATE, 16,
            1};
}

// How often a look-back looks at a tile that has not published: `polls`, or what the caller's flags
// make of it.
inline u32 lookbackPolls(bool recompute, bool noWait, uint32_t polls)
{
    return recompute ? SLUICE_LOOKBACK_NEVER : noWait ? 0 : polls;
}

inline bool mayWait(u32 polls) { return polls != 0 && polls != SLUICE_LOOKBACK_NEVER; }

// Whether a workgroup of its own adds up what the tiles publish: from `scannerTiles` tiles on.
inline bool hasScanner(u32 polls, uint64_t tiles, u32 scannerTiles = SLUICE_LOOKBACK_SCANNER_TILES)
{
    return mayWait(polls) && tiles >= scannerTiles;
}

// All but the addresses and how the tiles are shared out.
inline ScanParams scanParams(const SluiceScanInfo& info, uint32_t polls)
{
    ScanParams params = {};
    params.maxCount = info.maxCount;
    params.kind =
        info.kind == SLUICE_SCAN_INCLUSIVE ? SLUICE_KIND_INCLUSIVE : SLUICE_KIND_EXCLUSIVE;
    params.polls = lookbackPolls((info.flags & SLUICE_SCAN_RECOMPUTE) != 0,
                                 (info.flags & SLUICE_SCAN_NO_WAIT) != 0, polls);
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

// addressOf(buffer) gives a device address, 0 for an empty range. Buffers of no elements are not
// there.
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

} // namespace sluice
