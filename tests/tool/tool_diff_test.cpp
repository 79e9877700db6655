// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests what diff lists, that unpack and verify take several archives, and that a damaged tile is
// one message.
#include <algorithm>

#include "tests/tool/tool_run.h"

using namespace sluice::test;

namespace {

std::string listed(const Folder& tool, const std::string& arguments)
{
    CHECK(tool("diff " + arguments) == 0);
    return tool.output();
}

size_t linesIn(const std::string& text)
{
    return size_t(std::count(text.begin(), text.end(), '\n'));
}

} // namespace

TEST_CASE("tool diff: lists what was added, removed, changed and renamed")
{
    const Tool tool;
    for (int i = 0; i < 40; ++i) // these share tiles
        tool.write("a/small/" + std::to_string(i) + ".txt", "small " + std::to_string(i * i));
    tool.write("a/gone.bin", noise(30000));
    REQUIRE(tool("pack -q -o old.sluice a") == 0);
    CHECK(listed(tool, "old.sluice old.sluice") == "0 added, 0 removed, 0 changed, 0 renamed, 44 "
                                                   "the same\n");
    fs::rename(tool.path / "a/sub/two.bin", tool.path / "a/zwei.bin");
    fs::rename(tool.path / "a/small/7.txt", tool.path / "a/small/seven.txt");
    tool.write("a/small/9.txt", "SMALL 81"); // of the same size
    tool.write("a/one.txt", "short");
    tool.write("a/new.txt", "brand new");
    fs::remove(tool.path / "a/gone.bin");
    const std::string wanted = "added    a/new.txt (9 B)\n"
                               "removed  a/gone.bin (30.0 kB)\n"
                               "changed  a/one.txt (5 B, was 100 kB)\n"
                               "changed  a/small/9.txt (8 B, was 8 B)\n"
                               "renamed  a/small/7.txt -> a/small/seven.txt (8 B)\n"
                               "renamed  a/sub/two.bin -> a/zwei.bin (70.0 kB)\n"
                               "1 added, 1 removed, 2 changed, 2 renamed, 39 the same\n";
    // How the files are packed does not matter.
    for (const char* options :
         {"", "-l 3", "-c gdeflate", "--no-share --tile-size 64", "-c store"}) {
        CAPTURE(options);
        REQUIRE(tool(std::string("pack -q -f -o new.sluice a ") + options) == 0);
        CHECK(listed(tool, "old.sluice new.sluice") == wanted);
    }
    CHECK(listed(tool, "old.sluice new.sluice -o p.patch") == wanted);
    REQUIRE(tool("patch old.sluice p.patch -o again.sluice") == 0);
    CHECK(tool.read("again.sluice") == tool.read("new.sluice"));
    CHECK(listed(tool, "-q -f old.sluice new.sluice -o p.patch") == "");
    REQUIRE(tool("diff -v old.sluice new.sluice -o - >got.patch") == 0);
    CHECK(tool.read("got.patch") == tool.read("p.patch"));
    CHECK(contains(tool.errors(), wanted));
    const std::string json = listed(tool, "--json old.sluice new.sluice");
    for (const char* part :
         {"{\"schemaVersion\": 1, \"old\": \"old.sluice\", \"new\": \"new.sluice\",",
          "\"added\": [\n  {\"name\": \"a/new.txt\", \"size\": 9}]",
          "\"removed\": [\n  {\"name\": \"a/gone.bin\", \"oldSize\": 30000}]",
          "{\"name\": \"a/one.txt\", \"size\": 5, \"oldSize\": 100003}",
          "{\"name\": \"a/zwei.bin\", \"oldName\": \"a/sub/two.bin\", \"size\": 70000}",
          "\"same\": 39\n}\n"})
        CHECK_MESSAGE(contains(json, part), part);
    CHECK(tool("diff old.sluice a/new.txt") == 3);
}

TEST_CASE("tool diff: a mode counts as a change, and damage is no reason to fail")
{
    if (isWindowsTool("files of Windows have no mode")) return;
    const Tool tool;
    REQUIRE(tool("pack -q -c store -o old.sluice a") == 0);
    fs::permissions(tool.path / "a/one.txt", fs::perms(0755));
    REQUIRE(tool("pack -q -c gdeflate -o new.sluice a") == 0);
    CHECK(
        contains(listed(tool, "old.sluice new.sluice"), "changed  a/one.txt (100 kB, was 100 kB)"));
    REQUIRE(tool("pack -q -c store -f --tile-size 64 -o new.sluice a") == 1); // store has no sizes
    REQUIRE(tool("pack -q -c gstd -f -o old.sluice a") == 0);
    tool.damage("old.sluice");
    CHECK(contains(listed(tool, "old.sluice new.sluice"), "changed  a/sub/two.bin"));
    CHECK(contains(tool.errors(), "1 files of one size with other tiles were not compared"));
}

TEST_CASE("tool diff: unpack and verify take several archives")
{
    const Tool tool;
    tool.write("b/three.txt", "three");
    tool.write("a2/a/one.txt", "another");
    REQUIRE(tool("pack -q -o a.sluice a") == 0);
    REQUIRE(tool("pack -q -o b.sluice b") == 0);
    REQUIRE(tool("pack -q -o c.sluice a2/a") == 0);
    REQUIRE(tool("pack -q --raw -o raw.gdeflate a/one.txt") == 0);
    REQUIRE(tool.onCpu("unpack a.sluice b.sluice raw.gdeflate -C o") == 0);
    tool.checkSame("o");
    CHECK(tool.read("o/b/three.txt") == "three");
    CHECK(tool.read("o/raw") == tool.read("a/one.txt"));
    CHECK(tool("unpack --list b.sluice a.sluice") == 0);
    CHECK(tool.output() == "b/three.txt\na/empty\na/one.txt\na/sub/two.bin\n");
    // Names and globs are looked for in all of them.
    REQUIRE(tool.onCpu("unpack a.sluice b.sluice three.txt -C p") == 1);
    CHECK(contains(tool.errors(), "a.sluice, b.sluice: holds no 'three.txt'"));
    REQUIRE(tool.onCpu("unpack a.sluice a/sub b.sluice b/three.txt -C p") == 0);
    CHECK(tool.read("p/a/sub/two.bin") == tool.read("a/sub/two.bin"));
    CHECK(tool.read("p/b/three.txt") == "three");
    CHECK_FALSE(tool.has("p/a/one.txt"));
    REQUIRE(tool.onCpu("unpack a.sluice b.sluice --only '*.txt' -o f") == 1); // there are two
    REQUIRE(tool.onCpu("unpack a.sluice b.sluice b -o f") == 0);
    CHECK(tool.read("f") == "three");
    // Nothing is written if a file would be written twice, unless the later one may replace it.
    CHECK(tool.onCpu("unpack a.sluice c.sluice -C q") == 2);
    CHECK(contains(tool.errors(), "q/a/one.txt: is in a.sluice and in c.sluice; with -f"));
    CHECK_FALSE(tool.has("q"));
    REQUIRE(tool.onCpu("unpack -f a.sluice c.sluice -C q") == 0);
    CHECK(tool.read("q/a/one.txt") == "another");
    fs::create_directories(tool.path / "r/b");
    fs::copy_file(tool.path / "b.sluice", tool.path / "r/b/three.txt");
    CHECK(tool.onCpu("unpack -f a.sluice b.sluice r/b/three.txt -C r") == 2);
    CHECK(contains(tool.errors(), "would be lost"));
    REQUIRE(tool.onCpu("verify a.sluice b.sluice raw.gdeflate") == 0);
    CHECK(linesIn(tool.output()) == 3);
    CHECK(contains(tool.output(), "b.sluice: ok, 1 assets"));
    CHECK(tool.onCpu("verify --compare . a.sluice b.sluice") == 0);
    CHECK(contains(tool.output(), "all 4 files identical"));
    // A word that is both a name in the first archive and a packed file is neither.
    tool.write("s/b.sluice", "a file of this name");
    REQUIRE(tool("pack -q -o s.sluice s/b.sluice") == 0);
    for (const char* word : {"b.sluice", "./b.sluice"}) {
        CHECK(tool(std::string("unpack --list s.sluice ") + word) == 1);
        CHECK(contains(tool.errors(), "is an asset of s.sluice and a packed file as well"));
    }
    CHECK(tool("unpack --list s.sluice --only b.sluice") == 0);
    CHECK(tool.output() == "b.sluice\n");
    // A name that is a file in one archive and a folder in another is found before writing.
    tool.write("n1/n", "file");
    tool.write("n2/n/g", "below");
    REQUIRE(tool("pack -q -o n1.sluice -C n1 n") == 0);
    REQUIRE(tool("pack -q -o n2.sluice -C n2 n") == 0);
    for (const char* line :
         {"unpack n1.sluice n2.sluice -C u", "unpack -f n2.sluice n1.sluice -C u"}) {
        CHECK(tool.onCpu(line) == 2);
        CHECK(contains(tool.errors(), "u/n: is a file in n1.sluice and a folder in n2.sluice"));
        CHECK_FALSE(tool.has("u"));
    }
    // If one is damaged, the others are still unpacked with --keep-going.
    tool.damage("a.sluice");
    CHECK(tool.onCpu("unpack a.sluice b.sluice --keep-going -C t") == 3);
    CHECK(tool.read("t/b/three.txt") == "three");
    CHECK(contains(tool.errors(), "1 of 4 assets are not right: 'a/sub/two.bin'"));
}

TEST_CASE("tool diff: one damaged tile is one message, whoever needs it")
{
    const Tool tool;
    for (int i = 0; i < 50; ++i)
        tool.write("s/" + std::to_string(i) + ".txt", noise(3000).substr(size_t(i) * 40, 1000));
    REQUIRE(tool("pack -q -o shared.sluice s") == 0);
    tool.damage("shared.sluice");
    CHECK(tool.onCpu("verify --keep-going shared.sluice") == 3);
    CHECK(linesIn(tool.errors()) == 2);
    CHECK(contains(tool.errors(), "asset 's/0.txt' and 49 others, tile 0, bytes "));
    CHECK(contains(tool.errors(), "50 of 50 assets are not right: 's/0.txt', 's/1.txt', "));
    CHECK(contains(tool.errors(), "...; -v names all"));
    CHECK(tool.onCpu("unpack -v --keep-going shared.sluice -C o") == 3);
    CHECK(contains(tool.errors(), "'s/9.txt'\n"));
    // A tile that is stored once for two files.
    tool.write("e/first.bin", noise(60000));
    tool.write("e/second.bin", noise(60000));
    REQUIRE(tool("pack -q -c store -o equal.sluice e") == 0);
    tool.damage("equal.sluice");
    CHECK(tool.onCpu("verify --keep-going equal.sluice") == 3);
    CHECK(linesIn(tool.errors()) == 2);
    CHECK(contains(tool.errors(), "2 of 2 assets are not right: 'e/first.bin', 'e/second.bin'"));
}
