// SPDX-License-Identifier: MIT OR Apache-2.0
#include "devices.h"

using namespace sluice::test;

namespace {

struct ScanResult {
    Words output;
    uint32_t total;
};

ScanResult scanOnHost(SluiceScanKind kind, const Words& input)
{
    Words output(input.size());
    uint32_t sum = 0;
    for (size_t i = 0; i < input.size(); ++i) {
        output[i] = kind == SLUICE_SCAN_EXCLUSIVE ? sum : sum + input[i];
        sum += input[i];
    }
    return {output, sum};
}

void checkScan(SluiceScanKind kind, const Words& input, bool inPlace, bool withTotal)
{
    CAPTURE(kind);
    CAPTURE(input.size());
    CAPTURE(inPlace);
    Buffer source(device(), input), target(device(), inPlace ? 0 : input.size() * 4), total(device(), 4);
    Buffer& output = inPlace ? source : target;
    SluiceScanInfo info = {};
    info.kind = kind;
    info.count = uint32_t(input.size());
    info.input = source.range();
    info.output = output.range();
    if (withTotal) info.total = total.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetScanRequirements(device().context(), &info, &requirements) == SLUICE_OK);
    Buffer scratch = makeScratch(device(), requirements);
    info.scratch = scratch.range();
    device().run(
        [&](SluiceCommands commands) { REQUIRE(sluiceCmdScan(device().context(), commands, &info) == SLUICE_OK); });

    const ScanResult expected = scanOnHost(kind, input);
    CHECK((output.words() == expected.output));
    CHECK(total.words()[0] == (withTotal ? expected.total : Buffer::poison * 0x01010101u));
    if (!inPlace) CHECK((source.words() == input));
    scratch.bytes(); // its guards
}

Words randomWords(size_t count, std::mt19937& random)
{
    Words words(count);
    for (uint32_t& word : words)
        word = uint32_t(random());
    return words;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("scan: every size around the lane group, the workgroup and the tile")
{
    std::mt19937 random = makeRandom(1);
    for (const size_t count : std::initializer_list<size_t>{
             0,   1,   2,   3,   4,   5,   31,   32,   33,   63,   64,   65,   127,  128,  129,
             255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097}) {
        const Words input = randomWords(count, random);
        checkScan(SLUICE_SCAN_EXCLUSIVE, input, false, true);
        checkScan(SLUICE_SCAN_INCLUSIVE, input, false, true);
    }
}

TEST_CASE("scan: in place, without a total, large")
{
    std::mt19937 random = makeRandom(2);
    for (const size_t count : std::initializer_list<size_t>{1, 129, 100003}) {
        const Words input = randomWords(count, random);
        for (const SluiceScanKind kind : {SLUICE_SCAN_EXCLUSIVE, SLUICE_SCAN_INCLUSIVE}) {
            checkScan(kind, input, true, true);
            checkScan(kind, input, false, false);
        }
    }
}

TEST_CASE("scan: sums wrap modulo 2^32")
{
    checkScan(SLUICE_SCAN_EXCLUSIVE, Words(3000, 0xFFFFFFFFu), false, true);
    checkScan(SLUICE_SCAN_INCLUSIVE, Words(3000, 0x80000001u), false, true);
}

TEST_CASE("scan: two scans that share scratch, with a barrier between, in one submission")
{
    std::mt19937 random = makeRandom(3);
    const Words input = randomWords(5000, random);
    Buffer source(device(), input), middle(device(), input.size() * 4), target(device(), input.size() * 4);
    SluiceScanInfo info = {};
    info.kind = SLUICE_SCAN_INCLUSIVE;
    info.count = uint32_t(input.size());
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
        REQUIRE(sluiceCmdScan(device().context(), commands, &info) == SLUICE_OK);
    });
    const Words once = scanOnHost(SLUICE_SCAN_INCLUSIVE, input).output;
    CHECK((target.words() == scanOnHost(SLUICE_SCAN_INCLUSIVE, once).output));
}

TEST_CASE("the barrier checker notices a missing barrier")
{
    if (device().backend() != SLUICE_BACKEND_VULKAN) return; // only there something is recorded
    Buffer first(device(), 400), second(device(), 400), third(device(), 400);
    SluiceScanInfo info = {};
    info.count = 100;
    info.input = first.range();
    info.output = second.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetScanRequirements(device().context(), &info, &requirements) == SLUICE_OK);
    Buffer scratch = makeScratch(device(), requirements), otherScratch = makeScratch(device(), requirements);
    SluiceCommands commands = nullptr;
    REQUIRE(sluiceBegin(device().get(), &commands) == SLUICE_OK);
    info.scratch = scratch.range();
    REQUIRE(sluiceCmdScan(device().context(), commands, &info) == SLUICE_OK);
    info.input = second.range(); // what the first scan writes
    info.output = third.range();
    info.scratch = otherScratch.range();
    REQUIRE(sluiceCmdScan(device().context(), commands, &info) == SLUICE_OK);
    REQUIRE(sluiceSubmit(device().get(), commands, nullptr) == SLUICE_OK);
    CHECK(device().takeMessages() != "");
}

TEST_SUITE_END();
