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

// The first byte is not ASCII, and the last byte is a line feed. So the magic shows whether a
// transfer in text mode, which strips bit 7 or converts line ends, has damaged the file.
constexpr uint8_t kArchiveMagic[8] = {0x8b, 'S', 'L', 'U', 'I', 'C', 'E', 0x0a};
constexpr uint32_t kArchiveVersionMajor = 1;
constexpr uint32_t kArchiveVersionOrdered = 2; // major version with extents in any order
constexpr uint32_t kArchiveVersionShared = 3;  // major version in which assets may share tiles
constexpr uint32_t kArchiveVersionEqual = 4;   // major version that stores equal tiles once
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
    assetReserved = 31,        // u8: 0; since version 3 an ArchiveEntryKind
    assetType = 32,            // u32
    assetParameterOffset = 36, // u32, kNoParameters if there are none
    assetBytes = 40,
};
constexpr uint32_t kNoParameters = 0xffffffffu;

// The kinds of table entries since version 3: an asset with tiles of its own, a part (an asset
// inside a share), or a share (the tiles that several small assets have together). The entries of
// shares follow those of assets and parts. A part has the index of its share at assetTileChecksum,
// and its offset in the decoded share at assetOffset. A share has the index of its first part at
// assetNameOffset.
enum ArchiveEntryKind : uint32_t {
    entryAsset = 0,
    entryPart = 1,
    entryShare = 2,
};
constexpr uint64_t kPartAlignment = 16; // alignment of parts in the decoded share, in bytes

// Since version 2, a list of successors follows the table. It has a u32 for each entry: the index
// of the entry whose extent comes next in the file or, for a part, of the next part of its share.
constexpr uint32_t kSuccessorBytes = 4;
constexpr uint32_t kNoSuccessor = 0xffffffffu;

// Byte offsets in a tile record.
enum RecordField : uint32_t {
    recordOffset = 0,        // u64, from the start of the extent, modulo 2^64
    recordStoredSize = 8,    // u32
    recordSizeAndCodec = 12, // u32: size in bits 0 .. 23, codec in bits 24 .. 31
    recordChecksum = 16,     // u32
    recordFilterOffset = 20, // u32
    recordBytes = SLUICE_ARCHIVE_RECORD_SIZE,
};

// Since version 3 the index is stored in coded form, cut into pieces. A piece is stored as a Gstd
// tile, or uncompressed if its stored and coded sizes are equal. The limits below keep a small file
// from asking for much memory.
constexpr uint32_t kIndexPieceBytes = SLUICE_GS_TILE_BYTES;
constexpr uint32_t kIndexPieceHead = 8; // u32[2]: stored bytes, coded bytes
constexpr uint32_t kMaxCodedBytes = 1u << 28;
constexpr uint32_t kMaxIndexRatio = 64; // the most coded bytes for each stored byte
constexpr uint32_t kMinCodedEntryBytes = 4;
constexpr uint32_t kIndexScratchBytes = 1u << 18; // memory for decoding the pieces of an index
// The number at the beginning of a coded entry: an ArchiveEntryKind in bits 0 and 1, and these
// flags.
constexpr uint32_t kCodedType = 4, kCodedParameters = 8; // a type or parameters follow

inline uint64_t alignArchive(uint64_t offset) { return alignUp(offset, SLUICE_ARCHIVE_ALIGNMENT); }

// Returns the size of a codec's largest tile.
constexpr uint32_t maxTileBytes(uint32_t codec)
{
    return codec == SLUICE_CODEC_GDEFLATE ? SLUICE_GD_TILE_BYTES
           : codec == SLUICE_CODEC_GSTD || codec == SLUICE_CODEC_ZSTD
               ? SLUICE_GS_TILE_BYTES
               : 1u << SLUICE_ARCHIVE_MAX_TILE_LOG2;
}

// The limit, in bytes, for the sum of the parameter blocks of all assets. A block that several
// assets share counts for each of them, because it is checked for each of them. So the limit bounds
// the time of the checks.
constexpr uint64_t kMaxParameterBytes = uint64_t(1) << 28;

// The head of a parameter item: u16 kind, u16 flags (bit 0: a reader must know the kind), u32 size.
// The item's bytes follow, then zeros to a multiple of 4.
constexpr uint32_t kItemHead = 8;
constexpr uint32_t kFilterItem = 1; // the kind of a filter's description
constexpr uint32_t kImageItem = 2;  // the kind of an image's description
constexpr uint32_t kModeItem = 3;   // the kind of an item that says whether a file is executable
constexpr uint32_t kCodecsItem = 4; // the kind of an item that names codecs of tiles, a bit each

inline uint32_t itemSize(const uint8_t* item) { return loadLe32(item + 4); }

// Checks the items of a parameter block of `size` bytes. Errors: FORMAT (an item does not fit into
// the block), VERSION (an item has the flag that a reader must know its kind; the kinds that this
// reader knows never have it).
inline SluiceStatus checkParameters(const uint8_t* block, uint32_t size)
{
    SluiceStatus status = SLUICE_OK;
    for (uint32_t at = 0; at < size;) {
        if (size - at < kItemHead || itemSize(block + at) > size - at - kItemHead)
            return SLUICE_ERROR_FORMAT;
        if ((loadLe16(block + at + 2) & 1) != 0) status = SLUICE_ERROR_VERSION;
        // Rounding up does not move `at` beyond `size`, since `size` is a multiple of 4.
        at += kItemHead + uint32_t(alignUp(itemSize(block + at), 4));
    }
    return status;
}

// Checks a filter in a parameter block. filterOffset: the offset of the filter's item, counted from
// the u32 before the block, as in tile records; the first item is at 4. Errors: FORMAT (there is no
// room for an item, or the filter is invalid), VERSION (the item is no filter, or a newer one).
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

// Returns the index of the first of `count` names that is not less than `name`. nameAt(i) returns
// name i. The names are in the order in which string_view compares them: byte by byte, as unsigned
// numbers, and a name comes before all longer names that begin with it.
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

// Returns whether `name` may follow `count` valid names. It must be greater than the last of them,
// and none of these may be a folder of `name`, since a file system cannot have a file and a folder
// of one name.
template <class NameAt>
bool nameMayFollow(const NameAt& nameAt, uint32_t count, std::string_view name)
{
    if (count == 0) return true;
    const std::string_view last = nameAt(count - 1);
    if (last >= name) return false;
    // Suppose that a valid name F is a folder of `name`: `name` begins with F and '/'. All names
    // that are sorted between F and `name` begin with F, and `last` is one of them, or F itself.
    // `last` does not begin with F and '/', since it is valid. So F is the longest common prefix of
    // `last` and `name`, and only this prefix has to be looked up.
    size_t common = 0;
    while (common < last.size() && last[common] == name[common])
        ++common; // stays below name.size(), since `name` is greater than `last`
    if (name[common] != '/') return true;
    const uint32_t found = lowerBoundName(nameAt, count, name.substr(0, common));
    return found == count || nameAt(found) != name.substr(0, common);
}

} // namespace sluice
