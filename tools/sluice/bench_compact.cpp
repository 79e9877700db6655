// SPDX-License-Identifier: MIT OR Apache-2.0
// The compact rows: by comparison at several selectivities, by selectors, all kinds, a sweep over sizes.
#include <algorithm>
#include <cstring>

#include "bench_peers.h"
#include "bench_rows.h"

namespace sluice {
namespace {

using Words = std::vector<uint32_t>;

uint32_t scrambled(uint32_t value) // lowbias32 of Chris Wellons' hash prospector
{
    value = (value ^ value >> 16) * 0x7feb352du;
    value = (value ^ value >> 15) * 0x846ca68bu;
    return value ^ value >> 16;
}

// Elements that are compared with a bound: below it is kept.
uint32_t boundFor(uint32_t percent)
{
    return percent == 100 ? ~0u : static_cast<uint32_t>((uint64_t{1} << 32) * percent / 100);
}

// One compaction, done on `sets` inputs one after the other.
struct Job {
    std::string kernel, size;
    SluiceCompactInfo info = {};               // without buffers
    uint32_t count = 0, sets = 1, repeats = 1; // repeats: on the same input
    bool elements = true, indices = false, inPlace = false;
    bool hasCub = false;
    CubKind cub = CubKind::SelectLess;
    const char* cubName = "";
};

// What all jobs work on: the host's copy and a device's.
struct Data {
    const BenchDevice& device;
    const Words& host;
    BenchBuffer input, selectors, output, indices, results;

    Data(const BenchDevice& on, const Words& words)
        : device(on), host(words), input(on.allocate(words.size() * 4)), selectors(on.allocate(words.size())),
          output(on.allocate(words.size() * 4)), indices(on.allocate(words.size() * 4)), results(on.allocate(4096))
    {
        device.upload(input.whole(), host.data(), input.size());
    }
};

uint64_t selectorBytes(const Job& job)
{
    return job.info.test == SLUICE_COMPACT_BYTES  ? (uint64_t{job.count} + 3) / 4 * 4
           : job.info.test == SLUICE_COMPACT_MASK ? (uint64_t{job.count} + 31) / 32 * 4
                                                  : 0;
}

uint64_t inputBytes(const Job& job)
{
    return uint64_t{job.count} * job.info.elementSize;
}

// Selectors by the words themselves, so that they keep what a comparison would.
Words makeSelectors(const Job& job, const Words& host, uint32_t bound)
{
    const uint32_t perWord = job.info.test == SLUICE_COMPACT_MASK ? 32 : 4, bits = 32 / perWord;
    Words words(selectorBytes(job) / 4 * job.sets);
    for (uint32_t i = 0; i < job.count * job.sets; ++i)
        words[i / perWord] |= (host[i] < bound ? 1u : 0u) << i % perWord * bits;
    return words;
}

// Whether the host keeps element i of the whole input.
class Keeps {
public:
    Keeps(const Job& job, const Words& host)
        : job_(job), host_(host), bytes_(reinterpret_cast<const uint8_t*>(host.data()))
    {
    }

    bool operator()(uint32_t i, uint32_t bound) const
    {
        const size_t size = job_.info.elementSize;
        if (job_.info.test != SLUICE_COMPACT_UNIQUE) return host_[i] < bound;
        return i % job_.count == 0 || std::memcmp(bytes_ + i * size, bytes_ + (i - 1) * size, size) != 0;
    }

private:
    const Job& job_;
    const Words& host_;
    const uint8_t* bytes_;
};

SluiceCompactInfo infoOf(const Data& data, const Job& job, uint32_t set, const BenchBuffer& scratch)
{
    SluiceCompactInfo info = job.info;
    info.maxCount = job.count;
    info.input = data.input.part(set * inputBytes(job), inputBytes(job));
    if (selectorBytes(job) != 0) info.selectors = data.selectors.part(set * selectorBytes(job), selectorBytes(job));
    if (job.elements) info.output = job.inPlace ? info.input : data.output.part(set * inputBytes(job), inputBytes(job));
    if (job.indices) info.indices = data.indices.part(set * uint64_t{job.count} * 4, uint64_t{job.count} * 4);
    info.resultCount = data.results.part(uint64_t{set} * 4, 4);
    info.scratch = scratch.whole();
    return info;
}

BenchDevice::Record recordOurs(const Data& data, const Job& job, const BenchBuffer& scratch)
{
    BenchDevice::Record barrier = [](SluiceCommands, uint32_t) {};
    if (data.device.properties().backend == SLUICE_BACKEND_VULKAN) barrier = makeVulkanBarrier(data.device);
    return [&, barrier](SluiceCommands commands, uint32_t) {
        for (uint32_t i = 0; i < job.sets * job.repeats; ++i) {
            const SluiceCompactInfo info = infoOf(data, job, i % job.sets, scratch);
            require(sluiceCmdCompact(data.device.context(), commands, &info), "compact");
            barrier(commands, 0);
        }
    };
}

CubCall cubCall(const Data& data, const Job& job, uint32_t set, const BenchBuffer& scratch)
{
    const SluiceCompactInfo info = infoOf(data, job, set, scratch);
    CubCall call;
    call.kind = job.cub;
    call.count = job.count;
    call.bound = static_cast<uint32_t>(info.constant);
    call.input = info.input;
    call.flags = info.selectors;
    call.output = info.output;
    call.resultCount = info.resultCount;
    call.scratch = scratch.whole();
    return call;
}

BenchDevice::Record recordTheirs(const Data& data, const Job& job, const BenchBuffer& scratch)
{
    return [&](SluiceCommands commands, uint32_t) {
        for (uint32_t i = 0; i < job.sets * job.repeats; ++i)
            recordCub(commands, cubCall(data, job, i % job.sets, scratch));
    };
}

// Compares what the device wrote with what the host keeps; returns how many that were. CUB's partition is not stable
// behind what is kept, so that part is looked at in ours only.
uint64_t checkResults(const Data& data, const Job& job, uint32_t bound, const char* who, bool stable)
{
    const size_t size = job.info.elementSize;
    std::vector<uint8_t> output(job.elements ? inputBytes(job) * job.sets : 0);
    Words indices(job.indices ? size_t{job.count} * job.sets : 0), counts(job.sets);
    if (job.elements)
        data.device.download((job.inPlace ? data.input : data.output).part(0, output.size()), output.data(),
                             output.size());
    if (job.indices) data.device.download(data.indices.part(0, indices.size() * 4), indices.data(), indices.size() * 4);
    data.device.download(data.results.part(0, job.sets * 4ull), counts.data(), job.sets * 4ull);

    const uint8_t* from = reinterpret_cast<const uint8_t*>(data.host.data());
    const Keeps keeps(job, data.host);
    const bool partition = stable && (job.info.flags & SLUICE_COMPACT_PARTITION) != 0;
    uint64_t all = 0;
    for (uint32_t set = 0; set < job.sets; ++set) {
        const size_t first = size_t{set} * job.count;
        size_t next = first, kept = 0;
        for (const bool wanted : {true, false}) {
            if (!wanted && !partition) break;
            for (uint32_t i = 0; i < job.count; ++i) {
                if (keeps(static_cast<uint32_t>(first + i), bound) != wanted) continue;
                const bool good =
                    (output.empty() || std::memcmp(&output[next * size], from + (first + i) * size, size) == 0) &&
                    (indices.empty() || indices[next] == i);
                if (!good)
                    throw Failure{exitDevice,
                                  std::string(who) + " " + job.kernel + ": wrong result at " + std::to_string(next)};
                ++next;
            }
            if (wanted) kept = next - first;
        }
        if (counts[set] != kept) throw Failure{exitDevice, std::string(who) + " " + job.kernel + ": wrong count"};
        all += kept;
    }
    return all;
}

// Read once, written once.
uint64_t usefulBytes(const Job& job, uint64_t kept)
{
    const bool reads = job.elements || selectorBytes(job) == 0;
    const uint64_t read = (reads ? inputBytes(job) : 0) + selectorBytes(job);
    const uint64_t written = (job.info.flags & SLUICE_COMPACT_PARTITION) != 0 ? job.count : kept / job.sets;
    return read + written * ((job.elements ? job.info.elementSize : 0) + (job.indices ? 4 : 0));
}

void clearResults(const Data& data)
{
    data.device.fill(data.results.whole(), 0xee);
    data.device.fill(data.output.part(0, std::min<uint64_t>(data.output.size(), 64u << 20)), 0xee);
}

BenchRow rowOf(const Data& data, const Job& job, uint64_t kept, const char* who, const BenchDevice::Record& record)
{
    BenchRow row;
    row.kernel = job.kernel;
    row.size = job.size;
    row.who = who;
    row.bytes = usefulBytes(job, kept);
    row.timing = data.device.time(job.sets * job.repeats, record);
    return row;
}

// bound: what selectors are made with.
void measure(const Data& data, const Data* cubData, const Job& job, uint32_t bound, BenchReport& report)
{
    if (selectorBytes(job) != 0) {
        const Words selectors = makeSelectors(job, data.host, bound);
        data.device.upload(data.selectors.part(0, selectors.size() * 4), selectors.data(), selectors.size() * 4);
        if (job.hasCub && cubData != nullptr && cubData != &data)
            cubData->device.upload(cubData->selectors.part(0, selectors.size() * 4), selectors.data(),
                                   selectors.size() * 4);
    }
    SluiceCompactInfo info = job.info;
    info.maxCount = job.count;
    SluiceRequirements requirements = {};
    require(sluiceGetCompactRequirements(data.device.context(), &info, &requirements), "compact requirements");
    const BenchBuffer scratch = data.device.allocate(requirements.scratchSize);
    data.device.fill(scratch.whole(), 0);
    clearResults(data);
    const BenchDevice::Record ours = data.device.capture(recordOurs(data, job, scratch));
    data.device.runOnce(ours);
    const uint64_t kept = checkResults(data, job, bound, "sluice", true);
    std::vector<BenchRow> rows = {rowOf(data, job, kept, "sluice", ours)};
    if (job.inPlace) data.device.upload(data.input.whole(), data.host.data(), data.input.size());

    if (job.hasCub && cubData != nullptr) {
        const BenchBuffer cubScratch = cubData->device.allocate(cubScratchSize(job.cub, job.count));
        clearResults(*cubData);
        const BenchDevice::Record theirs = cubData->device.capture(recordTheirs(*cubData, job, cubScratch));
        cubData->device.runOnce(theirs);
        checkResults(*cubData, job, bound, job.cubName, false);
        rows.push_back(rowOf(*cubData, job, kept, job.cubName, theirs));
        rows.back().isPeer = true;
    }
    report.addGroup(rows);
}

std::string powerText(uint32_t count)
{
    uint32_t exponent = 0;
    while (1u << exponent < count)
        ++exponent;
    return "2^" + std::to_string(exponent);
}

Job compareJob(uint32_t count, uint32_t percent)
{
    Job job;
    job.kernel = "compact compare";
    job.size = powerText(count) + " " + std::to_string(percent) + "%";
    job.count = count;
    job.info.test = SLUICE_COMPACT_COMPARE;
    job.info.comparison = SLUICE_COMPARE_LESS;
    job.info.constant = boundFor(percent);
    job.info.elementSize = 4;
    job.hasCub = true;
    job.cub = CubKind::SelectLess;
    job.cubName = "CUB Select::If";
    return job;
}

Job bytesJob(uint32_t count, uint32_t percent)
{
    Job job = compareJob(count, percent);
    job.kernel = "compact bytes";
    job.info.test = SLUICE_COMPACT_BYTES;
    job.info.constant = 0;
    job.cub = CubKind::SelectBytes;
    job.cubName = "CUB Select::Flagged (u8 flags)";
    return job;
}

// Half of the elements kept, in every other way.
std::vector<Job> kindJobs(uint32_t count)
{
    std::vector<Job> jobs;
    const auto add = [&](const char* name, SluiceCompactTest test, uint32_t elementSize) -> Job& {
        Job job;
        job.kernel = "compact kinds";
        job.size = name;
        job.count = count / std::max(elementSize / 4, 1u);
        job.info.test = test;
        job.info.elementSize = elementSize;
        jobs.push_back(job);
        return jobs.back();
    };
    add("mask", SLUICE_COMPACT_MASK, 4);
    Job& indices = add("indices", SLUICE_COMPACT_MASK, 4);
    indices.elements = false;
    indices.indices = true;
    add("both", SLUICE_COMPACT_MASK, 4).indices = true;
    add("in place", SLUICE_COMPACT_MASK, 4).inPlace = true;
    add("mask u8", SLUICE_COMPACT_MASK, 1);
    add("mask u16", SLUICE_COMPACT_MASK, 2);
    add("mask u64", SLUICE_COMPACT_MASK, 8);
    add("mask 16 B", SLUICE_COMPACT_MASK, 16);
    Job partition = compareJob(count, 50);
    partition.kernel = "compact kinds";
    partition.size = "partition";
    partition.info.flags = SLUICE_COMPACT_PARTITION;
    partition.cub = CubKind::PartitionLess;
    partition.cubName = "CUB Partition::If";
    jobs.push_back(partition);
    return jobs;
}

// Elements that are 0 or 1: every other one differs from the one before it.
Job uniqueJob(uint32_t count)
{
    Job job;
    job.kernel = "compact kinds";
    job.size = "unique";
    job.count = count;
    job.info.test = SLUICE_COMPACT_UNIQUE;
    job.info.elementSize = 4;
    job.hasCub = true;
    job.cub = CubKind::SelectUnique;
    job.cubName = "CUB Select::Unique";
    return job;
}

Words wordsOf(uint32_t count, uint32_t (*word)(uint32_t index, uint32_t count))
{
    Words words(count);
    for (uint32_t i = 0; i < count; ++i)
        words[i] = word(i, count);
    return words;
}

// The same data on the device and, if it is another, on CUB's.
struct Twins {
    Data data;
    std::unique_ptr<Data> other;
    const Data* cub;

    Twins(const BenchDevice& device, const BenchDevice* cudaDevice, const Words& host)
        : data(device, host), cub(nullptr)
    {
        if (cudaDevice != nullptr && cudaDevice != &device) other = std::make_unique<Data>(*cudaDevice, host);
        if (cudaDevice != nullptr) cub = other ? other.get() : &data;
    }
    void run(const Job& job, uint32_t percent, BenchReport& report) const
    {
        measure(data, cub, job, boundFor(percent), report);
    }
};

// What a call costs: 1,000 of them (on a GPU) on the same input, in one command buffer or graph.
void benchCalls(const Twins& twins, uint32_t limit, BenchReport& report)
{
    for (uint32_t count = 1u << 10; count <= std::min(limit, 1u << 20); count *= 4) {
        Job job = compareJob(count, 50);
        job.kernel = "compact calls";
        job.size = powerText(count);
        job.repeats = twins.data.device.isGpu() ? 1000 : 10;
        twins.run(job, 50, report);
    }
}

void benchSweep(const Twins& twins, uint32_t limit, BenchReport& report)
{
    for (uint32_t count = 1u << 10; count <= limit && count != 0; count *= 4) {
        Job job = compareJob(count, 50);
        job.kernel = "compact sweep";
        job.size = powerText(count);
        // Several inputs in turn, so that none is in a cache still; of small ones 1,000 calls.
        job.sets = std::min(std::clamp<uint32_t>((1u << 25) / count, 1, limit / count), 1000u);
        twins.run(job, 50, report);
    }
}

} // namespace

void benchCompact(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted, BenchReport& report)
{
    const bool gpu = device.isGpu();
    const uint32_t large = gpu ? 1u << 28 : 1u << 20;
    if (wanted("compact compare") || wanted("compact bytes") || wanted("compact sweep") || wanted("compact calls")) {
        const Words host = wordsOf(large, [](uint32_t i, uint32_t) { return scrambled(i); });
        const Twins twins(device, cudaDevice, host);
        for (const uint32_t percent : {0u, 1u, 10u, 25u, 50u, 75u, 90u, 99u, 100u})
            if (wanted("compact compare")) twins.run(compareJob(large, percent), percent, report);
        for (const uint32_t percent : {1u, 10u, 50u, 90u})
            if (wanted("compact bytes")) twins.run(bytesJob(large, percent), percent, report);
        if (wanted("compact calls")) benchCalls(twins, large, report);
        if (wanted("compact sweep")) benchSweep(twins, large, report);
    }
    if (wanted("compact kinds")) {
        const uint32_t count = gpu ? 1u << 26 : 1u << 18;
        const Words mixed = wordsOf(count, [](uint32_t i, uint32_t) { return scrambled(i); });
        const Words sorted = wordsOf(count, [](uint32_t i, uint32_t n) { return i * (~0u / n); });
        const Words coins = wordsOf(count, [](uint32_t i, uint32_t) { return scrambled(i) >> 31; });
        {
            const Twins twins(device, cudaDevice, mixed);
            for (const Job& job : kindJobs(count))
                twins.run(job, 50, report);
        }
        Job half = compareJob(count, 50);
        half.kernel = "compact kinds";
        half.size = "sorted";
        Twins(device, cudaDevice, sorted).run(half, 50, report);
        Twins(device, cudaDevice, coins).run(uniqueJob(count), 50, report);
    }
    if (cudaDevice == nullptr)
        report.addMissing("compact", "CUB", cubIsBuiltIn() ? "this device is no CUDA device" : "built without CUDA");
}

} // namespace sluice
