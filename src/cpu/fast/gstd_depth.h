// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the depth of the copies of a Gstd tile (docs/format.md, 7.6). The output is cut into
// *groups* of 512 bytes. If a match copies a byte from the byte's own group, the copy has one *hop*
// more than its source; all other bytes have 0 hops. No byte may have more hops than the tile's
// header allows.
#pragma once

#include "layout/gstd.h"
#include "formats/little_endian.h"

#include <algorithm>

namespace sluice::cpu::fast {

// Counts the hops of each byte of one group of 512 bytes, the group that is being written: through
// how many copies within the group the byte came. A match whose source lies outside the group adds
// no hops and takes almost no time here.
class Depths {
public:
    // Begins a tile. most: the highest number of hops that the tile's header allows.
    void start(uint32_t most)
    {
        m_most = most;
        m_group = 0;
        m_isTooDeep = m_isUsed = false;
        std::memset(m_hops, 0, sizeof m_hops);
    }

    // Records that a match copied `length` bytes to position `at` of the tile, from `offset` bytes
    // before. Call this for the matches in ascending order of `at`.
    void copy(uint32_t at, uint32_t offset, uint32_t length)
    {
        const uint32_t to = at % SLUICE_GS_GROUP; // offset in the group
        // A match reads only bytes before `at`: if it overlaps itself, it repeats those bytes. So
        // what it writes to later groups comes from other groups and has no hops. Only the bytes
        // that it writes to the first group matter.
        length = std::min(length, SLUICE_GS_GROUP - to);
        // Return if the match copies nothing from this group, so that no byte gets a hop.
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

    // Ends the tile. Returns whether no byte has too many hops.
    bool finish()
    {
        leaveGroup();
        return !m_isTooDeep;
    }

private:
    // Checks that no byte of the current group has too many hops, and forgets its hops.
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

    // Records a match whose source begins before the group and reaches into it. Only the bytes that
    // it copies from inside the group get a hop.
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

    // Sets to[i] = from[i] + 1. The ranges must not overlap. No sum exceeds 255: a match has at
    // least 3 bytes, so a group of 512 bytes has at most 171 matches, and each adds at most one
    // hop.
    static void addOne(uint8_t* to, const uint8_t* from, uint32_t size)
    {
        constexpr uint64_t kOnes = 0x0101010101010101u;
        if (size < 8) {
            for (uint32_t i = 0; i < size; ++i)
                to[i] = uint8_t(from[i] + 1);
            return;
        }
        const uint32_t last = size - 8; // the last 8 bytes; they may overlap the 8 before them
        for (uint32_t i = 0; i < last; i += 8)
            storeLe64(to + i, loadLe64(from + i) + kOnes);
        storeLe64(to + last, loadLe64(from + last) + kOnes);
    }

    // Records a match that overlaps itself. Its first `period` bytes are copies of the bytes before
    // `to` and have one hop more than those. The other bytes repeat the hops of the first ones.
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

    uint32_t m_most, m_group;   // most allowed hops; offset of the current group in the tile
    bool m_isTooDeep, m_isUsed; // isUsed: some byte of the current group has hops
    uint8_t m_hops[SLUICE_GS_GROUP];
};

} // namespace sluice::cpu::fast
