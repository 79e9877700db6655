// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the sluice command with files that are made to harm: what they cost, what reaches a
// terminal, and where output goes.
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "formats/archive_layout.h"
#include "tools/common/files.h"
#include "tests/support/archive_io.h"
#include "tests/support/archives.h"
#include "tests/support/filters.h"
#include "tests/support/packed_archives.h"
#include "tests/tool/tool_cost.h"
#include "test_paths.h"

using namespace sluice;
using namespace sluice::test;

namespace {

std::string textOf(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

// Returns a description of nearly the largest size. Only its last section has bytes.
Bytes largeFilterItem(FilterPredictor predictor)
{
    Words runs;
    for (uint32_t i = 0; i < 128; ++i)
        runs.push_back(columnRun(1, 0, 0, predictor));
    std::vector<SectionWords> sections(
        SLUICE_FILTER_MAX_COLUMNS / (128 + SLUICE_FILTER_SECTION_COLUMNS), records(runs, 0));
    sections.push_back(records({columnRun(1, 0, 0, predictor)}));
    const Words description = describe(sections);
    Bytes item(kItemHead + description.size() * 4);
    item[0] = kFilterItem;
    storeLe32(item.data() + 4, uint32_t(description.size() * 4));
    std::memcpy(item.data() + kItemHead, description.data(), description.size() * 4);
    return item;
}

Bytes archiveOf(const std::vector<SluiceEncodedAssetInfo>& assets)
{
    Bytes file;
    const SluiceArchiveWriterInfo info = {
        SLUICE_CODEC_STORE, 0, 0, 1, writeMemory, &file, 0, 0, nullptr, 0, 0};
    SluiceArchiveWriter writer = nullptr;
    REQUIRE(sluiceCreateArchiveWriter(&info, &writer) == SLUICE_OK);
    for (const SluiceEncodedAssetInfo& asset : assets)
        REQUIRE(sluiceAddEncodedArchiveAsset(writer, &asset) == SLUICE_OK);
    REQUIRE(sluiceFinishArchive(writer, nullptr) == SLUICE_OK);
    sluiceDestroyArchiveWriter(writer);
    return file;
}

// Returns an archive of one asset, "zeros", with these tiles. All stored bytes are zeros.
Bytes archiveOf(const std::vector<SluiceArchiveTile>& records, const Bytes& parameters)
{
    SluiceEncodedAssetInfo asset = {};
    asset.name = "zeros";
    asset.nameLength = 5;
    asset.tileSizeLog2 = 18;
    for (const SluiceArchiveTile& record : records)
        asset.size += record.size;
    asset.parameters = parameters.data();
    asset.parameterSize = uint32_t(parameters.size());
    asset.tileCount = uint32_t(records.size());
    asset.tiles = records.data();
    asset.readTile = [](void*, uint32_t, void* bytes, uint32_t size) {
        std::memset(bytes, 0, size);
        return SLUICE_OK;
    };
    return archiveOf({asset});
}

// Returns an archive of empty assets with these names.
Bytes archiveOfNames(const std::vector<std::string>& names)
{
    std::vector<SluiceEncodedAssetInfo> assets(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
        assets[i] = {};
        assets[i].name = names[i].data();
        assets[i].nameLength = names[i].size();
        assets[i].tileSizeLog2 = 18;
    }
    return archiveOf(assets);
}

// Returns a RIFF file of about `size` bytes with many chunks, each with 2 bytes of samples.
std::string chunks(size_t size)
{
    std::string file = sound().substr(0, 36);
    const std::string chunk("data\2\0\0\0\1\2", 10);
    while (file.size() < size)
        file += chunk;
    return file;
}

std::string glb(const std::string& document)
{
    std::string file("glTF\2\0\0\0", 8);
    const auto number = [&](size_t value) {
        char bytes[4];
        storeLe32(reinterpret_cast<uint8_t*>(bytes), uint32_t(value));
        file.append(bytes, 4);
    };
    number(28 + document.size() + 4);
    number(document.size());
    file += "JSON" + document;
    number(4);
    file += std::string("BIN\0abcd", 8);
    return file;
}

std::string repeated(const std::string& text, size_t size)
{
    std::string result;
    while (result.size() < size)
        result += text;
    return result;
}

// Returns whether the process has a file without a name open in this folder.
bool hasUnnamed(const Folder& tool, pid_t process)
{
    const std::string start = tool.path.string() + "/#";
    std::error_code error;
    for (const auto& entry :
         fs::directory_iterator("/proc/" + std::to_string(process) + "/fd", error))
        if (fs::read_symlink(entry.path(), error).string().compare(0, start.size(), start) == 0)
            return true;
    return false;
}

// Waits until the child has begun to write. Returns false if it ends before that.
bool waitForTemporary(const Folder& tool, pid_t child, int& status)
{
    while (!tool.hasTemporaries() && !hasUnnamed(tool, child)) {
        if (waitpid(child, &status, WNOHANG) == child) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

// Starts a child that packs the folder slowly.
pid_t startPacking(const Folder& tool)
{
    const char* const other = std::getenv("SLUICE_TOOL");
    const std::string line = "cd '" + tool.path.string() + "' && exec '" +
                             (other != nullptr ? other : SLUICE_TOOL_PATH) +
                             "' pack -q -j 1 -l 12 -o x.sluice slow 2>.err";
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
        _exit(127);
    }
    REQUIRE(child > 0);
    return child;
}

} // namespace

TEST_CASE("tool hostile: tiles that alternate between two large descriptions of filters")
{
    constexpr uint32_t tiles = 65536;
    PackedAsset zeros; // packed once for the checksum of its tile
    zeros.name = "zeros";
    zeros.add(Bytes(16), SLUICE_CODEC_STORE, 65536);
    const SluiceArchiveTile tile = ParsedArchive(packArchive({zeros})).records(0)[0];
    Bytes parameters = largeFilterItem(FilterPredictor::left);
    const uint32_t second = 4 + uint32_t(parameters.size());
    const Bytes more = largeFilterItem(FilterPredictor::left2);
    parameters.insert(parameters.end(), more.begin(), more.end());
    // A writer leaves out the filters of stored tiles, but readers accept them.
    Editable archive(archiveOf(std::vector<SluiceArchiveTile>(tiles, tile), parameters));
    for (uint32_t i = 0; i < tiles; ++i)
        storeLe32(archive.record(0, i) + recordFilterOffset, i % 2 == 0 ? 4 : second);
    archive.seal();
    const Folder tool;
    tool.write("x.sluice", textOf(archive.file));
    REQUIRE(fs::file_size(tool.path / "x.sluice") < 10'000'000);
    REQUIRE(tool("info x.sluice") == 0);
    CAPTURE(tool.output());
    REQUIRE(contains(tool.output(), "difference (65536)"));
    checkCost(tool, "info x.sluice");
    checkCost(tool, "info --json x.sluice");
    checkCost(tool, "info --html x.html x.sluice");
    checkCost(tool, "verify --device cpu x.sluice");
}

TEST_CASE("tool hostile: files of many parts and deep ones are packed all the same")
{
    const Folder tool;
    const size_t size = 9'900'000;
    tool.write("chunks/chunks.wav", chunks(size));
    std::string many = sound().substr(0, 36);
    for (uint32_t i = 0; i < 4000; ++i) // chunks are so long that each may have a filter
        many += std::string("data\210\0\0\0", 8) + sound().substr(44 + i % 9, 136);
    tool.write("long/chunks.wav", many);
    tool.write("deep/deep.glb", glb(std::string(size, '[')));
    tool.write("deep2/deep.glb", glb(repeated("{\"accessors\":", size)));
    tool.write("many/many.glb",
               glb("{\"bufferViews\": [], \"accessors\": [" + repeated("{},", size) + "{}]}"));
    for (const char* name : {"chunks", "long", "deep", "deep2", "many"}) {
        checkCost(tool, std::string("pack -q -j 1 -o ") + name + ".sluice " + name);
        CHECK(tool.onCpu("verify --compare . " + std::string(name) + ".sluice") == 0);
    }
}

TEST_CASE("tool hostile: an archive that becomes very large needs leave")
{
    // Only the tile records say how large the archive becomes.
    constexpr uint32_t tiles = 4097, tileSize = 262144;
    SluiceArchiveTile tile = {};
    tile.storedSize = 16;
    tile.size = tileSize;
    tile.codec = SLUICE_CODEC_GSTD;
    const std::vector<SluiceArchiveTile> records(tiles, tile);
    Tool tool;
    tool.write("large.sluice", textOf(archiveOf(records, {})));
    CHECK(tool("info large.sluice") == 0);
    for (const char* verb : {"verify", "unpack -C o"}) {
        CHECK(tool.onCpu(std::string(verb) + " large.sluice") == 3);
        CHECK(contains(tool.errors(), "large.sluice: decodes to 1074003968 bytes, and the limit is "
                                      "536870912; --max-output sets another"));
        // With a higher limit the run fails, since the file's tiles are not valid.
        CHECK(tool.onCpu(std::string(verb) + " --max-output 2G large.sluice") == 3);
    }
    CHECK_FALSE(tool.has("o/zeros"));
    // A frame of 8,192 RLE blocks. Its header has a size of 8 bytes and a window of 128 KiB.
    std::string frame("\x28\xb5\x2f\xfd\xc0\x38", 6);
    for (const uint64_t size = 8192ull << 17; frame.size() < 14;)
        frame += char(size >> 8 * (frame.size() - 6));
    for (int block = 0; block < 8192; ++block)
        frame += std::string(block == 8191 ? "\x03\x00\x10"
                                             "a"
                                           : "\x02\x00\x10"
                                             "a",
                             4);
    tool.write("large.zst", frame);
    CHECK(tool("transcode -o t.sluice large.zst") == 3);
    CHECK(contains(tool.errors(), "large.zst: decodes to 1073741824 bytes, and the limit is "
                                  "536870912; --max-output sets another"));
    CHECK_FALSE(tool.has("t.sluice"));
    REQUIRE(tool("pack -o x.sluice a") == 0);
    CHECK(tool.onCpu("unpack -C p --max-output 170002 x.sluice") == 3);
    CHECK_FALSE(tool.has("p"));
    CHECK(tool.onCpu("unpack -C p --max-output 170003 x.sluice") == 0);
    // Only the chosen assets count.
    CHECK(tool.onCpu("unpack -C q --max-output 70K x.sluice a/sub") == 0);
    CHECK(tool.onCpu("verify --max-output 0 x.sluice") == 1);
    CHECK(tool.onCpu("verify --max-output much x.sluice") == 1);
    // The limit is for a bare stream, too.
    REQUIRE(tool("pack --raw -o s.gdeflate a/one.txt") == 0);
    CHECK(tool.onCpu("verify --max-output 100002 s.gdeflate") == 3);
    CHECK(tool.onCpu("verify --max-output 100003 s.gdeflate") == 0);
}

TEST_CASE("tool hostile: a small picture that becomes very large needs leave")
{
    Folder tool("in");
    // 16,384 x 16,384 texels of one bit: 66 bytes that need 1 GiB.
    const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x40\0\0\0\x40\0\1\0\0\0\0\x81\xb3\x2d\x29"
                       "\0\0\0\tIDATx\xda"
                       "c\0\0\0\1\0\1\xb1\x0d\xb6\x93\0\0\0\0IEND\xae"
                       "B`\x82";
    tool.write("in/huge.png", std::string(png, sizeof png - 1));
    std::string jpeg = readFile(fs::path(SLUICE_TEST_DATA_DIR) / "pictures/grey.jpg");
    const size_t frame = jpeg.find("\xff\xc0"); // length, precision, height and width follow
    REQUIRE(frame != std::string::npos);
    jpeg.replace(frame + 5, 4, "\x40\x00\x40\x00", 4);
    tool.write("in/huge.jpg", jpeg);
    // Packets of 128 equal texels: 2 MB that need 512 MiB.
    std::string tga("\0\0\x0b\0\0\0\0\0\0\0\0\0\0\x40\0\x20\x08\0", 18);
    for (int packet = 0; packet < 16384 * 8192 / 128; ++packet)
        tga += "\xff\x40";
    tool.write("in/huge.tga", tga);
    checkCost(tool, "pack -q -j 1 --images -o a.sluice in");
    REQUIRE(tool("pack -f --images -o a.sluice in") == 0);
    for (const char* said : {"huge.png: packed as no image: decodes to 1073741824 bytes, and the "
                             "limit is 134217728; --max-output",
                             "huge.jpg: packed as no image: decodes to 1073741824 bytes",
                             "huge.tga: packed as no image: decodes to 536870912 bytes"})
        CHECK(contains(tool.errors(), said));
    CHECK(tool.onCpu("verify --compare . a.sluice") == 0);
    // Only the option decides how large a picture may become, not the size of the file.
    tool.write("one/photo.tga", picture());
    CHECK(tool("pack --images --max-output 1K -o b.sluice one") == 0);
    CHECK(contains(tool.errors(), "and the limit is 1024; --max-output sets another"));
    CHECK(tool("pack -f --images --max-output 10M -o b.sluice one") == 0);
    CHECK(tool.errors().empty());
    CHECK(tool("pack -f --max-output 10M -o b.sluice one") == 1);
}

TEST_CASE("tool hostile: many folders of a small archive need leave")
{
    // The names have 2,040 folders each. The archive stores only their bytes.
    Tool tool;
    std::string deep;
    for (int i = 0; i < 2040; ++i)
        deep += "/a";
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i)
        names.push_back(std::to_string(1000 + i) + deep);
    tool.write("deep.sluice", textOf(archiveOfNames(names)));
    REQUIRE(tool("info deep.sluice") == 0);
    CHECK(tool.onCpu("unpack -C o deep.sluice") == 3);
    CHECK(contains(tool.errors(), "deep.sluice: has 204000 folders, of 4096 bytes each, and "
                                  "the limit is 536870912; --max-output"));
    CHECK_FALSE(tool.has("o"));
}

TEST_CASE("tool hostile: names do not steer a terminal")
{
    if (isWindowsTool("Wine changes such characters of arguments")) return;
    // The name has a control character of the second set, and one that changes the direction of
    // text.
    const std::string csi = "\xc2\x9b", turned = "\xe2\x80\xae", name = "a" + csi + "31m" + turned;
    const Folder tool;
    tool.write("d/" + name + "gpj.exe", "text");
    const auto isClean = [&](const std::string& text) {
        return !contains(text, csi) && !contains(text, turned);
    };
    CHECK(tool("pack -v -o x.sluice d/*") == 0);
    CHECK(isClean(tool.errors()));
    REQUIRE(tool("unpack --list x.sluice") == 0);
    CHECK(tool.output() == "a?31m?gpj.exe\n");
    REQUIRE(tool("info -v x.sluice") == 0);
    CHECK(contains(tool.output(), "a?31m?gpj.exe"));
    CHECK(isClean(tool.output()));
    REQUIRE(tool("info --json x.sluice") == 0);
    CHECK(contains(tool.output(), "\"a\\u009b31m\\u202egpj.exe\""));
    CHECK(isClean(tool.output()));
    REQUIRE(tool("info --html page.html x.sluice") == 0);
    CHECK(isClean(tool.read("page.html")));
    std::string file = tool.read("x.sluice"); // its tile is stored
    file[file.find("text")] = 'T';
    tool.write("x.sluice", file);
    CHECK(tool.onCpu("verify x.sluice") == 3);
    CHECK(contains(tool.errors(), "asset 'a?31m?gpj.exe'"));
    CHECK(tool.onCpu("verify --keep-going x.sluice") == 3);
    CHECK(isClean(tool.errors()));
    CHECK(tool("info 'no" + csi + "such\x9b\xff'") == 2); // bytes that are no UTF-8
    CHECK(contains(tool.errors(), "sluice: no?such??: "));
    CHECK(tool.onCpu("unpack -C o x.sluice '" + turned + "'") == 1);
    CHECK(isClean(tool.errors()));
}

TEST_CASE("tool hostile: links that appear while a file is written lead nowhere")
{
    const Folder tool;
    const std::string root = (tool.path / "root").string();
    fs::create_directories(tool.path / "outside");
    {
        OutputFile output(root, "a/b/file", false);
        output.write(0, "text", 4);
        fs::rename(tool.path / "root/a/b", tool.path / "root/a/moved");
        fs::create_directory_symlink(tool.path / "outside", tool.path / "root/a/b");
        output.commit();
    }
    CHECK(fs::is_empty(tool.path / "outside"));
    CHECK(tool.read("root/a/moved/file") == "text");
    CHECK_FALSE(tool.hasTemporaries());
    try {
        OutputFile output(root, "a/b/file", true);
        FAIL("a link was followed");
    } catch (const Failure& failure) {
        CHECK(failure.code == exitIo);
        CHECK(contains(failure.text, "is a link, which could lead out of " + root));
    }
    CHECK(fs::is_empty(tool.path / "outside"));
    // If the file itself is a link, it is replaced.
    fs::create_symlink(tool.path / "outside/file", tool.path / "root/link");
    CHECK_THROWS_AS(OutputFile(root, "link", false), const Failure&);
    {
        OutputFile output(root, "link", true);
        output.write(0, "new", 3);
        output.commit();
    }
    CHECK(tool.read("root/link") == "new");
    CHECK(fs::is_empty(tool.path / "outside"));
}

TEST_CASE("tool hostile: what appears while it is packed is not overwritten")
{
    const Folder tool;
    tool.write("slow/file", std::string(1 << 20, 'q') + noise(4 << 20));
    int status = 0;
    const pid_t child = startPacking(tool);
    REQUIRE(waitForTemporary(tool, child, status));
    tool.write("x.sluice", "mine");
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 2);
    CHECK(contains(tool.errors(), "x.sluice: exists; -f overwrites it"));
    CHECK(tool.read("x.sluice") == "mine");
    CHECK_FALSE(tool.hasTemporaries());
}

TEST_CASE("tool hostile: a signal leaves nothing behind")
{
    if (isWindowsTool("Windows has no signals that a program of Linux could send")) return;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        const Folder tool;
        tool.write("slow/file", std::string(1 << 20, 'q') + noise(4 << 20));
        int status = 0;
        const pid_t child = startPacking(tool);
        REQUIRE(waitForTemporary(tool, child, status));
        kill(child, signal);
        REQUIRE(waitpid(child, &status, 0) == child);
        REQUIRE(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == signal);
        CHECK_FALSE(tool.hasTemporaries());
        CHECK_FALSE(tool.has("x.sluice"));
    }
}

TEST_CASE("tool hostile: stdout gets an asset as it is decoded")
{
    if (isWindowsTool("Wine does not start where TMPDIR is no folder")) return;
    Tool tool;
    tool.write("a/large", noise(3'000'000));
    REQUIRE(tool("pack -c gdeflate -o x.sluice a") == 0);
    // The folder for temporary files does not exist.
    tool.environment = "export TMPDIR=/nonexistent;";
    CHECK(tool.onCpu("unpack x.sluice a/large -o -") == 0);
    CHECK(tool.output() == tool.read("a/large"));
    CHECK(tool.onCpu("unpack x.sluice a/empty -o -") == 0);
    CHECK(tool.output().empty());
    // After damage, only bytes before it have been written.
    std::string file = tool.read("x.sluice");
    const std::string end = tool.read("a/large").substr(2'999'000, 900);
    REQUIRE(file.find(end) != std::string::npos); // the tile is stored
    file[file.find(end)] = char(file[file.find(end)] ^ 1);
    tool.write("x.sluice", file);
    CHECK(tool.onCpu("unpack x.sluice a/large -o -") == 3);
    const std::string whole = tool.read("a/large"), got = tool.output();
    CHECK(got.size() < whole.size());
    CHECK(whole.compare(0, got.size(), got) == 0);
}
