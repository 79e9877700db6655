// SPDX-License-Identifier: MIT OR Apache-2.0
// Groups in the order in which they are served: a binary heap that knows where each group stands,
// so that a group may leave it or change its priority.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::stream {

// Group: has `priority`, `sequence`, and for each queue it can be in `place[queue]`, kNotQueued at
// first.
constexpr uint32_t kNotQueued = UINT32_MAX;

template <class Group, uint32_t queue>
class PriorityQueue {
public:
    void reserve(size_t count) { m_heap.reserve(count); }
    bool empty() const { return m_heap.empty(); }
    Group* top() const { return m_heap.empty() ? nullptr : m_heap.front().group; }

    // Does nothing if it is there already.
    void insert(Group* group)
    {
        if (group->place[queue] != kNotQueued) return;
        m_heap.emplace_back(); // has room for every group
        rise(uint32_t(m_heap.size() - 1), entryOf(group));
    }
    void remove(Group* group)
    {
        const uint32_t at = group->place[queue];
        if (at == kNotQueued) return;
        group->place[queue] = kNotQueued;
        const Entry last = m_heap.back();
        m_heap.pop_back();
        if (at < m_heap.size()) settle(at, last);
    }
    // Its priority has changed.
    void update(Group* group)
    {
        const uint32_t at = group->place[queue];
        if (at != kNotQueued) settle(at, entryOf(group));
    }

private:
    // What decides the order stands in the heap itself, so that no group is read on the way.
    struct Entry {
        uint64_t sequence = 0;
        Group* group = nullptr;
        int32_t priority = 0;
    };
    static Entry entryOf(Group* group) { return {group->sequence, group, group->priority}; }
    static bool before(const Entry& a, const Entry& b)
    {
        return a.priority != b.priority ? a.priority > b.priority : a.sequence < b.sequence;
    }
    void put(uint32_t at, const Entry& entry)
    {
        m_heap[at] = entry;
        entry.group->place[queue] = at;
    }
    // The entry goes to `at`, which is free, or above it.
    void rise(uint32_t at, const Entry& entry)
    {
        for (; at != 0 && before(entry, m_heap[(at - 1) / 2]); at = (at - 1) / 2)
            put(at, m_heap[(at - 1) / 2]);
        put(at, entry);
    }
    // Puts the entry at this place or below it.
    void settle(uint32_t at, const Entry& entry)
    {
        for (;;) {
            uint32_t first = 2 * at + 1;
            if (first >= m_heap.size()) break;
            if (first + 1 < m_heap.size() && before(m_heap[first + 1], m_heap[first])) ++first;
            if (!before(m_heap[first], entry)) break;
            put(at, m_heap[first]);
            at = first;
        }
        rise(at, entry);
    }

    std::vector<Entry> m_heap;
};

} // namespace sluice::stream
