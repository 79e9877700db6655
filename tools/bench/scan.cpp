// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of scans and reductions: one function measures all variants, which are in a table.
#include <sluice/sluice_scan.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "tools/bench/contest.h"
#include "tools/bench/rows.h"

namespace sluice {
namespace {

enum class Form {
    Scan,
    Inclusive,
    InPlace,
    Segments,
    Reduce
};

struct Kind {
    const char *filter, *variant; // names of kernel and variant; --filter knows only the kernel
    SluiceOperation operation;
    SluiceValueType type;
    Form form;
    uint64_t factor; // each measured size is `factor` times the size before it

    std::string kernel() const { return std::string(filter) + variant; }
    const char* cubName() const
    {
        const bool isSum = operation == SLUICE_OPERATION_SUM;
        switch (form) {
        case Form::Reduce: return isSum ? "CUB Reduce::Sum" : "CUB Reduce::Reduce";
        case Form::Segments: return "CUB ExclusiveSumByKey (u32 keys)";
        case Form::Inclusive: return "CUB InclusiveSum";
        default: return isSum ? "CUB ExclusiveSum" : "CUB ExclusiveScan";
        }
    }
};

constexpr SluiceOperation kSum = SLUICE_OPERATION_SUM, kMin = SLUICE_OPERATION_MIN,
                          kMax = SLUICE_OPERATION_MAX;
constexpr SluiceValueType kU32 = SLUICE_VALUE_U32, kI32 = SLUICE_VALUE_I32, kU64 = SLUICE_VALUE_U64,
                          kF32 = SLUICE_VALUE_F32;
constexpr Kind kKinds[] = {
    {"scan", "", kSum, kU32, Form::Scan, 4},
    {"scan kinds", ": inclusive", kSum, kU32, Form::Inclusive, 32},
    {"scan kinds", ": in place", kSum, kU32, Form::InPlace, 32},
    {"scan kinds", ": segments", kSum, kU32, Form::Segments, 32},
    {"scan kinds", ": max u32", kMax, kU32, Form::Scan, 32},
    {"scan kinds", ": min i32", kMin, kI32, Form::Scan, 32},
    {"scan kinds", ": sum u64", kSum, kU64, Form::Scan, 32},
    {"scan kinds", ": max u64", kMax, kU64, Form::Scan, 32},
    {"scan kinds", ": sum f32", kSum, kF32, Form::Scan, 32},
    {"scan kinds", ": min f32", kMin, kF32, Form::Scan, 32},
    {"scan kinds", ": segments f32", kSum, kF32, Form::Segments, 32},
    {"reduce", ": sum u32", kSum, kU32, Form::Reduce, 16},
    {"reduce", ": min i32", kMin, kI32, Form::Reduce, 16},
    {"reduce", ": sum u64", kSum, kU64, Form::Reduce, 16},
    {"reduce", ": max u64", kMax, kU64, Form::Reduce, 16},
    {"reduce", ": sum f32", kSum, kF32, Form::Reduce, 16},
    {"reduce", ": min f32", kMin, kF32, Form::Reduce, 16},
};

// Segments for a segmented scan. One element in each run of 96 begins a segment; which one it is
// differs from run to run.
uint32_t headIn(uint64_t run) { return uint32_t(run * 3 % 32); }
bool isHead(uint64_t element) { return element % 96 == headIn(element / 96); }

// About one float in 128 is 1, all others are 0. So even sums of 2^30 elements are exact.
uint32_t floatWord(uint32_t i) { return scrambled(i) >> 25 == 0 ? 0x3f800000u : 0; }

struct Data {
    const BenchDevice& device;
    DeviceBuffer input, output, heads, keys, results;

    Data(const BenchDevice& on, const HostWords& host)
        : device(on), input(on.allocate(host.count * 4)), output(on.allocate(host.count * 4)),
          heads(on.allocate(host.count / 8)), results(on.allocate(8 * 1000))
    {
        host.uploadTo(on, input.whole());
    }
};

// A scan or reduction of `sets` arrays of `count` elements each, one after the other in memory.
struct Job {
    const Kind& kind;
    uint32_t count, sets, elementSize;

    uint64_t bytes() const { return uint64_t{count} * elementSize; }
    bool reduces() const { return kind.form == Form::Reduce; }

    SluiceScanInfo scan(const Data& data, uint32_t set) const
    {
        SluiceScanInfo info = {};
        info.kind = kind.form == Form::Inclusive ? SLUICE_SCAN_INCLUSIVE : SLUICE_SCAN_EXCLUSIVE;
        info.operation = kind.operation;
        info.type = kind.type;
        info.maxCount = count;
        info.output = data.output.part(set * bytes(), bytes());
        info.input =
            kind.form == Form::InPlace ? info.output : data.input.part(set * bytes(), bytes());
        if (kind.form == Form::Segments)
            info.heads = data.heads.part(set * uint64_t{count} / 8, count / 8);
        return info;
    }
    SluiceReduceInfo reduce(const Data& data, uint32_t set) const
    {
        SluiceReduceInfo info = {};
        info.operation = kind.operation;
        info.type = kind.type;
        info.maxCount = count;
        info.input = data.input.part(set * bytes(), bytes());
        info.result = data.results.part(set * elementSize, elementSize);
        return info;
    }
    CubCall cub(const Data& data, uint32_t set) const
    {
        const SluiceScanInfo info = scan(data, set);
        CubCall call;
        call.operation = kind.operation;
        call.type = kind.type;
        call.count = count;
        call.input = info.input;
        call.output = info.output;
        if (kind.form == Form::Inclusive) call.kind = CubKind::InclusiveScan;
        if (kind.form == Form::Segments) {
            call.kind = CubKind::ScanByKey;
            call.selectors = data.keys.part(set * uint64_t{count} * 4, uint64_t{count} * 4);
        }
        if (reduces()) {
            call.kind = CubKind::Reduce;
            call.output = reduce(data, set).result;
        }
        return call;
    }
};

template <typename T>
T combined(SluiceOperation operation, T a, T b)
{
    if (operation == kMin) return std::min(a, b);
    if (operation == kMax) return std::max(a, b);
    if constexpr (std::is_same_v<T, int32_t>)
        return int32_t(uint32_t(a) + uint32_t(b));
    else
        return a + b;
}

// Computes what results should be. The constructor combines the elements of each block. With these
// values, any piece of a result can be checked without the pieces before it.
template <typename T>
class Reference {
public:
    Reference(const Kind& kind, const HostWords& host)
        : m_kind(kind), m_input(reinterpret_cast<const T*>(host.words.get())),
          m_blocks((host.count * 4 / sizeof(T) + kBlock - 1) / kBlock)
    {
        const uint64_t count = host.count * 4 / sizeof(T);
        if (kind.form == Form::Segments) return;
        inParallel(m_blocks.size(), [&](uint64_t first, uint64_t last) {
            for (uint64_t i = first; i < last; ++i)
                m_blocks[i] = over(identity(), i * kBlock, std::min(count, (i + 1) * kBlock));
        });
    }

    // Overwrites `size` bytes of a result, from `offset` on, with the right values. Each array has
    // `count` elements.
    void expect(uint64_t count, uint64_t offset, uint64_t size, uint8_t* bytes) const
    {
        T* out = reinterpret_cast<T*>(bytes);
        const uint64_t first = offset / sizeof(T), last = first + size / sizeof(T);
        if (m_kind.form == Form::Reduce) {
            for (uint64_t set = first; set < last; ++set)
                *out++ = sumOf(set * count, (set + 1) * count);
            return;
        }
        const bool segments = m_kind.form == Form::Segments;
        const uint64_t start = first / count * count;
        T value = segments ? sinceHead(start, first) : sumOf(start, first);
        for (uint64_t i = first; i < last; ++i) {
            if (i % count == 0 || (segments && isHead(i))) value = identity();
            const T next = combined(m_kind.operation, value, m_input[i]);
            *out++ = m_kind.form == Form::Inclusive ? next : value;
            value = next;
        }
    }

private:
    static constexpr uint64_t kBlock = 1u << 16;

    T identity() const
    {
        using Limits = std::numeric_limits<T>;
        if (m_kind.operation == kSum) return 0;
        const bool isMin = m_kind.operation == kMin;
        if constexpr (Limits::has_infinity)
            return isMin ? Limits::infinity() : -Limits::infinity();
        else
            return isMin ? Limits::max() : Limits::lowest();
    }
    T over(T value, uint64_t first, uint64_t last) const
    {
        for (uint64_t i = first; i < last; ++i)
            value = combined(m_kind.operation, value, m_input[i]);
        return value;
    }
    // Combines the elements [start, end). If `start` is a multiple of kBlock, the results of whole
    // blocks are used; otherwise each element is read.
    T sumOf(uint64_t start, uint64_t end) const
    {
        T value = identity();
        for (; start % kBlock == 0 && start + kBlock <= end; start += kBlock)
            value = combined(m_kind.operation, value, m_blocks[start / kBlock]);
        return over(value, start, end);
    }
    T sinceHead(uint64_t start, uint64_t end) const
    {
        uint64_t from = end;
        while (from > start && !isHead(from)) // a head at `end` begins a new segment
            --from;
        return over(identity(), from, end);
    }

    const Kind& m_kind;
    const T* m_input;
    std::vector<T> m_blocks;
};

class Scans {
public:
    Scans(const Contest& contest, const HostWords& host)
        : m_contest(contest), m_host(host), m_data(contest, host)
    {
    }

    void sweep(const Kind& kind)
    {
        if (kind.form == Form::Segments) makeSegments();
        switch (kind.type) {
        case kU64: return sweepOf<uint64_t>(kind);
        case kI32: return sweepOf<int32_t>(kind);
        case kF32: return sweepOf<float>(kind);
        default: return sweepOf<uint32_t>(kind);
        }
    }

private:
    void makeSegments()
    {
        const HostWords heads(m_host.count / 32, [](uint32_t word) {
            uint32_t bits = 0;
            for (uint32_t i = 0; i < 32; ++i)
                bits |= (isHead(uint64_t{word} * 32 + i) ? 1u : 0u) << i;
            return bits;
        });
        heads.uploadTo(m_contest.ours, m_data.ours.heads.whole());
        Data& theirs = m_data.theirs();
        if (m_contest.cub == nullptr || theirs.keys.size() != 0) return;
        const HostWords keys(
            m_host.count, [](uint32_t i) { return i / 96 + (i % 96 >= headIn(i / 96) ? 1 : 0); });
        theirs.keys = theirs.device.allocate(m_host.count * 4);
        keys.uploadTo(theirs.device, theirs.keys.whole());
    }

    auto ours(const Job& job)
    {
        const Data& data = m_data.ours;
        m_scratch =
            job.reduces()
                ? data.device.allocateScratch(sluiceGetReduceRequirements, job.reduce(data, 0))
                : data.device.allocateScratch(sluiceGetScanRequirements, job.scan(data, 0));
        return [&](SluiceCommands commands, uint32_t set) {
            SluiceScanInfo scan = job.scan(data, set);
            SluiceReduceInfo reduce = job.reduce(data, set);
            scan.scratch = reduce.scratch = m_scratch.whole();
            require(job.reduces() ? sluiceCmdReduce(data.device.context(), commands, &reduce)
                                  : sluiceCmdScan(data.device.context(), commands, &scan),
                    job.kind.kernel());
        };
    }
    auto theirs(const Job& job)
    {
        const Data& data = m_data.theirs();
        m_cubScratch = data.device.allocate(cubScratchSize(job.cub(data, 0)));
        return [&](SluiceCommands commands, uint32_t set) {
            CubCall call = job.cub(data, set);
            call.scratch = m_cubScratch.whole();
            recordCub(commands, call);
        };
    }

    template <typename T>
    void sweepOf(const Kind& kind)
    {
        const uint64_t limit = m_host.count * 4 / sizeof(T);
        const Reference<T> reference(kind, m_host);
        for (const uint64_t count :
             m_contest.report.budget().ordered(sweepSizes(limit, kind.factor))) {
            if (!m_contest.report.hasTime(kind.kernel(), powerText(count))) continue;
            // Successive calls take different arrays, so that an array is not still in a cache when
            // its turn comes again.
            const Job job{kind, uint32_t(count), callsFor(count, limit / count), sizeof(T)};
            const uint64_t useful = job.bytes() * (job.reduces() ? 1 : 2) +
                                    (kind.form == Form::Segments ? job.count / 8 : 0);
            const auto run = [&](const Data& data, const char* who, const auto& record) {
                const bool inPlace = kind.form == Form::InPlace;
                const SluiceBuffer result = job.reduces()
                                                ? data.results.part(0, job.sets * sizeof(T))
                                                : data.output.part(0, job.sets * job.bytes());
                if (inPlace) data.device.upload(result, m_host.words.get(), result.size);
                const auto expect = [&](uint64_t offset, uint64_t size, uint8_t* bytes) {
                    reference.expect(count, offset, size, bytes);
                };
                return m_contest.measure(
                    data.device, kind.kernel(), powerText(count), who, useful,
                    {record, job.sets, {{result, sizeof(T), expect, !inPlace}}});
            };
            std::vector<BenchRow> rows = {run(m_data.ours, "sluice", ours(job))};
            if (m_contest.cub != nullptr)
                rows.push_back(run(m_data.theirs(), kind.cubName(), theirs(job)));
            m_contest.report.addGroup(rows);
        }
    }

    const Contest& m_contest;
    const HostWords& m_host;
    Twins<Data> m_data;
    DeviceBuffer m_scratch, m_cubScratch;
};

} // namespace

void benchScan(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
               BenchReport& report)
{
    const Contest contest{device, cudaDevice, report};
    const uint64_t limit = maxWords(device, 8);
    for (const bool floats : {false, true}) {
        std::vector<Kind> kinds;
        for (const Kind& kind : kKinds) {
            if ((kind.type == kF32) == floats && wanted(kind.filter)) kinds.push_back(kind);
        }
        if (kinds.empty()) continue;
        const HostWords host(limit, floats ? floatWord : scrambled);
        Scans scans(contest, host);
        for (const Kind& kind : kinds)
            scans.sweep(kind);
    }
    contest.sayMissing("scan, reduce");
}

} // namespace sluice
