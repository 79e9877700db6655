// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluice pack --images --bc. The tests' own decoder decodes the blocks of textures.
#include <cmath>
#include <functional>

#include "encode/image/texture.h"
#include "tests/support/blocks.h"
#include "tests/support/images.h"
#include "tests/tool/tool_run.h"
#include "tests/support/unpacked_texture.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// A Targa file of 32 bits with rows from the top. texel: returns the colour at x and y as RGBA.
using Texel = std::function<void(double x, double y, double* rgba)>;
struct Drawn {
    Drawn(uint32_t width, uint32_t height, const Texel& texel)
    {
        pixels.width = width;
        pixels.height = height;
        file = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        for (const uint32_t value : {width, height})
            file.insert(file.end(), {uint8_t(value), uint8_t(value >> 8)});
        file.insert(file.end(), {32, 40});
        for (uint32_t y = 0; y < height; ++y) {
            for (uint32_t x = 0; x < width; ++x) {
                double rgba[4] = {0, 0, 0, 255};
                texel(x, y, rgba);
                uint8_t bytes[4];
                for (int c = 0; c < 4; ++c)
                    bytes[c] = uint8_t(std::lround(std::min(255.0, std::max(0.0, rgba[c]))));
                pixels.rgba.insert(pixels.rgba.end(), bytes, bytes + 4);
                file.insert(file.end(), {bytes[2], bytes[1], bytes[0], bytes[3]});
            }
        }
    }
    Pixels pixels;
    Bytes file;
};

#if SLUICE_HAVE_SQUISH // libsquish makes the blocks

void colours(double x, double y, double* rgba)
{
    rgba[0] = 128 + 100 * std::sin(x / 19) * std::cos(y / 23);
    rgba[1] = 120 + 90 * std::sin((x + y) / 28);
    rgba[2] = 100 + 70 * std::cos(x / 41 - y / 37);
}
void coloursWithAlpha(double x, double y, double* rgba)
{
    colours(x, y, rgba);
    rgba[3] = 128 + 127 * std::sin(x / 16 + y / 18);
}
void normals(double x, double y, double* rgba)
{
    const double dx = 0.6 * std::sin(x / 17), dy = 0.5 * std::cos(y / 19),
                 length = std::sqrt(dx * dx + dy * dy + 1);
    rgba[0] = 127.5 + 127.5 * dx / length;
    rgba[1] = 127.5 + 127.5 * dy / length;
    rgba[2] = 127.5 + 127.5 / length;
}

// Returns how much a level resembles `wanted`, in decibels. The weight of colours is their alpha.
double quality(const UnpackedTexture& texture, uint32_t level, const Bytes& wanted,
               uint32_t channels)
{
    const SluiceImageLevel& place = texture.parsed.levels[level];
    const std::vector<double> found =
        decodeBlocks(texture.level(level), place.width, place.height, texture.parsed.info.format);
    REQUIRE(found.size() == wanted.size());
    double squares = 0;
    size_t count = 0;
    for (size_t i = 0; i < found.size(); ++i) {
        if (i % 4 >= channels && i % 4 != 3) continue;
        if (i % 4 == 3 && channels < 4) continue;
        const double weight = channels == 4 && i % 4 != 3 ? wanted[i / 4 * 4 + 3] / 255.0 : 1;
        squares += std::pow((found[i] - wanted[i]) * weight, 2);
        ++count;
    }
    return 10 * std::log10(255 * 255 / std::max(1e-9, squares / double(count)));
}

#endif

} // namespace

#if SLUICE_HAVE_SQUISH

TEST_CASE("tool: blocks of textures show what the pictures show")
{
    Folder tool("in");
    struct Case {
        const char* name;
        const char* options;
        Texel texel;
        uint32_t format, channels;
        Averaging averaging;
        double decibels;
    };
    const Case cases[] = {
        {"a.tga", "--bc bc1", colours, 132, 3, Averaging::colour, 36},
        {"a.tga", "--bc bc1 -l 3", colours, 132, 3, Averaging::colour, 34},
        {"a.tga", "--bc bc3", coloursWithAlpha, 138, 4, Averaging::colour, 36},
        {"a.tga", "--bc bc4", colours, 139, 1, Averaging::linear, 44},
        {"a.tga", "--bc bc5", colours, 141, 2, Averaging::linear, 44},
        {"a_normal.tga", "--bc auto", normals, 141, 2, Averaging::normals, 44},
    };
    for (const Case& one : cases) {
        for (const auto& size : {std::pair(64u, 48u), std::pair(37u, 21u), std::pair(2u, 1u)}) {
            const uint32_t width = size.first;
            CAPTURE(one.options);
            CAPTURE(width);
            const Drawn drawn(width, size.second, one.texel);
            tool.write("in/" + std::string(one.name), text(drawn.file));
            const UnpackedTexture texture(tool, "in/" + std::string(one.name), one.options);
            CHECK(texture.parsed.info.format == one.format);
            const uint32_t levels = texture.parsed.info.levels;
            REQUIRE(levels == (width == 64 ? 7 : width == 37 ? 6 : 2));
            const std::vector<Bytes> mips = makeMips(drawn.pixels, one.averaging, levels - 1);
            for (uint32_t i = 0; i < levels; ++i) {
                CAPTURE(i);
                const double found =
                    quality(texture, i, i == 0 ? drawn.pixels.rgba : mips[i - 1], one.channels);
                // Small levels have much detail in each block, so less is required of them.
                CHECK(found > one.decibels - 4 * i);
            }
        }
    }
    // A texture with holes: BC1 with one bit of alpha.
    const Drawn holes(32, 32, [](double x, double y, double* rgba) {
        colours(x, y, rgba);
        rgba[3] = x < y ? 0 : 255;
    });
    tool.write("in/holes.tga", text(holes.file));
    const UnpackedTexture texture(tool, "in/holes.tga", "--bc bc1");
    CHECK(texture.parsed.info.format == 134);
    const std::vector<double> found = decodeBlocks(texture.level(0), 32, 32, 134);
    for (size_t i = 3; i < found.size(); i += 4)
        CHECK(found[i] == holes.pixels.rgba[i]);
}

TEST_CASE("tool: --bc auto chooses by the picture, and says why")
{
    Folder tool("in");
    const auto draw = [&](const std::string& name, const Texel& texel) {
        tool.write("in/" + name, text(Drawn(32, 32, texel).file));
    };
    draw("opaque.tga", colours);
    draw("alpha.tga", coloursWithAlpha);
    draw("wall_n.tga", normals);
    draw("wall_NORMAL.TGA", normals);
    draw("vectors.tga", normals);      // its name does not say that it is a normal map
    draw("heights_bump.tga", colours); // its name says so, but it is none
    draw("deep_local.tga", [](double x, double y, double* rgba) {
        normals(x, y, rgba);
        rgba[3] = 8 * x;
    });
    Bytes grey = {0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 8, 0, 8, 0};
    grey.resize(18 + 64, 77);
    tool.write("in/grey.tga", text(grey));
    REQUIRE(tool("pack --images --bc auto -v -o a.sluice in") == 0);
    const std::string said = tool.errors();
    const auto says = [&](const char* name, const char* what) {
        const size_t at = said.find("in/" + std::string(name) + ": ");
        REQUIRE(at != std::string::npos);
        CHECK_MESSAGE(contains(said.substr(at, said.find('\n', at) - at), what), name);
    };
    says("opaque.tga", "BC1_RGB_SRGB_BLOCK, 32 x 32, 6 levels: opaque colours");
    says("alpha.tga", "BC3_SRGB_BLOCK, 32 x 32, 6 levels: colours with alpha");
    says("wall_n.tga", "BC5_UNORM_BLOCK, 32 x 32, 6 levels: a normal map");
    says("wall_NORMAL.TGA", "BC5_UNORM_BLOCK");
    says("vectors.tga", "BC1_RGB_SRGB_BLOCK");
    says("heights_bump.tga",
         "BC1_RGB_UNORM_BLOCK, 32 x 32, 6 levels: numbers, not colours (its name "
         "says 'bump')");
    says("deep_local.tga", "BC3_UNORM_BLOCK, 32 x 32, 6 levels: a normal map with alpha");
    says("grey.tga", "BC4_UNORM_BLOCK, 8 x 8, 4 levels: a single channel");

    // The result is the same with any number of threads. There are so many blocks that three
    // threads are used.
    tool.write("in/large.tga", text(Drawn(128, 96, colours).file));
    REQUIRE(tool("pack -f --images --bc auto -q -o a.sluice in") == 0);
    REQUIRE(tool("pack --images --bc auto -q -j 1 -o b.sluice in") == 0);
    REQUIRE(tool("pack --images --bc auto -q -j 5 -o c.sluice in") == 0);
    CHECK(tool.read("b.sluice") == tool.read("a.sluice"));
    CHECK(tool.read("c.sluice") == tool.read("a.sluice"));

    // Without --bc, only normal maps are linear instead of sRGB.
    REQUIRE(tool("pack --images -v -f -o a.sluice in") == 0);
    CHECK(contains(
        tool.errors(),
        "in/wall_n.tga: R8G8B8A8_UNORM, 32 x 32, 6 levels: a normal map (its name says 'n')\n"));
    CHECK(contains(tool.errors(), "in/grey.tga: R8G8B8A8_SRGB, "));
}

TEST_CASE("tool: --bc is for --images")
{
    Folder tool("in");
    CHECK(tool("pack --bc auto -o a.sluice in") == 1);
    CHECK(tool("pack --images --bc bc7 -o a.sluice in") == 1);
}

#else

TEST_CASE("tool: --bc needs libsquish")
{
    Folder tool("in");
    CHECK(tool("pack --images --bc auto -o a.sluice in") == 5);
    CHECK(contains(tool.errors(), "--bc needs libsquish"));
}

#endif
