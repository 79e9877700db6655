// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests how pictures become textures: Targa files, mip levels, KTX2 files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "encode/image/texture.h"
#include "formats/image.h"
#include "tests/support/images.h"
#include "tests/support/tga.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// Reads from a buffer of exactly the file's size, so that the sanitizers notice any byte read
// outside.
const char* readExact(const Bytes& file, Pixels& pixels)
{
    const std::unique_ptr<uint8_t[]> exact(new uint8_t[file.size()]);
    std::copy(file.begin(), file.end(), exact.get());
    return readTga(exact.get(), file.size(), pixels);
}

Pixels noisePixels(uint32_t width, uint32_t height, uint32_t seed)
{
    std::mt19937 random(seed);
    Pixels pixels;
    pixels.width = width;
    pixels.height = height;
    pixels.rgba.resize(size_t(width) * height * 4);
    for (uint8_t& byte : pixels.rgba)
        byte = uint8_t(random());
    return pixels;
}

double lightOf(double value) // of sRGB
{
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}
double srgbOf(double light)
{
    return light <= 0.0031308 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

// Computes a level from the level above by areas: texel i of n covers [i * extent / n, (i + 1) *
// extent / n) of it.
std::vector<double> halve(const std::vector<double>& from, uint32_t width, uint32_t height,
                          bool weighs)
{
    const uint32_t w = std::max(1u, width / 2), h = std::max(1u, height / 2);
    const auto overlap = [](uint32_t texel, uint32_t i, uint32_t extent, uint32_t n) {
        const double begin = double(i) * extent / n, end = double(i + 1) * extent / n;
        return std::max(0.0, std::min(end, texel + 1.0) - std::max(begin, double(texel)));
    };
    std::vector<double> to(size_t(w) * h * 4);
    for (uint32_t y = 0; y < h; ++y) {
        for (uint32_t x = 0; x < w; ++x) {
            double area = 0, alpha = 0, weighted[3] = {}, plain[3] = {};
            for (uint32_t j = 0; j < height; ++j) {
                for (uint32_t i = 0; i < width; ++i) {
                    const double part = overlap(j, y, height, h) * overlap(i, x, width, w);
                    const double* texel = &from[(size_t(j) * width + i) * 4];
                    area += part;
                    alpha += part * texel[3];
                    for (int c = 0; c < 3; ++c) {
                        weighted[c] += part * texel[3] * texel[c];
                        plain[c] += part * texel[c];
                    }
                }
            }
            double* texel = &to[(size_t(y) * w + x) * 4];
            for (int c = 0; c < 3; ++c)
                texel[c] = weighs && alpha > 0 ? weighted[c] / alpha : plain[c] / area;
            texel[3] = alpha / area;
        }
    }
    return to;
}

} // namespace

TEST_CASE("texture: Targa files of every kind and origin")
{
    for (const TgaKind& kind : allTgaKinds()) {
        for (const int origin : {0, 16, 32, 48}) {
            for (const uint32_t width : {1u, 5u, 300u}) {
                CAPTURE(kind.text());
                CAPTURE(origin);
                CAPTURE(width);
                const TestTga tga(kind, width, 7, uint8_t(origin));
                Pixels pixels;
                const char* problem = readExact(tga.file, pixels);
                REQUIRE_MESSAGE(problem == nullptr, problem);
                CHECK(pixels.width == width);
                CHECK(pixels.height == 7);
                CHECK(pixels.channels == kind.channels());
                CHECK(pixels.rgba == tga.rgba);
            }
        }
    }
}

TEST_CASE("texture: damaged Targa files are refused")
{
    for (const TgaKind& kind : allTgaKinds()) {
        CAPTURE(kind.text());
        const Bytes good = TestTga(kind, 19, 5, 32).file;
        Pixels pixels;
        for (size_t size = 0; size < good.size(); ++size) { // all bytes are needed
            Bytes cut(good.begin(), good.begin() + ptrdiff_t(size));
            CHECK(readExact(cut, pixels) != nullptr);
        }
        std::mt19937 random(7);
        for (int i = 0; i < 2000; ++i) { // sanitizers would notice a byte read outside
            Bytes bad = good;
            bad[random() % std::min<size_t>(bad.size(), 64)] = uint8_t(random());
            if (readExact(bad, pixels) == nullptr)
                CHECK(pixels.rgba.size() == size_t(pixels.width) * pixels.height * 4);
        }
    }
    Pixels pixels;
    Bytes file = TestTga({2, 24, 0, 0}, 4, 4, 0).file;
    const auto with = [&](size_t at, uint8_t value) {
        Bytes other = file;
        other[at] = value;
        return other;
    };
    CHECK(readExact(file, pixels) == nullptr);
    CHECK(readExact(with(2, 0), pixels) != nullptr);   // no picture
    CHECK(readExact(with(2, 32), pixels) != nullptr);  // Huffman codes
    CHECK(readExact(with(1, 2), pixels) != nullptr);   // kind of colour map
    CHECK(readExact(with(12, 0), pixels) != nullptr);  // width 0
    CHECK(readExact(with(13, 65), pixels) != nullptr); // 16644
    CHECK(readExact(with(16, 20), pixels) != nullptr); // bits
    CHECK(readExact(with(17, 64), pixels) != nullptr); // interleaved

    // A colour map that begins at index 1, and a pixel with index 0.
    TestTga mapped({1, 8, 24, 0}, 40, 40, 0);
    mapped.file[3] = 1;
    CHECK(std::string(readExact(mapped.file, pixels)) == "it has an index outside its colour map");
    // What a packet has beyond the last pixel is dropped, and need not be there.
    Bytes run = TestTga({10, 24, 0, 0}, 4, 1, 0).file;
    run.resize(kTgaStart);
    const Bytes header = run;
    run.insert(run.end(), {0x84, 1, 2, 3});
    CHECK(readExact(run, pixels) == nullptr);
    CHECK(pixels.rgba == Bytes{3, 2, 1, 255, 3, 2, 1, 255, 3, 2, 1, 255, 3, 2, 1, 255});
    Bytes list = header;
    list.insert(list.end(), {9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    CHECK(readExact(list, pixels) == nullptr);
    CHECK(pixels.rgba == Bytes{3, 2, 1, 255, 6, 5, 4, 255, 9, 8, 7, 255, 12, 11, 10, 255});
    list.pop_back(); // of the last pixel
    CHECK(std::string(readExact(list, pixels)) == "it ends too early");
    run[kTgaStart] = 0x83;
    CHECK(readExact(run, pixels) == nullptr);
    // Few bytes for many texels: refused before memory is allocated.
    run[12] = run[14] = 0;
    run[13] = run[15] = 64;
    CHECK(std::string(readExact(run, pixels)) == "it ends too early");
}

TEST_CASE("texture: alpha of Targa files that the header does not speak of")
{
    TestTga tga({2, 32, 0, 0}, 4, 4, 0); // the descriptor names no bits of alpha
    Pixels pixels;
    REQUIRE(readExact(tga.file, pixels) == nullptr);
    CHECK(pixels.channels == 4);
    for (size_t i = kTgaStart + 3; i < tga.file.size(); i += 4)
        tga.file[i] = 0;
    REQUIRE(readExact(tga.file, pixels) == nullptr);
    CHECK(pixels.channels == 3);
    CHECK(pixels.rgba[3] == 255);
    tga.file[17] = 8; // even if it does, all 0 is no alpha, but a writer that left it out
    REQUIRE(readExact(tga.file, pixels) == nullptr);
    CHECK(pixels.channels == 3);
    CHECK(pixels.rgba[3] == 255);
}

namespace {

// Adds a footer and an extension area with this attributes type and gamma.
Bytes withExtension(Bytes file, uint8_t attributes, uint8_t numerator = 0, uint8_t denominator = 0)
{
    const uint32_t at = uint32_t(file.size());
    Bytes area(495);
    area[0] = 495 & 255;
    area[1] = 495 >> 8;
    area[478] = numerator;
    area[480] = denominator;
    area[494] = attributes;
    file.insert(file.end(), area.begin(), area.end());
    for (int shift = 0; shift < 32; shift += 8)
        file.push_back(uint8_t(at >> shift));
    file.insert(file.end(), 4, 0); // there is no developer area
    const std::string signature = "TRUEVISION-XFILE.";
    file.insert(file.end(), signature.begin(), signature.end());
    file.push_back(0);
    return file;
}

} // namespace

TEST_CASE("texture: the extension area of a Targa file says what its alpha is")
{
    const TestTga tga({2, 32, 0, 8}, 4, 4, 0);
    Bytes clear = tga.file;
    for (size_t i = kTgaStart + 3; i < clear.size(); i += 4)
        clear[i] = 0;
    for (uint32_t type = 0; type < 6; ++type) {
        CAPTURE(type);
        Pixels pixels;
        REQUIRE(readExact(withExtension(tga.file, uint8_t(type)), pixels) == nullptr);
        const bool none = type < 2;
        CHECK(pixels.channels == (none ? 3 : 4));
        CHECK(pixels.premultiplied == (type == 4));
        CHECK((pixels.obeyed.find("no alpha") != std::string::npos) == none);
        CHECK((pixels.ignored.find("type 2") != std::string::npos) == (type == 2));
        for (size_t i = 0; i < pixels.rgba.size(); ++i)
            CHECK(pixels.rgba[i] == (none && i % 4 == 3 ? 255 : tga.rgba[i]));
        // A texture that is invisible on purpose says so; type 5 says nothing.
        REQUIRE(readExact(withExtension(clear, uint8_t(type)), pixels) == nullptr);
        CHECK(pixels.rgba[3] == (none || type == 5 ? 255 : 0));
    }
    Pixels pixels;
    REQUIRE(readExact(withExtension(tga.file, 3, 22, 10), pixels) == nullptr);
    CHECK(pixels.ignored.empty());
    REQUIRE(readExact(withExtension(tga.file, 3, 9, 5), pixels) == nullptr);
    CHECK(pixels.ignored == "its gamma of 9/5 is ignored");
    // An area that is not in the file says nothing.
    Bytes bad = withExtension(tga.file, 0);
    bad[bad.size() - 26] += 1;
    REQUIRE(readExact(bad, pixels) == nullptr);
    CHECK(pixels.channels == 4);
}

TEST_CASE("texture: alpha bits of 16-bit Targa files that are all 0 have no meaning")
{
    TestTga tga({2, 16, 0, 1}, 5, 3, 0);
    for (size_t i = kTgaStart + 1; i < tga.file.size(); i += 2)
        tga.file[i] &= 0x7f;
    Pixels pixels;
    REQUIRE(readExact(tga.file, pixels) == nullptr);
    CHECK(pixels.channels == 3);
    for (size_t i = 3; i < pixels.rgba.size(); i += 4)
        CHECK(pixels.rgba[i] == 255);
}

TEST_CASE("texture: pictures are turned as EXIF's orientations say")
{
    // The letter F, whose turns all differ, as red.
    const std::string shown[] = {"###", "#..", "##.", "#..", "#.."};
    for (uint32_t orientation = 0; orientation < 10; ++orientation) {
        CAPTURE(orientation);
        const bool lies = orientation >= 5 && orientation <= 8;
        Pixels pixels;
        pixels.width = lies ? 5 : 3;
        pixels.height = lies ? 3 : 5;
        pixels.rgba.resize(60);
        // Where each texel that is to be seen stands in the file: the first row and the first
        // column of the file are at the sides that the orientation names.
        for (uint32_t y = 0; y < 5; ++y) {
            for (uint32_t x = 0; x < 3; ++x) {
                uint32_t row = y, column = x;
                switch (orientation) {
                case 2: column = 2 - x; break;
                case 3: column = 2 - x, row = 4 - y; break;
                case 4: row = 4 - y; break;
                case 5: row = x, column = y; break;
                case 6: row = 2 - x, column = y; break;
                case 7: row = 2 - x, column = 4 - y; break;
                case 8: row = x, column = 4 - y; break;
                default: break;
                }
                pixels.rgba[(row * pixels.width + column) * 4] = shown[y][x] == '#' ? 9 : 0;
            }
        }
        turnPixels(pixels, orientation);
        REQUIRE(pixels.width == 3);
        REQUIRE(pixels.height == 5);
        for (uint32_t i = 0; i < 15; ++i)
            CHECK(pixels.rgba[4 * i] == (shown[i / 3][i % 3] == '#' ? 9 : 0));
    }
}

TEST_CASE("texture: premultiplied colours are averaged as they are, and the file says so")
{
    Pixels pixels;
    pixels.width = 2;
    pixels.height = 1;
    pixels.rgba = {200, 100, 0, 255, 0, 0, 0, 0};
    const Bytes straight = makeMips(pixels, Averaging::colour, 1)[0],
                multiplied = makeMips(pixels, Averaging::premultiplied, 1)[0];
    CHECK(straight == Bytes{200, 100, 0, 128});
    const auto half = [](uint32_t value) {
        return std::lround(srgbOf(lightOf(value / 255.0) / 2) * 255);
    };
    CHECK(multiplied[0] == half(200));
    CHECK(multiplied[1] == half(100));
    CHECK(multiplied[3] == 128);
    SluiceImageInfo info = {};
    info.format = 43;
    info.width = info.height = info.levels = 1;
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    CHECK((parseImage(makeKtx2(info, "", levels)).info.flags & SLUICE_IMAGE_PREMULTIPLIED) == 0);
    info.flags = SLUICE_IMAGE_PREMULTIPLIED;
    CHECK((parseImage(makeKtx2(info, "", levels)).info.flags & SLUICE_IMAGE_PREMULTIPLIED) != 0);
}

TEST_CASE("texture: tables of sRGB, which no library's powers change")
{
    double nearest = 1;
    for (int i = 0; i < 256; ++i) {
        const double light = lightOf(i / 255.0) * 65535;
        CHECK(linearOfSrgb(uint8_t(i)) == std::lround(light));
        nearest = std::min(nearest, std::abs(light - std::floor(light) - 0.5));
        CHECK(srgbOfLinear(linearOfSrgb(uint8_t(i))) == i);
        if (i == 255) break;
        const double border = lightOf((i + 0.5) / 255) * 65535;
        nearest = std::min(nearest, std::abs(border - std::round(border)));
    }
    CHECK(nearest > 1e-5); // the last bit of a double is 1e-11 here
    for (uint32_t light = 0; light < 65536; light += 7)
        CHECK(srgbOfLinear(light) == std::lround(srgbOf(light / 65535.0) * 255));
}

TEST_CASE("texture: mip levels are averages of light over areas")
{
    const uint32_t sizes[][2] = {{2, 2}, {1, 9},   {9, 1},   {3, 5},
                                 {7, 8}, {16, 16}, {33, 20}, {31, 31}};
    for (const uint32_t(&size)[2] : sizes) {
        const uint32_t width = size[0], height = size[1];
        for (const Averaging averaging : {Averaging::colour, Averaging::linear}) {
            CAPTURE(width);
            CAPTURE(height);
            const bool colour = averaging == Averaging::colour;
            const Pixels top = noisePixels(width, height, width * 40 + height);
            const uint32_t count = maxImageLevels(width, height, 1) - 1;
            const std::vector<Bytes> mips = makeMips(top, averaging, count);
            REQUIRE(mips.size() == count);
            std::vector<double> level;
            for (size_t i = 0; i < top.rgba.size(); ++i)
                level.push_back(colour && i % 4 != 3 ? lightOf(top.rgba[i] / 255.0)
                                                     : top.rgba[i] / 255.0);
            uint32_t w = width, h = height;
            for (const Bytes& mip : mips) {
                level = halve(level, w, h, colour);
                w = std::max(1u, w / 2);
                h = std::max(1u, h / 2);
                REQUIRE(mip.size() == level.size());
                double worst = 0;
                for (size_t i = 0; i < mip.size(); ++i) {
                    const double wanted = colour && i % 4 != 3 ? srgbOf(level[i]) : level[i];
                    worst = std::max(worst, std::abs(mip[i] - wanted * 255));
                }
                CHECK(worst < 0.55); // half for rounding to 8 bits, the rest for 16 bits
            }
        }
    }
    CHECK(makeMips(noisePixels(8, 8, 1), Averaging::colour, 0).empty());
}

TEST_CASE("texture: mip levels of black and white, of holes, and of normals")
{
    Pixels pixels;
    pixels.width = 2;
    pixels.height = 1;
    pixels.rgba = {0, 0, 0, 255, 255, 255, 255, 255};
    CHECK(makeMips(pixels, Averaging::colour, 1)[0] == Bytes{188, 188, 188, 255});
    CHECK(makeMips(pixels, Averaging::linear, 1)[0] == Bytes{128, 128, 128, 255});
    pixels.rgba = {255, 0, 0, 0, 10, 20, 30, 255}; // transparent texels give no colour
    CHECK(makeMips(pixels, Averaging::colour, 1)[0] == Bytes{10, 20, 30, 128});
    pixels.rgba = {40, 40, 40, 0, 40, 40, 40, 0}; // if all are transparent, their colour stays
    CHECK(makeMips(pixels, Averaging::colour, 1)[0] == Bytes{40, 40, 40, 0});

    // The mean of the normals along x and y is the vector halfway between them, of length 1.
    pixels.rgba = {255, 128, 128, 255, 128, 255, 128, 255};
    CHECK(makeMips(pixels, Averaging::normals, 1)[0] == Bytes{218, 218, 128, 255});
    pixels.rgba[3] = 55; // alpha, for example a height, does not weight normals
    CHECK(makeMips(pixels, Averaging::normals, 1)[0] == Bytes{218, 218, 128, 155});
}

TEST_CASE("texture: KTX2 files have the levels and the descriptor that they should")
{
    struct Case {
        uint32_t format;
        Bytes samples; // model and transfer; then, for each sample, offset, bits - 1 and channel
    };
    const Case cases[] = {
        {37, {1, 1, 0, 7, 0, 8, 7, 1, 16, 7, 2, 24, 7, 15}},
        {43, {1, 2, 0, 7, 0, 8, 7, 1, 16, 7, 2, 24, 7, 31}},
        {132, {128, 2, 0, 63, 0}},
        {134, {128, 2, 0, 63, 1}},
        {138, {130, 2, 0, 63, 31, 64, 63, 0}},
        {139, {131, 1, 0, 63, 0}},
        {141, {132, 1, 0, 63, 0, 64, 63, 1}},
    };
    for (const Case& one : cases) {
        CAPTURE(one.format);
        SluiceImageInfo info = {};
        info.format = one.format;
        info.width = 37;
        info.height = 20;
        info.levels = 6;
        SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
        const Bytes file = makeKtx2(info, "rrr1", levels);
        const ParsedImage parsed = parseImage(file);
        REQUIRE(parsed.status == SLUICE_OK);
        CHECK(parsed.info.format == one.format);
        CHECK(parsed.info.width == 37);
        CHECK(parsed.info.height == 20);
        CHECK(parsed.info.flags == (one.samples[1] == 2 ? SLUICE_IMAGE_SRGB : 0));
        REQUIRE(parsed.info.levels == 6);
        for (uint32_t i = 0; i < 6; ++i) {
            CHECK(parsed.levels[i].offset == levels[i].offset);
            CHECK(parsed.levels[i].size == levels[i].size);
        }
        CHECK(levels[0].offset + levels[0].size == file.size());
        const void* value = nullptr;
        uint32_t size = 0;
        for (const auto& [key, text] :
             {std::pair("KTXorientation", "rd"), std::pair("KTXswizzle", "rrr1"),
              std::pair("KTXwriter", "sluice")}) {
            REQUIRE(sluiceFindImageValue(&file[parsed.info.keyValueOffset],
                                         parsed.info.keyValueSize, key, &value,
                                         &size) == SLUICE_OK);
            REQUIRE(value != nullptr);
            CHECK(std::string(static_cast<const char*>(value), size) ==
                  text + std::string(1, '\0'));
        }
        const uint8_t* dfd = &file[80 + 6 * 24];
        Bytes samples = {dfd[12], dfd[14]};
        for (uint32_t at = 28; at < loadLe32(dfd); at += 16)
            samples.insert(samples.end(), {dfd[at], dfd[at + 2], dfd[at + 3]});
        CHECK(samples == one.samples);
    }
}
