// SPDX-License-Identifier: MIT OR Apache-2.0
// Fuzzes an archive writer, whose calls the input decides, with callbacks that fail. It must return
// a callback's error, in all later calls too. A finished archive must contain what went in, and be
// the same if tiles come from a cache.
#include <fuzzer/FuzzedDataProvider.h>
#include <sluice/sluice_archive.h>

#include <map>
#include <string>

#include "tests/fuzz/archive_streamer.h"

using namespace sluice::fuzz;

namespace {

using Bytes = std::vector<uint8_t>;
constexpr SluiceStatus kCallbackError = SLUICE_ERROR_IO;
constexpr SluiceCodec kCodecs[] = {SLUICE_CODEC_STORE, SLUICE_CODEC_GDEFLATE, SLUICE_CODEC_GSTD,
                                   SLUICE_CODEC_FLOAT, SLUICE_CODEC_ZSTD};

struct Asset {
    std::string name;
    Bytes bytes;
    std::vector<SluiceArchiveSegment> segments;
    Bytes parameters;
};

struct Script {
    SluiceArchiveWriterInfo info = {};
    std::vector<Asset> assets;
    uint32_t failingRead = 0, failingWrite = 0; // number of the call that fails; 0: none
};

// Returns bytes from a seed, between runs and noise.
Bytes makeBytes(uint32_t size, uint32_t seed)
{
    Bytes bytes(size);
    uint32_t random = seed;
    for (uint8_t& byte : bytes) {
        random = random * 1664525 + 1013904223;
        byte = uint8_t((random >> 24) >> (seed & 7));
    }
    return bytes;
}

SluiceArchiveSegment readSegment(FuzzedDataProvider& input, uint64_t size)
{
    SluiceArchiveSegment segment = {};
    segment.size = size;
    segment.codec = input.PickValueInArray(kCodecs);
    segment.tileSize = input.ConsumeBool() ? 65536 : input.ConsumeIntegral<uint32_t>();
    segment.level = input.ConsumeIntegralInRange<uint32_t>(0, 4);
    segment.decodeSpeed = input.ConsumeIntegralInRange<uint32_t>(0, 3);
    segment.filterOffset = input.ConsumeBool() ? 0 : input.ConsumeIntegral<uint8_t>();
    segment.floatType = input.ConsumeIntegralInRange<uint32_t>(0, 8);
    segment.copyDepth = input.ConsumeIntegralInRange<uint32_t>(0, 9);
    segment.filterTrial = input.ConsumeBool();
    return segment;
}

Script readScript(FuzzedDataProvider& input)
{
    Script script;
    script.info.codec = input.PickValueInArray(kCodecs);
    script.info.level = input.ConsumeIntegralInRange<uint32_t>(0, 4);
    script.info.decodeSpeed = input.ConsumeIntegralInRange<uint32_t>(0, 2);
    script.info.copyDepth = input.ConsumeIntegralInRange<uint32_t>(0, 9);
    script.info.tileSize = input.ConsumeBool() ? 0 : input.ConsumeIntegral<uint32_t>();
    script.info.anyOrder = input.ConsumeBool();
    script.info.equalTilesOnce = script.info.copyDepth % 2;
    script.failingRead = input.ConsumeIntegral<uint8_t>();
    script.failingWrite = input.ConsumeIntegral<uint8_t>();
    while (input.remaining_bytes() > 0 && script.assets.size() < 6) {
        Asset asset;
        asset.name = input.ConsumeRandomLengthString(12);
        const uint32_t size = input.ConsumeIntegralInRange<uint32_t>(0, 200000);
        asset.bytes = makeBytes(size, input.ConsumeIntegral<uint32_t>());
        uint64_t left = size;
        for (uint32_t n = input.ConsumeIntegralInRange<uint32_t>(0, 3); n > 0; --n) {
            const uint64_t part =
                n == 1 ? left : input.ConsumeIntegralInRange<uint64_t>(0, left) / 4 * 4;
            asset.segments.push_back(readSegment(input, part));
            left -= part;
        }
        asset.parameters = input.ConsumeBytes<uint8_t>(input.ConsumeIntegral<uint8_t>());
        if (input.ConsumeBool()) asset.parameters.resize(asset.parameters.size() / 4 * 4);
        script.assets.push_back(std::move(asset));
    }
    return script;
}

// An encoder makes tables for each tile, even for 16 bytes, so a tile may cost as much time as this
// many bytes.
constexpr uint64_t kTileCost = 250;

// Returns how many tiles an asset has at most.
uint64_t tilesOf(const Script& script, const Asset& asset)
{
    const auto tiles = [](uint64_t size, uint32_t tileSize) {
        return tileSize == 0 ? 0 : size / tileSize + 1;
    };
    if (asset.segments.empty()) return tiles(asset.bytes.size(), script.info.tileSize);
    uint64_t sum = 0;
    for (const SluiceArchiveSegment& segment : asset.segments)
        sum += tiles(segment.size, segment.tileSize);
    return sum;
}

// The callbacks that deliver the bytes and take the archive.
struct Run {
    explicit Run(const Script& of) : script(of) {}

    const Script& script;
    const Bytes* source = nullptr;
    size_t at = 0;
    uint32_t reads = 0, writes = 0;
    bool failed = false;
    Bytes output;

    static SluiceStatus read(void* user, void* bytes, size_t size)
    {
        Run& run = *static_cast<Run*>(user);
        require(!run.failed && size <= run.source->size() - run.at);
        if (++run.reads == run.script.failingRead) {
            run.failed = true;
            return kCallbackError;
        }
        std::memcpy(bytes, run.source->data() + run.at, size);
        run.at += size;
        return SLUICE_OK;
    }
    static SluiceStatus write(void* user, uint64_t offset, const void* bytes, size_t size)
    {
        Run& run = *static_cast<Run*>(user);
        require(!run.failed && offset + size <= 8u << 20);
        if (++run.writes == run.script.failingWrite) {
            run.failed = true;
            return kCallbackError;
        }
        run.output.resize(std::max(run.output.size(), size_t(offset) + size));
        std::memcpy(run.output.data() + offset, bytes, size);
        return SLUICE_OK;
    }
};

// Keeps the tiles of the run before.
struct Cache {
    struct Tile {
        Bytes stored;
        uint32_t size, filtered;
    };
    std::map<std::string, Tile> tiles;

    static std::string keyText(const uint8_t* key)
    {
        return {reinterpret_cast<const char*>(key), SLUICE_TILE_KEY_SIZE};
    }
    static uint32_t find(void* user, const uint8_t* key, uint32_t size, void* bytes,
                         uint32_t* filtered)
    {
        const auto& tiles = static_cast<Cache*>(user)->tiles;
        const auto found = tiles.find(keyText(key));
        if (found == tiles.end()) return 0;
        require(found->second.size == size);
        std::memcpy(bytes, found->second.stored.data(), found->second.stored.size());
        *filtered = found->second.filtered;
        return uint32_t(found->second.stored.size());
    }
    static void keep(void* user, const uint8_t* key, uint32_t size, const void* bytes,
                     uint32_t storedSize, uint32_t filtered)
    {
        require(storedSize != 0 && storedSize <= size);
        const uint8_t* from = static_cast<const uint8_t*>(bytes);
        static_cast<Cache*>(user)->tiles[keyText(key)] = {Bytes(from, from + storedSize), size,
                                                          filtered};
    }
};

// Writes the archive. `added` receives the assets in it. Returns false if there is no archive.
bool writeArchive(Run& run, const SluiceTileCache* cache, std::vector<const Asset*>& added)
{
    SluiceArchiveWriterInfo info = run.script.info;
    info.write = Run::write;
    info.writeUser = &run;
    info.cache = cache;
    SluiceArchiveWriter writer = nullptr;
    const SluiceStatus created = sluiceCreateArchiveWriter(&info, &writer);
    require(created == SLUICE_OK || created == SLUICE_ERROR_ARGUMENT);
    if (created != SLUICE_OK) return false;
    for (const Asset& asset : run.script.assets) {
        run.source = &asset.bytes;
        run.at = 0;
        SluiceArchiveAssetInfo about = {};
        about.name = asset.name.data();
        about.nameLength = asset.name.size();
        about.size = asset.bytes.size();
        about.read = Run::read;
        about.readUser = &run;
        about.segments = asset.segments.data();
        about.segmentCount = uint32_t(asset.segments.size());
        about.parameters = asset.parameters.data();
        about.parameterSize = uint32_t(asset.parameters.size());
        const bool failedBefore = run.failed;
        const SluiceStatus status = sluiceAddArchiveAsset(writer, &about);
        if (run.failed)
            require(status == kCallbackError || (failedBefore && status == SLUICE_ERROR_ARGUMENT));
        else
            require(status == SLUICE_OK || status == SLUICE_ERROR_ARGUMENT);
        if (status == SLUICE_OK) added.push_back(&asset);
    }
    SluiceArchiveStats stats = {};
    const SluiceStatus finished = sluiceFinishArchive(writer, &stats);
    if (run.failed)
        require(finished == kCallbackError);
    else
        require(finished == SLUICE_OK ||
                (finished == SLUICE_ERROR_ARGUMENT && run.script.info.anyOrder != 0));
    if (finished == SLUICE_OK)
        require(stats.assetCount == added.size() && stats.bytesOut == run.output.size());
    sluiceDestroyArchiveWriter(writer);
    return finished == SLUICE_OK;
}

// Checks what the archive contains. Filters come from random parameters, so an asset may be refused
// for them; that is not the writer's fault.
void checkContents(const Bytes& archive, const std::vector<const Asset*>& added)
{
    static ArchiveStreamer streamer;
    StreamedFile file;
    file.bytes = archive;
    SluiceStreamFile opened = nullptr;
    const SluiceStatus status = streamer.open(file, &opened);
    // The parameters may have items that only newer versions know, among them items that a reader
    // must know.
    if (status == SLUICE_ERROR_VERSION &&
        std::any_of(added.begin(), added.end(),
                    [](const Asset* asset) { return !asset->parameters.empty(); }))
        return require(sluiceStreamClose(streamer.handle, opened) == SLUICE_OK);
    require(status == SLUICE_OK);
    std::vector<Bytes> places(added.size());
    std::vector<const Asset*> expected(added.size());
    for (uint32_t i = 0; i < added.size(); ++i) {
        SluiceArchiveAsset about;
        require(sluiceStreamGetAsset(opened, i, &about) == SLUICE_OK);
        const std::string name(about.name, about.nameLength);
        const auto found = std::find_if(added.begin(), added.end(),
                                        [&](const Asset* asset) { return asset->name == name; });
        require(found != added.end());
        expected[i] = *found;
        require(about.size == expected[i]->bytes.size());
        places[i].resize(size_t(about.size));
        streamer.request(opened, i, 0, places[i]);
    }
    SluiceStreamEvent events[64];
    const uint32_t count = streamer.turn(events, 64);
    require(count == added.size());
    for (uint32_t e = 0; e < count; ++e)
        require(events[e].status == SLUICE_OK);
    for (size_t i = 0; i < added.size(); ++i)
        require(places[i] == expected[i]->bytes);
    require(sluiceStreamClose(streamer.handle, opened) == SLUICE_OK);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    FuzzedDataProvider input(data, size);
    const Script script = readScript(input);
    uint64_t bytes = size;
    for (const Asset& asset : script.assets)
        bytes += asset.bytes.size() + kTileCost * tilesOf(script, asset);
    const CostLimit cost(2 * bytes);
    Cache cache;
    const SluiceTileCache functions = {&cache, Cache::find, Cache::keep, nullptr};
    Run first(script), second(script);
    std::vector<const Asset*> added, again;
    if (!writeArchive(first, &functions, added)) return 0;
    require(writeArchive(second, &functions, again) && again == added);
    require(first.output == second.output);
    checkContents(first.output, added);
    return 0;
}
