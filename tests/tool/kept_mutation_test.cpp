// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests damaged shards and entries of caches: each must be refused or be what it was. If its
// checksums are made right again, the tool must not crash, and the result must keep to the format.
#include <doctest/doctest.h>

#include <xxhash.h>

#include "tools/sluice/pack/cache_entries.h"
#include "tools/common/shard.h"
#include "tests/support/archives.h"
#include "tests/support/devices.h"
#include "tests/support/filters.h"
#include "tests/support/packed_archives.h"
#include "tests/tool/tool_run.h"

namespace sluice::test {
namespace {

constexpr uint32_t kMutations = 10000;

Bytes bytesOf(const std::string& text) { return Bytes(text.begin(), text.end()); }

// Changes a few bytes, cuts off the end, or appends bytes.
Bytes mutated(const Bytes& good, std::mt19937& random)
{
    Bytes bad = good;
    const uint32_t kind = random() % 8;
    if (kind == 6) bad.resize(random() % (good.size() + 1));
    if (kind == 7) bad.insert(bad.end(), 1 + random() % 40, uint8_t(random()));
    for (uint32_t i = 0; kind < 6 && i <= kind; ++i)
        bad[random() % bad.size()] ^= uint8_t(1 + random() % 255);
    return bad;
}

// Holds a small archive of two assets, and the two shards of it.
struct Shards {
    Folder folder;
    std::vector<Bytes> files;
    Bytes whole;

    Shards()
    {
        PackedAsset one, two;
        one.name = "a";
        one.add(soft(3000), SLUICE_CODEC_GDEFLATE, 4096);
        one.add(soft(2000), SLUICE_CODEC_GSTD, 4096, true);
        two.name = "b";
        two.add(hard(500), SLUICE_CODEC_STORE, 256);
        whole = packArchive({one, two});
        const Bytes archives[] = {packArchive({one}), packArchive({two})};
        for (uint32_t i = 0; i < 2; ++i) {
            ShardHead head;
            head.shard = {i + 1, 2};
            head.allAssets = 2;
            head.firstAsset = i;
            head.assetCount = 1;
            const std::string path = (folder.path / "shard").string();
            {
                OutputFile output(path, true);
                output.write(kShardHeadBytes, archives[i].data(), archives[i].size());
                finishShard(output, head, archives[i].size());
                output.commit();
            }
            files.push_back(bytesOf(readFile(path)));
        }
    }
};

// Returns the joined archive, or nothing if it was refused.
Bytes join(const Bytes& first, const Bytes& second)
{
    Bytes archive;
    const auto write = [&](uint64_t offset, const void* bytes, size_t size) {
        archive.resize(std::max(archive.size(), size_t(offset) + size));
        std::memcpy(archive.data() + offset, bytes, size);
    };
    try {
        std::vector<std::unique_ptr<ShardFile>> shards;
        shards.push_back(std::make_unique<ShardFile>(std::make_unique<InputFile>("1", first)));
        shards.push_back(std::make_unique<ShardFile>(std::make_unique<InputFile>("2", second)));
        joinShards(std::move(shards), write, [](uint64_t) {});
        return archive;
    } catch (const Failure& failure) {
        CHECK((failure.code == 1 || failure.code == 3 || failure.code == 5));
        return {};
    }
}

// Makes the checksums of a changed shard right.
void seal(Bytes& file)
{
    constexpr size_t block = 1 << 20;
    if (file.size() < kShardHeadBytes + 8) return;
    // This is the size of an archive of one block.
    const size_t size = file.size() - kShardHeadBytes - 8;
    if (size > block) return;
    uint8_t* archive = file.data() + kShardHeadBytes;
    if (size >= headerBytes) {
        const uint64_t index = loadLe64(archive + headerIndexOffset);
        if (index <= size) {
            if (size - index >= assetBytes) {
                const uint64_t at = loadLe64(archive + index + assetOffset);
                const uint64_t records =
                    uint64_t(loadLe32(archive + index + assetTileCount)) * recordBytes;
                if (at <= size && records <= size - at)
                    storeLe32(archive + index + assetTileChecksum,
                              xxh32(archive + at, size_t(records), 0));
            }
            storeLe32(archive + headerIndexChecksum,
                      xxh32(archive + index, size - size_t(index), 0));
        }
        storeLe32(archive + headerChecksum, xxh32(archive, headerChecksum, 0));
    }
    storeLe64(archive + size, XXH3_64bits(archive, size));
    storeLe64(file.data() + 64, size);
    storeLe64(file.data() + 72, XXH3_64bits(archive + size, 8));
    storeLe32(file.data() + 124, xxh32(file.data(), 124, 0));
}

AssetEntry someAsset()
{
    AssetEntry asset;
    asset.size = 5000;
    asset.type = 1;
    asset.tileSizeLog2 = 18;
    asset.notes = {{false, "packed without filters: it is large"}, {true, "a note"}};
    asset.parameters = soft(60);
    for (uint32_t i = 0; i < 3; ++i) {
        SluiceArchiveSegment segment = {};
        segment.size = 1000 * (i + 1);
        segment.codec = SLUICE_CODEC_GSTD;
        segment.tileSize = 4096;
        segment.level = i;
        segment.copyDepth = 7;
        segment.filterTrial = 1;
        asset.segments.push_back(segment);
        AssetEntry::Tile tile = {};
        tile.key.fill(uint8_t(i));
        tile.record.storedSize = 10 + i;
        tile.record.size = 1000 * (i + 1);
        tile.record.codec = 3;
        tile.record.checksum = 0x12345678;
        tile.record.filterOffset = 4;
        asset.tiles.push_back(tile);
    }
    return asset;
}

} // namespace

TEST_CASE("kept mutations: shards are refused or right")
{
    const Shards shards;
    REQUIRE(join(shards.files[0], shards.files[1]) == shards.whole);
    REQUIRE(join(shards.files[1], shards.files[0]) == shards.whole);
    std::mt19937 random = makeRandom(31);
    uint32_t refused = 0;
    for (uint32_t i = 0; i < kMutations; ++i) {
        const uint32_t which = random() % 2;
        const Bytes bad = mutated(shards.files[which], random);
        const Bytes joined = which == 0 ? join(bad, shards.files[1]) : join(shards.files[0], bad);
        refused += joined.empty() ? 1 : 0;
        if (!joined.empty()) CHECK(joined == shards.whole);
    }
    CHECK(refused > kMutations * 9 / 10);
}

TEST_CASE("kept mutations: shards with right checksums make archives or none")
{
    const Shards shards;
    std::mt19937 random = makeRandom(32);
    uint32_t joins = 0;
    for (uint32_t i = 0; i < kMutations; ++i) {
        Bytes bad = mutated(shards.files[0], random);
        seal(bad);
        const Bytes joined = join(bad, shards.files[1]);
        if (joined.empty()) continue;
        ++joins;
        CHECK(check(joined) == SLUICE_OK);
    }
    CHECK(joins != 0);
}

TEST_CASE("kept mutations: entries of caches are refused or right")
{
    std::mt19937 random = makeRandom(33);
    Digest digest;
    for (uint8_t& byte : digest)
        byte = uint8_t(random());
    const Bytes content = writeAssetEntry(someAsset());
    const Bytes good = makeCacheEntry(EntryKind::asset, digest, content);
    REQUIRE(readCacheEntry(EntryKind::asset, digest, good) == content);
    CHECK_FALSE(readCacheEntry(EntryKind::tile, digest, good));
    Digest other = digest;
    other[31] ^= 1;
    CHECK_FALSE(readCacheEntry(EntryKind::asset, other, good));
    for (uint32_t i = 0; i < kMutations; ++i) {
        const Bytes bad = mutated(good, random);
        if (bad != good) CHECK_FALSE(readCacheEntry(EntryKind::asset, digest, bad));
    }
}

TEST_CASE("kept mutations: contents of entries")
{
    const Bytes asset = writeAssetEntry(someAsset());
    const auto same = readAssetEntry(asset);
    REQUIRE(same);
    CHECK(writeAssetEntry(*same) == asset);
    const Bytes tile = writeTileEntry({true, soft(100)}, 1000);
    const auto sameTile = readTileEntry(tile, 1000);
    REQUIRE(sameTile);
    CHECK(sameTile->filtered);
    CHECK(sameTile->bytes == soft(100));
    CHECK_FALSE(readTileEntry(tile, 1001));
    CHECK_FALSE(readTileEntry(tile, 99));
    Stamp stamp;
    stamp.status.fill(1);
    stamp.content.fill(2);
    const Bytes stamps = writeStamps({stamp, stamp});
    REQUIRE(readStamps(stamps));
    CHECK(readStamps(stamps)->size() == 2);
    std::mt19937 random = makeRandom(34);
    for (uint32_t i = 0; i < kMutations; ++i) {
        if (const auto read = readAssetEntry(mutated(asset, random)))
            CHECK(writeAssetEntry(*read).size() <= asset.size() + 40);
        if (const auto read = readTileEntry(mutated(tile, random), 1000))
            CHECK(read->bytes.size() <= 1000);
        if (const auto read = readStamps(mutated(stamps, random))) CHECK(read->size() == 2);
    }
}

} // namespace sluice::test
