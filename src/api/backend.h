// SPDX-License-Identifier: MIT OR Apache-2.0
// The interface that every backend implements. src/api checks the arguments once, for all backends,
// before it calls these functions.
#pragma once

#include <atomic>

#include <sluice/sluice_all.h>

#include "api/components.h"

namespace sluice {

constexpr SluiceRequirements kNoScratch = {0, 1, 0};

class Backend {
public:
    virtual ~Backend() = default;

    virtual void contextInfo(SluiceContextInfo& info) const = 0;
    // `left` is as in sluiceCreatePipelines. A backend that needs no pipelines does not override
    // this.
    virtual SluiceStatus createPipelines(const SluicePipelinesInfo&, uint32_t& left)
    {
        left = 0;
        return SLUICE_OK;
    }
    virtual SluiceStatus cmdBarrier(SluiceCommands commands) = 0;
    // Returns the address that kernels and region lists use for the start of the range.
    virtual uint64_t deviceAddress(const SluiceBuffer& buffer) const
    {
        return buffer.handle + buffer.offset;
    }

    // The commands of the components that the library is built with. A command that may need
    // scratch is accompanied by a function that returns its requirements.
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
};

} // namespace sluice

struct SluiceContext_T {
    sluice::Backend* backend; // owned
    // The SluiceKernels whose pipelines gave wrong results in a self-test.
    std::atomic<uint32_t> distrusted{0};
};
