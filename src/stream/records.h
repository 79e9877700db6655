// SPDX-License-Identifier: MIT OR Apache-2.0
// The tile records of an open archive. An extent is the tiles of an asset, or of a share (several
// small assets with common tiles), with their records. Opening an archive reads no records. The
// records of an extent are read when the first request for one of its assets is about to be cut
// into units. So opening takes the same number of reads for large and small archives, and damaged
// records fail only the assets of their extent.
#pragma once

#include <sluice/sluice_stream.h>
#include <sluice/sluice_tiles.h>

#include <memory>
#include <mutex>
#include <vector>

#include "formats/integers.h"
#include "stream/group.h"

namespace sluice::stream {

// The record of an archive's tile. `offset` counts from the start of the file, and `outputOffset`
// from the start of the extent's decoded tiles.
struct TileRecord {
    uint64_t offset;
    uint64_t outputOffset;
    uint32_t storedSize;
    uint32_t size;
    uint32_t checksum;
    uint32_t filterOffset : 26, codec : 6;
};
static_assert(sizeof(TileRecord) == 32);
static_assert(SLUICE_ARCHIVE_MAX_BLOCK_BYTES <= 1u << 26);

// The alignment of a tile's stored bytes, in archives and in the source ring.
constexpr uint64_t kStoredAlignment = 16;
// The alignment that the decoder of a float tile without a filter needs for its output.
constexpr uint64_t kFloatAlignment = 16;

inline uint64_t storedRoom(const TileRecord& tile)
{
    return alignUp(tile.storedSize, kStoredAlignment);
}
inline bool isPlainFloat(const TileRecord& tile)
{
    return tile.codec == SLUICE_CODEC_FLOAT && tile.filterOffset == 0;
}
// Converts a record back to the parser's form, except that the offset counts from the start of the
// file.
inline SluiceArchiveTile archiveTileOf(const TileRecord& tile)
{
    return {tile.offset, tile.outputOffset, tile.storedSize,  tile.size,
            tile.codec,  tile.checksum,     tile.filterOffset};
}

// Why a read failed, or what is wrong with what was read.
struct ReadError {
    SluiceStatus status = SLUICE_OK; // reads have no other error than IO
    int osError = 0;                 // 0: the file ended too early
    uint64_t offset = 0;             // file offset of the failed read or of the damaged records
};

// The members of an asset that each request needs, kept so that the index is not parsed again.
struct AssetTiles {
    uint64_t firstRecord = 0;
    uint64_t size = 0;        // decoded bytes of the asset
    uint64_t tilesOffset = 0; // SluiceArchiveAsset::tilesOffset
    const void* tileParameters = nullptr;
    uint32_t tileParameterSize = 0;
    uint32_t count = 0;  // number of records
    uint32_t extent = 0; // index; assets of a share have the same
};

// The state of the tile records of an extent, the tiles of an asset or of a share. The streamer's
// mutex guards all members, except that the thread that reads the records sets `error` without it.
struct Extent {
    enum State : uint8_t {
        unread,
        reading,
        ready,
        failed
    };

    State state = unread;
    ReadError error;
    Parked parked; // groups that wait until the records are read
};

// Returns where the file's records are read to, before they are converted to `records`. They are
// smaller than converted records, so they are read to the end of the same memory. Conversion goes
// from the first to the last and never overwrites a record that is not converted yet.
inline uint8_t* rawRecords(TileRecord* records, uint32_t count)
{
    constexpr size_t kMore = sizeof(TileRecord) - SLUICE_ARCHIVE_RECORD_SIZE;
    return reinterpret_cast<uint8_t*>(records) + count * kMore;
}

class Records {
public:
    // Makes room for the records of an archive whose index has been checked. The arguments must
    // outlive the records. Errors: OUT_OF_MEMORY; may also throw std::bad_alloc.
    SluiceStatus begin(const SluiceArchive& archive, const std::vector<uint8_t>& index);
    // Makes room for the records of a single asset, whose tiles have the codec ZSTD and no filters.
    // Returns the place of the records, which the caller fills in. May throw std::bad_alloc.
    TileRecord* beginKnown(const SluiceArchiveAsset& asset);

    const AssetTiles& tilesOf(uint32_t asset) const { return m_assets[asset]; }
    Extent& extentOf(uint32_t asset) { return m_extents[m_assets[asset].extent]; }
    // Returns the records of the tiles that contain an asset, once they are read.
    const TileRecord* of(uint32_t asset) const
    {
        return m_records.get() + m_assets[asset].firstRecord;
    }
    // Returns the SluiceKernels that the tiles may need, as far as the index says.
    uint32_t kernels() const { return m_kernels; }

    // Reads and checks the records of an asset's extent. read(offset, bytes, size) reads from the
    // file and returns a ReadError. The caller has set the extent's state to `reading`, so that no
    // other thread reads these records.
    template <class Read>
    void read(uint32_t asset, const Read& read);

private:
    SluiceStatus parse(const SluiceArchiveAsset& asset, TileRecord* to);
    SluiceArchiveAsset assetOf(uint32_t asset) const;

    const SluiceArchive* m_archive = nullptr;
    const std::vector<uint8_t>* m_index = nullptr;
    std::vector<AssetTiles> m_assets;
    std::vector<Extent> m_extents;
    std::unique_ptr<TileRecord[]> m_records;
    uint32_t m_kernels = 0;

    // m_checkedFilters marks the filter descriptions that were found valid. It has a byte for each
    // 4-byte word of the index, from m_parameters to the end of the last parameters. Extents may
    // share descriptions, so m_parsing allows only one thread at a time to parse.
    std::mutex m_parsing;
    std::vector<uint8_t> m_checkedFilters;
    const uint8_t* m_parameters = nullptr;
};

template <class Read>
void Records::read(uint32_t asset, const Read& read)
{
    Extent& extent = extentOf(asset);
    const SluiceArchiveAsset info = assetOf(asset);
    TileRecord* const records = m_records.get() + m_assets[asset].firstRecord;
    uint8_t* const raw = rawRecords(records, info.tileCount);
    const uint64_t size = uint64_t(info.tileCount) * SLUICE_ARCHIVE_RECORD_SIZE;
    extent.error = {};
    for (uint64_t at = 0; at < size && extent.error.status == SLUICE_OK; at += kUnitRead)
        extent.error =
            read(info.offset + at, raw + at, size - at < kUnitRead ? size - at : kUnitRead);
    if (extent.error.status != SLUICE_OK) return;
    extent.error.status = parse(info, records);
    if (extent.error.status != SLUICE_OK) extent.error.offset = info.offset;
}

} // namespace sluice::stream
