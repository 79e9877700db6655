// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice selftest: golden vectors of GDeflate, and made-up data through all other kernels, on every
// tier of a device.
#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

#include <sluice/sluice_compact.h>
#include <sluice/sluice_formats.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_scan.h>
#include <sluice/sluice_tile_streams.h>

#include "golden.h"
#include "selftest_codecs.h"
#include "selftest_primitives.h"
#include "tile_decode.h"

namespace sluice {
namespace {

using Words = std::vector<uint32_t>;

SluiceBuffer upload(const ToolDevice& device, DeviceBuffer& buffer, const void* bytes,
                    uint64_t size)
{
    const SluiceBuffer range = buffer.reserve(size);
    device.check(sluiceUpload(device.handle(), range, bytes, size), "upload");
    return range;
}

Words download(const ToolDevice& device, SluiceBuffer buffer)
{
    Words words(size_t(buffer.size / 4));
    device.check(sluiceDownload(device.handle(), buffer, words.data(), words.size() * 4),
                 "download");
    return words;
}

// Values that are the same everywhere: a linear congruential generator.
Words madeUpWords(uint32_t count)
{
    Words words(count);
    uint32_t state = 12345;
    for (uint32_t& word : words) {
        state = state * 1664525u + 1013904223u;
        word = state;
    }
    return words;
}

constexpr uint32_t elementCount = 100003; // some workgroups, and a rest

bool testScan(const ToolDevice& device, SluiceScanKind kind)
{
    const Words input = madeUpWords(elementCount);
    Words expected(elementCount);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < elementCount; ++i) {
        expected[i] = kind == SLUICE_SCAN_EXCLUSIVE ? sum : sum + input[i];
        sum += input[i];
    }
    DeviceBuffer in(device), out(device), total(device), scratch(device);
    SluiceScanInfo info = {};
    info.kind = kind;
    info.maxCount = elementCount;
    info.input = upload(device, in, input.data(), input.size() * 4);
    info.output = out.reserve(input.size() * 4);
    info.total = total.reserve(4);
    SluiceRequirements requirements = {};
    device.check(sluiceGetScanRequirements(device.context(), &info, &requirements), "scan");
    const std::vector<uint8_t> zeros(size_t(requirements.scratchSize));
    info.scratch = upload(device, scratch, zeros.data(), zeros.size());
    SluiceCommands commands = nullptr;
    device.check(sluiceBegin(device.handle(), &commands), "commands");
    device.check(sluiceCmdScan(device.context(), commands, &info), "scan");
    device.check(sluiceSubmit(device.handle(), commands, nullptr), "submit");
    return download(device, info.output) == expected && download(device, info.total) == Words{sum};
}

bool testCompact(const ToolDevice& device)
{
    Words input = madeUpWords(elementCount);
    Words expected;
    for (uint32_t& word : input) {
        word = word >> 30 == 0 ? 0 : word; // about a quarter are dropped
        if (word != 0) {
            expected.push_back(word);
        }
    }
    DeviceBuffer in(device), out(device), count(device), scratch(device);
    SluiceCompactInfo info = {};
    info.test = SLUICE_COMPACT_NON_ZERO;
    info.elementSize = 4;
    info.maxCount = elementCount;
    info.input = upload(device, in, input.data(), input.size() * 4);
    info.output = out.reserve(input.size() * 4);
    info.resultCount = count.reserve(4);
    SluiceRequirements requirements = {};
    device.check(sluiceGetCompactRequirements(device.context(), &info, &requirements), "compact");
    const std::vector<uint8_t> zeros(size_t(requirements.scratchSize));
    info.scratch = upload(device, scratch, zeros.data(), zeros.size());
    SluiceCommands commands = nullptr;
    device.check(sluiceBegin(device.handle(), &commands), "commands");
    device.check(sluiceCmdCompact(device.context(), commands, &info), "compact");
    device.check(sluiceSubmit(device.handle(), commands, nullptr), "submit");
    Words output = download(device, info.output);
    output.resize(expected.size());
    return output == expected &&
           download(device, info.resultCount) == Words{uint32_t(expected.size())};
}

// The tiles of all golden streams, and what must become of them.
struct GoldenTiles {
    Words source; // the compressed bytes
    std::vector<SluiceRegion> regions;
    Words checksums, statuses; // expected; the checksum kernel changes an OK into BAD_CHECKSUM

    void add(uint64_t offset, uint64_t compressedSize, uint64_t size, uint32_t checksum,
             uint32_t status)
    {
        regions.push_back({offset, uint64_t(regions.size()) * 65536, compressedSize, size});
        checksums.push_back(checksum);
        statuses.push_back(status);
    }
};

GoldenTiles goldenTiles()
{
    GoldenTiles list;
    for (const GoldenStream& golden : goldenStreams) {
        std::vector<uint8_t> bytes(golden.size);
        for (size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = uint8_t(golden.words[i / 4] >> i % 4 * 8);
        }
        SluiceTileStream stream = {};
        std::vector<SluiceTileStreamTile> tiles(golden.tileCount);
        if (sluiceParseTileStreamHeader(bytes.data(), bytes.size(), &stream) != SLUICE_OK ||
            stream.tileCount != golden.tileCount ||
            sluiceParseTileStreamTable(&stream, bytes.data() + 8, bytes.size() - 8, bytes.size(),
                                       tiles.data()) != SLUICE_OK) {
            throw Failure{exitDevice,
                          std::string("golden stream ") + golden.name + " does not parse"};
        }
        for (uint32_t i = 0; i < stream.tileCount; ++i) {
            list.add(list.source.size() * 4 + tiles[i].offset, tiles[i].compressedSize,
                     tiles[i].size, golden.checksums[i], SLUICE_TILE_OK);
        }
        list.source.insert(list.source.end(), golden.words, golden.words + golden.size / 4);
    }
    // Three bad ones: a tile cut off before every lane has its word, a reserved block type, a wrong
    // checksum.
    const SluiceRegion good = list.regions.front();
    const uint32_t checksum = list.checksums.front();
    list.add(good.srcAddress, 64, good.decompressedSize, checksum, SLUICE_TILE_TRUNCATED);
    list.add(list.source.size() * 4, 256, good.decompressedSize, checksum, SLUICE_TILE_BAD_CODE);
    list.source.insert(list.source.end(), 64, 7); // lane 0: final block, type 3; and words to
                                                  // refill from
    list.add(good.srcAddress, good.compressedSize, good.decompressedSize, ~checksum,
             SLUICE_TILE_BAD_CHECKSUM);
    return list;
}

struct TileResults {
    bool gdeflate, checksum;
};

TileResults testTiles(const ToolDevice& device)
{
    const GoldenTiles list = goldenTiles();
    const uint32_t count = uint32_t(list.regions.size());
    const SluiceDevice handle = device.handle();
    TileDecode tileDecode(device);
    TileList tileList = {};
    tileList.source = list.source.data();
    tileList.sourceSize = list.source.size() * 4;
    tileList.destinationSize = uint64_t(count) * 65536;
    tileList.groups[0].regions = list.regions;
    const SluiceGdeflateInfo decode = tileDecode.prepare(tileList).gdeflate[0];

    DeviceBuffer expected(device);
    SluiceChecksumInfo checksum = {};
    checksum.maxRegionCount = count;
    checksum.regionStride = sizeof(SluiceRegion);
    checksum.regions = decode.regions;
    checksum.destination = decode.destination;
    checksum.expected = upload(device, expected, list.checksums.data(), uint64_t(count) * 4);
    checksum.status = decode.status;

    SluiceCommands commands = nullptr;
    device.check(sluiceBegin(handle, &commands), "commands");
    device.check(sluiceCmdGdeflate(device.context(), commands, &decode), "gdeflate");
    device.check(sluiceSubmit(handle, commands, nullptr), "submit");
    const Words decoded = download(device, decode.status);
    const Words output = download(device, decode.destination);
    device.check(sluiceBegin(handle, &commands), "commands");
    device.check(sluiceCmdChecksum(device.context(), commands, &checksum), "checksum");
    device.check(sluiceSubmit(handle, commands, nullptr), "submit");
    const Words checked = download(device, decode.status);

    TileResults results = {true, true};
    for (uint32_t i = 0; i < count; ++i) {
        // on purpose: it decodes
        const bool wrongSum = list.statuses[i] == SLUICE_TILE_BAD_CHECKSUM;
        const uint32_t wanted = wrongSum ? uint32_t(SLUICE_TILE_OK) : list.statuses[i];
        const uint32_t sum = wrongSum ? ~list.checksums[i] : list.checksums[i];
        const bool bytesRight = wanted != SLUICE_TILE_OK ||
                                sluiceTileChecksum(output.data() + size_t(i) * 16384,
                                                   size_t(list.regions[i].decompressedSize)) == sum;
        results.gdeflate = results.gdeflate && decoded[i] == wanted && bytesRight;
        results.checksum = results.checksum && checked[i] == list.statuses[i];
    }
    // The summary: how many failed, and the first of them.
    const uint32_t firstBad = count - 3;
    results.gdeflate = results.gdeflate && decoded[count] == 2 && decoded[count + 1] == firstBad;
    results.checksum = results.checksum && checked[count] == 3 && checked[count + 1] == firstBad;
    return results;
}

// All golden streams whole, in one command, and one that is cut off.
bool testTileStreams(const ToolDevice& device)
{
    Words source, checksums;
    std::vector<SluiceStreamRange> ranges;
    uint64_t destinationSize = 0;
    for (const GoldenStream& golden : goldenStreams) {
        ranges.push_back(
            {source.size() * 4, golden.size, destinationSize, uint64_t(golden.tileCount) * 65536});
        destinationSize += ranges.back().destinationSize;
        source.insert(source.end(), golden.words, golden.words + golden.size / 4);
        checksums.insert(checksums.end(), golden.checksums, golden.checksums + golden.tileCount);
    }
    ranges.push_back(ranges.front());
    ranges.back().sourceSize -= 4;
    const uint32_t streamCount = uint32_t(ranges.size()), tileCount = uint32_t(checksums.size());
    DeviceBuffer list(device), bytes(device), destination(device), expected(device),
        results(device), status(device), scratch(device);
    SluiceTileStreamsInfo info = {};
    info.maxStreamCount = streamCount;
    info.maxTileCount = tileCount;
    info.streams = upload(device, list, ranges.data(), streamCount * sizeof(SluiceStreamRange));
    info.source = upload(device, bytes, source.data(), source.size() * 4);
    info.destination = destination.reserve(destinationSize);
    info.expected = upload(device, expected, checksums.data(), uint64_t(tileCount) * 4);
    info.results =
        results.reserve(streamCount * sizeof(SluiceStreamResult) + sizeof(SluiceStreamSummary));
    info.status = status.reserve((uint64_t(tileCount) + 2) * 4);
    SluiceRequirements requirements = {};
    device.check(sluiceGetTileStreamsRequirements(device.context(), &info, &requirements),
                 "tile streams");
    info.scratch = scratch.reserve(requirements.scratchSize);
    SluiceCommands commands = nullptr;
    device.check(sluiceBegin(device.handle(), &commands), "commands");
    device.check(sluiceCmdTileStreams(device.context(), commands, &info), "tile streams");
    device.check(sluiceSubmit(device.handle(), commands, nullptr), "submit");

    // The first word of a result is its status; of the summary, how many failed and the first of
    // them.
    const Words words = download(device, info.results);
    bool right = words[streamCount * 4] == 1 && words[streamCount * 4 + 1] == streamCount - 1 &&
                 words[(streamCount - 1) * 4] == SLUICE_STREAM_TRUNCATED;
    for (uint32_t s = 0; s + 1 < streamCount; ++s) {
        right = right && words[s * 4] == SLUICE_STREAM_OK;
    }
    return right && download(device, info.status)[tileCount] == 0;
}

struct TierResult {
    std::string device, name, tier;
    std::string notRun; // why, if it was not run
    std::vector<std::pair<const char*, bool>> kernels;

    bool passed() const
    {
        return notRun.empty() && std::all_of(kernels.begin(), kernels.end(),
                                             [](const auto& kernel) { return kernel.second; });
    }
};

TierResult testTier(const SluiceDeviceProperties& properties, const std::string& tier,
                    const CommonOptions& common)
{
    TierResult result = {deviceSelector(properties), properties.name, tier, {}, {}};
    const ToolDevice device({result.device, tier}, common);
    const bool exclusive = testScan(device, SLUICE_SCAN_EXCLUSIVE);
    const bool inclusive = testScan(device, SLUICE_SCAN_INCLUSIVE);
    result.kernels.emplace_back("scan", exclusive && inclusive);
    result.kernels.emplace_back("compact", testCompact(device));
    result.kernels.emplace_back("reduce", testReduce(device));
    result.kernels.emplace_back("intervals", testIntervals(device));
    result.kernels.emplace_back("bulk", testBulk(device));
    const TileResults tiles = testTiles(device);
    result.kernels.emplace_back("gdeflate", tiles.gdeflate);
    result.kernels.emplace_back("checksum", tiles.checksum);
    result.kernels.emplace_back("tile_streams", testTileStreams(device));
    const CodecResults codecs = testCodecs(device);
    result.kernels.emplace_back("gstd", codecs.gstd);
    result.kernels.emplace_back("filter", codecs.filter);
    result.kernels.emplace_back("float", codecs.floats);
    result.kernels.emplace_back("fse_tables", testFseTables(device));
    result.kernels.emplace_back("df11", testDf11(device));
    return result;
}

void print(const TierResult& result)
{
    std::printf("%-10s %-7s", result.device.c_str(), result.tier.c_str());
    for (const auto& [kernel, ok] : result.kernels) {
        std::printf(" %s %s ", kernel, ok ? "ok" : "FAILED");
    }
    std::printf("%s %s\n", result.notRun.empty() ? "" : (" not run: " + result.notRun).c_str(),
                result.name.c_str());
    std::fflush(stdout);
}

void printJson(const std::vector<TierResult>& results)
{
    std::printf("[");
    for (const TierResult& result : results) {
        std::printf("%s\n {\"device\": \"%s\", \"name\": %s, \"tier\": \"%s\"",
                    &result == &results[0] ? "" : ",", result.device.c_str(),
                    jsonText(result.name).c_str(), result.tier.c_str());
        if (!result.notRun.empty()) {
            std::printf(", \"notRun\": %s", jsonText(result.notRun).c_str());
        }
        for (const auto& [kernel, ok] : result.kernels) {
            std::printf(", \"%s\": %s", kernel, ok ? "true" : "false");
        }
        std::printf("}");
    }
    std::printf("\n]\n");
}

} // namespace

int runSelftest(const DeviceOptions& options, bool json, const CommonOptions& common)
{
    const bool all = options.device == "all";
    std::vector<SluiceDeviceProperties> devices =
        all ? listDevices() : matchDevices(options.device, "");
    if (!all) {
        devices.resize(1);
    }
    std::vector<TierResult> results;
    for (const SluiceDeviceProperties& properties : devices) {
        std::istringstream tiers(properties.tiers);
        std::vector<TierResult> ofDevice;
        for (std::string tier; tiers >> tier;) {
            try {
                ofDevice.push_back(testTier(properties, tier, common));
            } catch (const Failure& failure) { // a lost device, say; the others are still worth a
                                               // try
                ofDevice.push_back(
                    {deviceSelector(properties), properties.name, tier, failure.text, {}});
            }
            if (!json && !common.quiet) {
                print(ofDevice.back());
            }
        }
        if (ofDevice.empty()) {
            ofDevice.push_back({deviceSelector(properties),
                                properties.name,
                                "none",
                                "the device can run no tier",
                                {}});
            if (!json && !common.quiet) {
                print(ofDevice.back());
            }
            if (!all) {
                return exitUnsupported;
            }
            results.push_back(ofDevice.back());
            continue;
        }
        results.insert(results.end(), ofDevice.begin(), ofDevice.end());
    }
    if (json) {
        printJson(results);
    }
    const bool passed = std::all_of(results.begin(), results.end(), [](const TierResult& result) {
        return result.tier == "none" || result.passed();
    });
    return passed ? exitOk : exitDevice;
}

} // namespace sluice
