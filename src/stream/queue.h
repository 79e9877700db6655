// SPDX-License-Identifier: MIT OR Apache-2.0
// A priority queue of groups. Most groups leave in the order in which they came. They are kept in a
// ring buffer, where insertion and removal cost a few instructions. A group that is more urgent
// than the last group of the ring goes to a binary heap instead. Each group stores its position, so
// removing it and changing its priority need no search.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::stream {

// A Group has the members `priority`, `sequence` and, for each queue that it can be in,
// `place[queue]`, which is kNotQueued initially.
constexpr uint32_t kNotQueued = UINT32_MAX;

template <class Group, uint32_t queue>
class PriorityQueue {
public:
    // Reserves memory for at most `count` groups at a time.
    void reserve(size_t count)
    {
        m_heap.reserve(count);
        size_t places = 1;
        while (places < count)
            places *= 2;
        m_ring.resize(places);
        m_mask = places - 1;
    }
    bool empty() const { return m_first == m_end && m_heap.empty(); }
    Group* top() const
    {
        if (m_first == m_end) return m_heap.empty() ? nullptr : m_heap.front().group;
        const Entry& first = m_ring[m_first & m_mask];
        return m_heap.empty() || before(first, m_heap.front()) ? first.group : m_heap.front().group;
    }

    // Returns the group that will probably be the top after `others` groups have left; NULL if that
    // is not known.
    Group* later(uint32_t others) const
    {
        return others < m_end - m_first ? m_ring[(m_first + others) & m_mask].group : nullptr;
    }

    // Does nothing if the group is in the queue already.
    void insert(Group* group)
    {
        if (group->place[queue] != kNotQueued) return;
        add(entryOf(group));
    }
    void remove(Group* group)
    {
        const uint32_t at = group->place[queue];
        if (at == kNotQueued) return;
        group->place[queue] = kNotQueued;
        if ((at & kInRing) != 0) {
            m_ring[at - kInRing].group = nullptr;
            dropEnds();
            return;
        }
        const Entry last = m_heap.back();
        m_heap.pop_back();
        if (at < m_heap.size()) settle(at, last);
    }
    // To be called when the priority of a group has changed.
    void update(Group* group)
    {
        if (group->place[queue] == kNotQueued) return;
        remove(group);
        add(entryOf(group));
    }

private:
    // The entry has copies of the members that decide the order, so that comparisons need not load
    // groups.
    struct Entry {
        uint64_t sequence = 0;
        Group* group = nullptr; // NULL in the ring: the group has left
        int32_t priority = 0;
    };
    // The highest bit of `place` says where the group is. If it is set, the other bits are an index
    // in the ring; otherwise `place` is an index in the heap.
    static constexpr uint32_t kInRing = 1u << 31;
    static Entry entryOf(Group* group) { return {group->sequence, group, group->priority}; }
    static bool before(const Entry& a, const Entry& b)
    {
        return a.priority != b.priority ? a.priority > b.priority : a.sequence < b.sequence;
    }
    void add(const Entry& entry)
    {
        // The ring may be full, because groups that left from its middle still occupy entries.
        const bool isLast = m_first == m_end || before(m_ring[(m_end - 1) & m_mask], entry);
        if (isLast && m_end - m_first < m_ring.size()) {
            const size_t at = m_end++ & m_mask;
            m_ring[at] = entry;
            entry.group->place[queue] = uint32_t(at) | kInRing;
            return;
        }
        m_heap.emplace_back(); // has room for every group
        rise(uint32_t(m_heap.size() - 1), entry);
    }
    // Removes the entries at both ends of the ring whose groups have left.
    void dropEnds()
    {
        while (m_first != m_end && m_ring[m_first & m_mask].group == nullptr)
            ++m_first;
        while (m_first != m_end && m_ring[(m_end - 1) & m_mask].group == nullptr)
            --m_end;
    }
    void put(uint32_t at, const Entry& entry)
    {
        m_heap[at] = entry;
        entry.group->place[queue] = at;
    }
    // Puts the entry at the free heap index `at`, or moves it towards the root from there.
    void rise(uint32_t at, const Entry& entry)
    {
        for (; at != 0 && before(entry, m_heap[(at - 1) / 2]); at = (at - 1) / 2)
            put(at, m_heap[(at - 1) / 2]);
        put(at, entry);
    }
    // Puts the entry at the free heap index `at`, or moves it down or up from there.
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
    std::vector<Entry> m_ring; // its size is a power of two; sorted by before()
    size_t m_mask = 0;
    size_t m_first = 0, m_end = 0; // indices before masking; they may wrap around
};

} // namespace sluice::stream
