// SPDX-License-Identifier: MIT OR Apache-2.0
// The Vulkan backend: context.cpp chooses the tier, pipelines.cpp makes the pipelines, and
// record_*.cpp record the commands.
#pragma once

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <initializer_list>
#include <memory>
#include <string>

#include <sluice/sluice_all.h>
#include <sluice/sluice_vulkan.h>

#include "api/backend.h"
#include "api/plan_compact.h"
#include "api/plan_scan.h"
#include "vulkan/driver_decoder.h"
#include "vulkan/functions.h"
#include "vulkan/registry.h"
#include "vulkan/shader_code.h"

namespace sluice {

class VulkanBackend final : public Backend {
public:
    // On failure *reason is set to a static text.
    static SluiceStatus create(const SluiceVulkanContextInfo& info,
                               std::unique_ptr<VulkanBackend>& backend, const char** reason);
    ~VulkanBackend() override;
    VulkanBackend(const VulkanBackend&) = delete;
    VulkanBackend& operator=(const VulkanBackend&) = delete;

    void contextInfo(SluiceContextInfo& info) const override;
    SluiceStatus createPipelines(const SluicePipelinesInfo& info, uint32_t& left) override;
    SluiceStatus cmdBarrier(SluiceCommands commands) override;
    uint64_t deviceAddress(const SluiceBuffer& buffer) const override { return address(buffer); }
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

    const DeviceTraits& traits() const { return m_traits; }
    const VulkanTuning& tuning() const { return m_tuning; }
    // Commands recorded from now on are planned by `tuning`. What pipelines were made with, their
    // workgroup sizes and constants, stays as it was. Not while other threads record.
    void setTuning(const VulkanTuning& tuning) { m_tuning = tuning; }
    // What the plans of scans and compactions are made of.
    ScanMachine scanMachine(const SluiceScanInfo& info) const;
    CompactMachine compactMachine(const SluiceCompactInfo& info) const;
    // Whether the pipeline is there: its row applies, and it has been made. It stays then.
    bool has(Pipeline pipeline) const { return madeOf(pipeline).handle.load() != VK_NULL_HANDLE; }
    bool hasAll(std::initializer_list<Pipeline> pipelines) const
    {
        return std::all_of(pipelines.begin(), pipelines.end(),
                           [this](Pipeline one) { return has(one); });
    }
    // Whether it may be there one day. Requirements depend on this alone, so that they stay the
    // same.
    bool applies(Pipeline pipeline) const { return madeOf(pipeline).shader.packed != nullptr; }
    VkPipeline handle(Pipeline pipeline) const { return madeOf(pipeline).handle.load(); }
    // How long the driver took to make it.
    double millisecondsOf(Pipeline pipeline) const { return madeOf(pipeline).milliseconds; }
    size_t codeBytesOf(Pipeline pipeline) const { return shaderOf(pipeline).bytes(); }
    // Whether the driver failed to make it. It is not asked again.
    bool isRefused(Pipeline pipeline) const { return madeOf(pipeline).isRefused.load(); }
    // The names of all such pipelines, with commas; empty if there are none.
    std::string refusedPipelines() const;

    // Makes a pipeline from any SPIR-V with the same interface.
    VkResult createPipeline(Pipeline pipeline, const ShaderCode& code, VkPipeline& made) const;
    void destroyPipeline(VkPipeline pipeline) const;
    // Commands recorded from now on use `made`, which the context owns then; returns the one used
    // before, which the caller owns. May be called while other threads record.
    VkPipeline exchangePipeline(Pipeline pipeline, VkPipeline made);

private:
    struct Access; // what one dispatch reads or writes

    VkResult createPipeline(Pipeline pipeline, const PackedShader& shader, VkPipeline& made) const;
    PipelineConstants constantsOf(Pipeline pipeline) const;
    // The pipeline is made of this shader: of one whose constants are fixed already, if there is one.
    PackedShader shaderOf(Pipeline pipeline) const;

    VulkanBackend() = default;
    SluiceStatus chooseTier(const SluiceVulkanContextInfo& info, const char** reason);
    SluiceStatus preparePipelines(const char** reason);
    void noteReady();

    struct Made {
        std::atomic<VkPipeline> handle{VK_NULL_HANDLE};
        std::atomic<bool> isBegun{false}; // a thread makes it, has made it, or could not
        std::atomic<bool> isRefused{false};
        PackedShader shader{};  // for any constants; none if its row does not apply
        uint32_t workgroup = 0; // invocations
        double milliseconds = 0;
    };
    const Made& madeOf(Pipeline pipeline) const { return m_made[size_t(pipeline)]; }
    uint32_t workgroup(Pipeline pipeline) const { return madeOf(pipeline).workgroup; }
    uint32_t tilesPerWorkgroup() const
    {
        return m_traits.subgroupSize <= 32 ? 1 : m_traits.subgroupSize / 32;
    }
    Pipeline decodePipeline(bool pitched, uint32_t tiles) const;
    Pipeline movePipeline(const IntervalParams& params) const;
    uint32_t scanTileElements() const;
    uint32_t ringTileElements() const;
    uint64_t reduceWorkgroups(uint32_t maxCount) const;
    uint32_t compactTile(uint32_t elementSize) const;
    uint32_t compactRingTile() const;
    uint32_t compactCallTile() const;
    VkDeviceAddress address(const SluiceBuffer& buffer) const;
    // The address of a range as plans take it: 0 for an empty one.
    auto addressOf() const
    {
        return [this](const SluiceBuffer& buffer) { return address(buffer); };
    }
    Access access(const SluiceBuffer& buffer, bool write) const;

    // Binds, pushes and dispatches `workgroups` workgroups.
    template <typename Params>
    void dispatch(VkCommandBuffer commands, Pipeline pipeline, const Params& params,
                  uint64_t workgroups, std::initializer_list<Access> accesses);
    // toHost: what was written is also visible to the host, once a fence has passed.
    void barrier(VkCommandBuffer commands, VkPipelineStageFlags stages, VkAccessFlags accesses,
                 bool toHost = false);
    void computeBarrier(VkCommandBuffer commands);

    RegionParams paramsOf(const SluiceChecksumInfo& list) const;
    // All of `count` tiles PENDING, none failed.
    void recordStatus(VkCommandBuffer commands, const SluiceBuffer& status, uint32_t count);
    void recordDriverDecode(VkCommandBuffer commands, const RegionParams& params,
                            const SluiceGdeflateInfo& info);

    Access listAccess(const SluiceIntervals& list) const;
    void recordIntervalPlan(VkCommandBuffer commands, IntervalParams params,
                            const SluiceBuffer& result);
    void recordIntervals(VkCommandBuffer commands, Pipeline pipeline, IntervalParams params,
                         const SluiceBuffer& result, std::initializer_list<Access> accesses);
    void recordBulk(SluiceCommands commands, const SluiceBulkInfo& info, bool insert);

    VulkanFunctions m_vk;
    DriverDecoder m_driver;
    VkDevice m_device = VK_NULL_HANDLE;
    VkPipelineCache m_pipelineCache = VK_NULL_HANDLE;
    VkPipelineLayout m_layout = VK_NULL_HANDLE;
    VkPipelineCreateFlags m_pipelineFlags = 0;
    std::array<Made, kPipelineCount> m_made;
    std::array<Pipeline, kPipelineCount> m_applying{}; // in the order in which they are made
    uint32_t m_applyingCount = 0;
    std::atomic<uint32_t> m_ready{0};   // SluiceKernels whose necessary pipelines are there
    std::atomic<uint32_t> m_refused{0}; // and of which one never will be
    SluiceVulkanRecorder m_recorder = nullptr;
    void* m_recorderUser = nullptr;

    SluiceVulkanTier m_tier = SLUICE_VULKAN_TIER_AUTO;
    DeviceTraits m_traits;
    VulkanTuning m_tuning{};
    bool m_requireSize = false;          // ask for the subgroup size explicitly
    bool m_requireFullSubgroups = false; // and for full subgroups
    std::string m_report;
};

} // namespace sluice
