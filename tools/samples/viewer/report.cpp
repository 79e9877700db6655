// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/report.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "tools/common/html_page.h"

#include "texts/viewer_page.h"

namespace viewer {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLearningBatches = 50;        // before which the cost model may err
constexpr uint64_t kNoise = uint64_t{4} << 20; // bytes by which a heap may vary

Json spreadOf(const std::vector<float>& values)
{
    return {{"count", values.size()},
            {"p50", percentile(values, 0.5)},
            {"p90", percentile(values, 0.9)},
            {"p99", percentile(values, 0.99)},
            {"max", percentile(values, 1)}};
}

std::vector<float> times(const std::vector<FrameSample>& frames, float FrameSample::*time)
{
    std::vector<float> values;
    for (const FrameSample& frame : frames)
        values.push_back(frame.*time);
    return values;
}

Json framesOf(const Report& report)
{
    const auto all = &FrameSample::milliseconds;
    Json frames = {
        {"timestamps", report.hasTimestamps},
        {"streamed", spreadOf(times(report.streamed, all))},
        {"streaming_part", spreadOf(times(report.streamed, &FrameSample::streamingMilliseconds))}};
    if (report.resident.empty()) return frames;
    const std::vector<float> with = times(report.streamed, all),
                             without = times(report.resident, all);
    frames["resident"] = spreadOf(without);
    for (const auto& [name, share] : {std::pair("p50", 0.5), {"p99", 0.99}, {"max", 1.0}})
        frames["rise"][name] = percentile(with, share) - percentile(without, share);
    return frames;
}

Json batchesOf(const Report& report)
{
    std::vector<float> errors, measured;
    uint64_t bytes = 0, over = 0;
    double predicted = 0;
    for (size_t i = 0; i < report.batches.size(); ++i) {
        const BatchSample& batch = report.batches[i];
        bytes += batch.bytes;
        predicted += batch.predicted;
        measured.push_back(batch.measured);
        over += batch.measured > report.budgetMilliseconds + report.floorMilliseconds ? 1 : 0;
        if (i >= kLearningBatches && batch.measured > 0)
            errors.push_back(std::fabs(batch.predicted - batch.measured) / batch.measured);
    }
    return {{"count", report.batches.size()},
            {"decoded_bytes", bytes},
            {"predicted_ms_sum", predicted},
            {"measured_ms", spreadOf(measured)},
            {"floor_ms", report.floorMilliseconds},
            {"above_budget_and_floor", over},
            {"relative_error_after_50", spreadOf(errors)}};
}

} // namespace

double percentile(std::vector<float> values, double share)
{
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double rank = std::ceil(share * double(values.size()));
    return double(values[std::min(values.size() - 1, size_t(std::max(rank, 1.0)) - 1)]);
}

bool isFlat(const std::vector<MemorySample>& samples)
{
    const size_t count = samples.size(), settled = count / 5, last = count - count / 10;
    if (count < 10) return false; // too few to judge
    uint64_t resident = 0, device = 0;
    for (size_t i = settled; i < count / 2; ++i) {
        resident = std::max(resident, samples[i].residentBytes);
        device = std::max(device, samples[i].deviceBytes);
    }
    return std::all_of(samples.begin() + ptrdiff_t(last), samples.end(),
                       [&](const MemorySample& s) {
                           return s.residentBytes <= resident + resident / 50 + kNoise &&
                                  s.deviceBytes <= device + device / 50 + kNoise;
                       });
}

namespace {

Json describe(const Report& report)
{
    Json latencies;
    for (const ClassLatencies& group : report.latencies)
        latencies[group.name] = spreadOf(group.milliseconds);
    Json json = {{"device", report.device},
                 {"context", report.context},
                 {"queue", report.queue},
                 {"bindless", report.isBindless},
                 {"width", report.width},
                 {"height", report.height},
                 {"maps", report.maps},
                 {"budget_ms", report.budgetMilliseconds},
                 {"budget_bytes", report.budgetBytes},
                 {"frame_ms", framesOf(report)},
                 {"batches", batchesOf(report)},
                 {"latency_ms", latencies},
                 {"residency",
                  {{"textures", report.textures},
                   {"raised", report.raised},
                   {"lowered", report.lowered},
                   {"cancelled", report.cancelled},
                   {"damaged", report.damaged},
                   {"bias", report.bias}}},
                 {"bytes",
                  {{"read", report.bytesRead},
                   {"decoded", report.bytesDecoded},
                   {"wasted", report.wastedBytes},
                   {"peak_images", report.peakImageBytes},
                   {"device", report.deviceBytes}}},
                 {"failed_groups", report.failedGroups},
                 {"validation_errors", report.validationErrors}};
    if (report.comparison.wasMade)
        json["compare"] = {{"equal", report.comparison.differentBytes == 0},
                           {"different_bytes", report.comparison.differentBytes},
                           {"reduced_textures", report.comparison.reducedTextures}};
    if (!report.memory.empty()) {
        Json samples = Json::array();
        for (const MemorySample& sample : report.memory)
            samples.push_back({sample.seconds, sample.residentBytes, sample.deviceBytes});
        json["teleports"] = {{"flat", isFlat(report.memory)},
                             {"seconds_rss_device", std::move(samples)}};
    }
    return json;
}

constexpr size_t kColumns = 430; // points of a line; each is the largest value of its range

double mib(uint64_t bytes) { return double(bytes) / 1048576; }

Json lineOf(const std::string& name, const char* colour, const std::vector<double>& values)
{
    std::vector<double> columns(std::min(values.size(), kColumns), 0);
    for (size_t i = 0; i < values.size(); ++i) {
        double& column = columns[i * columns.size() / values.size()];
        column = std::max(column, std::round(values[i] * 1e4) / 1e4);
    }
    return {{"name", name}, {"colour", colour}, {"values", columns}};
}

template <typename Sample, typename Value>
Json lineOf(const std::string& name, const char* colour, const std::vector<Sample>& samples,
            const Value& value)
{
    std::vector<double> values;
    for (const Sample& sample : samples)
        values.push_back(double(value(sample)));
    return lineOf(name, colour, values);
}

Json plotOf(const char* title, const char* unit, const char* across, double max, const Json& lines)
{
    return {{"title", title}, {"unit", unit}, {"across", across}, {"max", max}, {"lines", lines}};
}

// Returns, for increasing times, the percentage of groups that have ended by then.
std::vector<double> cumulative(std::vector<float> values, double longest)
{
    std::sort(values.begin(), values.end());
    std::vector<double> shares(kColumns, 0);
    for (size_t i = 0; i < kColumns && !values.empty(); ++i) {
        const float until = float(longest * double(i) / double(kColumns - 1));
        const auto ended = std::upper_bound(values.begin(), values.end(), until) - values.begin();
        shares[i] = 100 * double(ended) / double(values.size());
    }
    return shares;
}

Json plotsOf(const Report& report, const std::string& streaming)
{
    constexpr const char *kBlue = "#1668b3", *kRed = "#d1495b", *kGreen = "#2e8b57",
                         *kGrey = "#8a8a8a";
    const double frames = double(report.streamed.size());
    const auto total = [](const FrameSample& f) { return f.milliseconds; };
    Json time = {lineOf("frame, streaming", kBlue, report.streamed, total)};
    if (!report.resident.empty())
        time.push_back(lineOf("frame, all resident", kGrey, report.resident, total));
    time.push_back(lineOf(streaming, kRed, report.streamed,
                          [](const FrameSample& f) { return f.streamingMilliseconds; }));
    Json plots = {plotOf("GPU time of a frame", "ms", "frames", frames, time)};
    plots.push_back(plotOf("Residency", "MiB", "frames", frames,
                           {lineOf("images", kBlue, report.streamed,
                                   [](const FrameSample& f) { return mib(f.imageBytes); }),
                            lineOf("wanted", kGreen, report.streamed,
                                   [](const FrameSample& f) { return mib(f.wantedBytes); }),
                            lineOf("budget", kRed, report.streamed,
                                   [&](const FrameSample&) { return mib(report.budgetBytes); })}));
    plots.push_back(plotOf("Queue", "groups and textures", "frames", frames,
                           {lineOf("groups under way", kBlue, report.streamed,
                                   [](const FrameSample& f) { return f.groups; }),
                            lineOf("textures that wait for levels", kRed, report.streamed,
                                   [](const FrameSample& f) { return f.missing; })}));
    double longest = 1e-3;
    for (const ClassLatencies& group : report.latencies)
        longest = std::max(longest, percentile(group.milliseconds, 1));
    const char* const colours[] = {kGrey, kRed, kBlue};
    Json latencies = Json::array();
    for (size_t i = 0; i < report.latencies.size(); ++i)
        latencies.push_back(lineOf(report.latencies[i].name, colours[i % 3],
                                   cumulative(report.latencies[i].milliseconds, longest)));
    plots.push_back(plotOf("Latency from submit to the event", "% of groups that have ended", "ms",
                           longest, latencies));
    if (!report.memory.empty())
        plots.push_back(plotOf("Memory under random teleports", "MiB", "s",
                               double(report.memory.back().seconds),
                               {lineOf("process", kBlue, report.memory,
                                       [](const MemorySample& m) { return mib(m.residentBytes); }),
                                lineOf("device", kGreen, report.memory,
                                       [](const MemorySample& m) { return mib(m.deviceBytes); })}));
    return plots;
}

} // namespace

std::string jsonOf(const Report& report) { return describe(report).dump(2) + "\n"; }

std::string pageOf(const Report& report)
{
    const std::string streaming =
        report.queue == "frames" ? "of it streaming" : "streaming beside it";
    Json data = describe(report);
    const Json& frames = data["frame_ms"];
    Json rows = Json::array({Json::array({"GPU frame, streaming", frames["streamed"]})});
    if (frames.contains("resident"))
        rows.push_back(Json::array({"GPU frame, all resident", frames["resident"]}));
    rows.push_back(Json::array({streaming, frames["streaming_part"]}));
    for (const auto& [name, spread] : data["latency_ms"].items())
        rows.push_back(Json::array({"latency, " + name, spread}));
    data["times"] = rows;
    data["plots"] = plotsOf(report, streaming);
    return sluice::htmlPage(kViewerPage, sluice::scriptText(data.dump()));
}

} // namespace viewer
