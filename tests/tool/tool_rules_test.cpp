// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests pack --rules and --explain: how each file is encoded, and why.
#include <doctest/doctest.h>

#include "tests/tool/tool_run.h"

namespace sluice::test {
namespace {

void writeTree(const Folder& tool)
{
    tool.write("a/p/one.tga", picture());
    tool.write("a/p/two.tga", picture());
    tool.write("a/s/one.wav", sound());
    tool.write("a/s/deep/two.wav", sound());
    tool.write("a/long", std::string(600000, 'q') + noise(300000));
}

// Returns the line of an asset in `sluice info --json`.
std::string lineOf(const std::string& json, const std::string& name)
{
    const size_t at = json.find("\"name\": \"" + name + "\"");
    REQUIRE(at != std::string::npos);
    return json.substr(at, json.find("\n  {", at) - at);
}

} // namespace

TEST_CASE("tool rules: the last one that matches has its way, option by option")
{
    const Tool tool;
    writeTree(tool);
    tool.write("r.toml", "# for everything\n"
                         "[[rule]]\n"
                         "files = \"**\"\n"
                         "filters = \"none\"\n"
                         "level = 2\n"
                         "\n"
                         "[[rule]]\n"
                         "files = \"a/s/\"\n"
                         "filters = \"difference,planes\"\n"
                         "\n"
                         "[[rule]]\n"
                         "files = \"a/s/*\"\n"
                         "codec = \"store\"\n"
                         "[[rule]]\n"
                         "files = [\"a/p/two.tga\", \"a/long\"]\n"
                         "codec = \"gdeflate\"\n"
                         "level = 5\n");
    REQUIRE(tool("pack --rules r.toml -o x.sluice a") == 0);
    CHECK(tool.onCpu("verify x.sluice --compare .") == 0);
    REQUIRE(tool("info --json x.sluice") == 0);
    const std::string json = tool.output();
    CHECK(numberAfter(lineOf(json, "a/p/one.tga"), "gstdTiles") != 0);
    CHECK(numberAfter(lineOf(json, "a/p/one.tga"), "filteredTiles") == 0);
    CHECK(numberAfter(lineOf(json, "a/p/two.tga"), "gstdTiles") == 0);
    CHECK(numberAfter(lineOf(json, "a/s/one.wav"), "storedTiles") != 0);
    CHECK(numberAfter(lineOf(json, "a/s/one.wav"), "gstdTiles") == 0);
    CHECK(numberAfter(lineOf(json, "a/s/deep/two.wav"), "gstdTiles") != 0);
    CHECK(numberAfter(lineOf(json, "a/s/deep/two.wav"), "filteredTiles") != 0);
    // A rule for all files does the same as options of the command line.
    fs::create_directory(tool.path / "b");
    fs::copy(tool.path / "a/p/one.tga", tool.path / "b/one.tga");
    REQUIRE(tool("pack --filters none -l 2 -o plain.sluice b") == 0);
    tool.write("r.toml",
               "\xef\xbb\xbf[[rule]]\r\nfiles = \"./b/\"\r\nfilters = \"none\"\r\nlevel = 2\r\n");
    REQUIRE(tool("pack --rules r.toml -o ruled.sluice b") == 0);
    CHECK(tool.read("plain.sluice") == tool.read("ruled.sluice"));
    tool.write("r.toml", "");
    REQUIRE(tool("pack --rules r.toml --filters none -l 2 -f -o ruled.sluice b") == 0);
    CHECK(tool.read("plain.sluice") == tool.read("ruled.sluice"));
}

TEST_CASE("tool rules: caches and shards know them")
{
    const Tool tool;
    writeTree(tool);
    tool.write("r.toml", "[[rule]]\nfiles = \"*.wav\"\nlevel = 1\n");
    tool.write("s.toml", "[[rule]]\nfiles = \"*.wav\"\ncodec = \"store\"\n");
    for (const std::string rules : {"--rules r.toml", "--rules s.toml", "", "--rules r.toml"}) {
        REQUIRE(tool("pack -f -l 3 -o plain.sluice " + rules + " a") == 0);
        REQUIRE(tool("pack -f -l 3 -o cached.sluice --cache c " + rules + " a") == 0);
        CHECK(tool.read("plain.sluice") == tool.read("cached.sluice"));
    }
    REQUIRE(tool("pack -l 3 -o 1 --shard 1/2 --rules r.toml a") == 0);
    REQUIRE(tool("pack -l 3 -o 2 --shard 2/2 --rules r.toml a") == 0);
    REQUIRE(tool("join -o joined.sluice 2 1") == 0);
    CHECK(tool.read("plain.sluice") == tool.read("joined.sluice"));
    REQUIRE(tool("pack -f -l 3 -o 2 --shard 2/2 --rules s.toml a") == 0);
    CHECK(tool("join -f -o joined.sluice 2 1") == 1);
    CHECK(contains(tool.errors(), "not of one archive"));
}

TEST_CASE("tool rules: each choice is explained")
{
    const Tool tool;
    writeTree(tool);
    tool.write("r.toml", "[[rule]]\nfiles = \"*.tga\"\nlevel = 2\n\n"
                         "[[rule]]\nfiles = [\"a/s/*\", \"a/p/*\"]\nfilters = \"up,planes\"\n");
    REQUIRE(tool("pack --rules r.toml --copy-depth 2 --explain a/p/one.tga a") == 0);
    const std::string said = tool.output();
    CHECK(contains(said, "codec          gstd       (default)"));
    CHECK(contains(said, "level          2          (r.toml:1, files = \"*.tga\")"));
    CHECK(contains(said, "filters        up,planes  (r.toml:5, files = \"a/p/*\")"));
    CHECK(contains(said, "copy-depth     2          (command line)"));
    CHECK(contains(said, "tile-size      160        (default)"));
    CHECK_FALSE(contains(said, "decode-speed"));
    CHECK(contains(said, "gstd, tiles of"));
    CHECK(contains(said, "filter: "));
    REQUIRE(tool("pack --explain a/long -c gdeflate a") == 0);
    CHECK(
        contains(tool.output(), "bytes 0 to 899999: gdeflate, tiles of 65536 bytes, filter: none"));
    CHECK(tool("pack --explain a/nowhere a") == 1);
    CHECK(contains(tool.errors(), "--dry-run"));
    CHECK_FALSE(tool.has("x.sluice"));
}

TEST_CASE("tool rules: what is wrong in them is said with its line")
{
    const Tool tool;
    const struct {
        const char *text, *message;
    } cases[] = {
        {"[[rule]]\nlevel = 3\n", "r.toml:1: a rule needs files"},
        {"# \xc3\xa4\nG\xef\xb3\xbf", "r.toml:2: only comments and strings"},
        {"a = [\"\"\"\\\n\xef\xb9\xbf\"\"\"]", "r.toml:2: only comments and strings"},
        {"a = '''\n\"\n''' \xc3\xa4", "r.toml:3: only comments and strings"},
        {"a = [0\"2:-\xef\xb3\xbf", "r.toml:1: "},
        {"a = \"\\\"\" \xc3\xa4", "r.toml:1: only comments and strings"},
        {"'\xc3\xa4' = 1", "r.toml:1: only comments and strings"},
        {"# \xc3\n", "r.toml:1: only comments and strings"},
        {"\"\xc3\xa4\\\"\xc3\xa4\" = 1", "'\xc3\xa4\"\xc3\xa4': there are only [[rule]]"},
        {"''=0_______[\"*\xd2\x86gk\",[ __O", "r.toml:1: "},
        {"[[rule]]\nfiles = []\n", "r.toml:1: a rule needs files"},
        {"[[rule]]\nfiles = \"*\"\nlevel = 13\n", "r.toml:3: level is a number from 1 to 12"},
        {"[[rule]]\nfiles = \"*\"\nlevel = \"3\"\n", "r.toml:3: level is a number"},
        {"[[rule]]\nfiles = \"*\"\nlevel = 3.0\n", "r.toml:3: level is a number"},
        {"[[rule]]\nfiles = [\"*\",\n3]\n", "files: a glob is a string"},
        {"[[rule]]\nfiles = \"*\"\ncodec = \"zip\"\n",
         "codec 'zip' is none of gstd, zstd, gdeflate"},
        {"[[rule]]\nfiles = \"*\"\ncodec = \"df11\"\n", "is none of gstd, zstd, gdeflate"},
        {"[[rule]]\nfiles = \"*\"\ncodec = \"store\"\nlevel = 3\n", "level is without effect"},
        {"[[rule]]\nfiles = \"*\"\nfilters = \"sharpen\"\n", "r.toml:3: --filters: 'sharpen'"},
        {"[[rule]]\nfiles = \"*\"\nimages = 1\n", "r.toml:3: images is true or false"},
        {"[[rule]]\nfiles = \"*\"\nspeed = 1\n", "r.toml:3: 'speed' is none of files, codec"},
        {"[[rule]]\nfiles = \"*\"\n[other]\n", "r.toml:3: 'other': there are only [[rule]]"},
        {"rule = 3\n", "there are only [[rule]]"},
        {"rule = [3]\n", "a rule is a [[rule]] table"},
        {"[[rule]]\nfiles = \"*\n", "r.toml:2: "},
        {"\xff\xfe", "r.toml:1: "},
    };
    for (const auto& one : cases) {
        tool.write("r.toml", one.text);
        CHECK_MESSAGE(tool("pack --rules r.toml -o x.sluice a") == 1, one.text);
        CHECK_MESSAGE(contains(tool.errors(), one.message), tool.errors());
    }
    CHECK(tool("pack --rules nowhere -o x.sluice a") == 2);
    tool.write("r.toml", std::string((1 << 20) + 1, '#'));
    CHECK(tool("pack --rules r.toml -o x.sluice a") == 1);
    CHECK_FALSE(tool.has("x.sluice"));
    std::string deep = "[[rule]]\nfiles = ";
    deep.append(100000, '[');
    tool.write("r.toml", deep);
    CHECK(tool("pack --rules r.toml -o x.sluice a") == 1);
}

} // namespace sluice::test
