// SPDX-License-Identifier: MIT OR Apache-2.0
// Anonymous memory for rings.
#include "stream/system.h"

namespace {

constexpr uint64_t kHugePage = uint64_t(2) << 20;

uint64_t rounded(uint64_t size) { return (size + kHugePage - 1) / kHugePage * kHugePage; }

} // namespace

SluiceStatus sluiceStreamAllocateHost(uint64_t size, void** memory)
{
    if (memory == nullptr || size == 0 || size > (uint64_t(1) << 46)) return SLUICE_ERROR_ARGUMENT;
    *memory = sluice::stream::mapMemory(rounded(size), kHugePage);
    return *memory != nullptr ? SLUICE_OK : SLUICE_ERROR_OUT_OF_MEMORY;
}

void sluiceStreamFreeHost(void* memory, uint64_t size)
{
    if (memory != nullptr) sluice::stream::unmapMemory(memory, rounded(size));
}
