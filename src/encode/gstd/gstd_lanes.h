// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of a Gstd part. The reads of the 32 lanes are collected in the decoder's order; rANS
// (Duda 2009; the interleaving is that of Giesen, Interleaved entropy coders, 2014) then encodes
// them from the last to the first.
#pragma once

#include <vector>

#include "layout/gstd.h"
#include "formats/integers.h"

namespace sluice::gstd {

constexpr u32 kLanes = SLUICE_GS_LANES;

class LaneWriter {
public:
    void clear();
    // The lane reads a symbol with `frequency` of 2^log slots, from `start` on.
    void symbol(u32 lane, u32 frequency, u32 start, u32 log)
    {
        m_reads.push_back({u16(frequency), u16(start), u8(log), u8(lane), m_most[lane]});
        m_most[lane] = u32((u64(frequency) << (32 - log)) - 1);
    }
    // The lane reads n bits, 0 .. 16.
    void bits(u32 lane, u32 value, u32 n)
    {
        if (n != 0) symbol(lane, 1, value, n);
    }
    // Appends the words to `words`.
    void finish(std::vector<u16>& words) const;

private:
    void chooseStarts(u32* starts) const;

    struct Read {
        u16 frequency, start;
        u8 log, lane;
        u32 most; // the largest state that the lane's read before this one may leave
    };

    std::vector<Read> m_reads;
    // The last read of each lane must not leave more than this, or the state before it would have
    // more than 32 bits. At its start a lane has a single word.
    u32 m_most[kLanes];
};

} // namespace sluice::gstd
