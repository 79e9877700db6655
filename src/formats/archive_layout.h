// SPDX-License-Identifier: MIT OR Apache-2.0
// Where things stand in a .sluice archive: shared by the parser and the writer. docs/format.md says
// what they mean.
#pragma once

#include <cstdint>
#include <string_view>

#include <sluice/sluice.h>

#include "xxh32.h"

namespace sluice {

// The first byte is no ASCII and the last is LF, so that copies damaged as text are noticed.
constexpr uint8_t archiveMagic[8] = {0x8b, 'S', 'L', 'U', 'I', 'C', 'E', 0x0a};
constexpr uint32_t archiveVersionMajor = 1;
constexpr uint32_t archiveVersionMinor = 0;

// Byte offsets in the header (64 bytes).
enum HeaderField : uint32_t {
    headerMagic = 0,          // u8[8]
    headerVersionMajor = 8,   // u16
    headerVersionMinor = 10,  // u16
    headerAssetCount = 12,    // u32
    headerFileSize = 16,      // u64
    headerIndexOffset = 24,   // u64
    headerTileCount = 32,     // u64
    headerBlockBytes = 40,    // u32
    headerNameBytes = 44,     // u32
    headerIndexChecksum = 48, // u32
    headerReserved = 52,      // u32[2]
    headerChecksum = 60,      // u32: XXH32 of bytes 0 .. 59
    headerBytes = 64,
};

// Byte offsets in an asset entry (40 bytes).
enum AssetField : uint32_t {
    assetSize = 0,             // u64
    assetOffset = 8,           // u64
    assetTileCount = 16,       // u32
    assetTileChecksum = 20,    // u32
    assetNameOffset = 24,      // u32
    assetNameLength = 28,      // u16
    assetTileSizeLog2 = 30,    // u8
    assetReserved = 31,        // u8
    assetType = 32,            // u32
    assetParameterOffset = 36, // u32, noParameters if there are none
    assetBytes = 40,
};
constexpr uint32_t noParameters = 0xffffffffu;

// Byte offsets in a tile record (24 bytes).
enum RecordField : uint32_t {
    recordOffset = 0,        // u64, from the start of the extent
    recordStoredSize = 8,    // u32
    recordSizeAndCodec = 12, // u32: size in bits 0 .. 23, codec in bits 24 .. 31
    recordChecksum = 16,     // u32
    recordFilterOffset = 20, // u32
    recordBytes = 24,
};

constexpr uint32_t archiveAlignment = 16;
inline uint64_t alignArchive(uint64_t offset)
{
    return (offset + (archiveAlignment - 1)) & ~uint64_t(archiveAlignment - 1);
}

inline uint32_t loadLe16(const uint8_t* bytes)
{
    return uint32_t(bytes[0]) | uint32_t(bytes[1]) << 8;
}
inline uint64_t loadLe64(const uint8_t* bytes)
{
    return loadLe32(bytes) | uint64_t(loadLe32(bytes + 4)) << 32;
}

inline void storeLe16(uint8_t* bytes, uint32_t value)
{
    bytes[0] = uint8_t(value);
    bytes[1] = uint8_t(value >> 8);
}
inline void storeLe32(uint8_t* bytes, uint32_t value)
{
    storeLe16(bytes, value);
    storeLe16(bytes + 2, value >> 16);
}
inline void storeLe64(uint8_t* bytes, uint64_t value)
{
    storeLe32(bytes, uint32_t(value));
    storeLe32(bytes + 4, uint32_t(value >> 32));
}

constexpr uint32_t filterItemKind = 1; // the description of a filter

// Parameter items: u16 kind, u16 flags (bit 0: a reader must know the kind), u32 size, bytes, zeros
// to a multiple of 4. FORMAT, or VERSION.
inline SluiceStatus checkParameters(const uint8_t* block, uint32_t size)
{
    SluiceStatus status = SLUICE_OK;
    for (uint32_t at = 0; at < size;) {
        if (size - at < 8) {
            return SLUICE_ERROR_FORMAT;
        }
        const uint32_t flags = loadLe16(block + at + 2);
        const uint32_t itemSize = loadLe32(block + at + 4);
        at += 8;
        if (itemSize > size - at) {
            return SLUICE_ERROR_FORMAT;
        }
        if ((flags & 1) != 0) {
            status = SLUICE_ERROR_VERSION;
        }
        at += (itemSize + 3) & ~3u; // size is a multiple of 4, so this stays inside
    }
    return status;
}

// Names are ordered as string_view compares them: bytes as unsigned numbers, the shorter first
// where one starts the other.

// The first of `count` ordered names that is not less than `name`. nameAt(i) is name i.
template <class NameAt>
uint32_t lowerBoundName(const NameAt& nameAt, uint32_t count, std::string_view name)
{
    uint32_t first = 0;
    while (count != 0) {
        const uint32_t half = count / 2;
        if (nameAt(first + half) < name) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

// May `name` follow `count` good names? It must be greater than the last of them, and none of its
// folders may be a file: no file system could hold both.
template <class NameAt>
bool nameMayFollow(const NameAt& nameAt, uint32_t count, std::string_view name)
{
    if (count == 0) {
        return true;
    }
    const std::string_view before = nameAt(count - 1);
    if (before >= name) {
        return false;
    }
    // A file that is a folder of this name starts all names from its own to the one before, by
    // their order. If that one goes on with '/', it has been refused itself; so only all that the
    // two have in common can be such a file.
    size_t common = 0;
    while (common < before.size() && before[common] == name[common]) {
        ++common; // stays inside name, which is greater
    }
    if (name[common] != '/') {
        return true;
    }
    const uint32_t found = lowerBoundName(nameAt, count, name.substr(0, common));
    return found == count || nameAt(found) != name.substr(0, common);
}

} // namespace sluice
