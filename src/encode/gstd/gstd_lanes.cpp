// SPDX-License-Identifier: MIT OR Apache-2.0
// rANS runs backwards: it encodes the reads of a part from the last to the first. So what this file
// calls the start of a lane is the point where the decoder ends.
#include "encode/gstd/gstd_lanes.h"

#include <algorithm>

namespace sluice::gstd {

void LaneWriter::clear()
{
    m_reads.clear();
    std::fill_n(m_most, kLanes, 0xffffu);
}

namespace {

// Returns the rANS state that a decoder has before it reads a symbol, given its state after that.
// The symbol owns `frequency` of the 2^log slots, from slot `start` on.
uint32_t unread(uint32_t state, uint32_t frequency, uint32_t start, uint32_t log)
{
    return (state / frequency << log) + state % frequency + start;
}

} // namespace

// Chooses the state with which the encoder starts each lane. It works backwards, so this is the
// state with which the decoder ends.
//
// The decoder refills a lane before a read if the lane's state is below 2^16 and words are left.
// The last word that the decoder takes is the first one that the encoder writes. Once it is
// written, all states must be at least 2^16. Before that they may be lower, because the decoder has
// no words left to refill with. Low states save bits, so each lane starts with the lowest state
// that reaches 2^16 in time.
void LaneWriter::chooseStarts(uint32_t* starts) const
{
    std::fill_n(starts, kLanes, 0u);
    bool reads[kLanes] = {};
    uint32_t reading = 0; // number of lanes that read anything
    for (size_t i = 0; i < m_reads.size() && reading < kLanes; ++i) {
        reading += reads[m_reads[i].lane] ? 0 : 1;
        reads[m_reads[i].lane] = true;
    }
    for (bool again = true; again;) {
        again = false;
        uint32_t states[kLanes];
        std::copy_n(starts, kLanes, states);
        size_t i = m_reads.size();
        while (i-- > 0) {
            const Read& read = m_reads[i];
            uint32_t& state = states[read.lane];
            state = unread(state, read.frequency, read.start, read.log);
            if (state > read.most) break;
        }
        if (i == SIZE_MAX) return; // all reads fit into the decoder's first words
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
            if (states[lane] >= 0x10000 || !reads[lane]) continue;
            starts[lane] = starts[lane] == 0 ? 1 : starts[lane] * 2;
            again = true;
        }
    }
}

void LaneWriter::finish(std::vector<uint16_t>& words) const
{
    const size_t begin = words.size();
    uint32_t states[kLanes];
    chooseStarts(states);
    words.resize(begin + m_reads.size()); // a read adds at most one word
    uint16_t* end = words.data() + begin;
    for (size_t i = m_reads.size(); i-- > 0;) {
        const Read& read = m_reads[i];
        const uint32_t state = unread(states[read.lane], read.frequency, read.start, read.log);
        // There is no branch, because a CPU cannot predict whether a word is written.
        const bool isFull = state > read.most;
        *end = uint16_t(state);
        end += isFull ? 1 : 0;
        states[read.lane] = isFull ? state >> 16 : state;
    }
    words.resize(size_t(end - words.data()));
    for (uint32_t lane = kLanes; lane-- > 0;) {
        if (states[lane] != 0 || words.size() != begin) words.push_back(uint16_t(states[lane]));
    }
    std::reverse(words.begin() + ptrdiff_t(begin), words.end());
}

} // namespace sluice::gstd
