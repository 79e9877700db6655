// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluice report: it follows its schema, does not say whose machine it is from, and goes on if
// a driver fails.
#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

#include <unistd.h>

#include "tests/support/devices.h"
#include "tests/tool/json_schema.h"
#include "tests/tool/tool_run.h"
#include "tools/common/anonymous.h"
#include "test_paths.h"

using namespace sluice::test;

namespace {

using Json = nlohmann::json;

const std::string kEnough = kSlow ? "1500" : "60"; // for all steps

// Holds what no report may contain. The names are made up, except for the host's.
class Secrets {
public:
    explicit Secrets(Tool& tool)
    {
        const std::string home = (tool.path / "home-of-quxley").string();
        tool.environment += "export ASAN_OPTIONS=detect_leaks=0 HOME='" + home +
                            "' USER=quxley LOGNAME=quxley XDG_CACHE_HOME='" + home + "/.cache';";
    }

    void check(const std::string& text) const
    {
        CHECK_FALSE(contains(text, "quxley"));
        CHECK_FALSE(contains(text, "sluice-test-")); // the folder in which it was run
        const std::regex path("[ \"'(=](/[^ /\"]+/|~/)"),
            uuid("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
        CHECK_FALSE(std::regex_search(text, path));
        CHECK_FALSE(std::regex_search(text, uuid));
        char host[256] = {};
        REQUIRE(gethostname(host, sizeof host - 1) == 0);
        // The system's name may contain the host's, such as "debian".
        const std::string system = Json::parse(text).at("os");
        const bool isTelling = host[0] != 0 && std::string(host) != "localhost" &&
                               !std::regex_search(system, std::regex(host, std::regex::icase));
        if (isTelling)
            CHECK_FALSE(std::regex_search(text, std::regex("\\b" + std::string(host) + "\\b")));
    }
};

Json checkedReport(const std::string& text)
{
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) // only strings may be longer
        CHECK_MESSAGE((line.size() < 100 || std::count(line.begin(), line.end(), '"') <= 4), line);
    return checkedJson("reports/schema.json", text);
}

// Checks that every step for every device was done or is named as left out or failed.
void checkComplete(const Json& report)
{
    const auto isSaid = [&](const Json& device, const std::string& step) {
        for (const char* list : {"failures", "leftOut"})
            for (const Json& one : report.at(list))
                if (one.value("device", "") == device.at("device") && one.at("step") == step)
                    return true;
        return false;
    };
    for (const Json& device : report.at("devices")) {
        const std::string selector = device.at("device");
        const bool isVulkan = selector.rfind("vulkan", 0) == 0 && !device.at("tiers").empty();
        CAPTURE(selector);
        for (const Json& tier : device.at("tiers")) {
            const Json tests = device.value("selftest", Json::array());
            const bool isDone = std::any_of(tests.begin(), tests.end(), [&](const Json& test) {
                return test.at("tier") == tier;
            });
            CHECK_MESSAGE((isDone || isSaid(device, "selftest " + tier.get<std::string>())), tier);
        }
        for (const char* set : {"decode", "all"})
            if (isVulkan && !device.value("pipelines", Json::object()).contains(set))
                CHECK(isSaid(device, std::string("pipelines ") + set));
        if (isVulkan && !device.contains("tuning")) CHECK(isSaid(device, "tuning"));
        if (!device.at("tiers").empty() && !device.contains("bench"))
            CHECK(isSaid(device, "bench =scan"));
    }
}

const Json* deviceOf(const Json& report, const std::string& selector)
{
    for (const Json& device : report.at("devices"))
        if (device.at("device") == selector) return &device;
    return nullptr;
}

// Skips the test if an emulator runs the tool, which cannot start itself then. It starts itself for
// each step.
bool skipsForEmulator()
{
    if (kEmulated) skipCase("a tool that starts itself, which only an emulator can start");
    return kEmulated;
}

constexpr const char* kWineCrash =
    "a driver of Linux that calls abort() ends or hangs Wine in a way of its own";

// Makes a manifest for the driver that fails as `what` says. Returns false if there is no lavapipe
// behind it.
bool breakDriver(Tool& tool, const std::string& what)
{
#ifndef SLUICE_BROKEN_DRIVER_PATH
    (void)tool;
    (void)what;
    skipCase("there is no driver for this system that fails where it is told to");
    return false;
#else
    const char* const manifest = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
    if (skipsForEmulator()) return false;
    if (!fs::exists(manifest)) {
        skipCase("there is no lavapipe that a driver that fails could stand before");
        return false;
    }
    const Json real = Json::parse(readFile(manifest));
    const Json broken = {{"file_format_version", "1.0.0"},
                         {"ICD",
                          {{"library_path", SLUICE_BROKEN_DRIVER_PATH},
                           {"api_version", real.at("ICD").at("api_version")}}}};
    tool.write("broken.json", broken.dump());
    const std::string path = (tool.path / "broken.json").string();
    // The driver behind has data races of its own: a lock is destroyed while another thread reads
    // it.
    tool.environment +=
        "export TSAN_OPTIONS=ignore_noninstrumented_modules=1 VK_DRIVER_FILES='" + path +
        "' VK_ICD_FILENAMES='" + path + "' SLUICE_DRIVER_BREAKS=" + what +
        " SLUICE_DRIVER_BEHIND=" + real.at("ICD").at("library_path").get<std::string>() + ";";
    return true;
#endif
}

} // namespace

TEST_CASE("tool field report: texts lose what tells whose they are")
{
    using sluice::anonymous;
    const std::vector<sluice::PersonalName> names = {
        {"/home/ann", "<home>"}, {"ann", "<user>"}, {"box", "<host>"}};
    CHECK(anonymous("nothing to see, 12 GB/s", names) == "nothing to see, 12 GB/s");
    CHECK(anonymous("cannot open /home/ann/x y", names) == "cannot open <path> y");
    CHECK(anonymous("'/home/ann/my file': no", names) == "'<path>': no");
    CHECK(anonymous("/usr/lib/x.so: missing", names) == "<path>: missing");
    CHECK(anonymous("(~/.cache) or C:\\Users\\ann\\x, \\\\box\\d", names) ==
          "(<path>) or <path>, <path>");
    CHECK(anonymous("HOME=/home/ann", names) == "HOME=<path>");
    CHECK(anonymous("x/home/ann y", names) == "x<home> y");
    CHECK(anonymous("Ann on BOX, annual boxes, ann_1", names) ==
          "<user> on <host>, annual boxes, ann_1");
    CHECK(anonymous("id 00112233-4455-6677-8899-AABBCCDDEEFF.", names) == "id <uuid>.");
    CHECK(anonymous("id 00112233-4455-6677-8899-AABBCCDDEEF", names) ==
          "id 00112233-4455-6677-8899-AABBCCDDEEF");
    CHECK(anonymous("", names) == "");
}

TEST_CASE("tool field report: of the CPU, by the schema, and with nothing personal in it")
{
    if (skipsForEmulator()) return;
    Tool tool;
    const Secrets secrets(tool);
    REQUIRE(tool.onCpu("report -q -o r.json --seconds " + kEnough) == 0);
    CHECK(tool.output() == "");
    CHECK(tool.errors() == "");
    const std::string text = tool.read("r.json");
    secrets.check(text);
    const Json report = checkedReport(text);
    checkComplete(report);
    CHECK_FALSE(report.contains("vulkan")); // no driver was loaded
    CHECK(report.at("result") == "passed");
    REQUIRE(report.at("devices").size() == 1);
    const Json& device = report.at("devices")[0];
    CHECK(device.at("device") == "cpu");
    CHECK(device.at("result") == "passed");
    REQUIRE(device.at("selftest").size() == 2);
    CHECK(device.at("selftest")[0].at("kernels").size() == 15);
    CHECK_FALSE(device.contains("tuning"));
    // Each kernel has a row or is listed as cut for lack of time.
    for (const std::string kernel : {"copy", "scan", "gdeflate", "checksum", "gstd filters"}) {
        const auto names = [&](const Json& one) { // a cut names a kernel, or the beginning of names
            return one.is_string() ? kernel.rfind(one.get<std::string>(), 0) == 0
                                   : one.at("kernel") == kernel;
        };
        const Json &rows = device.at("bench").at("rows"), &cut = device.at("bench").at("cut");
        CHECK_MESSAGE((std::any_of(rows.begin(), rows.end(), names) ||
                       std::any_of(cut.begin(), cut.end(), names)),
                      kernel);
    }
    // The report overwrites nothing without -f, and refuses at once what it cannot do.
    CHECK(tool.onCpu("report -o r.json") == 2);
    CHECK(tool("report --device nothing -o y.json") == 1);
    CHECK(tool("report --device vulkan:99 -o y.json") == 4);
    CHECK(tool("--tuning scan.workgroups=4 report -o y.json") == 1);
    CHECK_FALSE(tool.has("y.json"));
    CHECK_FALSE(tool.hasTemporaries());
}

TEST_CASE("tool field report: what there is no time for is said")
{
    if (skipsForEmulator()) return;
    Tool tool;
    const Secrets secrets(tool);
    REQUIRE(tool("report -f --seconds 0.001 -o r.json") == 0);
    CHECK(contains(tool.errors(), "cpu: selftest fast: no time was left"));
    CHECK(contains(tool.errors(), "the report is incomplete: "));
    const std::string text = tool.read("r.json");
    secrets.check(text);
    const Json report = checkedReport(text);
    checkComplete(report);
    CHECK(report.at("leftOut").size() >= 5);
    CHECK(report.at("result") == "incomplete");
    for (const Json& device : report.at("devices"))
        CHECK(device.at("result") == "not run");
    CHECK(report.at("leftOut").back().at("command").get<std::string>().rfind("sluice ", 0) == 0);
}

TEST_CASE("tool field report: a driver that crashes, and the rest goes on")
{
    Tool tool;
    const Secrets secrets(tool);
    if (isWindowsTool(kWineCrash) || !breakDriver(tool, "abort")) return;
    CHECK(tool("report --seconds 40 -o -") == 4);
    const std::string text = tool.output();
    secrets.check(text);
    CHECK(contains(text, "no cache in <path> for <user>, job <uuid>"));
    const Json report = checkedReport(text);
    checkComplete(report);
    CHECK(report.at("result") == "failed");
    const Json* const device = deviceOf(report, "vulkan:0");
    REQUIRE(device != nullptr);
    CHECK(device->at("result") == "failed");
    CHECK_FALSE(device->contains("selftest"));
    uint32_t crashes = 0;
    for (const Json& one : report.at("failures"))
        if (contains(one.at("error"), "ended by signal 6")) ++crashes;
    CHECK(crashes >= 3);
    const Json* const cpu = deviceOf(report, "cpu");
    REQUIRE(cpu != nullptr);
    CHECK(cpu->at("result") == "passed");
}

TEST_CASE("tool field report: a driver with which devices cannot even be listed")
{
    Tool tool;
    const Secrets secrets(tool);
    if (isWindowsTool(kWineCrash) || !breakDriver(tool, "list")) return;
    CHECK(tool("report --seconds 0.001 -q -o -") == 4);
    CHECK(contains(tool.errors(), "sluice: devices: ended by signal 6"));
    secrets.check(tool.output());
    const Json report = checkedReport(tool.output());
    checkComplete(report);
    REQUIRE(report.at("failures").size() == 1);
    CHECK(report.at("failures")[0].at("command") == "sluice devices --json");
    REQUIRE(report.at("devices").size() == 1);
    CHECK(report.at("devices")[0].at("device") == "cpu");
}

TEST_CASE("tool field report: a driver that refuses pipelines, and one that computes nothing")
{
    for (const char* what : {"refuse", "ignore"}) {
        CAPTURE(what);
        Tool tool;
        const Secrets secrets(tool);
        if (!breakDriver(tool, what)) return;
        CHECK(tool("report --device vulkan -o - --seconds " + kEnough) == 4);
        const std::string text = tool.output();
        secrets.check(text);
        const Json report = checkedReport(text);
        checkComplete(report);
        REQUIRE(report.at("devices").size() == 1);
        const Json& device = report.at("devices")[0];
        CHECK(device.at("result") == "failed");
        // Refused pipelines are an error of each step. Wrong results are an error of the tests.
        const Json tests = device.value("selftest", Json::array());
        REQUIRE(tests.size() >= 1);
        CHECK(tests[0].at("passed") == false);
        CHECK(tests[0].contains(what == std::string("refuse") ? "notRun" : "differences"));
        const Json& all = device.at("pipelines").at("all");
        CHECK(all.contains("refused") == (what == std::string("refuse")));
        if (all.contains("refused")) CHECK(all.at("refused").size() == all.at("count"));
    }
}

TEST_CASE("tool field report: the page lists the schema's members")
{
    const Json whole = schemaOf("reports/schema.json");
    checkMembersListed("report", whole);
    checkMembersListed("report", whole.at("$defs").at("device"));
    checkMembersListed("report", whole.at("$defs").at("pipelines"));
}
