// SPDX-License-Identifier: MIT OR Apache-2.0
// Adds the tiles of archives, and units that are transcoded, to the inputs of both cost models.
#pragma once

#include "stream/cost_model.h"
#include "stream/cpu_cost_model.h"
#include "stream/file.h"
#include "stream/transcodes.h"

namespace sluice::stream {

inline void addCost(CostInputs& cost, const TileRecord& tile)
{
    const bool isFiltered = tile.filterOffset != 0;
    switch (tile.codec) {
    case SLUICE_CODEC_GSTD: cost.addGstdTile(tile.storedSize, tile.size, isFiltered); break;
    case SLUICE_CODEC_ZSTD: cost.addZstdTile(tile.storedSize, tile.size, isFiltered); break;
    case SLUICE_CODEC_FLOAT: cost.addFloatTile(tile.size, isFiltered); break;
    case SLUICE_CODEC_STORE: cost.addStoredTile(tile.size, isFiltered); break;
    default: cost.addGdeflateTile(tile.storedSize, tile.size, isFiltered); break;
    }
}

inline CpuCodec cpuCodecOf(const TileRecord& tile)
{
    switch (tile.codec) {
    case SLUICE_CODEC_GSTD: return kCpuGstd;
    case SLUICE_CODEC_ZSTD: return kCpuZstd;
    case SLUICE_CODEC_FLOAT: return kCpuFloat;
    case SLUICE_CODEC_STORE: return kCpuStored;
    default: return kCpuGdeflate;
    }
}

template <class Inputs>
void addTranscode(Inputs& cost, const SluiceStreamImage& image, const Unit& unit)
{
    cost.addTranscode(unit.size, transcodeWork(image));
}

// The inputs of both cost models for one unit.
struct UnitCosts {
    CostInputs gpu;
    CpuInputs cpu;

    void add(const TileRecord& tile)
    {
        addCost(gpu, tile);
        cpu.addTile(cpuCodecOf(tile), tile.size, tile.filterOffset != 0);
    }
    void add(const SluiceStreamImage& image, const Unit& unit)
    {
        addTranscode(gpu, image, unit);
        addTranscode(cpu, image, unit);
    }
};

} // namespace sluice::stream
