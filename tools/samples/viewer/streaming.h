// SPDX-License-Identifier: MIT OR Apache-2.0
// The streamer: its memory, the archive, names of what is in it, and how long groups take.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "tools/samples/viewer/device.h"

#include <sluice/sluice_image.h>
#include <sluice/sluice_stream_vulkan.h>

namespace viewer {

// Says what a group loads: scripts, which the start waits for; maps' files, geometry and lightmaps;
// tails, without which a texture cannot be shown; finer levels.
enum class GroupClass : uint32_t {
    script,
    map,
    tail,
    level,
    count
};
constexpr const char* kGroupClassNames[] = {"script", "map", "tail", "level"};

constexpr uint32_t kMaxBatches = 4; // under way; more than frames in flight

struct StreamingOptions {
    std::string archive;
    bool decodesOnGpu = true;
    uint32_t ringMiB = 64; // for stored bytes, and again for decoded bytes
    uint32_t threads = 2;
};

struct EndedGroup {
    GroupClass groupClass;
    uint64_t key; // the key given to submit
    SluiceStatus status;
};

class Streaming {
public:
    Streaming(Device& device, const StreamingOptions& options);
    ~Streaming();
    // After this no group writes anywhere, and none can be submitted. No batch may be running.
    void stop();
    Streaming(const Streaming&) = delete;
    Streaming& operator=(const Streaming&) = delete;

    // Assets by name: textures by the names that textureName makes, maps by names without folder
    // and extension.
    using Names = std::map<std::string, uint32_t>;
    const Names& textures() const { return m_textures; }
    const Names& maps() const { return m_maps; }
    const Names& scripts() const { return m_scripts; }
    SluiceArchiveAsset asset(uint32_t index) const;
    SluiceStreamFile file() const { return m_file; }

    // Returns 0 if the streamer is full; then try again in the next frame.
    SluiceStreamGroup submit(const std::vector<SluiceStreamRequest>& requests, int32_t priority,
                             GroupClass groupClass, uint64_t key);
    void setPriority(SluiceStreamGroup group, int32_t priority);
    void cancel(SluiceStreamGroup group);
    // Returns a request that reads a whole asset into host memory.
    SluiceStreamRequest readAsset(uint32_t index, std::vector<uint8_t>& bytes) const;
    // Reads a whole asset and waits for it, because the start needs some assets at once.
    std::vector<uint8_t> readAssetNow(uint32_t index);

    std::vector<EndedGroup> poll();
    // Records into a command buffer whose submit signals the semaphore with `value`.
    SluiceStreamBatch record(VkCommandBuffer commands, float milliseconds, VkSemaphore semaphore,
                             uint64_t value);
    SluiceStreamCounters counters() const;
    size_t pending() const { return m_pending.size(); } // groups whose end has not been polled

    const std::vector<float>& latencies(GroupClass groupClass) const // milliseconds
    {
        return m_latencies[uint32_t(groupClass)];
    }
    uint64_t failedGroups() const { return m_failedGroups; }

private:
    using Clock = std::chrono::steady_clock;
    struct Pending {
        GroupClass groupClass;
        uint64_t key;
        Clock::time_point since;
    };

    void createContext(bool decodesOnGpu);
    void createStreamer(const StreamingOptions& options);
    void open(const std::string& path);
    void indexNames();
    void destroyAll();

    Device& m_device;
    SluiceContext m_context = nullptr;
    SluiceStreamGpu* m_gpu = nullptr;
    SluiceStreamer m_streamer = nullptr;
    SluiceStreamFile m_file = nullptr;
    std::vector<Buffer> m_buffers;
    Names m_textures, m_maps, m_scripts;
    std::map<SluiceStreamGroup, Pending> m_pending;
    std::vector<float> m_latencies[uint32_t(GroupClass::count)];
    uint64_t m_failedGroups = 0;
};

} // namespace viewer
