// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of scans of other operations and types, and of reductions. The CPU's results are what they must give.
#include <cstring>

#include "bench_rows.h"

namespace sluice {
namespace {

struct Kind {
    const char* name;
    SluiceOperation operation;
    SluiceValueType type;
    bool segmented;
    bool reduce;
};

constexpr Kind kinds[] = {
    {"scan kinds: max u32", SLUICE_OPERATION_MAX, SLUICE_VALUE_U32, false, false},
    {"scan kinds: min f32", SLUICE_OPERATION_MIN, SLUICE_VALUE_F32, false, false},
    {"scan kinds: sum f32", SLUICE_OPERATION_SUM, SLUICE_VALUE_F32, false, false},
    {"scan kinds: sum u64", SLUICE_OPERATION_SUM, SLUICE_VALUE_U64, false, false},
    {"scan kinds: sum u32, segments", SLUICE_OPERATION_SUM, SLUICE_VALUE_U32, true, false},
    {"scan kinds: reduce sum u32", SLUICE_OPERATION_SUM, SLUICE_VALUE_U32, false, true},
    {"scan kinds: reduce sum f32", SLUICE_OPERATION_SUM, SLUICE_VALUE_F32, false, true},
    {"scan kinds: reduce max u64", SLUICE_OPERATION_MAX, SLUICE_VALUE_U64, false, true},
};

// f32: one element in 16 is 1 and the others are 0, whose sums are exact below 2^28 elements.
std::vector<uint32_t> madeUpInput(const Kind& kind, uint32_t words)
{
    std::vector<uint32_t> input(words);
    for (uint32_t i = 0; i < words; ++i) {
        const uint32_t random = (i * 2654435761u ^ i >> 7) * 0x7feb352du;
        input[i] = kind.type != SLUICE_VALUE_F32 ? random : random >> 28 == 0 ? 0x3f800000u : 0;
    }
    return input;
}

// A device's or the host's buffers.
struct Buffers {
    SluiceBuffer input, output, heads, result, scratch;
};

SluiceScanInfo scanInfo(const Kind& kind, uint32_t count, const Buffers& buffers)
{
    SluiceScanInfo info = {};
    info.operation = kind.operation;
    info.type = kind.type;
    info.maxCount = count;
    info.input = buffers.input;
    info.output = buffers.output;
    if (kind.segmented) info.heads = buffers.heads;
    info.total = buffers.result;
    info.scratch = buffers.scratch;
    return info;
}

SluiceReduceInfo reduceInfo(const Kind& kind, uint32_t count, const Buffers& buffers)
{
    SluiceReduceInfo info = {};
    info.operation = kind.operation;
    info.type = kind.type;
    info.maxCount = count;
    info.input = buffers.input;
    info.result = buffers.result;
    info.scratch = buffers.scratch;
    return info;
}

void record(SluiceContext context, SluiceCommands commands, const Kind& kind, uint32_t count, const Buffers& buffers)
{
    const SluiceScanInfo scan = scanInfo(kind, count, buffers);
    const SluiceReduceInfo reduce = reduceInfo(kind, count, buffers);
    require(kind.reduce ? sluiceCmdReduce(context, commands, &reduce) : sluiceCmdScan(context, commands, &scan),
            kind.name);
    require(sluiceCmdBarrier(context, commands), "barrier");
}

SluiceBuffer hostRange(const std::vector<uint32_t>& words)
{
    return {uint64_t{reinterpret_cast<uintptr_t>(words.data())}, 0, uint64_t{words.size()} * 4};
}

// What the CPU makes of it: the output, then the result.
std::vector<uint32_t> expected(const Kind& kind, uint32_t count, const std::vector<uint32_t>& input,
                               const std::vector<uint32_t>& heads)
{
    std::vector<uint32_t> output(kind.reduce ? 0 : input.size()), result(2);
    SluiceContext cpu = nullptr;
    require(sluiceCreateCpuContext(&cpu), "CPU context");
    record(cpu, nullptr, kind, count, {hostRange(input), hostRange(output), hostRange(heads), hostRange(result), {}});
    sluiceDestroyContext(cpu);
    output.insert(output.end(), result.begin(), result.end());
    return output;
}

void benchKind(const BenchDevice& device, const Kind& kind, uint32_t count, BenchReport& report)
{
    const uint32_t words = count * (kind.type == SLUICE_VALUE_U64 ? 2 : 1);
    const std::vector<uint32_t> input = madeUpInput(kind, words);
    std::vector<uint32_t> heads((count + 31) / 32);
    for (uint32_t i = 0; i < heads.size(); i += 3)
        heads[i] = 1u << i % 32; // a head in 96 elements

    const BenchBuffer in = device.allocate(uint64_t{words} * 4), out = device.allocate(uint64_t{words} * 4 + 8);
    const BenchBuffer headBits = device.allocate(heads.size() * 4);
    device.upload(in.whole(), input.data(), in.size());
    device.upload(headBits.whole(), heads.data(), headBits.size());
    const uint64_t resultAt = kind.reduce ? 0 : uint64_t{words} * 4;
    Buffers buffers = {in.whole(), out.part(0, uint64_t{words} * 4), headBits.whole(), out.part(resultAt, 8), {}};
    SluiceRequirements needs = {};
    const SluiceScanInfo scan = scanInfo(kind, count, buffers);
    const SluiceReduceInfo reduce = reduceInfo(kind, count, buffers);
    require(kind.reduce ? sluiceGetReduceRequirements(device.context(), &reduce, &needs)
                        : sluiceGetScanRequirements(device.context(), &scan, &needs),
            kind.name);
    const BenchBuffer scratch = device.allocate(needs.scratchSize);
    if (needs.scratchSize != 0) device.fill(scratch.whole(), 0);
    buffers.scratch = scratch.whole();

    const auto work = [&](SluiceCommands commands, uint32_t) {
        record(device.context(), commands, kind, count, buffers);
    };
    device.fill(out.whole(), 0);
    device.runOnce(work);
    const std::vector<uint32_t> wanted = expected(kind, count, input, heads);
    std::vector<uint32_t> got(wanted.size());
    device.download(out.part(0, got.size() * 4), got.data(), got.size() * 4);
    if (got != wanted) throw Failure{exitDevice, std::string(kind.name) + ": wrong result"};

    BenchRow row;
    row.kernel = kind.name;
    row.size = std::to_string(count);
    row.who = "sluice";
    row.bytes = uint64_t{words} * 4 * (kind.reduce ? 1 : 2) + (kind.segmented ? heads.size() * 4 : 0);
    row.timing = device.time(1, work);
    report.addGroup({row});
}

} // namespace

void benchScanKinds(const BenchDevice& device, BenchReport& report)
{
    const uint32_t count = device.isGpu() ? 1u << 26 : 1u << 20;
    for (const Kind& kind : kinds)
        benchKind(device, kind, count, report);
}

} // namespace sluice
