// SPDX-License-Identifier: MIT OR Apache-2.0
// The compact rows: by comparison at several selectivities, by selectors, all kinds, sweeps over
// sizes.
#include <sluice/sluice_compact.h>
#include <sluice/sluice_scan.h>

#include <algorithm>
#include <cstring>

#include "bench_checked.h"
#include "bench_rows.h"

namespace sluice {
namespace {

// Words that are compared with a bound: below it is kept.
uint32_t boundFor(uint32_t percent)
{
    return percent == 100 ? ~0u : static_cast<uint32_t>((uint64_t{1} << 32) * percent / 100);
}

uint32_t coin(uint32_t i) { return scrambled(i) >> 31; }

// One compaction, done on `sets` inputs one after the other.
struct Job {
    std::string kernel, size;
    SluiceCompactInfo info = {};               // without buffers
    uint32_t count = 0, sets = 1, repeats = 1; // repeats: on the same input
    uint32_t bound = 0;                        // of the words, by which selectors are made
    bool elements = true, indices = false;
    CubKind cub = CubKind::SelectLess;
    const char* cubName = "";

    bool inPlace() const { return cub == CubKind::SelectMaskInPlace; }
    bool partitions() const { return (info.flags & SLUICE_COMPACT_PARTITION) != 0; }
    uint64_t inputBytes() const { return uint64_t{count} * info.elementSize; }
    uint64_t selectorBytes() const
    {
        // of 32 elements
        return info.test == SLUICE_COMPACT_BYTES  ? count
               : info.test == SLUICE_COMPACT_MASK ? count / 8
                                                  : 0;
    }
};

// What all jobs work on: a device's copy of the words.
struct Data {
    const BenchDevice& device;
    BenchBuffer input, selectors, output, indices, results;

    Data(const BenchDevice& on, const HostWords& host, uint64_t mostIndices)
        : device(on), input(on.allocate(host.count * 4)), selectors(on.allocate(host.count)),
          output(on.allocate(host.count * 4)), indices(on.allocate(mostIndices * 4)),
          results(on.allocate(4096))
    {
        host.uploadTo(on, input.whole());
    }
};

// Selectors by the words themselves, so that they keep what a comparison would.
HostWords makeSelectors(const Job& job, const HostWords& host)
{
    const uint32_t perWord = job.info.test == SLUICE_COMPACT_MASK ? 32 : 4, bits = 32 / perWord;
    return HostWords(job.selectorBytes() / 4 * job.sets, [&, perWord, bits](uint32_t word) {
        uint32_t made = 0;
        for (uint32_t i = 0; i < perWord; ++i)
            made |= (host.words[uint64_t{word} * perWord + i] < job.bound ? 1u : 0u) << i * bits;
        return made;
    });
}

template <typename T>
T elementAt(const HostWords& host, uint64_t i)
{
    T value;
    std::memcpy(&value, reinterpret_cast<const uint8_t*>(host.words.get()) + i * sizeof value,
                sizeof value);
    return value;
}

// What must come out. How many are kept is counted in blocks once, so that any piece of a result
// can be checked on its own.
class Reference {
public:
    Reference(const Job& job, const HostWords& host)
        : job_(job), host_(host), block_(std::min<uint64_t>(job.count, 1u << 16)),
          kept_(uint64_t{job.count} * job.sets / block_)
    {
        inParallel(kept_.size(), [&](uint64_t first, uint64_t last) {
            for (uint64_t i = first; i < last; ++i) {
                uint32_t kept = 0;
                for (uint64_t k = i * block_; k < (i + 1) * block_; ++k)
                    kept += keeps(k) ? 1 : 0;
                kept_[i] = kept;
            }
        });
    }

    uint64_t keptIn(uint32_t set) const
    {
        uint64_t kept = 0;
        for (uint64_t i = 0; i < blocksInSet(); ++i)
            kept += kept_[set * blocksInSet() + i];
        return kept;
    }

    // elementSize bytes each: the elements, or (indices) where they were. stable: what a partition
    // puts behind the kept ones is in order, as CUB's is not.
    void expect(uint64_t offset, uint64_t size, uint8_t* bytes, uint32_t elementSize, bool indices,
                bool stable) const
    {
        const uint64_t first = offset / elementSize, last = first + size / elementSize;
        for (uint64_t set = first / job_.count; set * job_.count < last; ++set) {
            const uint64_t start = set * job_.count, from = std::max(first, start),
                           to = std::min(last, start + job_.count);
            const uint64_t kept = keptIn(static_cast<uint32_t>(set));
            walk(set, true, from - start, std::min(to - start, kept),
                 bytes + (from - first) * elementSize, elementSize, indices);
            if (!job_.partitions() || !stable || to - start <= kept) continue;
            // the place of the first one that is not kept
            const uint64_t behind = std::max(from - start, kept);
            walk(set, false, behind - kept, to - start - kept,
                 bytes + (start + behind - first) * elementSize, elementSize, indices);
        }
    }
    void expectCounts(uint64_t offset, uint64_t size, uint8_t* bytes) const
    {
        for (uint64_t set = offset / 4; set < (offset + size) / 4; ++set, bytes += 4) {
            const uint32_t kept = static_cast<uint32_t>(keptIn(static_cast<uint32_t>(set)));
            std::memcpy(bytes, &kept, 4);
        }
    }

private:
    uint64_t blocksInSet() const { return job_.count / block_; }

    bool keeps(uint64_t i) const // of all sets
    {
        const size_t size = job_.info.elementSize;
        switch (job_.info.test) {
        case SLUICE_COMPACT_NON_ZERO: return host_.words[i] != 0;
        case SLUICE_COMPACT_UNIQUE:
            return i % job_.count == 0 || host_.words[i] != host_.words[i - 1];
        case SLUICE_COMPACT_COMPARE: break;
        default: return host_.words[i] < job_.bound;
        }
        switch (job_.info.type) {
        case SLUICE_VALUE_U8: return elementAt<uint8_t>(host_, i) < job_.info.constant;
        case SLUICE_VALUE_U16: return elementAt<uint16_t>(host_, i) < job_.info.constant;
        case SLUICE_VALUE_I32:
            return elementAt<int32_t>(host_, i) < static_cast<int32_t>(job_.info.constant);
        case SLUICE_VALUE_U64: return elementAt<uint64_t>(host_, i) < job_.info.constant;
        case SLUICE_VALUE_F32: return elementAt<float>(host_, i) < 0;
        default: return size == 4 && host_.words[i] < job_.info.constant;
        }
    }

    // Those of a set that are kept (or not), from the first-th of them to the last-th.
    void walk(uint64_t set, bool wanted, uint64_t first, uint64_t last, uint8_t* bytes,
              uint32_t elementSize, bool indices) const
    {
        uint64_t number = 0; // of the next one that is found
        for (uint64_t i = set * blocksInSet(); number < last && i < (set + 1) * blocksInSet();
             ++i) {
            const uint64_t found = wanted ? kept_[i] : block_ - kept_[i];
            if (number + found <= first) {
                number += found;
                continue;
            }
            for (uint64_t k = i * block_; k < (i + 1) * block_ && number < last; ++k) {
                if (keeps(k) != wanted || number++ < first) continue;
                const uint32_t index = static_cast<uint32_t>(k - set * job_.count);
                const uint8_t* from =
                    reinterpret_cast<const uint8_t*>(host_.words.get()) + k * elementSize;
                std::memcpy(bytes, indices ? reinterpret_cast<const uint8_t*>(&index) : from,
                            elementSize);
                bytes += elementSize;
            }
        }
    }

    const Job& job_;
    const HostWords& host_;
    uint64_t block_;
    std::vector<uint32_t> kept_;
};

SluiceCompactInfo infoOf(const Data& data, const Job& job, uint32_t set)
{
    SluiceCompactInfo info = job.info;
    info.maxCount = job.count;
    info.input =
        (job.inPlace() ? data.output : data.input).part(set * job.inputBytes(), job.inputBytes());
    if (job.selectorBytes() != 0)
        info.selectors = data.selectors.part(set * job.selectorBytes(), job.selectorBytes());
    if (job.elements) info.output = data.output.part(set * job.inputBytes(), job.inputBytes());
    if (job.indices)
        info.indices = data.indices.part(set * uint64_t{job.count} * 4, uint64_t{job.count} * 4);
    info.resultCount = data.results.part(uint64_t{set} * 4, 4);
    return info;
}

BenchDevice::Record recordOurs(const Data& data, const Job& job, const BenchBuffer& scratch)
{
    return [&, barrier = callBarrier(data.device)](SluiceCommands commands, uint32_t) {
        for (uint32_t i = 0; i < job.sets * job.repeats; ++i) {
            SluiceCompactInfo info = infoOf(data, job, i % job.sets);
            info.scratch = scratch.whole();
            require(sluiceCmdCompact(data.device.context(), commands, &info), "compact");
            barrier(commands, 0);
        }
    };
}

CubCall cubCall(const Data& data, const Job& job, uint32_t set)
{
    const SluiceCompactInfo info = infoOf(data, job, set);
    CubCall call;
    call.kind = job.cub;
    call.type = info.type;
    call.elementSize = info.elementSize;
    call.count = job.count;
    call.bound = info.constant;
    call.input = info.input;
    call.selectors = info.selectors;
    call.output = info.output;
    call.indices = info.indices;
    call.resultCount = info.resultCount;
    return call;
}

BenchDevice::Record recordTheirs(const Data& data, const Job& job, const BenchBuffer& scratch)
{
    return [&](SluiceCommands commands, uint32_t) {
        for (uint32_t i = 0; i < job.sets * job.repeats; ++i) {
            CubCall call = cubCall(data, job, i % job.sets);
            call.scratch = scratch.whole();
            recordCub(commands, call);
        }
    };
}

// Read once, written once.
uint64_t usefulBytes(const Job& job, uint64_t kept)
{
    const bool reads = job.elements || job.selectorBytes() == 0;
    const uint64_t read = (reads ? job.inputBytes() : 0) + job.selectorBytes();
    const uint64_t written = job.partitions() ? job.count : kept;
    return read + written * ((job.elements ? job.info.elementSize : 0) + (job.indices ? 4 : 0));
}

// The same data on the device and, if it is another, on CUB's.
class Twins {
public:
    // mostIndices: of jobs that write indices
    Twins(const Contest& contest, const HostWords& host, uint64_t mostIndices = 0)
        : contest_(contest), host_(host), ours_(contest.ours, host, mostIndices)
    {
        if (contest.isTwin()) twin_ = std::make_unique<Data>(*contest.cub, host, mostIndices);
    }

    void run(const Job& job) const
    {
        const Data& cubData = twin_ ? *twin_ : ours_;
        if (job.selectorBytes() != 0) {
            const HostWords selectors = makeSelectors(job, host_);
            selectors.uploadTo(ours_.device, ours_.selectors.whole());
            if (twin_) selectors.uploadTo(twin_->device, twin_->selectors.whole());
        }
        SluiceCompactInfo info = job.info;
        info.maxCount = job.count;
        SluiceRequirements requirements = {};
        require(sluiceGetCompactRequirements(ours_.device.context(), &info, &requirements),
                "compact requirements");
        const BenchBuffer scratch = ours_.device.allocate(requirements.scratchSize);
        ours_.device.fill(scratch.whole(), 0);
        const Reference reference(job, host_);
        std::vector<BenchRow> rows = {
            measure(ours_, job, reference, "sluice", false, recordOurs(ours_, job, scratch))};
        if (contest_.cub != nullptr) {
            const BenchBuffer cubScratch =
                contest_.cub->allocate(cubScratchSize(cubCall(cubData, job, 0)));
            rows.push_back(measure(cubData, job, reference, job.cubName, true,
                                   recordTheirs(cubData, job, cubScratch)));
        }
        contest_.report.addGroup(rows);
    }

private:
    BenchRow measure(const Data& data, const Job& job, const Reference& reference, const char* who,
                     bool isPeer, const BenchDevice::Record& record) const
    {
        const auto expect = [&reference, isPeer](uint32_t elementSize, bool indices) {
            return [&reference, isPeer, elementSize, indices](uint64_t offset, uint64_t size,
                                                              uint8_t* bytes) {
                reference.expect(offset, size, bytes, elementSize, indices, !isPeer);
            };
        };
        // Behind what is kept nothing is looked at, so large results end there.
        const uint64_t places =
            job.sets > 1 || job.partitions() ? uint64_t{job.count} * job.sets : reference.keptIn(0);
        const auto expectCounts = [&reference](uint64_t offset, uint64_t size, uint8_t* bytes) {
            reference.expectCounts(offset, size, bytes);
        };
        std::vector<Result> results = {{data.results.part(0, job.sets * 4ull), 4, expectCounts}};
        const uint32_t size = job.info.elementSize;
        if (job.elements && places != 0)
            results.push_back(
                {data.output.part(0, places * size), size, expect(size, false), !job.inPlace()});
        if (job.indices && places != 0)
            results.push_back({data.indices.part(0, places * 4), 4, expect(4, true)});
        if (job.inPlace())
            data.device.upload(data.output.part(0, job.inputBytes()), host_.words.get(),
                               job.inputBytes());
        const std::string name = std::string(who) + " " + job.kernel + " " + job.size;
        const Timing timing =
            checkAndTime(data.device, name, job.sets * job.repeats, record, results);
        uint64_t kept = 0;
        for (uint32_t set = 0; set < job.sets; ++set)
            kept += reference.keptIn(set);
        return makeRow(job.kernel, job.size, who, usefulBytes(job, kept / job.sets), timing,
                       isPeer);
    }

    const Contest& contest_;
    const HostWords& host_;
    Data ours_;
    std::unique_ptr<Data> twin_;
};

Job makeJob(const std::string& kernel, const std::string& size, uint64_t count,
            SluiceCompactTest test, CubKind cub, const char* cubName)
{
    Job job;
    job.kernel = kernel;
    job.size = size;
    job.count = static_cast<uint32_t>(count);
    job.info.test = test;
    job.info.elementSize = 4;
    job.bound = boundFor(50);
    job.cub = cub;
    job.cubName = cubName;
    return job;
}

Job keeping(Job job, uint32_t percent)
{
    job.bound = boundFor(percent);
    if (job.info.test == SLUICE_COMPACT_COMPARE) job.info.constant = job.bound;
    return job;
}

// The makers of jobs keep half of random words.
Job compareJob(const std::string& kernel, const std::string& size, uint64_t count)
{
    Job job =
        makeJob(kernel, size, count, SLUICE_COMPACT_COMPARE, CubKind::SelectLess, "CUB Select::If");
    job.info.comparison = SLUICE_COMPARE_LESS;
    return keeping(job, 50);
}

Job bytesJob(const std::string& kernel, const std::string& size, uint64_t count)
{
    return makeJob(kernel, size, count, SLUICE_COMPACT_BYTES, CubKind::SelectFlags,
                   "CUB Select::Flagged (u8 flags)");
}

Job maskJob(const std::string& kernel, const std::string& size, uint64_t count)
{
    return makeJob(kernel, size, count, SLUICE_COMPACT_MASK, CubKind::SelectMask,
                   "CUB Select::Flagged (bits)");
}

Job partitionJob(const std::string& kernel, const std::string& size, uint64_t count)
{
    Job job = compareJob(kernel, size, count);
    job.info.flags = SLUICE_COMPACT_PARTITION;
    job.cub = CubKind::PartitionLess;
    job.cubName = "CUB Partition::If";
    return job;
}

Job uniqueJob(const std::string& kernel, const std::string& size, uint64_t count)
{
    return makeJob(kernel, size, count, SLUICE_COMPACT_UNIQUE, CubKind::SelectUnique,
                   "CUB Select::Unique");
}

Job nonZeroJob(const std::string& kernel, const std::string& size, uint64_t count)
{
    return makeJob(kernel, size, count, SLUICE_COMPACT_NON_ZERO, CubKind::SelectNonZero,
                   "CUB Select::If");
}

// Half of `words` words kept, in every other way.
std::vector<Job> kindJobs(uint64_t words)
{
    constexpr const char* kernel = "compact kinds";
    std::vector<Job> jobs;
    for (const uint32_t size : {1u, 2u, 4u, 8u, 16u}) {
        jobs.push_back(
            maskJob(kernel, "mask " + std::to_string(size) + " B", words / std::max(size / 4, 1u)));
        jobs.back().info.elementSize = size;
    }
    constexpr struct {
        const char* name;
        SluiceValueType type;
        uint32_t size;
        uint64_t middle; // of the type's values
    } types[] = {{"less u8", SLUICE_VALUE_U8, 1, 0x80},
                 {"less u16", SLUICE_VALUE_U16, 2, 0x8000},
                 {"less i32", SLUICE_VALUE_I32, 4, 0},
                 {"less u64", SLUICE_VALUE_U64, 8, uint64_t{1} << 63},
                 {"less f32", SLUICE_VALUE_F32, 4, 0}};
    for (const auto& type : types) {
        jobs.push_back(compareJob(kernel, type.name, words / std::max(type.size / 4, 1u)));
        jobs.back().info.type = type.type;
        jobs.back().info.elementSize = type.size;
        jobs.back().info.constant = type.middle;
    }
    Job indices = maskJob(kernel, "indices", words), both = maskJob(kernel, "both", words);
    indices.elements = false;
    indices.indices = both.indices = true;
    indices.cub = CubKind::SelectMaskIndices;
    both.cub = CubKind::SelectMaskBoth;
    Job inPlace = maskJob(kernel, "in place", words);
    inPlace.cub = CubKind::SelectMaskInPlace;
    jobs.insert(jobs.end(), {indices, both, inPlace, partitionJob(kernel, "partition", words)});
    return jobs;
}

constexpr struct {
    const char* kernel;
    Job (*make)(const std::string& kernel, const std::string& size, uint64_t count);
    bool coins; // the input is words of 0 and 1, else of random bits
    uint64_t factor;
} kSweeps[] = {{"compact sweep", compareJob, false, 4},
               {"compact sweep: flags", bytesJob, false, 16},
               {"compact sweep: mask", maskJob, false, 16},
               {"compact sweep: partition", partitionJob, false, 16},
               {"compact sweep: unique", uniqueJob, true, 16}};

} // namespace

void benchCompact(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
                  BenchReport& report)
{
    const Contest contest{device, cudaDevice, report};
    const bool gpu = device.isGpu(), sweeps = wanted("compact sweep");
    const uint64_t limit = maxWords(device, 8), large = std::min<uint64_t>(limit, 1u << 28);
    const uint64_t kindWords = gpu ? 1u << 26 : 1u << 18;
    const std::string size = powerText(large) + " ";
    if (wanted("compact compare") || wanted("compact bytes") || wanted("compact calls")) {
        const HostWords host(large, scrambled);
        const Twins twins(contest, host);
        for (const auto& [kernel, make] :
             {std::pair("compact compare", compareJob), std::pair("compact bytes", bytesJob)})
            for (const uint32_t percent : {0u, 1u, 10u, 25u, 50u, 75u, 90u, 99u, 100u})
                if (wanted(kernel))
                    twins.run(keeping(make(kernel, size + std::to_string(percent) + "%", large),
                                      percent));
        // What a call costs: 1,000 of them (on a GPU) on the same input, in one command buffer or
        // graph.
        for (const uint64_t count : sweepSizes(std::min<uint64_t>(large, 1u << 20), 4)) {
            Job job = compareJob("compact calls", powerText(count), count);
            job.repeats = gpu ? 1000 : 10;
            if (wanted("compact calls")) twins.run(job);
        }
    }
    for (const bool coins : {false, true}) {
        if (!sweeps) break;
        const HostWords host(limit, coins ? coin : scrambled);
        const Twins twins(contest, host);
        for (const auto& sweep : kSweeps) {
            if (sweep.coins != coins) continue;
            for (const uint64_t count : sweepSizes(limit, sweep.factor)) {
                Job job = sweep.make(sweep.kernel, powerText(count), count);
                // other inputs in turn, so that none is in a cache still
                job.sets = callsFor(count, limit / count);
                twins.run(job);
            }
        }
    }
    if (wanted("compact kinds")) {
        {
            const HostWords host(kindWords, scrambled);
            const Twins twins(contest, host, kindWords);
            for (const Job& job : kindJobs(kindWords))
                twins.run(job);
        }
        const uint64_t step = ~0u / kindWords;
        const HostWords sorted(kindWords,
                               [step](uint32_t i) { return static_cast<uint32_t>(i * step); });
        Twins(contest, sorted).run(compareJob("compact kinds", "sorted", kindWords));
        const HostWords coins(kindWords, coin);
        const Twins twins(contest, coins);
        twins.run(uniqueJob("compact kinds", "unique", kindWords));
        twins.run(nonZeroJob("compact kinds", "non-zero", kindWords));
    }
    contest.sayMissing("compact");
}

} // namespace sluice
