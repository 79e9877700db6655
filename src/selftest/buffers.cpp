// SPDX-License-Identifier: MIT OR Apache-2.0
// The buffers of a self-test. buffers.h explains the words guard and poison.
#include "selftest/buffers.h"

#include <algorithm>

namespace sluice::selftest {

SluiceBuffer CaseBuffers::allocate(uint64_t size)
{
    SluiceBuffer range = {0, 0, 0};
    if (status != SLUICE_OK || size == 0) return range;
    status = sluiceAllocate(m_device, size, &range);
    if (status == SLUICE_OK) m_ranges.push_back({range, range});
    return range;
}

SluiceBuffer CaseBuffers::guarded(const Bytes& contents, uint32_t misaligned)
{
    if (contents.empty()) return {0, 0, 0};
    const uint64_t before = kGuard + misaligned;
    Bytes whole((before + contents.size() + kGuard + 3) / 4 * 4, kPoison);
    std::copy(contents.begin(), contents.end(), whole.begin() + ptrdiff_t(before));
    SluiceBuffer range = input(whole);
    if (status != SLUICE_OK) return range;
    range.offset += before;
    range.size = contents.size();
    m_ranges.back().used = range;
    return range;
}

SluiceBuffer CaseBuffers::scratch(const SluiceRequirements& need, uint8_t fill)
{
    const size_t size = size_t((need.scratchSize + 3) / 4 * 4);
    return input(Bytes(size, need.zeroedScratch != 0 ? 0 : fill));
}

const SluiceBuffer& CaseBuffers::wholeOf(const SluiceBuffer& range) const
{
    for (const Range& one : m_ranges) {
        if (one.used.handle == range.handle && one.used.offset == range.offset) return one.whole;
    }
    return range;
}

Bytes CaseBuffers::read(const SluiceBuffer& range)
{
    Bytes bytes(size_t(range.size));
    if (status == SLUICE_OK && !bytes.empty())
        status = sluiceDownload(m_device, range, bytes.data(), bytes.size());
    return status == SLUICE_OK ? bytes : Bytes();
}

Bytes CaseBuffers::readWhole(const SluiceBuffer& range)
{
    return range.size == 0 ? Bytes() : read(wholeOf(range));
}

void CaseBuffers::appendIsZero(const SluiceBuffer& range)
{
    const Bytes bytes = read(range);
    const bool zero =
        std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
    if (status == SLUICE_OK) m_out.push_back(zero ? 1 : 0);
}

void CaseBuffers::append(const Bytes& bytes)
{
    if (status != SLUICE_OK || bytes.empty()) return;
    const size_t at = m_out.size();
    m_out.resize(at + (bytes.size() + 3) / 4);
    std::memcpy(m_out.data() + at, bytes.data(), bytes.size());
}

} // namespace sluice::selftest
