// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/tune/tune.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "tools/common/files.h"
#include "tools/sluice/tune/tune_measure.h"

namespace sluice {
namespace {

// Returns whether `name` selects the field: it must be the field's name or the part before the dot.
// Both "scan" and "scan.workgroups" select the field "scan.workgroups".
bool isNamed(const std::string& field, const std::string& name)
{
    return field.rfind(name, 0) == 0 && (field.size() == name.size() || field[name.size()] == '.');
}

// Returns the knobs (tunable values) that `only` selects, or all if it is empty, in the order of
// the table.
std::vector<const Knob*> knobsFor(const TuneDevice& device, const std::vector<std::string>& only)
{
    std::vector<const Knob*> wanted;
    for (const std::string& name : only) {
        const std::vector<TuningField>& fields = device.fields();
        if (std::none_of(fields.begin(), fields.end(),
                         [&](const TuningField& one) { return isNamed(one.name, name); }))
            throw Failure{exitUsage, "--only " + name + ": this backend's row has no such member"};
    }
    for (const Knob& knob : knobs()) {
        const bool isWanted =
            only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& name) {
                return isNamed(knob.field, name);
            });
        if (isWanted && device.field(knob.field) != nullptr) wanted.push_back(&knob);
    }
    return wanted;
}

std::string describe(const TuneDevice& device)
{
    const TuneTraits& traits = device.traits();
    const std::string processors =
        traits.processors != 0 ? std::to_string(traits.processors) : "unknown number of";
    return formatText("%s, %s, %s, subgroups of %u, %s processors", device.properties().name,
                      device.properties().driver, device.tier(), traits.subgroupSize,
                      processors.c_str());
}

std::string lineOf(const TuneResult& result)
{
    const std::string text = formatText("%s=%u", result.field.name, result.chosen);
    const std::string change =
        result.chosen != result.usual ? formatText("was %u: ", result.usual) : "";
    return formatText("%-40s # %s%s\n", text.c_str(), change.c_str(), result.why.c_str());
}

// Returns the values that would be compared, as text for a result without measurements.
std::string listOf(const TuneResult& result)
{
    std::string text = "candidates:";
    for (const uint32_t value : result.candidates)
        text += " " + std::to_string(value);
    return text;
}

std::string jsonOf(const TunePoint& point)
{
    std::string text =
        formatText("{\"work\": %s, \"unit\": %s, \"length\": %u, \"times\": [",
                   jsonText(point.work).c_str(), jsonText(point.unit).c_str(), point.length);
    for (size_t i = 0; i < point.times.size(); ++i) {
        const TunePoint::Time& time = point.times[i];
        text += formatText("%s{\"value\": %u, \"milliseconds\": %.6g, \"noise\": %.3g}",
                           i == 0 ? "" : ", ", time.value, time.milliseconds, time.noise);
    }
    return text + "]}";
}

std::string jsonOf(const TuneDevice& device, const std::vector<TuneResult>& results)
{
    const SluiceDeviceProperties& properties = device.properties();
    std::string text =
        formatText("{\n  \"schemaVersion\": 1,\n  \"device\": %s,\n  \"driver\": %s,\n  "
                   "\"backend\": \"%s\",\n  \"tier\": \"%s\",\n"
                   "  \"subgroupSize\": %u,\n  \"processors\": %u,\n  \"members\": [\n",
                   jsonText(properties.name).c_str(), jsonText(properties.driver).c_str(),
                   device.traits().isVulkan ? "vulkan" : "cuda", device.tier(),
                   device.traits().subgroupSize, device.traits().processors);
    for (const TuneResult& result : results) {
        text += formatText("    {\"name\": \"%s\", \"value\": %u, \"usual\": %u, \"why\": %s, "
                           "\"candidates\": [",
                           result.field.name, result.chosen, result.usual,
                           jsonText(result.why).c_str());
        for (size_t i = 0; i < result.candidates.size(); ++i)
            text += formatText("%s%u", i == 0 ? "" : ", ", result.candidates[i]);
        text += "], \"measurements\": [";
        for (size_t i = 0; i < result.points.size(); ++i)
            text += (i == 0 ? "\n      " : ",\n      ") + jsonOf(result.points[i]);
        text += &result == &results.back() ? "]}\n" : "]},\n";
    }
    return text + "  ]\n}\n";
}

} // namespace

std::string tuningText(const std::string& option)
{
    std::string text = option;
    if (!option.empty() && option[0] == '@') text = InputFile(option.substr(1)).readText(1 << 20);
    std::string result;
    bool isComment = false;
    for (const char c : text) {
        isComment = c != '\n' && (isComment || c == '#');
        if (!isComment) result += c;
    }
    return result;
}

int runTune(const TuneOptions& options, const CommonOptions& common)
{
    // Open the output first: if it cannot be written, the user should know before a minute of work.
    std::unique_ptr<OutputFile> file;
    if (!options.json.empty()) file = std::make_unique<OutputFile>(options.json, common.force);
    std::vector<TuneResult> results;
    try {
        Tuner tuner(options.device, options.seconds);
        const std::vector<const Knob*> wanted = knobsFor(tuner.usual(), options.only);
        FILE* const out = options.json == "-" ? stderr : stdout;
        if (!common.quiet) std::fprintf(out, "# %s\n", describe(tuner.usual()).c_str());
        for (size_t i = 0; i < wanted.size(); ++i) {
            if (options.candidates) {
                results.push_back(tuner.candidatesOf(*wanted[i]));
                if (results.back().why.empty()) results.back().why = listOf(results.back());
            } else {
                results.push_back(tuner.measure(*wanted[i], uint32_t(wanted.size() - i - 1)));
            }
            if (!common.quiet) std::fputs(lineOf(results.back()).c_str(), out);
            std::fflush(out);
        }
        if (file) {
            const std::string text = jsonOf(tuner.usual(), results);
            file->write(0, text.data(), text.size());
            file->commit();
        }
    } catch (const WorkFailure& failure) {
        throw Failure{exitCodeOf(failure.status), std::string("tune: ") + failure.what()};
    }
    return exitOk;
}

} // namespace sluice
