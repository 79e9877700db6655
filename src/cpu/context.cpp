// SPDX-License-Identifier: MIT OR Apache-2.0
// Creates CPU contexts. There are two tiers. `ref` is the reference: plain code, which needs
// scratch memory only for tile streams. `fast` has faster decoders, and needs scratch memory for
// Gstd too.
#include "cpu/context.h"

#include "api/components.h"
#include "cpu/fast/filter.h"
#include "cpu/fast/gdeflate.h"
#include "cpu/fast/gstd.h"
#include "cpu/fast/uastc.h"
#include "cpu/fast/zstd.h"

#include <cstring>
#include <new>

namespace sluice::cpu {

void ReferenceBackend::contextInfo(SluiceContextInfo& info) const
{
    info.backend = SLUICE_BACKEND_CPU;
    info.tier = "ref";
    info.subgroupSize = 1;
    info.byteStores = 1;
    info.report = "";
    info.driverRegionLimit = 0;
    info.kernels = kBuiltKernels;
}

namespace {

class FastBackend final : public ReferenceBackend {
public:
    void contextInfo(SluiceContextInfo& info) const override
    {
        ReferenceBackend::contextInfo(info);
        info.tier = "fast";
    }

#if SLUICE_HAVE_CODECS
    SluiceStatus cmdGdeflate(SluiceCommands, const SluiceGdeflateInfo& info) override
    {
        fast::gdeflate(info);
        return SLUICE_OK;
    }

    SluiceRequirements gstdRequirements(const SluiceGstdInfo& info) const override
    {
        if (info.maxRegionCount == 0) return kNoScratch;
        return {fast::kGstdScratchSize, fast::kGstdScratchAlignment, 0};
    }
    SluiceStatus cmdGstd(SluiceCommands, const SluiceGstdInfo& info) override
    {
        fast::gstd(info);
        return SLUICE_OK;
    }

    SluiceStatus cmdFilter(SluiceCommands, const SluiceFilterInfo& info) override
    {
        fast::filter(info);
        return SLUICE_OK;
    }
#endif

#if SLUICE_HAVE_ZSTD
    SluiceStatus cmdZstd(SluiceCommands, const SluiceZstdInfo& info) override
    {
        return fast::zstd(info);
    }
#endif

#if SLUICE_HAVE_UASTC
    SluiceStatus cmdUastc(SluiceCommands, const SluiceUastcInfo& info) override
    {
        fast::uastc(info);
        return SLUICE_OK;
    }
#endif
};

} // namespace
} // namespace sluice::cpu

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
    sluice::Backend* backend = isReference ? new (std::nothrow) sluice::cpu::ReferenceBackend
                                           : new (std::nothrow) sluice::cpu::FastBackend;
    SluiceContext created = new (std::nothrow) SluiceContext_T{backend};
    if (backend == nullptr || created == nullptr) {
        delete backend;
        delete created;
        return SLUICE_ERROR_OUT_OF_MEMORY;
    }
    *context = created;
    return SLUICE_OK;
}
