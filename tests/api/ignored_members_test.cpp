// SPDX-License-Identifier: MIT OR Apache-2.0
// What a header calls ignored, and what it says is not read, changes nothing: every such member of
// every command holds what a hostile or careless caller may leave there, and the command gives the
// same results and statuses, between guard zones that stay whole.
#include "tests/support/ignored.h"
#include "tests/support/intervals.h"
#include "tests/support/packed_archives.h"
#include "tests/support/range_subjects.h"
#include "tests/support/short_runs.h"
#include "tests/support/uastc.h"
#include "tests/support/zstd_regions.h"

#include <sluice/sluice_compact.h>
#include <sluice/sluice_df11.h>
#include <sluice/sluice_filter.h>
#include <sluice/sluice_float.h>
#include <sluice/sluice_gdeflate.h>
#include <sluice/sluice_gstd.h>
#include <sluice/sluice_interval.h>
#include <sluice/sluice_scan.h>
#include <sluice/sluice_tile_streams.h>
#include <sluice/sluice_tiles.h>
#include <sluice/sluice_zstd.h>

#include <set>

using namespace sluice::test;

namespace {

constexpr uint32_t kCount = 1000;

// Everything that a command made: what its destinations hold.
using Made = std::vector<Words>;

Words countingWords(uint32_t count)
{
    Words words(count);
    std::iota(words.begin(), words.end(), 0u);
    return words;
}

SluiceCompactInfo compactInfo(SluiceCompactTest test, uint64_t value)
{
    SluiceCompactInfo info = {};
    info.test = test;
    info.maxCount = kCount;
    info.count = info.output = info.indices = info.resultCount = info.argument = absentRange(value);
    info.argumentDivisor = info.argumentLimit = uint32_t(value);
    info.scratch = unreadRange(value);
    if (test == SLUICE_COMPACT_COMPARE) return info;
    info.comparison = unreadValue<SluiceComparison>(value);
    info.type = unreadValue<SluiceValueType>(value);
    info.constant = value;
    return info;
}

// The indices of one element in four: those with an even number are not chosen, nor every other one
// of the rest.
Made compactWithoutElements(SluiceCompactTest test, uint64_t value)
{
    const Words chosen(test == SLUICE_COMPACT_MASK ? 32 : kCount / 4,
                       test == SLUICE_COMPACT_MASK ? 0x88888888u : 0x01000000u);
    Buffer selectors(device(), chosen), indices(device(), kCount), result(device(), 4);
    SluiceCompactInfo info = compactInfo(test, value);
    info.elementSize = uint32_t(value);
    info.input = unreadRange(value);
    info.selectors = selectors.range();
    info.indices = indices.range();
    info.resultCount = result.range();
    runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
    Made made = {indices.words(), result.words()};
    CHECK((made[1] == Words{kCount / 4}));
    CHECK(made[0][1] == 7);
    return made;
}

// What is not zero, of elements that have their index as value.
Made compactOfElements(SluiceCompactTest test, uint64_t value)
{
    Buffer input(device(), countingWords(kCount)), output(device(), kCount * 4);
    SluiceCompactInfo info = compactInfo(test, value);
    info.comparison = test == SLUICE_COMPACT_COMPARE ? SLUICE_COMPARE_NOT_EQUAL : info.comparison;
    info.elementSize = 4;
    info.input = input.range();
    info.selectors = unreadRange(value);
    info.output = output.range();
    runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
    Made made = {output.words()};
    CHECK(made[0][1] == (test == SLUICE_COMPACT_UNIQUE ? 1 : 2));
    return made;
}

Made scan(SluiceValueType type, uint64_t value)
{
    Buffer input(device(), Words(kCount, 3)), output(device(), kCount * 4);
    SluiceScanInfo info = {};
    info.kind = SLUICE_SCAN_INCLUSIVE;
    info.type = type;
    info.operation = SLUICE_OPERATION_MAX;
    info.maxCount = type == SLUICE_VALUE_U64 ? kCount / 2 : kCount;
    info.count = info.heads = info.total = absentRange(value);
    info.input = input.range();
    info.output = output.range();
    info.scratch = unreadRange(value);
    runWithScratch(device(), info, sluiceGetScanRequirements, sluiceCmdScan);
    CHECK((output.words() == Words(kCount, 3)));
    return {output.words()};
}

Made reduce(uint64_t value)
{
    Buffer input(device(), countingWords(kCount)), result(device(), 4);
    SluiceReduceInfo info = {};
    info.maxCount = kCount;
    info.count = absentRange(value);
    info.input = input.range();
    info.result = result.range();
    info.scratch = unreadRange(value);
    runWithScratch(device(), info, sluiceGetReduceRequirements, sluiceCmdReduce);
    CHECK((result.words() == Words{kCount * (kCount - 1) / 2}));
    return {result.words()};
}

// Runs a command on intervals, as counts or as offsets, which need no scratch.
template <typename Info>
void runIntervals(Info info, bool asOffsets, uint64_t value,
                  SluiceStatus (*command)(SluiceContext, SluiceCommands, const Info*))
{
    const Words& counts = demo::kMoveCounts;
    Buffer list(device(), asOffsets ? offsetsOf(counts) : counts);
    info.intervals.maxCount = uint32_t(counts.size());
    info.intervals.count = info.intervals.counts = info.intervals.offsets = info.result =
        absentRange(value);
    (asOffsets ? info.intervals.offsets : info.intervals.counts) = list.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetIntervalRequirements(device().context(), &info.intervals, &requirements) ==
            SLUICE_OK);
    Buffer scratch = makeScratch(device(), requirements);
    info.scratch = requirements.scratchSize != 0 ? scratch.range() : unreadRange(value);
    device().run([&](SluiceCommands commands) {
        REQUIRE(command(device().context(), commands, &info) == SLUICE_OK);
    });
    scratch.bytes(); // its guards are whole
}

Made move(SluiceIntervalMoveKind kind, bool asOffsets, uint64_t value)
{
    Buffer gather(device(), demo::kMoveGather), scatter(device(), demo::kMoveScatter);
    Buffer source(device(), countingWords(100)), destination(device(), 400);
    SluiceIntervalMoveInfo info = {};
    info.kind = kind;
    info.elementSize = info.positionSize = 4;
    info.gather = kind == SLUICE_INTERVAL_SCATTER ? unreadRange(value) : gather.range();
    info.scatter = kind == SLUICE_INTERVAL_GATHER ? unreadRange(value) : scatter.range();
    info.source = source.range();
    info.destination = destination.range();
    runIntervals(info, asOffsets, value, sluiceCmdIntervalMove);
    Made made = {destination.words()};
    CHECK(made[0][kind == SLUICE_INTERVAL_GATHER ? 0 : demo::kMoveScatter[0]] ==
          (kind == SLUICE_INTERVAL_SCATTER ? 0 : demo::kMoveGather[0]));
    return made;
}

Made expand(bool asOffsets, uint64_t value)
{
    Buffer values(device(), demo::kMoveGather), destination(device(), 400);
    SluiceIntervalExpandInfo info = {};
    info.elementSize = 4;
    info.values = values.range();
    info.destination = destination.range();
    runIntervals(info, asOffsets, value, sluiceCmdIntervalExpand);
    CHECK(destination.words()[99] == demo::kMoveGather.back());
    return {destination.words()};
}

// Either of the two outputs may be absent.
Made search(bool ranks, bool asOffsets, uint64_t value)
{
    Buffer output(device(), 400);
    SluiceIntervalSearchInfo info = {};
    info.sources = ranks ? absentRange(value) : output.range();
    info.ranks = ranks ? output.range() : absentRange(value);
    runIntervals(info, asOffsets, value, sluiceCmdIntervalSearch);
    CHECK(output.words()[99] ==
          (ranks ? demo::kMoveCounts.back() - 1 : uint32_t(demo::kMoveCounts.size()) - 1));
    return {output.words()};
}

Made bulk(bool insert, uint64_t value)
{
    Buffer indices(device(), Words{1, 3}), source(device(), countingWords(6)),
        inserted(device(), Words{70, 71}), destination(device(), 32);
    SluiceBulkInfo info = {};
    info.elementSize = 4;
    info.maxItemCount = 6;
    info.maxIndexCount = 2;
    info.itemCount = info.indexCount = info.result = absentRange(value);
    info.indices = indices.range();
    info.source = source.range();
    info.inserted = insert ? inserted.range() : unreadRange(value);
    info.destination = destination.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE((insert ? sluiceCmdBulkInsert : sluiceCmdBulkRemove)(device().context(), commands,
                                                                     &info) == SLUICE_OK);
    });
    Made made = {destination.words()};
    const Words expected =
        insert ? Words{0, 70, 1, 2, 71, 3, 4, 5}
               : Words{0, 2, 4, 5, kPoisonWord, kPoisonWord, kPoisonWord, kPoisonWord};
    CHECK((made[0] == expected));
    return made;
}

// Decodes and undoes filters of a list without tiles: it needs no scratch, and what is not there
// has no place.
Made nothing(bool filter, uint64_t value)
{
    Buffer status(device(), 8);
    SluiceGstdInfo decode = {};
    decode.regionStride = sizeof(SluiceRegion);
    decode.regions = decode.regionCount = decode.source = decode.destination = decode.expected =
        absentRange(value);
    decode.status = status.range();
    decode.scratch = unreadRange(value);
    SluiceFilterInfo undo = {};
    undo.maxTileSize = 4;
    undo.tiles = undo.tileCount = undo.descriptions = undo.source = undo.destination =
        absentRange(value);
    undo.status = status.range();
    undo.scratch = unreadRange(value);
    SluiceRequirements required = {};
    REQUIRE(sluiceGetFilterRequirements(device().context(), &undo, &required) == SLUICE_OK);
    Buffer scratch = makeScratch(device(), required);
    if (required.scratchSize != 0) undo.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        SluiceContext context = device().context();
        REQUIRE((filter ? sluiceCmdGstdFilter(context, commands, &decode, &undo)
                        : sluiceCmdGstd(context, commands, &decode)) == SLUICE_OK);
    });
    return {status.words()};
}

// Decodes a list without regions, which needs no scratch.
Made zstdResult(uint64_t value)
{
    Buffer status(device(), Bytes(8, 0xee));
    SluiceZstdInfo info = {};
    info.regionStride = sizeof(SluiceRegion);
    info.maxRegionSize = 65536;
    info.regions = info.regionCount = info.source = info.destination = absentRange(value);
    info.status = status.range();
    info.scratch = unreadRange(value);
    needZstd(device());
    SluiceRequirements requirements = {1, 1, 1};
    REQUIRE(sluiceGetZstdRequirements(device().context(), &info, &requirements) == SLUICE_OK);
    CHECK(requirements.scratchSize == 0);
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdZstd(device().context(), commands, &info) == SLUICE_OK);
    });
    return {status.words()};
}

Made uastcResult(uint64_t value)
{
    Buffer status(device(), Bytes(8, 0xee));
    SluiceUastcInfo info = {};
    info.regionStride = sizeof(SluiceUastcRegion);
    info.maxRegionBlocks = 64;
    info.format = 145;
    info.regions = info.regionCount = info.source = info.destination = info.invalid =
        absentRange(value);
    info.status = status.range();
    info.scratch = unreadRange(value);
    needUastc(device());
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdUastc(device().context(), commands, &info) == SLUICE_OK);
    });
    return {status.words()};
}

Made subjectResult(const Subject& subject, uint64_t value)
{
    Buffer source(device(), subject.source.empty() ? Bytes(16) : subject.source);
    Buffer destination(device(), subject.before.empty()
                                     ? Bytes(subject.expected.size(), Buffer::kPoison)
                                     : subject.before);
    Placement at = {};
    at.sourceAddress = source.address();
    at.destinationAddress = destination.address();
    at.source = subject.source.empty() ? SluiceBuffer{} : source.range();
    at.destination = destination.range();
    at.ignored = value;
    Made made = {subject.run(device(), at)};
    CHECK((made[0] == Words(made[0].size(), SLUICE_TILE_OK)));
    CHECK((destination.bytes() == subject.expected));
    return made;
}

// What the requirements of a command are when everything that they do not read holds a value.
// setRead sets what they read.
template <typename Info, typename SetRead>
void checkRequirements(const char* name,
                       SluiceStatus (*get)(SluiceContext, const Info*, SluiceRequirements*),
                       const SetRead& setRead)
{
    checkIgnored(name, [&](uint64_t value) {
        Info info;
        static_assert(sizeof info % 8 == 0, "infos hold 64-bit members");
        for (size_t at = 0; at < sizeof info; at += 8)
            std::memcpy(reinterpret_cast<char*>(&info) + at, &value, 8);
        setRead(info);
        SluiceRequirements made = {};
        CHECK(get(device().context(), &info, &made) == SLUICE_OK);
        return std::vector<uint64_t>{made.scratchSize, made.scratchAlignment, made.zeroedScratch};
    });
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("ignored members: decoders, filters, checksums and interval moves")
{
    if (skipsOtherSizes()) return;
    std::set<std::string> seen; // a subject of each command, type and description is enough
    for (const Subject& subject : rangeSubjects())
        if (seen.insert(subject.name.substr(0, subject.name.find(','))).second)
            checkIgnored(subject.name.c_str(),
                         [&](uint64_t value) { return subjectResult(subject, value); });
    for (const bool filter : {false, true})
        checkIgnored("gstd without tiles", [&](uint64_t value) { return nothing(filter, value); });
    checkIgnored("zstd without regions", zstdResult);
    checkIgnored("uastc without regions", uastcResult);
}

TEST_CASE("ignored members: compactions, scans and reductions")
{
    if (skipsOtherSizes()) return;
    for (const SluiceCompactTest test : {SLUICE_COMPACT_BYTES, SLUICE_COMPACT_MASK})
        checkIgnored("compact without elements",
                     [&](uint64_t value) { return compactWithoutElements(test, value); });
    for (const SluiceCompactTest test :
         {SLUICE_COMPACT_COMPARE, SLUICE_COMPACT_NON_ZERO, SLUICE_COMPACT_UNIQUE})
        checkIgnored("compact of elements",
                     [&](uint64_t value) { return compactOfElements(test, value); });
    for (const SluiceValueType type :
         {SLUICE_VALUE_U32, SLUICE_VALUE_I32, SLUICE_VALUE_U64, SLUICE_VALUE_F32})
        checkIgnored("scan", [&](uint64_t value) { return scan(type, value); });
    checkIgnored("reduce", reduce);
}

TEST_CASE("ignored members: intervals and bulk operations")
{
    if (skipsOtherSizes()) return;
    for (const bool asOffsets : {false, true}) {
        for (const SluiceIntervalMoveKind kind :
             {SLUICE_INTERVAL_MOVE, SLUICE_INTERVAL_GATHER, SLUICE_INTERVAL_SCATTER})
            checkIgnored("move", [&](uint64_t value) { return move(kind, asOffsets, value); });
        checkIgnored("expand", [&](uint64_t value) { return expand(asOffsets, value); });
        for (const bool ranks : {false, true})
            checkIgnored("search", [&](uint64_t value) { return search(ranks, asOffsets, value); });
    }
    for (const bool insert : {false, true})
        checkIgnored("bulk", [&](uint64_t value) { return bulk(insert, value); });
}

TEST_CASE("ignored members: requirements read only what their comments name")
{
    checkRequirements("compact", sluiceGetCompactRequirements, [](SluiceCompactInfo& info) {
        info.elementSize = 8;
        info.maxCount = 100000;
    });
    checkIgnored("compact's elementSize", [](uint64_t value) {
        SluiceCompactInfo info = {};
        SluiceRequirements made = {};
        info.elementSize = value < 32 && value != 1 ? uint32_t(value) : 3; // no element's
        info.maxCount = 100000;
        CHECK(sluiceGetCompactRequirements(device().context(), &info, &made) == SLUICE_OK);
        return made.scratchSize;
    });
    const auto values = [](auto& info) {
        info.operation = SLUICE_OPERATION_SUM;
        info.type = SLUICE_VALUE_U64;
        info.maxCount = 100000;
    };
    checkRequirements<SluiceScanInfo>("scan", sluiceGetScanRequirements, values);
    checkRequirements<SluiceReduceInfo>("reduce", sluiceGetReduceRequirements, values);
    for (const uint64_t asOffsets : {0, 1})
        checkRequirements("intervals", sluiceGetIntervalRequirements, [&](SluiceIntervals& info) {
            info.maxCount = 100000;
            info.counts.size = (1 - asOffsets) * 400000;
            info.offsets.size = asOffsets * 400004;
        });
    const auto regions = [](auto& info) {
        info.maxRegionCount = 1000;
        info.flags = SLUICE_DECODE_STORED_IF_EQUAL;
    };
    checkRequirements<SluiceGdeflateInfo>("gdeflate", sluiceGetGdeflateRequirements, regions);
    checkRequirements("gstd", sluiceGetGstdRequirements, [&](SluiceGstdInfo& info) {
        regions(info);
        info.tilesAtOnce = 100;
        info.maxTileSize = 0;
    });
    checkRequirements("zstd", sluiceGetZstdRequirements, [](SluiceZstdInfo& info) {
        info.maxRegionCount = 1000;
        info.flags = 0;
        info.regionsAtOnce = 100;
        info.maxRegionSize = 65536;
        info.maxBlocks = 0;
    });
    checkRequirements("uastc", sluiceGetUastcRequirements,
                      [](SluiceUastcInfo& info) { info.maxRegionCount = 1000; });
    checkRequirements("filter", sluiceGetFilterRequirements, [](SluiceFilterInfo& info) {
        info.maxTileCount = info.statusCount = 1000;
        info.maxTileSize = 65536;
    });
    checkRequirements("float", sluiceGetFloatDecodeRequirements,
                      [](SluiceFloatDecodeInfo& info) { info.tensorCount = info.tileCount = 9; });
    checkRequirements("df11", sluiceGetDf11Requirements,
                      [](SluiceDf11Info& info) { info.maxUnitCount = info.maxBlockCount = 9; });
    checkRequirements("tile streams", sluiceGetTileStreamsRequirements,
                      [](SluiceTileStreamsInfo& info) {
                          info.maxStreamCount = 100;
                          info.maxTileCount = 1000;
                          info.flags = 0;
                      });
}

TEST_SUITE_END();

TEST_CASE("ignored members: parameters of other codecs, and devices that are not Vulkan's")
{
    std::mt19937 random = makeRandom(47);
    PackedAsset asset;
    asset.name = "asset";
    asset.bytes = smoothBytes(random, 30000);
    for (const SluiceCodec codec :
         {SLUICE_CODEC_STORE, SLUICE_CODEC_GDEFLATE, SLUICE_CODEC_FLOAT, SLUICE_CODEC_GSTD})
        checkIgnored("segment", [&](uint64_t value) {
            const uint32_t any = uint32_t(value);
            const bool isGdeflate = codec == SLUICE_CODEC_GDEFLATE,
                       isGstd = codec == SLUICE_CODEC_GSTD;
            SluiceArchiveSegment segment = {};
            segment.size = asset.bytes.size();
            segment.codec = codec;
            segment.tileSize = 8192;
            segment.level = isGdeflate || isGstd ? 3 : any;
            segment.decodeSpeed = isGdeflate ? 0 : any;
            segment.floatType = codec == SLUICE_CODEC_FLOAT ? uint32_t(SLUICE_FLOAT_BYTES) : any;
            segment.copyDepth = isGstd ? 2 : any;
            asset.segments = {segment};
            return packArchive({asset});
        });
    checkIgnored("device", [](uint64_t value) {
        SluiceDeviceInfo info = {};
        info.selector = "cpu";
        info.kernels = info.pipelineFlags = info.pipelineThreads = info.pipelineStatistics =
            info.graphicsQueue = info.requiredSubgroupSize = uint32_t(value);
        info.pipelineCache = info.tuning = reinterpret_cast<const char*>(uintptr_t(value));
        SluiceDevice opened = nullptr;
        const SluiceStatus status = sluiceOpenDevice(&info, &opened, nullptr);
        sluiceCloseDevice(opened);
        CHECK(status == SLUICE_OK);
        return status;
    });
}
