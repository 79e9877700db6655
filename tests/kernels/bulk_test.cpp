// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sluice/sluice_interval.h>

#include "tests/support/intervals.h"

using namespace sluice::test;

namespace {

struct BulkCase {
    uint32_t elementSize = 4;
    bool countsOnDevice = false;
    uint32_t shift = 0;   // offset from an aligned address
    uint32_t missing = 0; // how many items the output is too small for
};

// Removes the items at `indices`, or inserts items before them, and compares with the host.
void checkBulk(bool insert, uint32_t items, const Words& indices, const BulkCase& how,
               std::mt19937& random)
{
    CAPTURE(insert);
    CAPTURE(items);
    CAPTURE(indices.size());
    CAPTURE(how.elementSize);
    const uint32_t size = how.elementSize, extra = how.countsOnDevice ? 3 : 0;
    const Bytes content = randomBytes(size_t(how.shift) + size_t(items + extra) * size, random);
    const Bytes added = randomBytes((indices.size() + extra) * size, random);
    Bytes expected;
    const auto append = [&expected, size](const Bytes& bytes, size_t at) {
        expected.insert(expected.end(), bytes.begin() + long(at), bytes.begin() + long(at + size));
    };
    size_t next = 0;
    for (uint32_t i = 0; i <= items; ++i) {
        bool removed = false;
        for (; next < indices.size() && indices[next] == i; ++next) {
            removed = true;
            if (insert) append(added, next * size);
        }
        if (i < items && (insert || !removed)) append(content, how.shift + size_t(i) * size);
    }
    const uint32_t total = uint32_t(expected.size() / size),
                   capacity = total - std::min(total, how.missing);
    expected.resize(size_t(capacity) * size);
    expected.insert(expected.begin(), how.shift, Buffer::kPoison);
    expected.resize(expected.size() + 20, Buffer::kPoison);

    Words padded = indices;
    padded.resize(indices.size() + extra, 0);
    Buffer source(device(), content), indexBuffer(device(), padded), addedBuffer(device(), added);
    Buffer target(device(), expected.size()), result(device(), 8);
    Buffer counts(device(), Words{items, uint32_t(indices.size())});
    SluiceBulkInfo info = {};
    info.elementSize = size;
    info.maxItemCount = items + extra;
    info.maxIndexCount = uint32_t(padded.size());
    if (how.countsOnDevice) {
        info.itemCount = from(counts, 0, 4);
        info.indexCount = from(counts, 4, 4);
    }
    info.indices = indexBuffer.range();
    info.source = from(source, how.shift, uint64_t(items + extra) * size);
    if (insert) info.inserted = addedBuffer.range();
    info.destination = from(target, how.shift, uint64_t(capacity) * size);
    info.result = result.range();
    device().run([&](SluiceCommands commands) {
        REQUIRE((insert ? sluiceCmdBulkInsert : sluiceCmdBulkRemove)(device().context(), commands,
                                                                     &info) == SLUICE_OK);
    });
    CHECK((target.bytes() == expected));
    CHECK((result.words() ==
           Words{total, capacity < total ? uint32_t(SLUICE_INTERVAL_TRUNCATED) : 0u}));
}

// Returns random indices: each number below `items` with a probability of `keep` in 256; for an
// insert some of them twice, and also `items` itself.
Words randomIndices(bool insert, uint32_t items, uint32_t keep, std::mt19937& random)
{
    Words indices;
    for (uint32_t i = 0; i < items; ++i) {
        if (random() % 256 >= keep) continue;
        indices.push_back(i);
        while (insert && random() % 8 == 0)
            indices.push_back(i);
    }
    if (insert) indices.push_back(items);
    return indices;
}

} // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("bulk: remove and insert, few, many and all indices")
{
    std::mt19937 random = makeRandom(81);
    for (const bool insert : {false, true}) {
        for (const uint32_t keep : {0u, 2u, 128u, 256u}) {
            checkBulk(insert, 9001, randomIndices(insert, 9001, keep, random), BulkCase(), random);
            BulkCase how;
            how.countsOnDevice = true;
            how.missing = 1000;
            checkBulk(insert, 4003, randomIndices(insert, 4003, keep, random), how, random);
        }
    }
}

TEST_CASE("bulk: no items, no indices, the first and the last item")
{
    std::mt19937 random = makeRandom(82);
    for (const bool insert : {false, true}) {
        checkBulk(insert, 0, {}, BulkCase(), random);
        checkBulk(insert, 300, {}, BulkCase(), random);
        checkBulk(insert, 1, {0}, BulkCase(), random);
        checkBulk(insert, 300, {0, 299}, BulkCase(), random);
    }
    checkBulk(true, 0, {0, 0, 0}, BulkCase(), random);
    checkBulk(true, 5, Words(1000, 5), BulkCase(), random);
    checkBulk(true, 5, Words(1000, 0), BulkCase(), random);
}

TEST_CASE("bulk: every element size, any alignment")
{
    std::mt19937 random = makeRandom(83);
    for (uint32_t size = 1; size <= 20; ++size) {
        BulkCase how;
        how.elementSize = size;
        how.shift = uint32_t(random() % 16);
        for (const bool insert : {false, true})
            checkBulk(insert, 700, randomIndices(insert, 700, 60, random), how, random);
    }
}

TEST_CASE("bulk: indices in any order write nothing outside and end")
{
    std::mt19937 random = makeRandom(84);
    for (const bool insert : {false, true}) {
        Words indices(3000);
        for (uint32_t& index : indices)
            index = random() % 4 == 0 ? uint32_t(random()) : uint32_t(random() % 1000);
        Buffer source(device(), 4000), indexBuffer(device(), indices), added(device(), 12000),
            target(device(), 8000);
        SluiceBulkInfo info = {};
        info.elementSize = 4;
        info.maxItemCount = 1000;
        info.maxIndexCount = uint32_t(indices.size());
        info.indices = indexBuffer.range();
        info.source = source.range();
        info.inserted = added.range();
        info.destination = target.range();
        device().run([&](SluiceCommands commands) {
            REQUIRE((insert ? sluiceCmdBulkInsert : sluiceCmdBulkRemove)(
                        device().context(), commands, &info) == SLUICE_OK);
        });
        target.bytes(); // checks the guard bytes
        source.bytes();
    }
}

TEST_SUITE_END();
