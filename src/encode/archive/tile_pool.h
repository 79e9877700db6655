// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes tiles on worker threads and returns them in the order in which they were submitted.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "encode/archive/blake2b.h"
#include "encode/archive/tile_encoder.h"

namespace sluice {

class TilePool {
public:
    struct Tile {
        // The user sets these.
        std::vector<uint8_t> input;        // keeps the size of the largest tile that it held
        uint32_t size = 0;                 // how many bytes of `input` are used
        uint32_t asset = 0;                // any number; the pool ignores it
        SluiceArchiveSegment segment = {}; // codec and its parameters; other members are ignored
        std::vector<uint8_t> filter;       // the filter's description; empty if there is none or
                                           // if the tile is smaller without it
        bool matchesKnown = false;         // GSTD: `matches` holds the tile's matches
        std::vector<SluiceGstdMatch> matches;
        // True if the tile comes encoded. Then the user also sets checksum, and output or, for
        // STORE, input.
        bool isEncoded = false;
        // The pool sets these.
        std::vector<uint8_t> filtered;   // the input with the filter applied
        std::vector<uint8_t> output;     // encoded; empty if the input must be stored
        std::vector<uint8_t> unfiltered; // the output without the filter, for the trial
        uint32_t checksum = 0;
        Digest storedKey = {}; // digest of the stored bytes, if start() asked for it
        bool hasKey = false;   // `key` is set, and the cache was asked for it
        Digest key = {};
        SluiceStatus status = SLUICE_OK;
        bool done = false;

        bool isStored() const { return output.empty() || output.size() >= size; }
        uint32_t storedSize() const { return isStored() ? size : uint32_t(output.size()); }
        // Makes room for `bytes` bytes of input.
        uint8_t* resize(uint32_t bytes);
    };

    ~TilePool();

    // threadCount: worker threads; with 0 or 1 the caller's thread encodes. cache: NULL means none.
    // equalTilesOnce: equal tiles will be stored once, so their digests are computed. May throw
    // std::bad_alloc and std::system_error.
    void start(uint32_t threadCount, const SluiceTileCache* cache, bool equalTilesOnce);

    bool full() const { return m_submitted - m_released == m_tiles.size(); }
    bool empty() const { return m_submitted == m_released; }
    // Returns the tile to fill; submit() hands it to the workers. The pool must not be full.
    Tile& next() { return m_tiles[m_submitted % m_tiles.size()]; }
    void submit();
    // Waits for the oldest tile and returns it; release() frees it. The pool must not be empty.
    Tile& oldest();
    void release() { ++m_released; }

private:
    void work(TileEncoders& encoders);
    void encode(TileEncoders& encoders, Tile& tile) const;
    void encodeNew(TileEncoders& encoders, Tile& tile) const;
    SluiceStatus encodeOrFind(TileEncoders& encoders, Tile& tile) const;

    const SluiceTileCache* m_cache = nullptr;
    bool m_hashesStored = false;

    std::vector<Tile> m_tiles; // a ring buffer
    uint64_t m_submitted = 0;  // set by the user's thread, under m_mutex while workers run
    uint64_t m_taken = 0;      // set by workers, under m_mutex
    uint64_t m_released = 0;   // set by the user's thread
    bool m_stop = false;
    std::mutex m_mutex;
    std::condition_variable m_submittedChanged, m_doneChanged;
    std::vector<TileEncoders> m_encoders; // one per thread
    std::vector<std::thread> m_threads;
};

} // namespace sluice
