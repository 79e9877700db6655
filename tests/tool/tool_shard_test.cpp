// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests pack --shard and join: any shards in any order give the archive that a single process
// makes. Also tests the build file that packs in shards.
#include <doctest/doctest.h>

#include <cstdlib>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tool/tool_run.h"
#include "test_paths.h"

namespace sluice::test {
namespace {

// Writes files of several kinds and sizes. Some have the same description of a filter, and some of
// these are packed without it.
void writeTree(const Folder& tool)
{
    tool.write("a/long", std::string(600000, 'q') + noise(300000));
    for (int i = 0; i < 6; ++i) {
        tool.write("a/p/" + std::to_string(i) + ".tga", picture());
        tool.write("a/p/" + std::to_string(i) + ".wav", i % 2 == 0 ? sound() : noise(5000));
    }
    for (int i = 0; i < 40; ++i)
        tool.write("a/many/" + std::to_string(i),
                   std::string(size_t(i * i * 3), char('a' + i % 26)));
    tool.write("a/run.sh", "#!/bin/sh\n");
    fs::permissions(tool.path / "a/run.sh", fs::perms::owner_all);
}

std::string shardName(uint32_t number) { return std::to_string(number) + ".shard"; }

// Packs all shards and returns their names in another order.
std::string packShards(const Folder& tool, uint32_t count, const std::string& options)
{
    std::string names;
    for (uint32_t i = 1; i <= count; ++i) {
        REQUIRE(tool("pack -f --shard " + std::to_string(i) + "/" + std::to_string(count) + " -o " +
                     shardName(i) + " -j " + std::to_string(1 + i % 3) + " " + options + " a") ==
                0);
        names = i % 3 == 0 ? shardName(i) + " " + names : names + " " + shardName(i);
    }
    return names;
}

} // namespace

TEST_CASE("tool shards: joined they are the archive of one process")
{
    const Tool tool;
    writeTree(tool);
    for (const char* options : {"-l 3", "-l 9 --filters auto", "-c gdeflate -l 2", "-c store"}) {
        REQUIRE(tool("pack -f -o whole.sluice " + std::string(options) + " a") == 0);
        for (const uint32_t count : {1u, 2u, 8u, 64u}) {
            const std::string shards = packShards(tool, count, options);
            REQUIRE(tool("join -f -o joined.sluice" + (" " + shards)) == 0);
            CHECK_MESSAGE(tool.read("joined.sluice") == tool.read("whole.sluice"), options, ", ",
                          count);
        }
    }
    CHECK(tool.onCpu("verify joined.sluice --compare .") == 0);
    CHECK_FALSE(tool.hasTemporaries());
}

TEST_CASE("tool shards: with a cache and after a kill")
{
    const Tool tool;
    writeTree(tool);
    REQUIRE(tool("pack -o whole.sluice -l 9 a") == 0);
    REQUIRE(tool("pack -o whole.shard -l 9 --shard 1/2 a") == 0);
    const char* const other = std::getenv("SLUICE_TOOL");
    const std::string line = "cd " + tool.path.string() + " && exec " +
                             (other != nullptr ? other : SLUICE_TOOL_PATH) +
                             " pack -q -l 9 --cache cache --shard 1/2 -o 1.shard a";
    for (int i = 1; i <= 3; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
            _exit(127);
        }
        usleep(useconds_t(i * 15000));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        // Whenever it is killed, the shard is there as a whole or not at all.
        const bool wasKilled = WIFSIGNALED(status);
        CHECK((wasKilled || tool.has("1.shard")));
        if (tool.has("1.shard")) CHECK(tool.read("1.shard") == tool.read("whole.shard"));
        fs::remove(tool.path / "1.shard");
    }
    const std::string shards = packShards(tool, 2, "-l 9 --cache cache");
    REQUIRE(tool("join -o joined.sluice " + shards) == 0);
    CHECK(tool.read("joined.sluice") == tool.read("whole.sluice"));
}

TEST_CASE("tool shards: missing, double and foreign ones are named")
{
    const Tool tool;
    writeTree(tool);
    packShards(tool, 4, "-c store");
    CHECK(tool("join -o x.sluice 1.shard 4.shard") == 1);
    CHECK(contains(tool.errors(), "shards 2, 3 of 4 are missing"));
    CHECK(tool("join -o x.sluice 3.shard 1.shard 4.shard") == 1);
    CHECK(contains(tool.errors(), "shard 2 of 4 is missing"));
    fs::copy(tool.path / "2.shard", tool.path / "again");
    CHECK(tool("join -o x.sluice 2.shard 1.shard again 3.shard 4.shard") == 1);
    CHECK(contains(tool.errors(), "2.shard and again: both are shard 2 of 4"));
    REQUIRE(tool("pack -o other -c gdeflate --shard 2/4 a") == 0);
    CHECK(tool("join -o x.sluice 1.shard other 3.shard 4.shard") == 1);
    CHECK(contains(tool.errors(), "are not of one archive"));
    REQUIRE(tool("pack -f -o other -c store --shard 2/3 a") == 0);
    CHECK(tool("join -o x.sluice 1.shard other 3.shard 4.shard") == 1);
    tool.write("a/many/3", "another size");
    REQUIRE(tool("pack -f -o other -c store --shard 2/4 a") == 0);
    CHECK(tool("join -o x.sluice 1.shard other 3.shard 4.shard") == 1);
    REQUIRE(tool("pack -o whole.sluice -c store a") == 0);
    CHECK(tool("join -o x.sluice 1.shard 2.shard whole.sluice 4.shard") == 3);
    CHECK(contains(tool.errors(), "whole.sluice: is no shard"));
    CHECK(tool("join -o x.sluice 1.shard 2.shard nowhere 4.shard") == 2);
    CHECK(tool.onCpu("unpack 1.shard") == 3);
    CHECK(contains(tool.errors(), "sluice join"));
    CHECK_FALSE(tool.has("x.sluice"));
    for (const char* shard : {"0/4", "5/4", "4", "/", "1/", "/4", "1/0", "1/65536", "a/b", "-1/4",
                              "1/4/4", "999999/999999"})
        CHECK_MESSAGE(tool("pack -f -o x -c store --shard " + std::string(shard) + " a") == 1,
                      shard);
    tool.write("exists", "");
    CHECK(tool("join -o exists 1.shard 2.shard 3.shard 4.shard") == 2);
    CHECK(tool("join -f -o exists 1.shard 2.shard 3.shard 4.shard") == 0);
}

TEST_CASE("tool shards: changed bytes are refused")
{
    const Tool tool;
    tool.write("a/noise", noise(3000));
    REQUIRE(tool("pack -f -o whole.sluice -l 2 a") == 0);
    packShards(tool, 2, "-l 2");
    const std::string good = tool.read("1.shard");
    std::mt19937 random(5);
    for (int i = 0; i < 60; ++i) {
        std::string bad = good;
        const size_t at = i < 40 ? random() % bad.size() : size_t(i - 40) * bad.size() / 20;
        bad[at] ^= char(1 << random() % 8);
        if (i % 10 == 9) bad.resize(at);
        if (i % 10 == 8) bad = good + "x";
        tool.write("1.shard", bad);
        const int code = tool("join -f -o x.sluice 1.shard 2.shard");
        CHECK_MESSAGE((code == 3 || code == 5), at);
        CHECK_FALSE(tool.has("x.sluice"));
    }
    tool.write("1.shard", good);
    REQUIRE(tool("join -o x.sluice 1.shard 2.shard") == 0);
    CHECK(tool.read("x.sluice") == tool.read("whole.sluice"));
}

TEST_CASE("tool shards: a build file for Ninja")
{
    const Tool tool;
    writeTree(tool);
    tool.write("a/it's $5: a name", "odd");
    CHECK(tool("pack --emit-ninja x.ninja -o - a") == 1);
    CHECK(tool("pack --emit-ninja x.ninja --shard 1/2 -o x.sluice a") == 1);
    CHECK(tool("pack --shards 3 -o x.sluice a") == 1);
    if (isWindowsTool("commands of build files are for a POSIX shell, so Windows refuses them")) {
        CHECK(tool("pack --emit-ninja x.ninja --shards 3 -o joined.sluice a") == 5);
        CHECK_FALSE(tool.has("x.ninja"));
        return;
    }
    REQUIRE(tool("pack -l 2 --filters none --exclude '*.wav' --no-mips --images -o whole.sluice "
                 "a") == 0);
    REQUIRE(tool("pack --emit-ninja x.ninja --shards 3 --cache ca$che -l 2 --filters none --images "
                 "--exclude '*.wav' --no-mips -o joined.sluice a") == 0);
    const std::string text = tool.read("x.ninja");
    CHECK(contains(text, "'--exclude' '*.wav'"));
    CHECK(contains(text, "'--no-mips'"));
    CHECK(contains(text, "it's$ $$5$:$ a$ name"));
    CHECK_FALSE(tool.has("joined.sluice"));
    if (kEmulated) {
        skipCase("Ninja with a tool that only an emulator can start");
        return;
    }
    const auto ninja = [&](const char* more) {
        const std::string line =
            "cd '" + tool.path.string() + "' && ninja -f x.ninja " + more + " >ninja.out 2>&1";
        return std::system(line.c_str());
    };
    CHECK_MESSAGE(ninja("-j 3") == 0, tool.read("ninja.out"));
    CHECK(tool.read("joined.sluice") == tool.read("whole.sluice"));
    CHECK(ninja("") == 0);
    CHECK(contains(tool.read("ninja.out"), "no work to do"));
    usleep(10000);
    tool.write("a/long", "shorter");
    CHECK_MESSAGE(ninja("-j 1") == 0, tool.read("ninja.out"));
    REQUIRE(tool("pack -f -l 2 --filters none --exclude '*.wav' --no-mips --images -o whole.sluice "
                 "a") == 0);
    CHECK(tool.read("joined.sluice") == tool.read("whole.sluice"));
}

} // namespace sluice::test
