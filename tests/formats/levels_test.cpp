// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that a higher level of `sluice pack` makes no kind of content larger.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/tool/tool_run.h"

namespace sluice::test {
namespace {

constexpr uint32_t kLevels = 12;

class Random {
public:
    explicit Random(uint32_t seed) : m_state(seed) {}
    uint32_t below(uint32_t end)
    {
        m_state = m_state * 1664525u + 1013904223u;
        return uint32_t(uint64_t(m_state) * end >> 32);
    }
    // Returns about normally distributed numbers with this standard deviation.
    int grain(int deviation)
    {
        int sum = 0;
        for (int i = 0; i < 12; ++i)
            sum += int(below(256)) - 127;
        return sum * deviation / 256;
    }

private:
    uint32_t m_state;
};

void add16(std::string& file, int value)
{
    file += char(value);
    file += char(value >> 8);
}
void add32(std::string& file, uint32_t value)
{
    add16(file, int(value & 0xffff));
    add16(file, int(value >> 16));
}
void addFloat(std::string& file, float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    add32(file, bits);
}

// Returns a Targa picture of a stone wall with joints, lit from one side, with the grain of a
// photograph.
std::string texture()
{
    constexpr int width = 224, height = 224;
    Random random(3);
    int stones[16][16];
    for (auto& row : stones)
        for (int& stone : row)
            stone = int(random.below(80));
    std::string file = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    add16(file, width);
    add16(file, height);
    file += {24, 0};
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const int row = y / 28, along = x + row % 2 * 14;
            const bool joint = y % 28 < 2 || along % 28 < 2;
            const int light = 60 + x / 6 + y / 9;
            const int base = joint ? 30 : light + stones[row][along / 28];
            const int noise = random.grain(joint ? 1 : 4);
            for (const int tint : {0, 6, 15})
                file += char(std::clamp(base + tint + noise + random.grain(1), 0, 255));
        }
    }
    return file;
}

// Returns a RIFF/WAVE file with notes that fade, over noise, in stereo.
std::string music()
{
    constexpr int frames = 40000;
    Random random(4);
    std::string file = "RIFF";
    add32(file, 36 + 4 * frames);
    file += "WAVEfmt ";
    add32(file, 16);
    add16(file, 1);
    add16(file, 2);
    add32(file, 22050);
    add32(file, 88200);
    add16(file, 4);
    add16(file, 16);
    file += "data";
    add32(file, 4 * frames);
    for (int i = 0; i < frames; ++i) {
        const int note = i / 5000, at = i % 5000;
        const double tone = std::sin(at * (0.02 + 0.007 * note)) + std::sin(at * 0.061) / 3;
        const int value = int(9000 * tone * (5000 - at) / 5000);
        add16(file, value + random.grain(40));
        add16(file, value * 3 / 4 + random.grain(30));
    }
    return file;
}

// Returns a Quake III model of a sphere that turns in 24 frames.
std::string model()
{
    constexpr int rings = 16, sides = 24, vertices = rings * sides, frames = 24,
                  triangles = 2 * (rings - 1) * sides;
    constexpr int surfaceAt = 108 + frames * 56;
    constexpr int trianglesAt = 108, texturesAt = trianglesAt + triangles * 12,
                  verticesAt = texturesAt + vertices * 8,
                  surfaceEnd = verticesAt + frames * vertices * 8;
    Random random(5);
    std::string file = "IDP3";
    add32(file, 15);
    file += std::string(64 + 4, 0);
    for (const int field : {frames, 0, 1, 0, 108, surfaceAt, surfaceAt, surfaceAt + surfaceEnd})
        add32(file, uint32_t(field));
    for (int frame = 0; frame < frames; ++frame) {
        for (int i = 0; i < 10; ++i)
            addFloat(file, float(i % 3) * 16 + float(frame) / 4);
        file += std::string("frame") + char('a' + frame) + std::string(10, 0);
    }
    file += "IDP3";
    file += std::string(68, 0);
    for (const int field : {frames, 0, vertices, triangles, trianglesAt, texturesAt, texturesAt,
                            verticesAt, surfaceEnd})
        add32(file, uint32_t(field));
    for (int i = 0; i < triangles / 2; ++i) {
        const uint32_t a = uint32_t(i), b = uint32_t(i / sides * sides + (i + 1) % sides);
        for (const uint32_t corner : {a, b, a + sides, a + sides, b, b + sides})
            add32(file, corner);
    }
    for (int i = 0; i < vertices; ++i) {
        addFloat(file, float(i % sides) / sides);
        addFloat(file, float(i / sides) / rings + float(random.below(64)) / 8192);
    }
    for (int frame = 0; frame < frames; ++frame) {
        for (int i = 0; i < vertices; ++i) {
            const double up = 3.1416 * (i / sides) / rings, turn = 6.2832 * (i % sides) / sides;
            const double now = turn + frame * 0.13, radius = 1400 + 90 * std::sin(3 * turn);
            add16(file, int(radius * std::sin(up) * std::cos(now)) + random.grain(2));
            add16(file, int(radius * std::sin(up) * std::sin(now)) + random.grain(2));
            add16(file, int(radius * std::cos(up)) + random.grain(2));
            add16(file, int(up * 81) + int(now * 40) % 256 * 256);
        }
    }
    return file;
}

// Returns descriptions of materials, as games have them in text files.
std::string materials()
{
    static const char* const words[] = {"wall", "floor", "stone",  "metal", "rust", "light",
                                        "base", "trim",  "gothic", "panel", "pipe", "water"};
    Random random(6);
    std::string file;
    while (file.size() < 120000) {
        const auto word = [&] { return std::string(words[random.below(12)]); };
        const std::string name =
            "textures/" + word() + "_" + word() + std::to_string(random.below(40));
        file += name + "\n{\n\tqer_editorimage " + name + ".tga\n";
        if (random.below(3) == 0) file += "\tsurfaceparm " + word() + "\n";
        if (random.below(4) == 0)
            file += "\tq3map_surfacelight " + std::to_string(random.below(5000)) + "\n";
        for (uint32_t stage = 1 + random.below(3); stage != 0; --stage) {
            file += "\t{\n\t\tmap " + name + (stage > 1 ? "_glow" : "") + ".tga\n";
            if (random.below(2) == 0)
                file += "\t\ttcMod scroll 0." + std::to_string(random.below(100)) + " 0\n";
            file += stage > 1 ? "\t\tblendFunc GL_ONE GL_ONE\n" : "\t\trgbGen identity\n";
            file += "\t}\n";
        }
        file += "}\n\n";
    }
    return file;
}

} // namespace

TEST_CASE("tool: no level of pack makes files larger than the one below")
{
    const std::pair<std::string, std::string> contents[] = {{"texture.tga", texture()},
                                                            {"music.wav", music()},
                                                            {"model.md3", model()},
                                                            {"materials.shader", materials()}};
    Folder tool;
    for (const std::string codec : {"gstd", "gdeflate"}) {
        CAPTURE(codec);
        uint64_t before[std::size(contents)], totalBefore = UINT64_MAX;
        for (uint32_t level = 1; level <= kLevels; ++level) {
            CAPTURE(level);
            uint64_t total = 0;
            for (size_t i = 0; i < std::size(contents); ++i) {
                const std::string& name = contents[i].first;
                CAPTURE(name);
                tool.write(name, contents[i].second);
                REQUIRE(tool("pack -f -c " + codec + " -l " + std::to_string(level) +
                             " -o x.sluice " + name) == 0);
                const uint64_t size = fs::file_size(tool.path / "x.sluice");
                // In a single file, a search that sees more may still choose worse.
                if (level == 1) {
                    CHECK(size < contents[i].second.size());
                } else {
                    CHECK(size <= before[i] + before[i] / 500);
                }
                before[i] = size;
                total += size;
            }
            CHECK(total <= totalBefore);
            totalBefore = total;
        }
    }
}

} // namespace sluice::test
