// SPDX-License-Identifier: MIT OR Apache-2.0
// Reports of refused arguments: each wrong use names its function, its member and a rule, once, and
// without a function to report to the status is the same.
#include "tests/support/arguments.h"
#include "tests/support/streams.h"

#include <sluice/sluice_all.h>
#include <sluice/sluice_image.h>
#include <sluice/sluice_self_test.h>
#include <sluice/sluice_tiles.h>

#include <functional>
#include <string>
#include <vector>

using namespace sluice::test;

namespace {

struct Reports {
    std::vector<SluiceReport> all;

    static void add(void* user, const SluiceReport* report)
    {
        static_cast<Reports*>(user)->all.push_back(*report);
    }
};

using Call = std::function<SluiceStatus()>;

// A wrong use, and what is to be reported.
struct WrongUse {
    SluiceStatus status;
    const char* function;
    const char* member;
    Call call;
    uint32_t index = 0xffffffff;
};

// Makes the calls without reports, then with them. `turnOn` makes reports go there or, with NULL,
// nowhere.
void checkUses(const std::vector<WrongUse>& uses, const std::function<void(Reports*)>& turnOn)
{
    for (const WrongUse& use : uses) {
        CAPTURE(use.function);
        CAPTURE(use.member);
        Reports reports;
        turnOn(nullptr);
        CHECK(use.call() == use.status);
        turnOn(&reports);
        CHECK(use.call() == use.status);
        turnOn(nullptr);
        CHECK(reports.all.size() == 1);
        if (reports.all.size() != 1) continue;
        const SluiceReport& report = reports.all[0];
        CHECK(std::string(report.function) == use.function);
        CHECK(std::string(report.member) == use.member);
        CHECK(report.rule[0] != 0);
        CHECK(report.status == use.status);
        CHECK(report.index == use.index);
    }
}

constexpr SluiceStatus kArgument = SLUICE_ERROR_ARGUMENT, kSize = SLUICE_ERROR_BUFFER_SIZE;

// Returns a copy of a structure that `change` has changed.
template <typename Info, typename Change>
Info with(Info info, Change change)
{
    change(info);
    return info;
}

// A context of the CPU, structures that its functions accept, and calls with one changed.
struct ContextCalls {
    ContextCalls()
    {
        scan.maxCount = 4;
        scan.input = cpu.range(0, 16);
        scan.output = cpu.range(64, 16);
        compact.test = SLUICE_COMPACT_NON_ZERO;
        compact.elementSize = 4;
        compact.maxCount = 4;
        compact.input = cpu.range(0, 16);
        expand.elementSize = 4;
        expand.intervals.maxCount = 2;
        expand.intervals.counts = cpu.range(0, 8);
        expand.values = cpu.range(16, 8);
        gdeflate.maxRegionCount = 1;
        gdeflate.regionStride = sizeof(SluiceRegion);
        gdeflate.regions = cpu.range(0, 32);
        gdeflate.status = cpu.range(64, 12);
        filter.maxTileSize = 4096;
        filter.status = cpu.range(64, 8);
        gstd.regionStride = sizeof(SluiceRegion);
        gstd.status = cpu.range(64, 8);
        batch.tiles = tiles;
        batch.tileCount = 2;
        REQUIRE(scans([](auto&) {})() == SLUICE_OK);
        REQUIRE(compacts([](auto&) {})() == SLUICE_OK);
        REQUIRE(expands([](auto&) {})() == SLUICE_OK);
    }

    template <typename Change>
    Call scans(Change change)
    {
        return [=] {
            const SluiceScanInfo info = with(scan, change);
            return sluiceCmdScan(cpu.context, nullptr, &info);
        };
    }
    template <typename Change>
    Call compacts(Change change)
    {
        return [=] {
            const SluiceCompactInfo info = with(compact, change);
            return sluiceCmdCompact(cpu.context, nullptr, &info);
        };
    }
    template <typename Change>
    Call expands(Change change)
    {
        return [=] {
            const SluiceIntervalExpandInfo info = with(expand, change);
            return sluiceCmdIntervalExpand(cpu.context, nullptr, &info);
        };
    }
    template <typename Change>
    Call decodes(Change change)
    {
        return [=] {
            const SluiceGdeflateInfo info = with(gdeflate, change);
            return sluiceCmdGdeflate(cpu.context, nullptr, &info);
        };
    }
    template <typename Change>
    Call prepares(Change change)
    {
        return [=] {
            SluiceTile changed[2] = {tiles[0], tiles[1]};
            SluiceTilesInfo info = batch;
            info.tiles = changed;
            change(info, changed);
            return sluicePrepareTiles(cpu.context, &info);
        };
    }
    void check(const std::vector<WrongUse>& uses)
    {
        checkUses(uses, [&](Reports* reports) {
            CHECK(sluiceSetReport(cpu.context, reports != nullptr ? Reports::add : nullptr,
                                  reports) == SLUICE_OK);
        });
    }

    Cpu cpu;
    SluiceScanInfo scan = {};
    SluiceCompactInfo compact = {};
    SluiceIntervalExpandInfo expand = {};
    SluiceGdeflateInfo gdeflate = {};
    SluiceFilterInfo filter = {};
    SluiceGstdInfo gstd = {};
    SluiceTile tiles[2] = {{0, 0, 16, 16, SLUICE_CODEC_STORE, 0, nullptr, 0},
                           {16, 16, 16, 16, SLUICE_CODEC_STORE, 0, nullptr, 0}};
    SluiceTilesInfo batch = {};
    SluiceRequirements need = {};
    SluiceTilesRequirements tilesNeed = {};
    SluiceSelfTestRequirements testNeed = {};
    uint32_t value = 0;
};

// A streamer without a GPU, and files of it.
struct StreamerCalls {
    StreamerCalls()
        : asset(assetOfAllCodecs("asset", 4)), file(packArchive({asset})), plain(file.bytes),
          late(file.bytes), place(asset.bytes.size()), streamer(0, limits(reports)),
          opened(streamer.open(file)), bytes(streamer.open(plain, false)),
          opening(startOpening(streamer.get(), late)),
          good(fromArchive(opened, 0, 0, place.size(), place.data()))
    {
    }

    static SluiceStreamerInfo limits(Reports*& to)
    {
        SluiceStreamerInfo info = {};
        info.maxGroups = 8;
        info.maxRequests = 16;
        info.reportUser = &to;
        info.report = [](void* user, const SluiceReport* report) {
            Reports* const reports = *static_cast<Reports**>(user);
            if (reports != nullptr) Reports::add(reports, report);
        };
        return info;
    }
    // Submits two good requests in a group that is changed.
    template <typename Change>
    Call submitsGroup(Change change)
    {
        return [=] {
            const SluiceStreamRequest requests[2] = {good, good};
            SluiceStreamGroupInfo info = {};
            info.requests = requests;
            info.requestCount = 2;
            change(info);
            SluiceStreamGroup group = 0;
            return sluiceStreamSubmit(streamer.get(), &info, &group);
        };
    }
    // Submits a good request and one that is changed.
    template <typename Change>
    Call submits(Change change)
    {
        return [=] {
            const SluiceStreamRequest requests[2] = {good, with(good, change)};
            return submitsGroup([&](SluiceStreamGroupInfo& info) { info.requests = requests; })();
        };
    }
    void check(const std::vector<WrongUse>& uses)
    {
        checkUses(uses, [&](Reports* to) { reports = to; });
    }

    Reports* reports = nullptr;
    const PackedAsset asset;
    MemoryFile file, plain, late;
    Bytes place;
    CpuStreamer streamer;
    const SluiceStreamFile opened, bytes, opening;
    const SluiceStreamRequest good;
};

} // namespace

TEST_CASE("reports: what contexts, scans and reductions refuse")
{
    ContextCalls on;
    on.check({
        {kArgument, "sluiceGetContextInfo", "info",
         [&] { return sluiceGetContextInfo(on.cpu.context, nullptr); }},
        {kArgument, "sluiceCreatePipelines", "kernels",
         [&] {
             const SluicePipelinesInfo info = {1u << 31, 0, 0};
             return sluiceCreatePipelines(on.cpu.context, &info, nullptr);
         }},
        {kArgument, "sluiceCreatePipelines", "flags",
         [&] {
             const SluicePipelinesInfo info = {0, 1u << 31, 0};
             return sluiceCreatePipelines(on.cpu.context, &info, nullptr);
         }},
        {kArgument, "sluiceCmdBarrier", "commands",
         [&] { return sluiceCmdBarrier(on.cpu.context, someCommands()); }},
        {kArgument, "sluiceCmdScan", "info",
         [&] { return sluiceCmdScan(on.cpu.context, nullptr, nullptr); }},
        {kArgument, "sluiceCmdScan", "operation",
         on.scans([](auto& i) { i.operation = SluiceOperation(7); })},
        {kArgument, "sluiceCmdScan", "type", on.scans([](auto& i) { i.type = SLUICE_VALUE_U16; })},
        {kArgument, "sluiceCmdScan", "kind", on.scans([](auto& i) { i.kind = SluiceScanKind(2); })},
        {kSize, "sluiceCmdScan", "input", on.scans([](auto& i) { i.input.size = 15; })},
        {kArgument, "sluiceCmdScan", "output", on.scans([](auto& i) { i.output.handle = 0; })},
        {kArgument, "sluiceCmdScan", "output", on.scans([](auto& i) { i.output.offset = 66; })},
        {kArgument, "sluiceCmdScan", "output",
         on.scans([](auto& i) { i.output.size = ~uint64_t(0); })},
        {kArgument, "sluiceGetScanRequirements", "requirements",
         [&] { return sluiceGetScanRequirements(on.cpu.context, &on.scan, nullptr); }},
        {kArgument, "sluiceCmdReduce", "operation",
         [&] {
             SluiceReduceInfo info = {};
             info.operation = SluiceOperation(9);
             return sluiceCmdReduce(on.cpu.context, nullptr, &info);
         }},
    });
    CHECK(sluiceSetReport(nullptr, Reports::add, nullptr) == kArgument);
}

TEST_CASE("reports: what compaction and intervals refuse")
{
    ContextCalls on;
    on.check({
        {kArgument, "sluiceCmdCompact", "test",
         on.compacts([](auto& i) { i.test = SluiceCompactTest(5); })},
        {kArgument, "sluiceCmdCompact", "elementSize",
         on.compacts([](auto& i) { i.elementSize = 3; })},
        {kArgument, "sluiceCmdCompact", "flags", on.compacts([](auto& i) { i.flags = 1; })},
        {kSize, "sluiceCmdCompact", "input", on.compacts([](auto& i) { i.elementSize = 16; })},
        {kArgument, "sluiceCmdCompact", "constant", on.compacts([](auto& i) {
             i.test = SLUICE_COMPACT_COMPARE;
             i.constant = uint64_t(1) << 32;
         })},
        {kArgument, "sluiceCmdCompact", "indices", on.compacts([](auto& i) {
             i.output = i.input;
             i.indices = i.input;
         })},
        {kArgument, "sluiceCmdIntervalExpand", "elementSize",
         on.expands([](auto& i) { i.elementSize = 21; })},
        {kArgument, "sluiceCmdIntervalExpand", "offsets",
         on.expands([](auto& i) { i.intervals.offsets = i.intervals.counts; })},
        {kArgument, "sluiceCmdIntervalExpand", "counts",
         on.expands([](auto& i) { i.intervals.counts = {}; })},
        {kSize, "sluiceCmdIntervalExpand", "values",
         on.expands([](auto& i) { i.values.size = 7; })},
        {kSize, "sluiceCmdIntervalExpand", "result", on.expands([](auto& i) {
             i.result = {i.values.handle, 64, 4};
         })},
        {kArgument, "sluiceCmdIntervalMove", "positionSize",
         [&] {
             SluiceIntervalMoveInfo info = {};
             info.elementSize = 1;
             info.positionSize = 5;
             return sluiceCmdIntervalMove(on.cpu.context, nullptr, &info);
         }},
        {kArgument, "sluiceCmdIntervalSearch", "sources",
         [&] {
             const SluiceIntervalSearchInfo info = {};
             return sluiceCmdIntervalSearch(on.cpu.context, nullptr, &info);
         }},
        {kArgument, "sluiceCmdBulkInsert", "maxIndexCount",
         [&] {
             SluiceBulkInfo info = {};
             info.elementSize = 1;
             info.maxIndexCount = UINT32_MAX;
             return sluiceCmdBulkInsert(on.cpu.context, nullptr, &info);
         }},
    });
}

TEST_CASE("reports: what decoders refuse")
{
    ContextCalls on;
    on.check({
        {kArgument, "sluiceCmdGdeflate", "maxRegionCount",
         on.decodes([](auto& i) { i.maxRegionCount = (1u << 24) + 1; })},
        {kArgument, "sluiceCmdGdeflate", "regionStride",
         on.decodes([](auto& i) { i.regionStride = 16; })},
        {kArgument, "sluiceCmdGdeflate", "flags", on.decodes([](auto& i) { i.flags = 1u << 30; })},
        {kArgument, "sluiceCmdGdeflate", "rowPitch", on.decodes([](auto& i) { i.rowPitch = 8; })},
        {kArgument, "sluiceCmdGdeflate", "rowBytes",
         on.decodes([](auto& i) { i.rowBytes = i.rowPitch = 6; })},
        {SLUICE_ERROR_UNSUPPORTED, "sluiceCmdGdeflate", "flags",
         on.decodes([](auto& i) { i.flags = SLUICE_DECODE_BY_DRIVER; })},
        {kSize, "sluiceCmdGdeflate", "status", on.decodes([](auto& i) { i.status.size = 8; })},
        {kArgument, "sluiceCmdGstd", "destination",
         [&] {
             const SluiceGstdInfo info =
                 with(on.gstd, [&](auto& i) { i.source = i.destination = on.cpu.range(0, 16); });
             return sluiceCmdGstd(on.cpu.context, nullptr, &info);
         }},
        {kArgument, "sluiceCmdGstdFilter", "statusCount",
         [&] {
             const SluiceFilterInfo info = with(on.filter, [&](auto& i) {
                 i.statusCount = 1;
                 i.status.size = 12;
             });
             return sluiceCmdGstdFilter(on.cpu.context, nullptr, &on.gstd, &info);
         }},
        {kArgument, "sluiceCmdFilter", "maxTileSize",
         [&] {
             const SluiceFilterInfo info = with(on.filter, [](auto& i) { i.maxTileSize = 6; });
             return sluiceCmdFilter(on.cpu.context, nullptr, &info);
         }},
        {kArgument, "sluiceCmdFseTables", "maxLog",
         [&] {
             SluiceFseTablesInfo info = {};
             info.maxSymbols = 53;
             return sluiceCmdFseTables(on.cpu.context, nullptr, &info);
         }},
        {kArgument, "sluiceCmdFloatDecode", "tensorCount",
         [&] {
             SluiceFloatDecodeInfo info = {};
             info.tensorCount = UINT32_MAX;
             return sluiceCmdFloatDecode(on.cpu.context, nullptr, &info);
         }},
        {kArgument, "sluiceCmdDf11", "maxUnitCount",
         [&] {
             SluiceDf11Info info = {};
             info.maxUnitCount = UINT32_MAX;
             return sluiceCmdDf11(on.cpu.context, nullptr, &info);
         }},
        {kArgument, "sluiceCmdTileStreams", "maxStreamCount",
         [&] {
             SluiceTileStreamsInfo info = {};
             info.maxStreamCount = UINT32_MAX;
             return sluiceCmdTileStreams(on.cpu.context, nullptr, &info);
         }},
        {kSize, "sluiceCmdChecksum", "status",
         [&] {
             SluiceChecksumInfo info = {};
             info.regionStride = sizeof(SluiceRegion);
             return sluiceCmdChecksum(on.cpu.context, nullptr, &info);
         }},
    });
}

TEST_CASE("reports: what batches of tiles and self-tests refuse")
{
    ContextCalls on;
    on.check({
        {kArgument, "sluicePrepareTiles", "flags",
         on.prepares([](auto& i, auto&) { i.flags = 1u << 20; })},
        {kArgument, "sluicePrepareTiles", "tiles",
         on.prepares([](auto& i, auto&) { i.tiles = nullptr; })},
        {SLUICE_ERROR_VERSION, "sluicePrepareTiles", "codec",
         on.prepares([](auto&, auto& t) { t[1].codec = 99; }), 1},
        {kArgument, "sluicePrepareTiles", "sourceOffset",
         on.prepares([](auto&, auto& t) { t[0].sourceOffset = 8; }), 0},
        {kArgument, "sluicePrepareTiles", "destinationOffset",
         on.prepares([](auto&, auto& t) { t[1].destinationOffset = 2; }), 1},
        {kArgument, "sluicePrepareTiles", "storedSize",
         on.prepares([](auto&, auto& t) { t[1].storedSize = 15; }), 1},
        {kArgument, "sluicePrepareTiles", "filterSize",
         on.prepares([](auto&, auto& t) { t[1].filterSize = 4; }), 1},
        {kArgument, "sluicePrepareTiles", "controlHost", on.prepares([](auto&, auto&) {})},
        {kArgument, "sluiceGetTilesRequirements", "totals",
         [&] {
             return sluiceGetTilesRequirements(on.cpu.context, &on.batch, nullptr, &on.tilesNeed);
         }},
        {kArgument, "sluiceCmdTiles", "resultsHost",
         [&] { return sluiceCmdTiles(on.cpu.context, nullptr, &on.batch); }},
        {kArgument, "sluiceGetSelfTestRequirements", "kernels",
         [&] {
             SluiceSelfTestInfo info = {};
             info.kernels = 1u << 31;
             return sluiceGetSelfTestRequirements(on.cpu.context, &info, &on.testNeed);
         }},
        {kArgument, "sluiceReadSelfTest", "kernels",
         [&] {
             const SluiceSelfTestInfo info = {};
             return sluiceReadSelfTest(on.cpu.context, &info, &on.value);
         }},
    });
}

TEST_CASE("reports: a buffer's values and limits")
{
    Cpu cpu;
    Reports reports;
    REQUIRE(sluiceSetReport(cpu.context, Reports::add, &reports) == SLUICE_OK);
    SluiceScanInfo scan = {};
    scan.maxCount = 4;
    scan.input = cpu.range(0, 12);
    scan.output = cpu.range(66, 16);
    CHECK(sluiceCmdScan(cpu.context, nullptr, &scan) == kSize);
    scan.input.size = 16;
    CHECK(sluiceCmdScan(cpu.context, nullptr, &scan) == kArgument);
    scan.output.offset = 64;
    CHECK(sluiceCmdScan(cpu.context, nullptr, &scan) == SLUICE_OK);
    REQUIRE(reports.all.size() == 2);
    CHECK(reports.all[0].value == 12);
    CHECK(reports.all[0].limit == 16);
    CHECK(reports.all[1].value == 66);
    CHECK(reports.all[1].limit == 4);
}

TEST_CASE("reports: what the creation of a streamer refuses")
{
    Cpu cpu;
    RingMemory ring(SLUICE_STREAM_MIN_SOURCE);
    SluiceStreamerInfo good = {};
    good.context = cpu.context;
    good.source = ring.memory();
    good.maxGroups = good.maxRequests = good.maxBatches = 1;
    Reports* to = nullptr;
    SluiceStreamerRequirements need = {};
    const auto creates = [&](auto change) {
        return [=, &to] {
            SluiceStreamerInfo info = with(good, change);
            info.report = to != nullptr ? Reports::add : nullptr;
            info.reportUser = to;
            SluiceStreamer streamer = nullptr;
            const SluiceStatus status = sluiceCreateStreamer(&info, &streamer);
            sluiceDestroyStreamer(streamer);
            return status;
        };
    };
    REQUIRE(creates([](auto&) {})() == SLUICE_OK);
    const char* const create = "sluiceCreateStreamer";
    const std::vector<WrongUse> uses = {
        {kArgument, create, "context", creates([](auto& i) { i.context = nullptr; })},
        {kArgument, create, "maxGroups", creates([](auto& i) { i.maxGroups = 0; })},
        {kArgument, create, "maxGroups", creates([](auto& i) { i.maxGroups = 65537; })},
        {kArgument, create, "maxRequests", creates([](auto& i) { i.maxRequests = 0; })},
        {kArgument, create, "maxUnits", creates([](auto& i) { i.maxUnits = UINT32_MAX; })},
        {kArgument, create, "maxBatches", creates([](auto& i) { i.maxBatches = 17; })},
        {kArgument, create, "maxBatchTiles", creates([](auto& i) { i.maxBatchTiles = 255; })},
        {kArgument, create, "threads", creates([](auto& i) { i.threads = 65; })},
        {kArgument, create, "io", creates([](auto& i) { i.io = SluiceStreamIo(3); })},
        {kArgument, create, "decoding.sides",
         creates([](auto& i) { i.decoding.sides = SluiceStreamSides(4); })},
        // The context is of the CPU.
        {kArgument, create, "decoding.sides",
         creates([](auto& i) { i.decoding.sides = SLUICE_STREAM_GPU_ALONE; })},
        {kArgument, create, "decoding.maxThreads",
         creates([](auto& i) { i.decoding.maxThreads = 65; })},
        {kArgument, create, "source", creates([](auto& i) { i.source.host = nullptr; })},
        {kArgument, create, "source", creates([](auto& i) { i.source.buffer.offset = 8; })},
        {kSize, create, "source", creates([](auto& i) { --i.source.buffer.size; })},
        {kArgument, create, "source.host",
         creates([](auto& i) { i.source.host = static_cast<uint8_t*>(i.source.host) + 16; })},
        {kArgument, "sluiceGetStreamerRequirements", "maxBatches",
         [&] {
             SluiceStreamerInfo info = with(good, [](auto& i) { i.maxBatches = 0; });
             info.report = to != nullptr ? Reports::add : nullptr;
             info.reportUser = to;
             return sluiceGetStreamerRequirements(&info, &need);
         }},
    };
    checkUses(uses, [&](Reports* reports) { to = reports; });
}

TEST_CASE("reports: what the submission of a group refuses")
{
    StreamerCalls on;
    const char* const submit = "sluiceStreamSubmit";
    on.check({
        {kArgument, submit, "requests", on.submitsGroup([](auto& i) { i.requests = nullptr; })},
        {kArgument, submit, "requestCount", on.submitsGroup([](auto& i) { i.requestCount = 0; })},
        {kArgument, submit, "requestCount", on.submitsGroup([](auto& i) { i.requestCount = 17; })},
        {kArgument, submit, "flags", on.submitsGroup([](auto& i) { i.flags = 2; })},
        {SLUICE_ERROR_UNSUPPORTED, submit, "wait.semaphore",
         on.submitsGroup([](auto& i) { i.wait.semaphore = 1; })},
        {SLUICE_ERROR_UNSUPPORTED, submit, "signal.semaphore",
         on.submitsGroup([](auto& i) { i.signal.semaphore = 1; })},
        {kArgument, submit, "source", on.submits([](auto& r) { r.source = SluiceStreamSource(3); }),
         1},
        {kArgument, submit, "target", on.submits([](auto& r) { r.target = SluiceStreamTarget(3); }),
         1},
        {kArgument, submit, "file", on.submits([](auto& r) { r.file = nullptr; }), 1},
        {kArgument, submit, "file", on.submits([&](auto& r) { r.file = on.bytes; }), 1},
        {kArgument, submit, "asset", on.submits([](auto& r) { r.asset = 1; }), 1},
        {kArgument, submit, "offset", on.submits([](auto& r) { r.offset = UINT64_MAX; }), 1},
        {kArgument, submit, "size", on.submits([](auto& r) { r.offset = 1; }), 1},
        {kArgument, submit, "host", on.submits([](auto& r) { r.host = nullptr; }), 1},
        {kArgument, submit, "memory",
         on.submits([](auto& r) { r.source = SLUICE_STREAM_FROM_MEMORY; }), 1},
        {kArgument, submit, "buffer.handle",
         on.submits([](auto& r) { r.target = SLUICE_STREAM_TO_BUFFER; }), 1},
        {kArgument, submit, "buffer.size", on.submits([](auto& r) {
             r.target = SLUICE_STREAM_TO_BUFFER;
             r.buffer.handle = 64;
         }),
         1},
        {SLUICE_ERROR_UNSUPPORTED, submit, "target",
         on.submits([](auto& r) { r.target = SLUICE_STREAM_TO_IMAGE; }), 1},
        {kArgument, submit, "group",
         [&] {
             SluiceStreamGroupInfo info = {};
             return sluiceStreamSubmit(on.streamer.get(), &info, nullptr);
         }},
    });
    // A file that is still being opened is nobody's mistake.
    Reports nothing;
    on.reports = &nothing;
    CHECK(on.submits([&](auto& r) { r.file = on.opening; })() == SLUICE_ERROR_NOT_OPEN);
    SluiceArchive archive = {};
    CHECK(sluiceStreamGetArchive(on.opening, &archive) == SLUICE_ERROR_NOT_OPEN);
    SluiceStreamIoReport io = {};
    CHECK(sluiceStreamGetIoReport(on.opening, &io) == SLUICE_ERROR_NOT_OPEN);
    CHECK(nothing.all.empty());
}

TEST_CASE("reports: what a streamer and its files refuse")
{
    StreamerCalls on;
    CpuStreamer other(0);
    SluiceStreamFile none = nullptr;
    SluiceArchive archive = {};
    SluiceArchiveAsset about = {};
    SluiceImageInfo image = {};
    SluiceStreamImage where = {};
    SluiceStreamBatch batch = {};
    SluiceStreamBudget budget = {};
    uint32_t number = 0;
    on.check({
        {kArgument, "sluiceStreamOpen", "path",
         [&] {
             const SluiceStreamOpenInfo info = {};
             return sluiceStreamOpen(on.streamer.get(), &info, &none);
         }},
        {kArgument, "sluiceStreamClose", "file",
         [&] { return sluiceStreamClose(on.streamer.get(), nullptr); }},
        {kArgument, "sluiceStreamGetArchive", "archive",
         [&] { return sluiceStreamGetArchive(on.opened, nullptr); }},
        {kArgument, "sluiceStreamGetArchive", "file",
         [&] { return sluiceStreamGetArchive(on.bytes, &archive); }},
        {kArgument, "sluiceStreamGetAsset", "asset",
         [&] { return sluiceStreamGetAsset(on.opened, 1, &about); }},
        {kArgument, "sluiceStreamFindAsset", "name",
         [&] { return sluiceStreamFindAsset(on.opened, nullptr, 0, &number); }},
        {kArgument, "sluiceStreamFindImage", "name",
         [&] { return sluiceStreamFindImage(on.opened, "none", 4, &number, &image); }},
        {kArgument, "sluiceStreamFindImage", "name",
         [&] { return sluiceStreamFindImage(on.opened, "asset", 5, &number, &image); }},
        {kArgument, "sluiceStreamGetKernels", "kernels",
         [&] { return sluiceStreamGetKernels(on.opened, nullptr); }},
        {kArgument, "sluiceStreamGetImageRequests", "asset",
         [&] {
             uint32_t count = 0;
             return sluiceStreamGetImageRequests(on.opened, 0, 0, 1, &where, nullptr, &count);
         }},
        {kArgument, "sluiceStreamRecord", "budget",
         [&] { return sluiceStreamRecord(on.streamer.get(), nullptr, nullptr, &batch); }},
        {kArgument, "sluiceStreamRecord", "batch",
         [&] { return sluiceStreamRecord(on.streamer.get(), nullptr, &budget, nullptr); }},
        {kArgument, "sluiceStreamDiscard", "batch",
         [&] { return sluiceStreamDiscard(on.streamer.get(), 7); }},
        {kArgument, "sluiceStreamComplete", "batch",
         [&] { return sluiceStreamComplete(on.streamer.get(), 7); }},
        {kArgument, "sluiceStreamPoll", "events",
         [&] {
             uint32_t count = 1;
             return sluiceStreamPoll(on.streamer.get(), nullptr, &count);
         }},
        {kArgument, "sluiceStreamGetCounters", "counters",
         [&] { return sluiceStreamGetCounters(on.streamer.get(), nullptr); }},
    });
    CHECK(sluiceStreamClose(other.get(), on.opened) == kArgument); // another streamer's
    CHECK(sluiceStreamClose(on.streamer.get(), on.opening) == SLUICE_OK);
}
