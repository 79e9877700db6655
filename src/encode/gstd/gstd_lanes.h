// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of a Gstd part. The reads of the 32 lanes are collected in the order in which the
// decoder makes them. Then rANS (Duda 2009; interleaved as in Giesen, Interleaved entropy coders,
// 2014) encodes them from the last to the first.
#pragma once

#include <vector>

#include "layout/gstd.h"
#include "formats/integers.h"

namespace sluice::gstd {

constexpr uint32_t kLanes = SLUICE_GS_LANES;

class LaneWriter {
public:
    void clear();
    // Adds a lane's read of a symbol that owns `frequency` of the 2^log slots, beginning at slot
    // `start`.
    void symbol(uint32_t lane, uint32_t frequency, uint32_t start, uint32_t log)
    {
        m_reads.push_back(
            {uint16_t(frequency), uint16_t(start), uint8_t(log), uint8_t(lane), m_most[lane]});
        m_most[lane] = uint32_t((uint64_t(frequency) << (32 - log)) - 1);
    }
    // Adds a lane's read of n plain bits, 0 <= n <= 16.
    void bits(uint32_t lane, uint32_t value, uint32_t n)
    {
        if (n != 0) symbol(lane, 1, value, n);
    }
    // Encodes all reads that were added, and appends the resulting words.
    void finish(std::vector<uint16_t>& words) const;

private:
    void chooseStarts(uint32_t* starts) const;

    struct Read {
        uint16_t frequency, start;
        uint8_t log, lane;
        uint32_t most; // the largest state in which the lane's previous read may leave it
    };

    std::vector<Read> m_reads;
    // For each lane, the largest state that a decoder may have after the lane's latest read. With a
    // larger one, the decoder's state before that read would exceed 32 bits. The initial value is
    // 2^16 - 1, since a decoder begins with a state of one 16-bit word.
    uint32_t m_most[kLanes];
};

} // namespace sluice::gstd
