// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of scans and reductions: one function, and a table of what is scanned how.
#include <sluice/sluice_scan.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "bench_checked.h"
#include "bench_rows.h"

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
    const char* kernel;
    SluiceOperation operation;
    SluiceValueType type;
    Form form;
    const char* cubName;
    uint64_t factor; // of the sweep over sizes
};

constexpr Kind kScan = {"scan",     SLUICE_OPERATION_SUM, SLUICE_VALUE_U32,
                        Form::Scan, "CUB ExclusiveSum",   4};
constexpr Kind kKinds[] = {
    {"scan kinds: inclusive", SLUICE_OPERATION_SUM, SLUICE_VALUE_U32, Form::Inclusive,
     "CUB InclusiveSum", 32},
    {"scan kinds: in place", SLUICE_OPERATION_SUM, SLUICE_VALUE_U32, Form::InPlace,
     "CUB ExclusiveSum", 32},
    {"scan kinds: segments", SLUICE_OPERATION_SUM, SLUICE_VALUE_U32, Form::Segments,
     "CUB ExclusiveSumByKey (u32 keys)", 32},
    {"scan kinds: max u32", SLUICE_OPERATION_MAX, SLUICE_VALUE_U32, Form::Scan, "CUB ExclusiveScan",
     32},
    {"scan kinds: min i32", SLUICE_OPERATION_MIN, SLUICE_VALUE_I32, Form::Scan, "CUB ExclusiveScan",
     32},
    {"scan kinds: sum u64", SLUICE_OPERATION_SUM, SLUICE_VALUE_U64, Form::Scan, "CUB ExclusiveSum",
     32},
    {"scan kinds: max u64", SLUICE_OPERATION_MAX, SLUICE_VALUE_U64, Form::Scan, "CUB ExclusiveScan",
     32},
    {"scan kinds: sum f32", SLUICE_OPERATION_SUM, SLUICE_VALUE_F32, Form::Scan, "CUB ExclusiveSum",
     32},
    {"scan kinds: min f32", SLUICE_OPERATION_MIN, SLUICE_VALUE_F32, Form::Scan, "CUB ExclusiveScan",
     32},
    {"scan kinds: segments f32", SLUICE_OPERATION_SUM, SLUICE_VALUE_F32, Form::Segments,
     "CUB ExclusiveSumByKey (u32 keys)", 32},
};
constexpr Kind kReductions[] = {
    {"reduce: sum u32", SLUICE_OPERATION_SUM, SLUICE_VALUE_U32, Form::Reduce, "CUB Reduce::Sum",
     16},
    {"reduce: min i32", SLUICE_OPERATION_MIN, SLUICE_VALUE_I32, Form::Reduce, "CUB Reduce::Reduce",
     16},
    {"reduce: sum u64", SLUICE_OPERATION_SUM, SLUICE_VALUE_U64, Form::Reduce, "CUB Reduce::Sum",
     16},
    {"reduce: max u64", SLUICE_OPERATION_MAX, SLUICE_VALUE_U64, Form::Reduce, "CUB Reduce::Reduce",
     16},
    {"reduce: sum f32", SLUICE_OPERATION_SUM, SLUICE_VALUE_F32, Form::Reduce, "CUB Reduce::Sum",
     16},
    {"reduce: min f32", SLUICE_OPERATION_MIN, SLUICE_VALUE_F32, Form::Reduce, "CUB Reduce::Reduce",
     16},
};

// Segments begin once in every 96 elements, each at another place of them.
uint32_t headIn(uint64_t run) { return static_cast<uint32_t>(run * 3 % 32); }
bool isHead(uint64_t element) { return element % 96 == headIn(element / 96); }

// One element in 128 is 1 and the others are 0: the sums are exact up to 2^30 elements.
uint32_t floatWord(uint32_t i) { return scrambled(i) >> 25 == 0 ? 0x3f800000u : 0; }

struct DeviceData {
    const BenchDevice& device;
    BenchBuffer input, output, heads, keys, results;

    DeviceData(const BenchDevice& on, const HostWords& host)
        : device(on), input(on.allocate(host.count * 4)), output(on.allocate(host.count * 4)),
          heads(on.allocate(host.count / 8)), results(on.allocate(8 * 1000))
    {
        host.uploadTo(on, input.whole());
    }
    SluiceBuffer slice(const BenchBuffer& buffer, uint32_t set, uint64_t size) const
    {
        return buffer.part(set * size, size);
    }
};

// `sets` arrays of `count` elements, one behind the other.
struct Work {
    const Kind& kind;
    uint32_t count, sets, elementSize;
    uint64_t bytes() const { return uint64_t{count} * elementSize; }
};

template <typename T>
T combined(SluiceOperation operation, T a, T b)
{
    if (operation == SLUICE_OPERATION_MIN) return std::min(a, b);
    if (operation == SLUICE_OPERATION_MAX) return std::max(a, b);
    if constexpr (std::is_same_v<T, int32_t>)
        return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    else
        return a + b;
}

// What must come out. Sums over blocks are made once, so that any piece of a result can be checked
// on its own.
template <typename T>
class Reference {
public:
    Reference(const Kind& kind, const HostWords& host)
        : kind_(kind), input_(reinterpret_cast<const T*>(host.words.get())),
          blocks_((host.count * 4 / sizeof(T) + kBlock - 1) / kBlock)
    {
        const uint64_t count = host.count * 4 / sizeof(T);
        if (kind.form == Form::Segments) return;
        inParallel(blocks_.size(), [&](uint64_t first, uint64_t last) {
            for (uint64_t i = first; i < last; ++i)
                blocks_[i] = over(identity(), i * kBlock, std::min(count, (i + 1) * kBlock));
        });
    }

    std::function<void(uint64_t, uint64_t, uint8_t*)> expect(const Work& work) const
    {
        return
            [this, count = uint64_t{work.count}](uint64_t offset, uint64_t size, uint8_t* bytes) {
                T* out = reinterpret_cast<T*>(bytes);
                const uint64_t first = offset / sizeof(T), last = first + size / sizeof(T);
                if (kind_.form == Form::Reduce) {
                    for (uint64_t set = first; set < last; ++set)
                        *out++ = before(set * count, (set + 1) * count);
                    return;
                }
                const bool segments = kind_.form == Form::Segments,
                           inclusive = kind_.form == Form::Inclusive;
                T value = segments ? sinceHead(first / count * count, first)
                                   : before(first / count * count, first);
                for (uint64_t i = first; i < last; ++i) {
                    if (i % count == 0 || (segments && isHead(i))) value = identity();
                    const T next = combined(kind_.operation, value, input_[i]);
                    *out++ = inclusive ? next : value;
                    value = next;
                }
            };
    }

private:
    static constexpr uint64_t kBlock = 1u << 16;

    T identity() const
    {
        using Limits = std::numeric_limits<T>;
        if (kind_.operation == SLUICE_OPERATION_SUM) return 0;
        if constexpr (Limits::has_infinity)
            return kind_.operation == SLUICE_OPERATION_MIN ? Limits::infinity()
                                                           : -Limits::infinity();
        else
            return kind_.operation == SLUICE_OPERATION_MIN ? Limits::max() : Limits::lowest();
    }
    T over(T value, uint64_t first, uint64_t last) const
    {
        for (uint64_t i = first; i < last; ++i)
            value = combined(kind_.operation, value, input_[i]);
        return value;
    }
    // Of an array from `start` on, which lies in one block or begins with one.
    T before(uint64_t start, uint64_t end) const
    {
        T value = identity();
        for (; start % kBlock == 0 && start + kBlock <= end; start += kBlock)
            value = combined(kind_.operation, value, blocks_[start / kBlock]);
        return over(value, start, end);
    }
    T sinceHead(uint64_t start, uint64_t end) const
    {
        uint64_t from = end;
        while (from > start && !isHead(from)) // the head at `end` itself begins anew, too
            --from;
        return over(identity(), from, end);
    }

    const Kind& kind_;
    const T* input_;
    std::vector<T> blocks_;
};

SluiceScanInfo scanInfo(const DeviceData& data, const Work& work, uint32_t set)
{
    SluiceScanInfo info = {};
    info.kind = work.kind.form == Form::Inclusive ? SLUICE_SCAN_INCLUSIVE : SLUICE_SCAN_EXCLUSIVE;
    info.operation = work.kind.operation;
    info.type = work.kind.type;
    info.maxCount = work.count;
    info.output = data.slice(data.output, set, work.bytes());
    info.input =
        work.kind.form == Form::InPlace ? info.output : data.slice(data.input, set, work.bytes());
    if (work.kind.form == Form::Segments) info.heads = data.slice(data.heads, set, work.count / 8);
    return info;
}

SluiceReduceInfo reduceInfo(const DeviceData& data, const Work& work, uint32_t set)
{
    SluiceReduceInfo info = {};
    info.operation = work.kind.operation;
    info.type = work.kind.type;
    info.maxCount = work.count;
    info.input = data.slice(data.input, set, work.bytes());
    info.result = data.slice(data.results, set, work.elementSize);
    return info;
}

BenchBuffer scratchFor(const DeviceData& data, const Work& work)
{
    SluiceRequirements requirements = {};
    const SluiceScanInfo scan = scanInfo(data, work, 0);
    const SluiceReduceInfo reduce = reduceInfo(data, work, 0);
    require(work.kind.form == Form::Reduce
                ? sluiceGetReduceRequirements(data.device.context(), &reduce, &requirements)
                : sluiceGetScanRequirements(data.device.context(), &scan, &requirements),
            "scan requirements");
    // 256-byte aligned, more than any kernel asks for
    BenchBuffer scratch = data.device.allocate(requirements.scratchSize);
    if (requirements.scratchSize != 0) data.device.fill(scratch.whole(), 0);
    return scratch;
}

BenchDevice::Record recordOurs(const DeviceData& data, const Work& work, const BenchBuffer& scratch)
{
    return [&, barrier = callBarrier(data.device)](SluiceCommands commands, uint32_t) {
        for (uint32_t set = 0; set < work.sets; ++set) {
            SluiceScanInfo scan = scanInfo(data, work, set);
            SluiceReduceInfo reduce = reduceInfo(data, work, set);
            scan.scratch = reduce.scratch = scratch.whole();
            require(work.kind.form == Form::Reduce
                        ? sluiceCmdReduce(data.device.context(), commands, &reduce)
                        : sluiceCmdScan(data.device.context(), commands, &scan),
                    work.kind.kernel);
            barrier(commands, 0);
        }
    };
}

CubCall cubCall(const DeviceData& data, const Work& work, uint32_t set)
{
    const SluiceScanInfo scan = scanInfo(data, work, set);
    CubCall call;
    call.operation = work.kind.operation;
    call.type = work.kind.type;
    call.count = work.count;
    call.input = scan.input;
    call.output = scan.output;
    if (work.kind.form == Form::Inclusive) call.kind = CubKind::InclusiveScan;
    if (work.kind.form == Form::Segments) {
        call.kind = CubKind::ScanByKey;
        call.selectors = data.slice(data.keys, set, uint64_t{work.count} * 4);
    }
    if (work.kind.form == Form::Reduce) {
        call.kind = CubKind::Reduce;
        call.output = reduceInfo(data, work, set).result;
    }
    return call;
}

BenchDevice::Record recordTheirs(const DeviceData& data, const Work& work,
                                 const BenchBuffer& scratch)
{
    return [&](SluiceCommands commands, uint32_t) {
        for (uint32_t set = 0; set < work.sets; ++set) {
            CubCall call = cubCall(data, work, set);
            call.scratch = scratch.whole();
            recordCub(commands, call);
        }
    };
}

// The same input on the device and, if it is another, on CUB's.
class Scans {
public:
    Scans(const Contest& contest, const HostWords& host)
        : contest_(contest), host_(host), ours_(contest.ours, host)
    {
        if (contest.isTwin()) twin_ = std::make_unique<DeviceData>(*contest.cub, host);
    }

    void sweep(const Kind& kind)
    {
        if (kind.form == Form::Segments) makeSegments();
        switch (kind.type) {
        case SLUICE_VALUE_U64: return sweepOf<uint64_t>(kind);
        case SLUICE_VALUE_I32: return sweepOf<int32_t>(kind);
        case SLUICE_VALUE_F32: return sweepOf<float>(kind);
        default: return sweepOf<uint32_t>(kind);
        }
    }

private:
    DeviceData& theirs() { return twin_ ? *twin_ : ours_; }

    void makeSegments()
    {
        const HostWords heads(host_.count / 32, [](uint32_t word) {
            uint32_t bits = 0;
            for (uint32_t i = 0; i < 32; ++i)
                bits |= (isHead(uint64_t{word} * 32 + i) ? 1u : 0u) << i;
            return bits;
        });
        heads.uploadTo(ours_.device, ours_.heads.whole());
        if (contest_.cub == nullptr || theirs().keys.size() != 0) return;
        const HostWords keys(
            host_.count, [](uint32_t i) { return i / 96 + (i % 96 >= headIn(i / 96) ? 1 : 0); });
        theirs().keys = contest_.cub->allocate(host_.count * 4);
        keys.uploadTo(*contest_.cub, theirs().keys.whole());
    }

    template <typename T>
    void sweepOf(const Kind& kind)
    {
        const uint64_t limit = host_.count * 4 / sizeof(T);
        const Reference<T> reference(kind, host_);
        for (const uint64_t count : sweepSizes(limit, kind.factor)) {
            // Several arrays, so that none of them is still in a cache when its turn comes again.
            const Work work{kind, static_cast<uint32_t>(count), callsFor(count, limit / count),
                            sizeof(T)};
            const uint64_t useful = work.bytes() * (kind.form == Form::Reduce ? 1 : 2) +
                                    (kind.form == Form::Segments ? work.count / 8 : 0);
            const auto run = [&](const DeviceData& data, const std::string& who, bool isPeer,
                                 const BenchDevice::Record& record) {
                const bool reduces = kind.form == Form::Reduce,
                           inPlace = kind.form == Form::InPlace;
                const SluiceBuffer result = reduces ? data.results.part(0, work.sets * sizeof(T))
                                                    : data.output.part(0, work.sets * work.bytes());
                if (inPlace) data.device.upload(result, host_.words.get(), result.size);
                const Timing timing =
                    checkAndTime(data.device, who + " " + kind.kernel, work.sets, record,
                                 {{result, sizeof(T), reference.expect(work), !inPlace}});
                return makeRow(kind.kernel, powerText(count), who, useful, timing, isPeer);
            };
            const BenchBuffer scratch = scratchFor(ours_, work);
            std::vector<BenchRow> rows = {
                run(ours_, "sluice", false, recordOurs(ours_, work, scratch))};
            if (contest_.cub != nullptr) {
                const BenchBuffer cubScratch =
                    contest_.cub->allocate(cubScratchSize(cubCall(theirs(), work, 0)));
                rows.push_back(
                    run(theirs(), kind.cubName, true, recordTheirs(theirs(), work, cubScratch)));
            }
            contest_.report.addGroup(rows);
        }
    }

    const Contest& contest_;
    const HostWords& host_;
    DeviceData ours_;
    std::unique_ptr<DeviceData> twin_;
};

} // namespace

void benchScan(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
               BenchReport& report)
{
    const Contest contest{device, cudaDevice, report};
    const uint64_t limit = maxWords(device, 8);
    std::vector<Kind> kinds;
    if (wanted("scan")) kinds.push_back(kScan);
    if (wanted("scan kinds")) kinds.insert(kinds.end(), std::begin(kKinds), std::end(kKinds));
    if (wanted("reduce")) kinds.insert(kinds.end(), std::begin(kReductions), std::end(kReductions));
    for (const bool floats : {false, true}) {
        const auto isOfThese = [&](const Kind& kind) {
            return (kind.type == SLUICE_VALUE_F32) == floats;
        };
        if (std::none_of(kinds.begin(), kinds.end(), isOfThese)) continue;
        const HostWords host(limit, floats ? floatWord : scrambled);
        Scans scans(contest, host);
        for (const Kind& kind : kinds)
            if (isOfThese(kind)) scans.sweep(kind);
    }
    contest.sayMissing("scan, reduce");
}

} // namespace sluice
