// SPDX-License-Identifier: MIT OR Apache-2.0
#include "devices.h"

#include <algorithm>

using namespace sluice::test;

namespace {

// Keeps input[i] where flags[i] is not 0; flags empty: the input is its own flags. capacity: elements of the output.
void checkCompact(const Words& input, const Words& flags, size_t capacity)
{
    CAPTURE(input.size());
    CAPTURE(capacity);
    Buffer source(device(), input), flagBuffer(device(), flags), output(device(), capacity * 4), count(device(), 4);
    SluiceCompactInfo info = {};
    info.count = uint32_t(input.size());
    info.input = source.range();
    info.flags = flagBuffer.range();
    info.output = output.range();
    info.resultCount = count.range();
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetCompactRequirements(device().context(), &info, &requirements) == SLUICE_OK);
    Buffer scratch = makeScratch(device(), requirements);
    info.scratch = scratch.range();
    device().run(
        [&](SluiceCommands commands) { REQUIRE(sluiceCmdCompact(device().context(), commands, &info) == SLUICE_OK); });

    Words expected;
    for (size_t i = 0; i < input.size(); ++i) {
        if ((flags.empty() ? input : flags)[i] != 0) expected.push_back(input[i]);
    }
    CHECK(count.words()[0] == expected.size());
    expected.resize(capacity, Buffer::poison * 0x01010101u); // what is not kept is not touched
    CHECK((output.words() == expected));
    CHECK((source.words() == input));
    scratch.bytes(); // its guards
}

// Each element is kept with a probability of `keep` in 256.
void checkRandom(size_t count, uint32_t keep, std::mt19937& random)
{
    Words input(count), flags(count), sparse(count);
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
        input[i] = uint32_t(random());
        flags[i] = random() % 256 < keep ? 1u << random() % 32 : 0; // any bit makes a flag
        sparse[i] = flags[i] != 0 ? input[i] | 1 : 0;
        kept += flags[i] != 0;
    }
    checkCompact(input, count == 0 ? Words() : flags, count);
    checkCompact(input, count == 0 ? Words() : flags, kept);
    checkCompact(sparse, {}, kept);
    if (kept > 0) checkCompact(input, flags, kept - 1);
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("compact: every size around the lane group, the workgroup and the tile")
{
    std::mt19937 random = makeRandom(11);
    for (const size_t count : std::initializer_list<size_t>{
             0, 1, 4, 5, 31, 32, 33, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049}) {
        checkRandom(count, 128, random);
    }
}

TEST_CASE("compact: none, few, most, all")
{
    std::mt19937 random = makeRandom(12);
    for (const uint32_t keep : std::initializer_list<uint32_t>{0, 3, 250, 256})
        checkRandom(3001, keep, random);
}

TEST_CASE("compact: large, and an output that is far too small")
{
    std::mt19937 random = makeRandom(13);
    checkRandom(100003, 100, random);
    Words input(20000);
    std::generate(input.begin(), input.end(), [&random] { return uint32_t(random()) | 1; });
    checkCompact(input, {}, 0);
    checkCompact(input, {}, 1);
    checkCompact(input, {}, 9999);
}

TEST_SUITE_END();
