// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests SLUICE_DECODE_BY_DRIVER: its results if the driver can decode, and its error if it cannot.
//
// Software devices have no such driver. With them a context is told of a made-up driver, which
// decodes nothing; what it was given is checked.
#include "tests/stream/stream_batch.h"

#include <vulkan/vulkan_core.h>

#include <sluice/sluice_vulkan.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_tile_streams.h>

#include "device/device_vulkan.h"
#include "vulkan/driver_decoder.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

using namespace sluice;
using namespace sluice::test;

namespace {

// Holds golden tiles, regions between them that are not allowed, and what each must become.
struct Scene {
    Bytes source;
    std::vector<SluiceRegion> regions; // offsets in source and destination
    std::vector<Bytes> expected;       // empty: the region is not allowed
    Words checksums;

    Scene()
    {
        for (const GoldenStream& stream : goldenStreams()) {
            const std::vector<DecodedTile> decoded = decodeOnHost(stream.tiles);
            for (size_t i = 0; i < decoded.size(); ++i) {
                const Tile& tile = stream.tiles[i];
                add({source.size(), 65536 * regions.size(), tile.compressed.size(), tile.size},
                    decoded[i].bytes);
                source.insert(source.end(), tile.compressed.begin(), tile.compressed.end());
                source.resize((source.size() + 3) / 4 * 4);
            }
            add({1, 65536 * regions.size(), 200, 100}, {});   // unaligned
            add({0, 65536 * regions.size(), 200, 65537}, {}); // larger than a tile may be
        }
        add({~uint64_t(0) - 65535, 0, 200, 100}, {}); // it begins outside of the source
    }

    void add(const SluiceRegion& region, const Bytes& bytes)
    {
        regions.push_back(region);
        expected.push_back(bytes);
        checksums.push_back(sluiceTileChecksum(bytes.data(), bytes.size()));
    }
};

// The made-up driver. Functions of Vulkan have no pointer for a user, so the members are static.
struct FakeDriver {
    struct Call {
        bool ext;
        VkDeviceAddress regions, count;
        uint32_t maxCount, stride;
    };
    static inline PFN_vkGetInstanceProcAddr getInstance = nullptr;
    static inline PFN_vkGetDeviceProcAddr getDevice = nullptr;
    static inline PFN_vkGetPhysicalDeviceProperties2 getProperties = nullptr;
    static inline std::vector<Call> calls;
    static inline VkMemoryDecompressionMethodFlagsNV methods = 0;
    static constexpr uint32_t kLimit = 1000;

    static VKAPI_ATTR void VKAPI_CALL decompressNv(VkCommandBuffer, VkDeviceAddress regions,
                                                   VkDeviceAddress count, uint32_t stride)
    {
        calls.push_back({false, regions, count, 0, stride});
    }
    static VKAPI_ATTR void VKAPI_CALL decompressExt(VkCommandBuffer,
                                                    VkMemoryDecompressionMethodFlagsEXT method,
                                                    VkDeviceAddress regions, VkDeviceAddress count,
                                                    uint32_t maxCount, uint32_t stride)
    {
        CHECK(method == VK_MEMORY_DECOMPRESSION_METHOD_GDEFLATE_1_0_BIT_EXT);
        calls.push_back({true, regions, count, maxCount, stride});
    }
    static VKAPI_ATTR void VKAPI_CALL properties2(VkPhysicalDevice device,
                                                  VkPhysicalDeviceProperties2* properties)
    {
        auto* first = static_cast<VkBaseOutStructure*>(properties->pNext);
        if (first == nullptr ||
            first->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_DECOMPRESSION_PROPERTIES_NV)
            return getProperties(device, properties);
        auto* decompression =
            reinterpret_cast<VkPhysicalDeviceMemoryDecompressionPropertiesNV*>(first);
        decompression->decompressionMethods = methods;
        decompression->maxDecompressionIndirectCount = kLimit;
    }
    static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL deviceFunction(VkDevice device,
                                                                   const char* name)
    {
        const std::string wanted = name;
        if (wanted == "vkCmdDecompressMemoryIndirectCountNV")
            return reinterpret_cast<PFN_vkVoidFunction>(decompressNv);
        if (wanted == "vkCmdDecompressMemoryIndirectCountEXT")
            return reinterpret_cast<PFN_vkVoidFunction>(decompressExt);
        return getDevice(device, name);
    }
    static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instanceFunction(VkInstance instance,
                                                                     const char* name)
    {
        const std::string wanted = name;
        if (wanted == "vkGetDeviceProcAddr")
            return reinterpret_cast<PFN_vkVoidFunction>(deviceFunction);
        if (wanted == "vkGetPhysicalDeviceProperties2")
            return reinterpret_cast<PFN_vkVoidFunction>(properties2);
        return getInstance(instance, name);
    }
};

// Holds the information for a context on the device under test that is told of the made-up driver.
class FakeInfo {
public:
    FakeInfo(const std::vector<const char*>& added, bool featureEnabled) : m_extensions(added)
    {
        VulkanHandles handles = {};
        REQUIRE(vulkanHandles(device().get(), handles));
        m_info = handles.contextInfo;
        const auto get = [this](const char* name) {
            return m_info.getInstanceProcAddr(m_info.instance, name);
        };
        FakeDriver::getInstance = m_info.getInstanceProcAddr;
        FakeDriver::getDevice =
            reinterpret_cast<PFN_vkGetDeviceProcAddr>(get("vkGetDeviceProcAddr"));
        FakeDriver::getProperties = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(
            get("vkGetPhysicalDeviceProperties2"));
        FakeDriver::calls.clear();
        // Extensions of a real driver are left out.
        for (uint32_t i = 0; i < m_info.enabledExtensionCount; ++i) {
            if (std::strstr(m_info.enabledExtensions[i], "memory_decompression") == nullptr)
                m_extensions.push_back(m_info.enabledExtensions[i]);
        }
        m_feature.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_DECOMPRESSION_FEATURES_NV;
        m_feature.pNext = const_cast<void*>(m_info.enabledFeatures);
        m_feature.memoryDecompression = featureEnabled ? VK_TRUE : VK_FALSE;
        m_info.getInstanceProcAddr = FakeDriver::instanceFunction;
        m_info.enabledFeatures = &m_feature;
        m_info.enabledExtensions = m_extensions.data();
        m_info.enabledExtensionCount = uint32_t(m_extensions.size());
    }
    FakeInfo(const FakeInfo&) = delete;
    FakeInfo& operator=(const FakeInfo&) = delete;

    const SluiceVulkanContextInfo& get() const { return m_info; }

private:
    SluiceVulkanContextInfo m_info = {};
    std::vector<const char*> m_extensions;
    VkPhysicalDeviceMemoryDecompressionFeaturesNV m_feature = {};
};

// Returns whether the driver can decode. If it cannot, every attempt must say so.
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
    CHECK(sluiceGetTileStreamsRequirements(device().context(), &streams, &requirements) ==
          expected);
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
        if (limit == 0)
            CHECK(sluiceCmdGdeflate(context, commands, &info) == SLUICE_ERROR_UNSUPPORTED);
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
    CHECK((memory.bytes() == Bytes(4096, Buffer::kPoison)));
}

TEST_CASE("decode by the driver: tiles, regions that are not allowed, checksums")
{
    if (!driverDecodes()) return skipCase("this device has no decompression of the driver's");
    const Scene scene;
    const uint32_t count = uint32_t(scene.regions.size());
    for (const bool verify : {false, true}) {
        CAPTURE(verify);
        Buffer source(device(), scene.source), destination(device(), uint64_t(count) * 65536);
        Bytes list(size_t(count) * 36 + 28); // a stride that the extensions do not allow
        for (uint32_t i = 0; i < count; ++i) {
            SluiceRegion region = scene.regions[i];
            region.srcAddress += source.address();
            region.dstAddress += destination.address();
            std::memcpy(list.data() + size_t(i) * 36, &region, sizeof region);
        }
        Words checksums = scene.checksums;
        checksums[0] ^= 1;
        Buffer regionList(device(), list), status(device(), (count + 2) * 4),
            expected(device(), checksums);
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
        runWithScratch(device(), info, sluiceGetGdeflateRequirements, sluiceCmdGdeflate);
        const Words statuses = status.words();
        Bytes output = destination.bytes(), memory(output.size(), Buffer::kPoison);
        uint32_t failed = 0;
        for (uint32_t i = 0; i < count; ++i) {
            CAPTURE(i);
            const Bytes& bytes = scene.expected[i];
            const uint32_t decoded = !verify  ? SLUICE_TILE_UNVERIFIED
                                     : i == 0 ? SLUICE_TILE_BAD_CHECKSUM
                                              : SLUICE_TILE_OK;
            CHECK(statuses[i] == (bytes.empty() ? uint32_t(SLUICE_TILE_BAD_REGION) : decoded));
            failed +=
                statuses[i] == SLUICE_TILE_BAD_REGION || statuses[i] == SLUICE_TILE_BAD_CHECKSUM;
            std::copy(bytes.begin(), bytes.end(), memory.begin() + std::ptrdiff_t(i) * 65536);
        }
        CHECK(statuses[count] == failed);
        CHECK((output == memory));
    }
}

TEST_CASE("decode by the driver: tile streams")
{
    if (!driverDecodes()) return skipCase("this device has no decompression of the driver's");
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

TEST_CASE("decode by the driver: who has it")
{
    if (device().backend() != SLUICE_BACKEND_VULKAN) {
        CHECK(device().info().driverRegionLimit == 0);
        return;
    }
    const char *nv = VK_NV_MEMORY_DECOMPRESSION_EXTENSION_NAME,
               *ext = VK_EXT_MEMORY_DECOMPRESSION_EXTENSION_NAME;
    const auto load = [](const std::vector<const char*>& extensions, bool featureEnabled) {
        DriverDecoder decoder;
        decoder.load(FakeInfo(extensions, featureEnabled).get());
        return decoder;
    };
    FakeDriver::methods = VK_MEMORY_DECOMPRESSION_METHOD_GDEFLATE_1_0_BIT_NV;
    CHECK(load({}, true).regionLimit == 0);
    CHECK(load({nv}, false).regionLimit == 0); // the extension is enabled, but not its feature
    for (const std::vector<const char*>& extensions :
         {std::vector<const char*>{nv}, {ext}, {nv, ext}}) {
        const DriverDecoder decoder = load(extensions, true);
        CHECK(decoder.regionLimit == FakeDriver::kLimit);
        decoder.record(VK_NULL_HANDLE, 4096, 5);
        REQUIRE(FakeDriver::calls.size() == 1);
        // The newer extension is used if both are enabled.
        CHECK(FakeDriver::calls[0].ext == (extensions.back() == ext));
        CHECK(FakeDriver::calls[0].count == 4096);
        CHECK(FakeDriver::calls[0].regions == 4096 + 16);
        CHECK(FakeDriver::calls[0].stride == 40);
    }
    FakeDriver::methods = 0; // the driver only has another method
    CHECK(load({nv, ext}, true).regionLimit == 0);
}

// This test makes one context only, since software devices take seconds to make its pipelines.
TEST_CASE("decode by the driver: the list that it gets")
{
    if (skipsSlowCompiler()) return;
    if (device().backend() != SLUICE_BACKEND_VULKAN) {
        CHECK_FALSE(driverDecodes());
        return;
    }
    FakeDriver::methods = VK_MEMORY_DECOMPRESSION_METHOD_GDEFLATE_1_0_BIT_NV;
    const FakeInfo fake({VK_EXT_MEMORY_DECOMPRESSION_EXTENSION_NAME}, true);
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateVulkanContext(&fake.get(), &context, nullptr) == SLUICE_OK);
    const std::unique_ptr<SluiceContext_T, decltype(&sluiceDestroyContext)> owner(
        context, sluiceDestroyContext);
    const SluicePipelinesInfo pipelines = {SLUICE_KERNELS_GDEFLATE, 0, 0};
    REQUIRE(sluiceCreatePipelines(context, &pipelines, nullptr) == SLUICE_OK);
    const Scene scene;
    const uint32_t count = uint32_t(scene.regions.size());
    // The destination holds what a driver would decode, except in one tile.
    Bytes output(size_t(count) * 65536, Buffer::kPoison);
    for (uint32_t i = 0; i < count; ++i)
        std::copy(scene.expected[i].begin(), scene.expected[i].end(),
                  output.begin() + std::ptrdiff_t(i) * 65536);
    output[0] ^= 1;
    Buffer source(device(), scene.source), destination(device(), output),
        expected(device(), scene.checksums);
    Bytes list(size_t(count) * 44, 0xFF);
    std::map<uint64_t, SluiceRegion> allowed; // by the destination
    for (uint32_t i = 0; i < count; ++i) {
        SluiceRegion region = scene.regions[i];
        region.srcAddress += source.address();
        region.dstAddress += destination.address();
        std::memcpy(list.data() + size_t(i) * 44, &region, sizeof region);
        if (!scene.expected[i].empty()) allowed[region.dstAddress] = region;
    }
    Buffer regionList(device(), list), status(device(), (count + 2) * 4),
        countBuffer(device(), Words{count});
    SluiceGdeflateInfo info = {};
    info.maxRegionCount = count;
    info.regionStride = 44;
    info.flags = SLUICE_DECODE_BY_DRIVER;
    info.regions = regionList.range();
    info.regionCount = countBuffer.range();
    info.source = source.range();
    info.destination = destination.range();
    info.expected = expected.range();
    info.status = status.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetGdeflateRequirements(context, &info, &requirements) == SLUICE_OK);
    Buffer scratch = makeScratch(device(), requirements);
    info.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdGdeflate(context, commands, &info) == SLUICE_OK);
        SluiceGdeflateInfo many = info;
        many.maxRegionCount = FakeDriver::kLimit + 1;
        CHECK(sluiceCmdGdeflate(context, commands, &many) == SLUICE_ERROR_UNSUPPORTED);
    });

    REQUIRE(FakeDriver::calls.size() == 1);
    const FakeDriver::Call call = FakeDriver::calls[0];
    CHECK(call.ext);
    CHECK(call.count == scratch.address());
    CHECK(call.stride % 8 == 0);
    CHECK(call.maxCount == count);
    const Bytes made = scratch.bytes();
    uint32_t madeCount = 0;
    std::memcpy(&madeCount, made.data(), 4);
    CHECK(madeCount == allowed.size());
    for (uint32_t i = 0; i < madeCount; ++i) { // the order may be any
        SluiceRegion region = {};
        uint64_t method = 0;
        const size_t at = size_t(call.regions - scratch.address()) + size_t(i) * call.stride;
        REQUIRE(at + 40 <= made.size());
        std::memcpy(&region, made.data() + at, sizeof region);
        std::memcpy(&method, made.data() + at + 32, 8);
        CHECK(method == VK_MEMORY_DECOMPRESSION_METHOD_GDEFLATE_1_0_BIT_NV);
        const auto found = allowed.find(region.dstAddress);
        REQUIRE(found != allowed.end());
        CHECK(std::memcmp(&found->second, &region, sizeof region) == 0);
        allowed.erase(found);
    }
    const Words statuses = status.words();
    uint32_t failed = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t wanted = scene.expected[i].empty() ? SLUICE_TILE_BAD_REGION
                                : i == 0                  ? SLUICE_TILE_BAD_CHECKSUM
                                                          : SLUICE_TILE_OK;
        CHECK(statuses[i] == wanted);
        failed += wanted != SLUICE_TILE_OK;
    }
    CHECK(statuses[count] == failed);
    CHECK(statuses[count + 1] == 0);
    CHECK((destination.bytes() == output));
}

TEST_SUITE_END();
