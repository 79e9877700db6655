// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests pack --against: what an older archive has cut into tiles is cut in the same way again,
// wherever it is now.
#include <doctest/doctest.h>

#include "tests/tool/tool_run.h"

namespace sluice::test {
namespace {

// Returns words in an order that hardly repeats, so that no two places are alike.
std::string prose(size_t size, uint32_t seed)
{
    std::mt19937 random(seed);
    std::string text;
    while (text.size() < size) {
        for (uint32_t i = uint32_t(random() % 7 + 2); i != 0; --i)
            text += char('a' + random() % 26 % (1 + random() % 26));
        text += ' ';
    }
    text.resize(size);
    return text;
}

// Returns numbers of 32 bits that go up and down slowly, so that filters help.
std::string slowNumbers(size_t count, uint32_t seed)
{
    std::mt19937 random(seed);
    std::string text;
    uint32_t value = 1000000;
    for (size_t i = 0; i < count; ++i) {
        value += uint32_t(random() % 301) - 150;
        for (int byte = 0; byte < 4; ++byte)
            text += char(value >> 8 * byte);
    }
    return text;
}

uint64_t sizeOf(const Folder& tool, const std::string& name)
{
    return fs::file_size(tool.path / name);
}

} // namespace

TEST_CASE("tool against: an insertion at the start does not move the tiles behind it")
{
    const Tool tool;
    const std::string before = prose(8 << 20, 1);
    tool.write("f/level.dat", before);
    REQUIRE(tool("pack -l 1 --tile-size 256 -o old.sluice f") == 0);
    tool.write("f/level.dat", noise(100) + before);
    REQUIRE(tool("pack -l 1 --tile-size 256 -o plain.sluice f") == 0);
    REQUIRE(tool("pack -l 1 --tile-size 256 -v --against old.sluice -o kept.sluice f") == 0);
    CHECK(contains(tool.errors(), "32 of 32 tiles of the old archive kept"));
    CHECK(tool.onCpu("verify kept.sluice --compare .") == 0);
    REQUIRE(tool("diff old.sluice plain.sluice -o plain.patch") == 0);
    REQUIRE(tool("diff old.sluice kept.sluice -o kept.patch") == 0);
    CHECK(sizeOf(tool, "kept.patch") * 10 < sizeOf(tool, "plain.patch"));
    CHECK(sizeOf(tool, "kept.sluice") < sizeOf(tool, "plain.sluice") + 1000);
    REQUIRE(tool("patch old.sluice kept.patch -o made.sluice") == 0);
    CHECK(tool.read("made.sluice") == tool.read("kept.sluice"));
}

TEST_CASE("tool against: insertions, cuts and changes, with filters and without")
{
    const Tool tool;
    const std::string text = prose(1500000, 2), numbers = slowNumbers(400000, 3);
    tool.write("f/text.dat", text);
    tool.write("f/numbers.dat", numbers);
    tool.write("f/gone.dat", noise(70000));
    tool.write("f/zeros.dat", std::string(3 << 20, '\0'));
    tool.write("f/same.dat", numbers.substr(100000) + "odd");
    for (int i = 0; i < 30; ++i)
        tool.write("f/small" + std::to_string(i) + ".txt", "small file " + std::to_string(i));
    for (const std::string options : {"-l 2", "-l 1 --filters none", "-c gdeflate -l 1"}) {
        CAPTURE(options);
        REQUIRE(tool("pack -f " + options + " -o old.sluice f") == 0);
        // Nothing has changed, so the archive does not change, either, even if it is packed against
        // another.
        REQUIRE(tool("pack -f " + options + " --against old.sluice -o same.sluice f") == 0);
        CHECK(tool.read("same.sluice") == tool.read("old.sluice"));
        const std::string gone = tool.read("f/gone.dat");
        tool.write("f/text.dat", text.substr(0, 600000) + noise(5000) +
                                     text.substr(600000, 300000) + text.substr(1000000));
        tool.write("f/numbers.dat", numbers.substr(0, 40) + numbers.substr(80));
        tool.write("f/gone.dat", noise(70001));
        tool.write("f/zeros.dat", std::string(4, 'x') + std::string(3 << 20, '\0') + "end");
        REQUIRE(tool("pack -f " + options + " -o plain.sluice f") == 0);
        const std::string with = options + " --against old.sluice ";
        REQUIRE(tool("pack -f -j 1 " + with + "-o new.sluice f") == 0);
        CHECK(tool.onCpu("verify new.sluice --compare .") == 0);
        CHECK(sizeOf(tool, "new.sluice") < sizeOf(tool, "plain.sluice") * 51 / 50);
        REQUIRE(tool("diff -f old.sluice plain.sluice -o plain.patch") == 0);
        REQUIRE(tool("diff -f old.sluice new.sluice -o new.patch") == 0);
        CHECK(sizeOf(tool, "new.patch") * 2 < sizeOf(tool, "plain.patch"));
        // Several threads, a cache and shards make the same archive.
        const std::string expected = tool.read("new.sluice");
        REQUIRE(tool("pack -f -j 5 --cache cache " + with + "-o again.sluice f") == 0);
        CHECK(tool.read("again.sluice") == expected);
        REQUIRE(tool("pack -f -v --cache cache " + with + "-o again.sluice f") == 0);
        CHECK(tool.read("again.sluice") == expected);
        CHECK(contains(tool.errors(), "35 of 35 files found"));
        REQUIRE(tool("pack -f --cache cache " + options + " -o again.sluice f") == 0);
        CHECK(tool.read("again.sluice") == tool.read("plain.sluice"));
        for (const char* shard : {"1", "2", "3"})
            REQUIRE(tool("pack -f " + with + "--shard " + shard + "/3 -o " + shard + " f") == 0);
        REQUIRE(tool("join -f -o joined.sluice 2 1 3") == 0);
        CHECK(tool.read("joined.sluice") == expected);
        REQUIRE(tool("pack -f " + options + " --shard 2/3 -o 2 f") == 0);
        // Shard 2 was not packed against the old archive.
        CHECK(tool("join -f -o joined.sluice 2 1 3") == 1);
        tool.write("f/text.dat", text);
        tool.write("f/numbers.dat", numbers);
        tool.write("f/gone.dat", gone);
        tool.write("f/zeros.dat", std::string(3 << 20, '\0'));
    }
}

TEST_CASE("tool against: what is no archive, and what is damaged, is told")
{
    const Tool tool;
    tool.write("f/x.dat", prose(400000, 4));
    REQUIRE(tool("pack -l 1 --tile-size 256 -o old.sluice f") == 0);
    REQUIRE(tool("pack -l 1 --tile-size 256 --against old.sluice --explain f/x.dat f") == 0);
    CHECK(contains(tool.output(), "2 of 2 tiles of the old archive kept"));
    CHECK(tool("pack -l 1 --against f/x.dat -o x.sluice f") == 3);
    CHECK(tool("pack -l 1 --against nowhere -o x.sluice f") == 2);
    CHECK(tool("pack --raw -c gdeflate --against old.sluice -o x.sluice f/x.dat") == 1);
    tool.damage("old.sluice");
    CHECK(tool("pack -l 1 --against old.sluice -o x.sluice f") == 3);
    CHECK(contains(tool.errors(), "old.sluice: asset 'f/x.dat', tile "));
    CHECK_FALSE(tool.has("x.sluice"));
}

} // namespace sluice::test
