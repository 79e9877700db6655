// SPDX-License-Identifier: MIT OR Apache-2.0
// FSE tables, a warp for tablesPerGroup of them; the steps of shaders/fse_tables.comp, which says
// how.
#include "kernels.h"
#include "lib/fse.cuh"
#include "lib/launch.cuh"
#include "lib/region.cuh"

namespace sluice {
namespace {

constexpr uint32_t kWarps = 4, kThreads = kWarps * kWarpSize;

__device__ uint32_t* words(uint64_t address)
{
    return reinterpret_cast<uint32_t*>(static_cast<uintptr_t>(address));
}

__device__ uint32_t statesIn(uint64_t room)
{
    return room < 4 ? 0 : static_cast<uint32_t>(room - 4) / 4;
}

template <bool Counts>
__device__ uint32_t checkRegion(const FseTablesParams& params, const Region& region)
{
    const bool good =
        region.destination % 4 == 0 && region.compressedSize - 1 < 0xffffffffu &&
        region.decompressedSize - 1 < 0xffffffffu &&
        insideBuffer(region.source, region.compressedSize, params.source, params.sourceSize) &&
        insideBuffer(region.destination, region.decompressedSize, params.destination,
                     params.destinationSize) &&
        !(Counts && (region.source | region.compressedSize) % 2 != 0);
    if (!good) return SLUICE_ST_BAD_REGION;
    return Counts && region.compressedSize / 2 > params.maxSymbols ? SLUICE_ST_BAD_CODE
                                                                   : SLUICE_ST_OK;
}

__device__ int countAt(const Region& region, uint32_t symbol)
{
    return reinterpret_cast<const int16_t*>(static_cast<uintptr_t>(region.source))[symbol];
}

// The log that the counts add up to. All lanes of the warp.
__device__ uint32_t checkCounts(const FseTablesParams& params, const Region& region, uint32_t& log,
                                uint32_t& lastSymbol)
{
    const uint32_t symbols = static_cast<uint32_t>(region.compressedSize) / 2;
    uint32_t sum = 0;
    bool bad = false;
    lastSymbol = 0;
    for (uint32_t row = 0; row < symbols; row += kWarpSize) {
        const uint32_t symbol = row + laneIndex();
        const int count = symbol < symbols ? countAt(region, symbol) : 0;
        const uint32_t occur = __ballot_sync(kAllLanes, count != 0);
        bad = bad || __any_sync(kAllLanes, count < -1);
        if (occur != 0) lastSymbol = row + highestBit(occur);
        sum += warpSum(static_cast<uint32_t>(abs(count)));
    }
    sum = uniform(sum);
    log = highestBit(max(sum, 1u));
    if (bad || sum != 1u << log || log < SLUICE_FSE_LOG_MIN || log > params.maxLog)
        return SLUICE_ST_BAD_CODE;
    return 1u << log > statesIn(region.decompressedSize) ? SLUICE_ST_TOO_LONG : SLUICE_ST_OK;
}

template <bool Counts>
__global__ void __launch_bounds__(kThreads) fseTablesKernel(FseTablesParams params)
{
    __shared__ FseShared shared[kWarps];
    const uint32_t lane = laneIndex(), warp = uniform(warpIndex());
    const uint32_t first = (blockIdx.x * kWarps + warp) * params.tablesPerGroup;
    const uint32_t last = regionCount(params),
                   symbolBits = 1 + highestBit((params.maxSymbols - 1) | 1);
    // Each lane reads a description.
    FseDescription own = {SLUICE_ST_BAD_REGION, 0, 0, 0, 0};
    if (!Counts && lane < params.tablesPerGroup && first + lane < last) {
        const Region region = loadRegion(params, first + lane);
        own.status = checkRegion<Counts>(params, region);
        if (own.status == SLUICE_ST_OK) {
            uint32_t* const table = words(region.destination);
            own = fseRead(reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(region.source)),
                          static_cast<uint32_t>(region.compressedSize), params.maxSymbols,
                          params.maxLog, statesIn(region.decompressedSize), table + 1);
            if (own.status == SLUICE_ST_OK)
                table[0] = own.bytes | own.log << 16 | own.lastSymbol << 24;
        }
    }
    __syncwarp();
    for (uint32_t t = 0; t < params.tablesPerGroup && first + t < last; ++t) {
        const Region region = loadRegion(params, first + t);
        uint32_t* const table = words(region.destination);
        uint32_t status, log = 0, entries = 0;
        if (Counts) {
            uint32_t lastSymbol;
            status = checkRegion<Counts>(params, region);
            if (status == SLUICE_ST_OK) status = checkCounts(params, region, log, lastSymbol);
            if (status == SLUICE_ST_OK) {
                entries = static_cast<uint32_t>(region.compressedSize) / 2;
                if (lane == 0) table[0] = entries * 2 | log << 16 | lastSymbol << 24;
            }
        } else {
            status = __shfl_sync(kAllLanes, own.status, static_cast<int>(t));
            log = __shfl_sync(kAllLanes, own.log, static_cast<int>(t));
            entries = __shfl_sync(kAllLanes, own.entries, static_cast<int>(t));
        }
        if (status == SLUICE_ST_OK) {
            FseTable build(shared[warp], log);
            for (uint32_t row = 0; row < entries; row += kWarpSize) {
                const uint32_t at = row + lane;
                FseEntry entry = {0, 0, false};
                if (at < entries && Counts) {
                    const int count = countAt(region, at);
                    entry = {at, static_cast<uint32_t>(count), count < 0};
                } else if (at < entries) {
                    entry = unpacked(table[1 + at]);
                }
                build.row(entry.count != 0, entry);
            }
            build.states(symbolBits, table + 1);
        }
        if (lane == 0) writeStatus(params, first + t, status);
    }
}

} // namespace

cudaError_t loadFseTables()
{
    const cudaError_t error = load(fseTablesKernel<false>);
    return error != cudaSuccess ? error : load(fseTablesKernel<true>);
}

cudaError_t launchFseTables(cudaStream_t stream, const FseTablesParams& params, uint32_t groups)
{
    const bool counts = (params.flags & SLUICE_FSE_FLAG_COUNTS) != 0;
    return launch(stream, counts ? fseTablesKernel<true> : fseTablesKernel<false>,
                  (groups + kWarps - 1) / kWarps, kThreads, params);
}

} // namespace sluice
