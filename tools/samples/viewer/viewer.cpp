// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/viewer.h"

#include <algorithm>
#include <cfloat>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include <unistd.h>

#include "tools/samples/viewer/picture.h"

namespace viewer {

namespace {

using Clock = std::chrono::steady_clock;

// If nothing has changed for this many frames of a still camera, nothing will change any more: by
// then every pixel has reported which levels it wants, and levels that were wanted only before the
// camera stopped are no longer wanted.
constexpr uint32_t kSettledFrames = ResidencySettings{}.lowerAfter + 3 * kPatterns;
// The default number of seconds of a flight through one map, and of a tour for each map.
constexpr double kSecondsOfMap = 20, kSecondsOfTour = 4;
// How many seconds the viewer waits for maps, textures or groups before it gives up.
constexpr double kPatience = 300;
// How many seconds the viewer waits until the artificial GPU load (load.h) takes the wanted time.
constexpr double kLoadPatience = 60;
constexpr std::chrono::nanoseconds kFrameTime(std::nano::den / kStepsPerSecond);
constexpr uint32_t kTeleportSteps = 30; // steps from one random jump to the next
constexpr uint32_t kMapTeleports = 12;  // random jumps until the map changes

double secondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string formatted(const char* format, double a, double b, double c)
{
    char buffer[160];
    std::snprintf(buffer, sizeof buffer, format, a, b, c);
    return buffer;
}

uint64_t processBytes()
{
    unsigned long pages = 0, resident = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    const bool isRead = file != nullptr && std::fscanf(file, "%lu %lu", &pages, &resident) == 2;
    if (file != nullptr) std::fclose(file);
    if (!isRead) throw std::runtime_error("/proc/self/statm cannot be read");
    return uint64_t{resident} * uint64_t(sysconf(_SC_PAGESIZE));
}

double mib(uint64_t bytes) { return double(bytes) / 1048576; }

} // namespace

Viewer::Viewer(const Options& options) : m_options(options)
{
    createDevice();
    createStreaming();
    chooseMaps();
    for (const auto& [name, asset] : m_streaming->scripts()) {
        const std::vector<uint8_t> bytes = m_streaming->readAssetNow(asset);
        readScript(std::string(bytes.begin(), bytes.end()), m_materials);
    }
    ResidencySettings residency;
    residency.budget = uint64_t(options.memoryMiB * 1048576);
    m_textures = std::make_unique<Textures>(*m_device, *m_streaming, residency, options.uastc);
    m_lightmaps = std::make_unique<LightmapSets>(*m_device);
    m_renderer = std::make_unique<Renderer>(*m_device, *m_textures, *m_lightmaps, options.size);
}

void Viewer::createDevice()
{
    DeviceOptions device;
    device.name = m_options.device;
    device.isValidated = m_options.isValidated;
    device.allowsBindless = m_options.allowsBindless;
    device.wantsStreamingQueue = m_options.isAsync;
    if (m_options.hasWindow) {
        m_window = Window::open(m_options.size);
        device.instanceExtensions = m_window->instanceExtensions();
        device.makeSurface = [this](VkInstance instance) {
            return m_window->makeSurface(instance);
        };
    }
    m_device = std::make_unique<Device>(device);
    if (m_window) m_window->setDevice(*m_device);
}

void Viewer::createStreaming()
{
    // On a software device (a CPU), sluice's plain CPU code is faster than its Vulkan kernels.
    m_decodesOnGpu =
        m_options.context == "gpu" || (m_options.context == "auto" && !m_device->isSoftware());
    StreamingOptions streaming;
    streaming.archive = m_options.archive;
    streaming.decodesOnGpu = m_decodesOnGpu;
    streaming.ringMiB = m_options.ringMiB;
    streaming.threads = m_options.threads;
    m_streaming = std::make_unique<Streaming>(*m_device, streaming);
    if (m_options.isAsync) m_queue = std::make_unique<StreamQueue>(*m_device);
}

void Viewer::chooseMaps()
{
    const bool isTour = m_options.isTour;
    for (const auto& [name, asset] : m_streaming->maps())
        if (isTour || m_options.maps.empty()) m_options.maps.push_back(name);
    if (m_options.maps.empty()) throw std::runtime_error("the archive has no map");
    const size_t count = m_options.maps.size();
    const double seconds = m_options.seconds > 0 ? m_options.seconds
                           : count == 1          ? kSecondsOfMap
                                                 : kSecondsOfTour * double(count);
    const uint64_t steps =
        m_options.frames != 0 ? m_options.frames : uint64_t(seconds * kStepsPerSecond);
    m_stepsOfMap = std::max<uint64_t>(steps / count, 1);
}

Viewer::~Viewer()
{
    // Until it is stopped, the streamer may write into memory that maps own.
    if (m_renderer) m_renderer->waitIdle();
    if (m_streaming) m_streaming->stop();
    m_map.reset();
    m_next.reset();
    m_oldMaps.clear();
    m_renderer.reset();
    m_lightmaps.reset();
    m_textures.reset();
    m_streaming.reset();
    m_queue.reset();
    m_window.reset();
}

void Viewer::takeResult(const FrameResult& result)
{
    if (result.frame == 0) return;
    m_textures->feedback(result.levels, result.pixels, result.frame);
    while (!m_pending.empty() && m_pending.front().frame <= result.frame) {
        PendingSample& pending = m_pending.front();
        if (pending.frame == result.frame) {
            pending.sample.milliseconds = float(result.milliseconds);
            pending.sample.streamingMilliseconds =
                m_queue ? m_batchMilliseconds : float(result.streamingMilliseconds);
            m_batchMilliseconds = 0;
            m_last = pending.sample;
            if (pending.isMeasured && m_samples != nullptr) m_samples->push_back(pending.sample);
            if (pending.isMeasured && pending.batch.number != 0)
                m_report.batches.push_back({pending.batch.predictedMilliseconds,
                                            float(result.streamingMilliseconds),
                                            pending.batch.bytesOut});
        }
        m_pending.pop_front();
    }
}

// Adds the times of batches that have ended outside frames to the report.
void Viewer::takeBatches()
{
    for (const StreamQueue::Ended& batch : m_queue->takeEnded()) {
        m_batchMilliseconds += batch.sample.measured;
        if (batch.isMeasured) m_report.batches.push_back(batch.sample);
    }
}

void Viewer::dispatchEvents()
{
    for (const EndedGroup& group : m_streaming->poll()) {
        if (group.groupClass == GroupClass::map) {
            if (m_next) m_next->ended(group);
        } else {
            m_textures->ended(group);
        }
    }
}

std::vector<std::string> Viewer::overlayLines(const Pose& pose) const
{
    const SluiceStreamCounters counters = m_streaming->counters();
    const auto& latencies = m_streaming->latencies(GroupClass::level);
    return {formatted("frame %6.2f ms, streaming %5.2f of %5.2f", double(m_last.milliseconds),
                      double(m_last.streamingMilliseconds), double(m_options.budgetMilliseconds)),
            formatted("images %6.1f mib of %6.1f, wanted %6.1f", mib(m_textures->usedBytes()),
                      m_options.memoryMiB, mib(m_textures->wantedBytes())),
            formatted("queue %3.0f groups, %3.0f textures wait, bias %1.0f", counters.groups,
                      m_textures->missing(), m_textures->bias()),
            formatted("read %7.1f mib, decoded %7.1f, last level %6.1f ms", mib(counters.bytesRead),
                      mib(counters.bytesDecoded),
                      latencies.empty() ? 0.0 : double(latencies.back())),
            m_map->name() + formatted(" at %6.0f %6.0f %6.0f", double(pose.position[0]),
                                      double(pose.position[1]), double(pose.position[2]))};
}

void Viewer::tick(const Pose& pose, float budgetMilliseconds, bool isMeasured)
{
    if (m_window && !m_window->handleEvents()) m_isOpen = false;
    FrameResult result;
    const VkCommandBuffer commands = m_renderer->begin(result);
    if (m_queue) takeBatches();
    takeResult(result);
    dispatchEvents();
    // The semaphore value of the newest batch that has ended. This frame has to wait for it: the
    // events above have put new textures into use, and batches up to this value have loaded them.
    const uint64_t streamed = m_queue ? m_queue->finished() : 0;
    updateMaps();
    const uint64_t frame = m_renderer->frame();
    m_textures->update(commands, frame, m_renderer->finishedFrame());
    m_renderer->streamingBegins();
    SluiceStreamBatch batch = {};
    if (m_queue)
        m_queue->submit(*m_streaming, budgetMilliseconds, isMeasured);
    else
        batch = m_streaming->record(commands, budgetMilliseconds, m_renderer->semaphore(), frame);
    m_renderer->streamingEnds();
    const bool hasOverlay = m_options.hasOverlay && m_map != nullptr && !m_isComparing;
    m_renderer->draw(m_map.get(), pose,
                     hasOverlay ? overlayLines(pose) : std::vector<std::string>{});
    Renderer::Sync sync = {};
    if (m_queue) {
        sync.streamed = m_queue->semaphore();
        sync.streamedValue = streamed;
    }
    if (m_window)
        m_window->blit(commands, m_renderer->image(), m_renderer->size(), sync.acquired,
                       sync.drawn);
    m_renderer->submit(sync);
    if (m_window) m_window->present();
    const SluiceStreamCounters counters = m_streaming->counters();
    m_pending.push_back({frame,
                         batch,
                         {0, 0, m_textures->usedBytes(), m_textures->wantedBytes(), counters.groups,
                          m_textures->missing(), m_textures->byLevel()},
                         isMeasured});
    m_pose = pose;
}

void Viewer::beginMap(const std::string& name)
{
    m_next = std::make_unique<Map>(*m_device, *m_streaming, *m_textures, *m_lightmaps, m_materials,
                                   name);
}

// Continues to load the next map, and frees old maps that no frame uses any more.
void Viewer::updateMaps()
{
    const uint64_t finished = m_renderer->finishedFrame();
    m_oldMaps.erase(std::remove_if(m_oldMaps.begin(), m_oldMaps.end(),
                                   [&](const auto& old) { return old.second <= finished; }),
                    m_oldMaps.end());
    m_nextIsReady = m_next && m_next->update();
}

bool Viewer::enterNext()
{
    if (!m_next || !m_nextIsReady) return false;
    if (m_map) {
        m_map->setInUse(false);
        m_oldMaps.emplace_back(std::move(m_map), m_renderer->frame());
    }
    m_map = std::move(m_next);
    m_map->setInUse(true); // after setInUse(false), since both maps may use the same texture
    return true;
}

void Viewer::loadMap(const std::string& name)
{
    if (m_map && m_map->name() == name) return;
    beginMap(name);
    const auto begin = Clock::now();
    while (m_isOpen && !enterNext()) {
        if (secondsSince(begin) > kPatience)
            throw std::runtime_error("map " + name + " does not come");
        tick(m_pose, FLT_MAX, false);
    }
}

void Viewer::keepPace()
{
    if (!m_options.keepsPace) return;
    std::this_thread::sleep_until(m_due);
    m_due = std::max(m_due, Clock::now() - kFrameTime) + kFrameTime;
}

void Viewer::fly()
{
    m_samples = &m_report.streamed;
    loadMap(m_options.maps[0]);
    const uint64_t count = m_options.maps.size();
    const uint64_t steps = m_stepsOfMap;
    for (uint64_t i = 0; i < count && m_isOpen; ++i) {
        const std::string next = i + 1 < count ? m_options.maps[i + 1] : "";
        auto clock = Clock::now();
        uint64_t step = 0;
        // The next map is loaded while the camera flies through this one; the flight goes on until
        // it is loaded.
        while (m_isOpen && (step < steps || !(next.empty() || enterNext()))) {
            keepPace();
            tick(m_map->flight().at(step), m_options.budgetMilliseconds, true);
            if (step >= steps / 2 && !m_next && !next.empty()) beginMap(next);
            // In a window, the flight lasts for a time; without a window, for a number of frames.
            step = m_window ? uint64_t(secondsSince(clock) * kStepsPerSecond) : step + 1;
        }
    }
}

// Flies once more, with all levels of all textures of the map in memory from the beginning.
void Viewer::flyResident()
{
    const size_t batches = m_report.batches.size();
    m_textures->wantEverything(true);
    const uint64_t steps = m_stepsOfMap;
    m_samples = &m_report.resident;
    for (const std::string& name : m_options.maps) {
        loadMap(name);
        settle(m_map->flight().at(0));
        for (uint64_t step = 0; step < steps && m_isOpen; ++step) {
            keepPace();
            tick(m_map->flight().at(step), 0, true);
        }
    }
    for (uint32_t i = 0; i < kFramesInFlight; ++i) // until the last frames' GPU times are known
        tick(m_pose, 0, false);
    m_report.batches.resize(batches);
    m_textures->wantEverything(false);
}

void Viewer::settle(const Pose& pose)
{
    const auto begin = Clock::now();
    for (uint32_t settled = 0; settled < kSettledFrames && m_isOpen;) {
        tick(pose, FLT_MAX, false);
        settled = m_textures->isSettled() ? settled + 1 : 0;
        if (secondsSince(begin) > kPatience) throw std::runtime_error("the textures do not settle");
    }
}

// Draws the last frame of the flight with the levels that streaming has loaded, and with all levels
// of all textures, and compares both.
bool Viewer::compare()
{
    m_isComparing = true;
    settle(m_pose);
    m_report.comparison.reducedTextures = m_textures->reduced();
    const std::vector<uint8_t> streamed = m_renderer->readPixels();
    m_textures->wantEverything(true);
    settle(m_pose);
    const std::vector<uint8_t> resident = m_renderer->readPixels();
    m_textures->wantEverything(false);
    m_isComparing = false;
    m_report.comparison.wasMade = true;
    for (size_t i = 0; i < streamed.size(); ++i)
        m_report.comparison.differentBytes += streamed[i] != resident[i] ? 1 : 0;
    std::printf("compare: %llu of %zu bytes differ, %u textures of %u lacked levels\n",
                static_cast<unsigned long long>(m_report.comparison.differentBytes),
                streamed.size(), m_report.comparison.reducedTextures, m_textures->count() - 1);
    return m_report.comparison.differentBytes == 0;
}

// Jumps to a random place twice a second, and to another map now and then.
bool Viewer::teleport()
{
    m_samples = nullptr;
    loadMap(m_options.maps[0]);
    const auto begin = Clock::now();
    uint32_t step = 0, jump = 0;
    while (m_isOpen && secondsSince(begin) < m_options.teleportSeconds) {
        if (step++ % kTeleportSteps == 0) ++jump;
        if (step % (kTeleportSteps * kMapTeleports) == 0 && !m_next) {
            const size_t other = jump * size_t{2654435761u} % m_options.maps.size();
            if (m_options.maps[other] != m_map->name()) beginMap(m_options.maps[other]);
        }
        enterNext();
        keepPace();
        tick(m_map->flight().random(jump), m_options.budgetMilliseconds, false);
        if (secondsSince(begin) >= double(m_report.memory.size()))
            m_report.memory.push_back(
                {float(secondsSince(begin)), processBytes(), m_device->allocatedBytes()});
    }
    const bool stoodStill = isFlat(m_report.memory);
    std::printf("teleports: memory %s, process %.1f MiB, device %.1f MiB\n",
                stoodStill ? "flat" : "not flat", mib(processBytes()),
                mib(m_device->allocatedBytes()));
    return stoodStill;
}

void Viewer::finishGroups()
{
    const auto begin = Clock::now();
    while (m_next || m_streaming->pending() != 0) {
        enterNext();
        tick(m_pose, FLT_MAX, false);
        if (secondsSince(begin) > kPatience) throw std::runtime_error("groups do not end");
    }
}

void Viewer::fillReport()
{
    Report& report = m_report;
    const SluiceStreamCounters counters = m_streaming->counters();
    const TextureCounts& counts = m_textures->counts();
    report.device = m_device->properties().deviceName;
    report.context = m_decodesOnGpu ? "GPU" : "CPU";
    for (const std::string& map : m_options.maps)
        report.maps += (report.maps.empty() ? "" : " ") + map;
    report.queue = !m_queue ? "frames" : m_device->hasStreamingQueue() ? "own" : "shared";
    report.isBindless = m_device->isBindless();
    report.hasTimestamps = m_device->millisecondsPerTick() != 0;
    report.width = m_options.size.width;
    report.height = m_options.size.height;
    report.budgetMilliseconds = m_options.budgetMilliseconds;
    report.budgetBytes = uint64_t(m_options.memoryMiB * 1048576);
    for (uint32_t i = uint32_t(GroupClass::map); i < uint32_t(GroupClass::count); ++i)
        report.latencies.push_back({kGroupClassNames[i], m_streaming->latencies(GroupClass(i))});
    report.floorMilliseconds = counters.floorMilliseconds;
    report.textures = m_textures->count() - 1;
    report.bias = m_textures->bias();
    report.raised = counts.raised;
    report.lowered = counts.lowered;
    report.cancelled = counts.cancelled;
    report.damaged = counts.damaged;
    report.peakImageBytes = counts.peakBytes;
    report.bytesRead = counters.bytesRead;
    report.bytesDecoded = counters.bytesDecoded;
    report.wastedBytes = counters.wastedBytes;
    report.deviceBytes = m_device->allocatedBytes();
    report.failedGroups = m_streaming->failedGroups();
    report.validationErrors = m_device->validationErrors();
}

// Draws frames without a map until the load takes the time that was asked for.
void Viewer::settleLoad()
{
    if (m_device->millisecondsPerTick() == 0)
        throw std::runtime_error("--gpu-load: this device has no timestamps to measure it by");
    m_renderer->addLoad(m_options.loadMilliseconds);
    const auto begin = Clock::now();
    while (m_isOpen && !m_renderer->load()->isSettled()) {
        tick(m_pose, 0, false);
        if (secondsSince(begin) > kLoadPatience)
            throw std::runtime_error("--gpu-load: the device's times do not settle");
    }
    m_report.loadMilliseconds = float(m_renderer->load()->milliseconds());
}

bool Viewer::run()
{
    bool isGood = true;
    if (m_options.loadMilliseconds > 0) settleLoad();
    if (m_options.teleportSeconds > 0)
        isGood = teleport();
    else
        fly();
    if (m_isOpen && !m_options.screenshot.empty()) {
        settle(m_pose);
        writePicture(m_options.screenshot, m_options.size.width, m_options.size.height,
                     m_renderer->readPixels());
    }
    fillReport(); // before the comparisons: the report is about the flight alone
    if (m_isOpen && m_options.compares) isGood = compare() && isGood;
    if (m_isOpen && m_options.comparesTimes) flyResident();
    finishGroups();
    m_report.validationErrors = m_device->validationErrors();
    if (!m_options.json.empty()) writeFile(m_options.json, jsonOf(m_report));
    if (!m_options.page.empty()) writeFile(m_options.page, pageOf(m_report));
    return isGood && m_report.validationErrors == 0;
}

} // namespace viewer
