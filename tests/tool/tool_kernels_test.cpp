// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests for which kernels the tool makes pipelines: those that its assets need.
#include <doctest/doctest.h>

#include <sluice/sluice.h>

#include "tools/common/container.h"
#include "tests/tool/tool_run.h"

namespace sluice::test {
namespace {

uint32_t kernelsOf(const std::string& path)
{
    const Container container(path);
    std::vector<uint32_t> assets;
    for (uint32_t asset = 0; asset < container.assetCount(); ++asset)
        assets.push_back(asset);
    return container.kernelsOf(assets);
}

uint32_t kernelsFor(const Folder& tool, const std::string& options)
{
    REQUIRE(tool("pack -q -f -o x.sluice " + options) == 0);
    return kernelsOf((tool.path / "x.sluice").string());
}

} // namespace

TEST_CASE("tool kernels: no pipelines are made for codecs that an archive does not have")
{
    const Folder tool;
    tool.write("text.txt", std::string(100000, 'a') + noise(1) + std::string(100000, 'b'));
    tool.write("sound.wav", sound());
    CHECK(kernelsFor(tool, "-c gdeflate text.txt") == SLUICE_KERNELS_GDEFLATE_LINEAR);
    CHECK(kernelsFor(tool, "--filters none text.txt") == SLUICE_KERNELS_GSTD);
    CHECK((kernelsFor(tool, "sound.wav") & SLUICE_KERNELS_FILTER) != 0);
    CHECK((kernelsFor(tool, "sound.wav text.txt") & SLUICE_KERNELS_FLOAT) == 0);
    CHECK((kernelsFor(tool, "-c huff text.txt") & SLUICE_KERNELS_FLOAT) != 0);
    CHECK(kernelsFor(tool, "-c zstd --filters none text.txt") ==
          (SLUICE_KERNELS_ZSTD | SLUICE_KERNELS_CHECKSUM));
    CHECK((kernelsFor(tool, "-c zstd sound.wav") & SLUICE_KERNELS_FILTER) != 0);
    tool.write("none.txt", "");
    CHECK(kernelsFor(tool, "none.txt") == SLUICE_KERNELS_CHECKSUM);
    CHECK(tool.onCpu("verify -q x.sluice") == 0);
}

TEST_CASE("tool kernels: a damaged record does not hide the codec of the other tiles")
{
    const Folder tool;
    tool.write("text.txt", std::string(600000, 'a') + noise(1));
    REQUIRE(kernelsFor(tool, "-c zstd --filters none text.txt") ==
            (SLUICE_KERNELS_ZSTD | SLUICE_KERNELS_CHECKSUM));
    const std::string whole = tool.read("x.sluice");
    size_t opened = 0;
    for (size_t at = 0; at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = char(damaged[at] ^ 64);
        tool.write("damaged.sluice", damaged);
        try {
            CHECK((kernelsOf((tool.path / "damaged.sluice").string()) & SLUICE_KERNELS_ZSTD) != 0);
            ++opened;
        } catch (const Failure&) { // the index is damaged
        }
    }
    CHECK(opened > whole.size() / 2);
}

} // namespace sluice::test
