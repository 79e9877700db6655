// SPDX-License-Identifier: MIT OR Apache-2.0
// A batch is the set of units (group.h) that one call of sluiceStreamRecord gathers. It exists
// until the GPU has completed them.
#pragma once

#include <sluice/sluice_tiles.h>

#include <vector>

#include "stream/cost_model.h"
#include "stream/group.h"
#include "stream/side_policy.h"
#include "stream/transcodes.h"

namespace sluice::stream {

// The tiles of a batch that are decoded into one buffer, the *target*, with the same flags. One
// SluiceTilesInfo describes them.
struct TargetBatch {
    SluiceBuffer destination{};
    uint32_t flags = 0; // SluiceTilesFlags
    SluiceTileTotals totals{};
    SluiceTileTotals room{}; // `required` suffices for these totals
    SluiceTilesRequirements required{};
    SluiceTilesInfo info{};
    bool isAfterOthers = false; // runs after earlier targets, since scratch has no room for all
    std::vector<SluiceTile> tiles;
};
constexpr uint32_t kTargets = 4;

struct Batch {
    uint64_t number = 0;               // 0: the slot is free
    uint64_t semaphore = 0, value = 0; // its submission signals `semaphore` with `value`
    Queue units;
    uint32_t unitCount = 0, copies = 0;
    uint32_t targetCount = 0;
    TargetBatch targets[kTargets];
    std::vector<uint32_t> unitTargets;   // target of each unit in `units`; kNone: no tiles
    std::vector<uint32_t> unitFirstTile; // index of each unit's first tile in its target's tiles
    Transcodes transcodes;               // what the GPU transcodes, in the order of `units`
    double predicted = 0;                // milliseconds; 0 until the batch is recorded
    CostInputs cost;
    CostWeights weights; // those of the cost model when the batch began
    SideChoice choice;   // sides that could take from the line (line.h) when the batch began
    bool isFull = false; // a limit keeps ready units out of the batch
    // On an immediate GPU: only a part of the batch could be recorded, which runs already. When the
    // GPU has completed that part, the device counts as lost.
    bool hasFailed = false;
};

// The control memory and the results memory are each divided into one slot per batch under way. A
// slot begins with the lists of the transcoder (transcodes.h). Then each target of the batch has a
// range, which starts at a multiple of this many bytes.
constexpr uint64_t kSlotAlignment = 256;
static_assert(kTranscodeControl % kSlotAlignment == 0 && kTranscodeResults % kSlotAlignment == 0);
inline uint64_t slotSize(const SluiceStreamMemory& memory, uint32_t batches)
{
    return memory.buffer.size / batches / kSlotAlignment * kSlotAlignment;
}

} // namespace sluice::stream
