// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <memory>

#include <sluice/sluice_float.h>
#include <sluice/sluice_fse.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_tile_streams.h>

#include "archive_writer.h"
#include "decoder.h"
#include "golden_streams.h" // made from tests/data
#include "selftest.h"

namespace sluice {
namespace {

// A stream of the reference encoder.
struct GoldenStream {
    Bytes bytes;
    Words checksums; // one a tile
};

template <size_t Size>
GoldenStream golden(const uint8_t (&bytes)[Size], const Words& checksums)
{
    return {Bytes(bytes, bytes + Size), checksums};
}

std::vector<GoldenStream> goldenStreams()
{
    return {golden(kGolden_one_byte_bin_l12, {0x29ec80fb}),
            golden(kGolden_zeros_one_tile_bin_l12, {0x3c1eb7e4}),
            golden(kGolden_runs_bin_l12, {0x834190b7, 0x0640021d, 0x5d498714}),
            golden(kGolden_noise_bin_l0, {0xc346d010}),
            golden(kGolden_tile_plus_one_bin_l12, {0xde6f76bb, 0x03ae3e5a})};
}

// The tiles of all golden streams, and what must become of them.
struct GoldenTiles {
    Bytes source; // the compressed bytes
    std::vector<SluiceRegion> regions;
    Words checksums, statuses; // expected; the checksum kernel changes an OK into BAD_CHECKSUM

    GoldenTiles();
    void add(uint64_t offset, uint64_t compressedSize, uint64_t size, uint32_t checksum,
             uint32_t status)
    {
        regions.push_back({offset, uint64_t(regions.size()) * 65536, compressedSize, size});
        checksums.push_back(checksum);
        statuses.push_back(status);
    }
};

GoldenTiles::GoldenTiles()
{
    for (const GoldenStream& stream : goldenStreams()) {
        const Container container(std::make_unique<InputFile>("golden stream", stream.bytes));
        container.forEachTile(0, [&](uint32_t number, const ContainerTile& tile) {
            add(source.size() + tile.offset, tile.storedSize, tile.size, stream.checksums[number],
                SLUICE_TILE_OK);
        });
        source.insert(source.end(), stream.bytes.begin(), stream.bytes.end());
    }
    // Three bad ones: a tile cut off before every lane has its word, a reserved block type (lane 0
    // has a final block of type 3, and the others words to refill from), a wrong checksum.
    const SluiceRegion good = regions.front();
    const uint32_t checksum = checksums.front();
    add(good.srcAddress, 64, good.decompressedSize, checksum, SLUICE_TILE_TRUNCATED);
    add(source.size(), 256, good.decompressedSize, checksum, SLUICE_TILE_BAD_CODE);
    for (uint32_t i = 0; i < 64; ++i)
        source.insert(source.end(), {7, 0, 0, 0});
    add(good.srcAddress, good.compressedSize, good.decompressedSize, ~checksum,
        SLUICE_TILE_BAD_CHECKSUM);
}

// Decodes the golden tiles and says whether that went right; withChecksums: checks them then, and
// says whether that did.
bool testTiles(const ToolDevice& device, bool withChecksums)
{
    const GoldenTiles tiles;
    const uint32_t count = uint32_t(tiles.regions.size());
    TileDecode tileDecode(device);
    TileList list = {};
    list.source = tiles.source.data();
    list.sourceSize = tiles.source.size();
    list.destinationSize = uint64_t(count) * 65536;
    list.groups[kGdeflateTiles].regions = tiles.regions;
    const SluiceGdeflateInfo decode = tileDecode.prepare(list).groups[kGdeflateTiles].gdeflate;
    Run run(device);
    run.command(sluiceCmdGdeflate, decode);
    if (withChecksums) {
        SluiceChecksumInfo checksum = {};
        checksum.maxRegionCount = count;
        checksum.regionStride = sizeof(SluiceRegion);
        checksum.regions = decode.regions;
        checksum.destination = decode.destination;
        checksum.expected = run.input(tiles.checksums);
        checksum.status = decode.status;
        run.command(sluiceCmdChecksum, checksum);
    }
    // Without its checksum compared, the last tile is a good one.
    const auto expected = [&](uint32_t status) {
        const bool isUnseen = !withChecksums && status == SLUICE_TILE_BAD_CHECKSUM;
        return isUnseen ? uint32_t(SLUICE_TILE_OK) : status;
    };
    const Words statuses = run.values(decode.status);
    const Bytes output = run.values<uint8_t>(decode.destination);
    uint32_t failed = 0;
    bool right = true;
    for (uint32_t i = 0; i < count; ++i) {
        const bool wrongSum = tiles.statuses[i] == SLUICE_TILE_BAD_CHECKSUM; // it decodes all right
        const uint32_t sum = wrongSum ? ~tiles.checksums[i] : tiles.checksums[i];
        const bool decodes = wrongSum || tiles.statuses[i] == SLUICE_TILE_OK;
        right = right && statuses[i] == expected(tiles.statuses[i]) &&
                (!decodes || sluiceTileChecksum(&output[size_t(i) * 65536],
                                                size_t(tiles.regions[i].decompressedSize)) == sum);
        failed += expected(tiles.statuses[i]) != SLUICE_TILE_OK ? 1 : 0;
    }
    // The summary: how many failed, and the first of them.
    return right && statuses[count] == failed && statuses[count + 1] == count - 3;
}

// Copies from near and far between literals.
Bytes madeUpText(size_t size)
{
    Random random;
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
    Random random;
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i)
        bytes[i] =
            uint8_t((i < 12 ? 0 : bytes[i - 12]) + random.next() % 4 + (i % 12 == 5 ? 3 : 0));
    return bytes;
}

// bf16 whose exponents are few.
Bytes madeUpWeights(size_t count)
{
    Random random;
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

// Packs an asset of one segment. Do all of its tiles have the segment's codec, and a filter if it
// has one, and do they come back right, but for the last one, which is damaged?
bool comesBack(const ToolDevice& device, const Bytes& content, SluiceArchiveSegment segment,
               const void* parameters = nullptr, uint32_t parameterSize = 0)
{
    segment.size = content.size();
    SluiceArchiveAssetInfo asset = {};
    asset.segments = &segment;
    asset.segmentCount = 1;
    asset.parameters = parameters;
    asset.parameterSize = parameterSize;
    const Container container(
        std::make_unique<InputFile>("packed", packInMemory(content, {}, asset)));
    const uint32_t count = container.asset(0).tileCount;
    bool right = count >= 2;
    uint64_t at = 0;
    Decoder decoder(device, [&](const DecodeTile& tile, uint32_t status, const uint8_t* bytes) {
        const bool damaged = tile.number + 1 == count;
        right = right && (status == SLUICE_TILE_OK) != damaged &&
                (damaged || std::equal(bytes, bytes + tile.tile.size, content.data() + at));
        at += tile.tile.size;
    });
    container.forEachTile(0, [&](uint32_t number, const ContainerTile& tile) {
        right = right && tile.codec == uint32_t(segment.codec) &&
                (tile.filter != nullptr) == (segment.filterOffset != 0);
        uint8_t* const bytes = decoder.add({tile, true, 0, number});
        container.file().read(tile.offset, bytes, tile.storedSize);
        if (number + 1 == count) bytes[tile.storedSize / 2] ^= 0x10;
    });
    decoder.flush();
    return right;
}

SluiceArchiveSegment gstdSegment(uint32_t tileSize)
{
    SluiceArchiveSegment segment = {};
    segment.codec = SLUICE_CODEC_GSTD;
    segment.level = 6;
    segment.tileSize = tileSize;
    return segment;
}

} // namespace

bool testGdeflate(const ToolDevice& device) { return testTiles(device, false); }

bool testChecksum(const ToolDevice& device) { return testTiles(device, true); }

// All golden streams whole, in one command, and one that is cut off.
bool testTileStreams(const ToolDevice& device)
{
    Bytes source;
    Words checksums;
    std::vector<SluiceStreamRange> ranges;
    uint64_t destinationSize = 0;
    for (const GoldenStream& stream : goldenStreams()) {
        const uint64_t size = stream.checksums.size() * 65536;
        ranges.push_back({source.size(), stream.bytes.size(), destinationSize, size});
        destinationSize += size;
        source.insert(source.end(), stream.bytes.begin(), stream.bytes.end());
        checksums.insert(checksums.end(), stream.checksums.begin(), stream.checksums.end());
    }
    ranges.push_back(ranges.front());
    ranges.back().sourceSize -= 4;
    const uint32_t streamCount = uint32_t(ranges.size()), tileCount = uint32_t(checksums.size());
    Run run(device);
    SluiceTileStreamsInfo info = {};
    info.maxStreamCount = streamCount;
    info.maxTileCount = tileCount;
    info.streams = run.input(ranges);
    info.source = run.input(source);
    info.destination = run.output(destinationSize);
    info.expected = run.input(checksums);
    info.results =
        run.output(streamCount * sizeof(SluiceStreamResult) + sizeof(SluiceStreamSummary));
    info.status = run.output((uint64_t(tileCount) + 2) * 4);
    info.scratch = run.scratch(sluiceGetTileStreamsRequirements, info);
    run.command(sluiceCmdTileStreams, info);

    // The first word of a result is its status; of the summary, how many failed and the first of
    // them.
    const Words words = run.values(info.results);
    bool right = words[streamCount * 4] == 1 && words[streamCount * 4 + 1] == streamCount - 1 &&
                 words[(streamCount - 1) * 4] == SLUICE_STREAM_TRUNCATED;
    for (uint32_t s = 0; s + 1 < streamCount; ++s)
        right = right && words[s * 4] == SLUICE_STREAM_OK;
    return right && run.values(info.status)[tileCount] == 0;
}

bool testGstd(const ToolDevice& device)
{
    return comesBack(device, madeUpText(250000), gstdSegment(100000)); // tiles of two parts
}

bool testFilter(const ToolDevice& device)
{
    const Bytes records = madeUpRecords(36000);
    SluiceFilterPlanInfo info = {};
    info.maxTileSize = 12000;
    info.features = SLUICE_FILTER_ALL;
    info.force = 1;
    info.layout = SLUICE_FILTER_LAYOUT_RECORDS;
    info.stride = 12;
    info.columnSize = 1;
    info.rowRecords = 10;
    SluiceFilterPlan made = nullptr;
    device.check(sluiceCreateFilterPlan(records.data(), records.size(), &info, &made), "filter");
    const FilterPlan plan(made, sluiceDestroyFilterPlan);
    uint32_t count = 0, size = 0;
    const SluiceFilterSegment* found = sluiceGetFilterSegments(made, &count);
    const void* parameters = sluiceGetFilterParameters(made, &size);
    SluiceArchiveSegment segment = gstdSegment(found[0].tileSize);
    segment.filterOffset = found[0].filterOffset;
    return count == 1 && comesBack(device, records, segment, parameters, size);
}

bool testFloat(const ToolDevice& device)
{
    SluiceArchiveSegment segment = {};
    segment.codec = SLUICE_CODEC_FLOAT;
    segment.tileSize = 65536;
    segment.floatType = SLUICE_FLOAT_BF16;
    return comesBack(device, madeUpWeights(70000), segment);
}

// Tables from counts of 64 symbols, of which some occur less than once and some never.
bool testFseTables(const ToolDevice& device)
{
    constexpr uint32_t tables = 20, symbols = 64,
                       tableSize = SLUICE_FSE_TABLE_SIZE(SLUICE_FSE_MAX_LOG);
    Random random;
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
    // The tables that a device makes; none where some could not be built.
    const auto build = [&](const ToolDevice& on) {
        Run run(on);
        SluiceFseTablesInfo info = {};
        info.source = run.input(counts);
        info.destination = run.input(Bytes(tables * tableSize));
        info.status = run.output((tables + 2) * 4);
        std::vector<SluiceRegion> regions;
        for (uint32_t t = 0; t < tables; ++t)
            regions.push_back({on.address(info.source) + t * symbols * 2,
                               on.address(info.destination) + t * tableSize, symbols * 2,
                               tableSize});
        info.regions = run.input(regions);
        info.maxRegionCount = tables;
        info.regionStride = sizeof(SluiceRegion);
        info.flags = SLUICE_FSE_COUNTS;
        info.maxSymbols = symbols;
        info.maxLog = SLUICE_FSE_MAX_LOG;
        run.command(sluiceCmdFseTables, info);
        return run.values(info.status)[tables] == 0 ? run.values(info.destination) : Words();
    };
    SluiceDeviceInfo info = {};
    info.selector = "cpu";
    const Words expected = build(ToolDevice(info));
    return !expected.empty() && build(device) == expected;
}

} // namespace sluice
