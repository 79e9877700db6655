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

// A tile of an archive: its record, with places in the whole file and in the decoded asset.
struct TileRecord {
    uint64_t offset;
    uint64_t outputOffset;
    uint32_t storedSize;
    uint32_t size : 24, codec : 8;
    uint32_t checksum;
    uint32_t filterOffset;
};
static_assert(sizeof(TileRecord) == 32);

// Stored bytes stand at multiples of this, in archives and in the ring.
constexpr uint64_t kStoredAlignment = 16;
// A float tile without a filter is decoded to a multiple of this.
constexpr uint64_t kFloatAlignment = 16;

inline uint64_t storedRoom(const TileRecord& tile)
{
    return alignUp(tile.storedSize, kStoredAlignment);
}
inline bool isPlainFloat(const TileRecord& tile)
{
    return tile.codec == SLUICE_CODEC_FLOAT && tile.filterOffset == 0;
}
// The tile as the parser gave it, except that its offset counts from the start of the file.
inline SluiceArchiveTile archiveTileOf(const TileRecord& tile)
{
    return {tile.offset, tile.outputOffset, tile.storedSize,  tile.size,
            tile.codec,  tile.checksum,     tile.filterOffset};
}

struct ReadError {
    SluiceStatus status = SLUICE_OK; // IO
    int osError = 0;                 // 0: the file ended too early
    uint64_t offset = 0;             // of what could not be read
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

    // Reads exactly `size` bytes, in any thread, through the page cache.
    sluice::stream::ReadError read(uint64_t offset, void* bytes, uint64_t size) const;
    // The same past the page cache where that is possible. `before` and `after` are how many bytes
    // on each side of the destination may be overwritten.
    sluice::stream::ReadError readInto(uint64_t offset, uint8_t* bytes, uint64_t size,
                                       uint64_t before, uint64_t after) const;
    // True: `read` alone does what readInto would, if it brings `needed` bytes.
    bool asOneRead(uint64_t offset, uint8_t* bytes, uint64_t size, uint64_t before, uint64_t after,
                   sluice::stream::Read& read, uint64_t& needed) const;
    // How many bytes larger than the read a block has to be, so that all of it is read directly.
    uint64_t directRoom() const { return isDirect ? 2 * uint64_t(directAlignment) : 0; }
    SluiceStreamIoReport ioReport() const;
    // Opens the file, and reads the index and the tile records of an archive. Sets state, status,
    // osError.
    void open();

    // Once it is open:
    SluiceArchiveAsset asset(uint32_t number) const;
    // The part of an asset that each request needs, so that the index is not parsed again.
    struct AssetTiles {
        uint64_t firstRecord = 0;
        uint64_t size = 0;        // of the asset
        uint64_t tilesOffset = 0; // SluiceArchiveAsset::tilesOffset
        const void* tileParameters = nullptr;
        uint32_t tileParameterSize = 0;
        uint32_t count = 0; // of records
    };
    const AssetTiles& tilesOf(uint32_t number) const { return assetTiles[number]; }
    // An asset with no more filled in than sluiceGetArchiveTile reads.
    SluiceArchiveAsset filtersOf(uint32_t number) const
    {
        SluiceArchiveAsset result = {};
        result.tileParameters = assetTiles[number].tileParameters;
        result.tileParameterSize = assetTiles[number].tileParameterSize;
        return result;
    }
    // The records of the tiles that an asset is in, and how many there are. The asset begins at
    // SluiceArchiveAsset::tilesOffset of what they decode to.
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
    mutable std::atomic<bool> isDirect{false};   // until a read fails
    mutable std::atomic<int32_t> directError{0}; // errno
    uint64_t size = 0;
    uint64_t user = 0;
    uint64_t serial = 0; // no other file that the streamer has or had has the same
    std::atomic<State> state{opening};
    SluiceStatus status = SLUICE_OK;
    int osError = 0;
    SluiceArchive archive{};
    std::vector<uint8_t> index;
    std::vector<AssetTiles> assetTiles; // of each asset; those of a share have the same records
    std::vector<sluice::stream::TileRecord> allRecords;
    uint32_t kernels = 0;

    // Guarded by the streamer's mutex.
    uint32_t uses = 0; // requests that name it
    bool isGivenUp = false;
    bool isListed = true; // it is to be opened, being opened, or its event is not told
    SluiceStreamFile_T* next = nullptr; // in a list of such files, or of those to be deleted

private:
    void openDirect();
    bool readDirect(uint64_t offset, uint8_t* bytes, uint64_t size, uint64_t needed) const;
    bool directPart(uint64_t offset, const uint8_t* bytes, uint64_t size, uint64_t before,
                    uint64_t after, uint64_t& begin, uint64_t& end) const;
    SluiceStatus openArchive();
    SluiceStatus readRecords(uint32_t number, std::vector<uint8_t>& checkedFilters);
};
