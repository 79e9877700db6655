// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gstd_lanes.h"

#include <algorithm>

namespace sluice::gstd {

void LaneWriter::clear()
{
    m_reads.clear();
    std::fill_n(m_last, kLanes, -1);
}

namespace {

// The state before a read that left `state` behind.
u32 unread(u32 state, u32 frequency, u32 start, u32 log)
{
    return (state / frequency << log) + state % frequency + start;
}

} // namespace

// A read may leave behind a state below this; the state before it would have more than 32 bits
// otherwise. -1 stands for the lane's start, at which it has a single word.
u64 LaneWriter::limitAfter(int32_t read) const
{
    if (read < 0) return 0x10000;
    const Read& r = m_reads[size_t(read)];
    return u64(r.frequency) << (32 - r.log);
}

// The decoder refills a lane before each read if its state is below 2^16 and words are left. So all
// states must be 2^16 at least when the first word is written here, which is the decoder's last.
// Until then they need not be, so lanes start as low as gets them there in time.
void LaneWriter::chooseStarts(u32* starts) const
{
    std::fill_n(starts, kLanes, 0u);
    for (bool again = true; again;) {
        again = false;
        u32 states[kLanes];
        std::copy_n(starts, kLanes, states);
        size_t i = m_reads.size();
        while (i-- > 0) {
            const Read& read = m_reads[i];
            u32& state = states[read.lane];
            state = unread(state, read.frequency, read.start, read.log);
            if (state >= limitAfter(read.previous)) break;
        }
        if (i == SIZE_MAX) return; // no word is written: all fits into the first states
        for (u32 lane = 0; lane < kLanes; ++lane) {
            if (states[lane] >= 0x10000 || m_last[lane] < 0) continue;
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
        // Whether there is a word cannot be foreseen, so no branch depends on it.
        const bool isFull = state >= limitAfter(read.previous);
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
