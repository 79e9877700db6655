// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the requests for an image whose archive claims more layers than requests can count.
#include "tests/support/images.h"
#include "tests/support/streams.h"

#include <doctest/doctest.h>

using namespace sluice::test;

namespace {

constexpr uint32_t kLayers = uint32_t(1) << 31;

// Returns an archive of a DDS image of two levels, in which layers are stored apart. Its entry says
// that the asset has room for all layers, in tiles whose records nobody reads here.
Bytes manyLayers()
{
    const Bytes file = makeDds10(TestImage(9, 2, 1, 0, 2, 1, 2), 61); // R8_UNORM
    ParsedImage parsed = parseImage(file);
    REQUIRE(parsed.status == SLUICE_OK);
    parsed.info.layers = kLayers;
    for (uint32_t i = 0; i < 2; ++i)
        parsed.levels[i].decodedSize = parsed.levels[i].imageSize * kLayers;
    PackedAsset asset;
    asset.name = "a";
    asset.add(hard(200000), SLUICE_CODEC_STORE, 1 << 20);
    asset.parameters.resize(SLUICE_IMAGE_ITEM_SIZE);
    uint32_t size = 0;
    REQUIRE(sluiceMakeArchiveImageItem(&parsed.info, parsed.levels, asset.parameters.data(),
                                       &size) == SLUICE_OK);
    asset.parameters.resize(size);
    Editable archive(packArchive({asset}));
    constexpr uint32_t kTiles = 8000; // their records lie in the asset's bytes
    sluice::storeLe64(archive.entry(0) + sluice::assetSize, uint64_t(kTiles) << 20);
    sluice::storeLe32(archive.entry(0) + sluice::assetTileCount, kTiles);
    sluice::storeLe64(archive.header() + sluice::headerTileCount, kTiles);
    archive.seal();
    return archive.file;
}

} // namespace

TEST_CASE("stream image requests: more layers than requests can count take no time")
{
    MemoryFile file(manyLayers());
    CpuStreamer streamer(1);
    const SluiceStreamFile opened = streamer.open(file);
    SluiceStreamRequest requests[3] = {};
    SluiceStreamImage box = {};
    box.firstLayer = 7;
    // Both levels together have 2^32 requests.
    uint32_t count = 2;
    CHECK(sluiceStreamGetImageRequests(opened, 0, 0, 2, &box, requests, &count) ==
          SLUICE_ERROR_BUFFER_SIZE);
    CHECK(count == UINT32_MAX);
    CHECK(requests[0].image.firstLayer == 7);
    CHECK(requests[1].image.firstLayer == 8);
    CHECK(requests[1].offset > requests[0].offset);
    CHECK(requests[2].size == 0);
    count = 0;
    CHECK(sluiceStreamGetImageRequests(opened, 0, 1, 1, &box, nullptr, &count) ==
          SLUICE_ERROR_BUFFER_SIZE);
    CHECK(count == kLayers);
}
