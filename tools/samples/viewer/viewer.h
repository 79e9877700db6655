// SPDX-License-Identifier: MIT OR Apache-2.0
// The viewer: how a frame is made, and the runs, which consist of frames.
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
    std::vector<std::string> maps; // maps to fly through in this order; empty: the first one
    bool isTour = false;           // fly through all maps
    double seconds = 0;            // length of the whole flight; 0: a default for each map
    uint64_t frames = 0;           // length of the flight in frames, 60 a second; 0: not given
    VkExtent2D size = {1280, 720};
    float budgetMilliseconds = 1;
    double loadMilliseconds = 0; // GPU time of the load (load.h) in each frame
    bool isAsync = false;        // batches are submitted beside the frames (stream_queue.h)
    double memoryMiB = 64;
    std::string context = "auto"; // where sluice decodes: "auto", "gpu" or "cpu"
    uint32_t ringMiB = 64;
    uint32_t threads = 2;
    std::string device, json, page, screenshot;
    std::string uastc = kUastcChoices[0];
    bool hasWindow = false, hasOverlay = false, isValidated = false, allowsBindless = true;
    bool keepsPace = false;     // draw no more than 60 frames a second, as on a display
    bool comparesTimes = false; // fly once more with everything in memory
    bool compares = false;      // compare the last frame with one that has all levels
    double teleportSeconds = 0;
};

class Viewer {
public:
    explicit Viewer(const Options& options);
    ~Viewer();
    Viewer(const Viewer&) = delete;
    Viewer& operator=(const Viewer&) = delete;

    // Does what the options ask for. Returns false if a comparison found a difference, if memory
    // grew, or if the validation layers complained.
    bool run();

private:
    void createDevice();
    void createStreaming();
    void chooseMaps();

    // A frame whose GPU times are not known yet, with everything else that is known of it.
    struct PendingSample {
        uint64_t frame;
        SluiceStreamBatch batch;
        FrameSample sample;
        bool isMeasured;
    };

    // Draws a frame of the current map, if there is one. If isMeasured is set, its times go to
    // m_samples.
    void tick(const Pose& pose, float budgetMilliseconds, bool isMeasured);
    void takeResult(const FrameResult& result);
    void takeBatches();
    void dispatchEvents();
    std::vector<std::string> overlayLines(const Pose& pose) const;

    // Begins to load a map; tick() goes on with it. The current map stays until enterNext().
    void beginMap(const std::string& name);
    // Makes the next map the current one. Returns false if there is none, or if it is not loaded.
    bool enterNext();
    void settleLoad();
    void loadMap(const std::string& name); // loads the map, waits for it and enters it
    void updateMaps();
    void keepPace(); // waits until it is time for the next frame
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
    std::unique_ptr<StreamQueue> m_queue; // null if batches are recorded into frames
    std::unique_ptr<Textures> m_textures;
    std::unique_ptr<LightmapSets> m_lightmaps;
    std::unique_ptr<Renderer> m_renderer;
    Materials m_materials;
    std::unique_ptr<Map> m_map, m_next;
    bool m_nextIsReady = false;
    std::chrono::steady_clock::time_point m_due;
    // Old maps, with the last frame that uses each.
    std::vector<std::pair<std::unique_ptr<Map>, uint64_t>> m_oldMaps;
    std::deque<PendingSample> m_pending;
    std::vector<FrameSample>* m_samples = nullptr;
    FrameSample m_last = {};
    float m_batchMilliseconds = 0; // GPU time of batches that ended since the last result
    Pose m_pose;
    bool m_isComparing = false; // if set, no text is drawn, since it would differ between frames
    bool m_isOpen = true;       // false once the window is closed
    Report m_report;
};

} // namespace viewer
