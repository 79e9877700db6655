// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests streaming from KTX2 files without a GPU: what they are called and look like, all levels of
// all shapes, damaged files, and what is refused.
#include "tests/stream/stream_ktx2.h"

#include "formats/little_endian.h"

#include <algorithm>
#include <cerrno>

#include <zstd.h>

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr size_t kLevelIndex = 80, kLevelEntry = 24;

// Returns what the OPENED event of a file should say.
SluiceStatus expectedStatus(const Bytes& file)
{
    const ParsedImage parsed = parseImage(file);
    if (parsed.status != SLUICE_OK) return parsed.status;
    for (const Ktx2Scheme& scheme : ktx2Schemes())
        if (scheme.number == parsed.info.scheme) return SLUICE_OK;
    return SLUICE_ERROR_UNSUPPORTED;
}

SluiceStatus openStatus(CpuStreamer& streamer, const Bytes& bytes)
{
    MemoryFile file(bytes);
    SluiceStreamFile opened = nullptr;
    const SluiceStatus status = streamer.tryOpen(file, true, opened).status;
    CHECK(sluiceStreamClose(streamer.get(), opened) == SLUICE_OK);
    CHECK(file.closes == 1);
    return status;
}

SluiceStatus submitStatus(CpuStreamer& streamer, const SluiceStreamRequest& request)
{
    SluiceStreamGroupInfo info = {};
    info.requests = &request;
    info.requestCount = 1;
    SluiceStreamGroup group = 0;
    const SluiceStatus status = sluiceStreamSubmit(streamer.get(), &info, &group);
    if (status == SLUICE_OK) CHECK(streamer.waitFor(group).status == SLUICE_OK);
    return status;
}

// Fetches every level, whole and in parts, and compares it with the image.
void checkLevels(CpuStreamer& streamer, const Bytes& bytes, const TestImage& image)
{
    MemoryFile file(bytes);
    const Ktx2Asset asset(streamer.open(file));
    std::mt19937 random = makeRandom(31);
    std::vector<std::unique_ptr<GuardedBytes>> places;
    std::vector<Bytes> expected;
    std::vector<SluiceStreamRequest> requests;
    const auto want = [&](uint32_t level, uint64_t offset, uint64_t size) {
        const Bytes whole = image.level(level);
        const auto begin = whole.begin() + ptrdiff_t(offset);
        expected.emplace_back(begin, begin + ptrdiff_t(size));
        places.push_back(std::make_unique<GuardedBytes>(size, random() % 20));
        requests.push_back(fromArchive(asset.file, asset.number,
                                       asset.levels[level].offset + offset, size,
                                       places.back()->data()));
    };
    REQUIRE(asset.info.levels == image.slices.size());
    for (uint32_t level = 0; level < asset.info.levels; ++level) {
        const uint64_t size = image.level(level).size();
        REQUIRE(asset.levels[level].decodedSize == size);
        want(level, 0, size);
        for (int k = 0; k < 3; ++k) {
            const uint64_t offset = random() % size;
            want(level, offset, random() % (size - offset + 1));
        }
    }
    const SluiceStreamEvent event = streamer.waitFor(streamer.submit(requests));
    CHECK(event.status == SLUICE_OK);
    size_t wrong = 0;
    for (size_t i = 0; i < places.size(); ++i) {
        wrong += places[i]->content() == expected[i] ? 0 : 1;
        places[i]->checkGuards();
    }
    CHECK(wrong == 0);
    CHECK(sluiceStreamClose(streamer.get(), asset.file) == SLUICE_OK);
}

} // namespace

TEST_CASE("stream KTX2: levels of every shape and format come to the host")
{
    for (const uint32_t threads : {0u, 2u}) {
        CpuStreamer streamer(threads);
        for (const Ktx2Scheme& scheme : ktx2Schemes()) {
            CAPTURE(scheme.number);
            // Texels and blocks of 1, 2, 3, 4, 8, 12 and 16 bytes, and UASTC.
            for (const uint32_t format : {9u, 16u, 23u, 37u, 106u, 131u, 145u, 0u}) {
                std::vector<TestImage> shapes = allShapes(format);
                shapes.emplace_back(format, 9, 5, 6, 2, 1, 4); // an array of volumes
                shapes.emplace_back(format, 5, 5, 0, 1, 1, 2); // an array of one
                for (const TestImage& image : shapes) {
                    CAPTURE(image.text());
                    checkLevels(streamer, makeKtx2(image, scheme), image);
                }
            }
        }
    }
}

TEST_CASE("stream KTX2: what functions say of a file")
{
    TestImage image(0, 37, 21, 0, 0, 1, 6); // UASTC
    image.channel = 5;                      // RRRG
    for (const Ktx2Scheme& scheme : ktx2Schemes()) {
        CAPTURE(scheme.number);
        const Bytes bytes = makeKtx2(image, scheme);
        MemoryFile file(bytes);
        CpuStreamer streamer(1);
        const SluiceStreamFile opened = streamer.open(file);
        CHECK(file.reads == 1);
        const Ktx2Asset asset(opened);
        CHECK(file.reads == 1);
        CHECK(asset.found.scheme == scheme.number);
        CHECK(asset.found.colourModel == 166);
        CHECK(asset.found.channel == 5);
        CHECK(asset.found.keyValueSize != 0);
        CHECK(asset.info.scheme == SLUICE_IMAGE_SCHEME_NONE);
        CHECK((asset.info.flags & SLUICE_IMAGE_TRANSCODE) != 0);
        CHECK(std::string(asset.about.name, asset.about.nameLength) == SLUICE_STREAM_KTX2_NAME);
        CHECK(asset.about.type == SLUICE_ASSET_IMAGE);
        CHECK(asset.about.extentSize == bytes.size());
        SluiceArchive archive = {};
        CHECK(sluiceStreamGetArchive(opened, &archive) == SLUICE_OK);
        CHECK(archive.versionMajor == 0);
        CHECK(archive.assetCount == 1);
        CHECK(archive.fileSize == bytes.size());
        CHECK(archive.tileCount == (scheme.pack != nullptr ? 6 : 0));
        CHECK(asset.about.tileCount == archive.tileCount);
        uint32_t kernels = 0;
        CHECK(sluiceStreamGetKernels(opened, &kernels) == SLUICE_OK);
        CHECK(((kernels & SLUICE_KERNELS_ZSTD) != 0) == (scheme.pack != nullptr));
        uint32_t number = 0;
        CHECK(sluiceStreamFindAsset(opened, "imag", 4, &number) == SLUICE_OK);
        CHECK(number == 0xffffffffu);
        SluiceArchiveAsset none = {};
        CHECK(sluiceStreamGetAsset(opened, 1, &none) == SLUICE_ERROR_ARGUMENT);
        // Vulkan has no format for UASTC.
        SluiceStreamRequest requests[8];
        uint32_t count = 8;
        const SluiceStreamImage box = {};
        CHECK(sluiceStreamGetImageRequests(opened, 0, 0, 6, &box, requests, &count) ==
              SLUICE_ERROR_UNSUPPORTED);
        // The same file as plain bytes.
        const SluiceStreamFile plain = streamer.open(file, false);
        Bytes whole(bytes.size());
        CHECK(streamer.waitFor(streamer.submit({fromFile(plain, 0, whole.size(), whole.data())}))
                  .status == SLUICE_OK);
        CHECK((whole == bytes));
        CHECK(sluiceStreamGetAsset(plain, 0, &none) == SLUICE_ERROR_ARGUMENT);
    }
}

TEST_CASE("stream KTX2: requests for a level's layers and faces, in Vulkan's terms")
{
    const struct {
        TestImage image;
        uint32_t layers, depth; // of the boxes
    } cases[] = {{{37, 16, 16, 0, 3, 6, 3}, 18, 1},
                 {{145, 20, 12, 0, 0, 1, 3}, 1, 1},
                 {{37, 9, 5, 6, 0, 1, 3}, 1, 6},
                 {{131, 8, 16, 0, 5, 1, 3}, 5, 1}};
    for (const Ktx2Scheme& scheme : ktx2Schemes()) {
        for (const auto& one : cases) {
            CAPTURE(one.image.text());
            MemoryFile file(makeKtx2(one.image, scheme));
            CpuStreamer streamer(1);
            const Ktx2Asset asset(streamer.open(file));
            SluiceStreamImage box = {};
            box.image = 1;
            box.level = 4;
            box.firstLayer = 2;
            SluiceStreamRequest requests[2];
            uint32_t count = 2;
            REQUIRE(sluiceStreamGetImageRequests(asset.file, 0, 1, 2, &box, requests, &count) ==
                    SLUICE_OK);
            REQUIRE(count == 2);
            for (uint32_t i = 0; i < 2; ++i) {
                const SluiceImageLevel& level = asset.levels[1 + i];
                CHECK(requests[i].source == SLUICE_STREAM_FROM_ARCHIVE);
                CHECK(requests[i].offset == level.offset);
                CHECK(requests[i].size == level.decodedSize);
                CHECK(requests[i].image.level == 4 + i);
                CHECK(requests[i].image.firstLayer == 2);
                CHECK(requests[i].image.layerCount == one.layers);
                CHECK(requests[i].image.extent[0] == level.width);
                CHECK(requests[i].image.extent[2] == std::max(1u, one.depth >> (1 + i)));
            }
            // There is no GPU with images.
            CHECK(submitStatus(streamer, requests[0]) == SLUICE_ERROR_UNSUPPORTED);
            count = 2;
            CHECK(sluiceStreamGetImageRequests(asset.file, 0, 1, 3, &box, requests, &count) ==
                  SLUICE_ERROR_ARGUMENT);
        }
    }
}

TEST_CASE("stream KTX2: a request names bytes of one level")
{
    const TestImage image(37, 37, 21, 0, 0, 1, 6);
    for (const Ktx2Scheme& scheme : ktx2Schemes()) {
        MemoryFile file(makeKtx2(image, scheme));
        CpuStreamer streamer(1);
        const Ktx2Asset asset(streamer.open(file));
        Bytes place(size_t(asset.about.size));
        const auto status = [&](uint64_t offset, uint64_t size) {
            return submitStatus(streamer, fromArchive(asset.file, 0, offset, size, place.data()));
        };
        for (uint32_t i = 0; i < 6; ++i) {
            CAPTURE(i);
            const SluiceImageLevel& level = asset.levels[i];
            CHECK(status(level.offset, level.decodedSize) == SLUICE_OK);
            CHECK(status(level.offset + 1, level.decodedSize - 1) == SLUICE_OK);
            CHECK(status(level.offset - 1, 2) == SLUICE_ERROR_ARGUMENT);
            CHECK(status(level.offset, level.decodedSize + 1) == SLUICE_ERROR_ARGUMENT);
        }
        CHECK(status(0, asset.about.size) == SLUICE_ERROR_ARGUMENT);
        CHECK(status(0, 1) == SLUICE_ERROR_ARGUMENT);
        CHECK(status(0, 0) == SLUICE_OK);
        CHECK(status(asset.about.size, 0) == SLUICE_OK);
        CHECK(status(asset.about.size, 1) == SLUICE_ERROR_ARGUMENT);
        CHECK(status(UINT64_MAX, 2) == SLUICE_ERROR_ARGUMENT);
    }
}

TEST_CASE("stream KTX2: every value of every byte of a header, and every length")
{
    CpuStreamer streamer(1);
    const TestImage image(37, 5, 3, 0, 0, 1, 3);
    for (const Ktx2Scheme& scheme : ktx2Schemes()) {
        CAPTURE(scheme.number);
        const Bytes file = makeKtx2(image, scheme);
        Bytes changed = file;
        size_t opened = 0;
        for (size_t at = 12; at < kLevelIndex + 3 * kLevelEntry + 44; ++at) {
            for (uint32_t value = 0; value < 256; ++value) {
                changed[at] = uint8_t(value);
                const SluiceStatus expected = expectedStatus(changed);
                if (openStatus(streamer, changed) != expected) {
                    CAPTURE(at);
                    CAPTURE(value);
                    FAIL_CHECK("the status is not the parser's");
                }
                opened += expected == SLUICE_OK ? 1 : 0;
            }
            changed[at] = file[at];
        }
        CHECK(opened >= kLevelIndex + 3 * kLevelEntry + 44 - 12);
        // Without the identifier it is a damaged archive.
        for (size_t at = 0; at < 12; ++at) {
            changed[at] ^= 1;
            CHECK(openStatus(streamer, changed) == SLUICE_ERROR_FORMAT);
            changed[at] = file[at];
        }
        for (size_t size = 0; size < file.size(); ++size) {
            CAPTURE(size);
            const Bytes start(file.begin(), file.begin() + ptrdiff_t(size));
            const SluiceStatus status = openStatus(streamer, start);
            CHECK((size < 12 ? status != SLUICE_OK : status == SLUICE_ERROR_FORMAT));
        }
        CHECK(openStatus(streamer, file) == SLUICE_OK);
    }
}

TEST_CASE("stream KTX2: schemes that are refused")
{
    CpuStreamer streamer(1);
    Bytes file = makeKtx2({37, 8, 8, 0, 0, 1, 3});
    constexpr size_t scheme = 44;
    const std::pair<uint32_t, SluiceStatus> cases[] = {
        {0, SLUICE_OK},
        {1, SLUICE_ERROR_VERSION}, // BasisLZ
        {3, SLUICE_ERROR_UNSUPPORTED},
        {4, SLUICE_ERROR_VERSION},
        {0x10000, SLUICE_ERROR_VERSION}, // a vendor's
        {0x1ffff, SLUICE_ERROR_VERSION},
        {0x20000, SLUICE_ERROR_FORMAT},
        {0xffffffff, SLUICE_ERROR_FORMAT},
    };
    for (const auto& [number, status] : cases) {
        CAPTURE(number);
        storeLe32(&file[scheme], number);
        CHECK(openStatus(streamer, file) == status);
    }
}

TEST_CASE("stream KTX2: levels in the other order, overlapping, outside and not aligned")
{
    CpuStreamer streamer(1);
    const TestImage image(37, 8, 8, 0, 0, 1, 3); // levels of 256, 64 and 16 bytes
    for (const Ktx2Scheme& scheme : ktx2Schemes()) {
        CAPTURE(scheme.number);
        const Bytes file = makeKtx2(image, scheme);
        const auto changed = [&](uint32_t level, uint32_t field, uint64_t value) {
            Bytes bytes = file;
            storeLe64(&bytes[kLevelIndex + level * kLevelEntry + 8 * field], value);
            return openStatus(streamer, bytes);
        };
        const auto fieldOf = [&](uint32_t level, uint32_t field) {
            return loadLe64(&file[kLevelIndex + level * kLevelEntry + 8 * field]);
        };
        // Levels 0 and 1 change places.
        Bytes turned = file;
        storeLe64(&turned[kLevelIndex], fieldOf(1, 0));
        storeLe64(&turned[kLevelIndex + kLevelEntry], fieldOf(1, 0) + fieldOf(0, 1));
        CHECK(openStatus(streamer, turned) == SLUICE_ERROR_FORMAT);
        CHECK(changed(0, 0, fieldOf(1, 0)) == SLUICE_ERROR_FORMAT);     // overlaps
        CHECK(changed(0, 0, fieldOf(1, 0) + 4) == SLUICE_ERROR_FORMAT); // overlaps partly
        CHECK(changed(1, 0, 0) == SLUICE_ERROR_FORMAT);                 // overlaps the header
        CHECK(changed(0, 0, fieldOf(0, 0) + 4) == SLUICE_ERROR_FORMAT); // ends outside
        CHECK(changed(0, 0, UINT64_MAX - 3) == SLUICE_ERROR_FORMAT);
        CHECK(changed(0, 1, UINT64_MAX) == SLUICE_ERROR_FORMAT);
        CHECK(changed(0, 2, fieldOf(0, 2) + 1) == SLUICE_ERROR_FORMAT);
        if (scheme.number == SLUICE_IMAGE_SCHEME_NONE)
            CHECK(changed(2, 0, fieldOf(2, 0) + 2) == SLUICE_ERROR_FORMAT); // not aligned
    }
}

TEST_CASE("stream KTX2: padding between levels, reads that fail and reads in pieces")
{
    const TestImage image(23, 37, 21, 0, 0, 1, 6); // 3 bytes a texel, so that levels have padding
    for (const Ktx2Scheme& scheme : ktx2Schemes()) {
        CAPTURE(scheme.number);
        // There are 12 more bytes before each level.
        const Bytes packed = makeKtx2(image, scheme);
        Bytes padded = packed;
        for (uint32_t level = 6; level-- != 0;) {
            uint8_t* const entry = &padded[kLevelIndex + level * kLevelEntry];
            const uint64_t at = loadLe64(entry);
            storeLe64(entry, at + 12);
            padded.insert(padded.begin() + ptrdiff_t(at), 12, 0xEE);
            for (uint32_t other = 0; other < level; ++other) {
                uint8_t* const later = &padded[kLevelIndex + other * kLevelEntry];
                storeLe64(later, loadLe64(later) + 12);
            }
        }
        CpuStreamer streamer(1);
        checkLevels(streamer, padded, image);

        MemoryFile file(packed);
        file.mostAtOnce = 7;
        const Ktx2Asset asset(streamer.open(file));
        Bytes place(image.level(0).size());
        CHECK(streamer.waitFor(streamer.submit({asset.levelTo(0, place.data())})).status ==
              SLUICE_OK);
        CHECK((place == image.level(0)));
        file.before = [](uint64_t, uint64_t) { return int64_t(-EACCES); };
        const SluiceStreamEvent event =
            streamer.waitFor(streamer.submit({asset.levelTo(0, place.data())}));
        CHECK(event.status == SLUICE_ERROR_IO);
        CHECK(event.osError == EACCES);
        CHECK(event.fileOffset == parseImage(packed).levels[0].offset);
        SluiceStreamFile opened = nullptr;
        CHECK(streamer.tryOpen(file, true, opened).status == SLUICE_ERROR_IO);
    }
}

TEST_CASE("stream KTX2: levels larger than a unit, and groups that are cancelled")
{
    const TestImage image(37, 1000, 1024, 0, 0, 1, 2); // 4.1 MB
    for (const Ktx2Scheme& scheme : ktx2Schemes()) {
        MemoryFile file(makeKtx2(image, scheme));
        CpuStreamer streamer(0);
        const Ktx2Asset asset(streamer.open(file));
        Bytes first(image.level(0).size()), second(first.size());
        const SluiceStreamGroup one = streamer.submit({asset.levelTo(0, first.data())}),
                                other = streamer.submit({asset.levelTo(0, second.data())});
        streamer.turn(1);
        CHECK(sluiceStreamCancel(streamer.get(), one) == SLUICE_OK);
        CHECK(streamer.waitFor(one).status == SLUICE_ERROR_CANCELLED);
        CHECK(streamer.waitFor(other).status == SLUICE_OK);
        CHECK((second == image.level(0)));
        CHECK(streamer.counters().sourceUsed == 0);
        CHECK(streamer.counters().groups == 0);
    }
}

namespace {

// Compresses with the checksum of frames.
Bytes packChecked(const Bytes& bytes)
{
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    Bytes out(ZSTD_compressBound(bytes.size()));
    const size_t size = ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size());
    ZSTD_freeCCtx(context);
    REQUIRE(!ZSTD_isError(size));
    out.resize(size);
    return out;
}

} // namespace

TEST_CASE("stream KTX2: a damaged level fails its own requests")
{
    const TestImage image(37, 37, 21, 0, 0, 1, 6);
    for (const bool hasChecksums : {false, true}) {
        const Bytes packed = makeKtx2(image, 2, hasChecksums ? packChecked : packZstd);
        const ParsedImage parsed = parseImage(packed);
        for (uint32_t level = 0; level < 6; ++level) {
            CAPTURE(level);
            Bytes bytes = packed;
            const SluiceImageLevel& is = parsed.levels[level];
            if (hasChecksums)
                bytes[size_t(is.offset + is.size - 1)] ^= 1;
            else
                bytes[size_t(is.offset)] ^= 1; // the magic of the frame
            MemoryFile file(bytes);
            CpuStreamer streamer(1);
            const Ktx2Asset asset(streamer.open(file));
            std::vector<Bytes> places;
            std::vector<SluiceStreamRequest> requests;
            for (uint32_t i = 0; i < 6; ++i)
                places.emplace_back(image.level(i).size());
            for (uint32_t i = 0; i < 6; ++i)
                requests.push_back(asset.levelTo(i, places[i].data()));
            const SluiceStreamEvent event = streamer.waitFor(streamer.submit(requests));
            CHECK(event.status == SLUICE_ERROR_CHECKSUM);
            CHECK(event.failedRequests == 1);
            CHECK(event.firstRequest == level);
            CHECK(event.firstTile == 5 - level);
            CHECK(event.tileStatus ==
                  (hasChecksums ? SLUICE_TILE_BAD_CHECKSUM : SLUICE_TILE_BAD_CODE));
            CHECK(event.fileOffset == is.offset);
            for (uint32_t i = 0; i < 6; ++i)
                if (i != level) CHECK((places[i] == image.level(i)));
        }
    }
}

TEST_CASE("stream KTX2: every bit of a level flipped, and levels that are cut off")
{
    const TestImage image(131, 16, 16, 0, 0, 1, 1); // BC1
    const Bytes packed = makeKtx2(image, 2, packZstd);
    const SluiceImageLevel level = parseImage(packed).levels[0];
    CpuStreamer streamer(1);
    uint32_t good = 0, bad = 0;
    for (uint64_t bit = 0; bit < 8 * level.size; ++bit) {
        Bytes bytes = packed;
        bytes[size_t(level.offset + bit / 8)] ^= uint8_t(1 << bit % 8);
        // What libzstd takes is taken, with the same bytes.
        Bytes expected(size_t(level.decodedSize));
        const size_t size = ZSTD_decompress(expected.data(), expected.size(),
                                            &bytes[size_t(level.offset)], size_t(level.size));
        const bool isGood = !ZSTD_isError(size) && size == expected.size();
        MemoryFile file(bytes);
        const Ktx2Asset asset(streamer.open(file));
        GuardedBytes place(expected.size());
        const SluiceStreamEvent event =
            streamer.waitFor(streamer.submit({asset.levelTo(0, place.data())}));
        place.checkGuards();
        CHECK((event.status == SLUICE_OK || event.status == SLUICE_ERROR_CHECKSUM));
        if (event.status == SLUICE_OK) {
            CHECK(isGood);
            CHECK((place.content() == expected));
        }
        (event.status == SLUICE_OK ? good : bad) += 1;
        CHECK(sluiceStreamClose(streamer.get(), asset.file) == SLUICE_OK);
    }
    CHECK(bad != 0);
    CHECK(good != 0); // literals may have any value
}

TEST_CASE("stream KTX2: a compressed level that no ring can hold is refused before it is read")
{
    // 1 MiB more than the ring has, in few bytes of the file.
    TestImage image(37, 1024, 1280, 0, 0, 1, 2);
    for (auto& slice : image.slices[0][0])
        std::fill(slice.begin(), slice.end(), uint8_t(7));
    for (const uint32_t threads : {0u, 1u}) {
        MemoryFile file(makeKtx2(image, 2, packZstd));
        CpuStreamer streamer(threads);
        const Ktx2Asset asset(streamer.open(file));
        Bytes large(image.level(0).size()), small(image.level(1).size());
        REQUIRE(large.size() == SLUICE_STREAM_MIN_SOURCE + (1 << 20));
        const uint32_t reads = file.reads;
        const SluiceStreamEvent refused =
            streamer.waitFor(streamer.submit({asset.levelTo(0, large.data())}));
        CHECK(refused.status == SLUICE_ERROR_UNSUPPORTED);
        CHECK(refused.failedRequests == 1);
        CHECK(file.reads == reads);
        // A part of it is decoded from the whole, too.
        CHECK(streamer
                  .waitFor(streamer.submit(
                      {fromArchive(asset.file, 0, asset.levels[0].offset, 4, large.data())}))
                  .status == SLUICE_ERROR_UNSUPPORTED);
        CHECK(file.reads == reads);
        CHECK(streamer.waitFor(streamer.submit({asset.levelTo(1, small.data())})).status ==
              SLUICE_OK);
        CHECK((small == image.level(1)));
        CHECK(streamer.counters().sourceUsed == 0);
    }
}

TEST_CASE("stream KTX2: sizes beyond every limit, and schemes that are not read")
{
    CpuStreamer streamer(1);
    // A level of 2^38 bytes: 65,536 x 65,536 texels of 64 bits.
    TestImage image(97, 1, 1, 0, 0, 1, 1);
    Bytes bytes = makeKtx2(image, 2, packZstd);
    storeLe32(&bytes[20], 1 << 16);
    storeLe32(&bytes[24], 1 << 16);
    storeLe64(&bytes[kLevelIndex + 16], uint64_t(8) << 32);
    MemoryFile file(bytes);
    const Ktx2Asset asset(streamer.open(file));
    CHECK(asset.levels[0].decodedSize == uint64_t(8) << 32);
    Bytes place(64);
    CHECK(streamer
              .waitFor(streamer.submit(
                  {fromArchive(asset.file, 0, asset.levels[0].offset + 100, 64, place.data())}))
              .status == SLUICE_ERROR_UNSUPPORTED);
    CHECK(openStatus(streamer, makeKtx2(image, 3, packZlib)) == SLUICE_ERROR_UNSUPPORTED);
    Bytes basis = makeKtx2(image);
    storeLe32(&basis[44], 1);
    CHECK(openStatus(streamer, basis) == SLUICE_ERROR_VERSION);
}
