// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests for which kernels the tool makes pipelines: those that its assets need.
#include <doctest/doctest.h>

#include <sluice/sluice.h>

#include "tools/common/container.h"
#include "tests/tool/tool_run.h"

namespace sluice::test {
namespace {

uint32_t kernelsFor(const Folder& tool, const std::string& options)
{
    REQUIRE(tool("pack -q -f -o x.sluice " + options) == 0);
    const Container container((tool.path / "x.sluice").string());
    std::vector<uint32_t> assets;
    for (uint32_t asset = 0; asset < container.assetCount(); ++asset)
        assets.push_back(asset);
    return container.kernelsOf(assets);
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
    CHECK(kernelsFor(tool, "-c zstd text.txt") == (SLUICE_KERNELS_ZSTD | SLUICE_KERNELS_CHECKSUM));
    tool.write("none.txt", "");
    CHECK(kernelsFor(tool, "none.txt") == SLUICE_KERNELS_CHECKSUM);
    CHECK(tool.onCpu("verify -q x.sluice") == 0);
}

} // namespace sluice::test
