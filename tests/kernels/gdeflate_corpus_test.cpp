// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes on the device what the fuzzer of the CPU decoder found interesting: statuses and bytes
// must be the CPU's. SLUICE_CORPUS names a folder with inputs of fuzz_gdeflate (two bytes of
// decompressed size, then the tile). Without it, the inputs are those of tests/data/corpus.
#include "tests/support/gdeflate_tiles.h"
#include "test_paths.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace sluice::test;

TEST_SUITE_BEGIN("device");

TEST_CASE("gdeflate: fuzz corpus")
{
    const char* named = std::getenv("SLUICE_CORPUS");
    const std::filesystem::path folder = named != nullptr ? named : SLUICE_TEST_DATA_DIR "/corpus";
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<Tile> tiles;
    for (const std::filesystem::path& path : files) {
        std::ifstream file(path, std::ios::binary);
        const Bytes bytes{std::istreambuf_iterator<char>(file), {}};
        if (bytes.size() < 3) continue;
        tiles.push_back({path.filename().string(), Bytes(bytes.begin() + 2, bytes.end()),
                         1 + (bytes[0] | bytes[1] * 256u)});
    }
    REQUIRE(!tiles.empty());
    uint32_t okCount = 0;
    for (const DecodedTile& tile : decodeAndCompare(device(), tiles))
        okCount += tile.status == SLUICE_TILE_OK;
    MESSAGE(tiles.size(), " inputs, ", okCount, " of them valid tiles");
}

TEST_SUITE_END();
