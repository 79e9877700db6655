// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks of SluiceBuffer arguments, the same for every backend.
#pragma once

#include <sluice/sluice.h>

namespace sluice {

// Checks buffers one by one and remembers the first error.
class RangeChecker {
public:
    // With `addresses`, a handle is the address itself (CPU, CUDA) and is checked too.
    explicit RangeChecker(bool handlesAreAddresses) : m_addresses(handlesAreAddresses) {}

    void require(bool condition, SluiceStatus otherwise)
    {
        if (m_result == SLUICE_OK && !condition) m_result = otherwise;
    }

    // Checks a range of at least minimumSize bytes, aligned to a power of two. An empty range need
    // not point anywhere.
    void buffer(const SluiceBuffer& range, uint64_t minimumSize, uint64_t alignment)
    {
        require(range.size >= minimumSize, SLUICE_ERROR_BUFFER_SIZE);
        if (range.size == 0) return;
        require(range.handle != 0 && range.offset % alignment == 0, SLUICE_ERROR_ARGUMENT);
        require(range.size <= UINT64_MAX - range.offset, SLUICE_ERROR_ARGUMENT);
        if (m_addresses) {
            require((range.handle + range.offset) % alignment == 0, SLUICE_ERROR_ARGUMENT);
            require(range.handle <= UINT64_MAX - range.offset - range.size, SLUICE_ERROR_ARGUMENT);
        }
    }

    // Checks a range that is optional: its size may be 0.
    void optionalBuffer(const SluiceBuffer& range, uint64_t minimumSize, uint64_t alignment)
    {
        if (range.size != 0) buffer(range, minimumSize, alignment);
    }

    void scratch(const SluiceBuffer& range, const SluiceRequirements& required)
    {
        if (required.scratchSize != 0)
            buffer(range, required.scratchSize, required.scratchAlignment);
    }

    SluiceStatus status() const { return m_result; }

private:
    bool m_addresses;
    SluiceStatus m_result = SLUICE_OK;
};

} // namespace sluice
