// SPDX-License-Identifier: MIT OR Apache-2.0
// The viewer: one frame, and the runs that consist of frames.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tools/samples/viewer/map.h"
#include "tools/samples/viewer/renderer.h"
#include "tools/samples/viewer/report.h"
#include "tools/samples/viewer/stream_queue.h"
#include "tools/samples/viewer/window.h"

namespace viewer {

struct Options {
    std::string archive;
    std::vector<std::string> maps; // maps to fly through, one after the other; none: the first
    bool isTour = false;           // all maps
    double seconds = 0;            // of the whole flight; 0: some for each map
    uint64_t frames = 0;           // length of the flight in frames, 60 per second
    VkExtent2D size = {1280, 720};
    float budgetMilliseconds = 1;
    bool isAsync = false; // batches in submits of their own, beside the frames
    double memoryMiB = 64;
    std::string context = "auto"; // or "gpu", "cpu"
    uint32_t ringMiB = 64;
    uint32_t threads = 2;
    std::string device, json, page, screenshot;
    bool hasWindow = false, hasOverlay = false, isValidated = false, allowsBindless = true;
    bool keepsPace = false;     // 60 frames per second, as on a display
    bool comparesTimes = false; // flies again with everything resident
    bool compares = false;
    double teleportSeconds = 0;
};

class Viewer {
public:
    explicit Viewer(const Options& options);
    ~Viewer();
    Viewer(const Viewer&) = delete;
    Viewer& operator=(const Viewer&) = delete;

    // Does everything that the options ask for. Returns false if a comparison found a difference,
    // if memory grew or if the validation layers complained.
    bool run();

private:
    void createDevice();
    void createStreaming();
    void chooseMaps();

    // Holds what there is to know of a frame when its times have come.
    struct PendingSample {
        uint64_t frame;
        SluiceStreamBatch batch;
        FrameSample sample;
        bool isMeasured;
    };

    // Draws one frame of the current map, if there is one. If isMeasured, its times go to
    // m_samples.
    void tick(const Pose& pose, float budgetMilliseconds, bool isMeasured);
    void takeResult(const FrameResult& result);
    void takeBatches();
    void dispatchEvents();
    std::vector<std::string> overlayLines(const Pose& pose) const;

    // Starts to load a map; tick() continues loading. The current map stays until enterNext().
    void beginMap(const std::string& name);
    bool enterNext();                      // false: there is no next map, or it is not loaded
    void loadMap(const std::string& name); // and waits for it, without a budget
    void updateMaps();
    void keepPace(); // waits until the next frame is due
    void finishGroups();

    void fly();
    void flyResident();
    void settle(const Pose& pose);
    bool compare();
    bool teleport();
    void fillReport();

    Options m_options;
    uint64_t m_stepsOfMap = 0;
    bool m_decodesOnGpu = false;
    std::unique_ptr<Window> m_window;
    std::unique_ptr<Device> m_device;
    std::unique_ptr<Streaming> m_streaming;
    std::unique_ptr<StreamQueue> m_queue; // null if batches are in frames
    std::unique_ptr<Textures> m_textures;
    std::unique_ptr<LightmapSets> m_lightmaps;
    std::unique_ptr<Renderer> m_renderer;
    Materials m_materials;
    std::unique_ptr<Map> m_map, m_next;
    bool m_nextIsReady = false;
    std::chrono::steady_clock::time_point m_due;
    std::vector<std::pair<std::unique_ptr<Map>, uint64_t>> m_oldMaps; // the last frame with each
    std::deque<PendingSample> m_pending;
    std::vector<FrameSample>* m_samples = nullptr;
    FrameSample m_last = {};
    float m_batchMilliseconds = 0; // of batches that ended outside frames since the last result
    Pose m_pose;
    bool m_isComparing = false; // leaves out the text, which differs
    bool m_isOpen = true;       // the window, if there is one
    Report m_report;
};

} // namespace viewer
