// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks of SluiceBuffer arguments, the same for every backend.
#pragma once

#include "api/arguments.h"

namespace sluice {

// Returns whether two ranges overlap. Ranges of different handles count as separate.
inline bool overlap(const SluiceBuffer& a, const SluiceBuffer& b)
{
    return a.handle == b.handle && a.size != 0 && b.size != 0 && a.offset < b.offset + b.size &&
           b.offset < a.offset + a.size;
}

class RangeChecker : public ArgumentChecker {
public:
    // handlesAreAddresses: true for CPU and CUDA, where a buffer's handle is its address, so that
    // the alignment and the end of the address can be checked too.
    RangeChecker(const Reporter& reporter, const char* function, bool handlesAreAddresses)
        : ArgumentChecker(reporter, function), m_addresses(handlesAreAddresses)
    {
    }

    // Checks that a range has at least minimumSize bytes and starts at a multiple of `alignment`, a
    // power of two. A range of size 0, where it is allowed, may have any handle and offset.
    void buffer(const Named<SluiceBuffer>& range, uint64_t minimumSize, uint64_t alignment)
    {
        const SluiceBuffer& is = range.value;
        if (is.size < minimumSize)
            refuse(range.name, is.size, "has a size of at least the limit", minimumSize,
                   SLUICE_ERROR_BUFFER_SIZE);
        if (is.size == 0) return;
        require(range, is.handle != 0, "has a handle");
        if (is.offset % alignment != 0)
            refuse(range.name, is.offset, "has an offset that is a multiple of the limit",
                   alignment, SLUICE_ERROR_ARGUMENT);
        if (is.size > UINT64_MAX - is.offset)
            refuse(range.name, is.size, "ends within 64 bits, offset and size added", 0,
                   SLUICE_ERROR_ARGUMENT);
        if (!m_addresses) return;
        if ((is.handle + is.offset) % alignment != 0)
            refuse(range.name, is.handle + is.offset,
                   "has an address that is a multiple of the limit", alignment,
                   SLUICE_ERROR_ARGUMENT);
        if (is.handle > UINT64_MAX - is.offset - is.size)
            refuse(range.name, is.size, "ends within the address space", 0, SLUICE_ERROR_ARGUMENT);
    }

    // Checks a range that is optional: its size may be 0.
    void optionalBuffer(const Named<SluiceBuffer>& range, uint64_t minimumSize, uint64_t alignment)
    {
        if (range.value.size != 0) buffer(range, minimumSize, alignment);
    }

    void scratch(const Named<SluiceBuffer>& range, const SluiceRequirements& required)
    {
        if (required.scratchSize != 0)
            buffer(range, required.scratchSize, required.scratchAlignment);
    }

private:
    bool m_addresses;
};

} // namespace sluice
