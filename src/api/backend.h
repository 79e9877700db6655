// SPDX-License-Identifier: MIT OR Apache-2.0
// What every backend implements. src/api checks the arguments once, for all backends, before it
// calls these.
#pragma once

#include <sluice/sluice_all.h>

#include "../../shaders/lib/layout.h"

namespace sluice {

constexpr SluiceRequirements kNoScratch = {0, 1, 0};

// A backend overrides the commands of the components that it was built with. Requirements that it
// leaves alone are none.
class Backend {
public:
    virtual ~Backend() = default;

    virtual void contextInfo(SluiceContextInfo& info) const = 0;
    // left: as in sluiceCreatePipelines. A backend that needs no pipelines leaves this alone.
    virtual SluiceStatus createPipelines(const SluicePipelinesInfo&, uint32_t& left)
    {
        left = 0;
        return SLUICE_OK;
    }
    virtual SluiceStatus cmdBarrier(SluiceCommands commands) = 0;

#define SLUICE_COMMAND(Name, Info)                                                                 \
    virtual SluiceStatus cmd##Name(SluiceCommands, const Info&) { return SLUICE_ERROR_UNSUPPORTED; }
#define SLUICE_REQUIREMENTS(name, Info)                                                            \
    virtual SluiceRequirements name##Requirements(const Info&) const { return kNoScratch; }
    SLUICE_COMMAND(Checksum, SluiceChecksumInfo)
    SLUICE_COMMAND(Scan, SluiceScanInfo)
    SLUICE_COMMAND(Reduce, SluiceReduceInfo)
    SLUICE_COMMAND(Compact, SluiceCompactInfo)
    SLUICE_COMMAND(IntervalExpand, SluiceIntervalExpandInfo)
    SLUICE_COMMAND(IntervalMove, SluiceIntervalMoveInfo)
    SLUICE_COMMAND(IntervalSearch, SluiceIntervalSearchInfo)
    SLUICE_COMMAND(BulkRemove, SluiceBulkInfo)
    SLUICE_COMMAND(BulkInsert, SluiceBulkInfo)
    SLUICE_COMMAND(Gdeflate, SluiceGdeflateInfo)
    SLUICE_COMMAND(Gstd, SluiceGstdInfo)
    SLUICE_COMMAND(Filter, SluiceFilterInfo)
    SLUICE_COMMAND(FseTables, SluiceFseTablesInfo)
    SLUICE_COMMAND(TileStreams, SluiceTileStreamsInfo)
    SLUICE_COMMAND(Df11, SluiceDf11Info)
    SLUICE_COMMAND(FloatDecode, SluiceFloatDecodeInfo)
    SLUICE_REQUIREMENTS(scan, SluiceScanInfo)
    SLUICE_REQUIREMENTS(reduce, SluiceReduceInfo)
    SLUICE_REQUIREMENTS(compact, SluiceCompactInfo)
    SLUICE_REQUIREMENTS(interval, SluiceIntervals)
    SLUICE_REQUIREMENTS(gdeflate, SluiceGdeflateInfo)
    SLUICE_REQUIREMENTS(gstd, SluiceGstdInfo)
    SLUICE_REQUIREMENTS(filter, SluiceFilterInfo)
    SLUICE_REQUIREMENTS(tileStreams, SluiceTileStreamsInfo)
    SLUICE_REQUIREMENTS(df11, SluiceDf11Info)
    SLUICE_REQUIREMENTS(floatDecode, SluiceFloatDecodeInfo)
#undef SLUICE_COMMAND
#undef SLUICE_REQUIREMENTS

    virtual SluiceStatus cmdGstdFilter(SluiceCommands commands, const SluiceGstdInfo& decode,
                                       const SluiceFilterInfo& filter)
    {
        SluiceStatus status = cmdGstd(commands, decode);
        if (status == SLUICE_OK) status = cmdBarrier(commands);
        return status == SLUICE_OK ? cmdFilter(commands, filter) : status;
    }
};

} // namespace sluice

struct SluiceContext_T {
    sluice::Backend* backend; // owned
};
