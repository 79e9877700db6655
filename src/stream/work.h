// SPDX-License-Identifier: MIT OR Apache-2.0
// Keeps what there is to do: groups that have something to be read, decoded by the CPU, or
// recorded, the most urgent first, and in each group the units that are decoded and recorded next.
#pragma once

#include "stream/group.h"
#include "stream/monitor.h"

namespace sluice::stream {

class Work {
public:
    Work(Slots<Group>& groups, Slots<Unit>& units) : m_groups(groups), m_units(units)
    {
        m_toRead.reserve(groups.count());
        m_toDecode.reserve(groups.count());
        m_toRecord.reserve(groups.count());
        m_inState[size_t(UnitState::free)] = units.count();
    }

    // Return the most urgent group of each kind; NULL if there is none.
    Group* toRead(Held&) const { return m_toRead.top(); }
    Group* toDecode(Held&) const { return m_toDecode.top(); }
    Group* toRecord(Held&) const { return m_toRecord.top(); }
    // Returns the group that will probably be recorded after this many others; NULL if that is not
    // known.
    const Group* laterToRecord(Held&, uint32_t others) const { return m_toRecord.later(others); }

    void addRead(Held& held, Group& group)
    {
        m_toRead.insert(&group);
        held.wakeWorkers();
    }
    // To be called when the whole group has been cut into units.
    void endRead(Held&, Group& group) { m_toRead.remove(&group); }
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
    void addReady(Held& held, Unit& unit)
    {
        Group& group = m_groups[unit.group];
        if (m_toRecord.empty()) m_readySince = m_recordCalls;
        m_units.append(group.ready, unit);
        enterReady(held, group, unit);
        held.wakeSubmitter();
    }
    Unit& takeReady(Held&, Group& group)
    {
        Unit& unit = m_units.pop(group.ready);
        if (group.ready.empty()) m_toRecord.remove(&group);
        m_readyTiles -= unit.tileCount;
        return unit;
    }
    // Makes a unit that was taken ready again, ahead of those that became ready since.
    void putBack(Held& held, Unit& unit)
    {
        Group& group = m_groups[unit.group];
        m_units.prepend(group.ready, unit);
        enterReady(held, group, unit);
    }
    // Removes a group from all queues, and calls dropped(unit) for each of its units that was in
    // one.
    template <class Function>
    void drop(Held& held, Group& group, const Function& dropped)
    {
        m_toRead.remove(&group);
        while (!group.toDecode.empty())
            dropped(takeDecode(held, group));
        while (!group.ready.empty())
            dropped(takeReady(held, group));
    }
    void setPriority(Held& held, Group& group, int32_t priority)
    {
        group.priority = priority;
        m_toRead.update(&group);
        m_toDecode.update(&group);
        m_toRecord.update(&group);
        held.wakeWorkers();
    }

    // Returns whether a batch is worth its while: fewer tiles than asked for wait for more, until
    // the oldest has waited long enough.
    bool isWorthRecording(Held&, const SluiceStreamBudget& budget) const
    {
        return !m_toRecord.empty() && budget.milliseconds > 0 &&
               (m_readyTiles >= budget.minTiles || m_recordCalls - m_readySince > budget.maxAge);
    }
    // Each call makes the ready units older by one.
    void countRecordCall(Held&) { ++m_recordCalls; }
    // To be called when a batch has taken all ready units.
    void renewAge(Held&) { m_readySince = m_recordCalls; }

    void setState(Held&, Unit& unit, UnitState state)
    {
        --m_inState[size_t(unit.state)];
        ++m_inState[size_t(state)];
        unit.state = state;
    }
    // Returns the number of units in this state.
    uint32_t inState(Held&, UnitState state) const { return m_inState[size_t(state)]; }

private:
    void enterReady(Held& held, Group& group, Unit& unit)
    {
        setState(held, unit, UnitState::ready);
        m_readyTiles += unit.tileCount;
        m_toRecord.insert(&group);
    }

    Slots<Group>& m_groups;
    Slots<Unit>& m_units;
    PriorityQueue<Group, kReadQueue> m_toRead;
    PriorityQueue<Group, kDecodeQueue> m_toDecode;
    PriorityQueue<Group, kRecordQueue> m_toRecord;
    uint64_t m_recordCalls = 0;
    uint64_t m_readySince = 0; // m_recordCalls when the ready units began to wait
    uint32_t m_readyTiles = 0; // of units that are ready
    uint32_t m_inState[size_t(UnitState::count)] = {};
};

} // namespace sluice::stream
