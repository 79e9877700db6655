// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gstd_lanes.h"

#include <algorithm>

namespace sluice::gstd {

void LaneWriter::clear()
{
    reads_.clear();
    std::fill_n(last_, kLanes, -1);
}

namespace {

// What the state was before a read that left it behind as it is.
uint32_t unread(uint32_t state, uint32_t frequency, uint32_t start, uint32_t log)
{
    return (state / frequency << log) + state % frequency + start;
}

} // namespace

// The state that a read may leave behind is below this, else the one before it has more than 32
// bits. -1 is what a lane begins with, a single word.
uint64_t LaneWriter::limitAfter(int32_t read) const
{
    if (read < 0) return 0x10000;
    const Read& r = reads_[static_cast<size_t>(read)];
    return static_cast<uint64_t>(r.frequency) << (32 - r.log);
}

// The decoder refills a lane before each read if its state is below 2^16 and words are left. So
// from the first word that is written here, which is the decoder's last, all states must be 2^16 at
// least; before it they need not, and lanes may start from as little as gets them there by then.
void LaneWriter::chooseStarts(uint32_t* starts) const
{
    std::fill_n(starts, kLanes, 0u);
    for (bool again = true; again;) {
        again = false;
        uint32_t states[kLanes];
        std::copy_n(starts, kLanes, states);
        size_t i = reads_.size();
        while (i-- > 0) {
            const Read& read = reads_[i];
            uint32_t& state = states[read.lane];
            state = unread(state, read.frequency, read.start, read.log);
            if (state >= limitAfter(read.before)) break;
        }
        if (i == SIZE_MAX) return; // all fits into the first states
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
            if (states[lane] >= 0x10000 || last_[lane] < 0) continue;
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
    for (size_t i = reads_.size(); i-- > 0;) {
        const Read& read = reads_[i];
        uint32_t state = unread(states[read.lane], read.frequency, read.start, read.log);
        if (state >= limitAfter(read.before)) {
            words.push_back(static_cast<uint16_t>(state));
            state >>= 16;
        }
        states[read.lane] = state;
    }
    for (uint32_t lane = kLanes; lane-- > 0;) {
        if (states[lane] != 0 || words.size() != begin)
            words.push_back(static_cast<uint16_t>(states[lane]));
    }
    std::reverse(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end());
}

} // namespace sluice::gstd
