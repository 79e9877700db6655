// SPDX-License-Identifier: MIT OR Apache-2.0
// The sluice command, run as a user runs it: exit codes, overwriting, names, stdin and stdout,
// damaged files. SLUICE_TOOL_PATH is the built tool; the environment variable SLUICE_TOOL names
// another one.
#include <doctest/doctest.h>
#include <zstd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../src/formats/archive_layout.h"
#include "devices.h"

namespace fs = std::filesystem;
using namespace sluice;

namespace {

std::string readFile(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file, path.string());
    return std::string(std::istreambuf_iterator<char>(file), {});
}

void writeFile(const fs::path& path, const std::string& text)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

std::string noise(size_t size)
{
    std::string text(size, 0);
    uint32_t state = 99;
    for (char& c : text) {
        state = state * 1664525u + 1013904223u;
        c = char(state >> 24);
    }
    return text;
}

// A folder of its own for each test, and the tool run in it.
class Tool {
public:
    Tool()
    {
        std::string pattern = (fs::temp_directory_path() / "sluice-test-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        folder = pattern;
        writeFile(folder / "a/one.txt", std::string(100000, 'x') + "end");
        writeFile(folder / "a/sub/two.bin", noise(70000));
        writeFile(folder / "a/empty", "");
    }
    ~Tool() { fs::remove_all(folder); }

    // Runs "sluice ARGUMENTS" through the shell; returns the exit code. Output and errors are kept.
    int operator()(const std::string& arguments)
    {
        const char* other = std::getenv("SLUICE_TOOL");
        const std::string tool = other != nullptr ? other : SLUICE_TOOL_PATH;
        const std::string line = "cd '" + folder.string() + "' && { " + environment + " SLUICE='" +
                                 tool + "'; { '" + tool + "' " + arguments +
                                 "; } >.out 2>.err </dev/null; }";
        const int result = std::system(line.c_str());
        REQUIRE(WIFEXITED(result));
        return WEXITSTATUS(result);
    }
    std::string output() const { return readFile(folder / ".out"); }
    std::string errors() const { return readFile(folder / ".err"); }
    bool hasTemporaries() const
    {
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (entry.path().filename().string().rfind(".sluice-", 0) == 0) {
                return true;
            }
        }
        return false;
    }
    void checkSame(const fs::path& root) const
    {
        for (const char* name : {"a/one.txt", "a/sub/two.bin", "a/empty"}) {
            CHECK(readFile(folder / name) == readFile(folder / root / name));
        }
    }

    fs::path folder;
    std::string environment; // "export NAME=VALUE;" for the tool
};

// Gives a changed archive its checksums back.
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
    CHECK(tool("unpack x.sluice -C o --device cpu") == 0);
    tool.checkSame("o");
    CHECK(tool("verify x.sluice --device cpu") == 0);
    CHECK(tool("verify x.sluice --device cpu --compare .") == 0);
    CHECK(tool.output().find("all 3 files identical") != std::string::npos);
    writeFile(tool.folder / "o/a/one.txt", std::string(100000, 'x') + "eND");
    CHECK(tool("verify x.sluice --device cpu --compare o") == 3);
    CHECK(tool("pack -c store -o s.sluice a") == 0);
    CHECK(tool("unpack s.sluice -C p --device cpu") == 0);
    tool.checkSame("p");
    CHECK_FALSE(tool.hasTemporaries());
}

TEST_CASE("tool: packing is the same whatever the thread count")
{
    Tool tool;
    writeFile(tool.folder / "a/long", std::string(3000000, 'q') + noise(200000));
    CHECK(tool("pack -j 1 -l 5 -o 1.sluice a") == 0);
    CHECK(tool("pack -j 2 -l 5 -o 2.sluice a") == 0);
    CHECK(tool("pack -j 9 -l 5 -o 9.sluice a") == 0);
    CHECK(readFile(tool.folder / "1.sluice") == readFile(tool.folder / "2.sluice"));
    CHECK(readFile(tool.folder / "1.sluice") == readFile(tool.folder / "9.sluice"));
    CHECK(tool("pack -c gdeflate --decode-speed 4 -l 5 -o d.sluice a") == 0);
    CHECK(tool("verify d.sluice --device cpu --compare .") == 0);
    CHECK(tool("pack --raw -j 1 a/long -o 1.raw") == 0);
    CHECK(tool("pack --raw -j 9 a/long -o 9.raw") == 0);
    CHECK(readFile(tool.folder / "1.raw") == readFile(tool.folder / "9.raw"));
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
                                  "pack -o x.sluice -j 0 a",
                                  "pack -o x.sluice --decode-speed 7 a",
                                  "pack --raw -c store -o x a/one.txt",
                                  "pack -c store -l 1 -o x a", // levels mean nothing to these
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
    CHECK(tool.errors().find("no command 'frobnicate'") != std::string::npos);
    REQUIRE(tool("pack -o x.sluice a") == 0);
    CHECK(tool("unpack x.sluice -o f -C d") == 1);
    CHECK(tool("unpack x.sluice -o f") == 1); // three assets
    CHECK(tool("verify x.sluice --device gpu") == 1);
    CHECK(tool("verify x.sluice --device vulkan:") == 1);
    CHECK(tool("verify x.sluice --device cuda:x") == 1);
    CHECK(tool("verify x.sluice --device cpu --tier fast") == 1);
    CHECK_FALSE(fs::exists(tool.folder / "f"));
}

TEST_CASE("tool: devices that are not there are 4, tiers that a device lacks 5")
{
    Tool tool;
    tool.environment = "export ASAN_OPTIONS=detect_leaks=0;"; // drivers leak
    REQUIRE(tool("pack -o x.sluice a") == 0);
    CHECK(tool("verify x.sluice --device 'vulkan:no device has this name'") == 4);
    CHECK(tool("verify x.sluice --device vulkan:999") == 4);
#ifdef SLUICE_HAVE_CUDA
    CHECK(tool("selftest --device cuda:999") == 4);
#else
    CHECK(tool("selftest --device cuda:999") == 5); // the build lacks it
#endif
    CHECK(tool("verify x.sluice --device cpu --tier base") == 5);
    CHECK(tool("verify x.sluice --device cpu --tier ref") == 0);
    CHECK(tool("selftest --device cpu") == 0);
    CHECK(tool("selftest --device cpu --json") == 0);
    for (const char* kernel :
         {"scan", "compact", "reduce", "intervals", "bulk", "gdeflate", "checksum", "tile_streams",
          "gstd", "filter", "float", "fse_tables", "df11"})
        CHECK_MESSAGE(tool.output().find('"' + std::string(kernel) + "\": true") !=
                          std::string::npos,
                      kernel);
    CHECK(tool("devices") == 0);
    CHECK(tool.output().find("cpu") != std::string::npos);
    CHECK(tool("devices --json") == 0);
}

TEST_CASE("tool: nothing is overwritten without -f, wherever it stands")
{
    Tool tool;
    REQUIRE(tool("pack -o x.sluice a") == 0);
    const std::string before = readFile(tool.folder / "x.sluice");
    CHECK(tool("pack -l 1 -o x.sluice a/empty") == 2);
    CHECK(readFile(tool.folder / "x.sluice") == before);
    CHECK(tool("-f pack -o x.sluice a/empty") == 0);
    CHECK(readFile(tool.folder / "x.sluice") != before);
    CHECK(tool("pack -o x.sluice a -f") == 0);
    CHECK(readFile(tool.folder / "x.sluice") == before);
    CHECK(tool("pack -fq -o x.sluice a") == 0);

    writeFile(tool.folder / "o/a/sub/two.bin", "mine");
    CHECK(tool("unpack x.sluice -C o --device cpu") == 2);
    CHECK(readFile(tool.folder / "o/a/sub/two.bin") == "mine");
    CHECK_FALSE(fs::exists(tool.folder / "o/a/one.txt")); // refused before anything was written
    CHECK(tool("unpack -f x.sluice -C o --device cpu") == 0);
    tool.checkSame("o");
    CHECK(tool("pack -f -o a a/one.txt") == 2); // a folder
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
    CHECK(tool.errors().find("a: ") != std::string::npos);
    CHECK_FALSE(fs::exists(tool.folder / "x.sluice"));
    REQUIRE(tool("pack -o x.sluice a") == 0);
    CHECK(tool("info x.sluice >/dev/full") == 2);
    CHECK(tool("pack -o - a >/dev/full") == 2);
}

TEST_CASE("tool: names")
{
    Tool tool;
    // A file under its base name; a folder under its last component, however it is written.
    CHECK(tool("pack -o f.sluice a/sub/two.bin") == 0);
    CHECK(tool("info f.sluice --json") == 0);
    CHECK(tool.output().find("\"name\": \"two.bin\"") != std::string::npos);
    for (const char* form : {"a/sub", "a/sub/", "./a/sub/.", "a/../a/sub"}) {
        CHECK(tool(std::string("pack -f -o d.sluice ") + form) == 0);
        CHECK(tool("info d.sluice --json") == 0);
        CHECK_MESSAGE(tool.output().find("\"name\": \"sub/two.bin\"") != std::string::npos, form);
    }
    // Two of one name; a file and a folder of one name.
    writeFile(tool.folder / "b/one.txt", "other");
    CHECK(tool("pack -o y.sluice a/one.txt b/one.txt") == 1);
    CHECK(tool.errors().find("one.txt") != std::string::npos);
    writeFile(tool.folder / "b/a", "a file");
    CHECK(tool("pack -o y.sluice a b/a") == 1);
    CHECK_FALSE(fs::exists(tool.folder / "y.sluice"));
    // What no archive may hold.
    writeFile(tool.folder / "c/back\\slash", "");
    CHECK(tool("pack -o y.sluice c") == 1);
    writeFile(tool.folder / "d/\xff", "");
    CHECK(tool("pack -o y.sluice d") == 1);
    // UTF-8 and spaces; links are left out.
    writeFile(tool.folder / "e/\xc3\xa4 \xe2\x82\xac", "text");
    fs::create_symlink("/etc/passwd", tool.folder / "e/link");
    fs::create_directory_symlink("..", tool.folder / "e/up");
    CHECK(tool("pack -o e.sluice e") == 0);
    CHECK(tool("unpack e.sluice -C eo --device cpu") == 0);
    CHECK(readFile(tool.folder / "eo/e/\xc3\xa4 \xe2\x82\xac") == "text");
    CHECK_FALSE(fs::exists(fs::symlink_status(tool.folder / "eo/e/link")));
    CHECK_FALSE(fs::exists(fs::symlink_status(tool.folder / "eo/e/up")));
    CHECK(tool("pack -o l.sluice e/link") == 1);
}

TEST_CASE("tool: an archive cannot write outside its folder")
{
    Tool tool;
    writeFile(tool.folder / "in/aaaa", "payload");
    REQUIRE(tool("pack -o x.sluice in") == 0);
    const std::string good = readFile(tool.folder / "x.sluice");
    const auto named = [&](const char* name) { // seven bytes instead of "in/aaaa"
        std::string bad = good;
        std::memcpy(bad.data() + bad.size() - 7, name, 7);
        seal(bad);
        writeFile(tool.folder / "bad.sluice", bad);
        return tool("unpack bad.sluice -C box/deep --device cpu");
    };
    CHECK(named("in/bbbb") == 0);
    for (const char* name : {"../evil", "/tmp/ev", "in/../x", "in\\..\\x", "c:/evil", "in//bad"}) {
        CHECK_MESSAGE(named(name) == 3, name);
        CHECK(tool.errors().find("bad.sluice") != std::string::npos);
    }
    CHECK_FALSE(fs::exists(tool.folder / "box/evil"));
    // A link that is already there is not followed.
    fs::create_directories(tool.folder / "box2");
    fs::create_directories(tool.folder / "outside");
    fs::create_directory_symlink("../outside", tool.folder / "box2/in");
    CHECK(tool("unpack x.sluice -C box2 --device cpu") == 2);
    CHECK(fs::is_empty(tool.folder / "outside"));
}

TEST_CASE("tool: bare streams")
{
    Tool tool;
    CHECK(tool("pack --raw -c gdeflate -l 12 a/one.txt -o one.txt.gdeflate") == 0);
    CHECK(tool("info one.txt.gdeflate") == 0);
    CHECK(tool("unpack one.txt.gdeflate --device cpu") == 0); // under its name less the suffix
    CHECK(readFile(tool.folder / "one.txt") == readFile(tool.folder / "a/one.txt"));
    CHECK(tool("unpack one.txt.gdeflate --device cpu") == 2);
    CHECK(tool("unpack one.txt.gdeflate -o other --device cpu") == 0);
    CHECK(readFile(tool.folder / "other") == readFile(tool.folder / "a/one.txt"));
    CHECK(tool("unpack one.txt.gdeflate -C dir --device cpu") == 0);
    CHECK(readFile(tool.folder / "dir/one.txt") == readFile(tool.folder / "a/one.txt"));
    CHECK(tool("verify one.txt.gdeflate --device cpu") == 0);
    fs::copy_file(tool.folder / "one.txt.gdeflate", tool.folder / "nosuffix");
    CHECK(tool("unpack nosuffix --device cpu") == 1);

    CHECK(tool("pack --raw a/empty -o empty.gdeflate") == 0);
    CHECK(readFile(tool.folder / "empty.gdeflate") == std::string("\x04\xfb\0\0\x01\0\0\0", 8));
    CHECK(tool("unpack empty.gdeflate -o empty.out --device cpu") == 0);
    CHECK(readFile(tool.folder / "empty.out") == "");

    // a header alone
    writeFile(tool.folder / "cut.gdeflate",
              readFile(tool.folder / "one.txt.gdeflate").substr(0, 8));
    CHECK(tool("verify cut.gdeflate --device cpu") == 3);
}

TEST_CASE("tool: stdin and stdout")
{
    Tool tool;
    CHECK(tool("pack --raw - -o - <a/one.txt | \"$SLUICE\" unpack - -o - --device cpu") == 0);
    CHECK(tool.output() == readFile(tool.folder / "a/one.txt"));
    CHECK(tool("pack -o - a | \"$SLUICE\" unpack - -C o --device cpu") == 0);
    tool.checkSame("o");
    REQUIRE(tool("pack -o x.sluice a/one.txt") == 0);
    CHECK(tool("unpack x.sluice -o - --device cpu") == 0);
    CHECK(tool.output() == readFile(tool.folder / "a/one.txt"));
    CHECK(tool("info - <x.sluice") == 0);
    CHECK(tool("verify - --device cpu <x.sluice") == 0);
    CHECK(tool("pack --raw - -o s.gdeflate </dev/null") == 0);
    CHECK(tool("unpack - --device cpu <s.gdeflate") == 1); // no name to take a suffix off
}

TEST_CASE("tool: damaged files are 3, newer ones 5, and nothing half-written stays")
{
    Tool tool;
    REQUIRE(tool("pack -c gdeflate -o x.sluice a") == 0); // tiles of 64 KiB
    REQUIRE(tool("pack --raw -o x.gdeflate a/one.txt") == 0);
    const std::string archive = readFile(tool.folder / "x.sluice");
    const std::string stream = readFile(tool.folder / "x.gdeflate");
    const auto verify = [&](const std::string& bytes) {
        writeFile(tool.folder / "bad", bytes);
        const int info = tool("info bad");
        const int code = tool("verify bad --device cpu");
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
    CHECK(verify(flipped(stream, 4, 0)) == 3); // tile size
    CHECK(verify(flipped(stream, 7, 7)) == 3); // reserved
    // A bare stream has no checksum: damage must break the format to be seen. The first tile begins
    // behind the header and the table; with bits 1 and 2 set its block type is 3, which is
    // reserved.
    const size_t tiles = uint8_t(stream[2]) + 256u * uint8_t(stream[3]);
    std::string reserved = stream;
    reserved[8 + 4 * tiles] = char(reserved[8 + 4 * tiles] | 6);
    CHECK(verify(reserved) == 3);
    CHECK(tool.errors().find("tile 0") != std::string::npos);
    CHECK(verify(flipped(archive, 8, 1)) == 3); // version, but the checksum is wrong
    std::string newer = flipped(archive, 8, 1);
    seal(newer);
    CHECK(verify(newer) == 5);

    // A wrong byte in the data of the last asset: a/sub/two.bin, stored. What came before stays,
    // whole.
    const std::string wrong = flipped(
        archive,
        size_t(loadLe64(reinterpret_cast<const uint8_t*>(archive.data()) + headerIndexOffset)) - 20,
        0);
    CHECK(verify(wrong) == 3);
    CHECK(tool.errors().find("a/sub/two.bin") != std::string::npos);
    CHECK(tool.errors().find("tile 1") != std::string::npos);
    writeFile(tool.folder / "o/a/sub/two.bin", "old");
    CHECK(tool("unpack -f bad -C o --device cpu") == 3);
    CHECK(readFile(tool.folder / "o/a/one.txt") == readFile(tool.folder / "a/one.txt"));
    CHECK(readFile(tool.folder / "o/a/sub/two.bin") == "old");
    CHECK_FALSE(tool.hasTemporaries());

    // A codec that is not known yet.
    std::string codec = archive;
    uint8_t* bytes = reinterpret_cast<uint8_t*>(codec.data());
    uint8_t* entry = bytes + loadLe64(bytes + headerIndexOffset) + assetBytes; // a/one.txt
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
    CHECK(tool("verify -q x.sluice --device cpu") == 0);
    CHECK(tool.output() == "");
    CHECK(tool("unpack x.sluice -C o --device cpu -v") == 0);
    CHECK(tool.errors().find("tier       ref") != std::string::npos);
    CHECK(tool.errors().find("bytes out  170003") != std::string::npos);
    CHECK(tool("unpack x.sluice -C p --device cpu") == 0);
    CHECK(tool.errors() == "");
}

namespace {

// A picture as .tga, 24 bits, and a sound as .wav, 16 bits: smooth, so that filters pay.
std::string picture()
{
    std::string file = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, char(160), 0, char(200), 0, 24, 0};
    for (int y = 0; y < 200; ++y) {
        for (int x = 0; x < 160; ++x) {
            for (int channel = 0; channel < 3; ++channel)
                file += char(x * (channel + 1) + y * y / 50 + ((x * 7 + y * 13) % 5));
        }
    }
    return file;
}

std::string sound()
{
    const uint32_t samples = 20000;
    std::string file(44, 0);
    uint8_t* head = reinterpret_cast<uint8_t*>(file.data());
    std::memcpy(head, "RIFF____WAVEfmt ", 16);
    storeLe32(head + 4, 36 + 2 * samples);
    storeLe32(head + 16, 16);
    storeLe16(head + 20, 1);
    storeLe16(head + 22, 1);
    storeLe32(head + 24, 22050);
    storeLe32(head + 28, 44100);
    storeLe16(head + 32, 2);
    storeLe16(head + 34, 16);
    std::memcpy(head + 36, "data", 4);
    storeLe32(head + 40, 2 * samples);
    for (uint32_t i = 0; i < samples; ++i) {
        const int value = int(i % 400) * int(i % 177) / 3 - 9000;
        file += char(value);
        file += char(value >> 8);
    }
    return file;
}

// A Quake III map: lightmaps of 128 pixels a row, then planes of four floats, each a lump.
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

const std::vector<std::string> filterNames = {
    "planes", "difference", "up", "gradient", "median", "subtract", "float", "blocks", "packets"};

// The filters that `info --json` has told of.
std::set<std::string> filtersIn(const std::string& json)
{
    std::set<std::string> found;
    for (size_t at = json.find("\"names\": ["); at != std::string::npos;
         at = json.find("\"names\": [", at + 1)) {
        const std::string list = json.substr(at, json.find(']', at) - at);
        for (const std::string& name : filterNames)
            if (list.find('"' + name + '"') != std::string::npos) found.insert(name);
    }
    return found;
}

} // namespace

TEST_CASE("tool: Gstd tiles of another size")
{
    Tool tool;
    writeFile(tool.folder / "f/picture.tga", picture());
    std::string numbers; // without a filter
    for (uint32_t i = 0; i < 50000; ++i)
        numbers += std::to_string(i * i % 9973) + ' ';
    writeFile(tool.folder / "f/numbers", numbers.substr(0, 200000));
    REQUIRE(tool("pack -o usual.sluice f") == 0);
    REQUIRE(tool("pack -o small.sluice --tile-size 64 f") == 0);
    REQUIRE(tool("pack -o odd.sluice --tile-size 77 f") == 0);
    for (const auto& [name, size, tiles] :
         {std::tuple{"usual", "262144", "1"}, {"small", "65536", "4"}, {"odd", "131072", "3"}}) {
        CHECK(tool("verify --device cpu --compare . " + std::string(name) + ".sluice") == 0);
        REQUIRE(tool("info --json " + std::string(name) + ".sluice") == 0);
        const size_t at = tool.output().find("\"f/numbers\"");
        REQUIRE(at != std::string::npos);
        const std::string line = tool.output().substr(at, tool.output().find('\n', at) - at);
        CHECK(line.find("\"tileSize\": " + std::string(size) + ",") != std::string::npos);
        CHECK(line.find("\"tiles\": " + std::string(tiles) + ",") != std::string::npos);
    }
    CHECK(tool("pack -o x.sluice --tile-size 63 f") == 1);
    CHECK(tool("pack -o x.sluice --tile-size 257 f") == 1);
    CHECK(tool("pack -o x.sluice -c gdeflate --tile-size 64 f") == 1);
}

TEST_CASE("tool: filters are chosen, forced and forbidden")
{
    Tool tool;
    writeFile(tool.folder / "f/picture.tga", picture());
    writeFile(tool.folder / "f/sound.wav", sound());
    writeFile(tool.folder / "f/text", std::string(3000, 'x') + "y");
    REQUIRE(tool("pack -o auto.sluice f") == 0);
    REQUIRE(tool("pack -o none.sluice --filters none f") == 0);
    REQUIRE(tool("pack -o some.sluice --filters difference,planes f") == 0);
    CHECK(tool("pack -o x.sluice --copy-depth 9 f") == 1);
    for (const char* name : {"auto", "none", "some"})
        CHECK(tool("verify --device cpu --compare . " + std::string(name) + ".sluice") == 0);
    CHECK(fs::file_size(tool.folder / "auto.sluice") <
          fs::file_size(tool.folder / "none.sluice") * 9 / 10);
    REQUIRE(tool("info --json none.sluice") == 0);
    CHECK(tool.output().find("\"filteredTiles\": 1") == std::string::npos);
    CHECK(filtersIn(tool.output()).empty());
    REQUIRE(tool("info --json auto.sluice") == 0);
    CHECK(tool.output().find("\"filteredTiles\": 1") != std::string::npos);
    CHECK(tool.output().find("\"filteredTiles\": 0") != std::string::npos); // the text
    const std::set<std::string> chosen = filtersIn(tool.output());
    CHECK(chosen.size() >= 2);

    // Forced: these and no others, and on a picture of noise in four colours, where no filter pays.
    std::string dots = noise(96000);
    for (char& dot : dots)
        dot = char(dot & 3);
    writeFile(tool.folder / "noise.tga", picture().substr(0, 18) + dots);
    REQUIRE(tool("pack -o noise.sluice noise.tga") == 0);
    REQUIRE(tool("info --json noise.sluice") == 0);
    CHECK(tool.output().find("\"filteredTiles\": 0") != std::string::npos);
    REQUIRE(tool("pack -f -o noise.sluice --filters up noise.tga") == 0);
    REQUIRE(tool("info --json noise.sluice") == 0);
    CHECK(tool.output().find("\"filteredTiles\": 1") != std::string::npos);
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

    // Forbidden: as with auto, but never these; the file of another kind is as it was.
    std::string all;
    for (const std::string& name : filterNames) {
        all += (all.empty() ? "no-" : ",no-") + name;
        REQUIRE(tool("pack -f -o without.sluice --filters no-" + name + " f") == 0);
        CHECK(tool("verify --device cpu --compare . without.sluice") == 0);
        REQUIRE(tool("info --json without.sluice") == 0);
        CHECK(tool.output().find("\"filteredTiles\": 0") != std::string::npos); // not forced
        CHECK(filtersIn(tool.output()).count(name) == 0);
        const bool same =
            readFile(tool.folder / "without.sluice") == readFile(tool.folder / "auto.sluice");
        if (chosen.count(name) != 0) CHECK_FALSE(same);
        if (name == "packets") CHECK(same);
    }
    REQUIRE(tool("pack -f -o without.sluice --filters no-planes,no-median f") == 0);
    REQUIRE(tool("info --json without.sluice") == 0);
    CHECK(filtersIn(tool.output()).count("planes") + filtersIn(tool.output()).count("median") == 0);
    CHECK_FALSE(filtersIn(tool.output()).empty());
    REQUIRE(tool("pack -f -o without.sluice --filters " + all + " f") == 0);
    CHECK(readFile(tool.folder / "without.sluice") == readFile(tool.folder / "none.sluice"));

    for (const char* list : {"planes,nonsense", "no-nonsense", "no-", "no-auto", "auto,up",
                             "up,auto", "none,planes", "planes,none", "no-up,none", "auto,no-up",
                             "planes,no-up", "no-up,planes", "up,no-up", "planes,", "''"}) {
        CHECK_MESSAGE(tool("pack -f -o x.sluice --filters " + std::string(list) + " f") == 1, list);
        CHECK_MESSAGE(tool.errors().find("--filters: ") != std::string::npos, list);
    }
    CHECK(tool("pack -o x.sluice -c gdeflate --filters planes f") == 1);
    CHECK(tool("pack -o x.sluice -c store --filters none f") == 1);
    CHECK(tool.errors().find("--filters is for -c gstd") != std::string::npos);
    CHECK_FALSE(fs::exists(tool.folder / "x.sluice"));
    CHECK(tool("pack -j 1 -o one.sluice f") == 0);
    CHECK(readFile(tool.folder / "one.sluice") == readFile(tool.folder / "auto.sluice"));
}

TEST_CASE("tool: a file above 1 GiB gets no filters, and pack says so" *
          doctest::skip(test::environmentNumber("SLUICE_TEST_LARGE", 0) == 0))
{
    Tool tool;
    writeFile(tool.folder / "picture.tga", picture());
    fs::resize_file(tool.folder / "picture.tga", (uint64_t(1) << 30) + 1);
    REQUIRE(tool("pack -l 1 -o x.sluice picture.tga") == 0);
    CHECK(tool.errors().find("picture.tga: packed without filters: it is larger than 1 GiB") !=
          std::string::npos);
}

TEST_CASE("tool: info shows the filters of all tiles")
{
    Tool tool;
    writeFile(tool.folder / "f/picture.tga", picture());
    writeFile(tool.folder / "f/sound.wav", sound());
    writeFile(tool.folder / "f/text", std::string(3000, 'x') + "y");
    REQUIRE(tool("pack -l 1 -o up.sluice --filters up,planes f/picture.tga") == 0);
    REQUIRE(tool("info up.sluice") == 0);
    CHECK(tool.output().find("filters: planes,up (1)") != std::string::npos);
    CHECK(tool.output().find("width 160") == std::string::npos);
    REQUIRE(tool("info -v up.sluice") == 0);
    CHECK(tool.output().find("tiles 0 to 0: ") != std::string::npos);
    CHECK(tool.output().find("width 160") != std::string::npos);
    REQUIRE(tool("info --json up.sluice") == 0);
    CHECK(tool.output().find("{\"firstTile\": 0, \"tiles\": 1, \"names\": [\"planes\", \"up\"], "
                             "\"filter\": \"18: plain | ") != std::string::npos);
    REQUIRE(tool("pack -o none.sluice --filters none f") == 0);
    REQUIRE(tool("info none.sluice") == 0);
    CHECK(tool.output().find("filters:") == std::string::npos);
    REQUIRE(tool("info --json none.sluice") == 0);
    CHECK(tool.output().find("\"filters\": []") != std::string::npos);
    // Segments with filters of their own: a Quake III map, whose lumps are lightmaps, vertices and
    // shaders' names.
    writeFile(tool.folder / "map.bsp", map());
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
    writeFile(tool.folder / "data.bin.zst", frames);
    writeFile(tool.folder / "cut.zst", frames.substr(0, frames.size() / 2));
    writeFile(tool.folder / "expected/data.bin", bytes);
    REQUIRE(tool("transcode data.bin.zst -o t.sluice") == 0);
    CHECK(tool("verify --device cpu --compare expected t.sluice") == 0);
    CHECK(tool("transcode data.bin.zst -o t.sluice") == 2); // exists
    CHECK(tool("transcode cut.zst -o u.sluice") == 3);
    CHECK(tool("transcode nothing.zst -o u.sluice") == 2);
    CHECK(tool("transcode a/one.txt -o u.sluice") == 3);
    // Sizes that cannot be, dictionaries and windows.
    const std::string magic("\x28\xb5\x2f\xfd", 4);
    writeFile(tool.folder / "huge.zst", magic + std::string("\xe0\0\0\0\0\0\0\0\x40\1\0\0", 12));
    CHECK(tool("transcode huge.zst -o u.sluice") == 3);
    CHECK(tool("transcode - -o u.sluice <data.bin.zst") == 1);
    CHECK(tool.errors().find("stdin has no name") != std::string::npos);
    CHECK(tool("transcode huge.zst -o u.sluice") == 3);
    CHECK(tool.errors().find("huge.zst: no Zstandard file, or damaged") != std::string::npos);
    writeFile(tool.folder / "dictionary.zst", magic + std::string("\x21\7\1\x9\0\0x", 7));
    CHECK(tool("transcode dictionary.zst -o u.sluice") == 5);
    CHECK(tool.errors().find("dictionary.zst: a frame wants a dictionary") != std::string::npos);
    CHECK(tool.errors().find("window") == std::string::npos);
    writeFile(tool.folder / "window.zst", magic + std::string("\0\x90\x9\0\0x", 6)); // 2^28 bytes
    CHECK(tool("transcode window.zst -o u.sluice") == 5);
    CHECK(tool.errors().find("window.zst: a frame wants a window of more than 128 MiB") !=
          std::string::npos);
    CHECK(tool.errors().find("dictionary") == std::string::npos);
    CHECK_FALSE(fs::exists(tool.folder / "u.sluice"));
    CHECK_FALSE(tool.hasTemporaries());

    // Several frames with checksums and skippable ones; the same bytes for every -j.
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    std::string checked(ZSTD_compressBound(bytes.size()), 0);
    checked.resize(
        ZSTD_compress2(context, checked.data(), checked.size(), bytes.data(), bytes.size()));
    ZSTD_freeCCtx(context);
    const std::string skippable("\x50\x2a\x4d\x18\3\0\0\0abc", 11);
    writeFile(tool.folder / "several.zst",
              skippable + frames + skippable + skippable + checked + frames + skippable);
    writeFile(tool.folder / "expected/several", bytes + bytes + bytes);
    for (const std::string threads : {"1", "2", "9"}) {
        REQUIRE(tool("transcode -j " + threads + " several.zst data.bin.zst -o s" + threads +
                     ".sluice") == 0);
        CHECK(readFile(tool.folder / ("s" + threads + ".sluice")) ==
              readFile(tool.folder / "s1.sluice"));
    }
    CHECK(tool("verify --device cpu --compare expected s1.sluice") == 0);
    CHECK(tool.output().find("all 2 files identical") != std::string::npos);
    checked.back() = char(checked.back() ^ 1);
    writeFile(tool.folder / "wrong.zst", frames + checked);
    CHECK(tool("transcode wrong.zst -o u.sluice") == 3);
    writeFile(tool.folder / "reserved.zst", magic + std::string("\x28\1\x9\0\0x", 6));
    CHECK(tool("transcode reserved.zst -o u.sluice") == 3);
    CHECK_FALSE(fs::exists(tool.folder / "u.sluice"));
}

TEST_CASE("tool: the benchmark's rows of decoders")
{
    Tool tool;
    writeFile(tool.folder / "f/picture.tga", picture());
    REQUIRE(tool("pack --filters median f -o s.sluice") == 0);
    REQUIRE(tool("pack -c gdeflate f -o d.sluice") == 0);
    CHECK(tool("bench -q --device cpu --filter gstd,filter,gdeflate --input s.sluice --input "
               "d.sluice --json -") == 0);
    const std::string rows = tool.output();
    CHECK(rows.find("\"kernel\": \"gstd\", \"size\": \"96.0 kB\"") != std::string::npos);
    CHECK(rows.find("\"kernel\": \"gstd filters\", \"size\": \"96.0 kB\"") != std::string::npos);
    CHECK(rows.find("\"kernel\": \"filter\", \"size\": \"96.0 kB\"") != std::string::npos);
    CHECK(rows.find("\"kernel\": \"gdeflate\", \"size\": \"96.0 kB\"") != std::string::npos);
    // has no such tile
    CHECK(tool("bench -q --device cpu --filter gdeflate --input s.sluice") == 3);
    CHECK(tool("bench -q --device cpu --filter gstd --input f/picture.tga") == 0); // packed first
    CHECK(tool("bench -q --device cpu --filter nothing") == 1);
    std::string bytes = readFile(tool.folder / "s.sluice");
    bytes[bytes.size() / 2] = char(bytes[bytes.size() / 2] ^ 4);
    writeFile(tool.folder / "s.sluice", bytes);
    // no figures of wrong bytes
    CHECK(tool("bench -q --device cpu --filter gstd --input s.sluice") == 3);
}

TEST_CASE("tool: the benchmark's rows of primitives, each checked")
{
    Tool tool;
    CHECK(tool("bench --help") == 0);
    for (const char* kernel : {"scan kinds", "reduce", "compact sweep", "interval gather",
                               "interval scatter", "bulk sweep"})
        CHECK(tool.output().find(kernel) != std::string::npos);
    CHECK(tool("bench -q --device cpu --filter 'scan,reduce,compact kinds,compact "
               "sweep,interval,bulk' --json -") == 0);
    const std::string rows = tool.output();
    for (const char* row :
         {"scan\", \"size\": \"2^10", "scan\", \"size\": \"2^20",
          "scan kinds: inclusive\", \"size\": \"2^20", "scan kinds: segments f32",
          "reduce: max u64", "compact kinds\", \"size\": \"less u16",
          "compact kinds\", \"size\": \"non-zero", "compact sweep: partition\", \"size\": \"2^20",
          "interval gather\", \"size\": \"64 B", "interval kinds\", \"size\": \"expand 3 B",
          "interval kinds\", \"size\": \"move offsets",
          "interval hard: scatter\", \"size\": \"one huge",
          "interval sweep: search\", \"size\": \"2^10 B",
          "bulk insert\", \"size\": \"1 in 10, 16 B"}) {
        CAPTURE(row);
        CHECK(rows.find("\"kernel\": \"" + std::string(row)) != std::string::npos);
    }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("tool: tiles with filters are decoded and checked on the device")
{
    Tool tool;
    writeFile(tool.folder / "f/picture.tga", picture());
    writeFile(tool.folder / "f/sound.wav", sound());
    REQUIRE(tool("pack -l 3 --filters difference,planes,up f -o f.sluice") == 0);
    const std::string where = " --device " + sluice::test::device().selector() + " --tier " +
                              sluice::test::device().info().tier;
    CHECK(tool("verify f.sluice --compare ." + where) == 0);
    std::string bytes = readFile(tool.folder / "f.sluice");
    bytes[bytes.size() / 2] = char(bytes[bytes.size() / 2] ^ 4);
    writeFile(tool.folder / "f.sluice", bytes);
    CHECK(tool("verify f.sluice" + where) == 3);
}

TEST_SUITE_END();
