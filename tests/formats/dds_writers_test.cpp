// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that DDS files are read as the tools that people use write them, and that files which could
// be taken for other images are refused with words. docs/notes/images.md lists the writers.
#include "tests/support/images.h"

#include <doctest/doctest.h>

#include <cstring>

#include "formats/image.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr uint32_t kDxt1[8] = {32, 4, fourCC("DXT1"), 0, 0, 0, 0, 0};
constexpr uint32_t kRgb8[8] = {32, 0x40, 0, 24, 0xff0000, 0xff00, 0xff, 0};
// Offsets of fields.
constexpr size_t kSize = 4, kFlags = 8, kDepth = 24, kMips = 28, kGimp = 32, kGimpCoding = 44,
                 kWriter = 68, kPixelSize = 76, kPixelFlags = 80, kBits = 88, kCaps2 = 112,
                 kDimension = 132, kMisc = 136, kArraySize = 140, kMisc2 = 144;

Bytes with(Bytes file, std::initializer_list<std::pair<size_t, uint32_t>> fields)
{
    for (const auto& [at, value] : fields)
        storeLe32(&file[at], value);
    return file;
}

struct Told {
    SluiceStatus status;
    SluiceImageInfo info;
    std::string reason;
};

Told tell(const Bytes& file)
{
    parseImage(file); // from a buffer of exactly the file's size
    Told told = {};
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    ImageStart start = {file.data(), file.size(), file.size(), 0, "", false};
    told.status = parseImageStart(start, told.info, levels);
    told.reason = start.reason;
    return told;
}

void checkRefused(const Bytes& file, SluiceStatus status, const char* words)
{
    const Told told = tell(file);
    CHECK(told.status == status);
    CHECK_MESSAGE(told.reason.find(words) != std::string::npos, told.reason);
}

bool hasFlag(const Told& told, SluiceImageFlags flag) { return (told.info.flags & flag) != 0; }

} // namespace

TEST_CASE(
    "dds writers: blocks with swizzled channels, and codes of BC6H and BC7, are read as they are")
{
    const struct {
        const char code[5];
        uint32_t format;
        bool isTold;
    } codes[] = {{"RXGB", 137, true},  {"A2D5", 137, true},  {"xGBR", 137, true},
                 {"RxBG", 137, true},  {"RBxG", 137, true},  {"xRBG", 137, true},
                 {"RGxB", 137, true},  {"xGxR", 137, true},  {"GXRB", 137, true},
                 {"GRXB", 137, true},  {"BRGX", 137, true},  {"A2XY", 141, false},
                 {"BC6H", 143, false}, {"BC7L", 145, false}, {"BC7\0", 145, false}};
    for (const auto& one : codes) {
        CAPTURE(one.code);
        uint32_t code = 0;
        std::memcpy(&code, one.code, 4);
        const TestImage image(one.format, 19, 11, 0, 0, 1, 5);
        const Bytes file = makeDds(image, {32, 4, code, 0, 0, 0, 0, 0});
        checkSlices(file, image);
        CHECK(tell(file).reason.empty() != one.isTold);
    }
}

TEST_CASE("dds writers: numbers of D3DFORMAT as codes")
{
    const std::pair<uint32_t, uint32_t> codes[] = {
        {20, 30}, {21, 44},         {22, 44},         {23, 4},          {24, 8},
        {25, 8},  {26, 1000340000}, {28, 1000470001}, {30, 1000340000}, {31, 64},
        {32, 37}, {33, 37},         {34, 77},         {35, 58},         {50, 9},
        {51, 16}, {60, 17},         {63, 38},         {64, 78},         {81, 70}};
    for (const auto& [code, format] : codes) {
        CAPTURE(code);
        const TestImage image(format, 19, 11, 0, 0, 1, 5);
        const Bytes file = makeDds(image, {32, 4, code, 0, 0, 0, 0, 0});
        checkSlices(file, image);
        CHECK(hasFlag(tell(file), SLUICE_IMAGE_OPAQUE) ==
              (code == 22 || code == 24 || code == 30 || code == 33));
    }
}

TEST_CASE("dds writers: signed formats, grey that is called RGB, and every order of 16 bits")
{
    const struct {
        uint32_t words[8];
        uint32_t format;
    } known[] = {
        {{32, 0x80000, 0, 16, 0xff, 0xff00, 0, 0}, 17},
        {{32, 0x80000, 0, 32, 0xff, 0xff00, 0xff0000, 0xff000000}, 38},
        {{32, 0x80000, 0, 32, 0xffff, 0xffff0000, 0, 0}, 78},
        {{32, 0x40, 0, 8, 0xff, 0, 0, 0}, 9},          // NVTT 1
        {{32, 0x20040, 0, 8, 0xff, 0, 0, 0}, 9},       // both flags
        {{32, 0x20000, 0, 8, 0xff, 0xff, 0xff, 0}, 9}, // three masks
        {{32, 0x40, 0, 16, 0xffff, 0, 0, 0}, 70},
        {{32, 0x41, 0, 16, 0xff, 0, 0, 0xff00}, 16},
        {{32, 0x20001, 0, 8, 0xff, 0, 0, 0xff00}, 16}, // the bits of one channel
        {{32, 0x40, 0, 16, 0xff, 0xff00, 0, 0}, 16},
        {{32, 0x40, 0, 32, 0xffffffff, 0, 0, 0}, 100},
        {{32, 0x40, 0, 16, 0x1f, 0x7e0, 0xf800, 0}, 5},
        {{32, 0x41, 0, 16, 0xf800, 0x7c0, 0x3e, 1}, 6},
        {{32, 0x41, 0, 16, 0x3e, 0x7c0, 0xf800, 1}, 7},
        {{32, 0x41, 0, 16, 0x1f, 0x3e0, 0x7c00, 0x8000}, 1000470000},
        {{32, 0x41, 0, 16, 0xf000, 0xf00, 0xf0, 0xf}, 2},
        {{32, 0x41, 0, 16, 0xf0, 0xf00, 0xf000, 0xf}, 3},
        {{32, 0x41, 0, 16, 0xf, 0xf0, 0xf00, 0xf000}, 1000340001},
        {{32, 0x40000004, fourCC("DXT5"), 0, 0, 0, 0, 0}, 137}, // flags beside a code
        {{32, 0x44, fourCC("DXT5"), 32, 0xff0000, 0xff00, 0xff, 0}, 137},
        {{0, 0, fourCC("DXT5"), 0, 0, 0, 0, 0}, 137},  // Unreal Tournament 2004
        {{24, 4, fourCC("DXT5"), 0, 0, 0, 0, 0}, 137}, // Flat Out 2
    };
    for (const auto& one : known) {
        const TestImage image(one.format, 19, 11, 0, 0, 1, 5);
        CAPTURE(image.text());
        CAPTURE(one.words[1]);
        checkSlices(makeDds(image, one.words), image);
    }
    // Stalker 2 writes 24 for 124.
    const TestImage image(133, 16, 16, 0, 0, 1, 5);
    checkSlices(with(makeDds(image, kDxt1), {{kSize, 24}}), image);
}

TEST_CASE("dds writers: a pixel format that is refused is named with what it is")
{
    const TestImage image(37, 19, 11, 0, 0, 1, 5);
    const struct {
        uint32_t words[8];
        const char* says;
    } refused[] = {
        {{32, 0x20, 0, 8, 0, 0, 0, 0}, "a palette"},
        {{32, 0x21, 0, 16, 0, 0, 0, 0xff00}, "a palette"},
        {{32, 0x8, 0, 4, 0, 0, 0, 0}, "a palette"},
        {{32, 0x40000, 0, 32, 0xff, 0xff00, 0xff0000, 0}, "BUMPLUMINANCE"},
        {{32, 0x40000, 0, 16, 0x1f, 0x3e0, 0xfc00, 0}, "BUMPLUMINANCE"},
        {{32, 0x400, 0, 16, 0, 0xffff, 0, 0}, "depth"},
        {{32, 0x200, 0, 32, 0xff, 0xff00, 0xff0000, 0}, "YUV"},
        {{32, 0x41, 0, 32, 0x3ff, 0xffc00, 0x3ff00000, 0xc0000000}, "10 bits a channel"},
        {{32, 0x41, 0, 32, 0x3ff00000, 0xffc00, 0x3ff, 0xc0000000}, "10 bits a channel"},
        {{32, 0x80001, 0, 32, 0x3ff00000, 0xffc00, 0x3ff, 0xc0000000}, "flags 0x80001, 32 bits"},
        {{32, 0x40, 0, 8, 0xe0, 0x1c, 0x3, 0}, "8 bits and masks e0, 1c, 3, 0"},
        {{32, 0x20001, 0, 8, 0xf, 0, 0, 0xf0}, "masks f, 0, 0, f0"},
        {{32, 0x41, 0, 32, 0xff0000, 0xff00, 0xff, 0}, "masks ff0000, ff00, ff, 0"},
        {{32, 4, fourCC("UYVY"), 0, 0, 0, 0, 0}, "its pixel format has the fourCC 'UYVY'"},
        {{32, 4, fourCC("RGBG"), 0, 0, 0, 0, 0}, "its pixel format has the fourCC 'RGBG'"},
        {{32, 4, fourCC("XBOX"), 0, 0, 0, 0, 0}, "its pixel format has the fourCC 'XBOX'"},
        {{32, 4, fourCC("CTX1"), 0, 0, 0, 0, 0}, "its pixel format has the fourCC 'CTX1'"},
        {{32, 4, 117, 0, 0, 0, 0, 0}, "its pixel format has the fourCC 117"},
    };
    for (const auto& one : refused)
        checkRefused(makeDds(image, one.words), SLUICE_ERROR_VERSION, one.says);
    checkRefused(makeDds10(image, 89), SLUICE_ERROR_VERSION, "dxgiFormat is 89");
    checkRefused(with(makeDds(image, kDxt1), {{kSize, 32}}), SLUICE_ERROR_FORMAT,
                 "gives 32 as its size, and 124 is allowed");
}

TEST_CASE("dds writers: a volume that only one flag marks, and depths that contradict")
{
    const TestImage volume(133, 16, 16, 8, 0, 1, 5);
    const Bytes file = makeDds(volume, kDxt1);
    checkSlices(with(file, {{kCaps2, 0}}), volume);       // only DDSD_DEPTH
    checkSlices(with(file, {{kFlags, 0x21007}}), volume); // only DDSCAPS2_VOLUME
    // Nothing says that there is a depth, but the size does.
    checkRefused(with(file, {{kFlags, 0x21007}, {kCaps2, 0}}), SLUICE_ERROR_FORMAT,
                 "its depth is 8, but no flag says so");
    checkRefused(with(file, {{kCaps2, 0xfe00}}), SLUICE_ERROR_FORMAT, "only one can be");
    const TestImage flat(133, 16, 16, 0, 0, 1, 5);
    checkSlices(with(makeDds(flat, kDxt1), {{kDepth, 8}}), flat); // a depth without a flag, or of 1
    checkSlices(with(makeDds(flat, kDxt1), {{kDepth, 1}, {kFlags, 0x821007}}), flat);
    const Bytes dx10 = makeDds10(volume, 71);
    checkRefused(with(dx10, {{kDimension, 3}}), SLUICE_ERROR_FORMAT, "resourceDimension is 3");
    checkRefused(with(dx10, {{kDimension, 0}}), SLUICE_ERROR_FORMAT, "its depth is 8");
    checkSlices(with(makeDds10(flat, 71), {{kDepth, 8}}), flat);
}

TEST_CASE("dds writers: cubes whose faces are counted or marked in other ways")
{
    TestImage cube(133, 16, 16, 0, 0, 6, 3), cubes(133, 16, 16, 0, 2, 6, 3),
        layers(133, 16, 16, 0, 6, 1, 3);
    const Bytes one = makeDds10(cube, 71), two = makeDds10(cubes, 71);
    checkSlices(with(one, {{kArraySize, 6}}), cube); // an example of Microsoft's documentation
    CHECK(!hasFlag(tell(with(one, {{kArraySize, 6}})), SLUICE_IMAGE_ARRAY));
    CHECK(tell(with(one, {{kArraySize, 6}})).reason == "arraySize, 6, counts faces, not cubes");
    checkSlices(with(two, {{kArraySize, 12}}), cubes);
    checkSlices(with(one, {{kArraySize, 0}}), cube);
    checkSlices(with(one, {{kMisc, 0}}), cube);                  // the cube stands in caps2 alone
    checkSlices(with(one, {{kMisc, 0}, {kArraySize, 6}}), cube); // GIMP
    checkSlices(with(two, {{kMisc, 0}, {kArraySize, 12}}), cubes);
    checkSlices(makeDds10(layers, 71), layers); // nothing says that these are faces
    checkRefused(with(one, {{kArraySize, 7}}), SLUICE_ERROR_FORMAT, "the file ends at byte");

    const Bytes old = makeDds(cube, kDxt1);
    checkSlices(with(old, {{kCaps2, 0xfc00}}), cube); // faces without the flag of a cube
    checkSlices(with(old, {{kCaps2, 0x200}}), cube);  // and the flag without faces
    Bytes longer = with(old, {{kCaps2, 0x200}});
    longer.resize(longer.size() + 8);
    checkRefused(longer, SLUICE_ERROR_VERSION, "names none of its faces");
    checkRefused(with(old, {{kCaps2, 0x7e00}}), SLUICE_ERROR_VERSION, "faces are missing");
    checkRefused(with(old, {{kCaps2, 0x1400}}), SLUICE_ERROR_VERSION, "faces are missing");
}

TEST_CASE("dds writers: header fields of DX10 that writers leave 0")
{
    const TestImage image(133, 16, 16, 0, 0, 1, 5);
    const Bytes file = makeDds10(image, 71);
    checkSlices(with(file, {{kArraySize, 0}}), image);
    checkSlices(with(file, {{kDimension, 0}}), image);
    checkSlices(with(file, {{kPixelFlags, 0}}), image); // the code alone
    CHECK(tell(with(file, {{kMisc2, 4}})).reason == "its alpha is no opacity (alpha mode 4)");
    checkRefused(with(file, {{kDimension, 5}}), SLUICE_ERROR_FORMAT, "2 (1D) to 4 (3D)");
    const TestImage line(37, 33, 0, 0, 0, 1, 6); // its height has no meaning without the flag
    checkSlices(with(makeDds10(line, 28), {{12, 33}, {kFlags, 0x21005}}), line);
}

TEST_CASE("dds writers: the number of levels is corrected where the size leaves no doubt")
{
    const TestImage image(133, 16, 16, 0, 0, 1, 5), cube(133, 16, 16, 0, 0, 6, 5),
        single(133, 16, 16, 0, 0, 1, 1);
    const Bytes file = makeDds(image, kDxt1), faces = makeDds(cube, kDxt1);
    checkSlices(with(file, {{kMips, 6}}), image);
    checkSlices(with(file, {{kMips, 0xffffffff}}), image);
    CHECK(tell(with(file, {{kMips, 6}})).reason == "mipMapCount is 6, but 5 levels are there");
    checkSlices(with(makeDds(single, kDxt1), {{kMips, 77}}), single);
    for (const uint32_t count : {0u, 1u, 4u}) // levels that are not counted lie between the faces
        checkSlices(with(faces, {{kMips, count}}), cube);
    Bytes longer = with(file, {{kMips, 6}});
    longer.push_back(0);
    checkRefused(longer, SLUICE_ERROR_FORMAT, "mipMapCount is 6, and 16 x 16 x 1 texels have 5");
    Bytes shorter = file;
    shorter.pop_back();
    checkRefused(shorter, SLUICE_ERROR_FORMAT, "the file ends at byte");
    shorter.resize(160);
    checkRefused(shorter, SLUICE_ERROR_FORMAT, "before its first level does");
}

TEST_CASE("dds writers: rows at multiples of 4 bytes are refused, not read askew")
{
    const TestImage image(30, 5, 3, 0, 0, 1, 1);
    Bytes file = makeDds(image, kRgb8);
    checkSlices(file, image);
    file.resize(128 + 16 * 3);
    checkRefused(file, SLUICE_ERROR_FORMAT, "multiples of 4 bytes");
}

TEST_CASE("dds writers: what NVIDIA's tools and GIMP say in fields of their own")
{
    const TestImage image(137, 16, 16, 0, 0, 1, 5);
    TestImage srgb = image;
    srgb.format = 138;
    const Bytes file = makeDds(image, {32, 4, fourCC("DXT5"), 0, 0, 0, 0, 0});
    const Bytes coloured = with(file, {{kPixelFlags, 0x40000004}, {kWriter, fourCC("NVTT")}});
    checkSlices(coloured, srgb);
    CHECK(!hasFlag(tell(coloured), SLUICE_IMAGE_COLOUR_UNKNOWN));
    checkSlices(with(file, {{kPixelFlags, 0x40000004}}), image); // another writer's bit
    CHECK(tell(with(file, {{kPixelFlags, 0x80000004}, {kWriter, fourCC("NVTT")}})).reason ==
          "a normal map");
    CHECK(tell(with(file, {{kBits, fourCC("A2D5")}})).reason ==
          "a normal map with x in alpha and y in green");
    CHECK(hasFlag(tell(with(file, {{kPixelFlags, 0x8004}})), SLUICE_IMAGE_PREMULTIPLIED));
    const Bytes gimp = with(file, {{kGimp, fourCC("GIMP")}, {kGimp + 4, fourCC("-DDS")}});
    CHECK(tell(gimp).reason.empty());
    CHECK(tell(with(gimp, {{kGimpCoding, fourCC("YCG2")}})).reason ==
          "its channels are Co, Cg, scale and Y, not colours ('YCG2')");
    CHECK(tell(with(gimp, {{kGimpCoding, fourCC("AEXP")}})).reason ==
          "alpha scales the colours (AEXP)");
}

TEST_CASE("dds writers: DXGI_FORMATs of ASTC, and of 4 bits a channel")
{
    for (uint32_t size = 0; size < 14; ++size) {
        for (uint32_t kind = 0; kind < 3; ++kind) { // typeless, plain, sRGB
            CAPTURE(size);
            const TestImage image(157 + 2 * size + (kind == 2 ? 1 : 0), 37, 21, 0, 0, 1, 3);
            const Bytes file = makeDds10(image, 133 + 4 * size + kind);
            checkSlices(file, image);
            CHECK(hasFlag(tell(file), SLUICE_IMAGE_COLOUR_UNKNOWN) == (kind == 0));
        }
    }
    for (const uint32_t dxgi : {132u, 136u, 188u, 190u, 192u})
        CHECK(sluiceImageFormatOfDxgi(dxgi) == 0);
    CHECK(sluiceImageFormatOfDxgi(191) == 2);
}
