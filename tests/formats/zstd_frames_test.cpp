// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests Zstandard frames that follow the rules, from a generator and from libzstd: they must decode
// to what they were made of. Damaged frames must not decode to anything that libzstd does not make
// of them.
#define ZSTD_STATIC_LINKING_ONLY // declares ZSTD_compressSequences
#include "tests/support/devices.h"
#include "tests/support/zstd_decode.h"
#include "tests/support/zstd_frames.h"

#include <zdict.h>

using namespace sluice::test;

namespace {

std::unique_ptr<sluice::zstd::Dictionary> parse(const Bytes& bytes)
{
    auto dictionary = std::make_unique<sluice::zstd::Dictionary>();
    REQUIRE(sluice::zstd::readDictionary(bytes.data(), bytes.size(), *dictionary) ==
            SLUICE_TILE_OK);
    return dictionary;
}

void checkFrames(const Bytes& frames, const Bytes& content,
                 const ZstdDictionaryParts* dictionary = nullptr)
{
    const auto parsed = dictionary != nullptr ? parse(dictionary->bytes) : nullptr;
    const ZstdDecoded decoded = decodeZstd(frames, content.size(), parsed.get());
    CHECK(decoded.outcome.status == SLUICE_TILE_OK);
    CHECK((decoded.bytes == content));
    const LibzstdDecoded theirs = decodeByLibzstd(
        frames, content.size(), dictionary != nullptr ? dictionary->bytes : Bytes());
    if (!refusesLargeBlocks(theirs)) {
        CHECK(theirs.error == ZSTD_error_no_error);
        CHECK((theirs.bytes == content));
    }
    if (!content.empty()) {
        CHECK(decodeZstd(frames, content.size() - 1, parsed.get()).outcome.status ==
              SLUICE_TILE_TOO_LONG);
    }
    CHECK(decodeZstd(frames, content.size() + 1, parsed.get()).outcome.status ==
          SLUICE_TILE_TOO_SHORT);
}

// Returns bytes with near and far repeats, runs and noise.
Bytes content(size_t size, std::mt19937& random)
{
    Bytes bytes;
    while (bytes.size() < size) {
        const uint32_t kind = uint32_t(random() % 8);
        const size_t length = 1 + random() % (kind == 0 ? 3000 : 50);
        if (kind < 5 && !bytes.empty()) {
            const size_t from = random() % bytes.size();
            for (size_t i = 0; i < length; ++i)
                bytes.push_back(bytes[from + i]);
        } else {
            for (size_t i = 0; i < length; ++i)
                bytes.push_back(uint8_t(kind == 5 ? 0 : random() % (kind == 6 ? 7 : 256)));
        }
    }
    bytes.resize(size);
    return bytes;
}

} // namespace

TEST_CASE("zstd: random frames of every kind decode to what they were made of")
{
    std::mt19937 random = makeRandom(880);
    ZstdGenerator generator(random);
    const uint32_t total = std::max(500u, 5 * environmentNumber("SLUICE_MUTATIONS", 100));
    for (uint32_t i = 0; i < total; ++i) {
        CAPTURE(i);
        const ZstdGenerator::Made made = generator.frame();
        checkFrames(made.frame, made.content);
    }
    std::set<std::string> wanted = {"raw block",
                                    "RLE block",
                                    "raw block of nothing",
                                    "RLE block of nothing",
                                    "raw block of 128 KiB",
                                    "RLE block of 128 KiB",
                                    "compressed block of nothing",
                                    "compressed block of 128 KiB",
                                    "raw literals",
                                    "RLE literals",
                                    "coded literals in 1",
                                    "coded literals in 4",
                                    "treeless literals in 1",
                                    "treeless literals in 4",
                                    "direct weights",
                                    "FSE weights",
                                    "checksum",
                                    "content size in 0",
                                    "content size in 2",
                                    "content size in 4",
                                    "content size in 8",
                                    "content size in 1, single segment",
                                    "content size in 2, single segment",
                                    "content size in 4, single segment",
                                    "content size in 8, single segment"};
    for (const char* offset : {"1", "2", "3"}) {
        wanted.insert(std::string("repeat ") + offset);
        wanted.insert(std::string("repeat ") + offset + " without literals");
    }
    for (const char* kind : {"0", "1", "2"}) {
        for (const char* mode : {"0", "1", "2", "3"})
            wanted.insert(std::string("table ") + kind + " in mode " + mode);
    }
    for (const std::string& kind : wanted)
        CHECK_MESSAGE(generator.kinds().count(kind) == 1, kind);
}

TEST_CASE("zstd: several frames of a region, and skippable ones between")
{
    std::mt19937 random = makeRandom(881);
    ZstdGenerator generator(random);
    for (uint32_t i = 0; i < 40; ++i) {
        CAPTURE(i);
        Bytes frames, bytes;
        for (uint32_t k = 0; k < 1 + i % 4; ++k) {
            const uint32_t number = uint32_t(random() % 32);
            if (number < 16) append(frames, zstdSkippable(number, Bytes(random() % 40)));
            const ZstdGenerator::Made made = generator.frame();
            append(frames, made.frame);
            append(bytes, made.content);
        }
        if (random() % 2 == 0) append(frames, zstdSkippable(0, {}));
        checkFrames(frames, bytes);
    }
}

TEST_CASE("zstd: random frames with dictionaries, trained and raw")
{
    std::mt19937 random = makeRandom(882);
    ZstdGenerator generator(random);
    for (uint32_t i = 0; i < environmentNumber("SLUICE_MUTATIONS", 100); ++i) {
        CAPTURE(i);
        const ZstdDictionaryParts dictionary = generator.dictionary(i % 3 != 0);
        const ZstdGenerator::Made made = generator.frame(&dictionary);
        checkFrames(made.frame, made.content, &dictionary);
    }
}

TEST_CASE("zstd: a trained dictionary of libzstd")
{
    std::mt19937 random = makeRandom(883);
    Bytes samples;
    std::vector<size_t> sizes;
    for (uint32_t i = 0; i < 300; ++i) {
        std::mt19937 same(i % 10); // so that samples have much in common
        append(samples, content(300 + i, same));
        sizes.push_back(300 + i);
    }
    Bytes dictionary(8000);
    const size_t size = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), samples.data(),
                                              sizes.data(), uint32_t(sizes.size()));
    REQUIRE(ZDICT_isError(size) == 0);
    dictionary.resize(size);
    const auto parsed = parse(dictionary);
    CHECK(parsed->info.hasTables);
    CHECK(parsed->info.id == ZDICT_getDictID(dictionary.data(), size));
    const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
    for (const int level : {1, 3, 9, 19}) {
        for (uint32_t seed = 0; seed < 10; ++seed) {
            std::mt19937 same(seed);
            Bytes bytes = content(200 + seed * 40, same);
            append(bytes, content(100, random));
            Bytes frame(ZSTD_compressBound(bytes.size()));
            frame.resize(ZSTD_compress_usingDict(context.get(), frame.data(), frame.size(),
                                                 bytes.data(), bytes.size(), dictionary.data(),
                                                 dictionary.size(), level));
            const ZstdDecoded decoded = decodeZstd(frame, bytes.size(), parsed.get());
            CHECK(decoded.outcome.status == SLUICE_TILE_OK);
            CHECK((decoded.bytes == bytes));
            CHECK(decodeZstd(frame, bytes.size()).outcome.status == SLUICE_TILE_UNSUPPORTED);
        }
    }
}

TEST_CASE("zstd: frames of libzstd's levels and parameters")
{
    std::mt19937 random = makeRandom(884);
    const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
    const auto check = [&](const Bytes& bytes) {
        Bytes frame(ZSTD_compressBound(bytes.size()));
        const size_t size =
            ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
        REQUIRE(ZSTD_isError(size) == 0);
        frame.resize(size);
        const ZstdDecoded decoded = decodeZstd(frame, bytes.size());
        CHECK(decoded.outcome.status == SLUICE_TILE_OK);
        CHECK((decoded.bytes == bytes));
    };
    const auto set = [&](ZSTD_cParameter parameter, int value) {
        REQUIRE(ZSTD_isError(ZSTD_CCtx_setParameter(context.get(), parameter, value)) == 0);
    };
    for (int level = -7; level <= 22; ++level) {
        CAPTURE(level);
        ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
        set(ZSTD_c_compressionLevel, level);
        set(ZSTD_c_checksumFlag, level & 1);
        set(ZSTD_c_contentSizeFlag, level >> 1 & 1);
        set(ZSTD_c_windowLog, level > 15 ? 18 : 10 + (level + 7) % 9);
        for (const size_t size : {0, 1, 255, 256, 5000, 300000})
            check(content(size, random));
    }
    for (const int block : {1340, 4096, 16384}) { // blocks of these sizes reuse tables
        CAPTURE(block);
        ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
        set(ZSTD_c_compressionLevel, 19);
        set(ZSTD_c_targetCBlockSize, block);
        check(content(400000, random));
    }
    for (int mode = 0; mode < 3; ++mode) {
        ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
        set(ZSTD_c_literalCompressionMode, mode);
        set(ZSTD_c_minMatch, 3 + mode);
        set(ZSTD_c_enableLongDistanceMatching, mode);
        check(content(250000, random));
    }
}

TEST_CASE("zstd: frames of libzstd with sequences of the longest lengths and furthest offsets")
{
    const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
    std::mt19937 random = makeRandom(885);
    const auto set = [&](ZSTD_cParameter parameter, int value) {
        REQUIRE(ZSTD_isError(ZSTD_CCtx_setParameter(context.get(), parameter, value)) == 0);
    };
    set(ZSTD_c_blockDelimiters, ZSTD_sf_explicitBlockDelimiters);
    set(ZSTD_c_validateSequences, 1);
    set(ZSTD_c_windowLog, 20);
    set(ZSTD_c_minMatch, 3);
    constexpr uint32_t kBlock = SLUICE_ZS_BLOCK_BYTES;
    Bytes bytes = content(kBlock, random);
    std::vector<ZSTD_Sequence> sequences = {{0, kBlock, 0, 0}};
    const auto block = [&](const std::vector<ZSTD_Sequence>& of) {
        for (const ZSTD_Sequence& sequence : of) {
            append(bytes, content(sequence.litLength, random));
            for (uint32_t i = 0; i < sequence.matchLength; ++i)
                bytes.push_back(bytes[bytes.size() - sequence.offset]);
            sequences.push_back(sequence);
        }
    };
    block({{kBlock, 0, kBlock, 0}, {0, 0, 0, 0}}); // a match of 128 KiB from 128 KiB back
    block({{1, kBlock - 3, 3, 0}, {0, 0, 0, 0}});
    block({{2 * kBlock, 3, kBlock - 3, 0}, {0, 0, 0, 0}});
    std::vector<ZSTD_Sequence> many; // as many as a block can have
    for (uint32_t i = 0; i < kBlock / 3; ++i)
        many.push_back({uint32_t(1 + i % 7 + (i % 5 == 0 ? 3 * kBlock : 0)), 0, 3, 0});
    many.push_back({0, kBlock % 3, 0, 0});
    block(many);
    Bytes frame(ZSTD_compressBound(bytes.size()) + 1000);
    const size_t size =
        ZSTD_compressSequences(context.get(), frame.data(), frame.size(), sequences.data(),
                               sequences.size(), bytes.data(), bytes.size());
    REQUIRE_MESSAGE(ZSTD_isError(size) == 0, ZSTD_getErrorName(size));
    frame.resize(size);
    checkFrames(frame, bytes);
}

TEST_CASE("zstd: what mutated frames decode to, libzstd makes of them too")
{
    std::mt19937 random = makeRandom(886);
    ZstdGenerator generator(random);
    const uint32_t total = std::max(3000u, 30 * environmentNumber("SLUICE_MUTATIONS", 100));
    uint32_t taken = 0, statuses = 0;
    ZstdGenerator::Made made, other;
    for (uint32_t i = 0; i < total; ++i) {
        CAPTURE(i);
        if (i % 20 == 0) {
            other = made;
            do
                made = generator.frame();
            while (made.content.size() > 40000);
        }
        Bytes frame = made.frame;
        const size_t first = random() % 2 == 0 ? 40 : 4000;
        const size_t at = random() % std::min(frame.size(), first);
        switch (random() % 5) {
        case 0: frame.resize(at); break;
        case 1: frame.erase(frame.begin() + ptrdiff_t(at)); break;
        case 2: frame[at] = uint8_t(random()); break;
        case 3:
            if (!other.frame.empty()) frame[at] = other.frame[random() % other.frame.size()];
            break;
        default: frame[at] ^= uint8_t(1 << random() % 8); break;
        }
        const ZstdDecoded decoded = decodeZstd(frame, made.content.size());
        statuses |= 1u << decoded.outcome.status;
        CHECK(decoded.outcome.status != SLUICE_TILE_PENDING);
        CHECK(decoded.outcome.status <= SLUICE_TILE_UNSUPPORTED);
        if (decoded.outcome.status != SLUICE_TILE_OK) continue;
        ++taken;
        const LibzstdDecoded theirs = decodeByLibzstd(frame, made.content.size());
        // libzstd has windows of at most 2 GiB.
        if (theirs.error == ZSTD_error_frameParameter_windowTooLarge || refusesLargeBlocks(theirs))
            continue;
        CHECK(theirs.error == ZSTD_error_no_error);
        CHECK((theirs.bytes == decoded.bytes));
    }
    CHECK(taken > 0);
    for (const uint32_t status :
         {SLUICE_TILE_TRUNCATED, SLUICE_TILE_BAD_CODE, SLUICE_TILE_BAD_OFFSET, SLUICE_TILE_TOO_LONG,
          SLUICE_TILE_TOO_SHORT, SLUICE_TILE_BAD_CHECKSUM, SLUICE_TILE_UNSUPPORTED}) {
        CAPTURE(status);
        CHECK((statuses >> status & 1) == 1);
    }
}
