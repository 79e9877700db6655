// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench_input.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include <sluice/sluice_encode.h>
#include <sluice/sluice_formats.h>

#include "bench_device.h"
#include "files.h"

namespace sluice {
namespace {

constexpr uint64_t kTileBytes = 65536;
constexpr uint32_t kLevel = 12;

uint64_t aligned(uint64_t value)
{
    return (value + 15) / 16 * 16;
}

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

void appendTile(TileSet& set, const uint8_t* bytes, uint32_t compressedSize, uint32_t size)
{
    TileSet::Tile tile;
    tile.sourceOffset = set.source.size();
    tile.outputOffset = set.tiles.empty() ? 0 : aligned(set.tiles.back().outputOffset + set.tiles.back().size);
    tile.compressedSize = compressedSize;
    tile.size = size;
    set.source.insert(set.source.end(), bytes, bytes + compressedSize);
    set.source.resize(aligned(set.source.size()));
    set.compressedBytes += compressedSize;
    set.outputBytes += size;
    set.tiles.push_back(tile);
}

// The expected bytes of tiles that came from a file, by the CPU reference.
void decodeOnCpu(TileSet& set, const std::string& path)
{
    const TileSet::Tile& last = set.tiles.back();
    set.expected.resize(aligned(last.outputOffset + last.size));

    std::vector<SluiceRegion> regions;
    for (const TileSet::Tile& tile : set.tiles) {
        regions.push_back({reinterpret_cast<uintptr_t>(set.source.data()) + tile.sourceOffset,
                           reinterpret_cast<uintptr_t>(set.expected.data()) + tile.outputOffset, tile.compressedSize,
                           tile.size});
    }
    std::vector<uint32_t> status(regions.size() + 2);
    const auto hostBuffer = [](auto& bytes) {
        return SluiceBuffer{reinterpret_cast<uintptr_t>(bytes.data()), 0, bytes.size() * sizeof bytes[0]};
    };
    SluiceGdeflateInfo info = {};
    info.maxRegionCount = static_cast<uint32_t>(regions.size());
    info.regionStride = sizeof(SluiceRegion);
    info.regions = hostBuffer(regions);
    info.source = hostBuffer(set.source);
    info.destination = hostBuffer(set.expected);
    info.status = hostBuffer(status);

    SluiceContext context = nullptr;
    require(sluiceCreateCpuContext(&context), "CPU context");
    const SluiceStatus result = sluiceCmdGdeflate(context, nullptr, &info);
    sluiceDestroyContext(context);
    require(result, "decode on the CPU");
    const uint32_t failed = status[regions.size()], first = status[regions.size() + 1];
    if (failed != 0) {
        throw Failure{exitFormat,
                      path + ": tile " + std::to_string(first) + ": " + sluiceGetTileStatusText(status[first])};
    }
}

void addTileStream(TileSet& set, const std::vector<uint8_t>& file, const std::string& path, uint64_t maxOutput)
{
    SluiceTileStream stream = {};
    SluiceStatus status = sluiceParseTileStreamHeader(file.data(), file.size(), &stream);
    if (status != SLUICE_OK) failFile(path, status, "tile stream");
    std::vector<SluiceTileStreamTile> tiles(stream.tileCount);
    status = sluiceParseTileStreamTable(&stream, file.data() + SLUICE_TILE_STREAM_HEADER_SIZE,
                                        file.size() - SLUICE_TILE_STREAM_HEADER_SIZE, file.size(), tiles.data());
    if (status != SLUICE_OK) failFile(path, status, "tile table");
    for (const SluiceTileStreamTile& tile : tiles) {
        if (set.outputBytes >= maxOutput) break;
        appendTile(set, file.data() + tile.offset, tile.compressedSize, tile.size);
    }
}

// Takes the GDeflate tiles; stored ones say nothing about a decoder.
void addArchive(TileSet& set, const std::vector<uint8_t>& file, const std::string& path, uint64_t maxOutput)
{
    SluiceArchive archive = {};
    SluiceStatus status = sluiceParseArchiveHeader(file.data(), file.size(), file.size(), &archive);
    if (status != SLUICE_OK) failFile(path, status, "archive header");
    const uint8_t* index = file.data() + archive.indexOffset;
    const size_t indexSize = static_cast<size_t>(archive.indexSize);
    status = sluiceCheckArchiveIndex(&archive, index, indexSize, nullptr);
    if (status != SLUICE_OK) failFile(path, status, "archive index");

    for (uint32_t i = 0; i < archive.assetCount && set.outputBytes < maxOutput; ++i) {
        SluiceArchiveAsset asset = {};
        status = sluiceGetArchiveAsset(&archive, index, indexSize, i, &asset);
        if (status != SLUICE_OK) failFile(path, status, "archive index");
        if (asset.tileCount == 0) continue;
        const std::string name(asset.name, asset.nameLength);
        const uint8_t* extent = file.data() + asset.offset;
        std::vector<SluiceArchiveTile> tiles(asset.tileCount);
        SluiceArchiveTileReader reader = {};
        status = sluiceBeginArchiveTiles(&asset, &reader);
        if (status == SLUICE_OK) {
            status = sluiceParseArchiveTiles(&reader, extent, static_cast<size_t>(asset.extentSize), asset.tileCount,
                                             tiles.data());
        }
        if (status != SLUICE_OK) failFile(path, status, name);
        for (const SluiceArchiveTile& tile : tiles) {
            if (set.outputBytes >= maxOutput) break;
            if (tile.codec == SLUICE_CODEC_GDEFLATE) appendTile(set, extent + tile.offset, tile.storedSize, tile.size);
        }
    }
}

// Encodes every tile, on all cores.
void addPacked(TileSet& set, const uint8_t* bytes, size_t size, uint32_t decodeSpeed)
{
    const size_t count = (size + kTileBytes - 1) / kTileBytes;
    std::vector<std::vector<uint8_t>> encoded(count);
    std::atomic<size_t> next{0};
    std::atomic<int> failure{SLUICE_OK};

    const auto work = [&] {
        const SluiceGdeflateEncoderInfo info = {kLevel, decodeSpeed};
        SluiceGdeflateEncoder encoder = nullptr;
        SluiceStatus status = sluiceCreateGdeflateEncoder(&info, &encoder);
        for (size_t i = next++; status == SLUICE_OK && i < count; i = next++) {
            const size_t tileSize = std::min<size_t>(kTileBytes, size - i * kTileBytes);
            encoded[i].resize(sluiceGdeflateTileBound(tileSize));
            size_t used = 0;
            status = sluiceEncodeGdeflateTile(encoder, bytes + i * kTileBytes, tileSize, encoded[i].data(),
                                              encoded[i].size(), &used);
            encoded[i].resize(used);
        }
        sluiceDestroyGdeflateEncoder(encoder);
        if (status != SLUICE_OK) failure = status;
    };
    std::vector<std::thread> threads;
    for (size_t i = 1; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
        threads.emplace_back(work);
    work();
    for (std::thread& thread : threads)
        thread.join();
    require(static_cast<SluiceStatus>(failure.load()), "encode");

    for (size_t i = 0; i < count; ++i) {
        const size_t tileSize = std::min<size_t>(kTileBytes, size - i * kTileBytes);
        appendTile(set, encoded[i].data(), static_cast<uint32_t>(encoded[i].size()), static_cast<uint32_t>(tileSize));
    }
    set.expected.assign(bytes, bytes + size);
    set.expected.resize(aligned(size));
}

// A quarter each of text-like words, records of floats and indices, smooth pixels, and noise in a small alphabet.
std::vector<uint8_t> makeUp(size_t size)
{
    std::mt19937 random(20251120);
    const auto below = [&random](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
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

TileSet loadTileSet(const std::string& path, uint64_t maxOutput, uint32_t decodeSpeed)
{
    TileSet set;
    if (path.empty()) {
        const size_t size = static_cast<size_t>(std::min<uint64_t>(maxOutput, 32u << 20));
        const std::vector<uint8_t> bytes = makeUp(size);
        addPacked(set, bytes.data(), bytes.size(), decodeSpeed);
        set.description = "made-up data";
    } else {
        const std::vector<uint8_t> file = readFile(path);
        if (file.empty()) throw Failure{exitFormat, path + ": is empty"};
        if (startsWith(file, {0x8b, 'S', 'L', 'U', 'I', 'C', 'E', 0x0a})) {
            addArchive(set, file, path, maxOutput);
        } else if (startsWith(file, {4, 0xfb})) {
            addTileStream(set, file, path, maxOutput);
        } else {
            addPacked(set, file.data(), static_cast<size_t>(std::min<uint64_t>(file.size(), maxOutput)), decodeSpeed);
        }
        if (set.tiles.empty()) throw Failure{exitFormat, path + ": holds no GDeflate tile"};
        if (set.expected.empty()) decodeOnCpu(set, path);
        set.description = path;
        if (set.outputBytes >= maxOutput) set.description += " (first " + sizeText(set.outputBytes) + ")";
    }
    return set;
}

} // namespace sluice
