// SPDX-License-Identifier: MIT OR Apache-2.0
// Gathers ready units into batches and records them. The most urgent units come first, and a budget
// limits each batch.
#pragma once

#include "stream/batch_commands.h"
#include "stream/ledger.h"

namespace sluice::stream {

class Batcher {
public:
    // The arguments outlive the batcher. decodes: the streamer's context decodes on a GPU.
    Batcher(const SluiceStreamerInfo& info, bool decodes, Monitor& monitor, Gpu& gpu,
            Ledger& ledger);

    // These implement sluiceStreamRecord and sluiceStreamDiscard.
    SluiceStatus record(SluiceCommands commands, const SluiceStreamBudget& budget,
                        SluiceStreamBatch& result);
    SluiceStatus discard(uint64_t number);

    enum class Ready {
        nothing,
        tooLittle, // fewer tiles are ready than the budget's minimum
        enough
    };
    // countsCall: if too little is ready, this call counts towards the budget's maxAge as a call of
    // record does.
    Ready readiness(const SluiceStreamBudget& budget, bool countsCall);

    // For the thread that checks which batches are complete. No other thread touches batches under
    // way.
    Batch* oldest();
    uint32_t slotOf(const Batch& batch) const { return uint32_t(&batch - m_batches.data()); }
    uint32_t underWay() const;
    uint64_t lastNumber(Held&) const { return m_lastNumber; }
    void release(Held&, Batch& batch);
    CostModel& costs(Held&) { return m_costs; }

private:
    enum class Added {
        yes,
        full,
        impossible
    };
    Batch* begin(const SluiceStreamBudget& budget);
    void prefetchReady(Held& held) const;
    bool gather(Batch& batch, const SluiceStreamBudget& budget, SluiceStreamBatch& result);
    Added addUnit(Held& held, Batch& batch, Unit& unit, const SluiceStreamBudget& budget,
                  SluiceStreamBatch& result);
    Added addTiles(Batch& batch, const Unit& unit);
    void markRecorded(Held& held, Batch& batch, Unit& unit);
    bool fits(const Batch& batch, uint32_t target, const SluiceTilesRequirements& required) const;
    bool makeRoom(Batch& batch, uint32_t target) const;
    void putBack(Held& held, Batch& batch);

    const SluiceStreamerInfo& m_info;
    Monitor& m_monitor;
    Gpu& m_gpu;
    Ledger& m_ledger;
    const BatchCommands m_commands;
    const uint64_t m_controlSlot, m_resultsSlot; // bytes
    std::vector<Batch> m_batches;
    uint64_t m_lastNumber = 0;
    CostModel m_costs;
};

} // namespace sluice::stream
