// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests single blocks of UASTC on the host: against the vectors, tables against what they follow
// from, and closed forms against searches.
#include "tests/support/uastc.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cpu/uastc_words.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// The subset of texel (x, y) in a block of ASTC with fewer than 31 texels, by the hash of the
// specification (Khronos Data Format Specification, 23.22).
uint32_t astcSubset(uint32_t seed, uint32_t x, uint32_t y, uint32_t count)
{
    x *= 2;
    y *= 2;
    seed += (count - 1) * 1024;
    uint32_t r = seed;
    r ^= r >> 15;
    r -= r << 17;
    r += r << 7;
    r += r << 4;
    r ^= r >> 5;
    r += r << 16;
    r ^= r >> 7;
    r ^= r >> 3;
    r ^= r << 6;
    r ^= r >> 17;
    std::array<uint32_t, 8> s;
    for (uint32_t i = 0; i < 8; ++i)
        s[i] = (r >> 4 * i & 15) * (r >> 4 * i & 15);
    const uint32_t a = (seed & 1) != 0 ? ((seed & 2) != 0 ? 4 : 5) : (count == 3 ? 6 : 5),
                   b = (seed & 1) != 0 ? (count == 3 ? 6 : 5) : ((seed & 2) != 0 ? 4 : 5);
    for (uint32_t i = 0; i < 8; ++i)
        s[i] >>= i % 2 == 0 ? a : b;
    const uint32_t first = (s[0] * x + s[1] * y + (r >> 14)) & 63,
                   second = (s[2] * x + s[3] * y + (r >> 10)) & 63,
                   third = count < 3 ? 0 : (s[4] * x + s[5] * y + (r >> 6)) & 63;
    return first >= second && first >= third ? 0 : second >= third ? 1 : 2;
}

// Decode the digits of ASTC's integer sequences as the specification says.
std::array<uint32_t, 5> tritsOf(uint32_t t)
{
    const auto bit = [&](uint32_t i) { return t >> i & 1; };
    std::array<uint32_t, 5> d{};
    uint32_t c = t & 31;
    if ((t >> 2 & 7) == 7) {
        c = (t >> 5) << 2 | (t & 3);
        d[4] = d[3] = 2;
    } else if ((t >> 5 & 3) == 3) {
        d[4] = 2;
        d[3] = bit(7);
    } else {
        d[4] = bit(7);
        d[3] = t >> 5 & 3;
    }
    const auto low = [&](uint32_t i) { return c >> i & 1; };
    if ((c & 3) == 3) {
        d[2] = 2;
        d[1] = low(4);
        d[0] = low(3) << 1 | (low(2) & ~low(3) & 1);
    } else if ((c >> 2 & 3) == 3) {
        d[2] = d[1] = 2;
        d[0] = c & 3;
    } else {
        d[2] = low(4);
        d[1] = c >> 2 & 3;
        d[0] = low(1) << 1 | (low(0) & ~low(1) & 1);
    }
    return d;
}
std::array<uint32_t, 3> quintsOf(uint32_t q)
{
    const auto bit = [&](uint32_t i) { return q >> i & 1; };
    std::array<uint32_t, 3> d{};
    if ((q >> 1 & 3) == 3 && (q >> 5 & 3) == 0) {
        d[2] = bit(0) << 2 | (bit(4) & ~bit(0) & 1) << 1 | (bit(3) & ~bit(0) & 1);
        d[1] = d[0] = 4;
        return d;
    }
    uint32_t c = q & 31;
    if ((q >> 1 & 3) == 3) {
        d[2] = 4;
        c = (q >> 3 & 3) << 3 | (~(q >> 5) & 3) << 1 | bit(0);
    } else {
        d[2] = q >> 5 & 3;
    }
    if ((c & 7) == 5) {
        d[1] = 4;
        d[0] = c >> 3;
    } else {
        d[1] = c >> 3;
        d[0] = c & 7;
    }
    return d;
}

// Returns what kernels make of a block.
Bytes byWords(uint32_t target, const uint8_t* block, bool& valid)
{
    UastcBits bits;
    std::memcpy(&bits, block, sizeof bits);
    UastcShape shape = uastcShape(bits);
    valid = shape.valid != 0;
    uastcReplaceInvalid(bits, shape);
    const UastcAllEnds all = uastcAllEnds(bits, shape);
    Bytes made(cpu::uastcTargetBytes(target));
    const UastcTexels texels = uastcTexels(bits, shape, all);
    const UastcBits out = target == SLUICE_UA_BC7    ? uastcBc7(bits, shape, all)
                          : target == SLUICE_UA_ASTC ? uastcAstc(bits, shape, all)
                          : target < SLUICE_UA_ETC1  ? uastcBc(target, bits, shape, all, texels)
                                                     : uastcEtc(target, bits, shape, texels);
    if (target == SLUICE_UA_RGBA8)
        std::memcpy(made.data(), texels.t, made.size());
    else
        std::memcpy(made.data(), &out, made.size());
    return made;
}

Bytes transcoded(uint32_t target, const uint8_t* block, bool& valid)
{
    Bytes made(cpu::uastcTargetBytes(target));
    valid = cpu::transcodeUastc(target, block, made.data());
    return made;
}

// Returns the sum of squared errors of a BC1 block.
double errorOf(const uint8_t* bc1, const uint8_t* texels)
{
    const uint32_t ends[2] = {bc1[0] | uint32_t(bc1[1]) << 8, bc1[2] | uint32_t(bc1[3]) << 8};
    REQUIRE(ends[0] > ends[1]);
    int colours[4][3];
    for (int k = 0; k < 2; ++k) {
        const uint32_t r = ends[k] >> 11, g = ends[k] >> 5 & 63, b = ends[k] & 31;
        colours[k][0] = int(r << 3 | r >> 2);
        colours[k][1] = int(g << 2 | g >> 4);
        colours[k][2] = int(b << 3 | b >> 2);
    }
    for (int c = 0; c < 3; ++c) {
        colours[2][c] = (2 * colours[0][c] + colours[1][c]) / 3;
        colours[3][c] = (colours[0][c] + 2 * colours[1][c]) / 3;
    }
    double error = 0;
    for (int i = 0; i < 16; ++i) {
        const int* colour = colours[bc1[4 + i / 4] >> 2 * (i % 4) & 3];
        for (int c = 0; c < 3; ++c)
            error += (colour[c] - texels[4 * i + c]) * (colour[c] - texels[4 * i + c]);
    }
    return error;
}

} // namespace

TEST_CASE("uastc blocks: all targets but BC1 are those of the reference transcoder")
{
    const Bytes blocks = uastcVectors("uastc.bin");
    const struct {
        const char* file;
        uint32_t target, from; // the blocks are those of the file from this byte on
    } kinds[] = {{"rgba8.bin", SLUICE_UA_RGBA8, 0},   {"bc7.bin", SLUICE_UA_BC7, 0},
                 {"astc.bin", SLUICE_UA_ASTC, 0},     {"bc5.bin", SLUICE_UA_BC5_RA, 0},
                 {"bc5.bin", SLUICE_UA_BC4, 0},       {"etc2_rgba.bin", SLUICE_UA_ETC2, 0},
                 {"etc2_rgba.bin", SLUICE_UA_ETC1, 8}};
    uint32_t modes[kUastcModeCount] = {};
    for (size_t i = 0; i < blocks.size() / 16; ++i) {
        UastcBits bits;
        std::memcpy(&bits, &blocks[16 * i], sizeof bits);
        REQUIRE(uastcMode(bits) < kUastcModeCount);
        ++modes[uastcMode(bits)];
    }
    for (const uint32_t count : modes)
        CHECK(count >= 10);
    for (const auto& kind : kinds) {
        CAPTURE(std::string(kind.file));
        CAPTURE(kind.target);
        const Bytes wanted = uastcVectors(kind.file);
        const size_t each = wanted.size() / (blocks.size() / 16);
        uint32_t wrong = 0;
        for (size_t i = 0; i < blocks.size() / 16; ++i) {
            bool valid = false;
            const Bytes made = transcoded(kind.target, &blocks[16 * i], valid);
            wrong += !valid || !std::equal(made.begin(), made.end(), &wanted[each * i + kind.from])
                         ? 1
                         : 0;
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE(
    "uastc blocks: BC1 is that of the reference where hints or one colour decide, and else as good")
{
    const Bytes blocks = uastcVectors("uastc.bin"), bc3 = uastcVectors("bc3.bin"),
                texels = uastcVectors("rgba8.bin");
    uint32_t decided = 0, wrong = 0, wrongAlpha = 0;
    double ours = 0, theirs = 0;
    for (size_t i = 0; i < blocks.size() / 16; ++i) {
        UastcBits bits;
        std::memcpy(&bits, &blocks[16 * i], sizeof bits);
        const uint32_t mode = uastcMode(bits);
        bool valid = false;
        const Bytes made = transcoded(SLUICE_UA_BC3, &blocks[16 * i], valid);
        CHECK(transcoded(SLUICE_UA_BC1, &blocks[16 * i], valid) ==
              Bytes(made.begin() + 8, made.end()));
        wrongAlpha += std::equal(made.begin(), made.begin() + 8, &bc3[16 * i]) ? 0 : 1;
        const bool hint = uastcField(bits, uastcCodeOf(mode).bits, 1) != 0;
        if (mode == kUastcSolid || hint) {
            ++decided;
            wrong += std::equal(made.begin() + 8, made.end(), &bc3[16 * i + 8]) ? 0 : 1;
        } else {
            ours += errorOf(&made[8], &texels[64 * i]);
            theirs += errorOf(&bc3[16 * i + 8], &texels[64 * i]);
        }
    }
    CHECK(wrongAlpha == 0);
    CHECK(wrong == 0);
    CHECK(decided > 300);
    CHECK(10 * std::log10(ours / theirs) < 0.1); // in dB
}

TEST_CASE("uastc blocks: BC5 of two channels has BC4 of each")
{
    std::mt19937 random = makeRandom(711);
    for (uint32_t i = 0; i < 500; ++i) {
        Bytes block = uastcBlockOfMode(random, i % kUastcModeCount), exchanged = block;
        bool valid = false;
        const Bytes rg = transcoded(SLUICE_UA_BC5, block.data(), valid),
                    ra = transcoded(SLUICE_UA_BC5_RA, block.data(), valid),
                    r = transcoded(SLUICE_UA_BC4, block.data(), valid),
                    bc3 = transcoded(SLUICE_UA_BC3, block.data(), valid);
        CHECK(std::equal(r.begin(), r.end(), rg.begin()));
        CHECK(std::equal(r.begin(), r.end(), ra.begin()));
        CHECK(std::equal(ra.begin() + 8, ra.end(), bc3.begin()));
        // In LA all of R, G and B are the same.
        if (i % kUastcModeCount >= 15 && i % kUastcModeCount <= 17)
            CHECK(std::equal(r.begin(), r.end(), rg.begin() + 8));
    }
}

TEST_CASE("uastc blocks: what kernels do gives the bytes and the verdict of the reference")
{
    std::mt19937 random = makeRandom(712);
    const uint32_t count = 20 * environmentNumber("SLUICE_MUTATIONS", 100);
    uint32_t wrong = 0, invalid = 0;
    for (uint32_t i = 0; i < count; ++i) {
        Bytes block = uastcBlockOfMode(random, i % 20);
        if (i % 2 != 0)
            for (uint8_t& byte : block)
                byte = uint8_t(random() >> 13);
        for (const UastcTarget& target : kUastcTargets) {
            bool a = false, b = false;
            const Bytes plain = transcoded(target.number, block.data(), a);
            wrong += plain != byWords(target.number, block.data(), b) || a != b ? 1 : 0;
            invalid += a ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
    CHECK(invalid > 0);
}

TEST_CASE("uastc blocks: a reserved code and patterns that do not exist are invalid, and all else "
          "is valid")
{
    const Bytes invalid = uastcVectors("invalid.bin");
    for (size_t i = 0; i < invalid.size() / 16; ++i) {
        CAPTURE(i);
        bool valid = true;
        // Opaque magenta.
        const Bytes texels = transcoded(SLUICE_UA_RGBA8, &invalid[16 * i], valid);
        CHECK_FALSE(valid);
        for (size_t k = 0; k < 16; ++k)
            CHECK(std::equal(&texels[4 * k], &texels[4 * k] + 4, Bytes{255, 0, 255, 255}.data()));
    }
    std::mt19937 random = makeRandom(713);
    for (uint32_t mode = 0; mode < 20; ++mode) {
        for (uint32_t pattern = 0; pattern < 32; ++pattern) {
            CAPTURE(mode);
            CAPTURE(pattern);
            Bytes block = uastcBlockOfMode(random, mode);
            const uint32_t patterns = setUastcPattern(block.data(), mode, pattern);
            if (mode == 3 && pattern >= 16) break;
            bool valid = false, again = false;
            transcoded(SLUICE_UA_BC7, block.data(), valid);
            byWords(SLUICE_UA_BC7, block.data(), again);
            if (mode == 19)
                CHECK_FALSE(valid);
            else if (patterns == 0)
                CHECK(valid);
            else
                CHECK(valid == (pattern < patterns));
            CHECK(again == valid);
        }
    }
}

TEST_CASE("uastc blocks: hints change nothing but BC1, BC3, ETC1 and ETC2")
{
    // Where hints begin, and how many bits they have.
    std::mt19937 random = makeRandom(714);
    for (uint32_t mode = 0; mode < kUastcModeCount; ++mode) {
        CAPTURE(mode);
        const uint32_t begin = mode == 8 ? 37 : uastcCodeOf(mode).bits;
        const uint32_t bits = mode == 8                                ? 21
                              : mode >= 10 && mode <= 12               ? 17
                              : mode == 9 || (mode >= 13 && mode < 18) ? 23
                                                                       : 15;
        for (uint32_t k = 0; k < 40; ++k) {
            const Bytes block = uastcBlockOfMode(random, mode);
            Bytes other = block;
            for (uint32_t i = begin; i < begin + bits; ++i)
                other[i / 8] = uint8_t(other[i / 8] ^ (random() & 1) << i % 8);
            for (const uint32_t target : {SLUICE_UA_BC7, SLUICE_UA_ASTC, SLUICE_UA_RGBA8,
                                          SLUICE_UA_BC4, SLUICE_UA_BC5, SLUICE_UA_BC5_RA}) {
                bool valid = false;
                CHECK(transcoded(target, block.data(), valid) ==
                      transcoded(target, other.data(), valid));
            }
        }
    }
}

TEST_CASE("uastc tables: patterns follow from the seeds of ASTC, and anchors from the patterns")
{
    for (uint32_t pattern = 0; pattern < kUastcPatternEnd; ++pattern) {
        CAPTURE(pattern);
        const uint32_t subsets = pattern >= kUastcThree && pattern < kUastcSplit ? 3 : 2;
        uint32_t wanted = 0;
        for (uint32_t i = 0; i < 16; ++i)
            wanted |= astcSubset(kUastcSeeds[pattern], i % 4, i / 4, subsets) << 2 * i;
        CHECK(kUastcPatterns[pattern] == wanted);
        // The first texel of each subset but that of texel 0, in order.
        std::array<bool, 3> seen{};
        seen[wanted & 3] = true;
        std::array<uint32_t, 2> anchors{};
        for (uint32_t i = 1, found = 0; i < 16; ++i) {
            if (seen[wanted >> 2 * i & 3]) continue;
            seen[wanted >> 2 * i & 3] = true;
            anchors[found++] = i;
        }
        const uint32_t row = kUastcPartitions[pattern];
        CHECK((row >> 20 & 15) == anchors[0]);
        CHECK((row >> 24) == anchors[1]);
        // Each of BC7's subsets is one of ours, or a part of one, and has its anchor.
        const uint32_t theirs = pattern >= kUastcThree ? 3 : 2;
        for (uint32_t k = 1; k < theirs; ++k) {
            const uint32_t at = row >> (8 + 4 * k) & 15, ours = row >> (6 + 2 * k) & 3;
            CHECK((wanted >> 2 * at & 3) == ours);
            if (pattern >= kUastcSplit)
                CHECK((kUastcSplits[pattern - kUastcSplit] >> 2 * at & 3) == k);
        }
        CHECK((wanted & 3) == (row >> 6 & 3));
        if (pattern < kUastcSplit) continue;
        const uint32_t split = kUastcSplits[pattern - kUastcSplit];
        for (uint32_t i = 0; i < 16; ++i)
            CHECK((row >> (6 + 2 * (split >> 2 * i & 3)) & 3) == (wanted >> 2 * i & 3));
    }
}

TEST_CASE("uastc tables: digits are stored by the numbers that ASTC decodes to them")
{
    for (uint32_t n = 0; n < 243; ++n) {
        const std::array<uint32_t, 5> d = {n % 3, n / 3 % 3, n / 9 % 3, n / 27 % 3, n / 81};
        uint32_t least = 0;
        while (tritsOf(least) != d)
            ++least;
        CHECK(uastcTrits(d[0], d[1], d[2], d[3], d[4]) == least);
    }
    for (uint32_t n = 0; n < 125; ++n) {
        const std::array<uint32_t, 3> d = {n % 5, n / 5 % 5, n / 25};
        const uint32_t made = uastcQuints(d[0], d[1], d[2]);
        CHECK(made < 128);
        CHECK(quintsOf(made) == d);
        if (n == 124) CHECK(made == 31);
    }
}

TEST_CASE("uastc tables: one colour has the ends that a search finds")
{
    for (uint32_t value = 0; value < 256; ++value) {
        CAPTURE(value);
        for (uint32_t kind = 0; kind < 3; ++kind) { // p-bit 0, 1, and none
            uint32_t best = ~0u, found = 0;
            for (uint32_t low = 0; low < 128; ++low) {
                for (uint32_t high = 0; high < 128; ++high) {
                    const uint32_t a = kind < 2 ? 2 * low + kind : 2 * low + (low >> 6),
                                   b = kind < 2 ? 2 * high + kind : 2 * high + (high >> 6);
                    const int error = int((a * 43 + b * 21 + 32) >> 6) - int(value);
                    if (uint32_t(error * error) >= best) continue;
                    best = uint32_t(error * error);
                    found = low | high << 8;
                }
            }
            CHECK((kind < 2 ? uastcSolid6(value, kind) : uastcSolid5(value)) == found);
        }
        // BC1: five bits and six.
        for (const uint32_t bits : {5u, 6u}) {
            int best = 1 << 30;
            uint32_t found = 0;
            for (uint32_t low = 0; low < 1u << bits; ++low) {
                for (uint32_t high = 0; high < 1u << bits; ++high) {
                    const int l = int(low << (8 - bits) | low >> (2 * bits - 8)),
                              h = int(high << (8 - bits) | high >> (2 * bits - 8));
                    const int error =
                        std::abs((2 * h + l) / 3 - int(value)) + std::abs(h - l) * 3 / 100;
                    if (error >= best) continue;
                    best = error;
                    found = high | low << bits;
                }
            }
            CHECK((kUastcSolidBc1[value] >> (bits == 5 ? 0 : 16) & (bits == 5 ? 1023 : 4095)) ==
                  found);
        }
    }
}

TEST_CASE("uastc formats: what a device has and an image needs, the best first")
{
    SluiceUastcFormat formats[SLUICE_UASTC_MAX_FORMATS];
    const auto list = [&](uint32_t channels, uint32_t features, uint32_t choice) {
        uint32_t count = 0;
        REQUIRE(sluiceGetUastcFormats(channels, features, choice, formats, &count) == SLUICE_OK);
        REQUIRE(count >= 1);
        REQUIRE(count <= SLUICE_UASTC_MAX_FORMATS);
        Words made;
        for (uint32_t i = 0; i < count; ++i)
            made.push_back(formats[i].format);
        return made;
    };
    constexpr uint32_t all = 7;
    CHECK(list(SLUICE_UASTC_RGB, 0, 0) == Words{37});
    CHECK(list(SLUICE_UASTC_RGB, 0, SLUICE_UASTC_SRGB) == Words{43});
    CHECK(list(SLUICE_UASTC_RGB, all, 0) == Words{157, 145, 147, 131, 37});
    CHECK(list(SLUICE_UASTC_RGB, all, SLUICE_UASTC_SRGB) == Words{158, 146, 148, 132, 43});
    CHECK(list(SLUICE_UASTC_RGB, all, SLUICE_UASTC_LEAST_MEMORY) == Words{147, 131, 157, 145, 37});
    CHECK(list(SLUICE_UASTC_RGBA, all, 0) == Words{157, 145, 151, 137, 37});
    CHECK(list(SLUICE_UASTC_RGBA, SLUICE_UASTC_HAS_BC, 0) == Words{145, 137, 37});
    CHECK(list(SLUICE_UASTC_RGBA, SLUICE_UASTC_HAS_ETC2, 0) == Words{151, 37});
    CHECK(list(SLUICE_UASTC_RRR, SLUICE_UASTC_HAS_BC, 0) == Words{139, 145, 131, 37});
    CHECK(formats[0].swizzle[1] == 3); // r, r, r, 1
    CHECK(formats[0].blockBytes == 8);
    CHECK(list(SLUICE_UASTC_RRR, SLUICE_UASTC_HAS_BC, SLUICE_UASTC_SRGB) == Words{146, 132, 43});
    CHECK(list(SLUICE_UASTC_RRRG, all, 0) == Words{157, 141, 145, 151, 137, 37});
    CHECK(formats[0].swizzle[1] == 6); // from A
    CHECK(formats[1].swizzle[1] == 0);
    CHECK(formats[1].flags == SLUICE_UASTC_SECOND_IS_ALPHA);
    CHECK(formats[2].flags == 0);
    CHECK(list(SLUICE_UASTC_RG, all, 0) == Words{157, 141, 145, 147, 131, 37});
    CHECK(formats[1].flags == 0);
    CHECK(formats[5].blockBytes == 64);
    // Every format is one that the command takes, and a view of an opaque image has an alpha of 1.
    for (const uint32_t channels : {0u, 3u, 4u, 5u, 6u}) {
        for (uint32_t features = 0; features <= all; ++features) {
            for (uint32_t choice = 0; choice <= 3; ++choice) {
                const Words made = list(channels, features, choice);
                CHECK(made.back() == ((choice & SLUICE_UASTC_SRGB) != 0 ? 43 : 37));
                for (size_t i = 0; i < made.size(); ++i) {
                    CHECK(std::count(made.begin(), made.end(), made[i]) == 1);
                    CHECK(formats[i].swizzle[3] == (channels == SLUICE_UASTC_RGBA ? 0 : 2));
                }
            }
        }
    }
    uint32_t count = 0;
    for (const uint32_t channels : {1u, 2u, 7u, 166u})
        CHECK(sluiceGetUastcFormats(channels, 0, 0, formats, &count) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetUastcFormats(0, 8, 0, formats, &count) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetUastcFormats(0, 0, 4, formats, &count) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetUastcFormats(0, 0, 0, nullptr, &count) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetUastcFormats(0, 0, 0, formats, nullptr) == SLUICE_ERROR_ARGUMENT);
}
