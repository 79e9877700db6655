// SPDX-License-Identifier: MIT OR Apache-2.0
// Decodes into buffers above 4 GiB. large_test.cpp says when these cases run.
#include "tests/support/gdeflate_tiles.h"
#include "tests/support/large.h"

#include <sluice/sluice_encode.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>

#include <algorithm>
#include <cstring>

using namespace sluice::test;

namespace {

// Decodes the same tile to very many places. The tile is at the end of a large source.
void decodeFarTile(TileCodec codec, const Bytes& compressed, const Words& plain)
{
    const uint64_t tileSize = 4 * plain.size(), count = 4 * kGib / tileSize + 1000,
                   sourceSize = 4 * kGib + (1 << 20);
    LargeBuffer source(sourceSize), destination(count * tileSize);
    const uint64_t at = sourceSize - (compressed.size() + 3) / 4 * 4;
    REQUIRE(at > 4 * kGib);
    source.write(at, compressed.data(), compressed.size());
    std::vector<SluiceRegion> regions;
    for (uint64_t i = 0; i < count; ++i)
        regions.push_back({source.address() + at, destination.address() + i * tileSize,
                           compressed.size(), tileSize});
    Buffer list(device(), bytesOf(regions)), status(device(), (count + 2) * 4);
    const auto decode = [&](auto info, auto getRequirements, auto command) {
        info.maxRegionCount = uint32_t(count);
        info.regionStride = sizeof(SluiceRegion);
        info.regions = list.range();
        info.source = source.range();
        info.destination = destination.range();
        info.status = status.range();
        runWithScratch(device(), info, getRequirements, command);
    };
    if (codec == TileCodec::gstd) {
        SluiceGstdInfo info = {};
        info.tilesAtOnce = 4096;
        decode(info, sluiceGetGstdRequirements, sluiceCmdGstd);
    } else {
        decode(SluiceGdeflateInfo{}, sluiceGetGdeflateRequirements, sluiceCmdGdeflate);
    }
    CHECK(status.words()[count] == 0);
    CHECK(destination.holds(count * tileSize, [&](uint64_t i) { return plain[i % plain.size()]; }));
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("large: GDeflate and Gstd tiles" * doctest::skip(!wanted()))
{
    const Words large = someWords((256 << 10) / 4);
    Words plain(65536 / 4);
    std::mt19937 random = makeRandom(92);
    const Tile tile = literalTile(65536, random);
    const std::vector<DecodedTile> decoded = decodeOnHost({tile});
    REQUIRE(decoded[0].status == SLUICE_TILE_OK);
    std::memcpy(plain.data(), decoded[0].bytes.data(), decoded[0].bytes.size());
    decodeFarTile(TileCodec::gdeflate, tile.compressed, plain);
    Bytes compressed;
    SluiceGstdEncoder encoder = nullptr;
    const SluiceGstdEncoderInfo info = {6, 4};
    REQUIRE(sluiceCreateGstdEncoder(&info, &encoder) == SLUICE_OK);
    compressed.resize(sluiceGstdTileBound(4 * large.size()));
    size_t size = 0;
    REQUIRE(sluiceEncodeGstdTile(encoder, large.data(), 4 * large.size(), compressed.data(),
                                 compressed.size(), &size) == SLUICE_OK);
    sluiceDestroyGstdEncoder(encoder);
    compressed.resize(size);
    decodeFarTile(TileCodec::gstd, compressed, large);
}

TEST_CASE("large: weights" * doctest::skip(!wanted()))
{
    // A tensor of 16 MiB is decoded to many places. In the source its planes are beyond 4 GiB.
    constexpr uint64_t count = 8 << 20, copies = 4 * kGib / (2 * count) + 10;
    Words plain(count / 2);
    for (uint64_t i = 0; i < plain.size(); ++i)
        plain[i] = (hashOf(i) & 0x83ff83ffu) | 0x3c003c00u;
    uint64_t histogram[256] = {};
    REQUIRE(sluiceFloatCountSymbols(SLUICE_FLOAT_BF16, plain.data(), count, histogram) ==
            SLUICE_OK);
    Bytes lengths(SLUICE_FLOAT_LENGTHS_SIZE), raw(sluiceFloatRawSize(SLUICE_FLOAT_BF16, count));
    REQUIRE(sluiceFloatCodeLengths(histogram, lengths.data()) == SLUICE_OK);
    REQUIRE(sluiceFloatPackRaw(SLUICE_FLOAT_BF16, count, plain.data(), 0, count, raw.data()) ==
            SLUICE_OK);
    Words words, index = {0};
    for (uint64_t first = 0; first < count; first += SLUICE_FLOAT_TILE) {
        uint32_t tile[SLUICE_FLOAT_TILE_BOUND], wordCount = 0;
        REQUIRE(sluiceFloatEncodeTile(SLUICE_FLOAT_BF16, lengths.data(), &plain[first / 2],
                                      SLUICE_FLOAT_TILE, tile, SLUICE_FLOAT_TILE_BOUND,
                                      &wordCount) == SLUICE_OK);
        words.insert(words.end(), tile, tile + wordCount);
        index.push_back(uint32_t(words.size() / 2));
    }
    LargeBuffer source(4 * kGib + (64 << 20)), destination(copies * 2 * count);
    uint64_t at = 4 * kGib;
    const auto place = [&](const void* bytes, uint64_t size) {
        const uint64_t here = at;
        source.write(here, bytes, size);
        at += (size + 15) / 16 * 16;
        return source.address() + here;
    };
    SluiceFloatTensor tensor = {};
    tensor.words = place(words.data(), 4 * words.size());
    tensor.wordsSize = 4 * words.size();
    tensor.index = place(index.data(), 4 * index.size());
    tensor.lengths = place(lengths.data(), lengths.size());
    tensor.raw = place(raw.data(), raw.size());
    tensor.count = count;
    tensor.type = SLUICE_FLOAT_BF16;
    std::vector<SluiceFloatTensor> tensors;
    for (uint64_t i = 0; i < copies; ++i) {
        tensor.output = destination.address() + i * 2 * count;
        tensor.firstTile = uint32_t(i * (count / SLUICE_FLOAT_TILE));
        tensors.push_back(tensor);
    }
    const uint32_t tiles = uint32_t(copies * (count / SLUICE_FLOAT_TILE));
    Buffer list(device(), bytesOf(tensors)), status(device(), (uint64_t(tiles) + 2) * 4);
    SluiceFloatDecodeInfo info = {};
    info.tensorCount = uint32_t(copies);
    info.tileCount = tiles;
    info.tensors = list.range();
    info.source = source.range();
    info.destination = destination.range();
    info.status = status.range();
    runWithScratch(device(), info, sluiceGetFloatDecodeRequirements, sluiceCmdFloatDecode);
    CHECK(status.words()[tiles] == 0);
    CHECK(
        destination.holds(copies * 2 * count, [&](uint64_t i) { return plain[i % plain.size()]; }));
}

TEST_SUITE_END();
