// SPDX-License-Identifier: MIT OR Apache-2.0
// What every backend implements. src/api checks the arguments once, for all backends, before it
// calls these.
#pragma once

#include <sluice/sluice_all.h>

#include "command_list.h"

namespace sluice {

constexpr SluiceRequirements kNoScratch = {0, 1, 0};

// A backend overrides the commands of the components that it was built with. Requirements that it
// leaves alone are none.
class Backend {
public:
    virtual ~Backend() = default;

    virtual void contextInfo(SluiceContextInfo& info) const = 0;
    virtual SluiceStatus cmdBarrier(SluiceCommands commands) = 0;

#define SLUICE_COMMAND(Name, kernel, Info)                                                         \
    virtual SluiceStatus cmd##Name(SluiceCommands, const Info&) { return SLUICE_ERROR_UNSUPPORTED; }
    SLUICE_ALL_COMMANDS(SLUICE_COMMAND)
#undef SLUICE_COMMAND

    virtual SluiceRequirements scanRequirements(const SluiceScanInfo&) const { return kNoScratch; }
    virtual SluiceRequirements reduceRequirements(const SluiceReduceInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceRequirements compactRequirements(const SluiceCompactInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceRequirements intervalRequirements(const SluiceIntervals&) const
    {
        return kNoScratch;
    }
    virtual SluiceRequirements gdeflateRequirements(const SluiceGdeflateInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceRequirements gstdRequirements(const SluiceGstdInfo&) const { return kNoScratch; }
    virtual SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceStatus cmdTileStreams(SluiceCommands, const SluiceTileStreamsInfo&)
    {
        return SLUICE_ERROR_UNSUPPORTED;
    }
    virtual SluiceRequirements df11Requirements(const SluiceDf11Info&) const { return kNoScratch; }
    virtual SluiceRequirements floatDecodeRequirements(const SluiceFloatDecodeInfo&) const
    {
        return kNoScratch;
    }
    virtual SluiceRequirements filterRequirements(const SluiceFilterInfo&) const
    {
        return kNoScratch;
    }

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
