// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/dev.d/devices_page.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Report {
    std::string name; // of the file, without its suffix
    Json json;
};

// Strangers wrote the texts: none may be more than text in a cell.
std::string cell(const std::string& text)
{
    std::string safe;
    for (const char c : text) {
        if (c == '<')
            safe += "&lt;";
        else if (c == '&')
            safe += "&amp;";
        else if (static_cast<unsigned char>(c) < 32)
            safe += ' ';
        else
            safe += std::string("|\\`*_[]~#!").find(c) != std::string::npos ? std::string("\\") + c
                                                                            : std::string(1, c);
    }
    return safe;
}

std::string cell(const Json& json) { return cell(json.get<std::string>()); }

std::string row(const std::vector<std::string>& cells)
{
    std::string text = "|";
    for (const std::string& one : cells)
        text += " " + one + " |";
    return text + "\n";
}

std::string heading(const std::vector<std::string>& names)
{
    std::string text = row(names) + "|";
    for (size_t i = 0; i < names.size(); ++i)
        text += "---|";
    return text + "\n";
}

std::string number(double value, int digits)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

std::string rate(double gigabytes)
{
    return number(gigabytes, gigabytes >= 100 ? 0 : gigabytes >= 10 ? 1 : gigabytes >= 1 ? 2 : 3);
}

std::string nameOf(const Report& report, const Json& device)
{
    return cell(report.name) + ", " + cell(device.at("device"));
}

// "passed", "FAILED: scan, gstd", "not run" or, of a tier that the device lacks, "–".
std::string tierResult(const Json& device, const std::string& tier)
{
    const Json& tiers = device.at("tiers");
    if (std::find(tiers.begin(), tiers.end(), tier) == tiers.end()) return "–";
    for (const Json& test : device.value("selftest", Json::array())) {
        if (test.at("tier") != tier) continue;
        if (test.at("passed") == true) return "passed";
        std::string failed;
        for (const auto& [kernel, passed] : test.at("kernels").items())
            if (passed == false) failed += (failed.empty() ? ": " : ", ") + cell(kernel);
        return "**FAILED**" + failed;
    }
    return "not run";
}

// Of several tiers, as short as they allow.
std::string tierResults(const Json& device, const std::vector<std::string>& tiers)
{
    std::string same, all;
    bool isSame = true;
    for (const std::string& tier : tiers) {
        const std::string result = tierResult(device, tier);
        isSame = isSame && (same.empty() || same == result);
        same = result;
        if (result != "–") all += (all.empty() ? "" : "; ") + tier + " " + result;
    }
    return isSame ? same : all;
}

template <typename Function>
void forEachDevice(const std::vector<Report>& reports, const Function& function)
{
    for (const Report& report : reports)
        for (const Json& device : report.json.at("devices"))
            function(report, device);
}

std::string machineTable(const std::vector<Report>& reports)
{
    std::string text = heading({"report", "sluice", "system", "processor", "cores", "CUDA"});
    for (const Report& report : reports) {
        const Json& json = report.json;
        text += row({"[" + cell(report.name) + "](reports/" + report.name + ".json)",
                     cell(json.at("sluice")), cell(json.at("os")), cell(json.at("processor")),
                     std::to_string(json.at("cores").get<uint64_t>()), cell(json.at("cuda"))});
    }
    return text;
}

std::string testTable(const std::vector<Report>& reports)
{
    std::string text = heading({"report, device", "name", "driver", "ext", "base", "emu32",
                                "other emulated", "native", "fast, ref"});
    forEachDevice(reports, [&](const Report& report, const Json& device) {
        const std::string driver = cell(device.at("driver")), api = cell(device.at("api"));
        text += row({nameOf(report, device), cell(device.at("name")),
                     driver.empty() ? "–" : driver + ", " + api, tierResult(device, "ext"),
                     tierResult(device, "base"), tierResult(device, "emu32"),
                     tierResults(device, {"emu4", "emu8", "emu16", "emu64", "emu128"}),
                     tierResult(device, "native"), tierResults(device, {"fast", "ref"})});
    });
    return text;
}

std::string featureTable(const std::vector<Report>& reports)
{
    std::string text = heading({"report, device", "lacks", "so"});
    forEachDevice(reports, [&](const Report& report, const Json& device) {
        for (const Json& one : device.at("missing"))
            text += row({nameOf(report, device), "tier " + cell(one.at("tier")),
                         cell(one.at("why")) + "; " + cell(one.at("costs"))});
        for (const Json& one : device.value("absent", Json::array()))
            text += row({nameOf(report, device), cell(one.at("feature")), cell(one.at("costs"))});
    });
    return text;
}

std::string pipelineCells(const Json& times)
{
    if (times.is_null()) return "not run";
    return number(times.at("milliseconds"), 0) + " ms (" +
           std::to_string(times.at("count").get<uint64_t>()) + ")";
}

std::string pipelineTable(const std::vector<Report>& reports)
{
    std::string text =
        heading({"report, device", "tier", "threads", "decoding", "all", "sum of all", "slowest"});
    forEachDevice(reports, [&](const Report& report, const Json& device) {
        if (!device.contains("pipelines")) return;
        const Json& pipelines = device.at("pipelines");
        const Json decode = pipelines.value("decode", Json()), all = pipelines.value("all", Json());
        const Json& any = all.is_null() ? decode : all;
        const Json& slowest = any.at("slowest");
        text +=
            row({nameOf(report, device), cell(any.at("tier")),
                 std::to_string(any.at("threads").get<uint64_t>()), pipelineCells(decode),
                 pipelineCells(all), all.is_null() ? "–" : number(all.at("sum"), 0) + " ms",
                 cell(slowest.at("name")) + ", " + number(slowest.at("milliseconds"), 0) + " ms"});
    });
    return text;
}

// The largest of our rows of a kernel, of several the fastest, and its size.
std::string speed(const Json& device, const std::string& kernel)
{
    double best = 0;
    uint64_t bytes = 0;
    std::string size;
    for (const Json& one : device.at("bench").at("rows")) {
        if (one.at("kernel") != kernel || one.at("peer") == true || !one.contains("gb_per_s"))
            continue;
        const uint64_t itsBytes = one.at("bytes");
        if (itsBytes < bytes || (itsBytes == bytes && one.at("gb_per_s") <= best)) continue;
        bytes = itsBytes;
        best = one.at("gb_per_s");
        size = one.at("size");
    }
    return best == 0 ? "not run" : rate(best) + " (" + cell(size) + ")";
}

std::string speedTable(const std::vector<Report>& reports)
{
    std::string text = heading(
        {"report, device", "tier", "copy", "scan", "GDeflate", "checksums", "Gstd with filters"});
    forEachDevice(reports, [&](const Report& report, const Json& device) {
        if (!device.contains("bench")) return;
        text += row({nameOf(report, device), cell(device.at("bench").at("tier")),
                     speed(device, "copy"), speed(device, "scan"), speed(device, "gdeflate"),
                     speed(device, "checksum"), speed(device, "gstd filters")});
    });
    return text;
}

std::string failureList(const std::vector<Report>& reports)
{
    std::string text;
    for (const Report& report : reports)
        for (const char* list : {"failures", "leftOut"})
            for (const Json& one : report.json.at(list)) {
                const bool isFailure = list == std::string("failures");
                text += "- " + cell(report.name) + ": " + cell(one.at("command")) + ": " +
                        (isFailure ? "**failed**: " : "left out: ") +
                        cell(one.at(isFailure ? "error" : "why")) + "\n";
            }
    return text.empty() ? "Nothing failed, and nothing was left out.\n" : text;
}

Report readReport(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    Report report = {path.stem().string(),
                     Json::parse(std::istreambuf_iterator<char>(file), {}, nullptr, false)};
    if (!report.json.is_object() || report.json.value("schemaVersion", 0) != 1)
        throw std::runtime_error(path.string() + ": is no report of schemaVersion 1");
    return report;
}

} // namespace

std::string devicesPage(const fs::path& folder)
{
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".json" && entry.path().filename() != "schema.json")
            paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<Report> reports;
    for (const fs::path& path : paths)
        reports.push_back(readReport(path));
    try {
        return "# Devices\n\n"
               "What [`sluice report`](tool.md#report) wrote on the devices below. "
               "`./tools/dev devices-page docs/reports` makes\n"
               "this page; edit nothing here. A report of another device is welcome: add it to "
               "[reports](reports), and make the\npage again. What was tested beyond that is in "
               "[portability.md](portability.md#devices).\n\n## Machines\n\n" +
               machineTable(reports) +
               "\n## Self-tests by tier\n\nA tier that the device lacks has a –; one that no test "
               "ran is \"not run\", never \"passed\".\n\n" +
               testTable(reports) +
               "\n## What devices lack\n\nTiers and features that sluice could use.\n\n" +
               featureTable(reports) +
               "\n## Pipelines\n\nHow long it took until the device was open with them, as the "
               "driver's own cache was, and how many there are.\n\n" +
               pipelineTable(reports) +
               "\n## Speed\n\nGB/s, and of how much: the largest row of a short benchmark, on "
               "machines that may have done other things\nmeanwhile. "
               "[performance.md](performance.md) has figures that were taken with care.\n\n" +
               speedTable(reports) + "\n## What failed or was left out\n\n" + failureList(reports);
    } catch (const Json::exception& error) {
        throw std::runtime_error(folder.string() +
                                 ": a report does not keep to the schema: " + error.what());
    }
}

} // namespace sluice
