// SPDX-License-Identifier: MIT OR Apache-2.0
// Archives through sluice_stream, decoded by the GPU.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "tools/bench/stream/stream_content.h"
#include "tools/bench/stream/stream_engine.h"
#include "tools/bench/stream/stream_pass.h"

namespace sluice {

// Holds what a streamer gets.
struct StreamSetup {
    StreamEngine::Memory source = StreamEngine::Memory::host;
    uint64_t sourceSize = 0, outputSize = 0;
    uint32_t batchTiles = 0, tilesAtOnce = 0; // 0: the streamer's defaults
    uint64_t filteredSize = 0;
    uint32_t threads = 1;
    int32_t reserveAbove = 0;
};
// All that helps, as far as the device's memory goes; and what sluice_stream.h starts from.
StreamSetup largeSetup(const BenchDevice& device, uint32_t threads);
StreamSetup plainSetup(uint32_t threads);

// The predicted and the measured time of a batch.
struct StreamBatchTime {
    SluiceStreamBatch batch;
    double milliseconds;
};

// A streamer with the frames of an engine that does nothing else.
class BenchStreamer {
public:
    BenchStreamer(StreamEngine& engine, const StreamSetup& setup);
    ~BenchStreamer();
    BenchStreamer(const BenchStreamer&) = delete;
    BenchStreamer& operator=(const BenchStreamer&) = delete;

    SluiceStreamer get() const { return m_streamer; }
    // Opens archives and waits until they are open. Throws a Failure.
    std::vector<SluiceStreamFile> open(const std::vector<std::string>& paths);
    void close(const std::vector<SluiceStreamFile>& files);

    // One turn of a frame loop: polls, calls onEvent for each event, and records and submits a
    // batch if fewer than two are under way. Returns whether anything happened.
    bool turn(const std::function<void(const SluiceStreamEvent&)>& onEvent);
    // Waits a little for the next event.
    void rest() const;

    SluiceStreamBudget budget{};
    // Batches of fewer tiles wait while other batches are under way.
    uint32_t minTiles = 0;
    // If this is not nullptr, every batch is added to it.
    std::vector<StreamBatchTime>* times = nullptr;
    uint64_t batchCount() const { return m_batchCount; }
    // Returns the time that sluiceStreamRecord has taken so far, where it recorded something.
    double recordSeconds() const { return m_recordSeconds; }
    uint64_t recordedTiles() const { return m_recordedTiles; }
    double gpuMilliseconds() const { return m_gpuMilliseconds; } // of all batches

private:
    bool recordBatch();
    void collectTimes();

    StreamEngine& m_engine;
    SluiceStreamMemory m_source{}, m_control{}, m_results{};
    DeviceBuffer m_output, m_scratch;
    SluiceStreamer m_streamer = nullptr;
    uint64_t m_batchCount = 0, m_recordedTiles = 0;
    double m_recordSeconds = 0, m_gpuMilliseconds = 0;
    struct Pending {
        uint64_t value;
        SluiceStreamBatch batch;
    };
    std::deque<Pending> m_pending; // frames under way
};

// Some of a file's assets that form one group.
struct StreamGroupPlan {
    uint32_t firstAsset, assetCount; // of StreamContent::assets
    uint64_t size;                   // of StreamContent::plain
};
std::vector<StreamGroupPlan> planGroups(const StreamContent& content, uint64_t groupSize);

// Streams all assets of the files into a buffer. Each group goes to the next place of the
// destination. When a group ends, this calls onGroup, which may be empty, with the offset of its
// bytes. Throws a Failure if a group does not end OK.
using OnGroup = std::function<void(const StreamGroupPlan& group, uint64_t destinationOffset)>;
StreamPass streamToBuffer(BenchStreamer& streamer, const StreamContent& content,
                          const std::vector<SluiceStreamFile>& files,
                          const std::vector<StreamGroupPlan>& groups, SluiceBuffer destination,
                          const OnGroup& onGroup);

} // namespace sluice
