// SPDX-License-Identifier: MIT OR Apache-2.0
// The events of groups that Poll has to return.
#pragma once

#include <atomic>

#include "stream/group.h"
#include "stream/monitor.h"

namespace sluice::stream {

// Counts what Poll has to check, so that Poll need not take the lock if there is nothing to check.
struct Pending {
    std::atomic<uint32_t> batches{0}; // under way
    std::atomic<uint32_t> waits{0};   // groups that wait for a semaphore
    std::atomic<uint32_t> events{0};  // that Poll has not returned
    std::atomic<uint32_t> signals{0}; // ended groups that have not signalled yet
    bool nothing() const { return batches == 0 && waits == 0 && events == 0 && signals == 0; }
};

class Events {
public:
    Events(Slots<Group>& groups, Pending& pending) : m_groups(groups), m_pending(pending) {}

    void addRecorded(Held& held, Group& group)
    {
        group.recordedEvent = RecordedEvent::toTell;
        m_recorded.append(m_groups, group);
        add(held);
    }
    // Called when a batch is taken back, or when the CPU decodes a unit again. The group will be
    // recorded again, and then have a RECORDED event again.
    void forgetRecorded(Held&, Group& group)
    {
        if (group.recordedEvent == RecordedEvent::toTell) {
            m_recorded.remove(m_groups, group);
            --m_pending.events;
        }
        group.recordedEvent = RecordedEvent::none;
    }
    void addEnded(Held& held, Group& group)
    {
        m_groups.append(m_ended, group);
        add(held);
    }
    void add(Held& held)
    {
        ++m_pending.events;
        held.tellEvent();
    }
    // holds: true holds RECORDED events back, until a call with false.
    void holdRecorded(Held&, bool holds) { m_holdsRecorded = holds; }
    // Returns whether `give` would return an event.
    bool hasSome(Held&) const
    {
        if (!m_holdsRecorded) return !m_ended.empty() || !m_recorded.empty();
        return !m_ended.empty() && m_groups[m_ended.head].recordedEvent != RecordedEvent::toTell;
    }
    // Fills in at most `room` events and returns their number. Calls told(group) for each group
    // whose END event is among them.
    template <class Function>
    uint32_t give(Held&, SluiceStreamEvent* events, uint32_t room, const Function& told)
    {
        uint32_t count = 0;
        while (!m_holdsRecorded && !m_recorded.empty() && count < room) {
            Group& group = m_recorded.front(m_groups);
            m_recorded.remove(m_groups, group);
            group.recordedEvent = RecordedEvent::told;
            events[count] = group.event;
            events[count++].kind = SLUICE_STREAM_RECORDED;
        }
        while (!m_ended.empty() && count < room) {
            const Group& next = m_groups[m_ended.head];
            // The group's RECORDED event must precede its END event.
            if (m_holdsRecorded && next.recordedEvent == RecordedEvent::toTell) break;
            Group& group = m_groups.pop(m_ended);
            events[count++] = group.event;
            told(group);
        }
        m_pending.events -= count;
        return count;
    }

private:
    Slots<Group>& m_groups;
    Pending& m_pending;
    LinkedList<Group, &Group::recorded> m_recorded;
    Queue m_ended;
    bool m_holdsRecorded = false;
};

} // namespace sluice::stream
