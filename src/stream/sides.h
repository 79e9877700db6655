// SPDX-License-Identifier: MIT OR Apache-2.0
// Knows the two sides that decode, the GPU and the CPU's threads: which tiles each side can decode,
// how fast it is, how much work it has, and what it has done. side_policy.h uses
// this to decide which side takes units from the line (line.h).
#pragma once

#include <limits>

#include "stream/monitor.h"
#include "stream/side_policy.h"
#include "stream/tile_costs.h"
#include "stream/work.h"

namespace sluice::stream {

// Returns whether a GPU may decode units for buffers and images.
bool gpuMayDecode(const SluiceStreamerInfo& info);
// Returns whether threads of the CPU may decode units for buffers and images.
bool cpuMayDecode(const SluiceStreamerInfo& info);

class Sides {
public:
    // `info` outlives the object.
    explicit Sides(const SluiceStreamerInfo& info);

    // Returns whether both sides decode. Units then wait in a line that both sides take from.
    bool areBoth() const { return m_hasGpu && m_hasCpu; }

    // Queries which pipelines the context has, and which it has refused. A thread calls this once
    // after it has taken the lock. Its decisions until it releases the lock use the result.
    void noteKernels(Held&, const Work& work);
    // Returns whether only the CPU can decode a tile at present. reason: receives why.
    bool isForCpu(Held&, const TileRecord& tile, SluiceStreamReason& reason) const;
    // Returns whether only the CPU can transcode at present.
    bool isTranscodeForCpu(Held&, SluiceStreamReason& reason) const
    {
        return areForCpu(m_hasGpu ? SLUICE_KERNELS_UASTC : 0, false, reason);
    }

    // Returns whether the scratch buffer is too small for the GPU to decode this tile. If so, the
    // CPU decodes the tile.
    bool isTooLargeForGpu(Held&, const TileRecord& tile) const
    {
        return m_hasGpu && tile.codec == SLUICE_CODEC_ZSTD && tile.size > m_mostZstd;
    }

    // Returns whether the context has all pipelines that a unit with these tiles needs. If the CPU
    // may not decode, returns true in any case, and Record reports missing pipelines (NOT_READY).
    bool havePipelines(Held&, const TileRecord* tiles, const Unit& unit) const;

    // Sets the unit's predicted times on the GPU and on a thread.
    void estimate(Held&, Unit& unit, const UnitCosts& costs) const;
    // These update the cost models with the measured time of a thread's work or of a complete
    // batch.
    void learnCpu(Held&, const CpuInputs& inputs, const CpuSums& milliseconds);
    void learnGpu(Held&, const CostInputs& inputs, double milliseconds);
    const CostModel& gpuCosts(Held&) const { return m_gpuCosts; }
    const CpuCostModel& cpuCosts(Held&) const { return m_cpuCosts; }

    // Decides which sides may take units from the line (line.h), which must not be empty.
    // headTiles: the tiles of the line's most urgent unit.
    SideChoice choose(Held& held, const Work& work, const TileRecord* headTiles) const;
    // Returns whether another thread may decode now.
    bool mayDecode(Held& held, const Work& work) const
    {
        return work.inState(held, UnitState::decoding) < m_mostThreads;
    }
    // Called when a unit enters the empty line. The time without progress counts from then on.
    void noteLine(Held&) { m_progress = Clock::now(); }
    // Called when a thread has taken a unit of the line.
    void noteTaken(Held&, SluiceStreamReason reason);
    // Called when the output ring has no room for a unit that a thread would decode. The threads
    // then count as stuck, so that the GPU takes the line.
    void noteNoRoom(Held&) { m_progress = {}; }
    // To be called at each call of Record.
    void noteRecord(Held&, const SluiceStreamBudget& budget);
    void noteRefused(Held&) { m_isRefused = true; }
    // Describes a batch that was just recorded, for noteBatch.
    struct Recorded {
        double predicted; // milliseconds
        uint32_t units;
        bool isFull;  // a limit kept other units out of the batch
        bool decodes; // the batch does more than copy
        SluiceStreamReason reason;
    };
    void noteBatch(Held&, const Recorded& batch);
    // Called when a recorded batch is complete, or was taken back.
    void noteBatchEnd(Held&, double predicted) { m_ahead -= predicted; }
    // Returns about how many units the next batch takes.
    uint32_t unitsOfBatch(Held&) const { return m_unitsOfBatch; }

    // Counts a unit that was decoded or could not be decoded, for SluiceStreamCounters.
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
    // When a side was last used. A side that was not used for `tryAfter` milliseconds is tried even
    // if it is predicted to be slow, to get a new measurement. Each try doubles `tryAfter`, unless
    // the side took less than half of the predicted time.
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
    // m_kernels: the SluiceKernels that tiles of a codec need, [0] without and [1] with a filter.
    // m_known: the union of these, and the transcoder.
    uint32_t m_kernels[kCpuTileCodecs][2] = {}, m_known = SLUICE_KERNELS_UASTC;
    // m_missing: the kernels of m_known that the context lacks; 0 if the CPU cannot decode instead.
    // m_refused: all kernels that the context has refused.
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
