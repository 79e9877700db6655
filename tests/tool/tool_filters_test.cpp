// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests sluice pack and info with filters and with tiles of several sizes, and sluice transcode.
#include <zstd.h>

#include <cstring>
#include <set>

#include "formats/archive_layout.h"
#include "formats/zstd.h"
#include "tests/support/packed_archives.h"
#include "tests/support/short_runs.h"
#include "tests/tool/tool_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// Returns a Quake III map with two lumps: lightmaps of 128 pixels in a row, then planes of four
// floats.
std::string map()
{
    constexpr uint32_t lightmaps = 8 * 128 * 128 * 3, planes = 20000 * 16;
    std::string file(144, 0);
    for (uint32_t i = 0; i < lightmaps; ++i)
        file += char(i % 384 / 5 + i / 384 * 3 + i % 3 * 20 + i * 7 % 5);
    std::mt19937 random(5);
    for (uint32_t i = 0; i < planes / 4; ++i) {
        const float value =
            float(i % 4 == 3 ? int(random() % 4096) * 8 : 1) / float(1 + random() % 9);
        file.append(reinterpret_cast<const char*>(&value), 4);
    }
    uint8_t* head = reinterpret_cast<uint8_t*>(file.data());
    std::memcpy(head, "IBSP", 4);
    storeLe32(head + 4, 46);
    for (uint32_t lump = 0; lump < 17; ++lump)
        storeLe32(head + 8 + 8 * lump, 144);
    storeLe32(head + 8 + 8 * 14 + 4, lightmaps);
    storeLe32(head + 8 + 8 * 2, 144 + lightmaps);
    storeLe32(head + 8 + 8 * 2 + 4, planes);
    return file;
}

const std::vector<std::string> kFilterNames = {
    "planes", "difference", "up", "gradient", "median", "subtract", "float", "blocks", "packets"};

// Returns the filters that the output of `info --json` names.
std::set<std::string> filtersIn(const std::string& json)
{
    std::set<std::string> found;
    for (size_t at = json.find("\"names\": ["); at != std::string::npos;
         at = json.find("\"names\": [", at + 1)) {
        const std::string list = json.substr(at, json.find(']', at) - at);
        for (const std::string& name : kFilterNames)
            if (list.find('"' + name + '"') != std::string::npos) found.insert(name);
    }
    return found;
}

} // namespace

TEST_CASE("tool: Gstd tiles of another size")
{
    Tool tool;
    tool.write("f/picture.tga", picture());
    std::string numbers; // for a file without a filter
    for (uint32_t i = 0; i < 50000; ++i)
        numbers += std::to_string(i * i % 9973) + ' ';
    tool.write("f/numbers", numbers.substr(0, 200000));
    REQUIRE(tool("pack -o usual.sluice f") == 0);
    REQUIRE(tool("pack -o small.sluice --tile-size 64 f") == 0);
    REQUIRE(tool("pack -o odd.sluice --tile-size 77 f") == 0);
    for (const auto& [name, size, tiles] :
         {std::tuple{"usual", "262144", "2"}, {"small", "65536", "4"}, {"odd", "131072", "3"}}) {
        CHECK(tool("verify --device cpu --compare . " + std::string(name) + ".sluice") == 0);
        REQUIRE(tool("info --json " + std::string(name) + ".sluice") == 0);
        const size_t at = tool.output().find("\"f/numbers\"");
        REQUIRE(at != std::string::npos);
        const std::string line = tool.output().substr(at, tool.output().find('\n', at) - at);
        CHECK(contains(line, "\"tileSize\": " + std::string(size) + ","));
        CHECK(contains(line, "\"tiles\": " + std::string(tiles) + ","));
    }
    CHECK(tool("pack -o x.sluice --tile-size 63 f") == 1);
    CHECK(tool("pack -o x.sluice --tile-size 257 f") == 1);
    CHECK(tool("pack -o x.sluice -c gdeflate --tile-size 64 f") == 1);
}

TEST_CASE("tool: filters are chosen, forced and forbidden")
{
    Tool tool;
    tool.write("f/picture.tga", picture());
    tool.write("f/sound.wav", sound());
    tool.write("f/text", std::string(3000, 'x') + "y");
    REQUIRE(tool("pack -o auto.sluice f") == 0);
    REQUIRE(tool("pack -o none.sluice --filters none f") == 0);
    REQUIRE(tool("pack -o some.sluice --filters difference,planes f") == 0);
    CHECK(tool("pack -o x.sluice --copy-depth 9 f") == 1);
    for (const char* name : {"auto", "none", "some"})
        CHECK(tool("verify --device cpu --compare . " + std::string(name) + ".sluice") == 0);
    CHECK(fs::file_size(tool.path / "auto.sluice") <
          fs::file_size(tool.path / "none.sluice") * 9 / 10);
    REQUIRE(tool("info --json none.sluice") == 0);
    CHECK_FALSE(contains(tool.output(), "\"filteredTiles\": 1"));
    CHECK(filtersIn(tool.output()).empty());
    REQUIRE(tool("info --json auto.sluice") == 0);
    CHECK(contains(tool.output(), "\"filteredTiles\": 1"));
    CHECK(contains(tool.output(), "\"filteredTiles\": 0")); // of the text
    const std::set<std::string> chosen = filtersIn(tool.output());
    CHECK(chosen.size() >= 2);

    // Forced filters: these and no others are used, even on noise in four colours, where no filter
    // helps.
    std::string dots = noise(96000);
    for (char& dot : dots)
        dot = char(dot & 3);
    tool.write("noise.tga", picture().substr(0, 18) + dots);
    REQUIRE(tool("pack -o noise.sluice noise.tga") == 0);
    REQUIRE(tool("info --json noise.sluice") == 0);
    CHECK(contains(tool.output(), "\"filteredTiles\": 0"));
    REQUIRE(tool("pack -f -o noise.sluice --filters up noise.tga") == 0);
    REQUIRE(tool("info --json noise.sluice") == 0);
    CHECK(contains(tool.output(), "\"filteredTiles\": 1"));
    CHECK(filtersIn(tool.output()).size() == filtersIn(tool.output()).count("up"));
    REQUIRE(tool("info --json some.sluice") == 0);
    CHECK(filtersIn(tool.output()).count("difference") == 1);
    for (const std::string& name : filtersIn(tool.output()))
        CHECK((name == "difference" || name == "planes"));
    for (const std::string name : {"planes", "difference", "up", "gradient", "median"}) {
        REQUIRE(tool("pack -f -l 1 -o forced.sluice --filters " + name + " f/picture.tga") == 0);
        REQUIRE(tool("info --json forced.sluice") == 0);
        CHECK((filtersIn(tool.output()) == std::set<std::string>{name}));
    }

    // Forbidden filters: as with auto, but these are never used. Files of other kinds stay as they
    // were.
    std::string all;
    for (const std::string& name : kFilterNames) {
        all += (all.empty() ? "no-" : ",no-") + name;
        REQUIRE(tool("pack -f -o without.sluice --filters no-" + name + " f") == 0);
        CHECK(tool.onCpu("verify --compare . without.sluice") == 0);
        REQUIRE(tool("info --json without.sluice") == 0);
        // The text has no filter, so filters are not forced.
        CHECK(contains(tool.output(), "\"filteredTiles\": 0"));
        CHECK(filtersIn(tool.output()).count(name) == 0);
        const bool same = tool.read("without.sluice") == tool.read("auto.sluice");
        if (chosen.count(name) != 0) CHECK_FALSE(same);
        if (name == "packets") CHECK(same);
    }
    REQUIRE(tool("pack -f -o without.sluice --filters no-planes,no-median f") == 0);
    REQUIRE(tool("info --json without.sluice") == 0);
    CHECK(filtersIn(tool.output()).count("planes") + filtersIn(tool.output()).count("median") == 0);
    CHECK_FALSE(filtersIn(tool.output()).empty());
    REQUIRE(tool("pack -f -o without.sluice --filters " + all + " f") == 0);
    CHECK(tool.read("without.sluice") == tool.read("none.sluice"));

    for (const char* list : {"planes,nonsense", "no-nonsense", "no-", "no-auto", "auto,up",
                             "up,auto", "none,planes", "planes,none", "no-up,none", "auto,no-up",
                             "planes,no-up", "no-up,planes", "up,no-up", "planes,", "''"}) {
        CHECK_MESSAGE(tool("pack -f -o x.sluice --filters " + std::string(list) + " f") == 1, list);
        CHECK_MESSAGE(contains(tool.errors(), "--filters: "), list);
    }
    CHECK(tool("pack -o x.sluice -c gdeflate --filters planes f") == 1);
    CHECK(tool("pack -o x.sluice -c store --filters none f") == 1);
    CHECK(contains(tool.errors(), "--filters is for -c gstd and -c zstd"));
    CHECK_FALSE(tool.has("x.sluice"));
    CHECK(tool("pack -j 1 -o one.sluice f") == 0);
    CHECK(tool.read("one.sluice") == tool.read("auto.sluice"));
}

TEST_CASE("tool: frames of Zstandard have filters, in short blocks")
{
    Tool tool;
    tool.write("f/picture.tga", picture());
    tool.write("f/sound.wav", sound());
    tool.write("f/text", std::string(3000, 'x') + "y");
    const auto size = [&](const std::string& options) {
        REQUIRE(tool("pack -f -q -o x.sluice -c zstd " + options + " f") == 0);
        CHECK(tool.onCpu("verify --compare . x.sluice") == 0);
        CHECK(tool.onCpu("unpack -f -q x.sluice -C out") == 0);
        for (const char* name : {"f/picture.tga", "f/sound.wav", "f/text"})
            CHECK((tool.read(std::string("out/") + name) == tool.read(name)));
        REQUIRE(tool("info --json x.sluice") == 0);
        const std::string file = tool.read("x.sluice");
        const Bytes archive(file.begin(), file.end());
        const ParsedArchive parsed(archive);
        for (const uint32_t asset : {0u, 1u, 2u}) {
            for (const SluiceArchiveTile& tile : parsed.records(asset)) {
                if (tile.codec != SLUICE_CODEC_ZSTD) continue;
                zstd::StructureReader reader(parsed.extent(asset) + tile.offset, tile.storedSize,
                                             tile.size, {});
                for (zstd::Block block; reader.next(block);)
                    CHECK(block.sequences <= 2100);
                CHECK(reader.blocks() != 0);
            }
        }
        return file.size();
    };
    for (const std::string level : {"1", "9", "12"}) {
        const size_t none = size("--filters none -l " + level);
        CHECK(filtersIn(tool.output()).empty());
        const size_t chosen = size("-l " + level);
        CHECK(filtersIn(tool.output()).size() >= 2);
        CHECK(contains(tool.output(), "\"filteredTiles\": 0")); // of the text
        CHECK(chosen < none * 9 / 10);
    }
    size("-l 1 --filters up,planes");
    CHECK((filtersIn(tool.output()) == std::set<std::string>{"planes", "up"}));
    size("-l 1 --filters no-planes");
    CHECK(filtersIn(tool.output()).count("planes") == 0);
    CHECK_FALSE(filtersIn(tool.output()).empty());
    CHECK(tool("pack -o y.sluice -c zstd --filters nonsense f") == 1);

    // Where the filter is doubtful, frames of each tile with and without it are compared: noise in
    // four colours is not filtered, and an image whose levels are filtered keeps its format.
    std::string dots = noise(96000);
    for (char& dot : dots)
        dot = char(dot & 3);
    tool.write("noise.tga", picture().substr(0, 18) + dots);
    REQUIRE(tool("pack -o noise.sluice -c zstd noise.tga") == 0);
    REQUIRE(tool("info --json noise.sluice") == 0);
    CHECK(contains(tool.output(), "\"filteredTiles\": 0"));
    REQUIRE(tool("pack -o images.sluice -c zstd --images f/picture.tga") == 0);
    REQUIRE(tool("info --json images.sluice") == 0);
    CHECK_FALSE(filtersIn(tool.output()).empty());
    CHECK(tool.onCpu("verify images.sluice") == 0);
}

TEST_CASE("tool: a file above 1 GiB gets no filters, and pack says so" *
          doctest::skip(test::environmentNumber("SLUICE_TEST_LARGE", 0) == 0))
{
    Tool tool;
    tool.write("picture.tga", picture());
    fs::resize_file(tool.path / "picture.tga", (uint64_t(1) << 30) + 1);
    REQUIRE(tool("pack -l 1 -o x.sluice picture.tga") == 0);
    CHECK(contains(tool.errors(), "picture.tga: packed without filters: it is larger than 1 GiB"));
}

TEST_CASE("tool: info shows the filters of all tiles")
{
    Tool tool;
    tool.write("f/picture.tga", picture());
    tool.write("f/sound.wav", sound());
    tool.write("f/text", std::string(3000, 'x') + "y");
    REQUIRE(tool("pack -l 1 -o up.sluice --filters up,planes f/picture.tga") == 0);
    REQUIRE(tool("info up.sluice") == 0);
    CHECK(contains(tool.output(), "filters: planes,up (1)"));
    CHECK_FALSE(contains(tool.output(), "width 160"));
    REQUIRE(tool("info -v up.sluice") == 0);
    CHECK(contains(tool.output(), "tiles 0 to 0: "));
    CHECK(contains(tool.output(), "width 160"));
    REQUIRE(tool("info --json up.sluice") == 0);
    CHECK(contains(tool.output(),
                   "{\"firstTile\": 0, \"tiles\": 1, \"names\": [\"planes\", \"up\"], "
                   "\"filter\": \"18: plain | "));
    REQUIRE(tool("pack -o none.sluice --filters none f") == 0);
    REQUIRE(tool("info none.sluice") == 0);
    CHECK_FALSE(contains(tool.output(), "filters:"));
    REQUIRE(tool("info --json none.sluice") == 0);
    CHECK(contains(tool.output(), "\"filters\": []"));
    // Segments have filters of their own in a Quake III map, whose lumps are lightmaps, vertices
    // and names of shaders.
    tool.write("map.bsp", map());
    REQUIRE(tool("pack -o map.sluice map.bsp") == 0);
    REQUIRE(tool("info --json map.sluice") == 0);
    const std::string json = tool.output();
    size_t runs = 0;
    for (size_t at = json.find("\"firstTile\""); at != std::string::npos;
         at = json.find("\"firstTile\"", at + 1))
        ++runs;
    CHECK(runs >= 2);
}

TEST_CASE("tool: transcode")
{
    Tool tool;
    const std::string bytes = picture() + sound() + picture();
    std::string frames(ZSTD_compressBound(bytes.size()), 0);
    frames.resize(ZSTD_compress(frames.data(), frames.size(), bytes.data(), bytes.size(), 9));
    tool.write("data.bin.zst", frames);
    tool.write("cut.zst", frames.substr(0, frames.size() / 2));
    tool.write("expected/data.bin", bytes);
    REQUIRE(tool("transcode data.bin.zst -o t.sluice") == 0);
    CHECK(tool.onCpu("verify --compare expected t.sluice") == 0);
    CHECK(tool("transcode data.bin.zst -o t.sluice") == 2); // the output exists
    CHECK(tool("transcode cut.zst -o u.sluice") == 3);
    CHECK(contains(tool.errors(), "cut.zst: frame 0 at byte 0"));
    CHECK(contains(tool.errors(), ": the file is cut off"));
    CHECK(tool("transcode nothing.zst -o u.sluice") == 2);
    CHECK(tool("transcode a/one.txt -o u.sluice") == 3);
    CHECK(contains(tool.errors(), "a/one.txt: is no Zstandard file"));
    // Names are those that unpack gives.
    for (const char* name : {"n/a.ZST", "n/b.zstd", "n/c.tzst", "n/d.gz", "n/.zst"})
        tool.write(name, frames);
    CHECK(tool("transcode n/a.ZST n/b.zstd n/c.tzst n/d.gz n/.zst -o n.sluice") == 0);
    CHECK(tool("unpack --list n.sluice") == 0);
    CHECK(tool.output() == ".zst\na\nb\nc.tar\nd.gz\n");
    // Sizes that are impossible, dictionaries, and windows that are too large.
    const std::string magic("\x28\xb5\x2f\xfd", 4);
    tool.write("huge.zst", magic + std::string("\xe0\0\0\0\0\0\0\0\x40\1\0\0", 12));
    CHECK(tool("transcode huge.zst -o u.sluice") == 3);
    CHECK(tool("transcode - -o u.sluice <data.bin.zst") == 1);
    CHECK(contains(tool.errors(), "stdin has no name"));
    CHECK(tool("transcode huge.zst -o u.sluice") == 3);
    CHECK(contains(tool.errors(), "huge.zst: frame 0 at byte 0, block 1 at byte 16: "));
    tool.write("dictionary.zst", magic + std::string("\x21\7\1\x9\0\0x", 7));
    CHECK(tool("transcode dictionary.zst -o u.sluice") == 5);
    CHECK(contains(tool.errors(), "dictionary.zst: a frame needs a dictionary"));
    CHECK_FALSE(contains(tool.errors(), "window"));
    tool.write("window.zst", magic + std::string("\0\x90\x9\0\0x", 6)); // a window of 2^28 bytes
    CHECK(tool("transcode window.zst -o u.sluice") == 5);
    CHECK(contains(tool.errors(), "window.zst: a frame needs a window of more than 128 MiB"));
    CHECK_FALSE(contains(tool.errors(), "dictionary"));
    CHECK_FALSE(tool.has("u.sluice"));
    CHECK_FALSE(tool.hasTemporaries());

    // Several frames with checksums, and frames to skip. The result is the same with every -j.
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    std::string checked(ZSTD_compressBound(bytes.size()), 0);
    checked.resize(
        ZSTD_compress2(context, checked.data(), checked.size(), bytes.data(), bytes.size()));
    ZSTD_freeCCtx(context);
    const std::string skippable("\x50\x2a\x4d\x18\3\0\0\0abc", 11);
    tool.write("several.zst",
               skippable + frames + skippable + skippable + checked + frames + skippable);
    tool.write("expected/several", bytes + bytes + bytes);
    for (const std::string threads : {"1", "2", "9"}) {
        REQUIRE(tool("transcode -j " + threads + " several.zst data.bin.zst -o s" + threads +
                     ".sluice") == 0);
        CHECK(readFile(tool.path / ("s" + threads + ".sluice")) == tool.read("s1.sluice"));
    }
    CHECK(tool.onCpu("verify --compare expected s1.sluice") == 0);
    CHECK(contains(tool.output(), "all 2 files identical"));
    checked.back() = char(checked.back() ^ 1);
    tool.write("wrong.zst", frames + checked);
    CHECK(tool("transcode wrong.zst -o u.sluice") == 3);
    tool.write("reserved.zst", magic + std::string("\x28\1\x9\0\0x", 6));
    CHECK(tool("transcode reserved.zst -o u.sluice") == 3);
    CHECK_FALSE(tool.has("u.sluice"));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("tool: tiles with filters are decoded and checked on the device")
{
    if (skipsSlowCompiler() || skipsOtherSizes()) return;
    Tool tool;
    tool.write("f/picture.tga", picture());
    tool.write("f/sound.wav", sound());
    for (const char* codec : {"gstd", "zstd"}) {
        CAPTURE(codec);
        REQUIRE(tool("pack -f -l 3 --filters difference,planes,up f -o f.sluice -c " +
                     std::string(codec)) == 0);
        CHECK(tool("verify f.sluice --compare ." + onDevice()) == 0);
        CHECK(tool("unpack -f f.sluice -C out" + onDevice()) == 0);
        CHECK((tool.read("out/f/picture.tga") == picture()));
        CHECK((tool.read("out/f/sound.wav") == sound()));
        tool.damage("f.sluice");
        CHECK(tool("verify f.sluice" + onDevice()) == 3);
    }
}

TEST_SUITE_END();
