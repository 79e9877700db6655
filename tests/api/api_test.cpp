// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the contract of sluice.h: each bad argument gives the error that the header names, and
// records nothing.
#include "tests/support/arguments.h"
#include "tests/support/short_runs.h"

#include <sluice/sluice_all.h>

#include <cstring>
#include <memory>
#include <set>

using namespace sluice::test;

TEST_CASE("status texts")
{
    std::set<std::string> texts;
    for (int status = SLUICE_OK; status <= SLUICE_ERROR_NOT_OPEN; ++status)
        texts.insert(sluiceGetStatusText(SluiceStatus(status)));
    CHECK(texts.size() == 14);
    CHECK(texts.count("unknown status") == 0);
    CHECK(texts.count("") == 0);
    CHECK(std::string(sluiceGetStatusText(SluiceStatus(14))) == "unknown status");
    CHECK(std::string(sluiceGetStatusText(SLUICE_STATUS_MAX_ENUM)) == "unknown status");

    texts.clear();
    for (uint32_t status = SLUICE_TILE_PENDING; status <= SLUICE_TILE_BAD_INDEX; ++status)
        texts.insert(sluiceGetTileStatusText(status));
    CHECK(texts.size() == 13);
    CHECK(texts.count("unknown tile status") == 0);
    CHECK(std::string(sluiceGetTileStatusText(SLUICE_TILE_BAD_FILTER)) != "unknown tile status");
    CHECK(std::string(sluiceGetTileStatusText(15)) == "unknown tile status");
    CHECK(std::string(sluiceGetTileStatusText(0xFFFFFFFFu)) == "unknown tile status");

    texts.clear();
    for (uint32_t status = SLUICE_STREAM_PENDING; status <= SLUICE_STREAM_TILE_SIZE; ++status)
        texts.insert(sluiceGetStreamStatusText(status));
    CHECK(texts.size() == 12);
    CHECK(texts.count("unknown stream status") == 0);
    CHECK(std::string(sluiceGetStreamStatusText(12)) == "unknown stream status");
}

TEST_CASE("version")
{
    CHECK(sluiceGetVersion() == (uint32_t(SLUICE_VERSION_MAJOR) << 22 | SLUICE_VERSION_MINOR << 12 |
                                 SLUICE_VERSION_PATCH));
}

TEST_CASE("contexts")
{
    CHECK(sluiceCreateCpuContext(nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCreateCudaContext(0, nullptr) == SLUICE_ERROR_ARGUMENT);
    sluiceDestroyContext(nullptr);
    Cpu cpu;
    SluiceContextInfo info;
    std::memset(&info, 0xFF, sizeof info);
    CHECK(sluiceGetContextInfo(nullptr, &info) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetContextInfo(cpu.context, nullptr) == SLUICE_ERROR_ARGUMENT);
    REQUIRE(sluiceGetContextInfo(cpu.context, &info) == SLUICE_OK);
    CHECK(info.backend == SLUICE_BACKEND_CPU);
    CHECK(std::string(info.tier) == "fast");
    CHECK(info.subgroupSize == 1);
    CHECK(info.byteStores == 1);
    CHECK(info.report != nullptr);
    CHECK(sluiceCmdBarrier(cpu.context, nullptr) == SLUICE_OK);
    CHECK(sluiceCmdBarrier(nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdBarrier(cpu.context, someCommands()) == SLUICE_ERROR_ARGUMENT);

    CHECK(sluiceCreateCpuContextOfTier("ref", nullptr) == SLUICE_ERROR_ARGUMENT);
    SluiceContext context = cpu.context;
    CHECK(sluiceCreateCpuContextOfTier("native", &context) == SLUICE_ERROR_ARGUMENT);
    CHECK(context == nullptr);
    for (const char* tier : {"ref", "fast"}) {
        REQUIRE(sluiceCreateCpuContextOfTier(tier, &context) == SLUICE_OK);
        REQUIRE(sluiceGetContextInfo(context, &info) == SLUICE_OK);
        CHECK(std::string(info.tier) == tier);
        CHECK(info.kernels == (SLUICE_KERNELS_ALL | SLUICE_KERNELS_ZSTD | SLUICE_KERNELS_UASTC));
        sluiceDestroyContext(context);
    }
}

TEST_CASE("scan arguments")
{
    Cpu cpu;
    SluiceScanInfo info = {};
    info.kind = SLUICE_SCAN_INCLUSIVE;
    info.maxCount = 10;
    info.input = cpu.range(0, 40);
    info.output = cpu.range(64, 40);
    info.total = cpu.range(128, 4);
    const auto call = [&] { return sluiceCmdScan(cpu.context, nullptr, &info); };
    CHECK(sluiceCmdScan(nullptr, nullptr, &info) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdScan(cpu.context, nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdScan(cpu.context, someCommands(), &info) == SLUICE_ERROR_ARGUMENT);
    checkBuffer(info.input, 40, 4, false, call);
    checkBuffer(info.output, 40, 4, false, call);
    checkBuffer(info.total, 4, 4, true, call);
    info.maxCount = ~0u; // 16 GiB
    CHECK(call() == SLUICE_ERROR_BUFFER_SIZE);
    info.maxCount = 10;

    SluiceRequirements requirements = {};
    CHECK(sluiceGetScanRequirements(nullptr, &info, &requirements) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetScanRequirements(cpu.context, nullptr, &requirements) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetScanRequirements(cpu.context, &info, nullptr) == SLUICE_ERROR_ARGUMENT);
    info.kind = SluiceScanKind(2);
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    info.kind = SLUICE_SCAN_INCLUSIVE;
    info.operation = SluiceOperation(3);
    CHECK(sluiceGetScanRequirements(cpu.context, &info, &requirements) == SLUICE_ERROR_ARGUMENT);
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    info.operation = SLUICE_OPERATION_SUM;
    info.type = SluiceValueType(4);
    CHECK(sluiceGetScanRequirements(cpu.context, &info, &requirements) == SLUICE_ERROR_ARGUMENT);
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    info.type = SLUICE_VALUE_U64; // 80 bytes
    CHECK(call() == SLUICE_ERROR_BUFFER_SIZE);
    info.type = SLUICE_VALUE_U32;
    info.heads = cpu.range(132, 4);
    checkBuffer(info.heads, 4, 4, true, call);
    info.heads = {};
    info.count = cpu.range(136, 4);
    checkBuffer(info.count, 4, 4, true, call);
    info.count = {};
    CHECK(cpu.untouched());
    CHECK(call() == SLUICE_OK);
    info = {};
    CHECK(call() == SLUICE_OK); // nothing to do, nowhere
}

TEST_CASE("reduce arguments")
{
    Cpu cpu;
    SluiceReduceInfo info = {};
    info.maxCount = 10;
    info.input = cpu.range(0, 40);
    info.result = cpu.range(128, 4);
    const auto call = [&] { return sluiceCmdReduce(cpu.context, nullptr, &info); };
    CHECK(sluiceCmdReduce(nullptr, nullptr, &info) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdReduce(cpu.context, nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdReduce(cpu.context, someCommands(), &info) == SLUICE_ERROR_ARGUMENT);
    checkBuffer(info.input, 40, 4, false, call);
    checkBuffer(info.result, 4, 4, false, call);
    SluiceRequirements requirements = {};
    CHECK(sluiceGetReduceRequirements(nullptr, &info, &requirements) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetReduceRequirements(cpu.context, nullptr, &requirements) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetReduceRequirements(cpu.context, &info, nullptr) == SLUICE_ERROR_ARGUMENT);
    info.operation = SluiceOperation(3);
    CHECK(sluiceGetReduceRequirements(cpu.context, &info, &requirements) == SLUICE_ERROR_ARGUMENT);
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    CHECK(cpu.untouched());
}

TEST_CASE("compact arguments")
{
    Cpu cpu;
    SluiceCompactInfo info = {};
    info.test = SLUICE_COMPACT_BYTES;
    info.elementSize = 4;
    info.maxCount = 10;
    info.count = cpu.range(0, 4);
    info.input = cpu.range(64, 40);
    info.selectors = cpu.range(128, 12);
    info.output = cpu.range(192, 12);
    info.indices = cpu.range(256, 8);
    info.resultCount = cpu.range(320, 4);
    info.argument = cpu.range(384, 4);
    const auto call = [&] { return sluiceCmdCompact(cpu.context, nullptr, &info); };
    CHECK(sluiceCmdCompact(nullptr, nullptr, &info) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdCompact(cpu.context, nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdCompact(cpu.context, someCommands(), &info) == SLUICE_ERROR_ARGUMENT);
    checkBuffer(info.count, 4, 4, true, call);
    checkBuffer(info.input, 40, 4, false, call);
    checkBuffer(info.selectors, 12, 4, false, call);
    checkBuffer(info.output, 0, 4, true, call);
    checkBuffer(info.indices, 0, 4, true, call);
    checkBuffer(info.resultCount, 4, 4, true, call);
    checkBuffer(info.argument, 4, 4, true, call);
    info.test = SLUICE_COMPACT_MASK;
    checkBuffer(info.selectors, 4, 4, false, call);
    for (const uint32_t size : {0u, 3u, 5u, 24u, 32u}) {
        info.elementSize = size;
        CHECK(call() == SLUICE_ERROR_ARGUMENT);
    }
    info.elementSize = 4;
    info.flags = 16;
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    info.flags = 0;
    for (const int test : {5, int(SLUICE_COMPACT_TEST_MAX_ENUM)}) {
        info.test = static_cast<SluiceCompactTest>(test);
        CHECK(call() == SLUICE_ERROR_ARGUMENT);
    }
    SluiceRequirements requirements = {};
    CHECK(sluiceGetCompactRequirements(nullptr, &info, &requirements) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetCompactRequirements(cpu.context, nullptr, &requirements) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetCompactRequirements(cpu.context, &info, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(cpu.untouched());
    info.test = SLUICE_COMPACT_MASK;
    CHECK(call() == SLUICE_OK);
}

TEST_CASE("gstd arguments: flags that are not the caller's are refused")
{
    Cpu cpu;
    SluiceGstdInfo info = {};
    info.regionStride = sizeof(SluiceRegion);
    info.status = cpu.range(0, 8);
    CHECK(sluiceCmdGstd(cpu.context, nullptr, &info) == SLUICE_OK);
    for (uint32_t bit = 0; bit < 32; ++bit) {
        info.flags = 1u << bit;
        CAPTURE(bit);
        CHECK((sluiceCmdGstd(cpu.context, nullptr, &info) == SLUICE_OK) ==
              (info.flags == SLUICE_DECODE_STORED_IF_EQUAL));
    }
}

TEST_CASE("gstd arguments: output over its own input is refused")
{
    Cpu cpu;
    SluiceGstdInfo info = {};
    info.regionStride = sizeof(SluiceRegion);
    info.status = cpu.range(0, 8);
    info.source = cpu.range(16, 16);
    for (const auto& [offset, size] : {std::pair{32u, 16u}, {0u, 16u}, {24u, 0u}}) {
        info.destination = cpu.range(offset, size);
        CHECK(sluiceCmdGstd(cpu.context, nullptr, &info) == SLUICE_OK);
    }
    for (const auto& place : {std::pair{16u, 16u}, {0u, 17u}, {31u, 1u}, {20u, 4u}, {0u, 64u}}) {
        CAPTURE(place.first);
        info.destination = cpu.range(place.first, place.second);
        CHECK(sluiceCmdGstd(cpu.context, nullptr, &info) == SLUICE_ERROR_ARGUMENT);
    }
}

TEST_CASE("compact arguments: comparisons, and results that would overlap the input")
{
    Cpu cpu;
    SluiceCompactInfo info = {};
    info.test = SLUICE_COMPACT_COMPARE;
    info.comparison = SLUICE_COMPARE_GREATER_EQUAL;
    info.type = SLUICE_VALUE_U16;
    info.elementSize = 2;
    info.constant = 65535;
    info.maxCount = 4;
    info.input = cpu.range(0, 8);
    info.output = cpu.range(64, 8);
    const auto call = [&] { return sluiceCmdCompact(cpu.context, nullptr, &info); };
    CHECK(call() == SLUICE_OK);
    info.constant = 65536;
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    info.constant = 0;
    info.elementSize = 4;
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    info.elementSize = 2;
    for (const int value : {6, int(SLUICE_VALUE_TYPE_MAX_ENUM)}) {
        info.type = static_cast<SluiceValueType>(value);
        CHECK(call() == SLUICE_ERROR_ARGUMENT);
        info.type = SLUICE_VALUE_U16;
        info.comparison = static_cast<SluiceComparison>(value);
        CHECK(call() == SLUICE_ERROR_ARGUMENT);
        info.comparison = SLUICE_COMPARE_LESS;
    }
    info.output = info.input; // in place
    CHECK(call() == SLUICE_OK);
    info.indices = cpu.range(128, 16);
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    info.indices = {};
    info.flags = SLUICE_COMPACT_PARTITION;
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("gdeflate arguments")
{
    Cpu cpu;
    SluiceGdeflateInfo info = {};
    info.maxRegionCount = 3;
    info.regionStride = 40;
    info.regions = cpu.range(0, 112); // 2 * 40 + 32
    info.regionCount = cpu.range(128, 4);
    info.source = cpu.range(192, 64);
    info.destination = cpu.range(320, 64);
    info.status = cpu.range(448, 20);
    const auto call = [&] { return sluiceCmdGdeflate(cpu.context, nullptr, &info); };
    CHECK(sluiceCmdGdeflate(nullptr, nullptr, &info) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdGdeflate(cpu.context, nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdGdeflate(cpu.context, someCommands(), &info) == SLUICE_ERROR_ARGUMENT);
    checkBuffer(info.regions, 112, 8, false, call);
    checkBuffer(info.regionCount, 4, 4, true, call);
    checkBuffer(info.source, 0, 1, true, call);
    checkBuffer(info.destination, 0, 1, true, call);
    checkBuffer(info.status, 20, 4, false, call);
    const auto with = [&](uint32_t SluiceGdeflateInfo::*member, uint32_t value) {
        SluiceGdeflateInfo changed = info;
        changed.*member = value;
        return sluiceCmdGdeflate(cpu.context, nullptr, &changed);
    };
    for (const uint32_t stride : {0u, 28u, 31u, 33u, 42u, ~0u})
        CHECK(with(&SluiceGdeflateInfo::regionStride, stride) == SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceGdeflateInfo::regionStride, 44) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(with(&SluiceGdeflateInfo::maxRegionCount, 4) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(with(&SluiceGdeflateInfo::maxRegionCount, (1u << 24) + 1) == SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceGdeflateInfo::maxRegionCount, 1u << 24) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(with(&SluiceGdeflateInfo::flags, SLUICE_DECODE_BY_DRIVER) == SLUICE_ERROR_UNSUPPORTED);
    CHECK(with(&SluiceGdeflateInfo::flags, 3) == SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceGdeflateInfo::flags, 4) == SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceGdeflateInfo::flags, 0x80000001u) == SLUICE_ERROR_ARGUMENT);
    checkRows(info, call);
    info.expected = cpu.range(512, 12);
    checkBuffer(info.expected, 12, 4, true, call);
    info.expected = {};

    SluiceRequirements requirements = {};
    CHECK(sluiceGetGdeflateRequirements(nullptr, &info, &requirements) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetGdeflateRequirements(cpu.context, nullptr, &requirements) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetGdeflateRequirements(cpu.context, &info, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetGdeflateRequirements(cpu.context, &info, &requirements) == SLUICE_OK);
    CHECK(cpu.untouched());
    CHECK(call() == SLUICE_OK);
}

TEST_CASE("checksum arguments")
{
    Cpu cpu;
    SluiceChecksumInfo info = {};
    info.maxRegionCount = 2;
    info.regionStride = 32;
    info.regions = cpu.range(0, 64);
    info.destination = cpu.range(128, 64);
    info.expected = cpu.range(256, 8);
    info.status = cpu.range(320, 16);
    const auto call = [&] { return sluiceCmdChecksum(cpu.context, nullptr, &info); };
    CHECK(sluiceCmdChecksum(nullptr, nullptr, &info) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdChecksum(cpu.context, nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdChecksum(cpu.context, someCommands(), &info) == SLUICE_ERROR_ARGUMENT);
    checkBuffer(info.regions, 64, 8, false, call);
    checkBuffer(info.destination, 0, 1, true, call);
    checkBuffer(info.expected, 8, 4, false, call);
    checkBuffer(info.status, 16, 4, false, call);
    info.regionStride = 30;
    CHECK(call() == SLUICE_ERROR_ARGUMENT);
    info.regionStride = 32;
    checkRows(info, call);
    CHECK(cpu.untouched());
    CHECK(call() == SLUICE_OK);
}

TEST_CASE("tile streams arguments")
{
    Cpu cpu;
    SluiceTileStreamsInfo info = {};
    info.maxStreamCount = 2;
    info.maxTileCount = 3;
    info.streams = cpu.range(0, 64);
    info.streamCount = cpu.range(64, 4);
    info.source = cpu.range(128, 64);
    info.destination = cpu.range(192, 64);
    info.results = cpu.range(256, 48);
    info.status = cpu.range(320, 20);
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetTileStreamsRequirements(cpu.context, &info, &requirements) == SLUICE_OK);
    CHECK(requirements.scratchSize >= 3 * 32 + 2 * 4);
    REQUIRE(requirements.scratchSize <= 256);
    info.scratch = cpu.range(384, requirements.scratchSize);
    const auto call = [&] { return sluiceCmdTileStreams(cpu.context, nullptr, &info); };
    CHECK(sluiceCmdTileStreams(nullptr, nullptr, &info) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdTileStreams(cpu.context, nullptr, nullptr) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceCmdTileStreams(cpu.context, someCommands(), &info) == SLUICE_ERROR_ARGUMENT);
    checkBuffer(info.streams, 64, 8, false, call);
    checkBuffer(info.streamCount, 4, 4, true, call);
    checkBuffer(info.source, 0, 4, true, call);
    checkBuffer(info.destination, 0, 4, true, call);
    checkBuffer(info.results, 48, 4, false, call);
    checkBuffer(info.status, 20, 4, false, call);
    checkBuffer(info.scratch, requirements.scratchSize, 8, false, call);
    checkRows(info, call);
    info.expected = cpu.range(640, 12);
    checkBuffer(info.expected, 12, 4, true, call);
    info.expected = {};

    CHECK(sluiceGetTileStreamsRequirements(nullptr, &info, &requirements) == SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetTileStreamsRequirements(cpu.context, nullptr, &requirements) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(sluiceGetTileStreamsRequirements(cpu.context, &info, nullptr) == SLUICE_ERROR_ARGUMENT);
    const auto with = [&](uint32_t SluiceTileStreamsInfo::*member, uint32_t value) {
        SluiceTileStreamsInfo changed = info;
        changed.*member = value;
        const SluiceStatus required =
            sluiceGetTileStreamsRequirements(cpu.context, &changed, &requirements);
        return required != SLUICE_OK ? required
                                     : sluiceCmdTileStreams(cpu.context, nullptr, &changed);
    };
    CHECK(with(&SluiceTileStreamsInfo::maxStreamCount, 3) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(with(&SluiceTileStreamsInfo::maxStreamCount, 65537) == SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceTileStreamsInfo::maxTileCount, 4) == SLUICE_ERROR_BUFFER_SIZE);
    CHECK(with(&SluiceTileStreamsInfo::maxTileCount, (1u << 24) + 1) == SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceTileStreamsInfo::flags, SLUICE_DECODE_STORED_IF_EQUAL) ==
          SLUICE_ERROR_ARGUMENT);
    CHECK(with(&SluiceTileStreamsInfo::flags, SLUICE_DECODE_BY_DRIVER) == SLUICE_ERROR_UNSUPPORTED);
    CHECK(with(&SluiceTileStreamsInfo::flags, 4) == SLUICE_ERROR_ARGUMENT);
    // The pairs have their number before them.
    CHECK(with(&SluiceTileStreamsInfo::flags, SLUICE_TILE_STREAMS_PAIRS) == SLUICE_ERROR_ARGUMENT);
    CHECK(cpu.untouched());
    CHECK(call() == SLUICE_OK);
    info.flags = SLUICE_TILE_STREAMS_PAIRS;
    info.streamCount = {};
    checkBuffer(info.streams, 20, 4, false, call);
    CHECK(call() == SLUICE_OK);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("context info and arguments on the device")
{
    const SluiceContextInfo info = device().info();
    CHECK(info.tier != nullptr);
    CHECK(info.report != nullptr);
    CHECK(info.subgroupSize >= 1);
    CHECK(info.subgroupSize <= 128);
    CHECK(info.byteStores <= 1);
    SluiceContext context = device().context();

    // Scratch memory that is too small, and invalid command buffers, are refused.
    Buffer memory(device(), 4096);
    SluiceScanInfo scan = {};
    scan.maxCount = 512;
    scan.input = scan.output = memory.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetScanRequirements(context, &scan, &requirements) == SLUICE_OK);
    CHECK((requirements.scratchAlignment & (requirements.scratchAlignment - 1)) == 0);
    device().run([&](SluiceCommands commands) {
        if (requirements.scratchSize != 0)
            CHECK(sluiceCmdScan(context, commands, &scan) == SLUICE_ERROR_BUFFER_SIZE);
        scan.input.size = 2044;
        CHECK(sluiceCmdScan(context, commands, &scan) == SLUICE_ERROR_BUFFER_SIZE);
        CHECK(sluiceCmdBarrier(context, commands) == SLUICE_OK);
    });
    if (info.backend == SLUICE_BACKEND_VULKAN) {
        CHECK(sluiceCmdBarrier(context, nullptr) == SLUICE_ERROR_ARGUMENT);
        scan.input = memory.range();
        CHECK(sluiceCmdScan(context, nullptr, &scan) == SLUICE_ERROR_ARGUMENT);
    }
    CHECK((memory.bytes() == Bytes(4096, Buffer::kPoison)));
}

// Opens a device like the one under test, with pipelines for some of the kernels.
static std::unique_ptr<Device> openWith(uint32_t kernels)
{
    auto opened = std::make_unique<Device>(device().selector(), device().info().tier,
                                           environmentNumber("SLUICE_TEST_VALIDATION", 1), kernels);
    REQUIRE_MESSAGE(opened->isOpen(), opened->openError());
    const bool chooses = opened->backend() == SLUICE_BACKEND_VULKAN;
    // Other kernels may be ready too, if they need no further pipeline on this device.
    CHECK((opened->info().kernels & kernels) == kernels);
    CHECK(((opened->info().kernels & SLUICE_KERNELS_FLOAT) == 0) == chooses);
    return opened;
}

TEST_CASE("contexts with some of the kernels only")
{
    if (skipsSlowCompiler() || skipsOtherSizes()) return;
    CHECK((device().info().kernels & SLUICE_KERNELS_ALL) == SLUICE_KERNELS_ALL);
    const bool chooses = device().backend() == SLUICE_BACKEND_VULKAN;
    {
        const auto some = openWith(SLUICE_KERNELS_FSE);
        Buffer zeros(*some, Bytes(4096)), out(*some, 256), status(*some, 12);
        SluiceFseTablesInfo info = {};
        info.maxRegionCount = 1;
        info.regionStride = sizeof(SluiceRegion);
        info.maxSymbols = 1;
        info.maxLog = SLUICE_FSE_MIN_LOG;
        info.regions = info.source = zeros.range();
        info.destination = out.range();
        info.status = status.range();
        SluiceScanInfo scan = {};
        scan.maxCount = 1;
        scan.input = zeros.range();
        scan.output = out.range();
        SluiceRequirements requirements = {};
        REQUIRE(sluiceGetScanRequirements(some->context(), &scan, &requirements) == SLUICE_OK);
        Buffer scratch = makeScratch(*some, requirements);
        scan.scratch = scratch.range();
        some->run([&](SluiceCommands commands) {
            const SluiceContext context = some->context();
            CHECK(sluiceCmdFseTables(context, commands, &info) == SLUICE_OK);
            CHECK(sluiceCmdBarrier(context, commands) == SLUICE_OK);
            CHECK(sluiceCmdScan(context, commands, &scan) ==
                  (chooses ? SLUICE_ERROR_NOT_READY : SLUICE_OK));
        });
        CHECK(status.words() == Words{SLUICE_TILE_BAD_REGION, 1, 0});
        CHECK((out.bytes() == Bytes(256, Buffer::kPoison)) == chooses);
    }
    // Decoding a tile stream needs kernels of other commands too.
    const auto some = openWith(SLUICE_KERNELS_TILE_STREAMS);
    const SluiceStreamRange range = {0, 64, 0, 65536};
    Bytes ranges(sizeof range);
    std::memcpy(ranges.data(), &range, sizeof range);
    Buffer streams(*some, ranges), file(*some, Bytes(64)), out(*some, 65536),
        expected(*some, Bytes(4)), status(*some, 12);
    Buffer results(*some, sizeof(SluiceStreamResult) + sizeof(SluiceStreamSummary));
    SluiceTileStreamsInfo info = {};
    info.maxStreamCount = info.maxTileCount = 1;
    info.streams = streams.range();
    info.source = file.range();
    info.destination = out.range();
    info.expected = expected.range();
    info.results = results.range();
    info.status = status.range();
    runWithScratch(*some, info, sluiceGetTileStreamsRequirements, sluiceCmdTileStreams);
    CHECK(results.words()[0] == SLUICE_STREAM_BAD_HEADER); // zeros
}

TEST_SUITE_END();
