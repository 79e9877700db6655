// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the reader of DDS files with made-up files of every kind, and with files that it must
// refuse.
#include "tests/support/images.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "formats/little_endian.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr uint32_t kDxt1[8] = {32, 4, fourCC("DXT1"), 0, 0, 0, 0, 0};
constexpr uint32_t kRgba8[8] = {32, 0x41, 0, 32, 0xff, 0xff00, 0xff0000, 0xff000000};

SluiceStatus changed(Bytes file, size_t at, uint32_t value)
{
    storeLe32(&file[at], value);
    return parseImage(file).status;
}

} // namespace

TEST_CASE("dds: all formats of the table with a DXGI_FORMAT")
{
    uint32_t count = 0;
    for (const uint32_t format : allFormats()) {
        SluiceImageFormat row;
        REQUIRE(sluiceGetImageFormat(format, &row) == SLUICE_OK);
        if (row.dxgi == 0) continue;
        ++count;
        TestImage image(format, 37, 21, 0, 0, 1, 6);
        CAPTURE(image.text());
        const Bytes file = makeDds10(image, row.dxgi);
        image.format = sluiceImageFormatOfDxgi(row.dxgi); // another VkFormat may have the same bits
        checkSlices(file, image);
        CHECK((parseImage(file).info.flags & SLUICE_IMAGE_COLOUR_UNKNOWN) == 0);
    }
    CHECK(count > 60);
}

TEST_CASE("dds: all shapes")
{
    for (const auto& [format, dxgi] :
         {std::pair(9u, 61u), std::pair(43u, 29u), std::pair(106u, 6u), std::pair(145u, 98u)}) {
        std::vector<TestImage> shapes = allShapes(format);
        shapes.emplace_back(format, 1, 1, 1, 0, 1, 1);
        shapes.emplace_back(format, 33, 0, 0, 0, 1, 6);
        shapes.emplace_back(format, 33, 0, 0, 4, 1, 6);
        for (TestImage& image : shapes) {
            CAPTURE(image.text());
            image.premultiplied = image.layers != 0;
            const Bytes file = makeDds10(image, dxgi);
            checkSlices(file, image);
            CHECK(checkNeeded(file) == 4);
            const SluiceImageInfo info = parseImage(file).info;
            CHECK(info.container == SLUICE_IMAGE_DDS);
            CHECK(((info.flags & SLUICE_IMAGE_ARRAY) != 0) == (image.layers > 1));
        }
    }
    for (TestImage& image : allShapes(133)) { // shapes that need no DX10 header
        if (image.layers != 0) continue;
        CAPTURE(image.text());
        const Bytes file = makeDds(image, kDxt1);
        checkSlices(file, image);
        CHECK(checkNeeded(file) == 3);
        CHECK((parseImage(file).info.flags & SLUICE_IMAGE_COLOUR_UNKNOWN) != 0);
    }
}

TEST_CASE("dds: pixel formats by letters and by masks")
{
    const struct {
        uint32_t words[8];
        uint32_t format, flags;
    } known[] = {
        {{32, 4, fourCC("DXT1"), 0, 0, 0, 0, 0}, 133, 0},
        {{32, 4, fourCC("DXT2"), 0, 0, 0, 0, 0}, 135, SLUICE_IMAGE_PREMULTIPLIED},
        {{32, 4, fourCC("DXT3"), 0, 0, 0, 0, 0}, 135, 0},
        {{32, 4, fourCC("DXT4"), 0, 0, 0, 0, 0}, 137, SLUICE_IMAGE_PREMULTIPLIED},
        {{32, 4, fourCC("DXT5"), 0, 0, 0, 0, 0}, 137, 0},
        {{32, 4, fourCC("ATI1"), 0, 0, 0, 0, 0}, 139, 0},
        {{32, 4, fourCC("BC4U"), 0, 0, 0, 0, 0}, 139, 0},
        {{32, 4, fourCC("BC4S"), 0, 0, 0, 0, 0}, 140, 0},
        {{32, 4, fourCC("ATI2"), 0, 0, 0, 0, 0}, 141, 0},
        {{32, 4, fourCC("BC5U"), 0, 0, 0, 0, 0}, 141, 0},
        {{32, 4, fourCC("BC5S"), 0, 0, 0, 0, 0}, 142, 0},
        {{32, 4, 36, 0, 0, 0, 0, 0}, 91, 0},
        {{32, 4, 110, 0, 0, 0, 0, 0}, 92, 0},
        {{32, 4, 111, 0, 0, 0, 0, 0}, 76, 0},
        {{32, 4, 112, 0, 0, 0, 0, 0}, 83, 0},
        {{32, 4, 113, 0, 0, 0, 0, 0}, 97, 0},
        {{32, 4, 114, 0, 0, 0, 0, 0}, 100, 0},
        {{32, 4, 115, 0, 0, 0, 0, 0}, 103, 0},
        {{32, 4, 116, 0, 0, 0, 0, 0}, 109, 0},
        {{32, 0x41, 0, 32, 0xff, 0xff00, 0xff0000, 0xff000000}, 37, 0},
        {{32, 0x40, 0, 32, 0xff, 0xff00, 0xff0000, 0}, 37, SLUICE_IMAGE_OPAQUE},
        {{32, 0x41, 0, 32, 0xff0000, 0xff00, 0xff, 0xff000000}, 44, 0},
        {{32, 0x40, 0, 32, 0xff0000, 0xff00, 0xff, 0}, 44, SLUICE_IMAGE_OPAQUE},
        {{32, 0x40, 0, 24, 0xff, 0xff00, 0xff0000, 0}, 23, 0},
        {{32, 0x40, 0, 24, 0xff0000, 0xff00, 0xff, 0}, 30, 0},
        {{32, 0x40, 0, 32, 0xffff, 0xffff0000, 0, 0}, 77, 0},
        {{32, 0x40, 0, 16, 0xf800, 0x7e0, 0x1f, 0}, 4, 0},
        {{32, 0x41, 0, 16, 0x7c00, 0x3e0, 0x1f, 0x8000}, 8, 0},
        {{32, 0x41, 0, 16, 0xf00, 0xf0, 0xf, 0xf000}, 1000340000, 0},
        {{32, 0x20000, 0, 8, 0xff, 0, 0, 0}, 9, 0},
        {{32, 0x20000, 0, 16, 0xffff, 0, 0, 0}, 70, 0},
        {{32, 0x20001, 0, 16, 0xff, 0, 0, 0xff00}, 16, 0},
        {{32, 2, 0, 8, 0, 0, 0, 0xff}, 1000470001, 0},
    };
    for (const auto& one : known) {
        TestImage image(one.format, 19, 11, 0, 0, 1, 5);
        image.premultiplied = (one.flags & SLUICE_IMAGE_PREMULTIPLIED) != 0;
        CAPTURE(image.text());
        const Bytes file = makeDds(image, one.words);
        checkSlices(file, image);
        CHECK(parseImage(file).info.flags == (one.flags | SLUICE_IMAGE_COLOUR_UNKNOWN));
    }
    const TestImage image(37, 19, 11, 0, 0, 1, 5);
    const uint32_t unknown[][8] = {{32, 4, fourCC("UYVY"), 0, 0, 0, 0, 0},
                                   {32, 0x20, 0, 8, 0, 0, 0, 0}, // a palette
                                   {32, 0x41, 0, 32, 0xff, 0xff0000, 0xff00, 0xff000000},
                                   {32, 0x41, 0, 32, 0x3ff, 0xffc00, 0x3ff00000, 0xc0000000},
                                   {32, 0x41, 0, 24, 0xff, 0xff00, 0xff0000, 0xff000000},
                                   {32, 0x20000, 0, 16, 0xff, 0, 0, 0xff00}};
    for (const auto& words : unknown)
        CHECK(parseImage(makeDds(image, words)).status == SLUICE_ERROR_VERSION);
}

TEST_CASE("dds: DXGI formats that have a row of another")
{
    const struct {
        uint32_t dxgi, format, flags;
    } others[] = {{27, 37, SLUICE_IMAGE_COLOUR_UNKNOWN},
                  {53, 70, SLUICE_IMAGE_COLOUR_UNKNOWN},
                  {15, 103, SLUICE_IMAGE_COLOUR_UNKNOWN},
                  {60, 9, SLUICE_IMAGE_COLOUR_UNKNOWN},
                  {70, 133, SLUICE_IMAGE_COLOUR_UNKNOWN},
                  {88, 44, SLUICE_IMAGE_OPAQUE},
                  {92, 44, SLUICE_IMAGE_COLOUR_UNKNOWN | SLUICE_IMAGE_OPAQUE},
                  {93, 50, SLUICE_IMAGE_OPAQUE | SLUICE_IMAGE_SRGB},
                  {94, 143, SLUICE_IMAGE_COLOUR_UNKNOWN},
                  {97, 145, SLUICE_IMAGE_COLOUR_UNKNOWN}};
    for (const auto& one : others) {
        CAPTURE(one.dxgi);
        const TestImage image(one.format, 19, 11, 0, 0, 1, 5);
        const Bytes file = makeDds10(image, one.dxgi);
        checkSlices(file, image);
        CHECK(parseImage(file).info.flags == one.flags);
    }
    for (const uint32_t dxgi :
         {0u, 20u, 40u, 45u, 66u, 68u, 69u, 89u, 100u, 107u, 255u, 0xffffffffu})
        CHECK(sluiceImageFormatOfDxgi(dxgi) == 0);
}

TEST_CASE("dds: every value of every byte of the header, and every length")
{
    const std::pair<Bytes, size_t> files[] = {
        {makeDds10({43, 9, 9, 0, 2, 6, 3}, 29), 148},
        {makeDds10({145, 20, 12, 0, 0, 1, 5}, 98), 148},
        {makeDds10({9, 5, 7, 3, 0, 1, 2}, 61), 148},
        {makeDds({133, 16, 16, 0, 0, 6, 4}, kDxt1), 128},
        {makeDds({37, 9, 3, 0, 0, 1, 4}, kRgba8), 128},
    };
    for (const auto& [file, header] : files) {
        checkMutations(file, header);
        checkTruncations(file);
    }
}

TEST_CASE("dds: what a reader must refuse")
{
    const TestImage image(133, 16, 16, 0, 0, 1, 5), cube(133, 16, 16, 0, 0, 6, 5);
    const Bytes plain = makeDds(image, kDxt1), faces = makeDds(cube, kDxt1),
                dx10 = makeDds10(image, 71), cubes = makeDds10({133, 16, 16, 0, 2, 6, 5}, 71),
                line = makeDds10({37, 16, 0, 0, 0, 1, 5}, 28),
                volume = makeDds10({37, 8, 8, 8, 0, 1, 4}, 28);
    for (const Bytes* file : {&plain, &faces, &dx10, &cubes, &line, &volume})
        REQUIRE(parseImage(*file).status == SLUICE_OK);
    const struct {
        const char* what;
        const Bytes& file;
        size_t at;
        uint32_t value;
        SluiceStatus expected;
    } changes[] = {
        {"magic", plain, 0, 0x20534445, SLUICE_ERROR_FORMAT},
        {"header size", plain, 4, 128, SLUICE_ERROR_FORMAT},
        {"pixel format size", plain, 76, 28, SLUICE_ERROR_FORMAT},
        {"header size beside a DX10 header", dx10, 4, 24, SLUICE_ERROR_FORMAT},
        {"pixel format size beside a DX10 header", dx10, 76, 24, SLUICE_ERROR_FORMAT},
        {"no height", plain, 12, 0, SLUICE_ERROR_FORMAT},
        {"no width", plain, 16, 0, SLUICE_ERROR_FORMAT},
        {"more height", plain, 12, 17, SLUICE_ERROR_FORMAT},
        {"a huge width", plain, 16, 0xffffffff, SLUICE_ERROR_FORMAT},
        {"a volume without a depth", plain, 112, 0x200000, SLUICE_ERROR_FORMAT},
        {"a cube that is a volume", faces, 112, 0x20fe00, SLUICE_ERROR_FORMAT},
        {"five faces", faces, 112, 0x7e00, SLUICE_ERROR_VERSION},
        {"faces that are not square", faces, 12, 8, SLUICE_ERROR_FORMAT},
        {"no format", dx10, 128, 0, SLUICE_ERROR_VERSION},
        {"a depth format", dx10, 128, 40, SLUICE_ERROR_VERSION},
        {"a buffer", dx10, 132, 1, SLUICE_ERROR_FORMAT},
        {"a line that is high", dx10, 132, 2, SLUICE_ERROR_FORMAT},
        {"a volume without slices", dx10, 132, 4, SLUICE_ERROR_FORMAT},
        {"more layers", dx10, 140, 2, SLUICE_ERROR_FORMAT},
        {"very many layers", dx10, 140, 0xffffffff, SLUICE_ERROR_FORMAT},
        {"an alpha mode that is not", dx10, 144, 5, SLUICE_ERROR_FORMAT},
        {"more cubes", cubes, 140, 3, SLUICE_ERROR_FORMAT},
        {"a cube of volumes", volume, 136, 4, SLUICE_ERROR_FORMAT},
        {"an array of volumes", volume, 140, 2, SLUICE_ERROR_FORMAT},
        {"a cube of lines", line, 136, 4, SLUICE_ERROR_FORMAT},
    };
    for (const auto& one : changes) {
        CAPTURE(one.what);
        CHECK(changed(one.file, one.at, one.value) == one.expected);
    }
    // With these values the fields say less than usual, but nothing wrong: they are accepted.
    CHECK(changed(plain, 28, 4) == SLUICE_OK); // bytes behind the levels
    CHECK(changed(plain, 28, 0) == SLUICE_OK);
    CHECK(changed(plain, 20, 0xffffffff) == SLUICE_OK); // the pitch
    CHECK(changed(plain, 8, 0) == SLUICE_OK);
    CHECK(changed(dx10, 144, 3) == SLUICE_OK);
}

TEST_CASE("dds: sizes above 4 GiB")
{
    Bytes start = makeDds10({145, 4, 4, 0, 0, 1, 1}, 98);
    storeLe32(&start[12], 32768);
    storeLe32(&start[16], 32768);
    storeLe32(&start[28], 16);
    storeLe32(&start[140], 5);
    uint64_t chain = 0;
    for (uint32_t level = 0; level < 16; ++level) {
        const uint64_t blocks = std::max(1u, (32768u >> level) / 4);
        chain += blocks * blocks * 16;
    }
    const ParsedImage parsed = parseImage(start, 148 + 5 * chain);
    REQUIRE(parsed.status == SLUICE_OK);
    CHECK(parsed.levels[1].offset == 148 + (1u << 30));
    CHECK(parsed.levels[1].imageStride == chain);
    uint64_t offset = 0;
    REQUIRE(sluiceGetImageOffset(&parsed.info, &parsed.levels[1], 4, 0, 0, &offset) == SLUICE_OK);
    CHECK(offset == 4 * chain);
    CHECK(parseImage(start, 148 + 5 * chain - 1).status == SLUICE_ERROR_FORMAT);
    storeLe32(&start[12], 0x80000000); // sizes that wrap at 2^64
    storeLe32(&start[16], 0x80000000);
    storeLe32(&start[140], 0x80000001);
    CHECK(parseImage(start, 148 + 5 * chain).status == SLUICE_ERROR_FORMAT);
}
