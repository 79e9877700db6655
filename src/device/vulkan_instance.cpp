// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads Vulkan, makes an instance, and chooses the features that a device is created with.
#include "device/vulkan_instance.h"

#include <algorithm>
#include <cstring>

#include "vulkan/vulkan_new.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace sluice {
namespace {

// Opens the Vulkan loader and returns its entry point, or nullptr. The loader is never unloaded,
// because drivers may have left threads and exit handlers, whose code must stay in memory.
PFN_vkGetInstanceProcAddr openLoader()
{
#ifdef _WIN32
    const HMODULE library = LoadLibraryA("vulkan-1.dll");
    void* const symbol =
        library ? reinterpret_cast<void*>(GetProcAddress(library, "vkGetInstanceProcAddr"))
                : nullptr;
#else
    void* symbol = nullptr;
    for (const char* name :
         {"libvulkan.so.1", "libvulkan.so", "libvulkan.1.dylib", "libMoltenVK.dylib"}) {
        if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
            symbol = dlsym(library, "vkGetInstanceProcAddr");
            break;
        }
    }
#endif
    return reinterpret_cast<PFN_vkGetInstanceProcAddr>(symbol);
}

// Returns the layer or extension with this name in `list`, or nullptr.
template <typename Properties>
const Properties* findNamed(const std::vector<Properties>& list, const char* name)
{
    const auto found = std::find_if(list.begin(), list.end(), [&](const Properties& one) {
        if constexpr (std::is_same_v<Properties, VkLayerProperties>) {
            return std::strcmp(one.layerName, name) == 0;
        } else {
            return std::strcmp(one.extensionName, name) == 0;
        }
    });
    return found != list.end() ? &*found : nullptr;
}

// Returns a copy of a features structure with all features off, still linked to the next structure
// of the chain.
template <typename Features>
Features allOff(const Features& features)
{
    Features off{};
    off.sType = features.sType;
    off.pNext = features.pNext;
    return off;
}

// The callback for messages of the validation layer. instance: the VulkanInstance.
VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                         VkDebugUtilsMessageTypeFlagsEXT,
                                         const VkDebugUtilsMessengerCallbackDataEXT* data,
                                         void* instance)
{
    static_cast<const VulkanInstance*>(instance)->message(data->pMessage);
    return VK_FALSE;
}

// Describes a messenger that passes warnings and errors of the validation layer to onMessage().
VkDebugUtilsMessengerCreateInfoEXT messengerInfo(VulkanInstance* instance)
{
    VkDebugUtilsMessengerCreateInfoEXT info{};
    info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT;
    info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    info.pfnUserCallback = onMessage;
    info.pUserData = instance;
    return info;
}

} // namespace

SluiceStatus VulkanInstance::create(const SluiceDeviceInfo* info,
                                    std::unique_ptr<VulkanInstance>& instance, std::string& error)
{
    instance.reset(new VulkanInstance);
    instance->m_message = info != nullptr ? info->message : nullptr;
    instance->m_messageUser = info != nullptr ? info->messageUser : nullptr;
    return instance->open(info != nullptr ? info->validation : 0, error);
}

SluiceStatus VulkanInstance::open(uint32_t validation, std::string& error)
{
    getInstanceProcAddr = openLoader();
    if (getInstanceProcAddr == nullptr)
        return fail(SLUICE_ERROR_UNSUPPORTED, "there is no Vulkan loader on this machine", error);
    const SluiceStatus status = createInstance(validation, error);
    if (status != SLUICE_OK) return status;
    bool complete = true;
#define SLUICE_LOAD(name)                                                                          \
    name = reinterpret_cast<PFN_vk##name>(getInstanceProcAddr(handle, "vk" #name));                \
    complete = complete && name != nullptr;
    SLUICE_INSTANCE_FUNCTIONS(SLUICE_LOAD)
#undef SLUICE_LOAD
    if (!complete)
        return fail(SLUICE_ERROR_UNSUPPORTED, "the Vulkan loader is older than version 1.1", error);
    if (validation != 0) {
        const auto createMessenger = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
            getInstanceProcAddr(handle, "vkCreateDebugUtilsMessengerEXT"));
        const VkDebugUtilsMessengerCreateInfoEXT messenger = messengerInfo(this);
        if (createMessenger == nullptr ||
            createMessenger(handle, &messenger, nullptr, &m_messenger) != VK_SUCCESS)
            return fail(SLUICE_ERROR_DEVICE, "the validation layer gives no messages", error);
    }
    uint32_t count = 0;
    EnumeratePhysicalDevices(handle, &count, nullptr);
    physicalDevices.resize(count);
    EnumeratePhysicalDevices(handle, &count, physicalDevices.data());
    physicalDevices.resize(count);
    return SLUICE_OK;
}

SluiceStatus VulkanInstance::createInstance(uint32_t validation, std::string& error)
{
    const auto enumerateExtensions = reinterpret_cast<PFN_vkEnumerateInstanceExtensionProperties>(
        getInstanceProcAddr(nullptr, "vkEnumerateInstanceExtensionProperties"));
    const auto enumerateLayers = reinterpret_cast<PFN_vkEnumerateInstanceLayerProperties>(
        getInstanceProcAddr(nullptr, "vkEnumerateInstanceLayerProperties"));
    const auto create =
        reinterpret_cast<PFN_vkCreateInstance>(getInstanceProcAddr(nullptr, "vkCreateInstance"));
    if (enumerateExtensions == nullptr || enumerateLayers == nullptr || create == nullptr)
        return fail(SLUICE_ERROR_UNSUPPORTED, "the Vulkan loader lacks its basic functions", error);

    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.pApplicationName = "sluice";
    application.apiVersion = kApiVersion;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;

    uint32_t count = 0;
    enumerateExtensions(nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> available(count);
    enumerateExtensions(nullptr, &count, available.data());
    std::vector<const char*> extensions;
    if (findNamed(available, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME) != nullptr) {
        extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
        info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    }

    const char* const layer = "VK_LAYER_KHRONOS_validation";
    const VkValidationFeatureEnableEXT gpuAssisted = VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT;
    const VkValidationFeaturesEXT validationFeatures = {
        VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, nullptr, 1, &gpuAssisted, 0, nullptr};
    VkDebugUtilsMessengerCreateInfoEXT messenger = messengerInfo(this);
    if (validation != 0) {
        enumerateLayers(&count, nullptr);
        std::vector<VkLayerProperties> layers(count);
        enumerateLayers(&count, layers.data());
        const VkLayerProperties* const found = findNamed(layers, layer);
        if (found == nullptr)
            return fail(
                SLUICE_ERROR_UNSUPPORTED,
                "validation was asked for, but VK_LAYER_KHRONOS_validation is not installed",
                error);
        validationVersion = found->specVersion;
        extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME); // part of the validation layer
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &layer;
        info.pNext = &messenger; // reports the messages of vkCreateInstance itself
        messenger.pNext = validation >= 2 ? &validationFeatures : nullptr;
    }
    info.enabledExtensionCount = uint32_t(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    if (create(&info, nullptr, &handle) == VK_SUCCESS) return SLUICE_OK;
    handle = VK_NULL_HANDLE;
    return fail(SLUICE_ERROR_UNSUPPORTED,
                "no Vulkan instance could be made: no driver is installed, or it failed", error);
}

VulkanInstance::~VulkanInstance()
{
    if (m_messenger != VK_NULL_HANDLE) {
        const auto destroyMessenger = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
            getInstanceProcAddr(handle, "vkDestroyDebugUtilsMessengerEXT"));
        destroyMessenger(handle, m_messenger, nullptr);
    }
    if (handle != VK_NULL_HANDLE && DestroyInstance != nullptr) DestroyInstance(handle, nullptr);
}

void VulkanInstance::message(const char* text) const
{
    if (m_message != nullptr) m_message(m_messageUser, text);
}

// --- Features

// The structures of the chain. The constructor links those that the device knows.
struct VulkanFeatureChain::Structures {
    VkPhysicalDeviceVulkan11Features core11{};
    VkPhysicalDeviceVulkan12Features core12{};
    VkPhysicalDeviceVulkan13Features core13{};
    VkPhysicalDeviceSubgroupSizeControlFeatures sizeControl{};
    VkPhysicalDeviceMemoryDecompressionFeaturesNV decompression{};
    VkPhysicalDeviceMaintenance5FeaturesKHR maintenance5{};
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables{};
};

// Puts a structure at the end of the chain.
void VulkanFeatureChain::append(void* structure)
{
    static_cast<VkBaseOutStructure*>(m_last)->pNext = static_cast<VkBaseOutStructure*>(structure);
    m_last = structure;
}

// Asks which features the device supports, and turns off those that the library does not need,
// because enabled features can cost speed even if they are not used.
VulkanFeatureChain::VulkanFeatureChain(const VulkanInstance& instance, VkPhysicalDevice device,
                                       bool pipelineStatistics)
    : m_structures(std::make_unique<Structures>())
{
    VkPhysicalDeviceProperties properties{};
    instance.GetPhysicalDeviceProperties(device, &properties);
    uint32_t count = 0;
    instance.EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> available(count);
    instance.EnumerateDeviceExtensionProperties(device, nullptr, &count, available.data());
    const auto enable = [&](const char* name) {
        const bool found = findNamed(available, name) != nullptr;
        if (found) m_extensions.push_back(name);
        return found;
    };

    Structures& s = *m_structures;
    m_features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    s.core11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    s.core12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    s.core13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    s.sizeControl.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
    s.decompression.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_DECOMPRESSION_FEATURES_NV;
    s.maintenance5.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES_KHR;
    enable("VK_KHR_portability_subset");                // must be enabled where it is present
    enable(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME); // for streamers that use an engine's memory
    if (properties.apiVersion >= VK_API_VERSION_1_2) {
        append(&s.core11);
        append(&s.core12);
    }
    if (properties.apiVersion >= VK_API_VERSION_1_3) {
        append(&s.core13);
    } else if (enable(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) {
        append(&s.sizeControl);
    }
    // The two memory_decompression extensions are the driver's own decoders. The EXT one needs
    // buffer usage flags of 64 bits, which maintenance5 brings. A validation layer that is older
    // than an extension reports the extension's structures as errors. With such a layer the
    // extension is not enabled; the numbers below are the first versions that know the extensions.
    const uint32_t known = instance.validationVersion;
    const bool maintenance5 = properties.apiVersion >= VK_API_VERSION_1_3 &&
                              known >= VK_MAKE_API_VERSION(0, 1, 3, 260) &&
                              enable(VK_KHR_MAINTENANCE_5_EXTENSION_NAME);
    const bool nv = enable(VK_NV_MEMORY_DECOMPRESSION_EXTENSION_NAME);
    const bool ext = maintenance5 && known >= VK_MAKE_API_VERSION(0, 1, 4, 330) &&
                     enable(VK_EXT_MEMORY_DECOMPRESSION_EXTENSION_NAME);
    s.executables.sType =
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
    if (pipelineStatistics && enable(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME))
        append(&s.executables);
    if (maintenance5) append(&s.maintenance5);
    if (nv || ext) append(&s.decompression);
    instance.GetPhysicalDeviceFeatures2(device, &m_features);

    const VkPhysicalDeviceFeatures core = m_features.features;
    m_features.features = {};
    // GPU-assisted validation adds checks to shaders. These checks need shaderInt64 and the two
    // features for stores and atomics, so they stay enabled.
    m_features.features.shaderInt64 = core.shaderInt64;
    m_features.features.shaderInt16 = core.shaderInt16;
    m_features.features.vertexPipelineStoresAndAtomics = core.vertexPipelineStoresAndAtomics;
    m_features.features.fragmentStoresAndAtomics = core.fragmentStoresAndAtomics;
    const auto keep11 = s.core11;
    s.core11 = allOff(keep11);
    s.core11.storageBuffer16BitAccess = keep11.storageBuffer16BitAccess;
    const auto keep12 = s.core12;
    s.core12 = allOff(keep12);
    s.core12.storageBuffer8BitAccess = keep12.storageBuffer8BitAccess;
    s.core12.shaderInt8 = keep12.shaderInt8;
    s.core12.bufferDeviceAddress = keep12.bufferDeviceAddress;
    s.core12.timelineSemaphore = keep12.timelineSemaphore;
    s.core12.hostQueryReset = keep12.hostQueryReset;
    const auto keep13 = s.core13;
    s.core13 = allOff(keep13);
    s.core13.subgroupSizeControl = keep13.subgroupSizeControl;
    s.core13.computeFullSubgroups = keep13.computeFullSubgroups;
    s.core13.synchronization2 = keep13.synchronization2;
    s.core13.maintenance4 = keep13.maintenance4;
}

VulkanFeatureChain::~VulkanFeatureChain() = default;

bool VulkanFeatureChain::has(const char* extension) const
{
    return std::any_of(m_extensions.begin(), m_extensions.end(),
                       [&](const char* one) { return std::strcmp(one, extension) == 0; });
}

} // namespace sluice
