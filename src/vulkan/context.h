// SPDX-License-Identifier: MIT OR Apache-2.0
// The Vulkan backend: context.cpp makes the pipelines, record.cpp records the commands.
#pragma once

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <initializer_list>
#include <memory>
#include <string>

#include <sluice/sluice.h>
#include <sluice/sluice_vulkan.h>

#include "api/backend.h"
#include "layout.h"
#include "vulkan/driver_decoder.h"
#include "vulkan/functions.h"
#include "vulkan/shader_code.h"

namespace sluice {

// A kernel is a pipeline; some are one shader with other constants.
enum class Kernel {
    compact_1, // by the size of an element
    compact_2,
    compact_4,
    compact_8,
    compact_16,
    status,
    gdeflate,
    gdeflate_pitched, // only if pairedTiles(); elsewhere the other one asks
    gdeflate_alone,   // many tiles, only if manyTiles() says how many
    gdeflate_few,     // few tiles, only if fewTiles() says how many
    checksum,
    interval_plan,
    interval_expand,
    interval_expand_words, // elements of 4 bytes; only if specialIntervals()
    interval_move,
    interval_move_short, // the same for runs of few bytes; only if specialIntervals()
    interval_search,
    driver_regions,
    tile_streams,
    float_decode,
    gstd_symbols,
    gstd_expand,
    gstd_expand_few, // few tiles; only if fewExpanded() says how many
    fse_tables,
    df11,
    filter,
    filter_few,             // few tiles; only if fewFiltered() says how many
    compact_ring,           // many elements of 4 bytes; only if ringWorkgroups()
    compact_ring_selectors, // the same where a test is of selectors
    compact_ring_words,     // whole numbers compared, elements as output
    compact_ring_bytes,     // a test of bytes, elements as output
    compact_call,           // few of them
    compact_call_selectors,
    scan_sum_ring, // sums of many 32-bit values; only if ringWorkgroups()
    scan_sum,
    scan_max,
    scan_sum_f32,
    scan_sum_segments,
    scan_max_segments,
    scan_sum_f32_segments,
    scan_sum_u64,
    scan_max_u64,
    scan_sum_u64_segments,
    scan_max_u64_segments,
    reduce_sum,
    reduce_max,
    reduce_sum_f32,
    reduce_sum_f32_segments,
    reduce_sum_u64,
    reduce_max_u64,
};
constexpr size_t kernelCount = 50;
const char* kernelName(Kernel kernel); // of its shader

class VulkanBackend final : public Backend {
public:
    // On failure *reason is set to a static text.
    static SluiceStatus create(const SluiceVulkanContextInfo& info,
                               std::unique_ptr<VulkanBackend>& backend, const char** reason);
    ~VulkanBackend() override;
    VulkanBackend(const VulkanBackend&) = delete;
    VulkanBackend& operator=(const VulkanBackend&) = delete;

    void contextInfo(SluiceContextInfo& info) const override;
    SluiceStatus cmdBarrier(SluiceCommands commands) override;
    SluiceRequirements scanRequirements(const SluiceScanInfo& info) const override;
    SluiceStatus cmdScan(SluiceCommands commands, const SluiceScanInfo& info) override;
    SluiceRequirements reduceRequirements(const SluiceReduceInfo& info) const override;
    SluiceStatus cmdReduce(SluiceCommands commands, const SluiceReduceInfo& info) override;
    SluiceRequirements compactRequirements(const SluiceCompactInfo& info) const override;
    SluiceStatus cmdCompact(SluiceCommands commands, const SluiceCompactInfo& info) override;
    SluiceRequirements gdeflateRequirements(const SluiceGdeflateInfo& info) const override;
    SluiceStatus cmdGdeflate(SluiceCommands commands, const SluiceGdeflateInfo& info) override;
    SluiceStatus cmdChecksum(SluiceCommands commands, const SluiceChecksumInfo& info) override;
    SluiceRequirements floatDecodeRequirements(const SluiceFloatDecodeInfo& info) const override;
    SluiceStatus cmdFloatDecode(SluiceCommands commands,
                                const SluiceFloatDecodeInfo& info) override;
    SluiceRequirements gstdRequirements(const SluiceGstdInfo& info) const override;
    SluiceStatus cmdGstd(SluiceCommands commands, const SluiceGstdInfo& info) override;
    SluiceRequirements df11Requirements(const SluiceDf11Info& info) const override;
    SluiceStatus cmdDf11(SluiceCommands commands, const SluiceDf11Info& info) override;
    SluiceStatus cmdFseTables(SluiceCommands commands, const SluiceFseTablesInfo& info) override;

    SluiceRequirements filterRequirements(const SluiceFilterInfo& info) const override;
    SluiceStatus cmdFilter(SluiceCommands commands, const SluiceFilterInfo& info) override;
    SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo& info) const override;
    SluiceStatus cmdTileStreams(SluiceCommands commands,
                                const SluiceTileStreamsInfo& info) override;

    SluiceRequirements intervalRequirements(const SluiceIntervals& intervals) const override;
    SluiceStatus cmdIntervalExpand(SluiceCommands commands,
                                   const SluiceIntervalExpandInfo& info) override;
    SluiceStatus cmdIntervalMove(SluiceCommands commands,
                                 const SluiceIntervalMoveInfo& info) override;
    SluiceStatus cmdIntervalSearch(SluiceCommands commands,
                                   const SluiceIntervalSearchInfo& info) override;
    SluiceStatus cmdBulkRemove(SluiceCommands commands, const SluiceBulkInfo& info) override;
    SluiceStatus cmdBulkInsert(SluiceCommands commands, const SluiceBulkInfo& info) override;

    Rings rings() const override;

    ShaderVariant variant() const { return m_variant; }
    bool uses(Kernel kernel) const;

    // Makes a pipeline for `kernel` from any SPIR-V with the same interface.
    VkResult createPipeline(Kernel kernel, const ShaderCode& code, VkPipeline& pipeline) const;
    void destroyPipeline(VkPipeline pipeline) const;
    // Commands recorded from now on use `pipeline`, which the context owns then; returns the one
    // used before, which the caller owns. May be called while other threads record.
    VkPipeline exchangePipeline(Kernel kernel, VkPipeline pipeline);

private:
    struct Access; // what one dispatch reads or writes

    VulkanBackend() = default;
    SluiceStatus chooseTier(const SluiceVulkanContextInfo& info, const char** reason);
    SluiceStatus createPipelines(const char** reason);

    uint32_t workgroupSize(Kernel kernel) const;
    // gdeflate.comp with two lane groups a tile; 128 invocations are what every device allows.
    bool pairedTiles() const
    {
        return m_variant != ShaderVariant::emu && m_subgroupSize >= 32 && m_subgroupSize <= 64;
    }
    // From how many tiles on gdeflate.comp decodes more of them at once with one subgroup each, 32
    // an SM: some four times that many, for the last ones take longer (docs/performance.md). 0:
    // never.
    uint32_t manyTiles() const
    {
        return pairedTiles() && m_subgroupSize == 32 && m_ampleShared ? 128 * m_processors : 0;
    }
    // Up to how many tiles it lets the first stage get further ahead of the second, for which an SM
    // has room if it holds no more than ten.
    uint32_t fewTiles() const { return manyTiles() != 0 ? 8 * m_processors : 0; }
    Kernel decodeKernel(bool pitched, uint32_t tiles) const
    {
        if (pitched && pairedTiles()) return Kernel::gdeflate_pitched;
        if (tiles <= fewTiles()) return Kernel::gdeflate_few;
        return manyTiles() != 0 && tiles >= manyTiles() ? Kernel::gdeflate_alone : Kernel::gdeflate;
    }
    // Up to how many tiles their filters are undone by workgroups of 512: with 2 or 3 tiles an SM
    // that takes up to a third less time than by those of 256, of which an SM runs two, with 9 a
    // little more.
    uint32_t fewFiltered() const { return m_fewFit ? 4 * m_processors : 0; }
    // From how many tiles on a workgroup that is done with one takes the next; with 30 and more an
    // SM that takes a seventh less time. Needs workgroups that run at the same time: else the first
    // would take them all.
    uint32_t manyFiltered() const { return m_workgroupsGoOn ? 24 * m_processors : 0; }
    // Up to how many tiles their bytes are made 4,096 at a time, by workgroups of 512: with 2 tiles
    // an SM that takes up to a quarter less time than by workgroups of 256, of which an SM runs
    // four, with 9 a third more.
    uint32_t fewExpanded() const { return m_fewFit ? 3 * m_processors : 0; }
    uint32_t tilesPerWorkgroup() const { return m_subgroupSize <= 32 ? 1 : m_subgroupSize / 32; }
    // Pipelines for moves of short runs and for expansions of elements of 4 bytes: where lane
    // groups are subgroups.
    bool specialIntervals() const
    {
        return m_variant != ShaderVariant::emu && m_subgroupSize == 32;
    }
    Kernel chooseMoveKernel(IntervalParams& params) const;
    // Lane groups of a workgroup of the interval kernels.
    uint32_t sharesPerWorkgroup() const
    {
        const bool joined = m_variant == ShaderVariant::emu || m_subgroupSize < 32;
        return joined ? std::max(1u, m_subgroupSize / 32) : SLUICE_INTERVAL_SHARES;
    }
    uint32_t scanTileElements() const;
    // Of scan_ring.comp or compact_ring.comp, which need 32 lanes and workgroups that run at the
    // same time: as many as do, the scanner among them. In the end they wait for each other, so one
    // too many would cost. 0: it is not used.
    uint32_t ringWorkgroups(Kernel kernel) const
    {
        const bool fits =
            m_variant != ShaderVariant::emu && m_subgroupSize == 32 && m_largeWorkgroup >= 256;
        if (!fits || !m_workgroupsGoOn || m_processors == 0) return 0;
        return (kernel == Kernel::scan_sum_ring ? 3 : m_ampleShared ? 4 : 2) * m_processors;
    }
    uint32_t ringTileElements() const;
    bool scansByRing(const SluiceScanInfo& info, const ScanParams& params) const;
    uint32_t compactTile(uint32_t elementSize) const;
    uint32_t compactRingTile() const;
    uint32_t compactCallTile() const;
    bool compactsByRing(const SluiceCompactInfo& info, const CompactParams& params) const;
    VkDeviceAddress address(const SluiceBuffer& buffer) const;
    Access access(const SluiceBuffer& buffer, bool write) const;

    // Binds, pushes and dispatches `workgroups` workgroups; sets params.gridX.
    template <typename Params>
    void dispatch(VkCommandBuffer commands, Kernel kernel, Params params, uint64_t workgroups,
                  std::initializer_list<Access> accesses);
    void barrier(VkCommandBuffer commands, VkPipelineStageFlags stages, VkAccessFlags accesses);
    void computeBarrier(VkCommandBuffer commands);
    void recordSerialCompact(VkCommandBuffer commands, Kernel kernel, CompactParams params,
                             uint64_t tiles, std::initializer_list<Access> accesses);

    RegionParams paramsOf(const SluiceChecksumInfo& list) const;
    // All of `count` tiles PENDING, none failed.
    void recordStatus(VkCommandBuffer commands, const SluiceBuffer& status, uint32_t count);
    void recordDriverDecode(VkCommandBuffer commands, const RegionParams& params,
                            const SluiceGdeflateInfo& info);

    void recordIntervalPlan(VkCommandBuffer commands, IntervalParams params,
                            const SluiceBuffer& result);
    void recordIntervals(VkCommandBuffer commands, Kernel kernel, IntervalParams params,
                         const SluiceBuffer& result, std::initializer_list<Access> accesses);
    void recordBulk(SluiceCommands commands, const SluiceBulkInfo& info, bool insert);

    VulkanFunctions m_vk;
    DriverDecoder m_driver;
    VkDevice m_device = VK_NULL_HANDLE;
    VkPipelineCache m_pipelineCache = VK_NULL_HANDLE;
    VkPipelineLayout m_layout = VK_NULL_HANDLE;
    uint32_t m_kernels = SLUICE_KERNELS_ALL; // SluiceKernels
    std::array<std::atomic<VkPipeline>, kernelCount> m_pipelines{};
    SluiceVulkanRecorder m_recorder = nullptr;
    void* m_recorderUser = nullptr;

    SluiceVulkanTier m_tier = SLUICE_VULKAN_TIER_AUTO;
    ShaderVariant m_variant = ShaderVariant::base;
    uint32_t m_subgroupSize = 0;
    bool m_plainHistory = false;     // of gdeflate.comp and filter.comp
    bool m_ampleShared = false;      // some 100 KB for the workgroups of an SM, not 48
                                     // (docs/portability.md)
    uint32_t m_processors = 0;       // SMs, 0 if not known
    uint32_t m_largeWorkgroup = 128; // for the kernels that gain by it
    bool m_fewFit = false;           // workgroups of 512 of filter_few and gstd_expand_few
    // Of float_decode. On an H200 (driver 580) one of 1,024 keeps more lanes busy than those of
    // 512, of which it runs one at a time: with 1,024 the compiler has 64 registers an invocation
    // at most.
    uint32_t m_floatWorkgroup = 128;
    bool m_workgroupsGoOn = false;       // whatever others do
    bool m_requireSize = false;          // ask for the subgroup size explicitly
    bool m_requireFullSubgroups = false; // and for full subgroups
    std::string m_report;
};

} // namespace sluice
