// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluice tune: it ends, and the row that it prints is one that its device takes.
#include "tests/support/short_runs.h"
#include "tests/tool/json_schema.h"
#include "test_paths.h"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

using namespace sluice::test;

namespace {

// Runs "sluice ARGUMENTS". `printed` receives what it prints, errors included. Returns the exit
// code.
int runTool(const std::string& arguments, std::string& printed)
{
    const char* other = std::getenv("SLUICE_TOOL");
    const std::string tool = other != nullptr ? other : SLUICE_TOOL_PATH;
    FILE* const pipe = popen(("'" + tool + "' " + arguments + " 2>&1 </dev/null").c_str(), "r");
    REQUIRE(pipe != nullptr);
    printed.clear();
    char part[4096];
    for (size_t size; (size = std::fread(part, 1, sizeof part, pipe)) != 0;)
        printed.append(part, size);
    const int result = pclose(pipe);
    REQUIRE(WIFEXITED(result));
    return WEXITSTATUS(result);
}

} // namespace

TEST_CASE("tune: mistakes and the CPU")
{
    std::string printed;
    CHECK(runTool("tune --device cpu", printed) == 5);
    CHECK(printed == "sluice: cpu: there is nothing to tune; a row is for a GPU\n");
    CHECK(runTool("tune --device cpu --seconds x", printed) == 1);
    CHECK(runTool("--tuning scan.workgroups=4 devices", printed) == 1);
    CHECK(runTool("--tuning @/nonexistent selftest --device cpu", printed) == 2);
}

TEST_CASE("tune: the page lists the members of its JSON's schema")
{
    const nlohmann::json schema = schemaOf("schemas/tune.json");
    checkMembersListed("tune", schema);
    checkMembersListed("tune", schema.at("$defs").at("member"));
    checkMembersListed("tune", schema.at("$defs").at("measurement"));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("tune: prints a row that the device takes")
{
    if (device().backend() == SLUICE_BACKEND_VULKAN && std::string(device().info().tier) != "ext")
        return skipCase("it is run on the best tier alone, for it makes pipelines again and again");
    if (skipsOtherSizes()) return;
    const std::string tier = device().info().tier;
    if (device().backend() == SLUICE_BACKEND_CPU || tier.rfind("emu", 0) == 0) return;
    const std::string where = " --device " + device().selector() + " --tier " + tier;
    std::string printed;
    CHECK(runTool("tune --only nothing" + where, printed) == 1);
    CHECK(runTool("selftest --tuning nothing=1 --device " + device().selector(), printed) == 1);
    // With --candidates it prints what it would measure and the row in use. It changes nothing.
    REQUIRE(runTool("tune -q --candidates --json -" + where, printed) == 0);
    CHECK(printed.find("{\"name\": \"lookback.scannerTiles\", ") != std::string::npos);
    CHECK(printed.find("\"candidates\": [") != std::string::npos);
    CHECK(printed.find("\"milliseconds\"") == std::string::npos);
    checkedJson("schemas/tune.json", printed);
    REQUIRE(runTool("tune -q --seconds 1 --only fseTables --json -" + where, printed) == 0);
    CHECK(printed.find("\"milliseconds\"") != std::string::npos);
    checkedJson("schemas/tune.json", printed);
    REQUIRE(runTool("tune --candidates --only lookback" + where, printed) == 0);
    CHECK(printed.find("\nlookback.scannerTiles=") != std::string::npos);
    CHECK(printed.find("workgroup.scan=") == std::string::npos);
    // These members are a number, a threshold for tiles, a threshold for the lengths of runs, and
    // members of gstd that cannot be tuned.
    REQUIRE(runTool("tune --seconds 1 --only fseTables gstd interval.shortRunBytes" + where,
                    printed) == 0);
    CAPTURE(printed);
    std::istringstream lines(printed);
    std::string row;
    uint32_t members = 0;
    for (std::string line; std::getline(lines, line);) {
        const size_t comment = line.find('#');
        REQUIRE(comment != std::string::npos);
        row += line.substr(0, comment) + "\n";
        if (line[0] != '#') ++members;
    }
    CHECK(members == (device().backend() == SLUICE_BACKEND_VULKAN ? 4 : 5));
    Device tuned(device().selector(), tier, 0, SLUICE_KERNELS_GSTD, row.c_str());
    CAPTURE(tuned.openError());
    CHECK(tuned.isOpen());
}

TEST_SUITE_END();
