// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests DDS files made by NVIDIA's texture tools: our reader finds the levels that an independent
// decoder found (tests/data/README.md).
#include <doctest/doctest.h>

#include <zlib.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "encode/image/texture.h"
#include "tests/support/blocks.h"
#include "tests/support/images.h"
#include "test_paths.h"

using namespace sluice;
using namespace sluice::test;

namespace {

const std::string kFolder = std::string(SLUICE_TEST_DATA_DIR) + "/nvtt/";

Bytes readData(const std::string& name)
{
    std::ifstream file(kFolder + name, std::ios::binary);
    REQUIRE(file.good());
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

} // namespace

TEST_CASE("dds: levels of files of NVIDIA's texture tools are where they should be")
{
    std::ifstream manifest(kFolder + "manifest.txt");
    std::string name, crc;
    uint32_t face = 0, level = 0, rows = 0;
    uint64_t offset = 0, size = 0;
    while (manifest >> name >> face >> level >> offset >> size >> crc) {
        CAPTURE(name);
        CAPTURE(level);
        const Bytes file = readData(name + ".dds");
        const ParsedImage parsed = parseImage(file);
        REQUIRE(parsed.status == SLUICE_OK);
        REQUIRE(level < parsed.info.levels);
        const SluiceImageLevel& found = parsed.levels[level];
        uint64_t inLevel = 0;
        REQUIRE(sluiceGetImageOffset(&parsed.info, &found, 0, face, 0, &inLevel) == SLUICE_OK);
        CHECK(found.offset + inLevel == offset);
        CHECK(found.imageSize == size);
        const uint8_t* const bytes = &file[size_t(found.offset + inLevel)];
        CHECK(crc32(0, bytes, uInt(found.imageSize)) == std::stoul(crc, nullptr, 16));
        ++rows;
    }
    CHECK(rows == 7 * 5 + 6 * 4);
}

TEST_CASE("dds: what NVIDIA's texture tools decode is what our reading of a file gives")
{
    const struct {
        const char* name;
        uint32_t format, channels;
    } cases[] = {{"rgb", 44, 4},  {"bc1", 133, 3}, {"bc1a", 133, 4},
                 {"bc3", 137, 4}, {"bc4", 139, 1}, {"bc5", 141, 2}};
    for (const auto& one : cases) {
        CAPTURE(one.name);
        const Bytes file = readData(std::string(one.name) + ".dds"),
                    tga = readData(std::string(one.name) + ".tga");
        const ParsedImage parsed = parseImage(file);
        REQUIRE(parsed.status == SLUICE_OK);
        CHECK(parsed.info.format == one.format);
        Pixels wanted;
        REQUIRE(readTga(tga.data(), tga.size(), wanted) == nullptr);
        REQUIRE(parsed.info.width == wanted.width);
        REQUIRE(parsed.info.height == wanted.height);
        const SluiceImageLevel& level = parsed.levels[0];
        const Bytes bytes(file.begin() + ptrdiff_t(level.offset),
                          file.begin() + ptrdiff_t(level.offset + level.size));
        std::vector<double> found;
        if (one.format == 44) {
            for (size_t i = 0; i < bytes.size(); i += 4)
                for (const size_t c : {2, 1, 0, 3})
                    found.push_back(bytes[i + c]);
        } else {
            found = decodeBlocks(bytes, wanted.width, wanted.height, one.format);
        }
        REQUIRE(found.size() == wanted.rgba.size());
        double worst = 0;
        for (size_t i = 0; i < found.size(); ++i)
            if (i % 4 < one.channels) worst = std::max(worst, std::abs(found[i] - wanted.rgba[i]));
        CHECK(worst < 2); // that decoder rounds differently
    }
}
