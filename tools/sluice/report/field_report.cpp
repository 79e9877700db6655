// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice report`: runs other verbs that examine a device and joins the JSON that they print. A
// step is one such verb in a process of its own, so a driver that crashes or hangs spoils only that
// step.
#include "tools/sluice/report/field_report.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "tools/common/anonymous.h"
#include "tools/common/device.h"
#include "tools/common/files.h"
#include "tools/common/processes.h"
#include "tools/common/progress.h"
#include "tools/sluice/report/report_json.h"

namespace sluice {
namespace {

constexpr uint32_t kSchemaVersion = 1;
constexpr double kStepSeconds = 600; // most seconds of a step, if the report has no limit
constexpr double kListSeconds = 30, kLeastStep = 1;
// A step may take this part of the time that is left, so that a step that hangs leaves time for
// others.
constexpr double kStepPart = 2.0 / 3;

// Values of `bench --filter`, one for each step that runs the benchmark. Before it measures, a step
// compiles the pipelines of all rows that its filter selects, so each filter selects few.
constexpr const char* kBenchFilters[] = {"=scan", "gdeflate,checksum", "gstd filters"};
// Each of these filters gets 1 / kBenchParts of the report's time, within these bounds in seconds.
constexpr double kBenchParts = 15, kLeastBench = 2, kMostBench = 20;
// Seconds for tuning, which is done on GPUs alone: software devices take too long to make
// pipelines.
constexpr double kMostTune = 60;

struct Step {
    std::string name; // for example "selftest ext"
    std::vector<std::string> arguments;
    void (*keep)(OrderedJson& device, const OrderedJson& printed);
};

std::string commandText(const std::vector<std::string>& arguments)
{
    std::string text = "sluice";
    for (const std::string& word : arguments)
        text += " " + (word.find(' ') == std::string::npos ? word : "'" + word + "'");
    return text;
}

void keepSelftest(OrderedJson& device, const OrderedJson& printed)
{
    for (const OrderedJson& result : printed.at("results")) {
        OrderedJson kept;
        for (const char* member : {"tier", "passed", "notRun", "kernels", "differences"})
            if (result.contains(member)) kept[member] = result.at(member);
        device["selftest"].push_back(kept);
    }
}

OrderedJson pipelineTimes(const OrderedJson& printed)
{
    OrderedJson times, slowest, refused;
    uint64_t spirv = 0;
    double sum = 0, most = -1;
    for (const OrderedJson& one : printed.at("pipelines")) {
        const double milliseconds = one.at("milliseconds");
        spirv += one.at("spirv").get<uint64_t>();
        sum += milliseconds;
        if (one.at("refused") == true) refused.push_back(one.at("name"));
        if (milliseconds <= most) continue;
        most = milliseconds;
        slowest = {{"name", one.at("name")}, {"milliseconds", milliseconds}};
    }
    times["tier"] = printed.at("tier");
    times["count"] = printed.at("pipelines").size();
    times["spirv"] = spirv;
    times["threads"] = printed.at("threads");
    times["milliseconds"] = printed.at("milliseconds");
    times["sum"] = std::round(sum * 1000) / 1000;
    times["slowest"] = slowest;
    if (!refused.is_null()) times["refused"] = refused;
    return times;
}

void keepDecodePipelines(OrderedJson& device, const OrderedJson& printed)
{
    device["pipelines"]["decode"] = pipelineTimes(printed);
}

void keepAllPipelines(OrderedJson& device, const OrderedJson& printed)
{
    device["pipelines"]["all"] = pipelineTimes(printed);
}

void keepTuning(OrderedJson& device, const OrderedJson& printed)
{
    OrderedJson kept;
    for (const char* member : {"tier", "subgroupSize", "processors"})
        kept[member] = printed.at(member);
    std::string row;
    OrderedJson candidates = OrderedJson::object(), measured;
    for (const OrderedJson& one : printed.at("members")) {
        const std::string name = one.at("name");
        row += (row.empty() ? "" : " ") + name + "=" + one.at("usual").dump();
        if (one.at("candidates").empty()) continue;
        candidates[name] = one.at("candidates");
        if (!one.at("measurements").empty())
            measured[name] = {{"value", one.at("value")}, {"why", one.at("why")}};
    }
    kept["row"] = row;
    kept["candidates"] = candidates;
    if (!measured.is_null()) kept["measured"] = measured;
    device["tuning"] = kept;
}

void keepBench(OrderedJson& device, const OrderedJson& printed)
{
    OrderedJson& kept = device["bench"];
    if (kept.is_null()) {
        kept["tier"] = printed.at("tier");
        kept["copy_gb_per_s"] = printed.at("copy_gb_per_s");
        kept["cut"] = OrderedJson::array();
        kept["rows"] = OrderedJson::array();
    }
    for (const OrderedJson& row : printed.at("rows")) {
        const bool isAgain = row.at("kernel") == "copy" && !kept["rows"].empty();
        if (row.at("present") == true && !isAgain) kept["rows"].push_back(row);
    }
    if (printed.contains("cut"))
        for (const OrderedJson& one : printed.at("cut"))
            kept["cut"].push_back(one.at("kernel"));
}

// Returns true if the text of this JSON member may come from a driver, and so may contain anything,
// for example personal data.
bool isFreeText(const std::string& member)
{
    return member == "error" || member == "notRun" || member == "differences" || member == "vulkan";
}

void makeAnonymous(OrderedJson& json, const std::vector<PersonalName>& names, bool isFree)
{
    if (json.is_string())
        json = anonymous(json.get<std::string>(), isFree ? names : std::vector<PersonalName>());
    if (json.is_object())
        for (auto& [key, value] : json.items())
            makeAnonymous(value, names, isFree || isFreeText(key));
    if (json.is_array())
        for (OrderedJson& value : json)
            makeAnonymous(value, names, isFree);
}

class FieldReport {
public:
    FieldReport(const ReportOptions& options, const CommonOptions& common)
        : m_options(options), m_line(common.quiet)
    {
    }

    void run();
    bool passed() const { return m_json.at("failures").empty() && m_passed; }
    std::string text() const;
    void printSummary(bool isQuiet) const; // to stderr; quiet: only errors

private:
    using Clock = std::chrono::steady_clock;
    using Steps = std::vector<Step>;

    struct Ending {
        std::optional<OrderedJson> printed; // the verb's output, if it did its work
        // Empty: the verb succeeded. Otherwise says how the process ended and what it wrote to
        // stderr.
        std::string error;
        bool isOver = false; // the process was stopped after its time
        int code = exitDevice;
    };

    double taken() const { return std::chrono::duration<double>(Clock::now() - m_start).count(); }
    bool isLimited() const { return m_options.seconds > 0; }
    double left() const
    {
        return isLimited() ? m_options.seconds - taken() : kStepSeconds / kStepPart;
    }
    Ending perform(const std::vector<std::string>& arguments, double seconds) const;
    void findDevices();
    void perform(OrderedJson& device, const Step& step);
    // Performs one kind of step on all devices. The caller goes through the kinds in order of
    // importance, so that the most important steps are done everywhere. The CPU is listed last but
    // comes first here, since it takes least time.
    void performAll(Steps (FieldReport::*stepsOf)(const OrderedJson& device) const);
    void note(const char* list, const OrderedJson& device, const Step& step, const char* member,
              const std::string& text);
    std::string resultOf(const OrderedJson& device) const;

    Steps pipelineSteps(const OrderedJson& device) const;
    Steps hardwarePipelines(const OrderedJson& device) const;
    Steps softwarePipelines(const OrderedJson& device) const;
    Steps firstTier(const OrderedJson& device) const;
    Steps tuningSteps(const OrderedJson& device) const;
    Steps benchSteps(const OrderedJson& device) const;
    Steps laterTiers(const OrderedJson& device) const;
    Steps measuredTuning(const OrderedJson& device) const;

    const ReportOptions m_options;
    StatusLine m_line;
    const Clock::time_point m_start = Clock::now();
    OrderedJson m_json;
    bool m_passed = true;
};

FieldReport::Ending FieldReport::perform(const std::vector<std::string>& arguments,
                                         double seconds) const
{
    const ChildResult child = runTool(arguments, seconds);
    Ending ending;
    ending.isOver = child.end == ChildResult::End::stopped;
    if (child.end == ChildResult::End::exited) ending.code = child.code;
    // A verb that found the device faulty (exitDevice) has still printed its result.
    const bool didItsWork =
        child.end == ChildResult::End::exited && (child.code == exitOk || child.code == exitDevice);
    if (didItsWork) {
        OrderedJson printed = OrderedJson::parse(child.output, nullptr, false);
        if (!printed.is_discarded()) ending.printed = std::move(printed);
        if (ending.printed && child.code == exitOk) return ending;
    }
    std::string said = child.errors;
    while (!said.empty() && (said.back() == '\n' || said.back() == ' '))
        said.pop_back();
    if (said.rfind("sluice: ", 0) == 0) said.erase(0, 8);
    switch (child.end) {
    case ChildResult::End::exited:
        ending.error =
            child.code == exitOk ? "printed no JSON" : formatText("exit code %d", child.code);
        break;
    case ChildResult::End::killed: ending.error = "ended by " + endText(child); break;
    case ChildResult::End::stopped:
        ending.error = formatText("had not ended after %.0f s", seconds);
        break;
    case ChildResult::End::notBegun: break;
    }
    if (!said.empty()) ending.error += (ending.error.empty() ? "" : ": ") + said;
    return ending;
}

void FieldReport::note(const char* list, const OrderedJson& device, const Step& step,
                       const char* member, const std::string& text)
{
    OrderedJson entry;
    if (device.contains("device")) entry["device"] = device.at("device");
    entry["step"] = step.name;
    entry["command"] = commandText(step.arguments);
    entry[member] = text;
    m_json[list].push_back(entry);
}

// Lists the devices in a child process, so that this process loads no driver.
void FieldReport::findDevices()
{
    const bool all = m_options.device == "all";
    Step step = {"devices", {"devices", "--json"}, nullptr};
    if (!all) step.arguments.insert(step.arguments.end(), {"--device", m_options.device});
    m_line.show("listing devices");
    Ending ending = perform(step.arguments, kListSeconds);
    const std::string error = ending.error;
    if (!ending.printed && all) // a driver crashed; the CPU can still be examined
        ending = perform({"devices", "--json", "--device", "cpu"}, kListSeconds);
    if (!ending.printed) throw Failure{ending.code == exitOk ? exitDevice : ending.code, error};
    m_json["schemaVersion"] = kSchemaVersion;
    for (const auto& [name, value] : ending.printed->items())
        if (name != "schemaVersion" && name != "devices") m_json[name] = value;
    m_json["seconds"] = m_options.seconds;
    m_json["taken"] = 0;
    m_json["result"] = "";
    m_json["failures"] = OrderedJson::array();
    m_json["leftOut"] = OrderedJson::array();
    m_json["devices"] = ending.printed->at("devices");
    if (!error.empty()) note("failures", OrderedJson::object(), step, "error", error);
}

void FieldReport::perform(OrderedJson& device, const Step& step)
{
    const double seconds = left() * kStepPart;
    if (seconds < kLeastStep) return note("leftOut", device, step, "why", "no time was left");
    m_line.show(device.at("device").get<std::string>() + ": " + step.name +
                (isLimited() ? formatText(", %.0f s left", left()) : ""));
    const Ending ending = perform(step.arguments, seconds);
    if (ending.isOver) return note("leftOut", device, step, "why", ending.error);
    // A self-test that fails prints what differs, so its failure needs no note here.
    if (!ending.printed || (!ending.error.empty() && step.arguments[0] != "selftest"))
        note("failures", device, step, "error", ending.error);
    if (!ending.printed) return;
    try {
        step.keep(device, *ending.printed);
    } catch (const OrderedJson::exception& error) { // the verb may have crashed
        note("failures", device, step, "error", std::string("printed other JSON: ") + error.what());
    }
}

void FieldReport::performAll(Steps (FieldReport::*stepsOf)(const OrderedJson& device) const)
{
    OrderedJson& devices = m_json["devices"];
    for (size_t i = devices.size(); i-- > 0;)
        for (const Step& step : (this->*stepsOf)(devices[i]))
            perform(devices[i], step);
}

std::string selectorOf(const OrderedJson& device) { return device.at("device"); }

bool runsOn(const OrderedJson& device, const char* backend)
{
    return selectorOf(device).rfind(backend, 0) == 0 && !device.at("tiers").empty();
}

FieldReport::Steps FieldReport::pipelineSteps(const OrderedJson& device) const
{
    if (!runsOn(device, "vulkan")) return {};
    const std::vector<std::string> all = {"devices",
                                          "--pipelines",
                                          "--json",
                                          "--device",
                                          selectorOf(device),
                                          "--threads",
                                          std::to_string(pipelineThreads())};
    std::vector<std::string> decode = all;
    decode.insert(decode.end(), {"--kernels", "gdeflate,gstd,filter,checksum"});
    return {{"pipelines decode", decode, keepDecodePipelines},
            {"pipelines all", all, keepAllPipelines}};
}

FieldReport::Steps FieldReport::hardwarePipelines(const OrderedJson& device) const
{
    return device.at("software") == true ? Steps() : pipelineSteps(device);
}

FieldReport::Steps FieldReport::softwarePipelines(const OrderedJson& device) const
{
    return device.at("software") == true ? pipelineSteps(device) : Steps();
}

Step selftestStep(const OrderedJson& device, const std::string& tier)
{
    return {"selftest " + tier,
            {"selftest", "--json", "--device", selectorOf(device), "--tier", tier},
            keepSelftest};
}

FieldReport::Steps FieldReport::firstTier(const OrderedJson& device) const
{
    if (device.at("tiers").empty()) return {};
    return {selftestStep(device, device.at("tiers")[0])};
}

FieldReport::Steps FieldReport::laterTiers(const OrderedJson& device) const
{
    Steps steps;
    for (size_t i = 1; i < device.at("tiers").size(); ++i)
        steps.push_back(selftestStep(device, device.at("tiers")[i]));
    return steps;
}

FieldReport::Steps FieldReport::tuningSteps(const OrderedJson& device) const
{
    if (!runsOn(device, "vulkan") && !runsOn(device, "cuda")) return {};
    return {{"tuning",
             {"tune", "-q", "--candidates", "--device", selectorOf(device), "--json", "-"},
             keepTuning}};
}

FieldReport::Steps FieldReport::measuredTuning(const OrderedJson& device) const
{
    if (device.at("software") == true || tuningSteps(device).empty()) return {};
    const double seconds = std::min(left() / 4, kMostTune);
    return {{"tuning, measured",
             {"tune", "-q", "--seconds", formatText("%.0f", std::max(seconds, 1.0)), "--device",
              selectorOf(device), "--json", "-"},
             keepTuning}};
}

FieldReport::Steps FieldReport::benchSteps(const OrderedJson& device) const
{
    if (device.at("tiers").empty()) return {};
    const double seconds =
        isLimited() ? std::clamp(m_options.seconds / kBenchParts, kLeastBench, kMostBench)
                    : kMostBench;
    Steps steps;
    for (const char* filter : kBenchFilters)
        steps.push_back({std::string("bench ") + filter,
                         {"bench", "-q", "--device", selectorOf(device), "--seconds",
                          formatText("%.0f", seconds), "--filter", filter, "--json", "-"},
                         keepBench});
    return steps;
}

std::string FieldReport::resultOf(const OrderedJson& device) const
{
    bool any = false, passed = true, whole = true;
    const auto isOfDevice = [&](const OrderedJson& one) {
        return one.value("device", "") == selectorOf(device);
    };
    for (const OrderedJson& one : m_json.at("failures"))
        passed = passed && !isOfDevice(one);
    for (const OrderedJson& one : m_json.at("leftOut"))
        whole = whole && !isOfDevice(one);
    for (const OrderedJson& test : device.value("selftest", OrderedJson::array())) {
        any = true;
        passed = passed && test.at("passed") == true;
    }
    return !passed ? "failed" : !any ? "not run" : whole ? "passed" : "incomplete";
}

void FieldReport::run()
{
    findDevices();
    // Pipelines of GPUs come first: then the driver has them in its cache for later steps. Software
    // devices have no such cache and compile slowly.
    performAll(&FieldReport::hardwarePipelines);
    performAll(&FieldReport::firstTier);
    performAll(&FieldReport::tuningSteps);
    performAll(&FieldReport::benchSteps);
    performAll(&FieldReport::softwarePipelines);
    performAll(&FieldReport::laterTiers);
    performAll(&FieldReport::measuredTuning);
    m_line.clear();
    for (OrderedJson& device : m_json["devices"]) {
        const std::string result = resultOf(device);
        OrderedJson whole; // so that the result comes first in the file
        whole["device"] = device.at("device");
        whole["result"] = result;
        whole.update(device);
        device = whole;
        m_passed = m_passed && result != "failed";
    }
    m_json["taken"] = std::round(taken() * 10) / 10;
    m_json["result"] = !passed() ? "failed" : m_json["leftOut"].empty() ? "passed" : "incomplete";
}

std::string FieldReport::text() const
{
    OrderedJson json = m_json;
    makeAnonymous(json, personalNames(), false);
    return reportText(json);
}

void FieldReport::printSummary(bool isQuiet) const
{
    const auto say = [](const OrderedJson& entry, const char* member) {
        printMessage("%s: %s: %s\n", entry.value("device", "sluice").c_str(),
                     entry.at("step").get<std::string>().c_str(),
                     printable(entry.at(member)).c_str());
    };
    for (const OrderedJson& device : m_json.at("devices"))
        if (!isQuiet)
            printMessage("%-10s %-10s %s\n", selectorOf(device).c_str(),
                         device.at("result").get<std::string>().c_str(),
                         printable(device.at("name")).c_str());
    for (const OrderedJson& one : m_json.at("failures"))
        say(one, "error");
    const OrderedJson& leftOut = m_json.at("leftOut");
    for (const OrderedJson& one : leftOut)
        if (!isQuiet) say(one, "why");
    if (!leftOut.empty() && !isQuiet)
        printMessage("the report is incomplete: %zu step%s left out; --seconds allows more time\n",
                     leftOut.size(), leftOut.size() == 1 ? " was" : "s were");
}

} // namespace

int runReport(const ReportOptions& options, const CommonOptions& common)
{
    checkOutput(options.output, common.force, {});
    OutputFile file(options.output, common.force);
    FieldReport report(options, common);
    report.run();
    const std::string text = report.text();
    file.write(0, text.data(), text.size());
    file.commit();
    report.printSummary(common.quiet);
    return report.passed() ? exitOk : exitDevice;
}

} // namespace sluice
