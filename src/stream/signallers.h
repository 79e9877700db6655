// SPDX-License-Identifier: MIT OR Apache-2.0
// The semaphores that groups signal. Groups that signal the same semaphore do so in the order of
// submission.
#pragma once

#include "stream/group.h"
#include "stream/monitor.h"

namespace sluice::stream {

class Signallers {
public:
    static constexpr uint32_t kCount = 64;

    // Finds the slot to which one more group of a semaphore is added; a slot lists the groups that
    // signal one semaphore. Returns false if the group's value is not greater than that of the
    // semaphore's previous group.
    //   slot   receives kNone if groups that have not signalled yet take all slots
    bool find(Held&, const SluiceStreamSync& signal, uint32_t& slot) const
    {
        uint32_t unused = kNone;
        slot = kNone;
        for (uint32_t i = 0; i < kCount; ++i) {
            if (m_all[i].semaphore == signal.semaphore) slot = i;
            if (m_all[i].head == kNone && unused == kNone) unused = i;
        }
        // Once all groups of a slot have signalled, its value may restart, because the handle may
        // belong to a new semaphore by now.
        if (slot != kNone)
            return m_all[slot].head == kNone || signal.value > m_all[slot].lastSubmitted;
        slot = unused;
        return true;
    }
    void add(Held&, uint32_t slot, Slots<Group>& groups, const Group& group)
    {
        Signaller& one = m_all[slot];
        one.semaphore = group.signal.semaphore;
        one.lastSubmitted = group.signal.value;
        const uint32_t number = groups.numberOf(group);
        (one.head == kNone ? one.head : groups[one.tail].nextSignal) = number;
        one.tail = number;
    }
    // Removes a slot's groups that have ended, up to the first that has not, and calls
    // signalled(group) for each. Returns true if the caller must now signal `signal`, once for all
    // of these groups.
    template <class Function>
    bool advance(Held&, uint32_t slot, Slots<Group>& groups, SluiceStreamSync& signal,
                 const Function& signalled)
    {
        Signaller& one = m_all[slot];
        signal = {};
        while (one.head != kNone && groups[one.head].hasEnded()) {
            Group& group = groups[one.head];
            signal = group.signal;
            one.head = group.nextSignal;
            signalled(group);
        }
        return signal.value != 0;
    }

private:
    struct Signaller {
        uint64_t semaphore = 0;
        uint64_t lastSubmitted = 0;          // the value of the last group
        uint32_t head = kNone, tail = kNone; // groups; if head is kNone, tail has no meaning
    };
    Signaller m_all[kCount];
};

} // namespace sluice::stream
