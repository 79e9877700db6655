// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "stream/gpu.h"

namespace sluice {

// A device for the streamer whose copies and barriers do nothing and whose semaphores stay at 0.
// With it the benchmark measures what the streamer costs the CPU. Tests derive their devices from
// it.
struct IdleGpu : SluiceStreamGpu {
    SluiceStatus begin(uint32_t, uint32_t& id) override
    {
        id = 0;
        return SLUICE_OK;
    }
    void end(uint32_t) override {}
    void timestamp(SluiceCommands, uint32_t, uint32_t, bool) override {}
    bool milliseconds(uint32_t, uint32_t, double&) override { return false; }
    void barrierBefore(SluiceCommands) override {}
    void barrierToCopies(SluiceCommands) override {}
    void barrierAfter(SluiceCommands) override {}
    void beginImages(SluiceCommands, const stream::ImageBegin*, uint32_t) override {}
    void endImages(SluiceCommands, const SluiceStreamImage* const*, uint32_t) override {}
    void copyToImage(SluiceCommands, const stream::ImageCopy&) override {}
    SluiceStatus copyToBuffer(SluiceCommands, uint64_t, uint64_t, const SluiceBuffer&) override
    {
        return SLUICE_OK;
    }
    SluiceStatus semaphoreValue(uint64_t, uint64_t& value) override
    {
        value = 0;
        return SLUICE_OK;
    }
    SluiceStatus signal(uint64_t, uint64_t) override { return SLUICE_OK; }
};

} // namespace sluice
