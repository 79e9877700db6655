// SPDX-License-Identifier: MIT OR Apache-2.0
// The streamer: its memory, the archive and the names in it, and how long groups take.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tools/samples/viewer/device.h"

#include <sluice/sluice_image.h>
#include <sluice/sluice_stream_vulkan.h>

namespace viewer {

// The kind of data that a group loads. script: a shader script; the viewer starts when all scripts
// are read. map: the file of a map, or its geometry and lightmaps. tail: the smallest levels of a
// texture, without which the texture cannot be shown. level: finer levels of a texture.
enum class GroupClass : uint32_t {
    script,
    map,
    tail,
    level,
    count
};
constexpr const char* kGroupClassNames[] = {"script", "map", "tail", "level"};

constexpr uint32_t kMaxBatches = 4; // batches under way; more than frames in flight

struct StreamingOptions {
    std::string archive;
    bool decodesOnGpu = true;
    uint32_t ringMiB = 64; // size of the ring of stored bytes, and of that of decoded bytes
    uint32_t threads = 2;
};

struct EndedGroup {
    GroupClass groupClass;
    uint64_t key; // the key that submit() got
    SluiceStatus status;
};

class Streaming {
public:
    Streaming(Device& device, const StreamingOptions& options);
    ~Streaming();
    // Destroys the streamer. After this, groups write nothing any more and none can be submitted.
    // The caller makes sure that no batch is running.
    void stop();
    Streaming(const Streaming&) = delete;
    Streaming& operator=(const Streaming&) = delete;

    // Maps a name to the index of the asset in the archive. Textures and scripts have names as
    // textureName() makes them; maps have names without folder and extension.
    using Names = std::map<std::string, uint32_t>;
    const Names& textures() const { return m_textures; }
    const Names& maps() const { return m_maps; }
    const Names& scripts() const { return m_scripts; }
    SluiceArchiveAsset asset(uint32_t index) const;
    SluiceStreamFile file() const { return m_file; }

    // Submits a group. EndedGroup brings `key` back when the group has ended. Returns 0 if the
    // streamer is full; the caller then tries again in the next frame.
    SluiceStreamGroup submit(const std::vector<SluiceStreamRequest>& requests, int32_t priority,
                             GroupClass groupClass, uint64_t key);
    void setPriority(SluiceStreamGroup group, int32_t priority);
    void cancel(SluiceStreamGroup group);
    // Returns a request that reads a whole asset into `bytes`.
    SluiceStreamRequest readAsset(uint32_t index, std::vector<uint8_t>& bytes) const;
    // Reads a whole asset and waits for it. This is for scripts, without which nothing can start.
    std::vector<uint8_t> readAssetNow(uint32_t index);

    std::vector<EndedGroup> poll();
    // Records a batch. The submit of `commands` must signal the semaphore with `value`.
    SluiceStreamBatch record(VkCommandBuffer commands, float milliseconds, VkSemaphore semaphore,
                             uint64_t value);
    SluiceStreamCounters counters() const;
    size_t pending() const { return m_pending.size(); } // groups whose end poll() has not returned

    // Returns the milliseconds from submit to end of each group of the class that has ended.
    const std::vector<float>& latencies(GroupClass groupClass) const
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
    void createPipelines();
    void indexNames();
    void destroyAll();

    Device& m_device;
    SluiceContext m_context = nullptr;
    SluiceStreamGpu* m_gpu = nullptr;
    SluiceStreamer m_streamer = nullptr;
    SluiceStreamFile m_file = nullptr;
    std::thread m_pipelines; // makes the pipelines
    std::vector<Buffer> m_buffers;
    Names m_textures, m_maps, m_scripts;
    std::map<SluiceStreamGroup, Pending> m_pending;
    std::vector<float> m_latencies[uint32_t(GroupClass::count)];
    uint64_t m_failedGroups = 0;
};

} // namespace viewer
