// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/zstd/zstd_on_device.h"

#include <sluice/sluice_zstd.h>

#include <algorithm>

#include "tools/common/decoder.h"

namespace sluice {
namespace {

constexpr size_t kBatchRuns = 65536;
constexpr uint64_t kPlaceAlignment = 16;

uint64_t placeAfter(uint64_t size)
{
    return (size + kPlaceAlignment - 1) / kPlaceAlignment * kPlaceAlignment;
}

uint64_t storedSize(const ZstdRun& run) { return run.end - run.begin; }

} // namespace

ZstdOnDevice::ZstdOnDevice(const ToolDevice& device, const ZstdFile& file, const ZstdPlan& plan,
                           ZstdSink& sink, bool keepGoing)
    : m_device(device), m_file(file), m_plan(plan), m_sink(sink), m_keepGoing(keepGoing),
      m_batchBytes(batchBytes(device)), m_cpu(file, plan, sink, keepGoing),
      m_dictionaryBuffer(device), m_source(device), m_destination(device), m_list(device),
      m_status(device), m_scratch(device),
      m_dictionary(m_dictionaryBuffer.fill(file.dictionary()->bytes()))
{
}

// The dispatches of a batch are recorded for as many blocks in every region as one of them has. So
// a run with far more blocks than encoders make, one for each 8 KiB or more, would make a batch take
// minutes. The CPU needs no longer for it than for others.
bool ZstdOnDevice::fits(const ZstdRun& run) const
{
    return run.size <= m_batchBytes && storedSize(run) <= m_batchBytes &&
           run.size + m_dictionary.size <= SLUICE_ZSTD_MAX_REGION_SIZE &&
           run.blocks <= 64 + run.size / 1024;
}

// Scratch has room for several regions of the largest size, so a batch in which one is large has
// few regions.
size_t ZstdOnDevice::endOfBatch(size_t first) const
{
    const std::vector<ZstdRun>& runs = m_plan.runs();
    uint64_t largest = 0, stored = 0;
    size_t end = first;
    for (; end < runs.size() && end - first < kBatchRuns && fits(runs[end]); ++end) {
        largest = std::max(largest, placeAfter(runs[end].size));
        stored += placeAfter(storedSize(runs[end]));
        if (end != first && std::max(largest * (end - first + 1), stored) > m_batchBytes) break;
    }
    return end;
}

void ZstdOnDevice::decodeBatch(size_t first, size_t end)
{
    SluiceZstdInfo info = {};
    info.maxRegionSize = info.maxBlocks = 1;
    m_regions.clear();
    uint64_t from = 0, to = 0;
    for (size_t i = first; i < end; ++i) {
        const ZstdRun& run = m_plan.runs()[i];
        m_regions.push_back({from, to, storedSize(run), run.size});
        info.maxRegionSize = std::max(info.maxRegionSize, uint32_t(run.size));
        info.maxBlocks = std::max(info.maxBlocks, uint32_t(run.blocks));
        from += placeAfter(storedSize(run));
        to += placeAfter(run.size);
    }
    m_bytes.resize(size_t(from));
    for (size_t i = first; i < end; ++i)
        m_file.file().read(m_plan.runs()[i].begin,
                           &m_bytes[size_t(m_regions[i - first].srcAddress)],
                           size_t(m_regions[i - first].compressedSize));
    info.source = m_source.fill(m_bytes);
    info.destination = m_destination.reserve(std::max(to, kPlaceAlignment));
    for (SluiceRegion& region : m_regions) {
        region.srcAddress += m_source.address();
        region.dstAddress += m_destination.address();
    }
    info.maxRegionCount = uint32_t(m_regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.flags = SLUICE_ZSTD_CHECKSUMS;
    info.regions = m_list.fill(m_regions);
    info.dictionary = m_dictionary;
    info.status = m_status.reserve((m_regions.size() + 2) * 4);
    info.scratch = m_scratch.reserve(m_device.scratchSize(sluiceGetZstdRequirements, info));
    m_device.run([&](SluiceCommands commands) {
        m_device.check(sluiceCmdZstd(m_device.context(), commands, &info), "decode");
    });
    m_statuses.resize(m_regions.size() + 2);
    m_device.download(info.status, m_statuses.data(), m_statuses.size() * 4);
}

// Hands on what the device has made. Returns false if nothing more is to be decoded.
bool ZstdOnDevice::takeBatch(size_t first, size_t end)
{
    uint64_t at = 0;
    for (size_t i = first; i < end; ++i) {
        const ZstdRun& run = m_plan.runs()[i];
        m_bytes.resize(size_t(run.size));
        if (run.size != 0)
            m_device.download(m_destination.part(at, run.size), m_bytes.data(), run.size);
        at += placeAfter(run.size);
        const uint32_t status = m_statuses[i - first];
        if (status == SLUICE_TILE_OK && m_cpu.fitsTable(i, m_bytes.data())) {
            m_sink.write(i, run.output, m_bytes.data(), m_bytes.size());
            m_sink.end(i);
            continue;
        }
        const bool isRight = m_cpu.decodeRun(i);
        // A region has limits that files do not have (docs/format.md, 12.2).
        if (isRight && status != SLUICE_TILE_LIMIT)
            throw Failure{exitDevice,
                          m_file.file().name() +
                              formatText(": frame %llu at byte %llu or one behind it: the device "
                                         "says '%s', and the CPU decodes it",
                                         wide(run.firstFrame), wide(run.begin),
                                         sluiceGetTileStatusText(status))};
        if (!isRight && !m_keepGoing) return false;
    }
    return true;
}

ZstdDamages ZstdOnDevice::run()
{
    for (size_t i = 0; i < m_plan.runs().size();) {
        const size_t end = endOfBatch(i);
        if (end != i) {
            decodeBatch(i, end);
            if (!takeBatch(i, end)) break;
            i = end;
            continue;
        }
        m_isAnyOfCpu = true;
        if (!m_cpu.decodeRun(i++) && !m_keepGoing) break;
    }
    return m_cpu.damages();
}

} // namespace sluice
