// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_compact.h>
#include <sluice/sluice_scan.h>

#include "layout/lookback.h"
#include "tests/support/devices.h"

#include "api/backend.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace sluice::test;

namespace {

constexpr uint32_t kEverything = ~0u;

// One compaction to run and check against the host.
struct CompactCase {
    SluiceCompactTest test = SLUICE_COMPACT_NON_ZERO;
    SluiceComparison comparison = SLUICE_COMPARE_EQUAL;
    SluiceValueType type = SLUICE_VALUE_U32;
    uint64_t constant = 0;
    uint32_t elementSize = 4;
    uint32_t flags = 0;
    uint32_t polls = kUsualPolls;
    bool inPlace = false;
    bool elements = true;
    bool indices = false;
    uint32_t deviceCount = kEverything;   // in GPU memory, unless it is kEverything
    uint32_t capacity = kEverything;      // elements of the output
    uint32_t indexCapacity = kEverything; // room for this many indices
    // Elements by which input and output begin after a multiple of 16 bytes.
    uint32_t misaligned = 0;
    uint32_t argumentDivisor = 0;
    uint32_t argumentLimit = 0;
};

template <typename T>
bool compares(const uint8_t* bytes, const CompactCase& c)
{
    T a, b;
    std::memcpy(&a, bytes, sizeof a);
    std::memcpy(&b, &c.constant, sizeof b);
    switch (c.comparison) {
    case SLUICE_COMPARE_NOT_EQUAL: return !(a == b);
    case SLUICE_COMPARE_LESS: return a < b;
    case SLUICE_COMPARE_LESS_EQUAL: return a <= b;
    case SLUICE_COMPARE_GREATER: return a > b;
    case SLUICE_COMPARE_GREATER_EQUAL: return a >= b;
    default: return a == b;
    }
}

bool compares(const uint8_t* bytes, const CompactCase& c)
{
    switch (c.type) {
    case SLUICE_VALUE_U8: return compares<uint8_t>(bytes, c);
    case SLUICE_VALUE_U16: return compares<uint16_t>(bytes, c);
    case SLUICE_VALUE_I32: return compares<int32_t>(bytes, c);
    case SLUICE_VALUE_F32: return compares<float>(bytes, c);
    case SLUICE_VALUE_U64: return compares<uint64_t>(bytes, c);
    default: return compares<uint32_t>(bytes, c);
    }
}

bool selects(const CompactCase& c, const Bytes& input, const Words& selectors, uint32_t index)
{
    const uint32_t size = c.elementSize;
    const uint8_t* element = input.data() + size_t(index) * size;
    switch (c.test) {
    case SLUICE_COMPACT_BYTES: return (selectors[index / 4] >> index % 4 * 8 & 255) != 0;
    case SLUICE_COMPACT_MASK: return (selectors[index / 32] >> index % 32 & 1) != 0;
    case SLUICE_COMPACT_COMPARE: return compares(element, c);
    case SLUICE_COMPACT_NON_ZERO:
        return std::any_of(element, element + size, [](uint8_t byte) { return byte != 0; });
    default: return index == 0 || !std::equal(element, element + size, element - size);
    }
}

// The elements that are kept and, for a partition, then those that are not.
struct Chosen {
    std::vector<uint32_t> order;
    uint32_t kept = 0;
};

Chosen chooseOnHost(const CompactCase& c, const Bytes& input, const Words& selectors,
                    uint32_t count)
{
    Chosen chosen;
    std::vector<uint32_t> rest;
    for (uint32_t i = 0; i < count; ++i) {
        const bool keep = selects(c, input, selectors, i) != ((c.flags & SLUICE_COMPACT_DROP) != 0);
        (keep ? chosen.order : rest).push_back(i);
    }
    chosen.kept = uint32_t(chosen.order.size());
    if ((c.flags & SLUICE_COMPACT_PARTITION) != 0)
        chosen.order.insert(chosen.order.end(), rest.begin(), rest.end());
    return chosen;
}

SluiceBuffer part(const Buffer& buffer, uint64_t offset, uint64_t size)
{
    const SluiceBuffer whole = buffer.range();
    return {whole.handle, whole.offset + offset, size};
}

// Elements of 1 and 2 bytes are read in words, which may reach past the end of the input.
Bytes padded(Bytes bytes)
{
    bytes.resize((bytes.size() + 3) / 4 * 4, 0x5A);
    return bytes;
}

Words expectedIndices(const Chosen& chosen, uint32_t capacity)
{
    Words words = chosen.order;
    words.resize(capacity, Buffer::kPoison * 0x01010101u);
    return words;
}

uint32_t expectedArgument(const CompactCase& c, uint32_t kept)
{
    const uint32_t divisor = std::max(c.argumentDivisor, 1u);
    const uint32_t groups = uint32_t((uint64_t(kept) + divisor - 1) / divisor);
    return c.argumentLimit == 0 ? groups : std::min(groups, c.argumentLimit);
}

void checkCompact(const CompactCase& c, const Bytes& input, const Words& selectors = {})
{
    CAPTURE(c.test);
    CAPTURE(c.comparison);
    CAPTURE(c.type);
    CAPTURE(c.constant);
    CAPTURE(c.elementSize);
    CAPTURE(c.flags);
    CAPTURE(c.polls);
    CAPTURE(c.inPlace);
    CAPTURE(c.elements);
    CAPTURE(c.indices);
    CAPTURE(c.deviceCount);
    CAPTURE(c.capacity);
    CAPTURE(c.misaligned);
    const uint32_t size = c.elementSize, maxCount = uint32_t(input.size() / size);
    CAPTURE(maxCount);
    const uint32_t capacity = c.elements ? std::min(c.capacity, maxCount) : 0;
    const uint32_t indexCapacity = c.indices ? std::min(c.indexCapacity, maxCount) : 0;
    const size_t shift = size_t(c.misaligned) * size;

    Bytes shifted(shift, 0xAB);
    shifted.insert(shifted.end(), input.begin(), input.end());
    shifted = padded(shifted);
    Buffer source(device(), shifted),
        target(device(), c.inPlace ? 0 : shift + capacity * size_t(size));
    Buffer selectorBuffer(device(), selectors), indexList(device(), indexCapacity * 4ull);
    Buffer count(device(), Words{c.deviceCount}), result(device(), 8);
    SluiceCompactInfo info = {};
    info.test = c.test;
    info.comparison = c.comparison;
    info.type = c.type;
    info.constant = c.constant;
    info.elementSize = size;
    info.flags = c.flags;
    const LookbackPolls forced(device(), c.polls);
    info.maxCount = maxCount;
    if (c.deviceCount != kEverything) info.count = part(count, 0, 4);
    info.input = part(source, shift, input.size());
    info.selectors = selectorBuffer.range();
    info.output = part(c.inPlace ? source : target, shift, capacity * uint64_t(size));
    info.indices = indexList.range();
    info.resultCount = part(result, 0, 4);
    info.argument = part(result, 4, 4);
    info.argumentDivisor = c.argumentDivisor;
    info.argumentLimit = c.argumentLimit;
    const SluiceRequirements requirements =
        runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
    CHECK(requirements.scratchSize <= input.size() * 2 / 100 + (1u << 20));

    const Chosen chosen = chooseOnHost(c, input, selectors, std::min(maxCount, c.deviceCount));
    CHECK((result.words() == Words{chosen.kept, expectedArgument(c, chosen.kept)}));
    CHECK((indexList.words() == expectedIndices(chosen, indexCapacity)));
    // Bytes outside the results must not have changed.
    Bytes expected = c.inPlace ? shifted : Bytes(shift + capacity * size_t(size), Buffer::kPoison);
    for (size_t i = 0; i < std::min<size_t>(capacity, chosen.order.size()); ++i)
        std::memcpy(expected.data() + shift + i * size,
                    input.data() + size_t(chosen.order[i]) * size, size);
    CHECK(((c.inPlace ? source : target).bytes() == expected));
    if (!c.inPlace) CHECK((source.bytes() == shifted));
}

// Returns elements with few different values, of which about `keep` in 256 are not zero. Equal
// neighbours are frequent.
Bytes randomElements(uint32_t count, uint32_t size, uint32_t keep, std::mt19937& random)
{
    Bytes bytes(size_t(count) * size);
    for (uint32_t i = 0; i < count; ++i) {
        uint8_t* element = bytes.data() + size_t(i) * size;
        if (random() % 256 >= keep) continue;
        if (i != 0 && random() % 4 == 0) {
            std::copy(element - size, element, element);
        } else { // any byte that is not 0 makes an element not zero
            element[random() % size] = uint8_t(1 + random() % 255);
            if (random() % 2 == 0) element[random() % size] = uint8_t(random());
        }
    }
    return bytes;
}

// Returns selectors that keep about `keep` in 256 elements. Those past the count are all set.
Words randomSelectors(SluiceCompactTest test, uint32_t count, uint32_t keep, std::mt19937& random)
{
    const bool mask = test == SLUICE_COMPACT_MASK;
    if (!mask && test != SLUICE_COMPACT_BYTES) return {};
    const uint32_t perWord = mask ? 32 : 4;
    Words words((count + perWord - 1) / perWord, ~0u);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t field = mask ? 1u : 255u, at = i % perWord * (mask ? 1 : 8);
        // Any bit of a byte selects.
        const uint32_t value = random() % 256 < keep ? (mask ? 1u : 1u << random() % 8) : 0u;
        words[i / perWord] = (words[i / perWord] & ~(field << at)) | value << at;
    }
    return words;
}

// Runs a compaction with each kind of test over `count` elements. For COMPARE, about `keep` in 256
// elements are below the constant.
void checkKinds(CompactCase c, uint32_t count, uint32_t keep, std::mt19937& random)
{
    for (const SluiceCompactTest test : {SLUICE_COMPACT_BYTES, SLUICE_COMPACT_MASK,
                                         SLUICE_COMPACT_NON_ZERO, SLUICE_COMPACT_UNIQUE}) {
        c.test = test;
        checkCompact(c, randomElements(count, c.elementSize, keep, random),
                     randomSelectors(test, count, keep, random));
    }
}

constexpr uint32_t kElementSizes[] = {1, 2, 4, 8, 12, 16, 20};

struct Comparable {
    SluiceValueType type;
    uint32_t size;
    std::vector<uint64_t> values; // the first ones are used as constants, too
};

uint64_t bitsOf(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

std::vector<Comparable> comparables()
{
    const float infinity = INFINITY, nan = NAN;
    return {{SLUICE_VALUE_U8, 1, {0, 1, 127, 128, 255}},
            {SLUICE_VALUE_U16, 2, {0, 1, 32768, 65535, 255, 256}},
            {SLUICE_VALUE_U32, 4, {0, 1, 0x80000000u, 0x7fffffffu, 0xffffffffu, 65536}},
            {SLUICE_VALUE_I32, 4, {0, 1, 0x80000000u, 0x7fffffffu, 0xffffffffu, 0xfffffffeu}},
            {SLUICE_VALUE_U64,
             8,
             {0, 1, 0xffffffffu, uint64_t{1} << 32, ~uint64_t{0}, uint64_t{1} << 63,
              (uint64_t{1} << 32) + 1}},
            {SLUICE_VALUE_F32,
             4,
             {bitsOf(0.0f), bitsOf(-0.0f), bitsOf(1.0f), bitsOf(-1.5f), bitsOf(infinity),
              bitsOf(-infinity), bitsOf(nan), bitsOf(-nan), 1, 0x80000001u, 0x7f7fffffu,
              0xff7fffffu, 0xff800001u, 0x7f800001u}}};
}

constexpr SluiceComparison kComparisons[] = {SLUICE_COMPARE_EQUAL,   SLUICE_COMPARE_NOT_EQUAL,
                                             SLUICE_COMPARE_LESS,    SLUICE_COMPARE_LESS_EQUAL,
                                             SLUICE_COMPARE_GREATER, SLUICE_COMPARE_GREATER_EQUAL};

Bytes randomComparable(const Comparable& comparable, uint32_t count, std::mt19937& random)
{
    Bytes bytes(size_t(count) * comparable.size);
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t value = comparable.values[random() % comparable.values.size()];
        if (random() % 2 == 0) value = uint64_t(random()) << 32 | random();
        std::memcpy(bytes.data() + size_t(i) * comparable.size, &value, comparable.size);
    }
    return bytes;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("compact: the worked example of the literature")
{
    const Words input = {1, 0, 0, 0, 4, 3, 2, 0, 6, 8, 9, 0};
    Buffer source(device(), input), target(device(), 48), result(device(), 4),
        indices(device(), 48);
    SluiceCompactInfo info = {};
    info.test = SLUICE_COMPACT_COMPARE;
    info.comparison = SLUICE_COMPARE_GREATER;
    info.type = SLUICE_VALUE_I32;
    info.elementSize = 4;
    info.maxCount = 12;
    info.input = source.range();
    info.output = target.range();
    info.indices = indices.range();
    info.resultCount = result.range();
    runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
    const Words output = target.words(), positions = indices.words();
    CHECK((Words(output.begin(), output.begin() + 7) == Words{1, 4, 3, 2, 6, 8, 9}));
    CHECK((Words(positions.begin(), positions.begin() + 7) == Words{0, 4, 5, 6, 8, 9, 10}));
    CHECK((result.words() == Words{7}));
}

TEST_CASE("compact: the worked example of warp offsets, and warps that keep all of their elements")
{
    // Each of four warps of 32 keeps `kept` elements. Its first kept element goes to the sum of the
    // counts before, `offsets`.
    struct Example {
        uint32_t kept[4], offsets[4];
    };
    for (const Example& example :
         {Example{{16, 18, 17, 13}, {0, 16, 34, 51}}, Example{{32, 32, 32, 32}, {0, 32, 64, 96}}}) {
        Words input(128);
        for (uint32_t i = 0; i < 128; ++i)
            input[i] = i % 32 < example.kept[i / 32] ? 1000 + i : 0;
        Bytes bytes(512);
        std::memcpy(bytes.data(), input.data(), 512);
        CompactCase c;
        c.indices = true;
        checkCompact(c, bytes);
        // Elements of 16 bytes, of which a lane has one in each row, so that ranks come from
        // ballots. All groups of 128 among 4,096 are the same.
        Bytes large;
        for (uint32_t i = 0; i < 4096; ++i) {
            const Words element = {0, 0, 0, input[i % 128] != 0 ? 1000 + i : 0};
            const Bytes elementBytes = bytesOf(element);
            large.insert(large.end(), elementBytes.begin(), elementBytes.end());
        }
        c.elementSize = 16;
        checkCompact(c, large);
        checkCompact(c, Bytes(large.begin(), large.begin() + 128 * 16));

        Buffer source(device(), input), target(device(), 512), result(device(), 4);
        SluiceCompactInfo info = {};
        info.test = SLUICE_COMPACT_NON_ZERO;
        info.elementSize = 4;
        info.maxCount = 128;
        info.input = source.range();
        info.output = target.range();
        info.resultCount = result.range();
        runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
        const Words output = target.words();
        for (uint32_t warp = 0; warp < 4; ++warp)
            CHECK(output[example.offsets[warp]] == 1000 + warp * 32);
        CHECK((result.words() == Words{example.offsets[3] + example.kept[3]}));
    }
}

TEST_CASE("compact: every size around the subgroup, the workgroup and the tile")
{
    std::mt19937 random = makeRandom(11);
    CompactCase c;
    c.indices = true;
    for (const uint32_t count :
         {0u,    1u,    2u,    3u,    4u,    5u,    15u,   16u,   17u,   31u,   32u,   33u,
          63u,   64u,   65u,   127u,  128u,  129u,  511u,  512u,  513u,  1919u, 1920u, 1921u,
          2047u, 2048u, 2049u, 4095u, 4096u, 4097u, 7679u, 7680u, 7681u, 8191u, 8192u, 8193u}) {
        c.flags = count % 2 == 0 ? 0 : uint32_t(SLUICE_COMPACT_PARTITION);
        checkKinds(c, count, 128, random);
    }
}

TEST_CASE("compact: every element size, elements, indices and both, kept and dropped, partitioned")
{
    std::mt19937 random = makeRandom(12);
    for (const uint32_t size : kElementSizes) {
        for (const uint32_t outputs : {1u, 2u, 3u}) {
            for (const uint32_t flags :
                 {0u, uint32_t(SLUICE_COMPACT_DROP), uint32_t(SLUICE_COMPACT_PARTITION),
                  uint32_t(SLUICE_COMPACT_PARTITION | SLUICE_COMPACT_DROP)}) {
                CompactCase c;
                c.elementSize = size;
                c.flags = flags;
                c.elements = (outputs & 1) != 0;
                c.indices = (outputs & 2) != 0;
                checkKinds(c, 300, 100, random);
                checkKinds(c, 9001, 100, random);
            }
        }
    }
}

TEST_CASE("compact: every comparison of every type, with the values at the ends of the order")
{
    std::mt19937 random = makeRandom(13);
    for (const Comparable& comparable : comparables()) {
        const Bytes input = randomComparable(comparable, 333, random);
        for (const SluiceComparison comparison : kComparisons) {
            for (const uint64_t constant : comparable.values) {
                CompactCase c;
                c.test = SLUICE_COMPACT_COMPARE;
                c.comparison = comparison;
                c.type = comparable.type;
                c.constant = constant;
                c.elementSize = comparable.size;
                c.flags = comparison % 2 == 0 ? 0 : uint32_t(SLUICE_COMPACT_DROP);
                checkCompact(c, input);
            }
        }
    }
}

TEST_CASE("compact: none, few, most, all")
{
    std::mt19937 random = makeRandom(14);
    for (const uint32_t size : {1u, 4u, 16u, 20u}) {
        CompactCase c;
        c.elementSize = size;
        c.indices = size == 4;
        for (const uint32_t keep : {0u, 3u, 250u, 256u})
            checkKinds(c, 5001, keep, random);
    }
}

TEST_CASE("compact: in place")
{
    std::mt19937 random = makeRandom(15);
    for (const uint32_t size : kElementSizes) {
        CompactCase c;
        c.elementSize = size;
        c.inPlace = true;
        const std::pair<uint32_t, uint32_t> ways[] = {{0, kUsualPolls},
                                                      {SLUICE_COMPACT_DROP, kUsualPolls},
                                                      {0, 0},
                                                      {0, SLUICE_LOOKBACK_NEVER}};
        for (const auto& way : ways) {
            c.flags = way.first;
            c.polls = way.second;
            for (const uint32_t misaligned : {0u, 1u, 3u}) {
                c.misaligned = misaligned;
                checkKinds(c, 20011, 200, random);
            }
            c.misaligned = 0;
            c.capacity = 777;
            checkKinds(c, 3000, 200, random);
            c.capacity = kEverything;
        }
    }
}

TEST_CASE("compact: an output that is too small gets what fits")
{
    std::mt19937 random = makeRandom(16);
    for (const uint32_t flags : {0u, uint32_t(SLUICE_COMPACT_PARTITION)}) {
        for (const uint32_t size : {1u, 2u, 4u, 12u, 16u}) {
            for (const uint32_t capacity : {0u, 1u, 5u, 1000u, 3999u}) {
                CompactCase c;
                c.elementSize = size;
                c.flags = flags;
                c.indices = true;
                c.capacity = capacity;
                c.indexCapacity = capacity / 2 + 3;
                checkKinds(c, 6000, 150, random);
            }
        }
    }
}

TEST_CASE("compact: the count comes from GPU memory and is clamped")
{
    std::mt19937 random = makeRandom(17);
    for (const uint32_t flags : {0u, uint32_t(SLUICE_COMPACT_PARTITION)}) {
        for (const uint32_t count :
             {0u, 1u, 2048u, 7680u, 8192u, 11999u, 12000u, 12001u, 0xfffffffeu}) {
            CompactCase c;
            c.flags = flags;
            c.deviceCount = count;
            c.indices = true;
            checkKinds(c, 12000, 100, random);
        }
    }
    CompactCase c;
    c.inPlace = true;
    c.deviceCount = 7000;
    checkKinds(c, 12000, 100, random);
}

TEST_CASE("compact: the argument of an indirect command")
{
    std::mt19937 random = makeRandom(18);
    CompactCase c;
    for (const uint32_t divisor : {0u, 1u, 64u, 0xffffffffu}) {
        for (const uint32_t limit : {0u, 1u, 50u, 65535u}) {
            c.argumentDivisor = divisor;
            c.argumentLimit = limit;
            checkCompact(c, randomElements(5000, 4, 128, random));
            checkCompact(c, Bytes(0));
        }
    }
}

TEST_CASE("compact: elements at any alignment")
{
    std::mt19937 random = makeRandom(19);
    for (const uint32_t size : kElementSizes) {
        for (const uint32_t misaligned : {1u, 2u, 3u, 7u}) {
            CompactCase c;
            c.elementSize = size;
            c.misaligned = misaligned;
            checkKinds(c, 9000, 128, random);
        }
    }
}

TEST_CASE("compact: neither waiting nor looking back gives the same")
{
    std::mt19937 random = makeRandom(20);
    // Without a look-back the work grows with the square of the count.
    const uint32_t count = isSoftware() ? 20001 : 60001;
    for (const uint32_t polls : {0u, SLUICE_LOOKBACK_NEVER}) {
        for (const uint32_t partition : {0u, uint32_t(SLUICE_COMPACT_PARTITION)}) {
            for (const uint32_t size : {2u, 4u, 8u, 20u}) {
                CompactCase c;
                c.elementSize = size;
                c.flags = partition;
                c.polls = polls;
                checkKinds(c, count, 100, random);
            }
        }
    }
}

TEST_CASE("compact: so many tiles that there is a scanner, and that a workgroup takes several")
{
    std::mt19937 random = makeRandom(21);
    const PlannedBy few(device(),
                        isSoftware() ? "compact.workgroups=48 lookback.scannerTiles=16" : "", "");
    const uint32_t part = isSoftware() ? 10 : 1;
    const std::pair<uint32_t, uint32_t> ways[] = {
        {0, kUsualPolls}, {0, 0}, {SLUICE_COMPACT_PARTITION, kUsualPolls}};
    for (const auto& way : ways) {
        CompactCase c;
        c.flags = way.first;
        c.polls = way.second;
        checkCompact(c, randomElements(2300007 / part, 4, 100, random));
    }
    CompactCase c;
    c.elementSize = 16;
    checkCompact(c, randomElements(500003 / part, 16, 230, random));
    c.inPlace = true;
    checkCompact(c, randomElements(500003 / part, 16, 230, random));
    c.elementSize = 12;
    checkCompact(c, randomElements(500003 / part, 12, 230, random));
    c.inPlace = false;
    c.elementSize = 20;
    checkCompact(c, randomElements(500003 / part, 20, 230, random));
    c.elementSize = 4;
    c.elements = false;
    c.indices = true;
    c.test = SLUICE_COMPACT_MASK;
    checkCompact(c, Bytes(4 * 1300000 / part),
                 randomSelectors(SLUICE_COMPACT_MASK, 1300000 / part, 20, random));
    c.test = SLUICE_COMPACT_BYTES;
    c.elements = true;
    checkCompact(c, randomElements(1300000 / part, 4, 256, random),
                 randomSelectors(c.test, 1300000 / part, 200, random));
}

TEST_CASE("compact: rings of waiting tiles whose places come late")
{
    const uint32_t ring = compactRingElements(device());
    if (ring == 0) return skipCase("compactions do not go through rings here");
    std::mt19937 random = makeRandom(22);
    const uint32_t count = 2 * ring + 7;
    for (const uint32_t looks : {1u, 3u, 60u}) {
        const LookbackPolls few(device(), looks);
        CompactCase c;
        checkCompact(c, randomElements(count, 4, 100, random));
        c.flags = SLUICE_COMPACT_DROP;
        c.deviceCount = count - ring / 2 + 11;
        checkCompact(c, randomElements(count, 4, 30, random));
        c.flags = 0;
        c.test = SLUICE_COMPACT_BYTES;
        checkCompact(c, randomElements(count, 4, 256, random),
                     randomSelectors(c.test, count, 200, random));
        c.deviceCount = kEverything;
        c.test = SLUICE_COMPACT_MASK;
        c.capacity = count / 3;
        checkCompact(c, randomElements(count, 4, 256, random),
                     randomSelectors(c.test, count, 128, random));
        c.elements = false;
        c.indices = true;
        checkCompact(c, Bytes(size_t(count) * 4), randomSelectors(c.test, count, 20, random));
    }
}

TEST_CASE("compact: rings of so many tiles that all workgroups clear the scratch")
{
    const uint32_t ring = compactRingElements(device());
    if (ring == 0) return skipCase("compactions do not go through rings here");
    std::mt19937 random = makeRandom(23);
    const uint32_t count = 17 * ring + 7;
    const Bytes elements = randomElements(count, 4, 100, random);
    checkCompact(CompactCase(), elements);
    const LookbackPolls few(device(), 3);
    checkCompact(CompactCase(), elements);
}

TEST_CASE("compact: selectors alone need no elements")
{
    std::mt19937 random = makeRandom(22);
    for (const SluiceCompactTest test : {SLUICE_COMPACT_BYTES, SLUICE_COMPACT_MASK}) {
        const uint32_t count = 10007;
        const Words selectors = randomSelectors(test, count, 128, random);
        Buffer selectorBuffer(device(), selectors), indices(device(), count * 4),
            result(device(), 4);
        SluiceCompactInfo info = {};
        info.test = test;
        info.maxCount = count;
        info.selectors = selectorBuffer.range();
        info.indices = indices.range();
        info.resultCount = result.range();
        runWithScratch(device(), info, sluiceGetCompactRequirements, sluiceCmdCompact);
        CompactCase c;
        c.test = test;
        const Chosen chosen = chooseOnHost(c, {}, selectors, count);
        CHECK((result.words() == Words{chosen.kept}));
        CHECK((indices.words() == expectedIndices(chosen, count)));
    }
}

TEST_CASE("compact: a count alone writes nothing else")
{
    CompactCase c;
    c.elements = false;
    std::mt19937 random = makeRandom(23);
    checkKinds(c, 9000, 100, random);
}

TEST_CASE("compact: three in a row share scratch, in one submission")
{
    std::mt19937 random = makeRandom(24);
    const uint32_t count = 30000;
    const Bytes input = randomElements(count, 4, 128, random);
    Buffer source(device(), input), middle(device(), count * 4), last(device(), count * 4),
        result(device(), 8);
    SluiceCompactInfo info = {};
    info.test = SLUICE_COMPACT_NON_ZERO;
    info.elementSize = 4;
    info.maxCount = count;
    info.input = source.range();
    info.output = middle.range();
    info.resultCount = part(result, 0, 4);
    SluiceRequirements requirements = {};
    REQUIRE(sluiceGetCompactRequirements(device().context(), &info, &requirements) == SLUICE_OK);
    Buffer scratch = makeScratch(device(), requirements);
    info.scratch = scratch.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE(sluiceCmdCompact(device().context(), commands, &info) == SLUICE_OK);
        REQUIRE(sluiceCmdBarrier(device().context(), commands) == SLUICE_OK);
        info.test = SLUICE_COMPACT_UNIQUE; // of the elements that the first one kept
        info.count = part(result, 0, 4);
        info.input = middle.range();
        info.output = last.range();
        info.resultCount = part(result, 4, 4);
        REQUIRE(sluiceCmdCompact(device().context(), commands, &info) == SLUICE_OK);
        REQUIRE(sluiceCmdBarrier(device().context(), commands) == SLUICE_OK);
        info.input = last.range(); // in place; it drops nothing more
        info.count = part(result, 4, 4);
        info.resultCount = {};
        REQUIRE(sluiceCmdCompact(device().context(), commands, &info) == SLUICE_OK);
    });
    Words expected(input.size() / 4);
    std::memcpy(expected.data(), input.data(), input.size());
    expected.erase(std::remove(expected.begin(), expected.end(), 0u), expected.end());
    const uint32_t kept = uint32_t(expected.size());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    CHECK((result.words() == Words{kept, uint32_t(expected.size())}));
    expected.resize(count, Buffer::kPoison * 0x01010101u);
    CHECK((last.words() == expected));
}

TEST_SUITE_END();
