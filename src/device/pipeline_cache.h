// SPDX-License-Identifier: MIT OR Apache-2.0
// Keeps what a driver compiled in a file from one run to the next.
#pragma once

#include <vulkan/vulkan_core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "formats/integers.h"

namespace sluice {

// The bytes of a file: a header that names the driver and has a checksum, then the driver's own.
// Drivers are known to crash on bytes that are not theirs, so they only get checked ones.
class PipelineCacheFile {
public:
    static constexpr uint64_t kMaxBytes = 64ull
                                          << 20; // limits of a file, and of all files in the usual
                                                 // folder

    // `path` is "" for a file of this driver and device in the user's cache folder.
    PipelineCacheFile(const VkPhysicalDeviceProperties& device, const std::string& path);

    // Returns what the driver may be given; empty if there is no file, or it is damaged, too large
    // or another driver's.
    std::vector<uint8_t> read() const;
    // Replaces the file atomically: a reader gets the old or the new one. Returns false, and
    // changes nothing, if it cannot be written.
    bool write(const std::vector<uint8_t>& data) const;
    const std::filesystem::path& path() const { return m_path; }
    // Does a file that begins so hold what a driver compiled, of whatever device?
    static bool isStart(const std::vector<uint8_t>& bytes);

private:
    std::vector<uint8_t> header(const std::vector<uint8_t>& data) const;
    void pruneFolder(uint64_t room) const;

    VkPhysicalDeviceProperties m_device;
    std::filesystem::path m_path; // empty where there is no folder for it
    bool m_isUsual;
};

// A VkPipelineCache that begins with the content of its file.
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

    // VK_NULL_HANDLE if the driver could not make one.
    VkPipelineCache handle() const { return m_handle; }
    // Adds what the file got from other processes meanwhile, and writes everything if there is
    // something new. Must not be called while pipelines are made. Failures are not errors: the next
    // run compiles again.
    void save() noexcept;

private:
    std::vector<uint8_t> data() const;
    void mergeAndWrite();

    VkDevice m_device;
    Functions m_vk;
    PipelineCacheFile m_file;
    std::vector<uint8_t> m_saved; // the known content of the file
    VkPipelineCache m_handle = VK_NULL_HANDLE;
};

} // namespace sluice
