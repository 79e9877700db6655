// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tile_pool.h"

#include "../formats/archive_layout.h"

#include <sluice/sluice_filter_encode.h>

#include <algorithm>
#include <new>

namespace sluice {

uint8_t* TilePool::Tile::resize(uint32_t bytes)
{
    if (input.size() < bytes) {
        input.resize(bytes);
    }
    size = bytes;
    return input.data();
}

TilePool::~TilePool()
{
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
    }
    submittedChanged_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void TilePool::start(uint32_t threadCount)
{
    threadCount = std::min(std::max(threadCount, 1u), SLUICE_ENCODE_MAX_THREADS);
    tiles_.resize(threadCount == 1 ? 1 : size_t(threadCount) * 4);
    encoders_.resize(threadCount);
    if (threadCount > 1) {
        threads_.reserve(threadCount);
        for (TileEncoders& encoders : encoders_) {
            threads_.emplace_back([this, &encoders] { work(encoders); });
        }
    }
}

void TilePool::submit()
{
    next().done = false;
    if (threads_.empty()) {
        Tile& tile = next();
        encode(encoders_[0], tile);
        tile.done = true;
        ++submitted_;
        return;
    }
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++submitted_;
    }
    submittedChanged_.notify_one();
}

TilePool::Tile& TilePool::oldest()
{
    Tile& tile = tiles_[released_ % tiles_.size()];
    std::unique_lock<std::mutex> lock(mutex_);
    doneChanged_.wait(lock, [&] { return tile.done; });
    return tile;
}

void TilePool::work(TileEncoders& encoders)
{
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        submittedChanged_.wait(lock, [&] { return stop_ || taken_ != submitted_; });
        if (stop_) {
            return;
        }
        Tile& tile = tiles_[taken_++ % tiles_.size()];
        lock.unlock();
        encode(encoders, tile);
        lock.lock();
        tile.done = true;
        doneChanged_.notify_one();
    }
}

// What a tile takes in the archive, as it is if it did not get smaller.
static uint64_t storedSize(const std::vector<uint8_t>& encoded, uint32_t size)
{
    return alignArchive(encoded.empty() ? size : std::min<uint64_t>(encoded.size(), size));
}

void TilePool::encode(TileEncoders& encoders, Tile& tile)
{
    tile.checksum = sluiceTileChecksum(tile.input.data(), tile.size);
    try {
        const uint8_t* bytes = tile.input.data();
        // of the input as it is
        const std::vector<SluiceGstdMatch>* matches = tile.matchesKnown ? &tile.matches : nullptr;
        if (!tile.filter.empty()) {
            tile.filtered.resize(tile.size);
            tile.status = sluiceApplyFilter(tile.filter.data(), tile.filter.size(), bytes,
                                            tile.filtered.data(), tile.size);
            if (tile.status != SLUICE_OK) {
                return;
            }
            bytes = tile.filtered.data();
        }
        tile.status = encoders.encode(tile.segment, bytes, tile.size, tile.output,
                                      tile.filter.empty() ? matches : nullptr);
        if (tile.filter.empty() || tile.segment.filterTrial == 0 || tile.status != SLUICE_OK) {
            return;
        }
        tile.status =
            encoders.encode(tile.segment, tile.input.data(), tile.size, tile.unfiltered, matches);
        const size_t item = tile.filter.size() + 12; // in the parameter block
        if (storedSize(tile.unfiltered, tile.size) <= storedSize(tile.output, tile.size) + item) {
            tile.output.swap(tile.unfiltered);
            tile.filter.clear();
        }
    } catch (const std::bad_alloc&) {
        tile.status = SLUICE_ERROR_OUT_OF_MEMORY;
    }
}

} // namespace sluice
