// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluice pack --images: what the numbers in a picture are, by its name, by --kind and by
// rules, and what a file says about how its pixels are meant.
#include "encode/image/texture.h"
#include "tests/support/images.h"
#include "tests/support/png.h"
#include "tests/support/tga.h"
#include "tests/support/unpacked_texture.h"
#include "tests/tool/tool_run.h"
#include "test_paths.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr uint32_t kRgba8 = 37, kRgba8Srgb = 43;

// Returns a Targa file of 8 x 8 texels of one colour.
std::string plainTga(uint8_t red, uint8_t green, uint8_t blue)
{
    Bytes file = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 8, 0, 24, 0};
    for (int i = 0; i < 64; ++i)
        file.insert(file.end(), {blue, green, red});
    return text(file);
}
const std::string kFlat = plainTga(128, 128, 255), kRed = plainTga(200, 30, 20),
                  kGreyOne = plainTga(90, 90, 90);

// Returns the line that pack -v says about a file.
std::string lineOf(const std::string& said, const std::string& name)
{
    const size_t at = said.find(name + ": ");
    return at == std::string::npos ? "" : said.substr(at, said.find('\n', at) - at);
}

#if SLUICE_HAVE_PNG || SLUICE_HAVE_JPEG
// EXIF with an orientation, in the order of bytes of Motorola or of Intel.
Bytes exif(uint8_t orientation, bool isBigEndian)
{
    return isBigEndian ? Bytes{'M', 'M', 0, 42, 0, 0, 0,           8, 0, 1, 1, 0x12, 0,
                               3,   0,   0, 0,  1, 0, orientation, 0, 0, 0, 0, 0,    0}
                       : Bytes{'I', 'I', 42, 0, 8, 0,           0, 0, 1, 0, 0x12, 1, 3,
                               0,   1,   0,  0, 0, orientation, 0, 0, 0, 0, 0,    0, 0};
}
#endif

} // namespace

TEST_CASE("tool pictures: names that the trade uses say what a picture is")
{
    Folder tool("in");
    const char* const normals[] = {"flat_NormalGL",   "Bricks075A_1K-PNG_NormalDX",
                                   "rock_nor_gl_1k",  "rock_nor_dx_2k",
                                   "wall-normal",     "Wall_Normal_DirectX",
                                   "wall_normal-ogl", "T_Rock_N",
                                   "rock_NRM16",      "normal",
                                   "stone.normalmap", "x_Normal_LOD0",
                                   "wallNormal",      "y_NormalMap",
                                   "door_bump"};
    const char* const data[] = {"metal_orm",
                                "T_Rock_ORM",
                                "rock_arm_1k",
                                "wood_rough",
                                "wood_Roughness",
                                "wood_rough_4k",
                                "rock_ao_1k",
                                "rock_AO",
                                "Rock_AmbientOcclusion",
                                "rock_disp_1k",
                                "rock_Displacement",
                                "rock_height",
                                "pipe_Metallic",
                                "pipe_metal_2k",
                                "Wall_MetallicSmoothness",
                                "Wall_MaskMap",
                                "helmet_occlusionRoughnessMetallic",
                                "rock_RMA",
                                "roughness",
                                "rock_roughness_map",
                                "x_Opacity",
                                "y_gloss",
                                "hill_bump"};
    const char* const colours[] = {"rock_diff_1k", "rock_Color", "rock_albedo", "T_Rock_D",
                                   "rusty_metal",  "robot_arm",  "gas_mask",    "storm",
                                   "kao",          "world_map",  "north_n",     "button_normal",
                                   "rock",         "x_spec"};
    for (const char* name : normals)
        tool.write("in/" + std::string(name) + ".tga", kFlat);
    for (const char* name : data)
        tool.write("in/" + std::string(name) + ".tga", kRed);
    for (const char* name : colours)
        tool.write("in/" + std::string(name) + ".tga", kRed);
    tool.write("in/leaf_mask.tga", kGreyOne); // a word that needs greys, and has them
    REQUIRE(tool("pack --images -v -o a.sluice in") == 0);
    const std::string said = tool.errors();
    const auto check = [&](const char* name, const char* format, const char* why) {
        const std::string line = lineOf(said, "in/" + std::string(name) + ".tga");
        CHECK_MESSAGE(contains(line, format), line);
        CHECK_MESSAGE(contains(line, why), line);
    };
    for (const char* name : normals)
        check(name, "R8G8B8A8_UNORM", "a normal map (its name says '");
    for (const char* name : data)
        check(name, "R8G8B8A8_UNORM", "numbers, not colours (its name says '");
    for (const char* name : colours)
        check(name, "R8G8B8A8_SRGB", "opaque colours");
    check("leaf_mask", "R8G8B8A8_UNORM", "its name says 'mask'");
    check("rock_nor_dx_2k", "UNORM", "DirectX: green points down");
    check("flat_NormalGL", "UNORM", "OpenGL: green points up");
    check("button_normal", "SRGB", "though its name says 'normal': its texels are no unit vectors");
    check("gas_mask", "SRGB", "its texels are not grey");
}

TEST_CASE("tool pictures: --kind and rules say what a picture is, and --explain which was taken")
{
    Folder tool("in");
    tool.write("in/a.tga", kRed);
    tool.write("in/b_orm.tga", kRed);
    tool.write("r.toml", "[[rule]]\nfiles = \"a.tga\"\nkind = \"normal\"\n");
    const auto formatOf = [&](const std::string& options, const std::string& name) {
        REQUIRE(tool("pack -f --images -v -o a.sluice " + options + " in") == 0);
        return lineOf(tool.errors(), "in/" + name);
    };
    CHECK(contains(formatOf("", "a.tga"), "R8G8B8A8_SRGB"));
    CHECK(contains(formatOf("--kind data=a.tga", "a.tga"), "R8G8B8A8_UNORM"));
    CHECK(contains(formatOf("--kind 'mask=in/*'", "b_orm.tga"),
                   "R8G8B8A8_UNORM, 8 x 8, 4 levels: numbers, not colours (by --kind or a rule)"));
    CHECK(contains(formatOf("--kind color=b_orm.tga", "b_orm.tga"), "R8G8B8A8_SRGB"));
    CHECK(contains(formatOf("--kind 'data=*' --kind color=a.tga", "a.tga"), "R8G8B8A8_SRGB"));
    CHECK(contains(formatOf("--kind 'data=*' --kind auto=a.tga", "a.tga"), "R8G8B8A8_SRGB"));
#if SLUICE_HAVE_SQUISH
    CHECK(contains(formatOf("--bc auto --kind mask=a.tga", "a.tga"), "BC4_UNORM_BLOCK"));
    CHECK(contains(formatOf("--bc auto --kind normal=a.tga", "a.tga"), "BC5_UNORM_BLOCK"));
    CHECK(contains(formatOf("--bc auto", "b_orm.tga"), "BC1_RGB_UNORM_BLOCK"));
    tool.write("in/c_ao.tga", kGreyOne);
    CHECK(contains(formatOf("--bc auto", "c_ao.tga"), "BC4_UNORM_BLOCK"));
#endif
    REQUIRE(tool("pack --images --explain in/b_orm.tga in") == 0);
    CHECK(contains(tool.output(), "kind           auto       (default)\n"));
    CHECK(contains(tool.output(), "numbers, not colours (its name says 'orm')\n"));
    REQUIRE(tool("pack --images --kind color=b_orm.tga --explain in/b_orm.tga in") == 0);
    CHECK(contains(tool.output(), "kind           color      (command line)\n"));
    CHECK(contains(formatOf("--rules r.toml --kind 'data=*'", "a.tga"), "a normal map"));
    REQUIRE(tool("pack --images --rules r.toml --kind 'data=*' --explain in/a.tga in") == 0);
    CHECK(contains(tool.output(), "kind           normal     (r.toml:1, files = \"a.tga\")\n"));
    tool.write("r.toml", "[[rule]]\nfiles = \"a.tga\"\nkind = \"colour\"\n");
    CHECK(tool("pack -f --images --rules r.toml -o a.sluice in") == 1);
    CHECK(contains(tool.errors(),
                   "r.toml:3: kind 'colour' is none of color, data, normal, mask or auto"));
    for (const char* wrong : {"data", "data=", "colour=*", "=*"}) {
        CHECK(tool("pack -f --images --kind '" + std::string(wrong) + "' -o a.sluice in") == 1);
        CHECK(contains(tool.errors(), ": is not KIND=GLOB with color, data, normal, mask or auto"));
    }
    CHECK(tool("pack -f --images --kind data=none.tga -o a.sluice in") == 1);
    CHECK(contains(tool.errors(), "--kind data=none.tga: no name matches the glob"));
    CHECK(tool("pack -f --kind data=a.tga -o a.sluice in") == 1);
}

TEST_CASE("tool pictures: numbers are averaged as numbers, alpha too")
{
    Folder tool;
    Bytes file = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 32, 8};
    file.insert(file.end(), {10, 20, 30, 255, 110, 220, 130, 0}); // blue, green, red, alpha
    tool.write("x_orm.tga", text(file));
    const UnpackedTexture texture(tool, "x_orm.tga");
    CHECK(texture.parsed.info.format == kRgba8);
    CHECK(texture.level(1) == Bytes{80, 120, 60, 128});
}

#if SLUICE_HAVE_PNG

TEST_CASE("tool pictures: a PNG is turned as its EXIF says")
{
    Folder tool;
    Bytes rows; // 3 x 2: a texel's red is its number
    for (uint8_t i = 0; i < 6; ++i)
        rows.insert(rows.end(), {i, 0, 0});
    for (const bool big : {true, false}) {
        tool.write("a.png", text(makePng(3, 2, 8, 2, rows, {}, {}, {{"eXIf", exif(6, big)}})));
        const UnpackedTexture texture(tool, "a.png");
        CHECK(texture.parsed.info.width == 2);
        CHECK(texture.parsed.info.height == 3);
        const Bytes top = texture.level(0);
        const uint8_t shown[] = {3, 0, 4, 1, 5, 2};
        for (size_t i = 0; i < 6; ++i)
            CHECK(top[4 * i] == shown[i]);
    }
    REQUIRE(tool("pack -f --images -v -o a.sluice a.png") == 0);
    CHECK(contains(tool.errors(), "opaque colours; turned, as its EXIF orientation, 6, says\n"));
    // Damaged EXIF changes nothing.
    for (size_t size = 0; size < 26; ++size) {
        Bytes cut = exif(6, true);
        cut.resize(size);
        tool.write("a.png", text(makePng(3, 2, 8, 2, rows, {}, {}, {{"eXIf", cut}})));
        CHECK(tool("pack -f --images -o a.sluice a.png") == 0);
    }
}

TEST_CASE("tool pictures: what a PNG says of its colours is told, unless it is sRGB")
{
    Folder tool;
    const Bytes rows(12, 90);
    using Chunks = std::vector<std::pair<std::string, Bytes>>;
    const Bytes linear = {0, 1, 0x86, 0xa0}, usual = {0, 0, 0xb1, 0x8f};
    const Bytes adobe = {'A', 'd', 'o', 'b', 'e', 0, 0, 1}, srgb = {'s', 'R', 'G', 'B', 0, 0, 1};
    const struct {
        Chunks chunks;
        const char* says; // null: nothing
    } cases[] = {{{}, nullptr},
                 {{{"gAMA", usual}}, nullptr},
                 {{{"gAMA", linear}}, "its gamma of 1.00000 (gAMA) is ignored"},
                 {{{"gAMA", linear}, {"sRGB", {0}}}, nullptr},
                 {{{"iCCP", adobe}}, "its colour profile 'Adobe' (iCCP) is ignored"},
                 {{{"iCCP", srgb}, {"gAMA", linear}}, nullptr},
                 {{{"cICP", {1, 13, 0, 1}}}, nullptr},
                 {{{"cICP", {9, 16, 0, 1}}}, "its coding, primaries 9 and transfer 16 (cICP)"}};
    for (const auto& one : cases) {
        tool.write("a.png", text(makePng(2, 2, 8, 2, rows, {}, {}, one.chunks)));
        REQUIRE(tool("pack -f --images -o a.sluice a.png") == 0);
        CHECK_MESSAGE(tool.errors().empty() == (one.says == nullptr), tool.errors());
        if (one.says != nullptr) CHECK_MESSAGE(contains(tool.errors(), one.says), tool.errors());
    }
    tool.write("a.png", text(makePng(2, 1, 16, 2, rows)));
    REQUIRE(tool("pack -f --images -v -o a.sluice a.png") == 0);
    CHECK(contains(tool.errors(), "opaque colours; its 16 bits a channel are rounded to 8\n"));
    // Numbers have no colour space.
    tool.write("a_orm.png", text(makePng(2, 2, 8, 2, rows, {}, {}, {{"gAMA", linear}})));
    REQUIRE(tool("pack -f --images -o a.sluice a_orm.png") == 0);
    CHECK(tool.errors().empty());
}

TEST_CASE("tool pictures: a PNG that ends behind its pixels is read, and one before is not")
{
    Folder tool;
    const std::string whole = text(makePng(5, 4, 8, 2, Bytes(60, 77)));
    for (size_t less = 1; less <= 13; ++less) {
        CAPTURE(less);
        tool.write("a.png", whole.substr(0, whole.size() - less));
        REQUIRE(tool("pack -f --images -v -o a.sluice a.png") == 0);
        const bool isRead = less <= 12; // IEND
        CHECK(contains(tool.errors(), "it is cut off behind its last pixel (no IEND)") == isRead);
        CHECK(contains(tool.errors(), "packed as no image: ") != isRead);
    }
}

#endif
#if SLUICE_HAVE_JPEG

TEST_CASE("tool pictures: JPEG files are turned, and read if they end behind their pixels")
{
    Folder tool;
    const fs::path data = fs::path(SLUICE_TEST_DATA_DIR) / "pictures";
    const std::string whole = readFile(data / "colour.jpg");
    const auto withSegment = [&](uint8_t marker, const std::string& content) {
        const size_t size = content.size() + 2;
        return whole.substr(0, 2) + "\xff" + char(marker) + char(size >> 8) + char(size) + content +
               whole.substr(2);
    };
    tool.write("a.jpg", whole);
    const Bytes plain = UnpackedTexture(tool, "a.jpg").level(0); // 48 x 33
    const Bytes block = exif(8, true);
    tool.write("a.jpg", withSegment(0xe1, std::string("Exif\0\0", 6) + text(block)));
    const UnpackedTexture texture(tool, "a.jpg");
    CHECK(texture.parsed.info.width == 33);
    CHECK(texture.parsed.info.height == 48);
    CHECK(texture.worst([&](uint32_t x, uint32_t y, uint32_t channel) {
        return int(plain[(x * 48 + (47 - y)) * 4 + channel]);
    }) == 0);
    tool.write("a.jpg", withSegment(0xe2, std::string("ICC_PROFILE\0\1\1", 14) + "Adobe RGB"));
    REQUIRE(tool("pack -f --images -o a.sluice a.jpg") == 0);
    CHECK(contains(tool.errors(), "its colour profile (ICC) is ignored"));
    tool.write("a.jpg", withSegment(0xe2, std::string("ICC_PROFILE\0\1\1", 14) + "sRGB IEC"));
    REQUIRE(tool("pack -f --images -o a.sluice a.jpg") == 0);
    CHECK(tool.errors().empty());

    for (const char* name : {"colour.jpg", "grey.jpg", "progressive.jpg"}) {
        CAPTURE(name);
        const std::string file = readFile(data / name);
        tool.write("a.jpg", file);
        const Bytes expected = UnpackedTexture(tool, "a.jpg").level(0);
        for (const std::string& end : {std::string(), std::string("\0\0trailer", 9)}) {
            tool.write("a.jpg", file.substr(0, file.size() - 2) + end);
            REQUIRE(tool("pack -f --images -o a.sluice a.jpg") == 0);
            CHECK(contains(tool.errors(), "a.jpg: it is cut off behind its last pixel (no EOI)"));
            REQUIRE(tool.onCpu("unpack -f a.sluice -o t.ktx2") == 0);
            const std::string made = tool.read("t.ktx2");
            CHECK(contains(made, text(expected)));
        }
        tool.write("a.jpg", file.substr(0, file.size() - 40));
        REQUIRE(tool("pack -f --images -o a.sluice a.jpg") == 0);
        CHECK(contains(tool.errors(), "packed as no image: "));
    }
}

#endif

TEST_CASE("tool pictures: premultiplied Targa files make premultiplied textures")
{
    Folder tool;
    Bytes file = TestTga({2, 32, 0, 8}, 4, 4, 0).file;
    const uint32_t at = uint32_t(file.size());
    file.resize(at + 495);
    file[at] = 495 & 255;
    file[at + 1] = 1;
    file[at + 494] = 4;
    for (int shift = 0; shift < 64; shift += 8)
        file.push_back(shift < 32 ? uint8_t(at >> shift) : 0);
    const std::string footer = "TRUEVISION-XFILE.";
    tool.write("a.tga", text(file) + footer + '\0');
    const UnpackedTexture texture(tool, "a.tga");
    CHECK((texture.parsed.info.flags & SLUICE_IMAGE_PREMULTIPLIED) != 0);
    REQUIRE(tool("info t.sluice") == 0);
    CHECK(contains(tool.output(), "alpha premultiplied"));
}

TEST_CASE("tool pictures: what KTX2 files say about their pixels is told")
{
    Folder tool;
    Bytes file = makeKtx2({37, 8, 8, 0, 0, 1, 1});
    const auto rename = [&](const std::string& key, const std::string& value) {
        Bytes other = file;
        const std::string pair = key + '\0' + value + '\0';
        const ParsedImage parsed = parseImage(file);
        const size_t at = size_t(parsed.info.keyValueOffset);
        REQUIRE(4 + pair.size() <= parsed.info.keyValueSize);
        other[at] = uint8_t(parsed.info.keyValueSize - 4);
        std::fill(other.begin() + ptrdiff_t(at) + 4,
                  other.begin() + ptrdiff_t(at + parsed.info.keyValueSize), uint8_t(0));
        std::copy(pair.begin(), pair.end(), other.begin() + ptrdiff_t(at) + 4);
        tool.write("a.ktx2", text(other));
        REQUIRE(tool("pack -f --images -v -o a.sluice a.ktx2") == 0);
        return tool.errors();
    };
    CHECK(contains(rename("KTXorientation", "ru"),
                   "sluice: a.ktx2: its KTXorientation is 'ru', not 'rd' (right, down): it is "
                   "packed as it is"));
    CHECK(!contains(rename("KTXorientation", "rd"), "KTXorientation"));
    CHECK(!contains(rename("KTXorientation", "rdi"), "KTXorientation"));
    CHECK(contains(rename("KTXswizzle", "rrr1"), "shaders read its channels as rrr1 (KTXswizzle)"));
    tool.write("a.ktx2", text(makeKtx2({0, 8, 8, 0, 0, 1, 1})));
    REQUIRE(tool("pack -f --images -v -o a.sluice a.ktx2") == 0);
    CHECK(contains(tool.errors(), "a.ktx2: UASTC, without its hints"));
    REQUIRE(tool("info a.sluice") == 0);
    CHECK(contains(tool.output(), "UASTC"));
    // Small files of other kinds share tiles. These do not, so that each is told about.
    tool.write("b.ktx", std::string(100, 'k'));
    tool.write("a.ktx",
               text(Bytes{0xab, 'K', 'T', 'X', ' ', '1', '1', 0xbb, '\r', '\n', 26, '\n'}) +
                   std::string(100, '\0'));
    REQUIRE(tool("pack -f --images -o a.sluice a.ktx b.ktx") == 0);
    CHECK(contains(tool.errors(), "a.ktx: packed as no image: it is KTX 1, which is not read"));
    CHECK(contains(tool.errors(), "b.ktx: packed as no image: it is neither KTX2 nor DDS"));
}

TEST_CASE("tool pictures: a texture is unpacked under an honest name, which must be free")
{
    Folder tool("in");
    tool.write("in/a.tga", kRed);
    tool.write("in/a.tga.ktx2", "no image");
    REQUIRE(tool("pack --images -q -o a.sluice in") == 0);
    CHECK(tool.onCpu("unpack a.sluice -C out") == 2);
    CHECK(contains(tool.errors(), "out/in/a.tga.ktx2: would be the same file here as in/a.tga"));
    REQUIRE(tool.onCpu("unpack a.sluice in/a.tga -C out") == 0); // its own name selects it
    CHECK(contains(tool.read("out/in/a.tga.ktx2"), "KTX 20"));
}

TEST_CASE("tool weights: the hint names -c float, and a tensor that is not known changes no other")
{
    Folder tool("in");
    std::mt19937 random(5);
    Model model;
    model.add("a", "BF16", {50000}, random);
    model.add("b", "U8", {7}, "1234567");
    model.add("c", "BF16", {50000}, random);
    const std::string known = model.bytes();
    std::string unknown = known;
    unknown.replace(unknown.find("\"U8\""), 4, "\"X9\"");
    tool.write("in/m.safetensors", unknown);
    REQUIRE(tool("pack -o plain.sluice in") == 0);
    CHECK(contains(tool.errors(), "1 file is model weights (.safetensors): -c float makes such "));
    REQUIRE(tool("pack -c float -o a.sluice in") == 0);
    CHECK(tool.errors().empty());
    CHECK(fs::file_size(tool.path / "a.sluice") < known.size() * 3 / 4);
    REQUIRE(tool.onCpu("unpack a.sluice -C out") == 0);
    CHECK(tool.read("out/in/m.safetensors") == unknown);
    const size_t packed = fs::file_size(tool.path / "a.sluice");
    tool.write("in/m.safetensors", known);
    REQUIRE(tool("pack -f -c float -o a.sluice in") == 0);
    CHECK(fs::file_size(tool.path / "a.sluice") == packed);
    tool.write("in/m.safetensors", unknown);
    REQUIRE(tool("pack --raw -c df11 -o d.safetensors in/m.safetensors") == 0);
    uint64_t offset = 0;
    CHECK(parseModel(tool.read("d.safetensors"), offset).tensors.size() == 3);

    // A header is all of its bytes.
    std::string zero = known;
    const uint64_t size = uint8_t(zero[0]) | uint64_t(uint8_t(zero[1])) << 8;
    zero[size_t(8 + size - 1)] = '\0'; // the last byte, a space
    if (known[size_t(8 + size - 1)] == ' ') {
        tool.write("in/m.safetensors", zero);
        REQUIRE(tool("pack -f -c float -o a.sluice in") == 0);
        CHECK(
            contains(tool.errors(), "packed as plain bytes: the header has a byte of 0 at byte "));
    }
}
