// SPDX-License-Identifier: MIT OR Apache-2.0
// The reader of KTX2 files: made-up files of every kind, and what it must refuse.
#include "images.h"

#include <doctest/doctest.h>

#include <cstring>

#include "../src/formats/little_endian.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// What the reader says of a good file of 37 x 21 with 6 levels after a change.
SluiceStatus changed(const std::function<void(Bytes&)>& change, uint32_t format = 37)
{
    static const uint32_t levels = 6;
    Bytes file = makeKtx2({format, 37, 21, 0, 0, 1, levels});
    change(file);
    return parseImage(file).status;
}
SluiceStatus changed(size_t at, uint32_t value, uint32_t format = 37)
{
    return changed([&](Bytes& file) { storeLe32(&file[at], value); }, format);
}

constexpr size_t kLevelIndex = 80, kLevelEntry = 24, kDfd = 80 + 6 * 24;

} // namespace

TEST_CASE("ktx2: all formats")
{
    for (const uint32_t format : allFormats()) {
        const TestImage image(format, 37, 21, 0, 0, 1, 6);
        CAPTURE(image.text());
        checkSlices(makeKtx2(image), image);
        for (const auto& [scheme, pack] : {std::pair(2u, packZstd), std::pair(3u, packZlib)}) {
            const ParsedImage parsed = parseImage(makeKtx2(image, scheme, pack));
            REQUIRE(parsed.status == SLUICE_OK);
            CHECK(parsed.info.scheme == scheme);
            CHECK(parsed.levels[0].decodedSize == image.level(0).size());
            CHECK(parsed.levels[0].size == pack(image.level(0)).size());
        }
    }
}

TEST_CASE("ktx2: all shapes")
{
    for (const uint32_t format : {9u, 23u, 43u, 97u, 106u, 121u, 131u, 145u, 165u}) {
        std::vector<TestImage> shapes = allShapes(format);
        shapes.emplace_back(format, 9, 5, 6, 2, 1, 4); // an array of volumes
        shapes.emplace_back(format, 5, 5, 0, 1, 1, 2); // an array of one
        shapes.emplace_back(format, 1, 1, 1, 0, 1, 1); // a volume of one slice
        if (format < 131) {
            shapes.emplace_back(format, 33, 0, 0, 0, 1, 6);
            shapes.emplace_back(format, 33, 0, 0, 4, 1, 6);
            shapes.emplace_back(format, 33, 7, 0, 0, 1, 0);
        }
        for (TestImage& image : shapes) {
            CAPTURE(image.text());
            image.premultiplied = image.layers != 0;
            const Bytes file = makeKtx2(image);
            checkSlices(file, image);
            CHECK(checkNeeded(file) <= 5);
            const SluiceImageInfo info = parseImage(file).info;
            CHECK(info.container == SLUICE_IMAGE_KTX2);
            CHECK(((info.flags & SLUICE_IMAGE_ARRAY) != 0) == (image.layers != 0));
            CHECK(((info.flags & SLUICE_IMAGE_MAKE_LEVELS) != 0) == (image.levels == 0));
            CHECK(std::memcmp(&file[size_t(info.keyValueOffset) + 4], "KTXwriter", 10) == 0);
            CHECK(info.transfer == (format == 43 ? 2 : 1));
        }
    }
}

TEST_CASE("ktx2: every value of every byte of the header, and every length")
{
    const TestImage images[] = {{37, 37, 21, 0, 0, 1, 6},
                                {23, 6, 6, 0, 2, 6, 3},
                                {145, 20, 12, 0, 0, 1, 5},
                                {9, 5, 7, 3, 0, 1, 2}};
    for (const TestImage& image : images) {
        CAPTURE(image.text());
        const Bytes file = makeKtx2(image);
        checkMutations(file, 80 + 24 * image.levels + 28);
        checkTruncations(file);
        const Bytes packed = makeKtx2(image, 2, packZstd);
        checkMutations(packed, 80 + 24 * image.levels + 28);
        checkTruncations(packed);
    }
}

TEST_CASE("ktx2: what a reader must refuse")
{
    REQUIRE(changed([](Bytes&) {}) == SLUICE_OK);
    const struct {
        const char* what;
        size_t at;
        uint32_t value;
        SluiceStatus expected;
    } changes[] = {
        {"magic", 4, 0xbb313020, SLUICE_ERROR_FORMAT},
        {"no format", 12, 0, SLUICE_ERROR_VERSION},
        {"a format that is not known", 12, 999, SLUICE_ERROR_VERSION},
        {"depth", 12, 124, SLUICE_ERROR_VERSION},
        {"PVRTC", 12, 1000054000, SLUICE_ERROR_VERSION},
        {"a scaled format", 12, 39, SLUICE_ERROR_FORMAT},
        {"another scaled format", 12, 61, SLUICE_ERROR_FORMAT},
        {"planes", 12, 1000156003, SLUICE_ERROR_FORMAT},
        {"sRGB that the descriptor denies", 12, 43, SLUICE_ERROR_FORMAT},
        {"type size", 16, 4, SLUICE_ERROR_FORMAT},
        {"no width", 20, 0, SLUICE_ERROR_FORMAT},
        {"another width", 20, 36, SLUICE_ERROR_FORMAT},
        {"a depth", 28, 2, SLUICE_ERROR_FORMAT},
        {"layers", 32, 2, SLUICE_ERROR_FORMAT},
        {"2 faces", 36, 2, SLUICE_ERROR_FORMAT},
        {"no faces", 36, 0, SLUICE_ERROR_FORMAT},
        {"6 faces that are not square", 36, 6, SLUICE_ERROR_FORMAT},
        {"too many levels", 40, 7, SLUICE_ERROR_FORMAT},
        {"other levels", 40, 5, SLUICE_ERROR_FORMAT},
        {"BasisLZ", 44, 1, SLUICE_ERROR_VERSION},
        {"a newer scheme", 44, 4, SLUICE_ERROR_VERSION},
        {"a vendor's scheme", 44, 0x10000, SLUICE_ERROR_VERSION},
        {"a scheme that must not be", 44, 0x20000, SLUICE_ERROR_FORMAT},
        {"descriptor too early", 48, kDfd - 4, SLUICE_ERROR_FORMAT},
        {"descriptor too late", 48, kDfd + 4, SLUICE_ERROR_FORMAT},
        {"descriptor too short", 52, 24, SLUICE_ERROR_FORMAT},
        {"descriptor too long", 52, 32, SLUICE_ERROR_FORMAT},
        {"key/value data over the descriptor", 56, kDfd, SLUICE_ERROR_FORMAT},
        {"key/value data over the levels", 60, 60, SLUICE_ERROR_FORMAT},
        {"no key/value data somewhere", 60, 0, SLUICE_ERROR_FORMAT},
        {"no global data somewhere", 64, 8, SLUICE_ERROR_FORMAT},
        {"global data", 72, 8, SLUICE_ERROR_FORMAT},
        {"a level behind the file", kLevelIndex, 1u << 20, SLUICE_ERROR_FORMAT},
        {"a level behind 4 GiB", kLevelIndex + 4, 1, SLUICE_ERROR_FORMAT},
        {"a level far away", kLevelIndex + 4, 0xffffffff, SLUICE_ERROR_FORMAT},
        {"a level of another size", kLevelIndex + 8, 37 * 21 * 4 - 4, SLUICE_ERROR_FORMAT},
        {"a level above 4 GiB", kLevelIndex + 12, 1, SLUICE_ERROR_FORMAT},
        {"a huge level", kLevelIndex + 12, 0xffffffff, SLUICE_ERROR_FORMAT},
        {"a level of another decoded size", kLevelIndex + 16, 37 * 21 * 4 - 4, SLUICE_ERROR_FORMAT},
        {"a level over the header", kLevelIndex + 5 * kLevelEntry, 0, SLUICE_ERROR_FORMAT},
        {"an empty level", kLevelIndex + 5 * kLevelEntry + 8, 0, SLUICE_ERROR_FORMAT},
        {"a descriptor of another size", kDfd, 32, SLUICE_ERROR_FORMAT},
        {"a vendor's descriptor", kDfd + 4, 1, SLUICE_ERROR_FORMAT},
        {"a block past the descriptor", kDfd + 8, 2 | 40 << 16, SLUICE_ERROR_FORMAT},
        {"a block without a head", kDfd + 8, 2 | 8 << 16, SLUICE_ERROR_FORMAT},
    };
    for (const auto& one : changes) {
        CAPTURE(one.what);
        CHECK(changed(one.at, one.value) == one.expected);
    }
    // Levels in the order of their numbers, that is, the largest first.
    const TestImage image(37, 8, 8, 0, 0, 1, 2);
    Bytes file = makeKtx2(image);
    const uint64_t small = loadLe64(&file[80 + 24]);
    storeLe64(&file[80], small);
    storeLe64(&file[80 + 24], small + 256);
    CHECK(parseImage(file).status == SLUICE_ERROR_FORMAT);
    // Levels that begin where no copy may.
    file = makeKtx2({37, 8, 8, 0, 0, 1, 1});
    storeLe64(&file[80], loadLe64(&file[80]) + 2);
    file.resize(file.size() + 2);
    CHECK(parseImage(file).status == SLUICE_ERROR_FORMAT);
    // Blocks.
    CHECK(changed(40, 0, 145) == SLUICE_ERROR_FORMAT);
    CHECK(changed(24, 0, 145) == SLUICE_ERROR_FORMAT);
    // 1D volumes, volumes with faces.
    CHECK(parseImage(makeKtx2({37, 8, 0, 4, 0, 1, 1})).status == SLUICE_ERROR_FORMAT);
    CHECK(parseImage(makeKtx2({37, 8, 8, 8, 0, 6, 1})).status == SLUICE_ERROR_FORMAT);
}

TEST_CASE("ktx2: what may differ")
{
    // Bytes between levels and behind the last, more of the descriptor, no key/value data.
    const TestImage image(37, 8, 8, 0, 0, 1, 1);
    Bytes file = makeKtx2(image);
    file.insert(file.end() - 256, 16, 0);
    storeLe64(&file[80], loadLe64(&file[80]) + 16);
    file.resize(file.size() + 5);
    checkSlices(file, image);
    storeLe32(&file[56], 0);
    storeLe32(&file[60], 0);
    checkSlices(file, image);
    // The planes' bytes are no reason to refuse, and neither is a transfer function of plain numbers.
    file[80 + 24 + 20] = 0;
    file[80 + 24 + 14] = 2;
    checkSlices(file, image);
    CHECK(parseImage(file).info.transfer == 2);
}

TEST_CASE("ktx2: sizes above 4 GiB")
{
    // Only the start is at hand, so the file need not exist.
    const TestImage tiny(145, 4, 4, 0, 0, 1, 1);
    Bytes start = makeKtx2(tiny);
    const uint64_t offset = loadLe64(&start[80]),
                   size = uint64_t(32768 / 4) * (32768 / 4) * 16 * 12;
    storeLe32(&start[20], 32768);
    storeLe32(&start[24], 32768);
    storeLe32(&start[32], 2);
    storeLe32(&start[36], 6);
    storeLe64(&start[88], size);
    storeLe64(&start[96], size);
    const ParsedImage parsed = parseImage(start, offset + size);
    REQUIRE(parsed.status == SLUICE_OK);
    uint64_t last = 0;
    REQUIRE(sluiceGetImageOffset(&parsed.info, &parsed.levels[0], 1, 5, 0, &last) == SLUICE_OK);
    CHECK(last == size / 12 * 11);
    CHECK(parseImage(start, offset + size - 1).status == SLUICE_ERROR_FORMAT);
    // Sizes that wrap at 2^64.
    storeLe32(&start[20], 0x80000000);
    storeLe32(&start[24], 0x80000000);
    storeLe32(&start[32], 0x80000000);
    CHECK(parseImage(start, offset + size).status == SLUICE_ERROR_FORMAT);
}
