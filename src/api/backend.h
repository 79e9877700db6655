// SPDX-License-Identifier: MIT OR Apache-2.0
// What every backend implements. src/api checks the arguments once, for all backends, before it
// calls these.
#pragma once

#include <sluice/sluice.h>
#include <sluice/sluice_filter.h>
#include <sluice/sluice_float.h>

#include "../../shaders/lib/layout.h"

namespace sluice {

class Backend {
public:
    virtual ~Backend() = default;

    virtual void contextInfo(SluiceContextInfo& info) const = 0;
    virtual SluiceStatus cmdBarrier(SluiceCommands commands) = 0;

    virtual SluiceRequirements scanRequirements(const SluiceScanInfo& info) const = 0;
    virtual SluiceStatus cmdScan(SluiceCommands commands, const SluiceScanInfo& info) = 0;
    virtual SluiceRequirements reduceRequirements(const SluiceReduceInfo& info) const = 0;
    virtual SluiceStatus cmdReduce(SluiceCommands commands, const SluiceReduceInfo& info) = 0;

    virtual SluiceRequirements compactRequirements(const SluiceCompactInfo& info) const = 0;
    virtual SluiceStatus cmdCompact(SluiceCommands commands, const SluiceCompactInfo& info) = 0;

    virtual SluiceRequirements intervalRequirements(const SluiceIntervals& intervals) const = 0;
    virtual SluiceStatus cmdIntervalExpand(SluiceCommands commands,
                                           const SluiceIntervalExpandInfo& info) = 0;
    virtual SluiceStatus cmdIntervalMove(SluiceCommands commands,
                                         const SluiceIntervalMoveInfo& info) = 0;
    virtual SluiceStatus cmdIntervalSearch(SluiceCommands commands,
                                           const SluiceIntervalSearchInfo& info) = 0;
    virtual SluiceStatus cmdBulkRemove(SluiceCommands commands, const SluiceBulkInfo& info) = 0;
    virtual SluiceStatus cmdBulkInsert(SluiceCommands commands, const SluiceBulkInfo& info) = 0;

    virtual SluiceRequirements gdeflateRequirements(const SluiceGdeflateInfo& info) const = 0;
    virtual SluiceStatus cmdGdeflate(SluiceCommands commands, const SluiceGdeflateInfo& info) = 0;

    virtual SluiceRequirements gstdRequirements(const SluiceGstdInfo& info) const = 0;
    virtual SluiceStatus cmdGstd(SluiceCommands commands, const SluiceGstdInfo& info) = 0;

    virtual SluiceStatus cmdFseTables(SluiceCommands commands, const SluiceFseTablesInfo& info) = 0;

    virtual SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo& info) const = 0;
    virtual SluiceStatus cmdTileStreams(SluiceCommands commands,
                                        const SluiceTileStreamsInfo& info) = 0;

    virtual SluiceRequirements df11Requirements(const SluiceDf11Info& info) const = 0;
    virtual SluiceStatus cmdDf11(SluiceCommands commands, const SluiceDf11Info& info) = 0;

    virtual SluiceRequirements floatDecodeRequirements(const SluiceFloatDecodeInfo& info) const = 0;
    virtual SluiceStatus cmdFloatDecode(SluiceCommands commands,
                                        const SluiceFloatDecodeInfo& info) = 0;

    virtual SluiceRequirements filterRequirements(const SluiceFilterInfo& info) const = 0;
    virtual SluiceStatus cmdFilter(SluiceCommands commands, const SluiceFilterInfo& info) = 0;

    virtual SluiceStatus cmdGstdFilter(SluiceCommands commands, const SluiceGstdInfo& decode,
                                       const SluiceFilterInfo& filter)
    {
        SluiceStatus status = cmdGstd(commands, decode);
        if (status == SLUICE_OK) status = cmdBarrier(commands);
        return status == SLUICE_OK ? cmdFilter(commands, filter) : status;
    }

    virtual SluiceStatus cmdChecksum(SluiceCommands commands, const SluiceChecksumInfo& info) = 0;
};

} // namespace sluice

struct SluiceContext_T {
    sluice::Backend* backend; // owned
};
