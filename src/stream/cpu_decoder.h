// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes units on the CPU, several threads at a time, each with a workspace of its own.
#pragma once

#include <memory>

#include "stream/group.h"
#include "stream/file.h"
#include "stream/monitor.h"

namespace sluice::stream {

// Where a request's byte at `offset` goes, if the CPU puts it there.
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

// Memory for decoding, of one thread at a time.
struct Workspace {
    std::unique_ptr<uint8_t[]> control, results, scratch, bounce;
    bool isTaken = false;
    // The tile that was decoded into `bounce` last, if it was a good one. Small assets that share a
    // tile are often wanted one after the other, and it is decoded once then.
    uint64_t bouncedFile = 0;                // SluiceStreamFile_T::serial; 0: there is none
    const TileRecord* bouncedTile = nullptr; // among the records of that file
};

// A tile that could not be decoded.
struct BadTile {
    uint32_t number = kNone; // of the asset; kNone: all are good
    uint32_t status = SLUICE_TILE_OK;
};

class CpuDecoder {
public:
    // info outlives the decoder. threads: that decode at a time at most, each with its own number.
    CpuDecoder(const SluiceStreamerInfo& info, uint32_t threads)
        : m_info(info), m_workspaces(threads)
    {
    }
    ~CpuDecoder() { sluiceDestroyContext(m_context); }
    CpuDecoder(const CpuDecoder&) = delete;
    CpuDecoder& operator=(const CpuDecoder&) = delete;

    SluiceStatus start();
    Workspace& workspace(uint32_t thread) { return m_workspaces[thread]; }
    // For threads without a number. NULL: all are taken.
    Workspace* take(Held&);
    void give(Held&, Workspace& workspace) { workspace.isTaken = false; }

    // Decodes the unit's tiles, up to the first bad one. decoded: bytes, which are added.
    BadTile decode(const Unit& unit, const SluiceStreamRequest& request, Workspace& workspace,
                   std::atomic<uint64_t>& decoded) const;

private:
    struct Place;
    Place placeOf(const Unit& unit, const SluiceStreamRequest& request, const TileRecord& tile,
                  const TileRecord& first) const;
    uint32_t decodeTile(const TileRecord& tile, uint8_t* source, uint8_t* to,
                        const SluiceArchiveAsset& asset, Workspace& workspace) const;

    const SluiceStreamerInfo& m_info;
    SluiceContext m_context = nullptr;
    std::vector<Workspace> m_workspaces;
};

} // namespace sluice::stream
