// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests what the library asks of a driver, and what it does after its errors. The test puts a
// driver of its own before the real one.
#include "device/device_vulkan.h"
#include "tests/support/devices.h"

#include <sluice/sluice_all.h>

#include <cstring>

#include "vulkan/context.h"

using namespace sluice::test;

namespace {

struct Recorded {
    VkPipelineStageFlags before, after;
    VkMemoryBarrier memory;
    uint32_t memoryCount;
};

// What the replaced functions use is global, since Vulkan passes no user pointer to them. That is
// safe, since test cases run one after the other.
PFN_vkGetInstanceProcAddr gNextInstance;
PFN_vkGetDeviceProcAddr gNextDevice;
PFN_vkCmdPipelineBarrier gNextBarrier;
std::vector<Recorded> gRecorded;
// No pipelines are made. The handles of good ones are numbers.
uint32_t gPipelines; // how many have been asked for
uint32_t gFailing;   // the number of the one that fails
VkResult gFailingResult;

VKAPI_ATTR void VKAPI_CALL recordBarrier(VkCommandBuffer commands, VkPipelineStageFlags before,
                                         VkPipelineStageFlags after, VkDependencyFlags flags,
                                         uint32_t memoryCount, const VkMemoryBarrier* memory,
                                         uint32_t bufferCount, const VkBufferMemoryBarrier* buffers,
                                         uint32_t imageCount, const VkImageMemoryBarrier* images)
{
    gRecorded.push_back(
        {before, after, memoryCount != 0 ? memory[0] : VkMemoryBarrier{}, memoryCount});
    gNextBarrier(commands, before, after, flags, memoryCount, memory, bufferCount, buffers,
                 imageCount, images);
}

VKAPI_ATTR VkResult VKAPI_CALL createPipelines(VkDevice, VkPipelineCache, uint32_t count,
                                               const VkComputePipelineCreateInfo*,
                                               const VkAllocationCallbacks*, VkPipeline* pipelines)
{
    REQUIRE(count == 1);
    const uint32_t number = gPipelines++;
    if (number == gFailing) return gFailingResult;
    const uint64_t handle = number + 1;
    std::memcpy(pipelines, &handle, sizeof *pipelines);
    return VK_SUCCESS;
}
VKAPI_ATTR void VKAPI_CALL destroyPipeline(VkDevice, VkPipeline, const VkAllocationCallbacks*) {}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL findInDevice(VkDevice device, const char* name)
{
    if (std::strcmp(name, "vkCmdPipelineBarrier") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(recordBarrier);
    if (std::strcmp(name, "vkCreateComputePipelines") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(createPipelines);
    if (std::strcmp(name, "vkDestroyPipeline") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(destroyPipeline);
    return gNextDevice(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL findInInstance(VkInstance instance, const char* name)
{
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(findInDevice);
    return gNextInstance(instance, name);
}

// A context of the device under test that calls this driver.
class WatchedContext {
public:
    WatchedContext()
    {
        sluice::VulkanHandles handles = {};
        if (!sluice::vulkanHandles(device().get(), handles)) return;
        SluiceVulkanContextInfo info = handles.contextInfo;
        gNextInstance = info.getInstanceProcAddr;
        gNextDevice = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
            gNextInstance(info.instance, "vkGetDeviceProcAddr"));
        gNextBarrier = reinterpret_cast<PFN_vkCmdPipelineBarrier>(
            gNextDevice(info.device, "vkCmdPipelineBarrier"));
        info.getInstanceProcAddr = findInInstance;
        REQUIRE(sluiceCreateVulkanContext(&info, &m_context, nullptr) == SLUICE_OK);
        gRecorded.clear();
        gPipelines = 0;
        gFailing = ~0u;
    }
    ~WatchedContext() { sluiceDestroyContext(m_context); }
    WatchedContext(const WatchedContext&) = delete;
    WatchedContext& operator=(const WatchedContext&) = delete;

    SluiceContext get() const { return m_context; } // NULL: the device is not Vulkan's
    const sluice::VulkanBackend& backend() const
    {
        return static_cast<const sluice::VulkanBackend&>(*m_context->backend);
    }
    SluiceContextInfo info() const
    {
        SluiceContextInfo info = {};
        REQUIRE(sluiceGetContextInfo(m_context, &info) == SLUICE_OK);
        return info;
    }
    SluiceStatus create(uint32_t kernels, uint32_t most = 0) const
    {
        const SluicePipelinesInfo wanted = {kernels, 0, most};
        return sluiceCreatePipelines(m_context, &wanted, nullptr);
    }

private:
    SluiceContext m_context = nullptr;
};

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("a barrier orders commands, and shows the host what they wrote")
{
    const WatchedContext context;
    if (context.get() == nullptr) return; // other backends record nothing
    device().run([&](SluiceCommands commands) {
        CHECK(sluiceCmdBarrier(context.get(), commands) == SLUICE_OK);
    });

    constexpr VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                            VK_PIPELINE_STAGE_TRANSFER_BIT |
                                            VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT;
    constexpr VkAccessFlags accesses = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                       VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                                       VK_ACCESS_INDIRECT_COMMAND_READ_BIT;
    REQUIRE(gRecorded.size() == 1);
    REQUIRE(gRecorded[0].memoryCount == 1);
    CHECK(gRecorded[0].before == stages);
    CHECK(gRecorded[0].after == (stages | VK_PIPELINE_STAGE_HOST_BIT));
    CHECK(gRecorded[0].memory.srcAccessMask == accesses);
    CHECK(gRecorded[0].memory.dstAccessMask == (accesses | VK_ACCESS_HOST_READ_BIT));
}

TEST_CASE("pipelines that the driver cannot make cost their own commands alone")
{
    uint32_t count = 0;
    {
        const WatchedContext context;
        if (context.get() == nullptr) return; // other backends have no pipelines
        REQUIRE(context.create(SLUICE_KERNELS_ALL) == SLUICE_OK);
        CHECK(context.info().kernels == SLUICE_KERNELS_ALL);
        CHECK(context.info().refusedKernels == 0);
        count = gPipelines;
        REQUIRE(count > 20);
    }
    uint32_t necessary = 0;
    for (uint32_t failing = 0; failing < count; ++failing) {
        const WatchedContext context;
        gFailing = failing;
        gFailingResult = failing % 2 == 0 ? VK_ERROR_UNKNOWN : VK_ERROR_INITIALIZATION_FAILED;
        const SluiceStatus status = context.create(SLUICE_KERNELS_ALL);
        CHECK(gPipelines == count); // all others were tried
        const sluice::PipelineRow* refused = nullptr;
        for (const sluice::Pipeline pipeline : sluice::AllPipelines()) {
            if (!context.backend().pipelines().isRefused(pipeline)) continue;
            REQUIRE(refused == nullptr);
            refused = &sluice::pipelineRow(pipeline);
            CHECK(!context.backend().pipelines().has(pipeline));
        }
        REQUIRE(refused != nullptr);
        CAPTURE(refused->name);
        CHECK(context.backend().pipelines().refusedPipelines() == refused->name);
        const bool isNecessary = refused->need == sluice::Need::always;
        necessary += isNecessary ? 1 : 0;
        CHECK(status == (isNecessary ? SLUICE_ERROR_UNSUPPORTED : SLUICE_OK));
        const uint32_t lost = isNecessary ? refused->kernels : 0;
        CHECK(context.info().refusedKernels == lost);
        CHECK(context.info().kernels == (SLUICE_KERNELS_ALL & ~lost));
        // It is not tried again. Sets without it are complete.
        CHECK(context.create(SLUICE_KERNELS_ALL) == status);
        CHECK(gPipelines == count);
        CHECK(context.create(SLUICE_KERNELS_ALL & ~refused->kernels) == SLUICE_OK);
    }
    CHECK(necessary > 10);

    // The result is the same if the pipelines are made one by one. A command of the refused set
    // says so and records nothing.
    const WatchedContext context;
    gFailing = 0; // a pipeline of filters
    gFailingResult = VK_ERROR_UNKNOWN;
    const SluicePipelinesInfo one = {SLUICE_KERNELS_FILTER | SLUICE_KERNELS_CHECKSUM, 0, 1};
    uint32_t left = 1, calls = 0;
    SluiceStatus status = SLUICE_OK;
    for (; status == SLUICE_OK && left != 0; ++calls)
        status = sluiceCreatePipelines(context.get(), &one, &left);
    CHECK(status == SLUICE_ERROR_UNSUPPORTED);
    CHECK(calls == gPipelines);
    CHECK(gPipelines > 1);
    CHECK((context.info().kernels & SLUICE_KERNELS_CHECKSUM) != 0);
    const SluiceFilterInfo filter = {};
    const SluiceGstdInfo decode = {};
    device().run([&](SluiceCommands commands) {
        CHECK(sluiceCmdFilter(context.get(), commands, &filter) == SLUICE_ERROR_UNSUPPORTED);
        CHECK(sluiceCmdGstd(context.get(), commands, &decode) == SLUICE_ERROR_NOT_READY);
    });
    CHECK(gRecorded.empty());
}

TEST_CASE("pipelines that could not be made for want of memory are made by the next call")
{
    const WatchedContext context;
    if (context.get() == nullptr) return;
    gFailing = 1;
    for (const auto& [result, status] :
         {std::pair{VK_ERROR_OUT_OF_HOST_MEMORY, SLUICE_ERROR_OUT_OF_MEMORY},
          std::pair{VK_ERROR_OUT_OF_DEVICE_MEMORY, SLUICE_ERROR_OUT_OF_MEMORY},
          std::pair{VK_ERROR_DEVICE_LOST, SLUICE_ERROR_DEVICE}}) {
        gFailingResult = result;
        CHECK(context.create(SLUICE_KERNELS_ALL) == status);
        CHECK(context.info().refusedKernels == 0);
        gFailing = gPipelines; // the next one that is tried is the same pipeline
    }
    CHECK(context.info().kernels != SLUICE_KERNELS_ALL);
    gFailing = ~0u;
    CHECK(context.create(SLUICE_KERNELS_ALL) == SLUICE_OK);
    CHECK(context.info().kernels == SLUICE_KERNELS_ALL);
}

TEST_SUITE_END();
