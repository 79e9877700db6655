// SPDX-License-Identifier: MIT OR Apache-2.0
// What every backend implements. src/api checks the arguments once, for all backends, before it
// calls these.
#pragma once

#include <atomic>

#include <sluice/sluice_all.h>

#include "api/kernel_table.h"

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
    // The address by which kernels and lists of regions know the start of the range.
    virtual uint64_t deviceAddress(const SluiceBuffer& buffer) const
    {
        return buffer.handle + buffer.offset;
    }

#define SLUICE_COMMAND(Name, kernel, Info)                                                         \
    virtual SluiceStatus cmd##Name(SluiceCommands, const Info&) { return SLUICE_ERROR_UNSUPPORTED; }
    SLUICE_ALL(COMMANDS, SLUICE_COMMAND)
    SLUICE_COMMAND(TileStreams, tileStreams, SluiceTileStreamsInfo)
#undef SLUICE_COMMAND
#define SLUICE_REQUIREMENTS(name, Info)                                                            \
    virtual SluiceRequirements name##Requirements(const Info&) const { return kNoScratch; }
    SLUICE_ALL(SCRATCH, SLUICE_REQUIREMENTS)
    SLUICE_REQUIREMENTS(df11, SluiceDf11Info)
    SLUICE_REQUIREMENTS(floatDecode, SluiceFloatDecodeInfo)
#undef SLUICE_REQUIREMENTS

    virtual SluiceStatus cmdGstdFilter(SluiceCommands commands, const SluiceGstdInfo& decode,
                                       const SluiceFilterInfo& filter)
    {
        SluiceStatus status = cmdGstd(commands, decode);
        if (status == SLUICE_OK) status = cmdBarrier(commands);
        return status == SLUICE_OK ? cmdFilter(commands, filter) : status;
    }
};

// A backend's class declares each command with the first, and the scratch of one with the second.
#define SLUICE_OVERRIDE_COMMAND(Name, kernel, Info)                                                \
    SluiceStatus cmd##Name(SluiceCommands commands, const Info& info) override;
#define SLUICE_OVERRIDE_SCRATCH(name, Info)                                                        \
    SluiceRequirements name##Requirements(const Info& info) const override;

} // namespace sluice

struct SluiceContext_T {
    sluice::Backend* backend; // owned
    // SluiceKernels whose pipelines a self-test has found wrong.
    std::atomic<uint32_t> distrusted{0};
};
