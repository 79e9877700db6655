// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests small files that share tiles, with all verbs.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/archives.h"
#include "tests/tool/tool_run.h"

namespace sluice::test {
namespace {

std::string entity(int number)
{
    char text[200];
    std::snprintf(
        text, sizeof text,
        "{\"id\": %d, \"name\": \"entity %d\", \"place\": [%d.5, %d.25, 0], \"hp\": %d}\n", number,
        number * 7 % 100, number * 37 % 1000, number * 91 % 1000, number % 90);
    return text;
}

// Writes two kinds of small files, mixed, a file that no other one resembles, and some files that
// share nothing.
void writeTree(const Folder& tool, int count = 400)
{
    for (int i = 0; i < count; ++i) {
        const std::string name = "t/" + std::to_string(i % 3) + "/" + std::to_string(1000 + i);
        tool.write(name + ".json", entity(i));
        if (i % 4 == 0) tool.write(name + ".bin", noise(size_t(i)) + std::string(40, 'x'));
    }
    tool.write("t/0/large.json", std::string(300000, '7') + noise(1000));
    tool.write("t/alone.txt", "the only one of its kind");
    tool.write("t/empty.json", "");
    tool.write("t/sound.wav", sound());
    std::string other = sound(); // equal files are for tool_equal_test.cpp
    other[1000] = char(other[1000] ^ 1);
    tool.write("t/sound2.wav", other);
    tool.write("t/2/run.json", entity(5));
    fs::permissions(tool.path / "t/2/run.json", fs::perms::owner_all);
}

struct Opened {
    Bytes file;
    OpenedArchive opened;

    explicit Opened(const Folder& tool, const std::string& name)
    {
        const std::string text = tool.read(name);
        file.assign(text.begin(), text.end());
        REQUIRE(opened.open(file) == SLUICE_OK);
        REQUIRE(check(file) == SLUICE_OK);
    }
    SluiceArchiveAsset find(const std::string& name) const
    {
        uint32_t number = 0;
        REQUIRE(sluiceFindArchiveAsset(&opened.archive, opened.index.data(), opened.index.size(),
                                       name.data(), name.size(), &number) == SLUICE_OK);
        REQUIRE(number != 0xffffffff);
        return opened.asset(number);
    }
};

} // namespace

TEST_CASE("tool share: small files of a kind share tiles, and come out as they were")
{
    const Tool tool;
    writeTree(tool);
    REQUIRE(tool("pack -l 4 -o s.sluice t") == 0);
    REQUIRE(tool("pack -l 4 --no-share -o n.sluice t") == 0);
    CHECK(tool.read("s.sluice").size() * 3 < tool.read("n.sluice").size());
    const Opened shared(tool, "s.sluice"), apart(tool, "n.sluice");
    CHECK(shared.opened.archive.versionMajor == 3);
    CHECK(apart.opened.archive.versionMajor == 1);
    CHECK(shared.opened.archive.assetCount == apart.opened.archive.assetCount);
    CHECK(shared.find("t/0/1000.json").share == shared.find("t/1/1001.json").share);
    CHECK(shared.find("t/0/1000.json").share != shared.find("t/0/1000.bin").share);
    for (const char* name : {"t/0/large.json", "t/alone.txt", "t/empty.json", "t/sound.wav"})
        CHECK(shared.find(name).share == SLUICE_ARCHIVE_NO_SHARE);

    CHECK(tool.onCpu("verify s.sluice --compare .") == 0);
    CHECK(contains(tool.output(), "all 506 files identical"));
    REQUIRE(tool.onCpu("unpack s.sluice -C out") == 0);
    for (const char* name : {"t/0/1000.json", "t/2/1398.json", "t/0/1396.bin", "t/empty.json",
                             "t/0/large.json", "t/2/run.json"})
        CHECK(tool.read("out/" + std::string(name)) == tool.read(name));
    // Unpacks one of the files that share tiles, then some.
    REQUIRE(tool.onCpu("unpack s.sluice t/1/1001.json -o one.json") == 0);
    CHECK(tool.read("one.json") == entity(1));
    REQUIRE(tool.onCpu("unpack s.sluice -C some --only 't/1/10*.json'") == 0);
    CHECK(tool.read("some/t/1/1097.json") == entity(97));
    CHECK_FALSE(fs::exists(tool.path / "some/t/0"));

    REQUIRE(tool("info --json s.sluice") == 0);
    CHECK(contains(tool.output(), "\"share\": 0, \"shareOffset\": 0,"));
    REQUIRE(tool("info -v s.sluice") == 0);
    CHECK(contains(tool.output(), "share: 1, bytes "));
    // The sizes that info says are stored must add up: parts of a tile together are the tile.
    REQUIRE(tool("info s.sluice") == 0);
    uint64_t said = 0, stored = 0;
    std::string text = tool.output();
    text = text.substr(text.find("name\n") + 5, text.find("\n\n") - text.find("name\n") - 5);
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        if (text.find('\n', at) == std::string::npos) break;
        if (!contains(text.substr(at, 60), "filters:"))
            said += std::stoull(text.substr(at + 15, 14));
    }
    for (uint32_t i = 0; i < shared.opened.archive.assetCount; ++i) {
        const SluiceArchiveAsset asset = shared.opened.asset(i);
        if (asset.tilesOffset != 0) continue;
        for (uint32_t tile = 0; tile < asset.tileCount; ++tile)
            stored += loadLe32(&shared.file[asset.offset + tile * recordBytes + recordStoredSize]);
    }
    CHECK(said == stored);
}

TEST_CASE("tool share: files that share a tile stay executable")
{
    if (isWindowsTool("files of Windows have no mode")) return;
    const Tool tool;
    writeTree(tool);
    REQUIRE(tool("pack -l 4 -o s.sluice t") == 0);
    REQUIRE(tool.onCpu("unpack s.sluice -C out") == 0);
    const auto isExecutable = [&](const char* name) {
        return (fs::status(tool.path / name).permissions() & fs::perms::owner_exec) !=
               fs::perms::none;
    };
    CHECK(isExecutable("out/t/2/run.json"));
    CHECK_FALSE(isExecutable("out/t/1/1001.json"));
}

TEST_CASE("tool share: a bad tile is told once, with every file that it holds")
{
    const Tool tool;
    writeTree(tool, 100);
    REQUIRE(tool("pack -l 4 -o s.sluice t") == 0);
    std::string text = tool.read("s.sluice");
    const Opened opened(tool, "s.sluice");
    const SluiceArchiveAsset share = opened.find("t/0/1000.json");
    REQUIRE(share.tileCount == 1);
    text[size_t(share.offset + share.extentSize) - 30] ^= 1;
    tool.write("bad.sluice", text);
    CHECK(tool.onCpu("unpack bad.sluice -C out") == 3);
    CHECK(tool.onCpu("unpack bad.sluice -C out2 t/1/1001.json") == 3);
    CHECK(contains(tool.errors(), "asset 't/1/1001.json', tile 0, bytes "));
    CHECK(tool.onCpu("unpack -v --keep-going bad.sluice -C out3") == 3);
    CHECK(contains(tool.errors(), "101 of 131 assets are not right"));
    CHECK(contains(tool.errors(), "and 100 others, tile 0"));
    CHECK(contains(tool.errors(), "'t/2/run.json'"));
    CHECK(tool.read("out3/t/0/1000.bin") == tool.read("t/0/1000.bin"));
    CHECK_FALSE(fs::exists(tool.path / "out3/t/0/1000.json"));
    // Tile records that are wrong.
    text = tool.read("s.sluice");
    text[size_t(share.offset)] ^= 1;
    tool.write("bad.sluice", text);
    CHECK(tool.onCpu("verify --keep-going bad.sluice") == 3);
    CHECK(contains(tool.errors(), "101 of 131 assets are not right"));
    CHECK_FALSE(tool.hasTemporaries());
}

TEST_CASE("tool share: shards, caches and orders make the same archive")
{
    const Tool tool;
    writeTree(tool);
    tool.write("list", "t/2/1200.json\nt/0/large.json\nt/1/1100.bin\nt/0/1003.json\n");
    for (const std::string options :
         {"-l 4", "-l 9 --order list", "-c gdeflate -l 2", "-c store"}) {
        CAPTURE(options);
        REQUIRE(tool("pack -f -o whole.sluice " + options + " t") == 0);
        const std::string whole = tool.read("whole.sluice");
        CHECK(tool.onCpu("verify whole.sluice --compare .") == 0);
        for (const int count : {1, 3, 20}) {
            std::string shards;
            for (int i = 1; i <= count; ++i) {
                const std::string name = std::to_string(i) + ".shard";
                REQUIRE(tool("pack -f --cache shards --shard " + std::to_string(i) + "/" +
                             std::to_string(count) + " -o " + name + " " + options + " t") == 0);
                shards = i % 2 == 0 ? name + " " + shards : shards + " " + name;
            }
            REQUIRE(tool("join -f -o joined.sluice " + shards) == 0);
            CHECK(tool.read("joined.sluice") == whole);
        }
        fs::remove_all(tool.path / "cache");
        for (int run = 0; run < 2; ++run) {
            REQUIRE(tool("pack -f -v --cache cache -o cached.sluice " + options + " t") == 0);
            CHECK(tool.read("cached.sluice") == whole);
        }
        // An empty file cannot be found, and tiles of codec store are not looked up.
        if (options != "-c store") CHECK(contains(tool.errors(), "505 of 505 files found"));
    }
    CHECK_FALSE(tool.hasTemporaries());
}

TEST_CASE("tool share: one file more changes few tiles, and a patch is small")
{
    const Tool tool;
    for (int i = 0; i < 9000; ++i)
        tool.write("t/" + std::to_string(10000 + i) + ".json", entity(i));
    REQUIRE(tool("pack -l 2 -o old.sluice t") == 0);
    const Opened old(tool, "old.sluice");
    REQUIRE(old.opened.archive.shareCount > 4);
    tool.write("t/10007a.json", entity(9999));
    REQUIRE(tool("pack -l 2 -o new.sluice t") == 0);
    const Opened now(tool, "new.sluice");
    const auto tilesOf = [](const Opened& archive) {
        std::vector<uint32_t> checksums;
        for (uint32_t i = 0; i < archive.opened.archive.assetCount; ++i) {
            const SluiceArchiveAsset asset = archive.opened.asset(i);
            if (asset.tilesOffset == 0) checksums.push_back(asset.tileChecksum);
        }
        std::sort(checksums.begin(), checksums.end());
        return checksums;
    };
    const std::vector<uint32_t> before = tilesOf(old), after = tilesOf(now);
    std::vector<uint32_t> same;
    std::set_intersection(before.begin(), before.end(), after.begin(), after.end(),
                          std::back_inserter(same));
    CHECK(same.size() + 2 >= before.size());
    REQUIRE(tool("diff old.sluice new.sluice -o p.patch") == 0);
    // The patch has only the pieces of the index that are around the new name.
    CHECK(fs::file_size(tool.path / "p.patch") * 3 < fs::file_size(tool.path / "new.sluice"));
    REQUIRE(tool("patch old.sluice p.patch -o made.sluice") == 0);
    CHECK(tool.read("made.sluice") == tool.read("new.sluice"));
}

TEST_CASE("tool share: rules and explanations")
{
    const Tool tool;
    writeTree(tool, 50);
    tool.write("rules.toml", "[[rule]]\nfiles = \"*.bin\"\nshare = false\n");
    const int code = tool("pack -l 2 --rules rules.toml -o r.sluice t");
    if (code == 5) {
        skipCase("this build has no reader for TOML");
    } else {
        REQUIRE(code == 0);
        const Opened ruled(tool, "r.sluice");
        CHECK(ruled.find("t/0/1000.bin").share == SLUICE_ARCHIVE_NO_SHARE);
        CHECK(ruled.find("t/0/1000.json").share == 0);
    }
    REQUIRE(tool("pack --explain t/0/1000.json t") == 0);
    CHECK(contains(tool.output(), "shares tiles with 50 other small files of its kind"));
    REQUIRE(tool("pack --explain t/0/1000.json --no-share t") == 0);
    CHECK_FALSE(contains(tool.output(), "shares tiles"));
    CHECK(contains(tool.output(), "share          false      (command line)"));
}

} // namespace sluice::test
