// SPDX-License-Identifier: MIT OR Apache-2.0
#include "selftest_codecs.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <sluice/sluice_archive.h>
#include <sluice/sluice_filter_encode.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_fse.h>

#include "decoder.h"
#include "selftest_random.h"

namespace sluice {
namespace {

using Bytes = std::vector<uint8_t>;

// Copies from near and far between literals.
Bytes madeUpText(size_t size)
{
    Random random(12345);
    Bytes bytes;
    while (bytes.size() < size) {
        const size_t far = random.next() % 3 == 0 ? 50000 : 300, length = 3 + random.next() % 40;
        if (bytes.size() < 64 || random.next() % 4 == 0) {
            for (size_t i = 0; i < length / 4; ++i)
                bytes.push_back(uint8_t(random.next() % 7 * (random.next() % 30)));
        } else {
            const size_t offset = 1 + random.next() % std::min(far, bytes.size());
            for (size_t i = 0; i < length; ++i)
                bytes.push_back(bytes[bytes.size() - offset]);
        }
    }
    bytes.resize(size);
    return bytes;
}

// Records of 12 bytes that change little by little.
Bytes madeUpRecords(size_t size)
{
    Random random(12345);
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i)
        bytes[i] =
            uint8_t((i < 12 ? 0 : bytes[i - 12]) + random.next() % 4 + (i % 12 == 5 ? 3 : 0));
    return bytes;
}

// bf16 whose exponents are few.
Bytes madeUpWeights(size_t count)
{
    Random random(12345);
    Bytes bytes(2 * count);
    for (size_t i = 0; i < count; ++i) {
        const uint32_t bits = random.next(),
                       exponent = 120 - std::min<uint32_t>(random.next() % 8, random.next() % 16);
        const uint32_t value = (bits & 1) << 15 | exponent << 7 | (bits >> 1 & 127);
        bytes[2 * i] = uint8_t(value);
        bytes[2 * i + 1] = uint8_t(value >> 8);
    }
    return bytes;
}

struct Source {
    const Bytes& bytes;
    size_t at = 0;

    static SluiceStatus read(void* user, void* to, size_t size)
    {
        Source& source = *static_cast<Source*>(user);
        std::memcpy(to, source.bytes.data() + source.at, size);
        source.at += size;
        return SLUICE_OK;
    }
};

SluiceStatus append(void* user, uint64_t offset, const void* bytes, size_t size)
{
    Bytes& output = *static_cast<Bytes*>(user);
    output.resize(std::max(output.size(), size_t(offset) + size));
    std::memcpy(output.data() + offset, bytes, size);
    return SLUICE_OK;
}

// An archive of one asset. parameters: of its filter, if it has one.
Bytes pack(const ToolDevice& device, const Bytes& content, SluiceArchiveSegment segment,
           const void* parameters, uint32_t size)
{
    Bytes archive;
    SluiceArchiveWriterInfo info = {};
    info.codec = SLUICE_CODEC_STORE;
    info.write = append;
    info.writeUser = &archive;
    SluiceArchiveWriter created = nullptr;
    device.check(sluiceCreateArchiveWriter(&info, &created), "packing");
    const std::unique_ptr<SluiceArchiveWriter_T, decltype(&sluiceDestroyArchiveWriter)> writer(
        created, sluiceDestroyArchiveWriter);
    Source source = {content};
    segment.size = content.size();
    SluiceArchiveAssetInfo asset = {};
    asset.name = "asset";
    asset.nameLength = 5;
    asset.size = content.size();
    asset.read = Source::read;
    asset.readUser = &source;
    asset.segments = &segment;
    asset.segmentCount = 1;
    asset.parameters = parameters;
    asset.parameterSize = size;
    device.check(sluiceAddArchiveAsset(writer.get(), &asset), "packing");
    device.check(sluiceFinishArchive(writer.get(), nullptr), "packing");
    return archive;
}

// Do all tiles have this codec and come back right, but for the last one, which is damaged?
bool comesBack(const ToolDevice& device, const Bytes& archive, const Bytes& content, uint32_t codec,
               bool filtered)
{
    SluiceArchive header = {};
    SluiceArchiveAsset asset = {};
    SluiceArchiveTileReader reader = {};
    device.check(sluiceParseArchiveHeader(archive.data(), archive.size(), archive.size(), &header),
                 "archive");
    device.check(sluiceGetArchiveAsset(&header, archive.data() + header.indexOffset,
                                       size_t(header.indexSize), 0, &asset),
                 "archive");
    device.check(sluiceBeginArchiveTiles(&asset, &reader), "archive");
    std::vector<SluiceArchiveTile> tiles(asset.tileCount);
    const uint8_t* extent = archive.data() + asset.offset;
    device.check(sluiceParseArchiveTiles(&reader, extent, size_t(asset.extentSize), asset.tileCount,
                                         tiles.data()),
                 "archive");

    bool right = tiles.size() >= 2;
    uint64_t at = 0;
    Decoder decoder(device, [&](const DecodeTile& tile, uint32_t status, const uint8_t* bytes) {
        const bool damaged = tile.number + 1 == tiles.size();
        right = right && (damaged ? status != SLUICE_TILE_OK
                                  : status == SLUICE_TILE_OK &&
                                        std::equal(bytes, bytes + tile.size, content.data() + at));
        at += tile.size;
    });
    for (uint32_t i = 0; i < tiles.size(); ++i) {
        const SluiceArchiveTile& tile = tiles[i];
        DecodeTile decode = {tile.storedSize, tile.size, tile.codec, true, tile.checksum, 0, i,
                             nullptr,         0};
        if (tile.filterOffset != 0) {
            // docs/format.md, 4.5
            const uint8_t* item =
                static_cast<const uint8_t*>(asset.parameters) + tile.filterOffset - 4;
            decode.filter = item + 8;
            std::memcpy(&decode.filterSize, item + 4, 4);
        }
        right = right && tile.codec == codec && (tile.filterOffset != 0) == filtered;
        uint8_t* const bytes = decoder.add(decode);
        std::memcpy(bytes, extent + tile.offset, tile.storedSize);
        if (i + 1 == tiles.size()) bytes[tile.storedSize / 2] ^= 0x10;
    }
    decoder.flush();
    return right;
}

} // namespace

CodecResults testCodecs(const ToolDevice& device)
{
    CodecResults results;
    SluiceArchiveSegment gstd = {};
    gstd.codec = SLUICE_CODEC_GSTD;
    gstd.level = 6;
    gstd.tileSize = 100000; // two parts
    const Bytes text = madeUpText(250000);
    results.gstd =
        comesBack(device, pack(device, text, gstd, nullptr, 0), text, SLUICE_CODEC_GSTD, false);

    const Bytes records = madeUpRecords(36000);
    SluiceFilterPlanInfo planInfo = {};
    planInfo.maxTileSize = 12000;
    planInfo.features = SLUICE_FILTER_ALL;
    planInfo.force = 1;
    planInfo.layout = SLUICE_FILTER_LAYOUT_RECORDS;
    planInfo.stride = 12;
    planInfo.columnSize = 1;
    planInfo.rowRecords = 10;
    SluiceFilterPlan made = nullptr;
    device.check(sluiceCreateFilterPlan(records.data(), records.size(), &planInfo, &made),
                 "filter");
    const std::unique_ptr<SluiceFilterPlan_T, decltype(&sluiceDestroyFilterPlan)> plan(
        made, sluiceDestroyFilterPlan);
    uint32_t count = 0, size = 0;
    const SluiceFilterSegment* segments = sluiceGetFilterSegments(made, &count);
    const void* parameters = sluiceGetFilterParameters(made, &size);
    gstd.tileSize = segments[0].tileSize;
    gstd.filterOffset = segments[0].filterOffset;
    results.filter = count == 1 && comesBack(device, pack(device, records, gstd, parameters, size),
                                             records, SLUICE_CODEC_GSTD, true);

    SluiceArchiveSegment floats = {};
    floats.codec = SLUICE_CODEC_FLOAT;
    floats.tileSize = 65536;
    floats.floatType = SLUICE_FLOAT_BF16;
    const Bytes weights = madeUpWeights(70000);
    results.floats = comesBack(device, pack(device, weights, floats, nullptr, 0), weights,
                               SLUICE_CODEC_FLOAT, false);
    return results;
}

bool testFseTables(const ToolDevice& device)
{
    // Counts of 64 symbols, of which some occur less than once and some never.
    constexpr uint32_t tables = 20, symbols = 64,
                       tableSize = SLUICE_FSE_TABLE_SIZE(SLUICE_FSE_MAX_LOG);
    Random random(12345);
    std::vector<int16_t> counts(tables * symbols);
    for (uint32_t t = 0; t < tables; ++t) {
        int left = 1 << (SLUICE_FSE_MIN_LOG + t % 5);
        for (uint32_t i = 0; i < symbols && left > 0; ++i) {
            const uint32_t draw = random.next() % 6;
            const int count = i + 1 == symbols ? left
                              : draw == 0      ? -1
                              : draw == 1      ? 0
                                               : std::min<int>(left, 1 + int(random.next() % 20));
            counts[t * symbols + i] = int16_t(count);
            left -= std::abs(count);
        }
    }
    const auto build = [&](SluiceContext context, SluiceCommands commands,
                           SluiceFseTablesInfo& info, uint64_t from, uint64_t to,
                           SluiceBuffer regions,
                           const std::function<void(const void*, size_t)>& list) {
        std::vector<SluiceRegion> entries;
        for (uint32_t t = 0; t < tables; ++t)
            entries.push_back({from + t * symbols * 2, to + t * tableSize, symbols * 2, tableSize});
        list(entries.data(), entries.size() * sizeof(SluiceRegion));
        info.maxRegionCount = tables;
        info.regionStride = sizeof(SluiceRegion);
        info.flags = SLUICE_FSE_COUNTS;
        info.maxSymbols = symbols;
        info.maxLog = SLUICE_FSE_MAX_LOG;
        info.regions = regions;
        return sluiceCmdFseTables(context, commands, &info);
    };
    DeviceBuffer source(device), destination(device), regions(device), status(device);
    SluiceFseTablesInfo info = {};
    info.source = source.reserve(counts.size() * 2);
    info.destination = destination.reserve(tables * tableSize);
    info.status = status.reserve((tables + 2) * 4);
    const Bytes zeros(tables * tableSize);
    device.check(sluiceUpload(device.handle(), info.source, counts.data(), counts.size() * 2),
                 "upload");
    device.check(sluiceUpload(device.handle(), info.destination, zeros.data(), zeros.size()),
                 "upload");
    const SluiceBuffer list = regions.reserve(tables * sizeof(SluiceRegion));
    SluiceCommands commands = nullptr;
    device.check(sluiceBegin(device.handle(), &commands), "commands");
    device.check(build(device.context(), commands, info,
                       sluiceGetAddress(device.handle(), info.source),
                       sluiceGetAddress(device.handle(), info.destination), list,
                       [&](const void* bytes, size_t size) {
                           device.check(sluiceUpload(device.handle(), list, bytes, size), "upload");
                       }),
                 "FSE tables");
    device.check(sluiceSubmit(device.handle(), commands, nullptr), "submit");
    Bytes got(zeros.size());
    device.check(sluiceDownload(device.handle(), info.destination, got.data(), got.size()),
                 "download");

    const auto host = [](auto& from) {
        return SluiceBuffer{uint64_t(reinterpret_cast<uintptr_t>(from.data())), 0,
                            from.size() * sizeof(from[0])};
    };
    Bytes expected(zeros.size());
    std::vector<SluiceRegion> hostList(tables);
    std::vector<uint32_t> hostStatus(tables + 2);
    info.source = host(counts);
    info.destination = host(expected);
    info.status = host(hostStatus);
    SluiceContext cpu = nullptr;
    device.check(sluiceCreateCpuContext(&cpu), "CPU context");
    const SluiceStatus built =
        build(cpu, nullptr, info, info.source.handle, info.destination.handle, host(hostList),
              [&](const void* bytes, size_t size) { std::memcpy(hostList.data(), bytes, size); });
    sluiceDestroyContext(cpu);
    device.check(built, "FSE tables");
    return hostStatus[tables] == 0 && got == expected;
}

} // namespace sluice
