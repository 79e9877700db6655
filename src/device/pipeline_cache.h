// SPDX-License-Identifier: MIT OR Apache-2.0
// Saves compiled pipelines in a file, so that the next run need not compile them again. A driver
// keeps them in a VkPipelineCache, and returns the content of that cache as bytes, its *data*.
#pragma once

#include <vulkan/vulkan_core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "formats/integers.h"

namespace sluice {

// The file holds a header and the driver's data. The header identifies the driver and has a
// checksum. Both are checked before the driver gets the data, because drivers are known to crash on
// damaged data and on another driver's data.
class PipelineCacheFile {
public:
    // The limit for a file, and for all files in the user's cache folder together.
    static constexpr uint64_t kMaxBytes = 64ull << 20;

    // If `path` is empty, the file is in the user's cache folder, and its name is made of the ids
    // of driver and device; a link of that name is not followed. Otherwise the file is `path` or,
    // if `path` is a link, the link's target.
    PipelineCacheFile(const VkPhysicalDeviceProperties& device, const std::string& path);

    // Returns the driver's data. It is empty if there is no file, or the file is damaged, too large
    // or another driver's.
    std::vector<uint8_t> read() const;
    // Replaces the file by one with this data and the same permissions. Other processes see either
    // the old or the new content. Returns false, and leaves the file as it is, if it cannot be
    // written or if its name belongs to something other than a file.
    bool write(const std::vector<uint8_t>& data) const;
    const std::filesystem::path& path() const { return m_path; }
    // Returns whether a file that starts with these bytes is a pipeline cache of sluice, of any
    // device.
    static bool isStart(const std::vector<uint8_t>& bytes);

private:
    // Returns the header that a file with this data has.
    std::vector<uint8_t> header(const std::vector<uint8_t>& data) const;
    void pruneFolder(uint64_t room) const;
    void removeUnfinished() const;

    VkPhysicalDeviceProperties m_device;
    std::filesystem::path m_path; // empty if there is no folder for it
    bool m_isUsual;               // the file is in the user's cache folder
};

// A VkPipelineCache that begins with the data of its file.
class PipelineCache {
public:
    // The functions of Vulkan that it needs.
    struct Functions {
        PFN_vkCreatePipelineCache create;
        PFN_vkDestroyPipelineCache destroy;
        PFN_vkGetPipelineCacheData getData;
        PFN_vkMergePipelineCaches merge;
    };

    PipelineCache(VkDevice device, const Functions& vk, PipelineCacheFile file);
    ~PipelineCache();
    PipelineCache(const PipelineCache&) = delete;
    PipelineCache& operator=(const PipelineCache&) = delete;

    // Returns VK_NULL_HANDLE if the driver could not create a cache.
    VkPipelineCache handle() const { return m_handle; }
    // Writes the cache to its file, if the cache has changed. If other processes have replaced the
    // file meanwhile, their pipelines are merged into the cache first. The caller makes no
    // pipelines during the call. Failures are not reported, since they only make the next run
    // compile again.
    void save() noexcept;

private:
    // Returns the driver's data; empty on errors.
    std::vector<uint8_t> data() const;
    void mergeAndWrite();

    VkDevice m_device;
    Functions m_vk;
    PipelineCacheFile m_file;
    std::vector<uint8_t> m_saved; // the data of the file when last read or written
    VkPipelineCache m_handle = VK_NULL_HANDLE;
};

} // namespace sluice
