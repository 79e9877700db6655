// SPDX-License-Identifier: MIT OR Apache-2.0
// The work that is left. There is a priority queue of groups for each kind of work: reading,
// decoding on the CPU, decoding on either side (the line), and copying. For all kinds but reading,
// each group has a list of the units that are next.
#pragma once

#include "stream/line.h"
#include "stream/monitor.h"
#include "stream/records.h"

namespace sluice::stream {

class Work {
public:
    Line line;

    Work(Slots<Group>& groups, Slots<Unit>& units)
        : line(groups.count(), units), m_groups(groups), m_units(units)
    {
        m_toRead.reserve(groups.count());
        m_toDecode.reserve(groups.count());
        m_toCopy.reserve(groups.count());
        m_inState[size_t(UnitState::free)] = units.count();
    }

    // These return the most urgent group with units to read, to decode or to copy; NULL if none
    // has.
    Group* toRead(Held&) const { return m_toRead.top(); }
    Group* toDecode(Held&) const { return m_toDecode.top(); }
    Group* toCopy(Held&) const { return m_toCopy.top(); }
    // Returns the most urgent group that has units to copy, or to decode on either side (units in
    // the line). mayTakeLine: false leaves the line out.
    Group* toRecord(Held& held, bool mayTakeLine) const
    {
        Group* const decode = mayTakeLine ? line.top(held) : nullptr;
        Group* const copy = toCopy(held);
        if (decode == nullptr || copy == nullptr) return decode != nullptr ? decode : copy;
        const bool isCopy = copy->priority != decode->priority ? copy->priority > decode->priority
                                                               : copy->sequence <= decode->sequence;
        return isCopy ? copy : decode;
    }
    // Returns the group whose units will probably be copied after those of `others` more groups;
    // NULL if that is not known.
    const Group* laterToCopy(Held&, uint32_t others) const { return m_toCopy.later(others); }
    // Returns the milliseconds that one thread would need for all units that threads decode now or
    // that wait for a thread. Units in the line do not count.
    double cpuAhead(Held&) const { return m_cpuAhead; }

    void addRead(Held& held, Group& group)
    {
        m_toRead.insert(&group);
        held.wakeWorkers();
    }
    // To be called when the whole group has been cut into units.
    void endRead(Held&, Group& group) { m_toRead.remove(&group); }
    // Removes a group from the groups to read, until the records of this extent have been read.
    void park(Held&, Group& group, Extent& extent)
    {
        m_toRead.remove(&group);
        extent.parked.append(m_groups, group);
        group.parkedAt = &extent;
    }
    // Puts a limited number of the groups that wait for an extent back into the queue of groups to
    // read. Returns whether more groups wait for the extent.
    bool unpark(Held& held, Extent& extent)
    {
        for (uint32_t i = 0; i < kParkedAtOnce && !extent.parked.empty(); ++i) {
            Group& group = extent.parked.front(m_groups);
            leaveParked(group);
            m_toRead.insert(&group);
        }
        held.wakeWorkers();
        return !extent.parked.empty();
    }
    void addDecode(Held& held, Unit& unit)
    {
        Group& group = m_groups[unit.group];
        setState(held, unit, UnitState::toDecode);
        m_units.append(group.toDecode, unit);
        m_toDecode.insert(&group);
        held.wakeWorkers();
    }
    Unit& takeDecode(Held& held, Group& group)
    {
        Unit& unit = m_units.pop(group.toDecode);
        if (group.toDecode.empty()) m_toDecode.remove(&group);
        setState(held, unit, UnitState::decoding);
        return unit;
    }
    // Adds a unit that has become ready: to the line if the GPU is to decode it, otherwise to the
    // units to copy.
    void addReady(Held& held, Unit& unit)
    {
        if (m_toCopy.empty() && line.empty(held)) m_readySince = m_recordCalls;
        enterReady(held, unit, false);
        held.wakeSubmitter();
    }
    // Takes a unit to copy.
    Unit& takeReady(Held&, Group& group)
    {
        Unit& unit = m_units.pop(group.ready);
        if (group.ready.empty()) m_toCopy.remove(&group);
        m_readyTiles -= unit.tileCount;
        return unit;
    }
    // Puts a unit back that was taken, ahead of the units that became ready in the meantime.
    void putBack(Held& held, Unit& unit) { enterReady(held, unit, true); }
    // Removes a group from all queues, and calls dropped(unit) for each unit of the group that was
    // in a queue.
    template <class Function>
    void drop(Held& held, Group& group, const Function& dropped)
    {
        m_toRead.remove(&group);
        if (group.parkedAt != nullptr) leaveParked(group);
        while (!group.toDecode.empty())
            dropped(takeDecode(held, group));
        while (!group.line.empty())
            dropped(line.take(held, group));
        while (!group.ready.empty())
            dropped(takeReady(held, group));
    }
    void setPriority(Held& held, Group& group, int32_t priority)
    {
        group.priority = priority;
        m_toRead.update(&group);
        m_toDecode.update(&group);
        line.update(held, group);
        m_toCopy.update(&group);
        held.wakeWorkers();
    }

    // Returns whether a batch is to be recorded now. If fewer tiles than budget.minTiles are ready,
    // the batch waits for more, until the oldest unit has waited budget.maxAge calls of Record.
    // mayTakeLine: false leaves the line out.
    bool isWorthRecording(Held& held, const SluiceStreamBudget& budget, bool mayTakeLine) const
    {
        const uint32_t tiles = m_readyTiles + (mayTakeLine ? line.tiles(held) : 0);
        return toRecord(held, mayTakeLine) != nullptr && budget.milliseconds > 0 &&
               (tiles >= budget.minTiles || m_recordCalls - m_readySince > budget.maxAge);
    }
    // Makes the ready units older by one call of Record.
    void countRecordCall(Held&) { ++m_recordCalls; }
    // To be called when a batch has taken all ready units.
    void renewAge(Held&) { m_readySince = m_recordCalls; }

    void setState(Held&, Unit& unit, UnitState state)
    {
        --m_inState[size_t(unit.state)];
        ++m_inState[size_t(state)];
        if (isWithThreads(unit.state)) m_cpuAhead -= double(unit.cpuTime);
        if (isWithThreads(state)) m_cpuAhead += double(unit.cpuTime);
        unit.state = state;
    }
    // Returns the number of units in this state.
    uint32_t inState(Held&, UnitState state) const { return m_inState[size_t(state)]; }

private:
    static bool isWithThreads(UnitState state)
    {
        return state == UnitState::toDecode || state == UnitState::decoding;
    }
    // Adds a ready unit to the line or to the units to copy. isFirst: it goes ahead of the group's
    // other units.
    void enterReady(Held& held, Unit& unit, bool isFirst)
    {
        Group& group = m_groups[unit.group];
        setState(held, unit, UnitState::ready);
        if (isDecodedByGpu(unit)) return line.add(held, group, unit, isFirst);
        if (isFirst)
            m_units.prepend(group.ready, unit);
        else
            m_units.append(group.ready, unit);
        m_readyTiles += unit.tileCount;
        m_toCopy.insert(&group);
    }

    void leaveParked(Group& group)
    {
        group.parkedAt->parked.remove(m_groups, group);
        group.parkedAt = nullptr;
    }

    Slots<Group>& m_groups;
    Slots<Unit>& m_units;
    PriorityQueue<Group, kReadQueue> m_toRead;
    PriorityQueue<Group, kDecodeQueue> m_toDecode;
    PriorityQueue<Group, kCopyQueue> m_toCopy;
    uint64_t m_recordCalls = 0;
    uint64_t m_readySince = 0; // m_recordCalls when the ready units began to wait
    uint32_t m_readyTiles = 0; // number of tiles of units to copy
    double m_cpuAhead = 0;
    uint32_t m_inState[size_t(UnitState::count)] = {};
};

} // namespace sluice::stream
