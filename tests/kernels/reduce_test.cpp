// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_scan.h>

#include "tests/support/scans.h"

using namespace sluice::test;

namespace {

void checkReduce(SluiceOperation operation, SluiceValueType type, const Words& input,
                 uint32_t deviceCount = ~0u)
{
    CAPTURE(operation);
    CAPTURE(type);
    CAPTURE(input.size());
    CAPTURE(deviceCount);
    Buffer source(device(), input), result(device(), 8), count(device(), Words{deviceCount});
    SluiceReduceInfo info = {};
    info.operation = operation;
    info.type = type;
    info.maxCount = uint32_t(input.size() / wordsOf(type));
    info.input = source.range();
    info.result = result.range();
    if (deviceCount != ~0u) info.count = count.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetReduceRequirements(device().context(), &info, &requirements) == SLUICE_OK);
    CHECK(requirements.scratchSize <= 33 * 1024);
    Buffer scratch = makeScratch(device(), requirements);
    info.scratch = scratch.range();
    // The reduction runs twice over the same scratch.
    Words results[2];
    for (Words& words : results) {
        device().run([&](SluiceCommands commands) {
            REQUIRE(sluiceCmdReduce(device().context(), commands, &info) == SLUICE_OK);
        });
        words = result.words();
    }
    CHECK((results[0] == results[1]));
    if (requirements.zeroedScratch != 0) CHECK((scratch.words() == Words(scratch.size() / 4)));

    const size_t n = std::min<size_t>(info.maxCount, deviceCount) * wordsOf(type);
    const HostScan expected = scanOnHost(SLUICE_SCAN_EXCLUSIVE, operation, type,
                                         Words(input.begin(), input.begin() + ptrdiff_t(n)), {});
    const uint32_t poison = Buffer::kPoison * 0x01010101u;
    if (operation == SLUICE_OPERATION_SUM && type == SLUICE_VALUE_F32) {
        checkF32({results[0][0]}, {{}, {}, {expected.exactTotal}, {expected.totalBound}, 0, 0});
    } else {
        CHECK(results[0][0] == expected.total[0]);
    }
    CHECK(results[0][1] == (wordsOf(type) == 2 ? expected.total[1] : poison));
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("reduce: all operations and types")
{
    std::mt19937 random = makeRandom(21);
    for (const SluiceValueType type :
         {SLUICE_VALUE_U32, SLUICE_VALUE_I32, SLUICE_VALUE_U64, SLUICE_VALUE_F32}) {
        for (const SluiceOperation operation :
             {SLUICE_OPERATION_SUM, SLUICE_OPERATION_MIN, SLUICE_OPERATION_MAX}) {
            for (const size_t count :
                 std::initializer_list<size_t>{0, 1, 2, 33, 2047, 2049, 8193, 100003})
                checkReduce(operation, type,
                            randomValues(type, count, operation != SLUICE_OPERATION_SUM, random));
        }
    }
}

TEST_CASE("reduce: so many elements that a workgroup takes several rounds")
{
    std::mt19937 random = makeRandom(23);
    const PlannedBy few(device(), "scan.reduceWorkgroups=16", "reduce.blocks=16");
    const size_t round = 16 * reduceTileElements(device());
    for (const size_t count : {round - 1, round + 1, 3 * round + 17}) {
        checkReduce(SLUICE_OPERATION_SUM, SLUICE_VALUE_U32, randomWords(count, random));
        checkReduce(SLUICE_OPERATION_SUM, SLUICE_VALUE_F32,
                    randomValues(SLUICE_VALUE_F32, count, false, random));
        checkReduce(SLUICE_OPERATION_MAX, SLUICE_VALUE_I32, randomWords(count, random));
        checkReduce(SLUICE_OPERATION_SUM, SLUICE_VALUE_U64, randomWords(2 * count, random));
        checkReduce(SLUICE_OPERATION_MIN, SLUICE_VALUE_U64, randomWords(2 * count, random));
        // The result depends on the last element alone.
        Words last(count, 5);
        last.back() = 4;
        checkReduce(SLUICE_OPERATION_MIN, SLUICE_VALUE_U32, last);
        checkReduce(SLUICE_OPERATION_SUM, SLUICE_VALUE_U32, last, uint32_t(count - 1));
    }
}

TEST_CASE("reduce: as many workgroups as the device has")
{
    std::mt19937 random = makeRandom(24);
    for (const SluiceValueType type : {SLUICE_VALUE_U32, SLUICE_VALUE_F32})
        checkReduce(SLUICE_OPERATION_SUM, type, randomValues(type, 3000017, false, random));
}

TEST_CASE("reduce: the count comes from GPU memory and is clamped")
{
    std::mt19937 random = makeRandom(22);
    const Words input = randomWords(30000, random);
    for (const uint32_t count : {0u, 1u, 4096u, 29999u, 30000u, 0xfffffffeu})
        checkReduce(SLUICE_OPERATION_SUM, SLUICE_VALUE_U32, input, count);
}

TEST_CASE("reduce: f32 identities and special values")
{
    const Words nan = {0x7fc00000u, 0xffc00000u};
    checkReduce(SLUICE_OPERATION_MIN, SLUICE_VALUE_F32, nan);
    checkReduce(SLUICE_OPERATION_MAX, SLUICE_VALUE_F32, nan);
    const Words zeros = {0x80000000u, 0, 0x80000000u};
    checkReduce(SLUICE_OPERATION_MIN, SLUICE_VALUE_F32, zeros);
    checkReduce(SLUICE_OPERATION_MAX, SLUICE_VALUE_F32, zeros);
}

TEST_SUITE_END();
