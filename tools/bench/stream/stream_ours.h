// SPDX-License-Identifier: MIT OR Apache-2.0
// Streams archives by sluice_stream. The GPU, the CPU or both decode.
#pragma once

#include <deque>
#include <functional>

#include "tools/bench/stream/stream_content.h"
#include "tools/bench/stream/stream_engine.h"
#include "tools/bench/stream/stream_pass.h"

namespace sluice {

// The settings of a streamer.
struct StreamSetup {
    StreamEngine::Memory source = StreamEngine::Memory::host;
    uint64_t sourceSize = 0, outputSize = 0;
    uint32_t batchTiles = 0, tilesAtOnce = 0; // 0: the streamer's defaults
    uint64_t filteredSize = 0;
    uint32_t threads = 1;
    int32_t reserveAbove = 0;
    SluiceStreamSides sides = SLUICE_STREAM_GPU_FIRST;
};
// largeSetup returns rings and batches as large as memory allows, with which streaming is fastest.
// plainSetup returns rings of 64 MiB and the streamer's default batches.
StreamSetup largeSetup(const BenchDevice& device, uint32_t threads);
StreamSetup plainSetup(uint32_t threads);
// Returns the suffix that tells rows with this choice (who decodes) from those of the default,
// GPU_FIRST. For GPU_FIRST itself it is empty.
std::string nameOf(SluiceStreamSides sides);

// The predicted and the measured time of a batch.
struct StreamBatchTime {
    SluiceStreamBatch batch;
    double milliseconds;
};

// A streamer in the frame loop of an engine that does nothing else.
class BenchStreamer {
public:
    BenchStreamer(StreamEngine& engine, const StreamSetup& setup);
    ~BenchStreamer();
    BenchStreamer(const BenchStreamer&) = delete;
    BenchStreamer& operator=(const BenchStreamer&) = delete;

    SluiceStreamer get() const { return m_streamer; }
    // Opens archives, and waits until they are open. Throws a Failure.
    std::vector<SluiceStreamFile> open(const std::vector<std::string>& paths);
    void close(const std::vector<SluiceStreamFile>& files);

    // One iteration of the frame loop: polls, calls onEvent for each event, and records and submits
    // a batch if fewer than two are under way. Returns whether anything happened.
    bool turn(const std::function<void(const SluiceStreamEvent&)>& onEvent);
    // Waits a little for something to happen.
    void rest() const;

    SluiceStreamBudget budget{};
    // While a batch is under way, no batch of fewer tiles than this is recorded.
    uint32_t minTiles = 0;
    // If not null, receives the predicted and the measured time of every batch.
    std::vector<StreamBatchTime>* times = nullptr;
    uint64_t batchCount() const { return m_batchCount; }
    // Returns how long sluiceStreamRecord took so far, in calls that recorded something.
    double recordSeconds() const { return m_recordSeconds; }
    uint64_t recordedTiles() const { return m_recordedTiles; }
    double gpuMilliseconds() const { return m_gpuMilliseconds; } // of all batches
    // Returns the fraction of the bytes decoded since the last call that the CPU decoded.
    double takeCpuShare();

private:
    bool recordBatch();
    void collectTimes();

    StreamEngine& m_engine;
    SluiceStreamMemory m_source{}, m_output{}, m_control{}, m_results{};
    DeviceBuffer m_scratch;
    SluiceStreamer m_streamer = nullptr;
    uint64_t m_batchCount = 0, m_recordedTiles = 0;
    double m_recordSeconds = 0, m_gpuMilliseconds = 0;
    uint64_t m_cpuBytes = 0, m_gpuBytes = 0; // counters at the last call of takeCpuShare
    struct Pending {
        uint64_t value;
        SluiceStreamBatch batch;
    };
    std::deque<Pending> m_pending; // batches under way
};

// Assets of a file that form one group.
struct StreamGroupPlan {
    uint32_t firstAsset, assetCount; // range of StreamContent::assets
    uint64_t size;                   // bytes in StreamContent::plain
};
std::vector<StreamGroupPlan> planGroups(const StreamContent& content, uint64_t groupSize);

// Streams all assets of the files into a buffer, each group to the next free place. Calls onGroup,
// which may be empty, when a group ends, with the offset of its bytes. Throws a Failure unless all
// groups end OK.
using OnGroup = std::function<void(const StreamGroupPlan& group, uint64_t destinationOffset)>;
StreamPass streamToBuffer(BenchStreamer& streamer, const StreamContent& content,
                          const std::vector<SluiceStreamFile>& files,
                          const std::vector<StreamGroupPlan>& groups, SluiceBuffer destination,
                          const OnGroup& onGroup);

} // namespace sluice
