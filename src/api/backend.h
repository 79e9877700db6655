// SPDX-License-Identifier: MIT OR Apache-2.0
// What every backend implements. src/api checks the arguments once, for all backends, before it
// calls these.
#pragma once

#include <sluice/sluice_all.h>

namespace sluice {

constexpr SluiceRequirements kNoScratch = {0, 1, 0};

// A backend overrides the commands of the components that it was built with. Requirements that it
// leaves alone are none.
class Backend {
public:
    virtual ~Backend() = default;

    virtual void contextInfo(SluiceContextInfo& info) const = 0;
    virtual SluiceStatus cmdBarrier(SluiceCommands commands) = 0;

    virtual SluiceRequirements scanRequirements(const SluiceScanInfo&) const { return kNoScratch; }
    virtual SluiceStatus cmdScan(SluiceCommands, const SluiceScanInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }
    virtual SluiceRequirements reduceRequirements(const SluiceReduceInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceStatus cmdReduce(SluiceCommands, const SluiceReduceInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }

    virtual SluiceRequirements compactRequirements(const SluiceCompactInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceStatus cmdCompact(SluiceCommands, const SluiceCompactInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }

    virtual SluiceRequirements intervalRequirements(const SluiceIntervals&) const
    {
        return kNoScratch;
    }
    virtual SluiceStatus cmdIntervalExpand(SluiceCommands, const SluiceIntervalExpandInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }
    virtual SluiceStatus cmdIntervalMove(SluiceCommands, const SluiceIntervalMoveInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }
    virtual SluiceStatus cmdIntervalSearch(SluiceCommands, const SluiceIntervalSearchInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }
    virtual SluiceStatus cmdBulkRemove(SluiceCommands, const SluiceBulkInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }
    virtual SluiceStatus cmdBulkInsert(SluiceCommands, const SluiceBulkInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }

    virtual SluiceRequirements gdeflateRequirements(const SluiceGdeflateInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceStatus cmdGdeflate(SluiceCommands, const SluiceGdeflateInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }

    virtual SluiceRequirements gstdRequirements(const SluiceGstdInfo&) const { return kNoScratch; }
    virtual SluiceStatus cmdGstd(SluiceCommands, const SluiceGstdInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }

    virtual SluiceStatus cmdFseTables(SluiceCommands, const SluiceFseTablesInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }

    virtual SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceStatus cmdTileStreams(SluiceCommands, const SluiceTileStreamsInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }

    virtual SluiceRequirements df11Requirements(const SluiceDf11Info&) const { return kNoScratch; }
    virtual SluiceStatus cmdDf11(SluiceCommands, const SluiceDf11Info&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }

    virtual SluiceRequirements floatDecodeRequirements(const SluiceFloatDecodeInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceStatus cmdFloatDecode(SluiceCommands, const SluiceFloatDecodeInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }

    virtual SluiceRequirements filterRequirements(const SluiceFilterInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceStatus cmdFilter(SluiceCommands, const SluiceFilterInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }

    virtual SluiceStatus cmdGstdFilter(SluiceCommands commands, const SluiceGstdInfo& decode,
                                       const SluiceFilterInfo& filter)
    {
        SluiceStatus status = cmdGstd(commands, decode);
        if (status == SLUICE_OK) status = cmdBarrier(commands);
        return status == SLUICE_OK ? cmdFilter(commands, filter) : status;
    }

    virtual SluiceStatus cmdChecksum(SluiceCommands, const SluiceChecksumInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }
};

} // namespace sluice

struct SluiceContext_T {
    sluice::Backend* backend; // owned
};
