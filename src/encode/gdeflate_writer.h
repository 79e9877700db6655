// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes 32 interleaved bit streams in the order in which the decoder's refills take their words.
#pragma once

#include "gdeflate_format.h"

#include <cstddef>

namespace sluice::gdeflate {

// A decoder lane starts with one word and takes another whenever it holds fewer than 32 bits, so a lane that has
// consumed P bits has taken 1 + ceil(P / 32) words. The writer hands out the place of each word at the step at which the
// decoder takes it, and fills it in once its bits are known. Callers put the lanes of one round in ascending order.
class LaneWriter {
public:
    LaneWriter(uint32_t* words, size_t capacity) : words_(words), capacity_(capacity)
    {
        for (Lane& lane : lanes_) {
            lane.slot = takeWord();
        }
    }

    // Appends the low `count` (0 .. 31) bits to a lane: one step of a decoder lane, or a part of one. Steps have at most
    // 31 bits.
    void put(uint32_t lane, uint32_t bits, uint32_t count)
    {
        Lane& to = lanes_[lane];
        const uint32_t end = to.used + count;
        const bool takes = to.used == 0 ? count != 0 : end > 32;
        to.bits |= static_cast<uint64_t>(bits) << to.used;
        to.used = end;
        if (end >= 32) {
            words_[to.slot] = static_cast<uint32_t>(to.bits);
            to.bits >>= 32;
            to.used = end - 32;
            to.slot = to.nextSlot;
        }
        if (takes) {
            to.nextSlot = takeWord();
        }
    }

    // Stores what is left; returns the words of the stream, or 0 if they did not fit.
    size_t finish()
    {
        for (const Lane& lane : lanes_) {
            if (lane.used != 0) {
                words_[lane.slot] = static_cast<uint32_t>(lane.bits);
            }
        }
        return overflow_ ? 0 : next_;
    }

private:
    struct Lane {
        uint64_t bits = 0;
        uint32_t used = 0; // bits of the open word that are set
        uint32_t slot = 0; // place of the open word
        uint32_t nextSlot = 0; // place of the word after it; meaningful while used is not 0
    };

    uint32_t takeWord()
    {
        if (next_ == capacity_) {
            overflow_ = true;
            next_ = 0;
        }
        words_[next_] = 0;
        return static_cast<uint32_t>(next_++);
    }

    uint32_t* words_;
    size_t capacity_; // at least kLanes
    size_t next_ = 0;
    bool overflow_ = false;
    Lane lanes_[kLanes];
};

} // namespace sluice::gdeflate
