// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests devices --json and selftest --json, which are for reports of problems: what they contain,
// and that their lines are short enough for a mail.
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include <sluice/sluice.h>

#include "tests/tool/tool_run.h"

using namespace sluice::test;

namespace {

using Json = nlohmann::json;

// Parses what the tool printed and checks that its lines have fewer than 100 columns.
Json parsed(const std::string& text)
{
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        CHECK_MESSAGE(line.size() < 100, line);
    const Json json = Json::parse(text, nullptr, false);
    REQUIRE_FALSE(json.is_discarded());
    return json;
}

void checkMachine(const Json& json)
{
    CHECK(json.at("schemaVersion") == 1);
    CHECK(json.at("sluice") == std::to_string(SLUICE_VERSION_MAJOR) + "." +
                                   std::to_string(SLUICE_VERSION_MINOR) + "." +
                                   std::to_string(SLUICE_VERSION_PATCH));
    CHECK((contains(json.at("os"), "Linux") || contains(json.at("os"), "Wine")));
    CHECK(json.at("compiler") != "unknown");
    CHECK(json.at("cores") > 0);
    CHECK(json.at("cuda") == (toolHasCuda() ? "built in" : "not built in"));
}

void checkDevice(const Json& device)
{
    const std::string selector = device.at("device");
    CAPTURE(selector);
    CHECK(device.at("name") != "");
    CHECK(device.at("software").is_boolean());
    CHECK(device.at("memory").is_number_unsigned());
    CHECK(device.at("vendorId").is_number_unsigned());
    CHECK((device.at("api") == "") == (selector == "cpu"));
    // Each feature is there or is listed with what its lack costs.
    if (selector.rfind("vulkan", 0) == 0) {
        CHECK(device.at("features").size() + device.at("absent").size() == 8);
        for (const Json& one : device.at("absent"))
            CHECK(one.at("costs").get<std::string>().size() > 10);
    }
    const Json &tiers = device.at("tiers"), &missing = device.at("missing");
    const auto has = [&](const char* tier) {
        return std::find(tiers.begin(), tiers.end(), tier) != tiers.end();
    };
    // Each tier is there or is listed with a reason.
    if (selector.rfind("vulkan", 0) == 0 && !tiers.empty())
        CHECK(missing.size() == (has("ext") ? 0u : 1u) + (has("base") ? 0u : 1u));
    if (tiers.empty()) CHECK(missing.size() == 1);
    for (const Json& one : missing) {
        CHECK_FALSE(has(one.at("tier").get<std::string>().c_str()));
        CHECK(one.at("why").get<std::string>().size() > 10);
        CHECK(one.at("costs").get<std::string>().size() > 10);
    }
}

} // namespace

TEST_CASE("tool report: devices --json says what a report of a problem needs")
{
    Tool tool;
    tool.environment = "export ASAN_OPTIONS=detect_leaks=0;"; // drivers have leaks
    REQUIRE(tool("devices --json") == 0);
    const Json json = parsed(tool.output());
    checkMachine(json);
    CHECK(json.at("vulkan") != "");
    REQUIRE(json.at("devices").size() >= 1);
    for (const Json& device : json.at("devices"))
        checkDevice(device);
    CHECK(json.at("devices").back().at("device") == "cpu");
    CHECK(json.at("devices").back().at("tiers") == Json({"fast", "ref"}));
    REQUIRE(tool("devices --json --device cpu") == 0);
    const Json cpu = parsed(tool.output());
    CHECK(cpu.count("vulkan") == 0); // no driver was loaded
    REQUIRE(cpu.at("devices").size() == 1);
    CHECK(cpu.at("devices")[0] == json.at("devices").back());
    CHECK(tool("devices --device nothing") == 1);
    REQUIRE(tool("devices -v") == 0);
    CHECK(contains(tool.output(), json.at("os").get<std::string>()));

    // Without a driver, the loader's answer and the CPU are still there.
    tool.environment += "export VK_DRIVER_FILES=/nothing VK_ICD_FILENAMES=/nothing;";
    REQUIRE(tool("devices --json") == 0);
    const Json bare = parsed(tool.output());
    CHECK(bare.at("vulkan") != "");
    for (const Json& device : bare.at("devices"))
        CHECK(device.at("device").get<std::string>().rfind("vulkan", 0) != 0);
}

TEST_CASE("tool report: a tier that is missing is named with what it costs")
{
    const char* const manifest = "/usr/lib/chromium/vk_swiftshader_icd.json";
    if (kEmulated || !kLoadsDrivers || !std::ifstream(manifest)) {
        skipCase("a device without 8-bit storage; there is no SwiftShader");
        return;
    }
    Tool tool;
    tool.environment = std::string("export ASAN_OPTIONS=detect_leaks=0 VK_DRIVER_FILES=") +
                       manifest + " VK_ICD_FILENAMES=" + manifest + ";";
    REQUIRE(tool("devices --json") == 0);
    const Json device = parsed(tool.output()).at("devices").at(0);
    CHECK(device.at("device") == "vulkan:0");
    CHECK(contains(device.at("api"), "Vulkan 1."));
    REQUIRE(device.at("missing").size() == 1);
    CHECK(device.at("missing")[0].at("tier") == "ext");
    CHECK(contains(device.at("missing")[0].at("why"), "storageBuffer8BitAccess"));
    CHECK(contains(device.at("missing")[0].at("costs"), "atomics"));
    const Json& features = device.at("features");
    CHECK(std::find(features.begin(), features.end(), "storageBuffer8BitAccess") == features.end());
    CHECK(std::find(features.begin(), features.end(), "bufferDeviceAddress") != features.end());
    CHECK(device.at("absent")[0].at("feature") == "storageBuffer8BitAccess");
    REQUIRE(tool("devices") == 0);
    CHECK(contains(tool.output(), "not ext: storageBuffer8BitAccess"));
}

TEST_CASE("tool report: selftest --json has each tier's results")
{
    Tool tool;
    REQUIRE(tool.onCpu("selftest --json") == 0);
    const Json json = parsed(tool.output());
    checkMachine(json);
    CHECK(json.count("vulkan") == 0); // the CPU loads no driver
    CHECK(json.at("passed") == true);
    REQUIRE(json.at("results").size() == 2);
    for (const Json& result : json.at("results")) {
        checkDevice(result);
        CHECK(result.at("passed") == true);
        CHECK(result.count("notRun") == 0);
        CHECK(result.count("differences") == 0);
        CHECK(result.at("kernels").size() == 15);
        for (const Json& kernel : result.at("kernels"))
            CHECK(kernel == true);
    }
    CHECK(json.at("results")[0].at("tier") == "fast");
    CHECK(json.at("results")[1].at("tier") == "ref");
    REQUIRE(tool.onCpu("selftest --tier ref --json") == 0);
    const Json one = parsed(tool.output());
    REQUIRE(one.at("results").size() == 1);
    CHECK(one.at("results")[0] == json.at("results")[1]);
    CHECK(tool.onCpu("selftest --tier ext") == 5);
    CHECK(contains(tool.errors(), "--tier ext: cpu runs fast ref"));
    CHECK(tool.onCpu("selftest --tier nothing") == 1);
}
