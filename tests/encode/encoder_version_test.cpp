// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that the encoders still give the results that they gave when their version was last raised,
// because caches rely on that. If a case fails because an encoder was changed on purpose, raise
// kEncoderVersion (src/encode/encoder_version.h) and put the digests that the test prints here.
#include <doctest/doctest.h>

#include <sluice/sluice_archive.h>
#include <sluice/sluice_filter_encode.h>

#include <zstd.h>

#include <cstdio>
#include <string>

#include "encode/archive/blake2b.h"
#include "encode/encoder_version.h"
#include "tests/support/archive_io.h"
#include "tests/tool/tool_run.h"

namespace sluice::test {
namespace {

constexpr uint32_t kGoldenZstd = 10504; // of Debian 12

using Content = std::vector<uint8_t>;

Content contentOf(const std::string& text) { return Content(text.begin(), text.end()); }

// Returns made-up text, with matches near and far.
std::string prose()
{
    static const char* const words[] = {"sluice ", "gate ", "water ", "of the ", "stream, ", "\n"};
    uint32_t state = 7;
    std::string text;
    while (text.size() < 300000) {
        state = state * 1664525u + 1013904223u;
        text += words[(state >> 16) % 6];
        if (state >> 29 == 0) text += std::to_string(state);
    }
    return text;
}

struct Setting {
    SluiceCodec codec;
    // `effort` is that of the filter plan; 9: no plan.
    uint32_t level, decodeSpeed, copyDepth, effort;
};

// Returns the first 8 bytes of the digest of an archive with one asset.
std::string digestOf(const Content& content, const Setting& setting)
{
    Content file;
    SluiceArchiveWriterInfo info = {};
    info.codec = setting.codec;
    info.level = setting.level;
    info.decodeSpeed = setting.decodeSpeed;
    info.copyDepth = setting.copyDepth;
    info.threadCount = 1;
    info.write = writeMemory;
    info.writeUser = &file;
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    MemorySource source = {content};
    SluiceArchiveAssetInfo asset = {};
    asset.name = "x";
    asset.nameLength = 1;
    asset.size = content.size();
    asset.read = MemorySource::read;
    asset.readUser = &source;
    SluiceFilterPlan plan = nullptr;
    std::vector<SluiceArchiveSegment> segments;
    if (setting.effort != 9) {
        SluiceFilterPlanInfo wanted = {};
        wanted.maxTileSize = 262144;
        wanted.features = SLUICE_FILTER_ALL;
        wanted.effort = setting.effort;
        REQUIRE(sluiceCreateFilterPlan(content.data(), content.size(), &wanted, &plan) ==
                SLUICE_OK);
        uint32_t count = 0;
        const SluiceFilterSegment* found = sluiceGetFilterSegments(plan, &count);
        for (uint32_t i = 0; i < count; ++i) {
            SluiceArchiveSegment segment = {};
            segment.size = found[i].size;
            segment.codec = setting.codec;
            segment.tileSize = (found[i].tileSize + 3) / 4 * 4;
            segment.level = setting.level;
            segment.copyDepth = setting.copyDepth;
            segment.filterOffset = found[i].filterOffset;
            segment.filterTrial = found[i].doubtful;
            segments.push_back(segment);
        }
        asset.parameters = sluiceGetFilterParameters(plan, &asset.parameterSize);
        asset.segments = segments.data();
        asset.segmentCount = count;
    }
    REQUIRE(sluiceAddArchiveAsset(writer, &asset) == SLUICE_OK);
    REQUIRE(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    sluiceDestroyFilterPlan(plan);
    Blake2b hash;
    hash.add(file.data(), file.size());
    const Digest digest = hash.finish();
    std::string hex;
    for (size_t i = 0; i < 8; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", digest[i]);
        hex += digits;
    }
    return hex;
}

struct Golden {
    const char* content;
    Setting setting;
    const char* digest;
};

constexpr Golden kGoldens[] = {
    {"prose", {SLUICE_CODEC_GDEFLATE, 1, 0, 0, 9}, "27269d590c777e82"},
    {"prose", {SLUICE_CODEC_GDEFLATE, 6, 0, 0, 9}, "0327db1a42f022c0"},
    {"prose", {SLUICE_CODEC_GDEFLATE, 7, 0, 0, 9}, "1a5cde9a0c43220c"},
    {"prose", {SLUICE_CODEC_GDEFLATE, 12, 0, 0, 9}, "f53ee2ff33ca139f"},
    {"prose", {SLUICE_CODEC_GDEFLATE, 9, 4, 0, 9}, "464dfcccb177238f"},
    {"picture", {SLUICE_CODEC_FLOAT, 1, 0, 0, 9}, "e3171b5d3064ac44"},
    {"prose", {SLUICE_CODEC_GSTD, 1, 0, 0, 9}, "a05159117b5024f2"},
    {"prose", {SLUICE_CODEC_GSTD, 5, 0, 0, 9}, "f19ff8eea79be6ec"},
    {"prose", {SLUICE_CODEC_GSTD, 9, 0, 0, 9}, "aa382733cc8f2c00"},
    {"prose", {SLUICE_CODEC_GSTD, 12, 0, 8, 9}, "7160f7aab761d00c"},
    {"prose", {SLUICE_CODEC_GSTD, 9, 0, 0, 1}, "aa382733cc8f2c00"},
    {"picture", {SLUICE_CODEC_GSTD, 3, 0, 0, 0}, "0252379ad42ca812"},
    {"picture", {SLUICE_CODEC_GSTD, 9, 0, 0, 1}, "42a650914d6df993"},
    {"sound", {SLUICE_CODEC_GSTD, 6, 0, 0, 1}, "dccaabb66101b814"},
    {"sound", {SLUICE_CODEC_GSTD, 12, 0, 0, 1}, "19811bd61ffbe331"},
    {"sound", {SLUICE_CODEC_GSTD, 9, 0, 1, 1}, "3eedc417e425ba98"},
    {"prose", {SLUICE_CODEC_ZSTD, 1, 0, 0, 9}, "9053511ad6fe8f83"},
    {"picture", {SLUICE_CODEC_ZSTD, 12, 0, 0, 9}, "c04fa412a23db72f"},
    {"sound", {SLUICE_CODEC_ZSTD, 8, 0, 0, 1}, "0955e7c9e824b2f3"},
};

} // namespace

TEST_CASE("encoder version: bytes do not change without a raise")
{
    CHECK(kEncoderVersion == 5); // the version that made the digests above
    CHECK(encoderId() == (uint64_t(kEncoderVersion) << 32 | ZSTD_versionNumber()));
    const std::string words = prose(), tga = picture(), wav = sound();
    uint32_t left = 0;
    for (const Golden& golden : kGoldens) {
        const bool usesZstd =
            golden.setting.codec == SLUICE_CODEC_GSTD || golden.setting.codec == SLUICE_CODEC_ZSTD;
        if (usesZstd && ZSTD_versionNumber() != kGoldenZstd) {
            ++left;
            continue;
        }
        const std::string name = golden.content;
        const std::string& content = name == "prose" ? words : name == "picture" ? tga : wav;
        const std::string digest = digestOf(contentOf(content), golden.setting);
        CHECK_MESSAGE(digest == golden.digest, name, ", codec ", int(golden.setting.codec),
                      ", level ", golden.setting.level, ": ", digest);
    }
    if (left != 0)
        MESSAGE(left, " digests of Gstd and zstd were not compared: they are of libzstd ",
                kGoldenZstd);
}

} // namespace sluice::test
