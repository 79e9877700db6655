// SPDX-License-Identifier: MIT OR Apache-2.0
// A batch is the set of units that one call of Record gathers. It exists until the GPU has
// completed them.
#pragma once

#include <sluice/sluice_tiles.h>

#include <vector>

#include "stream/cost_model.h"
#include "stream/group.h"

namespace sluice::stream {

// The tiles of a batch that are decoded into one buffer. They form one batch of sluice_tiles.h.
struct TargetBatch {
    SluiceBuffer destination{};
    SluiceTileTotals totals{};
    SluiceTileTotals room{}; // `required` suffices for these totals
    SluiceTilesRequirements required{};
    SluiceTilesInfo info{};
    std::vector<SluiceTile> tiles;
};
constexpr uint32_t kTargets = 4;

struct Batch {
    uint64_t number = 0;               // 0: the slot is free
    uint64_t semaphore = 0, value = 0; // the batch's submission signals them
    Queue units;
    uint32_t unitCount = 0, copies = 0;
    uint32_t targetCount = 0;
    TargetBatch targets[kTargets];
    std::vector<uint32_t> unitTargets;   // target of each unit in `units`; kNone: no tiles
    std::vector<uint32_t> unitFirstTile; // each unit's first tile among its target's
    CostInputs cost;
    CostWeights weights; // the model's when the batch began
};

// Control and results are divided into one slot per batch under way. Within the slot, each target
// of the batch has a part of its own, which starts at a multiple of this alignment.
constexpr uint64_t kSlotAlignment = 256;
inline uint64_t slotSize(const SluiceStreamMemory& memory, uint32_t batches)
{
    return memory.buffer.size / batches / kSlotAlignment * kSlotAlignment;
}

// These say whether the GPU decodes a unit, and whether it copies it.
inline bool isDecodedByGpu(const Unit& unit)
{
    return !unit.decodesOnCpu && (unit.route == Route::direct || unit.route == Route::output);
}
inline bool isCopied(const Unit& unit)
{
    return unit.route == Route::output || unit.route == Route::plain;
}

} // namespace sluice::stream
