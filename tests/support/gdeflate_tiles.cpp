// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>

#include "tests/support/gdeflate_tiles.h"
#include "test_paths.h"

#include "cpu/gdeflate.h"
#include "cpu/gstd.h"
#include "formats/xxh32.h"
#include "tests/support/gdeflate_bit_writer.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace sluice::test {
namespace {

constexpr uint64_t kGap = 32; // bytes between tiles that must not change

uint64_t alignedUp(uint64_t value) { return (value + 3) & ~uint64_t(3); }

Bytes readFile(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file.good(), path);
    return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// Cuts a tile stream, which has a header and a table as in docs/format.md. The file is one of the
// tests' own, so a broken one simply fails the test.
std::vector<Tile> cutTileStream(const std::string& name, const Bytes& stream)
{
    REQUIRE(stream.size() >= 8);
    REQUIRE(stream[0] == 4);
    REQUIRE(stream[1] == 0xFB);
    const uint32_t count = stream[2] | uint32_t(stream[3]) << 8;
    const uint32_t lastSize = loadLe32(&stream[4]) >> 2 & 0x3FFFF;
    const size_t data = 8 + 4 * size_t(count);
    REQUIRE(stream.size() >= data);
    std::vector<Tile> tiles;
    for (uint32_t i = 0; i < count; ++i) {
        const bool last = i + 1 == count;
        const size_t begin = i == 0 ? 0 : loadLe32(&stream[8 + 4 * size_t(i)]);
        const size_t end =
            last ? begin + loadLe32(&stream[8]) : loadLe32(&stream[12 + 4 * size_t(i)]);
        REQUIRE(begin <= end);
        REQUIRE(end <= stream.size() - data);
        const Bytes compressed(stream.data() + data + begin, stream.data() + data + end);
        tiles.push_back(
            {name + "#" + std::to_string(i), compressed, last && lastSize != 0 ? lastSize : 65536});
    }
    return tiles;
}

} // namespace

Tile literalTile(uint32_t size, std::mt19937& random)
{
    std::vector<Token> tokens;
    for (uint32_t i = 0; i < size; ++i)
        tokens.push_back(literal(uint32_t(random()) % 256));
    GdeflateBitWriter writer;
    writer.fixed(true, tokens);
    return {"literals", writer.bytes(), size};
}

std::vector<DecodedTile> decodeOnHost(const std::vector<Tile>& tiles, TileCodec codec)
{
    std::vector<DecodedTile> results(tiles.size());
    std::atomic<size_t> next{0};
    const auto work = [&] {
        for (size_t i = next++; i < tiles.size(); i = next++) {
            const Tile& tile = tiles[i];
            results[i].bytes.resize(tile.size);
            const auto decode =
                codec == TileCodec::gstd ? cpu::decodeGstdTile : cpu::decodeGdeflateTile;
            results[i].status = decode(tile.compressed.data(), tile.compressed.size(),
                                       results[i].bytes.data(), tile.size);
        }
    };
    std::vector<std::thread> threads(std::max(1u, std::thread::hardware_concurrency()) - 1);
    for (std::thread& thread : threads)
        thread = std::thread(work);
    work();
    for (std::thread& thread : threads)
        thread.join();
    return results;
}

namespace {

// room: the command has room for at least this many tiles, which may choose another kernel, and
// reads their number from memory. 0: it has room for these tiles only. gstdScratch: holds all of
// these tiles at once; without it, Gstd decodes three tiles at a time.
std::vector<DecodedTile> decodeWithRoom(Device& device, const std::vector<Tile>& tiles,
                                        TileCodec codec, uint32_t room,
                                        Buffer* gstdScratch = nullptr)
{
    Bytes sourceBytes;
    std::vector<SluiceRegion> regions;
    uint64_t destinationSize = kGap;
    for (const Tile& tile : tiles) {
        regions.push_back({sourceBytes.size(), destinationSize, tile.compressed.size(), tile.size});
        sourceBytes.insert(sourceBytes.end(), tile.compressed.begin(), tile.compressed.end());
        sourceBytes.resize(size_t(alignedUp(sourceBytes.size())), 0xEE);
        destinationSize = alignedUp(destinationSize + tile.size) + kGap;
    }
    const uint32_t count = uint32_t(tiles.size()), most = std::max(count, room);
    Buffer source(device, sourceBytes), destination(device, destinationSize);
    for (SluiceRegion& region : regions) {
        region.srcAddress += source.address();
        region.dstAddress += destination.address();
    }
    Bytes list = bytesOf(regions);
    list.resize(most * sizeof(SluiceRegion), 0xFF);
    Buffer regionList(device, list), regionCount(device, Words{count}),
        status(device, (uint64_t(most) + 2) * 4);

    const auto decode = [&](auto info, auto getRequirements, auto command) {
        info.maxRegionCount = most;
        if (room != 0) info.regionCount = regionCount.range();
        info.regionStride = sizeof(SluiceRegion);
        info.regions = regionList.range();
        info.source = source.range();
        info.destination = destination.range();
        info.status = status.range();
        if (gstdScratch == nullptr) {
            runWithScratch(device, info, getRequirements, command);
        } else {
            info.scratch = gstdScratch->range();
            device.run([&](SluiceCommands commands) {
                REQUIRE(command(device.context(), commands, &info) == SLUICE_OK);
            });
        }
    };
    if (codec == TileCodec::gstd && gstdScratch != nullptr) {
        SluiceGstdInfo info = {};
        info.tilesAtOnce = most;
        decode(info, sluiceGetGstdRequirements, sluiceCmdGstd);
    } else if (codec == TileCodec::gstd) {
        SluiceGstdInfo info = {};
        info.tilesAtOnce = 3; // so that several turns are needed
        decode(info, sluiceGetGstdRequirements, sluiceCmdGstd);
    } else {
        decode(SluiceGdeflateInfo{}, sluiceGetGdeflateRequirements, sluiceCmdGdeflate);
    }

    const Words statusWords = status.words();
    Bytes output = destination.bytes();
    std::vector<DecodedTile> results;
    uint32_t failed = 0, firstFailed = ~0u;
    for (uint32_t i = 0; i < count; ++i) {
        const auto begin =
            output.begin() + std::ptrdiff_t(regions[i].dstAddress - destination.address());
        results.push_back({statusWords[i], Bytes(begin, begin + tiles[i].size)});
        std::fill(begin, begin + tiles[i].size, Buffer::kPoison);
        if (statusWords[i] != SLUICE_TILE_OK && failed++ == 0) firstFailed = i;
    }
    CHECK(std::all_of(statusWords.begin() + count, statusWords.begin() + most,
                      [](uint32_t word) { return word == SLUICE_TILE_PENDING; }));
    CHECK(statusWords[most] == failed);
    CHECK(statusWords[most + 1] == firstFailed);
    CHECK_MESSAGE(std::all_of(output.begin(), output.end(),
                              [](uint8_t byte) { return byte == Buffer::kPoison; }),
                  "bytes between the tiles changed");
    return results;
}

// So many tiles do not count as few (gstd.fewTiles in a device's tuning) on GPUs with up to 366
// SMs, nor with CUDA.
constexpr uint32_t kManyGstdTiles = 1100;

void checkSame(const std::vector<Tile>& tiles, const std::vector<DecodedTile>& results,
               const std::vector<DecodedTile>& others)
{
    for (size_t i = 0; i < tiles.size(); ++i) {
        CAPTURE(tiles[i].name);
        CHECK(others[i].status == results[i].status);
        if (results[i].status == SLUICE_TILE_OK) CHECK((others[i].bytes == results[i].bytes));
    }
}

} // namespace

std::vector<DecodedTile> decodeOnDevice(Device& device, const std::vector<Tile>& tiles,
                                        TileCodec codec, Buffer* gstdScratch)
{
    const std::vector<DecodedTile> results = decodeWithRoom(device, tiles, codec, 0);
    if (gstdScratch != nullptr)
        checkSame(tiles, results,
                  decodeWithRoom(device, tiles, codec, kManyGstdTiles, gstdScratch));
    // On CUDA GDeflate has only one kernel.
    const bool isVulkan = device.info().backend == SLUICE_BACKEND_VULKAN;
    if (codec != TileCodec::gdeflate || !isVulkan || !hasKernelsByCount(device)) return results;
    // A device's tuning says how many tiles are few and how many are many (gdeflate.fewTiles,
    // manyTiles): 4,096 are neither on GPUs with 33 to 511 SMs, and 32,768 are many on GPUs with up
    // to 256 SMs.
    for (const uint32_t room : {4096u, 128u * 256u}) {
        const std::vector<DecodedTile> others = decodeWithRoom(device, tiles, codec, room);
        CAPTURE(room);
        checkSame(tiles, results, others);
    }
    return results;
}

std::unique_ptr<Buffer> gstdScratchForMany(Device& device)
{
    if (!hasKernelsByCount(device)) return nullptr;
    return std::make_unique<Buffer>(device,
                                    uint64_t{kManyGstdTiles} * SLUICE_GSTD_SLOT_SIZE(262144u));
}

std::vector<DecodedTile> decodeAndCompare(Device& device, const std::vector<Tile>& tiles,
                                          TileCodec codec, Buffer* gstdScratch)
{
    std::vector<DecodedTile> expected = decodeOnHost(tiles, codec);
    const std::vector<DecodedTile> results = decodeOnDevice(device, tiles, codec, gstdScratch);
    for (size_t i = 0; i < tiles.size(); ++i) {
        CAPTURE(tiles[i].name);
        CHECK(results[i].status == expected[i].status);
        if (expected[i].status != SLUICE_TILE_OK || results[i].status != SLUICE_TILE_OK) continue;
        const auto difference = std::mismatch(expected[i].bytes.begin(), expected[i].bytes.end(),
                                              results[i].bytes.begin());
        CHECK_MESSAGE(difference.first == expected[i].bytes.end(),
                      "first wrong byte: " << difference.first - expected[i].bytes.begin());
    }
    return expected;
}

std::vector<GoldenStream> goldenStreams()
{
    const std::string folder = SLUICE_TEST_DATA_DIR;
    const Bytes manifest = readFile(folder + "/manifest.txt");
    std::istringstream lines(std::string(manifest.begin(), manifest.end()));
    std::vector<GoldenStream> streams;
    GoldenStream stream;
    std::string sha256;
    while (lines >> stream.name >> stream.size >> std::hex >> stream.xxh64 >> std::dec >> sha256) {
        stream.tiles = cutTileStream(stream.name, readFile(folder + "/" + stream.name));
        streams.push_back(stream);
    }
    REQUIRE(!streams.empty());
    return streams;
}

} // namespace sluice::test
