// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the GDeflate encoder: round trips through the CPU reference, exact stream sizes, upper
// bounds, and that results are always the same.
#include <sluice/sluice_encode.h>
#include <sluice/sluice_gdeflate.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "encode/gdeflate/gdeflate_huffman.h"
#include "tests/support/gdeflate_walk.h"

namespace {

using Bytes = std::vector<uint8_t>;
constexpr uint32_t kLevels = 12;
constexpr size_t kTile = 65536;

class Encoder {
public:
    explicit Encoder(uint32_t level, uint32_t decodeSpeed = 0)
    {
        const SluiceGdeflateEncoderInfo info = {level, decodeSpeed};
        REQUIRE(sluiceCreateGdeflateEncoder(&info, &m_handle) == SLUICE_OK);
    }
    ~Encoder() { sluiceDestroyGdeflateEncoder(m_handle); }
    Encoder(const Encoder&) = delete;
    Encoder& operator=(const Encoder&) = delete;

    SluiceGdeflateEncoder get() const { return m_handle; }

    Bytes encode(const Bytes& bytes)
    {
        Bytes stream(sluiceGdeflateTileBound(bytes.size()));
        size_t size = 0;
        REQUIRE(sluiceEncodeGdeflateTile(m_handle, bytes.data(), bytes.size(), stream.data(),
                                         stream.size(), &size) == SLUICE_OK);
        REQUIRE(size <= stream.size());
        stream.resize(size);
        return stream;
    }

private:
    SluiceGdeflateEncoder m_handle = nullptr;
};

struct Decoded {
    uint32_t status;
    Bytes bytes;
};

// Decodes one tile on a CPU context.
Decoded decode(const Bytes& stream, size_t size)
{
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK);
    std::vector<uint32_t> source((stream.size() + 3) / 4);
    std::copy(stream.begin(), stream.end(), reinterpret_cast<uint8_t*>(source.data()));
    std::vector<uint32_t> destination((size + 3) / 4);
    const auto address = [](const void* pointer) {
        return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointer));
    };
    const SluiceRegion region = {address(source.data()), address(destination.data()), stream.size(),
                                 size};
    uint32_t status[3] = {};
    SluiceGdeflateInfo info = {};
    info.maxRegionCount = 1;
    info.regionStride = sizeof(region);
    info.regions = {address(&region), 0, sizeof(region)};
    info.source = {address(source.data()), 0, 4 * source.size()};
    info.destination = {address(destination.data()), 0, 4 * destination.size()};
    info.status = {address(status), 0, sizeof(status)};
    SluiceRequirements requirements = {};
    CHECK(sluiceGetGdeflateRequirements(context, &info, &requirements) == SLUICE_OK);
    std::vector<uint64_t> scratch(requirements.scratchSize / 8 + 1);
    info.scratch = {address(scratch.data()), 0, requirements.scratchSize};
    CHECK(sluiceCmdGdeflate(context, nullptr, &info) == SLUICE_OK);
    sluiceDestroyContext(context);
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(destination.data());
    return {status[0], Bytes(bytes, bytes + size)};
}

// Checks that the stream decodes to `bytes`, and that it has no more words than the decoder takes.
void checkStream(const Bytes& stream, const Bytes& bytes)
{
    REQUIRE(stream.size() >= 128);
    CHECK(stream.size() % 4 == 0);
    CHECK(stream.size() <= sluiceGdeflateTileBound(bytes.size()));
    const Decoded decoded = decode(stream, bytes.size());
    CHECK(decoded.status == SLUICE_TILE_OK);
    CHECK(decoded.bytes == bytes);
    CHECK(decode(Bytes(stream.begin(), stream.end() - 4), bytes.size()).status ==
          SLUICE_TILE_TRUNCATED);
}

Bytes generate(size_t size, const std::function<uint32_t(size_t)>& value)
{
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<uint8_t>(value(i));
    }
    return bytes;
}

Bytes randomBytes(size_t size, uint32_t seed)
{
    std::mt19937 random(seed);
    return generate(size, [&](size_t) { return static_cast<uint32_t>(random() >> 24); });
}

// Returns text of a small vocabulary, which has many short matches.
Bytes textBytes(size_t size, uint32_t seed)
{
    std::mt19937 random(seed);
    std::vector<std::string> words;
    for (int i = 0; i < 300; ++i) {
        std::string word(2 + random() % 8, ' ');
        std::generate(word.begin(), word.end(),
                      [&] { return static_cast<char>('a' + random() % 26); });
        words.push_back(word + ' ');
    }
    std::string text;
    while (text.size() < size) {
        text += words[std::min(random() % 300, random() % 300)];
    }
    return Bytes(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
}

// Returns pixels of four bytes that change slowly, with noise.
Bytes imageBytes(size_t size, uint32_t seed)
{
    std::mt19937 random(seed);
    uint8_t pixel[4] = {};
    return generate(size, [&](size_t i) {
        uint8_t& channel = pixel[i % 4];
        channel = i % 4 == 3
                      ? 255
                      : static_cast<uint8_t>(channel + (random() % 4 == 0 ? random() % 5 : 0));
        return channel;
    });
}

struct Sample {
    const char* name;
    Bytes bytes;
};

std::vector<Sample> samples()
{
    const Bytes noise = randomBytes(kTile / 2, 1);
    // The second half repeats the first: distances of 32 KiB, lengths of up to 32 KiB.
    Bytes farMatch = noise;
    farMatch.insert(farMatch.end(), noise.begin(), noise.end());
    // The last bytes repeat the first ones, at a distance of 62,536.
    Bytes farthest = randomBytes(kTile, 2);
    std::copy(farthest.begin(), farthest.begin() + 3000, farthest.end() - 3000);
    Bytes mixed = textBytes(20000, 3); // needs blocks of every type
    const Bytes middle = randomBytes(20000, 4);
    const Bytes end = imageBytes(kTile - 40000, 5);
    mixed.insert(mixed.end(), middle.begin(), middle.end());
    mixed.insert(mixed.end(), end.begin(), end.end());
    std::mt19937 random(6);
    return {
        {"zeros", Bytes(kTile, 0)},
        {"one value", Bytes(40000, 200)},
        {"noise", randomBytes(kTile, 7)},
        {"noise of 65535", randomBytes(65535, 8)},
        {"noise of two values",
         // many matches
         generate(kTile, [&](size_t) { return static_cast<uint32_t>(random() % 2); })},
        {"noise of four values",
         generate(kTile, [&](size_t) { return static_cast<uint32_t>(random() % 4); })},
        {"skewed",
         generate(kTile,
                  [&](size_t) { return static_cast<uint32_t>(random() & random() & random()); })},
        {"ramp", generate(kTile, [](size_t i) { return static_cast<uint32_t>(i); })},
        {"slow ramp", generate(kTile, [](size_t i) { return static_cast<uint32_t>(i >> 8); })},
        {"period 3", generate(kTile, [](size_t i) { return static_cast<uint32_t>(i % 3); })},
        {"period 258",
         generate(kTile, [](size_t i) { return static_cast<uint32_t>(i % 258 * 7); })},
        {"text", textBytes(kTile, 9)},
        {"image", imageBytes(kTile, 10)},
        {"far match", farMatch},
        {"farthest match", farthest},
        {"mixed", mixed},
    };
}

} // namespace

TEST_CASE("gdeflate encoder: round trips at every level")
{
    for (uint32_t level = 1; level <= kLevels; ++level) {
        Encoder encoder(level);
        for (const Sample& sample : samples()) {
            CAPTURE(level);
            CAPTURE(sample.name);
            checkStream(encoder.encode(sample.bytes), sample.bytes);
        }
    }
}

TEST_CASE("gdeflate encoder: every small size, and sizes around a tile")
{
    const Bytes noise = randomBytes(kTile, 11);
    const Bytes text = textBytes(kTile, 12);
    for (const uint32_t level : {1u, 6u, 12u}) {
        Encoder encoder(level);
        std::vector<size_t> sizes = {255,  256,   257,   258,   259,  1000,
                                     4096, 65533, 65534, 65535, 65536};
        for (size_t size = 1; size <= 70; ++size) {
            sizes.push_back(size);
        }
        for (const size_t size : sizes) {
            CAPTURE(level);
            CAPTURE(size);
            const auto end = static_cast<std::ptrdiff_t>(size);
            for (const Bytes& bytes : {Bytes(size, 0), Bytes(noise.begin(), noise.begin() + end),
                                       Bytes(text.begin(), text.begin() + end)}) {
                checkStream(encoder.encode(bytes), bytes);
            }
        }
    }
}

TEST_CASE("gdeflate encoder: random mixtures")
{
    std::mt19937 random(13);
    for (int round = 0; round < 150; ++round) {
        Bytes bytes;
        const size_t size = 1 + random() % kTile;
        while (bytes.size() < size) {
            const size_t piece = 1 + random() % 3000;
            const uint32_t kind = random() % 4;
            const uint32_t mask = 255u >> random() % 8;
            const size_t distance = bytes.empty() ? 0 : 1 + random() % bytes.size();
            for (size_t i = 0; i < piece && bytes.size() < size; ++i) {
                bytes.push_back(kind == 0 || distance == 0 ? static_cast<uint8_t>(random() & mask)
                                : kind == 1                ? static_cast<uint8_t>(i & mask)
                                                           : bytes[bytes.size() - distance]);
            }
        }
        const uint32_t level = 1 + static_cast<uint32_t>(random()) % kLevels;
        Encoder encoder(level,
                        static_cast<uint32_t>(random()) % (SLUICE_GDEFLATE_MAX_DECODE_SPEED + 1));
        CAPTURE(round);
        checkStream(encoder.encode(bytes), bytes);
    }
}

TEST_CASE("gdeflate encoder: the bound is what stored blocks take")
{
    CHECK(sluiceGdeflateTileBound(0) == 0);
    CHECK(sluiceGdeflateTileBound(65537) == 0);
    // The first word of each lane; lane 0 takes another word after 27 bits.
    CHECK(sluiceGdeflateTileBound(1) == 4 * 33);
    CHECK(sluiceGdeflateTileBound(65536) == 4 * (32 + 31 * 512 + 514));
    Encoder encoder(12);
    for (const size_t size : {size_t{1000}, size_t{65535}, size_t{65536}}) {
        CHECK(encoder.encode(randomBytes(size, 14)).size() == sluiceGdeflateTileBound(size));
    }
}

TEST_CASE("gdeflate encoder: long matches and far offsets are used")
{
    Encoder fast(1), best(12);
    for (Encoder* encoder : {&fast, &best}) {
        CHECK(encoder->encode(Bytes(kTile, 0)).size() <= 200); // a length of 65,535
        for (const Sample& sample : samples()) {
            if (std::string(sample.name) == "far match") {
                CHECK(encoder->encode(sample.bytes).size() <=
                      kTile / 2 + 400); // a distance of 32 KiB and a long length
            }
        }
    }
    for (const Sample& sample : samples()) {
        if (std::string(sample.name) == "farthest match") {
            CHECK(best.encode(sample.bytes).size() <= sluiceGdeflateTileBound(kTile - 3000) + 100);
        }
    }
}

TEST_CASE("gdeflate encoder: higher levels are not larger on common data")
{
    const Bytes text = textBytes(kTile, 15), image = imageBytes(kTile, 16);
    size_t sizes[kLevels + 1] = {};
    for (uint32_t level = 1; level <= kLevels; ++level) {
        Encoder encoder(level);
        sizes[level] = encoder.encode(text).size() + encoder.encode(image).size();
    }
    CHECK(sizes[5] < sizes[1]);
    CHECK(sizes[7] < sizes[5]);
    CHECK(sizes[8] < sizes[7]);
    CHECK(sizes[12] < sizes[8]);
}

TEST_CASE("gdeflate encoder: a tile's stream does not depend on earlier tiles")
{
    for (uint32_t level = 1; level <= kLevels; ++level) {
        const uint32_t decodeSpeed = level % 3 == 0 ? level / 2 : 0;
        CAPTURE(level);
        Encoder used(level, decodeSpeed);
        for (const Sample& sample : samples()) {
            Encoder fresh(level, decodeSpeed);
            CHECK(used.encode(sample.bytes) == fresh.encode(sample.bytes));
        }
    }
}

// Users keep and compare these streams, so they may change only on purpose.
TEST_CASE("gdeflate encoder: the default's bytes are what they were")
{
    constexpr uint32_t expected[kLevels] = {0x91027885, 0xfcd4f826, 0xaffaf123, 0xae7dd077,
                                            0x34cabd09, 0x66ffb1a1, 0xb6b8a90e, 0xae4c8a68,
                                            0x999c4834, 0x31e5f911, 0x7c7cfa3d, 0x2b59b4be};
    for (uint32_t level = 1; level <= kLevels; ++level) {
        Encoder encoder(level);
        uint32_t hash = 0x811c9dc5; // FNV-1a
        for (const Sample& sample : samples()) {
            for (const uint8_t byte : encoder.encode(sample.bytes)) {
                hash = (hash ^ byte) * 0x01000193;
            }
        }
        CAPTURE(level);
        CHECK(hash == expected[level - 1]);
    }
}

TEST_CASE("gdeflate encoder: decodeSpeed gives good streams without long codes")
{
    for (const uint32_t level : {1u, 4u, 7u, 8u, 12u}) {
        for (uint32_t decodeSpeed = 1; decodeSpeed <= SLUICE_GDEFLATE_MAX_DECODE_SPEED;
             ++decodeSpeed) {
            Encoder encoder(level, decodeSpeed);
            for (const Sample& sample : samples()) {
                CAPTURE(level);
                CAPTURE(decodeSpeed);
                CAPTURE(sample.name);
                const Bytes stream = encoder.encode(sample.bytes);
                checkStream(stream, sample.bytes);
                const GdeflateWork work = GdeflateWalk(stream).run();
                CHECK(work.longestLitLen <= 10);
                CHECK(work.longestDistance <= 8);
            }
        }
    }
    uint32_t longest = 0; // there must be long codes to get rid of
    for (const Sample& sample : samples()) {
        longest =
            std::max(longest, GdeflateWalk(Encoder(12).encode(sample.bytes)).run().longestLitLen);
    }
    CHECK(longest > 10);
}

TEST_CASE("gdeflate encoder: decodeSpeed trades bytes for less work, step by step")
{
    std::vector<Bytes> tiles;
    for (uint32_t seed = 17; seed < 21; ++seed) {
        tiles.push_back(textBytes(kTile, seed));
        tiles.push_back(imageBytes(kTile, seed));
        tiles.push_back(textBytes(20000, seed)); // pieces that need codes of their own
        for (const Bytes& more : {imageBytes(20000, seed), textBytes(kTile - 40000, seed + 100)}) {
            tiles.back().insert(tiles.back().end(), more.begin(), more.end());
        }
    }
    // Work in units of a symbol's time, as measured on a GPU. Literals may replace a near match, so
    // some work may grow if the total falls.
    const auto total = [](const GdeflateWork& w) {
        return w.symbols() + 527 * w.blocks + 14 * w.waits;
    };
    size_t bytes[SLUICE_GDEFLATE_MAX_DECODE_SPEED + 1] = {};
    GdeflateWork work[SLUICE_GDEFLATE_MAX_DECODE_SPEED + 1];
    for (uint32_t decodeSpeed = 0; decodeSpeed <= SLUICE_GDEFLATE_MAX_DECODE_SPEED; ++decodeSpeed) {
        Encoder encoder(12, decodeSpeed);
        for (const Bytes& tile : tiles) {
            const Bytes stream = encoder.encode(tile);
            const GdeflateWork add = GdeflateWalk(stream).run();
            bytes[decodeSpeed] += stream.size();
            work[decodeSpeed].blocks += add.blocks;
            work[decodeSpeed].literals += add.literals;
            work[decodeSpeed].matches += add.matches;
            work[decodeSpeed].waits += add.waits;
        }
        CAPTURE(decodeSpeed);
        if (decodeSpeed != 0) {
            // Neighbouring settings may give nearly the same size.
            CHECK(bytes[decodeSpeed] > bytes[decodeSpeed - 1] - bytes[0] / 1000);
            CHECK(work[decodeSpeed].blocks <= work[decodeSpeed - 1].blocks);
            CHECK(work[decodeSpeed].waits < work[decodeSpeed - 1].waits);
            CHECK(total(work[decodeSpeed]) < total(work[decodeSpeed - 1]));
        }
    }
    const uint32_t last = SLUICE_GDEFLATE_MAX_DECODE_SPEED;
    CHECK(work[last].blocks < work[0].blocks);
    CHECK(total(work[last]) < total(work[0]) / 100 * 97);
    CHECK(bytes[last] < bytes[0] + bytes[0] / 25);
}

TEST_CASE("gdeflate encoder: length-limited codes are complete, and no other is shorter")
{
    using namespace sluice::gdeflate;
    std::mt19937 random(21);
    for (int round = 0; round < 300; ++round) {
        const uint32_t count = 2 + static_cast<uint32_t>(random()) % 9;
        const uint32_t limit = 4 + static_cast<uint32_t>(random()) % 3;
        uint32_t frequencies[11] = {};
        for (uint32_t i = 0; i < count; ++i) {
            // This often makes very uneven frequencies.
            frequencies[i] = 1 + static_cast<uint32_t>(random() % (1u << random() % 12));
        }
        uint8_t lengths[11] = {};
        buildLimitedCodeLengths(frequencies, count, limit, lengths);
        uint32_t bits = 0, space = 0;
        for (uint32_t i = 0; i < count; ++i) {
            REQUIRE(lengths[i] >= 1);
            REQUIRE(lengths[i] <= limit);
            bits += frequencies[i] * lengths[i];
            space += 1u << (limit - lengths[i]);
        }
        CHECK(space == 1u << limit);
        // least[s]: the fewest bits that the symbols so far can take if they use s of the 2^limit
        // codes of full length.
        std::vector<uint32_t> least((1u << limit) + 1, UINT32_MAX);
        least[0] = 0;
        for (uint32_t i = 0; i < count; ++i) {
            std::vector<uint32_t> next(least.size(), UINT32_MAX);
            for (uint32_t s = 0; s < least.size(); ++s) {
                for (uint32_t length = 1; length <= limit && least[s] != UINT32_MAX; ++length) {
                    const uint32_t to = s + (1u << (limit - length));
                    if (to < least.size()) {
                        next[to] = std::min(next[to], least[s] + frequencies[i] * length);
                    }
                }
            }
            least.swap(next);
        }
        CAPTURE(round);
        CHECK(bits == *std::min_element(least.begin(), least.end()));
    }

    // A whole alphabet in which one symbol is common.
    std::vector<uint32_t> frequencies(286, 1);
    frequencies[65] = 60000;
    uint8_t lengths[286];
    buildLimitedCodeLengths(frequencies.data(), 286, 10, lengths);
    CHECK(lengths[65] == 1);
    uint32_t space = 0;
    for (const uint8_t length : lengths) {
        CHECK(length <= 10);
        space += 1024u >> length;
    }
    CHECK(space == 1024);
}

TEST_CASE("gdeflate encoder: wrong arguments")
{
    SluiceGdeflateEncoder handle = nullptr;
    SluiceGdeflateEncoderInfo info = {9, 0};
    CHECK(sluiceCreateGdeflateEncoder(nullptr, &handle) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCreateGdeflateEncoder(&info, nullptr) == SLUICE_ERROR_ARGUMENT);
    for (const SluiceGdeflateEncoderInfo& wrong :
         {SluiceGdeflateEncoderInfo{0, 0}, {13, 0}, {9, SLUICE_GDEFLATE_MAX_DECODE_SPEED + 1}}) {
        CHECK(sluiceCreateGdeflateEncoder(&wrong, &handle) == SLUICE_ERROR_ARGUMENT);
        CHECK(handle == nullptr);
    }
    sluiceDestroyGdeflateEncoder(nullptr);

    Encoder encoder(9);
    const Bytes bytes(kTile + 1, 1);
    Bytes out(sluiceGdeflateTileBound(kTile), 0xA7);
    size_t size = 0;
    const auto encode = [&](SluiceGdeflateEncoder to, const void* from, size_t count, void* into,
                            size_t capacity, size_t* outSize) {
        return sluiceEncodeGdeflateTile(to, from, count, into, capacity, outSize);
    };
    CHECK(encode(nullptr, bytes.data(), 1, out.data(), out.size(), &size) == SLUICE_ERROR_ARGUMENT);
    CHECK(encode(encoder.get(), nullptr, 1, out.data(), out.size(), &size) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(encode(encoder.get(), bytes.data(), 0, out.data(), out.size(), &size) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(encode(encoder.get(), bytes.data(), kTile + 1, out.data(), out.size(), &size) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(encode(encoder.get(), bytes.data(), 1, nullptr, out.size(), &size) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(encode(encoder.get(), bytes.data(), 1, out.data(), out.size(), nullptr) ==
          SLUICE_ERROR_ARGUMENT);

    // With exactly enough room it encodes; with a byte less it refuses and writes nothing.
    REQUIRE(encode(encoder.get(), bytes.data(), kTile, out.data(), out.size(), &size) == SLUICE_OK);
    const size_t needed = size;
    std::fill(out.begin(), out.end(), uint8_t{0xA7});
    CHECK(encode(encoder.get(), bytes.data(), kTile, out.data(), needed - 1, &size) ==
          SLUICE_ERROR_BUFFER_SIZE);
    CHECK(std::count(out.begin(), out.end(), uint8_t{0xA7}) ==
          static_cast<std::ptrdiff_t>(out.size()));
    CHECK(encode(encoder.get(), bytes.data(), kTile, out.data() + 1, needed, &size) == SLUICE_OK);
    CHECK(size == needed);
    CHECK(out[0] == 0xA7);
    CHECK(out[needed + 1] == 0xA7);
}
