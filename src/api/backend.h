// SPDX-License-Identifier: MIT OR Apache-2.0
// The interface that every backend implements. src/api checks the arguments once, for all backends,
// before it calls these functions.
#pragma once

#include <atomic>

#include <sluice/sluice_all.h>

#include "api/arguments.h"
#include "api/components.h"

namespace sluice {

constexpr SluiceRequirements kNoScratch = {0, 1, 0};

class Backend {
public:
    virtual ~Backend() = default;

    virtual void contextInfo(SluiceContextInfo& info) const = 0;
    // Creates pipelines and sets `left` as sluiceCreatePipelines does. Only the Vulkan backend
    // overrides this function, since the others have no pipelines.
    virtual SluiceStatus createPipelines(const SluicePipelinesInfo&, uint32_t& left)
    {
        left = 0;
        return SLUICE_OK;
    }
    virtual SluiceStatus cmdBarrier(SluiceCommands commands) = 0;
    // Calls record(user, commands), which records chains of commands: the commands of a chain
    // depend on each other, but no chain depends on another. `record` calls nextChain before the
    // first command of each chain. A backend that runs chains at the same time overrides both
    // functions: it collects the dispatches of all chains before it records them. A chain must not
    // contain a decode by the driver (SLUICE_DECODE_BY_DRIVER), which is not a dispatch.
    using RecordChains = SluiceStatus (*)(const void* user, SluiceCommands commands);
    virtual SluiceStatus cmdSideBySide(SluiceCommands commands, RecordChains record,
                                       const void* user)
    {
        return record(user, commands);
    }
    virtual void nextChain(SluiceCommands) {}
    // Returns the address that kernels and region lists use for the start of the range.
    virtual uint64_t deviceAddress(const SluiceBuffer& buffer) const
    {
        return buffer.handle + buffer.offset;
    }

    // The commands of the components that are in this build. For a command that may need scratch
    // there is also a function that returns the command's requirements.
    virtual SluiceStatus cmdChecksum(SluiceCommands, const SluiceChecksumInfo&) = 0;
#if SLUICE_HAVE_SUMS
    virtual SluiceStatus cmdScan(SluiceCommands, const SluiceScanInfo&) = 0;
    virtual SluiceStatus cmdReduce(SluiceCommands, const SluiceReduceInfo&) = 0;
    virtual SluiceRequirements scanRequirements(const SluiceScanInfo&) const { return kNoScratch; }
    virtual SluiceRequirements reduceRequirements(const SluiceReduceInfo&) const
    {
        return kNoScratch;
    }
#endif
#if SLUICE_HAVE_PRIMITIVES
    virtual SluiceStatus cmdCompact(SluiceCommands, const SluiceCompactInfo&) = 0;
    virtual SluiceStatus cmdIntervalExpand(SluiceCommands, const SluiceIntervalExpandInfo&) = 0;
    virtual SluiceStatus cmdIntervalMove(SluiceCommands, const SluiceIntervalMoveInfo&) = 0;
    virtual SluiceStatus cmdIntervalSearch(SluiceCommands, const SluiceIntervalSearchInfo&) = 0;
    virtual SluiceStatus cmdBulkRemove(SluiceCommands, const SluiceBulkInfo&) = 0;
    virtual SluiceStatus cmdBulkInsert(SluiceCommands, const SluiceBulkInfo&) = 0;
    virtual SluiceRequirements compactRequirements(const SluiceCompactInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceRequirements intervalRequirements(const SluiceIntervals&) const
    {
        return kNoScratch;
    }
#endif
#if SLUICE_HAVE_CODECS
    virtual SluiceStatus cmdGdeflate(SluiceCommands, const SluiceGdeflateInfo&) = 0;
    virtual SluiceStatus cmdGstd(SluiceCommands, const SluiceGstdInfo&) = 0;
    virtual SluiceStatus cmdFilter(SluiceCommands, const SluiceFilterInfo&) = 0;
    virtual SluiceStatus cmdFseTables(SluiceCommands, const SluiceFseTablesInfo&) = 0;
    virtual SluiceStatus cmdTileStreams(SluiceCommands, const SluiceTileStreamsInfo&) = 0;
    virtual SluiceStatus cmdGstdFilter(SluiceCommands commands, const SluiceGstdInfo& decode,
                                       const SluiceFilterInfo& filter)
    {
        SluiceStatus status = cmdGstd(commands, decode);
        if (status == SLUICE_OK) status = cmdBarrier(commands);
        return status == SLUICE_OK ? cmdFilter(commands, filter) : status;
    }
    virtual SluiceRequirements gdeflateRequirements(const SluiceGdeflateInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceRequirements gstdRequirements(const SluiceGstdInfo&) const { return kNoScratch; }
    virtual SluiceRequirements filterRequirements(const SluiceFilterInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo&) const
    {
        return kNoScratch;
    }
#endif
#if SLUICE_HAVE_WEIGHTS
    virtual SluiceStatus cmdFloatDecode(SluiceCommands, const SluiceFloatDecodeInfo&) = 0;
    virtual SluiceStatus cmdDf11(SluiceCommands, const SluiceDf11Info&) = 0;
#endif
#if SLUICE_HAVE_ZSTD
    virtual SluiceStatus cmdZstd(SluiceCommands, const SluiceZstdInfo&) = 0;
    virtual SluiceRequirements zstdRequirements(const SluiceZstdInfo&) const { return kNoScratch; }
#endif
#if SLUICE_HAVE_UASTC
    virtual SluiceStatus cmdUastc(SluiceCommands, const SluiceUastcInfo&) = 0;
    virtual SluiceRequirements uastcRequirements(const SluiceUastcInfo&) const
    {
        return kNoScratch;
    }
#endif
};

} // namespace sluice

struct SluiceContext_T {
    sluice::Backend* backend; // owned
    sluice::Reporter reporter{};
    // SluiceKernels that gave wrong results in a self-test
    std::atomic<uint32_t> distrusted{0};
};
