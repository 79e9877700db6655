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
    void start(u32 most)
    {
        m_most = most;
        m_group = 0;
        m_isTooDeep = m_isUsed = false;
        std::memset(m_hops, 0, sizeof m_hops);
    }

    // Notes that `length` bytes at `at` were copied from `offset` bytes before.
    void copy(u32 at, u32 offset, u32 length)
    {
        const u32 to = at % SLUICE_GS_GROUP;
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
        u8 most = 0;
        for (u32 i = 0; i < SLUICE_GS_GROUP; ++i)
            most = std::max(most, m_hops[i]);
        m_isTooDeep = m_isTooDeep || most > m_most;
        m_isUsed = false;
        std::memset(m_hops, 0, sizeof m_hops);
    }

    // The first bytes that it copies lie before the group.
    void copyFromBorder(u32 to, u32 offset, u32 length)
    {
        const u32 outside = offset - to;
        if (offset >= length) {
            addOne(m_hops + to + outside, m_hops, length - outside);
            return;
        }
        for (u32 k = 0; k < length; ++k)
            if (k % offset >= outside) m_hops[to + k] = u8(m_hops[k % offset - outside] + 1);
    }

    // Sets to[i] = from[i] + 1; the ranges do not overlap. No number passes 255, since a copy has
    // at least 3 bytes and a group therefore fewer than 171 copies.
    static void addOne(u8* to, const u8* from, u32 size)
    {
        constexpr u64 kOnes = 0x0101010101010101u;
        if (size < 8) {
            for (u32 i = 0; i < size; ++i)
                to[i] = u8(from[i] + 1);
            return;
        }
        const u32 last = size - 8; // written twice in part
        for (u32 i = 0; i < last; i += 8)
            storeLe64(to + i, loadLe64(from + i) + kOnes);
        storeLe64(to + last, loadLe64(from + last) + kOnes);
    }

    // Writes the first `period` bytes again and again.
    static void repeat(u8* to, u32 period, u32 size)
    {
        if (period == 1) {
            std::memset(to, to[-1] + 1, size);
            return;
        }
        addOne(to, to - period, period);
        for (u32 done = period; done < size;) {
            const u32 more = std::min(done, size - done);
            std::memcpy(to + done, to, more);
            done += more;
        }
    }

    u32 m_most, m_group;
    bool m_isTooDeep, m_isUsed;
    u8 m_hops[SLUICE_GS_GROUP];
};

} // namespace sluice::cpu::fast
