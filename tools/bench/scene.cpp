// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/scene.h"

#include <algorithm>

#include "tools/bench/rows.h"

namespace sluice {
namespace {

uint32_t copyCount(const BenchDevice& device, const TileSet& set)
{
    if (!device.isGpu()) return 1;
    const uint64_t copies = (gpuOutputBudget(device) + set.outputBytes - 1) / set.outputBytes;
    return uint32_t(std::clamp<uint64_t>(copies, 1, (1u << 24) / set.tiles.size()));
}

} // namespace

Scene::Scene(const BenchDevice& on, const TileSet& tiles)
    : device(on), set(tiles), copies(copyCount(on, tiles)),
      sourceStride(aligned256(tiles.source.size())),
      outputStride(aligned256(tiles.expected.size())),
      filteredOffset(tiles.filters.empty() ? 0 : copies * outputStride),
      source(on.allocate(copies * sourceStride)),
      destination(on.allocate(copies * outputStride + filteredOffset)),
      regions(on.allocate(uint64_t{allTiles()} * kStride)),
      status(on.allocate((uint64_t{allTiles()} + 2) * 4)),
      expected(on.allocate(uint64_t{allTiles()} * 4)), count(on.allocate(4))
{
    std::vector<DriverRegion> list;
    Words checksums;
    for (uint32_t copy = 0; copy < copies; ++copy) {
        device.upload(source.part(copy * sourceStride, set.source.size()), set.source.data(),
                      set.source.size());
        const uint64_t sourceAddress = source.address() + copy * sourceStride;
        const uint64_t outputAddress = destination.address() + copy * outputStride;
        for (const TileSet::Tile& tile : set.tiles) {
            const uint64_t place = tile.outputOffset + (tile.filterSize != 0 ? filteredOffset : 0);
            list.push_back({{sourceAddress + tile.sourceOffset, outputAddress + place,
                             tile.compressedSize, tile.size},
                            kMethodGdeflate});
            checksums.push_back(tile.checksum);
        }
    }
    regions.fill(list);
    expected.fill(checksums);
}

uint64_t Scene::bytesOf(uint32_t tileCount) const
{
    uint64_t bytes = tileCount / set.tiles.size() * set.outputBytes;
    for (size_t i = 0; i < tileCount % set.tiles.size(); ++i)
        bytes += set.tiles[i].size;
    return bytes;
}

Words Scene::batches(uint32_t few) const
{
    Words counts;
    if (device.isGpu() && tilesOf(1) > few) counts.push_back(few);
    counts.push_back(tilesOf(1));
    if (copies > 4) counts.push_back(tilesOf(4));
    if (copies > 1) counts.push_back(allTiles());
    return counts;
}

void checkCopies(const BenchDevice& device, const TileSet& set, const DeviceBuffer& destination,
                 uint32_t copies, uint64_t stride, const std::string& who)
{
    Bytes bytes(stride);
    for (uint32_t copy = 0; copy < copies; ++copy) {
        device.download(destination.part(copy * stride, stride), bytes.data(), stride);
        for (size_t i = 0; i < set.tiles.size(); ++i) {
            const TileSet::Tile& tile = set.tiles[i];
            const auto begin = bytes.begin() + ptrdiff_t(tile.outputOffset);
            if (!std::equal(begin, begin + tile.size, &set.expected[tile.outputOffset])) {
                throw Failure{exitDevice, "bench: " + who + ": tile " + std::to_string(i) +
                                              " of copy " + std::to_string(copy) + ": wrong bytes"};
            }
        }
    }
}

void Scene::checkOutput(const std::string& who) const
{
    checkCopies(device, set, destination, copies, outputStride, who);
}

void Scene::checkStatus(const std::string& who) const
{
    Words words(allTiles() + size_t{2});
    device.download(status.whole(), words.data(), words.size() * 4);
    for (uint32_t i = 0; i < allTiles(); ++i) {
        if (words[i] != SLUICE_TILE_OK) {
            throw Failure{exitDevice, "bench: " + who + ": tile " +
                                          std::to_string(i % set.tiles.size()) + ": " +
                                          sluiceGetTileStatusText(words[i])};
        }
    }
    if (words[allTiles()] != 0)
        throw Failure{exitDevice, "bench: " + who + ": the summary counts failed tiles"};
}

} // namespace sluice
