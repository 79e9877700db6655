// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of a Gstd part. What the 32 lanes read is collected in the decoder's order; rANS (Duda
// 2009; the interleaving is that of Giesen, Interleaved entropy coders, 2014) is then encoded from
// the last to the first.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::gstd {

constexpr uint32_t kLanes = 32;

class LaneWriter {
public:
    void clear();
    // The lane reads a symbol with so many of 2^log slots, from `start` on.
    void symbol(uint32_t lane, uint32_t frequency, uint32_t start, uint32_t log)
    {
        reads_.push_back({static_cast<uint16_t>(frequency), static_cast<uint16_t>(start),
                          static_cast<uint8_t>(log), static_cast<uint8_t>(lane), last_[lane]});
        last_[lane] = static_cast<int32_t>(reads_.size() - 1);
    }
    // The lane reads n bits, 0 .. 16.
    void bits(uint32_t lane, uint32_t value, uint32_t n)
    {
        if (n != 0) symbol(lane, 1, value, n);
    }
    // Appends the words to `words`.
    void finish(std::vector<uint16_t>& words) const;

private:
    uint64_t limitAfter(int32_t read) const;
    void chooseStarts(uint32_t* starts) const;

    struct Read {
        uint16_t frequency, start;
        uint8_t log, lane;
        int32_t before; // the lane's read before this one, -1: none
    };

    std::vector<Read> reads_;
    int32_t last_[kLanes];
};

} // namespace sluice::gstd
