// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluice pack --images: KTX2 and DDS files are packed and unpacked.
#include <cstring>
#include <map>

#include "formats/little_endian.h"
#include "tests/support/images.h"
#include "tests/tool/tool_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

struct NamedImage {
    const char* name;
    TestImage image;
    Bytes file;
};

// The images are so large that levels have tiles of their own.
std::vector<NamedImage> someImages()
{
    const TestImage colours(43, 200, 200, 0, 0, 1, 8), blocks(145, 400, 300, 0, 0, 1, 9),
        cubes(133, 200, 200, 0, 2, 6, 8), volume(97, 30, 30, 30, 0, 1, 5),
        grey(9, 301, 257, 0, 3, 1, 4), uastc(0, 260, 260, 0, 0, 1, 9);
    return {{"plain.ktx2", colours, makeKtx2(colours)},
            {"zstd.ktx2", colours, makeKtx2(colours, 2, packZstd)},
            {"zlib.ktx2", blocks, makeKtx2(blocks, 3, packZlib)},
            {"cubes.ktx2", cubes, makeKtx2(cubes, 2, packZstd)},
            {"volume.ktx2", volume, makeKtx2(volume)},
            {"uastc.ktx2", uastc, makeKtx2(uastc, 2, packZstd)},
            {"grey.ktx2", grey, makeKtx2(grey, 2, packZstd)},
            {"blocks.dds", blocks, makeDds10(blocks, 98)},
            {"cubes.dds", cubes, makeDds10(cubes, 71)},
            {"grey.dds", grey, makeDds10(grey, 61)}};
}

} // namespace

TEST_CASE("tool: images are packed without their schemes and come back")
{
    Folder tool("in");
    std::map<std::string, NamedImage> images;
    for (const NamedImage& one : someImages()) {
        tool.write("in/" + std::string(one.name), text(one.file));
        images.emplace(one.name, one);
    }
    for (const char* options : {"", "--filters none", "--filters planes,up -l 3", "-c gdeflate",
                                "-c store", "-c huff", "-c float", "--tile-size 64 -l 2"}) {
        CAPTURE(options);
        fs::remove_all(tool.path / "out");
        REQUIRE(tool("pack -f --images --uastc keep -o a.sluice in " + std::string(options)) == 0);
        CHECK(tool.errors().empty());
        REQUIRE(tool.onCpu("unpack a.sluice -C out") == 0);
        REQUIRE(tool("info --json a.sluice") == 0);
        const std::string json = tool.output();
        for (const auto& entry : images) {
            const std::string& name = entry.first;
            const NamedImage& one = entry.second;
            CAPTURE(name);
            const std::string back = tool.read("out/in/" + name);
            checkSlices(Bytes(back.begin(), back.end()), one.image);
            // The file is as if it had never been supercompressed.
            const bool dds = name.find(".dds") != std::string::npos;
            CHECK(back == text(dds ? one.file : makeKtx2(one.image)));
            const size_t at = json.find("\"in/" + name + "\"");
            REQUIRE(at != std::string::npos);
            const std::string line = json.substr(at, json.find('\n', at) - at);
            CHECK(contains(line, "\"type\": 1"));
            CHECK(contains(line, "\"vkFormat\": " + std::to_string(one.image.format)));
            CHECK(contains(line, "\"width\": " + std::to_string(one.image.width)));
            CHECK(contains(line, dds ? "\"kind\": \"DDS\"" : "\"kind\": \"KTX2\""));
            const ParsedImage parsed = parseImage(Bytes(back.begin(), back.end()));
            CHECK(contains(line,
                           "\"levels\": [{\"offset\": " + std::to_string(parsed.levels[0].offset) +
                               ", \"size\": " + std::to_string(parsed.levels[0].size) + "}"));
        }
    }
    REQUIRE(tool("info a.sluice") == 0);
    CHECK(contains(tool.output(), "image: KTX2, R8G8B8A8_SRGB, 200 x 200, 8 levels\n"));
    CHECK(
        contains(tool.output(), "image: DDS, BC1_RGBA_UNORM_BLOCK, 200 x 200, cube, 2 layers, 8 "));
    CHECK(contains(tool.output(), "image: KTX2, R16G16B16A16_SFLOAT, 30 x 30 x 30, 5 levels\n"));
}

TEST_CASE("tool: tiles of an image begin at its large levels")
{
    Folder tool("in");
    // Its levels have 1 MiB, 256 KiB, 64 KiB, and in all 21.9 KB for the rest.
    const TestImage image(145, 1024, 1024, 0, 0, 1, 11);
    tool.write("in/a.ktx2", text(makeKtx2(image, 2, packZstd)));
    tool.write("in/b.dds", text(makeDds10(image, 98)));
    REQUIRE(tool("pack --images --tile-size 256 -o a.sluice in") == 0);
    REQUIRE(tool("info --json a.sluice") == 0);
    const std::string json = tool.output();
    // The small levels are one tile. In DDS the header is another tile.
    CHECK(contains(json.substr(json.find("in/a.ktx2")), "\"tiles\": 7,"));
    CHECK(contains(json.substr(json.find("in/b.dds")), "\"tiles\": 8,"));
}

TEST_CASE("tool: what is packed as no image, and the hint")
{
    Folder tool("in");
    const TestImage image(37, 64, 64, 0, 0, 1, 7);
    const Bytes good = makeKtx2(image, 2, packZstd);
    Bytes damaged = good, basis = good, levels = good;
    storeLe32(&damaged[20], 63);
    storeLe32(&basis[44], 1);
    for (size_t i = levels.size() - 40; i < levels.size(); ++i)
        levels[i] ^= 0x5a;
    const std::pair<const char*, std::string> files[] = {{"damaged.ktx2", text(damaged)},
                                                         {"basis.KTX2", text(basis)},
                                                         {"levels.ktx2", text(levels)},
                                                         {"empty.dds", ""},
                                                         {"text.dds", "This is no image."}};
    for (const auto& [name, bytes] : files)
        tool.write("in/" + std::string(name), bytes);
    REQUIRE(tool("pack --images -o a.sluice in") == 0);
    for (const auto& file : files)
        CHECK(contains(tool.errors(), "in/" + std::string(file.first) + ": packed as no image: "));
    CHECK(tool.onCpu("verify --compare . a.sluice") == 0); // the files come back as they were
    REQUIRE(tool("info --json a.sluice") == 0);
    CHECK(!contains(tool.output(), "\"type\": 1"));

    // The scheme is not undone if the result would be larger than allowed.
    tool.write("three/a.ktx2", text(good));
    REQUIRE(tool("pack --images --max-output 1K -o f.sluice three") == 0);
    CHECK(contains(tool.errors(), "a.ktx2: packed as no image: decodes to "));
    REQUIRE(tool("pack -f --images -o f.sluice three") == 0);
    CHECK(tool.errors().empty());

    // Without the option only the hint is different.
    tool.write("one/a.ktx2", text(good));
    REQUIRE(tool("pack -o b.sluice one") == 0);
    CHECK(contains(tool.errors(), "1 KTX2 file is supercompressed: --images"));
    CHECK(tool.onCpu("verify --compare . b.sluice") == 0);
    REQUIRE(tool("pack -o c.sluice -q one") == 0);
    CHECK(tool.errors().empty());
    CHECK(tool.read("b.sluice") == tool.read("c.sluice"));
    tool.write("two/a.ktx2", text(makeKtx2(image)));
    REQUIRE(tool("pack -o d.sluice two") == 0);
    CHECK(tool.errors().empty());
    CHECK(tool("pack -o e.gdeflate --raw -c gdeflate --images two/a.ktx2") == 1);
}
