// SPDX-License-Identifier: MIT OR Apache-2.0
// A fixed number of objects that are taken and given back, and lists of them. Lists link objects by
// their indices, so nothing is allocated after creation.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::stream {

constexpr uint32_t kNone = UINT32_MAX;

// A FIFO list. T::next is the index of the next object.
struct Queue {
    uint32_t head = kNone, tail = kNone;
    bool empty() const { return head == kNone; }
};

// The links of an object in a list from which any object may be removed.
struct Links {
    uint32_t previous = kNone, next = kNone;
};

// Prefetches an object that will be written soon. Other threads touched it last, so it is in the
// caches of their cores.
template <class T>
void prefetch(const T& object)
{
#if defined(__GNUC__)
    constexpr size_t kLine = 64;
    for (size_t at = 0; at < sizeof(T); at += kLine)
        __builtin_prefetch(reinterpret_cast<const char*>(&object) + at, 1);
#else
    (void)object;
#endif
}

template <class T>
class Slots {
public:
    explicit Slots(uint32_t count) : m_all(count), m_freeCount(count)
    {
        for (uint32_t i = count; i-- != 0; m_free = i)
            m_all[i].next = m_free;
    }

    uint32_t count() const { return uint32_t(m_all.size()); }
    uint32_t freeCount() const { return m_freeCount; }
    uint32_t usedCount() const { return count() - m_freeCount; }
    T& operator[](uint32_t number) { return m_all[number]; }
    const T& operator[](uint32_t number) const { return m_all[number]; }
    uint32_t numberOf(const T& one) const { return uint32_t(&one - m_all.data()); }

    // Returns the object that the next `take` returns. There must be a free object.
    T& nextFree() { return m_all[m_free]; }
    T& take()
    {
        T& one = m_all[m_free];
        m_free = one.next;
        one.next = kNone;
        --m_freeCount;
        return one;
    }
    void give(T& one)
    {
        one.next = m_free;
        m_free = numberOf(one);
        ++m_freeCount;
    }

    void append(Queue& queue, T& one)
    {
        one.next = kNone;
        (queue.empty() ? queue.head : m_all[queue.tail].next) = numberOf(one);
        queue.tail = numberOf(one);
    }
    void prepend(Queue& queue, T& one)
    {
        one.next = queue.head;
        queue.head = numberOf(one);
        if (queue.tail == kNone) queue.tail = queue.head;
    }
    // The queue must not be empty.
    T& pop(Queue& queue)
    {
        T& one = m_all[queue.head];
        queue.head = one.next;
        if (queue.empty()) queue.tail = kNone;
        return one;
    }

private:
    std::vector<T> m_all;
    uint32_t m_free = kNone, m_freeCount;
};

// A doubly linked list of some of the slots, from which any object can be removed.
template <class T, Links T::*links>
class LinkedList {
public:
    bool empty() const { return m_ends.next == kNone; }
    T& front(Slots<T>& slots) const { return slots[m_ends.next]; }
    void append(Slots<T>& slots, T& one)
    {
        one.*links = {m_ends.previous, kNone};
        const uint32_t number = slots.numberOf(one);
        (m_ends.previous == kNone ? m_ends : slots[m_ends.previous].*links).next = number;
        m_ends.previous = number;
    }
    void remove(Slots<T>& slots, T& one)
    {
        const Links at = one.*links;
        (at.previous == kNone ? m_ends : slots[at.previous].*links).next = at.next;
        (at.next == kNone ? m_ends : slots[at.next].*links).previous = at.previous;
    }

private:
    Links m_ends; // previous: the last object; next: the first
};

} // namespace sluice::stream
