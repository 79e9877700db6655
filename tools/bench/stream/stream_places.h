// SPDX-License-Identifier: MIT OR Apache-2.0
// A ring allocator, which hands out ranges (places) of a buffer one after the other. Places may be
// given back in any order.
#pragma once

#include <cstdint>
#include <deque>

namespace sluice {

constexpr uint64_t kPlaceAlignment = 256;
inline uint64_t placed(uint64_t value)
{
    return (value + kPlaceAlignment - 1) / kPlaceAlignment * kPlaceAlignment;
}

class Places {
public:
    explicit Places(uint64_t size) : m_size(size) {}

    // Takes the next place, and sets `offset` to its begin. Returns false if there is no room.
    // Places are numbered 0, 1, 2 ... as they are taken; this number is the ticket for give().
    bool take(uint64_t size, uint64_t& offset)
    {
        uint64_t at = m_head;
        if (m_used.empty()) {
            at = 0;
            if (size > m_size) return false;
        } else if (const uint64_t tail = m_used.front().offset; m_head > tail) {
            if (at + size > m_size) at = 0;
            if (at == 0 && size > tail) return false;
        } else if (at + size > tail) { // the range in use wraps around the end
            return false;
        }
        m_used.push_back({at, false});
        m_headBefore = m_head;
        m_head = at + size;
        offset = at;
        return true;
    }
    // Gives back the place that was taken last.
    void undo()
    {
        m_used.pop_back();
        m_head = m_headBefore;
    }
    void give(uint64_t ticket)
    {
        m_used[ticket - m_firstTicket].isDone = true;
        for (; !m_used.empty() && m_used.front().isDone; ++m_firstTicket)
            m_used.pop_front();
    }

private:
    struct Used {
        uint64_t offset;
        bool isDone;
    };
    uint64_t m_size, m_head = 0, m_headBefore = 0, m_firstTicket = 0;
    std::deque<Used> m_used;
};

} // namespace sluice
