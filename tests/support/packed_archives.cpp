// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/packed_archives.h"

#include "tests/support/archive_io.h"

#include "formats/archive_layout.h"

namespace sluice::test {
namespace {

// Where the filter is in the parameters, as tile records say it: after the word with the block's
// length.
constexpr uint32_t kFilterPlace = 4;

Bytes filterItem()
{
    const Words description =
        describe({{kFilterRest, true, false, 256, 0, {columnRun(1, 0, 0, FilterPredictor::left)}}});
    Bytes item(kItemHead + description.size() * 4);
    item[0] = kFilterItem;
    storeLe32(item.data() + 4, uint32_t(description.size() * 4));
    std::memcpy(item.data() + kItemHead, description.data(), description.size() * 4);
    return item;
}

} // namespace

void PackedAsset::add(const Bytes& more, SluiceCodec codec, uint32_t tileSize, bool filtered)
{
    if (filtered && parameters.empty()) parameters = filterItem();
    SluiceArchiveSegment segment = {};
    segment.size = more.size();
    segment.codec = codec;
    segment.tileSize = tileSize;
    segment.level = 3;
    segment.filterOffset = filtered ? kFilterPlace : 0;
    segment.floatType = SLUICE_FLOAT_BYTES;
    segments.push_back(segment);
    bytes.insert(bytes.end(), more.begin(), more.end());
}

PackedAsset assetOfAllCodecs(const std::string& name, uint32_t seed, bool zstd)
{
    std::mt19937 random = makeRandom(seed);
    PackedAsset asset;
    asset.name = name;
    asset.add(soft(150000), SLUICE_CODEC_GDEFLATE, 65536);
    asset.add(smoothBytes(random, 100000), SLUICE_CODEC_GDEFLATE, 65536, true);
    asset.add(soft(300000), SLUICE_CODEC_GSTD, 262144);
    asset.add(smoothBytes(random, 270000), SLUICE_CODEC_GSTD, 262144, true);
    asset.add(randomBytes(random, 70000), SLUICE_CODEC_STORE, 65536);
    asset.add(randomBytes(random, 200000), SLUICE_CODEC_STORE, 262144);
    asset.add(randomBytes(random, 1100000), SLUICE_CODEC_STORE, 1 << 20);
    // Few different values, so that codes of single bytes help.
    Bytes few = randomBytes(random, 1200000);
    for (uint8_t& byte : few)
        byte &= 15;
    asset.add(few, SLUICE_CODEC_FLOAT, 1 << 20);
    asset.add(smoothBytes(random, 300000), SLUICE_CODEC_FLOAT, 1 << 18, true);
    asset.add(soft(4), SLUICE_CODEC_GDEFLATE, 65536);
    asset.add(soft(30003), SLUICE_CODEC_GSTD, 65536);
    if (!zstd) return asset;
    asset.bytes.push_back(0); // a segment before others ends at a multiple of 4
    ++asset.segments.back().size;
    asset.add(soft(100000), SLUICE_CODEC_ZSTD, 65536);
    asset.add(smoothBytes(random, 40000), SLUICE_CODEC_ZSTD, 32768, true);
    asset.add(soft(4), SLUICE_CODEC_ZSTD, 65536);
    asset.add(soft(3003), SLUICE_CODEC_ZSTD, 1024);
    return asset;
}

PackedShare::PackedShare(std::vector<PackedAsset> assets, SluiceCodec codec, uint32_t tileSize,
                         bool filtered)
    : parts(std::move(assets))
{
    Bytes all;
    for (const PackedAsset& part : parts) {
        all.resize((all.size() + 15) / 16 * 16);
        all.insert(all.end(), part.bytes.begin(), part.bytes.end());
    }
    whole.add(all, codec, tileSize, filtered);
}

namespace {

SluiceArchiveAssetInfo infoOf(const PackedAsset& asset, MemorySource& source)
{
    SluiceArchiveAssetInfo info = {};
    info.name = asset.name.data();
    info.nameLength = asset.name.size();
    info.size = asset.bytes.size();
    info.read = MemorySource::read;
    info.readUser = &source;
    info.segments = asset.segments.data();
    info.segmentCount = uint32_t(asset.segments.size());
    info.parameterSize = uint32_t(asset.parameters.size());
    info.parameters = asset.parameters.empty() ? nullptr : asset.parameters.data();
    return info;
}

} // namespace

Bytes packArchive(const std::vector<PackedAsset>& assets, const std::vector<PackedShare>& shares,
                  bool equalTilesOnce, uint32_t threads)
{
    Bytes file;
    SluiceArchiveWriterInfo writerInfo = {};
    writerInfo.codec = SLUICE_CODEC_STORE;
    writerInfo.threadCount = threads;
    writerInfo.write = writeMemory;
    writerInfo.writeUser = &file;
    writerInfo.anyOrder = shares.empty() ? 0 : 1;
    writerInfo.equalTilesOnce = equalTilesOnce ? 1 : 0;
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&writerInfo, &writer) == SLUICE_OK);
    for (const PackedAsset& asset : assets) {
        MemorySource source = {asset.bytes};
        const SluiceArchiveAssetInfo info = infoOf(asset, source);
        REQUIRE(sluiceAddArchiveAsset(writer, &info) == SLUICE_OK);
    }
    for (const PackedShare& share : shares) {
        MemorySource source = {share.whole.bytes};
        const SluiceArchiveAssetInfo info = infoOf(share.whole, source);
        std::vector<SluiceArchivePart> parts;
        for (const PackedAsset& part : share.parts)
            parts.push_back({part.name.data(), part.name.size(), 0,
                             uint32_t(part.parameters.size()), part.parameters.data(),
                             part.bytes.size()});
        REQUIRE(sluiceAddArchiveShare(writer, parts.data(), uint32_t(parts.size()), &info) ==
                SLUICE_OK);
    }
    REQUIRE(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    return file;
}

ParsedArchive::ParsedArchive(const Bytes& file) : m_file(file)
{
    REQUIRE(m_opened.open(file) == SLUICE_OK);
    REQUIRE(sluiceCheckArchiveIndex(&m_opened.archive, m_opened.index.data(), m_opened.index.size(),
                                    nullptr) == SLUICE_OK);
}

SluiceArchiveAsset ParsedArchive::asset(uint32_t number) const { return m_opened.asset(number); }

std::vector<SluiceArchiveTile> ParsedArchive::records(uint32_t number) const
{
    const SluiceArchiveAsset info = asset(number);
    std::vector<SluiceArchiveTile> records(info.tileCount);
    SluiceArchiveTileReader reader = {};
    REQUIRE(sluiceBeginArchiveTiles(&info, &reader) == SLUICE_OK);
    REQUIRE(sluiceTakeEqualArchiveTiles(&reader) == SLUICE_OK);
    REQUIRE(sluiceParseArchiveTiles(&reader, extent(number), size_t(info.extentSize),
                                    info.tileCount, records.data()) == SLUICE_OK);
    return records;
}

const uint8_t* ParsedArchive::extent(uint32_t number) const
{
    return m_file.data() + asset(number).offset;
}

} // namespace sluice::test
