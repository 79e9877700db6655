// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of a Gstd part. The reads of the 32 lanes are collected in the decoder's order; rANS
// (Duda 2009; the interleaving is that of Giesen, Interleaved entropy coders, 2014) then encodes
// them from the last to the first.
#pragma once

#include <vector>

#include "layout/gstd.h"
#include "formats/integers.h"

namespace sluice::gstd {

constexpr uint32_t kLanes = SLUICE_GS_LANES;

class LaneWriter {
public:
    void clear();
    // The lane reads a symbol with `frequency` of 2^log slots, from `start` on.
    void symbol(uint32_t lane, uint32_t frequency, uint32_t start, uint32_t log)
    {
        m_reads.push_back(
            {uint16_t(frequency), uint16_t(start), uint8_t(log), uint8_t(lane), m_most[lane]});
        m_most[lane] = uint32_t((uint64_t(frequency) << (32 - log)) - 1);
    }
    // The lane reads n bits, 0 .. 16.
    void bits(uint32_t lane, uint32_t value, uint32_t n)
    {
        if (n != 0) symbol(lane, 1, value, n);
    }
    // Appends the words to `words`.
    void finish(std::vector<uint16_t>& words) const;

private:
    void chooseStarts(uint32_t* starts) const;

    struct Read {
        uint16_t frequency, start;
        uint8_t log, lane;
        uint32_t most; // the largest state that the lane's read before this one may leave
    };

    std::vector<Read> m_reads;
    // The last read of each lane must not leave more than this, or the state before it would have
    // more than 32 bits. At its start a lane has a single word.
    uint32_t m_most[kLanes];
};

} // namespace sluice::gstd
