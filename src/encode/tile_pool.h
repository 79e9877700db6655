// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes 64 KiB tiles on worker threads and gives them back in the order they went in.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <sluice/sluice_encode.h>
#include <sluice/sluice_formats.h>

namespace sluice {

constexpr uint32_t poolTileBytes = 65536;

class TilePool {
public:
    struct Tile {
        // Set by the user.
        std::vector<uint8_t> input; // poolTileBytes
        uint32_t size = 0;          // bytes used of input
        uint32_t asset = 0;         // a tag, kept as it is
        // Set by the pool.
        std::vector<uint8_t> output; // valid if encodedSize is not 0
        uint32_t encodedSize = 0;    // 0: codec STORE
        uint32_t checksum = 0;
        SluiceStatus status = SLUICE_OK;
        bool done = false;
    };

    ~TilePool();

    // encoder: of codec GDEFLATE; threadCount as in sluice_archive.h. May throw std::bad_alloc and std::system_error.
    SluiceStatus start(SluiceCodec codec, const SluiceGdeflateEncoderInfo& encoder, uint32_t threadCount);

    bool full() const { return submitted_ - released_ == tiles_.size(); }
    bool empty() const { return submitted_ == released_; }
    Tile& next() { return tiles_[submitted_ % tiles_.size()]; } // the tile to fill; not when full
    void submit();                                              // hands it over
    Tile& oldest();                                             // waits until it is done; not when empty
    void release() { ++released_; }                             // gives the oldest tile back

private:
    using Encoder = std::unique_ptr<SluiceGdeflateEncoder_T, decltype(&sluiceDestroyGdeflateEncoder)>;

    void work(SluiceGdeflateEncoder encoder);
    static void encode(SluiceGdeflateEncoder encoder, Tile& tile);

    std::vector<Tile> tiles_; // a ring
    uint64_t submitted_ = 0;  // changed by the user's thread, under mutex_ while workers run
    uint64_t taken_ = 0;      // by workers, under mutex_
    uint64_t released_ = 0;   // user's thread only
    bool stop_ = false;
    std::mutex mutex_;
    std::condition_variable submittedChanged_, doneChanged_;
    std::vector<Encoder> encoders_; // one a thread; empty pointers for STORE
    std::vector<std::thread> threads_;
};

} // namespace sluice
