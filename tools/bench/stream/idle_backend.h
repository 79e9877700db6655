// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "api/components.h"
#include "cpu/context.h"

namespace sluice {

// A backend whose decoders do nothing. A streamer calls only the commands that are overridden here.
// The benchmark uses it, and tests do, so that tiles stay undecoded.
class IdleBackend : public cpu::ReferenceBackend {
public:
    void contextInfo(SluiceContextInfo& info) const override
    {
        info = {};
        info.backend = SLUICE_BACKEND_VULKAN;
        info.tier = "none";
        info.report = "";
        info.kernels = kBuiltKernels;
    }
    SluiceStatus cmdChecksum(SluiceCommands, const SluiceChecksumInfo&) override
    {
        return SLUICE_OK;
    }
    SluiceStatus cmdGdeflate(SluiceCommands, const SluiceGdeflateInfo&) override
    {
        return SLUICE_OK;
    }
    SluiceStatus cmdGstd(SluiceCommands, const SluiceGstdInfo&) override { return SLUICE_OK; }
    SluiceStatus cmdFilter(SluiceCommands, const SluiceFilterInfo&) override { return SLUICE_OK; }
};

} // namespace sluice
