// SPDX-License-Identifier: MIT OR Apache-2.0
// The CPU backend: every command has run when it returns, and none needs scratch of its own.
#include <sluice/sluice_all.h>

#include "../api/backend.h"
#include "../api/components.h"
#include "../api/plan_tile_streams.h"
#include "kernels.h"

#include <new>

namespace sluice {
namespace {

class CpuBackend final : public Backend {
public:
    void contextInfo(SluiceContextInfo& info) const override
    {
        info.backend = SLUICE_BACKEND_CPU;
        info.tier = "ref";
        info.subgroupSize = 1;
        info.byteStores = 1;
        info.report = "";
        info.driverRegionLimit = 0;
        info.kernels = kBuiltKernels;
    }

    SluiceStatus cmdBarrier(SluiceCommands) override { return SLUICE_OK; }

#define SLUICE_COMMAND(Name, kernel, Info)                                                         \
    SluiceStatus cmd##Name(SluiceCommands, const Info& info) override                              \
    {                                                                                              \
        cpu::kernel(info);                                                                         \
        return SLUICE_OK;                                                                          \
    }
    SLUICE_BUILT_COMMANDS(SLUICE_COMMAND)
#undef SLUICE_COMMAND

#if SLUICE_HAVE_CODECS
    SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo& info) const override
    {
        return tileStreamsPlan(*this, info).requirements;
    }

    SluiceStatus cmdTileStreams(SluiceCommands, const SluiceTileStreamsInfo& info) override
    {
        const TileStreamsPlan plan = tileStreamsPlan(*this, info);
        cpu::tileStreamsCheck(info, plan.counts);
        cpu::scan(plan.scan);
        cpu::tileStreamsWrite(info, plan.counts, plan.decode.regions);
        cpu::gdeflate(plan.decode);
        cpu::tileStreamsVerdict(info);
        return SLUICE_OK;
    }
#endif
};

} // namespace
} // namespace sluice

SluiceStatus sluiceCreateCpuContext(SluiceContext* context)
{
    if (context == nullptr) return SLUICE_ERROR_ARGUMENT;
    *context = nullptr;
    auto* backend = new (std::nothrow) sluice::CpuBackend;
    SluiceContext created = new (std::nothrow) SluiceContext_T{backend};
    if (backend == nullptr || created == nullptr) {
        delete backend;
        delete created;
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
    *context = created;
    return SLUICE_OK;
}
