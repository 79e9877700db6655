// SPDX-License-Identifier: MIT OR Apache-2.0
// Gathers ready units into batches and records them. The most urgent units come first, and a budget
// limits each batch.
#pragma once

#include "stream/batch_commands.h"
#include "stream/ledger.h"
#include "stream/shared_tiles.h"

namespace sluice::stream {

class Batcher {
public:
    // The arguments must outlive the batcher.
    Batcher(const SluiceStreamerInfo& info, Monitor& monitor, Gpu& gpu, Ledger& ledger);

    // These implement sluiceStreamRecord and sluiceStreamDiscard. Discarding fails if the batch is
    // not the newest one under way, or runs already.
    SluiceStatus record(SluiceCommands commands, const SluiceStreamBudget& budget,
                        SluiceStreamBatch& result);
    bool discard(uint64_t number);

    enum class Ready {
        nothing,
        threadsDecode, // what is ready is left to the threads for a short while
        tooLittle,     // fewer tiles are ready than the budget's minimum
        enough
    };
    // Says whether a batch is worth recording now. countsCall: if too few tiles are ready, this
    // call counts like a call of Record towards budget.maxAge.
    Ready readiness(const SluiceStreamBudget& budget, bool countsCall);

    // The functions from here on are for the thread that checks which batches are complete. No
    // other thread touches batches under way.
    Batch* oldest();
    uint32_t slotOf(const Batch& batch) const { return uint32_t(&batch - m_batches.data()); }
    uint32_t underWay() const;
    uint64_t lastNumber(Held&) const { return m_lastNumber; }
    void release(Held& held, Batch& batch);

private:
    enum class Added {
        yes,
        full,
        impossible
    };
    Batch* begin(const SluiceStreamBudget& budget);
    void prefetchReady(Held& held, bool isInLine) const;
    SideChoice chooseSide(Held& held) const;
    bool gather(Batch& batch, const SluiceStreamBudget& budget, SluiceStreamBatch& result);
    void noteRecorded(Batch& batch, double predicted);
    Added addUnit(Held& held, Batch& batch, Unit& unit, const SluiceStreamBudget& budget,
                  SluiceStreamBatch& result);
    Added addTiles(Batch& batch, const Unit& unit);
    const SharedTiles::Place* findDecoded(const Batch& batch, const Unit& unit,
                                          const TileRecord* tiles) const;
    void markRecorded(Held& held, Batch& batch, Unit& unit);
    bool fits(const Batch& batch, uint32_t target, const SluiceTilesRequirements& required) const;
    bool makeRoom(Batch& batch, uint32_t target) const;
    void putBack(Held& held, Batch& batch);
    void noteFailed(Batch& batch);

    const SluiceStreamerInfo& m_info;
    Monitor& m_monitor;
    Gpu& m_gpu;
    Ledger& m_ledger;
    const BatchCommands m_commands;
    const uint64_t m_controlSlot, m_resultsSlot; // bytes
    std::vector<Batch> m_batches;
    SharedTiles m_sharedTiles; // tiles of the batch that is being gathered
    uint64_t m_lastNumber = 0;
};

} // namespace sluice::stream
