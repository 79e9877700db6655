// SPDX-License-Identifier: MIT OR Apache-2.0
// Work that decodes tiles, which the library's own encoders have made.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <sluice/sluice_all.h>
#include <sluice/sluice_filter_encode.h>

#include "formats/df11_form.h"
#include "encode/weights/df11_encoder.h"
#include "encode/weights/float_tile_encoder.h"
#include "encode/archive/tile_encoder.h"
#include "formats/filter.h"
#include "tools/sluice/tune/tune_work.h"

namespace sluice {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kDistinct = 16; // different tiles; longer lists repeat them

uint64_t aligned(uint64_t size) { return (size + 15) / 16 * 16; }

// Returns made-up bytes: half of them repeat bytes from shortly before, the rest is mostly small
// numbers.
Bytes someBytes(uint32_t size, uint32_t seed)
{
    Random random(seed);
    Bytes bytes;
    while (bytes.size() < size) {
        const size_t run = 4 + random() % 28, back = 1 + random() % 3000;
        const bool repeats = random() % 2 == 0 && back <= bytes.size();
        for (size_t i = 0; i < run; ++i)
            bytes.push_back(repeats ? bytes[bytes.size() - back]
                                    : uint8_t(random() % 16 * (random() % 16)));
    }
    bytes.resize(size);
    return bytes;
}

// Encoded tiles in one source buffer, each aligned to 16 bytes, with their regions. Until
// setRegions is called, the addresses in the regions are offsets.
struct Tiles {
    Bytes source;
    std::vector<SluiceRegion> regions;

    void add(const Bytes& tile, uint32_t decoded)
    {
        regions.push_back({source.size(), 0, tile.size(), decoded});
        source.insert(source.end(), tile.begin(), tile.end());
        source.resize(aligned(source.size()));
    }
    // Repeats the tiles until they take `bytes` of memory. A tile takes its encoded bytes and
    // bytesEach bytes more. Each copy has encoded bytes of its own.
    void repeat(uint64_t bytes, uint64_t bytesEach)
    {
        const size_t distinct = regions.size();
        const uint64_t all = source.size() + distinct * bytesEach;
        const uint64_t count = std::clamp<uint64_t>(bytes * distinct / all, 8, 1u << 16);
        for (size_t i = distinct; i < count; ++i) {
            const SluiceRegion from = regions[i % distinct];
            const Bytes tile(source.begin() + std::ptrdiff_t(from.srcAddress),
                             source.begin() +
                                 std::ptrdiff_t(from.srcAddress + from.compressedSize));
            add(tile, uint32_t(from.decompressedSize));
        }
        regions.resize(count);
    }
};

// Rows of a destination have kRowBytes and begin kRowPitch bytes apart; no tile writes in between.
constexpr uint32_t kRowBytes = 512, kRowPitch = 576;

// Uploads the tiles, makes destination and status, and sets what the `info` structures of all
// codecs have in common.
template <typename Info>
void setRegions(Work& work, Tiles& tiles, Info& info, bool inRows = false)
{
    work.unit = "tiles";
    work.most = uint32_t(tiles.regions.size());
    info.source = work.input(tiles.source);
    uint64_t size = 0;
    for (SluiceRegion& region : tiles.regions) {
        region.dstAddress = size;
        size += aligned(region.decompressedSize);
    }
    info.destination = work.output(inRows ? (size + kRowBytes - 1) / kRowBytes * kRowPitch : size);
    for (SluiceRegion& region : tiles.regions) {
        region.srcAddress += work.address(info.source);
        region.dstAddress += work.address(info.destination);
    }
    info.regionStride = sizeof(SluiceRegion);
    info.regions = work.input(tiles.regions);
    info.status = work.tileStatus();
}

template <typename Info>
Info cut(Info info, uint32_t length)
{
    info.maxRegionCount = length;
    info.regions.size = length * sizeof(SluiceRegion);
    info.status.size = (uint64_t{length} + 2) * 4;
    return info;
}

Tiles encodedTiles(const SluiceArchiveSegment& segment, uint32_t tileBytes)
{
    TileEncoders encoders;
    Tiles tiles;
    Bytes tile;
    for (uint32_t i = 0; i < kDistinct; ++i) {
        const Bytes bytes = someBytes(tileBytes, i);
        check(encoders.encode(segment, bytes.data(), tileBytes, tile), "encode");
        tiles.add(tile, tileBytes);
    }
    return tiles;
}

Tiles gdeflateTiles(const WorkLimits& limits)
{
    SluiceArchiveSegment segment = {};
    segment.codec = SLUICE_CODEC_GDEFLATE;
    segment.level = 6;
    Tiles tiles = encodedTiles(segment, limits.tileBytes);
    tiles.repeat(limits.bytes, limits.tileBytes);
    return tiles;
}

template <bool InRows>
std::unique_ptr<Work> decodeGdeflate(SluiceDevice device, const WorkLimits& limits)
{
    auto work = std::make_unique<Work>(device);
    Tiles tiles = gdeflateTiles(limits);
    SluiceGdeflateInfo info = {};
    setRegions(*work, tiles, info, InRows);
    info.rowBytes = InRows ? kRowBytes : 0;
    info.rowPitch = InRows ? kRowPitch : 0;
    work->record = [info, own = work.get()](SluiceCommands commands, uint32_t length) {
        return own->withScratch(commands, cut(info, length), sluiceGetGdeflateRequirements,
                                sluiceCmdGdeflate);
    };
    return work;
}

std::unique_ptr<Work> decodeTileStreams(SluiceDevice device, const WorkLimits& limits)
{
    auto work = std::make_unique<Work>(device);
    work->unit = "tiles";
    Tiles tiles = gdeflateTiles(limits);
    work->most = std::min(uint32_t(tiles.regions.size()), 65536u);
    std::vector<SluiceStreamRange> streams;
    Bytes source;
    for (uint32_t i = 0; i < work->most; ++i) {
        const SluiceRegion& tile = tiles.regions[i];
        const uint32_t header[] = {0xfb04u | 1u << 16,
                                   1u | uint32_t(tile.decompressedSize) % 65536u << 2,
                                   uint32_t(tile.compressedSize)};
        streams.push_back({source.size(), sizeof header + tile.compressedSize,
                           i * aligned(tile.decompressedSize), tile.decompressedSize});
        const auto* words = reinterpret_cast<const uint8_t*>(header);
        source.insert(source.end(), words, words + sizeof header);
        const auto begin = tiles.source.begin() + std::ptrdiff_t(tile.srcAddress);
        source.insert(source.end(), begin, begin + std::ptrdiff_t(tile.compressedSize));
        source.resize(aligned(source.size()));
    }
    SluiceTileStreamsInfo info = {};
    info.streams = work->input(streams);
    info.source = work->input(source);
    info.destination = work->output(work->most * aligned(limits.tileBytes));
    info.results = work->output(uint64_t{work->most} * sizeof(SluiceStreamResult) +
                                sizeof(SluiceStreamSummary));
    info.status = work->tileStatus();
    work->record = [info, own = work.get()](SluiceCommands commands, uint32_t length) {
        SluiceTileStreamsInfo command = info;
        command.maxStreamCount = command.maxTileCount = length;
        command.streams.size = length * sizeof(SluiceStreamRange);
        command.results.size = length * sizeof(SluiceStreamResult) + sizeof(SluiceStreamSummary);
        command.status.size = (uint64_t{length} + 2) * 4;
        return own->withScratch(commands, command, sluiceGetTileStreamsRequirements,
                                sluiceCmdTileStreams);
    };
    return work;
}

std::unique_ptr<Work> decodeGstd(SluiceDevice device, const WorkLimits& limits)
{
    auto work = std::make_unique<Work>(device);
    SluiceArchiveSegment segment = {};
    segment.codec = SLUICE_CODEC_GSTD;
    segment.level = 5;
    segment.copyDepth = 4;
    Tiles tiles = encodedTiles(segment, limits.tileBytes);
    tiles.repeat(limits.bytes, limits.tileBytes + SLUICE_GSTD_SLOT_SIZE(262144u));
    SluiceGstdInfo info = {};
    setRegions(*work, tiles, info);
    work->record = [info, own = work.get()](SluiceCommands commands, uint32_t length) {
        SluiceGstdInfo command = cut(info, length);
        command.tilesAtOnce = length; // decodes all of them in one turn
        return own->withScratch(commands, command, sluiceGetGstdRequirements, sluiceCmdGstd);
    };
    return work;
}

// Undoes the filters of images of 4 bytes a pixel, with several predictors.
std::unique_ptr<Work> undoFilters(SluiceDevice device, const WorkLimits& limits)
{
    constexpr uint32_t width = 64, size = 0x1fffffu; // 0x1fffff: the rest of the tile
    const auto columns = [](uint32_t count, FilterPredictor predictor) {
        return count | uint32_t(filterSplit) << 10 | uint32_t(predictor) << 16;
    };
    const std::vector<uint32_t> description = {kFilterVersion | 1u << 16,
                                               size | 3u << 21 | 1u << 29,
                                               width,
                                               0,
                                               columns(2, FilterPredictor::gradient),
                                               columns(1, FilterPredictor::up),
                                               columns(1, FilterPredictor::left)};
    auto work = std::make_unique<Work>(device);
    work->unit = "tiles";
    // At most 512 workgroups run, and each needs up to this much scratch. In a list of 2048 tiles
    // or more that is at most a quarter of it per tile.
    const uint64_t scratchBytes = uint64_t{limits.tileBytes} * 3;
    work->most = uint32_t(std::clamp<uint64_t>(
        limits.bytes / (2 * uint64_t{limits.tileBytes} + scratchBytes / 4), 8, 1u << 16));
    Bytes source;
    for (uint32_t i = 0; i < std::min(work->most, kDistinct); ++i) {
        const Bytes bytes = someBytes(limits.tileBytes, i);
        Bytes filtered(bytes.size());
        check(sluiceApplyFilter(description.data(), description.size() * 4, bytes.data(),
                                filtered.data(), bytes.size()),
              "filter");
        source.insert(source.end(), filtered.begin(), filtered.end());
    }
    const Bytes distinct = source;
    while (source.size() < uint64_t{work->most} * limits.tileBytes)
        source.insert(source.end(), distinct.begin(), distinct.end());
    source.resize(uint64_t{work->most} * limits.tileBytes);
    SluiceFilterInfo info = {};
    info.maxTileSize = limits.tileBytes;
    info.source = work->input(source);
    info.destination = work->output(source.size());
    info.descriptions = work->input(description);
    std::vector<SluiceFilterTile> tiles;
    for (uint32_t i = 0; i < work->most; ++i) {
        const uint64_t at = uint64_t{i} * limits.tileBytes;
        tiles.push_back({work->address(info.source) + at, work->address(info.destination) + at,
                         limits.tileBytes, 0, uint32_t(description.size() * 4), i});
    }
    info.tiles = work->input(tiles);
    // Stands for the status words of an earlier decode. The filter command leaves them as they are.
    std::vector<uint32_t> statuses(work->most, SLUICE_TILE_OK);
    statuses.insert(statuses.end(), {0, ~0u});
    info.statusCount = work->most;
    work->status = info.status = work->inPlace(statuses);
    work->record = [info, own = work.get()](SluiceCommands commands, uint32_t length) {
        SluiceFilterInfo command = info;
        command.maxTileCount = length;
        command.tiles.size = length * sizeof(SluiceFilterTile);
        return own->withScratch(commands, command, sluiceGetFilterRequirements, sluiceCmdFilter);
    };
    return work;
}

Bytes someWeights(uint64_t count)
{
    Random random(17);
    Bytes bytes;
    for (uint64_t i = 0; i < count; ++i) {
        float sum = 0;
        for (uint32_t k = 0; k < 4; ++k)
            sum += float(random() % 65536) / 32768 - 1;
        const float weight = sum * 0.01f;
        uint32_t bits;
        std::memcpy(&bits, &weight, sizeof bits);
        bytes.push_back(uint8_t(bits >> 16));
        bytes.push_back(uint8_t(bits >> 24));
    }
    return bytes;
}

std::unique_ptr<Work> decodeFloats(SluiceDevice device, const WorkLimits& limits)
{
    constexpr uint64_t tileBytes = SLUICE_FLOAT_TILE * 2; // decoded bytes of a tile
    constexpr uint32_t type = SLUICE_FLOAT_BF16;
    auto work = std::make_unique<Work>(device);
    work->unit = "tiles";
    work->most = uint32_t(std::clamp<uint64_t>(limits.bytes / (2 * tileBytes), 8, 1u << 15));
    const uint64_t count = uint64_t{work->most} * SLUICE_FLOAT_TILE;
    const Bytes plain = someWeights(uint64_t{kDistinct} * SLUICE_FLOAT_TILE);
    FloatTensor encoded;
    check(encoded.encode(type, plain.data(), plain.size() / 2), "encode");
    const std::vector<uint32_t> tiles = encoded.words;
    while (encoded.index.size() <= work->most) {
        const uint32_t begin = encoded.index.back();
        for (uint32_t i = 1; i <= kDistinct; ++i)
            encoded.index.push_back(begin + encoded.index[i]);
        encoded.words.insert(encoded.words.end(), tiles.begin(), tiles.end());
    }
    encoded.raw = someBytes(uint32_t(sluiceFloatRawSize(type, count)), 18);
    encoded.count = count;
    Bytes source;
    SluiceFloatTensor tensor = encoded.appendTo(source);
    SluiceFloatDecodeInfo info = {};
    info.tensorCount = 1;
    info.source = work->input(source);
    info.destination = work->output(count * 2);
    for (uint64_t* address : {&tensor.words, &tensor.index, &tensor.lengths, &tensor.raw})
        *address += work->address(info.source);
    tensor.output = work->address(info.destination);
    // A list of `length` tiles means the first tiles of the tensor; the others are not decoded.
    info.tensors = work->input(&tensor, sizeof tensor);
    info.status = work->tileStatus();
    work->record = [info, own = work.get()](SluiceCommands commands, uint32_t length) {
        SluiceFloatDecodeInfo command = info;
        command.tileCount = length;
        command.status.size = (uint64_t{length} + 2) * 4;
        return own->withScratch(commands, command, sluiceGetFloatDecodeRequirements,
                                sluiceCmdFloatDecode);
    };
    return work;
}

// Decodes the first `length` blocks of one DFloat11 unit.
std::unique_ptr<Work> df11(SluiceDevice device, const WorkLimits& limits, bool counted)
{
    auto work = std::make_unique<Work>(device);
    work->unit = "blocks";
    const Bytes some = someWeights(1u << 18);
    Bytes plain;
    while (plain.size() < limits.bytes / 3)
        plain.insert(plain.end(), some.begin(), some.end());
    plain.resize(std::min<uint64_t>(plain.size(), limits.bytes / 3 / 16 * 16));
    Bytes source;
    SluiceDf11Unit unit = {};
    if (encodeDf11Unit(SLUICE_DF11_BF16, plain.data(), plain.size() / 2, 1, source, unit) == 0)
        throw WorkFailure(SLUICE_ERROR_ARGUMENT, "encode");
    work->most = blocksOf(unit);
    SluiceDf11Info info = {};
    info.maxUnitCount = 1;
    info.source = work->input(source);
    info.destination = work->output(plain.size());
    info.units = work->input(&unit, sizeof unit);
    if (counted) info.unitCount = work->input(std::vector<uint32_t>{1});
    info.status = work->tileStatus();
    work->record = [info, own = work.get()](SluiceCommands commands, uint32_t length) {
        SluiceDf11Info command = info;
        command.maxBlockCount = length;
        command.status.size = (uint64_t{length} + 2) * 4;
        return own->withScratch(commands, command, sluiceGetDf11Requirements, sluiceCmdDf11);
    };
    return work;
}

// Builds FSE tables of 512 states from descriptions with 53 counts, those of Zstandard's match
// lengths.
std::unique_ptr<Work> buildFseTables(SluiceDevice device, const WorkLimits& limits)
{
    static constexpr uint8_t description[] = {0x24, 0xe3, 0x46, 0xcc, 0x8a, 0x49, 0x88, 0x87, 0xe6,
                                              0x42, 0x91, 0x40, 0x1c, 0xcd, 0xa2, 0x24, 0xc8, 0x61,
                                              0x98, 0x52, 0x08, 0x21, 0x63, 0x8c, 0x01, 0x00, 0x00,
                                              0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
    constexpr uint32_t log = 9;
    auto work = std::make_unique<Work>(device);
    Tiles tables;
    tables.add(Bytes(std::begin(description), std::end(description)), SLUICE_FSE_TABLE_SIZE(log));
    tables.repeat(limits.bytes, SLUICE_FSE_TABLE_SIZE(log) + 64);
    SluiceFseTablesInfo info = {};
    info.maxSymbols = SLUICE_FSE_MAX_SYMBOLS;
    info.maxLog = log;
    setRegions(*work, tables, info);
    work->unit = "tables";
    work->record = [info, own = work.get()](SluiceCommands commands, uint32_t length) {
        const SluiceFseTablesInfo command = cut(info, length);
        return sluiceCmdFseTables(own->context(), commands, &command);
    };
    return work;
}

} // namespace

std::vector<WorkKind> codecWorks()
{
    return {
        {"gdeflate", SLUICE_KERNELS_GDEFLATE, decodeGdeflate<false>},
        {"gdeflate rows", SLUICE_KERNELS_GDEFLATE, decodeGdeflate<true>},
        {"tile streams", SLUICE_KERNELS_TILE_STREAMS, decodeTileStreams},
        {"gstd", SLUICE_KERNELS_GSTD, decodeGstd},
        {"filter", SLUICE_KERNELS_FILTER, undoFilters},
        {"float", SLUICE_KERNELS_FLOAT, decodeFloats},
        {"df11", SLUICE_KERNELS_DF11,
         [](SluiceDevice device, const WorkLimits& limits) { return df11(device, limits, false); }},
        {"df11 counted", SLUICE_KERNELS_DF11,
         [](SluiceDevice device, const WorkLimits& limits) { return df11(device, limits, true); }},
        {"fse tables", SLUICE_KERNELS_FSE, buildFseTables}};
}

} // namespace sluice
