// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests values at the edges of ranges that no other test reaches: the largest that is allowed, and
// the first that is not.
#include "tests/support/arguments.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <sluice/sluice_cuda.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_formats.h>
#include <sluice/sluice_fse.h>
#include <sluice/sluice_interval.h>
#include <sluice/sluice_tile_streams.h>

#include "formats/df11_form.h"
#include "api/plan_filter.h"
#include "api/plan_float.h"
#include "api/plan_fse.h"
#include "api/plan_gstd.h"
#include "api/plan_tiles.h"
#include "formats/archive_layout.h"
#include "formats/float_format.h"
#include "formats/image.h"
#include "layout/gdeflate.h"

using namespace sluice;
using namespace sluice::test;

namespace {

uint64_t noAddress(const SluiceBuffer&) { return 0; }

} // namespace

TEST_CASE("edges: arguments of requirements and contexts")
{
    Cpu cpu;
    SluiceRequirements requirements = {};
    SluiceTileStreamsInfo streams = {};
    streams.maxStreamCount = 65536;
    CHECK(sluiceGetTileStreamsRequirements(cpu.context, &streams, &requirements) == SLUICE_OK);
    streams.maxStreamCount = 65537;
    CHECK(sluiceGetTileStreamsRequirements(cpu.context, &streams, &requirements) ==
          SLUICE_ERROR_ARGUMENT);

    SluicePipelinesInfo pipelines = {};
    pipelines.kernels = SLUICE_KERNELS_GSTD;
    CHECK(sluiceCreatePipelines(cpu.context, &pipelines, nullptr) == SLUICE_OK);
    pipelines.kernels = SLUICE_KERNELS_UASTC * 2u;
    CHECK(sluiceCreatePipelines(cpu.context, &pipelines, nullptr) == SLUICE_ERROR_ARGUMENT);

    SluiceContext context = cpu.context;
    CHECK(sluiceCreateCpuContextOfTier("slow", &context) == SLUICE_ERROR_ARGUMENT);
    CHECK(context == nullptr);
    CHECK(sluiceCreateCpuContextOfTier("fast", nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCreateCudaContextWithInfo(nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
#ifndef SLUICE_HAVE_CUDA
    context = cpu.context;
    CHECK(sluiceCreateCudaContext(0, &context) == SLUICE_ERROR_UNSUPPORTED);
    CHECK(context == nullptr);
#endif
}

TEST_CASE("edges: float types and sizes")
{
    CHECK(sluiceFloatRawSize(SLUICE_FLOAT_TYPE_COUNT, 1) == 0);
    for (uint32_t type = 0; type < SLUICE_FLOAT_TYPE_COUNT; ++type) {
        CAPTURE(type);
        CHECK(sluiceFloatRawSize(type, floats::kMaxCount) ==
              floats::rawBytes(floats::layoutOf(type), floats::kMaxCount));
        CHECK(sluiceFloatRawSize(type, floats::kMaxCount + 1) == 0);
    }
    CHECK(floats::wholeRows(floats::kTailRows) == 0);
    CHECK(floats::wholeRows(floats::kTailRows + 1) == 1);
}

TEST_CASE("edges: sums and products of sizes")
{
    uint64_t result = 1;
    CHECK(add(7, 0, result));
    CHECK(result == 7);
    CHECK(add(UINT64_MAX - 1, 1, result));
    CHECK_FALSE(add(UINT64_MAX, 1, result));
    CHECK(multiply(0, UINT64_MAX, result));
    CHECK(multiply(UINT64_MAX, 1, result));
    CHECK_FALSE(multiply(uint64_t(1) << 32, uint64_t(1) << 32, result));
}

TEST_CASE("edges: a table of tile streams that is not there")
{
    SluiceTileStream stream = {};
    stream.tileCount = 1;
    stream.dataOffset = 12;
    const uint32_t word = 0;
    SluiceTileStreamTile tile = {};
    CHECK(sluiceParseTileStreamTable(&stream, nullptr, 4, 100, &tile) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceParseTileStreamTable(&stream, &word, 4, 100, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceParseTileStreamTable(nullptr, &word, 4, 100, &tile) == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("edges: the largest compressed tile of a tile stream")
{
    SluiceTileStream stream = {};
    stream.tileCount = 1;
    stream.dataOffset = 12;
    stream.size = 65536;
    for (const bool over : {false, true}) {
        const uint32_t size = SLUICE_GD_MAX_COMPRESSED + (over ? 1 : 0);
        SluiceTileStreamTile tile = {};
        CHECK(sluiceParseTileStreamTable(&stream, &size, 4, 12 + uint64_t(size), &tile) ==
              (over ? SLUICE_ERROR_FORMAT : SLUICE_OK));
        if (!over) CHECK(tile.compressedSize == size);
    }
}

TEST_CASE("edges: how plans share tiles out")
{
    // Tiles are divided evenly among the workgroups.
    CHECK(floatTilesPerWorkgroup(10, 4, 8, 5) == 2);
    CHECK(floatTilesPerWorkgroup(11, 4, 8, 5) == 3);
    CHECK(floatTilesPerWorkgroup(0, 4, 8, 5) == 1);
    CHECK(floatTilesPerWorkgroup(1000, 4, 8, 5) == 32);

    SluiceFseTablesInfo tables = {};
    for (const auto& share : {std::pair<uint32_t, uint32_t>{0, 1}, {4, 2}, {5, 3}}) {
        CAPTURE(share.first);
        tables.maxRegionCount = share.first;
        CHECK(fseTablesParams(tables, noAddress, 2).tablesPerGroup == share.second);
    }
    FseTablesParams made = {};
    made.maxRegionCount = 4;
    made.tablesPerGroup = 2;
    CHECK(fseTablesGroups(made) == 2);
    made.maxRegionCount = 5;
    CHECK(fseTablesGroups(made) == 3);
    tables.maxRegionCount = 4;
    tables.flags = SLUICE_FSE_COUNTS; // tables from counts are built one at a time
    CHECK(fseTablesParams(tables, noAddress, 1).tablesPerGroup == 1);

    // Turns overlap from two slots on, if one turn does not take all tiles.
    GstdParams tiles = {};
    tiles.maxRegionCount = 3;
    CHECK(GstdTurns(tiles, 2).overlapping());
    CHECK(GstdTurns(tiles, 2).count() == 3);
    CHECK_FALSE(GstdTurns(tiles, 3).overlapping());
    CHECK(GstdTurns(tiles, 3).count() == 1);
    CHECK_FALSE(GstdTurns(tiles, 1).overlapping());

    SluiceGstdInfo decode = {};
    decode.maxRegionCount = 100000;
    CHECK(gstdSlots(decode) == SLUICE_GS_SLOTS);
    decode.tilesAtOnce = 5;
    CHECK(gstdSlots(decode) == 5);
    decode.maxRegionCount = 3;
    CHECK(gstdSlots(decode) == 3);

    SluiceFilterInfo filters = {};
    filters.maxTileCount = 3;
    CHECK(filterWorkgroups(filters) == 3);
    filters.maxTileCount = 1u << 20;
    CHECK(filterWorkgroups(filters) == SLUICE_FILTER_WORKGROUPS);

    SluiceDf11Unit unit = {};
    unit.kind = SLUICE_DF11_FP8_E4M3;
    unit.elementCount = 7; // two elements are in each byte
    CHECK(df11SignMantissaBytes(unit) == 4);
    unit.kind = SLUICE_DF11_BF16;
    CHECK(df11SignMantissaBytes(unit) == 7);
}

TEST_CASE("edges: lists of a batch of tiles that end where the next begins")
{
    for (const uint32_t count : {3u, 4u}) { // firstParts has count + 1 entries: 16 or 20 bytes
        CAPTURE(count);
        SluiceTileTotals totals = {};
        totals.counts[kFloatKind][0] = totals.parts[kFloatKind][0] = count;
        totals.counts[kLargeKind][0] = totals.parts[kLargeKind][0] = 1;
        const TilesLayout layout = layoutOf(totals, SLUICE_TILES_UNCHECKED);
        CHECK(layout.lists[kLargeKind][0].status - layout.lists[kFloatKind][0].firstParts ==
              (count == 3 ? 16 : 32));
    }
}

TEST_CASE("edges: the most levels of an image")
{
    CHECK(maxImageLevels(1, 1, 0) == 1);
    CHECK(maxImageLevels(2, 1, 0) == 2);
    CHECK(maxImageLevels(255, 3, 0) == 8);
    CHECK(maxImageLevels(3, 256, 0) == 9);
    CHECK(maxImageLevels(1, 1, 5) == 3);
}

TEST_CASE("edges: to the reference an interval whose offsets descend is empty")
{
    Cpu cpu;
    auto* words = reinterpret_cast<uint32_t*>(cpu.memory);
    const uint32_t offsets[] = {0, 5, 3}, values[] = {7, 9};
    std::copy(std::begin(offsets), std::end(offsets), words + 4);
    std::copy(std::begin(values), std::end(values), words + 16);
    SluiceIntervalExpandInfo info = {};
    info.elementSize = 4;
    info.intervals.maxCount = 2;
    info.intervals.offsets = cpu.range(16, 12);
    info.values = cpu.range(64, 8);
    info.destination = cpu.range(128, 48);
    REQUIRE(sluiceCmdIntervalExpand(cpu.context, nullptr, &info) == SLUICE_OK);
    for (uint32_t i = 0; i < 12; ++i) {
        CAPTURE(i);
        CHECK(words[32 + i] == (i < 5 ? 7u : 0u));
    }
}

TEST_CASE("edges: what the header of an archive may say of a packed index")
{
    struct Header {
        uint32_t assets = 2, shares = 2, block = 0, names = 0, coded = 16;
        uint64_t stored = 1;
    };
    const auto parse = [](const Header& is) {
        uint8_t bytes[headerBytes] = {};
        std::memcpy(bytes, kArchiveMagic, sizeof kArchiveMagic);
        bytes[headerVersionMajor] = kArchiveVersionShared;
        storeLe32(bytes + headerAssetCount, is.assets);
        storeLe64(bytes + headerFileSize, headerBytes + is.stored);
        storeLe64(bytes + headerIndexOffset, headerBytes);
        storeLe32(bytes + headerBlockBytes, is.block);
        storeLe32(bytes + headerNameBytes, is.names);
        storeLe32(bytes + headerShareCount, is.shares);
        storeLe32(bytes + headerCodedBytes, is.coded);
        storeLe32(bytes + headerChecksum, xxh32(bytes, headerChecksum, 0));
        SluiceArchive archive = {};
        return sluiceParseArchiveHeader(bytes, sizeof bytes, headerBytes + is.stored, &archive);
    };
    constexpr uint32_t name = SLUICE_ARCHIVE_MAX_NAME_LENGTH, most = kMaxCodedBytes,
                       ratio = kMaxIndexRatio;
    const Header good[] = {{},
                           {2, 1},
                           {2, 2, 16},
                           {2, 2, 0, 3 * name - 1},
                           {2, 2, 0, 0, ratio},
                           {2, 2, 0, 0, most, most / ratio},
                           {2, 2, 0, 0, most, uint64_t(most) + most / 2}};
    const Header bad[] = {{2, 3},
                          {2, 0},
                          {2, 2, 20},
                          {2, 2, 0, 3 * name},
                          {2, 2, 0, 0, 15}, // 4 entries take 16 bytes
                          {2, 2, 0, 0, ratio + 1},
                          {2, 2, 0, 0, most + 1, most},
                          {2, 2, 0, 0, most, uint64_t(most) + most / 2 + 1}};
    for (const Header& header : good) {
        CAPTURE(&header - good);
        CHECK(parse(header) == SLUICE_OK);
    }
    for (const Header& header : bad) {
        CAPTURE(&header - bad);
        CHECK(parse(header) == SLUICE_ERROR_FORMAT);
    }
}
