// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures what inputs below 10 MB cost that are made to be expensive: the rows of the table in
// SECURITY.md, for one verb after the other. tool_hostile_test.cpp has the tiles and parts that are
// expensive.
#include "tests/tool/tool_cost.h"

using namespace sluice::test;

namespace {

void makeSparse(const Folder& tool, const std::string& name, uint64_t size)
{
    tool.write(name, "");
    fs::resize_file(tool.path / name, size);
}

// Returns a Targa picture that consists of packets of 128 equal texels.
std::string packedPicture(uint32_t extent)
{
    std::string file("\0\0\x0a\0\0\0\0\0\0\0\0\0", 12);
    for (int i = 0; i < 2; ++i) {
        file += char(extent & 255);
        file += char(extent >> 8);
    }
    file += "\x20\x08";
    const std::string colours = noise(4096);
    for (uint32_t packet = 0; packet < extent / 128 * extent; ++packet)
        file += '\xff' + colours.substr(packet % 1000 * 4, 4);
    return file;
}

} // namespace

TEST_CASE("tool cost: what decodes to nearly as much as it may")
{
    const Folder tool;
    makeSparse(tool, "zeros", uint64_t(511) << 20);
    for (const char* codec : {"gstd", "gdeflate"}) {
        REQUIRE(tool(std::string("pack -q -f -l 1 -o x.sluice zeros -c ") + codec) == 0);
        REQUIRE(fs::file_size(tool.path / "x.sluice") < 10'000'000);
        checkCost(tool, "verify -q -j 1 --device cpu x.sluice");
        checkCost(tool, "unpack -q -j 1 --device cpu x.sluice zeros -o /dev/null");
        checkCost(tool, "info -v x.sluice");
    }
    REQUIRE(tool("pack -q -f --raw -l 1 -o x.gdeflate zeros") == 0);
    checkCost(tool, "unpack -q -j 1 --device cpu x.gdeflate -o /dev/null");
    // A frame of 4,088 RLE blocks. Its header has a size of 8 bytes and a window of 128 KiB.
    std::string frame("\x28\xb5\x2f\xfd\xc0\x38", 6);
    for (const uint64_t size = 4088ull << 17; frame.size() < 14;)
        frame += char(size >> 8 * (frame.size() - 6));
    for (int block = 0; block < 4088; ++block) {
        frame += block == 4087 ? '\x03' : '\x02';
        frame += std::string("\x00\x10\x61", 3);
    }
    tool.write("large.zst", frame);
    checkCost(tool, "transcode -q -j 1 -o t.sluice large.zst");
}

TEST_CASE("tool cost: archives whose tiles are old and new in turn")
{
    const Folder tool;
    std::string bytes = noise(9 << 20);
    tool.write("in/x", bytes);
    REQUIRE(tool("pack -q -c gdeflate -l 1 -o old.sluice in") == 0);
    for (size_t tile = 0; tile < bytes.size(); tile += 2 << 16)
        for (size_t i = tile; i < tile + (1 << 16); ++i)
            bytes[i] = char(bytes[i] * 5 + 1);
    tool.write("in/x", bytes);
    REQUIRE(tool("pack -q -c gdeflate -l 1 -o new.sluice in") == 0);
    checkCost(tool, "diff -q old.sluice new.sluice -o p");
    checkCost(tool, "patch -q old.sluice p -o again.sluice");
    CHECK(tool.read("again.sluice") == tool.read("new.sluice"));
    checkCost(tool, "pack -q -j 1 -c gdeflate -l 1 --against old.sluice -o x.sluice in");
    REQUIRE(tool("pack -q -c gdeflate -l 1 --shard 1/1 -o shard in") == 0);
    checkCost(tool, "join -q -o joined.sluice shard");
}

TEST_CASE("tool cost: pictures that are as large as they may be")
{
    const Folder tool;
    tool.write("in/large.tga", packedPicture(5632));
    REQUIRE(fs::file_size(tool.path / "in/large.tga") < 2'000'000);
    checkCost(tool, "pack -q -j 1 --images -o x.sluice in");
    REQUIRE(tool("info x.sluice") == 0);
    CHECK(contains(tool.output(), "5632 x 5632"));
    tool.write("in/large.tga", packedPicture(6144));
    CHECK(tool("pack -f --images -o x.sluice in") == 0);
    CHECK(contains(tool.errors(), "decodes to 150994944 bytes, and the limit is 134217728"));
}

TEST_CASE("tool cost: many files, rules and names")
{
    const Folder tool;
    std::string order, rules;
    for (int i = 0; i < 10000; ++i) {
        tool.write("in/" + std::to_string(i), std::to_string(i));
        order += "in/" + std::to_string(9999 - i) + "\n";
    }
    while (rules.size() < 65000)
        rules += "[[rule]]\nfiles = \"*" + std::to_string(rules.size() % 7) + "*\"\nlevel = 3\n";
    tool.write("order", order);
    tool.write("rules.toml", rules);
    checkCost(tool, "pack -q -j 1 --order order --rules rules.toml --cache c -o x.sluice in");
    for (const char* arguments :
         {"info x.sluice", "info --json x.sluice", "info --html h x.sluice",
          "unpack -q --device cpu x.sluice -C o", "cache info c", "cache trim c --cache-size 0"})
        checkCost(tool, arguments);
    tool.write("rules.toml", rules + rules);
    CHECK(tool("pack -f -q --rules rules.toml -o x.sluice in") == 1);
    CHECK(contains(tool.errors(), "rules.toml: is larger than 65.5 kB"));
}

TEST_CASE("tool cost: weights of many tensors")
{
    const Folder tool;
    std::mt19937 random(5);
    Model model;
    for (int i = 0; i < 40000; ++i)
        model.add("layers." + std::to_string(i) + ".weight", "BF16", {4, 4},
                  randomBytes(32, 256, random));
    tool.write("m.safetensors", model);
    REQUIRE(fs::file_size(tool.path / "m.safetensors") < 10'000'000);
    for (const char* arguments :
         {"info m.safetensors", "pack -q -j 1 -c float -o x.sluice m.safetensors",
          "verify -q --device cpu m.safetensors",
          "unpack -q --device cpu m.safetensors -o n.safetensors",
          "unpack -q --device cpu m.safetensors --like n.safetensors -o o"})
        checkCost(tool, arguments);
    CHECK(costOf(tool, "pack -q --raw -c df11 -o p.safetensors m.safetensors").seconds < 20);
}
