// SPDX-License-Identifier: MIT OR Apache-2.0
// The CPU backend: every command has run when it returns. The tier `ref` is the reference, which
// needs no scratch; `fast` has other decoders of tiles, which allocate nothing.
#include <sluice/sluice_all.h>

#include "api/backend.h"
#include "api/components.h"
#include "api/plan_tile_streams.h"
#include "cpu/fast/filter.h"
#include "cpu/fast/gdeflate.h"
#include "cpu/fast/gstd.h"
#include "cpu/kernels.h"

#include <cstring>
#include <new>

namespace sluice {
namespace {

class ReferenceBackend : public Backend {
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
    SLUICE_BUILT(COMMANDS, SLUICE_COMMAND)
#undef SLUICE_COMMAND

#if SLUICE_HAVE_CODECS
    SluiceRequirements tileStreamsRequirements(const SluiceTileStreamsInfo& info) const override
    {
        return tileStreamsPlan(*this, info).requirements;
    }

    SluiceStatus cmdTileStreams(SluiceCommands commands, const SluiceTileStreamsInfo& info) override
    {
        const TileStreamsPlan plan = tileStreamsPlan(*this, info);
        cpu::tileStreamsCheck(info, plan.counts);
        cpu::scan(plan.scan);
        cpu::tileStreamsWrite(info, plan.counts, plan.decode.regions);
        cmdGdeflate(commands, plan.decode);
        cpu::tileStreamsVerdict(info);
        return SLUICE_OK;
    }
#endif
};

#if SLUICE_HAVE_CODECS
class FastBackend final : public ReferenceBackend {
public:
    void contextInfo(SluiceContextInfo& info) const override
    {
        ReferenceBackend::contextInfo(info);
        info.tier = "fast";
    }

    SluiceStatus cmdGdeflate(SluiceCommands, const SluiceGdeflateInfo& info) override
    {
        cpu::fast::gdeflate(info);
        return SLUICE_OK;
    }

    SluiceRequirements gstdRequirements(const SluiceGstdInfo& info) const override
    {
        if (info.maxRegionCount == 0) return kNoScratch;
        return {cpu::fast::kGstdScratchSize, cpu::fast::kGstdScratchAlignment, 0};
    }
    SluiceStatus cmdGstd(SluiceCommands, const SluiceGstdInfo& info) override
    {
        cpu::fast::gstd(info);
        return SLUICE_OK;
    }

    SluiceStatus cmdFilter(SluiceCommands, const SluiceFilterInfo& info) override
    {
        cpu::fast::filter(info);
        return SLUICE_OK;
    }
};
#else
using FastBackend = ReferenceBackend; // there is nothing to decode
#endif

} // namespace
} // namespace sluice

SluiceStatus sluiceCreateCpuContext(SluiceContext* context)
{
    return sluiceCreateCpuContextOfTier(nullptr, context);
}

SluiceStatus sluiceCreateCpuContextOfTier(const char* tier, SluiceContext* context)
{
    if (context == nullptr) return SLUICE_ERROR_ARGUMENT;
    *context = nullptr;
    const bool isReference = tier != nullptr && std::strcmp(tier, "ref") == 0;
    if (tier != nullptr && !isReference && std::strcmp(tier, "fast") != 0)
        return SLUICE_ERROR_ARGUMENT;
    sluice::Backend* backend = isReference ? new (std::nothrow) sluice::ReferenceBackend
                                           : new (std::nothrow) sluice::FastBackend;
    SluiceContext created = new (std::nothrow) SluiceContext_T{backend};
    if (backend == nullptr || created == nullptr) {
        delete backend;
        delete created;
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
    *context = created;
    return SLUICE_OK;
}
