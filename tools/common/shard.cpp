// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/shard.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <xxhash.h>

#include "encode/encoder_version.h"
#include "formats/xxh32.h"

namespace sluice {
namespace {

constexpr uint8_t kMagic[8] = {0x8b, 'S', 'L', 'S', 'H', 'R', 'D', 0x0a};
constexpr uint32_t kVersion = 1;
constexpr uint32_t kVersionEqual = 2;     // equal tiles of the archive are stored only once
constexpr uint64_t kBlockBytes = 1 << 20; // bytes of the archive per checksum
// A file's cost is its size plus this many bytes. Shards get about equal costs; by sizes alone one
// shard could get all the small files.
constexpr uint64_t kFileWeight = 4096;

enum HeadField : uint32_t {
    headMagic = 0,         // u8[8]
    headVersion = 8,       // u32
    headNumber = 12,       // u32
    headCount = 16,        // u32
    headAllAssets = 20,    // u32
    headFirstAsset = 24,   // u32
    headAssetCount = 28,   // u32
    headPlan = 32,         // u8[32]
    headArchiveBytes = 64, // u64
    headSumsCheck = 72,    // u64
    headCheck = 124,       // u32: XXH32 of all bytes before it; bytes 80 to 123 are zeros
};

uint64_t blocksOf(uint64_t bytes) { return bytes / kBlockBytes + (bytes % kBlockBytes != 0); }

[[noreturn]] void failDamaged(const std::string& name, const char* what)
{
    throw Failure{exitFormat, name + ": shard: " + what};
}

ShardHead readShardHead(const InputFile& file)
{
    const Bytes bytes = file.readStart(kShardHeadBytes);
    const uint8_t* at = bytes.data();
    if (bytes.size() < sizeof kMagic || std::memcmp(at, kMagic, sizeof kMagic) != 0)
        throw Failure{exitFormat, file.name() + ": is no shard of pack --shard"};
    if (bytes.size() < kShardHeadBytes) failDamaged(file.name(), "the file is cut off");
    if (loadLe32(at + headCheck) != xxh32(at, headCheck, 0))
        failDamaged(file.name(), "its head has a wrong checksum");
    const uint32_t version = loadLe32(at + headVersion);
    if (version < kVersion || version > kVersionEqual)
        throw Failure{exitUnsupported, file.name() + ": shard of a newer version"};
    ShardHead head;
    head.shard = {loadLe32(at + headNumber), loadLe32(at + headCount)};
    head.allAssets = loadLe32(at + headAllAssets);
    head.firstAsset = loadLe32(at + headFirstAsset);
    head.assetCount = loadLe32(at + headAssetCount);
    std::copy_n(at + headPlan, head.plan.size(), head.plan.begin());
    head.archiveBytes = loadLe64(at + headArchiveBytes);
    head.sumsCheck = loadLe64(at + headSumsCheck);
    head.equalTilesOnce = version == kVersionEqual;
    const bool goodNumber = head.shard.number != 0 && head.shard.number <= head.shard.count &&
                            head.shard.count <= kMaxShards;
    const bool goodAssets = head.allAssets <= SLUICE_ARCHIVE_MAX_ASSETS &&
                            head.firstAsset <= head.allAssets &&
                            head.assetCount <= head.allAssets - head.firstAsset;
    if (!goodNumber || !goodAssets) failDamaged(file.name(), "its head contradicts itself");
    const uint64_t left = file.size() - kShardHeadBytes;
    if (head.archiveBytes > left || blocksOf(head.archiveBytes) * 8 != left - head.archiveBytes)
        failDamaged(file.name(), "its size is not what its head says");
    return head;
}

} // namespace

ShardNumber shardFromText(const std::string& text)
{
    const size_t slash = text.find('/');
    const auto numberOf = [](const std::string& digits) {
        const bool isNumber = !digits.empty() && digits.size() <= 5 &&
                              digits.find_first_not_of("0123456789") == std::string::npos;
        return isNumber ? uint32_t(std::stoul(digits)) : 0;
    };
    ShardNumber shard;
    if (slash != std::string::npos)
        shard = {numberOf(text.substr(0, slash)), numberOf(text.substr(slash + 1))};
    if (shard.number == 0 || shard.number > shard.count || shard.count > kMaxShards)
        throw Failure{exitUsage, "--shard: '" + text +
                                     "' is not K/N, K being 1 to N and N at most " +
                                     std::to_string(kMaxShards)};
    return shard;
}

std::pair<size_t, size_t> shardRange(const std::vector<ArchiveSource>& files, ShardNumber shard)
{
    uint64_t total = 0;
    for (const ArchiveSource& file : files)
        total += file.size + kFileWeight;
    // Returns where shard k ends in the sum of all costs: total * k / count. total * k could exceed
    // 64 bits. The products below cannot, since k and count have at most 16 bits.
    const auto endOf = [&](uint64_t k) {
        return total / shard.count * k + total % shard.count * k / shard.count;
    };
    const uint64_t begin = endOf(shard.number - 1), end = endOf(shard.number);
    size_t first = 0, last = 0;
    // A file's position is the sum of the costs before it. Files that share tiles go to one shard,
    // so they all count as being at `together`, the position of the first of them.
    uint64_t position = 0, together = 0;
    for (size_t i = 0; i < files.size(); ++i) {
        const bool joins =
            i != 0 && files[i].share != kNoShare && files[i].share == files[i - 1].share;
        if (!joins) together = position;
        first += together < begin ? 1 : 0;
        last += together < end ? 1 : 0;
        position += files[i].size + kFileWeight;
    }
    return {first, last};
}

Digest shardPlan(const std::vector<ArchiveSource>& files, uint32_t count,
                 const std::function<std::string(const ArchiveSource&)>& encodingOf)
{
    Blake2b hash;
    hash.addText(std::string_view("sluice shards"));
    hash.addU64(encoderId());
    hash.addU32(count);
    for (const ArchiveSource& file : files) {
        hash.addText(file.name);
        hash.addU64(file.size);
        hash.addU32(file.executable ? 1 : 0);
        hash.addU32(file.share);
        hash.addText(encodingOf(file));
    }
    return hash.finish();
}

Bytes writeShardHead(const ShardHead& head)
{
    Bytes bytes(kShardHeadBytes, 0);
    uint8_t* at = bytes.data();
    std::memcpy(at + headMagic, kMagic, sizeof kMagic);
    storeLe32(at + headVersion, head.equalTilesOnce ? kVersionEqual : kVersion);
    storeLe32(at + headNumber, head.shard.number);
    storeLe32(at + headCount, head.shard.count);
    storeLe32(at + headAllAssets, head.allAssets);
    storeLe32(at + headFirstAsset, head.firstAsset);
    storeLe32(at + headAssetCount, head.assetCount);
    std::copy(head.plan.begin(), head.plan.end(), at + headPlan);
    storeLe64(at + headArchiveBytes, head.archiveBytes);
    storeLe64(at + headSumsCheck, head.sumsCheck);
    storeLe32(at + headCheck, xxh32(at, headCheck, 0));
    return bytes;
}

bool isShard(const InputFile& file)
{
    const Bytes start = file.readStart(sizeof kMagic);
    return start.size() == sizeof kMagic && std::memcmp(start.data(), kMagic, sizeof kMagic) == 0;
}

void finishShard(OutputFile& output, ShardHead head, uint64_t archiveBytes)
{
    head.archiveBytes = archiveBytes;
    Bytes block(kBlockBytes), sums;
    for (uint64_t at = 0; at < head.archiveBytes; at += kBlockBytes) {
        const size_t size = size_t(std::min(kBlockBytes, head.archiveBytes - at));
        output.read(kShardHeadBytes + at, block.data(), size);
        uint8_t sum[8];
        storeLe64(sum, XXH3_64bits(block.data(), size));
        sums.insert(sums.end(), std::begin(sum), std::end(sum));
    }
    head.sumsCheck = XXH3_64bits(sums.data(), sums.size());
    output.write(kShardHeadBytes + head.archiveBytes, sums.data(), sums.size());
    const Bytes bytes = writeShardHead(head);
    output.write(0, bytes.data(), bytes.size());
}

ShardFile::ShardFile(std::unique_ptr<InputFile> file)
    : m_name(file->name()), m_head(readShardHead(*file))
{
    Bytes sums(size_t(blocksOf(m_head.archiveBytes) * 8));
    file->read(kShardHeadBytes + m_head.archiveBytes, sums.data(), sums.size());
    if (XXH3_64bits(sums.data(), sums.size()) != m_head.sumsCheck)
        failDamaged(m_name, "its list of checksums is damaged");
    std::vector<uint64_t> checks(sums.size() / 8);
    for (size_t i = 0; i < checks.size(); ++i)
        checks[i] = loadLe64(&sums[8 * i]);
    file->restrictTo(kShardHeadBytes, m_head.archiveBytes);
    file->checkBlocks(kBlockBytes, std::move(checks));
    m_archive = std::make_unique<Container>(std::move(file));
    if (!m_archive->isArchive() || m_archive->assetCount() != m_head.assetCount)
        failDamaged(m_name, "its archive is not what its head says");
}

namespace {

// Sorts the shards by number. Throws a Failure unless they make up one archive.
void checkShards(std::vector<std::unique_ptr<ShardFile>>& shards)
{
    using Shard = std::unique_ptr<ShardFile>;
    const ShardFile& first = *shards.at(0);
    const uint32_t count = first.head().shard.count;
    for (const Shard& shard : shards) {
        const ShardHead& head = shard->head();
        if (head.shard.count != count || head.plan != first.head().plan ||
            head.allAssets != first.head().allAssets ||
            head.equalTilesOnce != first.head().equalTilesOnce)
            throw Failure{exitUsage,
                          first.name() + " and " + shard->name() +
                              ": are not of one archive: they were packed from other files, with "
                              "other options, or by another version of sluice or libzstd"};
    }
    std::stable_sort(shards.begin(), shards.end(), [](const Shard& a, const Shard& b) {
        return a->head().shard.number < b->head().shard.number;
    });
    std::string missing;
    uint32_t missingCount = 0, next = 1, asset = 0;
    for (size_t i = 0; i <= shards.size(); ++i) {
        const uint32_t number = i < shards.size() ? shards[i]->head().shard.number : count + 1;
        if (number < next)
            throw Failure{exitUsage, shards[i - 1]->name() + " and " + shards[i]->name() +
                                         ": both are shard " + shards[i]->head().shard.text()};
        for (; next < number; ++next) {
            if (++missingCount <= 10)
                missing += (missing.empty() ? "" : ", ") + std::to_string(next);
        }
        ++next;
    }
    if (missingCount != 0)
        throw Failure{exitUsage,
                      formatText("shard%s %s%s of %u %s missing", missingCount == 1 ? "" : "s",
                                 missing.c_str(), missingCount > 10 ? " and more" : "", count,
                                 missingCount == 1 ? "is" : "are")};
    for (const Shard& shard : shards) {
        if (shard->head().firstAsset != asset) failDamaged(shard->name(), "assets are missing");
        asset += shard->head().assetCount;
    }
    if (asset != first.head().allAssets) failDamaged(shards.back()->name(), "assets are missing");
}

struct StoredTiles {
    const Container& archive;
    SluiceArchiveAsset asset;
    std::vector<SluiceArchiveTile> tiles;
    const std::function<void(uint64_t)>& advance;
    Transfer& transfer;

    static SluiceStatus read(void* user, uint32_t tile, void* bytes, uint32_t storedSize)
    {
        StoredTiles& stored = *static_cast<StoredTiles*>(user);
        try {
            stored.archive.file().read(stored.asset.offset + stored.tiles[tile].offset, bytes,
                                       storedSize);
            stored.advance(storedSize);
            return SLUICE_OK;
        } catch (const Failure& failure) {
            stored.transfer.failure = failure;
            return SLUICE_ERROR_IO;
        }
    }
};

// Returns the asset order[at], and the assets after it in `order` that share tiles with it.
std::vector<SluiceArchivePart> partsAt(const Container& archive, const std::vector<uint32_t>& order,
                                       size_t at)
{
    const uint32_t share = archive.archiveAsset(order[at]).share;
    std::vector<SluiceArchivePart> parts;
    for (; at < order.size(); ++at) {
        const SluiceArchiveAsset asset = archive.archiveAsset(order[at]);
        if (asset.share != share) break;
        parts.push_back({asset.name, asset.nameLength, asset.type, asset.parameterSize,
                         asset.parameters, asset.size});
    }
    return parts;
}

} // namespace

SluiceArchiveStats joinShards(std::vector<std::unique_ptr<ShardFile>> shards,
                              const std::function<void(uint64_t, const void*, size_t)>& write,
                              const std::function<void(uint64_t)>& advance)
{
    checkShards(shards);
    Transfer transfer = {{}, write, {}};
    SluiceArchiveWriterInfo info = {};
    info.codec = SLUICE_CODEC_STORE;
    info.anyOrder = 1;
    info.equalTilesOnce = shards.front()->head().equalTilesOnce ? 1 : 0;
    ArchiveWriter writer(nullptr, sluiceDestroyArchiveWriter);
    checkPacking(transfer, createArchive(info, transfer, writer), "joining");
    for (const std::unique_ptr<ShardFile>& shard : shards) {
        const Container& archive = shard->archive();
        const std::vector<uint32_t> order = archive.order();
        for (size_t at = 0; at < order.size(); ++at) {
            const uint32_t i = order[at];
            if (!archive.ownsTiles(i)) continue;
            StoredTiles stored = {archive, archive.archiveAsset(i), archive.records(i), advance,
                                  transfer};
            const bool isShare = stored.asset.share != SLUICE_ARCHIVE_NO_SHARE;
            SluiceEncodedAssetInfo asset = {};
            asset.name = stored.asset.name;
            asset.nameLength = stored.asset.nameLength;
            asset.type = stored.asset.type;
            asset.tileSizeLog2 = stored.asset.tileSizeLog2;
            asset.size = stored.asset.tilesSize;
            asset.parameters = stored.asset.tileParameters;
            asset.parameterSize = stored.asset.tileParameterSize;
            asset.tileCount = uint32_t(stored.tiles.size());
            asset.tiles = stored.tiles.data();
            asset.readTile = StoredTiles::read;
            asset.readUser = &stored;
            const std::vector<SluiceArchivePart> parts =
                isShare ? partsAt(archive, order, at) : std::vector<SluiceArchivePart>();
            const SluiceStatus status =
                isShare ? sluiceAddEncodedArchiveShare(writer.get(), parts.data(),
                                                       uint32_t(parts.size()), &asset)
                        : sluiceAddEncodedArchiveAsset(writer.get(), &asset);
            checkPacking(transfer, status, archive.place(i));
        }
    }
    SluiceArchiveStats stats = {};
    checkPacking(transfer, sluiceFinishArchive(writer.get(), &stats), "joining");
    return stats;
}

} // namespace sluice
