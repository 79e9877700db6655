// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_scan.h>

#include "layout/lookback.h"
#include "tests/support/scans.h"

#include "api/backend.h"

using namespace sluice::test;

namespace {

// One scan to run and check against the host.
struct ScanCase {
    SluiceScanKind kind = SLUICE_SCAN_EXCLUSIVE;
    SluiceOperation operation = SLUICE_OPERATION_SUM;
    SluiceValueType type = SLUICE_VALUE_U32;
    uint32_t polls = kUsualPolls;
    bool inPlace = false;
    bool withTotal = true;
    // One in about so many elements begins a segment; 0: the scan is not segmented.
    uint32_t headEvery = 0;
    uint32_t deviceCount = ~0u; // the count in GPU memory; ~0: there is none
    // Elements by which input and output begin after a multiple of 16 bytes.
    uint32_t misaligned = 0;
};

Words shifted(const Words& words, uint32_t by)
{
    Words result(by, 0xABCDABCDu);
    result.insert(result.end(), words.begin(), words.end());
    return result;
}

SluiceBuffer behind(SluiceBuffer range, uint64_t bytes)
{
    return {range.handle, range.offset + bytes, range.size - bytes};
}

void checkScan(const ScanCase& scan, const Words& input)
{
    CAPTURE(scan.kind);
    CAPTURE(scan.operation);
    CAPTURE(scan.type);
    CAPTURE(scan.polls);
    CAPTURE(scan.inPlace);
    CAPTURE(scan.headEvery);
    CAPTURE(scan.deviceCount);
    CAPTURE(scan.misaligned);
    const uint32_t wordsEach = scan.type == SLUICE_VALUE_U64 ? 2 : 1,
                   shift = scan.misaligned * wordsEach;
    const uint32_t maxCount = uint32_t(input.size() / wordsEach);
    CAPTURE(maxCount);
    std::mt19937 random = makeRandom(7 + maxCount);
    Words heads;
    if (scan.headEvery != 0) heads = randomHeads(maxCount, scan.headEvery, random);

    Buffer source(device(), shifted(input, shift)),
        target(device(), scan.inPlace ? 0 : (input.size() + shift) * 4);
    Buffer total(device(), 8), headBits(device(), heads), count(device(), Words{scan.deviceCount});
    Buffer& output = scan.inPlace ? source : target;
    SluiceScanInfo info = {};
    info.kind = scan.kind;
    info.operation = scan.operation;
    info.type = scan.type;
    const LookbackPolls forced(device(), scan.polls);
    info.maxCount = maxCount;
    info.input = behind(source.range(), shift * 4);
    info.output = behind(output.range(), shift * 4);
    info.heads = headBits.range();
    if (scan.deviceCount != ~0u) info.count = count.range();
    if (scan.withTotal) info.total = total.range();
    const SluiceRequirements requirements =
        runWithScratch(device(), info, sluiceGetScanRequirements, sluiceCmdScan);
    CHECK(requirements.scratchSize <= input.size() * 8 / 100 + (1u << 20));

    const uint32_t n = std::min(maxCount, scan.deviceCount);
    const Words counted(input.begin(), input.begin() + n * wordsEach);
    const HostScan expected = scanOnHost(scan.kind, scan.operation, scan.type, counted, heads);
    Words got = output.words();
    const Words lead(got.begin(), got.begin() + shift),
        rest(got.begin() + shift + n * wordsEach, got.end());
    got = Words(got.begin() + shift, got.begin() + shift + n * wordsEach);
    const Words totals = total.words();
    if (scan.operation == SLUICE_OPERATION_SUM && scan.type == SLUICE_VALUE_F32) {
        checkF32(got, expected);
        if (scan.withTotal)
            checkF32({totals[0]}, {{}, {}, {expected.exactTotal}, {expected.totalBound}, 0, 0});
    } else {
        CHECK((got == expected.output));
        if (scan.withTotal)
            CHECK((Words(totals.begin(), totals.begin() + wordsEach) == expected.total));
    }
    const uint32_t poison = Buffer::kPoison * 0x01010101u;
    CHECK(totals[1] == (scan.withTotal && wordsEach == 2 ? expected.total[1] : poison));
    if (!scan.withTotal) CHECK(totals[0] == poison);
    // Elements that are not counted must be as they were.
    if (scan.inPlace) {
        CHECK((lead == Words(shift, 0xABCDABCDu)));
        CHECK((rest == Words(input.begin() + n * wordsEach, input.end())));
    } else {
        CHECK((lead == Words(shift, poison)));
        CHECK((rest == Words(rest.size(), poison)));
        CHECK((source.words() == shifted(input, shift)));
    }
}

constexpr SluiceScanKind kBothKinds[] = {SLUICE_SCAN_EXCLUSIVE, SLUICE_SCAN_INCLUSIVE};

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("scan: every size around the lane group, the workgroup and the tile")
{
    std::mt19937 random = makeRandom(1);
    for (const size_t count : std::initializer_list<size_t>{
             0,    1,    2,    3,    4,    5,    31,   32,   33,   63,   64,   65,
             127,  128,  129,  255,  256,  257,  511,  512,  513,  1023, 1024, 1025,
             2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 16385}) {
        ScanCase scan;
        const Words input = randomWords(count, random);
        for (const SluiceScanKind kind : kBothKinds) {
            scan.kind = kind;
            checkScan(scan, input);
        }
    }
}

TEST_CASE("scan: in place, without a total, large")
{
    std::mt19937 random = makeRandom(2);
    for (const size_t count : std::initializer_list<size_t>{1, 129, 100003}) {
        const Words input = randomWords(count, random);
        ScanCase scan;
        for (const SluiceScanKind kind : kBothKinds) {
            scan.kind = kind;
            scan.inPlace = true;
            scan.withTotal = true;
            checkScan(scan, input);
            scan.inPlace = scan.withTotal = false;
            checkScan(scan, input);
        }
    }
}

TEST_CASE("scan: so many tiles that there is a scanner, and that a workgroup takes several")
{
    std::mt19937 random = makeRandom(10);
    ScanCase scan;
    for (const uint32_t polls : {kUsualPolls, 0u}) {
        scan.polls = polls;
        checkScan(scan, randomWords(2300007, random));
    }
    scan.polls = kUsualPolls;
    for (const SluiceOperation operation : {SLUICE_OPERATION_SUM, SLUICE_OPERATION_MAX}) {
        scan.operation = operation;
        for (const SluiceValueType type : {SLUICE_VALUE_U32, SLUICE_VALUE_U64}) {
            scan.type = type;
            scan.headEvery = 0;
            checkScan(scan, randomValues(type, 600011, false, random));
            scan.headEvery = 30000;
            checkScan(scan, randomValues(type, 600011, false, random));
        }
    }
}

TEST_CASE("scan: sums wrap")
{
    ScanCase scan;
    checkScan(scan, Words(3000, 0xFFFFFFFFu));
    scan.kind = SLUICE_SCAN_INCLUSIVE;
    checkScan(scan, Words(3000, 0x80000001u));
    scan.type = SLUICE_VALUE_U64;
    checkScan(scan, Words(6000, 0xFFFFFFFFu));
}

TEST_CASE("scan: all operations and types, whole and in segments")
{
    std::mt19937 random = makeRandom(4);
    for (const SluiceValueType type :
         {SLUICE_VALUE_U32, SLUICE_VALUE_I32, SLUICE_VALUE_U64, SLUICE_VALUE_F32}) {
        for (const SluiceOperation operation :
             {SLUICE_OPERATION_SUM, SLUICE_OPERATION_MIN, SLUICE_OPERATION_MAX}) {
            const bool special = operation != SLUICE_OPERATION_SUM;
            for (const uint32_t headEvery : {0u, 3u, 700u, 100000u}) {
                ScanCase scan;
                scan.operation = operation;
                scan.type = type;
                scan.headEvery = headEvery;
                for (const size_t count : std::initializer_list<size_t>{0, 1, 129, 20011}) {
                    const Words input = randomValues(type, count, special, random);
                    for (const SluiceScanKind kind : kBothKinds) {
                        scan.kind = kind;
                        scan.inPlace = count == 129;
                        checkScan(scan, input);
                    }
                }
            }
        }
    }
}

TEST_CASE("scan: rings of waiting tiles whose places come late")
{
    const uint32_t ring = scanRingElements(device());
    if (ring == 0) return skipCase("scans do not go through rings here");
    std::mt19937 random = makeRandom(11);
    const uint32_t count = 2 * ring + 7;
    const Words input = randomWords(count, random);
    for (const uint32_t looks : {1u, 3u, 60u}) {
        const LookbackPolls few(device(), looks);
        ScanCase scan;
        checkScan(scan, input);
        scan.kind = SLUICE_SCAN_INCLUSIVE;
        scan.inPlace = true;
        checkScan(scan, input);
        scan.withTotal = false;
        scan.deviceCount = count - ring / 2 + 11;
        checkScan(scan, input);
    }
}

TEST_CASE("scan: rings of so many tiles that all workgroups clear the scratch")
{
    const uint32_t ring = scanRingElements(device());
    if (ring == 0) return skipCase("scans do not go through rings here");
    std::mt19937 random = makeRandom(12);
    const Words input = randomWords(17 * ring + 7, random);
    checkScan(ScanCase(), input);
    const LookbackPolls few(device(), 3);
    checkScan(ScanCase(), input);
}

TEST_CASE("scan: neither waiting nor looking back gives the same")
{
    std::mt19937 random = makeRandom(5);
    for (const uint32_t polls : {0u, SLUICE_LOOKBACK_NEVER}) {
        for (const SluiceValueType type : {SLUICE_VALUE_U32, SLUICE_VALUE_U64}) {
            for (const uint32_t headEvery : {0u, 5000u}) {
                ScanCase scan;
                scan.type = type;
                scan.polls = polls;
                scan.headEvery = headEvery;
                const Words input = randomValues(type, 70001, false, random);
                checkScan(scan, input);
                scan.inPlace = true;
                checkScan(scan, input);
            }
        }
    }
}

TEST_CASE("scan: the count comes from GPU memory and is clamped")
{
    std::mt19937 random = makeRandom(6);
    for (const SluiceValueType type : {SLUICE_VALUE_U32, SLUICE_VALUE_F32}) {
        const Words input = randomValues(type, 40000, false, random);
        for (const uint32_t count : {0u, 1u, 2048u, 16384u, 39999u, 40000u, 40001u, 0xfffffffeu}) {
            ScanCase scan;
            scan.type = type;
            scan.deviceCount = count;
            checkScan(scan, input);
        }
    }
}

TEST_CASE("scan: elements at any alignment")
{
    std::mt19937 random = makeRandom(8);
    for (const SluiceValueType type : {SLUICE_VALUE_U32, SLUICE_VALUE_U64}) {
        for (const uint32_t misaligned : {1u, 2u, 3u}) {
            ScanCase scan;
            scan.type = type;
            scan.misaligned = misaligned;
            checkScan(scan, randomValues(type, 17000, false, random));
        }
    }
}

TEST_CASE("scan: f32 sums have the same bits in every run")
{
    constexpr uint32_t runs = 6;
    std::mt19937 random = makeRandom(9);
    for (const uint32_t count : {5000u, 60000u, isSoftware() ? 200001u : 700001u}) {
        const Words input = randomValues(SLUICE_VALUE_F32, count, false, random);
        const Words heads = randomHeads(count, 3000, random);
        Buffer source(device(), input), headBits(device(), heads), total(device(), 4);
        for (const SluiceScanKind kind : kBothKinds) {
            for (const bool segmented : {false, true}) {
                CAPTURE(count);
                CAPTURE(kind);
                CAPTURE(segmented);
                SluiceScanInfo info = {};
                info.kind = kind;
                info.type = SLUICE_VALUE_F32;
                info.maxCount = count;
                info.input = source.range();
                info.total = total.range();
                if (segmented) info.heads = headBits.range();
                SluiceRequirements requirements = {};
                REQUIRE(sluiceGetScanRequirements(device().context(), &info, &requirements) ==
                        SLUICE_OK);
                Buffer scratch = makeScratch(device(), requirements);
                info.scratch = scratch.range();
                Words first, firstTotal;
                for (uint32_t run = 0; run < runs; ++run) {
                    Buffer output(device(), input.size() * 4);
                    info.output = output.range();
                    device().run([&](SluiceCommands commands) {
                        REQUIRE(sluiceCmdScan(device().context(), commands, &info) == SLUICE_OK);
                    });
                    const Words words = output.words(), sum = total.words();
                    if (run == 0) {
                        first = words;
                        firstTotal = sum;
                        const HostScan expected =
                            scanOnHost(kind, SLUICE_OPERATION_SUM, SLUICE_VALUE_F32, input,
                                       segmented ? heads : Words());
                        checkF32(words, expected);
                    }
                    CHECK((words == first));
                    CHECK((sum == firstTotal));
                }
            }
        }
    }
}

TEST_CASE("scan: two scans that share scratch, with a barrier between, in one submission")
{
    std::mt19937 random = makeRandom(3);
    const Words input = randomWords(50000, random);
    Buffer source(device(), input), middle(device(), input.size() * 4),
        target(device(), input.size() * 4);
    SluiceScanInfo info = {};
    info.kind = SLUICE_SCAN_INCLUSIVE;
    info.maxCount = uint32_t(input.size());
    info.input = source.range();
    info.output = middle.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetScanRequirements(device().context(), &info, &requirements) == SLUICE_OK);
    Buffer scratch = makeScratch(device(), requirements);
    info.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdScan(device().context(), commands, &info) == SLUICE_OK);
        REQUIRE(sluiceCmdBarrier(device().context(), commands) == SLUICE_OK);
        info.input = middle.range();
        info.output = target.range();
        info.maxCount = 30001; // the second scan has fewer tiles over the same scratch
        REQUIRE(sluiceCmdScan(device().context(), commands, &info) == SLUICE_OK);
    });
    Words once =
        scanOnHost(SLUICE_SCAN_INCLUSIVE, SLUICE_OPERATION_SUM, SLUICE_VALUE_U32, input, {}).output;
    once.resize(30001);
    const Words twice =
        scanOnHost(SLUICE_SCAN_INCLUSIVE, SLUICE_OPERATION_SUM, SLUICE_VALUE_U32, once, {}).output;
    const Words got = target.words();
    CHECK((Words(got.begin(), got.begin() + 30001) == twice));
}

TEST_CASE("scan: scratch that is not zero spoils the result but nothing else")
{
    const Words input(30000, 1);
    for (const uint8_t garbage : {uint8_t(0x40), uint8_t(0x80), uint8_t(0xff), uint8_t(0x01)}) {
        Buffer source(device(), input), target(device(), input.size() * 4);
        SluiceScanInfo info = {};
        info.maxCount = uint32_t(input.size());
        info.input = source.range();
        info.output = target.range();
        SluiceRequirements requirements = {};
        REQUIRE(sluiceGetScanRequirements(device().context(), &info, &requirements) == SLUICE_OK);
        Buffer scratch(device(), Bytes(size_t(requirements.scratchSize), garbage));
        info.scratch = scratch.range();
        device().run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdScan(device().context(), commands, &info) == SLUICE_OK);
        });
        CHECK((source.words() == input)); // so the scan ended; the checks below find writes outside
        target.bytes();
        scratch.bytes();
    }
}

TEST_CASE("the barrier checker notices a missing barrier")
{
    if (device().backend() != SLUICE_BACKEND_VULKAN) return; // only Vulkan records commands
    Buffer first(device(), 400), second(device(), 400), third(device(), 400);
    SluiceScanInfo info = {};
    info.maxCount = 100;
    info.input = first.range();
    info.output = second.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetScanRequirements(device().context(), &info, &requirements) == SLUICE_OK);
    Buffer scratch = makeScratch(device(), requirements),
           otherScratch = makeScratch(device(), requirements);
    SluiceCommands commands = nullptr;
    REQUIRE(sluiceBegin(device().get(), &commands) == SLUICE_OK);
    info.scratch = scratch.range();
    REQUIRE(sluiceCmdScan(device().context(), commands, &info) == SLUICE_OK);
    info.input = second.range(); // the output of the first scan
    info.output = third.range();
    info.scratch = otherScratch.range();
    REQUIRE(sluiceCmdScan(device().context(), commands, &info) == SLUICE_OK);
    REQUIRE(sluiceSubmit(device().get(), commands, nullptr) == SLUICE_OK);
    CHECK(device().takeMessages() != "");
}

TEST_SUITE_END();
