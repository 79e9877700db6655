// SPDX-License-Identifier: MIT OR Apache-2.0
// Divides a ring's memory into blocks that may be freed in any order, by the buddy system
// (Knowlton, A Fast Storage Allocator, CACM 1965; The Art of Computer Programming, 2.5). A block
// that lives long only prevents its own buddies from being merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::stream {

class Blocks {
public:
    static constexpr uint64_t kNone = UINT64_MAX;

    // Block sizes are minBlock * 2^n; minBlock must be a power of two. Each block starts at a
    // multiple of its size. If `size` is not a multiple of `unit`, the remainder is not used.
    Blocks(uint64_t size, uint64_t minBlock, uint64_t unit) : m_minBlock(minBlock)
    {
        m_capacity = size / unit * unit;
        const size_t count = size_t(m_capacity / minBlock);
        while (minBlock << m_orders <= m_capacity)
            ++m_orders;
        while (uint64_t(1) << m_minBlockLog2 < minBlock)
            ++m_minBlockLog2;
        m_order.assign(count, kInside);
        m_next.assign(count, kEnd);
        m_previous.assign(count, kEnd);
        m_free.assign(m_orders, kEnd);
        // Covers the capacity with free blocks, from its end to its start. The largest aligned
        // block that ends at index `at` has as many minBlocks as the value of the lowest set bit of
        // `at`.
        for (size_t at = count; at != 0; at &= at - 1) {
            uint32_t order = 0;
            while ((at >> order & 1) == 0)
                ++order;
            push(uint32_t(at - (size_t(1) << order)), order);
        }
    }

    uint64_t capacity() const { return m_capacity; }
    uint64_t used() const { return m_used; }
    uint64_t largest() const { return m_minBlock << (m_orders - 1); }
    // Returns the size of the block that take(size) would return.
    uint64_t blockSize(uint64_t size) const { return m_minBlock << orderOf(size); }

    // Takes a block of at least `size` bytes. Returns the block's offset, or kNone if no block of
    // that size is free or if `size` exceeds largest().
    uint64_t take(uint64_t size)
    {
        const uint32_t order = orderOf(size);
        uint32_t from = order;
        while (from < m_orders && m_free[from] == kEnd)
            ++from;
        if (from >= m_orders) return kNone;
        const uint32_t at = m_free[from];
        remove(at, from);
        while (from != order) {
            --from;
            push(at + (1u << from), from);
        }
        m_order[at] = uint8_t(kTaken | order);
        m_used += m_minBlock << order;
        return uint64_t(at) * m_minBlock;
    }

    void give(uint64_t offset)
    {
        uint32_t at = uint32_t(offset >> m_minBlockLog2), order = m_order[at] & kOrderMask;
        m_used -= m_minBlock << order;
        m_order[at] = kInside;
        while (order + 1 < m_orders) {
            const uint32_t buddy = at ^ (1u << order);
            if (buddy >= m_order.size() || m_order[buddy] != (kFree | order)) break;
            remove(buddy, order);
            at &= ~(1u << order);
            ++order;
        }
        push(at, order);
    }

private:
    static constexpr uint8_t kInside = 0, kFree = 64, kTaken = 128, kOrderMask = 63;
    static constexpr uint32_t kEnd = UINT32_MAX;

    uint32_t orderOf(uint64_t size) const
    {
        uint32_t order = 0;
        while (m_minBlock << order < size)
            ++order;
        return order;
    }
    void push(uint32_t at, uint32_t order)
    {
        m_order[at] = uint8_t(kFree | order);
        m_previous[at] = kEnd;
        m_next[at] = m_free[order];
        if (m_next[at] != kEnd) m_previous[m_next[at]] = at;
        m_free[order] = at;
    }
    void remove(uint32_t at, uint32_t order)
    {
        if (m_previous[at] != kEnd)
            m_next[m_previous[at]] = m_next[at];
        else
            m_free[order] = m_next[at];
        if (m_next[at] != kEnd) m_previous[m_next[at]] = m_previous[at];
        m_order[at] = kInside;
    }

    uint64_t m_minBlock, m_capacity = 0, m_used = 0;
    uint32_t m_orders = 1, m_minBlockLog2 = 0;
    std::vector<uint8_t> m_order; // state and order of the block that begins here; kInside: none
    std::vector<uint32_t> m_next, m_previous, m_free; // lists of free blocks, one per order
};

} // namespace sluice::stream
