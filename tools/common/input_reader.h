// SPDX-License-Identifier: MIT OR Apache-2.0
// Gives the bytes of an input file to an archive writer, and moves the progress line.
#pragma once

#include <algorithm>

#include "tools/common/files.h"
#include "tools/common/progress.h"

namespace sluice {

// Supplies the input's bytes in order; to be used as Transfer::onRead.
class InputReader {
public:
    // Only the first `counted` bytes of the input move the progress line.
    InputReader(const InputFile& input, uint64_t counted, Progress& progress)
        : m_input(input), m_counted(counted), m_progress(progress)
    {
    }
    void operator()(void* bytes, size_t size)
    {
        m_input.read(m_offset, bytes, size);
        m_offset += size;
        const uint64_t counts = std::min<uint64_t>(size, m_counted);
        m_counted -= counts;
        m_progress.advance(counts);
    }

private:
    const InputFile& m_input;
    uint64_t m_counted;
    Progress& m_progress;
    uint64_t m_offset = 0;
};

} // namespace sluice
