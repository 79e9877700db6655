// SPDX-License-Identifier: MIT OR Apache-2.0
// Groups in the order in which they are served: a binary heap that knows where each group stands, so
// that a group may leave it or change its priority.
#pragma once

#include <cstdint>
#include <utility>
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
    Group* top() const { return m_heap.empty() ? nullptr : m_heap.front(); }

    // Does nothing if it is there already.
    void insert(Group* group)
    {
        if (group->place[queue] != kNotQueued) return;
        group->place[queue] = uint32_t(m_heap.size());
        m_heap.push_back(group); // has room for every group
        rise(group->place[queue]);
    }
    void remove(Group* group)
    {
        const uint32_t at = group->place[queue];
        if (at == kNotQueued) return;
        swap(at, uint32_t(m_heap.size() - 1));
        m_heap.pop_back();
        group->place[queue] = kNotQueued;
        if (at < m_heap.size()) settle(at);
    }
    // Its priority has changed.
    void update(Group* group)
    {
        if (group->place[queue] != kNotQueued) settle(group->place[queue]);
    }
    // All groups, the first one first, then in no order.
    const std::vector<Group*>& groups() const { return m_heap; }

private:
    static bool before(const Group* a, const Group* b)
    {
        return a->priority != b->priority ? a->priority > b->priority : a->sequence < b->sequence;
    }
    void swap(uint32_t a, uint32_t b)
    {
        std::swap(m_heap[a], m_heap[b]);
        m_heap[a]->place[queue] = a;
        m_heap[b]->place[queue] = b;
    }
    void rise(uint32_t at)
    {
        for (; at != 0 && before(m_heap[at], m_heap[(at - 1) / 2]); at = (at - 1) / 2)
            swap(at, (at - 1) / 2);
    }
    void settle(uint32_t at)
    {
        rise(at);
        for (;;) {
            uint32_t first = at;
            for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < m_heap.size(); ++child)
                if (before(m_heap[child], m_heap[first])) first = child;
            if (first == at) return;
            swap(at, first);
            at = first;
        }
    }

    std::vector<Group*> m_heap;
};

} // namespace sluice::stream
