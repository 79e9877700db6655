// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluice pack -c float and -c huff: archives of weights, and of plain bytes, with the float
// codec.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>

#include "tests/support/short_runs.h"
#include "tests/tool/tool_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// Returns a model with a tensor of each kind that the plan treats differently.
Model mixedModel(std::mt19937& random)
{
    Model model = taggedModel();
    const auto add = [&](const std::string& name, const std::string& dtype, uint64_t count) {
        model.add(name, dtype, {count}, random);
    };
    add("a", "BF16", 700001); // so the next tensor begins 2 bytes after a multiple of 4
    add("b", "BF16", 300000);
    add("c.bias", "BF16", 20);
    add("d.bias", "BF16", 4000);
    add("e", "F32", 40000); // it begins at an unaligned offset, too
    add("f", "F16", 50003);
    add("g", "F8_E4M3", 100001);
    add("h", "F8_E5M2", 100003);
    model.add("empty", "BF16", {0}, "");
    model.add("i", "U8", {200000}, randomBytes(200000, 5, random)); // it gets Huffman codes
    model.add("j", "I8", {100000}, std::string(100000, 'x'));       // it gets GDeflate
    // This one gets the smaller of Huffman codes and GDeflate.
    model.add("k", "I64", {12500}, normalBytes("F8_E4M3", 100000, random));
    model.add("l", "U8", {80000}, noise(80000));
    add("m", "F32", 30001);
    return model;
}

// Returns random numbers as fp8 E4M3. They are scaled so that few are above the largest one.
std::string scaledE4m3(size_t count, std::mt19937& random)
{
    std::normal_distribution<float> normal(0, 75);
    std::string bytes;
    while (bytes.size() < count) {
        const float number = normal(random), magnitude = std::min(std::fabs(number), 448.0f);
        const int exponent = std::max(magnitude > 0 ? std::ilogb(magnitude) : -6, -6);
        // 8 to 16, or less than 8 for a subnormal number.
        const int steps = int(std::lrint(std::ldexp(magnitude, 3 - exponent)));
        bytes.push_back(char((number < 0 ? 128 : 0) | (steps + (exponent + 6) * 8)));
    }
    return bytes;
}

} // namespace

TEST_CASE("tool weights: fp8 gets smaller from level 10 on")
{
    std::mt19937 random = makeRandom(95);
    const Folder folder;
    Model model;
    model.add("a", "F8_E4M3", {1000, 1000}, scaledE4m3(1000000, random));
    folder.write("m.safetensors", model);
    const auto packedSize = [&](const std::string& level) {
        REQUIRE(folder("pack -f -c float -l " + level + " m.safetensors -o m.sluice") == 0);
        REQUIRE(folder.onCpu("unpack -f m.sluice -o out.safetensors") == 0);
        CHECK(folder.read("out.safetensors") == model.bytes());
        return folder.read("m.sluice").size();
    };
    const size_t nine = packedSize("9"), ten = packedSize("10");
    CHECK(nine < 832000);
    CHECK(ten < 820000);
    CHECK(packedSize("12") == ten);
    CHECK(packedSize("1") == nine);
}

TEST_CASE("tool weights: pack -c float and unpack give the identical file")
{
    std::mt19937 random = makeRandom(94);
    const Folder folder;
    const std::string bytes = mixedModel(random).bytes();
    const auto roundTrip = [&](const std::string& model) {
        folder.write("m.safetensors", model);
        REQUIRE(folder("pack -f -c float -l 3 -j 1 m.safetensors -o m.sluice") == 0);
        CHECK(folder.errors() == "");
        REQUIRE(folder("pack -f -c float -l 3 -j 3 m.safetensors -o n.sluice") == 0);
        CHECK(folder.read("m.sluice") == folder.read("n.sluice"));
        REQUIRE(folder.onCpu("unpack -f m.sluice -o out.safetensors") == 0);
        CHECK(folder.read("out.safetensors") == model);
        CHECK(folder.onCpu("verify m.sluice") == 0);
        REQUIRE(folder("info --json m.sluice") == 0);
        return folder.output();
    };
    const std::string info = roundTrip(bytes);
    CHECK(numberAfter(info, "size") == bytes.size());
    CHECK(numberAfter(info, "tileSize") == 1 << 20);
    CHECK(numberAfter(info, "floatTiles") >= 8);
    CHECK(numberAfter(info, "storedTiles") >= 1); // tensor "l"
    CHECK(numberAfter(info, "storedSize") < bytes.size() * 3 / 4);

    // If the header is not padded, all tensors begin at odd offsets.
    uint64_t headerSize = 0;
    std::memcpy(&headerSize, bytes.data(), 8);
    for (const size_t spaces : std::initializer_list<size_t>{1, 2, 3}) {
        const uint64_t size = headerSize + spaces;
        std::string moved(reinterpret_cast<const char*>(&size), 8);
        moved += bytes.substr(8, size_t(headerSize)) + std::string(spaces, ' ') +
                 bytes.substr(8 + size_t(headerSize));
        roundTrip(moved);
    }
    roundTrip(Model().bytes());
}

TEST_CASE("tool weights: pack -c float keeps what is no good safetensors file, and folders")
{
    std::mt19937 random = makeRandom(95);
    const Folder folder;
    std::string bytes = mixedModel(random).bytes();
    bytes.pop_back();
    folder.write("in/bad.safetensors", bytes);
    folder.write("in/config.json", "{}");
    folder.write("in/empty", "");
    REQUIRE(folder("pack -c float -l 1 in -o m.sluice") == 0);
    CHECK(folder.errors().find("sluice: in/bad.safetensors: packed as plain bytes: ") == 0);
    CHECK_FALSE(contains(folder.errors(), "config.json"));
    folder.write("blank.safetensors", bytes.substr(0, 8) + " " + bytes.substr(8));
    folder.write("size.safetensors", bytes.substr(0, 7) + "x" + bytes.substr(8));
    folder.write("short.safetensors", bytes.substr(0, 5));
    for (const std::string name : {"blank.safetensors", "size.safetensors", "short.safetensors"}) {
        REQUIRE(folder("pack -f -c float -l 1 " + name + " -o p.sluice") == 0);
        CHECK(folder.errors() ==
              "sluice: " + name +
                  ": packed as plain bytes: it does not begin as a .safetensors file does\n");
        CHECK(folder.unpackError(name + " -o x") ==
              name + ": neither a .sluice archive, a tile stream, a Zstandard file nor a "
                     ".safetensors file");
    }
    REQUIRE(folder.onCpu("unpack m.sluice -C out") == 0);
    for (const char* name : {"in/bad.safetensors", "in/config.json", "in/empty"})
        CHECK(folder.read("out/" + std::string(name)) == folder.read(name));
}

TEST_CASE("tool weights: pack -c huff")
{
    std::mt19937 random = makeRandom(96);
    const Folder folder;
    for (const size_t size : std::initializer_list<size_t>{0, 1, 1000, 100000, (1 << 20) + 5000}) {
        folder.write("file", randomBytes(size, 7, random));
        REQUIRE(folder("pack -f -c huff file -o file.sluice") == 0);
        REQUIRE(folder.onCpu("unpack -f file.sluice -o back") == 0);
        CHECK(folder.read("back") == folder.read("file"));
        if (size >= 100000) CHECK(folder.read("file.sluice").size() < size * 3 / 4);
    }
    CHECK(folder("pack -c nothing file -o x") == 1);
}

TEST_CASE("tool weights: damaged tiles of an archive of weights are found, and named")
{
    std::mt19937 random = makeRandom(97);
    const Folder folder;
    Model model;
    model.add("a", "BF16", {600000}, random);
    folder.write("m.safetensors", model);
    REQUIRE(folder("pack -c float m.safetensors -o m.sluice") == 0);
    const std::string good = folder.read("m.sluice");
    // Tile 0 is the model's header. The header of tile 1 says BF16 and 524,288 elements.
    const std::string head = std::string("\0\0\0\0\0\0\x08\0", 8);
    const size_t tile = good.find(head, 64);
    REQUIRE(tile != std::string::npos);
    REQUIRE(tile % 16 == 0);
    const auto damaged = [&](size_t at, char change) {
        std::string bytes = good;
        bytes[tile + at] = char(bytes[tile + at] ^ change);
        folder.write("m.sluice", bytes);
        CHECK(folder.onCpu("verify m.sluice") == 3);
        return folder.errors();
    };
    const std::string place =
        "sluice: m.sluice: asset 'm.safetensors', tile 1, bytes " + std::to_string(tile) + " to ";
    const auto says = [&](const std::string& text, uint32_t status) {
        const std::string end = std::string(": ") + sluiceGetTileStatusText(status) + "\n";
        return text.find(place) == 0 && text.find(end) == text.size() - end.size();
    };
    for (const size_t at :
         std::initializer_list<size_t>{0, 4, 8, 12, 16 + 60, 144 + 4, 160 + 4096, 160 + 600000})
        CHECK(damaged(at, 1).find(place) == 0);
    CHECK(says(damaged(12, 1), SLUICE_TILE_BAD_REGION));
    CHECK(says(damaged(16 + 60, 8), SLUICE_TILE_BAD_CODE));
    CHECK(damaged(160 + 600, 1).find(place) == 0);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("tool weights: an archive of several codecs is decoded and checked on the device")
{
    if (skipsSlowCompiler() || skipsOtherSizes()) return;
    std::mt19937 random = makeRandom(101);
    const Folder folder;
    Model model;
    model.add("a", "BF16", {40000}, random);
    model.add("b", "F32", {20000}, random);
    model.add("c", "U8", {70000}, randomBytes(70000, 5, random));
    model.add("d", "U8", {200000}, noise(200000));
    model.add("e", "F8_E5M2", {70001}, random);
    folder.write("in/m.safetensors", model);
    folder.write("in/text", std::string(100000, 'x'));
    REQUIRE(folder("pack -c float in -o m.sluice") == 0);
    CHECK(folder("verify m.sluice --compare ." + onDevice()) == 0);
    CHECK((folder.errors() == ""));
    const std::string good = folder.read("m.sluice");
    const auto damaged = [&](size_t at) {
        std::string bytes = good;
        bytes[at] = char(bytes[at] ^ 4);
        folder.write("m.sluice", bytes);
        CHECK(folder("verify m.sluice" + onDevice()) == 3);
        const std::string place = "sluice: m.sluice: asset 'in/m.safetensors', tile ",
                          error = folder.errors();
        CHECK(error.find(place) == 0);
        return error;
    };
    damaged(good.size() / 2);
    // The float tile of "a", which is BF16. Only the checksum shows that a mantissa has changed.
    const size_t tile = good.find(std::string("\0\0\0\0\x40\x9c\0\0", 8), 64);
    REQUIRE(tile != std::string::npos);
    REQUIRE(tile % 16 == 0);
    CHECK(contains(damaged(tile + 176 + 1000), sluiceGetTileStatusText(SLUICE_TILE_BAD_CHECKSUM)));
}

TEST_SUITE_END();
