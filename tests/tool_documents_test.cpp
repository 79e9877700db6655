// SPDX-License-Identifier: MIT OR Apache-2.0
// Commands and files that docs/packing.md and docs/tool.md show, run and read as they stand there.
#include "tool_run.h"

#include <sstream>

using namespace sluice::test;

namespace {

// What stands between the fences of code that a page has.
std::vector<std::string> codeOf(const std::string& page)
{
    std::istringstream text(readFile(fs::path(SLUICE_TEST_DATA_DIR) / "../.." / page));
    std::vector<std::string> blocks;
    bool inside = false;
    for (std::string line; std::getline(text, line);) {
        if (line.rfind("```", 0) == 0) {
            inside = !inside;
            if (inside) blocks.emplace_back();
        } else if (inside) {
            blocks.back() += line + "\n";
        }
    }
    return blocks;
}

// Runs the lines of a block that are commands of the tool. `from` becomes `to`: a place that only
// the system's administrator may write to.
uint32_t runBlock(const Folder& tool, const std::string& block, const std::string& from,
                  const std::string& to)
{
    std::istringstream lines(block);
    uint32_t ran = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("sluice ", 0) != 0) continue;
        const size_t place = line.find(from);
        if (place != std::string::npos) line.replace(place, from.size(), to);
        line = line.substr(0, line.find('#'));
        CAPTURE(line);
        CHECK(tool(line.substr(7)) == 0);
        CHECK(tool.errors() == "");
        ++ran;
    }
    return ran;
}

} // namespace

TEST_CASE("tool documents: the commands of the page about packing")
{
    const Folder tool;
    std::mt19937 random = makeRandom(411);
    tool.write("assets/a/one.bin", normalBytes("BF16", 70000, random));
    tool.write("assets/two.txt", std::string(100000, 'x'));
    REQUIRE(tool("pack -o game-1.0.sluice assets") == 0);
    tool.write("assets/two.txt", std::string(100, 'y') + std::string(100000, 'x'));
    uint32_t ran = 0;
    std::string packed;
    for (const std::string& block : codeOf("docs/packing.md")) {
        if (contains(block, "sbatch") || contains(block, "SBATCH")) continue; // ./tools/dev slurm
        if (isWindowsTool() && contains(block, "--emit-ninja")) continue;     // for a POSIX shell
        ran += runBlock(tool, block, "/var/cache/sluice", "cache");
        if (!tool.has("game.sluice")) continue;
        if (packed.empty()) packed = tool.read("game.sluice");
        CHECK((tool.read("game.sluice") == packed)); // by shards too
        fs::remove(tool.path / "game.sluice");
    }
    CHECK(ran == (isWindowsTool() ? 6 : 7));
    REQUIRE(tool("patch game-1.0.sluice 1.1.patch -o again.sluice") == 0);
    CHECK((tool.read("again.sluice") == tool.read("game-1.1.sluice")));
    if (!isWindowsTool()) CHECK(contains(tool.read("pack.ninja"), "--shard"));
}

TEST_CASE("tool documents: the rules of the manual")
{
    const Folder tool;
    uint32_t found = 0;
    for (const std::string& block : codeOf("docs/tool.md")) {
        if (block.rfind("[[rule]]", 0) != 0) continue;
        ++found;
        tool.write("rules.toml", block);
    }
    REQUIRE(found == 1);
    tool.write("video/film", std::string(100000, 'x'));
    tool.write("text", std::string(100000, 'y'));
    const int code = tool("pack --rules rules.toml -o x.sluice video text");
    if (code == 5) return skipCase("built without toml++");
    REQUIRE(code == 0);
    REQUIRE(tool("pack --rules rules.toml --explain video/film video text") == 0);
    CHECK(contains(tool.output(), "store"));
    CHECK(fs::file_size(tool.path / "x.sluice") > 100000);
    CHECK(fs::file_size(tool.path / "x.sluice") < 110000);
}
