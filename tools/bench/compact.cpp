// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of compactions: by a comparison that keeps more or less of the elements, by selectors (a
// mask or flags), of all kinds, and over growing sizes.
#include <sluice/sluice_compact.h>
#include <sluice/sluice_scan.h>

#include <algorithm>
#include <cstring>

#include "tools/bench/contest.h"
#include "tools/bench/rows.h"

namespace sluice {
namespace {

// Returns a bound below which `percent` % of all 32-bit words lie.
uint32_t boundFor(uint32_t percent)
{
    return percent == 100 ? ~0u : uint32_t((uint64_t{1} << 32) * percent / 100);
}

uint32_t coin(uint32_t i) { return scrambled(i) >> 31; }

struct Data {
    const BenchDevice& device;
    DeviceBuffer input, selectors, output, indices, results;

    // Compactions that run on these buffers write at most `mostIndices` indices of kept elements.
    Data(const BenchDevice& on, const HostWords& host, uint64_t mostIndices)
        : device(on), input(on.allocate(host.count * 4)), selectors(on.allocate(host.count)),
          output(on.allocate(host.count * 4)), indices(on.allocate(mostIndices * 4)),
          results(on.allocate(4096))
    {
        host.uploadTo(on, input.whole());
    }
};

// One compaction, which runs on `sets` inputs, one after the other.
struct Job {
    std::string kernel, size;
    SluiceCompactInfo info = {}; // the caller adds the buffers
    // Elements of one input; number of inputs; how often each input is compacted.
    uint32_t count = 0, sets = 1, repeats = 1;
    uint32_t bound = 0; // words below this value are kept
    bool elements = true, indices = false;
    CubKind cub = CubKind::SelectLess;
    const char* cubName = "";

    bool inPlace() const { return cub == CubKind::SelectMaskInPlace; }
    bool partitions() const { return (info.flags & SLUICE_COMPACT_PARTITION) != 0; }
    uint64_t inputBytes() const { return uint64_t{count} * info.elementSize; }
    uint64_t selectorBytes() const
    {
        return info.test == SLUICE_COMPACT_BYTES  ? count
               : info.test == SLUICE_COMPACT_MASK ? count / 8
                                                  : 0;
    }
    // Returns the bytes that any implementation must read and write, each counted once.
    uint64_t usefulBytes(uint64_t kept) const
    {
        const bool reads = elements || selectorBytes() == 0;
        const uint64_t read = (reads ? inputBytes() : 0) + selectorBytes();
        const uint64_t written = partitions() ? count : kept;
        return read + written * ((elements ? info.elementSize : 0) + (indices ? 4 : 0));
    }
    // Makes selectors (a mask or flags) that keep the words below `bound`.
    HostWords makeSelectors(const HostWords& host) const
    {
        const uint32_t perWord = info.test == SLUICE_COMPACT_MASK ? 32 : 4, bits = 32 / perWord;
        return HostWords(selectorBytes() / 4 * sets, [&, perWord, bits](uint32_t word) {
            uint32_t made = 0;
            for (uint32_t i = 0; i < perWord; ++i)
                made |= (host.words[uint64_t{word} * perWord + i] < bound ? 1u : 0u) << i * bits;
            return made;
        });
    }

    SluiceCompactInfo ours(const Data& data, uint32_t set) const
    {
        SluiceCompactInfo made = info;
        made.maxCount = count;
        made.input = (inPlace() ? data.output : data.input).part(set * inputBytes(), inputBytes());
        if (selectorBytes() != 0)
            made.selectors = data.selectors.part(set * selectorBytes(), selectorBytes());
        if (elements) made.output = data.output.part(set * inputBytes(), inputBytes());
        if (indices)
            made.indices = data.indices.part(set * uint64_t{count} * 4, uint64_t{count} * 4);
        made.resultCount = data.results.part(uint64_t{set} * 4, 4);
        return made;
    }
    CubCall theirs(const Data& data, uint32_t set) const
    {
        const SluiceCompactInfo same = ours(data, set);
        CubCall call;
        call.kind = cub;
        call.type = same.type;
        call.elementSize = same.elementSize;
        call.count = count;
        call.bound = same.constant;
        call.input = same.input;
        call.selectors = same.selectors;
        call.output = same.output;
        call.indices = same.indices;
        call.resultCount = same.resultCount;
        return call;
    }
};

template <typename T>
T elementAt(const HostWords& host, uint64_t i)
{
    T value;
    std::memcpy(&value, host.bytes() + i * sizeof value, sizeof value);
    return value;
}

// Computes what results should be. The constructor counts the kept elements of each block of the
// input. With these counts, any piece of a result can be checked without the pieces before it.
class Reference {
public:
    Reference(const Job& job, const HostWords& host)
        : m_job(job), m_host(host), m_block(std::min<uint64_t>(job.count, 1u << 16)),
          m_kept(uint64_t{job.count} * job.sets / m_block)
    {
        inParallel(m_kept.size(), [&](uint64_t first, uint64_t last) {
            for (uint64_t i = first; i < last; ++i) {
                uint32_t kept = 0;
                for (uint64_t k = i * m_block; k < (i + 1) * m_block; ++k)
                    kept += keeps(k) ? 1 : 0;
                m_kept[i] = kept;
            }
        });
    }

    uint64_t keptIn(uint32_t set) const
    {
        uint64_t kept = 0;
        for (uint64_t i = 0; i < blocksInSet(); ++i)
            kept += m_kept[set * blocksInSet() + i];
        return kept;
    }

    // Writes `size` bytes of the expected result from `offset` on. An entry of the result has
    // elementSize bytes and is an element or, with `indices`, the index of one. In a partition,
    // elements that are not kept follow the others: in their old order if `stable` is set;
    // otherwise they are not written, and so not checked, since CUB reverses their order.
    void expect(uint64_t offset, uint64_t size, uint8_t* bytes, uint32_t elementSize, bool indices,
                bool stable) const
    {
        const uint64_t first = offset / elementSize, last = first + size / elementSize;
        for (uint64_t set = first / m_job.count; set * m_job.count < last; ++set) {
            const uint64_t start = set * m_job.count, from = std::max(first, start),
                           to = std::min(last, start + m_job.count);
            const uint64_t kept = keptIn(uint32_t(set));
            walk(set, true, from - start, std::min(to - start, kept),
                 bytes + (from - first) * elementSize, elementSize, indices);
            if (!m_job.partitions() || !stable || to - start <= kept) continue;
            // Index in this set's output of the first entry to write that is not kept.
            const uint64_t behind = std::max(from - start, kept);
            walk(set, false, behind - kept, to - start - kept,
                 bytes + (start + behind - first) * elementSize, elementSize, indices);
        }
    }
    void expectCounts(uint64_t offset, uint64_t size, uint8_t* bytes) const
    {
        for (uint64_t set = offset / 4; set < (offset + size) / 4; ++set, bytes += 4) {
            const uint32_t kept = uint32_t(keptIn(uint32_t(set)));
            std::memcpy(bytes, &kept, 4);
        }
    }

private:
    uint64_t blocksInSet() const { return m_job.count / m_block; }

    bool keeps(uint64_t i) const // i: index among the elements of all sets
    {
        const size_t size = m_job.info.elementSize;
        switch (m_job.info.test) {
        case SLUICE_COMPACT_NON_ZERO: return m_host.words[i] != 0;
        case SLUICE_COMPACT_UNIQUE:
            return i % m_job.count == 0 || m_host.words[i] != m_host.words[i - 1];
        case SLUICE_COMPACT_COMPARE: break;
        default: return m_host.words[i] < m_job.bound;
        }
        switch (m_job.info.type) {
        case SLUICE_VALUE_U8: return elementAt<uint8_t>(m_host, i) < m_job.info.constant;
        case SLUICE_VALUE_U16: return elementAt<uint16_t>(m_host, i) < m_job.info.constant;
        case SLUICE_VALUE_I32: return elementAt<int32_t>(m_host, i) < int32_t(m_job.info.constant);
        case SLUICE_VALUE_U64: return elementAt<uint64_t>(m_host, i) < m_job.info.constant;
        case SLUICE_VALUE_F32: return elementAt<float>(m_host, i) < 0;
        default: return size == 4 && m_host.words[i] < m_job.info.constant;
        }
    }

    // Lists the elements of a set that are kept or, if `wanted` is false, those that are not.
    // Writes entries `first` to `last` - 1 of that list to `bytes`.
    void walk(uint64_t set, bool wanted, uint64_t first, uint64_t last, uint8_t* bytes,
              uint32_t elementSize, bool indices) const
    {
        uint64_t number = 0; // elements passed so far
        for (uint64_t i = set * blocksInSet(); number < last && i < (set + 1) * blocksInSet();
             ++i) {
            const uint64_t found = wanted ? m_kept[i] : m_block - m_kept[i];
            if (number + found <= first) {
                number += found;
                continue;
            }
            for (uint64_t k = i * m_block; k < (i + 1) * m_block && number < last; ++k) {
                if (keeps(k) != wanted || number++ < first) continue;
                const uint32_t index = uint32_t(k - set * m_job.count);
                const void* from = m_host.bytes() + k * elementSize;
                std::memcpy(bytes, indices ? &index : from, elementSize);
                bytes += elementSize;
            }
        }
    }

    const Job& m_job;
    const HostWords& m_host;
    uint64_t m_block;
    std::vector<uint32_t> m_kept;
};

class Compacts {
public:
    Compacts(const Contest& contest, const HostWords& host, uint64_t mostIndices = 0)
        : m_contest(contest), m_host(host), m_data(contest, host, mostIndices)
    {
    }

    void run(const Job& job)
    {
        if (!m_contest.report.hasTime(job.kernel, job.size)) return;
        const Data &ours = m_data.ours, &theirs = m_data.theirs();
        if (job.selectorBytes() != 0) {
            const HostWords selectors = job.makeSelectors(m_host);
            selectors.uploadTo(ours.device, ours.selectors.whole());
            if (&theirs != &ours) selectors.uploadTo(theirs.device, theirs.selectors.whole());
        }
        SluiceCompactInfo info = job.info;
        info.maxCount = job.count;
        const DeviceBuffer scratch =
            ours.device.allocateScratch(sluiceGetCompactRequirements, info);
        const Reference reference(job, m_host);
        const auto recordOurs = [&](SluiceCommands commands, uint32_t call) {
            SluiceCompactInfo command = job.ours(ours, call % job.sets);
            command.scratch = scratch.whole();
            require(sluiceCmdCompact(ours.device.context(), commands, &command), "compact");
        };
        std::vector<BenchRow> rows = {measure(ours, job, reference, "sluice", recordOurs)};
        if (m_contest.cub != nullptr) {
            const DeviceBuffer cubScratch =
                theirs.device.allocate(cubScratchSize(job.theirs(theirs, 0)));
            const auto recordTheirs = [&](SluiceCommands commands, uint32_t call) {
                CubCall command = job.theirs(theirs, call % job.sets);
                command.scratch = cubScratch.whole();
                recordCub(commands, command);
            };
            rows.push_back(measure(theirs, job, reference, job.cubName, recordTheirs));
        }
        m_contest.report.addGroup(rows);
    }

private:
    template <class Record>
    BenchRow measure(const Data& data, const Job& job, const Reference& reference,
                     const std::string& who, const Record& record) const
    {
        const auto expect = [&](uint32_t elementSize, bool indices) {
            return [&, elementSize, indices](uint64_t offset, uint64_t size, uint8_t* bytes) {
                reference.expect(offset, size, bytes, elementSize, indices, who == "sluice");
            };
        };
        const auto expectCounts = [&](uint64_t offset, uint64_t size, uint8_t* bytes) {
            reference.expectCounts(offset, size, bytes);
        };
        // Memory after the kept elements is undefined, so a single set is checked only up to there.
        const uint64_t places =
            job.sets > 1 || job.partitions() ? uint64_t{job.count} * job.sets : reference.keptIn(0);
        TimedWork work = {record, job.sets * job.repeats, {}};
        work.results.push_back({data.results.part(0, job.sets * 4ull), 4, expectCounts});
        const uint32_t size = job.info.elementSize;
        if (job.elements && places != 0)
            work.results.push_back(
                {data.output.part(0, places * size), size, expect(size, false), !job.inPlace()});
        if (job.indices && places != 0)
            work.results.push_back({data.indices.part(0, places * 4), 4, expect(4, true)});
        if (job.inPlace())
            data.device.upload(data.output.part(0, job.inputBytes()), m_host.words.get(),
                               job.inputBytes());
        uint64_t kept = 0;
        for (uint32_t set = 0; set < job.sets; ++set)
            kept += reference.keptIn(set);
        return m_contest.measure(data.device, job.kernel, job.size, who,
                                 job.usefulBytes(kept / job.sets), work);
    }

    const Contest& m_contest;
    const HostWords& m_host;
    Twins<Data> m_data;
};

struct Method {
    SluiceCompactTest test;
    CubKind cub;
    const char* cubName;
    uint32_t flags = 0;
};
constexpr Method kCompare = {SLUICE_COMPACT_COMPARE, CubKind::SelectLess, "CUB Select::If"},
                 kBytes = {SLUICE_COMPACT_BYTES, CubKind::SelectFlags,
                           "CUB Select::Flagged (u8 flags)"},
                 kMask = {SLUICE_COMPACT_MASK, CubKind::SelectMask, "CUB Select::Flagged (bits)"},
                 kPartition = {SLUICE_COMPACT_COMPARE, CubKind::PartitionLess, "CUB Partition::If",
                               SLUICE_COMPACT_PARTITION},
                 kUnique = {SLUICE_COMPACT_UNIQUE, CubKind::SelectUnique, "CUB Select::Unique"},
                 kNonZero = {SLUICE_COMPACT_NON_ZERO, CubKind::SelectNonZero, "CUB Select::If"};

// Makes a job with this method. `percent` is the percentage of random words that is kept.
Job makeJob(const std::string& kernel, const std::string& size, uint64_t count,
            const Method& method, uint32_t percent = 50)
{
    Job job;
    job.kernel = kernel;
    job.size = size;
    job.count = uint32_t(count);
    job.info.test = method.test;
    job.info.flags = method.flags;
    job.info.elementSize = 4;
    job.bound = boundFor(percent);
    job.cub = method.cub;
    job.cubName = method.cubName;
    if (method.test == SLUICE_COMPACT_COMPARE) {
        job.info.comparison = SLUICE_COMPARE_LESS;
        job.info.constant = job.bound;
    }
    return job;
}

// Returns jobs for all kinds of compaction that other kernels of the benchmark do not measure. Each
// takes at most `words` words and keeps half of its elements.
std::vector<Job> kindJobs(uint64_t words)
{
    constexpr const char* kernel = "compact kinds";
    std::vector<Job> jobs;
    for (const uint32_t size : {1u, 2u, 4u, 8u, 16u}) {
        jobs.push_back(makeJob(kernel, "mask " + std::to_string(size) + " B",
                               words / std::max(size / 4, 1u), kMask));
        jobs.back().info.elementSize = size;
    }
    constexpr struct {
        const char* name;
        SluiceValueType type;
        uint32_t size;
        uint64_t middle; // half of all values of the type are below it
    } types[] = {{"less u8", SLUICE_VALUE_U8, 1, 0x80},
                 {"less u16", SLUICE_VALUE_U16, 2, 0x8000},
                 {"less i32", SLUICE_VALUE_I32, 4, 0},
                 {"less u64", SLUICE_VALUE_U64, 8, uint64_t{1} << 63},
                 {"less f32", SLUICE_VALUE_F32, 4, 0}};
    for (const auto& type : types) {
        jobs.push_back(makeJob(kernel, type.name, words / std::max(type.size / 4, 1u), kCompare));
        jobs.back().info.type = type.type;
        jobs.back().info.elementSize = type.size;
        jobs.back().info.constant = type.middle;
    }
    Job indices = makeJob(kernel, "indices", words, kMask),
        both = makeJob(kernel, "both", words, kMask);
    indices.elements = false;
    indices.indices = both.indices = true;
    indices.cub = CubKind::SelectMaskIndices;
    both.cub = CubKind::SelectMaskBoth;
    Job inPlace = makeJob(kernel, "in place", words, kMask);
    inPlace.cub = CubKind::SelectMaskInPlace;
    jobs.insert(jobs.end(),
                {indices, both, inPlace, makeJob(kernel, "partition", words, kPartition)});
    return jobs;
}

constexpr struct {
    const char* kernel;
    Method method;
    bool coins; // words are 0 or 1 instead of random
    uint64_t factor;
} kSweeps[] = {{"compact sweep", kCompare, false, 4},
               {"compact sweep: flags", kBytes, false, 16},
               {"compact sweep: mask", kMask, false, 16},
               {"compact sweep: partition", kPartition, false, 16},
               {"compact sweep: unique", kUnique, true, 16}};

} // namespace

void benchCompact(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
                  BenchReport& report)
{
    const Contest contest{device, cudaDevice, report};
    const bool gpu = device.isGpu();
    const uint64_t limit = maxWords(device, 8), large = std::min<uint64_t>(limit, 1u << 28);
    const uint64_t kindWords = gpu ? 1u << 26 : 1u << 18;
    if (wanted("compact compare") || wanted("compact bytes") || wanted("compact calls")) {
        const HostWords host(large, scrambled);
        Compacts compacts(contest, host);
        for (const auto& [kernel, method] :
             {std::pair("compact compare", kCompare), std::pair("compact bytes", kBytes)}) {
            for (const uint32_t percent : {0u, 1u, 10u, 25u, 50u, 75u, 90u, 99u, 100u}) {
                if (!wanted(kernel)) continue;
                const std::string size = powerText(large) + " " + std::to_string(percent) + "%";
                compacts.run(makeJob(kernel, size, large, method, percent));
            }
        }
        // A row about small inputs gives the time of one call. A GPU makes 1,000 calls on the same
        // input in one command buffer or graph.
        for (const uint64_t count :
             report.budget().ordered(sweepSizes(std::min<uint64_t>(large, 1u << 20), 4))) {
            Job job = makeJob("compact calls", powerText(count), count, kCompare);
            job.repeats = gpu ? 1000 : 10;
            if (wanted("compact calls")) compacts.run(job);
        }
    }
    for (const bool coins : {false, true}) {
        if (!wanted("compact sweep")) break;
        const HostWords host(limit, coins ? coin : scrambled);
        Compacts compacts(contest, host);
        for (const auto& sweep : kSweeps) {
            if (sweep.coins != coins) continue;
            for (const uint64_t count : report.budget().ordered(sweepSizes(limit, sweep.factor))) {
                Job job = makeJob(sweep.kernel, powerText(count), count, sweep.method);
                // Successive calls take different inputs, so that an input is not still in a cache
                // when its turn comes again.
                job.sets = callsFor(count, limit / count);
                compacts.run(job);
            }
        }
    }
    if (wanted("compact kinds")) {
        {
            const HostWords host(kindWords, scrambled);
            Compacts compacts(contest, host, kindWords);
            for (const Job& job : kindJobs(kindWords))
                compacts.run(job);
        }
        const uint64_t step = ~0u / kindWords;
        const HostWords sorted(kindWords, [step](uint32_t i) { return uint32_t(i * step); });
        Compacts(contest, sorted).run(makeJob("compact kinds", "sorted", kindWords, kCompare));
        const HostWords coins(kindWords, coin);
        Compacts compacts(contest, coins);
        compacts.run(makeJob("compact kinds", "unique", kindWords, kUnique));
        compacts.run(makeJob("compact kinds", "non-zero", kindWords, kNonZero));
    }
    contest.sayMissing("compact");
}

} // namespace sluice
