// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests tiles that are kept from one run of an archive writer for the next, and assets whose tiles
// are encoded already: the archive must be the same with and without them.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "encode/archive/blake2b.h"
#include "tests/support/archive_io.h"
#include "tests/support/archives.h"
#include "tests/support/packed_archives.h"

namespace sluice::test {
namespace {

using Key = std::array<uint8_t, SLUICE_TILE_KEY_SIZE>;

Key keyFrom(const uint8_t* bytes)
{
    Key key;
    std::memcpy(key.data(), bytes, key.size());
    return key;
}

// A cache in memory.
struct MemoryCache {
    struct Entry {
        uint32_t size, filtered;
        Bytes bytes;
    };

    SluiceTileCache callbacks() { return {this, find, keep, wrote}; }
    static uint32_t find(void* user, const uint8_t* key, uint32_t size, void* bytes,
                         uint32_t* filtered)
    {
        MemoryCache& cache = *static_cast<MemoryCache*>(user);
        const std::lock_guard<std::mutex> lock(cache.mutex);
        const auto found = cache.entries.find(keyFrom(key));
        cache.misses += found == cache.entries.end() ? 1 : 0;
        if (found == cache.entries.end()) return 0;
        CHECK(found->second.size == size);
        std::memcpy(bytes, found->second.bytes.data(), found->second.bytes.size());
        *filtered = found->second.filtered;
        return uint32_t(found->second.bytes.size());
    }
    static void keep(void* user, const uint8_t* key, uint32_t size, const void* bytes,
                     uint32_t storedSize, uint32_t filtered)
    {
        MemoryCache& cache = *static_cast<MemoryCache*>(user);
        const std::lock_guard<std::mutex> lock(cache.mutex);
        const uint8_t* from = static_cast<const uint8_t*>(bytes);
        CHECK(storedSize <= size);
        cache.entries[keyFrom(key)] = {size, filtered, Bytes(from, from + storedSize)};
    }
    static void wrote(void* user, uint32_t asset, const SluiceArchiveTile* tile, const uint8_t* key)
    {
        MemoryCache& cache = *static_cast<MemoryCache*>(user);
        cache.written.push_back({asset, *tile, key != nullptr});
    }

    struct Written {
        uint32_t asset;
        SluiceArchiveTile tile;
        bool hasKey;
    };
    std::mutex mutex;
    std::map<Key, Entry> entries;
    uint32_t misses = 0;
    std::vector<Written> written;
};

std::vector<PackedAsset> someAssets()
{
    return {assetOfAllCodecs("a", 1), assetOfAllCodecs("b", 2), assetOfAllCodecs("c/d", 3)};
}

Bytes pack(const std::vector<PackedAsset>& assets, MemoryCache* cache, uint32_t threads)
{
    Bytes file;
    SluiceTileCache callbacks = {};
    if (cache != nullptr) callbacks = cache->callbacks();
    SluiceArchiveWriterInfo info = {};
    info.threadCount = threads;
    info.write = writeMemory;
    info.writeUser = &file;
    info.cache = cache != nullptr ? &callbacks : nullptr;
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    for (const PackedAsset& asset : assets) {
        MemorySource source = {asset.bytes};
        SluiceArchiveAssetInfo added = {};
        added.name = asset.name.data();
        added.nameLength = asset.name.size();
        added.size = asset.bytes.size();
        added.read = MemorySource::read;
        added.readUser = &source;
        added.segments = asset.segments.data();
        added.segmentCount = uint32_t(asset.segments.size());
        added.parameters = asset.parameters.data();
        added.parameterSize = uint32_t(asset.parameters.size());
        REQUIRE(sluiceAddArchiveAsset(writer, &added) == SLUICE_OK);
    }
    REQUIRE(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    return file;
}

bool isSame(const SluiceArchiveTile& a, const SluiceArchiveTile& b)
{
    return a.offset == b.offset && a.outputOffset == b.outputOffset &&
           a.storedSize == b.storedSize && a.size == b.size && a.codec == b.codec &&
           a.checksum == b.checksum && a.filterOffset == b.filterOffset;
}

// Reads the stored bytes of an asset of an archive.
struct StoredTiles {
    const ParsedArchive& archive;
    uint32_t asset;
    std::vector<SluiceArchiveTile> tiles;
    uint32_t next = 0;

    static SluiceStatus read(void* user, uint32_t tile, void* bytes, uint32_t storedSize)
    {
        StoredTiles& stored = *static_cast<StoredTiles*>(user);
        CHECK(tile == stored.next++);
        CHECK(storedSize == stored.tiles[tile].storedSize);
        std::memcpy(bytes, stored.archive.extent(stored.asset) + stored.tiles[tile].offset,
                    storedSize);
        return SLUICE_OK;
    }
};

SluiceEncodedAssetInfo encodedInfo(const SluiceArchiveAsset& asset, StoredTiles& stored)
{
    SluiceEncodedAssetInfo info = {};
    info.name = asset.name;
    info.nameLength = asset.nameLength;
    info.type = asset.type;
    info.tileSizeLog2 = asset.tileSizeLog2;
    info.size = asset.size;
    info.parameters = asset.parameters;
    info.parameterSize = asset.parameterSize;
    info.tileCount = asset.tileCount;
    info.tiles = stored.tiles.data();
    info.readTile = StoredTiles::read;
    info.readUser = &stored;
    return info;
}

SluiceArchiveWriter writerTo(Bytes& file, uint32_t threads)
{
    SluiceArchiveWriterInfo info = {};
    info.threadCount = threads;
    info.write = writeMemory;
    info.writeUser = &file;
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    return writer;
}

} // namespace

TEST_CASE("tile cache: BLAKE2b is that of RFC 7693")
{
    const auto hashed = [](const std::string& text, size_t step) {
        Blake2b hash;
        for (size_t at = 0; at < text.size(); at += step)
            hash.add(text.data() + at, std::min(step, text.size() - at));
        std::string hex;
        for (const uint8_t byte : hash.finish()) {
            const char* const digits = "0123456789abcdef";
            hex += digits[byte >> 4];
            hex += digits[byte & 15];
        }
        return hex;
    };
    // These digests were made with Python's hashlib.blake2b(text, digest_size=32).
    CHECK(hashed("", 1) == "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    CHECK(hashed("abc", 3) == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    const std::string sizes[] = {std::string(127, 'a'), std::string(128, 'a'),
                                 std::string(129, 'a'), std::string(1000, 'a')};
    const char* const digests[] = {
        "59e2f1aba240f20aa591016f5ef429990bc9c2131dcd0d30f0ffd75ed18f317d",
        "ae2aa48507885c4c950fb809b2076f959cde9f8ea6da260d9a3587df33dac450",
        "2f64744a6de0d2c0b56e64cf6e29a5aaa255010d415d51c75ccc82f73dccd865",
        "e00b0ddbf1e2cdaf5c898e1a5e8826ea3a2c339bcf2a478da2e5fca9ff126672"};
    for (size_t i = 0; i < std::size(sizes); ++i)
        for (const size_t step : {size_t(1), size_t(100), size_t(128), size_t(1000)})
            CHECK(hashed(sizes[i], step) == digests[i]);
}

TEST_CASE("tile cache: an archive is the same with an empty and with a full cache")
{
    const std::vector<PackedAsset> assets = someAssets();
    const Bytes plain = pack(assets, nullptr, 1);
    for (const uint32_t threads : {1u, 3u}) {
        MemoryCache cache;
        CHECK(pack(assets, &cache, threads) == plain);
        const uint32_t misses = cache.misses;
        CHECK(misses != 0);
        CHECK(pack(assets, &cache, threads) == plain);
        CHECK(cache.misses == misses); // nothing was encoded again
        size_t written = 0;
        const ParsedArchive archive(plain);
        for (uint32_t run = 0; run < 2; ++run) {
            for (uint32_t i = 0; i < assets.size(); ++i) {
                for (const SluiceArchiveTile& tile : archive.records(i)) {
                    REQUIRE(written < cache.written.size());
                    const MemoryCache::Written& one = cache.written[written++];
                    CHECK(one.asset == i);
                    CHECK(isSame(one.tile, tile));
                    if (tile.codec != SLUICE_CODEC_STORE) CHECK(one.hasKey);
                }
            }
        }
        CHECK(written == cache.written.size());
    }
}

TEST_CASE("tile cache: a change reaches its own tile alone, and every parameter counts")
{
    PackedAsset asset;
    asset.name = "x";
    asset.add(soft(600000), SLUICE_CODEC_GSTD, 262144);
    MemoryCache cache;
    pack({asset}, &cache, 1);
    CHECK(cache.misses == 3);
    asset.bytes[300000] ^= 1;
    CHECK(pack({asset}, &cache, 1) == pack({asset}, nullptr, 1));
    CHECK(cache.misses == 4);
    const auto missesWith = [&](auto change) {
        PackedAsset other = asset;
        change(other.segments[0]);
        const uint32_t before = cache.misses;
        CHECK(pack({other}, &cache, 1) == pack({other}, nullptr, 1));
        return cache.misses - before;
    };
    CHECK(missesWith([](SluiceArchiveSegment&) {}) == 0);
    CHECK(missesWith([](SluiceArchiveSegment& segment) { segment.level = 5; }) == 3);
    CHECK(missesWith([](SluiceArchiveSegment& segment) { segment.copyDepth = 1; }) == 3);
    CHECK(missesWith([](SluiceArchiveSegment& segment) {
              segment.codec = SLUICE_CODEC_GDEFLATE;
              segment.tileSize = 65536;
          }) >= 4); // tiles with equal bytes have one entry
    PackedAsset filtered;
    filtered.name = "x";
    filtered.add(asset.bytes, SLUICE_CODEC_GSTD, 262144, true);
    const uint32_t before = cache.misses;
    CHECK(pack({filtered}, &cache, 1) == pack({filtered}, nullptr, 1));
    CHECK(cache.misses - before == 3);
}

TEST_CASE("tile cache: encoded assets make the archive that they came from")
{
    const Bytes plain = pack(someAssets(), nullptr, 2);
    const ParsedArchive archive(plain);
    for (const uint32_t threads : {1u, 3u}) {
        Bytes copy;
        const SluiceArchiveWriter writer = writerTo(copy, threads);
        for (uint32_t i = 0; i < 3; ++i) {
            StoredTiles stored = {archive, i, archive.records(i)};
            const SluiceArchiveAsset asset = archive.asset(i);
            const SluiceEncodedAssetInfo info = encodedInfo(asset, stored);
            REQUIRE(sluiceAddEncodedArchiveAsset(writer, &info) == SLUICE_OK);
            CHECK(stored.next == asset.tileCount);
        }
        REQUIRE(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
        sluiceDestroyArchiveWriter(writer);
        CHECK(copy == plain);
    }
}

TEST_CASE("tile cache: encoded assets that break a rule are refused")
{
    const Bytes plain = pack({assetOfAllCodecs("a", 1)}, nullptr, 1);
    const ParsedArchive archive(plain);
    Bytes copy;
    const SluiceArchiveWriter writer = writerTo(copy, 1);
    const SluiceArchiveAsset asset = archive.asset(0);
    const auto addWith = [&](auto change) {
        StoredTiles stored = {archive, 0, archive.records(0)};
        SluiceEncodedAssetInfo info = encodedInfo(asset, stored);
        change(info, stored.tiles);
        return sluiceAddEncodedArchiveAsset(writer, &info);
    };
    using Tiles = std::vector<SluiceArchiveTile>;
    const auto refuses = [&](auto change) { CHECK(addWith(change) == SLUICE_ERROR_ARGUMENT); };
    refuses([](SluiceEncodedAssetInfo& info, Tiles&) { info.size += 1; });
    refuses([](SluiceEncodedAssetInfo& info, Tiles&) { info.tileSizeLog2 = 16; });
    refuses([](SluiceEncodedAssetInfo& info, Tiles&) { info.tileSizeLog2 = 21; });
    refuses([](SluiceEncodedAssetInfo& info, Tiles&) { info.readTile = nullptr; });
    refuses([](SluiceEncodedAssetInfo& info, Tiles&) { info.parameterSize = 0; });
    refuses([](SluiceEncodedAssetInfo& info, Tiles&) { info.nameLength = 0; });
    refuses([](SluiceEncodedAssetInfo&, Tiles& tiles) { tiles[0].codec = 5; });
    refuses([](SluiceEncodedAssetInfo&, Tiles& tiles) { tiles[0].storedSize = 0; });
    refuses([](SluiceEncodedAssetInfo&, Tiles& tiles) { tiles[0].storedSize = tiles[0].size; });
    refuses([](SluiceEncodedAssetInfo&, Tiles& tiles) {
        tiles[0].size -= 2;
        tiles[1].size += 2;
    });
    refuses([](SluiceEncodedAssetInfo&, Tiles& tiles) { tiles[0].filterOffset = 6; });
    refuses([](SluiceEncodedAssetInfo&, Tiles& tiles) { tiles[0].filterOffset = 1 << 20; });
    CHECK(addWith([](SluiceEncodedAssetInfo&, Tiles&) {}) == SLUICE_OK);
    refuses([](SluiceEncodedAssetInfo&, Tiles&) {}); // the name stands already
    REQUIRE(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    CHECK(copy == plain);
}

} // namespace sluice::test
