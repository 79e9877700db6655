// SPDX-License-Identifier: MIT OR Apache-2.0
// An urgent group has a small asset and a high priority; a bulk group has any asset and a low
// priority.
#include "tools/bench/stream/stream_latency.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "tools/bench/stream/stream_places.h"

namespace sluice {
namespace {

constexpr int32_t kUrgentPriority = 10;
constexpr float kFrameMilliseconds = 1; // budget of a batch
constexpr uint64_t kUrgentSize = 262144;
constexpr double kMostUrgentRate = 1000; // groups a second
constexpr double kUrgentShare = 0.05;    // ratio of urgent to bulk bytes a second
constexpr uint32_t kBatchesToLearn = 50;
constexpr uint64_t kBulkFlag = uint64_t(1) << 63; // marks bulk groups in a group's user word

double percentile(std::vector<double> values, double share)
{
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const size_t at = size_t(std::ceil(share * double(values.size())));
    return values[std::min(std::max<size_t>(at, 1), values.size()) - 1];
}

// Returns the default setup of a streamer, with memory reserved for urgent groups.
StreamSetup setupFor(uint32_t threads, SluiceStreamSides sides)
{
    StreamSetup setup = plainSetup(threads);
    setup.sides = sides;
    setup.reserveAbove = kUrgentPriority;
    return setup;
}

} // namespace

// All groups of one priority: either the urgent or the bulk groups. They write to `part`, a range
// of the destination.
struct LatencyBench::Class {
    Class(int32_t withPriority, uint64_t withFlag, uint64_t atMost, SluiceBuffer of)
        : priority(withPriority), flag(withFlag), mostSize(atMost), part(of), places(of.size)
    {
    }

    int32_t priority;
    uint64_t flag, mostSize;
    SluiceBuffer part;
    Places places;
    uint64_t next = 0;            // index of the next group's asset
    std::vector<double> arrivals; // arrival of each group, in seconds, by the ticket of its place
    std::vector<SluiceStreamGroup> groups;
    std::vector<double> latencies; // milliseconds of each group that has ended
    double nextArrival = 0;
    uint64_t underWay = 0;
};

LatencyBench::LatencyBench(StreamEngine& engine, const StreamContent& content,
                           SluiceBuffer destination, const std::vector<std::string>& paths,
                           uint32_t threads, double readRate, SluiceStreamSides sides)
    : m_engine(engine), m_content(content), m_destination(destination), m_readRate(readRate),
      m_end(nameOf(sides)), m_streamer(engine, setupFor(threads, sides))
{
    m_files = m_streamer.open(paths);
    m_streamer.budget.milliseconds = kFrameMilliseconds;
    m_streamer.times = &m_times;
    // Urgent groups have an eighth of the destination for themselves, so that bulk groups never
    // block them.
    const uint64_t part = destination.size / 8 / kPlaceAlignment * kPlaceAlignment;
    m_urgent = std::make_unique<Class>(kUrgentPriority, 0, kUrgentSize,
                                       SluiceBuffer{destination.handle, destination.offset, part});
    m_bulk = std::make_unique<Class>(
        0, kBulkFlag, destination.size / 8,
        SluiceBuffer{destination.handle, destination.offset + part, destination.size - part});
}

LatencyBench::~LatencyBench() = default;

SluiceStatus LatencyBench::submit(Class& one, double arrival)
{
    const StreamAsset& asset = m_content.assets[one.next % m_content.assets.size()];
    const uint64_t size = std::min(asset.size, one.mostSize);
    SluiceStreamRequest request = {};
    request.source = SLUICE_STREAM_FROM_ARCHIVE;
    request.target = SLUICE_STREAM_TO_BUFFER;
    request.file = m_files[one.next / m_content.assets.size() % m_files.size()];
    request.asset = asset.number;
    request.size = size;
    uint64_t place = 0;
    if (!one.places.take(placed(size), place)) return SLUICE_ERROR_FULL;
    request.buffer = {one.part.handle, one.part.offset + place, size};
    SluiceStreamGroupInfo info = {};
    info.requests = &request;
    info.requestCount = 1;
    info.priority = one.priority;
    info.user = one.arrivals.size() | one.flag;
    SluiceStreamGroup group = 0;
    const SluiceStatus status = sluiceStreamSubmit(m_streamer.get(), &info, &group);
    if (status == SLUICE_ERROR_FULL) one.places.undo();
    if (status != SLUICE_OK) return status;
    one.arrivals.push_back(arrival);
    one.groups.push_back(group);
    ++one.underWay;
    ++one.next;
    return SLUICE_OK;
}

void LatencyBench::end(const SluiceStreamEvent& event)
{
    if (event.kind != SLUICE_STREAM_END) return;
    Class& one = (event.user & kBulkFlag) != 0 ? *m_bulk : *m_urgent;
    const uint64_t ticket = event.user & ~kBulkFlag;
    if (event.status == SLUICE_ERROR_CANCELLED)
        ++m_cancelled;
    else
        require(event.status, "a group");
    one.latencies.push_back((secondsNow() - one.arrivals[ticket]) * 1e3);
    one.places.give(ticket);
    --one.underWay;
    ++m_ended;
}

BenchRow LatencyBench::rowOf(const Class& one, const std::string& size,
                             const std::string& who) const
{
    return figureRow("stream latency", size, who,
                     {{"p50_ms", percentile(one.latencies, 0.5)},
                      {"p99_ms", percentile(one.latencies, 0.99)},
                      {"max_ms", percentile(one.latencies, 1)},
                      {"groups", double(one.latencies.size())}});
}

// Lets groups arrive at random, independently of each other (a Poisson process), at these rates in
// bytes a second, whether or not earlier groups have ended. A group's latency counts from its
// arrival, even if the streamer could not take it at once.
std::vector<BenchRow> LatencyBench::run(const std::string& size, double bulkRate, double urgentRate)
{
    const double seconds = m_engine.device().isGpu() ? 2 : 1;
    std::mt19937_64 random(20261124);
    std::exponential_distribution<double> gap(1);
    uint64_t bulkBytes = 0, urgentBytes = 0;
    for (const StreamAsset& asset : m_content.assets) {
        bulkBytes += std::min(asset.size, m_bulk->mostSize);
        urgentBytes += std::min(asset.size, m_urgent->mostSize);
    }
    const double assets = double(m_content.assets.size());
    // Average seconds from one group to the next.
    const double gaps[2] = {urgentRate > 0 ? double(urgentBytes) / assets / urgentRate : 0,
                            bulkRate > 0 ? double(bulkBytes) / assets / bulkRate : 0};
    Class* const classes[2] = {m_urgent.get(), m_bulk.get()};
    const double start = secondsNow(), end = start + seconds;
    for (uint32_t i = 0; i < 2; ++i) {
        classes[i]->latencies.clear();
        classes[i]->nextArrival = gaps[i] > 0 ? start + gap(random) * gaps[i] : HUGE_VAL;
    }
    for (;;) {
        const double now = secondsNow();
        bool mayEnd = true;
        for (uint32_t i = 0; i < 2; ++i) {
            Class& one = *classes[i];
            while (one.nextArrival <= std::min(now, end)) {
                const SluiceStatus status = submit(one, one.nextArrival);
                if (status == SLUICE_ERROR_FULL) break;
                require(status, "submitting a group");
                one.nextArrival += gap(random) * gaps[i];
            }
            mayEnd = mayEnd && one.underWay == 0 && one.nextArrival > end;
        }
        if (mayEnd && now >= end) break;
        m_streamer.turn([this](const SluiceStreamEvent& event) { this->end(event); });
    }
    std::vector<BenchRow> rows;
    if (urgentRate > 0) rows.push_back(rowOf(*m_urgent, size, "urgent" + m_end));
    if (bulkRate > 0) rows.push_back(rowOf(*m_bulk, size, "bulk" + m_end));
    const double share = m_streamer.takeCpuShare();
    for (BenchRow& row : rows)
        row.figures.push_back({"cpu_share", share});
    return rows;
}

void LatencyBench::addLatencies(BenchReport& report)
{
    const std::vector<StreamGroupPlan> groups = planGroups(m_content, 1);
    m_streamer.minTiles = 0;
    const BenchRow saturated =
        timePasses("stream latency", "as fast as", "bulk, batches of 1 ms" + m_end, [&] {
            return streamToBuffer(m_streamer, m_content, m_files, groups, m_destination, {});
        });
    m_streamer.takeCpuShare();
    report.addGroup({saturated});
    const double rate = rateOf(saturated);
    const double urgent = std::min(kMostUrgentRate * double(kUrgentSize), kUrgentShare * rate);
    const std::vector<BenchRow> alone = run("alone", 0, urgent);
    report.addGroup(alone);
    const double unit = double(SLUICE_STREAM_READ_SIZE) / m_readRate * 1e3;
    const double goal = 2 * alone[0].figures[1].value + unit + double(kFrameMilliseconds);
    for (const uint32_t percent : {10u, 50u, 90u}) {
        std::vector<BenchRow> rows =
            run(formatText("bulk at %u %%", percent), rate * percent / 100, urgent);
        rows[0].figures.push_back({"goal_ms", goal});
        report.addGroup(rows);
    }
}

void LatencyBench::addBatches(BenchReport& report, bool isListed)
{
    std::vector<double> errors;
    for (size_t i = 0; i < m_times.size(); ++i) {
        const StreamBatchTime& one = m_times[i];
        if (isListed) {
            printMessage("batch %zu: %u tiles, %u copies, %llu -> %llu bytes, predicted %.4f, "
                         "measured %.4f ms\n",
                         i, one.batch.tiles, one.batch.copies, wide(one.batch.bytesIn),
                         wide(one.batch.bytesOut), double(one.batch.predictedMilliseconds),
                         one.milliseconds);
        }
        if (i >= kBatchesToLearn && one.milliseconds > 0)
            errors.push_back(std::abs(double(one.batch.predictedMilliseconds) - one.milliseconds) /
                             one.milliseconds);
    }
    if (errors.empty()) {
        report.addMissing("stream batches", "predicted against measured" + m_end,
                          formatText("not run: %zu batches, or no timestamps", m_times.size()));
        return;
    }
    SluiceStreamCounters counters = {};
    require(sluiceStreamGetCounters(m_streamer.get(), &counters), "counters");
    report.addGroup({figureRow("stream batches", "", "predicted against measured" + m_end,
                               {{"batches", double(errors.size())},
                                {"p50_error", percentile(errors, 0.5)},
                                {"p90_error", percentile(errors, 0.9)},
                                {"p99_error", percentile(errors, 0.99)},
                                {"goal_p90", 0.2},
                                {"floor_ms", double(counters.floorMilliseconds)},
                                {"gdeflate_ms_per_mib", double(counters.millisecondsPerMiB[0])},
                                {"gstd_ms_per_mib", double(counters.millisecondsPerMiB[1])}})});
}

// Cancels nine groups in ten. Up to mostBehind other groups are submitted before a group is
// cancelled, so it may be in any state by then.
void LatencyBench::addCancelStorm(BenchReport& report)
{
    const uint64_t mostBehind = m_engine.device().isGpu() ? 2048 : 16;
    const uint64_t wanted = m_engine.device().isGpu() ? 20000 : 40;
    std::mt19937_64 random(20261125);
    SluiceStreamCounters before = {}, after = {};
    require(sluiceStreamGetCounters(m_streamer.get(), &before), "counters");
    // The groups to cancel, each with the number of submitted groups at which it is cancelled.
    std::vector<std::pair<uint64_t, SluiceStreamGroup>> toCancel;
    m_cancelled = m_ended = 0;
    uint64_t submitted = 0;
    while (m_ended < wanted) {
        while (submitted < wanted && submitted - m_ended < mostBehind &&
               submit(*m_bulk, secondsNow()) == SLUICE_OK) {
            ++submitted;
            if (random() % 10 != 0)
                toCancel.emplace_back(submitted + random() % mostBehind, m_bulk->groups.back());
        }
        const auto isDue = [&](const auto& one) {
            if (one.first > submitted && submitted < wanted) return false;
            require(sluiceStreamCancel(m_streamer.get(), one.second), "cancelling");
            return true;
        };
        toCancel.erase(std::remove_if(toCancel.begin(), toCancel.end(), isDue), toCancel.end());
        m_streamer.turn([this](const SluiceStreamEvent& event) { end(event); });
    }
    require(sluiceStreamGetCounters(m_streamer.get(), &after), "counters");
    const double read = double(after.bytesRead - before.bytesRead);
    report.addGroup({figureRow(
        "stream cancel", "", "nine groups of ten" + m_end,
        {{"groups", double(wanted)},
         {"cancelled_share", double(m_cancelled) / double(wanted)},
         {"wasted_share", double(after.wastedBytes - before.wastedBytes) / std::max(read, 1.0)},
         {"goal", 0.1}})});
}

} // namespace sluice
