// SPDX-License-Identifier: MIT OR Apache-2.0
// The Vulkan backend. It has four parts, and each part uses only the parts before it: the machine
// (machine.h), its pipelines (pipelines.h), the recorder of dispatches (record.h), and the
// commands. A command is recorded by the record_*.cpp file of its name.
#pragma once

#include <vulkan/vulkan_core.h>

#include <memory>

#include <sluice/sluice_all.h>
#include <sluice/sluice_vulkan.h>

#include "api/backend.h"
#include "api/plan_compact.h"
#include "api/plan_scan.h"
#include "vulkan/record.h"

namespace sluice {

class VulkanBackend final : public Backend {
public:
    // If this fails, *reason receives a static text that says why.
    static SluiceStatus create(const SluiceVulkanContextInfo& info,
                               std::unique_ptr<VulkanBackend>& backend, const char** reason);

    void contextInfo(SluiceContextInfo& info) const override;
    SluiceStatus createPipelines(const SluicePipelinesInfo& info, uint32_t& left) override
    {
        return m_pipelines.create(info, left);
    }
    SluiceStatus cmdBarrier(SluiceCommands commands) override;
    SluiceStatus cmdSideBySide(SluiceCommands commands, RecordChains record,
                               const void* user) override;
    void nextChain(SluiceCommands commands) override
    {
        SideBySide& collected = *recordingOf(commands).collected;
        collected.step = 0;
        ++collected.chain;
    }
    uint64_t deviceAddress(const SluiceBuffer& buffer) const override
    {
        return m_machine.address(buffer);
    }
    SluiceStatus cmdChecksum(SluiceCommands, const SluiceChecksumInfo&) override;
#if SLUICE_HAVE_SUMS
    SluiceStatus cmdScan(SluiceCommands, const SluiceScanInfo&) override;
    SluiceStatus cmdReduce(SluiceCommands, const SluiceReduceInfo&) override;
    SluiceRequirements scanRequirements(const SluiceScanInfo&) const override;
    SluiceRequirements reduceRequirements(const SluiceReduceInfo&) const override;
#endif
#if SLUICE_HAVE_PRIMITIVES
    SluiceStatus cmdCompact(SluiceCommands, const SluiceCompactInfo&) override;
    SluiceStatus cmdIntervalExpand(SluiceCommands, const SluiceIntervalExpandInfo&) override;
    SluiceStatus cmdIntervalMove(SluiceCommands, const SluiceIntervalMoveInfo&) override;
    SluiceStatus cmdIntervalSearch(SluiceCommands, const SluiceIntervalSearchInfo&) override;
    SluiceStatus cmdBulkRemove(SluiceCommands, const SluiceBulkInfo&) override;
    SluiceStatus cmdBulkInsert(SluiceCommands, const SluiceBulkInfo&) override;
    SluiceRequirements compactRequirements(const SluiceCompactInfo&) const override;
    SluiceRequirements intervalRequirements(const SluiceIntervals&) const override;
#endif
#if SLUICE_HAVE_CODECS
    SluiceStatus cmdGdeflate(SluiceCommands, const SluiceGdeflateInfo&) override;
    SluiceStatus cmdGstd(SluiceCommands, const SluiceGstdInfo&) override;
    SluiceStatus cmdFilter(SluiceCommands, const SluiceFilterInfo&) override;
    SluiceStatus cmdFseTables(SluiceCommands, const SluiceFseTablesInfo&) override;
    SluiceStatus cmdTileStreams(SluiceCommands, const SluiceTileStreamsInfo&) override;
    SluiceRequirements gdeflateRequirements(const SluiceGdeflateInfo&) const override;
    SluiceRequirements gstdRequirements(const SluiceGstdInfo&) const override;
    SluiceRequirements filterRequirements(const SluiceFilterInfo&) const override;
    SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo&) const override;
#endif
#if SLUICE_HAVE_WEIGHTS
    SluiceStatus cmdFloatDecode(SluiceCommands, const SluiceFloatDecodeInfo&) override;
    SluiceStatus cmdDf11(SluiceCommands, const SluiceDf11Info&) override;
#endif
#if SLUICE_HAVE_ZSTD
    SluiceStatus cmdZstd(SluiceCommands, const SluiceZstdInfo&) override;
    SluiceRequirements zstdRequirements(const SluiceZstdInfo&) const override;
#endif
#if SLUICE_HAVE_UASTC
    SluiceStatus cmdUastc(SluiceCommands, const SluiceUastcInfo&) override;
    SluiceRequirements uastcRequirements(const SluiceUastcInfo&) const override;
#endif

    const DeviceTraits& traits() const { return m_machine.traits; }
    const VulkanTuning& tuning() const { return m_machine.tuning; }
    // Commands that are recorded from now on are planned with `tuning`. Existing pipelines keep
    // their workgroup sizes and constants. Must not be called while other threads record.
    void setTuning(const VulkanTuning& tuning) { m_machine.tuning = tuning; }
    VulkanPipelines& pipelines() { return m_pipelines; }
    const VulkanPipelines& pipelines() const { return m_pipelines; }
    // Both return what the plans of src/api (planScan, planCompact) need to know of the device.
    ScanMachine scanMachine(const SluiceScanInfo& info) const;
    CompactMachine compactMachine(const SluiceCompactInfo& info) const;

private:
    explicit VulkanBackend(const SluiceVulkanContextInfo& info)
        : m_pipelines(m_machine, info.pipelineCache, info.pipelineFlags),
          m_recorder(m_machine, m_pipelines, info.recorder, info.recorderUser)
    {
    }

    // Returns a function that computes the device address of a range. The functions of src/api that
    // make parameters take it as their argument addressOf.
    auto addressOf() const
    {
        return [this](const SluiceBuffer& buffer) { return m_machine.address(buffer); };
    }

    void recordBulk(SluiceCommands commands, const SluiceBulkInfo& info, bool insert);

    VulkanMachine m_machine;
    VulkanPipelines m_pipelines;
    CommandRecorder m_recorder;
};

} // namespace sluice
