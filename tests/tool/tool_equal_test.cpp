// SPDX-License-Identifier: MIT OR Apache-2.0
// Equal files and equal tiles, which are stored once, through all verbs.
#include <doctest/doctest.h>

#include "tests/tool/tool_run.h"

namespace sluice::test {
namespace {

constexpr size_t kTile = 163840;

// Large files, of which two are equal, one begins like them, and one is equal under another suffix.
void writeTree(const Folder& tool, bool hasCopies)
{
    const std::string large = noise(2 * kTile + 1000);
    tool.write("t/a.bin", large);
    tool.write("t/other.bin", noise(100000).substr(1) + std::string(50000, 'x'));
    tool.write("t/sound.wav", sound());
    for (int i = 0; i < 20; ++i)
        tool.write("t/small/" + std::to_string(i) + ".json", std::to_string(i * 37) + " of many");
    if (!hasCopies) return;
    tool.write("t/copy/a.bin", large);
    tool.write("t/copy/b.dat", large);
    tool.write("t/copy/sound.wav", sound());
    tool.write("t/begins.bin", large.substr(0, kTile) + noise(1000).substr(3));
}

} // namespace

TEST_CASE("tool equal files: copies cost no more than their names and records")
{
    const Tool tool;
    writeTree(tool, false);
    REQUIRE(tool("-v pack -l 2 -o single.sluice t") == 0);
    CHECK_FALSE(contains(tool.errors(), "stored once"));
    REQUIRE(tool("info --json single.sluice") == 0);
    CHECK(contains(tool.output(), "\"version\": [3, 0]"));
    writeTree(tool, true);
    REQUIRE(tool("-v pack -l 2 -o e.sluice t") == 0);
    CHECK(contains(tool.errors(), "stored once"));
    const uint64_t single = fs::file_size(tool.path / "single.sluice"),
                   equal = fs::file_size(tool.path / "e.sluice");
    CHECK(equal - 1000 < single + single / 100); // 1,000 bytes of begins.bin are its own
    REQUIRE(tool("pack -l 2 --no-share -o n.sluice t") == 0);
    CHECK(fs::file_size(tool.path / "n.sluice") > 5 * single / 2);
    REQUIRE(tool("info --json n.sluice") == 0);
    CHECK(contains(tool.output(), "\"version\": [1, 0]"));

    CHECK(tool.onCpu("verify e.sluice --compare .") == 0);
    CHECK(contains(tool.output(), "all 27 files identical"));
    REQUIRE(tool.onCpu("unpack e.sluice -C out") == 0);
    for (const char* name : {"t/a.bin", "t/copy/a.bin", "t/copy/b.dat", "t/copy/sound.wav",
                             "t/begins.bin", "t/other.bin", "t/small/7.json"})
        CHECK(tool.read("out/" + std::string(name)) == tool.read(name));
    REQUIRE(tool.onCpu("unpack e.sluice t/copy/b.dat -o one") == 0);
    CHECK(tool.read("one") == tool.read("t/a.bin"));

    REQUIRE(tool("info --json e.sluice") == 0);
    CHECK(contains(tool.output(), "\"version\": [4, 0]"));
    CHECK(tool("info -v e.sluice") == 0);
    CHECK(tool("info --html page.html e.sluice") == 0);
}

TEST_CASE("tool equal files: threads, a cache, shards and an order give the same archive")
{
    const Tool tool;
    writeTree(tool, true);
    REQUIRE(tool("pack -l 2 -j 1 -o e.sluice t") == 0);
    const std::string expected = tool.read("e.sluice");
    REQUIRE(tool("pack -f -l 2 -j 5 -o e.sluice t") == 0);
    CHECK(tool.read("e.sluice") == expected);
    for (int run = 0; run < 2; ++run) {
        REQUIRE(tool("pack -f -l 2 --cache cache -o e.sluice t") == 0);
        CHECK(tool.read("e.sluice") == expected);
    }
    // Copies lie in other shards than what they are equal to.
    std::string shards;
    for (int i = 1; i <= 4; ++i) {
        const std::string name = std::to_string(i) + ".shard";
        REQUIRE(tool("pack -l 2 --shard " + std::to_string(i) + "/4 -o " + name + " t") == 0);
        shards += " " + name;
    }
    REQUIRE(tool("join -o joined.sluice" + shards) == 0);
    CHECK(tool.read("joined.sluice") == expected);
    REQUIRE(tool("pack -l 2 --no-share --shard 1/4 -f -o 1.shard t") == 0);
    CHECK(tool("join -f -o joined.sluice" + shards) == 1); // the others share

    tool.write("order", "t/copy/b.dat\nt/other.bin\n");
    REQUIRE(tool("pack -l 2 --order order -o o.sluice t") == 0);
    CHECK(tool.onCpu("verify o.sluice --compare .") == 0);
    CHECK(fs::file_size(tool.path / "o.sluice") < expected.size() + 200);
}

TEST_CASE("tool equal files: patches between archives with and without them")
{
    const Tool tool;
    writeTree(tool, false);
    REQUIRE(tool("pack -l 2 -o single.sluice t") == 0);
    writeTree(tool, true);
    REQUIRE(tool("pack -l 2 -o e.sluice t") == 0);
    tool.write("t/other.bin", noise(90000).substr(2)); // what follows moves
    REQUIRE(tool("pack -l 2 -o later.sluice t") == 0);
    const auto check = [&](const std::string& from, const std::string& to, uint64_t most) {
        REQUIRE(tool("diff -f " + from + " " + to + " -o p.patch") == 0);
        CHECK(fs::file_size(tool.path / "p.patch") <= most);
        REQUIRE(tool("patch -f " + from + " p.patch -o made.sluice") == 0);
        CHECK(tool.read("made.sluice") == tool.read(to));
    };
    check("single.sluice", "e.sluice", 3000);
    check("e.sluice", "single.sluice", 2000);
    check("e.sluice", "later.sluice", 93000);
    CHECK(tool.onCpu("verify later.sluice --compare .") == 0);
    // An archive that is packed against an older one.
    REQUIRE(tool("pack -l 2 --against e.sluice -o against.sluice t") == 0);
    CHECK(tool.onCpu("verify against.sluice --compare .") == 0);
}

TEST_CASE("tool equal files: a damaged tile is told of every file that has it")
{
    const Tool tool;
    const std::string bytes = noise(100000);
    for (const char* name : {"t/1.bin", "t/2.bin", "t/3.bin"})
        tool.write(name, bytes);
    tool.write("t/4.bin", std::string(100000, 'y'));
    REQUIRE(tool("pack -c store -o e.sluice t") == 0);
    std::string damaged = tool.read("e.sluice");
    damaged[damaged.find(bytes.substr(0, 100)) + 500] ^= 1;
    tool.write("e.sluice", damaged);
    CHECK(tool.onCpu("verify --keep-going e.sluice") == 3);
    for (const char* name : {"t/1.bin", "t/2.bin", "t/3.bin"})
        CHECK(contains(tool.errors(), name));
    CHECK_FALSE(contains(tool.errors(), "t/4.bin"));
}

} // namespace sluice::test
