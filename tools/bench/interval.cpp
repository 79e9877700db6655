// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of intervals: moves, gathers, scatters, expansions, the load-balancing search, and the
// removal or insertion of many items at once.
#include <sluice/sluice_interval.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "tools/bench/contest.h"
#include "tools/bench/rows.h"

namespace sluice {
namespace {

enum class Op {
    Move,
    Gather,
    Scatter,
    Expand,
    Search
};
constexpr struct {
    Op op;
    const char* name;
} kOps[] = {{Op::Move, "move"},
            {Op::Gather, "gather"},
            {Op::Scatter, "scatter"},
            {Op::Expand, "expand"},
            {Op::Search, "search"}};

bool movesBytes(Op op) { return op != Op::Expand && op != Op::Search; }

// Device memory of all rows: commands move bytes from `source` to `target`.
struct Arena {
    const BenchDevice& device;
    DeviceBuffer source, target;

    Arena(const BenchDevice& on, const HostWords& content)
        : device(on), source(on.allocate(content.count * 4)), target(on.allocate(content.count * 4))
    {
        content.uploadTo(on, source.whole());
    }
};

struct Form {
    Op op;
    uint32_t elementSize = 4, positionSize = 4;
    bool offsets = false; // intervals are given by offsets, not by lengths
};

// A list of intervals, with positions in elements. In a move or a scatter, the sources lie one
// after the other and the targets are shuffled; in a gather, the sources are shuffled. An expansion
// or a search has no sources, and its targets lie one after the other.
struct List {
    Form form;
    // `order` has the indices of the intervals by ascending target; it is empty if they are in this
    // order already.
    Words counts, sources, targets, order;
    uint64_t elements = 0;

    List(const Form& how, const Words& lengths, std::mt19937& random)
        : form(how), counts(lengths), targets(counts.size())
    {
        Words inOrder(counts.size());
        for (size_t i = 0; i < counts.size(); ++i) {
            inOrder[i] = uint32_t(elements);
            elements += counts[i];
        }
        targets = inOrder;
        if (!movesBytes(form.op)) return;
        order.resize(counts.size());
        std::iota(order.begin(), order.end(), 0u);
        std::shuffle(order.begin(), order.end(), random);
        uint32_t place = 0;
        for (const uint32_t i : order) {
            targets[i] = place;
            place += counts[i];
        }
        sources = std::move(inOrder);
        if (form.op != Op::Gather) return;
        std::swap(sources, targets);
        order.clear();
    }
    uint32_t count() const { return uint32_t(counts.size()); }
    uint64_t bytes() const { return elements * form.elementSize; }
    Words offsets() const
    {
        Words made(counts.size() + 1);
        std::partial_sum(counts.begin(), counts.end(), made.begin() + 1);
        return made;
    }

    // Calls each(interval, rank, length) for each interval that overlaps the target's elements
    // `first` to `last` - 1. The overlap begins at element `rank` of the interval and has `length`
    // elements.
    template <typename Each>
    void parts(uint64_t first, uint64_t last, const Each& each) const
    {
        const auto interval = [&](uint64_t place) {
            return order.empty() ? uint32_t(place) : order[place];
        };
        uint64_t low = 0, high = counts.size(); // search the first target above `first`
        while (low < high) {
            const uint64_t middle = (low + high) / 2;
            if (targets[interval(middle)] > first)
                high = middle;
            else
                low = middle + 1;
        }
        for (uint64_t place = low - 1; first < last; ++place) {
            const uint32_t i = interval(place);
            const uint64_t rank = first - targets[i],
                           length = std::min<uint64_t>(counts[i] - rank, last - first);
            if (length != 0) each(i, rank, length);
            first += length;
        }
    }
};

struct Command {
    std::vector<DeviceBuffer> buffers;
    TimedWork work;

    SluiceBuffer keep(DeviceBuffer buffer)
    {
        buffers.push_back(std::move(buffer));
        return buffers.back().whole();
    }
};

class Intervals {
public:
    Intervals(const Contest& contest, const HostWords& content)
        : m_contest(contest), m_content(content), m_arenas(contest, content)
    {
    }
    uint64_t bytes() const { return m_content.count * 4; }
    bool hasTime(const std::string& kernel, const std::string& size)
    {
        return m_contest.report.hasTime(kernel, size);
    }
    std::mt19937& random() { return m_random; }

    // Measures a command with intervals of these lengths. One command buffer or graph has the
    // command `calls` times.
    void run(const std::string& kernel, const std::string& size, const Form& form,
             const Words& lengths, uint32_t calls = 1)
    {
        const List list(form, lengths, m_random);
        // If all intervals are empty, only their counts are read, 4 bytes each.
        const uint64_t perElement =
            form.op == Op::Search ? 8 : form.elementSize * (movesBytes(form.op) ? 2u : 1u);
        const uint64_t useful =
            list.elements != 0 ? list.elements * perElement : uint64_t{list.count()} * 4;
        const auto measure = [&](const Arena& arena, const char* who, Command command) {
            command.work.calls = calls;
            return m_contest.measure(arena.device, kernel, size, who, useful, command.work);
        };
        std::vector<BenchRow> rows = {measure(m_arenas.ours, "sluice", ours(list))};
        const bool fills =
            form.op == Op::Expand && (form.elementSize & (form.elementSize - 1)) == 0;
        if (m_contest.cub != nullptr && (fills || movesBytes(form.op)))
            rows.push_back(measure(m_arenas.theirs(),
                                   fills ? "CUB DeviceCopy::Batched" : "CUB DeviceMemcpy::Batched",
                                   theirs(list)));
        m_contest.report.addGroup(rows);
    }

    // Measures bulk removal or insertion. One item in `every` is removed or, with `insert`, gets a
    // new item before it.
    void runBulk(const std::string& kernel, const std::string& size, bool insert,
                 uint32_t elementSize, uint64_t items, uint32_t every, uint32_t calls = 1)
    {
        if (!hasTime(kernel, size)) return;
        const Arena& arena = m_arenas.ours;
        Words indices;
        for (uint64_t i = every / 2; i < items; i += every)
            indices.push_back(uint32_t(i));
        const uint64_t finished = insert ? items + indices.size() : items - indices.size();
        const DeviceBuffer list = arena.device.allocate(indices);
        SluiceBulkInfo info = {};
        info.elementSize = elementSize;
        info.maxItemCount = uint32_t(items);
        info.maxIndexCount = uint32_t(indices.size());
        info.indices = list.whole();
        info.source = arena.source.part(0, items * elementSize);
        if (insert) info.inserted = arena.source.part(0, indices.size() * elementSize);
        info.destination = arena.target.part(0, finished * elementSize);
        const auto record = [&](SluiceCommands commands, uint32_t) {
            require((insert ? sluiceCmdBulkInsert : sluiceCmdBulkRemove)(arena.device.context(),
                                                                         commands, &info),
                    "bulk");
        };
        // In the finished array, `period` items take the place of `every` items of the input.
        const uint64_t period = insert ? every + 1 : every - 1;
        const auto expect = [&](uint64_t offset, uint64_t length, uint8_t* bytes) {
            for (uint64_t at = offset / elementSize; at < (offset + length) / elementSize;
                 ++at, bytes += elementSize) {
                const uint64_t run = at / period, rank = at % period;
                const bool isNew = insert && rank == every / 2;
                // In each group of `every` items, those after the removed or inserted item shift by
                // one.
                const uint64_t passed = rank < every / 2 ? 0 : 1;
                const uint64_t item = run * every + (insert ? rank - passed : rank + passed);
                std::memcpy(bytes, m_content.bytes() + (isNew ? run : item) * elementSize,
                            elementSize);
            }
        };
        // Each item is read and written once, and each index is read.
        const uint64_t useful = finished * elementSize * 2 + indices.size() * 4;
        m_contest.report.addGroup(
            {m_contest.measure(arena.device, kernel, size, "sluice", useful,
                               {record, calls, {{info.destination, elementSize, expect}}})});
    }

private:
    // Returns the part of the target that a move or an expansion fills. Its function `expect`
    // writes the right content.
    Result targetResult(const Arena& arena, const List& list) const
    {
        const uint32_t size = list.form.elementSize;
        const bool expands = list.form.op == Op::Expand;
        return {arena.target.part(0, list.bytes()), size,
                [=, &list](uint64_t offset, uint64_t length, uint8_t* bytes) {
                    const auto copy = [&](uint64_t element, uint64_t count) {
                        std::memcpy(bytes, m_content.bytes() + element * size, count * size);
                        bytes += count * size;
                    };
                    list.parts(offset / size, (offset + length) / size,
                               [&](uint32_t interval, uint64_t rank, uint64_t elements) {
                                   if (!expands) copy(list.sources[interval] + rank, elements);
                                   for (uint64_t i = 0; expands && i < elements; ++i)
                                       copy(interval, 1);
                               });
                }};
    }
    static Result searchResult(const DeviceBuffer& target, const List& list, bool ranks)
    {
        const SluiceBuffer buffer = target.part(ranks ? list.elements * 4 : 0, list.elements * 4);
        return {buffer, 4, [&list, ranks](uint64_t offset, uint64_t length, uint8_t* bytes) {
                    list.parts(offset / 4, (offset + length) / 4,
                               [&](uint32_t interval, uint64_t rank, uint64_t elements) {
                                   for (uint64_t i = 0; i < elements; ++i, bytes += 4) {
                                       const uint32_t value = ranks ? uint32_t(rank + i) : interval;
                                       std::memcpy(bytes, &value, 4);
                                   }
                               });
                }};
    }

    Command ours(const List& list) const
    {
        const Arena& arena = m_arenas.ours;
        const BenchDevice& device = arena.device;
        const Form& form = list.form;
        Command command;
        TimedWork& work = command.work;
        SluiceIntervals intervals = {};
        intervals.maxCount = list.count();
        (form.offsets ? intervals.offsets : intervals.counts) =
            command.keep(device.allocate(form.offsets ? list.offsets() : list.counts));
        const SluiceBuffer scratch =
            command.keep(device.allocateScratch(sluiceGetIntervalRequirements, intervals));
        const SluiceBuffer destination = arena.target.part(0, std::max<uint64_t>(list.bytes(), 16));
        const auto setRecord = [&](auto cmd, const auto& info, const char* what) {
            work.record = [=, context = device.context()](SluiceCommands commands, uint32_t) {
                require(cmd(context, commands, &info), what);
            };
        };
        if (form.op == Op::Search) {
            SluiceIntervalSearchInfo info = {};
            info.intervals = intervals;
            for (const bool ranks : {false, true})
                work.results.push_back(searchResult(arena.target, list, ranks));
            info.sources = work.results[0].buffer;
            info.ranks = work.results[1].buffer;
            if (list.elements == 0) info.sources = info.ranks = destination;
            info.scratch = scratch;
            setRecord(sluiceCmdIntervalSearch, info, "interval search");
        } else if (form.op == Op::Expand) {
            SluiceIntervalExpandInfo info = {};
            info.elementSize = form.elementSize;
            info.intervals = intervals;
            info.values = arena.source.part(0, uint64_t{list.count()} * form.elementSize);
            info.destination = destination;
            info.scratch = scratch;
            setRecord(sluiceCmdIntervalExpand, info, "interval expand");
        } else {
            const auto positions = [&](const Words& places) {
                return command.keep(form.positionSize == 4 ? device.allocate(places)
                                                           : device.allocate(std::vector<uint64_t>(
                                                                 places.begin(), places.end())));
            };
            SluiceIntervalMoveInfo info = {};
            info.kind = form.op == Op::Gather    ? SLUICE_INTERVAL_GATHER
                        : form.op == Op::Scatter ? SLUICE_INTERVAL_SCATTER
                                                 : SLUICE_INTERVAL_MOVE;
            info.elementSize = form.elementSize;
            info.positionSize = form.positionSize;
            info.intervals = intervals;
            if (form.op != Op::Scatter) info.gather = positions(list.sources);
            if (form.op != Op::Gather) info.scatter = positions(list.targets);
            info.source = arena.source.whole();
            info.destination = destination;
            info.scratch = scratch;
            setRecord(sluiceCmdIntervalMove, info, "interval move");
        }
        if (form.op != Op::Search) work.results.push_back(targetResult(arena, list));
        if (list.elements == 0) work.results.clear();
        return command;
    }

    Command theirs(const List& list)
    {
        const Arena& arena = m_arenas.theirs();
        const BenchDevice& device = arena.device;
        const uint64_t size = list.form.elementSize;
        Command command;
        CubCall call;
        call.count = list.count();
        call.elementSize = list.form.elementSize;
        if (list.form.op == Op::Expand) { // CUB needs offsets; making them is not timed
            call.kind = CubKind::Fills;
            call.input = arena.source.whole();
            call.output = arena.target.whole();
            call.selectors = command.keep(device.allocate(list.offsets()));
        } else {
            const auto addresses = [&](const DeviceBuffer& of, const Words& places) {
                std::vector<uint64_t> made(places.size());
                std::transform(places.begin(), places.end(), made.begin(),
                               [&](uint32_t at) { return of.address() + at * size; });
                return command.keep(device.allocate(made));
            };
            Words sizes(list.counts);
            for (uint32_t& one : sizes)
                one *= list.form.elementSize;
            call.kind = CubKind::Copies;
            call.input = addresses(arena.source, list.sources);
            call.output = addresses(arena.target, list.targets);
            call.selectors = command.keep(device.allocate(sizes));
        }
        call.scratch = command.keep(device.allocate(cubScratchSize(call)));
        command.work.record = [call](SluiceCommands commands, uint32_t) {
            recordCub(commands, call);
        };
        if (list.elements != 0) command.work.results.push_back(targetResult(arena, list));
        return command;
    }

    const Contest& m_contest;
    const HostWords& m_content;
    Twins<Arena> m_arenas;
    std::mt19937 m_random{1};
};

// Returns random lengths of 1 .. 2 * mean - 1 elements, whose sum is `elements`.
Words uniformLengths(uint64_t elements, uint32_t mean, std::mt19937& random)
{
    Words lengths;
    for (uint64_t left = elements; left != 0;) {
        const uint64_t length = std::min<uint64_t>(1 + random() % (2 * mean - 1), left);
        lengths.push_back(uint32_t(length));
        left -= length;
    }
    return lengths;
}

std::string bytesText(uint64_t bytes)
{
    return bytes >= 1024 ? std::to_string(bytes / 1024) + " KiB" : std::to_string(bytes) + " B";
}

constexpr uint32_t kMeans[] = {64, 256, 1024, 4096, 65536};

// Returns names and interval lengths (in words) of lists that are slow for an implementation in
// which each interval is the work of one thread, one warp or one block.
std::vector<std::pair<std::string, Words>> hardLists(uint64_t words, std::mt19937& random)
{
    std::vector<std::pair<std::string, Words>> lists;
    lists.emplace_back("constant", Words(words / 64, 64));
    lists.emplace_back("uniform", uniformLengths(words, 64, random));
    Words power;
    for (uint64_t left = words; left != 0;) {
        // A Pareto distribution with exponent 1.1 of at least 4 words: most intervals are tiny, but
        // the largest ones hold a good part of all words.
        const double u = (double(random()) + 1) / 4294967296.0;
        const uint64_t length =
            std::min<uint64_t>(uint64_t(std::min(4 * std::pow(u, -1 / 1.1), 1e9)), left);
        power.push_back(uint32_t(length));
        left -= length;
    }
    lists.emplace_back("power law", std::move(power));
    Words huge(words / 64, 1);
    huge[huge.size() / 2] = uint32_t(words - huge.size());
    lists.emplace_back("one huge", std::move(huge));
    lists.emplace_back("all empty", Words(words / 64, 0));
    Words sparse(words / 64, 0);
    for (size_t i = 0; i < sparse.size(); i += 64)
        sparse[i] = 64 * 64;
    lists.emplace_back("63/64 empty", std::move(sparse));
    return lists;
}

// The element sizes and forms of intervals to measure, with intervals of 1 KiB on average.
constexpr struct {
    const char* name;
    Form form;
} kForms[] = {{"move 2 B", {Op::Move, 2}},
              {"move 8 B", {Op::Move, 8}},
              {"move 12 B", {Op::Move, 12}},
              {"move 16 B", {Op::Move, 16}},
              {"move offsets", {Op::Move, 4, 4, true}},
              {"move u64", {Op::Move, 4, 8}},
              {"gather 1 B", {Op::Gather, 1}},
              {"gather 16 B", {Op::Gather, 16}},
              {"scatter 1 B", {Op::Scatter, 1}},
              {"scatter 16 B", {Op::Scatter, 16}},
              {"expand 1 B", {Op::Expand, 1}},
              {"expand 2 B", {Op::Expand, 2}},
              {"expand 3 B", {Op::Expand, 3}},
              {"expand 8 B", {Op::Expand, 8}},
              {"expand 16 B", {Op::Expand, 16}},
              {"expand offsets", {Op::Expand, 4, 4, true}},
              {"search offsets", {Op::Search, 4, 4, true}}};

} // namespace

void benchInterval(const BenchDevice& device, const BenchDevice* cudaDevice, const Wanted& wanted,
                   BenchReport& report)
{
    const Contest contest{device, cudaDevice, report};
    const uint64_t most = device.isBrief() ? 1u << 26 : 1u << 28;
    const HostWords content(device.isGpu() ? most : 1u << 20, scrambled);
    Intervals intervals(contest, content);
    const uint64_t bytes = intervals.bytes();
    // Returns how many elements fill a target of `size` bytes. A search writes two words for each.
    const auto elementsOf = [](const Form& form, uint64_t size) {
        return size / (form.op == Op::Search ? 8 : form.elementSize);
    };

    for (const auto& op : kOps) {
        const std::string kernel = std::string("interval ") + op.name;
        if (!wanted(kernel.c_str())) continue;
        const Form form{op.op};
        for (const uint32_t mean : kMeans) {
            if (intervals.hasTime(kernel, bytesText(mean)))
                intervals.run(
                    kernel, bytesText(mean), form,
                    uniformLengths(elementsOf(form, bytes), mean / 4, intervals.random()));
        }
        if (op.op == Op::Move && intervals.hasTime(kernel, "64 B aligned"))
            intervals.run(kernel, "64 B aligned", form, Words(bytes / 64, 16));
    }
    if (wanted("interval bytes")) {
        for (const uint32_t mean : kMeans) {
            if (intervals.hasTime("interval bytes", bytesText(mean)))
                intervals.run("interval bytes", bytesText(mean), {Op::Move, 1},
                              uniformLengths(bytes, mean, intervals.random()));
        }
    }
    if (wanted("interval kinds")) {
        for (const auto& kind : kForms) {
            if (!intervals.hasTime("interval kinds", kind.name)) continue;
            const Words lengths = uniformLengths(elementsOf(kind.form, bytes),
                                                 1024 / kind.form.elementSize, intervals.random());
            intervals.run("interval kinds", kind.name, kind.form, lengths);
        }
    }
    for (const auto& op : kOps) {
        if (!wanted("interval hard")) break;
        const std::string kernel = std::string("interval hard: ") + op.name;
        for (const auto& [name, lengths] :
             hardLists(bytes / (op.op == Op::Search ? 8 : 4), intervals.random())) {
            if (intervals.hasTime(kernel, name)) intervals.run(kernel, name, {op.op}, lengths);
        }
    }
    for (const auto& op : kOps) {
        if (!wanted("interval sweep")) break;
        const Form form{op.op};
        const std::string kernel = std::string("interval sweep: ") + op.name;
        for (const uint64_t size :
             report.budget().ordered(sweepSizes(bytes, op.op == Op::Move ? 4 : 16))) {
            if (intervals.hasTime(kernel, powerText(size) + " B"))
                intervals.run(kernel, powerText(size) + " B", form,
                              uniformLengths(elementsOf(form, size), 64, intervals.random()),
                              callsFor(size / 4, bytes / size));
        }
    }
    for (const bool insert : {false, true}) {
        const std::string name = insert ? "insert" : "remove", kernel = "bulk " + name;
        if (wanted(kernel.c_str())) {
            for (const uint32_t every : {2u, 10u, 1000u})
                intervals.runBulk(kernel, "1 in " + std::to_string(every), insert, 4, bytes / 8,
                                  every);
            for (const uint32_t size : {1u, 2u, 8u, 16u})
                intervals.runBulk(kernel, "1 in 10, " + bytesText(size), insert, size,
                                  bytes / 2 / size, 10);
        }
        if (!wanted("bulk sweep")) continue;
        for (const uint64_t size : report.budget().ordered(sweepSizes(bytes / 2, 16)))
            intervals.runBulk("bulk sweep: " + name, powerText(size) + " B", insert, 4, size / 4,
                              10, callsFor(size / 4, bytes / size));
    }
    contest.sayMissing("interval");
    if (cudaDevice != nullptr)
        report.addMissing("interval search, bulk", "CUB", "it has no such operations");
}

} // namespace sluice
