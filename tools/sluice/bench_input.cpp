// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench_input.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include <sluice/sluice_filter.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>

#include "bench_device.h"
#include "files.h"
#include "formats/archive_layout.h"
#include "pack_filters.h"

namespace sluice {
namespace {

constexpr uint64_t kTileBytes = 65536;
constexpr uint32_t kLevel = 12;

uint64_t aligned(uint64_t value) { return (value + 15) / 16 * 16; }

[[noreturn]] void failFile(const std::string& path, SluiceStatus status, const std::string& what)
{
    throw Failure{status == SLUICE_ERROR_VERSION ? exitUnsupported : exitFormat,
                  path + ": " + what + ": " + sluiceGetStatusText(status)};
}

std::vector<uint8_t> readFile(const std::string& path)
{
    const InputFile file(path);
    std::vector<uint8_t> bytes(static_cast<size_t>(file.size()));
    file.read(0, bytes.data(), bytes.size());
    return bytes;
}

TileSet::Tile& appendTile(TileSet& set, const uint8_t* bytes, uint32_t compressedSize,
                          uint32_t size)
{
    TileSet::Tile tile = {};
    tile.sourceOffset = set.source.size();
    tile.outputOffset =
        set.tiles.empty() ? 0 : aligned(set.tiles.back().outputOffset + set.tiles.back().size);
    tile.compressedSize = compressedSize;
    tile.size = size;
    set.source.insert(set.source.end(), bytes, bytes + compressedSize);
    set.source.resize(aligned(set.source.size()));
    set.compressedBytes += compressedSize;
    set.outputBytes += size;
    set.tiles.push_back(tile);
    return set.tiles.back();
}

// Tiles in a row mostly have the same filter.
void setFilter(TileSet& set, TileSet::Tile& tile, const uint8_t* description, uint32_t size)
{
    const TileSet::Tile* last = set.tiles.size() > 1 ? &tile - 1 : nullptr;
    const bool same =
        last != nullptr && last->filterSize == size &&
        std::equal(description, description + size, set.filters.data() + last->filterOffset);
    tile.filterOffset = same ? last->filterOffset : static_cast<uint32_t>(set.filters.size());
    tile.filterSize = size;
    if (same) return;
    set.filters.insert(set.filters.end(), description, description + size);
    set.compressedBytes += size;
}

// The CPU reference on tiles [begin, end), from set.source to set.expected; status: a word for each
// tile of the set.
template <typename Info>
SluiceStatus decodeTiles(TileSet& set, size_t begin, size_t end, std::vector<uint32_t>& status,
                         SluiceStatus (*decode)(SluiceContext, SluiceCommands, const Info*))
{
    std::vector<SluiceRegion> regions;
    for (size_t i = begin; i < end; ++i) {
        const TileSet::Tile& tile = set.tiles[i];
        regions.push_back({reinterpret_cast<uintptr_t>(set.source.data()) + tile.sourceOffset,
                           reinterpret_cast<uintptr_t>(set.expected.data()) + tile.outputOffset,
                           tile.compressedSize, tile.size});
    }
    std::vector<uint32_t> own(regions.size() + 2);
    Info info = {};
    info.maxRegionCount = static_cast<uint32_t>(regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.regions = hostBuffer(regions);
    info.source = hostBuffer(set.source);
    info.destination = hostBuffer(set.expected);
    info.status = hostBuffer(own);

    const SluiceStatus result = runOnCpu(decode, info);
    std::copy(own.begin(), own.end() - 2, status.begin() + static_cast<ptrdiff_t>(begin));
    return result;
}

// The expected bytes, by the CPU reference. An archive knows their checksums, a tile stream does
// not.
void decodeOnCpu(TileSet& set, SluiceCodec codec, bool hasChecksums)
{
    const TileSet::Tile& last = set.tiles.back();
    set.expected.resize(aligned(last.outputOffset + last.size));
    const size_t count = set.tiles.size(),
                 shares = std::max(1u, std::thread::hardware_concurrency());
    std::vector<uint32_t> status(count);
    std::vector<SluiceStatus> results(shares);
    std::vector<std::thread> threads;
    for (size_t share = 0; share < shares; ++share) {
        threads.emplace_back(
            [&, begin = count * share / shares, end = count * (share + 1) / shares, share] {
                results[share] = codec == SLUICE_CODEC_GSTD
                                     ? decodeTiles(set, begin, end, status, sluiceCmdGstd)
                                     : decodeTiles(set, begin, end, status, sluiceCmdGdeflate);
            });
    }
    for (std::thread& thread : threads)
        thread.join();
    for (const SluiceStatus result : results)
        require(result, "decode on the CPU");
    for (size_t i = 0; i < set.tiles.size(); ++i) {
        TileSet::Tile& tile = set.tiles[i];
        uint8_t* bytes = set.expected.data() + tile.outputOffset;
        uint32_t result = status[i];
        if (result == SLUICE_TILE_OK && tile.filterSize != 0) {
            const std::vector<uint8_t> filtered(bytes, bytes + tile.size);
            const bool undone =
                sluiceUndoFilter(set.filters.data() + tile.filterOffset, tile.filterSize,
                                 filtered.data(), bytes, tile.size) == SLUICE_OK;
            if (!undone) result = SLUICE_TILE_BAD_FILTER;
        }
        const uint32_t checksum = sluiceTileChecksum(bytes, tile.size);
        if (result == SLUICE_TILE_OK && hasChecksums && checksum != tile.checksum)
            result = SLUICE_TILE_BAD_CHECKSUM;
        if (result != SLUICE_TILE_OK) {
            throw Failure{exitFormat, set.description + ": tile " + std::to_string(i) + ": " +
                                          sluiceGetTileStatusText(result)};
        }
        tile.checksum = checksum;
    }
}

void addTileStream(TileSet& set, const std::vector<uint8_t>& file, uint64_t maxOutput)
{
    SluiceTileStream stream = {};
    SluiceStatus status = sluiceParseTileStreamHeader(file.data(), file.size(), &stream);
    if (status != SLUICE_OK) failFile(set.description, status, "tile stream");
    std::vector<SluiceTileStreamTile> tiles(stream.tileCount);
    status = sluiceParseTileStreamTable(&stream, file.data() + SLUICE_TILE_STREAM_HEADER_SIZE,
                                        file.size() - SLUICE_TILE_STREAM_HEADER_SIZE, file.size(),
                                        tiles.data());
    if (status != SLUICE_OK) failFile(set.description, status, "tile table");
    for (const SluiceTileStreamTile& tile : tiles) {
        if (set.outputBytes >= maxOutput) break;
        appendTile(set, file.data() + tile.offset, tile.compressedSize, tile.size);
    }
}

void addArchive(TileSet& set, SluiceCodec codec, const std::vector<uint8_t>& file,
                uint64_t maxOutput)
{
    SluiceArchive archive = {};
    SluiceStatus status = sluiceParseArchiveHeader(file.data(), file.size(), file.size(), &archive);
    if (status != SLUICE_OK) failFile(set.description, status, "archive header");
    const uint8_t* index = file.data() + archive.indexOffset;
    const size_t indexSize = static_cast<size_t>(archive.indexSize);
    status = sluiceCheckArchiveIndex(&archive, index, indexSize, nullptr);
    if (status != SLUICE_OK) failFile(set.description, status, "archive index");

    for (uint32_t i = 0; i < archive.assetCount && set.outputBytes < maxOutput; ++i) {
        SluiceArchiveAsset asset = {};
        status = sluiceGetArchiveAsset(&archive, index, indexSize, i, &asset);
        if (status != SLUICE_OK) failFile(set.description, status, "archive index");
        if (asset.tileCount == 0) continue;
        const uint8_t* extent = file.data() + asset.offset;
        std::vector<SluiceArchiveTile> tiles(asset.tileCount);
        SluiceArchiveTileReader reader = {};
        status = sluiceBeginArchiveTiles(&asset, &reader);
        if (status == SLUICE_OK) {
            status = sluiceParseArchiveTiles(&reader, extent, static_cast<size_t>(asset.extentSize),
                                             asset.tileCount, tiles.data());
        }
        if (status != SLUICE_OK)
            failFile(set.description, status, std::string(asset.name, asset.nameLength));
        for (const SluiceArchiveTile& tile : tiles) {
            if (set.outputBytes >= maxOutput) break;
            if (tile.codec != uint32_t(codec)) continue;
            TileSet::Tile& added =
                appendTile(set, extent + tile.offset, tile.storedSize, tile.size);
            added.checksum = tile.checksum;
            if (tile.filterOffset == 0)
                continue; // checked; the item's head is two u16 and the
                          // description's size
            const uint8_t* item =
                static_cast<const uint8_t*>(asset.parameters) + tile.filterOffset - 4;
            setFilter(set, added, item + 8, loadLe32(item + 4));
        }
    }
}

// An archive in memory.
struct Packing {
    const std::vector<uint8_t>& from;
    size_t position = 0;
    std::vector<uint8_t> archive;

    static SluiceStatus read(void* user, void* bytes, size_t size)
    {
        Packing& packing = *static_cast<Packing*>(user);
        std::memcpy(bytes, packing.from.data() + packing.position, size);
        packing.position += size;
        return SLUICE_OK;
    }
    static SluiceStatus write(void* user, uint64_t offset, const void* bytes, size_t size)
    {
        std::vector<uint8_t>& archive = static_cast<Packing*>(user)->archive;
        archive.resize(std::max<size_t>(archive.size(), static_cast<size_t>(offset) + size));
        std::memcpy(archive.data() + offset, bytes, size);
        return SLUICE_OK;
    }
};

// Packs the bytes as an asset of an archive, on all cores.
std::vector<uint8_t> packed(const std::vector<uint8_t>& bytes, SluiceCodec codec,
                            uint32_t decodeSpeed)
{
    Packing packing = {bytes, 0, {}};
    SluiceArchiveWriterInfo info = {};
    info.codec = codec;
    info.level = kLevel;
    info.decodeSpeed = decodeSpeed;
    info.threadCount = std::thread::hardware_concurrency();
    info.write = Packing::write;
    SluiceArchiveAssetInfo asset = {};
    asset.name = "input";
    asset.nameLength = 5;
    asset.size = bytes.size();
    asset.read = Packing::read;
    info.writeUser = asset.readUser = &packing;
    FilterPlan plan(nullptr, sluiceDestroyFilterPlan);
    std::vector<SluiceArchiveSegment> segments;
    if (codec == SLUICE_CODEC_GSTD) {
        PackOptions options;
        options.level = kLevel;
        segments = planFilters("input", bytes, options, plan);
        asset.parameters = sluiceGetFilterParameters(plan.get(), &asset.parameterSize);
        asset.segments = segments.data();
        asset.segmentCount = static_cast<uint32_t>(segments.size());
    }
    SluiceArchiveWriter created = nullptr;
    require(sluiceCreateArchiveWriter(&info, &created), "pack");
    const std::unique_ptr<SluiceArchiveWriter_T, decltype(&sluiceDestroyArchiveWriter)> writer(
        created, sluiceDestroyArchiveWriter);
    require(sluiceAddArchiveAsset(created, &asset), "pack");
    require(sluiceFinishArchive(created, nullptr), "pack");
    return std::move(packing.archive);
}

// A quarter each of text-like words, records of floats and indices, smooth pixels, and noise in a
// small alphabet.
std::vector<uint8_t> makeUp(size_t size)
{
    std::mt19937 random(20251120);
    const auto below = [&random](uint32_t limit) {
        return static_cast<uint32_t>(random() % limit);
    };
    std::vector<std::string> words(4096);
    for (std::string& word : words) {
        word.resize(2 + below(9));
        for (char& letter : word)
            letter = static_cast<char>('a' + std::min(below(26), below(26)));
    }

    std::vector<uint8_t> out;
    out.reserve(size + kTileBytes);
    while (out.size() < size) {
        const size_t kind = out.size() / kTileBytes % 4;
        const size_t end = (out.size() / kTileBytes + 1) * kTileBytes;
        float position = 0;
        uint8_t pixel[3] = {128, 128, 128};
        while (out.size() < end) {
            if (kind == 0) { // words, most of them from the first 256
                const uint32_t rank = below(4096);
                const std::string& word = words[rank % 7 == 0 ? rank : rank % 256];
                out.insert(out.end(), word.begin(), word.end());
                out.push_back(below(12) == 0 ? '\n' : ' ');
            } else if (kind == 1) { // a vertex: three floats, an index
                uint8_t record[16];
                for (int i = 0; i < 3; ++i) {
                    position += static_cast<float>(below(64)) / 16 - 2;
                    std::memcpy(record + 4 * i, &position, 4);
                }
                const uint32_t number = static_cast<uint32_t>(out.size() / 16);
                std::memcpy(record + 12, &number, 4);
                out.insert(out.end(), record, record + 16);
            } else if (kind == 2) { // runs of pixels that drift
                for (uint8_t& channel : pixel)
                    channel = static_cast<uint8_t>(channel + below(5) - 2);
                for (uint32_t i = 1 + below(4); i != 0; --i)
                    out.insert(out.end(), pixel, pixel + 3);
            } else {
                out.push_back(static_cast<uint8_t>(below(16) * below(16)));
            }
        }
        out.resize(end);
    }
    out.resize(size);
    return out;
}

bool startsWith(const std::vector<uint8_t>& file, std::initializer_list<uint8_t> magic)
{
    return file.size() >= magic.size() && std::equal(magic.begin(), magic.end(), file.begin());
}

} // namespace

TileSet loadTileSet(const std::string& path, SluiceCodec codec, uint64_t maxOutput,
                    uint32_t decodeSpeed)
{
    constexpr size_t madeUpBytes = 32u << 20;
    TileSet set;
    set.description = path.empty() ? "made-up data" : path;
    std::vector<uint8_t> file =
        path.empty() ? makeUp(static_cast<size_t>(std::min<uint64_t>(maxOutput, madeUpBytes)))
                     : readFile(path);
    if (file.empty()) throw Failure{exitFormat, path + ": is empty"};
    const bool isStream = startsWith(file, {4, 0xfb});
    if (isStream) {
        if (codec == SLUICE_CODEC_GDEFLATE) addTileStream(set, file, maxOutput);
    } else {
        if (!startsWith(file, {0x8b, 'S', 'L', 'U', 'I', 'C', 'E', 0x0a})) {
            file.resize(std::min<size_t>(file.size(), static_cast<size_t>(maxOutput)));
            file = packed(file, codec, decodeSpeed);
        }
        addArchive(set, codec, file, maxOutput);
    }
    if (set.tiles.empty()) return set;
    decodeOnCpu(set, codec, !isStream);
    if (!path.empty() && set.outputBytes >= maxOutput)
        set.description += " (first " + sizeText(set.outputBytes) + ")";
    return set;
}

} // namespace sluice
