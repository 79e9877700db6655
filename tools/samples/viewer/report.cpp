// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/samples/viewer/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include <nlohmann/json.hpp>

#include "tools/common/html_page.h"

#include "texts/viewer_page.h"

namespace viewer {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLearningBatches = 50;        // the streamer's cost model learns from these first
constexpr uint64_t kNoise = uint64_t{4} << 20; // bytes by which measurements of the heap vary

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

Json frameSpreadOf(const std::vector<float>& milliseconds)
{
    Json spread = spreadOf(milliseconds);
    spread["low_1_percent_fps"] = lowestHundredth(milliseconds);
    return spread;
}

Json framesOf(const Report& report)
{
    const auto all = &FrameSample::milliseconds;
    Json frames = {
        {"timestamps", report.hasTimestamps},
        {"streamed", frameSpreadOf(times(report.streamed, all))},
        {"streaming_part", spreadOf(times(report.streamed, &FrameSample::streamingMilliseconds))}};
    if (report.resident.empty()) return frames;
    const std::vector<float> with = times(report.streamed, all),
                             without = times(report.resident, all);
    frames["resident"] = frameSpreadOf(without);
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

double lowestHundredth(std::vector<float> milliseconds)
{
    if (milliseconds.empty()) return 0;
    std::sort(milliseconds.begin(), milliseconds.end(), std::greater<float>());
    const size_t slowest = (milliseconds.size() + 99) / 100;
    double sum = 0;
    for (size_t i = 0; i < slowest; ++i)
        sum += double(milliseconds[i]);
    return sum > 0 ? 1000 * double(slowest) / sum : 0;
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
                 {"gpu_load_ms", report.loadMilliseconds},
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

constexpr size_t kColumns = 430; // points of a plot's line; each is the maximum of its range

double mib(uint64_t bytes) { return double(bytes) / 1048576; }

// Returns a line of a plot. `colour` is a CSS variable of the page, for light and dark.
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
std::vector<double> valuesOf(const std::vector<Sample>& samples, const Value& value)
{
    std::vector<double> values;
    for (const Sample& sample : samples)
        values.push_back(double(value(sample)));
    return values;
}

template <typename Sample, typename Value>
Json lineOf(const std::string& name, const char* colour, const std::vector<Sample>& samples,
            const Value& value)
{
    return lineOf(name, colour, valuesOf(samples, value));
}

// A scale that ends at `top`. `beyond` is a sentence about the values above `top`; empty: there are
// none.
struct Scale {
    double top = 1e-9;
    std::string beyond;
};

// Returns a scale that ends at twice the 95th percentile of the values, or at the largest value if
// that is less, so that a few slow frames do not flatten all others. The scale does not end below
// `least`. If the largest value lies beyond the scale, Scale::beyond says so.
Scale scaleOf(const std::vector<double>& values, double least, const std::string& what,
              bool isNumbered)
{
    Scale scale;
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    if (!sorted.empty())
        scale.top = std::min(sorted.back(), 2 * sorted[(sorted.size() * 95 + 99) / 100 - 1]);
    scale.top = std::max({scale.top, least, 1e-9});
    const auto count = sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), scale.top);
    if (count == 0) return scale;
    const size_t largest = size_t(std::max_element(values.begin(), values.end()) - values.begin());
    char time[32];
    std::snprintf(time, sizeof time, "%.4g", sorted.back());
    scale.beyond = "Beyond this scale is " + what + (isNumbered ? std::to_string(largest) : "") +
                   ", with " + time + " ms" +
                   (count > 1 ? ", the longest of " + std::to_string(count) + "." : ".");
    return scale;
}

Json plotOf(const char* title, const char* unit, const char* across, double max, const Scale& scale,
            const Json& lines)
{
    return {
        {"title", title},        {"unit", unit},     {"across", across},       {"max", max},
        {"lines", lines},        {"top", scale.top}, {"beyond", scale.beyond}, {"stacked", false},
        {"marks", Json::array()}};
}

// Makes a plot whose scale ends at the largest value of its lines.
Json plotOf(const char* title, const char* unit, const char* across, double max, const Json& lines)
{
    Scale scale;
    for (const Json& line : lines)
        for (const Json& value : line["values"])
            scale.top = std::max(scale.top, value.get<double>());
    return plotOf(title, unit, across, max, scale, lines);
}

// Returns which percentage of groups have ended after each of kColumns times, up to `longest`.
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

Json mark(const char* name, double value) { return {{"name", name}, {"value", value}}; }

Json timePlots(const Report& report)
{
    const double frames = double(report.streamed.size());
    const auto total = [](const FrameSample& f) { return f.milliseconds; };
    const auto part = [](const FrameSample& f) { return f.streamingMilliseconds; };
    Json lines = {lineOf("frame, streaming", "c0", report.streamed, total)};
    if (!report.resident.empty())
        lines.push_back(lineOf("frame, all resident", "c1", report.resident, total));
    const std::vector<double> times = valuesOf(report.streamed, total);
    Json plots = {plotOf("GPU time of a frame", "ms", "frames", frames,
                         scaleOf(times, 0, "frame ", true), lines)};
    const double budget = double(report.budgetMilliseconds);
    const char* const where = report.queue == "frames" ? "inside the frame" : "beside the frame";
    Json own = plotOf("GPU time of streaming", "ms", "frames", frames,
                      scaleOf(valuesOf(report.streamed, part), 1.25 * budget, "frame ", true),
                      Json::array({lineOf(where, "c0", report.streamed, part)}));
    own["marks"].push_back(mark("budget", budget));
    plots.push_back(std::move(own));
    return plots;
}

// Makes a plot of bands: how many textures have all of their levels, lack one, and so on.
Json levelPlot(const Report& report)
{
    const char* const names[kLevelBands] = {"all levels", "without the largest", "without two",
                                            "without three", "without four or more"};
    const size_t count = report.streamed.size(), columns = std::min(count, kColumns);
    Json lines = Json::array();
    double most = 0;
    for (uint32_t band = 0; band < kLevelBands; ++band) {
        // A column shows a single frame, and not the maxima of several frames, because only then do
        // the values of all bands add up to the number of textures.
        std::vector<uint32_t> values;
        for (size_t i = 0; i < columns; ++i)
            values.push_back(report.streamed[i * count / columns].textures[band]);
        lines.push_back({{"name", names[band]},
                         {"colour", "shade" + std::to_string(band)},
                         {"values", values}});
    }
    for (const FrameSample& frame : report.streamed) {
        const auto& bands = frame.textures;
        most = std::max(most, double(std::accumulate(bands.begin(), bands.end(), 0u)));
    }
    Json plot = plotOf("Residency by level", "textures", "frames", double(count),
                       Scale{std::max(most, 1.0), ""}, lines);
    plot["stacked"] = true;
    return plot;
}

Json latencyPlot(const Report& report)
{
    std::vector<double> all;
    for (const ClassLatencies& group : report.latencies)
        all.insert(all.end(), group.milliseconds.begin(), group.milliseconds.end());
    // The scale of the horizontal axis.
    const Scale scale = scaleOf(all, 1e-3, "a group", false);
    const char* const colours[] = {"c2", "c1", "c0"};
    Json lines = Json::array();
    for (size_t i = 0; i < report.latencies.size(); ++i)
        lines.push_back(lineOf(report.latencies[i].name, colours[i % 3],
                               cumulative(report.latencies[i].milliseconds, scale.top)));
    return plotOf("Latency from submit to the event", "% of groups that have ended", "ms",
                  scale.top, Scale{100, scale.beyond}, lines);
}

Json plotsOf(const Report& report)
{
    const double frames = double(report.streamed.size());
    Json plots = timePlots(report);
    const double budget = mib(report.budgetBytes);
    Json memory = plotOf("Residency", "MiB", "frames", frames,
                         {lineOf("images", "c0", report.streamed,
                                 [](const FrameSample& f) { return mib(f.imageBytes); }),
                          lineOf("wanted", "c1", report.streamed,
                                 [](const FrameSample& f) { return mib(f.wantedBytes); })});
    memory["top"] = std::max(memory["top"].get<double>(), 1.2 * budget);
    memory["marks"].push_back(mark("budget", budget));
    plots.push_back(std::move(memory));
    plots.push_back(levelPlot(report));
    plots.push_back(plotOf("Queue", "groups and textures", "frames", frames,
                           {lineOf("groups under way", "c0", report.streamed,
                                   [](const FrameSample& f) { return f.groups; }),
                            lineOf("textures that wait for levels", "c1", report.streamed,
                                   [](const FrameSample& f) { return f.missing; })}));
    plots.push_back(latencyPlot(report));
    if (!report.memory.empty())
        plots.push_back(plotOf("Memory under random teleports", "MiB", "s",
                               double(report.memory.back().seconds),
                               {lineOf("process", "c0", report.memory,
                                       [](const MemorySample& m) { return mib(m.residentBytes); }),
                                lineOf("device", "c1", report.memory,
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
    data["plots"] = plotsOf(report);
    return sluice::htmlPage(kViewerPage, sluice::scriptText(data.dump()));
}

} // namespace viewer
