// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes 32 interleaved bit streams in the order in which the decoder's refills take their words.
#pragma once

#include "formats/gdeflate_symbols.h"

namespace sluice::gdeflate {

// A decoder lane starts with one word and takes another whenever it holds fewer than 32 bits, so a
// lane that has consumed P bits has taken 1 + ceil(P / 32) words. The writer hands out the place of
// each word at the step at which the decoder takes it, and fills it in once its bits are known.
// Callers put the lanes of one round in ascending order.
class LaneWriter {
public:
    // `words` has room for 64 words and one more for every 32 bits that are put.
    explicit LaneWriter(uint32_t* words) : m_words(words)
    {
        for (Lane& lane : m_lanes)
            lane.slot = m_taken++;
    }

    // Appends `count` (0 .. 31) bits, whose higher bits are 0, to a lane: one step of a decoder
    // lane, or a part of one. Steps have at most 31 bits. Code lengths are hard to predict, so
    // there is no branch here.
    void put(uint32_t lane, uint32_t bits, uint32_t count)
    {
        Lane& to = m_lanes[lane];
        const uint32_t end = to.used + count;
        const bool full = end >= 32;
        const bool takes = (to.used + 31) / 32 != (end + 31) / 32;
        to.bits |= uint64_t(bits) << to.used;
        m_words[to.slot] = uint32_t(to.bits);
        to.bits >>= full ? 32 : 0;
        to.slot = full ? to.nextSlot : to.slot;
        to.used = end % 32;
        to.nextSlot = takes ? m_taken : to.nextSlot;
        m_taken += takes;
    }

    // Fills in the remaining words and returns the number of words of the stream.
    uint32_t finish()
    {
        for (const Lane& lane : m_lanes) {
            m_words[lane.slot] = uint32_t(lane.bits);
            if (lane.used != 0) m_words[lane.nextSlot] = 0;
        }
        return m_taken;
    }

private:
    struct Lane {
        uint64_t bits = 0;
        uint32_t used = 0;     // bits of the open word that are set
        uint32_t slot = 0;     // place of the open word
        uint32_t nextSlot = 0; // place of the word after it; meaningful while used is not 0
    };

    uint32_t* m_words;
    uint32_t m_taken = 0;
    Lane m_lanes[kLanes];
};

} // namespace sluice::gdeflate
