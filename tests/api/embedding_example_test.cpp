// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the code that README.md and docs/embedding.md show, on an archive and on every device: the
// list of tiles, the decoders, the statuses and the primitives.
#include "tests/support/arguments.h"
#include "tests/support/packed_archives.h"

#include "device/device_vulkan.h"
#include "tests/support/df11_units.h"
#include "tests/support/gdeflate_tiles.h"
#include "tests/support/images.h"
#include "tests/support/short_runs.h"
#include "tests/support/streams.h"
#include "tests/stream/stream_batch.h"

#include <vulkan/vulkan.h>

#include <sluice/sluice_all.h>
#include <sluice/sluice_dev.h>
#include <sluice/sluice_self_test.h>
#include <sluice/sluice_vulkan.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <thread>

namespace {

// Replaces the example's only call of Vulkan, which copies decoded bytes into an image. It records
// what would be copied, and the tests look at these bytes.
struct Copied {
    VkBuffer from = VK_NULL_HANDLE;
    VkBufferImageCopy copy = {};
};
Copied copied;

void copyToImage(VkCommandBuffer, VkBuffer from, VkImage, VkImageLayout, uint32_t count,
                 const VkBufferImageCopy* copies)
{
    REQUIRE(count == 1);
    copied = {from, copies[0]};
}

SluiceStatus startNoReload(const SluiceHotReloadInfo*, SluiceHotReload*, const char**)
{
    return SLUICE_ERROR_UNSUPPORTED;
}

} // namespace

#define vkCmdCopyBufferToImage copyToImage
#define sluiceStartHotReload startNoReload
namespace example {
#include "tests/consumers/readme/decode.cpp"
#include "tests/consumers/readme/embed.cpp"
void Report::operator()(const char*, uint32_t) const {}
} // namespace example
#undef vkCmdCopyBufferToImage
#undef sluiceStartHotReload

using namespace sluice::test;

namespace {

// A buffer of an engine: its bytes begin at the beginning of the VkBuffer.
class Plain {
public:
    Plain(Device& on, uint64_t size) : Plain(on, Bytes(size_t(size), 0xEE)) {}
    Plain(Device& on, const Bytes& content) : m_on(on), m_size(content.size())
    {
        REQUIRE(sluiceAllocate(on.get(), m_size, &m_whole) == SLUICE_OK);
        REQUIRE(m_whole.offset == 0);
        REQUIRE(sluiceUpload(on.get(), m_whole, content.data(), content.size()) == SLUICE_OK);
    }
    ~Plain() { sluiceRelease(m_on.get(), m_whole); }
    Plain(const Plain&) = delete;
    Plain& operator=(const Plain&) = delete;

    VkBuffer handle() const { return VkBuffer(uintptr_t(m_whole.handle)); }
    uint64_t address() const { return sluiceGetAddress(m_on.get(), m_whole); }
    Bytes bytes() const
    {
        Bytes result(m_size);
        REQUIRE(sluiceDownload(m_on.get(), m_whole, result.data(), m_size) == SLUICE_OK);
        return result;
    }
    Words words() const
    {
        const Bytes all = bytes();
        Words result(all.size() / 4);
        std::memcpy(result.data(), all.data(), result.size() * 4);
        return result;
    }

private:
    Device& m_on;
    size_t m_size;
    SluiceBuffer m_whole = {};
};

// An archive with one asset, and the variables that the page's code uses.
struct Scene {
    Scene(Device& on, SluiceCodec codec, uint32_t tileSize) : asset{"asset", {}, {}, {}}
    {
        asset.add(content(tileSize * 3 + 1000), codec, tileSize);
        file = packArchive({asset});
        const ParsedArchive parsed(file);
        tiles = parsed.records(0);
        const SluiceArchiveAsset entry = parsed.asset(0);
        extent.assign(parsed.extent(0), parsed.extent(0) + entry.extentSize);
        source = std::make_unique<Plain>(on, extent);
        output = std::make_unique<Plain>(on, asset.bytes.size());
        status = std::make_unique<Plain>(on, (tiles.size() + 2) * 4);
        SluiceGstdInfo most = {};
        most.maxRegionCount = uint32_t(tiles.size());
        most.tilesAtOnce = 128;
        SluiceRequirements need = {};
        REQUIRE(sluiceGetGstdRequirements(on.context(), &most, &need) == SLUICE_OK);
        scratch = std::make_unique<Plain>(on, need.scratchSize);
        example::listTiles(tiles, source->address(), output->address(), regions);
        REQUIRE(regions.size() == 4);
        list = std::make_unique<Plain>(on, bytesOf(regions));
        buffers.file = source->handle();
        buffers.fileSize = extent.size();
        buffers.regions = list->handle();
        buffers.status = status->handle();
        buffers.scratch = scratch->handle();
        buffers.staging = buffers.textures = output->handle();
        buffers.stagingSize = buffers.textureSize = asset.bytes.size();
    }
    void checkDecoded() const
    {
        const uint32_t count = uint32_t(tiles.size());
        const Words words = status->words();
        CHECK(words[count] == 0);
        CHECK(words[0] == SLUICE_TILE_OK);
        example::readStatus(words.data(), count, example::Report());
        CHECK((output->bytes() == asset.bytes));
    }

    static Bytes content(uint32_t size)
    {
        std::mt19937 random = makeRandom(77);
        Bytes bytes(size);
        for (size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = uint8_t(i % 251 < 200 ? "a line of text "[i % 15] : random() & 63);
        return bytes;
    }

    PackedAsset asset;
    Bytes file, extent;
    std::vector<SluiceArchiveTile> tiles;
    std::vector<SluiceRegion> regions;
    std::unique_ptr<Plain> source, output, status, scratch, list;
    example::Buffers buffers = {};
};

VkCommandBuffer commandBufferOf(SluiceCommands commands)
{
    return VkCommandBuffer(reinterpret_cast<void*>(commands));
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("embedding example: GDeflate tiles of an archive, into an image")
{
    Device& on = device();
    Scene scene(on, SLUICE_CODEC_GDEFLATE, 65536);
    const uint32_t count = uint32_t(scene.tiles.size());
    on.run([&](SluiceCommands commands) {
        VkBufferImageCopy copy = {};
        copy.bufferRowLength = 64;
        CHECK(example::recordTexture(on.context(), commandBufferOf(commands), scene.buffers, count,
                                     VK_NULL_HANDLE, copy) == SLUICE_OK);
        CHECK(copied.from == scene.output->handle());
        CHECK(copied.copy.bufferRowLength == 64);
    });
    scene.checkDecoded();
}

TEST_CASE("README's example: GDeflate tiles")
{
    Device& on = device();
    Scene scene(on, SLUICE_CODEC_GDEFLATE, 65536);
    on.run([&](SluiceCommands commands) {
        CHECK(example::record(on.context(), commandBufferOf(commands), uint32_t(scene.tiles.size()),
                              scene.list->handle(), scene.source->handle(), scene.extent.size(),
                              scene.output->handle(), scene.asset.bytes.size(),
                              scene.status->handle()) == SLUICE_OK);
    });
    scene.checkDecoded();
}

TEST_CASE("embedding example: Gstd tiles of an archive")
{
    Device& on = device();
    Scene scene(on, SLUICE_CODEC_GSTD, 65536);
    on.run([&](SluiceCommands commands) {
        CHECK(example::recordGstd(on.context(), commands, scene.buffers,
                                  uint32_t(scene.tiles.size())) == SLUICE_OK);
    });
    scene.checkDecoded();
}

TEST_CASE("embedding example: offsets, visible instances, their payloads and draws")
{
    Device& on = device();
    constexpr uint32_t kInstances = 1000;
    Words sizes(kInstances), begins(kInstances), mask((kInstances + 31) / 32);
    uint32_t all = 0;
    for (uint32_t i = 0; i < kInstances; ++i) {
        sizes[i] = i * 7 % 5;
        begins[i] = (kInstances - 1 - i) * 4; // backwards
        all += sizes[i];
        mask[i / 32] |= (i % 3 == 0 ? 1u : 0u) << i % 32;
    }
    Words payload(kInstances * 4 + 8);
    std::iota(payload.begin(), payload.end(), 100u);
    Words commandWords(kInstances * 5);
    std::iota(commandWords.begin(), commandWords.end(), 1000u);
    const Plain sizeBuffer(on, bytesOf(sizes)), beginBuffer(on, bytesOf(begins)),
        maskBuffer(on, bytesOf(mask)), file(on, bytesOf(payload)), offsets(on, kInstances * 4),
        visible(on, kInstances * 4), count(on, 4), dispatch(on, 4), moved(on, all * 4),
        scan(on, Bytes(1 << 20)), compact(on, Bytes(1 << 20)), move(on, 1 << 20),
        allDraws(on, bytesOf(commandWords)), draws(on, kInstances * 20), drawCount(on, 4);
    example::Buffers buffers = {};
    buffers.sizes = sizeBuffer.handle();
    buffers.offsets = offsets.handle();
    buffers.begins = beginBuffer.handle();
    buffers.mask = maskBuffer.handle();
    buffers.visible = visible.handle();
    buffers.visibleCount = count.handle();
    buffers.dispatch = dispatch.handle();
    buffers.scanScratch = scan.handle();
    buffers.compactScratch = compact.handle();
    buffers.moveScratch = move.handle();
    buffers.allDraws = allDraws.handle();
    buffers.draws = draws.handle();
    buffers.drawCount = drawCount.handle();
    buffers.file = file.handle();
    buffers.fileSize = payload.size() * 4;
    buffers.textures = moved.handle();
    buffers.textureSize = all * 4;
    on.run([&](SluiceCommands commands) {
        CHECK(example::recordPrimitives(on.context(), commands, buffers, kInstances) == SLUICE_OK);
        CHECK(sluiceCmdBarrier(on.context(), commands) == SLUICE_OK); // both use a scratch
        CHECK(example::recordDraws(on.context(), commands, buffers, kInstances) == SLUICE_OK);
    });
    const Words drawWords = draws.words();
    const Words offsetWords = offsets.words(), visibleWords = visible.words(),
                movedWords = moved.words();
    uint32_t at = 0, kept = 0;
    for (uint32_t i = 0; i < kInstances; ++i) {
        CHECK(offsetWords[i] == at);
        for (uint32_t k = 0; k < 5 && i % 3 == 0; ++k)
            CHECK(drawWords[5 * kept + k] == commandWords[5 * i + k]);
        if (i % 3 == 0) CHECK(visibleWords[kept++] == i);
        for (uint32_t k = 0; k < sizes[i]; ++k)
            CHECK(movedWords[at++] == payload[begins[i] + k]);
    }
    CHECK(count.words()[0] == kept);
    CHECK(drawCount.words()[0] == kept);
    CHECK(dispatch.words()[0] == (kept + 63) / 64);
}

// The tiles are filtered: they are decoded into a buffer of their own, and then the filters are
// undone.
TEST_CASE("embedding example: Gstd tiles with filters, and their checksums")
{
    Device& on = device();
    PackedAsset asset{"filtered", {}, {}, {}};
    std::mt19937 random = makeRandom(78);
    asset.add(smoothBytes(random, 3 * 65536 + 777), SLUICE_CODEC_GSTD, 65536, true);
    const Bytes file = packArchive({asset});
    const ParsedArchive parsed(file);
    const SluiceArchiveAsset entry = parsed.asset(0);
    const std::vector<SluiceArchiveTile> tiles = parsed.records(0);
    const uint32_t count = uint32_t(tiles.size());
    const auto* block = static_cast<const uint8_t*>(entry.tileParameters);
    const Bytes descriptions(block, block + entry.tileParameterSize);
    const Plain source(on, Bytes(parsed.extent(0), parsed.extent(0) + entry.extentSize)),
        filtered(on, asset.bytes.size()), output(on, asset.bytes.size()),
        status(on, (count + 2) * 4), scratch(on, uint64_t(16) << 20),
        filterScratch(on, uint64_t(8) << 20), list(on, descriptions);
    std::vector<SluiceRegion> stored, decoded;
    example::listTiles(tiles, source.address(), filtered.address(), stored);
    example::listTiles(tiles, source.address(), output.address(), decoded);
    std::vector<SluiceFilterTile> undo;
    Words sums;
    for (uint32_t i = 0; i < count; ++i) {
        REQUIRE(tiles[i].filterOffset != 0);
        SluiceFilterTile tile = {};
        tile.srcAddress = stored[i].dstAddress;
        tile.dstAddress = decoded[i].dstAddress;
        tile.size = tiles[i].size;
        // The page's code copies the parameters without their length word.
        tile.descriptionOffset = tiles[i].filterOffset - 4 + 8;
        tile.descriptionSize = sluice::loadLe32(&descriptions[tile.descriptionOffset - 4]);
        tile.statusIndex = i;
        undo.push_back(tile);
        sums.push_back(tiles[i].checksum);
    }
    const Plain regions(on, bytesOf(stored)), outputs(on, bytesOf(decoded)),
        filterTiles(on, bytesOf(undo)), expected(on, bytesOf(sums));
    example::Buffers buffers = {};
    buffers.filterTiles = filterTiles.handle();
    buffers.descriptions = list.handle();
    buffers.descriptionSize = descriptions.size();
    buffers.filtered = filtered.handle();
    buffers.textures = output.handle();
    buffers.filteredSize = buffers.textureSize = asset.bytes.size();
    buffers.filterScratch = filterScratch.handle();
    SluiceGstdInfo decode = {};
    decode.maxRegionCount = count;
    decode.regionStride = sizeof(SluiceRegion);
    decode.tilesAtOnce = 4;
    decode.regions = sluiceVulkanBuffer(regions.handle(), 0, count * sizeof(SluiceRegion));
    decode.source = sluiceVulkanBuffer(source.handle(), 0, entry.extentSize);
    decode.destination = sluiceVulkanBuffer(filtered.handle(), 0, asset.bytes.size());
    decode.status = sluiceVulkanBuffer(status.handle(), 0, (count + 2ull) * 4);
    SluiceRequirements need = {};
    REQUIRE(sluiceGetGstdRequirements(on.context(), &decode, &need) == SLUICE_OK);
    decode.scratch = sluiceVulkanBuffer(scratch.handle(), 0, need.scratchSize);
    SluiceChecksumInfo check = {};
    check.maxRegionCount = count;
    check.regionStride = sizeof(SluiceRegion);
    check.regions = sluiceVulkanBuffer(outputs.handle(), 0, count * sizeof(SluiceRegion));
    check.destination = sluiceVulkanBuffer(output.handle(), 0, asset.bytes.size());
    check.expected = sluiceVulkanBuffer(expected.handle(), 0, count * 4ull);
    check.status = decode.status;
    on.run([&](SluiceCommands commands) {
        CHECK(example::recordFilters(on.context(), commands, buffers, decode, check, count) ==
              SLUICE_OK);
    });
    CHECK((output.bytes() == asset.bytes));
    const Words words = status.words();
    CHECK((Words(words.begin(), words.begin() + count) == Words(count, SLUICE_TILE_OK)));
    CHECK(words[count] == 0);
}

TEST_CASE("embedding example: weights")
{
    Device& on = device();
    PackedAsset asset{"weights", {}, {}, {}};
    Bytes few = Scene::content(2 * 131072 + 5000);
    for (uint8_t& byte : few)
        byte &= 7;
    asset.add(few, SLUICE_CODEC_FLOAT, 131072);
    const Bytes file = packArchive({asset});
    const ParsedArchive parsed(file);
    const uint64_t size = parsed.asset(0).extentSize;
    const std::vector<SluiceArchiveTile> tiles = parsed.records(0);
    const Plain source(on, Bytes(parsed.extent(0), parsed.extent(0) + size)),
        output(on, asset.bytes.size());
    std::vector<SluiceFloatTensor> tensors(tiles.size());
    uint32_t statusCount = 0;
    for (size_t i = 0; i < tiles.size(); ++i) {
        REQUIRE(tiles[i].codec == SLUICE_CODEC_FLOAT);
        REQUIRE(example::listWeights(parsed.extent(0) + tiles[i].offset, tiles[i], tiles[0],
                                     source.address(), output.address(), statusCount,
                                     tensors[i]) == SLUICE_OK);
    }
    const Plain list(on, bytesOf(tensors)), status(on, (statusCount + 2) * 4);
    SluiceFloatDecodeInfo info = {};
    info.tensorCount = uint32_t(tensors.size());
    info.tileCount = statusCount;
    info.tensors = sluiceVulkanBuffer(list.handle(), 0, tensors.size() * sizeof(SluiceFloatTensor));
    info.source = sluiceVulkanBuffer(source.handle(), 0, size);
    info.destination = sluiceVulkanBuffer(output.handle(), 0, asset.bytes.size());
    info.status = sluiceVulkanBuffer(status.handle(), 0, (statusCount + 2ull) * 4);
    SluiceRequirements need = {};
    REQUIRE(sluiceGetFloatDecodeRequirements(on.context(), &info, &need) == SLUICE_OK);
    const Plain scratch(on, std::max<uint64_t>(need.scratchSize, 4));
    info.scratch = sluiceVulkanBuffer(scratch.handle(), 0, need.scratchSize);
    on.run([&](SluiceCommands commands) {
        CHECK(sluiceCmdFloatDecode(on.context(), commands, &info) == SLUICE_OK);
    });
    CHECK((output.bytes() == asset.bytes));
    CHECK(status.words()[statusCount] == 0);
}

TEST_CASE("embedding example: FSE tables")
{
    Device& on = device();
    // Two symbols of 16 states each: log 5 in 4 bits, 16 + 1 in 5 bits, 16 + 1 + 14 in 5 bits.
    const Plain file(on, Bytes{0x10, 0x3F, 0, 0}), tables(on, SLUICE_FSE_TABLE_SIZE(9)),
        status(on, 3 * 4);
    const std::vector<SluiceRegion> regions = {
        {file.address(), tables.address(), 2, SLUICE_FSE_TABLE_SIZE(9)}};
    const Plain list(on, bytesOf(regions));
    example::Buffers buffers = {};
    buffers.regions = list.handle();
    buffers.file = file.handle();
    buffers.fileSize = 4;
    buffers.scratch = tables.handle();
    buffers.scratchSize = SLUICE_FSE_TABLE_SIZE(9);
    buffers.status = status.handle();
    on.run([&](SluiceCommands commands) {
        CHECK(example::recordFseTables(on.context(), commands, buffers, 1) == SLUICE_OK);
    });
    CHECK((status.words() == Words{SLUICE_TILE_OK, 0, ~0u}));
    const Bytes made = tables.bytes();
    SluiceFseTableHeader header = {};
    std::memcpy(&header, made.data(), sizeof header);
    CHECK(header.descriptionSize == 2);
    CHECK(header.log == 5);
    CHECK(header.lastSymbol == 1);
    uint32_t ones = 0;
    for (uint32_t i = 0; i < 32; ++i) {
        SluiceFseState state = {};
        std::memcpy(&state, &made[4 + size_t(i) * 4], sizeof state);
        CHECK(state.bits == 1);
        ones += state.symbol;
    }
    CHECK(ones == 16);
}

TEST_CASE("embedding example: whole tile streams, as ranges and as pairs")
{
    Device& on = device();
    std::mt19937 random = makeRandom(79);
    StreamBatch batch;
    batch.add(makeTileStream({literalTile(65536, random), literalTile(1000, random)}), 66536);
    batch.add(makeTileStream({literalTile(77, random)}, 0xfe), 77);
    const Bytes expected = batch.runOnHost().output;
    Words pairs = {2};
    for (const SluiceStreamRange& range : batch.ranges) {
        pairs.push_back(uint32_t(range.sourceOffset));
        pairs.push_back(uint32_t(range.destinationOffset));
    }
    constexpr uint32_t kMostTiles = 8;
    const Plain source(on, batch.source), list(on, bytesOf(batch.ranges)),
        control(on, bytesOf(pairs)), scratch(on, Bytes(1 << 20));
    example::Buffers buffers = {};
    buffers.ranges = list.handle();
    buffers.control = control.handle();
    buffers.file = source.handle();
    buffers.fileSize = batch.source.size();
    buffers.textureSize = expected.size();
    buffers.scratch = scratch.handle();
    for (const auto record : {example::recordStreams, example::recordPairs}) {
        const Plain output(on, Bytes(expected.size(), Buffer::kPoison)),
            status(on, (kMostTiles + 2) * 4),
            results(on, 2 * sizeof(SluiceStreamResult) + sizeof(SluiceStreamSummary));
        buffers.textures = output.handle();
        buffers.results = results.handle();
        buffers.status = status.handle();
        on.run([&](SluiceCommands commands) {
            CHECK(record(on.context(), commands, buffers, 2, kMostTiles) == SLUICE_OK);
        });
        CHECK((output.bytes() == expected));
        CHECK((results.words() ==
               Words{SLUICE_STREAM_OK, 0, 2, 66536, SLUICE_STREAM_OK, 2, 1, 77, 0, ~0u, 3, 3}));
    }
}

TEST_CASE("embedding example: rows with padding, and checksums of them")
{
    Device& on = device();
    Scene scene(on, SLUICE_CODEC_GDEFLATE, 65536);
    const uint32_t count = uint32_t(scene.tiles.size());
    constexpr uint32_t kRow = 1000, kPitch = 1024;
    const Bytes& plain = scene.asset.bytes;
    const size_t rows = (plain.size() + kRow - 1) / kRow;
    const Plain staging(on, rows * kPitch);
    std::vector<SluiceRegion> regions;
    example::listTiles(scene.tiles, scene.source->address(), staging.address(), regions);
    Words sums;
    for (const SluiceArchiveTile& tile : scene.tiles)
        sums.push_back(tile.checksum);
    const Plain list(on, bytesOf(regions)), expected(on, bytesOf(sums));
    scene.buffers.regions = list.handle();
    scene.buffers.sums = expected.handle();
    scene.buffers.staging = staging.handle();
    scene.buffers.stagingSize = rows * kPitch;
    on.run([&](SluiceCommands commands) {
        CHECK(example::recordPitched(on.context(), commandBufferOf(commands), scene.buffers, count,
                                     kRow, kRow / 4, uint32_t(rows), VK_NULL_HANDLE) == SLUICE_OK);
    });
    CHECK(copied.copy.bufferRowLength == kPitch / 4);
    Bytes wanted(rows * kPitch, 0xEE);
    for (size_t i = 0; i < plain.size(); ++i)
        wanted[i / kRow * kPitch + i % kRow] = plain[i];
    CHECK((staging.bytes() == wanted));
    const Words words = scene.status->words();
    CHECK((Words(words.begin(), words.begin() + count) == Words(count, SLUICE_TILE_OK)));
    CHECK(words[count] == 0);
}

TEST_CASE("embedding example: by the driver, where it can")
{
    Device& on = device();
    Scene scene(on, SLUICE_CODEC_GDEFLATE, 65536);
    const uint32_t count = uint32_t(scene.tiles.size());
    SluiceGdeflateInfo decode = {};
    decode.maxRegionCount = count;
    decode.regionStride = sizeof(SluiceRegion);
    decode.regions = sluiceVulkanBuffer(scene.buffers.regions, 0, count * sizeof(SluiceRegion));
    decode.source = sluiceVulkanBuffer(scene.buffers.file, 0, scene.buffers.fileSize);
    decode.destination = sluiceVulkanBuffer(scene.buffers.staging, 0, scene.buffers.stagingSize);
    decode.status = sluiceVulkanBuffer(scene.buffers.status, 0, (count + 2ull) * 4);
    decode.scratch = sluiceVulkanBuffer(scene.buffers.scratch, 0, uint64_t(1) << 20);
    on.run([&](SluiceCommands commands) {
        CHECK(example::recordByDriver(on.context(), commands, decode) == SLUICE_OK);
    });
    CHECK((scene.output->bytes() == scene.asset.bytes));
    CHECK(scene.status->words()[count] == 0);
}

namespace {

// The page calls functions that get no pointer of the test's, so their state is global.
Bytes placed;
uint64_t placeTensor(const void* bytes, uint64_t size)
{
    placed.resize((placed.size() + 15) / 16 * 16);
    const uint64_t at = placed.size();
    const auto* first = static_cast<const uint8_t*>(bytes);
    placed.insert(placed.end(), first, first + size);
    return at;
}

SluiceCommands recorded;
void submitAndWait()
{
    CHECK(sluiceSubmit(device().get(), recorded, nullptr) == SLUICE_OK);
    device().checkMessages();
}
void upload(const SluiceBuffer& to, const void* from)
{
    CHECK(sluiceUpload(device().get(), to, from, to.size) == SLUICE_OK);
}
void download(void* to, const SluiceBuffer& from)
{
    CHECK(sluiceDownload(device().get(), from, to, from.size) == SLUICE_OK);
}

} // namespace

TEST_CASE("embedding example: DFloat11 units")
{
    Device& on = device();
    std::mt19937 random = makeRandom(80);
    placed.clear();
    std::vector<SluiceDf11Unit> units;
    Bytes expected;
    uint32_t blocks = 0;
    for (const uint32_t elements : {9000u, 700u}) {
        const Bytes exponents = weightExponents(SLUICE_DF11_BF16, elements, random);
        const Df11Tensors tensors =
            packDf11("unit", SLUICE_DF11_BF16, exponents, huffmanLengths(exponents), random);
        SluiceDf11Unit unit = {};
        REQUIRE(example::listUnit(tensors.tables(), blocks, unit, placeTensor,
                                  tensors.encoded.data(), tensors.signMantissa.data(),
                                  tensors.gaps.data(), expected.size()) == SLUICE_OK);
        units.push_back(unit);
        expected.insert(expected.end(), tensors.expected.begin(), tensors.expected.end());
    }
    placed.resize((placed.size() + 15) / 16 * 16);
    const Plain source(on, placed), output(on, expected.size()), list(on, bytesOf(units)),
        status(on, (blocks + 2) * 4);
    SluiceDf11Info info = {};
    info.maxUnitCount = uint32_t(units.size());
    info.maxBlockCount = blocks;
    info.units = sluiceVulkanBuffer(list.handle(), 0, units.size() * sizeof(SluiceDf11Unit));
    info.source = sluiceVulkanBuffer(source.handle(), 0, placed.size());
    info.destination = sluiceVulkanBuffer(output.handle(), 0, expected.size());
    info.status = sluiceVulkanBuffer(status.handle(), 0, (blocks + 2ull) * 4);
    SluiceRequirements need = {};
    REQUIRE(sluiceGetDf11Requirements(on.context(), &info, &need) == SLUICE_OK);
    const Plain scratch(on, std::max<uint64_t>(need.scratchSize, 4));
    info.scratch = sluiceVulkanBuffer(scratch.handle(), 0, need.scratchSize);
    on.run([&](SluiceCommands commands) {
        CHECK(sluiceCmdDf11(on.context(), commands, &info) == SLUICE_OK);
    });
    CHECK((output.bytes() == expected));
    CHECK(status.words()[blocks] == 0);
}

TEST_CASE("embedding example: the driver is tested")
{
    Device& on = device();
    SluiceSelfTestInfo test = {};
    test.kernels = SLUICE_KERNELS_ALL;
    SluiceSelfTestRequirements need = {};
    REQUIRE(sluiceGetSelfTestRequirements(on.context(), &test, &need) == SLUICE_OK);
    const Plain memory(on, need.memorySize);
    std::vector<std::array<uint64_t, 2>> bytes((need.memorySize + 15) / 16);
    REQUIRE(sluiceBegin(on.get(), &recorded) == SLUICE_OK);
    uint32_t failed = ~0u;
    CHECK(example::testDriver(on.context(), recorded,
                              sluiceVulkanBuffer(memory.handle(), 0, need.memorySize), bytes.data(),
                              upload, download, submitAndWait, failed) == SLUICE_OK);
    CHECK(failed == 0);
}

TEST_CASE("embedding example: a context on an engine's device decodes")
{
    Device& on = device();
    // The example makes a context of its own tier, so the test runs with one tier only.
    if (std::string(on.info().tier) != "ext" || skipsOtherSizes()) return;
    sluice::VulkanHandles handles = {};
    REQUIRE(sluice::vulkanHandles(on.get(), handles));
    const SluiceVulkanContextInfo& info = handles.contextInfo;
    example::Engine engine = {};
    engine.getInstanceProcAddr = info.getInstanceProcAddr;
    engine.instance = info.instance;
    engine.physicalDevice = info.physicalDevice;
    engine.device = info.device;
    engine.features = *static_cast<const VkPhysicalDeviceFeatures2*>(info.enabledFeatures);
    engine.extensions.assign(info.enabledExtensions,
                             info.enabledExtensions + info.enabledExtensionCount);
    SluiceContext context = nullptr;
    REQUIRE(example::createContext(engine, context) == SLUICE_OK);
    {
        Scene scene(on, SLUICE_CODEC_GDEFLATE, 65536);
        on.run([&](SluiceCommands commands) {
            CHECK(example::recordTexture(context, commandBufferOf(commands), scene.buffers,
                                         uint32_t(scene.tiles.size()), VK_NULL_HANDLE,
                                         {}) == SLUICE_OK);
        });
        scene.checkDecoded();
    }
    sluiceDestroyContext(context);
}

TEST_SUITE_END();

TEST_CASE("embedding example: a streamer without a GPU brings an asset to host memory")
{
    const PackedAsset asset = assetOfAllCodecs("a", 5);
    MemoryFile file(packArchive({asset}));
    Cpu cpu;
    SluiceStreamerInfo info = {};
    SluiceStreamer streamer = nullptr;
    REQUIRE(example::startStreamer(
                cpu.context, [](void*, const SluiceReport* report) { FAIL(report->member); }, info,
                streamer) == SLUICE_OK);
    const SluiceStreamFile opened = startOpening(streamer, file);
    uint32_t number = 0;
    while (sluiceStreamFindAsset(opened, "a", 1, &number) == SLUICE_ERROR_NOT_OPEN)
        std::this_thread::yield();
    Bytes bytes(asset.bytes.size());
    submitGroup(streamer, {fromArchive(opened, number, 0, bytes.size(), bytes.data())});
    SluiceStreamEvent event = {};
    do {
        uint32_t count = 1;
        REQUIRE(sluiceStreamPoll(streamer, &event, &count) == SLUICE_OK);
    } while (event.kind != SLUICE_STREAM_END);
    CHECK(event.status == SLUICE_OK);
    CHECK((bytes == asset.bytes));
    sluiceDestroyStreamer(streamer);
    sluiceStreamFreeHost(info.source.host, info.source.buffer.size);
}

TEST_CASE("embedding example: the tiles of an image's smaller levels")
{
    for (const TestImage& image : allShapes(43)) {
        const Bytes file = makeKtx2(image);
        const ParsedImage is = parseImage(file);
        REQUIRE(is.status == SLUICE_OK);
        Bytes item(SLUICE_IMAGE_ITEM_SIZE);
        SluiceArchiveAsset asset = {};
        REQUIRE(sluiceMakeArchiveImageItem(&is.info, is.levels, item.data(),
                                           &asset.parameterSize) == SLUICE_OK);
        asset.type = SLUICE_ASSET_IMAGE;
        asset.size = file.size();
        asset.parameters = item.data();
        std::vector<SluiceArchiveTile> tiles;
        for (uint64_t at = 0; at < file.size(); at += 100) {
            SluiceArchiveTile tile = {};
            tile.outputOffset = at;
            tile.size = uint32_t(std::min<uint64_t>(100, file.size() - at));
            tiles.push_back(tile);
        }
        for (uint32_t first = 0; first < is.info.levels; ++first) {
            std::vector<SluiceArchiveTile> wanted;
            REQUIRE(example::tilesOfLevels(asset, first, tiles, wanted) == SLUICE_OK);
            // Tiles with a byte of these levels. The file has the smallest level first.
            const uint64_t begin = is.levels[is.info.levels - 1].offset,
                           end = is.levels[first].offset + is.levels[first].size;
            REQUIRE(wanted.size() == (end - 1) / 100 - begin / 100 + 1);
            for (size_t i = 0; i < wanted.size(); ++i)
                CHECK(wanted[i].outputOffset == (begin / 100 + i) * 100);
        }
        std::vector<SluiceArchiveTile> none;
        CHECK(example::tilesOfLevels(asset, is.info.levels, tiles, none) == SLUICE_OK);
        asset.parameterSize = 0; // no image
        CHECK(example::tilesOfLevels(asset, 0, tiles, none) == SLUICE_OK);
        CHECK(none.empty());
    }
}
