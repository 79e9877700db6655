// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the sluice command: exit codes, overwriting, names, stdin and stdout, damaged files.
#include <cstring>
#include <sstream>

#include "formats/archive_layout.h"
#include "tests/tool/tool_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

// Makes the checksums of a changed archive right.
void seal(std::string& file)
{
    uint8_t* bytes = reinterpret_cast<uint8_t*>(file.data());
    const size_t index = size_t(loadLe64(bytes + headerIndexOffset));
    storeLe32(bytes + headerIndexChecksum, xxh32(bytes + index, file.size() - index, 0));
    storeLe32(bytes + headerChecksum, xxh32(bytes, headerChecksum, 0));
}

} // namespace

TEST_CASE("tool: pack and unpack give the same files")
{
    Tool tool;
    CHECK(tool("pack -o x.sluice a") == 0);
    CHECK(tool.output() == "");
    CHECK(tool.errors() == "");
    CHECK(tool.onCpu("unpack x.sluice -C o") == 0);
    tool.checkSame("o");
    CHECK(tool.onCpu("verify x.sluice") == 0);
    CHECK(tool.onCpu("verify x.sluice --compare .") == 0);
    CHECK(contains(tool.output(), "all 3 files identical"));
    tool.write("o/a/one.txt", std::string(100000, 'x') + "eND");
    CHECK(tool.onCpu("verify x.sluice --compare o") == 3);
    CHECK(tool("pack -c store -o s.sluice a") == 0);
    CHECK(tool.onCpu("unpack s.sluice -C p") == 0);
    tool.checkSame("p");
    CHECK_FALSE(tool.hasTemporaries());
}

TEST_CASE("tool: packing is the same whatever the thread count")
{
    Tool tool;
    tool.write("a/long", std::string(3000000, 'q') + noise(200000));
    CHECK(tool("pack -j 1 -l 5 -o 1.sluice a") == 0);
    CHECK(tool("pack -j 2 -l 5 -o 2.sluice a") == 0);
    CHECK(tool("pack -j 9 -l 5 -o 9.sluice a") == 0);
    CHECK(tool.read("1.sluice") == tool.read("2.sluice"));
    CHECK(tool.read("1.sluice") == tool.read("9.sluice"));
    CHECK(tool("pack -c gdeflate --decode-speed 4 -l 5 -o d.sluice a") == 0);
    CHECK(tool.onCpu("verify d.sluice --compare .") == 0);
    CHECK(tool("pack --raw -j 1 a/long -o 1.raw") == 0);
    CHECK(tool("pack --raw -j 9 a/long -o 9.raw") == 0);
    CHECK(tool.read("1.raw") == tool.read("9.raw"));
}

TEST_CASE("tool: usage errors are 1, help is 0")
{
    Tool tool;
    CHECK(tool("--help") == 0);
    CHECK(tool("pack --help") == 0);
    CHECK(tool("--version") == 0);
    for (const char* arguments : {"",
                                  "frobnicate",
                                  "pack",
                                  "pack a",
                                  "pack -o x.sluice",
                                  "pack -o x.sluice -c zip a",
                                  "pack -o x.sluice -l 0 a",
                                  "pack -o x.sluice -l 13 a",
                                  "pack -o x.sluice -l nine a",
                                  "pack -o x.sluice --decode-speed 7 a",
                                  "pack --raw -c store -o x a/one.txt",
                                  "pack -c store -l 1 -o x a", // these codecs have no levels
                                  "pack -c huff -l 1 -o x a",
                                  "pack --raw -c df11 -l 1 -o x a/one.txt",
                                  "pack --raw -c ecf8 -l 1 -o x a/one.txt",
                                  "pack --raw -o x a/one.txt a/empty",
                                  "pack --raw -o x a",
                                  "pack -o x.sluice -",
                                  "unpack",
                                  "info",
                                  "verify",
                                  "pack --nonsense -o x.sluice a",
                                  "devices extra"}) {
        CHECK_MESSAGE(tool(arguments) == 1, arguments);
        CHECK_MESSAGE(tool.errors() != "", arguments);
    }
    CHECK(tool("-v frobnicate x") == 1);
    CHECK(contains(tool.errors(), "no command 'frobnicate'"));
    REQUIRE(tool("pack -o x.sluice a") == 0);
    CHECK(tool("unpack x.sluice -o f -C d") == 1);
    CHECK(tool("unpack x.sluice -o f") == 1); // there are three assets
    CHECK(tool("verify x.sluice --device gpu") == 1);
    CHECK(tool("verify x.sluice --device vulkan:") == 1);
    CHECK(tool("verify x.sluice --device cuda:x") == 1);
    CHECK(tool.onCpu("verify x.sluice --tier quick") == 1);
    CHECK_FALSE(tool.has("f"));
}

TEST_CASE("tool: every verb has help")
{
    const Folder tool;
    REQUIRE(tool("--help") == 0);
    std::istringstream lines(tool.output().substr(tool.output().find("Subcommands:")));
    std::vector<std::string> verbs = {""}; // "" is the tool's own help
    for (std::string line; std::getline(lines, line);) {
        const bool names = line.size() > 2 && line.rfind("  ", 0) == 0 && line[2] != ' ';
        if (names) verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    CHECK(verbs.size() >= 9);
    for (const std::string& verb : verbs) {
        REQUIRE(tool(verb + " --help") == 0);
        CHECK(contains(tool.output(), "Usage: sluice " + verb));
    }
}

TEST_CASE("tool: devices that are not there are 4, tiers that a device lacks 5")
{
    Tool tool;
    tool.environment = "export ASAN_OPTIONS=detect_leaks=0;"; // drivers leak
    REQUIRE(tool("pack -o x.sluice a") == 0);
    CHECK(tool("verify x.sluice --device 'vulkan:no device has this name'") == 4);
    CHECK(tool("verify x.sluice --device vulkan:999") == 4);
    // 5: the build has no CUDA.
    CHECK(tool("selftest --device cuda:999") == (toolHasCuda() ? 4 : 5));
    CHECK(tool.onCpu("verify x.sluice --tier base") == 5);
    CHECK(tool.onCpu("verify x.sluice --tier ref") == 0);
    CHECK(tool.onCpu("verify x.sluice --tier fast") == 0);
    CHECK(tool.onCpu("selftest") == 0);
    CHECK(tool.onCpu("selftest --json") == 0);
    for (const char* kernel :
         {"scan", "compact", "reduce", "intervals", "bulk", "gdeflate", "checksum", "tile_streams",
          "gstd", "filter", "float", "fse_tables", "df11", "zstd", "uastc"})
        CHECK_MESSAGE(contains(tool.output(), '"' + std::string(kernel) + "\": true"), kernel);
    CHECK(tool.onCpu("selftest") == 0);
    for (const char* tier : {"fast", "ref "})
        CHECK(contains(tool.output(),
                       "cpu        " + std::string(tier) + "    scan ok  compact ok "));
    CHECK(contains(tool.errors(), "noted checksums"));
    CHECK(tool.onCpu("-q selftest") == 0);
    CHECK(tool.errors().empty());
    CHECK(tool("devices") == 0);
    CHECK(contains(tool.output(), "cpu"));
    CHECK(tool("devices --json") == 0);
}

TEST_CASE("tool: nothing is overwritten without -f, wherever it stands")
{
    Tool tool;
    REQUIRE(tool("pack -o x.sluice a") == 0);
    const std::string before = tool.read("x.sluice");
    CHECK(tool("pack -l 1 -o x.sluice a/empty") == 2);
    CHECK(tool.read("x.sluice") == before);
    CHECK(tool("-f pack -o x.sluice a/empty") == 0);
    CHECK(tool.read("x.sluice") != before);
    CHECK(tool("pack -o x.sluice a -f") == 0);
    CHECK(tool.read("x.sluice") == before);
    CHECK(tool("pack -fq -o x.sluice a") == 0);

    tool.write("o/a/sub/two.bin", "mine");
    CHECK(tool.onCpu("unpack x.sluice -C o") == 2);
    CHECK(tool.read("o/a/sub/two.bin") == "mine");
    CHECK_FALSE(tool.has("o/a/one.txt")); // refused before anything was written
    CHECK(tool.onCpu("unpack -f x.sluice -C o") == 0);
    tool.checkSame("o");
    CHECK(tool("pack -f -o a a/one.txt") == 2); // "a" is a folder
    CHECK_FALSE(tool.hasTemporaries());
}

TEST_CASE("tool: I/O errors are 2")
{
    Tool tool;
    CHECK(tool("pack -o x.sluice missing") == 2);
    CHECK(tool("pack -o nowhere/x.sluice a") == 2);
    CHECK(tool("unpack missing.sluice") == 2);
    CHECK(tool("info missing.sluice") == 2);
    CHECK(tool("info a") == 2);
    CHECK(contains(tool.errors(), "a: "));
    CHECK_FALSE(tool.has("x.sluice"));
    REQUIRE(tool("pack -o x.sluice a") == 0);
    CHECK(tool("info x.sluice >/dev/full") == 2);
    CHECK(tool("pack -o - a >/dev/full") == 2);
}

TEST_CASE("tool: names")
{
    Tool tool;
    // A file is packed under its base name, and a folder under its last component, however that is
    // written.
    CHECK(tool("pack -o f.sluice a/sub/two.bin") == 0);
    CHECK(tool("info f.sluice --json") == 0);
    CHECK(contains(tool.output(), "\"name\": \"two.bin\""));
    for (const char* form : {"a/sub", "a/sub/", "./a/sub/.", "a/../a/sub"}) {
        CHECK(tool(std::string("pack -f -o d.sluice ") + form) == 0);
        CHECK(tool("info d.sluice --json") == 0);
        CHECK_MESSAGE(contains(tool.output(), "\"name\": \"sub/two.bin\""), form);
    }
    // Two files of the same name; a file and a folder of the same name.
    tool.write("b/one.txt", "other");
    CHECK(tool("pack -o y.sluice a/one.txt b/one.txt") == 1);
    CHECK(contains(tool.errors(), "one.txt"));
    tool.write("b/a", "a file");
    CHECK(tool("pack -o y.sluice a b/a") == 1);
    CHECK_FALSE(tool.has("y.sluice"));
    // Names with UTF-8 and spaces.
    tool.write("e/\xc3\xa4 \xe2\x82\xac", "text");
    CHECK(tool("pack -o e.sluice e") == 0);
    CHECK(tool.onCpu("unpack e.sluice -C eo") == 0);
    CHECK(tool.read("eo/e/\xc3\xa4 \xe2\x82\xac") == "text");
}

TEST_CASE("tool: names that no archive may hold")
{
    if (isWindowsTool("Windows has no such names of files")) return;
    Tool tool;
    tool.write("c/back\\slash", "");
    CHECK(tool("pack -o y.sluice c") == 1);
    tool.write("d/\xff", "");
    CHECK(tool("pack -o y.sluice d") == 1);
}

TEST_CASE("tool: a name with an asterisk is a file's where it can be one, else a pattern")
{
    Tool tool;
    if (isWindowsTool()) {
        tool.write("a/Two.TXT", "2");
        // Two.TXT is named twice, and is packed once.
        REQUIRE(tool("pack -o v.sluice 'a/*.txt' a/sub 'a\\t?o.*'") == 0);
        REQUIRE(tool("pack -o w.sluice 'a/*.txt' a/sub") == 0);
        REQUIRE(tool.onCpu("unpack w.sluice -C wo") == 0);
        CHECK(tool.read("wo/one.txt") == tool.read("a/one.txt"));
        CHECK(tool.read("wo/Two.TXT") == "2");
        CHECK(tool.has("wo/sub/two.bin"));
        CHECK_FALSE(tool.has("wo/empty"));
        CHECK(tool("pack -o x.sluice 'a/*.nothing'") == 2);
        CHECK(contains(tool.errors(), "a/*.nothing: there is no such file"));
    } else {
        CHECK(tool("pack -o w.sluice 'a/*.txt'") == 2);
        tool.write("a/*.txt", "starred");
        REQUIRE(tool("pack -o w.sluice 'a/*.txt'") == 0);
        REQUIRE(tool.onCpu("unpack w.sluice -C wo") == 0);
        CHECK(tool.read("wo/*.txt") == "starred");
        CHECK_FALSE(tool.has("wo/one.txt"));
    }
}

TEST_CASE("tool: links are left out")
{
    if (isWindowsTool("Wine shows links of Linux as what they lead to")) return;
    Tool tool;
    tool.write("e/file", "text");
    fs::create_symlink("/etc/passwd", tool.path / "e/link");
    fs::create_directory_symlink("..", tool.path / "e/up");
    CHECK(tool("pack -o e.sluice e") == 0);
    CHECK(tool.onCpu("unpack e.sluice -C eo") == 0);
    CHECK(tool.read("eo/e/file") == "text");
    CHECK_FALSE(fs::exists(fs::symlink_status(tool.path / "eo/e/link")));
    CHECK_FALSE(fs::exists(fs::symlink_status(tool.path / "eo/e/up")));
    // But one that is named is followed.
    REQUIRE(tool("pack -o l.sluice e/link") == 0);
    CHECK(tool("unpack --list l.sluice") == 0);
    CHECK(tool.output() == "link\n");
}

TEST_CASE("tool: an archive cannot write outside its folder")
{
    Tool tool;
    tool.write("in/aaaa", "payload");
    REQUIRE(tool("pack -o x.sluice in") == 0);
    const std::string good = tool.read("x.sluice");
    const auto named = [&](const char* name) { // the name has seven bytes, as "in/aaaa" has
        std::string bad = good;
        std::memcpy(bad.data() + bad.size() - 7, name, 7);
        seal(bad);
        tool.write("bad.sluice", bad);
        return tool.onCpu("unpack bad.sluice -C box/deep");
    };
    CHECK(named("in/bbbb") == 0);
    for (const char* name : {"../evil", "/tmp/ev", "in/../x", "in\\..\\x", "c:/evil", "in//bad"}) {
        CHECK_MESSAGE(named(name) == 3, name);
        CHECK(contains(tool.errors(), "bad.sluice"));
    }
    CHECK_FALSE(tool.has("box/evil"));
}

TEST_CASE("tool: a link below the folder is not followed")
{
    if (isWindowsTool("Wine shows links of Linux as what they lead to")) return;
    Tool tool;
    tool.write("in/aaaa", "payload");
    REQUIRE(tool("pack -o x.sluice in") == 0);
    fs::create_directories(tool.path / "box2");
    fs::create_directories(tool.path / "outside");
    fs::create_directory_symlink("../outside", tool.path / "box2/in");
    CHECK(tool.onCpu("unpack x.sluice -C box2") == 2);
    CHECK(fs::is_empty(tool.path / "outside"));
}

TEST_CASE("tool: bare streams")
{
    Tool tool;
    CHECK(tool("pack --raw -c gdeflate -l 12 a/one.txt -o one.txt.gdeflate") == 0);
    CHECK(tool("info one.txt.gdeflate") == 0);
    CHECK(tool.onCpu("unpack one.txt.gdeflate") == 0); // under its name without the suffix
    CHECK(tool.read("one.txt") == tool.read("a/one.txt"));
    CHECK(tool.onCpu("unpack one.txt.gdeflate") == 2);
    CHECK(tool.onCpu("unpack one.txt.gdeflate -o other") == 0);
    CHECK(tool.read("other") == tool.read("a/one.txt"));
    CHECK(tool.onCpu("unpack one.txt.gdeflate -C dir") == 0);
    CHECK(tool.read("dir/one.txt") == tool.read("a/one.txt"));
    CHECK(tool.onCpu("verify one.txt.gdeflate") == 0);
    fs::copy_file(tool.path / "one.txt.gdeflate", tool.path / "nosuffix");
    CHECK(tool.onCpu("unpack nosuffix") == 1);
    // Packages of others have a tile size that nothing here decodes.
    tool.write("other.pkg", std::string("\x04\xfb\0\0\x02\0\0\0", 8));
    CHECK(tool("info other.pkg") == 5);
    CHECK(tool.errors().find("its tile size index is 2") != std::string::npos);
    // A stream begins with any byte and its complement, but a file of which only that is known is
    // none.
    tool.write("any", "\xfe\x01" + tool.read("one.txt.gdeflate").substr(2));
    CHECK(tool("info any") == 3);

    CHECK(tool("pack --raw a/empty -o empty.gdeflate") == 0);
    CHECK(tool.read("empty.gdeflate") == std::string("\x04\xfb\0\0\x01\0\0\0", 8));
    CHECK(tool.onCpu("unpack empty.gdeflate -o empty.out") == 0);
    CHECK(tool.read("empty.out") == "");

    // Only a header is left.
    tool.write("cut.gdeflate", tool.read("one.txt.gdeflate").substr(0, 8));
    CHECK(tool.onCpu("verify cut.gdeflate") == 3);
}

TEST_CASE("tool: stdin and stdout")
{
    Tool tool;
    CHECK(tool("pack --raw - -o - <a/one.txt | \"$SLUICE\" unpack - -o - --device cpu") == 0);
    CHECK(tool.output() == tool.read("a/one.txt"));
    CHECK(tool("pack -o - a | \"$SLUICE\" unpack - -C o --device cpu") == 0);
    tool.checkSame("o");
    REQUIRE(tool("pack -o x.sluice a/one.txt") == 0);
    CHECK(tool.onCpu("unpack x.sluice -o -") == 0);
    CHECK(tool.output() == tool.read("a/one.txt"));
    CHECK(tool("info - <x.sluice") == 0);
    CHECK(tool("verify - --device cpu <x.sluice") == 0);
    CHECK(tool("pack --raw - -o s.gdeflate </dev/null") == 0);
    // Without a name, there is no suffix to take off.
    CHECK(tool("unpack - --device cpu <s.gdeflate") == 1);
}

TEST_CASE("tool: damaged files are 3, newer ones 5, and nothing half-written stays")
{
    Tool tool;
    REQUIRE(tool("pack -c gdeflate -o x.sluice a") == 0); // its tiles have 64 KiB
    REQUIRE(tool("pack --raw -o x.gdeflate a/one.txt") == 0);
    const std::string archive = tool.read("x.sluice");
    const std::string stream = tool.read("x.gdeflate");
    const auto verify = [&](const std::string& bytes) {
        tool.write("bad", bytes);
        const int info = tool("info bad");
        const int code = tool.onCpu("verify bad");
        CHECK((info == code || info == 0)); // info does not decode
        CHECK((code == 0 || tool.errors().find("bad") != std::string::npos));
        return code;
    };
    CHECK(verify(archive) == 0);
    CHECK(verify("") == 3);
    CHECK(verify("hello, world") == 3);
    CHECK(verify(archive.substr(0, 10)) == 3);
    CHECK(verify(archive.substr(0, archive.size() - 1)) == 3);
    CHECK(verify(archive + "x") == 3);
    CHECK(verify(stream.substr(0, stream.size() - 1)) == 3);
    CHECK(verify(stream.substr(0, 6)) == 3);
    CHECK(verify(stream + "xxxx") == 3);
    const auto flipped = [](std::string bytes, size_t at, int bit) {
        bytes[at] = char(bytes[at] ^ 1 << bit);
        return bytes;
    };
    CHECK(verify(flipped(stream, 4, 0)) == 5); // the index of another tile size
    CHECK(verify(flipped(stream, 7, 7)) == 3); // a reserved bit
    // A bare stream has no checksum, so only damage that breaks the format is noticed. The first
    // tile begins after the header and the table. If its bits 1 and 2 are set, its block type is 3,
    // which is reserved.
    const size_t tiles = uint8_t(stream[2]) + 256u * uint8_t(stream[3]);
    std::string reserved = stream;
    reserved[8 + 4 * tiles] = char(reserved[8 + 4 * tiles] | 6);
    CHECK(verify(reserved) == 3);
    CHECK(contains(tool.errors(), "tile 0"));
    // The version changes, but the checksum is wrong first.
    CHECK(verify(flipped(archive, 8, 1)) == 3);
    std::string newer = flipped(archive, 8, 2);
    seal(newer);
    CHECK(verify(newer) == 5);

    // A byte of the last asset, a/sub/two.bin, is wrong. This asset is stored. Assets before it are
    // unpacked whole.
    const std::string wrong = flipped(
        archive,
        size_t(loadLe64(reinterpret_cast<const uint8_t*>(archive.data()) + headerIndexOffset)) - 20,
        0);
    CHECK(verify(wrong) == 3);
    CHECK(contains(tool.errors(), "a/sub/two.bin"));
    CHECK(contains(tool.errors(), "tile 1"));
    tool.write("o/a/sub/two.bin", "old");
    CHECK(tool.onCpu("unpack -f bad -C o") == 3);
    CHECK(tool.read("o/a/one.txt") == tool.read("a/one.txt"));
    CHECK(tool.read("o/a/sub/two.bin") == "old");
    CHECK_FALSE(tool.hasTemporaries());

    // A codec that does not exist yet.
    std::string codec = archive;
    uint8_t* bytes = reinterpret_cast<uint8_t*>(codec.data());
    uint8_t* entry = bytes + loadLe64(bytes + headerIndexOffset) + assetBytes; // of a/one.txt
    uint8_t* records = bytes + loadLe64(entry + assetOffset);
    storeLe32(records + recordSizeAndCodec, 65536 | 77u << 24);
    storeLe32(entry + assetTileChecksum,
              xxh32(records, loadLe32(entry + assetTileCount) * recordBytes, 0));
    seal(codec);
    CHECK(verify(codec) == 5);
}

TEST_CASE("tool: -q and -v")
{
    Tool tool;
    REQUIRE(tool("-q pack -o x.sluice a") == 0);
    CHECK(tool.onCpu("verify -q x.sluice") == 0);
    CHECK(tool.output() == "");
    CHECK(tool.onCpu("unpack x.sluice -C o -v") == 0);
    CHECK(contains(tool.errors(), "tier       fast"));
    CHECK(contains(tool.errors(), "bytes out  170003"));
    CHECK(tool.onCpu("unpack x.sluice -C p") == 0);
    CHECK(tool.errors() == "");
}
