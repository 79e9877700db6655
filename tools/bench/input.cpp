// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/bench/input.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>

#include "tools/bench/bench_device.h"
#include "tools/bench/contest.h"
#include "tools/common/archive_writer.h"

namespace sluice {
namespace {

constexpr uint64_t kTileBytes = 65536;
constexpr uint32_t kLevel = 12;

uint64_t aligned(uint64_t value) { return (value + 15) / 16 * 16; }

// Sets a tile's filter description. Neighbouring tiles mostly have the same one, which is then
// stored once.
void setFilter(TileSet& set, TileSet::Tile& tile, const uint8_t* description, uint32_t size)
{
    const TileSet::Tile* last = set.tiles.empty() ? nullptr : &set.tiles.back();
    const bool same =
        last != nullptr && last->filterSize == size &&
        std::equal(description, description + size, set.filters.data() + last->filterOffset);
    tile.filterOffset = same ? last->filterOffset : uint32_t(set.filters.size());
    tile.filterSize = size;
    if (same) return;
    set.filters.insert(set.filters.end(), description, description + size);
    set.compressedBytes += size;
}

void addTile(TileSet& set, const InputFile& file, const ContainerTile& from)
{
    TileSet::Tile tile = {};
    tile.sourceOffset = set.source.size();
    if (!set.tiles.empty())
        tile.outputOffset = aligned(set.tiles.back().outputOffset + set.tiles.back().size);
    tile.compressedSize = from.storedSize;
    tile.size = from.size;
    tile.checksum = from.checksum;
    if (from.filter != nullptr)
        setFilter(set, tile, static_cast<const uint8_t*>(from.filter), from.filterSize);
    set.source.resize(tile.sourceOffset + aligned(tile.compressedSize));
    file.read(from.offset, &set.source[tile.sourceOffset], tile.compressedSize);
    set.compressedBytes += tile.compressedSize;
    set.outputBytes += tile.size;
    set.tiles.push_back(tile);
}

Bytes packed(const Bytes& bytes, const Codec& codec, uint32_t decodeSpeed)
{
    SluiceArchiveWriterInfo info = {};
    info.codec = codec.fileCodec;
    info.level = kLevel;
    info.decodeSpeed = decodeSpeed;
    info.threadCount = threadCount(0);
    PackOptions options;
    options.codec = codec.name;
    options.level = kLevel;
    const PackPlan plan = codec.plan(InputFile("input", bytes), options);
    SluiceArchiveAssetInfo asset = {};
    asset.segments = plan.segments.data();
    asset.segmentCount = uint32_t(plan.segments.size());
    asset.parameters = sluiceGetFilterParameters(plan.filters.get(), &asset.parameterSize);
    return packInMemory(bytes, info, asset);
}

// Decodes the tiles to set `expected`. The checksums of an archive are compared; a tile stream has
// none, so they are computed and set.
void decode(TileSet& set, const Codec& codec, bool hasChecksums)
{
    set.expected.resize(aligned(set.tiles.back().outputOffset + set.tiles.back().size));
    std::vector<HostTile> tiles;
    for (const TileSet::Tile& tile : set.tiles) {
        const void* filter = tile.filterSize != 0 ? &set.filters[tile.filterOffset] : nullptr;
        tiles.push_back({{0, tile.compressedSize, tile.size, codec.tileCodec, tile.checksum, filter,
                          tile.filterSize},
                         &set.source[tile.sourceOffset],
                         &set.expected[tile.outputOffset]});
    }
    decodeOnHost(tiles, hasChecksums, set.description);
    for (TileSet::Tile& tile : set.tiles)
        tile.checksum = sluiceTileChecksum(&set.expected[tile.outputOffset], tile.size);
}

} // namespace

Bytes makeUpContent(size_t size)
{
    std::mt19937 random(20251120);
    const auto below = [&random](uint32_t limit) { return uint32_t(random() % limit); };
    std::vector<std::string> words(4096);
    for (std::string& word : words) {
        word.resize(2 + below(9));
        for (char& letter : word)
            letter = char('a' + std::min(below(26), below(26)));
    }

    Bytes out;
    out.reserve(size + kTileBytes);
    while (out.size() < size) {
        const size_t kind = out.size() / kTileBytes % 4;
        const size_t end = (out.size() / kTileBytes + 1) * kTileBytes;
        float position = 0;
        uint8_t pixel[3] = {128, 128, 128};
        while (out.size() < end) {
            if (kind == 0) { // text: words, most of them from the 256 most frequent
                const uint32_t rank = below(4096);
                const std::string& word = words[rank % 7 == 0 ? rank : rank % 256];
                out.insert(out.end(), word.begin(), word.end());
                out.push_back(below(12) == 0 ? '\n' : ' ');
            } else if (kind == 1) { // records: three floats and an index, like a vertex
                uint8_t record[16];
                for (int i = 0; i < 3; ++i) {
                    position += float(below(64)) / 16 - 2;
                    std::memcpy(record + 4 * i, &position, 4);
                }
                const uint32_t number = uint32_t(out.size() / 16);
                std::memcpy(record + 12, &number, 4);
                out.insert(out.end(), record, record + 16);
            } else if (kind == 2) { // pixels whose channels change slowly
                for (uint8_t& channel : pixel)
                    channel = uint8_t(channel + below(5) - 2);
                for (uint32_t i = 1 + below(4); i != 0; --i)
                    out.insert(out.end(), pixel, pixel + 3);
            } else {
                out.push_back(uint8_t(below(16) * below(16)));
            }
        }
        out.resize(end);
    }
    out.resize(size);
    return out;
}

void decodeOnHost(const std::vector<HostTile>& tiles, bool hasChecksums, const std::string& place)
{
    inParallel(tiles.size(), [&](uint64_t first, uint64_t last) {
        SluiceDeviceInfo info = {};
        info.selector = "cpu";
        info.tier = "ref";
        const ToolDevice cpu(info);
        Decoder decoder(cpu, [&](const DecodeTile& tile, uint32_t status, const uint8_t* bytes) {
            if (status != SLUICE_TILE_OK) {
                throw Failure{exitFormat, place + ": tile " + std::to_string(tile.number) + ": " +
                                              sluiceGetTileStatusText(status)};
            }
            std::copy_n(bytes, tile.tile.size, tiles[tile.number].output);
        });
        for (uint64_t i = first; i < last; ++i) {
            const HostTile& one = tiles[i];
            std::copy_n(one.stored, one.tile.storedSize,
                        decoder.add({one.tile, hasChecksums, 0, uint32_t(i)}));
        }
        decoder.flush();
    });
}

namespace {

// Returns a picture (.tga) whose colours change slowly in both directions, with a little noise.
Bytes makeUpPicture(uint64_t maxSize)
{
    constexpr uint32_t width = 1024, header = 18;
    const uint32_t height =
        uint32_t(std::clamp<uint64_t>(maxSize / (3 * width), 64, 4096)); // up to 12.6 MB
    Bytes file = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (const uint32_t value : {width, height, 24u}) {
        file.push_back(uint8_t(value));
        file.push_back(uint8_t(value >> 8));
    }
    file.reserve(header + size_t(3) * width * height);
    std::mt19937 random(20251124);
    for (uint32_t y = 0; y < height; ++y)
        for (uint32_t x = 0; x < width; ++x)
            for (uint32_t channel = 1; channel <= 3; ++channel)
                file.push_back(uint8_t(x * channel / 8 + y * y / 2048 + random() % 5));
    return file;
}

TileSet tilesOf(std::unique_ptr<InputFile> file, const Codec& codec, uint64_t maxOutput,
                uint32_t decodeSpeed)
{
    TileSet set;
    set.description = file->name();
    set.codec = codec.tileCodec;
    if (file->size() == 0) throw Failure{exitFormat, set.description + ": is empty"};
    if (!Container::recognises(*file)) {
        file = std::make_unique<InputFile>(set.description,
                                           packed(file->readStart(maxOutput), codec, decodeSpeed));
    }
    const Container container(std::move(file));
    for (uint32_t asset = 0; asset < container.assetCount(); ++asset) {
        if (!container.ownsTiles(asset)) continue;
        container.forEachTile(asset, [&](uint32_t, const ContainerTile& tile) {
            if (set.outputBytes < maxOutput && tile.codec == uint32_t(codec.tileCodec))
                addTile(set, container.file(), tile);
        });
    }
    if (set.tiles.empty()) return set;
    decode(set, codec, container.isArchive());
    return set;
}

} // namespace

std::unique_ptr<InputFile> openInput(const std::string& path)
{
    struct Piped {
        std::string name;
        Bytes content;
    };
    static std::map<std::string, Piped> kept;
    if (kept.count(path) == 0) {
        auto file = std::make_unique<InputFile>(path);
        if (path != "-" && isFile(path)) return file;
        kept[path] = {file->name(), file->readAll()};
    }
    return std::make_unique<InputFile>(kept[path].name, kept[path].content);
}

TileSet loadTileSet(const std::string& path, const Codec& codec, uint64_t maxOutput,
                    uint32_t decodeSpeed)
{
    constexpr uint64_t madeUpBytes = 32u << 20;
    auto file = path.empty()
                    ? std::make_unique<InputFile>(
                          "made-up data", makeUpContent(size_t(std::min(maxOutput, madeUpBytes))))
                    : openInput(path);
    TileSet set = tilesOf(std::move(file), codec, maxOutput, decodeSpeed);
    if (!path.empty() && set.outputBytes >= maxOutput)
        set.description += " (first " + sizeText(set.outputBytes) + ")";
    return set;
}

TileSet loadZstdTiles(const std::string& path, uint64_t maxOutput)
{
    const Codec& codec = codecNamed("zstd");
    TileSet set = loadTileSet(path, codec, maxOutput, 0); // also compares the checksums
    if (set.filters.empty()) return set;
    set.compressedBytes -= set.filters.size();
    set.filters.clear();
    for (TileSet::Tile& tile : set.tiles)
        tile.filterSize = 0;
    decode(set, codec, false);
    return set;
}

TileSet loadPicture(uint64_t maxOutput)
{
    return tilesOf(std::make_unique<InputFile>("made-up picture", makeUpPicture(maxOutput)),
                   codecNamed("gstd"), maxOutput, 0);
}

} // namespace sluice
