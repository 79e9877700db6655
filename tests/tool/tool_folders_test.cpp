// SPDX-License-Identifier: MIT OR Apache-2.0
// Folders and files that others change: caches, pipes and shards among what is packed, files that
// grow or that the system makes up, and outputs that meet each other.
#include <cstdlib>

#include <sys/stat.h>

#include "device/pipeline_cache.h"
#include "tests/tool/tool_run.h"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("tool folders: a folder of pipeline caches keeps what others put there")
{
    if (isWindowsTool("the cache folder of POSIX")) return;
    const Folder folder;
    const fs::path cache = folder.path / "sluice";
    fs::create_directory(cache);
    const char* const before = std::getenv("XDG_CACHE_HOME");
    const std::string restored = before != nullptr ? before : "";
    setenv("XDG_CACHE_HOME", folder.path.c_str(), 1);
    VkPhysicalDeviceProperties device = {};
    const PipelineCacheFile file(device, "");
    before != nullptr ? setenv("XDG_CACHE_HOME", restored.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
    REQUIRE(file.path().parent_path() == cache);
    const std::string uuid(2 * VK_UUID_SIZE, 'a'), other = "pipelines-1-2-" + uuid + ".bin";
    for (const char* name : {"pipelines-notes.txt", "pipelines-1-2.bin", "mine.bin"})
        folder.write(std::string("sluice/") + name, "mine");
    folder.write("sluice/" + other, "ours"); // the oldest, larger than all may be together
    fs::resize_file(cache / other, PipelineCacheFile::kMaxBytes);
    folder.write("far.bin", "mine");
    fs::create_symlink("../far.bin", cache / ("pipelines-3-4-" + uuid + ".bin"));
    REQUIRE(file.write(std::vector<uint8_t>(100, 1)));
    CHECK_FALSE(folder.has("sluice/" + other));
    CHECK(std::distance(fs::directory_iterator(cache), fs::directory_iterator()) == 5);
    CHECK(folder.read("far.bin") == "mine");
    // A pipe of that name blocks nobody, and stays.
    fs::remove(file.path());
    REQUIRE(mkfifo(file.path().c_str(), 0600) == 0);
    CHECK(file.read().empty());
    CHECK_FALSE(file.write(std::vector<uint8_t>(100, 1)));
    CHECK(fs::is_fifo(file.path()));
}

TEST_CASE("tool folders: what the system makes up, and what changes, is packed whole or not at all")
{
    if (isWindowsTool("files of Linux")) return;
    const Tool tool;
    // Files of /proc have no size, and bytes.
    REQUIRE(tool("pack -q -o x.sluice /proc/version") == 0);
    REQUIRE(tool.onCpu("unpack -q x.sluice version -o v") == 0);
    CHECK(tool.read("v") == readFile("/proc/version"));
    REQUIRE(tool("pack -q --raw -o v.gdeflate /proc/version") == 0);
    REQUIRE(tool.onCpu("unpack -q v.gdeflate -f -o v") == 0);
    CHECK(tool.read("v") == readFile("/proc/version"));
    // Somebody writes to a file for as long as it is packed.
    tool.write("a/large", noise(2 << 20));
    for (const char* arguments :
         {"pack -q -l 6 -o y.sluice a", "pack -q -l 6 -o y.sluice a/large",
          "pack -q --cache c -o y.sluice a", "pack -q --raw -o y a/large"}) {
        CAPTURE(arguments);
        CHECK(tool(after("(while :; do printf x >>a/large; done) & p=$!; \"$SLUICE\" " +
                         std::string(arguments) + "; r=$?; kill $p; exit $r")) == 2);
        CHECK(contains(tool.errors(), "a/large: was changed while it was read"));
        CHECK(!tool.has("y.sluice"));
        CHECK(!tool.has("y"));
    }
    CHECK(tool("pack -q -l 1 -o y.sluice a") == 0);
}

TEST_CASE("tool folders: pipes that others put into a folder block no verb")
{
    if (isWindowsTool("pipes of POSIX")) return;
    const Tool tool;
    REQUIRE(tool("pack -q -o x.sluice a") == 0);
    fs::remove(tool.path / "a/one.txt");
    REQUIRE(mkfifo((tool.path / "a/one.txt").c_str(), 0600) == 0);
    CHECK(tool.onCpu("verify x.sluice --compare .") == 2);
    CHECK(contains(tool.errors(), "a/one.txt: is no regular file"));
    CHECK(tool.onCpu("verify x.sluice --keep-going --compare .") != 0);
    CHECK(tool("transcode -o t.sluice a/one.txt") == 2);
    CHECK(contains(tool.errors(), "a/one.txt: is no regular file"));
    REQUIRE(tool("pack -q -f -o y.sluice a") == 0);
    REQUIRE(tool("unpack --list y.sluice") == 0);
    CHECK(tool.output() == "a/empty\na/sub/two.bin\n");
}

TEST_CASE("tool folders: neither a cache nor other shards are packed")
{
    if (isWindowsTool("the commands are those of a POSIX shell")) return;
    const Tool tool;
    for (int run = 0; run < 2; ++run) {
        REQUIRE(tool("pack -f --cache a/c -o x.sluice a") == 0);
        CHECK(contains(tool.errors(), run == 0 ? "" : "left out: the cache"));
        REQUIRE(tool("unpack --list x.sluice") == 0);
        CHECK(tool.output() == "a/empty\na/one.txt\na/sub/two.bin\n");
    }
    fs::remove_all(tool.path / "a/c");
    fs::create_directory_symlink("a", tool.path / "link");
    for (const char* arguments :
         {"--shard 1/2 -o a/x1", "--shard 1/2 -o a/sub/x1", "--shard 2/2 -o link/x2",
          "--emit-ninja n -o a/x.sluice", "--emit-ninja a/n -o y.sluice"}) {
        CAPTURE(arguments);
        CHECK(tool("pack -q " + std::string(arguments) + " a") == 1);
        CHECK(contains(tool.errors(), "each shard would pack the others"));
    }
    CHECK(tool("pack -q --shard 1/2 -o a/sub/x1 --exclude sub a") == 0);
}

TEST_CASE("tool folders: two outputs are two files, and a build file replaces no input")
{
    if (isWindowsTool("links of POSIX")) return;
    const Tool tool;
    fs::create_symlink("target", tool.path / "link");
    tool.write("w/m.safetensors", "");
    for (const char* arguments :
         {"pack --emit-ninja z -o z a", "pack -f --emit-ninja link -o target a",
          "pack --emit-ninja a/../z -o ./z a", "bench --json z --html z",
          "bench -f --json link --html ./target"}) {
        CAPTURE(arguments);
        CHECK(tool(arguments) == 1);
        CHECK(contains(tool.errors(), "is the file of two outputs"));
    }
    CHECK(tool("pack -f --emit-ninja n -o a/one.txt a/one.txt") == 2);
    CHECK(contains(tool.errors(), "a/one.txt: is an input too"));
    CHECK(!tool.has("z"));
    CHECK(!tool.has("n"));
    CHECK(!tool.has("target"));
    std::mt19937 random(3);
    Model model;
    model.add("weight", "BF16", {64, 64}, random);
    tool.write("m/config.json", model);
    tool.write("m.safetensors", model);
    CHECK(tool("pack -f --raw -c df11 -o m/config.json m.safetensors") == 1);
    CHECK(contains(tool.errors(), "m/config.json: is the file of two outputs"));
    CHECK(tool("pack -f --raw -c df11 -o m/out.safetensors m/config.json") == 2);
    CHECK(contains(tool.errors(), "m/config.json: is an input too"));
    CHECK(tool.read("m/config.json") == model.bytes());
}
