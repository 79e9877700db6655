// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cstring>

#include "tools/bench/contest.h"
#include "tools/bench/rows.h"

namespace sluice {
namespace {

void copyOnHost(SluiceCommands, SluiceBuffer from, SluiceBuffer to)
{
    std::memcpy(reinterpret_cast<void*>(to.handle + to.offset),
                reinterpret_cast<const void*>(from.handle + from.offset), size_t(from.size));
}

std::vector<Copier> makeCopiers(const BenchDevice& device)
{
    switch (device.backend()) {
    case SLUICE_BACKEND_VULKAN: return makeVulkanCopiers(device);
    case SLUICE_BACKEND_CUDA: return makeCudaCopiers();
    default: return {{"memcpy", copyOnHost}};
    }
}

} // namespace

void benchCopy(const BenchDevice& device, BenchReport& report)
{
    const uint64_t size = !device.isGpu() ? 64u << 20 : device.isBrief() ? 256u << 20 : 1u << 30;
    const DeviceBuffer from = device.allocate(size), to = device.allocate(size);
    Words words(size / 4), copied(size / 4);
    for (uint32_t i = 0; i < words.size(); ++i)
        words[i] = scrambled(i);
    device.upload(from.whole(), words.data(), size);
    for (const Copier& copier : makeCopiers(device)) {
        const auto record = [&](SluiceCommands commands, uint32_t) {
            copier.record(commands, from.whole(), to.whole());
        };
        device.fill(to.whole(), 0xee);
        device.runOnce(record);
        device.download(to.whole(), copied.data(), size);
        if (copied != words)
            throw Failure{exitDevice, std::string("copy (") + copier.name + "): wrong result"};
        report.addCopy({"copy", sizeText(size), copier.name, 2 * size, device.time(1, record)});
    }
}

} // namespace sluice
