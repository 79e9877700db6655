// SPDX-License-Identifier: MIT OR Apache-2.0
// An open archive or plain file.
#pragma once

#include <sluice/sluice_stream.h>
#include <sluice/sluice_tiles.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/integers.h"
#include "stream/system.h"

namespace sluice::stream {

// The record of an archive's tile. `offset` counts from the start of the file, and `outputOffset`
// from the start of the decoded asset.
struct TileRecord {
    uint64_t offset;
    uint64_t outputOffset;
    uint32_t storedSize;
    uint32_t size : 24, codec : 8;
    uint32_t checksum;
    uint32_t filterOffset;
};
static_assert(sizeof(TileRecord) == 32);

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
// Converts back to the parser's form, except that the offset counts from the start of the file.
inline SluiceArchiveTile archiveTileOf(const TileRecord& tile)
{
    return {tile.offset, tile.outputOffset, tile.storedSize,  tile.size,
            tile.codec,  tile.checksum,     tile.filterOffset};
}

struct ReadError {
    SluiceStatus status = SLUICE_OK; // or ERROR_IO
    int osError = 0;                 // 0: the file ended too early
    uint64_t offset = 0;             // in the file, of the failed read
};

} // namespace sluice::stream

struct SluiceStreamFile_T {
    enum State : uint32_t {
        opening,
        isOpen,
        failed
    };

    SluiceStreamFile_T(SluiceStreamer streamer, const SluiceStreamOpenInfo& info,
                       const sluice::stream::System& withSystem, SluiceStreamIo withIo);
    ~SluiceStreamFile_T();
    SluiceStreamFile_T(const SluiceStreamFile_T&) = delete;
    SluiceStreamFile_T& operator=(const SluiceStreamFile_T&) = delete;

    // Reads exactly `size` bytes through the page cache. May be called in any thread.
    sluice::stream::ReadError read(uint64_t offset, void* bytes, uint64_t size) const;
    // Does the same, but bypasses the page cache where possible. `before` and `after` are the
    // number of bytes on each side of the destination that may be overwritten.
    sluice::stream::ReadError readInto(uint64_t offset, uint8_t* bytes, uint64_t size,
                                       uint64_t before, uint64_t after) const;
    // Returns true if a single read does what readInto would do. `read` then describes it, and
    // `needed` is the number of bytes that it must return at least.
    bool asOneRead(uint64_t offset, uint8_t* bytes, uint64_t size, uint64_t before, uint64_t after,
                   sluice::stream::Read& read, uint64_t& needed) const;
    // Returns how many bytes a block must be larger than the read, so that the whole read can be
    // direct.
    uint64_t directRoom() const { return isDirect ? 2 * uint64_t(directAlignment) : 0; }
    SluiceStreamIoReport ioReport() const;
    // Opens the file, and reads the index and the tile records of an archive. Sets state, status,
    // osError.
    void open();

    // These may be called once the file is open.
    SluiceArchiveAsset asset(uint32_t number) const;
    // The members of an asset that each request needs, kept so that the index is not parsed again.
    struct AssetTiles {
        uint64_t firstRecord = 0;
        uint64_t size = 0;        // of the asset
        uint64_t tilesOffset = 0; // SluiceArchiveAsset::tilesOffset
        const void* tileParameters = nullptr;
        uint32_t tileParameterSize = 0;
        uint32_t count = 0; // of records
    };
    const AssetTiles& tilesOf(uint32_t number) const { return assetTiles[number]; }
    // Returns an asset in which only the members that sluiceGetArchiveTile reads are set.
    SluiceArchiveAsset filtersOf(uint32_t number) const
    {
        SluiceArchiveAsset result = {};
        result.tileParameters = assetTiles[number].tileParameters;
        result.tileParameterSize = assetTiles[number].tileParameterSize;
        return result;
    }
    // Returns the records of the tiles that contain an asset, and their number. The asset starts
    // SluiceArchiveAsset::tilesOffset bytes into the decoded tiles.
    const sluice::stream::TileRecord* records(uint32_t number, uint32_t& count) const
    {
        count = assetTiles[number].count;
        return allRecords.data() + assetTiles[number].firstRecord;
    }

    SluiceStreamer const owner;
    const sluice::stream::System& system;
    const SluiceStreamIo io;
    std::string path;
    SluiceStreamFileInterface functions{};
    bool hasInterface = false, isArchive = false;
    int descriptor = -1, directDescriptor = -1;
    uint32_t directAlignment = 0;                // a power of two
    mutable std::atomic<bool> isDirect{false};   // until a direct read fails
    mutable std::atomic<int32_t> directError{0}; // errno
    uint64_t size = 0;
    uint64_t user = 0;
    uint64_t serial = 0; // never reused by the streamer
    std::atomic<State> state{opening};
    SluiceStatus status = SLUICE_OK;
    int osError = 0;
    SluiceArchive archive{};
    std::vector<uint8_t> index;
    std::vector<AssetTiles> assetTiles; // per asset; a share's assets have the same records
    std::vector<sluice::stream::TileRecord> allRecords;
    uint32_t kernels = 0;

    // Guarded by the streamer's mutex.
    uint32_t uses = 0; // requests that name it
    bool isGivenUp = false;
    bool isListed = true;               // from open until its event is returned
    SluiceStreamFile_T* next = nullptr; // in the list of files to open, opened, or to delete

private:
    void openDirect();
    bool readDirect(uint64_t offset, uint8_t* bytes, uint64_t size, uint64_t needed) const;
    bool directPart(uint64_t offset, const uint8_t* bytes, uint64_t size, uint64_t before,
                    uint64_t after, uint64_t& begin, uint64_t& end) const;
    SluiceStatus openArchive();
    SluiceStatus readRecords(uint32_t number, std::vector<uint8_t>& checkedFilters);
};
