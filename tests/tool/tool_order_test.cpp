// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests extents in an order of their own: they are written and read, and broken orders are refused.
// Also tests pack --order.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "tests/support/archive_io.h"
#include "tests/support/archives.h"
#include "tests/tool/tool_run.h"

namespace sluice::test {
namespace {

std::vector<std::string> someNames() { return {"c", "a", "e/x", "b/y", "d", "b/x"}; }

Bytes packInOrder(const std::vector<std::string>& names, SluiceStatus expected = SLUICE_OK)
{
    Bytes file;
    SluiceArchiveWriterInfo info = {};
    info.write = writeMemory;
    info.writeUser = &file;
    info.anyOrder = 1;
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    for (const std::string& name : names) {
        const Bytes content = hard(name == "d" ? 0 : 100 * name.size());
        MemorySource source = {content};
        SluiceArchiveAssetInfo asset = {};
        asset.name = name.data();
        asset.nameLength = name.size();
        asset.size = content.size();
        asset.read = MemorySource::read;
        asset.readUser = &source;
        REQUIRE(sluiceAddArchiveAsset(writer, &asset) == SLUICE_OK);
    }
    CHECK(sluiceFinishArchive(writer, nullptr) == expected);
    sluiceDestroyArchiveWriter(writer);
    return file;
}

// Returns the names in the order of their extents.
std::vector<std::string> orderOf(const Bytes& file)
{
    SluiceArchive archive;
    REQUIRE(sluiceParseArchiveHeader(file.data(), file.size(), file.size(), &archive) == SLUICE_OK);
    const uint8_t* index = file.data() + archive.indexOffset;
    REQUIRE(sluiceCheckArchiveIndex(&archive, index, size_t(archive.indexSize), nullptr) ==
            SLUICE_OK);
    std::vector<uint32_t> order(archive.assetCount);
    REQUIRE(sluiceGetArchiveOrder(&archive, index, size_t(archive.indexSize), order.data()) ==
            SLUICE_OK);
    std::vector<std::string> names;
    uint64_t end = 64;
    for (const uint32_t number : order) {
        SluiceArchiveAsset asset;
        REQUIRE(sluiceGetArchiveAsset(&archive, index, size_t(archive.indexSize), number, &asset) ==
                SLUICE_OK);
        CHECK(asset.offset == end);
        end = asset.offset + asset.extentSize;
        names.emplace_back(asset.name, asset.nameLength);
        uint32_t found = 0;
        REQUIRE(sluiceFindArchiveAsset(&archive, index, size_t(archive.indexSize), asset.name,
                                       asset.nameLength, &found) == SLUICE_OK);
        CHECK(found == number);
    }
    CHECK(end == archive.indexOffset);
    return names;
}

} // namespace

TEST_CASE("archive order: extents come as they were added, names are found")
{
    const std::vector<std::string> names = someNames();
    const Bytes file = packInOrder(names);
    CHECK(file[headerVersionMajor] == 2);
    CHECK(check(file) == SLUICE_OK);
    CHECK(orderOf(file) == names);
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end());
    const Bytes plain = packInOrder(sorted);
    CHECK(plain[headerVersionMajor] == 1);
    CHECK(orderOf(plain) == sorted);
    CHECK(plain.size() == file.size() - 4 * names.size());
    CHECK(packInOrder({"x"})[headerVersionMajor] == 1);
    CHECK(orderOf(packInOrder({})).empty());
    packInOrder({"b", "a", "b"}, SLUICE_ERROR_ARGUMENT);
    packInOrder({"b/c", "a", "b"}, SLUICE_ERROR_ARGUMENT);
    packInOrder({"b", "a", "b/c"}, SLUICE_ERROR_ARGUMENT);
}

TEST_CASE("archive order: broken orders are refused")
{
    const Bytes good = packInOrder(someNames());
    const uint32_t count = 6;
    const size_t at = size_t(loadLe64(&good[headerIndexOffset])) + count * assetBytes;
    const auto checkWith = [&](const auto& change) {
        Editable edited(good);
        change(edited.file.data() + at);
        edited.seal();
        return check(edited.file);
    };
    CHECK(checkWith([](uint8_t*) {}) == SLUICE_OK);
    uint32_t refused = 0;
    for (uint32_t asset = 0; asset < count; ++asset) {
        for (const uint32_t next : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 1000u, 0x7fffffffu, 0xffffffffu}) {
            if (loadLe32(&good[at + 4 * asset]) == next) continue;
            const SluiceStatus status =
                checkWith([&](uint8_t* successors) { storeLe32(successors + 4 * asset, next); });
            CHECK(status == SLUICE_ERROR_FORMAT);
            ++refused;
        }
    }
    CHECK(refused > 50);
    // The successors form a ring, or a chain that contradicts the offsets.
    CHECK(checkWith([&](uint8_t* successors) {
              for (uint32_t i = 0; i < count; ++i)
                  storeLe32(successors + 4 * i, (i + 1) % count);
          }) == SLUICE_ERROR_FORMAT);
    CHECK(checkWith([&](uint8_t* successors) {
              for (uint32_t i = 0; i < count; ++i)
                  storeLe32(successors + 4 * i, i + 1 < count ? i + 1 : 0xffffffffu);
          }) == SLUICE_ERROR_FORMAT);
    Editable newer(good);
    newer.file[headerVersionMajor] = 5;
    newer.sealHeader();
    CHECK(check(newer.file) == SLUICE_ERROR_VERSION);
}

TEST_CASE("tool order: as the list says, the rest after it")
{
    const Tool tool;
    for (const char* name : {"a/1", "a/2", "a/3", "a/4/x", "a/4/y", "a/5"})
        tool.write(name, std::string(1000, name[2]) + name);
    tool.write("list", "a/4/y\n\r\n\na/2\r\na/4/y\na/2\na/one.txt\r");
    REQUIRE(tool("pack -l 1 --no-share --order list -o x.sluice a") == 0);
    const std::string text = tool.read("x.sluice");
    const std::vector<std::string> expected = {"a/4/y", "a/2", "a/one.txt", "a/1",          "a/3",
                                               "a/4/x", "a/5", "a/empty",   "a/sub/two.bin"};
    CHECK(orderOf(Bytes(text.begin(), text.end())) == expected);
    CHECK(tool.onCpu("verify x.sluice --compare .") == 0);
    CHECK(tool.onCpu("unpack x.sluice -C o") == 0);
    tool.checkSame("o");
    REQUIRE(tool("info x.sluice") == 0);
    CHECK(contains(tool.output(), "version 2.0"));
    for (const char* shards : {"2", "5", "20"}) {
        std::string names;
        for (int i = 1; i <= std::stoi(shards); ++i) {
            const std::string shard = std::to_string(i);
            REQUIRE(tool("pack -q -f -l 1 --no-share --order list --cache c -o " + shard +
                         " --shard " + shard + "/" + shards + " a") == 0);
            names = shard + " " + names;
        }
        REQUIRE(tool("join -f -o joined.sluice " + names) == 0);
        CHECK(tool.read("joined.sluice") == text);
    }
    REQUIRE(tool("pack -l 1 --no-share -o plain.sluice a") == 0);
    tool.write("list", "");
    REQUIRE(tool("pack -l 1 --no-share --order list -o y.sluice a") == 0);
    CHECK(tool.read("y.sluice") == tool.read("plain.sluice"));
    CHECK(tool("pack -l 1 --order nowhere -f -o y.sluice a") == 2);
    // The list is as editors of other systems write it, and has folders.
    tool.write("list", "\xef\xbb\xbf./a/5\r\n./a/4/\r\na/sub\r\n");
    REQUIRE(tool("pack -l 1 --no-share --order list -f -o y.sluice a") == 0);
    const std::string folders = tool.read("y.sluice");
    CHECK(orderOf(Bytes(folders.begin(), folders.end())) ==
          std::vector<std::string>{"a/5", "a/4/x", "a/4/y", "a/sub/two.bin", "a/1", "a/2", "a/3",
                                   "a/empty", "a/one.txt"});
}

} // namespace sluice::test
