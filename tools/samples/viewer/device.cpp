// SPDX-License-Identifier: MIT OR Apache-2.0
#define VOLK_IMPLEMENTATION // NOLINT(readability-identifier-naming): the name is volk's
#include "tools/samples/viewer/device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace viewer {

namespace {

VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                         VkDebugUtilsMessageTypeFlagsEXT,
                                         const VkDebugUtilsMessengerCallbackDataEXT* data,
                                         void* errors)
{
    std::fprintf(stderr, "viewer: validation: %s\n", data->pMessage);
    ++*static_cast<uint32_t*>(errors);
    return VK_FALSE;
}

} // namespace

Device::Device(const DeviceOptions& options)
{
    try {
        createInstance(options);
        if (options.makeSurface) m_surface = options.makeSurface(m_instance);
        choosePhysical(options.name);
        chooseFamilies(options.wantsStreamingQueue);
        createDevice(options);
    } catch (...) {
        destroyAll();
        throw;
    }
}

Device::~Device() { destroyAll(); }

void Device::destroyAll()
{
    for (const Block& block : m_blocks)
        if (block.memory != VK_NULL_HANDLE) vkFreeMemory(m_device, block.memory, nullptr);
    m_engine.reset();
    if (m_device != VK_NULL_HANDLE) vkDestroyDevice(m_device, nullptr);
    if (m_surface != VK_NULL_HANDLE) vkDestroySurfaceKHR(m_instance, m_surface, nullptr);
    if (m_messenger != VK_NULL_HANDLE)
        vkDestroyDebugUtilsMessengerEXT(m_instance, m_messenger, nullptr);
    if (m_instance != VK_NULL_HANDLE) vkDestroyInstance(m_instance, nullptr);
}

void Device::createInstance(const DeviceOptions& options)
{
    if (volkInitialize() != VK_SUCCESS) throw NoDevice("no Vulkan loader");
    if (volkGetInstanceVersion() < VK_API_VERSION_1_2) throw NoDevice("no Vulkan 1.2");
    m_apiVersion = std::min<uint32_t>(volkGetInstanceVersion(), VK_API_VERSION_1_3);
    VkApplicationInfo application = {};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = m_apiVersion;
    std::vector<const char*> extensions = options.instanceExtensions;
    const char* const layer = "VK_LAYER_KHRONOS_validation";
    const VkValidationFeatureEnableEXT enabled[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    VkValidationFeaturesEXT validation = {};
    validation.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
    validation.enabledValidationFeatureCount = 1;
    validation.pEnabledValidationFeatures = enabled;
    VkInstanceCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    if (options.isValidated) {
        extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
        info.pNext = &validation;
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &layer;
    }
    info.enabledExtensionCount = uint32_t(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    const VkResult result = vkCreateInstance(&info, nullptr, &m_instance);
    if (result == VK_ERROR_LAYER_NOT_PRESENT) throw NoDevice("no validation layer");
    require(result, "vkCreateInstance");
    volkLoadInstanceOnly(m_instance);
    if (!options.isValidated) return;
    VkDebugUtilsMessengerCreateInfoEXT messenger = {};
    messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    messenger.pfnUserCallback = onMessage;
    messenger.pUserData = &m_validationErrors;
    require(vkCreateDebugUtilsMessengerEXT(m_instance, &messenger, nullptr, &m_messenger),
            "vkCreateDebugUtilsMessengerEXT");
}

// Chooses a device. `name` is its number or a part of its name. If several devices fit, or if
// `name` is empty, takes the type that is probably fastest, discrete GPUs first.
void Device::choosePhysical(const std::string& name)
{
    uint32_t count = 0;
    require(vkEnumeratePhysicalDevices(m_instance, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> all(count);
    require(vkEnumeratePhysicalDevices(m_instance, &count, all.data()),
            "vkEnumeratePhysicalDevices");
    const auto rankOf = [](VkPhysicalDeviceType type) {
        return type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU     ? 4
               : type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ? 3
               : type == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU    ? 2
                                                                : 1;
    };
    int best = 0;
    for (uint32_t i = 0; i < count; ++i) {
        VkPhysicalDeviceProperties properties = {};
        vkGetPhysicalDeviceProperties(all[i], &properties);
        if (!name.empty() && name != std::to_string(i) &&
            std::strstr(properties.deviceName, name.c_str()) == nullptr)
            continue;
        if (properties.apiVersion < VK_API_VERSION_1_2 || rankOf(properties.deviceType) <= best)
            continue;
        best = rankOf(properties.deviceType);
        m_physical = all[i];
        m_properties = properties;
    }
    if (best == 0)
        throw NoDevice("no device of Vulkan 1.2" + (name.empty() ? "" : " called " + name));
    m_apiVersion = std::min(m_apiVersion, m_properties.apiVersion);
}

void Device::chooseFamilies(bool wantsStreamingQueue)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(m_physical, &count, families);
    const VkQueueFlags wanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    const auto draws = [&](uint32_t family) {
        VkBool32 canPresent = VK_TRUE;
        if (m_surface != VK_NULL_HANDLE)
            vkGetPhysicalDeviceSurfaceSupportKHR(m_physical, family, m_surface, &canPresent);
        return (families[family].queueFlags & wanted) == wanted && canPresent == VK_TRUE;
    };
    uint32_t drawing = 0;
    while (drawing < count && !draws(drawing))
        ++drawing;
    if (drawing == count) throw NoDevice("no queue that draws and computes");
    m_families[0] = m_families[1] = drawing;
    m_streamingIndex = wantsStreamingQueue && families[drawing].queueCount > 1 ? 1 : 0;
    for (uint32_t family = 0; wantsStreamingQueue && family < count; ++family) {
        if ((families[family].queueFlags & wanted) != VK_QUEUE_COMPUTE_BIT) continue;
        m_families[1] = family;
        m_streamingIndex = 0;
        break;
    }
    m_timestampBits = families[family()].timestampValidBits;
}

void Device::createDevice(const DeviceOptions& options)
{
    const bool is13 = m_apiVersion >= VK_API_VERSION_1_3;
    const auto chain = [&] {
        m_features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
        m_features.pNext = &m_features12;
        m_features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
        m_features12.pNext = is13 ? &m_features13 : nullptr;
        m_features13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    };
    chain();
    vkGetPhysicalDeviceFeatures2(m_physical, &m_features);
    const VkPhysicalDeviceFeatures has = m_features.features;
    const VkPhysicalDeviceVulkan12Features has12 = m_features12;
    const VkPhysicalDeviceVulkan13Features has13 = m_features13;
    m_features = {}, m_features12 = {}, m_features13 = {};
    chain();
    if (!has.fragmentStoresAndAtomics)
        throw NoDevice("fragment shaders cannot write feedback: no fragmentStoresAndAtomics");
    m_features.features.fragmentStoresAndAtomics = VK_TRUE;
    m_features.features.textureCompressionBC = has.textureCompressionBC;
    m_features.features.textureCompressionASTC_LDR = has.textureCompressionASTC_LDR;
    m_features.features.textureCompressionETC2 = has.textureCompressionETC2;
    m_features12.timelineSemaphore = VK_TRUE; // every 1.2 device has it
    m_isBindless = options.allowsBindless && has.shaderSampledImageArrayDynamicIndexing &&
                   has12.runtimeDescriptorArray && has12.descriptorBindingPartiallyBound &&
                   has12.descriptorBindingSampledImageUpdateAfterBind &&
                   has12.descriptorBindingUpdateUnusedWhilePending;
    m_features.features.shaderSampledImageArrayDynamicIndexing = m_isBindless;
    m_features12.runtimeDescriptorArray = m_isBindless;
    m_features12.descriptorBindingPartiallyBound = m_isBindless;
    m_features12.descriptorBindingSampledImageUpdateAfterBind = m_isBindless;
    m_features12.descriptorBindingUpdateUnusedWhilePending = m_isBindless;
    // Enable what the device has of these: sluice does not need them, but decodes faster with them.
    m_features.features.shaderInt64 = has.shaderInt64;
    m_features12.bufferDeviceAddress = has12.bufferDeviceAddress;
    m_features12.storageBuffer8BitAccess = has12.storageBuffer8BitAccess;
    m_features13.subgroupSizeControl = has13.subgroupSizeControl;
    m_features13.computeFullSubgroups = has13.computeFullSubgroups;

    const float priorities[] = {1, 1};
    VkDeviceQueueCreateInfo queues[2] = {};
    for (VkDeviceQueueCreateInfo& queue : queues) {
        queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queue.queueCount = 1;
        queue.pQueuePriorities = priorities;
    }
    queues[0].queueFamilyIndex = family();
    queues[0].queueCount += m_streamingIndex;
    queues[1].queueFamilyIndex = streamingFamily();
    const char* const swapchain = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    VkDeviceCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &m_features;
    info.queueCreateInfoCount = streamingFamily() != family() ? 2 : 1;
    info.pQueueCreateInfos = queues;
    info.enabledExtensionCount = m_surface != VK_NULL_HANDLE ? 1 : 0;
    info.ppEnabledExtensionNames = &swapchain;
    require(vkCreateDevice(m_physical, &info, nullptr, &m_device), "vkCreateDevice");
    volkLoadDevice(m_device);
    vkGetDeviceQueue(m_device, family(), 0, &m_queue);
    vkGetDeviceQueue(m_device, streamingFamily(), m_streamingIndex, &m_streamingQueue);
    const sluice::EngineInfo engine = {
        {vkGetInstanceProcAddr, m_instance, m_physical, m_device, streamingFamily()},
        m_streamingQueue,
        m_features12.bufferDeviceAddress == VK_TRUE,
        family()};
    m_engine = std::make_unique<sluice::VulkanEngine>(engine);
}

double Device::millisecondsPerTick() const
{
    return m_timestampBits == 0 ? 0 : double(m_properties.limits.timestampPeriod) / 1e6;
}

bool Device::hasFormat(VkFormat format) const
{
    VkFormatProperties properties = {};
    vkGetPhysicalDeviceFormatProperties(m_physical, format, &properties);
    const VkFormatFeatureFlags wanted = VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT |
                                        VK_FORMAT_FEATURE_TRANSFER_DST_BIT |
                                        VK_FORMAT_FEATURE_TRANSFER_SRC_BIT;
    return (properties.optimalTilingFeatures & wanted) == wanted;
}

VkCommandPool Device::makeCommandPool(uint32_t family) const
{
    VkCommandPoolCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    info.queueFamilyIndex = family;
    VkCommandPool pool = VK_NULL_HANDLE;
    require(vkCreateCommandPool(m_device, &info, nullptr, &pool), "vkCreateCommandPool");
    return pool;
}

VkShaderModule Device::makeShader(const uint32_t* code, size_t bytes) const
{
    VkShaderModuleCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = bytes;
    info.pCode = code;
    VkShaderModule module = VK_NULL_HANDLE;
    require(vkCreateShaderModule(m_device, &info, nullptr, &module), "vkCreateShaderModule");
    return module;
}

} // namespace viewer
