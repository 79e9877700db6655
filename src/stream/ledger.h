// SPDX-License-Identifier: MIT OR Apache-2.0
// Keeps every group from Submit to its last event, with its requests and units, and tracks the
// files and ring blocks that they use. A thread may read the unit that it works on without the
// lock. All other functions take the lock as a parameter.
#pragma once

#include <sluice/sluice_stream.h>

#include <atomic>

#include "stream/events.h"
#include "stream/files.h"
#include "stream/group.h"
#include "stream/monitor.h"
#include "stream/rings.h"
#include "stream/sides.h"
#include "stream/signallers.h"
#include "stream/waits.h"
#include "stream/work.h"

namespace sluice::stream {

// Totals since the streamer's creation, for SluiceStreamCounters.
struct Totals {
    std::atomic<uint64_t> bytesRead{0}, bytesDecoded{0}, wastedBytes{0};
    std::atomic<uint32_t> retriedTiles{0};
};

class Ledger {
public:
    // `info` outlives the ledger.
    Ledger(const SluiceStreamerInfo& info, bool hasSemaphores);

    Slots<Group> groups;
    Slots<Request> requests;
    Slots<Unit> units;
    Files files;
    Rings rings;
    Work work;
    Sides sides;
    Pending pending;
    Events events;
    Waits<> waits;
    Signallers signallers;
    Totals totals;

    // Returns whether there is room for a group. Groups of low priority leave a quarter of the
    // slots free for others. If there is no other group, the priority does not matter.
    bool hasRoom(Held&, const SluiceStreamGroupInfo& info) const;
    // Takes slots for a group that checkGroup has accepted. Starts the group unless it waits for a
    // semaphore. signaller: the index in `signallers` of the semaphore that the group signals, or
    // kNone.
    Group& add(Held& held, const SluiceStreamGroupInfo& info, uint32_t signaller);
    void endWait(Held& held, Group& group);
    // Returns the sequence number of the group that was submitted last.
    uint64_t lastSequence(Held&) const { return m_sequence; }
    // Returns the group with this handle; NULL if the group no longer exists.
    Group* find(Held&, SluiceStreamGroup handle);
    // Cancels a group. Units that a thread reads or decodes at the moment, or that are in a batch,
    // still run to their end.
    void cancel(Held& held, Group& group);
    void fail(Held&, Group& group, Request& request, const Failure& failure);
    // Calls fail for a damaged tile of the asset. status: SluiceTileStatus.
    void failTile(Held& held, const Unit& unit, uint32_t tile, uint32_t status);

    // Calls fail for a unit with invalid UASTC blocks. The transcoded bytes are delivered anyway.
    void failBlocks(Held& held, const Unit& unit)
    {
        fail(held, groups[unit.group], requests[unit.request],
             {SLUICE_ERROR_FORMAT, kNone, SLUICE_TILE_BAD_CODE});
    }

    // Returns whether a unit of this group may take ring blocks of these sizes. Groups of low
    // priority leave a quarter of the units and rings free for others. If no unit is in use, the
    // priority does not matter.
    bool mayTakeUnit(Held& held, const Group& group, uint64_t sourceSize,
                     uint64_t outputSize) const;
    // Decides which sides (the GPU, the CPU's threads) may take units from the line, the queue of
    // units that either side may decode. The line must not be empty.
    SideChoice chooseSide(Held& held) const;
    // Takes the group's first unit out of the line (line.h), for a thread to decode. Returns NULL
    // if the output ring has no room for the decoded bytes.
    Unit* takeFromLine(Held& held, Group& group, SluiceStreamReason reason);
    // Takes the next free unit, which the cutter has filled in, and marks it as being read.
    Unit& takeUnit(Held& held);
    // Frees a unit that is done, whether it succeeded or not. The caller calls endIfDone
    // afterwards.
    void finish(Held& held, Unit& unit);
    void finishUnused(Held& held, Unit& unit); // also counts its bytes as wasted
    void endIfDone(Held& held, Group& group);
    // Adds the group's RECORDED event if all of its units for the GPU are recorded and nothing is
    // left to cut. Called after every unit, because the group's last unit may need no GPU.
    void tellIfRecorded(Held& held, Group& group);
    // Called when the group's END event was returned (told) or its semaphore was signalled
    // (signalled). After both, the group is free.
    void told(Held& held, Group& group) { leave(held, group, Life::told); }
    void signalled(Held& held, Group& group);

private:
    void addRequest(Held& held, Group& group, const SluiceStreamRequest& info, uint32_t index);
    void releaseRequests(Held& held, Group& group);
    void leave(Held& held, Group& group, Life life);

    const SluiceStreamerInfo& m_info;
    uint64_t m_sequence = 0;
};

} // namespace sluice::stream
