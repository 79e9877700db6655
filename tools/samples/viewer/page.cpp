// SPDX-License-Identifier: MIT OR Apache-2.0
// The page: plots as SVG, without scripts.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "tools/samples/viewer/report.h"

namespace viewer {

namespace {

constexpr double kWidth = 860, kHeight = 180, kLeft = 64, kBottom = 22, kTop = 8;
constexpr size_t kColumns = 430; // points of a line; of what falls together the largest counts

struct Line {
    const char* name;
    const char* colour;
    std::vector<double> values;
};

template <typename... Values>
std::string text(const char* format, Values... values)
{
    char buffer[512];
    std::snprintf(buffer, sizeof buffer, format, values...);
    return buffer;
}

std::string escaped(const std::string& plain)
{
    std::string result;
    for (const char c : plain)
        result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return result;
}

std::vector<double> thinned(const std::vector<double>& values)
{
    if (values.size() <= kColumns) return values;
    std::vector<double> columns(kColumns, 0);
    for (size_t i = 0; i < values.size(); ++i) {
        double& column = columns[i * kColumns / values.size()];
        column = std::max(column, values[i]);
    }
    return columns;
}

// Rounds up to 1, 2, 2.5 or 5 times a power of ten.
double roundedUp(double value)
{
    const double power = std::pow(10, std::floor(std::log10(value)));
    for (const double step : {1.0, 2.0, 2.5, 5.0})
        if (value <= step * power) return step * power;
    return 10 * power;
}

std::string plotOf(const char* title, const char* unit, const char* across, double acrossMax,
                   const std::vector<Line>& lines)
{
    double top = 1e-9;
    for (const Line& line : lines)
        for (const double value : line.values)
            top = std::max(top, value);
    top = roundedUp(top / 4) * 4;
    std::string svg = text("<h2>%s</h2>\n<svg viewBox=\"0 0 %.0f %.0f\">\n", title, kWidth,
                           kHeight + kBottom + kTop);
    for (int i = 0; i <= 4; ++i) {
        const double y = kTop + kHeight - kHeight * i / 4;
        svg += text("<line class=\"grid\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\"/>"
                    "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n",
                    kLeft, y, kWidth, y, kLeft - 6, y + 4, top * i / 4);
        const double x = kLeft + (kWidth - kLeft) * i / 4;
        svg += text("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%.4g%s</text>\n", x,
                    kTop + kHeight + 16, i == 4 ? "end" : "middle", acrossMax * i / 4,
                    i == 4 ? across : "");
    }
    for (const Line& line : lines) {
        const std::vector<double> values = thinned(line.values);
        svg += text("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.3\" points=\"",
                    line.colour);
        for (size_t i = 0; i < values.size(); ++i)
            svg += text("%.1f,%.1f ",
                        kLeft + (kWidth - kLeft) * double(i) /
                                    double(std::max<size_t>(values.size() - 1, 1)),
                        kTop + kHeight - kHeight * values[i] / top);
        svg += "\"/>\n";
    }
    svg += "</svg>\n<p>";
    for (const Line& line : lines)
        svg += text("<span style=\"color:%s\">&#9632; %s</span> &nbsp; ", line.colour, line.name);
    return svg + text("(%s)</p>\n", unit);
}

std::vector<double> valuesOf(const std::vector<FrameSample>& frames,
                             const std::function<double(const FrameSample&)>& value)
{
    std::vector<double> values;
    for (const FrameSample& frame : frames)
        values.push_back(value(frame));
    return values;
}

const char* streamingName(const Report& report)
{
    return report.queue == "frames" ? "of it streaming" : "streaming beside it";
}

double mib(uint64_t bytes) { return double(bytes) / 1048576; }

std::string rowOf(const char* name, const std::vector<float>& values)
{
    return text("<tr><td>%s</td><td>%zu</td><td>%.3f</td><td>%.3f</td><td>%.3f</td></tr>\n", name,
                values.size(), percentile(values, 0.5), percentile(values, 0.99),
                percentile(values, 1));
}

std::string tableOf(const Report& report)
{
    std::string rows = "<table><tr><th>milliseconds</th><th>count</th><th>p50</th><th>p99</th>"
                       "<th>max</th></tr>\n";
    const auto frames = [](const std::vector<FrameSample>& samples, float FrameSample::*member) {
        std::vector<float> values;
        for (const FrameSample& sample : samples)
            values.push_back(sample.*member);
        return values;
    };
    rows += rowOf("GPU frame, streaming", frames(report.streamed, &FrameSample::milliseconds));
    if (!report.resident.empty())
        rows +=
            rowOf("GPU frame, all resident", frames(report.resident, &FrameSample::milliseconds));
    rows +=
        rowOf(streamingName(report), frames(report.streamed, &FrameSample::streamingMilliseconds));
    for (const ClassLatencies& group : report.latencies)
        rows += rowOf(("latency, " + group.name).c_str(), group.milliseconds);
    return rows + "</table>\n";
}

// The share of groups, in percent, that have ended after so long.
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

constexpr const char* kHead =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>sluice "
    "viewer</title>\n"
    "<style>body{font:14px/1.45 system-ui,sans-serif;max-width:900px;margin:24px auto;color:#222}"
    "h1{font-size:22px}h2{font-size:16px;margin:26px 0 4px}svg{width:100%;display:block}"
    "svg text{font-size:11px;fill:#555}.grid{stroke:#ddd}p{margin:4px 0}"
    "table{border-collapse:collapse;margin-top:12px}td,th{padding:3px 14px 3px 0;text-align:right}"
    "td:first-child,th:first-child{text-align:left}th{border-bottom:1px solid #999}</style>"
    "</head><body>\n<h1>sluice viewer</h1>\n";

} // namespace

std::string pageOf(const Report& report)
{
    std::string page = kHead;
    page += "<p>" + escaped(report.device) + ", decoding on the " + escaped(report.context) +
            text(", %u x %u, ", report.width, report.height) +
            (report.isBindless ? "bindless" : "a descriptor set a texture") +
            text("; budgets %g ms a frame, %.1f MiB of images; maps: ",
                 double(report.budgetMilliseconds), mib(report.budgetBytes)) +
            escaped(report.maps) + "</p>\n" + tableOf(report);
    const double frames = double(report.streamed.size());
    std::vector<Line> time = {
        {"frame, streaming", "#1668b3",
         valuesOf(report.streamed, [](const FrameSample& f) { return double(f.milliseconds); })}};
    if (!report.resident.empty())
        time.push_back({"frame, all resident", "#8a8a8a",
                        valuesOf(report.resident,
                                 [](const FrameSample& f) { return double(f.milliseconds); })});
    time.push_back(
        {streamingName(report), "#d1495b", valuesOf(report.streamed, [](const FrameSample& f) {
             return double(f.streamingMilliseconds);
         })});
    page += plotOf("GPU time of a frame", "ms", " frames", frames, time);
    page += plotOf(
        "Residency", "MiB", " frames", frames,
        {{"images", "#1668b3",
          valuesOf(report.streamed, [](const FrameSample& f) { return mib(f.imageBytes); })},
         {"wanted", "#2e8b57",
          valuesOf(report.streamed, [](const FrameSample& f) { return mib(f.wantedBytes); })},
         {"budget", "#d1495b",
          std::vector<double>(report.streamed.size(), mib(report.budgetBytes))}});
    page += plotOf("Queue", "groups and textures", " frames", frames,
                   {{"groups under way", "#1668b3",
                     valuesOf(report.streamed, [](const FrameSample& f) { return f.groups; })},
                    {"textures that wait for levels", "#d1495b",
                     valuesOf(report.streamed, [](const FrameSample& f) { return f.missing; })}});
    double longest = 1e-3;
    for (const ClassLatencies& group : report.latencies)
        longest = std::max(longest, percentile(group.milliseconds, 1));
    const char* const colours[] = {"#8a8a8a", "#d1495b", "#1668b3"};
    std::vector<Line> latencies;
    for (size_t i = 0; i < report.latencies.size(); ++i)
        latencies.push_back({report.latencies[i].name.c_str(), colours[i % 3],
                             cumulative(report.latencies[i].milliseconds, longest)});
    page += plotOf("Latency from submit to the event", "% of groups that have ended", " ms",
                   longest, latencies);
    if (!report.memory.empty()) {
        std::vector<Line> memory = {{"process", "#1668b3", {}}, {"device", "#2e8b57", {}}};
        for (const MemorySample& sample : report.memory) {
            memory[0].values.push_back(mib(sample.residentBytes));
            memory[1].values.push_back(mib(sample.deviceBytes));
        }
        page += plotOf("Memory under random teleports", "MiB", " s",
                       double(report.memory.back().seconds), memory);
    }
    return page + "</body></html>\n";
}

} // namespace viewer
