// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows of tuning tables as text, for the row of the CUDA backend.
#include <doctest/doctest.h>

#include <string>

#include "cuda/tuning.h"

using namespace sluice;

namespace {

CudaTuning someRow() { return tuningFor({132, 396, 264, true}); }

std::string textOf(const CudaTuning& row)
{
    std::string text(writeTuning(row, nullptr, 0) + 1, '?');
    CHECK(writeTuning(row, text.data(), text.size()) == text.size() - 1);
    text.pop_back();
    return text;
}

} // namespace

TEST_CASE("tuning: a row is the same after it was written and read")
{
    const std::string text = textOf(someRow());
    CHECK(text.find("lookback.polls=4096 ") == 0);
    CHECK(text.find(" scan.blocks=264 scan.ring=1 ") != std::string::npos);
    CudaTuning row = {};
    CHECK(readTuning(text.c_str(), row) == SLUICE_OK);
    CHECK(textOf(row) == text);

    char cut[20];
    CHECK(writeTuning(row, cut, sizeof cut) == text.size());
    CHECK(std::string(cut) == text.substr(0, sizeof cut - 1));
}

TEST_CASE("tuning: a text sets what it names")
{
    CudaTuning row = someRow();
    CHECK(readTuning("", row) == SLUICE_OK);
    CHECK(textOf(row) == textOf(someRow()));
    CHECK(readTuning("\n scan.blocks=2\tlookback.polls=4294967295  scan.ring=0 \n", row) ==
          SLUICE_OK);
    CHECK(row.scan.blocks == 2);
    CHECK(row.scan.ring == 0);
    CHECK(row.lookback.polls == SLUICE_LOOKBACK_NEVER);
    CHECK(row.compact.ring == 1);
}

TEST_CASE("tuning: a bad text changes nothing")
{
    for (const char* text : {"scan.block=4",
                             "scan.blocks",
                             "scan.blocks=",
                             "scan.blocks=x",
                             "scan.blocks=4x",
                             "scan.blocks =4",
                             "scan.blocks= 4",
                             "scan.blocks=-4",
                             "=4",
                             "scan",
                             "scan.blocks=4,",
                             "scan.blocks=4 scan.ring=2",
                             "scan.blocks=1",
                             "scan.blocks=65537",
                             "scan.blocks=4294967298",
                             "scan.blocks=99999999999999999999999",
                             "lookback.polls=4194305",
                             "interval.windowBytes=24577",
                             "interval.largeBytes=16383",
                             "compact.blocks=1",
                             "lookback.scannerTiles=1",
                             "filter.fewTiles=4294967296"}) {
        CAPTURE(text);
        CudaTuning row = someRow();
        CHECK(readTuning(text, row) == SLUICE_ERROR_ARGUMENT);
        CHECK(textOf(row) == textOf(someRow()));
    }
}

TEST_CASE("tuning: every field takes the ends of its range and nothing beyond")
{
    for (const TuningField& field : tuningFields(CudaTuning{})) {
        CAPTURE(field.name);
        const auto reads = [&](uint64_t value) {
            CudaTuning row = someRow();
            const std::string text = std::string(field.name) + "=" + std::to_string(value);
            const bool good = readTuning(text.c_str(), row) == SLUICE_OK;
            CHECK(tuningValue(row, field) == (good ? value : tuningValue(someRow(), field)));
            return good;
        };
        CHECK(reads(field.least));
        CHECK(reads(field.most));
        CHECK(reads(field.also));
        CHECK(!reads(uint64_t{field.most} + 1));
        if (field.least != 0) CHECK(!reads(field.least - 1));
        CHECK(field.allows(tuningValue(someRow(), field)));
    }
}

TEST_CASE("tuning: a device without the kernels for it refuses rows that ask for more")
{
    CudaTraits old = {68, 204, 136, false};
    CHECK(canUse(old, tuningFor(old)));
    for (const char* text :
         {"scan.ring=1", "scan.programmaticLaunch=1", "reduce.programmaticLaunch=1",
          "compact.ring=1", "compact.programmaticLaunch=1", "gstd.programmaticLaunch=1",
          "floatDecode.programmaticLaunch=1"}) {
        CAPTURE(text);
        CudaTuning row = tuningFor(old);
        REQUIRE(readTuning(text, row) == SLUICE_OK);
        CHECK(!canUse(old, row));
        CHECK(canUse({132, 396, 264, true}, row));
    }
}
