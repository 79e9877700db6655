// SPDX-License-Identifier: MIT OR Apache-2.0
// The layout of a patch, for its reader and its writer (docs/format.md, 11).
#pragma once

#include <memory>

#include <xxhash.h>

#include "formats/little_endian.h"

namespace sluice {

constexpr uint8_t kPatchMagic[8] = {0x8b, 'S', 'L', 'U', 'P', 'A', 'T', 0x0a};
constexpr uint32_t kPatchVersionMajor = 1, kPatchVersionMinor = 0;

// Byte offsets in the header.
enum PatchField : uint32_t {
    patchMagic = 0,           // u8[8]
    patchVersionMajor = 8,    // u16
    patchVersionMinor = 10,   // u16
    patchOperationCount = 12, // u32
    patchOldSize = 16,        // u64
    patchNewSize = 24,        // u64
    patchOldStart = 32,       // u64
    patchNewChecksum = 40,    // u8[16]
    patchListOffset = 56,     // u64
    patchListStored = 64,     // u32
    patchListSize = 68,       // u32
    patchListChecksum = 72,   // u32
    patchReserved = 76,       // u32[4]
    patchHeaderChecksum = 92, // u32: XXH32 of bytes 0 .. 91
    patchHeaderBytes = 96,
};

enum class PatchKind : uint32_t {
    copy = 0,       // bytes of the old file
    carry = 1,      // bytes of the patch
    difference = 2, // a zstd frame of the patch, with bytes of the old file as its prefix
    sum = 3,        // bytes of a zstd frame plus bytes of the old file, each modulo 256
};

struct PatchOperation {
    PatchKind kind;
    uint64_t size;      // bytes of the new file
    uint64_t oldOffset; // has no meaning for carry
    uint32_t stored;    // difference, sum: bytes of the frame
    uint32_t prefix;    // difference: bytes of the old file that are its prefix
};

// Computes the 128-bit XXH3 of data that arrives in pieces.
class WholeChecksum {
public:
    WholeChecksum() : m_state(XXH3_createState(), XXH3_freeState)
    {
        if (m_state == nullptr) throw std::bad_alloc();
        XXH3_128bits_reset(m_state.get());
    }
    void add(const void* bytes, size_t size) { XXH3_128bits_update(m_state.get(), bytes, size); }
    void store(uint8_t* to) const
    {
        XXH128_canonical_t canonical;
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(m_state.get()));
        std::memcpy(to, canonical.digest, sizeof canonical.digest);
    }

private:
    std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> m_state;
};

} // namespace sluice
