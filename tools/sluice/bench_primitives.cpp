// SPDX-License-Identifier: MIT OR Apache-2.0
// The copy and scan rows.
#include <algorithm>
#include <cstring>

#include "bench_peers.h"
#include "bench_rows.h"

namespace sluice {
namespace {

class MemcpyCopier final : public Copier {
public:
    const char* name() const override { return "memcpy"; }
    void record(SluiceCommands, SluiceBuffer from, SluiceBuffer to) override
    {
        std::memcpy(reinterpret_cast<void*>(static_cast<uintptr_t>(to.handle + to.offset)),
                    reinterpret_cast<const void*>(static_cast<uintptr_t>(from.handle + from.offset)),
                    static_cast<size_t>(from.size));
    }
};

std::vector<std::unique_ptr<Copier>> makeCopiers(const BenchDevice& device)
{
    switch (device.properties().backend) {
    case SLUICE_BACKEND_VULKAN:
        return makeVulkanCopiers(device);
    case SLUICE_BACKEND_CUDA:
        return makeCudaCopiers();
    default:
        break;
    }
    std::vector<std::unique_ptr<Copier>> copiers;
    copiers.push_back(std::make_unique<MemcpyCopier>());
    return copiers;
}

uint32_t scrambled(uint32_t value) // lowbias32 of Chris Wellons' hash prospector
{
    value = (value ^ value >> 16) * 0x7feb352du;
    value = (value ^ value >> 15) * 0x846ca68bu;
    return value ^ value >> 16;
}

// The largest element count of a primitive, `most` or what memory allows: three buffers of that many words must fit
// easily.
uint32_t maxElements(const BenchDevice& device, uint32_t most)
{
    if (!device.isGpu()) return device.properties().backend == SLUICE_BACKEND_CPU ? 1u << 24 : 1u << 21;
    uint32_t count = most;
    while (count > 1u << 20 && uint64_t{count} * 4 * 6 > device.properties().memorySize)
        count /= 4;
    return count;
}

// Several input sets, so that none of them is still in a cache when its turn comes again: 32 of 2^20 elements, 8 of
// 2^22, ... and one of 2^25 or more. Small ones are about the cost of a call: 1,000 of them.
uint32_t setCount(uint32_t count, uint32_t limit)
{
    return std::min(std::clamp<uint32_t>((1u << 25) / count, 1, limit / count), 1000u);
}

struct HostData {
    std::vector<uint32_t> input;

    explicit HostData(uint32_t count) : input(count)
    {
        for (uint32_t i = 0; i < count; ++i)
            input[i] = scrambled(i);
    }
};

// The same data on one device.
struct DeviceData {
    const BenchDevice& device;
    BenchBuffer input, output;

    DeviceData(const BenchDevice& on, const HostData& host)
        : device(on), input(on.allocate(host.input.size() * 4)), output(on.allocate(host.input.size() * 4))
    {
        on.upload(input.whole(), host.input.data(), input.size());
    }
};

// One operation on one input set; set k's elements start at k * count.
using RecordSet = std::function<void(SluiceCommands commands, uint32_t set)>;

struct Work {
    uint32_t count, sets;
    SluiceBuffer slice(const BenchBuffer& buffer, uint32_t set) const
    {
        return buffer.part(uint64_t{set} * count * 4, uint64_t{count} * 4);
    }
};

BenchDevice::Record allSets(const Work& work, const RecordSet& recordSet)
{
    return [&work, recordSet](SluiceCommands commands, uint32_t) {
        for (uint32_t set = 0; set < work.sets; ++set)
            recordSet(commands, set);
    };
}

using Expect = std::function<void(const Work& work, const uint32_t* output)>;

// Runs once over poisoned output, checks, then times.
BenchRow measure(const DeviceData& data, const Work& work, const RecordSet& recordSet, const Expect& expect)
{
    const SluiceBuffer used = data.output.part(0, uint64_t{work.count} * work.sets * 4);
    data.device.fill(used, 0xee);
    data.device.runOnce(allSets(work, recordSet));
    std::vector<uint32_t> output(used.size / 4);
    data.device.download(used, output.data(), used.size);
    expect(work, output.data());

    BenchRow row;
    row.timing = data.device.time(work.sets, allSets(work, recordSet));
    return row;
}

std::string powerText(uint32_t count)
{
    uint32_t exponent = 0;
    while (1u << exponent < count)
        ++exponent;
    return "2^" + std::to_string(exponent);
}

void failWrong(const std::string& who, uint32_t set, uint32_t index)
{
    throw Failure{exitDevice,
                  who + ": wrong result in set " + std::to_string(set) + " at element " + std::to_string(index)};
}

RecordSet recordScan(const DeviceData& data, const Work& work, const BenchBuffer& scratch)
{
    return [&](SluiceCommands commands, uint32_t set) {
        SluiceScanInfo info = {};
        info.kind = SLUICE_SCAN_EXCLUSIVE;
        info.maxCount = work.count;
        info.input = work.slice(data.input, set);
        info.output = work.slice(data.output, set);
        info.scratch = scratch.whole();
        require(sluiceCmdScan(data.device.context(), commands, &info), "scan");
        require(sluiceCmdBarrier(data.device.context(), commands), "barrier");
    };
}

RecordSet recordCubSet(const DeviceData& data, const Work& work, const BenchBuffer& scratch)
{
    return [&](SluiceCommands commands, uint32_t set) {
        CubCall call;
        call.count = work.count;
        call.input = work.slice(data.input, set);
        call.output = work.slice(data.output, set);
        call.scratch = scratch.whole();
        recordCub(commands, call);
    };
}

BenchBuffer scratchFor(const BenchDevice& device, const SluiceRequirements& requirements)
{
    BenchBuffer scratch = device.allocate(requirements.scratchSize); // 256-byte aligned, more than any kernel asks for
    if (requirements.scratchSize != 0) device.fill(scratch.whole(), 0);
    return scratch;
}

// One kernel at every size, ours and CUB's.
struct Primitive {
    std::string kernel, cubName;
    uint32_t smallest = 1u << 20; // elements; the sweep goes on by factors of 4
    std::function<BenchBuffer(const DeviceData&, const Work&)> scratch;
    std::function<RecordSet(const DeviceData&, const Work&, const BenchBuffer&)> record;
    std::function<Expect(const std::string& who)> expect;
    std::function<uint64_t(const Work&)> usefulBytes; // of all sets
};

void benchPrimitive(const BenchDevice& device, const BenchDevice* cudaDevice, const HostData& host,
                    const Primitive& primitive, BenchReport& report)
{
    const DeviceData data(device, host);
    std::unique_ptr<DeviceData> twin;
    if (cudaDevice != nullptr && cudaDevice != &device) twin = std::make_unique<DeviceData>(*cudaDevice, host);
    const DeviceData& cubData = twin ? *twin : data;

    const uint32_t limit = static_cast<uint32_t>(host.input.size());
    for (uint32_t count = primitive.smallest; count <= limit; count *= 4) {
        const Work work{count, setCount(count, limit)};
        const auto complete = [&](BenchRow row, const std::string& who, bool isPeer) {
            row.kernel = primitive.kernel;
            row.size = powerText(count);
            row.who = who;
            row.isPeer = isPeer;
            row.bytes = primitive.usefulBytes(work) / work.sets;
            return row;
        };
        std::vector<BenchRow> rows;
        const BenchBuffer scratch = primitive.scratch(data, work);
        rows.push_back(complete(measure(data, work, primitive.record(data, work, scratch), primitive.expect("sluice")),
                                "sluice", false));
        if (cudaDevice != nullptr) {
            const BenchBuffer cubScratch = cudaDevice->allocate(cubScratchSize(CubKind::ExclusiveSum, count));
            rows.push_back(complete(
                measure(cubData, work, recordCubSet(cubData, work, cubScratch), primitive.expect(primitive.cubName)),
                primitive.cubName, true));
        }
        report.addGroup(rows);
    }
    if (cudaDevice == nullptr) {
        report.addMissing(primitive.kernel, primitive.cubName,
                          cubIsBuiltIn() ? "this device is no CUDA device" : "built without CUDA");
    }
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
        if (copied != bytes) throw Failure{exitDevice, std::string("copy (") + copier->name() + "): wrong result"};

        BenchRow row;
        row.kernel = "copy";
        row.size = sizeText(size);
        row.who = copier->name();
        row.bytes = 2 * size;
        row.timing = device.time(1, record);
        report.addCopy(row);
    }
}

void benchScan(const BenchDevice& device, const BenchDevice* cudaDevice, BenchReport& report)
{
    const HostData host(maxElements(device, 1u << 30));
    Primitive scan;
    scan.smallest = 1u << 10;
    scan.kernel = "scan";
    scan.cubName = "CUB ExclusiveSum";
    scan.record = recordScan;
    scan.usefulBytes = [](const Work& work) { return uint64_t{work.count} * work.sets * 8; };
    scan.scratch = [](const DeviceData& data, const Work& work) {
        SluiceScanInfo info = {};
        info.maxCount = work.count;
        SluiceRequirements requirements = {};
        require(sluiceGetScanRequirements(data.device.context(), &info, &requirements), "scan requirements");
        return scratchFor(data.device, requirements);
    };
    scan.expect = [&host](const std::string& who) -> Expect {
        return [&host, who](const Work& work, const uint32_t* output) {
            for (uint32_t set = 0; set < work.sets; ++set) {
                const size_t start = size_t{set} * work.count;
                uint32_t sum = 0;
                for (uint32_t i = 0; i < work.count; ++i) {
                    if (output[start + i] != sum) failWrong(who + " scan", set, i);
                    sum += host.input[start + i];
                }
            }
        };
    };
    benchPrimitive(device, cudaDevice, host, scan, report);
}

} // namespace sluice
