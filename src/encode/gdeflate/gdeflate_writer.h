// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the 32 bit streams of a tile, interleaved in the order in which the decoder's lanes take
// their words.
#pragma once

#include "formats/gdeflate_symbols.h"

namespace sluice::gdeflate {

// A decoder's lane begins with one word and takes another one when it holds fewer than 32 bits. So
// a lane that has used P bits has taken 1 + ceil(P / 32) words. The writer reserves a word's slot
// when the decoder would take the word, and fills it in when its bits are known. Callers must call
// put() for the lanes of a round in ascending order.
class LaneWriter {
public:
    // `words` must have room for 64 words and one more for every 32 bits that put() appends.
    explicit LaneWriter(uint32_t* words) : m_words(words)
    {
        for (Lane& lane : m_lanes)
            lane.slot = m_taken++;
    }

    // Appends the low `count` (0 .. 31) bits of `bits`, whose higher bits are 0, to a lane's
    // stream. The bits that a lane reads in one round, at most 31, may be passed in several calls.
    // There is no branch, because a CPU cannot predict when a word is full.
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

    // Writes the words that are not full. Returns the number of words of the stream.
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
        uint32_t used = 0;     // bits of the lane's current word that are known
        uint32_t slot = 0;     // index of the lane's current word
        uint32_t nextSlot = 0; // index of the lane's next word, if used is not 0
    };

    uint32_t* m_words;
    uint32_t m_taken = 0;
    Lane m_lanes[kLanes];
};

} // namespace sluice::gdeflate
