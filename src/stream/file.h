// SPDX-License-Identifier: MIT OR Apache-2.0
// An open archive or plain file.
#pragma once

#include <sluice/sluice_stream.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stream/ktx2_levels.h"
#include "stream/records.h"
#include "stream/system.h"

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
    // Does what read() does, but bypasses the page cache where possible. `before` and `after` are
    // the number of bytes on each side of the destination that may be overwritten.
    sluice::stream::ReadError readInto(uint64_t offset, uint8_t* bytes, uint64_t size,
                                       uint64_t before, uint64_t after) const;
    // Returns true if a single read does what readInto would do. In that case `read` describes the
    // single read, and `needed` is the least number of bytes that it must return.
    bool asOneRead(uint64_t offset, uint8_t* bytes, uint64_t size, uint64_t before, uint64_t after,
                   sluice::stream::Read& read, uint64_t& needed) const;
    // Returns by how many bytes a block must be larger than a read, so that the whole read can be
    // direct.
    uint64_t directRoom() const { return isDirect ? 2 * uint64_t(directAlignment) : 0; }
    SluiceStreamIoReport ioReport() const;
    // Opens the file, and reads the index of an archive or KTX2 file. Sets state, status, osError.
    void open();

    // Returns OK, NOT_OPEN (it is still being opened) or IO (it could not be opened).
    SluiceStatus openStatus() const
    {
        switch (state.load(std::memory_order_acquire)) {
        case opening: return SLUICE_ERROR_NOT_OPEN;
        case failed: return SLUICE_ERROR_IO;
        case isOpen: break;
        }
        return SLUICE_OK;
    }

    // From here on, functions may be called only once the file is open. The next three implement
    // functions of sluice_stream.h. number: less than archive.assetCount.
    SluiceStatus findAsset(const char* name, size_t nameLength, uint32_t& number) const;
    SluiceStatus getAsset(uint32_t number, SluiceArchiveAsset& info) const;
    uint32_t kernels() const { return tileRecords.kernels(); }
    // Returns whether a request may cover these bytes. In a KTX2 file they must be in one level.
    bool mayRequest(uint64_t offset, uint64_t bytes) const
    {
        return ktx2 == nullptr || ktx2->isInOneLevel(offset, bytes);
    }
    // Returns whether the asset's bytes are plain bytes of the file, at the same offsets.
    bool isPlainAsset() const { return ktx2 != nullptr && ktx2->isPlain(); }
    // Returns the SluiceTilesFlags of the file's tiles. Levels of KTX2 files have no checksums.
    uint32_t tileFlags() const { return ktx2 != nullptr ? uint32_t(SLUICE_TILES_UNCHECKED) : 0; }
    const sluice::stream::AssetTiles& tilesOf(uint32_t number) const
    {
        return tileRecords.tilesOf(number);
    }
    // Returns an asset in which only the members that sluiceGetArchiveTile reads are set.
    SluiceArchiveAsset filtersOf(uint32_t number) const
    {
        SluiceArchiveAsset result = {};
        result.tileParameters = tilesOf(number).tileParameters;
        result.tileParameterSize = tilesOf(number).tileParameterSize;
        return result;
    }
    // Reads the records of the tiles that contain an asset, as Records::read describes.
    void readRecords(uint32_t number);
    // Returns the records that readRecords has read, and their number. The asset starts
    // SluiceArchiveAsset::tilesOffset bytes into the decoded tiles.
    const sluice::stream::TileRecord* records(uint32_t number, uint32_t& count) const
    {
        count = tilesOf(number).count;
        return tileRecords.of(number);
    }

    SluiceStreamer const owner;
    const sluice::stream::System& system;
    const SluiceStreamIo io;
    std::string path;
    SluiceStreamFileInterface functions{};
    bool hasInterface = false, isArchive = false;
    int descriptor = -1, directDescriptor = -1;
    uint32_t directAlignment = 0;                // a power of two
    mutable std::atomic<bool> isDirect{false};   // direct reads are used, until one fails
    mutable std::atomic<int32_t> directError{0}; // errno
    uint64_t size = 0;
    uint64_t user = 0;
    uint64_t serial = 0; // never reused by the streamer
    std::atomic<State> state{opening};
    SluiceStatus status = SLUICE_OK;
    int osError = 0;
    SluiceArchive archive{};
    std::unique_ptr<const sluice::stream::Ktx2Levels> ktx2; // NULL: it is no KTX2 file
    std::vector<uint8_t> index;
    sluice::stream::Records tileRecords;

    // Guarded by the streamer's mutex.
    uint32_t uses = 0; // by requests, and by jobs of threads
    bool isGivenUp = false;
    bool isListed = true;               // from open until its event is returned
    SluiceStreamFile_T* next = nullptr; // in the list of files to open, opened, or to delete

private:
    void openDirect();
    bool readDirect(uint64_t offset, uint8_t* bytes, uint64_t size, uint64_t needed) const;
    bool directPart(uint64_t offset, const uint8_t* bytes, uint64_t size, uint64_t before,
                    uint64_t after, uint64_t& begin, uint64_t& end) const;
    SluiceStatus openIndexed();
    SluiceStatus openArchive(const uint8_t* start, uint64_t startSize);
    SluiceStatus openKtx2(const uint8_t* start, uint64_t startSize);
    SluiceStatus load(uint64_t offset, void* bytes, uint64_t size);
};

namespace sluice::stream {

// Returns the records of a unit's tiles; NULL if it has none.
inline const TileRecord* tilesOf(const SluiceStreamRequest& request, const Unit& unit)
{
    if (unit.tileCount == 0) return nullptr;
    uint32_t count = 0;
    return request.file->records(request.asset, count) + unit.firstTile;
}

} // namespace sluice::stream
