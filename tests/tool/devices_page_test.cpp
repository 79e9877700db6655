// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks that docs/devices.md is the page that is made from the reports in docs/reports, and that
// these follow their schema.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "tests/support/devices.h"
#include "tests/tool/json_schema.h"
#include "test_paths.h"

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

const fs::path kDocs = fs::path(SLUICE_TEST_DATA_DIR) / "../../docs";

std::string readText(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file, path.string());
    return std::string(std::istreambuf_iterator<char>(file), {});
}

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

// Returns what tools/dev.d/devices_page.py prints for a folder. The test fails if the script does.
std::string pageOf(const fs::path& folder)
{
    const fs::path script = kDocs / "../tools/dev.d/devices_page.py";
    FILE* const pipe =
        popen(("python3 '" + script.string() + "' '" + folder.string() + "' 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;)
        text += char(c);
    return pclose(pipe) == 0 ? text : "failed: " + text;
}

bool hasPython()
{
    if (std::system("command -v python3 >/dev/null") == 0) return true;
    sluice::test::skipCase("there is no python3");
    return false;
}

class Reports {
public:
    Reports()
    {
        std::string pattern = (fs::temp_directory_path() / "sluice-page-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        path = pattern;
    }
    ~Reports() { fs::remove_all(path); }
    void write(const char* name, const std::string& text) const
    {
        std::ofstream(path / name, std::ios::binary) << text;
    }

    fs::path path;
};

Json device(const char* name)
{
    return {{"device", "vulkan:0"},
            {"result", "failed"},
            {"name", name},
            {"driver", "a driver 1.2"},
            {"api", "Vulkan 1.3.0"},
            {"vendorId", 1},
            {"deviceId", 2},
            {"software", false},
            {"memory", 3},
            {"tiers", {"base", "emu32", "emu4", "emu8"}},
            {"features", {"bufferDeviceAddress"}},
            {"absent", {{{"feature", "shaderInt64"}, {"costs", "time"}}}},
            {"missing", {{{"tier", "ext"}, {"why", "no bytes"}, {"costs", "atomics"}}}},
            {"selftest",
             {{{"tier", "base"}, {"passed", false}, {"kernels", {{"scan", true}, {"gstd", false}}}},
              {{"tier", "emu4"}, {"passed", true}, {"kernels", {{"scan", true}}}},
              {{"tier", "emu8"}, {"passed", true}, {"kernels", {{"scan", true}}}}}}};
}

Json report(const Json& one)
{
    return {{"schemaVersion", 1},
            {"sluice", "1.0.0"},
            {"compiler", "GCC"},
            {"os", "Linux"},
            {"processor", "one"},
            {"cores", 4},
            {"cuda", "not built in"},
            {"seconds", 90},
            {"taken", 80.5},
            {"result", "failed"},
            {"failures",
             {{{"device", "vulkan:0"},
               {"step", "bench scan"},
               {"command", "sluice bench"},
               {"error", "ended by signal 11"}}}},
            {"leftOut",
             {{{"device", "vulkan:0"},
               {"step", "selftest emu32"},
               {"command", "sluice selftest"},
               {"why", "no time was left"}}}},
            {"devices", {one}}};
}

} // namespace

TEST_CASE("documents: the page of devices is that of the reports")
{
    if (!hasPython()) return;
    CHECK(pageOf(kDocs / "reports") == readText(kDocs / "devices.md"));
    uint32_t count = 0;
    for (const auto& entry : fs::directory_iterator(kDocs / "reports")) {
        if (entry.path().filename() == "schema.json") continue;
        CAPTURE(entry.path().filename().string());
        const std::string text = readText(entry.path());
        CHECK(text.size() < 100000); // the folder is for reports, which are small
        sluice::test::checkedJson("reports/schema.json", text);
        ++count;
    }
    CHECK(count >= 3);
}

TEST_CASE("devices page: failures, tiers that were not run, and texts of strangers")
{
    if (!hasPython()) return;
    const Reports folder;
    folder.write("x.json", report(device("<b>a|b</b>\n[c](d)")).dump());
    folder.write("schema.json", "{}");
    folder.write("notes.txt", "no report");
    const std::string page = pageOf(folder.path);
    CHECK(contains(page,
                   "| x, vulkan:0 | &lt;b>a\\|b&lt;/b> \\[c\\](d) | a driver 1.2, Vulkan 1.3.0 "
                   "| – | **FAILED**: gstd | not run | emu4 passed; emu8 passed | – | – |"));
    CHECK(contains(page, "| tier ext | no bytes; atomics |"));
    CHECK(contains(page, "| shaderInt64 | time |"));
    CHECK(contains(page, "**failed**: ended by signal 11"));
    CHECK(contains(page, "left out: no time was left"));
    // Another device changes the page.
    folder.write("x.json", report(device("another")).dump());
    CHECK(pageOf(folder.path) != page);
}

TEST_CASE("devices page: what is no report is refused by name")
{
    if (!hasPython()) return;
    for (const std::string& text :
         {std::string("{"), std::string("[]"), std::string("{}"),
          std::string("{\"schemaVersion\": 2}"), std::string(100000, '[')}) {
        const Reports folder;
        folder.write("y.json", text);
        const std::string said = pageOf(folder.path);
        CHECK(said.rfind("failed: ", 0) == 0);
        CHECK(contains(said, "y.json: is no report"));
    }
    const Reports folder;
    folder.write("z.json", "{\"schemaVersion\": 1}");
    CHECK(pageOf(folder.path).rfind("failed: ", 0) == 0);
    CHECK(contains(pageOf(folder.path), "does not keep to the schema"));
    Json markup = report(device("a device"));
    markup["cores"] = "<script>"; // where a number belongs
    folder.write("z.json", markup.dump());
    CHECK(contains(pageOf(folder.path), "does not keep to the schema"));
}
