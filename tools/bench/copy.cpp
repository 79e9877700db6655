// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of plain copies.
#include <cstring>

#include "checked.h"
#include "rows.h"

namespace sluice {
namespace {

class MemcpyCopier final : public Copier {
public:
    const char* name() const override { return "memcpy"; }
    void record(SluiceCommands, SluiceBuffer from, SluiceBuffer to) override
    {
        std::memcpy(
            reinterpret_cast<void*>(static_cast<uintptr_t>(to.handle + to.offset)),
            reinterpret_cast<const void*>(static_cast<uintptr_t>(from.handle + from.offset)),
            static_cast<size_t>(from.size));
    }
};

std::vector<std::unique_ptr<Copier>> makeCopiers(const BenchDevice& device)
{
    switch (device.properties().backend) {
    case SLUICE_BACKEND_VULKAN: return makeVulkanCopiers(device);
    case SLUICE_BACKEND_CUDA: return makeCudaCopiers();
    default: break;
    }
    std::vector<std::unique_ptr<Copier>> copiers;
    copiers.push_back(std::make_unique<MemcpyCopier>());
    return copiers;
}

} // namespace

void benchCopy(const BenchDevice& device, BenchReport& report)
{
    const uint64_t size = device.isGpu() ? 1u << 30 : 64u << 20;
    const BenchBuffer from = device.allocate(size), to = device.allocate(size);
    std::vector<uint32_t> bytes(size / 4), copied(size / 4);
    for (uint32_t i = 0; i < bytes.size(); ++i)
        bytes[i] = scrambled(i);
    device.upload(from.whole(), bytes.data(), size);

    const std::vector<std::unique_ptr<Copier>> copiers = makeCopiers(device);
    for (const std::unique_ptr<Copier>& copier : copiers) {
        const auto record = [&](SluiceCommands commands, uint32_t) {
            copier->record(commands, from.whole(), to.whole());
        };
        device.fill(to.whole(), 0xee);
        device.runOnce(record);
        device.download(to.whole(), copied.data(), size);
        if (copied != bytes)
            throw Failure{exitDevice, std::string("copy (") + copier->name() + "): wrong result"};

        BenchRow row;
        row.kernel = "copy";
        row.size = sizeText(size);
        row.who = copier->name();
        row.bytes = 2 * size;
        row.timing = device.time(1, record);
        report.addCopy(row);
    }
}

} // namespace sluice
