// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/gstd/gstd_lanes.h"

#include <algorithm>

namespace sluice::gstd {

void LaneWriter::clear()
{
    m_reads.clear();
    std::fill_n(m_most, kLanes, 0xffffu);
}

namespace {

// Returns the state before a read that left `state`.
uint32_t unread(uint32_t state, uint32_t frequency, uint32_t start, uint32_t log)
{
    return (state / frequency << log) + state % frequency + start;
}

} // namespace

// Chooses the state with which each lane starts here, which is the decoder's last one. The decoder
// refills a lane before each read if its state is below 2^16 and words are left. So the states of
// all lanes must be at least 2^16 when the first word is written here, which is the last one that
// the decoder takes. Before that they may be lower, so each lane starts with the lowest state that
// grows to 2^16 in time; this saves bits.
void LaneWriter::chooseStarts(uint32_t* starts) const
{
    std::fill_n(starts, kLanes, 0u);
    bool reads[kLanes] = {};
    uint32_t reading = 0; // lanes
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
        if (i == SIZE_MAX) return; // no word is written, as everything fits into the first states
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
    words.resize(begin + m_reads.size()); // each read adds at most one word
    uint16_t* end = words.data() + begin;
    for (size_t i = m_reads.size(); i-- > 0;) {
        const Read& read = m_reads[i];
        const uint32_t state = unread(states[read.lane], read.frequency, read.start, read.log);
        // No branch depends on whether there is a word, since that cannot be predicted.
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
