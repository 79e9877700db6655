// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes units on the CPU. Several threads may decode at a time, each in a workspace of its own.
#pragma once

#include <memory>

#include "stream/group.h"
#include "stream/file.h"
#include "stream/monitor.h"
#include "stream/tile_costs.h"

namespace sluice::stream {

// Returns the destination of a request's byte at `offset`, for requests whose bytes the CPU writes.
inline uint8_t* hostPlace(const SluiceStreamRequest& request, uint64_t offset)
{
    uint8_t* start =
        request.target == SLUICE_STREAM_TO_HOST
            ? static_cast<uint8_t*>(request.host)
            : reinterpret_cast<uint8_t*>(uintptr_t(request.buffer.handle + request.buffer.offset));
    return start + (offset - request.offset);
}

inline uint8_t* ringPlace(const SluiceStreamMemory& ring, uint64_t offset)
{
    return static_cast<uint8_t*>(ring.host) + offset;
}

// Memory for decoding, used by one thread at a time.
struct Workspace {
    std::unique_ptr<uint8_t[]> control, results, scratch, bounce;
    uint64_t bounceSize = 0;
    // Receives the tiles of a unit that is transcoded, instead of the output ring. It grows. The
    // transcoder needs aligned blocks, which an array of bytes need not be.
    struct alignas(16) UastcBlock {
        uint8_t bytes[16];
    };
    std::unique_ptr<UastcBlock[]> blocks;
    uint64_t blocksSize = 0;
    bool isTaken = false;
    // The tile that `bounce` holds: the last one that was decoded there successfully. Small assets
    // that share a tile are often requested one after the other, and the tile is then decoded only
    // once.
    uint64_t bouncedFile = 0;                // SluiceStreamFile_T::serial; 0: there is none
    const TileRecord* bouncedTile = nullptr; // points into the records of that file
};

// The first tile that could not be decoded, if there is one.
struct BadTile {
    uint32_t number = kNone; // index in the asset; kNone: all tiles are good
    uint32_t status = SLUICE_TILE_OK;
    bool isOutOfMemory = false; // there was no memory to decode it in
    // The transcoder's status; OK if it did not run, for example because a tile is damaged. BAD_CODE
    // means that UASTC blocks are invalid, and the transcoded bytes are delivered anyway. After any
    // other failure, bytes may be missing, and none are delivered.
    SluiceTileStatus transcoded = SLUICE_TILE_OK;
};

class CpuDecoder {
public:
    // info must outlive the decoder. threads: the maximum number of threads that decode at a time.
    // Each has an index of its own. isRingCached: the host's view of the output ring is cached.
    CpuDecoder(const SluiceStreamerInfo& info, uint32_t threads, bool isRingCached)
        : m_info(info), m_isRingCached(isRingCached), m_workspaces(threads)
    {
    }
    ~CpuDecoder() { sluiceDestroyContext(m_context); }
    CpuDecoder(const CpuDecoder&) = delete;
    CpuDecoder& operator=(const CpuDecoder&) = delete;

    SluiceStatus start();
    Workspace& workspace(uint32_t thread) { return m_workspaces[thread]; }
    // Takes a free workspace for a thread of the engine, which has none of its own. Returns NULL if
    // all are taken.
    Workspace* take(Held&);
    void give(Held&, Workspace& workspace) { workspace.isTaken = false; }

    // Adds up what has been decoded, and how long it took.
    struct Done {
        uint64_t bytes = 0; // decoded bytes of tiles
        CpuInputs inputs;
        CpuSums milliseconds;
    };
    // Decodes the unit's tiles up to the first bad one. If all are good, transcodes them if
    // necessary.
    BadTile decode(const Unit& unit, const SluiceStreamRequest& request, Workspace& workspace,
                   Done& done) const;

private:
    struct Place;
    Place placeOf(const Unit& unit, const SluiceStreamRequest& request, const TileRecord& tile,
                  const TileRecord& first, uint8_t* blocks) const;
    void transcode(const Unit& unit, const SluiceStreamRequest& request, const uint8_t* blocks,
                   Done& done, BadTile& bad) const;
    uint32_t decodeTile(const TileRecord& tile, uint8_t* source, uint8_t* to,
                        const SluiceStreamRequest& request, Workspace& workspace) const;

    const SluiceStreamerInfo& m_info;
    const bool m_isRingCached;
    SluiceContext m_context = nullptr;
    std::vector<Workspace> m_workspaces;
};

} // namespace sluice::stream
