// SPDX-License-Identifier: MIT OR Apache-2.0
// The layout of a .sluice archive, for the parser and the writer; docs/format.md says what the
// fields mean.
#pragma once

#include <string_view>

#include <sluice/sluice_filter.h>
#include <sluice/sluice_formats.h>

#include "layout/gdeflate.h"
#include "layout/gstd.h"
#include "formats/little_endian.h"
#include "formats/xxh32.h"

namespace sluice {

// The first byte is not ASCII and the last is LF, so that damage by a transfer as text is noticed.
constexpr uint8_t kArchiveMagic[8] = {0x8b, 'S', 'L', 'U', 'I', 'C', 'E', 0x0a};
constexpr uint32_t kArchiveVersionMajor = 1;
constexpr uint32_t kArchiveVersionOrdered = 2; // major version with extents in any order
constexpr uint32_t kArchiveVersionShared = 3;  // major version in which assets may share tiles
constexpr uint32_t kArchiveVersionMinor = 0;

// Byte offsets in the header.
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
    headerReserved = 52,      // u32[2] before version 3
    headerShareCount = 52,    // u32
    headerCodedBytes = 56,    // u32
    headerChecksum = 60,      // u32: XXH32 of bytes 0 .. 59
    headerBytes = SLUICE_ARCHIVE_HEADER_SIZE,
};

// Byte offsets in an asset entry.
enum AssetField : uint32_t {
    assetSize = 0,             // u64
    assetOffset = 8,           // u64
    assetTileCount = 16,       // u32
    assetTileChecksum = 20,    // u32
    assetNameOffset = 24,      // u32
    assetNameLength = 28,      // u16
    assetTileSizeLog2 = 30,    // u8
    assetReserved = 31,        // u8, in version 3 an ArchiveEntryKind
    assetType = 32,            // u32
    assetParameterOffset = 36, // u32, kNoParameters if there are none
    assetBytes = 40,
};
constexpr uint32_t kNoParameters = 0xffffffffu;

// The kinds of entries in version 3. In its table, entries of shares follow those of assets. A part
// has the index of its share at assetTileChecksum and its offset in the decoded share at
// assetOffset. A share has the index of its first part at assetNameOffset.
enum ArchiveEntryKind : uint32_t {
    entryAsset = 0,
    entryPart = 1,
    entryShare = 2,
};
constexpr uint64_t kPartAlignment = 16; // of a part's offset in the decoded share

// Since version 2, the table is followed by a u32 per entry: the index of the entry whose extent
// comes next or, for a part, of the next part of its share.
constexpr uint32_t kSuccessorBytes = 4;
constexpr uint32_t kNoSuccessor = 0xffffffffu;

// Byte offsets in a tile record.
enum RecordField : uint32_t {
    recordOffset = 0,        // u64, from the start of the extent
    recordStoredSize = 8,    // u32
    recordSizeAndCodec = 12, // u32: size in bits 0 .. 23, codec in bits 24 .. 31
    recordChecksum = 16,     // u32
    recordFilterOffset = 20, // u32
    recordBytes = SLUICE_ARCHIVE_RECORD_SIZE,
};

// Version 3 stores its index in coded form, cut into pieces. A piece is a Gstd tile, or plain if
// its stored and coded sizes are equal. The bounds keep a small file from asking for much memory.
constexpr uint32_t kIndexPieceBytes = SLUICE_GS_TILE_BYTES;
constexpr uint32_t kIndexPieceHead = 8; // u32[2]: stored bytes, coded bytes
constexpr uint32_t kMaxCodedBytes = 1u << 28;
constexpr uint32_t kMaxIndexRatio = 64; // of coded bytes to stored bytes
constexpr uint32_t kMinCodedEntryBytes = 4;
constexpr uint32_t kIndexScratchBytes = 1u << 18; // memory for decoding the pieces of an index
// The head of a coded entry has an ArchiveEntryKind in bits 0 and 1, and these flags:
constexpr uint32_t kCodedType = 4, kCodedParameters = 8; // a type or parameters follow

inline uint64_t alignArchive(uint64_t offset) { return alignUp(offset, SLUICE_ARCHIVE_ALIGNMENT); }

// Returns the size of a codec's largest tile.
constexpr uint32_t maxTileBytes(uint32_t codec)
{
    return codec == SLUICE_CODEC_GDEFLATE ? SLUICE_GD_TILE_BYTES
           : codec == SLUICE_CODEC_GSTD   ? SLUICE_GS_TILE_BYTES
                                          : 1u << SLUICE_ARCHIVE_MAX_TILE_LOG2;
}

// The limit for the sum of the parameter blocks of all assets. A block that several assets share
// counts for each of them, since many assets with one huge block must not take forever to check.
constexpr uint64_t kMaxParameterBytes = uint64_t(1) << 28;

// The head of a parameter item: u16 kind, u16 flags (bit 0: a reader must know the kind), u32 size.
// The item's bytes follow, then zeros to a multiple of 4.
constexpr uint32_t kItemHead = 8;
constexpr uint32_t kFilterItem = 1; // the kind of a filter's description
constexpr uint32_t kImageItem = 2;  // the kind of an image's description
constexpr uint32_t kModeItem = 3;   // the kind of an item that says if the file is executable

inline uint32_t itemSize(const uint8_t* item) { return loadLe32(item + 4); }

// Errors: FORMAT, VERSION.
inline SluiceStatus checkParameters(const uint8_t* block, uint32_t size)
{
    SluiceStatus status = SLUICE_OK;
    for (uint32_t at = 0; at < size;) {
        if (size - at < kItemHead || itemSize(block + at) > size - at - kItemHead)
            return SLUICE_ERROR_FORMAT;
        if ((loadLe16(block + at + 2) & 1) != 0) status = SLUICE_ERROR_VERSION;
        // `at` does not exceed `size`, since `size` is a multiple of 4.
        at += kItemHead + uint32_t(alignUp(itemSize(block + at), 4));
    }
    return status;
}

// Checks the filter that a tile record or a segment names by its offset from the block's length
// word. Errors: FORMAT (no item has room there), VERSION.
inline SluiceStatus checkFilterItem(const uint8_t* block, uint32_t blockSize, uint32_t filterOffset)
{
    if (filterOffset % 4 != 0 || filterOffset < 4 || block == nullptr || blockSize < kItemHead ||
        filterOffset - 4 > blockSize - kItemHead)
        return SLUICE_ERROR_FORMAT;
    const uint8_t* item = block + (filterOffset - 4);
    if (itemSize(item) > blockSize - (filterOffset - 4) - kItemHead) return SLUICE_ERROR_FORMAT;
    return loadLe16(item) == kFilterItem ? sluiceCheckFilter(item + kItemHead, itemSize(item))
                                         : SLUICE_ERROR_VERSION;
}

// Names are ordered as string_view compares them: byte by byte as unsigned numbers, and a name
// comes before all longer names that begin with it.

// Returns the first of `count` ordered names that is not less than `name`. nameAt(i) is name i.
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

// Returns whether `name` may follow `count` good names: it must be greater than the last of them,
// and none of its folders may be a file, since no file system could hold both.
template <class NameAt>
bool nameMayFollow(const NameAt& nameAt, uint32_t count, std::string_view name)
{
    if (count == 0) return true;
    const std::string_view last = nameAt(count - 1);
    if (last >= name) return false;
    // If a file is a folder of this name, all names between the two begin with it, the last one
    // too. A last name that goes on with '/' after it was refused itself, so only the whole common
    // start of `last` and `name` can be such a file.
    size_t common = 0;
    while (common < last.size() && last[common] == name[common])
        ++common; // stays inside name, which is greater
    if (name[common] != '/') return true;
    const uint32_t found = lowerBoundName(nameAt, count, name.substr(0, common));
    return found == count || nameAt(found) != name.substr(0, common);
}

} // namespace sluice
