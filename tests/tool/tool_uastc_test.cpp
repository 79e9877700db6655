// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests what the tool does with images of UASTC: pack --uastc, unpack --as and info.
#include "tests/support/images.h"
#include "tests/support/uastc.h"
#include "tests/tool/tool_run.h"

#include <algorithm>

using namespace sluice;
using namespace sluice::test;

namespace {

// Two layers of valid blocks, with edges in blocks; the first level is larger than a tile.
TestImage uastcImage()
{
    TestImage image(0, 259, 250, 0, 2, 1, 9);
    image.channel = SLUICE_UASTC_RGBA;
    const Bytes vectors = uastcVectors("uastc.bin");
    size_t next = 0;
    for (auto& level : image.slices)
        for (auto& slices : level)
            for (Bytes& slice : slices)
                for (size_t at = 0; at < slice.size(); at += 16, next += 16)
                    std::copy_n(&vectors[next % vectors.size()], 16, &slice[at]);
    return image;
}

Bytes bytesIn(const Folder& tool, const std::string& name)
{
    const std::string text = tool.read(name);
    return Bytes(text.begin(), text.end());
}

// Checks that a file has the image's levels in another format, as the reference makes them.
void checkTranscoded(const Bytes& file, const TestImage& image, const UastcTarget& target)
{
    const ParsedImage parsed = parseImage(file);
    REQUIRE(parsed.status == SLUICE_OK);
    CHECK(parsed.info.format == target.format);
    CHECK(parsed.info.scheme == 0);
    REQUIRE(parsed.info.levels == image.levels);
    CHECK(parsed.info.layers == image.layers);
    CHECK((parsed.info.flags & SLUICE_IMAGE_ARRAY) != 0);
    CHECK(parsed.info.keyValueSize != 0); // those of the file
    for (uint32_t i = 0; i < image.levels; ++i) {
        CAPTURE(i);
        const SluiceImageLevel& level = parsed.levels[i];
        Bytes wanted;
        for (const auto& slices : image.slices[i]) {
            const Bytes made = uastcMade(target, slices[0], {0, level.width, level.height}).output;
            wanted.insert(wanted.end(), made.begin(), made.end());
        }
        REQUIRE(level.size == wanted.size());
        CHECK(std::equal(wanted.begin(), wanted.end(), file.begin() + ptrdiff_t(level.offset)));
    }
}

} // namespace

TEST_CASE("tool: UASTC is packed as it is, without hints, or as a format of a GPU")
{
    Folder tool("in");
    const TestImage image = uastcImage();
    const Bytes plain = makeKtx2(image);
    tool.write("in/a.ktx2", text(makeKtx2(image, 2, packZstd)));
    tool.write("in/b.txt", "text");
    const auto packed = [&](const std::string& options) {
        fs::remove_all(tool.path / "out");
        REQUIRE(tool("pack -f --images -v -o a.sluice in " + options) == 0);
        REQUIRE(tool.onCpu("unpack -q a.sluice -C out") == 0);
        return bytesIn(tool, "out/in/a.ktx2");
    };
    CHECK((packed("--uastc keep") == plain));
    for (const char* codec : {"", "-c gdeflate"}) {
        const Bytes lean = packed(codec);
        REQUIRE(lean.size() == plain.size());
        CHECK((lean != plain));
        const ParsedImage parsed = parseImage(lean);
        TestImage same = image;
        for (uint32_t i = 0; i < image.levels; ++i)
            for (uint32_t layer = 0; layer < 2; ++layer) {
                Bytes& slice = same.slices[i][layer][0];
                const SluiceImageLevel& level = parsed.levels[i];
                std::copy_n(&lean[size_t(level.offset + layer * level.imageStride)], slice.size(),
                            slice.begin());
                for (const UastcTarget& target : kUastcTargets) // those without hints
                    if (target.number <= SLUICE_UA_RGBA8 || target.format == 139 ||
                        target.format == 141)
                        CHECK((uastcMade(target, slice, {0, level.width, level.height}).output ==
                               uastcMade(target, image.slices[i][layer][0],
                                         {0, level.width, level.height})
                                   .output));
            }
    }
    checkTranscoded(packed("--uastc bc7"), image, kUastcTargets[0]);
    checkTranscoded(packed("--uastc astc -c zstd"), image, kUastcTargets[1]);
    CHECK(tool("pack -f -o a.sluice in --uastc bc7") == 1);
    CHECK(contains(tool.errors(), "--uastc is for --images"));
    CHECK(tool("pack -f --images -o a.sluice in --uastc bc1") == 1);
}

TEST_CASE("tool: unpack --as writes UASTC as KTX2 files of other formats")
{
    Folder tool("in");
    TestImage image = uastcImage();
    tool.write("in/a.ktx2", text(makeKtx2(image)));
    tool.write("in/b.txt", "text");
    REQUIRE(tool("pack --images -o a.sluice in") == 0);
    const std::pair<const char*, const UastcTarget*> formats[] = {
        {"bc7", &kUastcTargets[0]}, {"astc", &kUastcTargets[1]}, {"rgba8", &kUastcTargets[2]}};
    for (const auto& format : formats) {
        const char* const name = format.first;
        CAPTURE(name);
        REQUIRE(tool.onCpu("unpack -f a.sluice -C out --as " + std::string(name)) == 0);
        CHECK(tool.errors().empty());
        checkTranscoded(bytesIn(tool, "out/in/a.ktx2"), image, *format.second);
        CHECK(tool.read("out/in/b.txt") == "text");
        REQUIRE(tool.onCpu("unpack a.sluice in/a.ktx2 -o - --as " + std::string(name)) == 0);
        CHECK(tool.output() == tool.read("out/in/a.ktx2"));
    }
    CHECK(tool.onCpu("unpack -f a.sluice in/b.txt -C out --as bc7") == 1);
    CHECK(contains(tool.errors(), "--as is for images of UASTC"));
    CHECK(tool.onCpu("unpack -f a.sluice -C out --as bc1") == 1);

    const Bytes invalid = uastcVectors("invalid.bin");
    std::copy_n(invalid.begin(), 16, image.slices[0][1][0].begin() + 16 * 7);
    tool.write("in/a.ktx2", text(makeKtx2(image)));
    REQUIRE(tool("pack -f --images -o a.sluice in") == 0);
    REQUIRE(tool.onCpu("unpack -f a.sluice -C out --as bc7") == 0);
    CHECK(contains(tool.errors(), "1 invalid blocks of UASTC become magenta"));
    checkTranscoded(bytesIn(tool, "out/in/a.ktx2"), image, kUastcTargets[0]);
    REQUIRE(tool("pack -f --images --uastc astc -o b.sluice in") == 0);
    CHECK(contains(tool.errors(), "1 invalid blocks of UASTC become magenta"));

    REQUIRE(tool("info a.sluice") == 0);
    CHECK(contains(tool.output(), "KTX2, UASTC_4x4_BLOCK, 259 x 250, 2 layers, 9 levels, RGBA"));
    REQUIRE(tool("info -v a.sluice") == 0);
    CHECK(contains(tool.output(), " of mode 18; 1 invalid"));
    REQUIRE(tool("info --json a.sluice") == 0);
    CHECK(contains(tool.output(), "\"channels\": \"RGBA\""));
}
