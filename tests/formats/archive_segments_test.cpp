// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the archive writer: segments with codecs, filters and parameters of their own.
#include "tests/support/archive_io.h"
#include "tests/support/archives.h"
#include "tests/support/devices.h"
#include "tests/support/packed_archives.h"

#include <sluice/sluice_filter.h>
#include <sluice/sluice_filter_encode.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace sluice;
using namespace sluice::test;

namespace {

// One asset with segments, ready to be packed.
struct Segmented {
    Bytes bytes;
    std::vector<SluiceArchiveSegment> segments;
    Bytes parameters;

    void add(const Bytes& more, SluiceArchiveSegment segment)
    {
        segment.size = more.size();
        segments.push_back(segment);
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    SluiceStatus addTo(SluiceArchiveWriter writer, const std::string& name) const
    {
        MemorySource source = {bytes};
        const SluiceArchiveAssetInfo info = {name.data(),
                                             name.size(),
                                             0,
                                             bytes.size(),
                                             MemorySource::read,
                                             &source,
                                             segments.data(),
                                             uint32_t(segments.size()),
                                             uint32_t(parameters.size()),
                                             parameters.data(),
                                             nullptr};
        return sluiceAddArchiveAsset(writer, &info);
    }
    // Returns the writer's status. If that is OK, `archive` receives the file.
    SluiceStatus pack(Bytes& archive, uint32_t threads = 1) const
    {
        archive.clear();
        const SluiceArchiveWriterInfo info = {
            SLUICE_CODEC_STORE, 0, 0, threads, writeMemory, &archive, 0, 0, nullptr, 0, 0};
        SluiceArchiveWriter writer = nullptr;
        REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
        const SluiceStatus status = addTo(writer, "asset");
        CHECK(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
        sluiceDestroyArchiveWriter(writer);
        return status;
    }
};

SluiceArchiveAsset onlyAsset(const Bytes& file)
{
    SluiceArchive archive;
    REQUIRE(sluiceParseArchiveHeader(file.data(), 64, file.size(), &archive) == SLUICE_OK);
    const uint8_t* index = file.data() + archive.indexOffset;
    SluiceArchiveAsset asset;
    REQUIRE(sluiceGetArchiveAsset(&archive, index, size_t(archive.indexSize), 0, &asset) ==
            SLUICE_OK);
    return asset;
}

// Returns all records of the only asset. The parser must end with the status `expected`.
std::vector<SluiceArchiveTile> tilesOf(const Bytes& file, SluiceStatus expected = SLUICE_OK)
{
    const SluiceArchiveAsset asset = onlyAsset(file);
    std::vector<SluiceArchiveTile> tiles(asset.tileCount);
    SluiceArchiveTileReader reader;
    REQUIRE(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
    REQUIRE(sluiceParseArchiveTiles(&reader, file.data() + asset.offset, size_t(asset.extentSize),
                                    asset.tileCount, tiles.data()) == expected);
    return tiles;
}

constexpr SluiceArchiveSegment stored(uint32_t tileSize)
{
    return {0, SLUICE_CODEC_STORE, tileSize, 0, 0, 0, 0, 0, 0};
}
constexpr SluiceArchiveSegment gdeflate(uint32_t level, uint32_t tileSize = 65536)
{
    return {0, SLUICE_CODEC_GDEFLATE, tileSize, level, 0, 0, 0, 0, 0};
}

} // namespace

TEST_CASE("archive: segments, each with its codec and tiles of its own")
{
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK);
    Segmented asset;
    asset.add(soft(100000), gdeflate(2));
    asset.add({}, gdeflate(3));
    asset.add(hard(70000), gdeflate(9));
    asset.add(hard(1300000), stored(1 << 20));
    asset.add(soft(4), gdeflate(1));
    asset.add(soft(200003), gdeflate(9, 4096));
    Bytes file, again;
    REQUIRE(asset.pack(file) == SLUICE_OK);
    CHECK(check(file) == SLUICE_OK);
    for (const uint32_t threads : {2u, 5u}) {
        REQUIRE(asset.pack(again, threads) == SLUICE_OK);
        CHECK(again == file);
    }
    CHECK(onlyAsset(file).tileSizeLog2 == 20);
    uint64_t segmentEnd = 0;
    size_t segment = 0;
    for (const SluiceArchiveTile& tile : tilesOf(file)) {
        while (tile.outputOffset >= segmentEnd) { // a segment begins with a tile of its own
            CHECK(tile.outputOffset == segmentEnd);
            segmentEnd += asset.segments[segment++].size;
        }
        const SluiceArchiveSegment& from = asset.segments[segment - 1];
        CHECK(tile.size == std::min<uint64_t>(from.tileSize, segmentEnd - tile.outputOffset));
        const bool small = from.codec == SLUICE_CODEC_STORE || from.size == 70000 || from.size == 4;
        CHECK(tile.codec == uint32_t(small ? SLUICE_CODEC_STORE : SLUICE_CODEC_GDEFLATE));
        const uint8_t* bytes = file.data() + onlyAsset(file).offset + tile.offset;
        const Bytes decoded =
            small ? Bytes(bytes, bytes + tile.size) : decodeGdeflate(context, bytes, tile);
        CHECK(std::equal(decoded.begin(), decoded.end(),
                         asset.bytes.begin() + ptrdiff_t(tile.outputOffset)));
        CHECK(tile.checksum == sluiceTileChecksum(decoded.data(), decoded.size()));
    }
    CHECK(segmentEnd == asset.bytes.size());
    sluiceDestroyContext(context);

    const std::map<uint32_t, uint32_t> logarithms = {
        {4, 16}, {65536, 16}, {65540, 17}, {1 << 19, 19}};
    for (const auto& [tileSize, log2] : logarithms) {
        Segmented other;
        other.add(hard(100), stored(tileSize));
        REQUIRE(other.pack(file) == SLUICE_OK);
        CHECK(onlyAsset(file).tileSizeLog2 == log2);
        CHECK(check(file) == SLUICE_OK);
    }
}

TEST_CASE("archive: segments and parameters that the writer refuses")
{
    Bytes file;
    const auto status = [&](const std::function<void(Segmented&)>& change) {
        Segmented asset;
        asset.add(soft(65536), gdeflate(1));
        asset.add(soft(10), stored(65536));
        change(asset);
        const SluiceStatus result = asset.pack(file);
        CHECK(check(file) == SLUICE_OK); // a refused asset must leave nothing behind
        return result;
    };
    const auto first = [&](const std::function<void(SluiceArchiveSegment&)>& change) {
        return status([&](Segmented& asset) { change(asset.segments[0]); });
    };
    CHECK(status([](Segmented&) {}) == SLUICE_OK);
    CHECK(first([](auto& s) { s.size += 4; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(first([](auto& s) { s.size = ~uint64_t(0); }) == SLUICE_ERROR_ARGUMENT);
    CHECK(status([](Segmented& a) { a.segments.pop_back(); }) == SLUICE_ERROR_ARGUMENT);
    CHECK(status([](Segmented& a) { --a.segments[0].size, ++a.segments[1].size; }) ==
          SLUICE_ERROR_ARGUMENT);
    for (const uint32_t tileSize : {0u, 2u, 65538u, 65540u, (1u << 20) + 4}) {
        CHECK(first([&](auto& s) { s.tileSize = tileSize; }) == SLUICE_ERROR_ARGUMENT);
    }
    CHECK(first([](auto& s) { s.level = 0; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(first([](auto& s) { s.level = 13; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(first([](auto& s) { s.decodeSpeed = 7; }) == SLUICE_ERROR_ARGUMENT);
    CHECK(first([](auto& s) { s.codec = SluiceCodec(77); }) == SLUICE_ERROR_ARGUMENT);
    CHECK(first([](auto& s) { s.filterOffset = 4; }) == SLUICE_ERROR_ARGUMENT); // no parameters
    CHECK(first([](auto& s) { s.filterTrial = 2; }) == SLUICE_ERROR_ARGUMENT);
    const Bytes item = {1, 0, 0, 0, 4, 0, 0, 0, 9, 9, 9, 9};
    CHECK(status([&](Segmented& a) { a.parameters = item; }) == SLUICE_OK);
    CHECK(status([&](Segmented& a) { a.parameters = Bytes(item.begin(), item.end() - 4); }) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(status([&](Segmented& a) { a.parameters = Bytes(item.begin(), item.end() - 1); }) ==
          SLUICE_ERROR_ARGUMENT);
    for (const uint32_t offset : {2u, 12u, 400u}) {
        CHECK(status([&](Segmented& a) {
                  a.parameters = item;
                  a.segments[0].filterOffset = offset;
              }) == SLUICE_ERROR_ARGUMENT);
    }
}

TEST_CASE("archive: parameter blocks are written, shared by neighbours; filters reach the records")
{
    Segmented asset, other;
    asset.add(soft(65536), gdeflate(1));
    asset.add(hard(100), gdeflate(1));
    asset.parameters = {1, 0, 0, 0, 4, 0, 0, 0, 9, 9, 9, 9};
    other.parameters = {2, 0, 0, 0, 0, 0, 0, 0};
    Bytes file;
    const SluiceArchiveWriterInfo info = {
        SLUICE_CODEC_STORE, 0, 0, 1, writeMemory, &file, 0, 0, nullptr, 0, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    const std::vector<const Segmented*> order = {&asset, &asset, &other, &asset};
    for (size_t i = 0; i < order.size(); ++i) {
        REQUIRE(order[i]->addTo(writer, std::to_string(i)) == SLUICE_OK);
    }
    REQUIRE(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    CHECK(check(file) == SLUICE_OK);
    SluiceArchive archive;
    REQUIRE(sluiceParseArchiveHeader(file.data(), 64, file.size(), &archive) == SLUICE_OK);
    CHECK(archive.blockBytes == 16 + 12 + 16);
    for (uint32_t i = 0; i < 4; ++i) {
        SluiceArchiveAsset found;
        REQUIRE(sluiceGetArchiveAsset(&archive, file.data() + archive.indexOffset,
                                      size_t(archive.indexSize), i, &found) == SLUICE_OK);
        const uint8_t* bytes = static_cast<const uint8_t*>(found.parameters);
        CHECK(Bytes(bytes, bytes + found.parameterSize) == order[i]->parameters);
    }

    for (SluiceArchiveSegment& segment : asset.segments) {
        segment.filterOffset = 4;
    }
    CHECK(asset.pack(file) == SLUICE_ERROR_ARGUMENT); // that is no filter
}

namespace {

// Records of 4 bytes with slowly growing numbers, and the parameter block with a filter of
// differences.
struct FilteredRamp {
    Bytes ramp, description, parameters;
};

FilteredRamp filteredRamp()
{
    FilteredRamp made;
    made.ramp.resize(65536);
    for (uint32_t i = 0; i < made.ramp.size() / 4; ++i) {
        storeLe32(&made.ramp[4 * size_t(i)], i * i * 77);
    }
    SluiceFilterPlanInfo info = {};
    info.maxTileSize = 65536;
    info.features = SLUICE_FILTER_DIFFERENCE;
    info.force = 1;
    info.layout = SLUICE_FILTER_LAYOUT_RECORDS;
    info.stride = info.columnSize = 4;
    SluiceFilterPlan plan = nullptr;
    REQUIRE(sluiceCreateFilterPlan(made.ramp.data(), made.ramp.size(), &info, &plan) == SLUICE_OK);
    uint32_t count = 0, size = 0;
    const SluiceFilterSegment* found = sluiceGetFilterSegments(plan, &count);
    const uint8_t* parameters = static_cast<const uint8_t*>(sluiceGetFilterParameters(plan, &size));
    REQUIRE(count == 1);
    REQUIRE(found->filterOffset == 4);
    CHECK(found->doubtful == 0); // forced
    const uint8_t* description = static_cast<const uint8_t*>(found->description);
    made.description.assign(description, description + found->descriptionSize);
    made.parameters.assign(parameters, parameters + size);
    sluiceDestroyFilterPlan(plan);
    return made;
}

} // namespace

TEST_CASE("archive: tiles are filtered, but for those that are stored")
{
    const FilteredRamp filter = filteredRamp();
    const Bytes& ramp = filter.ramp;
    Segmented asset;
    asset.add(ramp, gdeflate(9));
    asset.add(hard(100), gdeflate(9));
    asset.parameters = filter.parameters;
    Bytes plain, file;
    REQUIRE(asset.pack(plain) == SLUICE_OK);
    for (SluiceArchiveSegment& segment : asset.segments) {
        segment.filterOffset = 4;
    }
    REQUIRE(asset.pack(file) == SLUICE_OK);
    const std::vector<SluiceArchiveTile> tiles = tilesOf(file);
    CHECK(tiles[0].filterOffset == 4);
    CHECK(tiles[1].filterOffset == 0); // stored
    CHECK(tiles[0].storedSize < tilesOf(plain)[0].storedSize);
    CHECK(tiles[0].checksum == sluiceTileChecksum(ramp.data(), ramp.size()));
    SluiceContext context = nullptr;
    REQUIRE(sluiceCreateCpuContext(&context) == SLUICE_OK);
    Bytes decoded =
        decodeGdeflate(context, file.data() + onlyAsset(file).offset + tiles[0].offset, tiles[0]);
    Bytes undone(decoded.size());
    REQUIRE(sluiceUndoFilter(filter.description.data(), filter.description.size(), decoded.data(),
                             undone.data(), undone.size()) == SLUICE_OK);
    CHECK(undone == ramp);
    sluiceDestroyContext(context);

    // A reader must refuse other descriptions: of a newer version, damaged, or cut off.
    const auto changed = [&](size_t at, uint8_t value) {
        Editable archive(file);
        archive.file[archive.index + assetBytes + 4 + at] = value;
        archive.seal();
        tilesOf(archive.file, at == 8 ? SLUICE_ERROR_VERSION : SLUICE_ERROR_FORMAT);
    };
    changed(8, 2);                                      // version
    changed(10, 0);                                     // no section
    changed(4, uint8_t(filter.description.size() + 4)); // more than there is
}

namespace {

// Returns words of one to five letters in random order, which differences of records only make
// larger.
Bytes shortWords()
{
    Bytes words;
    std::mt19937 random = makeRandom(58);
    while (words.size() < 65536) {
        const char* const word = std::array<const char*, 7>{
            "a ", "of ", "the ", "gate ", "water ", "flows ", "lock "}[random() % 7];
        words.insert(words.end(), word, word + std::strlen(word));
    }
    words.resize(65536);
    return words;
}

// Returns a parameter block with one more item, of an unknown kind.
Bytes withUnknownItem(Bytes block)
{
    const Bytes unknownItem = {9, 0, 0, 0, 2, 0, 0, 0, 1, 2, 0, 0};
    block.insert(block.end(), unknownItem.begin(), unknownItem.end());
    return block;
}

} // namespace

TEST_CASE("archive: filters on trial stay where they pay")
{
    const FilteredRamp filter = filteredRamp();
    const Bytes words = shortWords();
    const auto packed = [&](const std::vector<Bytes>& parts, uint32_t filterOffset, uint32_t trial,
                            const Bytes& parameters, SluiceCodec codec = SLUICE_CODEC_GSTD) {
        Segmented asset;
        for (const Bytes& part : parts) {
            SluiceArchiveSegment segment = {0, codec, 65536, 9, 0, filterOffset, 0, 4, trial};
            asset.add(part, segment);
        }
        asset.parameters = parameters;
        Bytes one, two;
        REQUIRE(asset.pack(one) == SLUICE_OK);
        REQUIRE(asset.pack(two, 3) == SLUICE_OK);
        CHECK(one == two);
        return one;
    };
    const auto filters = [](const Bytes& file) {
        std::vector<uint32_t> offsets;
        for (const SluiceArchiveTile& tile : tilesOf(file))
            offsets.push_back(tile.filterOffset);
        return offsets;
    };
    const Bytes& block = filter.parameters;
    CHECK(packed({filter.ramp}, 4, 1, block) == packed({filter.ramp}, 4, 0, block));
    CHECK(packed({words}, 4, 1, block) == packed({words}, 0, 0, {}));
    CHECK((filters(packed({words}, 4, 0, block)) == std::vector<uint32_t>{4}));
    const Bytes both = packed({words, filter.ramp}, 4, 1, block);
    CHECK((filters(both) == std::vector<uint32_t>{0, 4}));
    CHECK(both.size() < packed({words, filter.ramp}, 4, 0, block).size());
    const Bytes more = withUnknownItem(block);
    const Bytes kept = packed({words}, 4, 1, more);
    CHECK((filters(kept) == std::vector<uint32_t>{0}));
    CHECK(onlyAsset(kept).parameterSize == more.size());

    // A tile that no encoding makes smaller counts with its plain size: a filter must not be chosen
    // because the encoding without it would be even larger.
    for (uint32_t rampWords = 4; rampWords < 80; rampWords += 4) {
        CAPTURE(rampWords);
        Bytes noise = hard(4096);
        for (uint32_t i = 0; i < rampWords; ++i) {
            storeLe32(&noise[2048 + 4 * size_t(i)], i * i * 77);
        }
        const std::vector<Bytes> noisy(4, noise);
        for (const SluiceCodec codec : {SLUICE_CODEC_GSTD, SLUICE_CODEC_GDEFLATE}) {
            CHECK(packed(noisy, 4, 1, block, codec).size() <=
                  packed(noisy, 0, 0, {}, codec).size());
        }
    }

    // Matches that the caller gives are those of the unfiltered bytes. Repeated noise has long
    // matches with and without the filter.
    const Bytes noise = hard(1024);
    Bytes repeats;
    while (repeats.size() < 65536)
        repeats.insert(repeats.end(), noise.begin(), noise.end());
    CHECK((filters(packed({repeats}, 4, 1, block)) == std::vector<uint32_t>{0}));
    Segmented matched;
    matched.add(repeats, {0, SLUICE_CODEC_GSTD, 65536, 9, 0, 4, 0, 4, 1});
    matched.parameters = block;
    Bytes with;
    const SluiceArchiveWriterInfo single = {
        SLUICE_CODEC_STORE, 0, 0, 1, writeMemory, &with, 0, 0, nullptr, 0, 0};
    SluiceArchiveWriter knowing = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&single, &knowing) == SLUICE_OK);
    MemorySource source = {repeats};
    const auto noMatches = [](void*, uint64_t, uint32_t, SluiceGstdMatch*, uint32_t* count) {
        *count = 0;
        return SLUICE_OK;
    };
    const SluiceArchiveAssetInfo known = {"asset",
                                          5,
                                          0,
                                          repeats.size(),
                                          MemorySource::read,
                                          &source,
                                          matched.segments.data(),
                                          1,
                                          uint32_t(block.size()),
                                          block.data(),
                                          noMatches};
    CHECK(sluiceAddArchiveAsset(knowing, &known) == SLUICE_OK);
    CHECK(sluiceFinishArchive(knowing, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(knowing);
    // The caller says that the plain bytes have no matches, so the filter wins: for filtered bytes
    // the encoder searches itself.
    CHECK((filters(with) == std::vector<uint32_t>{4}));
}

TEST_CASE("archive: parameters stay where a tile or anybody else wants them")
{
    // Assets a, c, d and e come with the same block, which only c and d keep: their tiles get
    // smaller by its filter. Asset b keeps its own, since that has an item for somebody else.
    const FilteredRamp filter = filteredRamp();
    const Bytes words = shortWords(), &block = filter.parameters, more = withUnknownItem(block);
    Bytes archive;
    const SluiceArchiveWriterInfo info = {
        SLUICE_CODEC_STORE, 0, 0, 2, writeMemory, &archive, 0, 0, nullptr, 0, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    const auto add = [&](const char* name, const Bytes& bytes, const Bytes& parameters) {
        Segmented asset;
        asset.add(bytes, {0, SLUICE_CODEC_GSTD, 65536, 9, 0, 4, 0, 4, 1});
        asset.parameters = parameters;
        CHECK(asset.addTo(writer, name) == SLUICE_OK);
    };
    add("a", words, block);
    add("b", words, more);
    add("c", filter.ramp, block);
    add("d", filter.ramp, block);
    add("e", words, block);
    CHECK(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    SluiceArchive parsed;
    REQUIRE(sluiceParseArchiveHeader(archive.data(), 64, archive.size(), &parsed) == SLUICE_OK);
    const Bytes wanted[] = {{}, more, block, block, {}};
    for (uint32_t i = 0; i < 5; ++i) {
        SluiceArchiveAsset asset;
        REQUIRE(sluiceGetArchiveAsset(&parsed, archive.data() + parsed.indexOffset,
                                      size_t(parsed.indexSize), i, &asset) == SLUICE_OK);
        const uint8_t* bytes = static_cast<const uint8_t*>(asset.parameters);
        CHECK(Bytes(bytes, bytes + asset.parameterSize) == wanted[i]);
    }
}

TEST_CASE("archive: a reader with memory checks each description of a filter once")
{
    // There are two filters. The records of four stored tiles name them alternately.
    PackedAsset filtered;
    filtered.add(Bytes(64, 1), SLUICE_CODEC_STORE, 64, true);
    Bytes parameters = filtered.parameters;
    const uint32_t second = uint32_t(parameters.size());
    parameters.insert(parameters.end(), filtered.parameters.begin(), filtered.parameters.end());
    Bytes records(size_t(4) * recordBytes);
    SluiceArchiveAsset asset = {};
    asset.size = asset.tilesSize = 16;
    asset.tileCount = 4;
    asset.tileSizeLog2 = SLUICE_ARCHIVE_MIN_TILE_LOG2;
    asset.extentSize = records.size() + 64;
    asset.tileParameters = parameters.data();
    asset.tileParameterSize = uint32_t(parameters.size());
    for (uint32_t i = 0; i < 4; ++i) {
        uint8_t* record = records.data() + i * recordBytes;
        storeLe64(record + recordOffset, records.size() + 16 * i);
        storeLe32(record + recordStoredSize, 4);
        storeLe32(record + recordSizeAndCodec, 4);
        storeLe32(record + recordFilterOffset, 4 + i % 2 * second);
    }
    asset.tileChecksum = xxh32(records.data(), records.size(), 0);
    for (const bool remembers : {false, true}) {
        CAPTURE(remembers);
        Bytes changed = parameters, memory(parameters.size() / 4);
        asset.tileParameters = changed.data();
        SluiceArchiveTileReader reader = {};
        SluiceArchiveTile tiles[2];
        REQUIRE(sluiceBeginArchiveTiles(&asset, &reader) == SLUICE_OK);
        if (remembers) {
            CHECK(sluiceRememberArchiveFilters(&reader, nullptr, 100) == SLUICE_ERROR_ARGUMENT);
            CHECK(sluiceRememberArchiveFilters(&reader, memory.data(), memory.size() - 1) ==
                  SLUICE_ERROR_ARGUMENT);
            CHECK(sluiceRememberArchiveFilters(&reader, memory.data(), memory.size()) == SLUICE_OK);
        }
        REQUIRE(sluiceParseArchiveTiles(&reader, records.data(), 2 * recordBytes, 2, tiles) ==
                SLUICE_OK);
        CHECK(sluiceRememberArchiveFilters(&reader, memory.data(), memory.size()) ==
              SLUICE_ERROR_ARGUMENT);                             // too late
        std::fill(changed.begin(), changed.end(), uint8_t(0xff)); // so that a check would fail
        CHECK(sluiceParseArchiveTiles(&reader, records.data() + 2 * recordBytes, 2 * recordBytes, 2,
                                      tiles) == (remembers ? SLUICE_OK : SLUICE_ERROR_FORMAT));
    }
}

namespace {

// Returns the tile as an encoder encodes it that was made for this segment alone.
Bytes encodedAlone(const SluiceArchiveSegment& segment, const Bytes& tile)
{
    Bytes out(std::max(sluiceGdeflateTileBound(tile.size()), sluiceGstdTileBound(tile.size())));
    size_t size = 0;
    if (segment.codec == SLUICE_CODEC_GDEFLATE) {
        const SluiceGdeflateEncoderInfo info = {segment.level, segment.decodeSpeed};
        SluiceGdeflateEncoder encoder = nullptr;
        REQUIRE(sluiceCreateGdeflateEncoder(&info, &encoder) == SLUICE_OK);
        CHECK(sluiceEncodeGdeflateTile(encoder, tile.data(), tile.size(), out.data(), out.size(),
                                       &size) == SLUICE_OK);
        sluiceDestroyGdeflateEncoder(encoder);
    } else {
        const SluiceGstdEncoderInfo info = {segment.level, segment.copyDepth};
        SluiceGstdEncoder encoder = nullptr;
        REQUIRE(sluiceCreateGstdEncoder(&info, &encoder) == SLUICE_OK);
        CHECK(sluiceEncodeGstdTile(encoder, tile.data(), tile.size(), out.data(), out.size(),
                                   &size) == SLUICE_OK);
        sluiceDestroyGstdEncoder(encoder);
    }
    out.resize(size);
    return out;
}

// Returns text of few words, with copies of copies.
Bytes words(size_t size)
{
    std::mt19937 random = makeRandom(91);
    Bytes bytes;
    while (bytes.size() < size) {
        if (bytes.size() > 64 && random() % 4 != 0) {
            const size_t from = bytes.size() - 1 - random() % std::min<size_t>(bytes.size(), 300);
            for (size_t i = 0, length = 3 + random() % 20; i < length; ++i)
                bytes.push_back(bytes[from + i]);
        } else {
            bytes.push_back(uint8_t('a' + random() % 26));
        }
    }
    bytes.resize(size);
    return bytes;
}

} // namespace

TEST_CASE("archive: threads that keep their encoders follow the level, speed and depth of segments")
{
    const Bytes tile = words(12000);
    Segmented asset;
    const auto add = [&](uint32_t codec, uint32_t level, uint32_t decodeSpeed, uint32_t depth) {
        SluiceArchiveSegment segment = {};
        segment.codec = SluiceCodec(codec);
        segment.tileSize = 65536;
        segment.level = level;
        segment.decodeSpeed = decodeSpeed;
        segment.copyDepth = depth;
        asset.add(tile, segment);
    };
    for (uint32_t repeat = 0; repeat < 2; ++repeat) {
        // Each call differs from the one before in one argument.
        add(SLUICE_CODEC_GDEFLATE, 1, 0, 0);
        add(SLUICE_CODEC_GDEFLATE, 9, 0, 0);
        add(SLUICE_CODEC_GDEFLATE, 9, 6, 0);
        add(SLUICE_CODEC_GSTD, 9, 0, 1);
        add(SLUICE_CODEC_GSTD, 9, 0, 8);
        add(SLUICE_CODEC_GSTD, 2, 0, 8);
    }
    std::vector<Bytes> expected;
    for (const SluiceArchiveSegment& segment : asset.segments) {
        expected.push_back(encodedAlone(segment, tile));
        if (expected.size() > 1) CHECK(expected.back() != expected[expected.size() - 2]);
    }
    for (const uint32_t threads : {1u, 2u, 9u}) {
        CAPTURE(threads);
        Bytes file;
        REQUIRE(asset.pack(file, threads) == SLUICE_OK);
        const std::vector<SluiceArchiveTile> tiles = tilesOf(file);
        REQUIRE(tiles.size() == expected.size());
        for (size_t i = 0; i < tiles.size(); ++i) {
            CAPTURE(i);
            const auto begin =
                file.begin() + std::ptrdiff_t(onlyAsset(file).offset + tiles[i].offset);
            CHECK(Bytes(begin, begin + std::ptrdiff_t(tiles[i].storedSize)) == expected[i]);
        }
    }
}
