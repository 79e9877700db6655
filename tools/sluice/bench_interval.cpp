// SPDX-License-Identifier: MIT OR Apache-2.0
// The interval rows: moves, expansions, the load-balancing search, bulk remove and insert.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "bench_peers.h"
#include "bench_rows.h"

namespace sluice {
namespace {

using Words = std::vector<uint32_t>;

// The bytes that all rows move, once on the host and once on each device.
struct Arena {
    const BenchDevice& device;
    const Words& host;
    BenchBuffer source, target;

    Arena(const BenchDevice& on, const Words& content)
        : device(on), host(content), source(on.allocate(content.size() * 4)), target(on.allocate(content.size() * 4))
    {
        device.upload(source.whole(), content.data(), source.size());
    }
};

BenchBuffer upload(const BenchDevice& device, const void* bytes, uint64_t size)
{
    BenchBuffer buffer = device.allocate(size);
    if (size != 0) device.upload(buffer.whole(), bytes, size);
    return buffer;
}
BenchBuffer upload(const BenchDevice& device, const Words& words)
{
    return upload(device, words.data(), words.size() * 4);
}

BenchBuffer scratchFor(const BenchDevice& device, const SluiceIntervals& intervals)
{
    SluiceRequirements requirements = {};
    require(sluiceGetIntervalRequirements(device.context(), &intervals, &requirements), "interval requirements");
    return device.allocate(requirements.scratchSize);
}

// Intervals that are moved, in elements: sources in order, destinations shuffled.
struct MoveList {
    uint32_t elementSize;
    Words counts, gather, scatter;
    uint64_t elements = 0;

    MoveList(uint32_t size, Words lengths, std::mt19937& random)
        : elementSize(size), counts(std::move(lengths)), gather(counts.size()), scatter(counts.size())
    {
        for (size_t i = 0; i < counts.size(); ++i) {
            gather[i] = static_cast<uint32_t>(elements);
            elements += counts[i];
        }
        Words order(counts.size());
        std::iota(order.begin(), order.end(), 0u);
        std::shuffle(order.begin(), order.end(), random);
        uint32_t place = 0;
        for (const uint32_t i : order) {
            scatter[i] = place;
            place += counts[i];
        }
    }
    uint64_t bytes() const { return elements * elementSize; }
};

void checkMoved(const Arena& arena, const MoveList& list, const char* who)
{
    std::vector<uint8_t> moved(arena.target.size());
    arena.device.download(arena.target.whole(), moved.data(), moved.size());
    const uint8_t* from = reinterpret_cast<const uint8_t*>(arena.host.data());
    const uint64_t size = list.elementSize;
    for (size_t i = 0; i < list.counts.size(); ++i) {
        if (std::memcmp(moved.data() + list.scatter[i] * size, from + list.gather[i] * size, list.counts[i] * size) != 0)
            throw Failure{exitDevice, std::string(who) + ": wrong result in interval " + std::to_string(i)};
    }
}

Timing timeMove(const Arena& arena, const MoveList& list)
{
    const BenchBuffer counts = upload(arena.device, list.counts), gather = upload(arena.device, list.gather),
                      scatter = upload(arena.device, list.scatter);
    SluiceIntervalMoveInfo info = {};
    info.elementSize = list.elementSize;
    info.positionSize = 4;
    info.intervals.maxCount = static_cast<uint32_t>(list.counts.size());
    info.intervals.counts = counts.whole();
    info.gather = gather.whole();
    info.scatter = scatter.whole();
    info.source = arena.source.whole();
    info.destination = arena.target.part(0, std::max<uint64_t>(list.bytes(), 16));
    const BenchBuffer scratch = scratchFor(arena.device, info.intervals);
    info.scratch = scratch.whole();
    const auto record = [&](SluiceCommands commands, uint32_t) {
        require(sluiceCmdIntervalMove(arena.device.context(), commands, &info), "interval move");
    };
    arena.device.fill(arena.target.whole(), 0xee);
    arena.device.runOnce(record);
    checkMoved(arena, list, "interval move");
    return arena.device.time(1, record);
}

Timing timeBatchedCopy(const Arena& arena, const MoveList& list)
{
    const size_t count = list.counts.size();
    std::vector<uint64_t> sources(count), targets(count);
    Words sizes(count);
    for (size_t i = 0; i < count; ++i) {
        sources[i] = arena.source.address() + uint64_t{list.gather[i]} * list.elementSize;
        targets[i] = arena.target.address() + uint64_t{list.scatter[i]} * list.elementSize;
        sizes[i] = list.counts[i] * list.elementSize;
    }
    const BenchBuffer from = upload(arena.device, sources.data(), count * 8);
    const BenchBuffer to = upload(arena.device, targets.data(), count * 8);
    const BenchBuffer lengths = upload(arena.device, sizes);
    const BenchBuffer scratch = arena.device.allocate(cubBatchedScratchSize(static_cast<uint32_t>(count)));
    const auto record = [&](SluiceCommands commands, uint32_t) {
        recordCubBatched(commands, static_cast<uint32_t>(count), from.whole(), to.whole(), lengths.whole(), scratch.whole());
    };
    arena.device.fill(arena.target.whole(), 0xee);
    arena.device.runOnce(record);
    checkMoved(arena, list, "CUB");
    return arena.device.time(1, record);
}

struct Rows {
    const Arena& arena;
    const Arena* cuda; // where CUB runs; nullptr: nowhere
    BenchReport& report;

    BenchRow row(const std::string& kernel, const std::string& size, uint64_t bytes, const Timing& timing) const
    {
        BenchRow made;
        made.kernel = kernel;
        made.size = size;
        made.who = "sluice";
        made.bytes = bytes;
        made.timing = timing;
        return made;
    }

    void move(const std::string& kernel, const std::string& size, const MoveList& list, bool withPeer) const
    {
        // Rows without elements count the descriptors, of which there is nothing else to read.
        const uint64_t bytes = list.elements != 0 ? 2 * list.bytes() : uint64_t{list.counts.size()} * 4;
        std::vector<BenchRow> rows = {row(kernel, size, bytes, timeMove(arena, list))};
        if (withPeer && cuda != nullptr) {
            rows.push_back(row(kernel, size, bytes, timeBatchedCopy(*cuda, list)));
            rows.back().who = "CUB DeviceMemcpy::Batched";
            rows.back().isPeer = true;
        }
        report.addGroup(rows);
    }
};

// Lengths of 1 .. 2 mean - 1 elements that fill `elements`.
Words uniformLengths(uint64_t elements, uint32_t mean, std::mt19937& random)
{
    Words lengths;
    for (uint64_t left = elements; left != 0;) {
        const uint64_t length = std::min<uint64_t>(1 + random() % (2 * mean - 1), left);
        lengths.push_back(static_cast<uint32_t>(length));
        left -= length;
    }
    return lengths;
}

std::string bytesText(uint64_t bytes)
{
    return bytes >= 1024 ? std::to_string(bytes / 1024) + " KiB" : std::to_string(bytes) + " B";
}

constexpr uint32_t kMeans[] = {64, 256, 1024, 4096, 65536};

Timing timeExpand(const Arena& arena, const Words& counts, const Words& values, uint64_t elements)
{
    const BenchBuffer countBuffer = upload(arena.device, counts), valueBuffer = upload(arena.device, values);
    SluiceIntervalExpandInfo info = {};
    info.elementSize = 4;
    info.intervals.maxCount = static_cast<uint32_t>(counts.size());
    info.intervals.counts = countBuffer.whole();
    info.values = valueBuffer.whole();
    info.destination = arena.target.part(0, elements * 4);
    const BenchBuffer scratch = scratchFor(arena.device, info.intervals);
    info.scratch = scratch.whole();
    const auto record = [&](SluiceCommands commands, uint32_t) {
        require(sluiceCmdIntervalExpand(arena.device.context(), commands, &info), "interval expand");
    };
    arena.device.fill(arena.target.whole(), 0xee);
    arena.device.runOnce(record);
    Words expanded(elements);
    arena.device.download(arena.target.part(0, elements * 4), expanded.data(), elements * 4);
    uint64_t at = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
        for (uint32_t k = 0; k < counts[i]; ++k, ++at) {
            if (expanded[at] != values[i])
                throw Failure{exitDevice, "interval expand: wrong result at element " + std::to_string(at)};
        }
    }
    return arena.device.time(1, record);
}

Timing timeSearch(const Arena& arena, const Words& counts, uint64_t elements)
{
    const BenchBuffer countBuffer = upload(arena.device, counts);
    SluiceIntervalSearchInfo info = {};
    info.intervals.maxCount = static_cast<uint32_t>(counts.size());
    info.intervals.counts = countBuffer.whole();
    info.sources = arena.target.part(0, elements * 4);
    info.ranks = arena.target.part(elements * 4, elements * 4);
    const BenchBuffer scratch = scratchFor(arena.device, info.intervals);
    info.scratch = scratch.whole();
    const auto record = [&](SluiceCommands commands, uint32_t) {
        require(sluiceCmdIntervalSearch(arena.device.context(), commands, &info), "interval search");
    };
    arena.device.fill(arena.target.whole(), 0xee);
    arena.device.runOnce(record);
    Words found(2 * elements);
    arena.device.download(arena.target.part(0, elements * 8), found.data(), elements * 8);
    uint64_t at = 0;
    for (uint32_t i = 0; i < counts.size(); ++i) {
        for (uint32_t k = 0; k < counts[i]; ++k, ++at) {
            if (found[at] != i || found[elements + at] != k)
                throw Failure{exitDevice, "interval search: wrong result at element " + std::to_string(at)};
        }
    }
    return arena.device.time(1, record);
}

// One index in `every` items; returns the finished array's length.
Timing timeBulk(const Arena& arena, bool insert, uint32_t items, uint32_t every, uint64_t& finished)
{
    Words indices;
    for (uint32_t i = every / 2; i < items; i += every)
        indices.push_back(i);
    const uint32_t count = static_cast<uint32_t>(indices.size());
    finished = insert ? uint64_t{items} + count : items - count;
    const BenchBuffer indexBuffer = upload(arena.device, indices);
    SluiceBulkInfo info = {};
    info.elementSize = 4;
    info.maxItemCount = items;
    info.maxIndexCount = count;
    info.indices = indexBuffer.whole();
    info.source = arena.source.part(0, uint64_t{items} * 4);
    info.inserted = insert ? arena.source.part(0, uint64_t{count} * 4) : SluiceBuffer{};
    info.destination = arena.target.part(0, finished * 4);
    const auto record = [&](SluiceCommands commands, uint32_t) {
        require((insert ? sluiceCmdBulkInsert : sluiceCmdBulkRemove)(arena.device.context(), commands, &info), "bulk");
    };
    arena.device.fill(arena.target.whole(), 0xee);
    arena.device.runOnce(record);
    Words result(finished);
    arena.device.download(arena.target.part(0, finished * 4), result.data(), finished * 4);
    uint64_t at = 0;
    for (uint32_t i = 0, next = 0; i < items; ++i) {
        const bool named = next < count && indices[next] == i;
        bool right = true;
        if (named && insert) right = result[at++] == arena.host[next];
        if (!named || insert) right = result[at++] == arena.host[i] && right;
        if (named) ++next;
        if (!right) throw Failure{exitDevice, "bulk: wrong result at item " + std::to_string(i)};
    }
    return arena.device.time(1, record);
}

// Distributions that defeat one thread, one warp or one block for each interval. Lengths in words.
std::vector<std::pair<std::string, Words>> hardLists(uint64_t words, std::mt19937& random)
{
    std::vector<std::pair<std::string, Words>> lists;
    lists.emplace_back("constant", Words(words / 64, 64));
    Words power;
    for (uint64_t left = words; left != 0;) {
        // Pareto with exponent 1.1 from 4 words on: most are tiny, the largest hold a good part of all.
        const double u = (static_cast<double>(random()) + 1) / 4294967296.0;
        const uint64_t length = std::min<uint64_t>(static_cast<uint64_t>(std::min(4 * std::pow(u, -1 / 1.1), 1e9)), left);
        power.push_back(static_cast<uint32_t>(length));
        left -= length;
    }
    lists.emplace_back("power law", std::move(power));
    Words huge(words / 64, 1);
    huge[huge.size() / 2] = static_cast<uint32_t>(words - huge.size());
    lists.emplace_back("one huge", std::move(huge));
    lists.emplace_back("all empty", Words(words / 64, 0));
    Words sparse(words / 64, 0);
    for (size_t i = 0; i < sparse.size(); i += 64)
        sparse[i] = 64 * 64;
    lists.emplace_back("63/64 empty", std::move(sparse));
    return lists;
}

} // namespace

void benchInterval(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted, BenchReport& report)
{
    const uint64_t bytes = device.isGpu() ? uint64_t{1} << 30 : uint64_t{1} << 22;
    std::mt19937 random(1);
    Words content(bytes / 4);
    for (uint32_t& word : content)
        word = static_cast<uint32_t>(random());
    const Arena arena(device, content);
    std::unique_ptr<Arena> twin;
    if (cudaDevice != nullptr && cudaDevice != &device) twin = std::make_unique<Arena>(*cudaDevice, content);
    const Rows rows{arena, cudaDevice == nullptr ? nullptr : twin ? twin.get() : &arena, report};

    if (wanted("interval move")) {
        for (const uint32_t mean : kMeans)
            rows.move("interval move", bytesText(mean), MoveList(4, uniformLengths(bytes / 4, mean / 4, random), random), true);
        rows.move("interval move, 64 B aligned", "64 B", MoveList(4, Words(bytes / 64, 16), random), true);
        if (cudaDevice == nullptr)
            report.addMissing("interval move", "CUB DeviceMemcpy::Batched",
                              cubIsBuiltIn() ? "this device is no CUDA device" : "built without CUDA");
    }
    if (wanted("interval bytes")) {
        for (const uint32_t mean : kMeans)
            rows.move("interval bytes", bytesText(mean), MoveList(1, uniformLengths(bytes, mean, random), random), true);
    }
    if (wanted("interval hard")) {
        for (auto& [name, lengths] : hardLists(bytes / 4, random))
            rows.move("interval hard: " + name, sizeText(bytes), MoveList(4, std::move(lengths), random), false);
    }
    if (wanted("interval sweep")) {
        for (uint64_t part = 1024; part <= bytes; part *= 4)
            rows.move("interval sweep", bytesText(part), MoveList(4, uniformLengths(part / 4, 64, random), random), false);
    }
    if (wanted("interval expand")) {
        for (const uint32_t mean : kMeans) {
            const Words counts = uniformLengths(bytes / 4, mean / 4, random);
            const Words values(content.begin(), content.begin() + static_cast<long>(counts.size()));
            report.addGroup({rows.row("interval expand", bytesText(mean), bytes, timeExpand(arena, counts, values, bytes / 4))});
        }
    }
    if (wanted("interval search")) {
        for (const uint32_t mean : kMeans) {
            const Words counts = uniformLengths(bytes / 8, mean / 4, random);
            report.addGroup({rows.row("interval search", bytesText(mean), bytes, timeSearch(arena, counts, bytes / 8))});
        }
    }
    for (const bool insert : {false, true}) {
        const char* kernel = insert ? "bulk insert" : "bulk remove";
        if (!wanted(kernel)) continue;
        for (const uint32_t every : {2u, 10u, 1000u}) {
            const uint32_t items = static_cast<uint32_t>(bytes / 8);
            uint64_t finished = 0;
            const Timing timing = timeBulk(arena, insert, items, every, finished);
            // What must be read and written of items and indices.
            const uint64_t useful = finished * 8 + uint64_t{items / every} * 4;
            report.addGroup({rows.row(kernel, "1 in " + std::to_string(every), useful, timing)});
        }
    }
}

} // namespace sluice
