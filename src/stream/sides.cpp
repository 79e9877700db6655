// SPDX-License-Identifier: MIT OR Apache-2.0
#include "stream/sides.h"

#include <sluice/sluice_zstd.h>

#include <cfloat>

namespace sluice::stream {

namespace {

// Milliseconds between calls of Record (a frame at 60 Hz), assumed until Record was called twice.
constexpr double kInterval = 16;
// The most milliseconds that count as an interval. If Record is not called for longer, there was
// nothing to record.
constexpr double kMostInterval = 50;

double millisecondsOf(Clock::duration duration)
{
    return std::chrono::duration<double, std::milli>(duration).count();
}

bool isGpu(SluiceContext context)
{
    SluiceContextInfo about = {};
    return sluiceGetContextInfo(context, &about) == SLUICE_OK &&
           about.backend != SLUICE_BACKEND_CPU;
}

} // namespace

bool gpuMayDecode(const SluiceStreamerInfo& info)
{
    return info.decoding.sides != SLUICE_STREAM_CPU_ALONE && isGpu(info.context);
}

bool cpuMayDecode(const SluiceStreamerInfo& info)
{
    if (!gpuMayDecode(info)) return true;
    return info.decoding.sides != SLUICE_STREAM_GPU_ALONE && info.output.host != nullptr;
}

Sides::Sides(const SluiceStreamerInfo& info)
    : m_info(info), m_hasGpu(gpuMayDecode(info)), m_hasCpu(cpuMayDecode(info)),
      m_mostThreads(mostThreads(info)), m_mostZstd(m_hasGpu ? mostZstd(info) : 0)
{
    constexpr uint32_t kCodecs[kCpuTileCodecs] = {SLUICE_CODEC_STORE, SLUICE_CODEC_GDEFLATE,
                                                  SLUICE_CODEC_GSTD, SLUICE_CODEC_ZSTD,
                                                  SLUICE_CODEC_FLOAT};
    constexpr uint32_t kSize = 4096;
    const uint32_t description = 0;
    for (uint32_t codec = 0; codec < kCpuTileCodecs; ++codec) {
        for (uint32_t filtered = 0; filtered < 2; ++filtered) {
            const uint32_t stored = kCodecs[codec] == SLUICE_CODEC_STORE ? kSize : kSize / 2;
            const SluiceTile tile = {0,
                                     0,
                                     stored,
                                     kSize,
                                     kCodecs[codec],
                                     0,
                                     filtered != 0 ? &description : nullptr,
                                     filtered != 0 ? uint32_t(sizeof description) : 0};
            SluiceTileTotals totals = {};
            sluiceAddTile(&totals, &tile);
            m_kernels[codec][filtered] = sluiceGetTilesKernels(&totals);
            m_known |= m_kernels[codec][filtered];
        }
    }
}

uint32_t Sides::mostThreads(const SluiceStreamerInfo& info)
{
    const uint32_t threads = info.threads != 0 ? info.threads : kPumpDecodes;
    return info.decoding.maxThreads != 0 ? std::min(info.decoding.maxThreads, threads) : threads;
}

uint32_t Sides::mostZstd(const SluiceStreamerInfo& info)
{
    const auto isEnough = [&](uint32_t size) {
        SluiceTile tile = {};
        tile.storedSize = tile.size = size;
        tile.codec = SLUICE_CODEC_ZSTD;
        SluiceTileTotals totals = {};
        SluiceTilesInfo batch = {};
        batch.flags = SLUICE_TILES_UNCHECKED;
        batch.gstdTilesAtOnce = info.gstdTilesAtOnce;
        SluiceTilesRequirements required = {};
        return sluiceAddTile(&totals, &tile) == SLUICE_OK &&
               sluiceGetTilesRequirements(info.context, &batch, &totals, &required) == SLUICE_OK &&
               required.scratchSize <= info.scratch.size;
    };
    uint32_t most = 0, tooMuch = SLUICE_ZSTD_MAX_REGION_SIZE + 1;
    while (tooMuch - most > 1) {
        const uint32_t middle = most + (tooMuch - most) / 2;
        (isEnough(middle) ? most : tooMuch) = middle;
    }
    return most;
}

void Sides::noteKernels(Held& held, const Work& work)
{
    // The context is asked only while units wait, and only if the CPU could decode instead of the
    // GPU: for that it needs access to the output ring.
    const bool isWanted = work.toRead(held) != nullptr || !work.line.empty(held);
    if (!m_hasGpu || m_info.output.host == nullptr || !isWanted) return;
    SluiceContextInfo about = {};
    if (sluiceGetContextInfo(m_info.context, &about) != SLUICE_OK) return;
    m_refused = about.refusedKernels;
    m_missing = m_hasCpu ? m_known & ~about.kernels : 0;
}

bool Sides::isForCpu(Held& held, const TileRecord& tile, SluiceStreamReason& reason) const
{
    return areForCpu(m_hasGpu ? kernelsOf(tile) : 0, isTooLargeForGpu(held, tile), reason);
}

bool Sides::areForCpu(uint32_t kernels, bool isTooLarge, SluiceStreamReason& reason) const
{
    const bool isOnly = !m_hasGpu || (kernels & m_refused) != 0 || isTooLarge;
    reason = isOnly ? SLUICE_STREAM_CPU_ONLY : SLUICE_STREAM_CPU_PIPELINES;
    return isOnly || (kernels & m_missing) != 0;
}

bool Sides::havePipelines(Held&, const TileRecord* tiles, const Unit& unit) const
{
    uint32_t kernels = unit.isTranscoded ? SLUICE_KERNELS_UASTC : 0;
    for (uint32_t i = 0; i < unit.tileCount && (m_missing & ~kernels) != 0; ++i)
        kernels |= kernelsOf(tiles[i]);
    return (kernels & m_missing) == 0;
}

void Sides::estimate(Held&, Unit& unit, const UnitCosts& costs) const
{
    const CostWeights::Parts parts = m_gpuCosts.weights().partsOf(costs.gpu.features());
    unit.gpuSlowest = float(parts.slowest);
    unit.gpuBytes = float(parts.bytes);
    unit.cpuTime = float(m_cpuCosts.predict(costs.cpu));
}

SideChoice Sides::choose(Held& held, const Work& work, const TileRecord* headTiles) const
{
    if (!areBoth()) return {};
    const Unit& head = work.line.head(held);
    const Line::Costs& line = work.line.costs(held);
    SideLoad load;
    load.gpuSlowest = line.gpuSlowest;
    load.gpuBytes = line.gpuBytes;
    load.lineCpu = line.cpuTime;
    load.headGpu = batchTime(double(head.gpuSlowest), double(head.gpuBytes));
    load.headCpu = double(head.cpuTime);
    load.hasPipelines = havePipelines(held, headTiles, head);
    load.sinceProgress = millisecondsOf(Clock::now() - m_progress);
    load.ahead = m_ahead;
    load.interval = m_intervals.median(kInterval);
    load.budget = m_budget;
    load.capacity = m_capacity;
    load.isRefused = m_isRefused;
    load.isGpuStale = m_gpuUse.isStale();
    load.isCpuStale = m_cpuUse.isStale();
    // Threads of the engine that call Pump come and go, so only one is counted on.
    load.threads = m_info.threads != 0 ? m_mostThreads : 1;
    load.cpuAhead = work.cpuAhead(held);
    load.isGpuFirst = m_info.decoding.sides == SLUICE_STREAM_GPU_FIRST;
    return chooseSide(load);
}

void Sides::noteRecord(Held&, const SluiceStreamBudget& budget)
{
    const Clock::time_point now = Clock::now();
    if (m_lastRecord != Clock::time_point{})
        m_intervals.add(std::min(millisecondsOf(now - m_lastRecord), kMostInterval));
    m_lastRecord = now;
    m_isRefused = false;
    const double milliseconds = budget.milliseconds < FLT_MAX
                                    ? double(budget.milliseconds)
                                    : std::numeric_limits<double>::infinity();
    if (milliseconds != m_budget) m_capacity = milliseconds;
    m_budget = milliseconds;
}

void Sides::noteBatch(Held&, const Recorded& batch)
{
    m_ahead += batch.predicted;
    m_unitsOfBatch = batch.units;
    m_capacity = batch.isFull ? batch.predicted : m_budget;
    if (batch.decodes) m_gpuUse.note(batch.reason == SLUICE_STREAM_GPU_TRIED);
}

void Sides::noteTaken(Held&, SluiceStreamReason reason)
{
    m_progress = Clock::now();
    m_cpuUse.note(reason == SLUICE_STREAM_CPU_TRIED);
}

void Sides::learnCpu(Held&, const CpuInputs& inputs, const CpuSums& milliseconds)
{
    double measured = 0;
    for (const double(&codec)[2] : milliseconds.of)
        measured += codec[0] + codec[1];
    m_cpuUse.judge(measured, m_cpuCosts.predict(inputs));
    m_cpuCosts.learn(inputs, milliseconds);
}

void Sides::learnGpu(Held&, const CostInputs& inputs, double milliseconds)
{
    m_gpuUse.judge(milliseconds, m_gpuCosts.predict(inputs));
    m_gpuCosts.learn(inputs, milliseconds);
}

bool Sides::Use::isStale() const { return millisecondsOf(Clock::now() - last) > tryAfter; }

void Sides::Use::note(bool isTried)
{
    last = Clock::now();
    tryAfter = isTried ? std::min(2 * tryAfter, kLongest) : kShortest;
}

} // namespace sluice::stream
