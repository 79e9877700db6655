// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts how deep copies are nested inside the groups of a Gstd tile (docs/format.md, 7.6).
#pragma once

#include "layout/gstd.h"
#include "formats/little_endian.h"

#include <algorithm>

namespace sluice::cpu::fast {

// Only the group that is being written has depths, and only bytes that were copied from inside it
// have one above 0. So a copy from elsewhere costs nothing here.
class Depths {
public:
    void start(uint32_t most)
    {
        m_most = most;
        m_group = 0;
        m_isTooDeep = m_isUsed = false;
        std::memset(m_hops, 0, sizeof m_hops);
    }

    // Notes that `length` bytes at `at` were copied from `offset` bytes before.
    void copy(uint32_t at, uint32_t offset, uint32_t length)
    {
        const uint32_t to = at % SLUICE_GS_GROUP;
        // A match that overlaps itself only copies bytes from before it, so none of its bytes in
        // later groups copies from its own group.
        length = std::min(length, SLUICE_GS_GROUP - to);
        if (to == 0 || offset >= to + length) return;
        if (at - to != m_group) {
            leaveGroup();
            m_group = at - to;
        }
        m_isUsed = true;
        if (offset > to)
            copyFromBorder(to, offset, length);
        else if (offset >= length)
            addOne(m_hops + to, m_hops + to - offset, length);
        else
            repeat(m_hops + to, offset, length);
    }

    // Returns whether no byte is too deep.
    bool finish()
    {
        leaveGroup();
        return !m_isTooDeep;
    }

private:
    void leaveGroup()
    {
        if (!m_isUsed) return;
        uint8_t most = 0;
        for (uint32_t i = 0; i < SLUICE_GS_GROUP; ++i)
            most = std::max(most, m_hops[i]);
        m_isTooDeep = m_isTooDeep || most > m_most;
        m_isUsed = false;
        std::memset(m_hops, 0, sizeof m_hops);
    }

    // The first bytes that it copies lie before the group.
    void copyFromBorder(uint32_t to, uint32_t offset, uint32_t length)
    {
        const uint32_t outside = offset - to;
        if (offset >= length) {
            addOne(m_hops + to + outside, m_hops, length - outside);
            return;
        }
        for (uint32_t k = 0; k < length; ++k)
            if (k % offset >= outside) m_hops[to + k] = uint8_t(m_hops[k % offset - outside] + 1);
    }

    // Sets to[i] = from[i] + 1; the ranges do not overlap. No number passes 255, since a copy has
    // at least 3 bytes and a group therefore fewer than 171 copies.
    static void addOne(uint8_t* to, const uint8_t* from, uint32_t size)
    {
        constexpr uint64_t kOnes = 0x0101010101010101u;
        if (size < 8) {
            for (uint32_t i = 0; i < size; ++i)
                to[i] = uint8_t(from[i] + 1);
            return;
        }
        const uint32_t last = size - 8; // written twice in part
        for (uint32_t i = 0; i < last; i += 8)
            storeLe64(to + i, loadLe64(from + i) + kOnes);
        storeLe64(to + last, loadLe64(from + last) + kOnes);
    }

    // Writes the first `period` bytes again and again.
    static void repeat(uint8_t* to, uint32_t period, uint32_t size)
    {
        if (period == 1) {
            std::memset(to, to[-1] + 1, size);
            return;
        }
        addOne(to, to - period, period);
        for (uint32_t done = period; done < size;) {
            const uint32_t more = std::min(done, size - done);
            std::memcpy(to + done, to, more);
            done += more;
        }
    }

    uint32_t m_most, m_group;
    bool m_isTooDeep, m_isUsed;
    uint8_t m_hops[SLUICE_GS_GROUP];
};

} // namespace sluice::cpu::fast
