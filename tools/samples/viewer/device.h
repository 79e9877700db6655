// SPDX-License-Identifier: MIT OR Apache-2.0
// The viewer's own Vulkan device: its queues, and memory for images, in large blocks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <volk.h>

#include "tools/common/engine.h"

namespace viewer {

// Thrown if there is no device to run on.
struct NoDevice : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using sluice::require; // the overload for VkResult
using Buffer = sluice::EngineBuffer;
using Memory = sluice::VulkanEngine::Memory;

// A range inside a block of image memory.
struct ImageMemory {
    uint32_t block = 0;
    VkDeviceSize offset = 0, size = 0;
};

struct Image {
    VkImage image = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE;
    ImageMemory memory;
};

struct DeviceOptions {
    std::string name; // number of the device or part of its name; empty: the best device
    bool isValidated = false;
    bool allowsBindless = true;
    bool wantsStreamingQueue = false;            // if possible, a second queue for the streamer
    std::vector<const char*> instanceExtensions; // extensions that the window needs
    std::function<VkSurfaceKHR(VkInstance)> makeSurface;
};

class Device {
public:
    explicit Device(const DeviceOptions& options);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    VkInstance instance() const { return m_instance; }
    VkPhysicalDevice physical() const { return m_physical; }
    VkDevice get() const { return m_device; }
    VkQueue queue() const { return m_queue; }
    uint32_t family() const { return m_families[0]; }
    // Returns whether the streamer's batches have a queue of their own: one of a family that
    // computes but does not draw, or a second queue of the drawing family. Otherwise batches go to
    // the queue that draws.
    bool hasStreamingQueue() const { return m_streamingQueue != m_queue; }
    uint32_t streamingFamily() const { return m_families[1]; }
    VkSurfaceKHR surface() const { return m_surface; }
    const VkPhysicalDeviceProperties& properties() const { return m_properties; }
    bool isSoftware() const { return m_properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }
    // Returns whether all textures are in one descriptor array, in which shaders look them up.
    bool isBindless() const { return m_isBindless; }
    uint32_t apiVersion() const { return m_apiVersion; }
    // Returns the chain of features that vkCreateDevice got as pNext.
    const void* enabledFeatures() const { return &m_features; }
    double millisecondsPerTick() const;    // length of a timestamp's tick; 0: no timestamps
    bool hasFormat(VkFormat format) const; // can be filtered linearly, copied from and to

    // Returns the object that makes buffers, and command buffers for the streaming queue.
    sluice::VulkanEngine& engine() const { return *m_engine; }
    // Makes an image, its memory, and a view of all its levels and layers.
    Image makeImage(const VkImageCreateInfo& info, VkImageAspectFlags aspect,
                    VkImageViewType viewType = VK_IMAGE_VIEW_TYPE_2D,
                    const VkComponentMapping& swizzle = {});
    void destroy(Image& image);
    VkCommandPool makeCommandPool(uint32_t family) const; // command buffers can be recorded again
    VkShaderModule makeShader(const uint32_t* code, size_t bytes) const;

    // Returns how many bytes of device memory are allocated, in whole blocks.
    uint64_t allocatedBytes() const { return m_engine->allocatedBytes(); }
    uint32_t validationErrors() const { return m_validationErrors; }

private:
    struct Block {
        VkDeviceMemory memory = VK_NULL_HANDLE;
        VkDeviceSize size = 0;
        uint32_t type = 0;
        std::map<VkDeviceSize, VkDeviceSize> free; // free ranges: offset and size
    };

    void createInstance(const DeviceOptions& options);
    void choosePhysical(const std::string& name);
    void chooseFamilies(bool wantsStreamingQueue);
    void createDevice(const DeviceOptions& options);
    void destroyAll();
    bool allocateFrom(uint32_t block, const VkMemoryRequirements& needs, ImageMemory& memory);
    ImageMemory allocateImage(const VkMemoryRequirements& needs);
    void release(const ImageMemory& memory);

    VkInstance m_instance = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT m_messenger = VK_NULL_HANDLE;
    VkSurfaceKHR m_surface = VK_NULL_HANDLE;
    VkPhysicalDevice m_physical = VK_NULL_HANDLE;
    VkPhysicalDeviceProperties m_properties = {};
    VkPhysicalDeviceFeatures2 m_features = {};
    VkPhysicalDeviceVulkan12Features m_features12 = {};
    VkPhysicalDeviceVulkan13Features m_features13 = {};
    uint32_t m_apiVersion = VK_API_VERSION_1_2;
    bool m_isBindless = false;
    uint32_t m_timestampBits = 0;
    VkDevice m_device = VK_NULL_HANDLE;
    VkQueue m_queue = VK_NULL_HANDLE, m_streamingQueue = VK_NULL_HANDLE;
    uint32_t m_families[2] = {};   // families of drawing and streaming queue; may be equal
    uint32_t m_streamingIndex = 0; // index of the streaming queue in its family
    std::unique_ptr<sluice::VulkanEngine> m_engine;
    std::vector<Block> m_blocks;
    uint32_t m_validationErrors = 0;
};

} // namespace viewer
