// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs code that docs/embedding.md shows, on an archive and on every device: the list of tiles, the
// decoders, the status, and the primitives.
#include "packed_archives.h"

#include <vulkan/vulkan.h>

#include <sluice/sluice_all.h>
#include <sluice/sluice_dev.h>
#include <sluice/sluice_formats.h>
#include <sluice/sluice_image.h>
#include <sluice/sluice_vulkan.h>

#include <memory>
#include <numeric>

namespace {

// The example's only call of Vulkan's own puts decoded bytes into an image: these tests look at the
// bytes where the copy would read them.
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
#include "consumers/readme/decode.cpp"
void Report::operator()(const char*, uint32_t) const {}
} // namespace example
#undef vkCmdCopyBufferToImage
#undef sluiceStartHotReload

using namespace sluice::test;

namespace {

// A buffer as an engine has it: its bytes begin where the VkBuffer does.
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

// An archive of one asset, and what the page has for it.
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
        scratch = std::make_unique<Plain>(on, uint64_t(128) << 20);
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

TEST_CASE("embedding example: offsets, visible instances and their payloads")
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
    const Plain sizeBuffer(on, bytesOf(sizes)), beginBuffer(on, bytesOf(begins)),
        maskBuffer(on, bytesOf(mask)), file(on, bytesOf(payload)), offsets(on, kInstances * 4),
        visible(on, kInstances * 4), count(on, 4), dispatch(on, 4), moved(on, all * 4),
        scan(on, Bytes(1 << 20)), compact(on, Bytes(1 << 20)), move(on, 1 << 20);
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
    buffers.file = file.handle();
    buffers.fileSize = payload.size() * 4;
    buffers.textures = moved.handle();
    buffers.textureSize = all * 4;
    on.run([&](SluiceCommands commands) {
        CHECK(example::recordPrimitives(on.context(), commands, buffers, kInstances) == SLUICE_OK);
    });
    const Words offsetWords = offsets.words(), visibleWords = visible.words(),
                movedWords = moved.words();
    uint32_t at = 0, kept = 0;
    for (uint32_t i = 0; i < kInstances; ++i) {
        CHECK(offsetWords[i] == at);
        if (i % 3 == 0) CHECK(visibleWords[kept++] == i);
        for (uint32_t k = 0; k < sizes[i]; ++k)
            CHECK(movedWords[at++] == payload[begins[i] + k]);
    }
    CHECK(count.words()[0] == kept);
    CHECK(dispatch.words()[0] == (kept + 63) / 64);
}

TEST_SUITE_END();
