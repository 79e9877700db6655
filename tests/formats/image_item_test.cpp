// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the descriptions of images in an archive's index: they are made, read back, and damaged in
// every byte.
#include "tests/support/archive_io.h"
#include "tests/support/image_ranges.h"
#include "tests/support/images.h"

#include <doctest/doctest.h>

#include <cstring>

#include "formats/little_endian.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// An asset of `size` bytes with these parameters, in memory that ends where they end.
struct Asset {
    Asset(const Bytes& parameters, uint64_t size) : bytes(parameters)
    {
        bytes.shrink_to_fit();
        asset.type = SLUICE_ASSET_IMAGE;
        asset.size = size;
        asset.parameters = bytes.empty() ? nullptr : bytes.data();
        asset.parameterSize = uint32_t(bytes.size());
    }
    SluiceStatus read()
    {
        const SluiceStatus status = sluiceGetArchiveImage(&asset, &info, levels);
        if (status == SLUICE_OK && info.container != SLUICE_IMAGE_NONE) {
            const char* bad = badRanges(info, levels, asset.size);
            CHECK_MESSAGE(bad == nullptr, bad);
        }
        return status;
    }

    Bytes bytes;
    SluiceArchiveAsset asset = {};
    SluiceImageInfo info = {};
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS] = {};
};

Bytes itemOf(const ParsedImage& image)
{
    Bytes item(SLUICE_IMAGE_ITEM_SIZE);
    uint32_t size = 0;
    REQUIRE(sluiceMakeArchiveImageItem(&image.info, image.levels, item.data(), &size) == SLUICE_OK);
    REQUIRE(size % 4 == 0);
    item.resize(size);
    return item;
}

std::vector<Bytes> someFiles()
{
    std::vector<Bytes> files;
    for (const TestImage& image : allShapes(43)) {
        files.push_back(makeKtx2(image));
        files.push_back(makeDds10(image, 29));
    }
    TestImage uastc(0, 8, 8, 0, 0, 1, 1);
    files.push_back(makeKtx2(uastc));
    uastc.channel = 5; // RRRG
    files.push_back(makeKtx2(uastc));
    files.push_back(makeKtx2({9, 5, 5, 0, 1, 1, 3})); // levels with bytes between
    return files;
}

} // namespace

TEST_CASE("image item: what goes in comes out")
{
    for (const Bytes& file : someFiles()) {
        ParsedImage image = parseImage(file);
        REQUIRE(image.status == SLUICE_OK);
        Asset asset(itemOf(image), file.size());
        REQUIRE(asset.read() == SLUICE_OK);
        image.info.keyValueOffset = image.info.keyValueSize = 0;
        if (image.info.format != 0) image.info.colourModel = image.info.channel = 0;
        CHECK(std::memcmp(&asset.info, &image.info, sizeof image.info) == 0);
        for (uint32_t i = 0; i < image.info.levels; ++i)
            CHECK(std::memcmp(&asset.levels[i], &image.levels[i], sizeof *image.levels) == 0);
        // The item may stand anywhere among other items.
        const Bytes other = {9, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c', 0};
        Bytes between = other;
        const Bytes item = itemOf(image);
        between.insert(between.end(), item.begin(), item.end());
        between.insert(between.end(), other.begin(), other.end());
        Asset second(between, file.size());
        CHECK(second.read() == SLUICE_OK);
        CHECK(second.info.width == image.info.width);
    }
    Asset none({}, 100), other({9, 0, 0, 0, 0, 0, 0, 0}, 100);
    for (Asset* asset : {&none, &other}) {
        CHECK(asset->read() == SLUICE_OK);
        CHECK(asset->info.container == SLUICE_IMAGE_NONE);
    }
}

TEST_CASE("image item: every value of every byte, and every size of the asset")
{
    for (const Bytes& file : someFiles()) {
        const Bytes item = itemOf(parseImage(file));
        Asset asset(item, file.size());
        REQUIRE(asset.read() == SLUICE_OK);
        size_t refused = 0;
        for (uint8_t& byte : asset.bytes) {
            const uint8_t good = byte;
            for (uint32_t value = 0; value < 256; ++value) {
                byte = uint8_t(value);
                refused += asset.read() != SLUICE_OK ? 1 : 0;
            }
            byte = good;
        }
        CHECK(refused > 100 * item.size() / 2);
        for (size_t size = 0; size <= file.size(); size += 1 + file.size() / 500) {
            asset.asset.size = size;
            if (size + 64 < file.size()) CHECK(asset.read() == SLUICE_ERROR_FORMAT);
        }
        for (size_t size = 1; size < item.size(); ++size) {
            Asset part(Bytes(item.begin(), item.begin() + ptrdiff_t(size)), file.size());
            CHECK(part.read() == SLUICE_ERROR_FORMAT);
        }
    }
}

TEST_CASE("image item: what a reader must refuse")
{
    const Bytes file = makeDds10({37, 16, 16, 0, 2, 6, 3}, 28);
    const ParsedImage image = parseImage(file);
    const Bytes item = itemOf(image);
    const auto changed = [&](size_t at, uint32_t value) {
        Bytes other = item;
        storeLe32(&other[8 + at], value);
        return Asset(other, file.size()).read();
    };
    CHECK(changed(0, 1 | 2 << 16) == SLUICE_OK);
    CHECK(changed(0, 2 | 2 << 16) == SLUICE_ERROR_VERSION);
    CHECK(changed(0, 1 | 3 << 16) == SLUICE_ERROR_VERSION); // another container
    CHECK(changed(8, 124) == SLUICE_ERROR_VERSION);         // a depth format
    CHECK(changed(8, 43) == SLUICE_ERROR_FORMAT);           // sRGB, which the flags deny
    // Another format is not noticed if its blocks have the same size.
    CHECK(changed(8, 38) == SLUICE_OK);
    CHECK(changed(8, 0) == SLUICE_ERROR_FORMAT);
    CHECK(changed(4, SLUICE_IMAGE_CUBE) == SLUICE_ERROR_FORMAT); // two layers and no array
    const uint32_t flags = SLUICE_IMAGE_CUBE | SLUICE_IMAGE_ARRAY;
    CHECK(changed(4, flags) == SLUICE_OK);
    CHECK(changed(4, flags | SLUICE_IMAGE_SRGB) == SLUICE_ERROR_FORMAT);
    CHECK(changed(4, flags | SLUICE_IMAGE_1D) == SLUICE_ERROR_FORMAT);
    CHECK(changed(4, flags | SLUICE_IMAGE_TRANSCODE) == SLUICE_ERROR_FORMAT);
    CHECK(changed(8, 9) == SLUICE_ERROR_FORMAT);
    CHECK(changed(4, 0) == SLUICE_ERROR_FORMAT); // six faces and no cube
    CHECK(changed(12, 15) == SLUICE_ERROR_FORMAT);
    CHECK(changed(12, 0) == SLUICE_ERROR_FORMAT);
    CHECK(changed(24, 3) == SLUICE_ERROR_FORMAT);
    CHECK(changed(28, 6 | 4 << 16) == SLUICE_ERROR_FORMAT);
    CHECK(changed(40, 1024) == SLUICE_ERROR_FORMAT); // images over each other
    CHECK(changed(40, 1348) == SLUICE_ERROR_FORMAT); // the last one past the end
    CHECK(changed(44, 1) == SLUICE_ERROR_FORMAT);
    CHECK(changed(40, 0) == SLUICE_ERROR_FORMAT);   // as KTX2 has it
    CHECK(changed(48, 127) == SLUICE_ERROR_FORMAT); // in the header
    CHECK(changed(48, 144) == SLUICE_ERROR_FORMAT); // levels over each other
    CHECK(changed(52, 1) == SLUICE_ERROR_FORMAT);
    // More layers times faces than 32 bits count.
    Bytes many = itemOf(parseImage(makeKtx2({9, 1, 1, 0, 1, 6, 1})));
    for (const uint32_t layers : {0x2aaaaaaau, 0x2aaaaaabu, 0xffffffffu}) {
        CAPTURE(layers);
        storeLe32(&many[8 + 24], layers);
        storeLe64(&many[8 + 56], uint64_t(layers) * 6);
        CHECK(Asset(many, 1ull << 40).read() ==
              (layers == 0x2aaaaaaa ? SLUICE_OK : SLUICE_ERROR_FORMAT));
    }
    uint32_t size = 0;
    Bytes out(SLUICE_IMAGE_ITEM_SIZE);
    SluiceImageInfo packed = image.info;
    packed.scheme = SLUICE_IMAGE_SCHEME_ZSTD;
    CHECK(sluiceMakeArchiveImageItem(&packed, image.levels, out.data(), &size) ==
          SLUICE_ERROR_ARGUMENT);
    SluiceImageInfo info;
    CHECK(sluiceGetArchiveImage(nullptr, &info, nullptr) == SLUICE_ERROR_ARGUMENT);
}
