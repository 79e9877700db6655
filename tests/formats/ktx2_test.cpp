// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the reader of KTX2 files with made-up files of every kind, and with files that it must
// refuse.
#include "tests/support/images.h"

#include <sluice/sluice_image_encode.h>

#include <doctest/doctest.h>

#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "formats/image.h"
#include "formats/little_endian.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// Makes a change to a good file of 37 x 21 texels with 6 levels, and returns the reader's status.
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

constexpr std::pair<uint32_t, Bytes (*)(const Bytes&)> kSchemes[] = {{2, packZstd}, {3, packZlib}};

constexpr size_t kLevelIndex = 80, kLevelEntry = 24, kDfd = 80 + 6 * 24;

} // namespace

TEST_CASE("ktx2: all formats")
{
    for (const uint32_t format : allFormats()) {
        const TestImage image(format, 37, 21, 0, 0, 1, 6);
        CAPTURE(image.text());
        checkSlices(makeKtx2(image), image);
        for (const auto& [scheme, pack] : kSchemes) {
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

TEST_CASE("ktx2: the descriptor's colour model and channel")
{
    for (const int channel : {-1, 0, 3, 4, 5, 6, 15}) {
        TestImage image(0, 8, 8, 0, 0, 1, 2);
        image.channel = channel;
        const Bytes file = makeKtx2(image);
        const ParsedImage parsed = parseImage(file);
        REQUIRE(parsed.status == SLUICE_OK);
        CHECK(parsed.info.colourModel == 166);
        CHECK(parsed.info.channel == uint32_t(std::max(channel, 0)));
        CHECK(checkNeeded(file) <= 6);
        checkTruncations(file);
    }
    CHECK(parseImage(makeKtx2({37, 8, 8, 0, 0, 1, 1})).info.colourModel == 1);
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
    // Levels in the order of their numbers, so the largest first, which KTX2 forbids.
    const TestImage image(37, 8, 8, 0, 0, 1, 2);
    Bytes file = makeKtx2(image);
    const uint64_t small = loadLe64(&file[80 + 24]);
    storeLe64(&file[80], small);
    storeLe64(&file[80 + 24], small + 256);
    CHECK(parseImage(file).status == SLUICE_ERROR_FORMAT);
    // A level at an offset where no copy to an image may begin.
    file = makeKtx2({37, 8, 8, 0, 0, 1, 1});
    storeLe64(&file[80], loadLe64(&file[80]) + 2);
    file.resize(file.size() + 2);
    CHECK(parseImage(file).status == SLUICE_ERROR_FORMAT);
    // With a compressed format, neither missing levels to be made by the loader nor 1D images are
    // allowed.
    CHECK(changed(40, 0, 145) == SLUICE_ERROR_FORMAT);
    CHECK(changed(24, 0, 145) == SLUICE_ERROR_FORMAT);
    // UASTC, whose colours are sRGB if the descriptor says so, and ETC1S, which is refused.
    file = makeKtx2({0, 8, 8, 0, 0, 1, 1});
    REQUIRE(parseImage(file).status == SLUICE_OK);
    file[80 + 24 + 14] = 2;
    CHECK(parseImage(file).info.flags == (SLUICE_IMAGE_TRANSCODE | SLUICE_IMAGE_SRGB));
    file[80 + 24 + 12] = 163; // ETC1S
    CHECK(parseImage(file).status == SLUICE_ERROR_VERSION);
    // 1D volumes and volumes with faces do not exist.
    CHECK(parseImage(makeKtx2({37, 8, 0, 4, 0, 1, 1})).status == SLUICE_ERROR_FORMAT);
    CHECK(parseImage(makeKtx2({37, 8, 8, 8, 0, 6, 1})).status == SLUICE_ERROR_FORMAT);
}

TEST_CASE("ktx2: what is refused is named, with its value and what is allowed")
{
    const auto why = [](uint32_t format, const std::function<void(Bytes&)>& change) {
        Bytes file = makeKtx2({format, 37, 21, 0, 0, 1, 6});
        change(file);
        ImageStart start = {file.data(), file.size(), file.size(), 0, "", false};
        SluiceImageInfo info;
        SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
        CHECK(parseImageStart(start, info, levels) != SLUICE_OK);
        return std::string(start.reason);
    };
    const struct {
        size_t at;
        uint32_t value;
        const char* says;
    } changes[] = {
        {4, 0xbb313120, "KTX 1"},
        {12, 0, "vkFormat is 0 and the colour model 1"},
        {12, 124, "vkFormat is 124, which is not read"},
        {12, 39, "vkFormat is 39, which KTX2 does not allow"},
        {12, 43, "transferFunction is 1"},
        {16, 4, "typeSize is 4, and that of R8G8B8A8_UNORM is 1"},
        {20, 0, "pixelWidth is 0"},
        {36, 2, "faceCount is 2, and 1 or 6"},
        {36, 6, "no square face"},
        {40, 7, "levelCount is 7"},
        {44, 1, "BasisLZ"},
        {44, 4, "supercompressionScheme is 4"},
        {44, 0x20000, "less than 131072"},
        {48, kDfd + 4, "dfdByteOffset is 228"},
        {52, 24, "dfdByteLength is 24"},
        {60, 0, "key/value data has the offset"},
        {64, 8, "global data has the offset 8 but the size 0"},
        {kLevelIndex + 4, 1, "and the file ends at"},
        {kLevelIndex + 8, 4, "byteLength of level 0 is 4"},
        {kLevelIndex + 16, 4, "uncompressedByteLength of level 0 is 4"},
        {kDfd, 32, "dfdTotalSize is 32"},
    };
    for (const auto& one : changes) {
        const std::string found =
            why(37, [&](Bytes& file) { storeLe32(&file[one.at], one.value); });
        CHECK_MESSAGE(found.find(one.says) != std::string::npos, found);
    }
    const auto turned = [](Bytes& file) { // levels 0 and 1 in each other's place
        const uint64_t first = loadLe64(&file[80 + 24]);
        storeLe64(&file[80], first);
        storeLe64(&file[80 + 24], first + 3108);
    };
    CHECK(why(37, turned).find("the order of levels") != std::string::npos);
    const auto moved = [](Bytes& file) { // as if 4 were the alignment of 3 bytes
        storeLe64(&file[80], loadLe64(&file[80]) + 4);
        file.resize(file.size() + 4);
    };
    CHECK(why(23, moved).find("which is no multiple of 12") != std::string::npos);
    CHECK(why(0, [](Bytes& file) { file[kDfd + 12] = 167; }).find("UASTC HDR") !=
          std::string::npos);
}

TEST_CASE("ktx2: what may differ")
{
    // Allowed: bytes between levels and after the last one, a longer descriptor, no key/value data.
    const TestImage image(37, 8, 8, 0, 0, 1, 1);
    Bytes file = makeKtx2(image);
    file.insert(file.end() - 256, 16, 0);
    storeLe64(&file[80], loadLe64(&file[80]) + 16);
    file.resize(file.size() + 5);
    checkSlices(file, image);
    storeLe32(&file[56], 0);
    storeLe32(&file[60], 0);
    checkSlices(file, image);
    // The reader must not mind the descriptor's plane sizes, nor a transfer function for plain
    // numbers.
    file[80 + 24 + 20] = 0;
    file[80 + 24 + 14] = 2;
    checkSlices(file, image);
    CHECK(parseImage(file).info.transfer == 2);
}

TEST_CASE("ktx2: sizes above 4 GiB")
{
    // The reader sees only the beginning, so a file of any size can be claimed.
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
    // More layers times faces than 32 bits count.
    Bytes many = makeKtx2({9, 1, 1, 0, 1, 6, 1});
    const uint64_t begin = loadLe64(&many[80]);
    for (const uint32_t layers : {0x2aaaaaaau, 0x2aaaaaabu, 0xffffffffu}) {
        CAPTURE(layers);
        storeLe32(&many[32], layers);
        storeLe64(&many[88], uint64_t(layers) * 6);
        storeLe64(&many[96], uint64_t(layers) * 6);
        CHECK(parseImage(many, begin + uint64_t(layers) * 6).status ==
              (layers == 0x2aaaaaaa ? SLUICE_OK : SLUICE_ERROR_FORMAT));
    }
    // Sizes that wrap at 2^64.
    storeLe32(&start[20], 0x80000000);
    storeLe32(&start[24], 0x80000000);
    storeLe32(&start[32], 0x80000000);
    CHECK(parseImage(start, offset + size).status == SLUICE_ERROR_FORMAT);
}

namespace {

// Decodes a level packed with this scheme, into a buffer with room for `size` bytes, and returns
// the status.
SluiceStatus decode(uint32_t scheme, const Bytes& packed, size_t size, Bytes& bytes)
{
    constexpr size_t guard = 64;
    bytes.assign(size + guard, 0xc3);
    const SluiceStatus status =
        sluiceKtx2DecodeLevel(scheme, packed.data(), packed.size(), bytes.data(), size);
    size_t changedBytes = 0;
    for (size_t i = size; i < bytes.size(); ++i)
        changedBytes += bytes[i] != 0xc3 ? 1 : 0;
    CHECK(changedBytes == 0);
    bytes.resize(size);
    return status;
}

Bytes joined(const std::vector<Bytes>& parts)
{
    Bytes all;
    for (const Bytes& part : parts)
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

} // namespace

TEST_CASE("ktx2: levels are decoded to exactly their bytes")
{
    Bytes plain(5000), bytes;
    for (size_t i = 0; i < plain.size(); ++i)
        plain[i] = uint8_t(i * i / 777);
    for (const auto& known : kSchemes) {
        const uint32_t scheme = known.first;
        CAPTURE(scheme);
        const Bytes packed = known.second(plain);
        REQUIRE(decode(scheme, packed, plain.size(), bytes) == SLUICE_OK);
        CHECK(bytes == plain);
        // The level decodes to more or fewer bytes than were announced.
        for (const size_t size : {size_t(1), plain.size() - 1, plain.size() + 1, 2 * plain.size()})
            CHECK(decode(scheme, packed, size, bytes) == SLUICE_ERROR_FORMAT);
        for (size_t size = 0; size < packed.size(); ++size) {
            const Bytes start(packed.begin(), packed.begin() + ptrdiff_t(size));
            if (start.empty()) continue; // an empty vector has no address
            CHECK(decode(scheme, start, plain.size(), bytes) == SLUICE_ERROR_FORMAT);
        }
        CHECK(decode(scheme, joined({packed, {1, 2, 3, 4, 5}}), plain.size(), bytes) ==
              SLUICE_ERROR_FORMAT);
        size_t same = 0;
        for (size_t at = 0; at < packed.size(); ++at) { // at worst the result is wrong
            Bytes damaged = packed;
            damaged[at] ^= 0x10;
            if (decode(scheme, damaged, plain.size(), bytes) == SLUICE_OK && bytes == plain) ++same;
        }
        CHECK(same < packed.size() / 2);
    }
    CHECK(decode(0, plain, plain.size(), bytes) == SLUICE_OK);
    CHECK(bytes == plain);
    CHECK(decode(0, plain, plain.size() - 1, bytes) == SLUICE_ERROR_FORMAT);
    CHECK(decode(1, plain, plain.size(), bytes) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceKtx2DecodeLevel(2, nullptr, 0, bytes.data(), 1) == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("ktx2: Zstandard frames of every kind")
{
    const Bytes first(5000, 7), second(3000, 9), all = joined({first, second});
    const Bytes skippable = {0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'};
    Bytes bytes;
    CHECK(decode(2, joined({packZstd(first), packZstd(second)}), 8000, bytes) == SLUICE_OK);
    CHECK(bytes == all);
    CHECK(decode(2, joined({skippable, packZstd(first), skippable, packZstd(second), skippable}),
                 8000, bytes) == SLUICE_OK);
    CHECK(bytes == all);
    CHECK(decode(2, skippable, 8000, bytes) == SLUICE_ERROR_FORMAT);
    CHECK(decode(2, packZlib(all), 8000, bytes) == SLUICE_ERROR_FORMAT);
    CHECK(decode(3, packZstd(all), 8000, bytes) == SLUICE_ERROR_FORMAT);

    ZSTD_CCtx* context = ZSTD_createCCtx();
    Bytes checked(10000);
    const auto compress = [&] {
        checked.resize(10000);
        const size_t size =
            ZSTD_compress2(context, checked.data(), checked.size(), all.data(), all.size());
        REQUIRE(!ZSTD_isError(size));
        checked.resize(size);
    };
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    compress();
    CHECK(decode(2, checked, 8000, bytes) == SLUICE_OK);
    checked.back() ^= 1;
    CHECK(decode(2, checked, 8000, bytes) == SLUICE_ERROR_CHECKSUM);
    // A frame with a window of 1 GiB must neither be refused nor make the decoder allocate it.
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    compress();
    const uint8_t descriptor = checked[4];
    REQUIRE((descriptor & 0x20) == 0);
    checked[5] = 20 << 3;
    CHECK(decode(2, checked, 8000, bytes) == SLUICE_OK);
    CHECK(bytes == all);
    ZSTD_freeCCtx(context);
}

namespace {

// Returns the file without supercompression, made as a caller would make it.
Bytes makePlain(const Bytes& file)
{
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    uint64_t startSize = 0, plainSize = 0;
    REQUIRE(sluiceKtx2PlanPlain(file.data(), file.size(), file.size(), nullptr, 0, &startSize,
                                levels, &plainSize) == SLUICE_OK);
    Bytes plain(static_cast<size_t>(plainSize));
    CHECK(sluiceKtx2PlanPlain(file.data(), file.size(), file.size(), plain.data(),
                              size_t(startSize) - 1, &startSize, levels,
                              &plainSize) == SLUICE_ERROR_BUFFER_SIZE);
    REQUIRE(sluiceKtx2PlanPlain(file.data(), file.size(), file.size(), plain.data(),
                                size_t(startSize), &startSize, levels, &plainSize) == SLUICE_OK);
    const ParsedImage packed = parseImage(file);
    for (uint32_t i = 0; i < packed.info.levels; ++i) {
        const SluiceImageLevel& level = packed.levels[i];
        REQUIRE(levels[i].offset + levels[i].size <= plain.size());
        REQUIRE(sluiceKtx2DecodeLevel(packed.info.scheme, &file[size_t(level.offset)],
                                      size_t(level.size), &plain[size_t(levels[i].offset)],
                                      size_t(levels[i].size)) == SLUICE_OK);
    }
    return plain;
}

} // namespace

TEST_CASE("ktx2: a file without its scheme")
{
    for (const uint32_t format : {9u, 23u, 43u, 106u, 131u, 145u}) {
        for (TestImage& image : allShapes(format)) {
            CAPTURE(image.text());
            image.premultiplied = true;
            const Bytes expected = makeKtx2(image);
            // Every byte must be that of a writer that never compressed the levels.
            for (const auto& [scheme, pack] : kSchemes)
                CHECK(makePlain(makeKtx2(image, scheme, pack)) == expected);
            CHECK(makePlain(expected) == expected);
        }
    }
    const TestImage image(37, 16, 16, 0, 0, 1, 5);
    Bytes file = makeKtx2(image, 2, packZstd);
    SluiceImageLevel levels[SLUICE_IMAGE_MAX_LEVELS];
    uint64_t startSize = 0, plainSize = 0;
    const auto plan = [&](const Bytes& of, size_t size) {
        return sluiceKtx2PlanPlain(of.data(), size, of.size(), nullptr, 0, &startSize, levels,
                                   &plainSize);
    };
    const ParsedImage parsed = parseImage(file);
    const size_t metadata = size_t(parsed.info.keyValueOffset + parsed.info.keyValueSize);
    CHECK(plan(file, metadata) == SLUICE_OK);
    CHECK(plan(file, metadata - 1) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(plan(makeDds10(image, 28), 148) == SLUICE_ERROR_FORMAT);
    storeLe32(&file[44], 1);
    CHECK(plan(file, file.size()) == SLUICE_ERROR_VERSION);
    // Sizes of 2^63 bytes and more that only the header claims.
    const TestImage dot(109, 1, 1, 0, 0, 1, 1);
    file = makeKtx2(dot, 2, packZstd);
    storeLe32(&file[20], 0x80000000);
    storeLe32(&file[24], 0x10000000);
    storeLe64(&file[96], uint64_t(1) << 63);
    CHECK(plan(file, file.size()) == SLUICE_OK);
    storeLe32(&file[32], 1);
    storeLe32(&file[24], 0x1fffffff);
    storeLe64(&file[96], (uint64_t(0x1fffffff) << 35));
    CHECK(plan(file, file.size()) == SLUICE_OK);
    storeLe32(&file[20], 0xffffffff);
    storeLe32(&file[24], 0x10000000);
    storeLe64(&file[96], uint64_t(0xffffffff) << 32);
    CHECK(plan(file, file.size()) == SLUICE_OK);
    storeLe32(&file[24], 0x10000001);
    CHECK(plan(file, file.size()) == SLUICE_ERROR_FORMAT);
}

TEST_CASE("ktx2: key/value data")
{
    const auto pairs = [](const std::vector<std::string>& list) {
        Bytes bytes;
        for (const std::string& pair : list) {
            Bytes one(4 + (pair.size() + 3) / 4 * 4);
            storeLe32(one.data(), uint32_t(pair.size()));
            std::copy(pair.begin(), pair.end(), one.begin() + 4);
            bytes.insert(bytes.end(), one.begin(), one.end());
        }
        return bytes;
    };
    const void* value = nullptr;
    uint32_t size = 0;
    SluiceStatus status = SLUICE_OK;
    const auto find = [&](const Bytes& bytes, const char* key) {
        status = sluiceFindImageValue(bytes.data(), bytes.size(), key, &value, &size);
        return value == nullptr ? "none" : std::string(static_cast<const char*>(value), size);
    };
    const std::string end(1, '\0');
    const Bytes good = pairs({"KTXorientation" + end + "rd" + end, "KTXswizzle" + end + "rrr1",
                              "empty" + end, "x" + end + end + "y"});
    CHECK(find(good, "KTXorientation") == "rd" + end);
    CHECK(find(good, "KTXswizzle") == "rrr1");
    CHECK(find(good, "empty").empty());
    CHECK(find(good, "x") == end + "y");
    CHECK(find(good, "KTX") == "none");
    CHECK(status == SLUICE_OK);
    CHECK(find({}, "KTX") == "none");
    CHECK(status == SLUICE_OK);
    std::vector<size_t> ends; // where each key/value pair ends
    for (size_t at = 0; at < good.size(); at += 4 + (loadLe32(&good[at]) + 3) / 4 * 4)
        ends.push_back(at);
    for (size_t length = 1; length < good.size(); ++length) {
        find(Bytes(good.begin(), good.begin() + ptrdiff_t(length)), "KTXswizzle");
        const bool whole = std::count(ends.begin(), ends.end(), length) != 0;
        CHECK(status == (whole ? SLUICE_OK : SLUICE_ERROR_FORMAT));
    }
    Bytes changed = good;
    for (uint8_t& byte : changed) { // a sanitizer would notice a byte read outside
        const uint8_t before = byte;
        for (uint32_t other = 0; other < 256; ++other) {
            byte = uint8_t(other);
            find(changed, "KTXswizzle");
            CHECK((status == SLUICE_OK || status == SLUICE_ERROR_FORMAT));
        }
        byte = before;
    }
    for (const Bytes& bad : {pairs({"no end"}), pairs({end + "no key"}), pairs({""})}) {
        find(bad, "KTXswizzle");
        CHECK(status == SLUICE_ERROR_FORMAT);
    }
    CHECK(sluiceFindImageValue(good.data(), good.size(), nullptr, &value, &size) ==
          SLUICE_ERROR_ARGUMENT);
    // The key and value data of a file are searched.
    const Bytes file = makeKtx2({37, 8, 8, 0, 0, 1, 1});
    const SluiceImageInfo info = parseImage(file).info;
    REQUIRE(sluiceFindImageValue(&file[size_t(info.keyValueOffset)], size_t(info.keyValueSize),
                                 "KTXwriter", &value, &size) == SLUICE_OK);
    CHECK(std::string(static_cast<const char*>(value), size) == "a test" + end);
}
