// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds Gstd's rANS tables and nothing else, each from a description of its own, for comparison
// with building FSE tables.
#include "cuda/lib/rans.cuh"
#include "tools/bench/cuda_calls.h"

namespace sluice {
namespace {

constexpr uint32_t kWarps = 4, kThreads = kWarps * kWarpSize;

struct Places {
    // A table's description in the source: its offset in 4-byte words, and its number of 2-byte
    // words.
    uint32_t first, words;
};

__global__ void __launch_bounds__(kThreads)
    ransTablesKernel(uint32_t count, uint32_t symbols, uint32_t log, const Places* list,
                     const uint32_t* source, uint32_t* out)
{
    __shared__ RansShared shared[kWarps];
    const uint32_t index = blockIdx.x * kWarps + warpIndex(), lane = laneIndex();
    if (index >= count) return;
    RansShared& own = shared[warpIndex()];
    RansReader reader(own);
    const Places place = list[index];
    reader.begin(source + place.first, 0, place.words);
    bool good = ransClasses(reader, own);
    uint32_t slots[2];
    for (uint32_t row = 0; row < 2; ++row)
        slots[row] =
            reader.symbol(row * 32 + lane < symbols, own.slots, own.symbols, SLUICE_GS_CLASS_LOG);
    for (uint32_t row = 0; row < 2; ++row)
        slots[row] = reader.slotsOf(row * 32 + lane < symbols, slots[row]);
    RansTable table(own.slots, own.symbols, log);
    for (uint32_t row = 0; row < 2; ++row)
        table.row(row * 32 + lane < symbols, row * 32 + lane, slots[row]);
    good = table.finish() && good;
    uint32_t* const to = out + index * (kRansTableBytes / 4);
    for (uint32_t i = lane; i < 1u << log >> 2; i += 32)
        to[i] = reinterpret_cast<const uint32_t*>(own.slots)[i];
    for (uint32_t i = lane; i < 64; i += 32)
        to[128 + i] = good && i < symbols ? own.symbols[i] : 0;
}

} // namespace

void recordRansTables(SluiceCommands commands, uint32_t count, uint32_t symbols, uint32_t log,
                      SluiceBuffer list, SluiceBuffer source, SluiceBuffer tables)
{
    ransTablesKernel<<<(count + kWarps - 1) / kWarps, kThreads, 0, streamFrom(commands)>>>(
        count, symbols, log, pointerFrom<const Places>(list), pointerFrom<const uint32_t>(source),
        pointerFrom<uint32_t>(tables));
    requireCuda(cudaGetLastError(), "rANS tables");
}

} // namespace sluice
