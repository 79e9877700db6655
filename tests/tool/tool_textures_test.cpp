// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluice pack --images: pictures become textures.
#include <array>
#include <random>

#include "encode/image/texture.h"
#include "tests/support/images.h"
#include "tests/support/png.h"
#include "tests/support/tga.h"
#include "tests/tool/tool_run.h"
#include "tests/support/unpacked_texture.h"
#include "test_paths.h"

using namespace sluice;
using namespace sluice::test;

namespace {

Pixels pixelsOf(const TestTga& tga, uint32_t width, uint32_t height)
{
    Pixels pixels;
    pixels.width = width;
    pixels.height = height;
    pixels.rgba = tga.rgba;
    return pixels;
}

} // namespace

TEST_CASE("tool: Targa files become textures with their mip levels")
{
    Folder tool("in");
    const uint32_t width = 301, height = 150;
    const TestTga tga({10, 32, 0, 8}, width, height, 0);
    tool.write("in/a.TGA", text(tga.file));
    const std::vector<Bytes> mips = makeMips(pixelsOf(tga, width, height), Averaging::colour, 8);
    for (const char* options : {"", "-c gdeflate", "-c store", "--filters none", "-j 3"}) {
        CAPTURE(options);
        const UnpackedTexture texture(tool, "in/a.TGA", options);
        CHECK(texture.parsed.info.format == 43);
        CHECK(texture.parsed.info.width == width);
        CHECK(texture.parsed.info.height == height);
        REQUIRE(texture.parsed.info.levels == 9);
        CHECK(texture.level(0) == tga.rgba);
        for (uint32_t i = 0; i < 8; ++i)
            CHECK(texture.level(i + 1) == mips[i]);
    }
    const UnpackedTexture single(tool, "in/a.TGA", "--no-mips");
    CHECK(single.parsed.info.levels == 1);
    CHECK(single.level(0) == tga.rgba);

    REQUIRE(tool("pack -f --images -v -o a.sluice in") == 0);
    CHECK(contains(tool.errors(),
                   "in/a.TGA: R8G8B8A8_SRGB, 301 x 150, 9 levels: colours with alpha\n"));
    REQUIRE(tool("info a.sluice") == 0); // the asset keeps its name, so that materials find it
    CHECK(contains(tool.output(), "in/a.TGA"));
    CHECK(contains(tool.output(), "image: KTX2, R8G8B8A8_SRGB, 301 x 150, 9 levels\n"));
    REQUIRE(tool("pack -f --images -o b.sluice -j 3 in") == 0);
    CHECK(tool.read("a.sluice") == tool.read("b.sluice"));
    CHECK(tool.onCpu("verify a.sluice") == 0);
    REQUIRE(tool.onCpu("unpack a.sluice -C out") == 0);
    CHECK(contains(tool.errors(), "1 of the files are KTX2 textures made of pictures: .ktx2 is "));
    CHECK(tool.has("out/in/a.TGA.ktx2"));
    CHECK(!tool.has("out/in/a.TGA"));
    CHECK(tool.onCpu("verify a.sluice --compare out") == 0);
    CHECK(tool.onCpu("verify a.sluice --compare .") == 3);
    CHECK(contains(tool.errors(), "asset 'in/a.TGA': is a texture made of "));
    CHECK(tool("pack -o c.sluice --no-mips in") == 1);
}

TEST_CASE("tool: PNG files become textures")
{
    Folder tool("in");
    std::mt19937 random(3);
    const uint32_t width = 24, height = 9, texels = width * height;
    const auto noise = [&](size_t size) {
        Bytes bytes(size);
        for (uint8_t& byte : bytes)
            byte = uint8_t(random());
        return bytes;
    };
    struct Case {
        Bytes file;
        Bytes rgba;
    };
    std::vector<Case> cases;
    const auto add = [&](const Bytes& file, const auto& texel) {
        Bytes rgba;
        for (uint32_t i = 0; i < texels; ++i)
            for (const int value : texel(i))
                rgba.push_back(uint8_t(value));
        cases.push_back({file, rgba});
    };
    using Texel = std::array<int, 4>;
    const Bytes grey = noise(texels), two = noise(2 * texels), three = noise(3 * texels),
                four = noise(4 * texels), palette = noise(3 * 256), transparency = noise(100);
    add(makePng(width, height, 8, 0, grey), [&](uint32_t i) {
        return Texel{grey[i], grey[i], grey[i], 255};
    });
    add(makePng(width, height, 8, 4, two), [&](uint32_t i) {
        return Texel{two[2 * i], two[2 * i], two[2 * i], two[2 * i + 1]};
    });
    add(makePng(width, height, 8, 2, three), [&](uint32_t i) {
        return Texel{three[3 * i], three[3 * i + 1], three[3 * i + 2], 255};
    });
    add(makePng(width, height, 8, 2, three, {}, {0, three[6], 0, three[7], 0, three[8]}),
        [&](uint32_t i) {
            const bool clear = std::equal(&three[3 * i], &three[3 * i] + 3, &three[6]);
            return Texel{three[3 * i], three[3 * i + 1], three[3 * i + 2], clear ? 0 : 255};
        });
    add(makePng(width, height, 8, 6, four), [&](uint32_t i) {
        return Texel{four[4 * i], four[4 * i + 1], four[4 * i + 2], four[4 * i + 3]};
    });
    add(makePng(width, height, 8, 3, grey, palette, transparency), [&](uint32_t i) {
        const uint8_t* const entry = &palette[3 * grey[i]];
        return Texel{entry[0], entry[1], entry[2], grey[i] < 100 ? transparency[grey[i]] : 255};
    });
    const Bytes bitRows = noise(width / 8 * height), wideRows = noise(2 * texels);
    add(makePng(width, height, 1, 0, bitRows), [&](uint32_t i) {
        const int value = (bitRows[i / 8] >> (7 - i % 8) & 1) * 255;
        return Texel{value, value, value, 255};
    });
    add(makePng(width, height, 16, 0, wideRows), [&](uint32_t i) {
        const int wide = wideRows[2 * i] * 256 + wideRows[2 * i + 1], value = (wide + 128) / 257;
        return Texel{value, value, value, 255};
    });
    for (const Case& one : cases) {
        tool.write("in/a.png", text(one.file));
#if SLUICE_HAVE_PNG
        const UnpackedTexture texture(tool, "in/a.png");
        CHECK(texture.parsed.info.format == 43);
        CHECK(texture.parsed.info.levels == 5);
        CHECK(texture.level(0) == one.rgba);
#else
        REQUIRE(tool("pack -f --images -o a.sluice in") == 0);
        CHECK(contains(tool.errors(), "packed as no image: this build has no libpng"));
#endif
    }
    // What a picture is depends on its first bytes, not on its name.
    tool.write("in/a.png", text(TestTga({2, 24, 0, 0}, 5, 5, 0).file));
    tool.write("in/b.jpg", text(cases[0].file));
    REQUIRE(tool("pack -f --images -o a.sluice in") == 0);
    CHECK(contains(tool.errors(), "in/a.png: packed as no image: "));
#if SLUICE_HAVE_PNG
    CHECK(!contains(tool.errors(), "b.jpg"));
#endif
}

TEST_CASE("tool: JPEG files become textures")
{
    Folder tool;
    const fs::path data = fs::path(SLUICE_TEST_DATA_DIR) / "pictures";
    for (const char* name : {"colour.jpg", "progressive.jpg", "grey.jpg"}) {
        CAPTURE(name);
        fs::copy_file(data / name, tool.path / name);
#if SLUICE_HAVE_JPEG
        const UnpackedTexture texture(tool, name);
        CHECK(texture.parsed.info.format == 43);
        CHECK(texture.parsed.info.width == 48);
        CHECK(texture.parsed.info.height == 33);
        CHECK(texture.parsed.info.levels == 6);
        const bool grey = name[0] == 'g';
        const int worst = texture.worst([&](uint32_t x, uint32_t y, uint32_t channel) {
            const int values[] = {20 + 3 * int(x), 30 + 5 * int(y), 200 - 2 * int(x) - int(y), 255};
            return channel == 3 ? 255 : values[grey ? 0 : channel];
        });
        CHECK(worst <= 9);
#else
        REQUIRE(tool("pack -f --images -o a.sluice " + std::string(name)) == 0);
        CHECK(contains(tool.errors(), "packed as no image: this build has no libjpeg"));
#endif
    }
    fs::copy_file(data / "cmyk.jpg", tool.path / "cmyk.jpg");
    REQUIRE(tool("pack -f --images -o a.sluice cmyk.jpg") == 0);
    CHECK(contains(tool.errors(), "packed as no image: "));
    CHECK(tool.onCpu("verify --compare . a.sluice") == 0);
}

TEST_CASE("tool: damaged pictures are packed as they are")
{
    Folder tool("in");
    std::mt19937 random(5);
    const std::string tga = text(TestTga({10, 24, 0, 0}, 60, 20, 0).file);
    Bytes rows(3 * 60 * 20);
    for (uint8_t& byte : rows)
        byte = uint8_t(random());
    const std::string png = text(makePng(60, 20, 8, 2, rows));
    const fs::path data = fs::path(SLUICE_TEST_DATA_DIR) / "pictures";
    const std::pair<std::string, std::string> files[] = {
        {"tga", tga},
        {"png", png},
        {"jpg", readFile(data / "colour.jpg")},
        {"jpeg", readFile(data / "progressive.jpg")}};
    // The files are cut at many places. Each of the cut ones is refused, unless only the end behind
    // the pixels is missing.
    int count = 0;
    for (const auto& [suffix, bytes] : files) {
        const size_t end = suffix == "png" ? 12 : suffix == "tga" ? 2 : 8;
        for (size_t size = 0; size + end < bytes.size(); size += 1 + bytes.size() / 23, ++count)
            tool.write("in/cut" + std::to_string(size) + "." + suffix, bytes.substr(0, size));
    }
    REQUIRE(tool("pack --images -o a.sluice in") == 0);
    const std::string errors = tool.errors();
    int told = 0;
    for (size_t at = 0; (at = errors.find(": packed as no image: ", at)) != std::string::npos; ++at)
        ++told;
    CHECK(told == count);
    CHECK(tool.onCpu("verify --compare . a.sluice") == 0);

    // Bytes are changed. The tool must go on, whatever they do. Sanitizers notice what this test
    // cannot.
    fs::remove_all(tool.path / "in");
    for (const auto& [suffix, bytes] : files) {
        for (int i = 0; i < 60; ++i) {
            std::string bad = bytes;
            for (int j = 0; j < 1 + i % 3; ++j)
                bad[random() % bad.size()] = char(random());
            tool.write("in/bad" + std::to_string(i) + "." + suffix, bad);
        }
    }
    REQUIRE(tool("pack --images -c store -o b.sluice in") == 0);
    CHECK(tool.onCpu("verify b.sluice") == 0);
}

TEST_CASE("tool: pictures without --images, and the hint")
{
    Folder tool("in");
    const std::string file = text(TestTga({2, 24, 0, 0}, 40, 40, 0).file);
    tool.write("in/a.tga", file);
    tool.write("in/b.png", "no picture");
    REQUIRE(tool("pack -o a.sluice in") == 0);
    CHECK(contains(tool.errors(), "2 files are TGA, PNG or JPEG: --images "));
#if SLUICE_HAVE_SQUISH
    CHECK(contains(tool.errors(), "--images --bc auto makes textures"));
#endif
    CHECK(tool.onCpu("verify --compare . a.sluice") == 0);
    REQUIRE(tool("info --json a.sluice") == 0);
    CHECK(!contains(tool.output(), "\"type\": 1"));
    REQUIRE(tool("pack -f -q -o a.sluice in") == 0);
    CHECK(tool.errors().empty());
}
