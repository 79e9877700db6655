// SPDX-License-Identifier: MIT OR Apache-2.0
// Access to device memory. On the CPU backend it is host memory, and a buffer's handle is its
// address.
#pragma once

#include <sluice/sluice.h>

#include <algorithm>

#include "formats/integers.h"

namespace sluice::cpu {

// Converts an address to a pointer.
template <typename T>
T* pointer(uint64_t address)
{
    return reinterpret_cast<T*>(uintptr_t(address));
}
// Returns a pointer to the beginning of a buffer's range.
template <typename T>
T* pointer(const SluiceBuffer& buffer)
{
    return pointer<T>(buffer.handle + buffer.offset);
}

// Returns the count that a buffer holds, but at most `most`. If there is no buffer (size 0),
// returns `most`.
inline uint32_t countOf(const SluiceBuffer& buffer, uint32_t most)
{
    return buffer.size == 0 ? most : std::min(most, *pointer<const uint32_t>(buffer));
}

} // namespace sluice::cpu
