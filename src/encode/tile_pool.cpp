// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tile_pool.h"

#include <algorithm>

#include <sluice/sluice_archive.h>

namespace sluice {

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

SluiceStatus TilePool::start(SluiceCodec codec, const SluiceGdeflateEncoderInfo& info, uint32_t threadCount)
{
    threadCount = std::min(std::max(threadCount, 1u), SLUICE_ENCODE_MAX_THREADS);
    tiles_.resize(threadCount == 1 ? 1 : size_t(threadCount) * 4);
    for (Tile& tile : tiles_) {
        tile.input.resize(poolTileBytes);
        if (codec != SLUICE_CODEC_STORE) {
            tile.output.resize(sluiceGdeflateTileBound(poolTileBytes));
        }
    }
    for (uint32_t i = 0; i < threadCount; ++i) {
        SluiceGdeflateEncoder encoder = nullptr;
        if (codec == SLUICE_CODEC_GDEFLATE) {
            const SluiceStatus status = sluiceCreateGdeflateEncoder(&info, &encoder);
            if (status != SLUICE_OK) {
                return status;
            }
        }
        encoders_.emplace_back(encoder, sluiceDestroyGdeflateEncoder);
    }
    if (threadCount > 1) {
        threads_.reserve(threadCount);
        for (Encoder& encoder : encoders_) {
            threads_.emplace_back(&TilePool::work, this, encoder.get());
        }
    }
    return SLUICE_OK;
}

void TilePool::submit()
{
    next().done = false;
    if (threads_.empty()) {
        Tile& tile = next();
        encode(encoders_[0].get(), tile);
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

void TilePool::work(SluiceGdeflateEncoder encoder)
{
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        submittedChanged_.wait(lock, [&] { return stop_ || taken_ != submitted_; });
        if (stop_) {
            return;
        }
        Tile& tile = tiles_[taken_++ % tiles_.size()];
        lock.unlock();
        encode(encoder, tile);
        lock.lock();
        tile.done = true;
        doneChanged_.notify_one();
    }
}

void TilePool::encode(SluiceGdeflateEncoder encoder, Tile& tile)
{
    tile.checksum = sluiceTileChecksum(tile.input.data(), tile.size);
    tile.encodedSize = 0;
    tile.status = SLUICE_OK;
    if (encoder == nullptr) {
        return;
    }
    size_t encodedSize = 0;
    tile.status = sluiceEncodeGdeflateTile(encoder, tile.input.data(), tile.size, tile.output.data(),
                                           tile.output.size(), &encodedSize);
    tile.encodedSize = uint32_t(encodedSize);
}

} // namespace sluice
