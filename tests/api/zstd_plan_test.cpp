// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of the Zstandard decode: what scratch it asks for.
#include "api/plan_tiles.h"
#include "api/plan_zstd.h"

#include <doctest/doctest.h>

using namespace sluice;

TEST_SUITE_BEGIN("host");

TEST_CASE("zstd plan: a batch of tiles gets as many at once as its scratch has room for")
{
    const ZstdTuning tuning = {1 << 20, 1024, 1000, kZstdSteps};
    for (const uint32_t size : {1u, 4096u, 65535u, 262144u, 1u << 20, 1u << 24}) {
        for (const uint32_t count : {1u, 2u, 39u, 200u, 5000u}) {
            for (const uint32_t wanted : {1u, 0u, 1000u}) {
                CAPTURE(size);
                CAPTURE(count);
                CAPTURE(wanted);
                SluiceZstdInfo info = {};
                info.maxRegionCount = count;
                info.maxRegionSize = size;
                const auto scratchOf = [&](uint32_t regionsAtOnce) {
                    info.regionsAtOnce = regionsAtOnce;
                    return zstdScratch(info, tuning).scratchSize;
                };
                const uint32_t atOnce = zstdTilesAtOnce(count, wanted, scratchOf);
                REQUIRE(atOnce >= 1);
                REQUIRE(atOnce <= count);
                CHECK((atOnce == 1 || scratchOf(atOnce) <= slotBytes(wanted)));
                if (atOnce < count) CHECK(scratchOf(atOnce + 1) > slotBytes(wanted));
            }
        }
    }
}

TEST_CASE("zstd plan: textures of 256 KiB in a stream's scratch are one turn, however many fit")
{
    const ZstdTuning tuning = {1 << 20, 1024, 1000, kZstdSteps};
    SluiceZstdInfo info = {};
    info.maxRegionCount = 170;
    info.maxRegionSize = 262144;
    info.regionsAtOnce = zstdTilesAtOnce(170, 0, [&](uint32_t regionsAtOnce) {
        info.regionsAtOnce = regionsAtOnce;
        return zstdScratch(info, tuning).scratchSize;
    });
    // 16 blocks, 100,000 bytes of literals, 20,000 sequences
    const uint32_t need = SLUICE_ZS_BLOCK_UNITS(16u) + SLUICE_ZS_LITERAL_UNITS(100000u) +
                          SLUICE_ZS_SEQUENCE_UNITS(20000u);
    CHECK(zstdSlots(info, tuning) == 170);
    CHECK(uint64_t(need) * 170 <= uint64_t(zstdUnits(info, tuning)) * zstdFullSlots(info, tuning));
}

TEST_SUITE_END();
