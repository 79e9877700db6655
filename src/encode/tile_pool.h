// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes tiles on worker threads and gives them back in the order they went in.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "tile_encoder.h"

namespace sluice {

class TilePool {
public:
    struct Tile {
        // Set by the user.
        std::vector<uint8_t> input;        // as large as the largest tile that it has held
        uint32_t size = 0;                 // bytes used of input
        uint32_t asset = 0;                // a tag, kept as it is
        SluiceArchiveSegment segment = {}; // codec and its parameters; others are kept as they are
        std::vector<uint8_t> filter;       // a description; empty: none, also after a trial that it
                                           // has lost
        bool matchesKnown = false;         // GSTD: matches are those of the tile
        std::vector<SluiceGstdMatch> matches;
        // Set by the pool.
        std::vector<uint8_t> filtered;   // the input with the filter applied
        std::vector<uint8_t> output;     // encoded; empty: store the input
        std::vector<uint8_t> unfiltered; // the trial's other output
        uint32_t checksum = 0;
        SluiceStatus status = SLUICE_OK;
        bool done = false;

        // Room for `bytes` bytes of input.
        uint8_t* resize(uint32_t bytes);
    };

    ~TilePool();

    // threadCount as in sluice_archive.h. May throw std::bad_alloc and std::system_error.
    void start(uint32_t threadCount);

    bool full() const { return submitted_ - released_ == tiles_.size(); }
    bool empty() const { return submitted_ == released_; }
    Tile& next() { return tiles_[submitted_ % tiles_.size()]; } // the tile to fill; not when full
    void submit();                                              // hands it over
    // waits until it is done; not when empty
    Tile& oldest();
    void release() { ++released_; } // gives the oldest tile back

private:
    void work(TileEncoders& encoders);
    static void encode(TileEncoders& encoders, Tile& tile);

    std::vector<Tile> tiles_; // a ring
    uint64_t submitted_ = 0;  // changed by the user's thread, under mutex_ while workers run
    uint64_t taken_ = 0;      // by workers, under mutex_
    uint64_t released_ = 0;   // user's thread only
    bool stop_ = false;
    std::mutex mutex_;
    std::condition_variable submittedChanged_, doneChanged_;
    std::vector<TileEncoders> encoders_; // one a thread
    std::vector<std::thread> threads_;
};

} // namespace sluice
