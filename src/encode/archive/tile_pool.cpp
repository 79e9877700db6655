// SPDX-License-Identifier: MIT OR Apache-2.0
#include "encode/archive/tile_pool.h"

#include "formats/archive_layout.h"
#include "formats/errors.h"
#include "encode/encoder_version.h"

#include <sluice/sluice_filter_encode.h>

#include <algorithm>
#include <string_view>

namespace sluice {

uint8_t* TilePool::Tile::resize(uint32_t bytes)
{
    if (input.size() < bytes) input.resize(bytes);
    size = bytes;
    return input.data();
}

TilePool::~TilePool()
{
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_stop = true;
    }
    m_submittedChanged.notify_all();
    for (std::thread& thread : m_threads)
        thread.join();
}

void TilePool::start(uint32_t threadCount, const SluiceTileCache* cache, bool equalTilesOnce)
{
    m_cache = cache;
    m_hashesStored = equalTilesOnce;
    threadCount = std::min(std::max(threadCount, 1u), SLUICE_ENCODE_MAX_THREADS);
    m_tiles.resize(threadCount == 1 ? 1 : size_t(threadCount) * 4);
    m_encoders.resize(threadCount);
    if (threadCount > 1) {
        m_threads.reserve(threadCount);
        for (TileEncoders& encoders : m_encoders)
            m_threads.emplace_back([this, &encoders] { work(encoders); });
    }
}

void TilePool::submit()
{
    next().done = false;
    if (m_threads.empty()) {
        Tile& tile = next();
        encode(m_encoders[0], tile);
        tile.done = true;
        ++m_submitted;
        return;
    }
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        ++m_submitted;
    }
    m_submittedChanged.notify_one();
}

TilePool::Tile& TilePool::oldest()
{
    Tile& tile = m_tiles[m_released % m_tiles.size()];
    std::unique_lock<std::mutex> lock(m_mutex);
    m_doneChanged.wait(lock, [&] { return tile.done; });
    return tile;
}

void TilePool::work(TileEncoders& encoders)
{
    std::unique_lock<std::mutex> lock(m_mutex);
    for (;;) {
        m_submittedChanged.wait(lock, [&] { return m_stop || m_taken != m_submitted; });
        if (m_stop) return;
        Tile& tile = m_tiles[m_taken++ % m_tiles.size()];
        lock.unlock();
        encode(encoders, tile);
        lock.lock();
        tile.done = true;
        m_doneChanged.notify_one();
    }
}

// Returns the bytes that a tile takes in the archive. A tile that did not get smaller is stored.
static uint64_t storedSize(const std::vector<uint8_t>& encoded, uint32_t size)
{
    return alignArchive(encoded.empty() ? size : std::min<uint64_t>(encoded.size(), size));
}

// Encodes a tile with its filter and, for a trial, also without it. Keeps the smaller result.
static SluiceStatus encodeBest(TileEncoders& encoders, TilePool::Tile& tile)
{
    const uint8_t* bytes = tile.input.data();
    const std::vector<SluiceGstdMatch>* matches = tile.matchesKnown ? &tile.matches : nullptr;
    if (tile.filter.empty())
        return encoders.encode(tile.segment, bytes, tile.size, tile.output, matches);
    tile.filtered.resize(tile.size);
    SluiceStatus status = sluiceApplyFilter(tile.filter.data(), tile.filter.size(), bytes,
                                            tile.filtered.data(), tile.size);
    if (status == SLUICE_OK)
        status = encoders.encodeFiltered(tile.segment, tile.filter, tile.filtered.data(), tile.size,
                                         tile.output);
    if (status != SLUICE_OK || tile.segment.filterTrial == 0) return status;
    // If no tile is filtered, the archive leaves out the parameter block that describes the filter.
    // So the filter also has to save the bytes of that block.
    const size_t block = 4 + kItemHead + tile.filter.size();
    const uint64_t filteredSize = storedSize(tile.output, tile.size) + block;
    if (matches == nullptr && !encoders.maySave(tile.segment, bytes, tile.size, filteredSize))
        return SLUICE_OK;
    status = encoders.encode(tile.segment, bytes, tile.size, tile.unfiltered, matches);
    if (storedSize(tile.unfiltered, tile.size) <= filteredSize) {
        tile.output.swap(tile.unfiltered);
        tile.filter.clear();
    }
    return status;
}

// Returns the cache's key for a tile: a digest of everything that its encoding depends on.
static Digest keyOf(const TilePool::Tile& tile)
{
    const SluiceArchiveSegment& segment = tile.segment;
    Blake2b hash;
    hash.addText(std::string_view("sluice tile"));
    hash.addU64(encoderId());
    for (const uint32_t number : {uint32_t(segment.codec), segment.level, segment.decodeSpeed,
                                  segment.floatType, segment.copyDepth, segment.filterTrial})
        hash.addU32(number);
    hash.addText(tile.filter);
    hash.addU64(tile.size);
    hash.add(tile.input.data(), tile.size);
    return hash.finish();
}

SluiceStatus TilePool::encodeOrFind(TileEncoders& encoders, Tile& tile) const
{
    tile.hasKey =
        m_cache != nullptr && !tile.matchesKnown && tile.segment.codec != SLUICE_CODEC_STORE;
    if (!tile.hasKey) return encodeBest(encoders, tile);
    tile.key = keyOf(tile);
    uint32_t filtered = 0;
    tile.output.resize(tile.size);
    const uint32_t found =
        m_cache->find(m_cache->user, tile.key.data(), tile.size, tile.output.data(), &filtered);
    if (found != 0 && found <= tile.size) {
        tile.output.resize(found == tile.size ? 0 : found);
        if (filtered == 0) tile.filter.clear();
        return SLUICE_OK;
    }
    const SluiceStatus status = encodeBest(encoders, tile);
    if (status != SLUICE_OK) return status;
    const bool stored = tile.isStored();
    m_cache->keep(
        m_cache->user, tile.key.data(), tile.size, stored ? tile.input.data() : tile.output.data(),
        stored ? tile.size : uint32_t(tile.output.size()), stored || tile.filter.empty() ? 0 : 1);
    return SLUICE_OK;
}

void TilePool::encode(TileEncoders& encoders, Tile& tile) const
{
    encodeNew(encoders, tile);
    if (!m_hashesStored || tile.status != SLUICE_OK ||
        tile.storedSize() < SLUICE_ARCHIVE_LEAST_EQUAL)
        return;
    Blake2b hash;
    hash.add(tile.isStored() ? tile.input.data() : tile.output.data(), tile.storedSize());
    tile.storedKey = hash.finish();
}

// Sets every result in a tile except storedKey, which encode() sets.
void TilePool::encodeNew(TileEncoders& encoders, Tile& tile) const
{
    tile.status = SLUICE_OK;
    if (tile.isEncoded) {
        tile.hasKey = false;
        return;
    }
    tile.checksum = sluiceTileChecksum(tile.input.data(), tile.size);
    tile.status = withoutExceptions([&] { return encodeOrFind(encoders, tile); });
}

} // namespace sluice
