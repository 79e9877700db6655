// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests patches: they make the new file or, if they are damaged in any way, are refused.
#include <doctest/doctest.h>

#include <zstd.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/support/devices.h"
#include "encode/archive/patch.h"
#include "encode/archive/patch_layout.h"
#include "formats/xxh32.h"

using namespace sluice;

namespace {

using Data = std::vector<uint8_t>;

PatchFile fileOf(const Data& bytes)
{
    return {bytes.size(), [&bytes](uint64_t offset, void* to, size_t size) {
                REQUIRE(offset <= bytes.size());
                REQUIRE(size <= bytes.size() - offset);
                if (size != 0) std::memcpy(to, bytes.data() + offset, size);
            }};
}

PatchWrite writerTo(Data& bytes)
{
    return [&bytes](uint64_t offset, const void* from, size_t size) {
        bytes.resize(std::max(bytes.size(), size_t(offset) + size));
        if (size != 0) std::memcpy(bytes.data() + offset, from, size);
    };
}

Data noise(size_t size, std::mt19937& random)
{
    Data bytes(size);
    for (uint8_t& byte : bytes)
        byte = uint8_t(random());
    return bytes;
}

void append(Data& bytes, const Data& more) { bytes.insert(bytes.end(), more.begin(), more.end()); }

// Two files with their parts: equal parts that have moved, one with a hole of zeros, a table whose
// numbers have grown, and new bytes.
struct Pair {
    Data before, after;
    std::vector<PatchPart> beforeParts, afterParts;

    void addBefore(const Data& bytes)
    {
        beforeParts.push_back({before.size(), uint32_t(bytes.size()), false, 0, 0});
        append(before, bytes);
    }
    void addAfter(const Data& bytes, bool isTable = false, uint64_t like = 0, uint64_t size = 0)
    {
        afterParts.push_back({after.size(), uint32_t(bytes.size()), isTable, like, size});
        append(after, bytes);
    }
};

Pair makePair(std::mt19937& random)
{
    Pair pair;
    const Data a = noise(3000, random), b = noise(5000, random), c = noise(9000, random);
    Data table;
    for (uint32_t i = 0; i < 200; ++i) {
        uint8_t entry[8];
        storeLe64(entry, uint64_t(i) * 70001);
        table.insert(table.end(), entry, entry + 8);
    }
    for (const Data& bytes : {a, b, c, table})
        pair.addBefore(bytes);
    Data moved = table;
    for (size_t i = 0; i < moved.size(); i += 8)
        storeLe64(&moved[i], loadLe64(&moved[i]) + 4096);
    Data hole(c.begin(), c.begin() + 4000);
    hole.insert(hole.end(), c.begin() + 4100, c.end());
    pair.addAfter(b);
    pair.addAfter(a);
    pair.addAfter(noise(700, random));
    pair.addAfter(hole, false, 8000, 9000);
    pair.addAfter(b);
    pair.addAfter(moved, true, 17000, table.size());
    return pair;
}

Data patchOf(const Pair& pair, PatchStats& stats, int level = 19)
{
    Data patch;
    REQUIRE(makePatch(
                fileOf(pair.before), pair.beforeParts, fileOf(pair.after), pair.afterParts, level,
                writerTo(patch), [](uint64_t) {}, stats) == SLUICE_OK);
    REQUIRE(stats.patchSize == patch.size());
    return patch;
}

SluiceStatus apply(const Data& before, const Data& patch, Data& made, std::string& reason)
{
    PatchStats stats;
    made.clear();
    reason.clear();
    return applyPatch(
        fileOf(before), fileOf(patch), writerTo(made), [](uint64_t) {}, stats, reason);
}

void sealHeader(Data& patch)
{
    storeLe32(&patch[patchHeaderChecksum], xxh32(patch.data(), patchHeaderChecksum, 0));
}

Data listOf(const Data& patch)
{
    Data list(loadLe32(&patch[patchListSize]));
    const size_t at = size_t(loadLe64(&patch[patchListOffset]));
    REQUIRE(ZSTD_decompress(list.data(), list.size(), &patch[at], patch.size() - at) ==
            list.size());
    return list;
}

// Returns the patch with another list of operations, and with right checksums.
Data withList(Data patch, const Data& list)
{
    patch.resize(size_t(loadLe64(&patch[patchListOffset])));
    Data stored(ZSTD_compressBound(list.size()));
    stored.resize(ZSTD_compress(stored.data(), stored.size(), list.data(), list.size(), 1));
    storeLe32(&patch[patchListStored], uint32_t(stored.size()));
    storeLe32(&patch[patchListSize], uint32_t(list.size()));
    storeLe32(&patch[patchListChecksum], xxh32(stored.data(), stored.size(), 0));
    sealHeader(patch);
    append(patch, stored);
    return patch;
}

} // namespace

TEST_CASE("patch: the new file is made of the old one, and little is carried")
{
    std::mt19937 random(7);
    const Pair pair = makePair(random);
    PatchStats stats;
    const Data patch = patchOf(pair, stats);
    CHECK(stats.copied == 5000 + 3000 + 5000);
    CHECK(stats.operations == 6); // copies of b, a and b, the carried bytes, the hole, the table
    CHECK(patch.size() < patchHeaderBytes + 700 + 500);
    Data made;
    std::string reason;
    CHECK(apply(pair.before, patch, made, reason) == SLUICE_OK);
    CHECK(made == pair.after);
    PatchStats again;
    CHECK(patchOf(pair, again) == patch); // the same bytes again

    // Another old file: recognised by its beginning, by its size, or only by the result.
    Data other = pair.before;
    other[3] ^= 1;
    CHECK(apply(other, patch, made, reason) == SLUICE_ERROR_ARGUMENT);
    other = pair.before;
    other.push_back(0);
    CHECK(apply(other, patch, made, reason) == SLUICE_ERROR_ARGUMENT);
    other = pair.before;
    other[4000] ^= 1;
    CHECK(apply(other, patch, made, reason) == SLUICE_ERROR_CHECKSUM);
}

TEST_CASE("patch: of nothing, and of the same")
{
    std::mt19937 random(8);
    Pair pair = makePair(random);
    Pair empty;
    empty.before = pair.before;
    empty.beforeParts = pair.beforeParts;
    PatchStats stats;
    Data made;
    std::string reason;
    CHECK(apply(empty.before, patchOf(empty, stats), made, reason) == SLUICE_OK);
    CHECK(made.empty());
    pair.after = pair.before;
    pair.afterParts = pair.beforeParts;
    const Data patch = patchOf(pair, stats);
    CHECK(stats.operations == 1);
    CHECK(patch.size() < 130);
    CHECK(apply(pair.before, patch, made, reason) == SLUICE_OK);
    CHECK(made == pair.before);
    pair.before.clear();
    pair.beforeParts.clear();
    CHECK(apply(pair.before, patchOf(pair, stats), made, reason) == SLUICE_OK);
    CHECK(made == pair.after);
}

TEST_CASE("patch: long parts are compared with what lies about as far from the begin")
{
    std::mt19937 random(9);
    Pair pair;
    const Data content = noise(24 << 20, random);
    for (size_t at = 0; at < content.size(); at += kPatchPieceBytes)
        pair.addBefore(Data(content.begin() + ptrdiff_t(at),
                            content.begin() + ptrdiff_t(at + kPatchPieceBytes)));
    Data shifted = noise(1000, random); // an insertion moves all parts
    append(shifted, content);
    for (size_t at = 0; at < shifted.size(); at += kPatchPieceBytes) {
        const size_t end = std::min(shifted.size(), at + kPatchPieceBytes);
        pair.addAfter(Data(shifted.begin() + ptrdiff_t(at), shifted.begin() + ptrdiff_t(end)),
                      false, 0, content.size());
    }
    PatchStats stats;
    const Data patch = patchOf(pair, stats, 3); // level 3, since 19 takes long
    CHECK(patch.size() < 20000);
    Data made;
    std::string reason;
    CHECK(apply(pair.before, patch, made, reason) == SLUICE_OK);
    CHECK(made == pair.after);
}

TEST_CASE("patch: rules of the header and the list")
{
    std::mt19937 random(10);
    const Pair pair = makePair(random);
    PatchStats stats;
    const Data patch = patchOf(pair, stats);
    Data made;
    std::string reason;
    const auto status = [&](const Data& changed) {
        return apply(pair.before, changed, made, reason);
    };
    const auto changed = [&](size_t at, uint8_t bits) {
        Data other = patch;
        other[at] = uint8_t(other[at] ^ bits);
        if (at < patchHeaderChecksum) sealHeader(other);
        return status(other);
    };
    CHECK(changed(0, 1) == SLUICE_ERROR_FORMAT);
    CHECK(changed(patchVersionMajor, 2) == SLUICE_ERROR_VERSION);
    CHECK(changed(patchVersionMajor, 1) == SLUICE_ERROR_FORMAT); // version 0
    CHECK(changed(patchVersionMinor, 1) == SLUICE_OK);
    CHECK(changed(patchReserved, 1) == SLUICE_ERROR_FORMAT);
    CHECK(changed(patchOperationCount, 1) == SLUICE_ERROR_FORMAT);
    CHECK(changed(patchOldSize, 1) == SLUICE_ERROR_ARGUMENT);
    CHECK(changed(patchOldStart, 1) == SLUICE_ERROR_ARGUMENT);
    CHECK(changed(patchNewSize, 1) == SLUICE_ERROR_FORMAT);
    CHECK(changed(patchNewChecksum, 1) == SLUICE_ERROR_CHECKSUM);
    CHECK(changed(patchListOffset, 1) == SLUICE_ERROR_FORMAT);
    CHECK(changed(patchListChecksum, 1) == SLUICE_ERROR_CHECKSUM);
    CHECK(changed(patchHeaderChecksum, 1) == SLUICE_ERROR_CHECKSUM);
    CHECK(changed(patch.size() - 1, 1) == SLUICE_ERROR_CHECKSUM);
    for (size_t size = 0; size < patch.size(); size += size < 120 ? 1 : 97)
        CHECK(status(Data(patch.begin(), patch.begin() + ptrdiff_t(size))) != SLUICE_OK);
    Data longer = patch;
    longer.push_back(0);
    CHECK(status(longer) == SLUICE_ERROR_FORMAT);

    const Data list = listOf(patch);
    CHECK(status(withList(patch, list)) == SLUICE_OK);
    Data bad = list;
    bad.push_back(0); // an operation of size 0
    CHECK(status(withList(patch, bad)) == SLUICE_ERROR_FORMAT);
    bad = list;
    bad.pop_back();
    CHECK(status(withList(patch, bad)) == SLUICE_ERROR_FORMAT);
    // The first operation copies b: 5,000 bytes of the old file from 3,000 on. Now its number gets
    // a longer form.
    constexpr uint32_t sizeAndKind = 5000 * 4;
    REQUIRE(list[0] == (sizeAndKind % 128 | 128));
    REQUIRE(list[1] == (sizeAndKind / 128 % 128 | 128));
    REQUIRE(list[2] == sizeAndKind / 16384);
    bad = list;
    bad[2] |= 128;
    bad.insert(bad.begin() + 3, 0);
    CHECK(status(withList(patch, bad)) == SLUICE_ERROR_FORMAT);
    bad = list; // an offset far outside
    bad.erase(bad.begin() + 3, bad.begin() + 5);
    bad.insert(bad.begin() + 3, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1});
    CHECK(status(withList(patch, bad)) == SLUICE_ERROR_FORMAT);
    bad = list; // a copy that ends outside
    bad.erase(bad.begin(), bad.begin() + 3);
    bad.insert(bad.begin(), {0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1});
    CHECK(status(withList(patch, bad)) == SLUICE_ERROR_FORMAT);
}

TEST_CASE("patch: 10,000 mutated patches are refused or right")
{
    std::mt19937 random(11);
    const Pair pair = makePair(random);
    PatchStats stats;
    const Data patch = patchOf(pair, stats), list = listOf(patch);
    std::map<std::string, uint32_t> reasons;
    uint32_t right = 0;
    for (uint32_t i = 0; i < 10000; ++i) {
        Data changed = i % 3 == 2 ? list : patch;
        for (size_t change = random() % 3 + 1; change != 0; --change) {
            const size_t at = random() % changed.size();
            switch (random() % 4) {
            case 0: changed[at] = uint8_t(changed[at] ^ 1 << random() % 8); break;
            case 1: changed[at] = uint8_t(random()); break;
            case 2: changed.erase(changed.begin() + ptrdiff_t(at)); break;
            default: changed.insert(changed.begin() + ptrdiff_t(at), uint8_t(random())); break;
            }
        }
        if (i % 3 == 2) changed = withList(patch, changed);
        // Every third patch gets right checksums; those of others stop nearly all changes.
        if (i % 3 == 1 && changed.size() > patchHeaderBytes) {
            const uint64_t offset =
                std::min<uint64_t>(loadLe64(&changed[patchListOffset]), changed.size());
            storeLe32(&changed[patchListChecksum],
                      xxh32(changed.data() + offset, changed.size() - size_t(offset), 0));
            sealHeader(changed);
        }
        Data made;
        std::string reason;
        if (apply(pair.before, changed, made, reason) == SLUICE_OK) {
            ++right;
            CHECK(made == pair.after);
        } else {
            CHECK_FALSE(reason.empty());
            ++reasons[reason.substr(0, reason.find(" from "))];
        }
        CHECK(made.size() <= size_t(1) << 26);
    }
    CHECK(right > 0);
    for (const char* reason :
         {"its header is damaged", "its header breaks a rule", "its list of operations is damaged",
          "its list of operations breaks a rule", "the patch is for another file", "the bytes",
          "what it makes has a wrong checksum: it or the old file is damaged"})
        CHECK_MESSAGE(reasons[reason] > 0, reason);
}
