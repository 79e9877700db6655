// SPDX-License-Identifier: MIT OR Apache-2.0
// The commands that make up sluiceCmdTileStreams, and their ranges in scratch. They are the same
// for every backend.
#pragma once

#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_scan.h>
#include <sluice/sluice_tile_streams.h>

#include "layout/tile_streams.h"
#include "api/plan_regions.h"

namespace sluice {

constexpr uint64_t kStreamResultBytes = sizeof(SluiceStreamResult);

// Bytes of a pair (SLUICE_TILE_STREAMS_PAIRS). The list of pairs begins with a word: their number.
constexpr uint64_t kStreamPairBytes = 8;

inline bool hasPairs(const SluiceTileStreamsInfo& info)
{
    return (info.flags & SLUICE_TILE_STREAMS_PAIRS) != 0;
}

struct TileStreamsPlan {
    SluiceBuffer streamCount; // where the number of streams is, or an empty range
    SluiceBuffer counts;      // in scratch: the number of tiles of each stream
    // The command that turns `counts` into the index of each stream's first tile. The total becomes
    // the summary's tileCount.
    SluiceScanInfo scan;
    // The command that decodes the tiles of all streams. Their regions are in scratch, and their
    // number is the summary's tileCount.
    SluiceGdeflateInfo decode;
    SluiceRequirements requirements;
};

// Makes the plan. The backend must not require more than 256 bytes of alignment for the scan or the
// decode.
template <typename Backend>
TileStreamsPlan tileStreamsPlan(const Backend& backend, const SluiceTileStreamsInfo& info)
{
    TileStreamsPlan plan = {};
    uint64_t end = 0, alignment = 8;
    const auto place = [&](uint64_t size, uint64_t partAlignment) {
        const uint64_t start = (end + partAlignment - 1) / partAlignment * partAlignment;
        end = start + size;
        alignment = std::max(alignment, partAlignment);
        return partOf(info.scratch, start, size);
    };
    plan.streamCount = hasPairs(info) ? partOf(info.streams, 0, 4) : info.streamCount;
    plan.decode.maxRegionCount = info.maxTileCount;
    plan.decode.regionStride = sizeof(SluiceRegion);
    plan.decode.flags = info.flags & ~uint32_t(SLUICE_TILE_STREAMS_PAIRS);
    plan.decode.rowBytes = info.rowBytes;
    plan.decode.rowPitch = info.rowPitch;
    plan.decode.regions = place(uint64_t(info.maxTileCount) * sizeof(SluiceRegion), 8);
    const uint64_t summary = info.maxStreamCount * kStreamResultBytes;
    plan.decode.regionCount =
        partOf(info.results, summary + offsetof(SluiceStreamSummary, tileCount), 4);
    plan.decode.source = info.source;
    plan.decode.destination = info.destination;
    plan.decode.expected = info.expected;
    plan.decode.status = info.status;
    const SluiceRequirements decode = backend.gdeflateRequirements(plan.decode);
    plan.decode.scratch = place(decode.scratchSize, decode.scratchAlignment);

    plan.counts = place(uint64_t(info.maxStreamCount) * 4, 4);
    plan.scan.kind = SLUICE_SCAN_EXCLUSIVE;
    plan.scan.operation = SLUICE_OPERATION_SUM;
    plan.scan.type = SLUICE_VALUE_U32;
    plan.scan.maxCount = info.maxStreamCount;
    plan.scan.input = plan.scan.output = plan.counts;
    plan.scan.total = plan.decode.regionCount;
    const SluiceRequirements scan = backend.scanRequirements(plan.scan);
    plan.scan.scratch = place(scan.scratchSize, scan.scratchAlignment);
    // The scan's scratch must be zero. The first pass clears it, so the third member, which asks
    // the caller for zeroed scratch, is 0.
    plan.requirements = {end, alignment, 0};
    return plan;
}

// Returns parameters in which everything is set except the number of the pass. addressOf(buffer)
// returns a device address, 0 for an empty range.
template <typename AddressOf>
TileStreamsParams tileStreamsParams(const SluiceTileStreamsInfo& info, const TileStreamsPlan& plan,
                                    const AddressOf& addressOf)
{
    TileStreamsParams params = {};
    setRanges(params, info, addressOf);
    params.destinationSize = pair(logicalSize(info.destination.size, info.rowBytes, info.rowPitch));
    params.streams = pair(addressOf(info.streams));
    params.streamCount = pair(addressOf(plan.streamCount));
    params.results = pair(addressOf(info.results));
    params.counts = pair(addressOf(plan.counts));
    params.regions = pair(addressOf(plan.decode.regions));
    params.zeroed = pair(addressOf(plan.scan.scratch));
    params.zeroedWords = uint32_t(plan.scan.scratch.size / 4);
    params.maxStreamCount = info.maxStreamCount;
    params.maxTileCount = info.maxTileCount;
    params.hasPairs = hasPairs(info) ? 1 : 0;
    return params;
}

} // namespace sluice
