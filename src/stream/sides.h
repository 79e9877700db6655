// SPDX-License-Identifier: MIT OR Apache-2.0
// Keeps what is known of the two sides that decode, the GPU and the CPU's threads: which of them
// may decode a tile at all, how fast they are, what they have to do, and what they have done.
// side_policy.h decides by this which of them takes from the line.
#pragma once

#include <limits>

#include "stream/monitor.h"
#include "stream/side_policy.h"
#include "stream/tile_costs.h"
#include "stream/work.h"

namespace sluice::stream {

// Return whether a GPU may decode for buffers and images, and whether threads may.
bool gpuMayDecode(const SluiceStreamerInfo& info);
bool cpuMayDecode(const SluiceStreamerInfo& info);

class Sides {
public:
    // `info` outlives the object.
    explicit Sides(const SluiceStreamerInfo& info);

    // Returns whether units go to a line that both sides take from.
    bool areBoth() const { return m_hasGpu && m_hasCpu; }

    // Queries which pipelines the context has and has refused. One query serves all that a thread
    // does while it holds the lock.
    void noteKernels(Held&, const Work& work);
    // Returns whether only the CPU can decode a tile at present. reason: receives why.
    bool isForCpu(Held&, const TileRecord& tile, SluiceStreamReason& reason) const;
    // Returns whether only the CPU can transcode at present.
    bool isTranscodeForCpu(Held&, SluiceStreamReason& reason) const
    {
        return areForCpu(m_hasGpu ? SLUICE_KERNELS_UASTC : 0, false, reason);
    }

    // Returns whether the GPU decodes, but scratch is too small for this tile. The CPU decodes it
    // then.
    bool isTooLargeForGpu(Held&, const TileRecord& tile) const
    {
        return m_hasGpu && tile.codec == SLUICE_CODEC_ZSTD && tile.size > m_mostZstd;
    }

    // Returns whether the context has all pipelines that a unit with these tiles needs. If the CPU
    // may not decode the line, the answer is yes, and Record finds out.
    bool havePipelines(Held&, const TileRecord* tiles, const Unit& unit) const;

    // Predicts what a unit costs either side.
    void estimate(Held&, Unit& unit, const UnitCosts& costs) const;
    // These learn from what a thread has decoded, and from a batch that is complete.
    void learnCpu(Held&, const CpuInputs& inputs, const CpuSums& milliseconds);
    void learnGpu(Held&, const CostInputs& inputs, double milliseconds);
    const CostModel& gpuCosts(Held&) const { return m_gpuCosts; }
    const CpuCostModel& cpuCosts(Held&) const { return m_cpuCosts; }

    // Decides who may take from the line, which must not be empty.
    SideChoice choose(Held& held, const Work& work, const TileRecord* headTiles) const;
    // Returns whether another thread may decode now.
    bool mayDecode(Held& held, const Work& work) const
    {
        return work.inState(held, UnitState::decoding) < m_mostThreads;
    }
    // Called when the line was empty and gets a unit.
    void noteLine(Held&) { m_progress = Clock::now(); }
    // Called when a thread has taken a unit of the line.
    void noteTaken(Held&, SluiceStreamReason reason);
    // Called when the output ring has no room for what a thread would decode, so the GPU is to do
    // it.
    void noteNoRoom(Held&) { m_progress = {}; }
    // To be called at each call of Record.
    void noteRecord(Held&, const SluiceStreamBudget& budget);
    void noteRefused(Held&) { m_isRefused = true; }
    // Called when a batch was recorded.
    struct Recorded {
        double predicted; // milliseconds
        uint32_t units;
        bool isFull;  // a limit has kept other units out of it
        bool decodes; // it does not only copy
        SluiceStreamReason reason;
    };
    void noteBatch(Held&, const Recorded& batch);
    // Called when a recorded batch is complete, or was taken back.
    void noteBatchEnd(Held&, double predicted) { m_ahead -= predicted; }
    // Returns about how many units the next batch takes.
    uint32_t unitsOfBatch(Held&) const { return m_unitsOfBatch; }

    // Called when a unit was decoded, or could not be.
    void count(Held&, const Unit& unit)
    {
        ++m_shares[unit.reason].units;
        m_shares[unit.reason].bytes += unit.decodedSize;
    }
    const SluiceStreamShare& share(Held&, SluiceStreamReason reason) const
    {
        return m_shares[reason];
    }

private:
    // When a side was used last, and after how many milliseconds without use it is tried although
    // it is predicted to be slow. This time doubles with each try, unless the side took less than
    // half of the predicted time.
    struct Use {
        static constexpr double kShortest = 50, kLongest = 5000; // milliseconds

        Clock::time_point last = Clock::now();
        double tryAfter = kShortest;

        bool isStale() const;
        void note(bool isTried);
        void judge(double measured, double predicted)
        {
            if (measured < predicted / 2) tryAfter = kShortest;
        }
    };
    bool areForCpu(uint32_t kernels, bool isTooLarge, SluiceStreamReason& reason) const;
    static uint32_t mostThreads(const SluiceStreamerInfo& info);
    static uint32_t mostZstd(const SluiceStreamerInfo& info);
    uint32_t kernelsOf(const TileRecord& tile) const
    {
        return m_kernels[cpuCodecOf(tile)][tile.filterOffset != 0];
    }

    const SluiceStreamerInfo& m_info;
    const bool m_hasGpu, m_hasCpu;
    const uint32_t m_mostThreads;
    const uint32_t m_mostZstd; // bytes of the largest Zstandard tile that scratch suffices for
    // The kernels that tiles need: by codec, without and with a filter; and all that may be needed.
    uint32_t m_kernels[kCpuTileCodecs][2] = {}, m_known = SLUICE_KERNELS_UASTC;
    // The kernels that the context lacks, which are noted only if the CPU can decode instead, and
    // those that it has refused.
    uint32_t m_missing = 0, m_refused = 0;

    CostModel m_gpuCosts;
    CpuCostModel m_cpuCosts;

    Use m_gpuUse, m_cpuUse;
    Clock::time_point m_progress{}, m_lastRecord{};
    Recent<5> m_intervals; // milliseconds between calls of Record
    double m_ahead = 0;    // predicted milliseconds of the batches under way
    double m_budget = std::numeric_limits<double>::infinity(), m_capacity = m_budget;
    uint32_t m_unitsOfBatch = 0;
    bool m_isRefused = false;
    SluiceStreamShare m_shares[SLUICE_STREAM_REASONS] = {};
};

} // namespace sluice::stream
