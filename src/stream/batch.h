// SPDX-License-Identifier: MIT OR Apache-2.0
// A batch: the units that one call of Record gathers, until the GPU has done them.
#pragma once

#include <sluice/sluice_tiles.h>

#include <vector>

#include "stream/cost_model.h"
#include "stream/group.h"

namespace sluice::stream {

// The tiles of a batch that go to one buffer, and so are one batch of sluice_tiles.h.
struct TargetBatch {
    SluiceBuffer destination{};
    SluiceTileTotals totals{};
    SluiceTileTotals room{}; // the tiles that `required` is enough for
    SluiceTilesRequirements required{};
    SluiceTilesInfo info{};
    std::vector<SluiceTile> tiles;
};
constexpr uint32_t kTargets = 4;

struct Batch {
    uint64_t number = 0;               // 0: free
    uint64_t semaphore = 0, value = 0; // that its submit signals
    Queue units;
    uint32_t unitCount = 0, copies = 0;
    uint32_t targetCount = 0;
    TargetBatch targets[kTargets];
    std::vector<uint32_t> unitTargets;   // of each unit in `units`; kNone: it has no tiles
    std::vector<uint32_t> unitFirstTile; // in the target's tiles
    CostInputs cost;
    CostWeights weights; // as they were when it began
};

// How control and results are shared out: each batch under way has a slot of both, and each of its
// targets a part of that at a multiple of this.
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
