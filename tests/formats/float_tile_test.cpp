// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests tiles of codec FLOAT as archives store them: they are written, parsed, decoded and damaged.
#include <sluice/sluice_float.h>

#include "tests/support/archive_io.h"
#include "tests/support/devices.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/archive_layout.h"
#include "formats/float_tile.h"

using namespace sluice::test;
using sluice::loadLe32;
using sluice::storeLe32;

namespace {

// A tile as a reader of an archive gets it.
struct StoredTile {
    Bytes bytes;
    uint32_t size = 0;
    uint32_t codec = 0;
    uint32_t checksum = 0;
};

struct Part {
    uint32_t type;
    Bytes bytes;
    uint32_t tileSize = 1 << 20;
};

// Packs the parts as segments of one asset.
Bytes packParts(const std::vector<Part>& parts, uint32_t threads)
{
    Bytes all, file;
    std::vector<SluiceArchiveSegment> segments;
    for (const Part& part : parts) {
        all.insert(all.end(), part.bytes.begin(), part.bytes.end());
        segments.push_back(
            {part.bytes.size(), SLUICE_CODEC_FLOAT, part.tileSize, 0, 0, 0, part.type, 0, 0});
    }
    const SluiceArchiveWriterInfo info = {
        SLUICE_CODEC_FLOAT, 0, 0, threads, writeMemory, &file, 0, 0, nullptr, 0, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    MemorySource source = {all};
    const SluiceArchiveAssetInfo asset = {"a",
                                          1,
                                          0,
                                          all.size(),
                                          MemorySource::read,
                                          &source,
                                          segments.data(),
                                          uint32_t(segments.size()),
                                          0,
                                          nullptr,
                                          nullptr};
    REQUIRE(sluiceAddArchiveAsset(writer, &asset) == SLUICE_OK);
    REQUIRE(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    return file;
}

std::vector<StoredTile> tilesOf(const Bytes& file)
{
    SluiceArchive archive;
    REQUIRE(sluiceParseArchiveHeader(file.data(), 64, file.size(), &archive) == SLUICE_OK);
    const uint8_t* index = file.data() + archive.indexOffset;
    REQUIRE(sluiceCheckArchiveIndex(&archive, index, size_t(archive.indexSize), nullptr) ==
            SLUICE_OK);
    SluiceArchiveAsset asset;
    REQUIRE(sluiceGetArchiveAsset(&archive, index, size_t(archive.indexSize), 0, &asset) ==
            SLUICE_OK);
    std::vector<SluiceArchiveTile> records(asset.tileCount);
    SluiceArchiveTileReader reader;
    REQUIRE(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
    REQUIRE(sluiceParseArchiveTiles(&reader, file.data() + asset.offset, size_t(asset.extentSize),
                                    asset.tileCount, records.data()) == SLUICE_OK);
    std::vector<StoredTile> tiles;
    for (const SluiceArchiveTile& record : records) {
        const uint8_t* bytes = file.data() + asset.offset + record.offset;
        tiles.push_back(
            {Bytes(bytes, bytes + record.storedSize), record.size, record.codec, record.checksum});
    }
    return tiles;
}

struct Decoded {
    SluiceStatus parsed;
    Words status; // a status for each 8,192 elements
    Bytes bytes;
    bool ok() const
    {
        return parsed == SLUICE_OK &&
               std::all_of(status.begin(), status.end(), [](uint32_t s) { return s == 1; });
    }
};

// Decodes the tiles of codec FLOAT in one command. Other tiles are returned as they are.
std::vector<Decoded> decode(Device& on, const std::vector<StoredTile>& tiles)
{
    std::vector<SluiceFloatTensor> tensors;
    std::vector<size_t> tileOf; // of each tensor
    std::vector<Decoded> results(tiles.size());
    Bytes from;
    uint64_t outputSize = 0;
    uint32_t statusCount = 0;
    for (size_t i = 0; i < tiles.size(); ++i) {
        const StoredTile& tile = tiles[i];
        if (tile.codec == SLUICE_CODEC_STORE) {
            results[i] = {SLUICE_OK, {}, tile.bytes};
            continue;
        }
        SluiceFloatTensor tensor = {};
        results[i].parsed =
            sluiceParseFloatTile(tile.bytes.data(), tile.bytes.size(), tile.size, &tensor);
        if (results[i].parsed != SLUICE_OK) continue;
        for (uint64_t* part : {&tensor.words, &tensor.index, &tensor.lengths, &tensor.raw})
            *part += from.size();
        from.insert(from.end(), tile.bytes.begin(), tile.bytes.end());
        from.resize((from.size() + 15) / 16 * 16, 0x5A);
        tensor.output = outputSize;
        tensor.firstTile = statusCount;
        outputSize += (tile.size + 15) / 16 * 16 + 16;
        statusCount += uint32_t((tensor.count + SLUICE_FLOAT_TILE - 1) / SLUICE_FLOAT_TILE);
        tensors.push_back(tensor);
        tileOf.push_back(i);
    }
    if (tensors.empty()) return results;
    Buffer source(on, from), destination(on, outputSize),
        status(on, (uint64_t(statusCount) + 2) * 4);
    std::vector<SluiceFloatTensor> placed = tensors;
    for (SluiceFloatTensor& tensor : placed) {
        for (uint64_t* part : {&tensor.words, &tensor.index, &tensor.lengths, &tensor.raw})
            *part += source.address();
        tensor.output += destination.address();
    }
    Buffer list(on, bytesOf(placed));
    SluiceFloatDecodeInfo info = {};
    info.tensorCount = uint32_t(tensors.size());
    info.tileCount = statusCount;
    info.tensors = list.range();
    info.source = source.range();
    info.destination = destination.range();
    info.status = status.range();
    on.run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdFloatDecode(on.context(), commands, &info) == SLUICE_OK);
    });
    const Words statuses = status.words();
    const Bytes output = destination.bytes();
    for (size_t i = 0; i < tensors.size(); ++i) {
        const uint32_t first = tensors[i].firstTile;
        const uint32_t end = i + 1 < tensors.size() ? tensors[i + 1].firstTile : statusCount;
        Decoded& result = results[tileOf[i]];
        result.status.assign(statuses.begin() + first, statuses.begin() + end);
        const uint64_t outputEnd = tensors[i].output + tiles[tileOf[i]].size;
        result.bytes.assign(output.begin() + std::ptrdiff_t(tensors[i].output),
                            output.begin() + std::ptrdiff_t(outputEnd));
        for (uint64_t gap = outputEnd; gap < (outputEnd + 15) / 16 * 16 + 16; ++gap)
            if (output[gap] != Buffer::kPoison) FAIL("a byte between the tiles changed");
    }
    return results;
}

// Returns elements of N(0, 0.02), rounded to the type; or, if `uniform` is set, random bits.
Bytes weights(uint32_t type, uint64_t size, bool uniform, std::mt19937& random)
{
    const uint32_t elementBytes = sluiceFloatElementSize(type);
    Bytes bytes(size);
    std::normal_distribution<float> normal(0, 0.02f);
    for (uint64_t at = 0; at < size; at += elementBytes) {
        const float number = normal(random);
        uint32_t value = 0;
        std::memcpy(&value, &number, 4);
        const uint32_t sign = value >> 31, exponent = (value >> 23 & 255) - 112;
        if (type == SLUICE_FLOAT_BF16) value >>= 16;
        if (type == SLUICE_FLOAT_F16)
            value = sign << 15 | (exponent & 31) << 10 | (value >> 13 & 0x3ff);
        if (type == SLUICE_FLOAT_F8_E4M3 || type == SLUICE_FLOAT_F8_E4M3_DENSE)
            value = sign << 7 | (exponent & 15) << 3 | (value >> 20 & 7);
        if (type == SLUICE_FLOAT_F8_E5M2)
            value = sign << 7 | (exponent & 31) << 2 | (value >> 21 & 3);
        if (type == SLUICE_FLOAT_BYTES) value = value >> 23 & 255;
        if (uniform) value = uint32_t(random());
        std::memcpy(bytes.data() + at, &value, std::min<uint64_t>(elementBytes, size - at));
    }
    return bytes;
}

// Checks that all parts decode to what they were, and which codecs their tiles have.
void checkRoundTrip(Device& on, const std::vector<Part>& parts)
{
    Bytes all;
    for (const Part& part : parts)
        all.insert(all.end(), part.bytes.begin(), part.bytes.end());
    const std::vector<StoredTile> tiles = tilesOf(packParts(parts, 1));
    const std::vector<Decoded> decoded = decode(on, tiles);
    size_t at = 0;
    for (size_t i = 0; i < tiles.size(); ++i) {
        REQUIRE(decoded[i].ok());
        REQUIRE(decoded[i].bytes.size() == tiles[i].size);
        CHECK(std::equal(decoded[i].bytes.begin(), decoded[i].bytes.end(),
                         all.begin() + std::ptrdiff_t(at)));
        CHECK(sluiceTileChecksum(decoded[i].bytes.data(), tiles[i].size) == tiles[i].checksum);
        at += tiles[i].size;
    }
    CHECK(at == all.size());
}

StoredTile oneTile(uint32_t type, uint32_t size, std::mt19937& random)
{
    const std::vector<StoredTile> tiles =
        tilesOf(packParts({{type, weights(type, size, false, random)}}, 1));
    REQUIRE(tiles.size() == 1);
    REQUIRE(tiles[0].codec == SLUICE_CODEC_FLOAT);
    return tiles[0];
}

} // namespace

TEST_CASE("float tile: segments of whole tiles, tails of elements, tiles that are stored")
{
    std::mt19937 random = makeRandom(501);
    // Packs one tensor, which makes it the last segment: only its size need not be a multiple of 4.
    const auto codecs = [&](uint32_t type, uint64_t size, uint32_t tileSize, bool uniform) {
        std::vector<std::pair<uint32_t, uint32_t>> result;
        for (const StoredTile& tile :
             tilesOf(packParts({{type, weights(type, size, uniform, random), tileSize}}, 1)))
            result.emplace_back(tile.codec, tile.size);
        return result;
    };
    using Codecs = std::vector<std::pair<uint32_t, uint32_t>>;
    const uint32_t store = SLUICE_CODEC_STORE, floats = SLUICE_CODEC_FLOAT;
    CHECK((codecs(SLUICE_FLOAT_BF16, 20000, 1 << 20, false) == Codecs{{floats, 20000}}));
    CHECK((codecs(SLUICE_FLOAT_BF16, 20002, 8192, false) ==
           Codecs{{floats, 8192}, {floats, 8192}, {floats, 3618}}));
    CHECK(
        (codecs(SLUICE_FLOAT_BF16, 20001, 1 << 20, false) == Codecs{{floats, 20000}, {store, 1}}));
    CHECK(
        (codecs(SLUICE_FLOAT_BF16, 20003, 1 << 20, false) == Codecs{{floats, 20000}, {store, 3}}));
    CHECK((codecs(SLUICE_FLOAT_F32, 20002, 1 << 20, false) == Codecs{{floats, 20000}, {store, 2}}));
    CHECK((codecs(SLUICE_FLOAT_F8_E4M3, 20003, 1 << 20, false) == Codecs{{floats, 20003}}));
    CHECK((codecs(SLUICE_FLOAT_BYTES, 20003, 1 << 20, false) == Codecs{{floats, 20003}}));
    CHECK((codecs(SLUICE_FLOAT_BYTES, 3, 1 << 20, false) == Codecs{{store, 3}}));
    CHECK((codecs(SLUICE_FLOAT_F32, 3, 1 << 20, false) == Codecs{{store, 3}}));
    CHECK((codecs(SLUICE_FLOAT_BF16, 40, 1 << 20, false) == Codecs{{store, 40}}));
    for (uint32_t type = 0; type < SLUICE_FLOAT_TYPE_COUNT; ++type)
        // Random bits do not get smaller.
        CHECK((codecs(type, 40000, 1 << 20, true) == Codecs{{store, 40000}}));
}

TEST_CASE("float tile: the same archive whatever the thread count")
{
    std::mt19937 random = makeRandom(502);
    std::vector<Part> parts;
    for (uint32_t type = 0; type < SLUICE_FLOAT_TYPE_COUNT; ++type)
        parts.push_back({type, weights(type, 1 << 18, type == 4, random), 1 << 16});
    const Bytes one = packParts(parts, 1);
    CHECK(packParts(parts, 2) == one);
    CHECK(packParts(parts, 5) == one);
}

TEST_CASE("float tile: what is neither code nor sign nor mantissa takes at most 0.05 bit a weight "
          "in the archive")
{
    std::mt19937 random = makeRandom(503);
    const uint64_t count = 1 << 20;
    const Bytes bytes = weights(SLUICE_FLOAT_BF16, 2 * count, false, random);
    const Bytes file = packParts({{SLUICE_FLOAT_BF16, bytes}}, 1);
    uint64_t bits = 8 * count; // signs and mantissas
    uint64_t at = 0;
    for (const StoredTile& tile : tilesOf(file)) {
        uint64_t histogram[256] = {};
        for (uint64_t end = at + tile.size; at < end; at += 2)
            ++histogram[(bytes[at] | bytes[at + 1] << 8) >> 7 & 255];
        for (uint32_t i = 0; i < 256; ++i)
            bits += histogram[i] * (tile.bytes[16 + i / 2] >> i % 2 * 4 & 15);
    }
    const double perWeight = double(8 * file.size() - bits) / double(count);
    CHECK(perWeight < 0.05);
    CHECK(perWeight > 0);
    CHECK(double(file.size()) / double(bytes.size()) < 0.666);
}

TEST_CASE("float tile: every rule of the header")
{
    std::mt19937 random = makeRandom(504);
    const StoredTile good = oneTile(SLUICE_FLOAT_BF16, 40000, random);
    SluiceFloatTensor tensor = {};
    const auto parse = [&](const StoredTile& tile) {
        return sluiceParseFloatTile(tile.bytes.data(), tile.bytes.size(), tile.size, &tensor);
    };
    REQUIRE(parse(good) == SLUICE_OK);
    CHECK(tensor.type == SLUICE_FLOAT_BF16);
    CHECK(tensor.count == 20000);
    CHECK(tensor.lengths == 16);
    CHECK(tensor.index == 144);
    CHECK(tensor.raw == 160);
    CHECK(tensor.words == 160 + 20000);
    CHECK(tensor.words + tensor.wordsSize == good.bytes.size());
    CHECK((tensor.output == 0 && tensor.firstTile == 0));
    CHECK(sluiceParseFloatTile(nullptr, 16, 4, &tensor) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceParseFloatTile(good.bytes.data(), 16, 4, nullptr) == SLUICE_ERROR_ARGUMENT);
    const auto changed = [&](uint32_t field, uint32_t value) {
        StoredTile tile = good;
        storeLe32(tile.bytes.data() + field, value);
        return parse(tile);
    };
    CHECK(changed(0, SLUICE_FLOAT_TYPE_COUNT) == SLUICE_ERROR_FORMAT);
    CHECK(changed(0, ~0u) == SLUICE_ERROR_FORMAT);
    CHECK(changed(0, SLUICE_FLOAT_F32) == SLUICE_ERROR_FORMAT); // not its size
    for (const uint32_t count : {0u, 19999u, 20001u, 0x80000000u + 20000, ~0u})
        CHECK(changed(4, count) == SLUICE_ERROR_FORMAT);
    const uint32_t wordsSize = loadLe32(good.bytes.data() + 8);
    CHECK(changed(8, wordsSize + 8) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(changed(8, wordsSize - 8) == SLUICE_ERROR_FORMAT);
    CHECK(changed(8, wordsSize + 4) == SLUICE_ERROR_FORMAT);
    CHECK(changed(8, ~7u) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(changed(12, 1) == SLUICE_ERROR_FORMAT);
    for (const uint32_t size : {0u, 39998u, 40002u, 80000u, ~0u})
        CHECK(sluiceParseFloatTile(good.bytes.data(), good.bytes.size(), size, &tensor) ==
              SLUICE_ERROR_FORMAT);
    for (size_t size = 0; size < good.bytes.size(); size += size < 16 ? 1 : 499)
        CHECK(sluiceParseFloatTile(good.bytes.data(), size, good.size, &tensor) ==
              SLUICE_ERROR_BUFFER_SIZE);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("float tile: every type and size from an archive, decoded in one command")
{
    std::mt19937 random = makeRandom(505);
    std::vector<Part> parts;
    for (uint32_t type = 0; type < SLUICE_FLOAT_TYPE_COUNT; ++type) {
        for (const uint64_t size : {4u, 1024u, 8192u, 32768u, 65540u}) {
            parts.push_back({type, weights(type, size, false, random)});
            parts.push_back({type, weights(type, size, false, random), 16384});
        }
        parts.push_back({type, weights(type, 5000, true, random)});
    }
    parts.push_back({SLUICE_FLOAT_F32, weights(SLUICE_FLOAT_F32, 30003, false, random)});
    checkRoundTrip(device(), parts);
}

TEST_CASE(
    "float tile: damaged ones have the reference's statuses, and nothing outside them changes")
{
    std::mt19937 random = makeRandom(506);
    Device reference("cpu", "ref", 0);
    REQUIRE(reference.isOpen());
    const uint32_t total = environmentNumber("SLUICE_MUTATIONS", 100);
    std::vector<StoredTile> tiles;
    uint32_t damaged = 0;
    for (uint32_t i = 0; i < total; ++i) {
        const uint32_t type = uint32_t(random() % SLUICE_FLOAT_TYPE_COUNT);
        StoredTile tile = oneTile(type, 2048 + uint32_t(random() % 5) * 4096, random);
        // Half of the changes go to header, tables and index, which are small.
        for (uint32_t changes = 1 + uint32_t(random() % 3); changes > 0; --changes) {
            const size_t at =
                random() %
                (random() % 2 != 0 ? std::min<size_t>(176, tile.bytes.size()) : tile.bytes.size());
            tile.bytes[at] = uint8_t(tile.bytes[at] ^ 1u << random() % 8);
        }
        tiles.push_back(std::move(tile));
        if (tiles.size() < 50 && i + 1 < total) continue;
        const std::vector<Decoded> expected = decode(reference, tiles),
                                   found = decode(device(), tiles);
        for (size_t k = 0; k < tiles.size(); ++k) {
            CAPTURE(i);
            CAPTURE(k);
            CHECK(found[k].parsed == expected[k].parsed);
            CHECK((found[k].status == expected[k].status));
            damaged += expected[k].ok() ? 0 : 1;
            if (expected[k].ok()) CHECK(found[k].bytes == expected[k].bytes);
        }
        tiles.clear();
    }
    CHECK(damaged > total / 10);
}

TEST_SUITE_END();
