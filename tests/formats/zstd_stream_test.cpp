// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the decoder for files of Zstandard frames: it takes what the reference takes and gives the
// same bytes, but refuses offsets beyond the window.
#include "tests/support/devices.h"
#include "tests/support/zstd_decode.h"
#include "tests/support/zstd_frames.h"

#include "cpu/fast/zstd_stream.h"

#include <xxhash.h>

using namespace sluice::test;
using sluice::cpu::fast::ZstdCounter;
using sluice::cpu::fast::ZstdFrames;
using sluice::cpu::fast::ZstdWindow;

namespace {

struct Streamed {
    uint32_t status = SLUICE_TILE_OK;
    Bytes bytes;
};

// Counts and then decodes all frames. `more` is added to the sizes that memory is planned for.
Streamed decodeStream(const Bytes& frames, const sluice::zstd::Dictionary& dictionary,
                      uint64_t more)
{
    constexpr uint64_t kMost = 1 << 24;
    const auto reader = [&] {
        return ZstdFrames(
            [&](uint64_t offset, void* bytes, size_t size) {
                REQUIRE(offset <= frames.size());
                REQUIRE(size <= frames.size() - offset);
                std::copy_n(frames.begin() + ptrdiff_t(offset), size, static_cast<uint8_t*>(bytes));
            },
            0, frames.size(), &dictionary.info);
    };
    Streamed result;
    std::vector<uint64_t> sizes;
    ZstdCounter counter(dictionary, true);
    for (ZstdFrames counted = reader();;) {
        const ZstdFrames::Kind kind = counted.next();
        if (kind == ZstdFrames::Kind::end) break;
        if (kind == ZstdFrames::Kind::skippable) continue;
        if (kind == ZstdFrames::Kind::otherDictionary) result.status = SLUICE_TILE_UNSUPPORTED;
        if (kind == ZstdFrames::Kind::damaged) result.status = counted.status();
        if (kind == ZstdFrames::Kind::frame) result.status = counter.count(counted, kMost);
        if (result.status == SLUICE_TILE_OK && counter.size() > kMost)
            result.status = SLUICE_TILE_LIMIT;
        if (result.status != SLUICE_TILE_OK) return result;
        sizes.push_back(counter.size());
    }
    ZstdWindow window(dictionary);
    size_t frame = 0;
    for (ZstdFrames decoded = reader();;) {
        const ZstdFrames::Kind kind = decoded.next();
        if (kind == ZstdFrames::Kind::end) break;
        if (kind == ZstdFrames::Kind::skippable) continue;
        REQUIRE(kind == ZstdFrames::Kind::frame); // the counter has seen it
        window.begin(decoded.header(), sizes[frame] + more);
        const size_t before = result.bytes.size();
        for (sluice::zstd::Block block; decoded.nextBlock(block);) {
            result.status = window.decode(block, decoded.checksum());
            result.bytes.insert(result.bytes.end(), window.bytes(), window.bytes() + window.size());
            if (result.status != SLUICE_TILE_OK) return result;
        }
        REQUIRE(decoded.status() == SLUICE_TILE_OK);
        CHECK(result.bytes.size() - before == sizes[frame]);
        ++frame;
    }
    return result;
}

Bytes damaged(Bytes frames, std::mt19937& random)
{
    for (uint32_t n = 1 + uint32_t(random() % 3); n > 0; --n) {
        const size_t most = random() % 2 != 0 ? std::min<size_t>(frames.size(), 60) : frames.size();
        frames[random() % most] ^= uint8_t(1u << random() % 8);
    }
    if (random() % 8 == 0) frames.resize(random() % frames.size());
    return frames;
}

} // namespace

TEST_CASE("zstd streams: frames and damaged frames decode as the reference says")
{
    std::mt19937 random = makeRandom(890);
    ZstdGenerator generator(random);
    const uint32_t total = std::max(200u, 2 * environmentNumber("SLUICE_MUTATIONS", 100));
    uint32_t good = 0, bad = 0, beyond = 0;
    for (uint32_t i = 0; i < total; ++i) {
        CAPTURE(i);
        const bool hasDictionary = i % 3 == 0;
        const ZstdDictionaryParts parts =
            hasDictionary ? generator.dictionary(i % 2 == 0) : ZstdDictionaryParts();
        auto dictionary = std::make_unique<sluice::zstd::Dictionary>();
        if (hasDictionary)
            REQUIRE(sluice::zstd::readDictionary(parts.bytes.data(), parts.bytes.size(),
                                                 *dictionary) == SLUICE_TILE_OK);
        Bytes frames, bytes;
        for (uint32_t k = 0; k < 1 + i % 3; ++k) {
            const ZstdGenerator::Made made = generator.frame(hasDictionary ? &parts : nullptr);
            if (i % 4 == 0) append(frames, zstdSkippable(i % 16, Bytes(i % 40)));
            append(frames, made.frame);
            append(bytes, made.content);
        }
        const Streamed whole = decodeStream(frames, *dictionary, i % 2 * 1000);
        if (whole.status == SLUICE_TILE_BAD_OFFSET) {
            ++beyond; // the generator makes offsets beyond the window
        } else {
            CHECK(whole.status == SLUICE_TILE_OK);
            CHECK((whole.bytes == bytes));
        }
        for (uint32_t k = 0; k < 6; ++k) {
            const Bytes wrong = damaged(frames, random);
            if (wrong.empty()) continue;
            const Streamed stream = decodeStream(wrong, *dictionary, k * 100);
            const bool isGood = stream.status == SLUICE_TILE_OK;
            ++(isGood ? good : bad);
            const size_t size = isGood ? stream.bytes.size() : bytes.size();
            const ZstdDecoded decoded = decodeZstd(wrong, size, dictionary.get());
            if (isGood) {
                CHECK(decoded.outcome.status == SLUICE_TILE_OK);
                CHECK((decoded.bytes == stream.bytes));
            } else if (decoded.outcome.status == SLUICE_TILE_OK) {
                CHECK(stream.status == SLUICE_TILE_BAD_OFFSET);
                ++beyond;
            }
        }
    }
    CHECK(good > 20);
    CHECK(bad > 100);
    MESSAGE(beyond, " frames had offsets beyond their windows");
}

TEST_CASE("zstd streams: memory is bounded by the window, and content slides through it")
{
    std::mt19937 random = makeRandom(891);
    Bytes bytes;
    while (bytes.size() < 6000000) { // repeats, some of them far away, and noise
        const size_t length = 20 + random() % 2000;
        if (random() % 4 != 0 && bytes.size() > 5000) {
            const size_t from = bytes.size() - 1 - random() % std::min<size_t>(bytes.size(), 70000);
            for (size_t i = 0; i < length; ++i)
                bytes.push_back(bytes[from + i]);
        } else {
            for (size_t i = 0; i < length; ++i)
                bytes.push_back(uint8_t(random() % 64));
        }
    }
    const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
    const auto none = std::make_unique<sluice::zstd::Dictionary>();
    for (const int windowLog : {10, 14, 16, 20}) {
        for (const int hasSize : {0, 1}) {
            CAPTURE(windowLog);
            ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
            ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, windowLog);
            ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, hasSize);
            ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
            Bytes frame(ZSTD_compressBound(bytes.size()));
            frame.resize(ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(),
                                        bytes.size()));
            sluice::zstd::Frame header;
            uint32_t used;
            REQUIRE(sluice::zstd::readFrameHeader(frame.data() + 4, frame.size() - 4, header,
                                                  used) == SLUICE_TILE_OK);
            CHECK(ZstdWindow::memoryFor(header, bytes.size()) <
                  (uint64_t(1) << windowLog) + (2 << 20));
            const Streamed stream = decodeStream(frame, *none, 0);
            CHECK(stream.status == SLUICE_TILE_OK);
            CHECK((stream.bytes == bytes));
            frame.back() ^= 1;
            CHECK(decodeStream(frame, *none, 0).status == SLUICE_TILE_BAD_CHECKSUM);
        }
    }
}

TEST_CASE("zstd streams: a frame of more than memory can hold")
{
    const auto none = std::make_unique<sluice::zstd::Dictionary>();
    ZstdWindow window(*none);
    sluice::zstd::Frame frame;
    frame.hasContentSize = true;
    for (const uint64_t size : {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 100}) {
        frame.contentSize = frame.window = size; // a single segment
        CHECK(ZstdWindow::memoryFor(frame, UINT64_MAX) >= size);
        CHECK_THROWS_AS(window.begin(frame, UINT64_MAX), std::bad_alloc);
    }
    frame.window = 1 << 20; // this is enough for any size
    CHECK(ZstdWindow::memoryFor(frame, UINT64_MAX) < 3 << 20);
    window.begin(frame, UINT64_MAX);
}

TEST_CASE("zstd streams: hashes come piece by piece")
{
    std::mt19937 random = makeRandom(892);
    Bytes bytes(1000);
    for (uint8_t& byte : bytes)
        byte = uint8_t(random());
    for (size_t size = 0; size <= bytes.size(); size += 1 + size / 9) {
        sluice::Xxh64Stream stream(7);
        for (size_t done = 0; done < size;) {
            const size_t piece = std::min<size_t>(size - done, random() % 70);
            stream.add(bytes.data() + done, piece);
            done += piece;
        }
        CHECK(stream.value() == XXH64(bytes.data(), size, 7));
    }
}
