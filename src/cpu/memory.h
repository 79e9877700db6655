// SPDX-License-Identifier: MIT OR Apache-2.0
// Device memory is the host's.
#pragma once

#include <sluice/sluice.h>

#include <algorithm>

#include "formats/integers.h"

namespace sluice::cpu {

template <typename T>
T* pointer(uint64_t address)
{
    return reinterpret_cast<T*>(uintptr_t(address));
}
template <typename T>
T* pointer(const SluiceBuffer& buffer)
{
    return pointer<T>(buffer.handle + buffer.offset);
}

// Returns a count in GPU memory, limited to `most`; `most` if there is no such count.
inline uint32_t countOf(const SluiceBuffer& buffer, uint32_t most)
{
    return buffer.size == 0 ? most : std::min(most, *pointer<const uint32_t>(buffer));
}

} // namespace sluice::cpu
