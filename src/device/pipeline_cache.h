// SPDX-License-Identifier: MIT OR Apache-2.0
// Saves in a file what a driver has compiled, so that the next run need not compile it again.
#pragma once

#include <vulkan/vulkan_core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "formats/integers.h"

namespace sluice {

// A file that holds a driver's cache data after a header. The header identifies the driver and has
// a checksum. Drivers are known to crash on data that is not theirs, so they only receive data that
// was checked.
class PipelineCacheFile {
public:
    // The limit of a file, and of all files in the user's cache folder together.
    static constexpr uint64_t kMaxBytes = 64ull << 20;

    // With an empty `path`, the file is in the user's cache folder, with a name of this driver and
    // device.
    PipelineCacheFile(const VkPhysicalDeviceProperties& device, const std::string& path);

    // Returns the data for the driver. It is empty if there is no file, or the file is damaged, too
    // large or another driver's.
    std::vector<uint8_t> read() const;
    // Replaces the file atomically: readers see either the old or the new content. Returns false,
    // and changes nothing, if the file cannot be written.
    bool write(const std::vector<uint8_t>& data) const;
    const std::filesystem::path& path() const { return m_path; }
    // Returns whether a file that starts with these bytes is such a cache file, of any device.
    static bool isStart(const std::vector<uint8_t>& bytes);

private:
    std::vector<uint8_t> header(const std::vector<uint8_t>& data) const;
    void pruneFolder(uint64_t room) const;

    VkPhysicalDeviceProperties m_device;
    std::filesystem::path m_path; // empty if there is no folder for the file
    bool m_isUsual;
};

// A VkPipelineCache whose initial content is that of its file.
class PipelineCache {
public:
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
    // Merges what other processes have written to the file meanwhile, and writes the result if it
    // is new. Must not be called while pipelines are made. Failures are not errors: the next run
    // compiles again.
    void save() noexcept;

private:
    std::vector<uint8_t> data() const;
    void mergeAndWrite();

    VkDevice m_device;
    Functions m_vk;
    PipelineCacheFile m_file;
    std::vector<uint8_t> m_saved; // the content of the file as last read or written
    VkPipelineCache m_handle = VK_NULL_HANDLE;
};

} // namespace sluice
