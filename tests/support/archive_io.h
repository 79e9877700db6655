// SPDX-License-Identifier: MIT OR Apache-2.0
// Callbacks for an archive writer: it reads from memory and writes to memory.
#pragma once

#include <sluice/sluice_archive.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace sluice::test {

// A SluiceReadBytes callback. user: a MemorySource.
struct MemorySource {
    const std::vector<uint8_t>& bytes;
    size_t at = 0;

    static SluiceStatus read(void* user, void* to, size_t size)
    {
        MemorySource& source = *static_cast<MemorySource*>(user);
        REQUIRE(size <= source.bytes.size() - source.at);
        std::memcpy(to, source.bytes.data() + source.at, size);
        source.at += size;
        return SLUICE_OK;
    }
};

// A SluiceWriteBytes callback. user: a vector of bytes, which grows.
inline SluiceStatus writeMemory(void* user, uint64_t offset, const void* bytes, size_t size)
{
    std::vector<uint8_t>& output = *static_cast<std::vector<uint8_t>*>(user);
    output.resize(std::max(output.size(), size_t(offset) + size));
    std::memcpy(output.data() + offset, bytes, size);
    return SLUICE_OK;
}

} // namespace sluice::test
