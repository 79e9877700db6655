// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes 32 interleaved bit streams in the order in which the decoder's refills take their words.
#pragma once

#include "gdeflate_format.h"

namespace sluice::gdeflate {

// A decoder lane starts with one word and takes another whenever it holds fewer than 32 bits, so a
// lane that has consumed P bits has taken 1 + ceil(P / 32) words. The writer hands out the place of
// each word at the step at which the decoder takes it, and fills it in once its bits are known.
// Callers put the lanes of one round in ascending order.
class LaneWriter {
public:
    // words: room for 64 words and one more for every 32 bits that are put.
    explicit LaneWriter(uint32_t* words) : words_(words)
    {
        for (Lane& lane : lanes_) {
            lane.slot = taken_++;
        }
    }

    // Appends `count` (0 .. 31) bits to a lane, higher bits being 0: one step of a decoder lane, or
    // a part of one. Steps have at most 31 bits. Lengths of codes are hard to predict, so there is
    // no branch here.
    void put(uint32_t lane, uint32_t bits, uint32_t count)
    {
        Lane& to = lanes_[lane];
        const uint32_t end = to.used + count;
        const bool full = end >= 32;
        const bool takes = (to.used + 31) / 32 != (end + 31) / 32;
        to.bits |= static_cast<uint64_t>(bits) << to.used;
        words_[to.slot] = static_cast<uint32_t>(to.bits);
        to.bits >>= full ? 32 : 0;
        to.slot = full ? to.nextSlot : to.slot;
        to.used = end % 32;
        to.nextSlot = takes ? taken_ : to.nextSlot;
        taken_ += takes;
    }

    // Fills in what is left; returns the words of the stream.
    uint32_t finish()
    {
        for (const Lane& lane : lanes_) {
            words_[lane.slot] = static_cast<uint32_t>(lane.bits);
            if (lane.used != 0) {
                words_[lane.nextSlot] = 0;
            }
        }
        return taken_;
    }

private:
    struct Lane {
        uint64_t bits = 0;
        uint32_t used = 0;     // bits of the open word that are set
        uint32_t slot = 0;     // place of the open word
        uint32_t nextSlot = 0; // place of the word after it; meaningful while used is not 0
    };

    uint32_t* words_;
    uint32_t taken_ = 0;
    Lane lanes_[kLanes];
};

} // namespace sluice::gdeflate
