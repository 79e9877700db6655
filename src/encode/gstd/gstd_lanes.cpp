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
u32 unread(u32 state, u32 frequency, u32 start, u32 log)
{
    return (state / frequency << log) + state % frequency + start;
}

} // namespace

// The decoder refills a lane before each read if its state is below 2^16 and words are left. So all
// states must be at least 2^16 when the first word is written here, which is the decoder's last.
// Until then they need not be, so lanes start as low as still reaches that in time.
void LaneWriter::chooseStarts(u32* starts) const
{
    std::fill_n(starts, kLanes, 0u);
    bool reads[kLanes] = {};
    u32 reading = 0; // lanes
    for (size_t i = 0; i < m_reads.size() && reading < kLanes; ++i) {
        reading += reads[m_reads[i].lane] ? 0 : 1;
        reads[m_reads[i].lane] = true;
    }
    for (bool again = true; again;) {
        again = false;
        u32 states[kLanes];
        std::copy_n(starts, kLanes, states);
        size_t i = m_reads.size();
        while (i-- > 0) {
            const Read& read = m_reads[i];
            u32& state = states[read.lane];
            state = unread(state, read.frequency, read.start, read.log);
            if (state > read.most) break;
        }
        if (i == SIZE_MAX) return; // no word is written, as everything fits into the first states
        for (u32 lane = 0; lane < kLanes; ++lane) {
            if (states[lane] >= 0x10000 || !reads[lane]) continue;
            starts[lane] = starts[lane] == 0 ? 1 : starts[lane] * 2;
            again = true;
        }
    }
}

void LaneWriter::finish(std::vector<u16>& words) const
{
    const size_t begin = words.size();
    u32 states[kLanes];
    chooseStarts(states);
    words.resize(begin + m_reads.size()); // no read takes more than a word
    u16* end = words.data() + begin;
    for (size_t i = m_reads.size(); i-- > 0;) {
        const Read& read = m_reads[i];
        const u32 state = unread(states[read.lane], read.frequency, read.start, read.log);
        // Whether there is a word cannot be predicted, so no branch depends on it.
        const bool isFull = state > read.most;
        *end = u16(state);
        end += isFull ? 1 : 0;
        states[read.lane] = isFull ? state >> 16 : state;
    }
    words.resize(size_t(end - words.data()));
    for (u32 lane = kLanes; lane-- > 0;) {
        if (states[lane] != 0 || words.size() != begin) words.push_back(u16(states[lane]));
    }
    std::reverse(words.begin() + ptrdiff_t(begin), words.end());
}

} // namespace sluice::gstd
