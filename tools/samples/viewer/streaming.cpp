// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/streaming.h"

#include <cstdio>
#include <cstring>
#include <thread>

#include "tools/samples/require.h"
#include "tools/samples/viewer/script.h"

namespace viewer {

using ::require; // the overload for SluiceStatus; the viewer has one for VkResult

namespace {

constexpr uint32_t kMaxGroups = 4096;
constexpr uint32_t kMaxRequests = 32768;
// The streamer reserves memory for groups of at least this priority (Residency::priority): those of
// tails (the smallest levels of a texture), and of levels that very many pixels lack.
constexpr int32_t kReserveAbove = 1 << 29;
// A batch has at least kMinTiles tiles, unless a tile has waited for more than kMaxAge frames.
constexpr uint32_t kMinTiles = 16, kMaxAge = 4;
constexpr uint64_t kMaxFileSize = uint64_t{256} << 20; // most bytes of a map or a script
constexpr size_t kMaxLatencies = 1 << 20;              // most latencies kept for each class

// Returns the offset in an asset's name of the path by which the game knows the file. The name may
// begin with the folder that was packed.
size_t gamePath(const std::string& name)
{
    for (size_t at = 0; at < name.size(); ++at) {
        if (at != 0 && name[at - 1] != '/') continue;
        for (const char* root :
             {"textures/", "models/", "maps/", "scripts/", "gfx/", "env/", "sprites/"})
            if (name.compare(at, std::strlen(root), root) == 0) return at;
    }
    return 0;
}

bool endsWith(const std::string& text, const std::string& end)
{
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

Streaming::Streaming(Device& device, const StreamingOptions& options) : m_device(device)
{
    try {
        createContext(options.decodesOnGpu);
        createStreamer(options);
        open(options.archive);
        indexNames();
    } catch (...) {
        destroyAll();
        throw;
    }
}

Streaming::~Streaming() { destroyAll(); }

void Streaming::stop()
{
    sluiceDestroyStreamer(m_streamer);
    m_streamer = nullptr;
}

void Streaming::destroyAll()
{
    stop();
    if (m_pipelines.joinable()) m_pipelines.join();
    sluiceDestroyStreamVulkan(m_gpu);
    sluiceDestroyContext(m_context);
    for (const Buffer& buffer : m_buffers)
        m_device.engine().release(buffer);
}

void Streaming::createContext(bool decodesOnGpu)
{
    require(sluiceCreateStreamVulkan(&m_device.engine().info(), &m_gpu),
            "sluiceCreateStreamVulkan");
    if (!decodesOnGpu) {
        require(sluiceCreateCpuContext(&m_context), "sluiceCreateCpuContext");
        return;
    }
    SluiceVulkanContextInfo info = {};
    info.getInstanceProcAddr = vkGetInstanceProcAddr;
    info.instance = m_device.instance();
    info.physicalDevice = m_device.physical();
    info.device = m_device.get();
    info.apiVersion = m_device.apiVersion();
    info.enabledFeatures = m_device.enabledFeatures();
    const char* why = nullptr;
    const SluiceStatus status = sluiceCreateVulkanContext(&info, &m_context, &why);
    if (status == SLUICE_ERROR_UNSUPPORTED) throw NoDevice(std::string("no GPU context: ") + why);
    require(status, "sluiceCreateVulkanContext");
}

void Streaming::createStreamer(const StreamingOptions& options)
{
    SluiceStreamerInfo info = {};
    info.context = m_context;
    info.gpu = m_gpu;
    info.maxGroups = kMaxGroups;
    info.maxRequests = kMaxRequests;
    info.maxBatches = kMaxBatches;
    info.threads = options.threads;
    info.reserveAbove = kReserveAbove;
    SluiceStreamerRequirements needs = {};
    require(sluiceGetStreamerRequirements(&info, &needs), "sluiceGetStreamerRequirements");
    const auto make = [this](uint64_t size, Memory kind) -> SluiceStreamMemory {
        if (size == 0) return {};
        m_buffers.push_back(m_device.engine().allocate(size, kind));
        return m_buffers.back();
    };
    const uint64_t ring = uint64_t{options.ringMiB} << 20;
    info.source = make(ring, Memory::host);
    // The streamer's threads decode too if they can write to the output ring, so ask for that.
    info.output = make(ring, options.decodesOnGpu ? Memory::mapped : Memory::host);
    info.control = make(needs.controlSize, Memory::upload);
    info.results = make(needs.resultsSize, Memory::host);
    info.scratch = make(needs.scratchSize, Memory::local).buffer;
    require(sluiceCreateStreamer(&info, &m_streamer), "sluiceCreateStreamer");
}

void Streaming::open(const std::string& path)
{
    SluiceStreamOpenInfo info = {};
    info.path = path.c_str();
    info.isArchive = 1;
    require(sluiceStreamOpen(m_streamer, &info, &m_file), "sluiceStreamOpen");
    SluiceStreamEvent event = {};
    for (uint32_t count = 0; count == 0;) {
        count = 1;
        require(sluiceStreamPoll(m_streamer, &event, &count), "sluiceStreamPoll");
        if (count == 0) std::this_thread::yield();
    }
    require(event.status, path.c_str());
    createPipelines();
}

// Makes all pipelines that this archive may need, in a thread. Until they are there, the streamer's
// threads decode.
void Streaming::createPipelines()
{
    SluicePipelinesInfo pipelines = {};
    require(sluiceStreamGetKernels(m_file, &pipelines.kernels), "sluiceStreamGetKernels");
    if (pipelines.kernels == 0) return;
    m_pipelines = std::thread([this, pipelines] {
        const SluiceStatus status = sluiceCreatePipelines(m_context, &pipelines, nullptr);
        if (status != SLUICE_OK)
            std::fprintf(stderr, "viewer: no pipelines, so that threads decode: %s\n",
                         sluiceGetStatusText(status));
    });
}

SluiceArchiveAsset Streaming::asset(uint32_t index) const
{
    SluiceArchiveAsset asset = {};
    require(sluiceStreamGetAsset(m_file, index, &asset), "sluiceStreamGetAsset");
    return asset;
}

void Streaming::indexNames()
{
    SluiceArchive archive = {};
    require(sluiceStreamGetArchive(m_file, &archive), "sluiceStreamGetArchive");
    for (uint32_t i = 0; i < archive.assetCount; ++i) {
        const SluiceArchiveAsset about = asset(i);
        const std::string packed(about.name, about.nameLength);
        const std::string name = packed.substr(gamePath(packed));
        SluiceImageInfo image = {};
        SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
        if (sluiceGetArchiveImage(&about, &image, levels) == SLUICE_OK &&
            image.container != SLUICE_IMAGE_NONE)
            m_textures[textureName(name)] = i;
        else if (endsWith(name, ".bsp"))
            m_maps[textureName(name.substr(name.rfind('/') + 1))] = i;
        else if (endsWith(name, ".shader"))
            m_scripts[textureName(name)] = i;
    }
}

SluiceStreamGroup Streaming::submit(const std::vector<SluiceStreamRequest>& requests,
                                    int32_t priority, GroupClass groupClass, uint64_t key)
{
    SluiceStreamGroupInfo info = {};
    info.requests = requests.data();
    info.requestCount = uint32_t(requests.size());
    info.priority = priority;
    SluiceStreamGroup group = 0;
    const SluiceStatus status = sluiceStreamSubmit(m_streamer, &info, &group);
    if (status == SLUICE_ERROR_FULL) return 0;
    require(status, "sluiceStreamSubmit");
    m_pending[group] = {groupClass, key, Clock::now()};
    return group;
}

void Streaming::setPriority(SluiceStreamGroup group, int32_t priority)
{
    require(sluiceStreamSetPriority(m_streamer, group, priority), "sluiceStreamSetPriority");
}

void Streaming::cancel(SluiceStreamGroup group)
{
    require(sluiceStreamCancel(m_streamer, group), "sluiceStreamCancel");
}

SluiceStreamRequest Streaming::readAsset(uint32_t index, std::vector<uint8_t>& bytes) const
{
    SluiceStreamRequest request = {};
    request.source = SLUICE_STREAM_FROM_ARCHIVE;
    request.target = SLUICE_STREAM_TO_HOST;
    request.file = m_file;
    request.asset = index;
    request.size = asset(index).size;
    if (request.size > kMaxFileSize) throw std::runtime_error("a file is too large");
    bytes.resize(size_t(request.size));
    request.host = bytes.data();
    return request;
}

std::vector<uint8_t> Streaming::readAssetNow(uint32_t index)
{
    std::vector<uint8_t> bytes;
    if (submit({readAsset(index, bytes)}, 0, GroupClass::script, 0) == 0)
        throw std::runtime_error("the streamer is full");
    std::vector<EndedGroup> ended;
    while (ended.empty()) {
        std::this_thread::yield();
        ended = poll();
    }
    require(ended[0].status, "reading an asset");
    return bytes;
}

std::vector<EndedGroup> Streaming::poll()
{
    std::vector<EndedGroup> ended;
    SluiceStreamEvent events[64];
    uint32_t count = 64;
    while (count == 64) {
        require(sluiceStreamPoll(m_streamer, events, &count), "sluiceStreamPoll");
        for (uint32_t i = 0; i < count; ++i) {
            const SluiceStreamEvent& event = events[i];
            const auto found = m_pending.find(event.group);
            if (event.kind != SLUICE_STREAM_END || found == m_pending.end()) continue;
            const Pending& pending = found->second;
            ended.push_back({pending.groupClass, pending.key, event.status});
            const float waited =
                std::chrono::duration<float, std::milli>(Clock::now() - pending.since).count();
            auto& latencies = m_latencies[uint32_t(pending.groupClass)];
            const bool isCancelled = event.status == SLUICE_ERROR_CANCELLED;
            if (event.status != SLUICE_OK && !isCancelled) {
                ++m_failedGroups;
                std::fprintf(stderr, "viewer: a group of class %s failed: %s\n",
                             kGroupClassNames[uint32_t(pending.groupClass)],
                             sluiceGetStatusText(event.status));
            } else if (!isCancelled && latencies.size() < kMaxLatencies) {
                latencies.push_back(waited);
            }
            m_pending.erase(found);
        }
    }
    return ended;
}

SluiceStreamBatch Streaming::record(VkCommandBuffer commands, float milliseconds,
                                    VkSemaphore semaphore, uint64_t value)
{
    SluiceStreamBudget budget = {};
    budget.milliseconds = milliseconds;
    budget.minTiles = kMinTiles;
    budget.maxAge = kMaxAge;
    budget.semaphore = sluiceStreamSemaphoreHandle(semaphore);
    budget.value = value;
    SluiceStreamBatch batch = {};
    require(sluiceStreamRecord(m_streamer, sluiceVulkanCommands(commands), &budget, &batch),
            "sluiceStreamRecord");
    return batch;
}

SluiceStreamCounters Streaming::counters() const
{
    SluiceStreamCounters counters = {};
    require(sluiceStreamGetCounters(m_streamer, &counters), "sluiceStreamGetCounters");
    return counters;
}

} // namespace viewer
