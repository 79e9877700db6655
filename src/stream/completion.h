// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds out which batches are complete and what became of their units, begins the groups that wait
// for semaphores, signals semaphores, and gives the events of Poll.
#pragma once

#include "stream/batcher.h"
#include "stream/gpu.h"
#include "stream/ledger.h"

namespace sluice::stream {

class Completion {
public:
    // The arguments must outlive the object.
    Completion(const SluiceStreamerInfo& info, Monitor& monitor, Gpu& gpu, Ledger& ledger,
               Batcher& batcher);

    // These implement sluiceStreamComplete and sluiceStreamPoll. complete returns false if there
    // was no batch of this number.
    bool complete(uint64_t number);
    SluiceStatus poll(SluiceStreamEvent* events, uint32_t& count);
    // Does all that Poll does, except giving events. It is for the thread that submits.
    void collect();
    // Returns whether Poll has an event to return now.
    bool hasEvents(Held& held) const;

private:
    void checkAll(SluiceStatus& status);
    void checkBatches(SluiceStatus& status);
    void finishBatch(Batch& batch, SluiceStatus status);
    SluiceTileStatus transcodeStatus(const Batch& batch, const Unit& unit, uint32_t& regions) const;
    void finishUnit(Held& held, Unit& unit, SluiceStatus status, const uint32_t* statuses,
                    SluiceTileStatus transcoded);
    bool retry(Held& held, Unit& unit);
    void checkWaits(SluiceStatus& status);
    void beginWaiting(uint64_t semaphore, uint64_t value);
    void checkSignals(SluiceStatus& status);
    void dropReady();
    uint32_t giveEvents(Held& held, SluiceStreamEvent* events, uint32_t room);

    const SluiceStreamerInfo& m_info;
    Monitor& m_monitor;
    Gpu& m_gpu;
    Ledger& m_ledger;
    Batcher& m_batcher;
    uint64_t m_completed = 0; // sluiceStreamComplete has reported batches up to this number
    std::vector<uint32_t> m_statuses[kTargets]; // per tile of a completed batch
    uint64_t m_nextSemaphore = 0;               // where the next query of semaphores begins
    bool m_toldLost = false;
};

} // namespace sluice::stream
