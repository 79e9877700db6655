// SPDX-License-Identifier: MIT OR Apache-2.0
// SLUICE_DECODE_BY_DRIVER: what it gives where the driver can decode, and its error where it cannot.
#include "stream_batch.h"

#include <cstring>

using namespace sluice::test;

namespace {

// Golden tiles, between them regions that are not allowed, and what each must become.
struct Scene {
    Bytes source;
    std::vector<SluiceRegion> regions; // relative to source and destination
    std::vector<Bytes> expected;       // empty: not allowed
    Words checksums;

    Scene()
    {
        for (const GoldenStream& stream : goldenStreams()) {
            const std::vector<DecodedTile> decoded = decodeOnHost(stream.tiles);
            for (size_t i = 0; i < decoded.size(); ++i) {
                const Tile& tile = stream.tiles[i];
                add({source.size(), 65536 * regions.size(), tile.compressed.size(), tile.size}, decoded[i].bytes);
                source.insert(source.end(), tile.compressed.begin(), tile.compressed.end());
                source.resize((source.size() + 3) / 4 * 4);
            }
            add({1, 65536 * regions.size(), 200, 100}, {});   // unaligned
            add({0, 65536 * regions.size(), 200, 65537}, {}); // larger than a tile
        }
        add({~uint64_t(0) - 65535, 0, 200, 100}, {}); // outside
    }

    void add(const SluiceRegion& region, const Bytes& bytes)
    {
        regions.push_back(region);
        expected.push_back(bytes);
        checksums.push_back(sluiceTileChecksum(bytes.data(), bytes.size()));
    }
};

// Where the driver cannot, every attempt must say so.
bool driverDecodes()
{
    SluiceGdeflateInfo info = {};
    info.regionStride = sizeof(SluiceRegion);
    info.flags = SLUICE_DECODE_BY_DRIVER;
    SluiceTileStreamsInfo streams = {};
    streams.flags = SLUICE_DECODE_BY_DRIVER;
    const bool can = device().info().driverRegionLimit != 0;
    const SluiceStatus expected = can ? SLUICE_OK : SLUICE_ERROR_UNSUPPORTED;
    SluiceRequirements requirements = {};
    CHECK(sluiceGetGdeflateRequirements(device().context(), &info, &requirements) == expected);
    CHECK(sluiceGetTileStreamsRequirements(device().context(), &streams, &requirements) == expected);
    return can;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("decode by the driver: arguments")
{
    Buffer memory(device(), 4096);
    SluiceContext context = device().context();
    const uint32_t limit = device().info().driverRegionLimit;
    if (device().backend() != SLUICE_BACKEND_VULKAN) CHECK(limit == 0);
    SluiceGdeflateInfo info = {};
    info.maxRegionCount = 1;
    info.regionStride = sizeof(SluiceRegion);
    info.flags = SLUICE_DECODE_BY_DRIVER;
    info.regions = info.source = info.destination = info.status = info.scratch = memory.range();
    const SluiceStatus available = limit != 0 ? SLUICE_OK : SLUICE_ERROR_UNSUPPORTED;
    SluiceRequirements requirements = {};
    CHECK(sluiceGetGdeflateRequirements(context, &info, &requirements) == available);
    if (limit != 0) CHECK(requirements.scratchSize >= 32);
    SluiceTileStreamsInfo streams = {};
    streams.maxTileCount = 1;
    streams.flags = SLUICE_DECODE_BY_DRIVER;
    CHECK(sluiceGetTileStreamsRequirements(context, &streams, &requirements) == available);
    device().run([&](SluiceCommands commands) {
        if (limit == 0) CHECK(sluiceCmdGdeflate(context, commands, &info) == SLUICE_ERROR_UNSUPPORTED);
        info.flags |= SLUICE_DECODE_STORED_IF_EQUAL;
        CHECK(sluiceCmdGdeflate(context, commands, &info) == SLUICE_ERROR_ARGUMENT);
        info.flags = SLUICE_DECODE_BY_DRIVER;
        info.rowBytes = info.rowPitch = 256;
        CHECK(sluiceCmdGdeflate(context, commands, &info) == SLUICE_ERROR_ARGUMENT);
        info.rowBytes = info.rowPitch = 0;
        info.scratch.size = 4;
        CHECK(sluiceCmdGdeflate(context, commands, &info) ==
              (limit != 0 ? SLUICE_ERROR_BUFFER_SIZE : SLUICE_ERROR_UNSUPPORTED));
    });
    CHECK((memory.bytes() == Bytes(4096, Buffer::poison)));
}

TEST_CASE("decode by the driver: tiles, regions that are not allowed, checksums")
{
    if (!driverDecodes()) return;
    const Scene scene;
    const uint32_t count = uint32_t(scene.regions.size());
    for (const bool verify : {false, true}) {
        CAPTURE(verify);
        Buffer source(device(), scene.source), destination(device(), uint64_t(count) * 65536);
        Bytes list(size_t(count) * 36 + 28); // a stride that the extensions do not know
        for (uint32_t i = 0; i < count; ++i) {
            SluiceRegion region = scene.regions[i];
            region.srcAddress += source.address();
            region.dstAddress += destination.address();
            std::memcpy(list.data() + size_t(i) * 36, &region, sizeof region);
        }
        Words checksums = scene.checksums;
        checksums[0] ^= 1;
        Buffer regionList(device(), list), status(device(), (count + 2) * 4), expected(device(), checksums);
        Buffer countBuffer(device(), Words{count});
        SluiceGdeflateInfo info = {};
        info.maxRegionCount = count;
        info.regionStride = 36;
        info.flags = SLUICE_DECODE_BY_DRIVER;
        info.regions = regionList.range();
        info.regionCount = countBuffer.range();
        info.source = source.range();
        info.destination = destination.range();
        if (verify) info.expected = expected.range();
        info.status = status.range();
        SluiceRequirements requirements = {};
        REQUIRE(sluiceGetGdeflateRequirements(device().context(), &info, &requirements) == SLUICE_OK);
        Buffer scratch = makeScratch(device(), requirements);
        info.scratch = scratch.range();
        device().run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdGdeflate(device().context(), commands, &info) == SLUICE_OK);
        });
        const Words statuses = status.words();
        Bytes output = destination.bytes(), memory(output.size(), Buffer::poison);
        uint32_t failed = 0;
        for (uint32_t i = 0; i < count; ++i) {
            CAPTURE(i);
            const Bytes& bytes = scene.expected[i];
            const uint32_t decoded = !verify ? SLUICE_TILE_UNVERIFIED : i == 0 ? SLUICE_TILE_BAD_CHECKSUM : SLUICE_TILE_OK;
            CHECK(statuses[i] == (bytes.empty() ? uint32_t(SLUICE_TILE_BAD_REGION) : decoded));
            failed += statuses[i] == SLUICE_TILE_BAD_REGION || statuses[i] == SLUICE_TILE_BAD_CHECKSUM;
            std::copy(bytes.begin(), bytes.end(), memory.begin() + std::ptrdiff_t(i) * 65536);
        }
        CHECK(statuses[count] == failed);
        CHECK((output == memory));
    }
}

TEST_CASE("decode by the driver: tile streams")
{
    if (!driverDecodes()) return;
    StreamBatch batch, byDriver;
    for (const GoldenStream& golden : goldenStreams()) {
        batch.add(makeTileStream(golden.tiles), golden.size);
        for (const DecodedTile& tile : decodeOnHost(golden.tiles))
            byDriver.expected.push_back(sluiceTileChecksum(tile.bytes.data(), tile.bytes.size()));
    }
    byDriver.expected.resize(batch.maxTileCount);
    byDriver.source = batch.source;
    byDriver.ranges = batch.ranges;
    byDriver.destinationSize = batch.destinationSize;
    byDriver.flags = SLUICE_DECODE_BY_DRIVER;
    const StreamOutcome expected = batch.runOnHost(), verified = byDriver.runOnDevice(device());
    CHECK((verified.output == expected.output));
    for (const SluiceStreamResult& result : verified.results)
        CHECK(result.status == SLUICE_STREAM_OK);
    byDriver.expected.clear();
    const StreamOutcome unverified = byDriver.runOnDevice(device());
    CHECK((unverified.output == expected.output));
    for (const SluiceStreamResult& result : unverified.results)
        CHECK(result.status == SLUICE_STREAM_UNVERIFIED);
    CHECK(unverified.summary.failedStreams == 0);
}

TEST_SUITE_END();
