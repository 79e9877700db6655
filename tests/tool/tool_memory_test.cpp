// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that packing takes bounded memory, however large a file is, and tests archives above 4 GiB.
#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/devices.h"
#include "tests/tool/tool_run.h"

namespace sluice::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimits = false; // sanitizers reserve more than any limit
#else
constexpr bool kLimits = true;
#endif

// Writes a file with bytes at the beginning and at the end, and a hole between them.
void writeSparse(const Folder& tool, const std::string& name, uint64_t size)
{
    tool.write(name, noise(3000));
    fs::resize_file(tool.path / name, size - 7);
    std::ofstream(tool.path / name, std::ios::app) << "the end";
}

} // namespace

TEST_CASE("tool memory: a file larger than what may be allocated is packed and unpacked")
{
    if (!kLimits) {
        skipCase("sanitizers take address space without a limit");
        return;
    }
    if (kEmulated) {
        skipCase("the emulator takes address space of its own");
        return;
    }
    if (isWindowsTool("Wine takes address space without a limit")) return;
    Tool tool;
    writeSparse(tool, "f/large.bin", 520 * kMiB);
    // KiB of address space, for the program and its libraries, too.
    tool.environment = "ulimit -v 460000;";
    REQUIRE(tool("pack -l 1 -j 1 -o large.sluice f") == 0);
    REQUIRE(tool("pack -l 1 -j 1 --cache cache --shard 1/1 -o 1.shard f") == 0);
    REQUIRE(tool("join -o joined.sluice 1.shard") == 0);
    CHECK(tool.read("joined.sluice") == tool.read("large.sluice"));
    CHECK(tool("verify --device cpu -j 1 large.sluice --compare . --max-output 1G") == 0);
}

TEST_CASE("tool memory: an archive above 4 GiB is joined from shards and unpacked" *
          doctest::skip(environmentNumber("SLUICE_TEST_LARGE", 0) == 0))
{
    const Tool tool;
    for (const char* name : {"f/a.bin", "f/b.bin", "f/c.bin", "f/d.bin", "f/e.bin"})
        writeSparse(tool, name, 1000 * kMiB);
    for (const char* shard : {"1", "2", "3"})
        REQUIRE(tool("pack -c store --shard " + std::string(shard) + "/3 -o " + shard + " f") == 0);
    REQUIRE(tool("join -o joined.sluice 3 1 2") == 0);
    REQUIRE(tool("pack -c store -o whole.sluice f") == 0);
    CHECK(fs::file_size(tool.path / "joined.sluice") > uint64_t(4096) * kMiB);
    CHECK(tool("--version && cmp joined.sluice whole.sluice") == 0);
    CHECK(tool.onCpu("verify joined.sluice --compare .") == 0);
    REQUIRE(tool.onCpu("unpack joined.sluice f/e.bin -o e.bin") == 0);
    CHECK(tool("--version && cmp e.bin f/e.bin") == 0);
}

} // namespace sluice::test
