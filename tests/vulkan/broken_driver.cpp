// SPDX-License-Identifier: MIT OR Apache-2.0
// A Vulkan driver that passes all calls on to another one, except for what it was told to break.
// The loader loads it like any other, from a manifest of the test. Variables of the environment:
//   SLUICE_DRIVER_BEHIND  the library of the other driver
//   SLUICE_DRIVER_BREAKS  list: counting devices ends the process; abort: compiling a pipeline ends
//                         it; refuse: compiling fails; ignore: nothing is compiled, and dispatches
//                         do nothing; subgroups: pipelines that ask for full subgroups do nothing
#include <vulkan/vulkan_core.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include <dlfcn.h>

namespace {

bool breaks(const char* what)
{
    const char* const wanted = std::getenv("SLUICE_DRIVER_BREAKS");
    return wanted != nullptr && std::strcmp(wanted, what) == 0;
}

const char* variable(const char* name)
{
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

template <typename Function>
Function symbolBehind(const char* name)
{
    static void* const library =
        dlopen(variable("SLUICE_DRIVER_BEHIND"), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return library != nullptr ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}

PFN_vkGetDeviceProcAddr deviceProcAddr = nullptr; // of the driver behind this one
PFN_vkCreateComputePipelines createPipelines = nullptr;

std::mutex guard; // guards the next two
std::set<VkPipeline> idlePipelines;
std::map<VkCommandBuffer, bool> isIdle; // whether the pipeline that is bound there does nothing

VKAPI_ATTR VkResult VKAPI_CALL compile(VkDevice device, VkPipelineCache cache, uint32_t count,
                                       const VkComputePipelineCreateInfo* infos,
                                       const VkAllocationCallbacks* allocator,
                                       VkPipeline* pipelines)
{
    if (breaks("abort")) { // like real drivers, it says more than one would like
        std::fprintf(stderr,
                     "no cache in %s/.cache/driver for %s, job 00112233-4455-6677-8899-"
                     "aabbccddeeff\n",
                     variable("HOME"), variable("USER"));
        std::abort();
    }
    if (breaks("refuse")) return VK_ERROR_UNKNOWN;
    if (breaks("ignore")) {
        static char one; // any handle that is not null, since nobody uses what it leads to
        for (uint32_t i = 0; i < count; ++i)
            pipelines[i] = reinterpret_cast<VkPipeline>(&one);
        return VK_SUCCESS;
    }
    const VkResult result = createPipelines(device, cache, count, infos, allocator, pipelines);
    for (uint32_t i = 0; i < count && result == VK_SUCCESS && breaks("subgroups"); ++i) {
        const std::lock_guard<std::mutex> lock(guard);
        if ((infos[i].stage.flags & VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT) !=
            0)
            idlePipelines.insert(pipelines[i]);
        else
            idlePipelines.erase(pipelines[i]); // the driver may use the handle again
    }
    return result;
}

PFN_vkCmdBindPipeline bindPipeline = nullptr;
PFN_vkCmdDispatch dispatch = nullptr;

VKAPI_ATTR void VKAPI_CALL bind(VkCommandBuffer commands, VkPipelineBindPoint point,
                                VkPipeline pipeline)
{
    const std::lock_guard<std::mutex> lock(guard);
    isIdle[commands] = idlePipelines.count(pipeline) != 0;
    bindPipeline(commands, point, pipeline);
}

VKAPI_ATTR void VKAPI_CALL dispatchUnlessIdle(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                              uint32_t z)
{
    const std::lock_guard<std::mutex> lock(guard);
    if (!isIdle[commands]) dispatch(commands, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL ignoreBind(VkCommandBuffer, VkPipelineBindPoint, VkPipeline) {}
VKAPI_ATTR void VKAPI_CALL ignoreDispatch(VkCommandBuffer, uint32_t, uint32_t, uint32_t) {}
VKAPI_ATTR void VKAPI_CALL ignoreIndirect(VkCommandBuffer, VkBuffer, VkDeviceSize) {}
VKAPI_ATTR void VKAPI_CALL ignoreDestroy(VkDevice, VkPipeline, const VkAllocationCallbacks*) {}

PFN_vkVoidFunction ignored(const char* name, PFN_vkVoidFunction function)
{
    const struct {
        const char* name;
        PFN_vkVoidFunction function;
    } functions[] = {
        {"vkCmdBindPipeline", reinterpret_cast<PFN_vkVoidFunction>(ignoreBind)},
        {"vkCmdDispatch", reinterpret_cast<PFN_vkVoidFunction>(ignoreDispatch)},
        {"vkCmdDispatchIndirect", reinterpret_cast<PFN_vkVoidFunction>(ignoreIndirect)},
        {"vkDestroyPipeline", reinterpret_cast<PFN_vkVoidFunction>(ignoreDestroy)}};
    for (const auto& one : functions)
        if (std::strcmp(name, one.name) == 0) return one.function;
    return function;
}

VKAPI_ATTR VkResult VKAPI_CALL abortList(VkInstance, uint32_t*, VkPhysicalDevice*) { std::abort(); }

PFN_vkVoidFunction broken(const char* name, PFN_vkVoidFunction function)
{
    if (std::strcmp(name, "vkEnumeratePhysicalDevices") == 0 && breaks("list"))
        return reinterpret_cast<PFN_vkVoidFunction>(abortList);
    if (function != nullptr && std::strcmp(name, "vkCreateComputePipelines") == 0) {
        createPipelines = reinterpret_cast<PFN_vkCreateComputePipelines>(function);
        return reinterpret_cast<PFN_vkVoidFunction>(compile);
    }
    if (function != nullptr && breaks("subgroups")) {
        if (std::strcmp(name, "vkCmdBindPipeline") == 0) {
            bindPipeline = reinterpret_cast<PFN_vkCmdBindPipeline>(function);
            return reinterpret_cast<PFN_vkVoidFunction>(bind);
        }
        if (std::strcmp(name, "vkCmdDispatch") == 0) {
            dispatch = reinterpret_cast<PFN_vkCmdDispatch>(function);
            return reinterpret_cast<PFN_vkVoidFunction>(dispatchUnlessIdle);
        }
    }
    return function != nullptr && breaks("ignore") ? ignored(name, function) : function;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL getDeviceProcAddr(VkDevice device, const char* name)
{
    return broken(name, deviceProcAddr(device, name));
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* version)
{
    const auto behind =
        symbolBehind<VkResult(VKAPI_PTR*)(uint32_t*)>("vk_icdNegotiateLoaderICDInterfaceVersion");
    return behind != nullptr ? behind(version) : VK_ERROR_INITIALIZATION_FAILED;
}

__attribute__((visibility("default"))) VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetInstanceProcAddr(VkInstance instance, const char* name)
{
    const auto behind = symbolBehind<PFN_vkGetInstanceProcAddr>("vk_icdGetInstanceProcAddr");
    const PFN_vkVoidFunction function = behind != nullptr ? behind(instance, name) : nullptr;
    if (function != nullptr && std::strcmp(name, "vkGetDeviceProcAddr") == 0) {
        deviceProcAddr = reinterpret_cast<PFN_vkGetDeviceProcAddr>(function);
        return reinterpret_cast<PFN_vkVoidFunction>(getDeviceProcAddr);
    }
    return broken(name, function);
}

__attribute__((visibility("default"))) VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char* name)
{
    const auto behind = symbolBehind<PFN_vkGetInstanceProcAddr>("vk_icdGetPhysicalDeviceProcAddr");
    return behind != nullptr ? behind(instance, name) : nullptr;
}

} // extern "C"
